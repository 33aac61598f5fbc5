// OLIA, the opportunistic linked increases algorithm. Source: Khalili et al., CoNEXT 2012.
#pragma once

#include <array>
#include <cmath>
#include <optional>

#include "ack_counting.h"
#include "kernel_olia.h"
#include "newreno.h"

namespace subflow {

class Olia {
public:
    enum class Rank : std::uint8_t { Paper, Draft };

    static constexpr std::array<std::string_view, 2> kRanks{"l/rtt^2", "l^2/rtt"};
    static constexpr std::array kOwnOptions{
        OptionInfo{
            .key = "rank",
            .kind = OptionKind::Choice,
            .help = "Measure of the best path, with l packets acknowledged between losses: as in the paper and the "
                    "kernel, or as in the Internet-Draft.",
            .default_choice = "l/rtt^2",
            .choices = kRanks,
        },
        AckCounting::kOption,
    };
    static constexpr auto kOptions =
        joined(kOwnOptions, std::array{KernelArithmetic::kOption, OptionalHyStart::kOption});
    static constexpr RuleInfo kOpportunisticIncrease{
        .name = "opportunistic_linked_increase",
        .formula =
            "max(cwnd + acked * (coupled + alpha / cwnd), 1), coupled = cwnd_r / rtt_r^2 / (sum(cwnd_i / "
            "rtt_i))^2; alpha: 1 / (n |B - M|) in B - M, -1 / (n |M|) in M if such a path exists, else 0; B: "
            "best by l, M: largest window",
        .computed = "cwnd = max(cwnd + acked * (coupled + alpha / cwnd), 1)",
        .source = "Khalili et al., CoNEXT 2012, equations (5) and (6)",
        .numbers = {number::kAcked,
                    number::kCwnd,
                    {"coupled_pkts", "part of the increase that couples the subflows"},
                    number::kAlpha,
                    number::kN,
                    {"l_pkts", "packets between losses, the larger of the last two intervals"},
                    {"B_mask", "subflows with the best paths"},
                    {"M_mask", "subflows with the largest cwnd"}},
    };
    static constexpr std::array kOwnRules{&kSlowStart, &kOpportunisticIncrease, &NewReno::kAdditiveIncrease,
                                          &NewReno::kHalving};
    static constexpr auto kRules =
        joined(kOwnRules, std::array{&KernelOlia::kStep, &KernelArithmetic::kHalving}, OptionalHyStart::kRules);
    static constexpr AlgorithmInfo kInfo{
        .name = "olia",
        .summary = "Opportunistic linked increases: traffic only on the best paths, a probe on the others",
        .source = "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    // Ranks within this relative tolerance count as equal, because RTTs never agree to the nanosecond.
    static constexpr double kRankTolerance = 1e-3;

    explicit Olia(const Options& options)
        : rank_(options.choice("rank") == kRanks[0] ? Rank::Paper : Rank::Draft),
          counting_(options),
          hystart_(options) {
        if (KernelArithmetic::is_chosen(options)) kernel_.emplace();
    }
    bool sees_every_ack() const { return kernel_ || hystart_.is_watching(); }

    // The best paths (B) and the paths with the largest window (M).
    class Sets {
    public:
        Sets(const Siblings& siblings, Rank rank) : rank_(rank) {
            for (const Sibling& s : siblings.all) {
                best_rank_ = std::max(best_rank_, rank_of(s, rank));
                largest_ = std::max(largest_, whole(s));
            }
        }
        bool is_best(const Sibling& s) const { return rank_of(s, rank_) >= best_rank_ * (1 - kRankTolerance); }
        bool is_largest(const Sibling& s) const { return whole(s) == largest_; }

    private:
        Rank rank_;
        double best_rank_ = 0;
        double largest_ = 0;
    };

    // alpha of this subflow, one of n: 1 / (n |B \ M|) for a best path without the largest window (B \ M), and
    // -1 / (n |M|) for a path with the largest window (M). 0 for other paths, and for all paths if each best path has
    // the largest window.
    static double alpha(const Siblings& siblings, const Sets& sets) {
        const auto is_collected = [&](const Sibling& s) { return sets.is_best(s) && !sets.is_largest(s); };
        double largest_count = 0;
        double collected_count = 0;
        for (const Sibling& s : siblings.all) {
            largest_count += sets.is_largest(s);
            collected_count += is_collected(s);
        }
        const auto n = static_cast<double>(siblings.all.size());
        if (collected_count == 0) return 0;
        if (is_collected(siblings.own())) return 1 / (n * collected_count);
        return sets.is_largest(siblings.own()) ? -1 / (n * largest_count) : 0;
    }
    static double alpha(const Siblings& siblings, Rank rank) { return alpha(siblings, Sets(siblings, rank)); }

    // The first term of the increase: (w_r / rtt_r^2) / (sum_k w_k / rtt_k)^2.
    static double coupled_increase(const Siblings& siblings) {
        return siblings.coupled_increase(siblings.rates().total_pps);
    }

    // Change of the window per ACKed packet in congestion avoidance, in packets; may be negative.
    static double increase_per_ack(double cwnd_pkts, const Siblings& siblings, Rank rank) {
        return coupled_increase(siblings) + alpha(siblings, rank) / cwnd_pkts;
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (kernel_) return kernel_->on_every_ack(window, ack, siblings);
        hystart_.on_every_ack(window, ack);
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) const {
        if (kernel_) return;
        const double acked = counting_.counted(hystart_.beyond_slow_start(window, ack));
        if (!siblings.has_others()) return NewReno::grow(window, ack, acked);
        if (acked == 0) return;
        const Sets sets(siblings, rank_);
        const double coupled = coupled_increase(siblings);
        const double own_alpha = alpha(siblings, sets);
        if (ack.why != nullptr)
            ack.why->set(kOpportunisticIncrease,
                         {acked, window.cwnd_pkts, coupled, own_alpha, static_cast<double>(siblings.all.size()),
                          distance(siblings.own()), siblings.mask_of([&](const Sibling& s) { return sets.is_best(s); }),
                          siblings.mask_of([&](const Sibling& s) { return sets.is_largest(s); })});
        const double increase = acked * (coupled + own_alpha / window.cwnd_pkts);
        window.cwnd_pkts = std::max(window.cwnd_pkts + increase, 1.0);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) {
        if (kernel_) return kernel_->on_congestion_event(window, event);
        hystart_.on_congestion_event();
        NewReno::halve(window, event, siblings.has_others() ? 1.0 : 2.0);
    }

private:
    // Windows are compared as whole packets; otherwise the set M would change with each ACK.
    static double whole(const Sibling& s) { return std::floor(s.cwnd_pkts); }

    // l: packets ACKed between the last two losses, or since the last loss if that number is larger.
    static double distance(const Sibling& s) { return std::max(s.acked_since_loss_pkts, s.acked_between_losses_pkts); }

    static double rank_of(const Sibling& s, Rank rank) {
        const double l = distance(s);
        return rank == Rank::Paper ? l / (s.srtt_s * s.srtt_s) : l * l / s.srtt_s;
    }

    Rank rank_;
    AckCounting counting_;
    OptionalHyStart hystart_;
    std::optional<KernelOlia> kernel_;
};
static_assert(CongestionController<Olia>);

}  // namespace subflow

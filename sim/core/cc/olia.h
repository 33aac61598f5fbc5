// OLIA, the opportunistic linked increases algorithm. Source: Khalili et al., CoNEXT 2012.
#pragma once

#include <array>
#include <cmath>

#include "newreno.h"

namespace subflow {

class Olia {
public:
    enum class Rank : std::uint8_t { Paper, Draft };

    static constexpr std::array<std::string_view, 2> kRanks{"l/rtt^2", "l^2/rtt"};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "rank",
            .kind = OptionKind::Choice,
            .help = "What makes a path the best, with l packets acknowledged between losses: as in the paper and the "
                    "kernel, or as in the Internet-Draft.",
            .default_choice = "l/rtt^2",
            .choices = kRanks,
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "olia",
        .summary = "Opportunistic linked increases: traffic on the best paths only, a probe on the others",
        .source = "Khalili et al., CoNEXT 2012; draft-khalili-mptcp-congestion-control-05",
        .is_coupled = true,
        .options = kOptions,
    };

    // Ranks this close are equal: round-trip times are never the same to the nanosecond.
    static constexpr double kRankTolerance = 1e-3;

    explicit Olia(const Options& options) : rank_(options.choice("rank") == kRanks[0] ? Rank::Paper : Rank::Draft) {}

    // alpha of the own subflow: 1 / (n |B \ M|) for the best paths with less than the largest window (B \ M), taken
    // from those with the largest window (M); nil where every best path has the largest window.
    static double alpha(const Siblings& siblings, Rank rank) {
        double best_rank = 0;
        double largest = 0;
        for (const Sibling& s : siblings.all) {
            best_rank = std::max(best_rank, rank_of(s, rank));
            largest = std::max(largest, whole(s));
        }
        const auto is_collected = [&](const Sibling& s) {
            return rank_of(s, rank) >= best_rank * (1 - kRankTolerance) && whole(s) < largest;
        };
        double largest_count = 0;
        double collected_count = 0;
        for (const Sibling& s : siblings.all) {
            largest_count += whole(s) == largest;
            collected_count += is_collected(s);
        }
        const auto n = static_cast<double>(siblings.all.size());
        if (collected_count == 0) return 0;
        if (is_collected(siblings.own())) return 1 / (n * collected_count);
        return whole(siblings.own()) == largest ? -1 / (n * largest_count) : 0;
    }

    // The first term of the increase: (w_r / rtt_r^2) / (sum_k w_k / rtt_k)^2.
    static double coupled_increase(const Siblings& siblings) {
        double total_rate = 0;
        for (const Sibling& s : siblings.all) total_rate += s.cwnd_pkts / s.srtt_s;
        const Sibling& own = siblings.own();
        return own.cwnd_pkts / (own.srtt_s * own.srtt_s) / (total_rate * total_rate);
    }

    // Change of the window per packet acknowledged in congestion avoidance, in packets; may be negative.
    static double increase_per_ack(double cwnd_pkts, const Siblings& siblings, Rank rank) {
        return coupled_increase(siblings) + alpha(siblings, rank) / cwnd_pkts;
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) const {
        if (!siblings.has_others()) return NewReno::grow(window, ack);
        const double acked = window.in_slow_start() ? slow_start(window, ack.acked_pkts, ack.why) : ack.acked_pkts;
        if (acked == 0) return;
        const double increase = acked * increase_per_ack(window.cwnd_pkts, siblings, rank_);
        window.cwnd_pkts = std::max(window.cwnd_pkts + increase, 1.0);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) const {
        NewReno::halve(window, event, siblings.has_others() ? 1.0 : 2.0);
    }

private:
    // Windows compare as whole packets, else the set of the largest would change with every ACK.
    static double whole(const Sibling& s) { return std::floor(s.cwnd_pkts); }

    static double rank_of(const Sibling& s, Rank rank) {
        const double l = std::max(s.acked_since_loss_pkts, s.acked_between_losses_pkts);
        return rank == Rank::Paper ? l / (s.srtt_s * s.srtt_s) : l * l / s.srtt_s;
    }

    Rank rank_;
};
static_assert(CongestionController<Olia>);

}  // namespace subflow

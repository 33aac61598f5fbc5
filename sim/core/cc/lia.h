// LIA, the Linked Increases Algorithm of MPTCP. Source: RFC 6356.
#pragma once

#include <array>
#include <optional>

#include "ack_counting.h"
#include "kernel_lia.h"
#include "newreno.h"

namespace subflow {

class Lia {
public:
    static constexpr std::array kOptions{AckCounting::kOption, KernelArithmetic::kOption, OptionalHyStart::kOption};
    static constexpr RuleInfo kLinkedIncrease{
        .name = "linked_increase",
        .formula =
            "cwnd + acked * min(alpha / cwnd_total, 1 / cwnd), alpha = cwnd_total * best / total_rate^2, best = "
            "max(cwnd_i / rtt_i^2), total_rate = sum(cwnd_i / rtt_i)",
        .computed = "cwnd = cwnd + acked * min(alpha / cwnd_total, 1 / cwnd)",
        .source = "RFC 6356 section 3",
        .numbers = {number::kAcked,
                    number::kCwnd,
                    number::kAlpha,
                    {"cwnd_total_pkts", "sum of the cwnd of all subflows"},
                    {"best_pkts_per_s2", "largest cwnd / rtt² of all subflows"},
                    number::kTotalRate,
                    number::kIncrease,
                    {"is_capped", "1 where the limit of one TCP, 1 / cwnd, decided"}},
    };
    static constexpr std::array kOwnRules{&kSlowStart, &kLinkedIncrease, &NewReno::kAdditiveIncrease,
                                          &NewReno::kHalving};
    static constexpr auto kRules =
        joined(kOwnRules, std::array{&KernelLia::kStep, &KernelArithmetic::kHalving}, OptionalHyStart::kRules);
    static constexpr AlgorithmInfo kInfo{
        .name = "lia",
        .summary = "Linked increases: all subflows together take what one TCP would on the best path",
        .source = "RFC 6356",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    explicit Lia(const Options& options) : counting_(options), hystart_(options) {
        if (KernelArithmetic::is_chosen(options)) kernel_.emplace();
    }
    bool sees_every_ack() const { return kernel_ || hystart_.is_watching(); }

    // Growth of the window per ACKed packet in congestion avoidance, in packets.
    static double increase_per_ack(double cwnd_pkts, const Siblings& siblings) {
        return increase(cwnd_pkts, siblings, 1, nullptr);
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        if (kernel_) return kernel_->on_every_ack(window, ack, siblings);
        hystart_.on_every_ack(window, ack);
    }

    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings) const {
        if (kernel_) return;
        const double acked = counting_.counted(hystart_.beyond_slow_start(window, ack));
        if (!siblings.has_others()) return NewReno::grow(window, ack, acked);
        window.cwnd_pkts += acked * increase(window.cwnd_pkts, siblings, acked, ack.why);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) {
        if (kernel_) return kernel_->on_congestion_event(window, event, siblings);
        hystart_.on_congestion_event();
        NewReno::halve(window, event);
    }

    void on_recovery_exit(const Window&, const AckSample&, const Siblings& siblings) {
        if (kernel_) kernel_->on_recovery_exit(siblings);
    }

private:
    static double increase(double cwnd_pkts, const Siblings& siblings, double acked_pkts, Reason* why) {
        const Siblings::Rates rates = siblings.rates();
        // RFC 6356 section 3: alpha / cwnd_total, capped so that no subflow is more aggressive than TCP on its path
        const double linked = rates.best_pkts_per_s2 / (rates.total_pps * rates.total_pps);
        const double increase = std::min(linked, 1 / cwnd_pkts);
        if (why != nullptr && acked_pkts > 0) {
            double total = 0;
            for (const Sibling& s : siblings.all) total += s.cwnd_pkts;
            why->set(kLinkedIncrease, {acked_pkts, cwnd_pkts, total * linked, total, rates.best_pkts_per_s2,
                                       rates.total_pps, increase, increase < linked ? 1.0 : 0.0});
        }
        return increase;
    }

    AckCounting counting_;
    OptionalHyStart hystart_;
    std::optional<KernelLia> kernel_;
};
static_assert(CongestionController<Lia>);

}  // namespace subflow

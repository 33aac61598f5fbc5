// Scalable TCP: the window grows by a fixed share per round trip. Save as sim/core/cc/scalable.h.
#pragma once

#include <array>

#include "newreno.h"

namespace subflow {

class Scalable {
public:
    // The rule in Explain: a name, a formula in words, the computed line, and the numbers in it. The last number is the
    // result.
    static constexpr RuleNumber kGrown{"growth_pkts", "growth of the window per acknowledged packet"};
    static constexpr RuleInfo kGrowth{
        .name = "share_growth",
        .formula = "cwnd + growth * acked",
        .computed = "cwnd = cwnd + growth * acked",
        .source = "Kelly, ACM CCR 33(2), 2003, section 3",
        .numbers = {number::kAcked, kGrown, number::kCwnd},
    };
    static constexpr std::array kRules{&kSlowStart, &kGrowth, &NewReno::kHalving};
    // Options that scenarios, forms and sweeps can set. No other single-path controller may have an option of this
    // name, because `uncoupled` offers the options of all of them, which the compiler checks.
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "growth",
            .kind = OptionKind::Number,
            .help = "Growth of the window per acknowledged packet.",
            .default_number = 0.01,
            .minimum = 0,
            .maximum = 1,
            .unit = "pkt",
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "scalable",
        .summary = "A fixed share more per round trip, half the window on loss",
        .source = "Kelly, ACM CCR 33(2), 2003",
        .options = kOptions,
        .rules = kRules,
    };

    explicit Scalable(const Options& options) : growth_(options.number("growth")) {}

    // Called for each acknowledgement outside a recovery; the siblings include this subflow.
    void on_ack(Window& window, const AckSample& ack, const Siblings&) const {
        const double acked = beyond_slow_start(window, ack);  // the part that slow start leaves
        if (ack.why != nullptr && acked > 0) ack.why->set(kGrowth, {acked, growth_, window.cwnd_pkts});
        // Kelly, section 3: a share of each acknowledged packet
        window.cwnd_pkts += growth_ * acked;
    }

    // Called once per window of losses: sets where to continue. The transport repairs the losses.
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) const {
        NewReno::halve(window, event);
    }

private:
    double growth_;
};
static_assert(CongestionController<Scalable>);

}  // namespace subflow

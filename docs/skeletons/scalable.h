// Scalable TCP: the window grows by a fixed share per round trip. Save as sim/core/cc/scalable.h.
#pragma once

#include <array>

#include "newreno.h"

namespace subflow {

class Scalable {
public:
    // What Explain shows: a rule has a name, a formula in words, the line that is computed, and the numbers in it. The
    // last number is what comes out.
    static constexpr RuleNumber kGain{"gain_pkts", "what an acknowledged packet adds"};
    static constexpr RuleInfo kGrowth{
        .name = "share_growth",
        .formula = "cwnd + gain * acked",
        .computed = "cwnd = cwnd + gain * acked",
        .source = "Kelly, ACM CCR 33(2), 2003, section 3",
        .numbers = {number::kAcked, kGain, number::kCwnd},
    };
    static constexpr std::array kRules{&kSlowStart, &kGrowth, &NewReno::kHalving};
    // What scenarios, forms and sweeps can set.
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "gain",
            .kind = OptionKind::Number,
            .help = "What each acknowledged packet adds to the window.",
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

    explicit Scalable(const Options& options) : gain_(options.number("gain")) {}

    // For each acknowledgement outside of a recovery; the siblings are the subflows of the connection, this one too.
    void on_ack(Window& window, const AckSample& ack, const Siblings&) const {
        const double acked = beyond_slow_start(window, ack);  // of it, what slow start leaves
        if (ack.why != nullptr && acked > 0) ack.why->set(kGrowth, {acked, gain_, window.cwnd_pkts});
        // Kelly, section 3: a share of each acknowledged packet
        window.cwnd_pkts += gain_ * acked;
    }

    // Once for a window of losses: says where to go on. Repairing them is not its business.
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) const {
        NewReno::halve(window, event);
    }

private:
    double gain_;
};
static_assert(CongestionController<Scalable>);

}  // namespace subflow

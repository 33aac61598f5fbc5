// Least loaded: the subflow whose window is filled least. Save as sim/core/sched/least_loaded.h.
#pragma once

#include <array>

#include "scheduler.h"

namespace subflow {

class LeastLoaded {
public:
    // Explain shows this rule for a choice.
    static constexpr RuleInfo kLeast{
        .name = "least_loaded",
        .formula = "the available subflow with the smallest inflight / cwnd",
        .source = "an example of the guide",
        .numbers = {number::kInflight, number::kCwnd},
    };
    static constexpr std::array kRules{&kLeast};
    static constexpr AlgorithmInfo kInfo{
        .name = "leastloaded",
        .summary = "The available subflow that has used the smallest part of its window",
        .source = "an example of the guide",
        .options = {},
        .rules = kRules,
    };

    // Whenever a subflow has room, it chooses one.
    static constexpr bool kIsWorkConserving = true;

    explicit LeastLoaded(const Options&) {}

    // The position of the subflow that the next packet goes to; nothing: the packet waits.
    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) const {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            if (!subflows[i].is_available) continue;
            if (!best || comes_before(subflows[i], subflows[*best])) best = i;
        }
        if (best && moment.why != nullptr)
            moment.why->set(kLeast, {subflows[*best].inflight_pkts, subflows[*best].cwnd_pkts});
        return best;
    }

private:
    // A retransmission goes to a subflow that has not carried the packet yet, if possible.
    static bool comes_before(const Candidate& a, const Candidate& b) {
        if (a.has_sent_this != b.has_sent_this) return b.has_sent_this;
        return a.inflight_pkts * b.cwnd_pkts < b.inflight_pkts * a.cwnd_pkts;
    }
};
static_assert(PacketScheduler<LeastLoaded>);

}  // namespace subflow

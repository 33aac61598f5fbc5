// minRTT, the default of MPTCP implementations: fill the fastest subflow first.
#pragma once

#include "scheduler.h"

namespace subflow {

class MinRtt {
public:
    static constexpr AlgorithmInfo kInfo{
        .name = "minrtt",
        .summary = "The available subflow with the lowest smoothed RTT; a new subflow is tried at once",
        .source = "Linux MPTCP default scheduler (mptcp_sched.c)",
    };

    static constexpr bool kIsWorkConserving = true;

    explicit MinRtt(const Options&) {}

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment&) const {
        return fastest_available(subflows);
    }

    // The available subflow with the lowest smoothed RTT; nothing if none is available.
    static std::optional<std::size_t> fastest_available(std::span<const Candidate> subflows) {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            if (!subflows[i].is_available) continue;
            if (!best || is_better(subflows[i], subflows[*best])) best = i;
        }
        return best;
    }

private:
    // A subflow the packet has not been sent on beats one it has; then the lower RTT; then the earlier subflow.
    static bool is_better(const Candidate& a, const Candidate& b) {
        if (a.has_sent_this != b.has_sent_this) return b.has_sent_this;
        return a.srtt < b.srtt;
    }
};
static_assert(PacketScheduler<MinRtt>);

}  // namespace subflow

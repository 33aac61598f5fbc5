// minRTT, the default of MPTCP implementations: fills the fastest subflow first.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "scheduler.h"

namespace subflow {

class MinRtt {
public:
    static constexpr RuleInfo kLowestRtt{
        .name = "lowest_srtt",
        .formula = "the available subflow with the lowest srtt; one without a sample counts as 0",
        .source = "Linux MPTCP mptcp_sched.c",
        .numbers = {number::kSrtt, {"next_srtt_s", "smoothed round-trip time of the next best subflow"}},
    };
    static constexpr std::array kRules{&kLowestRtt};
    static constexpr std::array kOptions{kRetransmissionOption, kPenalisationOption};
    static constexpr AlgorithmInfo kInfo{
        .name = "minrtt",
        .summary = "The available subflow with the lowest smoothed RTT; a new subflow is tried at once",
        .source = "Linux MPTCP default scheduler (mptcp_sched.c)",
        .options = kOptions,
        .rules = kRules,
    };

    static constexpr bool kIsWorkConserving = true;

    explicit MinRtt(const Options& options)
        : retransmits_(options.number("opportunistic_retransmission") != 0),
          penalises_(options.number("penalisation") != 0) {}

    bool retransmits_when_blocked() const { return retransmits_; }
    bool penalises() const { return penalises_; }

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) const {
        const std::optional<std::size_t> best = fastest_available(subflows);
        if (moment.why != nullptr && best) explain(*moment.why, subflows, *best);
        return best;
    }

    // The available subflow with the lowest smoothed RTT, preferably one that has not sent this packet; empty if no
    // subflow is available.
    static std::optional<std::size_t> fastest_available(std::span<const Candidate> subflows) {
        return fastest(subflows, [](const Candidate& c) { return c.is_available; });
    }

    // The fastest subflow that is worth waiting for, with or without room: usable, with a known RTT, and preferably one
    // that has not sent this packet.
    // DEVIATION: Linux also waits for a subflow without an RTT, or for one that must not carry the packet. A
    // subflow without an RTT may prove the slowest, and waiting is useless if the packet must not be sent there.
    static std::optional<std::size_t> fastest_usable(std::span<const Candidate> subflows) {
        const bool has_fresh =
            std::ranges::any_of(subflows, [](const Candidate& c) { return c.is_usable && !c.has_sent_this; });
        return fastest(subflows, [has_fresh](const Candidate& c) {
            return c.is_usable && c.srtt > Nanos(0) && !(has_fresh && c.has_sent_this);
        });
    }

    // Another subflow, at least as fast as `choice`, that is worth waiting for; empty without such a subflow or
    // `choice`.
    static std::optional<std::size_t> faster_than(std::span<const Candidate> subflows,
                                                  std::optional<std::size_t> choice) {
        const std::optional<std::size_t> fastest = fastest_usable(subflows);
        if (!choice || !fastest || *choice == *fastest || subflows[*fastest].srtt > subflows[*choice].srtt)
            return std::nullopt;
        return fastest;
    }

    // The best subflow by is_better() among those accepted by `admits`; empty if `admits` accepts no subflow.
    template <class Admits>
    static std::optional<std::size_t> fastest(std::span<const Candidate> subflows, Admits&& admits) {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            if (!admits(subflows[i])) continue;
            if (!best || is_better(subflows[i], subflows[*best])) best = i;
        }
        return best;
    }

    // Records the lowest RTT and the next one among the available subflows; nothing if only one subflow is available.
    static void explain(Reason& why, std::span<const Candidate> subflows, std::size_t best) {
        double next_s = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            if (i != best && subflows[i].is_available) next_s = std::fmin(next_s, to_seconds(subflows[i].srtt));
        }
        if (!std::isnan(next_s)) why.set(kLowestRtt, {to_seconds(subflows[best].srtt), next_s});
    }

private:
    // A subflow that has not sent the packet comes first; then the lower RTT; then the earlier subflow.
    static bool is_better(const Candidate& a, const Candidate& b) {
        if (a.has_sent_this != b.has_sent_this) return b.has_sent_this;
        return a.srtt < b.srtt;
    }

    bool retransmits_ = true;
    bool penalises_ = true;
};
static_assert(PacketScheduler<MinRtt>);

}  // namespace subflow

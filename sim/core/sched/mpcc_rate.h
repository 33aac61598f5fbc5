// MPCC's rate-based scheduler: minRTT for subflows limited by their rate instead of their window.
#pragma once

#include <array>
#include <limits>

#include "min_rtt.h"

namespace subflow {

class MpccRate {
public:
    static constexpr RuleNumber kLimit{"limit_pkts", "largest queue allowed"};
    static constexpr RuleNumber kQueued{"queued_pkts", "packets bound to the subflow and not yet sent"};

    static constexpr RuleInfo kLowestRtt{
        .name = "lowest_srtt_below_limit",
        .formula =
            "the available subflow with the lowest srtt of those with queued_pkts <= limit_pkts = share * "
            "pacing rate * srtt; unpaced ones have no limit",
        .source = "Gilad et al., CoNEXT 2020; mpcc_release mptcp_pacing_sched.c",
        .numbers = {number::kSrtt, kQueued, kLimit},
    };
    static constexpr RuleInfo kAllBehind{
        .name = "all_behind",
        .formula = "send nothing: on each available subflow queued_pkts > limit_pkts; the numbers are of the fastest",
        .source = "Gilad et al., CoNEXT 2020; mpcc_release mptcp_pacing_sched.c",
        .numbers = {number::kSrtt, kQueued, kLimit},
    };
    static constexpr std::array kRules{&kLowestRtt, &kAllBehind};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "backlog_share",
            .kind = OptionKind::Ratio,
            .help = "How much may wait for pacing on a subflow, as a share of its rate times its round-trip time.",
            .default_number = 0.1,
            .minimum = 0,
            .maximum = 1,
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "mpcc-rate",
        .summary = "The lowest smoothed RTT among subflows that are not behind their pacing rate",
        .source = "Gilad, Rozen-Schiff, Godfrey, Raiciu, Schapira, CoNEXT 2020; mpcc_release mptcp_pacing_sched.c",
        .options = kOptions,
        .rules = kRules,
    };

    explicit MpccRate(const Options& options) : share_(options.number("backlog_share")) {}

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment) const {
        const std::optional<std::size_t> best =
            MinRtt::fastest(subflows, [this](const Candidate& c) { return c.is_available && !is_behind(c, share_); });
        if (moment.why == nullptr) return best;
        if (const std::optional<std::size_t> shown = best ? best : MinRtt::fastest_available(subflows)) {
            const Candidate& c = subflows[*shown];
            moment.why->set(best ? kLowestRtt : kAllBehind, {to_seconds(c.srtt), c.queued_pkts, limit_pkts(c, share_)});
        }
        return best;
    }

    // Limit of queued packets on a subflow: a share of the packets per round trip. Infinite without pacing.
    static double limit_pkts(const Candidate& c, double share) {
        return c.pacing_pps > 0 ? share * c.pacing_pps * to_seconds(c.srtt) : std::numeric_limits<double>::infinity();
    }
    // mpcc_release mptcp_pacing_sched.c: a subflow beyond the limit is unavailable. A rate-based controller keeps its
    // window far above the packets in flight, so that the window test alone would assign all data to its subflow.
    static bool is_behind(const Candidate& c, double share) { return c.queued_pkts > limit_pkts(c, share); }

private:
    double share_;
};
static_assert(PacketScheduler<MpccRate>);

}  // namespace subflow

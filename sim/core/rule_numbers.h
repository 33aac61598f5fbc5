// Numbers that appear in the rules of several algorithms. Numbers of one algorithm are declared with its rules.
#pragma once

#include <string_view>

namespace subflow {

// A number in a rule. Not an aggregate: for an aggregate, a braced list of two names would compile as the name and the
// meaning of one number.
struct RuleNumber {
    std::string_view name;     // including the unit: "acked_pkts"
    std::string_view meaning;  // short explanation for readers, the same wherever the name occurs

    constexpr RuleNumber() = default;
    constexpr RuleNumber(std::string_view called, std::string_view means) : name(called), meaning(means) {}
};

namespace number {

inline constexpr RuleNumber kAcked{"acked_pkts", "packets that this ACK acknowledged"};
inline constexpr RuleNumber kAction{"action", "choice of the learning agent, -1 to 1"};
inline constexpr RuleNumber kAlpha{"alpha", "aggressiveness that the rule allows"};
inline constexpr RuleNumber kAlphaPkts{"alpha_pkts", "aggressiveness that the rule allows"};
inline constexpr RuleNumber kAmplifier{"amplifier", "times the step, growing while the direction stays"};
inline constexpr RuleNumber kBaseRtt{"base_rtt_s", "lowest round-trip time, without queues"};
inline constexpr RuleNumber kBeta{"beta", "share that remains after a loss, or upper bound of the rule"};
inline constexpr RuleNumber kChoice{"choice", "number of the choice"};
inline constexpr RuleNumber kCwnd{"cwnd_pkts", "congestion window at the time of the decision"};
inline constexpr RuleNumber kDiff{"diff_pkts", "its own packets in queues"};
inline constexpr RuleNumber kGradient{"gradient", "change of the utility with the rate"};
inline constexpr RuleNumber kGradient1{"gradient_1", "slope of the utility between the first two probes"};
inline constexpr RuleNumber kGradient2{"gradient_2", "slope of the utility between the second two probes"};
inline constexpr RuleNumber kIncrease{"increase_pkts", "by how much the cwnd grew per packet"};
inline constexpr RuleNumber kInflight{"inflight_pkts", "packets in flight"};
inline constexpr RuleNumber kK{"K_s", "time until W_max is reached again"};
inline constexpr RuleNumber kLastUtility{"last_utility", "utility of the previous interval"};
inline constexpr RuleNumber kLossRatio{"loss_ratio", "share of packets lost"};
inline constexpr RuleNumber kMinRtt{"min_rtt_s", "lowest round-trip time"};
inline constexpr RuleNumber kN{"n", "number of subflows"};
inline constexpr RuleNumber kRatePps{"rate_pps", "sending rate at the time of the decision"};
inline constexpr RuleNumber kReferenceBdp{"reference_bdp_pkts", "bandwidth-delay product of the path"};
inline constexpr RuleNumber kRoundRtt{"round_rtt_s", "lowest round-trip time of this round"};
inline constexpr RuleNumber kRounds{"rounds", "round trips that are counted"};
inline constexpr RuleNumber kRtt{"rtt_s", "round-trip time of this round"};
inline constexpr RuleNumber kSrtt{"srtt_s", "smoothed round-trip time"};
inline constexpr RuleNumber kSrttFast{"srtt_fast_s", "smoothed round-trip time of the fastest subflow"};
inline constexpr RuleNumber kSrttSlow{"srtt_slow_s", "smoothed round-trip time of the slower subflow"};
inline constexpr RuleNumber kSsthresh{"ssthresh_pkts", "slow start threshold"};
inline constexpr RuleNumber kT{"t_s", "time since the last reduction"};
inline constexpr RuleNumber kTarget{"target_pkts", "cwnd to be reached"};
inline constexpr RuleNumber kTotalRate{"total_rate_pps", "sum of the rates of all subflows"};
inline constexpr RuleNumber kUsed{"used_pkts", "how much of the cwnd was used"};
inline constexpr RuleNumber kUtility{"utility", "utility of the interval"};
inline constexpr RuleNumber kWCubic{"W_cubic_pkts", "cwnd by the cubic function"};
inline constexpr RuleNumber kWEst{"W_est_pkts", "cwnd that Reno would have"};
inline constexpr RuleNumber kWindow{"window_pkts", "receive window"};
inline constexpr RuleNumber kWMax{"W_max_pkts", "cwnd before the last reduction"};
inline constexpr RuleNumber kWMaxBefore{"W_max_before_pkts", "W_max of the loss before"};

}  // namespace number
}  // namespace subflow

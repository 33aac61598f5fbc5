// MPCC's rules for changes of a rate or a window. Part of MPCC. Rates count bits on the wire.
#pragma once

#include <array>

#include "../decision.h"

namespace subflow::mpcc_rules {

inline constexpr std::string_view kSource = "Gilad et al., CoNEXT 2020; mpcc_release";

inline constexpr RuleNumber kBound{"bound_bps", "largest step allowed"};
inline constexpr RuleNumber kInflationAbove{"inflation_above", "growth of the round-trip time with the higher rate"};
inline constexpr RuleNumber kLastRate{"last_rate_bps", "rate of the interval before"};
inline constexpr RuleNumber kLatencyInflation{"latency_inflation", "growth of the round-trip time over the interval"};
inline constexpr RuleNumber kLossAbove{"loss_above", "share of packets lost with the higher rate"};
inline constexpr RuleNumber kOthers{"others_bps", "rate of the other subflows of the connection"};
inline constexpr RuleNumber kRate{"rate_bps", "sending rate at the time of the decision"};
inline constexpr RuleNumber kThroughput{"throughput_bps", "rate that arrived"};
inline constexpr RuleNumber kIsTried{"is_tried", "1 where the interval was sent at about the rate to be tried"};
inline constexpr RuleNumber kTried{"tried_bps", "rate of the interval"};
inline constexpr RuleNumber kUtilityAbove{"utility_above", "utility of the higher rate"};
inline constexpr RuleNumber kUtilityBelow{"utility_below", "utility of the lower rate"};

inline constexpr RuleInfo kInitialRate{
    .name = "initial_rate",
    .formula = "rate = initial_rate, until a round-trip time is known",
    .computed = "rate = rate",
    .source = kSource,
    .numbers = {kRate},
};
inline constexpr RuleInfo kDouble{
    .name = "double",
    .formula = "rate = 2 rate: utility > last_utility and throughput > 0.9 rate",
    .computed = "rate = 2 * tried",
    .source = kSource,
    .numbers = {kTried, number::kUtility, number::kLastUtility, kThroughput, number::kLossRatio, kLatencyInflation},
};
inline constexpr RuleInfo kRetry{
    .name = "retry",
    .formula = "the same rate again, at most twice: utility <= last_utility or throughput <= 0.9 rate",
    .source = kSource,
    .numbers = {kTried, number::kUtility, number::kLastUtility, kThroughput, number::kLossRatio, kLatencyInflation},
};
inline constexpr RuleInfo kLeaveSlowStart{
    .name = "leave_slow_start",
    .formula = "rate = the last rate that raised the utility; then probe",
    .source = kSource,
    .numbers = {kTried, number::kUtility, number::kLastUtility, kThroughput, number::kLossRatio, kLatencyInflation},
};
inline constexpr RuleInfo kTry{
    .name = "try",
    .formula =
        "for one interval, rate + width or rate - width ((rate + width) / 2 if width > rate); width = 5 % of "
        "the connection's rate",
    .computed = "rate = tried",
    .source = kSource,
    .numbers = {kRate,
                kOthers,
                {"width_bps", "how far from the rate it probes"},
                kTried,
                {"interval", "number of the interval, or how long it lasts"}},
};
inline constexpr RuleInfo kWait{
    .name = "wait",
    .formula = "the chosen rate, until the results of the trials are in",
    .computed = "rate = rate",
    .source = kSource,
    .numbers = {kRate},
};
inline constexpr RuleInfo kAgreement{
    .name = "pairs_agree",
    .formula =
        "rate + step: step = gradient / 2 (1 + amplifier) within [0.5 Mbit/s, min(bound, rate / 2)], gradient = the "
        "smaller of both pairs",
    .source = kSource,
    .numbers = {number::kGradient1, number::kGradient2, kUtilityAbove, kUtilityBelow, number::kAmplifier, kBound,
                kLossAbove, kInflationAbove},
};
inline constexpr RuleInfo kDisagreement{
    .name = "pairs_disagree",
    .formula = "the same rate; probe again",
    .source = kSource,
    .numbers = {number::kGradient1, number::kGradient2, kUtilityAbove, kUtilityBelow, kLossAbove, kInflationAbove},
};
inline constexpr RuleInfo kMove{
    .name = "move",
    .formula =
        "rate + step in the same direction: step = gradient / 2 (1 + amplifier) within [0.5 Mbit/s, min(bound, "
        "rate / 2)], gradient = (utility - last_utility) / (rate - last_rate)",
    .source = kSource,
    .numbers = {number::kUtility, number::kLastUtility, kLastRate, number::kGradient, number::kAmplifier, kBound,
                number::kLossRatio, kLatencyInflation},
};
inline constexpr RuleInfo kTurn{
    .name = "turn_back",
    .formula = "the same rate; probe: the gradient points the other way",
    .source = kSource,
    .numbers = {number::kUtility, number::kLastUtility, kLastRate, number::kGradient, number::kAmplifier, kBound,
                number::kLossRatio, kLatencyInflation},
};
inline constexpr RuleInfo kUntried{
    .name = "untried",
    .formula = "the same rate; probe: less was sent than the rate allows, which is no ground for raising it",
    .source = "RFC 7661; Dong et al., NSDI 2018",
    .numbers = {kRate, kOthers},
};
inline constexpr RuleInfo kBrake{
    .name = "emergency_brake",
    .formula = "rate = rate / 2; probe: loss > 30 % of more than 100 packets",
    .computed = "rate = tried / 2",
    .source = kSource,
    .numbers = {number::kLossRatio, kTried},
};
inline constexpr RuleInfo kCwnd{
    .name = "window_of_rate",
    .formula = "cwnd = max(4, 2 rate srtt / packet)",
    .computed = "cwnd = max(4, 2 * rate * srtt / packet_bits)",
    .source = kSource,
    .numbers = {kRate, number::kSrtt},
};
inline constexpr RuleInfo kSilence{
    .name = "advertise_nothing",
    .formula = "advertised = 0: no ACK of the subflow arrives",
    .source = kSource,
    .numbers = {kRate},
};

// Rules of an agent that replaces the gradient steps (ddpg_mpcc.h).
inline constexpr std::string_view kAgentSource = "Pokhrel et al., DDPG-MPCC, Future Internet 2024, section 2.2";
inline constexpr RuleInfo kHandOver{
    .name = "hand_over",
    .formula = "the same rate: both pairs agree, and the agent moves",
    .source = kAgentSource,
    .numbers = {number::kGradient1, number::kGradient2, kUtilityAbove, kUtilityBelow, kLossAbove, kInflationAbove},
};
inline constexpr RuleInfo kAgentMove{
    .name = "agent_move",
    .formula = "rate (1 + step action), at least 0.2 Mbit/s, at most 2 reference",
    .source = kAgentSource,
    .numbers = {number::kAction, kRate, {"reference_bps", "rate of the path that the agent is given"}},
};
inline constexpr RuleInfo kGoOn{
    .name = "go_on",
    .formula = "the agent moves again: utility >= last_utility",
    .source = kAgentSource,
    .numbers = {kTried, number::kUtility, kLastRate, number::kLastUtility, number::kLossRatio, kLatencyInflation,
                kIsTried},
};
inline constexpr RuleInfo kFallBack{
    .name = "fall_back",
    .formula = "the previous rate; probe: utility < last_utility, or the rate did not change or was not reached",
    .source = kAgentSource,
    .numbers = {kTried, number::kUtility, kLastRate, number::kLastUtility, number::kLossRatio, kLatencyInflation,
                kIsTried},
};

inline constexpr std::array kAll{&kInitialRate,  &kDouble, &kRetry, &kLeaveSlowStart, &kTry,   &kWait, &kAgreement,
                                 &kDisagreement, &kMove,   &kTurn,  &kUntried,        &kBrake, &kCwnd, &kSilence};

// All rules if an agent replaces the gradient steps.
inline constexpr std::array kAllOfAgent{&kInitialRate, &kDouble,   &kRetry,        &kLeaveSlowStart, &kTry,
                                        &kWait,        &kHandOver, &kDisagreement, &kAgentMove,      &kGoOn,
                                        &kFallBack,    &kUntried,  &kBrake,        &kCwnd,           &kSilence};

}  // namespace subflow::mpcc_rules

// The rules by which MPCC changes a rate or a window. Part of MPCC. Rates are those of the wire.
#pragma once

#include <array>

#include "../decision.h"

namespace subflow::mpcc_rules {

inline constexpr std::string_view kSource = "Gilad et al., CoNEXT 2020; mpcc_release";

inline constexpr RuleInfo kInitialRate{
    .name = "initial_rate",
    .formula = "rate = initial_rate, until there is a round-trip time",
    .source = kSource,
    .numbers = {"rate_bps"},
};
inline constexpr RuleInfo kDouble{
    .name = "double",
    .formula = "rate = 2 rate: utility > last_utility and throughput > 0.9 rate",
    .source = kSource,
    .numbers = {"tried_bps", "utility", "last_utility", "throughput_bps", "loss_ratio", "latency_inflation"},
};
inline constexpr RuleInfo kRetry{
    .name = "retry",
    .formula = "the same rate again, twice at most: utility <= last_utility or throughput <= 0.9 rate",
    .source = kSource,
    .numbers = {"tried_bps", "utility", "last_utility", "throughput_bps", "loss_ratio", "latency_inflation"},
};
inline constexpr RuleInfo kLeaveSlowStart{
    .name = "leave_slow_start",
    .formula = "rate = the last one that paid; then probe",
    .source = kSource,
    .numbers = {"tried_bps", "utility", "last_utility", "throughput_bps", "loss_ratio", "latency_inflation"},
};
inline constexpr RuleInfo kTry{
    .name = "try",
    .formula =
        "for one interval, rate + width or rate - width ((rate + width) / 2 if width > rate); width = 5 % of "
        "the connection's rate",
    .source = kSource,
    .numbers = {"rate_bps", "others_bps", "width_bps", "tried_bps", "interval"},
};
inline constexpr RuleInfo kWait{
    .name = "wait",
    .formula = "the rate decided upon, until the results of what was tried are in",
    .source = kSource,
    .numbers = {"rate_bps"},
};
inline constexpr RuleInfo kAgreement{
    .name = "pairs_agree",
    .formula =
        "rate + step: step = gradient / 2 (1 + amplifier) within [0.5 Mbit/s, min(bound, rate / 2)], gradient = "
        "the lesser of both pairs",
    .source = kSource,
    .numbers = {"gradient_1", "gradient_2", "utility_above", "utility_below", "amplifier", "bound_bps", "loss_above",
                "inflation_above"},
};
inline constexpr RuleInfo kDisagreement{
    .name = "pairs_disagree",
    .formula = "the same rate; probe again",
    .source = kSource,
    .numbers = {"gradient_1", "gradient_2", "utility_above", "utility_below", "loss_above", "inflation_above"},
};
inline constexpr RuleInfo kMove{
    .name = "move",
    .formula =
        "rate + step in the same direction: step = gradient / 2 (1 + amplifier) within [0.5 Mbit/s, min(bound, "
        "rate / 2)], gradient = (utility - last_utility) / (rate - last_rate)",
    .source = kSource,
    .numbers = {"utility", "last_utility", "last_rate_bps", "gradient", "amplifier", "bound_bps", "loss_ratio",
                "latency_inflation"},
};
inline constexpr RuleInfo kTurn{
    .name = "turn_back",
    .formula = "the same rate; probe: the gradient points the other way",
    .source = kSource,
    .numbers = {"utility", "last_utility", "last_rate_bps", "gradient", "amplifier", "bound_bps", "loss_ratio",
                "latency_inflation"},
};
inline constexpr RuleInfo kUntried{
    .name = "untried",
    .formula = "the same rate; probe: less was sent than the rate allows, which is no ground for raising it",
    .source = "RFC 7661; Dong et al., NSDI 2018",
    .numbers = {"rate_bps", "others_bps"},
};
inline constexpr RuleInfo kBrake{
    .name = "emergency_brake",
    .formula = "rate = rate / 2; probe: loss > 30 % of more than 100 packets",
    .source = kSource,
    .numbers = {"loss_ratio", "tried_bps"},
};
inline constexpr RuleInfo kCwnd{
    .name = "window_of_rate",
    .formula = "cwnd = max(4, 2 rate srtt / packet)",
    .source = kSource,
    .numbers = {"rate_bps", "srtt_s"},
};
inline constexpr RuleInfo kSilence{
    .name = "advertise_nothing",
    .formula = "advertised = 0: nothing is heard of the subflow",
    .source = kSource,
    .numbers = {"rate_bps"},
};

// Those of an agent that moves in place of the gradient (ddpg_mpcc.h).
inline constexpr std::string_view kAgentSource = "Pokhrel et al., DDPG-MPCC, Future Internet 2024, section 2.2";
inline constexpr RuleInfo kHandOver{
    .name = "hand_over",
    .formula = "the same rate: both pairs agree, and the agent moves",
    .source = kAgentSource,
    .numbers = {"gradient_1", "gradient_2", "utility_above", "utility_below", "loss_above", "inflation_above"},
};
inline constexpr RuleInfo kAgentMove{
    .name = "agent_move",
    .formula = "rate (1 + step action), at least 0.2 Mbit/s, at most 2 reference",
    .source = kAgentSource,
    .numbers = {"action", "rate_bps", "reference_bps"},
};
inline constexpr RuleInfo kGoOn{
    .name = "go_on",
    .formula = "the agent moves again: utility >= last_utility",
    .source = kAgentSource,
    .numbers = {"tried_bps", "utility", "last_rate_bps", "last_utility", "loss_ratio", "latency_inflation", "is_tried"},
};
inline constexpr RuleInfo kFallBack{
    .name = "fall_back",
    .formula = "the rate before; probe: utility < last_utility, or the rate stayed or was not sent at",
    .source = kAgentSource,
    .numbers = {"tried_bps", "utility", "last_rate_bps", "last_utility", "loss_ratio", "latency_inflation", "is_tried"},
};

inline constexpr std::array kAll{&kInitialRate,  &kDouble, &kRetry, &kLeaveSlowStart, &kTry,   &kWait, &kAgreement,
                                 &kDisagreement, &kMove,   &kTurn,  &kUntried,        &kBrake, &kCwnd, &kSilence};

// With an agent: it takes the steps.
inline constexpr std::array kAllOfAgent{&kInitialRate, &kDouble,   &kRetry,        &kLeaveSlowStart, &kTry,
                                        &kWait,        &kHandOver, &kDisagreement, &kAgentMove,      &kGoOn,
                                        &kFallBack,    &kUntried,  &kBrake,        &kCwnd,           &kSilence};

}  // namespace subflow::mpcc_rules

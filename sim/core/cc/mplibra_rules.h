// The rules by which MPLibra changes a rate or a window, beside those of its classic controller. Part of MPLibra.
#pragma once

#include <array>

#include "../decision.h"

namespace subflow::mplibra_rules {

inline constexpr std::string_view kSource = "Yu et al., MPLibra, section IV, algorithm 2";

inline constexpr RuleInfo kFirstRate{
    .name = "libra_first_rate",
    .formula = "x_prev = cwnd / srtt, with the first round-trip time; explore from there",
    .source = kSource,
    .numbers = {"cwnd_pkts", "srtt_s"},
};
inline constexpr RuleInfo kExplore{
    .name = "libra_explore",
    .formula = "cwnd = x_prev srtt for one srtt, in which the classic controller has it; paced if not clocked by ACKs",
    .source = kSource,
    .numbers = {"x_prev_pps", "srtt_s", "inflight_pkts"},
};
inline constexpr RuleInfo kAgreement{
    .name = "libra_agreement",
    .formula =
        "x_prev = x_cl; explore again: |x_cl - x_rl| < threshold or, in the first slow start, x_rl is in between; x_cl "
        "= cwnd / srtt, x_rl = 2^(range action) x_prev",
    .source = kSource,
    .numbers = {"action", "x_prev_pps", "x_cl_pps", "x_rl_pps", "threshold_pps", "srtt_s"},
};
inline constexpr RuleInfo kDisagreement{
    .name = "libra_disagreement",
    .formula =
        "evaluate both, the smaller one first: |x_cl - x_rl| >= threshold; x_cl = cwnd / srtt, x_rl = 2^(range "
        "action) x_prev",
    .source = kSource,
    .numbers = {"action", "x_prev_pps", "x_cl_pps", "x_rl_pps", "threshold_pps", "srtt_s"},
};
inline constexpr RuleInfo kTry{
    .name = "libra_try",
    .formula = "for srtt / 2 at the rate of a candidate",
    .source = kSource,
    .numbers = {"rate_pps", "is_of_agent", "interval_s"},
};
inline constexpr RuleInfo kAwait{
    .name = "libra_await",
    .formula = "x_prev, until it is known what became of both candidates",
    .source = kSource,
    .numbers = {"x_prev_pps"},
};
inline constexpr RuleInfo kChoice{
    .name = "libra_choice",
    .formula =
        "x_prev = the one with the largest u = ln T - T (beta L + gamma dRTT/dt), T = others + x in Mbit/s; choice 0: "
        "x_cl, 1: x_rl, 2: x_prev",
    .source = kSource,
    .numbers = {"choice", "x_cl_pps", "u_cl", "x_rl_pps", "u_rl", "x_prev_pps", "u_prev", "others_pps"},
};
inline constexpr RuleInfo kInconclusive{
    .name = "libra_inconclusive",
    .formula = "x_prev = x_cl: a candidate had too few packets, or less was sent than its rate allows",
    .source = kSource,
    .numbers = {"x_cl_pps", "sent_cl_pkts", "x_rl_pps", "sent_rl_pkts"},
};
inline constexpr RuleInfo kExploit{
    .name = "libra_exploit",
    .formula = "x_prev for N round trips",
    .source = kSource,
    .numbers = {"x_prev_pps", "length_s"},
};
inline constexpr RuleInfo kCap{
    .name = "libra_window_of_rate",
    .formula =
        "cwnd = max(4, 2 x srtt), x the largest rate of the cycle: no limit but for a sender of which nothing is heard",
    .source = kSource,
    .numbers = {"rate_pps", "srtt_s"},
};
inline constexpr RuleInfo kLossPassed{
    .name = "libra_rate_stays",
    .formula = "the loss is repaired and does not change the rate: the classic controller reacts while it explores",
    .source = kSource,
    .numbers = {"rate_pps"},
};
inline constexpr RuleInfo kGivenUp{
    .name = "libra_given_up",
    .formula = "x_prev = x_prev / 2, from which to explore once the path is heard of again",
    .source = kSource,
    .numbers = {"x_prev_pps"},
};
inline constexpr std::array kAll{&kFirstRate, &kExplore,      &kAgreement, &kDisagreement, &kTry,        &kAwait,
                                 &kChoice,    &kInconclusive, &kExploit,   &kCap,          &kLossPassed, &kGivenUp};

}  // namespace subflow::mplibra_rules

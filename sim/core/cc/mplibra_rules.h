// MPLibra's rules for changes of a rate or a window, in addition to those of its classic controller. Part of MPLibra.
#pragma once

#include <array>

#include "../decision.h"

namespace subflow::mplibra_rules {

inline constexpr std::string_view kSource = "Yu et al., MPLibra, section IV, algorithm 2";

inline constexpr RuleNumber kThreshold{"threshold_pps", "from here on the two differ"};
inline constexpr RuleNumber kXCl{"x_cl_pps", "rate of the classic controller"};
inline constexpr RuleNumber kXPrev{"x_prev_pps", "rate of the cycle before"};
inline constexpr RuleNumber kXRl{"x_rl_pps", "rate of the learning agent"};

inline constexpr RuleInfo kFirstRate{
    .name = "libra_first_rate",
    .formula = "x_prev = cwnd / srtt, with the first round-trip time; explore from there",
    .source = kSource,
    .numbers = {number::kCwnd, number::kSrtt},
};
inline constexpr RuleInfo kExplore{
    .name = "libra_explore",
    .formula = "cwnd = x_prev srtt for one srtt, set by the classic controller; paced if not clocked by ACKs",
    .computed = "cwnd = x_prev * srtt",
    .source = kSource,
    .numbers = {kXPrev, number::kSrtt, number::kInflight},
};
inline constexpr RuleInfo kAgreement{
    .name = "libra_agreement",
    .formula =
        "x_prev = x_cl; explore again: |x_cl - x_rl| < threshold or, in the first slow start, x_rl is in between; x_cl "
        "= cwnd / srtt, x_rl = 2^(range action) x_prev",
    .source = kSource,
    .numbers = {number::kAction, kXPrev, kXCl, kXRl, kThreshold, number::kSrtt},
};
inline constexpr RuleInfo kDisagreement{
    .name = "libra_disagreement",
    .formula =
        "evaluate both, the smaller one first: |x_cl - x_rl| >= threshold; x_cl = cwnd / srtt, x_rl = 2^(range "
        "action) x_prev",
    .source = kSource,
    .numbers = {number::kAction, kXPrev, kXCl, kXRl, kThreshold, number::kSrtt},
};
inline constexpr RuleInfo kTry{
    .name = "libra_try",
    .formula = "for srtt / 2 at the rate of a candidate",
    .computed = "rate = rate",
    .source = kSource,
    .numbers = {number::kRatePps,
                {"is_of_agent", "1 where the candidate is the learning agent's"},
                {"interval_s", "number of the interval, or how long it lasts"}},
};
inline constexpr RuleInfo kAwait{
    .name = "libra_await",
    .formula = "x_prev, until the results of both candidates are known",
    .computed = "rate = x_prev",
    .source = kSource,
    .numbers = {kXPrev},
};
inline constexpr RuleInfo kChoice{
    .name = "libra_choice",
    .formula =
        "x_prev = the one with the largest u = ln T - T (beta L + gamma dRTT/dt), T = others + x in Mbit/s, or with 1 "
        "in place of the second T; choice 0: "
        "x_cl, 1: x_rl, 2: x_prev",
    .computed = "rate = x_cl if choice == 0 else x_rl if choice == 1 else x_prev",
    .source = kSource,
    .numbers = {number::kChoice,
                kXCl,
                {"u_cl", "utility of the classic controller's rate"},
                kXRl,
                {"u_rl", "utility of the learning agent's rate"},
                kXPrev,
                {"u_prev", "utility of the rate of the cycle before"},
                {"others_pps", "rate of the other subflows of the connection"}},
};
inline constexpr RuleInfo kInconclusive{
    .name = "libra_inconclusive",
    .formula = "x_prev = x_cl: a candidate had too few packets, or less was sent than its rate allows",
    .computed = "rate = x_cl",
    .source = kSource,
    .numbers = {kXCl,
                {"sent_cl_pkts", "packets sent for the classic controller"},
                kXRl,
                {"sent_rl_pkts", "packets sent for the learning agent"}},
};
inline constexpr RuleInfo kExploit{
    .name = "libra_exploit",
    .formula = "x_prev for N round trips",
    .computed = "rate = x_prev",
    .source = kSource,
    .numbers = {kXPrev, {"length_s", "how long this part lasts"}},
};
inline constexpr RuleInfo kCap{
    .name = "libra_window_of_rate",
    .formula = "cwnd = max(4, 2 x srtt), x the largest rate of the cycle: a limit only for a sender that hears nothing",
    .source = kSource,
    .numbers = {number::kRatePps, number::kSrtt},
};
inline constexpr RuleInfo kLossPassed{
    .name = "libra_rate_stays",
    .formula = "the loss is repaired and does not change the rate: the classic controller reacts while it explores",
    .computed = "rate = rate",
    .source = kSource,
    .numbers = {number::kRatePps},
};
inline constexpr RuleInfo kGivenUp{
    .name = "libra_given_up",
    .formula = "x_prev = x_prev / 2, from where to explore once ACKs of the path arrive again",
    .source = kSource,
    .numbers = {kXPrev},
};
inline constexpr std::array kAll{&kFirstRate, &kExplore,      &kAgreement, &kDisagreement, &kTry,        &kAwait,
                                 &kChoice,    &kInconclusive, &kExploit,   &kCap,          &kLossPassed, &kGivenUp};

}  // namespace subflow::mplibra_rules

// The rules by which the sender itself, and not the controller, changes a window.
#pragma once

#include <array>

#include "decision.h"

namespace subflow::sender_rules {

inline constexpr RuleInfo kRecoveryExit{
    .name = "recovery_exit",
    .formula = "cwnd = ssthresh",
    .source = "RFC 6675 section 5, RFC 5681 section 3.2",
    .numbers = {},
};
inline constexpr RuleInfo kProbeRepaired{
    .name = "probe_repaired",
    .formula = "cwnd = ssthresh: a tail loss probe repaired the only loss",
    .source = "RFC 8985 section 7.4",
    .numbers = {},
};
inline constexpr RuleInfo kSackRecovery{
    .name = "sack_recovery",
    .formula = "cwnd = ssthresh at once, without inflation",
    .source = "RFC 6675 section 5, step (4.2)",
    .numbers = {},
};
inline constexpr RuleInfo kRateReduction{
    .name = "proportional_rate_reduction",
    .formula = "cwnd = pipe + what may be sent in proportion to what was delivered",
    .source = "RFC 6937 section 3.1",
    .numbers = {"pipe_pkts", "prr_delivered_pkts", "prr_out_pkts", "flight_size_pkts", "send_pkts"},
};
inline constexpr RuleInfo kTimeout{
    .name = "retransmission_timeout",
    .formula = "cwnd = what is still on its way + 1",
    .source = "RFC 5681 section 3.1; Linux tcp_enter_loss",
    .numbers = {"pipe_pkts", "backoffs"},
};
inline constexpr RuleInfo kUndo{
    .name = "undo",
    .formula = "cwnd and ssthresh as before a reduction that had no ground",
    .source = "RFC 3522, RFC 3708",
    .numbers = {"undo_cwnd_pkts", "undo_ssthresh_pkts"},
};
inline constexpr RuleInfo kUnusedWindow{
    .name = "unused_window",
    .formula = "cwnd = (cwnd + used) / 2",
    .source = "RFC 2861; Linux tcp_cwnd_application_limited",
    .numbers = {"used_pkts"},
};
inline constexpr RuleInfo kIdleRestart{
    .name = "idle_restart",
    .formula = "cwnd falls to the initial window, at once or by half per timeout that passed",
    .source = "RFC 5681 section 4.1; Linux tcp_cwnd_restart",
    .numbers = {"idle_s", "rto_s"},
};
inline constexpr RuleInfo kPenalised{
    .name = "penalised",
    .formula =
        "cwnd = max(cwnd / 2, 1), ssthresh = max(ssthresh / 2, 2) unless in slow start: a faster subflow waits "
        "for what this one holds",
    .source = "Raiciu et al., NSDI 2012, section 4.2; Linux mptcp_rcv_buf_optimization",
    .numbers = {"cwnd_pkts", "ssthresh_pkts"},
};
inline constexpr RuleInfo kInitialWindow{
    .name = "initial_window",
    .formula = "cwnd = the initial window, and a rate if the controller begins with one",
    .source = "RFC 6928",
    .numbers = {"initial_cwnd_pkts"},
};
inline constexpr RuleInfo kNewController{
    .name = "new_controller",
    .formula = "cwnd and ssthresh as they are; another controller takes over, fresh, and a rate if it begins with one",
    .source = "Linux tcp_reinit_congestion_control",
    .numbers = {"cwnd_pkts", "ssthresh_pkts"},
};
// For what a controller does without saying why. A test keeps it from being needed.
inline constexpr RuleInfo kUnexplained{
    .name = "unexplained",
    .formula = "",
    .source = "",
    .numbers = {},
};

inline constexpr std::array kAll{&kUnexplained,  &kInitialWindow, &kRecoveryExit, &kProbeRepaired,
                                 &kSackRecovery, &kRateReduction, &kTimeout,      &kUndo,
                                 &kUnusedWindow, &kIdleRestart,   &kPenalised,    &kNewController};

}  // namespace subflow::sender_rules

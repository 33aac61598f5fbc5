// Rules of the sender itself, as opposed to the controller, for changes of the window.
#pragma once

#include <array>

#include "decision.h"

namespace subflow::sender_rules {

inline constexpr RuleNumber kPipe{"pipe_pkts", "packets believed to be in the network"};

inline constexpr RuleInfo kRecoveryExit{
    .name = "recovery_exit",
    .formula = "cwnd = ssthresh",
    .computed = "cwnd = ssthresh",
    .source = "RFC 6675 section 5, RFC 5681 section 3.2",
    .numbers = {},
};
inline constexpr RuleInfo kProbeRepaired{
    .name = "probe_repaired",
    .formula = "cwnd = ssthresh: a tail loss probe repaired the only loss",
    .computed = "cwnd = ssthresh",
    .source = "RFC 8985 section 7.4",
    .numbers = {},
};
inline constexpr RuleInfo kSackRecovery{
    .name = "sack_recovery",
    .formula = "cwnd = ssthresh at once, without inflation",
    .computed = "cwnd = ssthresh",
    .source = "RFC 6675 section 5, step (4.2)",
    .numbers = {},
};
inline constexpr RuleInfo kMarked{
    .name = "marked",
    .formula = "cwnd = ssthresh at once: queues have marked packets, and nothing is lost",
    .computed = "cwnd = ssthresh",
    .source = "RFC 3168 section 6.1.2",
    .numbers = {},
};
inline constexpr RuleInfo kReductionEnd{
    .name = "reduction_end",
    .formula = "cwnd = ssthresh: a packet is acknowledged that left after the answer to marks began",
    .computed = "cwnd = ssthresh",
    .source = "Linux tcp_end_cwnd_reduction",
    .numbers = {},
};
inline constexpr RuleInfo kRateReduction{
    .name = "proportional_rate_reduction",
    .formula =
        "cwnd = pipe + send; send follows the share that was delivered since the loss: of the cwnd before it (Linux), "
        "or of the packets without a cumulative ACK then (RFC 6937)",
    .computed = "cwnd = pipe + send",
    .source = "RFC 6937 section 3.1; Linux tcp_cwnd_reduction",
    .numbers = {kPipe,
                {"prr_delivered_pkts", "delivered since the recovery began"},
                {"prr_out_pkts", "sent since the recovery began"},
                {"flight_size_pkts", "in flight when the recovery began, with the lost packets"},
                {"send_pkts", "packets that may be sent now"},
                {"prior_cwnd_pkts", "cwnd when the recovery began"}},
};
inline constexpr RuleInfo kTimeout{
    .name = "retransmission_timeout",
    .formula = "cwnd = what is still on its way + 1",
    .computed = "cwnd = pipe + 1",
    .source = "RFC 5681 section 3.1; Linux tcp_enter_loss",
    .numbers = {kPipe, {"backoffs", "how often the timeout was doubled"}, {"rto_s", "retransmission timeout"}},
};
inline constexpr RuleInfo kUndo{
    .name = "undo",
    .formula = "cwnd and ssthresh as before a spurious reduction",
    .source = "RFC 3522, RFC 3708",
    .numbers = {{"undo_cwnd_pkts", "cwnd before the reduction that is undone"},
                {"undo_ssthresh_pkts", "slow start threshold before the reduction that is undone"}},
};
inline constexpr RuleInfo kUnusedWindow{
    .name = "unused_window",
    .formula = "cwnd = (cwnd + used) / 2",
    .computed = "cwnd = (before + used) / 2",
    .source = "RFC 2861; Linux tcp_cwnd_application_limited",
    .numbers = {number::kUsed},
};
inline constexpr RuleInfo kIdleRestart{
    .name = "idle_restart",
    .formula = "cwnd falls to the initial window, at once or by half per timeout that passed",
    .source = "RFC 5681 section 4.1; Linux tcp_cwnd_restart",
    .numbers = {{"idle_s", "how long nothing was sent"}, {"rto_s", "retransmission timeout"}},
};
inline constexpr RuleInfo kPenalised{
    .name = "penalised",
    .formula =
        "cwnd = max(cwnd / 2, 1), ssthresh = max(ssthresh / 2, 2) unless in slow start: a faster subflow waits "
        "for what this one holds",
    .computed = "cwnd = max(cwnd / 2, 1)",
    .source = "Raiciu et al., NSDI 2012, section 4.2; Linux mptcp_rcv_buf_optimization",
    .numbers = {number::kCwnd, number::kSsthresh},
};
inline constexpr RuleInfo kInitialWindow{
    .name = "initial_window",
    .formula = "cwnd = the initial window, and a rate if the controller begins with one",
    .computed = "cwnd = initial_cwnd",
    .source = "RFC 6928",
    .numbers = {{"initial_cwnd_pkts", "cwnd that the subflow begins with"}},
};
inline constexpr RuleInfo kNewController{
    .name = "new_controller",
    .formula = "cwnd and ssthresh do not change; a new controller takes over, with a rate if it begins with one",
    .source = "Linux tcp_reinit_congestion_control",
    .numbers = {number::kCwnd, number::kSsthresh},
};
// Rule for a change by a controller without a recorded reason. A test checks that no controller needs it.
inline constexpr RuleInfo kUnexplained{
    .name = "unexplained",
    .formula = "",
    .source = "",
    .numbers = {},
};

inline constexpr std::array kAll{&kUnexplained,   &kInitialWindow, &kRecoveryExit, &kProbeRepaired, &kSackRecovery,
                                 &kRateReduction, &kTimeout,       &kUndo,         &kUnusedWindow,  &kIdleRestart,
                                 &kPenalised,     &kNewController, &kMarked,       &kReductionEnd};

}  // namespace subflow::sender_rules

// Concept of a packet scheduler: selects the subflow of a connection for the next packet.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "../algorithm.h"
#include "../decision.h"
#include "../units.h"

namespace subflow {

// A subflow as the scheduler sees it; the terms are those of Linux MPTCP (mptcp_sched.c).
struct Candidate {
    bool is_usable = false;        // established, not presumed dead, and not a backup while another subflow is usable
    bool is_available = false;     // usable, and its window has room for a packet
    bool has_sent_this = false;    // the packet was sent on this subflow before (reinjections avoid such subflows)
    bool in_slow_start = false;    // cwnd below ssthresh
    std::uint8_t incarnation = 0;  // counts re-openings: measurements of earlier incarnations are obsolete
    Nanos srtt{};                  // 0 before the first sample
    Nanos rttvar{};                // RFC 6298; 0 before the first sample
    double cwnd_pkts = 0;
    double ssthresh_pkts = 0;   // may be infinite
    double inflight_pkts = 0;   // RFC 6675 pipe
    double queued_pkts = 0;     // handed to the subflow and held back by its pacing
    double pacing_pps = 0;      // 0: unpaced
    double delivered_pkts = 0;  // acknowledged since the subflow opened
    double logit = 0;           // logit of the subflow's share, from a learning agent; 0 without one
};

struct SocketsView;  // linux_mptcp.h

// State of the connection at a scheduling decision.
struct SendMoment {
    Nanos now{};
    // Packets between the DATA_ACK and the right edge of the receive window, and the scheduled ones among them;
    // window_pkts is infinite for an unlimited receive buffer.
    double window_pkts = std::numeric_limits<double>::infinity();
    double outstanding_pkts = 0;
    // Unscheduled data in the send buffer, including the current packet; infinite for an endless flow.
    double unsent_pkts = std::numeric_limits<double>::infinity();
    bool is_reinjection = false;           // the packet was sent before
    Reason* why = nullptr;                 // output: reason of the choice; null if decisions are not recorded
    const SocketsView* sockets = nullptr;  // sockets for a scheduler that pushes ahead of windows; else null
};

// select() returns a position in the span, or nothing to send no new packet now. It is called for each packet while
// some subflow is available. For schedulers with `static constexpr bool kIsWorkConserving = true`, the call is omitted
// if only one subflow is available.
template <class T>
concept PacketScheduler = std::copyable<T> && std::constructible_from<T, const Options&> &&
                          requires(T scheduler, std::span<const Candidate> subflows, const SendMoment& moment) {
                              { T::kInfo } -> std::convertible_to<const AlgorithmInfo&>;
                              { scheduler.select(subflows, moment) } -> std::same_as<std::optional<std::size_t>>;
                          };

template <class T>
concept WorkConserving = T::kIsWorkConserving;

// Optional functions for the time in which the receive window has no room for new data. select() is called as usual,
// and the functions take effect if it selects a subflow.

// retransmits_when_blocked(): if true, the packet that blocks the window is also sent on the selected subflow, provided
// that slower subflows hold it up (opportunistic retransmission; Linux mptcp_rcv_buf_optimization).
template <class T>
concept RetransmitsWhenBlocked = requires(const T scheduler) {
    { scheduler.retransmits_when_blocked() } -> std::same_as<bool>;
};

// penalises(): if true, the windows of slower subflows that block the receive window are halved.
template <class T>
concept Penalises = requires(const T scheduler) {
    { scheduler.penalises() } -> std::same_as<bool>;
};

// on_blocked_retransmission(position): called after the blocking packet was also sent on the subflow at `position`.
template <class T>
concept FollowsBlockedRetransmissions =
    requires(T scheduler, std::size_t position) { scheduler.on_blocked_retransmission(position); };

// Data is bound to subflows ahead of their windows, and each subflow repairs its own losses. The scheduler defines the
// effect of a connection-level timeout (linux_mptcp.h).
template <class T>
concept PushesAhead = T::kPushesAhead;

// copies(): sends each packet on each usable subflow.
enum class Copies : std::uint8_t {
    None,
    Queued,  // each subflow sends all packets in order, except acknowledged ones
    Now,     // only subflows with room at the first transmission send the packet
};
template <class T>
concept SendsCopies = requires(const T scheduler) {
    { scheduler.copies() } -> std::same_as<Copies>;
};

// Options of all schedulers that support opportunistic retransmission or penalties.
inline constexpr OptionInfo kRetransmissionOption{
    .key = "opportunistic_retransmission",
    .kind = OptionKind::Flag,
    .help = "Send the packet that blocks a full receive window on the chosen subflow as well.",
    .default_number = 1,
};
inline constexpr OptionInfo kPenalisationOption{
    .key = "penalisation",
    .kind = OptionKind::Flag,
    .help = "Halve the cwnd of the slower subflow that blocks a full receive window.",
    .default_number = 1,
};

// Rule for copies, which need no call of select().
inline constexpr RuleInfo kSendCopy{
    .name = "send_copy",
    .formula = "a packet that others carry: the next in line on this subflow, which is behind_pkts behind the newest",
    .source = "Linux mptcp_redundant.c",
    .numbers = {{"behind_pkts", "packets from here to the newest one sent"}},
};

// Rule for a choice without an explicit reason, because only one subflow was available.
inline constexpr RuleInfo kOnlyAvailable{
    .name = "only_available",
    .formula = "the one subflow that has room",
    .source = "",
    .numbers = {},
};
inline constexpr RuleInfo kNoneAvailable{
    .name = "none_available",
    .formula = "no subflow has room that the packet was not sent on before",
    .source = "Linux MPTCP mptcp_sched.c",
    .numbers = {},
};

// Rule for blocked connections (network_meta.cpp): the packet blocks the receive window.
inline constexpr RuleInfo kOpportunisticRetransmission{
    .name = "opportunistic_retransmission",
    .formula = "the head of the line goes out here as well: its subflow has cwnd <= 4 or srtt > 4 srtt of this one",
    .source = "Raiciu et al., NSDI 2012, section 4.2; Linux mptcp_rcv_buf_optimization",
    .numbers = {number::kWindow, {"outstanding_pkts", "packets sent and not yet acknowledged to the connection"}},
};
inline constexpr RuleInfo kMetaTimeout{
    .name = "meta_timeout",
    .formula = "the head of the line goes out again: no DATA_ACK moved for 2 max RTO, doubled per expiry",
    .source = "Linux mptcp_meta_retransmit_timer",
    .numbers = {{"timeout_s", "how long the connection waited"},
                {"expiries", "how often the timeout has expired in a row"}},
};

// Rules that do not belong to a particular scheduler.
inline constexpr std::array kChoiceless{&kOnlyAvailable, &kNoneAvailable, &kOpportunisticRetransmission, &kMetaTimeout};

}  // namespace subflow

// What a packet scheduler is: given the subflows of a connection, the one the next packet goes to.
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
    bool is_usable = false;        // established, not presumed dead, and no backup while another one is usable
    bool is_available = false;     // usable, and its window has room for a packet
    bool has_sent_this = false;    // the packet went out here before (reinjections avoid such subflows)
    bool in_slow_start = false;    // cwnd below ssthresh
    std::uint8_t incarnation = 0;  // counts re-openings: what was learned of a predecessor is of no use
    Nanos srtt{};                  // 0 before the first sample
    Nanos rttvar{};                // RFC 6298; 0 before the first sample
    double cwnd_pkts = 0;
    double ssthresh_pkts = 0;   // may be infinite
    double inflight_pkts = 0;   // RFC 6675 pipe
    double queued_pkts = 0;     // handed to the subflow and not yet sent, because its pacing holds them back
    double pacing_pps = 0;      // 0: unpaced
    double delivered_pkts = 0;  // acknowledged since it was opened
    double logit = 0;           // by which an agent wants it to have more or less than its share
};

struct SocketsView;  // linux_mptcp.h

// What concerns the connection, at the time a packet wants a subflow.
struct SendMoment {
    Nanos now{};
    // Packets between what is DATA_ACKed and the right edge of the receive window, and those of them that are handed
    // out already; the former is infinite if the receive buffer is unlimited.
    double window_pkts = std::numeric_limits<double>::infinity();
    double outstanding_pkts = 0;
    // In the send buffer and not handed out yet, the packet in question included; infinite for an endless flow.
    double unsent_pkts = std::numeric_limits<double>::infinity();
    bool is_reinjection = false;           // the packet was sent before
    Reason* why = nullptr;                 // to be filled in, if anybody asks
    const SocketsView* sockets = nullptr;  // for a scheduler that pushes ahead of windows; else none
};

// Answers with a position in the span, or nothing: send no new packet now. Asked again for every packet for which some
// subflow is available; not asked where one that declares `static constexpr bool kIsWorkConserving = true` has no
// choice because a single one is.
template <class T>
concept PacketScheduler = std::copyable<T> && std::constructible_from<T, const Options&> &&
                          requires(T scheduler, std::span<const Candidate> subflows, const SendMoment& moment) {
                              { T::kInfo } -> std::convertible_to<const AlgorithmInfo&>;
                              { scheduler.select(subflows, moment) } -> std::same_as<std::optional<std::size_t>>;
                          };

template <class T>
concept WorkConserving = T::kIsWorkConserving;

// What a scheduler may do besides, while the receive window leaves no room for new data. It is asked for a subflow all
// the same, and if it names one:

// retransmits_when_blocked(): the packet that holds up the line goes out on that subflow as well, if it holds it up
// elsewhere (opportunistic retransmission; Linux mptcp_rcv_buf_optimization).
template <class T>
concept RetransmitsWhenBlocked = requires(const T scheduler) {
    { scheduler.retransmits_when_blocked() } -> std::same_as<bool>;
};

// penalises(): the slower subflow that holds up the line has its window halved.
template <class T>
concept Penalises = requires(const T scheduler) {
    { scheduler.penalises() } -> std::same_as<bool>;
};

// on_blocked_retransmission(position): such a retransmission has been sent on that subflow.
template <class T>
concept FollowsBlockedRetransmissions =
    requires(T scheduler, std::size_t position) { scheduler.on_blocked_retransmission(position); };

// Data is bound to its subflows ahead of their windows, and they repair what they lose by themselves: what a timeout of
// the connection does is the scheduler's to say (linux_mptcp.h).
template <class T>
concept PushesAhead = T::kPushesAhead;

// copies(): every packet goes out on every subflow.
enum class Copies : std::uint8_t {
    None,
    Queued,  // each subflow goes through all packets in order, apart from those that have been acknowledged
    Now,     // on those that have room when the packet is sent first
};
template <class T>
concept SendsCopies = requires(const T scheduler) {
    { scheduler.copies() } -> std::same_as<Copies>;
};

// The two as options, the same for every scheduler that has them.
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

// Of those that send copies, for which they are not asked.
inline constexpr RuleInfo kSendCopy{
    .name = "send_copy",
    .formula = "a packet that others carry: the next in line on this subflow, which is behind_pkts behind the newest",
    .source = "Linux mptcp_redundant.c",
    .numbers = {{"behind_pkts", "packets from here to the newest one sent"}},
};

// Of every scheduler, where it sets no reason of its own because there was no choice.
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

// Of connections that stall (network_meta.cpp): the packet in question is the one that holds up the line.
inline constexpr RuleInfo kOpportunisticRetransmission{
    .name = "opportunistic_retransmission",
    .formula =
        "the head of the line goes out here as well: whoever holds it has cwnd <= 4 or srtt > 4 srtt of this one",
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

// The rules that are not a scheduler's own.
inline constexpr std::array kChoiceless{&kOnlyAvailable, &kNoneAvailable, &kOpportunisticRetransmission, &kMetaTimeout};

}  // namespace subflow

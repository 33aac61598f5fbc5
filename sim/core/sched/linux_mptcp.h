// The scheduler of MPTCP in mainline Linux: selects the subflow whose queue would drain first.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "../memory.h"
#include "scheduler.h"

namespace subflow {

// State of a subflow's Linux socket, in whole numbers and in Linux's units.
struct Socket {
    bool is_open = false;  // established and not closed; also while recovering from a timeout
    bool is_backup = false;
    std::uint8_t incarnation = 0;  // counts re-openings
    std::uint32_t acks_heard = 0;  // changes with each packet from the peer, like tcp_sock.rcv_tstamp
    std::uint32_t cwnd_pkts = 1;
    std::uint32_t ssthresh_pkts = 0x7fffffff;
    std::uint32_t packets_out = 0;     // sent and not acknowledged cumulatively
    std::uint32_t unsent_pkts = 0;     // queued after the packets in packets_out
    std::uint32_t srtt_eighth_us = 0;  // smoothed RTT in eighths of a microsecond; 0: no estimate
    std::uint64_t paced_rate = 0;      // rate in bytes/s of a controller that paces; 0: no pacing
    Nanos timer{};                     // time until its earliest timer expires; 0: no timer is set
};

// The sockets of a connection at a scheduling decision.
struct SocketsView {
    std::span<const Socket> sockets;
    std::uint32_t payload_bytes = 0;
    std::uint64_t window_left_bytes = 0;  // part of the receive window not yet used by scheduled data
    std::uint32_t overhead_bytes = 0;     // memory of a packet in addition to its payload
};

// Binds data to a subflow ahead of its window, up to the capacity of its send buffer.
//
// Source: Linux 6.18 net/mptcp/protocol.c (mptcp_subflow_get_send, mptcp_subflow_get_retrans), net/mptcp/pm.c
// (mptcp_pm_subflow_chk_stale), net/ipv4/tcp_input.c (tcp_update_pacing_rate, tcp_sndbuf_expand). Differences:
// DEVIATION: with TSO, the queue counts only payload; Linux adds the memory overhead, some 10 to 30 %.
// DEVIATION: Linux compares the subflows again after each fragment of up to 32 kB, here after each packet.
// DEVIATION: the rate of a socket is computed at each use, in Linux at the latest ACK.
class LinuxMptcp {
public:
    static constexpr std::uint32_t kBurstBytes = 65'428;  // MPTCP_SEND_BURST_SIZE
    // data per page fragment, a page of order 3: the connection retransmits at most one fragment at a time
    static constexpr std::uint32_t kFragmentBytes = 32'768;
    static constexpr std::uint32_t kMostSendBuffer = 4'194'304;  // tcp_wmem[2]
    static constexpr std::uint32_t kPacketMemory = 4'352;        // memory per packet in tcp_sndbuf_expand
    // memory of a packet in addition to its payload: sk_buff and header
    static constexpr std::uint32_t kPacketOverhead = 832;

    static constexpr RuleNumber kLinger{"drain_s", "how long the queue of the subflow would take at its mean rate"};
    static constexpr RuleNumber kNextLinger{"next_drain_s", "the same for the next best subflow"};
    static constexpr RuleNumber kQueuedBytes{"queued_bytes", "memory of what it holds, in the network or unsent"};
    static constexpr RuleNumber kRate{"mean_rate_bytes", "its pacing rate in bytes/s, averaged over bursts"};
    static constexpr RuleNumber kBurst{"burst_bytes", "how much may follow before the subflows are compared again"};
    static constexpr RuleNumber kBuffer{"send_buffer_bytes", "bytes that the subflow may hold"};

    static constexpr RuleInfo kFirstEmpty{
        .name = "first_empty",
        .formula =
            "the subflow with the least linger = queued / mean rate; then mean rate = (mean rate * queued + rate * "
            "burst) / (queued + burst)",
        .source = "Linux mptcp_subflow_get_send",
        .numbers = {kLinger, kNextLinger, kQueuedBytes, kRate, kBurst},
    };
    static constexpr RuleInfo kBurstGoesOn{
        .name = "burst_goes_on",
        .formula = "the same subflow as before: its burst is not used up",
        .source = "Linux __subflow_push_pending",
        .numbers = {kQueuedBytes, kBurst},
    };
    static constexpr RuleInfo kBufferFull{
        .name = "send_buffer_full",
        .formula = "send nothing: the send buffer of the subflow with the least linger is full",
        .source = "Linux sk_stream_memory_free",
        .numbers = {kLinger, kNextLinger, kQueuedBytes, kRate, kBuffer},
    };
    static constexpr std::array kRules{&kFirstEmpty, &kBurstGoesOn, &kBufferFull};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "stale_loss_count",
            .kind = OptionKind::Number,
            .help = "A subflow gets no more data after this many timeouts of the connection without an "
                    "acknowledgement on it, if another one works (net.mptcp.stale_loss_cnt); 0: never.",
            .default_number = 4,
            .minimum = 0,
            .maximum = 254,
        },
        OptionInfo{
            .key = "tick_ms",
            .kind = OptionKind::Number,
            .help =
                "Length of a tick of the kernel's clock (1000 / CONFIG_HZ). Retransmission timers of the connection "
                "and its subflows go off at ticks, those from 63 ticks on at every eighth, from 504 at every 64th, "
                "and so on; 0: exactly in time.",
            .default_number = 4,
            .minimum = 0,
            .maximum = 10,
        },
    };
    static constexpr AlgorithmInfo kInfo{
        .name = "linux-mptcp",
        .summary = "The subflow whose queue would be empty first, in bursts of 64 kB, ahead of its cwnd",
        .source = "Linux net/mptcp/protocol.c (mptcp_subflow_get_send), the default of mainline MPTCP",
        .options = kOptions,
        .rules = kRules,
    };

    explicit LinuxMptcp(const Options& options)
        : stale_loss_count_(static_cast<std::uint32_t>(options.number("stale_loss_count"))),
          tick_(from_seconds(options.number("tick_ms") / 1000)) {}

    Nanos tick() const { return tick_; }

    // Schedules data to subflows ahead of their windows: Network::push_pending().
    static constexpr bool kPushesAhead = true;

    // Source: Linux mptcp_subflow_get_send. Needs moment.sockets; without them, selects no subflow.
    std::optional<std::size_t> select(std::span<const Candidate>, const SendMoment& moment) {
        if (moment.sockets == nullptr) return std::nullopt;
        const SocketsView& view = *moment.sockets;
        follow(view.sockets);
        // A burst belongs to one push: at a later time the subflows are compared again.
        if (burst_left_ > 0 && burst_at_ == moment.now && is_active(view.sockets, chosen_) &&
            has_memory(view, chosen_)) {
            if (moment.why != nullptr)
                moment.why->set(kBurstGoesOn,
                                {static_cast<double>(queued_bytes(view, chosen_)), static_cast<double>(burst_left_)});
            burst_left_ -= view.payload_bytes;
            return chosen_;
        }
        burst_left_ = 0;
        const std::optional<std::size_t> best = least_lingering(view);
        if (!best) return std::nullopt;
        if (!has_memory(view, *best)) {
            if (moment.why != nullptr) explain(*moment.why, kBufferFull, view, *best, kept_[*best].send_buffer);
            return std::nullopt;
        }
        const std::uint64_t burst = std::min<std::uint64_t>(kBurstBytes, view.window_left_bytes);
        if (moment.why != nullptr) explain(*moment.why, kFirstEmpty, view, *best, burst);
        chosen_ = *best;
        if (burst == 0) return best;
        Kept& kept = kept_[*best];
        const std::uint64_t queued = queued_bytes(view, *best);
        if (has_rate(view.sockets[*best]))
            kept.mean_rate = (kept.mean_rate * queued + pacing_rate(view, *best) * burst) / (burst + queued);
        burst_left_ = static_cast<std::int64_t>(burst) - view.payload_bytes;
        burst_at_ = moment.now;
        return best;
    }

    // Handles the connection's retransmission timer: selects an idle subflow for the packet that blocks the connection.
    // A subflow without progress gradually becomes stale: on_stale() then has to resend all data that the connection
    // has not acknowledged, and to refresh the sockets. Source: Linux mptcp_subflow_get_retrans,
    // mptcp_pm_subflow_chk_stale, mptcp_pm_subflows_chk_stale
    template <class OnStale>
    std::optional<std::size_t> select_retransmission(std::span<const Socket> sockets, OnStale&& on_stale) {
        follow(sockets);
        std::optional<std::size_t> idle;
        std::optional<std::size_t> idle_backup;
        std::uint32_t least_stale = std::numeric_limits<std::uint32_t>::max();
        for (std::size_t i = 0; i < sockets.size(); ++i) {
            if (!sockets[i].is_open) continue;
            if (sockets[i].packets_out + sockets[i].unsent_pkts != 0) {
                judge_progress(sockets, i, on_stale);
                least_stale = std::min<std::uint32_t>(least_stale, kept_[i].stale_count);
                continue;
            }
            std::optional<std::size_t>& choice = sockets[i].is_backup ? idle_backup : idle;
            if (!choice) choice = i;
        }
        if (idle) return idle;
        // The first expiry without progress may be premature, and does not activate a backup.
        return least_stale > 1 ? idle_backup : std::nullopt;
    }

    // Timeout until the connection's next retransmission: the latest timer of all subflows with progress; 200 ms
    // without a timer. Source: Linux mptcp_set_timeout, TCP_RTO_MIN
    Nanos timeout(std::span<const Socket> sockets) {
        follow(sockets);
        Nanos latest{};
        for (std::size_t i = 0; i < sockets.size(); ++i)
            if (sockets[i].is_open && kept_[i].stale_count == 0) latest = std::max(latest, sockets[i].timer);
        return latest > Nanos(0) ? latest : Nanos(200'000'000);
    }

    // Size of the connection's send buffer in bytes: the sum of the buffers of its subflows. Source: Linux
    // __mptcp_sync_sndbuf
    std::uint64_t connection_buffer(std::span<const Socket> sockets) {
        constexpr std::uint64_t kLeast = 4'096;  // tcp_wmem[0]
        follow(sockets);
        std::uint64_t bytes = kLeast;
        for (std::size_t i = 0; i < sockets.size(); ++i)
            if (sockets[i].is_open) bytes += kept_[i].send_buffer;
        return bytes;
    }

    // All data is sent again: ends the current burst (Linux __mptcp_retransmit_pending_data).
    void end_burst() { burst_left_ = 0; }

    // True if the send buffer of the subflow has room for more data. Requires an earlier call of select() or timeout()
    // with its socket. Source: Linux sk_stream_memory_free
    bool has_memory(const SocketsView& view, std::size_t i) const {
        return queued_bytes(view, i) < kept_[i].send_buffer;
    }
    bool is_stale(std::size_t position) const { return position < kept_.size() && kept_[position].is_stale; }
    std::uint32_t stale_count(std::size_t position) const { return kept_.at(position).stale_count; }
    std::uint64_t mean_rate(std::size_t position) const { return kept_.at(position).mean_rate; }
    std::uint32_t send_buffer(std::size_t position) const { return kept_.at(position).send_buffer; }
    std::size_t heap_bytes() const { return heap_bytes_of(kept_); }

private:
    struct Kept {
        std::uint64_t mean_rate = 0;    // avg_pacing_rate, bytes/s
        std::uint32_t send_buffer = 0;  // sk_sndbuf
        std::uint32_t acks_heard = 0;   // value at the last timer expiry: stale_rcv_tstamp
        std::uint8_t incarnation = 0;
        std::uint8_t stale_count = 0;
        bool is_stale = false;
    };

    void follow(std::span<const Socket> sockets) {
        kept_.resize(sockets.size());
        for (std::size_t i = 0; i < sockets.size(); ++i) {
            const Socket& socket = sockets[i];
            Kept& kept = kept_[i];
            if (kept.incarnation != socket.incarnation) kept = {.incarnation = socket.incarnation};
            if (!socket.is_open) continue;
            // tcp_sndbuf_expand: the buffer grows to a multiple of the window when the sender runs out of data, and
            // never shrinks. bbr_sndbuf_expand uses a factor 1.5 times as large.
            if (kept.send_buffer != 0 && socket.packets_out >= socket.cwnd_pkts) continue;
            constexpr std::uint32_t kInitialWindow = 10;
            const std::uint64_t memory = std::uint64_t{std::max(kInitialWindow, socket.cwnd_pkts)} * kPacketMemory *
                                         (socket.paced_rate != 0 ? 3 : 2);
            kept.send_buffer = std::max(kept.send_buffer,
                                        static_cast<std::uint32_t>(std::min<std::uint64_t>(memory, kMostSendBuffer)));
        }
    }

    // Source: Linux mptcp_subflow_active: a packet from the peer ends the stale state.
    bool is_active(std::span<const Socket> sockets, std::size_t i) {
        Kept& kept = kept_[i];
        if (kept.is_stale) {
            if (kept.acks_heard == sockets[i].acks_heard) return false;
            kept.is_stale = false;
        }
        return sockets[i].is_open;
    }

    // Memory of the packets in flight and of the unsent packets: Linux sk_wmem_queued
    static std::uint64_t queued_bytes(const SocketsView& view, std::size_t i) {
        const Socket& socket = view.sockets[i];
        return (std::uint64_t{socket.packets_out} + socket.unsent_pkts) * (view.payload_bytes + view.overhead_bytes);
    }

    // sk_pacing_rate in bytes/s: 120 % of a window per RTT, 200 % in slow start. Source: Linux tcp_update_pacing_rate
    static std::uint64_t pacing_rate(const SocketsView& view, std::size_t i) {
        const Socket& socket = view.sockets[i];
        if (socket.paced_rate != 0) return socket.paced_rate;
        const std::uint64_t percent = socket.cwnd_pkts < socket.ssthresh_pkts / 2 ? 200 : 120;
        // 80'000 = 8'000'000 / 100: a second has 8'000'000 eighths of a microsecond, and the factor is in per cent.
        std::uint64_t rate = std::uint64_t{view.payload_bytes} * 80'000 * percent;
        rate *= std::max(socket.cwnd_pkts, socket.packets_out);
        return rate / (socket.srtt_eighth_us != 0 ? socket.srtt_eighth_us : kUnknownRtt);
    }
    // Linux has an RTT from the handshake. Without a handshake, the RTT counts as one second until the first sample.
    static constexpr std::uint32_t kUnknownRtt = 8'000'000;
    static bool has_rate(const Socket& socket) { return socket.paced_rate != 0 || socket.srtt_eighth_us != 0; }

    // The position of the best subflow: among regular ones, or among backups if no regular one is active.
    std::optional<std::size_t> least_lingering(const SocketsView& view) {
        std::array<std::optional<std::size_t>, 2> best;
        std::array<std::uint64_t, 2> least{};
        bool has_regular = false;
        for (std::size_t i = 0; i < view.sockets.size(); ++i) {
            if (!is_active(view.sockets, i)) continue;
            const bool is_backup = view.sockets[i].is_backup;
            has_regular |= !is_backup;
            if (pace(view, i) == 0) continue;
            const std::uint64_t linger = linger_of(view, i);
            if (best[is_backup] && linger >= least[is_backup]) continue;
            best[is_backup] = i;
            least[is_backup] = linger;
        }
        return best[has_regular ? 0 : 1];
    }

    // The lower 32 bits of the mean rate, as in Linux, which reads the rate into a 32-bit number.
    std::uint32_t pace(const SocketsView& view, std::size_t i) {
        Kept& kept = kept_[i];
        if (!has_rate(view.sockets[i])) return static_cast<std::uint32_t>(pacing_rate(view, i));
        if (static_cast<std::uint32_t>(kept.mean_rate) == 0) kept.mean_rate = pacing_rate(view, i);
        return static_cast<std::uint32_t>(kept.mean_rate);
    }
    // Time to drain the queue, in units of 2^-32 s
    std::uint64_t linger_of(const SocketsView& view, std::size_t i) {
        return (queued_bytes(view, i) << 32) / pace(view, i);
    }

    template <class OnStale>
    void judge_progress(std::span<const Socket> sockets, std::size_t i, OnStale& on_stale) {
        constexpr std::uint8_t kMostCounted = 255;
        Kept& kept = kept_[i];
        if (kept.stale_count == 0) {
            kept.acks_heard = sockets[i].acks_heard;
            ++kept.stale_count;
            return;
        }
        if (kept.acks_heard != sockets[i].acks_heard) {
            kept.stale_count = 0;
            kept.is_stale = false;
            return;
        }
        if (kept.stale_count < kMostCounted) ++kept.stale_count;
        if (kept.is_stale || stale_loss_count_ == 0 || kept.stale_count <= stale_loss_count_) return;
        // Requires another subflow that makes progress.
        const std::uint32_t least_loss = stale_loss_count_ > 2 ? stale_loss_count_ - 1 : 1;
        for (std::size_t other = 0; other < sockets.size(); ++other) {
            if (other == i || !is_active(sockets, other) || kept_[other].stale_count >= least_loss) continue;
            kept.is_stale = true;
            end_burst();
            on_stale(i);
            return;
        }
    }

    void explain(Reason& why, const RuleInfo& rule, const SocketsView& view, std::size_t best, std::uint64_t last) {
        const auto seconds = [](std::uint64_t linger) { return static_cast<double>(linger) / 4294967296.0; };
        double next_s = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < view.sockets.size(); ++i) {
            if (i == best || view.sockets[i].is_backup != view.sockets[best].is_backup) continue;
            if (!is_active(view.sockets, i) || pace(view, i) == 0) continue;
            const double linger_s = seconds(linger_of(view, i));
            if (!(next_s <= linger_s)) next_s = linger_s;
        }
        why.set(rule, {seconds(linger_of(view, best)), next_s, static_cast<double>(queued_bytes(view, best)),
                       static_cast<double>(kept_[best].mean_rate), static_cast<double>(last)});
    }

    std::uint32_t stale_loss_count_;
    Nanos tick_;
    std::size_t chosen_ = 0;
    std::int64_t burst_left_ = 0;  // bytes left for the chosen subflow: msk->snd_burst
    Nanos burst_at_{};
    std::vector<Kept> kept_;  // state by position of the subflow
};
static_assert(PacketScheduler<LinuxMptcp>);

}  // namespace subflow

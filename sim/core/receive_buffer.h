// How the receive buffer of a subflow grows with what arrives, as in Linux: "dynamic right-sizing".
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "units.h"

namespace subflow {

// In bytes of window, that is less what a packet's record takes of the memory: Linux measures that share with the first
// packet (tcp_measure_rcv_mss), and with frames of 1500 bytes in buffers of 2 KiB plus 256 bytes it is 160/256.
//
// A window beyond what is under way makes no difference to the sender. This one stays ahead of a slow start by two
// doublings, so that it is not told to the sender: what is left of it are the ACKs at once that go with its growth
// (SubflowReceiver). A buffer that the scenario gives a size is told and kept to by Reassembly.
//
// DEVIATION: over several subflows Linux measures what the application takes of the connection in a round trip of the
// slowest one (mptcp_rcv_space_adjust), which bounds the window that each subflow keeps for itself (rcv_ssthresh). Here
// a subflow is measured like a connection of its own: whether it answers at once is then its own affair, and the bound
// stays two doublings ahead of what comes by it either way.
class ReceiveBuffer {
public:
    static constexpr std::int64_t kUsual = 131'072;     // tcp_rmem[1]
    static constexpr std::int64_t kLargest = 32 << 20;  // tcp_rmem[2], since Linux 6.16
    static constexpr std::int64_t window_of(std::int64_t memory) { return memory * 160 / 256; }

    ReceiveBuffer() = default;
    // `fixed`: a buffer that the application has given its size (SO_RCVBUF); nothing adjusts it.
    ReceiveBuffer(std::int64_t payload_bytes, std::optional<Bytes> fixed)
        : payload_bytes_(payload_bytes),
          is_fixed_(fixed.has_value()),
          space_(kInitialPackets * payload_bytes),
          clamp_(fixed ? fixed->value : window_of(kUsual)) {}

    // The window that a subflow starts with: whole packets in half of the buffer, before the share above is measured.
    // Source: Linux tcp_select_initial_window
    std::int64_t initial_window() const { return std::min(kUsual / 2 / payload_bytes_ * payload_bytes_, clamp_); }
    // As far as it may open now: Linux window_clamp.
    std::int64_t clamp() const { return clamp_; }

    // The subflow is established.
    void begin(Nanos now) { since_ = now; }
    // A round trip is over, as the receiver sees it, which has got so much in order by now.
    void note_rtt(Nanos rtt, Nanos now, std::int64_t received_bytes) {
        if (!is_fixed_ && now - since_ >= rtt) adjust(now, received_bytes);
    }
    // Data that waits for what is missing before it needs room of its own. Source: Linux tcp_data_queue_ofo
    void make_room_for(std::int64_t waiting_bytes) { grow(2 * space_ + waiting_bytes); }

private:
    // Once per round trip: what the application took in the last one doubles, and doubles again by as much as it has
    // grown. Source: Linux tcp_rcv_space_adjust, tcp_rcvbuf_grow
    void adjust(Nanos now, std::int64_t received_bytes) {
        const std::int64_t taken = std::min<std::int64_t>(received_bytes - taken_before_, kLargest);
        if (taken > space_) {
            const std::int64_t window = 2 * taken;
            grow(window + 2 * (window * (taken - space_) / space_));
            space_ = taken;
        }
        taken_before_ = received_bytes;
        since_ = now;
    }
    static constexpr std::int64_t kInitialPackets = 10;  // TCP_INIT_CWND

    void grow(std::int64_t window) {
        if (!is_fixed_) clamp_ = std::max(clamp_, std::min(window, window_of(kLargest)));
    }

    std::int64_t payload_bytes_ = 1;
    bool is_fixed_ = true;
    std::int64_t space_ = 1;  // rcvq_space.space: what was taken in the best round trip so far
    std::int64_t clamp_ = 0;
    std::int64_t taken_before_ = 0;
    Nanos since_{};  // a round trip is measured
};

}  // namespace subflow

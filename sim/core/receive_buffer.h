// Growth of a subflow's receive buffer with the arriving data ("dynamic right-sizing" in Linux).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "units.h"

namespace subflow {

// Sizes are in bytes of window, without the overhead of packet records. Linux measures that overhead with the first
// packet (tcp_measure_rcv_mss); with frames of 1500 bytes in buffers of 2 KiB plus 256 bytes, the window is 160/256 of
// the memory.
//
// A window larger than the data in flight does not affect the sender. This window stays two doublings ahead of slow
// start, so that it is not sent to the sender; its only visible effect is the immediate ACKs while it grows
// (SubflowReceiver). A buffer with a size from the scenario is advertised and enforced by Reassembly.
//
// DEVIATION: over several subflows, Linux measures the data that the application reads from the connection in a round
// trip of the slowest subflow (mptcp_rcv_space_adjust), which bounds the window of each subflow (rcv_ssthresh). Here
// each subflow is measured like a single-path connection: immediate ACKs depend only on that subflow, and the bound
// stays two doublings ahead of its data in both cases.
class ReceiveBuffer {
public:
    static constexpr std::int64_t kUsual = 131'072;     // tcp_rmem[1]
    static constexpr std::int64_t kLargest = 32 << 20;  // tcp_rmem[2], since Linux 6.16
    static constexpr std::int64_t window_of(std::int64_t memory) { return memory * 160 / 256; }

    ReceiveBuffer() = default;
    // `fixed`: size set by the application (SO_RCVBUF), never adjusted; empty: the size grows with the data.
    ReceiveBuffer(std::int64_t payload_bytes, std::optional<Bytes> fixed)
        : payload_bytes_(payload_bytes),
          is_fixed_(fixed.has_value()),
          space_(kInitialPackets * payload_bytes),
          clamp_(fixed ? fixed->value : window_of(kUsual)) {}

    // Initial window of a subflow: whole packets in half of the usual buffer, before the overhead is measured; at most
    // clamp().
    std::int64_t initial_window() const { return std::min(kUsual / 2 / payload_bytes_ * payload_bytes_, clamp_); }
    // Current upper limit of the window: Linux window_clamp.
    std::int64_t clamp() const { return clamp_; }

    // The subflow is established.
    void begin(Nanos now) { since_ = now; }
    // The receiver measured a round trip of `rtt`; `received_bytes`: bytes received in order so far.
    void note_rtt(Nanos rtt, Nanos now, std::int64_t received_bytes) {
        if (!is_fixed_ && now - since_ >= rtt) adjust(now, received_bytes);
    }
    // Makes additional room for out-of-order data. Source: Linux tcp_data_queue_ofo
    void make_room_for(std::int64_t waiting_bytes) { grow(2 * space_ + waiting_bytes); }

private:
    // Once per round trip: if the application read `taken` bytes, a fraction g more than in the best earlier round
    // trip, the window grows to 2 taken (1 + 2 g), unless it is already larger. Source: Linux tcp_rcv_space_adjust,
    // tcp_rcvbuf_grow
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
    std::int64_t space_ = 1;  // rcvq_space.space: bytes read in the best round trip so far
    std::int64_t clamp_ = 0;
    std::int64_t taken_before_ = 0;
    Nanos since_{};  // start of the measured round trip
};

}  // namespace subflow

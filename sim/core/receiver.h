// The receiving ends: acknowledgements per subflow, and in-order delivery to the application per connection.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "check.h"
#include "fetch.h"
#include "memory.h"
#include "packet.h"
#include "range_set.h"
#include "receive_buffer.h"
#include "ring.h"
#include "scenario.h"
#include "units.h"

namespace subflow {

// SACK blocks of an ACK. With the timestamps option, the TCP header has room for three (RFC 2018 section 3).
struct SackBlocks {
    std::array<SeqRange, 3> blocks;
    std::uint32_t count = 0;
};

// Contents of an ACK beyond the two cumulative numbers.
struct AckExtension {
    SackBlocks sack;
    std::uint32_t right_edge = 0;  // one past the last packet that fits into the receive buffer
};

// Subflow level: reassembles sequence numbers and decides when to acknowledge.
class SubflowReceiver {
public:
    struct Decision {
        bool is_new = false;   // not received before on this subflow
        bool ack_now = true;   // false: acknowledge by ack_deadline()
        bool has_rtt = false;  // rtt() is new
    };

    // A packet with `payload` bytes arrives. `acks_heard`: ACKs that its sender had received when the packet left.
    SF_INLINE Decision on_data(std::uint32_t seq, std::uint32_t payload, Nanos sent_time, std::uint32_t acks_heard,
                               Nanos now, ReceiveBuffer& buffer, const TransportOptions& options) {
        Decision decision;
        const bool was_in_order = out_of_order_.empty();
        const bool is_next = seq == rcv_nxt_;
        if (is_next) [[likely]] {
            decision.is_new = true;
            ++rcv_nxt_;
            if (!was_in_order) merge_in_order();
        } else if (seq > rcv_nxt_) {
            decision.is_new = hold(seq);
            buffer.make_room_for(std::int64_t{out_of_order_.back().end - rcv_nxt_} * payload);
        }
        if (!decision.is_new && options.dsack) [[unlikely]]
            duplicate_ = {seq, seq + 1};
        // The ACK of a packet in order echoes it, whatever SACKs wait, as Linux's ts_recent does: otherwise a filled
        // gap would look like a spurious retransmission.
        if (unacked_ == 0 || (is_next && compressed_sacks_ != 0)) echo_ = sent_time;
        ++unacked_;
        if (options.delayed_ack != DelayedAck::Off) {
            // RFC 5681 section 4.2: out-of-order, gap-filling and duplicate packets are acknowledged at once.
            const bool is_ordinary = is_next && was_in_order;
            Nanos delay = options.delayed_ack_timeout;
            if (options.delayed_ack == DelayedAck::Linux) {
                if (acks_heard >= timed_ack_) [[unlikely]]
                    decision.has_rtt = measure_rtt(now);
                delay = linux_ack_delay(seq, decision.is_new, is_next, payload, now, buffer, options);
            }
            if (is_ordinary && unacked_ < 2 && delay > Nanos(0)) {
                decision.ack_now = false;
                ack_deadline_ = now + delay;
            } else if (options.delayed_ack == DelayedAck::Linux && !is_next && delay > Nanos(0)) [[unlikely]] {
                decision.ack_now = !compress_sack(now);
            }
        }
        return decision;
    }
    // The answer to a handshake leaves: starts the first RTT measurement.
    void begin(Nanos now) { timed_from_ = now; }
    // The handshake completes. A receiver without data of its own measures no later RTT for its timeouts.
    // Source: Linux tcp_synack_rtt_meas
    void complete_handshake(Nanos now) {
        if (handshake_rtt_ == Nanos(0)) handshake_rtt_ = std::max(now - timed_from_, Nanos(1));
    }
    // The timer of a delayed ACK expired before the next packet arrived: doubles the delay, up to the retransmission
    // timeout. Compressed SACKs keep it.
    // Source: Linux tcp_delack_timer_handler
    void on_delay_over(const TransportOptions& options) {
        if (compressed_sacks_ != 0) return;
        delayed_ack_timeout_ = std::min(delayed_ack_timeout_ * 2, timeout(options));
    }
    // The latest RTT, measured from an ACK to a packet sent after its arrival, at most twice the previous RTT; 0 before
    // the first sample.
    // Source: Linux tcp_rcv_rtt_measure_ts. Linux takes a sample from each packet, smooths samples above the last one
    // and adopts smaller ones directly; one sample per round trip needs no smoothing.
    Nanos rtt() const { return rtt_; }

    std::uint32_t rcv_nxt() const { return rcv_nxt_; }
    bool has_received() const { return rcv_nxt_ != 0 || has_gaps(); }
    bool has_gaps() const { return !out_of_order_.empty(); }
    bool has_sack_blocks() const { return has_gaps() || duplicate_.end != 0; }
    Nanos ack_deadline() const { return ack_deadline_; }
    void fetch_ack_timer() const { fetch_some(&ack_deadline_, 1, sizeof ack_deadline_); }
    // The timer of delayed ACKs wakes at this time or earlier; kNever without a timer.
    Nanos ack_timer() const { return ack_timer_; }
    void set_ack_timer(Nanos time) { ack_timer_ = time; }
    // Send time to echo in the next ACK: the send time of the oldest packet that the ACK covers (RFC 7323 section 4.3).
    // Cancels the delayed ACK.
    Nanos take_echo() {
        unacked_ = 0;
        compressed_sacks_ = 0;
        ack_deadline_ = kNever;
        return echo_;
    }
    // Number of the next ACK, with the ECN flags in the upper bits.
    std::uint32_t next_ack() { return next_ack_++; }
    // Sets the ECN flags of all further ACKs: AE, CWR and ECE.
    void say(std::uint32_t ecn_flags) {
        next_ack_ = (next_ack_ & Packet::kNumberMask) | ecn_flags << Packet::kNumberBits;
    }
    // The next packet is acknowledged at once. `sent_time`: time to echo in that ACK; ignored if earlier packets await
    // an ACK.
    void acknowledge_next_at_once(Nanos sent_time) {
        if (unacked_ != 0) return;
        echo_ = sent_time;
        unacked_ = 1;
    }
    // True while received packets await their ACK.
    bool owes_ack() const { return unacked_ != 0; }
    // For DelayedAck::Linux: the next two packets are acknowledged at once (tcp_enter_quickack_mode).
    void quicken() { quick_acks_left_ = std::max(quick_acks_left_, 2u); }

    // The latest duplicate, once (RFC 2883 section 4), then the most recently changed blocks (RFC 2018 section 4).
    SackBlocks take_sack_blocks() {
        SackBlocks out;
        if (duplicate_.end != 0) [[unlikely]]
            out.blocks[out.count++] = std::exchange(duplicate_, {});
        for (std::uint32_t i = 0; i < recent_count_ && out.count < out.blocks.size(); ++i)
            out.blocks[out.count++] = recent_[i];
        return out;
    }

    void give_memory_back() { out_of_order_.shrink(); }
    std::size_t heap_bytes() const { return heap_bytes_of(out_of_order_); }

private:
    static constexpr std::uint32_t kLeastPayload = 128;  // smallest payload that opens the window

    // Longest delay of the ACK for packet `seq`, which arrives now; 0 for an immediate ACK.
    // Source: Linux tcp_event_data_recv, tcp_grow_window, tcp_send_delayed_ack
    SF_INLINE Nanos linux_ack_delay(std::uint32_t seq, bool is_new, bool is_next, std::uint32_t payload, Nanos now,
                                    const ReceiveBuffer& buffer, const TransportOptions& options) {
        const Nanos shortest = options.delayed_ack_timeout;  // TCP_ATO_MIN
        if (is_next && now - last_in_order_ <= half(shortest)) [[likely]] {
            delayed_ack_timeout_ = half(delayed_ack_timeout_) + half(shortest);
        } else {
            adapt_delay(seq, is_next, payload, now, buffer, options);
        }
        if (is_next) last_in_order_ = now;
        // The window opens by two packets per arrival. The ACK leaves at once, because the sender may be waiting for
        // it.
        if (window_ < buffer.clamp() && payload >= kLeastPayload && is_new) {
            window_ = std::min(window_ + 2 * std::int64_t{payload}, buffer.clamp());
            quick_acks_left_ |= 1;
        }
        if (quick_acks_left_ != 0) {
            // Source: Linux tcp_dec_quickack_mode
            if (--quick_acks_left_ == 0) delayed_ack_timeout_ = shortest;
            return Nanos(0);
        }
        if (delayed_ack_timeout_ <= shortest) [[likely]]
            return delayed_ack_timeout_;
        return std::min(delayed_ack_timeout_, std::max(shortest, longest_delay(options)));
    }
    void adapt_delay(std::uint32_t seq, bool is_next, std::uint32_t payload, Nanos now, const ReceiveBuffer& buffer,
                     const TransportOptions& options);
    void acknowledge_at_once(std::uint32_t payload, const TransportOptions& options);
    // Upper limit of a delay derived from the packet spacing: the RTT of the handshake, TCP_DELACK_MAX, and a tick of 1
    // ms less than the shortest timeout. Source: Linux tcp_send_delayed_ack, tcp_delack_max
    Nanos longest_delay(const TransportOptions& options) const {
        constexpr Nanos kTick(1'000'000);
        const Nanos most = std::min(Nanos(200'000'000), std::max(options.rto_min, kTick * 2) - kTick);
        return handshake_rtt_ > Nanos(0) ? std::min(handshake_rtt_, most) : most;
    }
    bool measure_rtt(Nanos now);
    // True if the SACK of a packet that arrives now out of order waits, together with those of later packets.
    bool compress_sack(Nanos now);
    // Retransmission timeout of the receiving end, derived from its only RTT sample; rto_initial before the sample.
    Nanos timeout(const TransportOptions& options) const {
        if (handshake_rtt_ == Nanos(0)) return options.rto_initial;
        return handshake_rtt_ + std::max(handshake_rtt_ * 2, options.rto_min);
    }
    // Stores an out-of-order packet; false for a duplicate.
    bool hold(std::uint32_t seq);
    void merge_in_order();
    void report_first(SeqRange block);

    std::uint32_t rcv_nxt_ = 0;
    std::uint32_t unacked_ = 0;  // packets received since the last ACK
    std::uint32_t quick_acks_left_ = 0;
    std::uint32_t next_ack_ = 0;  // number of the next ACK, with ECN flags in the upper bits, which an increment keeps
    Nanos echo_{};
    Nanos ack_deadline_ = kNever;
    Nanos ack_timer_ = kNever;
    // Used only for DelayedAck::Linux
    std::uint32_t timed_ack_ = 0;  // the first packet sent after its sender received this ACK ends the round trip
    Nanos last_in_order_ = Nanos(-kNever.value);  // last arrival in order; far in the past before the first
    Nanos delayed_ack_timeout_{};                 // adapts to the packet spacing; 0 before the first packet
    Nanos timed_from_ = kNever;                   // start of the RTT measurement: arrival of the acknowledged packet
    Nanos rtt_{};
    Nanos handshake_rtt_{};               // without a handshake, the first RTT measured from data
    std::uint32_t sacked_at_ = 0;         // rcv_nxt of the latest packet out of order
    std::uint32_t immediate_sacks_ = 0;   // packets out of order that were acknowledged at once at this rcv_nxt
    std::uint32_t compressed_sacks_ = 0;  // packets out of order that wait for a common ACK
    std::int64_t window_ = 0;             // current size of the window: rcv_ssthresh
    RangeSet out_of_order_;
    std::array<SeqRange, 3> recent_{};
    std::uint32_t recent_count_ = 0;
    SeqRange duplicate_;  // latest duplicate if not yet reported, else empty
};

// Connection level: holds out-of-order data and delivers data in order.
//
// Head-of-line blocking is counted per packet, from arrival to delivery. The integral of the held data has the same
// mean over a whole run, but would attribute a wait to the intervals in which it passes, not to the interval of the
// delivery.
class Reassembly {
public:
    explicit Reassembly(std::uint32_t limit_pkts = kUnlimited) : limit_pkts_(limit_pkts), right_edge_(limit_pkts) {}

    static constexpr std::uint32_t kUnlimited = 0xffffffff;

    // Packet `data_seq` of `payload` bytes arrives at `at` on subflow `origin` of the connection. Calls
    // deliver(data_seq, origin), which returns the payload in bytes, for each packet that is now in order. Returns
    // false for a duplicate.
    template <class Deliver>
    SF_INLINE bool on_data(std::uint32_t data_seq, std::uint32_t payload, std::uint8_t origin, Nanos at,
                           Deliver&& deliver) {
        if (data_seq < next()) {
            ++duplicates_;
            return false;
        }
        if (data_seq > next()) {
            while (held_.end_pos() <= data_seq) held_.push_back(kMissing);
            std::uint64_t& slot = held_[data_seq];
            if (slot != kMissing) {
                ++duplicates_;
                return false;
            }
            slot = static_cast<std::uint64_t>(at.value) << 8 | origin;
            ++held_pkts_;
            held_bytes_ += payload;
            max_held_bytes_ = std::max(max_held_bytes_, held_bytes_);
            return true;
        }
        deliver(data_seq, origin);
        if (held_.empty()) [[likely]] {
            held_.reset(data_seq + 1);
            return true;
        }
        for (held_.pop_front(); !held_.empty() && held_.front() != kMissing; held_.pop_front()) {
            const std::uint64_t front = held_.front();
            held_bytes_ -= deliver(held_.begin_pos(), static_cast<std::uint8_t>(front & 0xff));
            waited_ns_ += static_cast<double>(at.value - static_cast<std::int64_t>(front >> 8));
            --held_pkts_;
        }
        return true;
    }

    std::uint32_t next() const { return held_.begin_pos(); }
    std::uint32_t held_pkts() const { return held_pkts_; }
    std::int64_t held_bytes() const { return held_bytes_; }
    // Maximum since the last restart_max().
    std::int64_t max_held_bytes() const { return max_held_bytes_; }
    void restart_max() { max_held_bytes_ = held_bytes_; }
    // Total waiting time of all delivered packets.
    double waited_s() const { return waited_ns_ * 1e-9; }
    // Arrivals discarded because another packet had delivered the same data.
    std::int64_t duplicates() const { return duplicates_; }
    bool is_limited() const { return limit_pkts_ != kUnlimited; }

    // One past the last packet that the sender may send: the buffer minus the out-of-order data. It never shrinks.
    // Source: RFC 8684 section 3.3.4 (one window for all subflows, relative to the DATA_ACK).
    std::uint32_t advertise() {
        if (is_limited()) right_edge_ = std::max(right_edge_, next() + limit_pkts_ - held_pkts_);
        return right_edge_;
    }

    void give_memory_back() { held_.shrink(); }
    std::size_t heap_bytes() const { return heap_bytes_of(held_); }

private:
    static constexpr std::uint64_t kMissing = ~std::uint64_t{0};

    // Starts at next(): arrival time (ns, in 56 bits) and subflow (8 bits) of each packet, or kMissing
    Ring<std::uint64_t> held_;
    std::uint32_t held_pkts_ = 0;
    std::uint32_t limit_pkts_;
    std::uint32_t right_edge_;
    std::int64_t held_bytes_ = 0;
    std::int64_t max_held_bytes_ = 0;
    double waited_ns_ = 0;  // floating point: the sum over many packets may exceed 64 bits of nanoseconds
    std::int64_t duplicates_ = 0;
};

}  // namespace subflow

#include "receiver.h"

#include <algorithm>

namespace subflow {

// Omitted behaviour of Linux: the immediate ACK of a packet with PSH that the application reads before the next packet
// arrives.

// Adapts the ACK delay to a packet in order that follows a gap longer than half of the shortest delay, because the
// sender starts, resumes after a pause, or sends slowly. Of the other packets, only duplicates of delivered packets
// count: the sender had to retransmit. Source: Linux tcp_event_data_recv, tcp_data_queue
void SubflowReceiver::adapt_delay(std::uint32_t seq, bool is_next, std::uint32_t payload, Nanos now,
                                  const ReceiveBuffer& buffer, const TransportOptions& options) {
    if (window_ == 0) window_ = buffer.initial_window();
    const Nanos gap = now - last_in_order_;
    const bool is_duplicate = !is_next && seq < rcv_nxt_;
    const bool is_first = is_next && delayed_ack_timeout_ == Nanos(0);
    if (is_duplicate || is_first) {
        acknowledge_at_once(payload, options);
        delayed_ack_timeout_ = options.delayed_ack_timeout;
    } else if (!is_next) {
        return;
    } else if (gap < delayed_ack_timeout_) {
        delayed_ack_timeout_ = std::min(delayed_ack_timeout_ / 2 + gap, timeout(options));
    } else if (gap > timeout(options)) {
        acknowledge_at_once(payload, options);
    }
}

// The next packets are acknowledged at once, because the sender waits for every ACK: half as many as the window holds.
// Source: Linux tcp_incr_quickack
void SubflowReceiver::acknowledge_at_once(std::uint32_t payload, const TransportOptions& options) {
    const auto in_window = static_cast<std::uint32_t>(
        std::min<std::int64_t>(window_ / (2 * std::max<std::int64_t>(payload, 1)), options.quick_acks));
    quick_acks_left_ = std::max(quick_acks_left_, std::min(std::max(in_window, 2u), options.quick_acks));
}

bool SubflowReceiver::measure_rtt(Nanos now) {
    const bool was_timed = timed_from_ < kNever;
    if (was_timed) {
        // After a pause of the sender, the sample includes the pause: it counts as at most twice the previous RTT.
        const Nanos sample = std::max(now - timed_from_, Nanos(1));
        rtt_ = rtt_ > Nanos(0) ? std::min(sample, rtt_ * 2) : sample;
        if (handshake_rtt_ == Nanos(0)) handshake_rtt_ = rtt_;
    }
    timed_ack_ = (next_ack_ & Packet::kNumberMask) + 1;
    timed_from_ = now;
    return was_timed;
}

// The first three packets out of order since the last one in order are acknowledged at once, and later ones together.
// Source: Linux __tcp_ack_snd_check, tcp_compressed_ack_kick
bool SubflowReceiver::compress_sack(Nanos now) {
    constexpr std::uint32_t kImmediate = 3;  // TCP_FASTRETRANS_THRESH
    constexpr std::uint32_t kMost = 44;      // tcp_comp_sack_nr
    constexpr Nanos kLongest(1'000'000);     // tcp_comp_sack_delay_ns
    constexpr Nanos kSlack(100'000);         // tcp_comp_sack_slack_ns: timers of the kernel go off within it
    constexpr int kShare = 20;               // of a round trip
    if (compressed_sacks_ >= kMost) return false;
    if (sacked_at_ != rcv_nxt_) {
        sacked_at_ = rcv_nxt_;
        immediate_sacks_ = 0;
    }
    if (immediate_sacks_ < kImmediate) {
        ++immediate_sacks_;
        return false;
    }
    if (compressed_sacks_++ == 0)
        ack_deadline_ = now + std::min(std::min(rtt_, handshake_rtt_) / kShare, kLongest) + kSlack;
    return true;
}

bool SubflowReceiver::hold(std::uint32_t seq) {
    bool is_new = false;
    const SeqRange merged = out_of_order_.add({seq, seq + 1}, [&](std::uint32_t, std::uint32_t) { is_new = true; });
    report_first(merged);
    return is_new;
}

void SubflowReceiver::merge_in_order() {
    if (out_of_order_.front().begin == rcv_nxt_) rcv_nxt_ = out_of_order_.front().end;
    out_of_order_.erase_below(rcv_nxt_);
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < recent_count_; ++i) {
        if (recent_[i].begin >= rcv_nxt_) recent_[kept++] = recent_[i];
    }
    recent_count_ = kept;
}

void SubflowReceiver::report_first(SeqRange block) {
    std::array<SeqRange, 3> updated{block};
    std::uint32_t count = 1;
    for (std::uint32_t i = 0; i < recent_count_ && count < updated.size(); ++i) {
        const SeqRange& old = recent_[i];
        const bool is_absorbed = old.begin >= block.begin && old.end <= block.end;
        if (!is_absorbed) updated[count++] = old;
    }
    recent_ = updated;
    recent_count_ = count;
}

}  // namespace subflow

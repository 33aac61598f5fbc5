#include "receiver.h"

#include <algorithm>

namespace subflow {

// Source: Linux tcp_event_data_recv, tcp_send_delayed_ack, tcp_enter_quickack_mode. Left out: the compression of SACKs
// (at most 1 ms), and the receiver's own retransmission timeout, for which the initial one stands.
Nanos SubflowReceiver::ack_delay(bool is_new, Nanos now, const TransportOptions& options) {
    if (options.delayed_ack == DelayedAck::Rfc) return options.delayed_ack_timeout;
    const Nanos shortest = options.delayed_ack_timeout;  // TCP_ATO_MIN
    const bool is_first = last_arrival_ == kNever;
    const Nanos gap = is_first ? Nanos(0) : now - last_arrival_;
    last_arrival_ = now;
    if (is_first || !is_new || gap > options.rto_initial) {
        // The sender starts, repairs what was not lost, or comes back from a pause: it waits for every ACK.
        quick_acks_left_ = options.quick_acks;
        if (gap <= options.rto_initial) delayed_ack_timeout_ = shortest;
    } else if (gap <= shortest / 2) {
        delayed_ack_timeout_ = delayed_ack_timeout_ / 2 + shortest / 2;
    } else if (gap < delayed_ack_timeout_) {
        delayed_ack_timeout_ = std::min(delayed_ack_timeout_ / 2 + gap, options.rto_initial);
    }
    if (quick_acks_left_ != 0) {
        --quick_acks_left_;
        return Nanos(0);
    }
    // TCP_DELACK_MAX bounds it where the spacing asks for more.
    constexpr Nanos kLongest(200'000'000);
    return std::min(delayed_ack_timeout_, std::max(shortest, kLongest));
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

#include "receiver.h"

#include <algorithm>

namespace subflow {

// Source: Linux tcp_event_data_recv, tcp_send_delayed_ack, tcp_enter_quickack_mode. Left out: the compression of SACKs
// (at most 1 ms), and the receiver's own retransmission timeout, for which the initial one stands.

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

// The part of SubflowSender that detects losses by time: RACK-TLP.
// Source: RFC 8985; Linux tcp_recovery.c where the RFC leaves a choice.
#include <algorithm>

#include "sender_controller.h"

namespace subflow {

TimerOutcome SubflowSender::on_timer(Nanos now, const Siblings& siblings, const TransportOptions& options) {
    TimerOutcome outcome;
    if (!has_expired(now)) return outcome;
    if (reordering_deadline_ <= now) {
        account_cwnd(now);
        reordering_deadline_ = kNever;
        const bool found_losses = options.loss_detection == LossDetection::Rack && detect_losses_by_time(now);
        if (found_losses && is_open()) {
            enter_recovery(now, siblings, options);
            if (!governs_recovery_) update_recovery_window({.newly_delivered = 1}, found_losses, now, options);
            outcome.began_recovery = true;
        }
    }
    if (probe_deadline_ <= now) {
        // If the timeout expires at the same time, the probe replaces it (RFC 8985 section 7.2).
        probe_deadline_ = kNever;
        outcome.wants_probe = true;
    } else if (rto_deadline_ <= now) {
        on_timeout(now, siblings, options);
        outcome.timed_out = true;
    }
    if (has_monitor_) report_intervals(now, siblings);
    return outcome;
}

bool SubflowSender::detect_losses_by_time(Nanos now) {
    reordering_deadline_ = kNever;
    if (loss_scan_ < snd_una_) loss_scan_ = snd_una_;
    const std::uint32_t latest = latest_delivered_[0];  // transmissions below latest - 1 have been overtaken
    bool found = false;
    // RFC 8985 sets the timer for the last of the pending packets, this code for the first: each expiry then decides
    // about at least one packet, decided packets are not examined again, and later packets get a separate expiry.
    while (loss_scan_ != snd_nxt_) {
        const SentPacket& packet = packets_[loss_scan_];
        if (packet.flags() == kInPipe) {
            if (packet.transmission + 1 >= latest) break;
            const Nanos due = packet.sent_time() + latest_rtt_ + reordering_window();
            if (due > now) {
                reordering_deadline_ = due;
                break;
            }
            mark_lost(loss_scan_, LossSign::ReorderingWindow, now);
            found = true;
        }
        ++loss_scan_;
    }
    while (!retransmissions_.empty()) {
        const Retransmission& oldest = retransmissions_.front();
        const bool is_current = oldest.seq >= snd_una_ && packets_[oldest.seq].transmission == oldest.transmission &&
                                packets_[oldest.seq].flags() == (kInPipe | kRetransmitted);
        if (is_current) {
            if (oldest.transmission + 1 >= latest) break;
            const Nanos due = packets_[oldest.seq].sent_time() + latest_rtt_ + reordering_window();
            if (due > now) {
                reordering_deadline_ = std::min(reordering_deadline_, due);
                break;
            }
            mark_lost(oldest.seq, LossSign::ReorderingWindow, now);
            found = true;
        }
        retransmissions_.pop_front();
    }
    return found;
}

void SubflowSender::mark_overdue_lost(Nanos now) {
    const Nanos wait = latest_rtt_ + reordering_window();
    for (std::uint32_t seq = snd_una_; seq != snd_nxt_; ++seq) {
        const SentPacket& packet = packets_[seq];
        if ((packet.flags() & kInPipe) && (seq == snd_una_ || packet.sent_time() + wait <= now))
            mark_lost(seq, LossSign::Timeout, now);
    }
    reordering_deadline_ = kNever;
}

void SubflowSender::mark_lost(std::uint32_t seq, LossSign sign, Nanos now) {
    SentPacket& packet = packets_[seq];
    if (decisions_) [[unlikely]]
        decisions_->note_loss({now, packet.sent_time(), seq, packet.transmission, sign});
    if (has_monitor_) [[unlikely]]
        monitor_->on_lost(packet.transmission);
    packet.set_flags((packet.flags() & kRetransmitted) | kLost);
    if (lost_pending_ == 0) lost_again_.clear();
    --pipe_;
    ++lost_pending_;
    ++stats_.marked_lost;
    if (samples_delivery_) [[unlikely]]
        report_lost(seq);
    if (seq < retransmit_hint_) {
        lost_again_.push_back(seq);
        std::ranges::push_heap(lost_again_, std::ranges::greater());
    }
}

void SubflowSender::report_lost(std::uint32_t seq) {
    const LostPacket packet = sampler_->lost(seq, delivered_at_, stats_.marked_lost);
    controller_.visit([&]<class C>(C& controller) {
        if constexpr (FollowsLosses<C>) controller.on_lost(window_, packet);
    });
}

SeqRange SubflowSender::reported_duplicate(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks) {
    const SeqRange first = sack_blocks.front();
    const bool is_below = first.end <= cumulative;
    const bool is_within =
        sack_blocks.size() > 1 && first.begin >= sack_blocks[1].begin && first.end <= sack_blocks[1].end;
    return is_below || is_within ? first : SeqRange{};
}

void SubflowSender::adapt_reordering_window(SeqRange duplicate) {
    // An unnecessary probe also arrives twice and does not indicate reordering (Linux tcp_dsack_seen).
    if (probe_ == Probe::Last && duplicate.end == probe_end_) return;
    if (is_duplicate_round_ && snd_una_ < duplicate_round_end_) return;
    is_duplicate_round_ = true;
    duplicate_round_end_ = snd_nxt_;
    // Linux keeps the number of steps in eight bits. 255 steps of min_rtt / 4 usually exceed srtt, which limits the
    // window anyway.
    reordering_steps_ = std::min(reordering_steps_ + 1, 255);
    reordering_persist_ = 16;
}

bool SubflowSender::judge_probe(const AckOutcome& ack, SeqRange duplicate) {
    if (snd_una_ < probe_end_) return false;
    const bool was_needless = probe_ == Probe::New || duplicate.end == probe_end_;
    // The same acknowledgement again, without a new delivery: the original and the probe both arrived.
    const bool is_plain_duplicate = !ack.has_advanced && ack.newly_delivered == 0;
    if (was_needless || snd_una_ > probe_end_ || is_plain_duplicate) {
        const bool has_repaired = !was_needless && snd_una_ > probe_end_;
        probe_ = Probe::None;
        return has_repaired;
    }
    return false;
}

Transmission SubflowSender::probe_with_new(std::uint32_t data_seq, Nanos now, const TransportOptions& options) {
    const Transmission sent = send_new(data_seq, now, options);
    begin_probe(Probe::New, now, options);
    return sent;
}

Transmission SubflowSender::probe_with_last(Nanos now, const TransportOptions& options) {
    const std::uint32_t seq = snd_nxt_ - 1;
    SentPacket& packet = packets_[seq];
    SF_VALIDATE(has_outstanding() && (packet.flags() & kInPipe));
    // The packet counts only once in the pipe, because the previous copy is lost or will be a duplicate.
    if (decisions_) decisions_->note_probe(packet.sent_time(), seq, packet.transmission);
    --pipe_;
    if (has_monitor_) monitor_->on_replaced(packet.transmission);
    packet.set(now, packet.flags() | kRetransmitted);
    packet.transmission = transmissions_++;
    if (samples_delivery_) stamp(seq, now);
    retransmissions_.push_back({seq, packet.transmission});
    ++stats_.retransmits;
    count_sent(now);
    begin_probe(Probe::Last, now, options);
    return {seq, packet.data_seq, packet.transmission};
}

void SubflowSender::begin_probe(Probe probe, Nanos now, const TransportOptions& options) {
    probe_ = probe;
    probe_end_ = snd_nxt_;
    probe_deadline_ = kNever;
    ++stats_.tail_probes;
    restart_rto(now, options);  // RFC 8985 section 7.3: the probe precedes the timeout
}

}  // namespace subflow

// The part of SubflowSender that handles unused windows, idle periods and spurious reductions.
#include <algorithm>

#include "sender_controller.h"

namespace subflow {

namespace {
// Linux tcp_current_ssthresh: slow start may regain three quarters of a window that decays without use.
void keep_three_quarters(Window& window) {
    window.ssthresh_pkts = std::max(window.ssthresh_pkts, 0.75 * window.cwnd_pkts);
}
}  // namespace

void SubflowSender::decay_unused_window(Nanos now, const TransportOptions& options) {
    const std::uint32_t used = std::max(round_max_pipe_, last_round_max_pipe_);
    if (is_cwnd_limited() || state_ != SenderState::Open || governs_recovery_) {
        last_limited_ = now;
        used_max_pipe_ = 0;
        return;
    }
    used_max_pipe_ = std::max(used_max_pipe_, used);
    if (now - last_limited_ < rtt_.rto(options, 0)) return;
    const double needed = std::max<double>(used_max_pipe_, options.initial_window_pkts);
    if (needed < window_.cwnd_pkts) {
        decide(Cause::Ack, now, sender_rules::kUnusedWindow, [&](Reason* why) {
            if (why != nullptr) why->set(sender_rules::kUnusedWindow, {needed});
            keep_three_quarters(window_);
            window_.cwnd_pkts = (window_.cwnd_pkts + needed) / 2;
        });
    }
    last_limited_ = now;
    used_max_pipe_ = 0;
}

void SubflowSender::restart_after_idle(Nanos now, const TransportOptions& options) {
    if (options.idle_restart == IdleRestart::Off || transmissions_ == 0 || governs_recovery_) return;
    const Nanos rto = rtt_.rto(options, 0);
    Nanos idle = now - last_sent_;
    if (idle <= rto || window_.cwnd_pkts <= options.initial_window_pkts) return;
    account_cwnd(now);
    decide(Cause::Idle, now, sender_rules::kIdleRestart, [&](Reason* why) {
        if (why != nullptr) why->set(sender_rules::kIdleRestart, {to_seconds(idle), to_seconds(rto)});
        if (options.idle_restart == IdleRestart::Rfc5681) {
            window_.cwnd_pkts = options.initial_window_pkts;
            return;
        }
        double cwnd = window_.cwnd_pkts;
        keep_three_quarters(window_);
        while ((idle -= rto) > Nanos(0) && cwnd > options.initial_window_pkts) cwnd /= 2;
        window_.cwnd_pkts = std::max(cwnd, options.initial_window_pkts);
    });
}

bool SubflowSender::is_recovery_groundless(const AckOutcome& ack, Nanos echo, SeqRange duplicate) {
    if (first_retransmission_ == kNever) return false;
    if (duplicate.end != 0) {
        const std::uint32_t reported = duplicate.end - duplicate.begin;
        unproven_retransmissions_ -= std::min(unproven_retransmissions_, reported);
        if (unproven_retransmissions_ == 0) return true;
    }
    if (!ack.has_advanced || echo >= first_retransmission_) return false;
    // In fast recovery another loss may be real while retransmissions are in flight (Linux tcp_try_undo_partial). After
    // a timeout the first sign suffices (tcp_try_undo_loss).
    return state_ == SenderState::Loss || snd_una_ >= recovery_point_ || retransmissions_.empty();
}

void SubflowSender::undo_reduction() {
    ++stats_.undone;
    reordering_seen_ = true;
    if (!governs_recovery_) {
        window_.cwnd_pkts = std::max(window_.cwnd_pkts, undo_cwnd_);
        window_.ssthresh_pkts = std::max(window_.ssthresh_pkts, undo_ssthresh_);
    }
    controller_.visit([&]<class C>(C& controller) {
        if constexpr (FollowsUndo<C>) controller.on_undo(window_);
    });
    // Packets marked lost and not retransmitted are in flight after all.
    for (std::uint32_t seq = snd_una_; seq != snd_nxt_ && lost_pending_ != 0; ++seq) {
        SentPacket& packet = packets_[seq];
        if (packet.flags() != kLost) continue;
        packet.set_flags(kInPipe);
        if (has_monitor_) monitor_->on_found(packet.transmission);
        ++pipe_;
        --lost_pending_;
        --stats_.marked_lost;
    }
    loss_scan_ = snd_una_;
    owes_first_retransmission_ = false;
}

}  // namespace subflow

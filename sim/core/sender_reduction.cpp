// The part of SubflowSender that reduces the window, over a recovery and for marks. Source: RFC 6937; RFC 3168 section
// 6.1.2, Linux tcp_enter_cwr.
#include <algorithm>
#include <cmath>

#include "sender.h"
#include "sender_rules.h"

namespace subflow {

void SubflowSender::begin_rate_reduction(const TransportOptions& options) {
    prr_flight_size_ = static_cast<double>(pipe_ + lost_pending_);
    prr_prior_cwnd_ = window_.cwnd_pkts;
    prr_divisor_ = options.prr == Prr::Linux ? prr_prior_cwnd_ : static_cast<double>(snd_nxt_ - snd_una_);
    prr_delivered_ = 0;
    prr_out_ = 0;
}

void SubflowSender::update_recovery_window(const AckOutcome& ack, bool found_losses, Nanos now,
                                           const TransportOptions& options) {
    if (options.prr == Prr::Off) {
        // RFC 6675 section 5, step (4.2): no inflation, cwnd = ssthresh at once
        decide(Cause::Loss, now, sender_rules::kSackRecovery,
               [&](Reason*) { window_.cwnd_pkts = window_.ssthresh_pkts; });
        return;
    }
    // RFC 6937 section 3.1, PRR with the slow-start reduction bound. RFC 9937 and Linux tcp_cwnd_reduction grant the
    // extra packet of that bound only to an ACK that advances snd_una without finding further losses.
    prr_delivered_ += ack.newly_delivered;
    const double pipe = pipe_;
    double send = 0;
    if (pipe > window_.ssthresh_pkts) {
        send = std::ceil(prr_delivered_ * window_.ssthresh_pkts / prr_divisor_) - prr_out_;
    } else {
        double limit = std::max(prr_delivered_ - prr_out_, static_cast<double>(ack.newly_delivered));
        if (options.prr == Prr::Rfc6937 || (ack.has_advanced && !found_losses)) limit += 1;
        send = std::min(window_.ssthresh_pkts - pipe, limit);
    }
    const Cause cause = state_ == SenderState::Reduced ? Cause::Mark : Cause::Loss;
    decide(cause, now, sender_rules::kRateReduction, [&](Reason* why) {
        if (why != nullptr)
            why->set(sender_rules::kRateReduction, {pipe, prr_delivered_, static_cast<double>(prr_out_),
                                                    prr_flight_size_, std::max(send, 0.0), prr_prior_cwnd_});
        window_.cwnd_pkts = std::max(pipe + std::max(send, 0.0), 1.0);
    });
}

// Number of packets that the current ACK reports as marked. If the receiver does not count marks, all packets that the
// ACK covers count as marked.
std::uint32_t SubflowSender::take_marks(const AckOutcome& outcome) {
    needs_every_step_ &= kAlways;
    std::uint32_t marked = 0;
    if (marks_.mode == EcnMode::Accurate) {
        const std::int64_t bytes =
            marks_.echo.has_option ? (marks_.echo.marked_bytes - marks_.told_bytes) & kEcnByteMask : std::int64_t{-1};
        if (marks_.echo.has_option) marks_.told_bytes = marks_.echo.marked_bytes;
        marked = marks_told(marks_.ahead, outcome.newly_delivered, bytes, marks_.payload_bytes);
        marks_.told += marked;
    } else if (marks_.ahead != 0) {
        marked = std::max(outcome.newly_delivered, marks_.mode == EcnMode::Classic ? 1u : 0u);
    }
    stats_.marked += marked;
    return marked;
}

// Reduces the window because of marks, at most once per window of data. The reduction is never undone.
void SubflowSender::answer_marks(const Ack& ack, AckSample& sample, AckOutcome& outcome) {
    begin_rate_reduction(ack.options);
    undo_cwnd_ = 0;
    if (decisions_) decisions_->note_loss({ack.now, {}, snd_una_, 0, LossSign::Marks});
    CongestionEvent event{CongestionKind::Mark, static_cast<double>(pipe_), ack.now};
    event.is_exact = marks_.mode != EcnMode::Classic;
    notify_controller(event, ack.siblings);
    marks_.reduced_until = snd_nxt_ + 1;
    marks_.owes_cwr = true;
    ++stats_.answered;
    outcome.answered_marks = true;
    probe_ = Probe::None;
    if (ack.options.prr != Prr::Off && !marks_.at_once) {
        state_ = SenderState::Reduced;
        return;
    }
    decide(Cause::Mark, ack.now, sender_rules::kMarked,
           [&](Reason*) { window_.cwnd_pkts = std::min(window_.cwnd_pkts, window_.ssthresh_pkts); });
    notify_recovered(sample, ack.siblings);
}

// Called when an ACK covers a packet that was sent after the reduction began.
void SubflowSender::end_reduction(AckSample& sample, const Siblings& siblings) {
    decide(Cause::Mark, sample.now, sender_rules::kReductionEnd,
           [&](Reason*) { window_.cwnd_pkts = window_.ssthresh_pkts; });
    state_ = SenderState::Open;
    notify_recovered(sample, siblings);
}

}  // namespace subflow

#include "sender.h"

#include <functional>

#include "fetch.h"
#include "listed.h"
#include "sender_controller.h"

namespace subflow {

SubflowSender::SubflowSender() {
    controller_.emplace(NewReno(Options(NewReno::kInfo, {})));
}

SubflowSender::SubflowSender(const SubflowSender&) = default;
SubflowSender::SubflowSender(SubflowSender&&) noexcept = default;
SubflowSender& SubflowSender::operator=(const SubflowSender&) = default;
SubflowSender& SubflowSender::operator=(SubflowSender&&) noexcept = default;
SubflowSender::~SubflowSender() = default;

std::size_t SubflowSender::heap_bytes() const {
    return heap_bytes_of(controller_, packets_, retransmissions_, queue_, sacked_, lost_again_, sampler_, monitor_,
                         decisions_);
}

Controller SubflowSender::controller() const {
    return controller_.get();
}

void SubflowSender::fetch_ahead() const {
    controller_.fetch();
    packets_.fetch_from(loss_scan_);
    packets_.fetch_from(snd_nxt_);
    retransmissions_.fetch_from(retransmissions_.begin_pos());
}

SubflowSender::SubflowSender(const Controller& controller, const TransportOptions& options, std::uint64_t seed,
                             double packet_bits)
    : packet_bits_(packet_bits) {
    controller_.emplace(controller);
    window_.cwnd_pkts = options.initial_window_pkts;
    paces_in_bursts_ = options.tso;
    adopt_controller(seed);
    if (samples_delivery_) sampler_.emplace();
}

void SubflowSender::adopt_controller(std::uint64_t seed) {
    controller_.visit([&]<class C>(C& c) {
        sees_every_ack_ = set_up::sees_every_ack(c);
        samples_delivery_ = set_up::samples_delivery(c);
        governs_recovery_ = set_up::governs_recovery(c);
        has_monitor_ = set_up::monitors_intervals(c);
        paces_by_mss_ = PacesByMss<C>;
        if (has_monitor_ && !monitor_) monitor_.emplace();
        const bool always = sees_every_ack_ || samples_delivery_ || has_monitor_ || decisions_;
        needs_every_step_ = always ? kAlways : 0;
        const EcnUse use = set_up::ecn_use(c);
        marks_.has_answer = use.answers;
        marks_.at_once = use.at_once;
        if constexpr (FollowsStart<C>) c.on_start(window_, seed);
    });
}

void SubflowSender::change_controller(const Controller& controller, std::uint64_t seed, Nanos now) {
    account_cwnd(now);
    decide(Cause::Start, now, sender_rules::kNewController, [&](Reason* why) {
        const bool governed_recovery = governs_recovery_;
        controller_.emplace(controller);
        window_.pacing_pps = window_.advertised = 0;
        pacer_ = Pacer();
        adopt_controller(seed);
        undo_cwnd_ = 0;
        if (governed_recovery && !governs_recovery_ && state_ == SenderState::Recovery) {
            window_.ssthresh_pkts = window_.cwnd_pkts;
            prr_flight_size_ = static_cast<double>(pipe_ + lost_pending_);
            prr_prior_cwnd_ = window_.cwnd_pkts;
            prr_divisor_ = std::max(static_cast<double>(pipe_), 1.0);
            prr_delivered_ = 0;
            prr_out_ = 0;
        }
        if (governs_recovery_ && state_ == SenderState::Reduced) state_ = SenderState::Open;
        if (why != nullptr) why->set(sender_rules::kNewController, {window_.cwnd_pkts, window_.ssthresh_pkts});
    });
    if (monitor_) monitor_->forget_open();
    sampler_ = {};
    if (samples_delivery_) {
        sampler_.emplace();
        sampler_->begin(snd_una_, now);
        for (std::uint32_t seq = snd_una_; seq != snd_nxt_; ++seq)
            sampler_->add_outstanding(packets_[seq].sent_time(), pipe_, stats_.marked_lost);
    }
}

void SubflowSender::stamp(std::uint32_t seq, Nanos now) {
    const bool was_idle = !has_outstanding();
    if (was_idle && sampler_->is_app_limited()) {
        let_controller_change_window(Cause::Idle, now, [&]<class C>(C& controller, Reason* why) {
            if constexpr (FollowsIdle<C>) controller.on_idle_restart(window_, now, why);
        });
    }
    sampler_->on_send(seq, was_idle, now, pipe_, stats_.marked_lost);
}

Transmission SubflowSender::retransmit(Nanos now, const TransportOptions& options) {
    SF_VALIDATE(may_retransmit(now));
    owes_first_retransmission_ = false;
    const std::uint32_t seq = take_first_lost();
    SentPacket& packet = packets_[seq];
    --lost_pending_;
    packet.set(now, kInPipe | kRetransmitted);
    packet.transmission = transmissions_++;
    if (samples_delivery_) stamp(seq, now);
    retransmissions_.push_back({seq, packet.transmission});
    if (first_retransmission_ == kNever) first_retransmission_ = now;
    ++unproven_retransmissions_;
    // As in Linux: each transmission of the first outstanding packet restarts the full timeout.
    if (seq == snd_una_) restart_rto(now, options);
    ++stats_.retransmits;
    count_sent(now);
    return {seq, packet.data_seq, packet.transmission};
}

// The lowest packet that is lost and not yet retransmitted.
std::uint32_t SubflowSender::take_first_lost() {
    while (!lost_again_.empty()) {
        const std::uint32_t seq = lost_again_.front();
        std::ranges::pop_heap(lost_again_, std::ranges::greater());
        lost_again_.pop_back();
        if (seq >= snd_una_ && (packets_[seq].flags() & kLost)) return seq;
    }
    std::uint32_t seq = std::max(retransmit_hint_, snd_una_);
    while (!(packets_[seq].flags() & kLost)) ++seq;
    retransmit_hint_ = seq + 1;
    return seq;
}

SF_INLINE void SubflowSender::add_rtt_sample(Nanos rtt, Nanos newest_rtt, const TransportOptions& options) {
    if (options.rto_rule == RtoRule::Rfc6298) {
        rtt_.add_sample(rtt, newest_rtt);
    } else {
        rtt_.add_sample_linux(rtt, newest_rtt, snd_una_, snd_nxt_, options);
    }
    stats_.rtt_seconds += to_seconds(rtt);
    ++stats_.rtt_samples;
}

// RFC 6298 section 5, (5.2) and (5.3): the cumulative ACK moved.
SF_INLINE void SubflowSender::restart_rto_after_advance(Nanos now, const TransportOptions& options) {
    backoffs_ = 0;
    if (has_outstanding()) [[likely]] {
        restart_rto(now, options);
    } else {
        rto_deadline_ = kNever;
    }
}

SF_INLINE AckSample SubflowSender::describe_ack(std::uint32_t newly_delivered, std::uint32_t advanced, Nanos newest_rtt,
                                                const Ack& ack) const {
    return {.acked_pkts = static_cast<double>(newly_delivered),
            .rtt = newest_rtt,
            .oldest_rtt = ack.rtt(),
            .srtt = rtt_.srtt(),
            .min_rtt = rtt_.min_rtt(),
            .now = ack.now,
            .inflight_pkts = static_cast<double>(pipe_),
            .begins_round = snd_una_ >= round_end_,
            .is_cwnd_limited = ack.options.cwnd_validation == CwndValidation::Off || is_cwnd_limited(),
            .in_recovery = state_ == SenderState::Recovery,
            .snd_una = snd_una_,
            .snd_nxt = snd_nxt_,
            .advanced_pkts = advanced};
}

template <bool kAsksWhy>
SF_INLINE void SubflowSender::grow_window(const AckSample& sample, const Siblings& siblings) {
    controller_.visit_inline([&]<class C>(C& controller) SF_INLINE_LAMBDA {
        // Lets the compiler remove the code for the controllers' reasons if decisions are not recorded.
        if (!kAsksWhy && sample.why != nullptr) SF_UNREACHABLE();
        if constexpr (GrowsPerAck<C>) controller.on_ack(window_, sample, siblings);
    });
}

// Fast path of on_ack() below, for packets in order without gaps.
SF_INLINE AckOutcome SubflowSender::on_ordinary_ack(const Ack& ack) {
    account_cwnd(ack.now);
    const std::uint32_t count = ack.cumulative - snd_una_;
    const SentPacket& last = packets_[ack.cumulative - 1];
    latest_delivered_[0] = last.transmission + 1;
    // The exact values may be lower, which makes no difference: no packet with such a low number is outstanding.
    latest_delivered_[1] = latest_delivered_[2] = last.transmission;
    latest_sent_time_ = last.sent_time();
    latest_rtt_ = ack.now - last.sent_time();
    reordering_deadline_ = kNever;
    packets_.pop_front(count);
    pipe_ -= count;
    snd_una_ = ack.cumulative;

    acked_since_loss_ += count;
    add_rtt_sample(ack.rtt(), latest_rtt_, ack.options);
    restart_rto_after_advance(ack.now, ack.options);
    const AckSample sample = describe_ack(count, count, latest_rtt_, ack);
    if (sample.is_cwnd_limited) grow_window<false>(sample, ack.siblings);
    advance_round(ack.now, ack.options);
    probe_starts_ = ack.now;
    return {.newly_delivered = count, .has_advanced = true};
}

AckOutcome SubflowSender::on_ack(std::uint32_t cumulative, std::span<const SeqRange> sack_blocks, Nanos echo, Nanos now,
                                 const Siblings& siblings, const TransportOptions& options) {
    SF_VALIDATE(cumulative <= snd_nxt_);
    const Ack ack{cumulative, sack_blocks, echo, now, siblings, options};
    const AckOutcome outcome = is_ordinary(cumulative, sack_blocks) ? on_ordinary_ack(ack) : on_ack_step_by_step(ack);
#ifdef SUBFLOW_VALIDATE
    check_invariants();
#endif
    return outcome;
}

// Order of the steps: deliveries, RTT sample, loss detection, reduction of the window, growth of the window.
AckOutcome SubflowSender::on_ack_step_by_step(const Ack& ack) {
    AckOutcome outcome;
    account_cwnd(ack.now);
    delivered_at_ = ack.now;
    const std::uint32_t latest_before = latest_delivered_[0];
    const std::uint32_t una_before = snd_una_;
    const SeqRange duplicate = deliver_acknowledged(ack, outcome);
    const bool reports_newer = latest_delivered_[0] != latest_before;
    if (reports_newer) latest_rtt_ = ack.now - latest_sent_time_;
    // After a retransmission, only the echo shows which transmission arrived.
    const Nanos newest_rtt = reports_newer && latest_sent_once_ ? latest_rtt_ : ack.rtt();
    measure_round_trip(ack, newest_rtt, outcome);
    LossVerdict losses = judge_losses(ack, outcome, duplicate);

    const SenderState state_before = state_;
    AckSample sample = describe_ack(outcome.newly_delivered, snd_una_ - una_before, newest_rtt, ack);
    if ((needs_every_step_ & kForMarks) != 0) [[unlikely]]
        sample.marked_pkts = take_marks(outcome);
    if (sees_every_ack_ && outcome.newly_delivered != 0) notify_every_ack(sample, ack.siblings);
    if (state_ != SenderState::Open) [[unlikely]] {
        if (state_ != SenderState::Reduced) {
            leave_recovery(ack, duplicate, sample, losses, outcome);
        } else if (!has_answered_marks()) {
            end_reduction(sample, ack.siblings);
        }
    }
    if (is_open()) reduce_after_loss(ack, losses, sample, outcome);
    if (answers(sample) && state_ == SenderState::Open && !has_answered_marks()) [[unlikely]]
        answer_marks(ack, sample, outcome);
    if (samples_delivery_ && outcome.newly_delivered != 0) [[unlikely]] {
        DeliverySample delivery = sampler_->sample(ack.now, ack.rtt(), stats_.marked_lost);
        delivery.newly_delivered_pkts = outcome.newly_delivered;
        delivery.newly_marked_pkts = sample.marked_pkts;
        notify_delivery(delivery, ack.siblings);
    }
    if (state_ == SenderState::Recovery || state_ == SenderState::Reduced) {
        if (!governs_recovery_) update_recovery_window(outcome, losses.found, ack.now, ack.options);
    } else if (outcome.has_advanced && state_before != SenderState::Recovery && state_before != SenderState::Reduced &&
               sample.is_cwnd_limited && (marks_.at_once || !answers(sample))) {
        // Duplicate ACKs do not grow the window (RFC 5681 section 3.1; Linux tcp_may_raise_cwnd), nor do ACKs that
        // report marks (RFC 3168 section 6.1.2).
        decide(Cause::Ack, ack.now, sender_rules::kUnexplained, [&](Reason* why) {
            sample.why = why;
            grow_window<true>(sample, ack.siblings);
        });
    }
    if (has_monitor_) [[unlikely]]
        report_intervals(ack.now, ack.siblings);
    advance_round(ack.now, ack.options);
    if (outcome.has_advanced || outcome.newly_delivered != 0) probe_starts_ = ack.now;
    return outcome;
}

// Records the deliveries. Returns the range that the receiver reports as duplicate, which may be empty.
SF_INLINE SeqRange SubflowSender::deliver_acknowledged(const Ack& ack, AckOutcome& outcome) {
    if (samples_delivery_) [[unlikely]]
        sample_cumulative(ack.cumulative);
    if (ack.cumulative > snd_una_) {
        outcome.has_advanced = true;
        if (sacked_.empty()) [[likely]] {
            outcome.newly_delivered = ack.cumulative - snd_una_;
            do {
                deliver(packets_[snd_una_], ack.echo, ack.options);
                packets_.pop_front();
            } while (++snd_una_ != ack.cumulative);
        } else {
            outcome.newly_delivered = advance_past_sacked(ack.cumulative, ack.echo, ack.options);
        }
    }
    SeqRange duplicate;
    if (!ack.sack_blocks.empty()) [[unlikely]] {
        if (ack.options.dsack) duplicate = reported_duplicate(ack.cumulative, ack.sack_blocks);
        outcome.newly_delivered += apply_sack(ack.sack_blocks, ack.echo, ack.options);
    }
    acked_since_loss_ += outcome.newly_delivered;
    return duplicate;
}

SF_INLINE void SubflowSender::measure_round_trip(const Ack& ack, Nanos newest_rtt, const AckOutcome& outcome) {
    if (outcome.newly_delivered != 0) {
        add_rtt_sample(ack.rtt(), newest_rtt, ack.options);
        if (has_monitor_) monitor_->on_rtt(ack.now - newest_rtt, newest_rtt, ack.now, rtt_.srtt());
    }
    if (outcome.has_advanced) restart_rto_after_advance(ack.now, ack.options);
}

SF_INLINE SubflowSender::LossVerdict SubflowSender::judge_losses(const Ack& ack, const AckOutcome& outcome,
                                                                 SeqRange duplicate) {
    if (ack.options.loss_detection == LossDetection::DupAck) return {.found = detect_losses(ack.now)};
    if (duplicate.end != 0) [[unlikely]]
        adapt_reordering_window(duplicate);
    LossVerdict losses{.found = detect_losses_by_time(ack.now)};
    if (probe_ != Probe::None) [[unlikely]]
        losses.probe_repaired = judge_probe(outcome, duplicate);
    return losses;
}

SF_INLINE void SubflowSender::notify_every_ack(AckSample& sample, const Siblings& siblings) {
    let_controller_change_window(Cause::Ack, sample.now, [&]<class C>(C& controller, Reason* why) {
        sample.why = why;
        if constexpr (SeesEveryAck<C>) controller.on_every_ack(window_, sample, siblings);
    });
}

// Leaves fast recovery or the loss state if the recovery point is acknowledged or the recovery was spurious. After the
// loss state, the window continues to grow from its current size. Source: RFC 6675 section 5
void SubflowSender::leave_recovery(const Ack& ack, SeqRange duplicate, AckSample& sample, LossVerdict& losses,
                                   AckOutcome& outcome) {
    const bool is_groundless = undo_cwnd_ != 0 && is_recovery_groundless(outcome, ack.echo, duplicate);
    if (snd_una_ < recovery_point_ && !is_groundless) return;
    if (state_ == SenderState::Recovery && !governs_recovery_)
        decide(Cause::RecoveryExit, ack.now, sender_rules::kRecoveryExit,
               [&](Reason*) { window_.cwnd_pkts = window_.ssthresh_pkts; });
    state_ = SenderState::Open;
    outcome.ended_recovery = true;
    outcome.ended_overshoot = std::isinf(undo_ssthresh_) && !std::isinf(window_.ssthresh_pkts);
    forget_duplicates_in_time();
    if (is_groundless) {
        decide(Cause::RecoveryExit, ack.now, sender_rules::kUndo, [&](Reason* why) {
            if (why != nullptr) why->set(sender_rules::kUndo, {undo_cwnd_, undo_ssthresh_});
            undo_reduction();
        });
        losses.found = false;
    }
    undo_cwnd_ = 0;
    notify_recovered(sample, ack.siblings);
    if (outcome.ended_overshoot) give_memory_back();
}

// Called after an overshooting slow start, which had twice the sustainable window in flight and lost half of it.
void SubflowSender::give_memory_back() {
    packets_.shrink(static_cast<std::uint32_t>(window_.cwnd_pkts) + 1);
    retransmissions_.shrink();
    sacked_.shrink();
    lost_again_.shrink_to_fit();
}

void SubflowSender::notify_recovered(AckSample& sample, const Siblings& siblings) {
    let_controller_change_window(Cause::RecoveryExit, sample.now, [&]<class C>(C& controller, Reason* why) {
        sample.why = why;
        if constexpr (FollowsRecovery<C>) controller.on_recovery_exit(window_, sample, siblings);
    });
}

SF_INLINE void SubflowSender::reduce_after_loss(const Ack& ack, const LossVerdict& losses, AckSample& sample,
                                                AckOutcome& outcome) {
    if (losses.found) {
        // One reduction per window: packets sent before the last reduction cannot be found lost here, because all of
        // them were acknowledged before the return to Open.
        enter_recovery(ack.now, ack.siblings, ack.options);
        outcome.began_recovery = true;
    } else if (losses.probe_repaired && !has_answered_marks()) [[unlikely]] {
        // RFC 8985 section 7.4: the probe repaired the only loss.
        ++stats_.marked_lost;
        if (decisions_) decisions_->note_probe_repaired(ack.now);
        notify_controller({CongestionKind::FastRetransmit, static_cast<double>(pipe_), ack.now}, ack.siblings);
        if (!governs_recovery_)
            decide(Cause::Loss, ack.now, sender_rules::kProbeRepaired,
                   [&](Reason*) { window_.cwnd_pkts = window_.ssthresh_pkts; });
        outcome.began_recovery = outcome.ended_recovery = true;
        notify_recovered(sample, ack.siblings);
    }
}

// Records the deliveries of a cumulative ACK for the rate sample, before their packets are removed.
void SubflowSender::sample_cumulative(std::uint32_t cumulative) {
    sampler_->begin_ack(pipe_, stats_.marked_lost);
    for (std::uint32_t seq = snd_una_; seq < cumulative; ++seq) {
        const SentPacket& packet = packets_[seq];
        if (!(packet.flags() & kSacked))
            sampler_->on_delivered(seq, packet.transmission, (packet.flags() & kRetransmitted) != 0);
    }
    if (cumulative > snd_una_) sampler_->forget_below(cumulative);
}

void SubflowSender::notify_delivery(DeliverySample sample, const Siblings& siblings) {
    sample.srtt = rtt_.srtt();
    sample.inflight_pkts = pipe_;
    sample.is_cwnd_limited = round_was_limited_ || last_round_was_limited_;
    if (window_.pacing_pps > 0) sample.departs_in = std::max(pacer_.next() - sample.now, Nanos(0));
    sample.in_recovery = state_ == SenderState::Recovery;
    sample.in_loss = state_ == SenderState::Loss;
    let_controller_change_window(Cause::Ack, sample.now, [&]<class C>(C& controller, Reason* why) {
        sample.why = why;
        if constexpr (SamplesDelivery<C>) controller.on_delivery(window_, sample, siblings);
    });
}

std::uint32_t SubflowSender::advance_past_sacked(std::uint32_t cumulative, Nanos echo,
                                                 const TransportOptions& options) {
    const std::uint32_t highest = sacked_.back().end;
    std::uint32_t newly_delivered = 0;
    do {
        SentPacket& packet = packets_[snd_una_];
        if (packet.flags() & kSacked) {
            --sacked_count_;
        } else {
            // RFC 8985 section 6.2, step 3: this packet was sent only once, and arrives after a packet that was sent
            // later.
            if (snd_una_ < highest && !(packet.flags() & kRetransmitted)) reordering_seen_ = true;
            deliver(packet, echo, options);
            ++newly_delivered;
        }
        packets_.pop_front();
    } while (++snd_una_ != cumulative);
    sacked_.erase_below(snd_una_);
    return newly_delivered;
}

std::uint32_t SubflowSender::apply_sack(std::span<const SeqRange> sack_blocks, Nanos echo,
                                        const TransportOptions& options) {
    std::uint32_t newly_delivered = 0;
    const std::uint32_t highest = sacked_.empty() ? snd_una_ : sacked_.back().end;
    for (SeqRange block : sack_blocks) {
        block.begin = std::max(block.begin, snd_una_);
        if (block.begin >= block.end) continue;  // overtaken by the cumulative ACK
        sacked_.add(block, [&](std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t seq = begin; seq != end; ++seq) {
                SentPacket& packet = packets_[seq];
                if (seq < highest && !(packet.flags() & kRetransmitted)) reordering_seen_ = true;
                deliver(packet, echo, options);
                if (samples_delivery_)
                    sampler_->on_delivered(seq, packet.transmission, (packet.flags() & kRetransmitted) != 0);
                packet.set_flags((packet.flags() & kRetransmitted) | kSacked);
            }
            newly_delivered += end - begin;
        });
    }
    sacked_count_ += newly_delivered;
    return newly_delivered;
}

bool SubflowSender::detect_losses(Nanos now) {
    if (loss_scan_ < snd_una_) loss_scan_ = snd_una_;
    const std::uint32_t overtaken =
        latest_delivered_[2];  // transmissions below overtaken - 1 have three later deliveries
    bool found = false;
    while (loss_scan_ != snd_nxt_ && packets_[loss_scan_].transmission + 1 < overtaken) {
        if (packets_[loss_scan_].flags() == kInPipe) {
            mark_lost(loss_scan_, LossSign::DuplicateAcks, now);
            found = true;
        }
        ++loss_scan_;
    }
    while (!retransmissions_.empty()) {
        const Retransmission& oldest = retransmissions_.front();
        const bool is_current = oldest.seq >= snd_una_ && packets_[oldest.seq].transmission == oldest.transmission &&
                                packets_[oldest.seq].flags() == (kInPipe | kRetransmitted);
        if (is_current) {
            if (oldest.transmission + 1 >= overtaken) break;
            mark_lost(oldest.seq, LossSign::DuplicateAcks, now);
            found = true;
        }
        retransmissions_.pop_front();
    }
    return found;
}

void SubflowSender::enter_recovery(Nanos now, const Siblings& siblings, const TransportOptions& options) {
    // A window is reduced once, for marks or for losses (RFC 3168 section 6.1.2; Linux tcp_enter_recovery).
    const bool is_reduced = has_answered_marks() && !governs_recovery_;
    if (state_ != SenderState::Reduced) begin_rate_reduction(options);
    prepare_undo(options);
    if (is_reduced) {
        undo_cwnd_ = 0;
    } else {
        notify_controller({CongestionKind::FastRetransmit, static_cast<double>(pipe_), now}, siblings);
        marks_.owes_cwr = true;
    }
    state_ = SenderState::Recovery;
    recovery_point_ = snd_nxt_;
    owes_first_retransmission_ = true;
    ++stats_.fast_retransmits;
    probe_ = Probe::None;
    probe_deadline_ = kNever;
}

void SubflowSender::notify_controller(CongestionEvent event, const Siblings& siblings) {
    const Cause cause = event.kind == CongestionKind::Timeout ? Cause::Timeout
                        : event.kind == CongestionKind::Mark  ? Cause::Mark
                                                              : Cause::Loss;
    event.srtt = rtt_.has_sample() ? rtt_.srtt() : Nanos(0);
    let_controller_change_window(cause, event.now, [&](auto& controller, Reason* why) {
        event.why = why;
        controller.on_congestion_event(window_, event, siblings);
    });
    // Without a delivery since the last event, the packets between the losses would be 0: the earlier numbers stay.
    if (acked_since_loss_ == 0) return;
    acked_between_losses_ = acked_since_loss_;
    acked_since_loss_ = 0;
}

void SubflowSender::on_timeout(Nanos now, const Siblings& siblings, const TransportOptions& options) {
    SF_ASSERT(has_outstanding());
    account_cwnd(now);
    const Nanos waited = rtt_.rto(options, backoffs_);
    // Linux tcp_enter_loss: the recovery has already lowered ssthresh for this window of data.
    const bool is_within_recovery = options.rto_rule == RtoRule::Linux &&
                                    (state_ == SenderState::Recovery || state_ == SenderState::Reduced) &&
                                    !governs_recovery_;
    if (backoffs_ == 0 && !is_within_recovery) {
        const CongestionEvent event{CongestionKind::Timeout, static_cast<double>(pipe_), now};
        prepare_undo(options);
        notify_controller(event, siblings);
    }
    state_ = SenderState::Loss;
    marks_.reduced_until = 0;
    marks_.owes_cwr = true;
    probe_ = Probe::None;
    probe_deadline_ = kNever;
    owes_first_retransmission_ = false;
    recovery_point_ = snd_nxt_;
    ++stats_.timeouts;
    if (backoffs_ < 32) ++backoffs_;
    if (options.loss_detection == LossDetection::Rack) {
        mark_overdue_lost(now);
    } else {
        for (std::uint32_t seq = snd_una_; seq != snd_nxt_; ++seq) {
            if (packets_[seq].flags() & kInPipe) mark_lost(seq, LossSign::Timeout, now);
        }
        retransmissions_.reset(retransmissions_.end_pos());
        loss_scan_ = snd_nxt_;
    }
    decide(Cause::Timeout, now, sender_rules::kTimeout, [&](Reason* why) {
        if (why != nullptr)
            why->set(sender_rules::kTimeout,
                     {static_cast<double>(pipe_), static_cast<double>(backoffs_), to_seconds(waited)});
        // Linux tcp_enter_loss: packets still in flight do not delay the retransmission.
        window_.cwnd_pkts = pipe_ + 1;
    });
    round_max_pipe_ = 1;
    restart_rto(now, options);
#ifdef SUBFLOW_VALIDATE
    check_invariants();
#endif
}

void SubflowSender::penalise(Nanos now) {
    account_cwnd(now);
    decide(Cause::Schedule, now, sender_rules::kPenalised, [&](Reason* why) {
        if (why != nullptr) why->set(sender_rules::kPenalised, {window_.cwnd_pkts, window_.ssthresh_pkts});
        // A subflow in slow start has no estimate of its path yet: its ssthresh stays.
        if (!window_.in_slow_start()) window_.ssthresh_pkts = std::max(window_.ssthresh_pkts / 2, 2.0);
        window_.cwnd_pkts = std::max(window_.cwnd_pkts / 2, 1.0);
    });
}

void SubflowSender::check_invariants() const {
    std::uint32_t in_pipe = 0;
    std::uint32_t lost = 0;
    std::uint32_t sacked = 0;
    // Walks packets and ranges in parallel: a search of the ranges for each packet would take most of a long run.
    std::size_t range = 0;
    for (std::uint32_t seq = snd_una_; seq != snd_nxt_; ++seq) {
        for (; range < sacked_.size() && sacked_[range].end <= seq; ++range) {
            SF_ASSERT(sacked_[range].begin < sacked_[range].end);
            SF_ASSERT(range + 1 == sacked_.size() || sacked_[range].end < sacked_[range + 1].begin);
        }
        const bool is_held = range < sacked_.size() && sacked_[range].begin <= seq;
        const int state = packets_[seq].flags() & (kInPipe | kLost | kSacked);
        SF_ASSERT((state == kSacked) == is_held);
        if (state == kInPipe) {
            ++in_pipe;
        } else if (state == kLost) {
            ++lost;
        } else {
            SF_ASSERT(state == kSacked);
            ++sacked;
        }
    }
    SF_ASSERT(in_pipe == pipe_);
    SF_ASSERT(lost == lost_pending_);
    SF_ASSERT(sacked == sacked_count_);
    SF_ASSERT(window_.cwnd_pkts >= 1 && std::isfinite(window_.cwnd_pkts));
    SF_ASSERT(packets_.begin_pos() == snd_una_ && packets_.end_pos() == snd_nxt_);
    if (monitor_) check_monitor();
    SF_ASSERT(queue_.size() == queued_pkts_);
}

}  // namespace subflow

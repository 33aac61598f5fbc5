#include "bbr3.h"

#include <algorithm>
#include <cmath>

namespace subflow {

// ------------------------------------------------------------------------------------------------------ notifications

void Bbr3::on_start(Window& window, std::uint64_t seed) {
    draws_ = Draws(seed);
    initial_cwnd_ = window.cwnd_pkts;
    window.pacing_pps = kStartupGain * window.cwnd_pkts / to_seconds(kInitialRtt);
}

void Bbr3::on_delivery(Window& window, const DeliverySample& sample, const Siblings&) {
    const Window before = window;
    const bool is_recovering = sample.in_recovery || sample.in_loss;
    if (was_recovering_ && !is_recovering) window.cwnd_pkts = std::max(window.cwnd_pkts, saved_cwnd_);
    was_recovering_ = is_recovering;
    is_limited_ = sample.is_app_limited || was_cut(sample.prior_delivered_pkts);
    rate_ = sample.has_rate() ? sample.rate_pps() : 0;
    delivered_ = sample.delivered_pkts;

    // The steps follow the order of the draft, section 5.2.3.
    update_latest(sample);
    update_congestion_signals(window, sample);
    update_aggregation(window, sample);
    check_full_pipe();
    check_startup_done(sample);
    check_drain(sample);
    update_cycle(window, sample);
    update_min_rtt(sample);
    check_probe_rtt(window, sample);
    if (begins_loss_round_) {
        bw_latest_ = rate_;
        inflight_latest_ = static_cast<double>(sample.delivered_pkts - sample.prior_delivered_pkts);
    }
    bw_ = std::min(max_rate_, bw_shortterm_);

    if (!has_seen_rtt_) {
        // The first sample replaces the initial guess, even if the rate falls.
        has_seen_rtt_ = true;
        window.pacing_pps = kStartupGain * initial_cwnd_ / to_seconds(std::max(sample.srtt, Nanos(1'000)));
    }
    set_pacing(window, pacing_gain());
    quantum_ = std::max(std::min(window.pacing_pps * kQuantum_s, kMaxQuantumPkts), kMinQuantumPkts);
    const double target = set_cwnd(window, sample);
    if (sample.why != nullptr && window != before) explain(*sample.why, sample, target);
    turn_ = nullptr;
}

void Bbr3::on_lost(const Window& window, const LostPacket& packet) {
    if (lost_ranges_ == 0 || packet.seq != last_lost_seq_ + 1) ++lost_ranges_;
    last_lost_seq_ = packet.seq;
    note_loss(window, packet.delivered_pkts);
    if (!is_probe_sample_ || !is_too_high(packet.lost_since_send_pkts, packet.inflight_at_send_pkts)) return;
    // Section 5.5.10.2: the packets in flight at which the losses reached the threshold. A packet here is one segment,
    // not a burst.
    const double in_flight_before = packet.inflight_at_send_pkts - 1;
    const double lost_before = packet.lost_since_send_pkts - 1;
    const double at_loss =
        in_flight_before + (loss_threshold_ * in_flight_before - lost_before) / (1 - loss_threshold_);
    was_too_high_ = true;
    is_probe_sample_ = false;
    turn_ = &bbr3_rules::kTooHigh;
    if (!packet.is_app_limited && !was_cut(packet.prior_delivered_pkts))
        inflight_longterm_ = std::max(at_loss, flight_aimed_at(window) * kBeta);
    if (state_ != State::Up) return;
    undo_state_ = State::Up;
    start_down(packet.now, packet.delivered_pkts);
}

void Bbr3::on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
    save_cwnd(window);
    if (event.why != nullptr) event.why->set(bbr3_rules::kNoReduction, {saved_cwnd_});
    // DEVIATION: the draft also saves the undo state here on a fast retransmit. By then losses have changed that state,
    // so note_loss() saves it at the first loss.
    if (event.kind != CongestionKind::Timeout) return;
    save_for_undo();
    was_recovering_ = true;
}

void Bbr3::on_undo(Window& window) {
    window.cwnd_pkts = std::max(window.cwnd_pkts, saved_cwnd_);
    is_loss_in_round_ = false;
    reset_full_pipe(0);
    bw_shortterm_ = std::max(bw_shortterm_, undo_bw_shortterm_);
    inflight_shortterm_ = std::max(inflight_shortterm_, undo_inflight_shortterm_);
    inflight_longterm_ = std::max(inflight_longterm_, undo_inflight_longterm_);
    if (undo_state_ == State::Startup && state_ != State::Startup) {
        has_filled_pipe_ = false;
        if (state_ != State::ProbeRtt) state_ = State::Startup;
    } else if (undo_state_ == State::Up && state_ != State::Up && state_ != State::ProbeRtt) {
        start_refill(delivered_);
    }
    undo_state_ = State::Drain;
}

void Bbr3::on_idle_restart(Window& window, Nanos now, Reason* why) {
    if (why != nullptr) why->set(bbr3_rules::kIdleRestart, {bw_, saved_cwnd_});
    restarts_from_idle_ = true;
    aggregation_at_ = now;
    if (is_probe_bw()) {
        set_pacing(window, 1);
    } else if (state_ == State::ProbeRtt) {
        leave_probe_rtt_if_done(window, now);
    }
}

// ------------------------------------------------------------------------------------------------- packets in flight

double Bbr3::pacing_gain() const {
    switch (state_) {
        case State::Startup:
            return kStartupGain;
        case State::Drain:
            return kDrainGain;
        case State::Down:
            return kDownGain;
        case State::Up:
            return kUpGain;
        case State::Cruise:
        case State::Refill:
        case State::ProbeRtt:
            break;
    }
    return 1;
}

double Bbr3::cwnd_gain() const {
    return state_ == State::Up ? kUpCwndGain : state_ == State::ProbeRtt ? kProbeRttCwndGain : kCwndGain;
}

double Bbr3::bdp_multiple(double bw, double gain) const {
    return min_rtt_ == kNever ? initial_cwnd_ : gain * bw * to_seconds(min_rtt_);
}

// "QuantizationBudget" of the draft: raises a number of packets in flight so that hosts that send and receive in quanta
// stay busy.
double Bbr3::with_quanta(double pkts) const {
    const double enough = std::max({pkts, kQuanta * quantum_, kMinCwnd});
    return state_ == State::Up ? enough + 2 : enough;
}

double Bbr3::probe_rtt_cwnd() const {
    return std::max(bdp_multiple(bw_, kProbeRttCwndGain), kMinCwnd);
}

double Bbr3::inflight_with_headroom() const {
    if (inflight_longterm_ == kNoBound) return kNoBound;
    return std::max(inflight_longterm_ - std::max(1.0, headroom_ * inflight_longterm_), kMinCwnd);
}

// "TargetInflight" of the draft.
double Bbr3::flight_aimed_at(const Window& window) const {
    return std::min(bdp_multiple(bw_, 1), window.cwnd_pkts);
}

// ---------------------------------------------------------------------------------------------------- the model

void Bbr3::update_latest(const DeliverySample& sample) {
    begins_loss_round_ = false;
    bw_latest_ = std::max(bw_latest_, rate_);
    inflight_latest_ =
        std::max(inflight_latest_, static_cast<double>(sample.delivered_pkts - sample.prior_delivered_pkts));
    if (sample.prior_delivered_pkts < loss_round_end_delivered_) return;
    loss_round_end_delivered_ = sample.delivered_pkts;
    begins_loss_round_ = true;
}

void Bbr3::update_congestion_signals(const Window& window, const DeliverySample& sample) {
    update_rate(sample);
    if (!begins_loss_round_) return;
    if (is_loss_in_round_ && !is_probing()) {
        if (bw_shortterm_ == kNoBound) bw_shortterm_ = max_rate_;
        if (inflight_shortterm_ == kNoBound) inflight_shortterm_ = window.cwnd_pkts;
        bw_shortterm_ = std::max(bw_latest_, kBeta * bw_shortterm_);
        inflight_shortterm_ = std::max(inflight_latest_, kBeta * inflight_shortterm_);
    }
    is_loss_in_round_ = false;
}

void Bbr3::update_rate(const DeliverySample& sample) {
    // A round trip ends with the delivery of a packet that left after the previous round trip had ended.
    begins_round_ = sample.prior_delivered_pkts >= round_end_delivered_;
    if (begins_round_) {
        start_round(sample.delivered_pkts);
        ++round_;
        ++rounds_since_probe_;
    }
    if (rate_ <= 0 || (is_limited_ && rate_ < max_rate_)) return;
    cycle_rates_[1] = std::max(cycle_rates_[1], rate_);
    max_rate_ = std::max(cycle_rates_[0], cycle_rates_[1]);
}

void Bbr3::update_aggregation(const Window& window, const DeliverySample& sample) {
    double expected = bw_ * to_seconds(sample.now - aggregation_at_);
    // The epoch ends when ACKs have arrived no faster than the estimated rate.
    if (aggregation_acked_ <= expected) {
        aggregation_acked_ = 0;
        aggregation_at_ = sample.now;
        expected = 0;
    }
    aggregation_acked_ += sample.newly_delivered_pkts;
    extra_acked_.set_window(has_filled_pipe_ ? kAggregationRounds : 1);
    extra_acked_.add(round_, std::min(aggregation_acked_ - expected, window.cwnd_pkts));
}

void Bbr3::reset_full_pipe(double rate) {
    full_rate_ = rate;
    full_rounds_ = 0;
    is_full_now_ = false;
}

void Bbr3::check_full_pipe() {
    if (is_full_now_ || !begins_round_ || is_limited_) return;
    if (rate_ >= full_rate_ * kFullPipeGrowth) {
        reset_full_pipe(rate_);
        return;
    }
    is_full_now_ = ++full_rounds_ >= kFullPipeRounds;
    has_filled_pipe_ |= is_full_now_;
}

void Bbr3::check_startup_done(const DeliverySample& sample) {
    // Linux has the same test at the end of each round trip of recovery: bbr_check_loss_too_high_in_startup.
    if (state_ == State::Startup && !has_filled_pipe_ && begins_loss_round_ && sample.in_recovery &&
        lost_ranges_ >= kStartupLossRanges && is_too_high(sample.lost_since_send_pkts, sample.inflight_at_send_pkts)) {
        undo_state_ = State::Startup;
        has_filled_pipe_ = is_full_now_ = true;
        inflight_longterm_ = std::max(bdp_multiple(bw_, 1), inflight_latest_);
        turn_ = &bbr3_rules::kStartupLoss;
    }
    if (begins_loss_round_) lost_ranges_ = 0;
    if (state_ != State::Startup || !has_filled_pipe_) return;
    state_ = State::Drain;
    drain_start_round_ = round_;
}

void Bbr3::check_drain(const DeliverySample& sample) {
    if (state_ != State::Drain) return;
    if (sample.inflight_pkts <= inflight_target(bw_, 1) || round_ > drain_start_round_ + kDrainRounds)
        start_down(sample.now, sample.delivered_pkts);
}

// ------------------------------------------------------------------------------------------- probing for bandwidth

void Bbr3::start_down(Nanos now, std::uint64_t delivered) {
    is_loss_in_round_ = false;
    bw_latest_ = inflight_latest_ = 0;
    up_acked_per_packet_ = kNoBound;
    // Prevents simultaneous probes of flows that began together.
    rounds_since_probe_ = draws_.below(2);
    probe_wait_ = from_seconds(kShortestProbeWait_s + draws_.uniform());
    cycle_at_ = now;
    feedback_ = Feedback::Stopping;
    start_round(delivered);
    state_ = State::Down;
}

void Bbr3::start_refill(std::uint64_t delivered) {
    reset_short_term_model();
    up_rounds_ = 0;
    up_acked_ = 0;
    stopped_early_ = false;
    feedback_ = Feedback::Refilling;
    start_round(delivered);
    state_ = State::Refill;
}

void Bbr3::start_up(const Window& window, const DeliverySample& sample) {
    feedback_ = Feedback::Starting;
    start_round(sample.delivered_pkts);
    reset_full_pipe(rate_);
    state_ = State::Up;
    raise_slope(window);
}

void Bbr3::update_cycle(const Window& window, const DeliverySample& sample) {
    if (!has_filled_pipe_ || adapt_long_term_model(window, sample)) return;
    switch (state_) {
        case State::Down:
            if (is_time_to_probe(window, sample.now)) {
                start_refill(sample.delivered_pkts);
            } else if (is_time_to_cruise(sample)) {
                state_ = State::Cruise;
            }
            break;
        case State::Cruise:
            if (is_time_to_probe(window, sample.now)) start_refill(sample.delivered_pkts);
            break;
        case State::Refill:
            if (!begins_round_) break;
            is_probe_sample_ = true;
            start_up(window, sample);
            break;
        case State::Up:
            if (!is_time_to_go_down(window, sample)) break;
            was_too_high_ = false;
            start_down(sample.now, sample.delivered_pkts);
            break;
        case State::Startup:
        case State::Drain:
        case State::ProbeRtt:
            break;
    }
}

// "AdaptLongTermModel" of the draft. Returns true if it has set the next state.
bool Bbr3::adapt_long_term_model(const Window& window, const DeliverySample& sample) {
    if (feedback_ == Feedback::Starting && begins_round_) feedback_ = Feedback::Probing;
    if (feedback_ == Feedback::Stopping && begins_round_) {
        is_probe_sample_ = false;
        feedback_ = Feedback::None;
        if (is_probe_bw() && !is_limited_ && cycle_rates_[1] > 0) {
            // Begins the next cycle of the rate filter, unless the current cycle has measured no rate.
            cycle_rates_ = {cycle_rates_[1], 0};
        }
        if (is_probe_bw() && stopped_early_ && !was_too_high_) {
            start_refill(sample.delivered_pkts);
            return true;
        }
    }
    if (is_too_high(sample.lost_since_send_pkts, sample.inflight_at_send_pkts)) return false;
    if (inflight_longterm_ == kNoBound) return false;
    inflight_longterm_ = std::max(inflight_longterm_, sample.inflight_at_send_pkts);
    if (state_ == State::Up) probe_upward(window, sample);
    return false;
}

void Bbr3::probe_upward(const Window& window, const DeliverySample& sample) {
    if (!sample.is_cwnd_limited || window.cwnd_pkts < inflight_longterm_) return;
    up_acked_ += sample.newly_delivered_pkts;
    if (up_acked_ >= up_acked_per_packet_) {
        const double packets = std::floor(up_acked_ / up_acked_per_packet_);
        up_acked_ -= packets * up_acked_per_packet_;
        inflight_longterm_ += packets;
    }
    if (begins_round_) raise_slope(window);
}

void Bbr3::raise_slope(const Window& window) {
    const double growth = static_cast<double>(std::uint32_t{1} << up_rounds_);
    up_rounds_ = std::min<std::uint32_t>(up_rounds_ + 1, 30);
    up_acked_per_packet_ = std::max(window.cwnd_pkts / growth, 1.0);
}

bool Bbr3::is_time_to_probe(const Window& window, Nanos now) const {
    const double reno_rounds = std::min(flight_aimed_at(window), static_cast<double>(kRenoRounds));
    return now > cycle_at_ + probe_wait_ || rounds_since_probe_ >= reno_rounds;
}

bool Bbr3::is_time_to_cruise(const DeliverySample& sample) const {
    return sample.inflight_pkts <= inflight_with_headroom() && sample.inflight_pkts <= inflight_target(max_rate_, 1);
}

bool Bbr3::is_time_to_go_down(const Window& window, const DeliverySample& sample) {
    if (is_precautionary_ && was_too_high_ && sample.inflight_pkts >= inflight_longterm_) {
        stopped_early_ = true;
        return true;
    }
    if (sample.is_cwnd_limited && window.cwnd_pkts >= inflight_longterm_) {
        reset_full_pipe(rate_);  // inflight_longterm_, not the path, limits the measured rate
        return false;
    }
    return is_full_now_;
}

// ------------------------------------------------------------------------------- probing for the propagation delay

void Bbr3::update_min_rtt(const DeliverySample& sample) {
    const Nanos rtt = std::max(sample.rtt, Nanos(1));
    has_recent_expired_ = recent_min_rtt_ != kNever && sample.now > recent_min_rtt_at_ + kProbeRttInterval;
    if (rtt < recent_min_rtt_ || has_recent_expired_) {
        recent_min_rtt_ = rtt;
        recent_min_rtt_at_ = sample.now;
    }
    const bool has_expired = min_rtt_ != kNever && sample.now > min_rtt_at_ + kMinRttWindow;
    if (recent_min_rtt_ < min_rtt_ || has_expired) {
        min_rtt_ = recent_min_rtt_;
        min_rtt_at_ = recent_min_rtt_at_;
    }
}

void Bbr3::check_probe_rtt(Window& window, const DeliverySample& sample) {
    if (state_ != State::ProbeRtt && has_recent_expired_ && !restarts_from_idle_) {
        state_ = State::ProbeRtt;
        save_cwnd(window);
        probe_rtt_done_at_ = kNever;
        feedback_ = Feedback::Stopping;
        start_round(sample.delivered_pkts);
        cut_from_delivered_ = sample.delivered_pkts;
    }
    if (state_ == State::ProbeRtt) {
        // "MarkConnectionAppLimited" of the draft: packets sent under the reduced window do not measure the rate.
        cut_until_delivered_ = sample.delivered_pkts + static_cast<std::uint64_t>(sample.inflight_pkts);
        if (probe_rtt_done_at_ == kNever) {
            if (sample.inflight_pkts <= probe_rtt_cwnd()) {
                probe_rtt_done_at_ = sample.now + kProbeRttTime;
                probe_rtt_round_done_ = false;
                start_round(sample.delivered_pkts);
            }
        } else {
            probe_rtt_round_done_ |= begins_round_;
            if (probe_rtt_round_done_) leave_probe_rtt_if_done(window, sample.now);
        }
    }
    restarts_from_idle_ = false;
}

void Bbr3::leave_probe_rtt_if_done(Window& window, Nanos now) {
    if (probe_rtt_done_at_ == kNever || now <= probe_rtt_done_at_) return;
    recent_min_rtt_at_ = now;
    window.cwnd_pkts = std::max(window.cwnd_pkts, saved_cwnd_);
    reset_short_term_model();
    if (has_filled_pipe_) {
        start_down(now, delivered_);
        state_ = State::Cruise;
    } else {
        state_ = State::Startup;
    }
}

// ----------------------------------------------------------------------------------------------------- losses

void Bbr3::note_loss(const Window& window, std::uint64_t delivered) {
    if (!is_loss_in_round_) {
        loss_round_end_delivered_ = delivered;
        save_cwnd(window);
        save_for_undo();
    }
    is_loss_in_round_ = true;
}

void Bbr3::save_for_undo() {
    undo_state_ = State::Drain;
    undo_bw_shortterm_ = bw_shortterm_;
    undo_inflight_shortterm_ = inflight_shortterm_;
    undo_inflight_longterm_ = inflight_longterm_;
}

void Bbr3::save_cwnd(const Window& window) {
    // A window that recovery or PROBE_RTT has reduced must not replace a larger saved window.
    const bool is_whole = !was_recovering_ && state_ != State::ProbeRtt;
    saved_cwnd_ = is_whole ? window.cwnd_pkts : std::max(saved_cwnd_, window.cwnd_pkts);
}

// ----------------------------------------------------------------------------------------------- rate and window

void Bbr3::set_pacing(Window& window, double gain) const {
    const double rate_pps = gain * kPacingMargin * bw_;
    // While the pipe fills, low estimates must not slow the flow down.
    if (rate_pps > 0 && (has_filled_pipe_ || rate_pps > window.pacing_pps)) window.pacing_pps = rate_pps;
}

// Returns the target window, "max_inflight" of the draft.
double Bbr3::set_cwnd(Window& window, const DeliverySample& sample) const {
    const double target = with_quanta(bdp_multiple(bw_, cwnd_gain()) + extra_acked_.value());
    double cwnd = window.cwnd_pkts;
    if (has_filled_pipe_) {
        cwnd = std::min(cwnd + sample.newly_delivered_pkts, target);
    } else if (cwnd < target || static_cast<double>(sample.delivered_pkts) < initial_cwnd_) {
        cwnd += sample.newly_delivered_pkts;
    }
    cwnd = std::max(cwnd, kMinCwnd);
    if (state_ == State::ProbeRtt) cwnd = std::min(cwnd, probe_rtt_cwnd());
    double cap = kNoBound;
    if (state_ == State::ProbeRtt || state_ == State::Cruise) {
        cap = inflight_with_headroom();
    } else if (is_probe_bw()) {
        cap = inflight_longterm_;
    }
    window.cwnd_pkts = std::min(cwnd, std::max(std::min(cap, inflight_shortterm_), kMinCwnd));
    return target;
}

void Bbr3::explain(Reason& why, const DeliverySample& sample, double target) const {
    const RuleInfo* rule = turn_;
    if (rule == nullptr) {
        constexpr std::array kOfState{&bbr3_rules::kStartup, &bbr3_rules::kDrain,  &bbr3_rules::kDown,
                                      &bbr3_rules::kCruise,  &bbr3_rules::kRefill, &bbr3_rules::kUp,
                                      &bbr3_rules::kProbeRtt};
        rule = kOfState[static_cast<std::size_t>(state_)];
    }
    why.set(*rule, {pacing_gain(), cwnd_gain(), bw_, to_seconds(min_rtt_), inflight_longterm_, inflight_shortterm_,
                    target, sample.inflight_pkts});
}

}  // namespace subflow

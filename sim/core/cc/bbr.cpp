#include "bbr.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace subflow {

namespace {
constexpr double kMaxEpochPkts = 1 << 20;  // epochs that measure ACK aggregation restart at this size
}  // namespace

void Bbr::on_start(Window& window, std::uint64_t seed) {
    draws_ = Draws(seed);
    initial_cwnd_ = window.cwnd_pkts;
    window.pacing_pps = kHighGain * kPacingMargin * window.cwnd_pkts / to_seconds(kInitialRtt);
}

void Bbr::on_delivery(Window& window, const DeliverySample& sample, const Siblings&) {
    const Window before = window;
    update_rate(sample);
    update_aggregation(window, sample);
    update_cycle(window, sample);
    check_full_pipe(sample);
    check_drain(window, sample);
    update_min_rtt(window, sample);
    update_gains();

    if (!has_seen_rtt_) {
        // The first sample replaces the initial guess, even if the rate falls.
        has_seen_rtt_ = true;
        const double srtt_s = to_seconds(std::max(sample.srtt, Nanos(1'000)));
        window.pacing_pps = kHighGain * kPacingMargin * window.cwnd_pkts / srtt_s;
    }
    set_pacing(window, pacing_gain_);
    const double target = set_cwnd(window, sample);
    if (sample.why != nullptr && window != before) explain(*sample.why, sample, target);
}

void Bbr::explain(Reason& why, const DeliverySample& sample, double target) const {
    const RuleInfo* const rule = conserves_packets_       ? &bbr_rules::kConservation
                                 : mode_ == Mode::Startup ? &bbr_rules::kStartup
                                 : mode_ == Mode::Drain   ? &bbr_rules::kDrain
                                 : mode_ == Mode::ProbeBw ? &bbr_rules::kProbeBw
                                                          : &bbr_rules::kProbeRtt;
    why.set(*rule, {pacing_gain_, cwnd_gain_, max_rate_.value(), to_seconds(min_rtt_), bdp_pkts(), target,
                    sample.newly_delivered_pkts, sample.inflight_pkts});
}

void Bbr::update_rate(const DeliverySample& sample) {
    begins_round_ = false;
    if (!sample.has_rate()) return;
    // A round trip ends with the delivery of a packet that left after the previous round trip had ended.
    if (sample.prior_delivered_pkts >= round_end_delivered_) {
        round_end_delivered_ = sample.delivered_pkts;
        ++round_;
        begins_round_ = true;
        conserves_packets_ = false;
    }
    // A rate from an idle application or a reduced window is a lower bound: it may raise the estimate, but must not
    // displace higher samples.
    const bool was_cut =
        sample.prior_delivered_pkts >= cut_from_delivered_ && sample.prior_delivered_pkts <= cut_until_delivered_;
    const double rate_pps = sample.rate_pps();
    if ((!sample.is_app_limited && !was_cut) || rate_pps >= max_rate_.value()) max_rate_.add(round_, rate_pps);
}

void Bbr::update_aggregation(const Window& window, const DeliverySample& sample) {
    if (!has_ack_aggregation_ || !sample.has_rate()) return;
    if (begins_round_ && ++excess_rounds_ >= kAggregationWindowRounds) {
        excess_rounds_ = 0;
        excess_index_ ^= 1;
        excess_[excess_index_] = 0;
    }
    double expected = max_rate_.value() * to_seconds(sample.now - epoch_at_);
    // The epoch ends when ACKs have arrived no faster than the estimated rate.
    if (epoch_acked_ <= expected || epoch_acked_ + sample.newly_delivered_pkts >= kMaxEpochPkts) {
        epoch_acked_ = 0;
        epoch_at_ = sample.now;
        expected = 0;
    }
    epoch_acked_ += sample.newly_delivered_pkts;
    const double excess = std::min(epoch_acked_ - expected, window.cwnd_pkts);
    excess_[excess_index_] = std::max(excess_[excess_index_], excess);
}

// Packets of a segmentation quantum. Linux: bbr_tso_segs_goal.
double Bbr::quantum_pkts(const Window& window) {
    const double least = window.pacing_pps < kSlowPps ? 1 : 2;
    return std::clamp(std::floor(window.pacing_pps / kQuantaPerSecond), least, kMaxQuantumPkts);
}

// Packets that have to be in flight so that the network holds `gain` bandwidth-delay products. Linux: bbr_inflight,
// bbr_quantization_budget.
double Bbr::inflight_target(const Window& window, double gain) const {
    const double product = gain * bdp_pkts();
    if (!has_linux_quanta_) return product;
    // An even number, because receivers delay the ACK of a single last packet. Two packets more during probes, so that
    // probes exceed small bandwidth-delay products as well.
    const double target = 2 * std::ceil((std::ceil(product) + kQuanta * quantum_pkts(window)) / 2);
    return mode_ == Mode::ProbeBw && cycle_index_ == 0 ? target + 2 : target;
}

double Bbr::window_target(const Window& window, double gain) const {
    return has_linux_quanta_ ? inflight_target(window, gain) : gain * bdp_pkts() + kQuanta;
}

// Packets in flight when pacing lets the next quantum leave: without those that arrive until then and, where more
// packets shall be in flight, with that quantum. Linux: bbr_packets_in_net_at_edt.
double Bbr::inflight_at_departure(const Window& window, const DeliverySample& sample, double inflight_pkts) const {
    if (!has_linux_quanta_) return inflight_pkts;
    if (pacing_gain_ > 1) inflight_pkts += quantum_pkts(window);
    return std::max(inflight_pkts - std::floor(max_rate_.value() * to_seconds(sample.departs_in)), 0.0);
}

void Bbr::update_cycle(const Window& window, const DeliverySample& sample) {
    if (mode_ != Mode::ProbeBw) return;
    const bool is_full_length = sample.now - cycle_at_ > min_rtt_;
    const double inflight = inflight_at_departure(window, sample, sample.prior_inflight_pkts);
    bool is_over = is_full_length;
    if (pacing_gain_ > 1) {
        // Probes until the target is in flight, unless losses prevent this.
        is_over = is_full_length && (sample.newly_lost_pkts > 0 || inflight >= inflight_target(window, pacing_gain_));
    } else if (pacing_gain_ < 1) {
        // Drain no longer than needed.
        is_over = is_full_length || inflight <= inflight_target(window, 1);
    }
    if (!is_over) return;
    cycle_index_ = static_cast<std::uint8_t>((cycle_index_ + 1) % kCycle.size());
    cycle_at_ = sample.now;
}

void Bbr::check_full_pipe(const DeliverySample& sample) {
    if (has_filled_pipe() || !begins_round_ || sample.is_app_limited) return;
    if (max_rate_.value() >= kFullPipeGrowth * full_rate_pps_) {
        full_rate_pps_ = max_rate_.value();
        full_rate_rounds_ = 0;
    } else {
        ++full_rate_rounds_;
    }
}

void Bbr::check_drain(Window& window, const DeliverySample& sample) {
    if (mode_ == Mode::Startup && has_filled_pipe()) {
        mode_ = Mode::Drain;
        // BBR does not use ssthresh; the value marks the end of slow start for observers.
        window.ssthresh_pkts = window_target(window, 1);
    }
    if (mode_ == Mode::Drain &&
        inflight_at_departure(window, sample, sample.inflight_pkts) <= inflight_target(window, 1))
        enter_probe_bw(sample.now);
}

void Bbr::enter_probe_bw(Nanos now) {
    mode_ = Mode::ProbeBw;
    // A random phase except the draining one, so that flows which began together do not probe together.
    const std::uint32_t draw = draws_.below(kCycle.size() - 1);
    cycle_index_ = static_cast<std::uint8_t>(draw == 0 ? 0 : draw + 1);
    cycle_at_ = now;
}

void Bbr::update_min_rtt(Window& window, const DeliverySample& sample) {
    const bool has_expired = min_rtt_ < kNever && sample.now > min_rtt_at_ + kMinRttWindow;
    if (sample.rtt < min_rtt_ || has_expired) {
        min_rtt_ = std::max(sample.rtt, Nanos(1));
        min_rtt_at_ = sample.now;
    }
    // The flow's own queue hides the propagation delay: the queue has to drain, unless an idle period has just drained
    // it.
    if (has_expired && !restarts_from_idle_ && mode_ != Mode::ProbeRtt) {
        save_cwnd(window);
        mode_ = Mode::ProbeRtt;
        probe_rtt_done_at_ = kNever;
        cut_from_delivered_ = sample.delivered_pkts;
    }
    if (mode_ == Mode::ProbeRtt) {
        cut_until_delivered_ = sample.delivered_pkts + static_cast<std::uint64_t>(sample.inflight_pkts);
        if (probe_rtt_done_at_ == kNever) {
            if (sample.inflight_pkts <= kMinCwnd) {
                probe_rtt_done_at_ = sample.now + kProbeRttTime;
                probe_rtt_round_done_ = false;
                round_end_delivered_ = sample.delivered_pkts;
            }
        } else {
            probe_rtt_round_done_ |= begins_round_;
            if (probe_rtt_round_done_) leave_probe_rtt_if_done(window, sample.now);
        }
    }
    restarts_from_idle_ = false;
}

void Bbr::leave_probe_rtt_if_done(Window& window, Nanos now) {
    if (now <= probe_rtt_done_at_) return;
    min_rtt_at_ = now;
    window.cwnd_pkts = std::max(window.cwnd_pkts, saved_cwnd_);
    if (has_filled_pipe()) {
        enter_probe_bw(now);
    } else {
        enter_startup();
    }
}

void Bbr::update_gains() {
    switch (mode_) {
        case Mode::Startup:
            pacing_gain_ = cwnd_gain_ = kHighGain;
            break;
        case Mode::Drain:
            pacing_gain_ = kDrainGain;
            cwnd_gain_ = kHighGain;
            break;
        case Mode::ProbeBw:
            pacing_gain_ = kCycle[cycle_index_];
            cwnd_gain_ = kCwndGain;
            break;
        case Mode::ProbeRtt:
            pacing_gain_ = cwnd_gain_ = 1;
            break;
    }
}

void Bbr::set_pacing(Window& window, double gain) const {
    const double rate_pps = gain * kPacingMargin * max_rate_.value();
    // While the pipe fills, low estimates must not slow the flow down.
    if (rate_pps > 0 && (has_filled_pipe() || rate_pps > window.pacing_pps)) window.pacing_pps = rate_pps;
}

double Bbr::set_cwnd(Window& window, const DeliverySample& sample) {
    const double acked = sample.newly_delivered_pkts;
    const double conserved = sample.inflight_pkts + acked;
    double cwnd = std::max(window.cwnd_pkts - sample.newly_lost_pkts, 1.0);
    const bool is_recovering = sample.in_recovery || sample.in_loss;
    if (sample.in_recovery && !was_recovering_) {
        // First round trip of recovery: one packet out for each delivered packet.
        conserves_packets_ = true;
        round_end_delivered_ = sample.delivered_pkts;
        cwnd = conserved;
    } else if (!is_recovering && was_recovering_) {
        conserves_packets_ = false;
        cwnd = std::max(cwnd, saved_cwnd_);
    }
    was_recovering_ = is_recovering;

    double target = std::numeric_limits<double>::quiet_NaN();
    if (conserves_packets_) {
        cwnd = std::max(cwnd, conserved);
    } else {
        target = window_target(window, cwnd_gain_);
        if (has_filled_pipe()) {
            target += std::min(std::max(excess_[0], excess_[1]), max_rate_.value() * kMaxAggregation_s);
            cwnd = std::min(cwnd + acked, target);
        } else if (cwnd < target || static_cast<double>(sample.delivered_pkts) < initial_cwnd_) {
            cwnd += acked;  // the target does not limit the growth of startup yet
        }
        cwnd = std::max(cwnd, kMinCwnd);
    }
    if (mode_ == Mode::ProbeRtt) cwnd = std::min(cwnd, kMinCwnd);
    window.cwnd_pkts = cwnd;
    return target;
}

void Bbr::save_cwnd(const Window& window) {
    // A window that recovery or PROBE_RTT has reduced must not replace a larger saved window.
    const bool is_whole = !was_recovering_ && mode_ != Mode::ProbeRtt;
    saved_cwnd_ = is_whole ? window.cwnd_pkts : std::max(saved_cwnd_, window.cwnd_pkts);
}

void Bbr::on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
    save_cwnd(window);
    if (event.why != nullptr) event.why->set(bbr_rules::kNoReduction, {saved_cwnd_});
    if (event.kind != CongestionKind::Timeout) return;
    was_recovering_ = true;
    conserves_packets_ = false;
    full_rate_pps_ = 0;  // unless a full pipe was detected, the detection starts again
}

void Bbr::on_idle_restart(Window& window, Nanos now, Reason* why) {
    if (why != nullptr) why->set(bbr_rules::kIdleRestart, {max_rate_.value(), saved_cwnd_});
    restarts_from_idle_ = true;
    epoch_at_ = now;
    epoch_acked_ = 0;
    if (mode_ == Mode::ProbeBw) {
        set_pacing(window, 1);  // resumes at the bottleneck rate, and no faster
    } else if (mode_ == Mode::ProbeRtt) {
        leave_probe_rtt_if_done(window, now);
    }
}

}  // namespace subflow

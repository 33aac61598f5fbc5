#include "copa.h"

#include <algorithm>
#include <limits>

namespace subflow {

void Copa::on_delivery(Window& window, const DeliverySample& sample, const Siblings&) {
    const Window before = window;
    lost_in_round_ |= sample.newly_lost_pkts > 0;
    measure(sample);
    if (sample.prior_delivered_pkts >= round_end_delivered_) {
        round_end_delivered_ = sample.delivered_pkts;
        end_round(window);
    }
    const double standing_s = standing_rtt_s();
    const double queueing_s = standing_s - min_rtt_s();
    const double rate = window.cwnd_pkts / standing_s;
    const double target = queueing_s > 0 ? 1 / (delta_ * queueing_s) : std::numeric_limits<double>::infinity();
    const double acked = sample.newly_delivered_pkts;
    const bool is_above = rate > target;
    if (is_slow_start_ && is_above) {
        is_slow_start_ = false;
        // Copa does not use ssthresh; the value marks the end of slow start for observers.
        window.ssthresh_pkts = window.cwnd_pkts;
    }
    const RuleInfo* rule = nullptr;
    if (is_above) {
        turn(false);
        rule = &copa_rules::kDown;
        window.cwnd_pkts = std::max(window.cwnd_pkts - acked * velocity_ / (delta_ * window.cwnd_pkts), kMinCwnd);
    } else if (sample.is_cwnd_limited) {
        // Only a fully used window grows: otherwise the samples do not show that the path can carry more.
        if (is_slow_start_) {
            rule = &copa_rules::kSlowStart;
            window.cwnd_pkts += acked;
        } else {
            turn(true);
            rule = &copa_rules::kUp;
            window.cwnd_pkts += acked * velocity_ / (delta_ * window.cwnd_pkts);
        }
    }
    window.pacing_pps = kPacingGain * window.cwnd_pkts / standing_s;
    if (sample.why == nullptr || window == before) return;
    if (window.cwnd_pkts == before.cwnd_pkts) {
        sample.why->set(copa_rules::kPace, {standing_s});
    } else {
        sample.why->set(*rule,
                        {acked, velocity_, delta_, queueing_s, standing_s, target, rate, is_competitive_ ? 1.0 : 0.0});
    }
}

void Copa::on_congestion_event(Window&, const CongestionEvent& event, const Siblings&) {
    lost_in_round_ = true;
    if (event.why != nullptr) event.why->set(copa_rules::kLoss, {delta_, is_competitive_ ? 1.0 : 0.0});
    if (event.kind != CongestionKind::Timeout) return;
    is_slow_start_ = true;
    velocity_ = 1;
    steady_rounds_ = 0;
}

void Copa::measure(const DeliverySample& sample) {
    const std::uint32_t now = ticks(sample.now);
    const double rtt_s = to_seconds(std::max(sample.rtt, Nanos(1'000)));
    standing_rtt_.set_window(std::max(ticks(sample.srtt / 2), 1u));
    standing_rtt_.add(now, rtt_s);
    min_rtt_.add(now, rtt_s);
    max_rtt_.set_window(std::max(ticks(sample.srtt * kMaxRttRounds), 1u));
    max_rtt_.add(now, rtt_s);
    if (rtt_s - min_rtt_s() <= kNearlyEmpty * (max_rtt_.value() - min_rtt_s())) nearly_empty_at_ = sample.now;
    const bool competes = may_compete_ && !is_slow_start_ && sample.now - nearly_empty_at_ > sample.srtt * kModeRounds;
    if (is_competitive_ && !competes) delta_ = default_delta_;
    is_competitive_ = competes;
}

// Updates the velocity and the weight of delay once per round trip.
void Copa::end_round(const Window& window) {
    const bool is_up = window.cwnd_pkts > cwnd_at_round_;
    const bool has_moved = window.cwnd_pkts != cwnd_at_round_;
    cwnd_at_round_ = window.cwnd_pkts;
    if (!is_slow_start_) {
        if (!has_moved) {
            // A window that did not change has no direction, so that its velocity starts again at 1.
            velocity_ = 1;
            steady_rounds_ = 0;
        } else if (is_up == is_up_) {
            // The limit lets the window at most double or empty in a round trip.
            if (++steady_rounds_ >= kSteadyRounds)
                velocity_ = std::min(2 * velocity_, std::max(delta_ * window.cwnd_pkts, 1.0));
        } else {
            velocity_ = 1;
            steady_rounds_ = 0;
            is_up_ = is_up;
        }
    }
    if (is_competitive_) {
        // Additive increase and multiplicative decrease of NewReno, applied to 1 / delta
        const double packets = lost_in_round_ ? 1 / delta_ / 2 : 1 / delta_ + 1;
        delta_ = std::min(1 / packets, default_delta_);
    }
    lost_in_round_ = false;
}

// DEVIATION: when the direction changes, the velocity returns to 1 immediately, as in mvfst (Copa.cpp), and not at the
// end of the round trip. Otherwise the velocity of a long rise would empty the window.
void Copa::turn(bool is_up) {
    if (is_up == is_up_ || velocity_ <= 1) return;
    is_up_ = is_up;
    velocity_ = 1;
    steady_rounds_ = 0;
}

}  // namespace subflow

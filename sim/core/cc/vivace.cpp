#include "vivace.h"

#include <algorithm>
#include <cmath>

#include "power.h"

namespace subflow {

namespace {
double mbps(double rate_pps, const IntervalMoment& moment) {
    return rate_pps * moment.packet_bits * 1e-6;
}
}  // namespace

Vivace::Vivace(const Options& options)
    : latency_weight_(options.choice("utility") == "loss" ? 0 : options.number("latency_weight")),
      loss_weight_(options.number("loss_weight")),
      noise_floor_(options.number("noise_floor")),
      bound_step_(options.number("bound_step")),
      min_rate_mbps_(options.number("min_rate") * 1e-6),
      counts_falling_rtt_(options.number("falling_rtt") != 0),
      is_three_pairs_(options.choice("probing") == "master"),
      has_code_amplifier_(options.choice("amplifier") == "code"),
      halves_while_waiting_(options.choice("start_wait") == "half"),
      rate_mbps_(std::max(options.number("initial_rate") * 1e-6, min_rate_mbps_)) {}

double Vivace::utility(double rate_mbps, double loss_ratio, double rtt_gradient, double latency_weight,
                       double loss_weight) {
    if (rate_mbps <= 0) return 0;
    return power(rate_mbps, kExponent) - latency_weight * rate_mbps * rtt_gradient -
           loss_weight * rate_mbps * loss_ratio;
}

double Vivace::break_even_loss(double rate_mbps, double loss_weight) {
    return kExponent * power(rate_mbps, kExponent - 1) / loss_weight;
}

double Vivace::code_amplifier(int streak) {
    return power((streak + 1) / 2.0, 1.2);
}

void Vivace::on_start(Window&, std::uint64_t seed) {
    draws_ = Draws(seed);
}

void Vivace::on_every_ack(Window& window, const AckSample& ack, const Siblings&) {
    // A timeout may have reduced the window to one packet, and the RTT may have changed.
    const double srtt_s = to_seconds(ack.srtt);
    window.cwnd_pkts = std::max(kCwndGain * window.pacing_pps * srtt_s, kMinCwnd);
    if (ack.why != nullptr) ack.why->set(kSafetyCap, {window.pacing_pps, srtt_s});
}

void Vivace::on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
    // Losses count when their interval is complete. Only a timeout aborts the current trial, because its intervals
    // contain long silences.
    if (event.kind != CongestionKind::Timeout) return;
    if (mode_ == Mode::Starting) rate_mbps_ = has_last_ ? last_rate_mbps_ : rate_mbps_ / 2;
    // Marks the end of slow start for observers.
    window.ssthresh_pkts = kMinCwnd;
    if (mode_ == Mode::Starting && !has_last_) {
        forget_trial();
    } else {
        begin_probing(1);
    }
    if (event.why != nullptr) event.why->set(kSilence, {rate_mbps_});
}

double Vivace::least_rate_mbps(const IntervalMoment& moment) const {
    if (moment.srtt == Nanos(0)) return min_rate_mbps_;
    const double of_window_pps = kMinPacketsPerRtt / to_seconds(std::max(moment.srtt, Nanos(1'000)));
    return std::max(min_rate_mbps_, mbps(of_window_pps, moment));
}

void Vivace::set_rate(Window& window, double rate_mbps, const IntervalMoment& moment) const {
    window.pacing_pps = rate_mbps * 1e6 / moment.packet_bits;
    // Without an RTT sample, the initial window stays.
    if (moment.srtt > Nanos(0))
        window.cwnd_pkts = std::max(kCwndGain * window.pacing_pps * to_seconds(moment.srtt), kMinCwnd);
}

// Tags an interval as part of the current trial, so that on_interval() uses its result.
void Vivace::await(IntervalPlan& plan, std::size_t position) {
    plan.tag = trial_ * 8 + static_cast<std::int32_t>(position) + 1;
    planned_ = position + 1;
}

bool Vivace::is_awaited(const IntervalRecord& record) const {
    return record.tag / 8 == trial_ && record.tag % 8 != 0;
}

// Discards the current trial; another trial begins with the next interval.
void Vivace::forget_trial() {
    trial_ = trial_ % 1'000'000 + 1;
    planned_ = judged_ = 0;
}

void Vivace::begin_probing(std::uint32_t settling) {
    mode_ = Mode::Probing;
    settling_ = settling;
    forget_trial();
}

IntervalPlan Vivace::plan_interval(Window& window, const IntervalMoment& moment) {
    IntervalPlan plan{.length = std::max(moment.srtt, Nanos(1)), .min_packets = kMinIntervalPkts};
    rate_mbps_ = std::max(rate_mbps_, least_rate_mbps(moment));
    double rate_mbps = rate_mbps_;
    if (moment.srtt == Nanos(0)) {
        // Trials begin once the RTT, and thus the interval length, is known.
        plan.length = kInitialInterval;
    } else if (settling_ > 0) {
        --settling_;
    } else if (mode_ == Mode::Probing && planned_ < probe_count()) {
        // Pairs of probes above and below, in random order.
        if (planned_ % 2 == 0) goes_up_first_ = draws_.below(2) == 0;
        const bool goes_up = (planned_ % 2 == 0) == goes_up_first_;
        rate_mbps *= goes_up ? 1 + kProbeStep : 1 - kProbeStep;
        await(plan, planned_);
    } else if (mode_ != Mode::Probing && planned_ == 0) {
        await(plan, 0);
    } else if (mode_ == Mode::Starting && halves_while_waiting_) {
        rate_mbps /= 2;
    }
    set_rate(window, rate_mbps, moment);
    if (moment.why != nullptr) moment.why->set(kInterval, {rate_mbps_, rate_mbps, plan.tag == 0 ? 0.0 : 1.0});
    return plan;
}

double Vivace::gradient_of(const IntervalRecord& record) const {
    const double gradient = record.rtt_gradient;
    if (std::isnan(gradient)) return 0;
    if (gradient < 0 && !counts_falling_rtt_) return 0;
    const double magnitude = std::abs(gradient);
    return magnitude < noise_floor_ || magnitude < record.rtt_gradient_error ? 0 : gradient;
}

NextInterval Vivace::on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                                 const Siblings&) {
    const double sent_mbps = mbps(record.send_rate_pps(), moment);
    const double gradient = gradient_of(record);
    record.utility = utility(sent_mbps, record.loss_ratio(), gradient, latency_weight_, loss_weight_);
    if (!is_awaited(record)) return NextInterval::InTurn;

    const double asked_mbps = mbps(record.rate_pps, moment);
    const bool is_reached = sent_mbps >= kReachedShare * asked_mbps || record.delivered_pkts == 0;
    if (record.sent_pkts == 0 || record.is_app_limited || !is_reached) {
        forget_trial();
        if (moment.why != nullptr)
            moment.why->set(kIgnored, {asked_mbps, sent_mbps, record.is_app_limited ? 1.0 : 0.0});
        return NextInterval::InTurn;
    }
    switch (mode_) {
        case Mode::Starting:
            judge_start(record, gradient, moment);
            break;
        case Mode::Probing:
            probes_[judged_++] = {asked_mbps, record.utility};
            if (judged_ < probe_count()) return NextInterval::InTurn;
            judge_probes(moment);
            break;
        case Mode::Moving:
            judge_move(record, gradient, moment);
            break;
    }
    if (mode_ != Mode::Starting) window.ssthresh_pkts = kMinCwnd;
    set_rate(window, rate_mbps_, moment);
    return NextInterval::BeginsNow;
}

void Vivace::judge_start(const IntervalRecord& record, double gradient, const IntervalMoment& moment) {
    const double last_utility = last_utility_;  // 0 before the first result, the utility of rate 0
    if (record.utility > last_utility) {
        last_rate_mbps_ = rate_mbps_;
        last_utility_ = record.utility;
        has_last_ = true;
        rate_mbps_ *= 2;
        forget_trial();
    } else if (has_last_) {
        rate_mbps_ = last_rate_mbps_;
        begin_probing(1);
    } else {
        // The first rate is already too high.
        const double least_mbps = least_rate_mbps(moment);
        const bool is_least = rate_mbps_ <= least_mbps;
        rate_mbps_ = std::max(rate_mbps_ / 2, least_mbps);
        forget_trial();
        if (is_least) begin_probing(1);
    }
    if (moment.why != nullptr)
        moment.why->set(record.utility > last_utility ? kDoubling : kEndOfDoubling,
                        {record.utility, last_utility, record.loss_ratio(), gradient, rate_mbps_});
}

void Vivace::judge_probes(const IntervalMoment& moment) {
    std::array<double, kMaxPairs> gradients{};
    const std::size_t pairs = probe_count() / 2;
    std::size_t rising = 0;
    std::size_t falling = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
        const Probe& a = probes_[2 * i];
        const Probe& b = probes_[2 * i + 1];
        gradients[i] = (a.utility - b.utility) / (a.rate_mbps - b.rate_mbps);
        rising += gradients[i] > 0;
        falling += gradients[i] < 0;
    }
    const bool goes_up = is_three_pairs_ ? rising >= 2 : rising == pairs;
    const bool goes_down = falling == pairs;
    if (!goes_up && !goes_down) {
        if (moment.why != nullptr) moment.why->set(kUndecided, {rate_mbps_, gradients[0], gradients[1], gradients[2]});
        begin_probing(0);
        return;
    }
    // The mean gradient of the pairs in that direction. Moves begin at the better probes of these pairs: the utility at
    // the base rate is unknown, and where a queue begins to grow it is far from the mean of the utilities above and
    // below.
    double gradient = 0;
    double last_utility = 0;
    for (std::size_t i = 0; i < pairs; ++i) {
        if (gradients[i] == 0 || (gradients[i] > 0) != goes_up) continue;
        gradient += gradients[i];
        last_utility += std::max(probes_[2 * i].utility, probes_[2 * i + 1].utility);
    }
    const auto agreeing = static_cast<double>(goes_up ? rising : falling);
    mode_ = Mode::Moving;
    rate_mbps_ = last_rate_mbps_ =
        std::max(rate_mbps_ * (goes_up ? 1 + kProbeStep : 1 - kProbeStep), least_rate_mbps(moment));
    last_utility_ = last_utility / agreeing;
    take_step(gradient / agreeing, last_utility_, last_utility_, moment);
}

void Vivace::judge_move(const IntervalRecord& record, double gradient, const IntervalMoment& moment) {
    if (record.utility > last_utility_ && rate_mbps_ != last_rate_mbps_) {
        const double slope = (record.utility - last_utility_) / (rate_mbps_ - last_rate_mbps_);
        const double before = last_utility_;
        last_rate_mbps_ = rate_mbps_;
        last_utility_ = record.utility;
        undone_in_a_row_ = 0;
        take_step(slope, record.utility, before, moment);
        return;
    }
    if (moment.why != nullptr)
        moment.why->set(kUndoneStep, {record.utility, last_utility_, record.loss_ratio(), gradient, last_rate_mbps_});
    rate_mbps_ = last_rate_mbps_;
    // Steps that are undone repeatedly are too large, even if the probes before them agree.
    if (++undone_in_a_row_ >= kMaxUndone) {
        streak_ = 0;
        bounds_met_ = 0;
        undone_in_a_row_ = 0;
    }
    begin_probing(1);
}

// Sections 4.2 and 4.3: theta_0 m(n) gradient, within bounds that widen when they are met repeatedly.
void Vivace::take_step(double gradient, double utility, double last_utility, const IntervalMoment& moment) {
    const int direction = gradient > 0 ? 1 : -1;
    if (direction != direction_) {
        undone_in_a_row_ = 0;
        if (direction_ != 0) swing_buffer_ = std::min(swing_buffer_ + 1, kMaxSwingBuffer);
        direction_ = direction;
        streak_ = 1;
        bounds_met_ = 0;
    } else if (swing_buffer_ > 0 && streak_ > 0) {
        --swing_buffer_;
    } else {
        ++streak_;
    }
    const double amplifier = has_code_amplifier_ ? code_amplifier(streak_) : paper_amplifier(streak_);
    const double bound = kFirstBound + bounds_met_ * bound_step_;
    const double limit_mbps = bound * rate_mbps_;
    double change_mbps = kConversion_mbps * amplifier * std::abs(gradient);
    if (change_mbps > limit_mbps) {
        change_mbps = limit_mbps;
        ++bounds_met_;
    } else {
        // DEVIATION from PCC-Uspace: the bound also limits the minimum step, which would be far too large at low rates.
        change_mbps = std::min(std::max(change_mbps, kMinStep_mbps), limit_mbps);
        bounds_met_ = std::max(bounds_met_ - 1, 0);
    }
    rate_mbps_ = std::max(rate_mbps_ + direction * change_mbps, least_rate_mbps(moment));
    if (moment.why != nullptr)
        moment.why->set(kStep,
                        {gradient, static_cast<double>(streak_), amplifier, bound, static_cast<double>(swing_buffer_),
                         utility, last_utility, rate_mbps_ - last_rate_mbps_});
    forget_trial();
}

}  // namespace subflow

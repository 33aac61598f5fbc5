#include "mpcc.h"

#include <algorithm>
#include <cmath>

#include "mpcc_rules.h"
#include "power.h"

namespace subflow {

namespace {

// The purpose of an interval, stored in its tag: the round, the mode and the position of the trial. kWaiting marks an
// interval that waits for results.
constexpr std::int32_t kPositions = 8;
constexpr std::int32_t kWaiting = kPositions - 1;
constexpr std::int32_t kModes = 4;
constexpr std::uint32_t kRounds = 1 << 26;

double or_preset(double option, double of_preset) {
    return option == 0 ? of_preset : option;
}

}  // namespace

double MpccConstants::utility(double total_bps, double loss_ratio, double latency_inflation) const {
    const double total = total_bps / unit_bps;
    return utility_scale * (power(total, alpha) - beta * loss_ratio * total - gamma * total * latency_inflation);
}

double MpccConstants::break_even_loss(double total_bps) const {
    return alpha * power(total_bps / unit_bps, alpha - 1) / beta;
}

double Mpcc::latency_inflation(const IntervalRecord& record) {
    if (record.delivered_pkts == 0) return 0;
    const double inflation = to_seconds(record.last_srtt - record.first_srtt) / record.length_s();
    return std::abs(inflation) < kInflationFloor ? 0 : inflation;
}

std::array<double, 2> Mpcc::probe_rates(double rate_bps, double width_bps) {
    const double high = rate_bps + width_bps;
    const double low = width_bps > rate_bps ? high / 2 : rate_bps - width_bps;
    return {high, std::max(low, kMinRate_bps)};
}

Mpcc::Mode Mpcc::mode_of(const IntervalRecord& record) {
    return static_cast<Mode>(record.tag / kPositions % kModes);
}

Mpcc::Mpcc(const Options& options, bool senses_latency, Mover mover)
    : constants_(options.choice("preset") == kPresets[0] ? kMbps : kKernel),
      mover_(mover),
      probe_share_(options.number("probe")),
      rate_bps_(options.number("initial_rate")),
      advertised_bps_(rate_bps_) {
    last_[0].rate_bps = rate_bps_;
    constants_.alpha = or_preset(options.number("alpha"), constants_.alpha);
    constants_.beta = or_preset(options.number("beta"), constants_.beta);
    constants_.gamma = senses_latency ? or_preset(options.number("gamma"), constants_.gamma) : 0;
    // The proof of the equilibria requires beta > 3: Gilad et al. 2020, section 4.
    if (constants_.beta <= 3) throw ScenarioError("option 'beta' of MPCC must be above 3, or 0 for that of the preset");
}

void Mpcc::on_start(Window&, std::uint64_t seed) {
    draws_ = Draws(seed);
}

void Mpcc::begin_round(Mode mode) {
    mode_ = mode;
    round_ = (round_ + 1) % kRounds;
    planned_ = 0;
    judged_ = 0;
}

IntervalPlan Mpcc::plan_interval(Window& window, const IntervalMoment& moment) {
    packet_bits_ = moment.packet_bits;
    const std::uint32_t to_try = mode_ == Mode::Probing ? kProbes : 1;
    const std::int32_t round = static_cast<std::int32_t>(round_) * kModes + static_cast<std::int32_t>(mode_);
    IntervalPlan plan{.length = kOpenEnd, .min_packets = 1, .tag = round * kPositions};
    double rate_bps = rate_bps_;
    if (wants_move_) {
        // Packets sent before the agent's action do not belong to its move.
        plan.length = Nanos(1);
        plan.tag += kWaiting;
        if (moment.why != nullptr) moment.why->set(mpcc_rules::kWait, {rate_bps});
    } else if (planned_ == to_try) {
        plan.tag += kWaiting;
        if (moment.why != nullptr) moment.why->set(mpcc_rules::kWait, {rate_bps});
    } else {
        plan.tag += static_cast<std::int32_t>(planned_);
        // Before the first RTT sample, the interval ends with the first packet.
        plan.length = mode_ == Mode::Beginning
                          ? Nanos(1)
                          : Nanos(std::max<std::int64_t>(
                                static_cast<std::int64_t>(kIntervalRtts * static_cast<double>(moment.srtt.value)), 1));
        if (mode_ == Mode::Probing) rate_bps = trials_[planned_].rate_bps;
        ++planned_;
        if (moment.why != nullptr && mode_ == Mode::Probing) {
            moment.why->set(mpcc_rules::kTry, {rate_bps_, others_bps_, probe_share_ * total_bps(), rate_bps,
                                               static_cast<double>(planned_)});
        } else if (moment.why != nullptr && mode_ == Mode::Beginning) {
            moment.why->set(mpcc_rules::kInitialRate, {rate_bps});
        }
    }
    apply_rate(window, rate_bps, moment);
    if (!is_silent_) window.advertised = advertised_pps();
    return plan;
}

// Sets the pacing rate and the window. The window stays if no feedback has arrived since a timeout, or if the RTT is
// unknown.
void Mpcc::apply_rate(Window& window, double rate_bps, const IntervalMoment& moment) const {
    window.pacing_pps = rate_bps / moment.packet_bits;
    if (moment.srtt == Nanos(0) || is_silent_) return;
    window.cwnd_pkts = std::max(kMinCwnd, kCwndGain * window.pacing_pps * to_seconds(moment.srtt));
    if (moment.why != nullptr && moment.why->rule == nullptr)
        moment.why->set(mpcc_rules::kCwnd, {rate_bps, to_seconds(moment.srtt)});
}

void Mpcc::on_every_ack(Window& window, const AckSample& ack, const Siblings&) {
    is_silent_ = false;
    window.advertised = advertised_pps();
    window.cwnd_pkts = std::max(kMinCwnd, kCwndGain * window.pacing_pps * to_seconds(ack.srtt));
    if (ack.why != nullptr) ack.why->set(mpcc_rules::kCwnd, {window.pacing_pps * packet_bits_, to_seconds(ack.srtt)});
}

// Losses count only through the utility. After a timeout, the subflow advertises no rate until the next ACK.
void Mpcc::on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
    if (event.kind != CongestionKind::Timeout) return;
    is_silent_ = true;
    window.advertised = 0;
    if (event.why != nullptr) event.why->set(mpcc_rules::kSilence, {rate_bps_});
}

Mpcc::Trial Mpcc::judge(const IntervalRecord& record) const {
    Trial trial;
    trial.rate_bps = record.rate_pps * packet_bits_;
    trial.loss_ratio = record.loss_ratio();
    trial.inflation = latency_inflation(record);
    trial.calls_for_brake = trial.loss_ratio > kBrakeLoss && record.sent_pkts > kBrakePackets;
    trial.rtt_s = record.rtt_mean_s;
    trial.is_tried = !record.is_app_limited && record.send_rate_pps() >= kTriedShare * record.rate_pps;
    double loss_ratio = trial.loss_ratio;
    double inflation = trial.inflation;
    if (mode_ == Mode::SlowStart) {
        if (loss_ratio < kSlowStartLoss) loss_ratio = 0;
        inflation = std::max(inflation, 0.0);
    }
    trial.utility = constants_.utility(trial.rate_bps + others_bps_, loss_ratio, inflation);
    return trial;
}

NextInterval Mpcc::on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                               const Siblings& siblings) {
    const Trial trial = judge(record);
    record.utility = trial.utility;
    latest_ = trial;
    const bool is_current = record.tag / kPositions / kModes == static_cast<std::int32_t>(round_);
    if (!is_current || record.tag % kPositions == kWaiting) return NextInterval::InTurn;
    trials_[judged_++] = trial;
    if (mode_ == Mode::Probing && judged_ < kProbes) return NextInterval::InTurn;

    switch (mode_) {
        case Mode::Beginning:
            others_bps_ = siblings.others_pps() * packet_bits_;
            begin_round(moment.srtt > Nanos(0) ? Mode::SlowStart : Mode::Beginning);
            break;
        case Mode::SlowStart:
            decide_slow_start(window, record, moment);
            break;
        case Mode::Probing:
            decide_probing(moment);
            break;
        case Mode::Moving:
            if (mover_ == Mover::Agent) {
                judge_move(moment);
            } else {
                decide_moving(moment);
            }
            break;
    }
    if (mode_ == Mode::Probing) draw_probes(siblings);
    apply_rate(window, rate_bps_, moment);
    return NextInterval::BeginsNow;
}

void Mpcc::decide_slow_start(Window& window, const IntervalRecord& record, const IntervalMoment& moment) {
    const Trial& trial = trials_[0];
    const double throughput_bps = record.throughput_pps() * packet_bits_;
    // Ignored losses lower the expected throughput.
    const double arriving = trial.loss_ratio < kSlowStartLoss ? 1 - trial.loss_ratio : 1;
    const auto explain = [&](const RuleInfo& rule) {
        if (moment.why != nullptr)
            moment.why->set(rule, {trial.rate_bps, trial.utility, last_[0].utility, throughput_bps, trial.loss_ratio,
                                   trial.inflation});
    };
    if (trial.utility > last_[0].utility && throughput_bps > kSlowStartThroughput * arriving * trial.rate_bps) {
        explain(mpcc_rules::kDouble);
        last_[0] = {rate_bps_, trial.utility};
        rate_bps_ = std::min(2 * rate_bps_, kMaxRate_bps);
        retries_left_ = kSlowStartRetries;
        begin_round(Mode::SlowStart);
    } else if (retries_left_ > 0) {
        explain(mpcc_rules::kRetry);
        --retries_left_;
        begin_round(Mode::SlowStart);
    } else {
        explain(mpcc_rules::kLeaveSlowStart);
        rate_bps_ = last_[0].rate_bps;
        window.ssthresh_pkts = kMinCwnd;  // marks the end of slow start for observers
        begin_round(Mode::Probing);
    }
}

void Mpcc::draw_probes(const Siblings& siblings) {
    others_bps_ = siblings.others_pps() * packet_bits_;
    const std::array<double, 2> rates = probe_rates(rate_bps_, probe_share_ * total_bps());
    for (std::uint32_t pair = 0; pair < kProbes; pair += 2) {
        const std::uint32_t first = draws_.below(2);
        trials_[pair].rate_bps = rates[first];
        trials_[pair + 1].rate_bps = rates[1 - first];
    }
}

void Mpcc::decide_probing(const IntervalMoment& moment) {
    int brakes = 0;
    bool is_tried = true;
    for (const Trial& trial : trials_) {
        brakes += trial.calls_for_brake;
        is_tried &= trial.is_tried;
    }
    if (brakes > kBrakeProbes) {
        brake(moment, *std::ranges::max_element(trials_, {}, &Trial::loss_ratio));
        return;
    }
    const auto above = [&](std::uint32_t pair) -> const Trial& {
        return trials_[pair].rate_bps > trials_[pair + 1].rate_bps ? trials_[pair] : trials_[pair + 1];
    };
    const auto below = [&](std::uint32_t pair) -> const Trial& {
        return trials_[pair].rate_bps > trials_[pair + 1].rate_bps ? trials_[pair + 1] : trials_[pair];
    };
    const auto slope = [&](std::uint32_t pair) {
        return gradient(above(pair).rate_bps, above(pair).utility, {below(pair).rate_bps, below(pair).utility});
    };
    const double first = slope(0);
    const double second = slope(2);
    const double utility_above = (above(0).utility + above(2).utility) / 2;
    const double utility_below = (below(0).utility + below(2).utility) / 2;
    const double loss_above = (above(0).loss_ratio + above(2).loss_ratio) / 2;
    const double inflation_above = (above(0).inflation + above(2).inflation) / 2;

    const bool is_up = first > 0 && second > 0;
    const bool is_down = first < 0 && second < 0;
    if (!is_up && !is_down) {
        if (moment.why != nullptr)
            moment.why->set(mpcc_rules::kDisagreement,
                            {first, second, utility_above, utility_below, loss_above, inflation_above});
        return stay();
    }
    if (is_up && !is_tried) {
        if (moment.why != nullptr) moment.why->set(mpcc_rules::kUntried, {rate_bps_, others_bps_});
        return stay();
    }
    if (mover_ == Mover::Agent) {
        if (moment.why != nullptr)
            moment.why->set(mpcc_rules::kHandOver,
                            {first, second, utility_above, utility_below, loss_above, inflation_above});
        advertised_bps_ = rate_bps_;
        last_[0] = {rate_bps_, (utility_above + utility_below) / 2};
        wants_move_ = true;
        return begin_round(Mode::Moving);
    }
    const double lesser = std::min(std::abs(first), std::abs(second));
    const Step step = next_step(is_up ? lesser : -lesser);
    if (moment.why != nullptr)
        moment.why->set(mpcc_rules::kAgreement, {first, second, utility_above, utility_below, step.amplifier,
                                                 step.bound_bps, loss_above, inflation_above});
    direction_ = is_up ? Direction::Up : Direction::Down;
    const double before_bps = rate_bps_;
    rate_bps_ = std::clamp(rate_bps_ + step.change_bps, kMinRate_bps, kMaxRate_bps);
    advertised_bps_ = rate_bps_;
    if (rate_bps_ == before_bps) return begin_round(Mode::Probing);
    last_[0] = {above(0).rate_bps, utility_above};
    last_[1] = {below(0).rate_bps, utility_below};
    begin_round(Mode::Moving);
}

// Probes the same rate again, because probing had no result.
void Mpcc::stay() {
    direction_ = Direction::Stay;
    advertised_bps_ = rate_bps_;
    begin_round(Mode::Probing);
}

// DEVIATION from the kernel module, which compares the first step after probing only with the worse of the probed
// rates. If that rate exceeded the capacity, its utility is so low that the rate would keep falling even below the
// capacity. Here the comparisons with both probed rates must agree, as the two pairs of probes had to.
void Mpcc::decide_moving(const IntervalMoment& moment) {
    const Trial& trial = trials_[0];
    if (trial.calls_for_brake) return brake(moment, trial);
    const std::array slopes{gradient(rate_bps_, trial.utility, last_[0]), gradient(rate_bps_, trial.utility, last_[1])};
    const std::size_t lesser = std::abs(slopes[0]) < std::abs(slopes[1]) ? 0 : 1;
    const bool is_clear = slopes[0] * slopes[1] > 0;
    const double slope = slopes[lesser];
    const bool repeats = is_clear && (slope > 0 ? Direction::Up : Direction::Down) == direction_;
    if (repeats && slope > 0 && !trial.is_tried) {
        if (moment.why != nullptr) moment.why->set(mpcc_rules::kUntried, {rate_bps_, others_bps_});
        return begin_round(Mode::Probing);
    }
    const Step step = repeats ? next_step(slope) : turn();
    if (moment.why != nullptr)
        moment.why->set(repeats ? mpcc_rules::kMove : mpcc_rules::kTurn,
                        {trial.utility, last_[lesser].utility, last_[lesser].rate_bps, slope, step.amplifier,
                         step.bound_bps, trial.loss_ratio, trial.inflation});
    const double before_bps = rate_bps_;
    last_.fill({before_bps, trial.utility});
    rate_bps_ = std::clamp(rate_bps_ + step.change_bps, kMinRate_bps, kMaxRate_bps);
    begin_round(rate_bps_ != before_bps ? Mode::Moving : Mode::Probing);
}

void Mpcc::move(Window& window, double rate_bps, const IntervalMoment& moment) {
    wants_move_ = false;
    rate_bps_ = std::clamp(rate_bps, kMinRate_bps, kMaxRate_bps);
    begin_round(Mode::Moving);
    apply_rate(window, rate_bps_, moment);
}

// Source: DDPG-MPCC, section 2.2: "when utility decreases, it falls back to the probing phase". Here the rate returns
// to its previous value, as Vivace undoes a step: an agent's moves follow no gradient, and if failed moves were
// kept, the rate of a random agent would drift towards 0. A move that left the rate unchanged, or raised it but sent
// too few packets, is inconclusive and falls back too, as for MPCC's own steps.
void Mpcc::judge_move(const IntervalMoment& moment) {
    const Trial& trial = moved_ = trials_[0];
    if (trial.calls_for_brake) return brake(moment, trial);
    const Result before = last_[0];
    const bool has_moved = rate_bps_ != before.rate_bps && (trial.is_tried || rate_bps_ < before.rate_bps);
    wants_move_ = has_moved && trial.utility >= before.utility;
    if (moment.why != nullptr)
        moment.why->set(wants_move_ ? mpcc_rules::kGoOn : mpcc_rules::kFallBack,
                        {trial.rate_bps, trial.utility, before.rate_bps, before.utility, trial.loss_ratio,
                         trial.inflation, trial.is_tried ? 1.0 : 0.0});
    if (wants_move_) {
        last_[0] = {rate_bps_, trial.utility};
    } else {
        rate_bps_ = before.rate_bps;
    }
    begin_round(wants_move_ ? Mode::Moving : Mode::Probing);
}

void Mpcc::brake(const IntervalMoment& moment, const Trial& by) {
    if (moment.why != nullptr) moment.why->set(mpcc_rules::kBrake, {by.loss_ratio, by.rate_bps});
    rate_bps_ = std::max(rate_bps_ / 2, kMinRate_bps);
    direction_ = Direction::Stay;
    advertised_bps_ = rate_bps_;
    begin_round(Mode::Probing);
}

double Mpcc::gradient(double rate_bps, double utility, const Result& from) const {
    if (rate_bps == from.rate_bps) return 0;
    return constants_.gradient_scale * (utility - from.utility) / ((rate_bps - from.rate_bps) / constants_.unit_bps);
}

// Reverses the direction, with small steps at first. The swing buffer keeps one or two further steps small.
Mpcc::Step Mpcc::turn() {
    amplifier_ = 0;
    bound_steps_ = 0;
    swing_buffer_ = std::min(swing_buffer_ + 1, kMaxSwingBuffer);
    return {.bound_bps = change_bound(total_bps(), 0)};
}

// The rate follows the gradient, with growing steps in the same direction.
Mpcc::Step Mpcc::next_step(double gradient) {
    const Direction direction = gradient > 0 ? Direction::Up : Direction::Down;
    if (direction != direction_) turn();
    Step step{.amplifier = static_cast<double>(amplifier_), .bound_bps = change_bound(total_bps(), bound_steps_)};
    double change_bps = std::abs(gradient) / 2 * (1 + amplifier_) * constants_.unit_bps;
    if (direction == direction_) {
        if (swing_buffer_ == 0) {
            amplifier_ += kAmplifierStep;
        } else {
            --swing_buffer_;
        }
    }
    if (change_bps > step.bound_bps) {
        change_bps = step.bound_bps;
        ++bound_steps_;
    } else if (bound_steps_ > 0) {
        --bound_steps_;
    }
    change_bps = std::min(std::max(change_bps, kMinStep_bps), kMaxStepShare * rate_bps_);
    step.change_bps = gradient > 0 ? change_bps : -change_bps;
    return step;
}

}  // namespace subflow

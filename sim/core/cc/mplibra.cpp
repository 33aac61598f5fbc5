#include "mplibra.h"

#include <algorithm>
#include <cmath>

#include "power.h"

namespace subflow {

namespace {

constexpr std::int32_t kParts = 8;
constexpr std::int32_t kCycles = 1 << 27;

// Relative tolerance in the test for paced siblings: a sibling is paced if its advertised rate times its srtt is
// smaller than its window.
constexpr double kRounding = 1e-9;

Nanos part_of(Nanos time, double share) {
    return Nanos(std::max<std::int64_t>(static_cast<std::int64_t>(share * static_cast<double>(time.value)), 1));
}

template <class C>
C make(const Options& options) {
    return C(options.of_part(C::kInfo));
}

}  // namespace

MpLibra::Classic MpLibra::make_classic(const Options& options) {
    const std::string_view name = options.choice("classic");
    if (name == Lia::kInfo.name) return make<Lia>(options);
    if (name == Balia::kInfo.name) return make<Balia>(options);
    if (name == WVegas::kInfo.name) return make<WVegas>(options);
    return make<Olia>(options);
}

MpLibra::MpLibra(const Options& options)
    : classic_(make_classic(options)),
      threshold_(options.number("theta")),
      exploitation_rtts_(options.number("exploitation")),
      beta_(options.number("beta")),
      gamma_(options.number("gamma")),
      action_range_(options.number("action_range")),
      reward_throughput_(options.number("reward_throughput")),
      reward_delay_(options.number("reward_delay")),
      reward_loss_(options.number("reward_loss")),
      compares_base_(options.choice("argmax_over") == kArgmaxes[0]),
      is_priced_by_rate_(options.choice("price") == kPrices[0]),
      rewards_logarithms_(options.choice("reward") == kRewards[1]),
      counts_falls_in_full_(options.number("falling_rtt") != 0),
      plan_(read_own_plan(options)) {
    plan_.sees_mean_rtt = sees_mean_rtt(options);
    plan_.measures_stage = options.choice("sees") == kSeenStages[1];
    plan_.rewards_all_stages = plan_.measures_stage && options.choice("reward_over") == kSeenStages[0];
}

double MpLibra::utility(double total_mbps, double loss_ratio, double rtt_gradient, double beta, double gamma,
                        bool is_priced_by_rate) {
    return natural_log(total_mbps) - (is_priced_by_rate ? total_mbps : 1) * (beta * loss_ratio + gamma * rtt_gradient);
}

double MpLibra::gradient_of(const IntervalRecord& record, bool counts_falls_in_full) {
    if (record.rtt_samples < kGradientPkts || std::isnan(record.rtt_gradient)) return 0;
    if (std::abs(record.rtt_gradient) < kGradientFloor) return 0;
    return counts_falls_in_full ? record.rtt_gradient : std::max(record.rtt_gradient, -kGradientFloor);
}

// Advertises the window's rate before and during an exploration, the base rate while paced, and 0 without feedback.
void MpLibra::advertise(Window& window, Nanos srtt) const {
    if (is_silent_ || srtt == Nanos(0)) {
        window.advertised = 0;
        return;
    }
    const bool has_window = stage_ == Stage::Beginning || stage_ == Stage::Exploration;
    window.advertised = has_window ? window.cwnd_pkts / to_seconds(srtt) : base_pps_;
}

// Calls call(classic, siblings), where paced siblings have windows computed from their advertised rates.
template <class Call>
void MpLibra::call_classic(const Siblings& siblings, Call&& call) {
    std::array<Sibling, kMaxSubflows> seen;
    Siblings view = siblings;
    if (siblings.has_others()) {
        std::ranges::copy(siblings.all, seen.begin());
        view.all = std::span(seen).first(siblings.all.size());
        view.known_rates = {};
        for (std::size_t i = 0; i < view.all.size(); ++i) {
            const double stated_pkts = seen[i].advertised * seen[i].srtt_s;
            const bool is_paced = stated_pkts > 0 && stated_pkts < seen[i].cwnd_pkts * (1 - kRounding);
            if (i != view.self && is_paced) seen[i].cwnd_pkts = stated_pkts;
        }
    }
    std::visit([&](auto& classic) { call(classic, view); }, classic_);
}

void MpLibra::begin_exploration(Nanos srtt) {
    stage_ = Stage::Exploration;
    cycle_ = (cycle_ + 1) % kCycles;
    is_running_ = false;
    stage_srtt_ = std::max(srtt, Nanos(1));
    stage_end_ = kNever;
    explored_ = {};
}

void MpLibra::explore(Window& window, Nanos srtt, double inflight_pkts, Reason* why) {
    begin_exploration(srtt);
    window.cwnd_pkts = std::max(base_pps_ * to_seconds(stage_srtt_), 1.0);
    if (has_met_a_limit_) {
        // If the agent's smaller rate won wrongly, slow start returns to the earlier rate of the classic controller;
        // otherwise the recovery would gain only one packet per round trip.
        const double threshold_pkts = std::max(base_pps_, overruled_pps_) * to_seconds(stage_srtt_);
        window.ssthresh_pkts = std::min(window.ssthresh_pkts, std::max(threshold_pkts, 1.0));
        if (base_pps_ >= overruled_pps_) overruled_pps_ = 0;
    }
    const bool would_burst = inflight_pkts + kBurst < window.cwnd_pkts;
    window.pacing_pps = would_burst ? kBurstPacing * window.cwnd_pkts / to_seconds(stage_srtt_) : 0;
    if (why != nullptr) why->set(mplibra_rules::kExplore, {base_pps_, to_seconds(stage_srtt_), inflight_pkts});
}

// The cap uses the largest rate of the cycle: a lower cap would block sending until the pipe has drained.
void MpLibra::pace(Window& window, double rate_pps, Nanos srtt) const {
    window.pacing_pps = rate_pps;
    const double largest_pps = std::max({rate_pps, base_pps_, of_classic_.rate_pps, of_agent_.rate_pps});
    window.cwnd_pkts = std::max(kMinCwnd, kCwndGain * largest_pps * to_seconds(srtt));
}

IntervalPlan MpLibra::plan_interval(Window& window, const IntervalMoment& moment) {
    packet_bits_ = moment.packet_bits;
    is_open_ended_ = false;
    switch (stage_) {
        case Stage::Beginning: {
            // The first interval contains one packet; the second lasts until the result of the first.
            const bool is_first = !is_running_;
            is_running_ = true;
            return {.length = is_first ? Nanos(1) : kOpenEnd, .tag = tag(is_first ? Part::First : Part::None)};
        }
        case Stage::Exploration:
            return plan_exploration(moment);
        case Stage::Evaluation:
            return plan_evaluation(window, moment);
        case Stage::Feedback:
            is_open_ended_ = true;
            break;
        case Stage::Exploitation:
            if (is_running_) {
                explore(window, moment.srtt, moment.inflight_pkts, moment.why);
                return plan_exploration(moment);
            }
            is_running_ = true;
            stage_srtt_ = std::max(moment.srtt, Nanos(1));
            pace(window, base_pps_, moment.srtt);
            const IntervalPlan plan{.length = part_of(stage_srtt_, exploitation_rtts_), .tag = tag(Part::Exploited)};
            if (moment.why != nullptr) moment.why->set(mplibra_rules::kExploit, {base_pps_, to_seconds(plan.length)});
            return plan;
    }
    return {.length = kOpenEnd, .tag = tag(Part::Awaiting)};
}

IntervalPlan MpLibra::plan_exploration(const IntervalMoment& moment) {
    // Packets sent without feedback, or while an action is pending, do not belong to the exploration.
    if (is_silent_ || is_running_) return {.tag = tag(Part::None)};
    is_running_ = true;
    stage_end_ = moment.now + stage_srtt_;
    return {.length = stage_srtt_, .tag = tag(Part::Explored)};
}

IntervalPlan MpLibra::plan_evaluation(Window& window, const IntervalMoment& moment) {
    if (tried_ == 2) {
        stage_ = Stage::Feedback;
        is_open_ended_ = true;
        pace(window, base_pps_, moment.srtt);
        if (moment.why != nullptr) moment.why->set(mplibra_rules::kAwait, {base_pps_});
        return {.length = kOpenEnd, .tag = tag(Part::Awaiting)};
    }
    const bool is_of_agent = (tried_++ == 1) == agent_is_larger_;
    const double rate_pps = is_of_agent ? of_agent_.rate_pps : of_classic_.rate_pps;
    pace(window, rate_pps, moment.srtt);
    const IntervalPlan plan{.length = part_of(stage_srtt_, 0.5),
                            .tag = tag(is_of_agent ? Part::OfAgent : Part::OfClassic)};
    if (moment.why != nullptr)
        moment.why->set(mplibra_rules::kTry, {rate_pps, is_of_agent ? 1.0 : 0.0, to_seconds(plan.length)});
    return plan;
}

MpLibra::Candidate MpLibra::judge(const IntervalRecord& record) const {
    const double sent_pps = record.send_rate_pps();
    const bool is_paced = record.rate_pps > 0;
    Candidate result{.rate_pps = is_paced ? record.rate_pps : sent_pps, .sent_pkts = record.sent_pkts};
    const double total_mbps = (others_pps_ + result.rate_pps) * packet_bits_ * 1e-6;
    result.is_known = true;
    result.is_conclusive =
        record.sent_pkts >= kEvidencePkts && !record.is_app_limited && sent_pps >= kReachedShare * record.rate_pps;
    result.utility = total_mbps > 0
                         ? utility(total_mbps, record.loss_ratio(), gradient_of(record, counts_falls_in_full_), beta_,
                                   gamma_, is_priced_by_rate_)
                         : std::numeric_limits<double>::quiet_NaN();
    return result;
}

NextInterval MpLibra::on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                                  const Siblings&) {
    const Candidate result = judge(record);
    record.utility = result.utility;
    // If a timeout has aborted the cycle that waited for these results, no other result would end the current
    // open-ended interval.
    if (record.tag / kParts != cycle_)
        return is_open_ended_ && stage_ != Stage::Feedback ? NextInterval::BeginsNow : NextInterval::InTurn;
    switch (static_cast<Part>(record.tag % kParts)) {
        case Part::First:
            if (stage_ != Stage::Beginning) return NextInterval::InTurn;
            is_running_ = false;
            if (moment.srtt > Nanos(0)) {
                base_pps_ = window.cwnd_pkts / to_seconds(moment.srtt);
                begin_exploration(moment.srtt);
                if (moment.why != nullptr)
                    moment.why->set(mplibra_rules::kFirstRate, {window.cwnd_pkts, to_seconds(moment.srtt)});
            }
            return NextInterval::BeginsNow;
        case Part::Explored:
            explored_ = result;
            break;
        case Part::OfClassic:
            of_classic_ = result;
            break;
        case Part::OfAgent:
            of_agent_ = result;
            break;
        default:
            break;
    }
    if (stage_ != Stage::Feedback || !of_classic_.is_known || !of_agent_.is_known) return NextInterval::InTurn;
    choose(window, moment);
    return NextInterval::BeginsNow;
}

// Algorithm 2, line 21. DEVIATION: if the result of a candidate is not conclusive, the classic controller's rate wins;
// the paper compares utilities of any number of packets.
void MpLibra::choose(Window& window, const IntervalMoment& moment) {
    const double before_pps = base_pps_;
    const Candidate* best = &of_classic_;
    const bool is_conclusive = of_classic_.is_conclusive && of_agent_.is_conclusive;
    double choice = 0;
    if (is_conclusive) {
        if (of_agent_.utility > best->utility) {
            best = &of_agent_;
            choice = 1;
        }
        if (compares_base_ && explored_.is_conclusive && explored_.utility > best->utility) {
            best = &explored_;
            choice = 2;
        }
    }
    if (choice != 2) base_pps_ = best->rate_pps;
    if (choice == 1) overruled_pps_ = std::max(overruled_pps_, of_classic_.rate_pps);
    base_utility_ = best->utility;
    // Slow start ends once a rate below that of the classic controller wins.
    has_met_a_limit_ = has_met_a_limit_ || base_pps_ < of_classic_.rate_pps;
    if (moment.why != nullptr && is_conclusive) {
        moment.why->set(mplibra_rules::kChoice, {choice, of_classic_.rate_pps, of_classic_.utility, of_agent_.rate_pps,
                                                 of_agent_.utility, before_pps, explored_.utility, others_pps_});
    } else if (moment.why != nullptr) {
        moment.why->set(mplibra_rules::kInconclusive, {of_classic_.rate_pps, static_cast<double>(of_classic_.sent_pkts),
                                                       of_agent_.rate_pps, static_cast<double>(of_agent_.sent_pkts)});
    }
    if (exploitation_rtts_ == 0) return explore(window, moment.srtt, moment.inflight_pkts, nullptr);
    stage_ = Stage::Exploitation;
    is_running_ = false;
    pace(window, base_pps_, moment.srtt);
}

void MpLibra::on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
    if (is_silent_) {
        is_silent_ = false;
        if (stage_ != Stage::Beginning) explore(window, ack.srtt, ack.inflight_pkts, ack.why);
    }
    switch (stage_) {
        case Stage::Beginning:
        case Stage::Exploration:
            if (auto* vegas = std::get_if<WVegas>(&classic_)) vegas->on_every_ack(window, ack, siblings);
            if (ack.now < stage_end_ || wants_action_) break;
            wants_action_ = true;
            others_pps_ = siblings.others_pps();
            break;
        default:
            pace(window, window.pacing_pps, ack.srtt);
            if (ack.why != nullptr) ack.why->set(mplibra_rules::kCap, {window.pacing_pps, to_seconds(ack.srtt)});
    }
    advertise(window, ack.srtt);
}

void MpLibra::on_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
    if (stage_ != Stage::Beginning && stage_ != Stage::Exploration) return;
    call_classic(siblings, [&](auto& classic, const Siblings& view) { classic.on_ack(window, ack, view); });
    advertise(window, ack.srtt);
}

// wVegas suspends its estimates from a loss until this call, and needs the call in any stage.
void MpLibra::on_recovery_exit(Window& window, const AckSample& ack, const Siblings& siblings) {
    if (auto* vegas = std::get_if<WVegas>(&classic_)) vegas->on_recovery_exit(window, ack, siblings);
    advertise(window, ack.srtt);
}

void MpLibra::on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings) {
    has_met_a_limit_ = true;
    const double advertised = window.advertised;
    const bool is_timeout = event.kind == CongestionKind::Timeout;
    // The classic controller's reaction to this event is more recent than the rate that the agent overruled.
    if (stage_ == Stage::Exploration || is_timeout) overruled_pps_ = 0;
    if (stage_ == Stage::Beginning || stage_ == Stage::Exploration) {
        call_classic(siblings,
                     [&](auto& classic, const Siblings& view) { classic.on_congestion_event(window, event, view); });
        // The window shrinks immediately: RFC 6675 section 5, step (4.2)
        if (!is_timeout) window.cwnd_pkts = std::max(window.ssthresh_pkts, 1.0);
    } else if (event.why != nullptr) {
        event.why->set(mplibra_rules::kLossPassed, {window.pacing_pps});
    }
    window.advertised = advertised;
    if (!is_timeout) return;
    is_silent_ = true;
    window.advertised = 0;
    if (stage_ == Stage::Beginning) return;
    wants_action_ = false;
    window.pacing_pps = 0;
    begin_exploration(stage_srtt_);
    base_pps_ = std::max(base_pps_ / 2, 1 / to_seconds(stage_srtt_));
    if (event.why != nullptr) event.why->set(mplibra_rules::kGivenUp, {base_pps_});
}

void MpLibra::on_action(Window& window, std::span<const float> action, const ActionMoment& moment) {
    wants_action_ = false;
    if (stage_ != Stage::Exploration || !is_running_) return;  // a timeout has aborted the exploration
    const double srtt_s = to_seconds(stage_srtt_);
    const double a = static_cast<double>(action.front());
    const double most_pkts = std::max(kMostBdps * moment.reference_pps * to_seconds(moment.min_rtt), kLeastWindow);
    const double agent_pkts = std::clamp(power(2, action_range_ * a) * base_pps_ * srtt_s, kLeastWindow, most_pkts);
    of_classic_ = {.rate_pps = window.cwnd_pkts / srtt_s};
    of_agent_ = {.rate_pps = agent_pkts / srtt_s};
    const double threshold = threshold_pps();
    const double low = base_pps_ - threshold;
    const double high = of_classic_.rate_pps + threshold;
    // In the first slow start, a proposal between the previous base rate and the rate of slow start counts as
    // agreement: by the distance alone, an agent that proposes no change would stop slow start.
    const bool is_first_slow_start = is_first_cycle_ && !has_met_a_limit_ && window.in_slow_start();
    const bool agrees = is_first_slow_start ? low < of_agent_.rate_pps && of_agent_.rate_pps < high
                                            : std::abs(of_classic_.rate_pps - of_agent_.rate_pps) < threshold;
    if (moment.why != nullptr)
        moment.why->set(agrees ? mplibra_rules::kAgreement : mplibra_rules::kDisagreement,
                        {a, base_pps_, of_classic_.rate_pps, of_agent_.rate_pps, threshold, srtt_s});
    if (agrees) {
        begin_exploration(moment.srtt);
        base_pps_ = window.cwnd_pkts / to_seconds(stage_srtt_);
        window.pacing_pps = 0;
        return;
    }
    is_first_cycle_ = false;
    stage_ = Stage::Evaluation;
    tried_ = 0;
    // The smaller rate goes first: packets queued by the first rate would be charged to the second.
    agent_is_larger_ = of_agent_.rate_pps >= of_classic_.rate_pps;
    pace(window, std::min(of_agent_.rate_pps, of_classic_.rate_pps), moment.srtt);
}

void MpLibra::observe(const EpochSample& sample, std::span<float> record) {
    largest_pps_ = std::max(largest_pps_, sample.delivered_pps);
    record[0] = scaled(sample.sent_pps / sample.reference_pps);
    record[1] = scaled(sample.seen_rtt_s / sample.min_rtt_s);
    record[2] = scaled(sample.min_rtt_s / kMinRttUnit_s);
    record[3] = static_cast<float>(sample.loss_ratio);
    record[4] = scaled(sample.delivered_pps / sample.reference_pps);
}

// Section IV.A: R = w1 x / x_max - w2 d / d_min - w3 l, or with the logarithms of both ratios.
double MpLibra::reward(std::span<const EpochSample> samples) const {
    const EpochSample& sample = samples.front();
    double throughput = largest_pps_ > 0 ? sample.delivered_pps / largest_pps_ : 0;
    double delay = sample.seen_rtt_s / sample.min_rtt_s;
    if (!(delay > 0)) delay = 1;
    if (rewards_logarithms_) {
        throughput = natural_log(std::max(throughput, kLeastShare));
        delay = natural_log(delay);
    }
    return reward_throughput_ * throughput - reward_delay_ * delay - reward_loss_ * sample.loss_ratio;
}

}  // namespace subflow

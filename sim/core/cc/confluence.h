// Confluence: a learned agent multiplies the window of each subflow, within bounds that hold for any policy.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "../agent/agent_options.h"
#include "../agent/scaling.h"
#include "../windowed_max.h"
#include "confluence_model.h"
#include "controller.h"
#include "lia.h"
#include "power.h"

namespace subflow {

namespace confluence_rules {

inline constexpr RuleNumber kFactor{"factor", "factor by which the learning agent multiplies the cwnd"};
inline constexpr RuleNumber kWanted{"wanted_pkts", "cwnd requested by the learning agent"};
inline constexpr RuleNumber kMaxRate{"max_epoch_rate_pps", "largest rate of an epoch within memory"};
inline constexpr RuleNumber kRoundAcked{"round_acked_pkts", "packets that the last round trip acknowledged"};
inline constexpr RuleNumber kLiaPkts{"lia_pkts", "window that LIA would have"};
inline constexpr RuleNumber kModelRate{"model_rate_pps", "largest delivery rate of the last three round trips"};
inline constexpr RuleNumber kModelRtt{"model_rtt_s", "RTT of the model"};
inline constexpr RuleNumber kSpare{"spare_pkts", "packets added to the model's bandwidth-delay product"};
inline constexpr RuleNumber kEpochPkts{"epoch_pkts", "packets that the epoch acknowledged"};

inline constexpr RuleInfo kGrow{
    .name = "confluence_start",
    .formula = "cwnd + acked, until a loss or until a round trip's least RTT is above 1.25 min_rtt",
    .computed = "cwnd = before + acked",
    .source = "RFC 5681 section 3.1; HyStart, section 3.2",
    .numbers = {number::kAcked},
};
inline constexpr RuleInfo kQueueBegins{
    .name = "confluence_start_ends",
    .formula = "max(round_acked, cwnd / 2): a queue begins, and what the last round trip delivered fits the path",
    .computed = "cwnd = min(max(round_acked, before / 2), before)",
    .source = "HyStart, section 3.2",
    .numbers = {kRoundAcked, number::kRoundRtt, number::kMinRtt},
};
inline constexpr RuleInfo kStartLoss{
    .name = "confluence_start_loss",
    .formula = "cwnd / 2, at least 2: a loss ends the start",
    .computed = "cwnd = max(before / 2, 2)",
    .source = "RFC 5681 section 3.1",
    .numbers = {number::kCwnd},
};
inline constexpr RuleInfo kChoice{
    .name = "confluence_choice",
    .formula = "wanted * factor, within [2, 2 max_epoch_rate srtt + 4]",
    .computed = "cwnd = min(max(wanted * factor, 2), max(2 * max_epoch_rate * srtt + 4, 2))",
    .source = "docs/algorithms/confluence.md, The policy",
    .numbers = {kWanted, kFactor, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kChoiceOfLia{
    .name = "confluence_choice_of_lia",
    .formula = "lia * factor, within [2, 2 max_epoch_rate srtt + 4]",
    .computed = "cwnd = min(max(lia * factor, 2), max(2 * max_epoch_rate * srtt + 4, 2))",
    .source = "docs/algorithms/confluence.md, What each part is worth",
    .numbers = {kLiaPkts, kFactor, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kModel{
    .name = "confluence_model",
    .formula =
        "model_rate * model_rtt * factor + spare, within [2, 2 max_epoch_rate srtt + 4]; spare is 2 packets + 0.3 "
        "times "
        "the square root of the model's bandwidth-delay product; model_rtt is the lowest RTT, or that of the last "
        "epoch if the agent asks for more or others fill the queue; a kept window without a queue probes by "
        "2^(0.02 k), at most 2^0.3",
    .computed = "cwnd = min(max(model_rate * model_rtt * factor + spare, 2), max(2 * max_epoch_rate * srtt + 4, 2))",
    .source = "docs/algorithms/confluence.md, The model",
    .numbers = {kModelRate, kModelRtt, kFactor, kSpare, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kTight{
    .name = "confluence_tight",
    .formula =
        "behind a buffer of fewer than 9 packets, without pacing: a third of LIA's increase, 0.8 of the window after a "
        "loss, and a smaller window if the agent asks for it, within [2, 2 max_epoch_rate srtt + 4]",
    .source = "docs/algorithms/confluence.md, The model",
    .numbers = {kWanted, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kCut{
    .name = "confluence_cut",
    .formula = "a packet was lost in a full queue: 0.7 of the rate, or the rate before the agent asked for more",
    .source = "docs/algorithms/confluence.md, Safety",
    .numbers = {kModelRate, kWanted, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kProbe{
    .name = "confluence_probe",
    .formula = "kept, and no queue: wanted * 2^(0.02 k), at most 2^0.3, for the k-th such epoch in a row",
    .computed = "cwnd = min(max(wanted * factor, 2), max(2 * max_epoch_rate * srtt + 4, 2))",
    .source = "docs/algorithms/confluence.md, The policy",
    .numbers = {kWanted, kFactor, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kYield{
    .name = "confluence_yield",
    .formula =
        "kept, in a queue that others fill, with as much through other queues: wanted * 2^-(0.02 k), at least "
        "2^-0.1, for the k-th such epoch in a row",
    .computed = "cwnd = min(max(wanted * factor, 2), max(2 * max_epoch_rate * srtt + 4, 2))",
    .source = "docs/algorithms/confluence.md, Safety",
    .numbers = {kWanted, kFactor, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kFew{
    .name = "confluence_few_packets",
    .formula = "fewer than ten packets in the epoch are too few for the agent: one packet more, unless one was lost",
    .source = "docs/algorithms/confluence.md, Safety",
    .numbers = {kEpochPkts, number::kLossRatio, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kCap{
    .name = "confluence_cap",
    .formula =
        "the requested window, at most 2 max_epoch_rate srtt + 4; after a timeout, one packet more per acknowledged "
        "packet until then",
    .source = "docs/algorithms/confluence.md, Safety",
    .numbers = {kWanted, kMaxRate, number::kSrtt},
};
inline constexpr RuleInfo kLossSeen{
    .name = "confluence_keeps_window",
    .formula = "the window stays, the loss is repaired and the agent sees it",
    .computed = "cwnd = before",
    .source = "docs/algorithms/confluence.md, The policy",
    .numbers = {number::kCwnd},
};
inline constexpr RuleInfo kTimeout{
    .name = "confluence_timeout",
    .formula = "one packet, then back to half the previous cwnd, once for a series of timeouts",
    .source = "RFC 5681 section 3.1",
    .numbers = {kWanted},
};

inline constexpr std::array kAll{&kGrow, &kQueueBegins, &kStartLoss, &kChoice, &kChoiceOfLia, &kModel,    &kTight,
                                 &kCut,  &kProbe,       &kYield,     &kFew,    &kCap,         &kLossSeen, &kTimeout};

}  // namespace confluence_rules

// One policy for all subflows of all flows. The features of a subflow have no absolute unit, so that they fit any path.
// The features of the siblings are pooled, so that their number does not matter.
// Source: docs/algorithms/confluence.md
class Confluence {
public:
    static constexpr double kLeastPkts = 2;
    static constexpr double kPacingGain = 1.1;  // slightly above the window's rate, so that the window is the limit
    static constexpr double kStartGain = 2;
    static constexpr double kQueueBegins = 1.25;  // relative to the minimum RTT
    static constexpr double kCapRates = 2;        // factor of the windowed maximum rate times the current RTT
    static constexpr double kCapPkts = 4;         // packets added to that product
    static constexpr double kEpochPkts = 20;      // minimum number of packets in an epoch
    static constexpr std::int64_t kMostRtts = 5;  // maximum length of an epoch, for any number of packets
    static constexpr double kFewPkts = 10;        // epochs with fewer packets carry too little information
    // A window that fills no queue yields no information: the window grows at an increasing rate until a queue appears.
    static constexpr double kNoQueue = 0.03;  // relative to the minimum RTT
    static constexpr double kStep = 0.02;
    static constexpr double kMostProbe = 0.3;
    // A subflow whose connection has enough capacity elsewhere yields a queue to the flows that fill it.
    static constexpr double kFilled = 0.08;  // relative to the minimum RTT, on average
    static constexpr double kNoGrip = 0.3;
    static constexpr double kMostYield = 0.1;
    static constexpr double kSlowGain = 1.0 / 16;  // weight of a sample in the long-term averages
    // weight of a sample in the means, variances and covariances of queueing delays of this subflow and its siblings
    static constexpr double kPoolGain = 1.0 / 8;
    static constexpr std::size_t kPooled = 8;  // maximum number of subflows with these statistics

    // The window of the path model.
    static constexpr double kSparePkts = 2;        // packets added to the bandwidth-delay product
    static constexpr double kSpareRoot = 0.3;      // and this times its square root
    static constexpr double kCrowdedQueue = 0.25;  // average share of the full queue above which others fill it
    static constexpr double kTightPkts = 9;        // a buffer of fewer packets shows no competitors
    static constexpr double kTightGain = 1.0 / 3;  // there: increase, in windows of LIA
    static constexpr double kTightCut = 0.8;       // there: factor of the window after a loss; as fair as NewReno
    static constexpr double kLossStep = 200;       // packets over which losses in full queues are averaged
    static constexpr double kFullQueue = 0.5;      // position of an RTT in the queue above which a loss is congestion
    static constexpr double kCut = 0.7;            // factor of the rate after such a loss
    static constexpr double kCalmEpochs = 30;      // epochs after it without probes
    static constexpr double kFlood = 0.1;          // share of the window whose loss in a round trip ends the start
    static constexpr double kFloodPkts = 6;        // the least such loss
    static constexpr double kStartBdps = 2.5;      // bandwidth-delay products to which the start is limited
    static constexpr double kStartPkts = 10;       // packets added to that limit
    static constexpr double kStartGrowth = 1.25;   // factor of the rate that counts as growth
    static constexpr int kStartRounds = 3;         // round trips without growth that end the start
    static constexpr double kHardlyMoved = 1e-4;

    static constexpr std::array<double, 7> kExponents{-1, -0.3, -0.1, 0, 0.1, 0.3, 1};
    static constexpr std::array<std::string_view, 7> kChoices{"halve", "-0.3", "-0.1",  "keep",
                                                              "+0.1",  "+0.3", "double"};
    static constexpr float kKeep = 3;

    static constexpr std::array<std::string_view, 2> kRttKinds{"least", "mean"};
    static constexpr std::array<std::string_view, 3> kWindowKinds{"own", "lia", "model"};

    static constexpr auto kOptions = [] {
        auto common = observation_options(4);
        std::ranges::find(common, kReferenceRate, &OptionInfo::key)->default_number = 1e3;
        std::ranges::find(common, std::string_view("memory"), &OptionInfo::key)->default_number = 30;
        constexpr std::array own{
            OptionInfo{
                .key = "queue_rtt",
                .kind = OptionKind::Choice,
                .help = "RTT of an epoch that indicates queues to the agent. The mean includes the receiver's "
                        "waiting.",
                .default_choice = kRttKinds[0],
                .choices = kRttKinds,
            },
            OptionInfo{
                .key = "window",
                .kind = OptionKind::Choice,
                .help = "Window that the agent multiplies: the subflow's own, that which LIA would have, which "
                        "neither probes nor yields and serves as a comparison, or that of a model of the path: "
                        "delivery rate times lowest RTT.",
                .default_choice = kWindowKinds[0],
                .choices = kWindowKinds,
            },
            OptionInfo{
                .key = "pool",
                .kind = OptionKind::Flag,
                .help = "The agent sees a summary of the subflow's siblings.",
                .default_number = 1,
            },
            OptionInfo{
                .key = "safety",
                .kind = OptionKind::Flag,
                .help = "The cwnd is at most twice the largest recent rate times the current RTT, plus 4 packets; "
                        "epochs of fewer than ten packets have a rule of their own.",
                .default_number = 1,
            },
            OptionInfo{
                .key = "limit",
                .help = "Largest exponent that the agent chooses, in either direction; larger ones count as this one.",
                .default_number = 1,
                .minimum = 0,
                .maximum = 1,
            },
        };
        return joined(common, own);
    }();
    static constexpr AlgorithmInfo kInfo{
        .name = "confluence",
        .summary = "A learned agent multiplies the cwnd of each subflow within stated bounds, and sees its siblings",
        .source = "docs/algorithms/confluence.md",
        .is_coupled = true,
        .options = kOptions,
        .rules = confluence_rules::kAll,
    };

    static constexpr std::array kFeatures{
        NumberInfo{"queue", "1", "lowest RTT of the epoch / lowest RTT - 1", 0, kScaledMaximum},
        NumberInfo{"queue_change", "1", "change of that least RTT over the epoch / lowest RTT", -1, 1},
        NumberInfo{"queue_place", "1", "position of that RTT between the lowest and the highest recent one", 0, 1},
        NumberInfo{"queue_depth", "1", "highest such recent RTT / lowest RTT - 1", 0, kScaledMaximum},
        NumberInfo{"slow_queue", "1", "queue, averaged over about 16 epochs", 0, kScaledMaximum},
        NumberInfo{"queue_swing", "1", "average distance of the queue from that average", 0, kScaledMaximum},
        NumberInfo{"grip", "1",
                   "how closely the queue follows this subflow's cwnd: 1 if it is alone, 0 if others "
                   "fill the queue",
                   -1, 1},
        NumberInfo{"jitter", "1", "mean deviation of the RTT / lowest RTT", 0, kScaledMaximum},
        NumberInfo{"loss", "1", "square root of the share lost", 0, 1},
        NumberInfo{"slow_loss", "1", "the same for the share lost over about 16 epochs", 0, 1},
        NumberInfo{"marks", "1", "square root of the share that queues marked", 0, 1},
        NumberInfo{"rate", "1", "delivered rate / largest recent one", 0, 1},
        NumberInfo{"overload", "1", "ln of sent rate / delivered rate", -1, 1},
        NumberInfo{"window_bdp", "1", "log2 of the cwnd / (delivered rate x lowest RTT), divided by 4", -1, 1},
        NumberInfo{"window_most", "1", "log2 of the cwnd / (largest recent rate x lowest RTT), divided by 4", -1, 1},
        NumberInfo{"small_window", "1", "10 / (10 + window)", 0, 1},
        NumberInfo{"last_action", "1", "exponent by which the cwnd was changed when the epoch began", -1, 1},
        NumberInfo{"share", "1", "rate of this subflow / rate of all subflows of the connection", 0, 1},
        NumberInfo{"together", "1",
                   "rate of this subflow / rate of all subflows whose queues grow and shrink with "
                   "its queue",
                   0, 1},
        NumberInfo{"elsewhere", "1",
                   "log2 of the rate through other queues / rate through this subflow's queue, "
                   "divided by 4",
                   -1, 1},
        NumberInfo{"others_queue", "1", "queueing delay of the siblings, weighted by rate / lowest RTT of this subflow",
                   0, kScaledMaximum},
        NumberInfo{"others_rtt", "1",
                   "log2 of this subflow's RTT / that of its siblings, weighted by rate, divided "
                   "by 4",
                   -1, 1},
    };
    static constexpr AgentInfo kAgent{
        .scope = AgentScope::Subflow,
        .features = kFeatures,
        .actions = {},
        .choices = kChoices,
        .neutral_choice = kKeep,
        .reward =
            "ln(delivered rate / largest of late) - ln(1 + queue) / 2 - 5 loss; in training, the same of the "
            "connection's rate over its fair share, the true queue and the loss beyond the links' own",
    };

    // With the window of the path model, two numbers have another meaning.
    static constexpr auto kModelFeatures = [] {
        auto all = kFeatures;
        std::ranges::find(all, std::string_view("marks"), &NumberInfo::name)->help =
            "square root of the share that full queues marked or dropped";
        std::ranges::find(all, std::string_view("overload"), &NumberInfo::name)->help =
            "part of a change of the cwnd by which the delivered rate changes: 1 below the capacity, 0 at a full link";
        return all;
    }();
    static constexpr AgentInfo kModelAgent = [] {
        AgentInfo info = kAgent;
        info.features = kModelFeatures;
        return info;
    }();

    // The agent's window also applies in recovery.
    static constexpr bool kGovernsRecovery = true;
    // The agent observes marks and answers them by its actions.
    static constexpr EcnUse kEcn{.answers = true, .at_once = true};

    explicit Confluence(const Options& options)
        : plan_(read_own_plan(options)),
          reads_mean_(options.choice("queue_rtt") == kRttKinds[1]),
          multiplies_lia_(options.choice("window") == kWindowKinds[1]),
          models_(options.choice("window") == kWindowKinds[2]),
          pools_(options.number("pool") != 0),
          is_safe_(options.number("safety") != 0),
          limit_(options.number("limit")),
          model_(plan_.memory) {
        highest_rtt_s_.set_window(static_cast<std::uint32_t>(plan_.memory.value / 1'000'000));
    }

    const AgentInfo& agent() const { return models_ ? kModelAgent : kAgent; }
    EpochPlan epoch_plan() const { return plan_; }
    bool wants_action() const { return is_due_; }
    bool samples_delivery() const { return models_; }

    // Maximum window after the start phase, with the option safety.
    static double cap_pkts(double max_rate_pps, double srtt_s) {
        return std::max(kCapRates * max_rate_pps * srtt_s + kCapPkts, kLeastPkts);
    }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings) {
        now_ = ack.now;
        is_silent_ = false;
        epoch_pkts_ += ack.acked_pkts;
        epoch_marked_ += ack.marked_pkts;
        if (base_s_ == 0 || to_seconds(ack.rtt) < base_s_) base_s_ = to_seconds(ack.rtt);
        const double srtt_s = to_seconds(ack.srtt);
        if (is_starting_) {
            grow(window, ack);
        } else {
            if (multiplies_lia_ && !is_returning_ && !ack.in_recovery && ack.is_cwnd_limited) {
                lia_pkts_ += ack.acked_pkts *
                             (siblings.has_others() ? Lia::increase_per_ack(lia_pkts_, siblings) : 1 / lia_pkts_);
                wanted_pkts_ = std::clamp(lia_pkts_ * lia_factor_, kLeastPkts, kMostPkts);
            }
            const RuleInfo* rule = &confluence_rules::kCap;
            is_tight_ = models_ && is_safe_ && buffer_pkts() < kTightPkts;
            if (is_tight_ && !is_returning_) {
                rule = &confluence_rules::kTight;
                if (!ack.in_recovery && ack.is_cwnd_limited)
                    wanted_pkts_ +=
                        kTightGain * ack.acked_pkts *
                        (siblings.has_others() ? Lia::increase_per_ack(wanted_pkts_, siblings) : 1 / wanted_pkts_);
            }
            settle(window, ack.acked_pkts, srtt_s);
            if (ack.why != nullptr) ack.why->set(*rule, {wanted_pkts_, max_rate_pps_, srtt_s});
        }
        pace(window, srtt_s);
        const std::int64_t length = (now_ - begun_at_).value;
        const bool is_long = length >= ack.srtt.value && epoch_pkts_ >= kEpochPkts;
        if (is_starting_ || (!is_long && length < kMostRtts * ack.srtt.value)) return;
        is_due_ = true;
        if (pools_) pool(siblings);
        window.advertised = queueing_s_;
    }

    // Only with the window of the path model.
    void on_delivery(Window& window, const DeliverySample& sample, const Siblings&) {
        const double in_full_queue = model_.on_delivery(sample, base_s_);
        epoch_lost_ += sample.newly_lost_pkts;
        epoch_crowded_ += in_full_queue;
        const double srtt_s = to_seconds(sample.srtt);
        const RuleInfo* rule = &confluence_rules::kCap;
        if (is_starting_) {
            round_lost_ += sample.newly_lost_pkts;
            if (round_lost_ < kFloodPkts || round_lost_ < kFlood * window.cwnd_pkts) {
                window.cwnd_pkts = std::min(window.cwnd_pkts, kStartBdps * model_.rate_pps() * base_s_ + kStartPkts);
                return;
            }
            end_start();
            window.ssthresh_pkts = modelled_pkts();
        } else if (is_safe_ && in_full_queue > kFullQueue * sample.newly_lost_pkts && !model_.is_settling()) {
            cut();
            rule = &confluence_rules::kCut;
        }
        if (is_returning_ || is_tight_) return;
        wanted_pkts_ = modelled_pkts();
        settle(window, 0, srtt_s);
        pace(window, srtt_s);
        if (sample.why == nullptr) return;
        if (rule == &confluence_rules::kCut)
            sample.why->set(*rule, {model_.rate_pps(), wanted_pkts_, max_rate_pps_, srtt_s});
        else
            sample.why->set(*rule, {wanted_pkts_, max_rate_pps_, srtt_s});
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        now_ = event.now;
        const double before = window.cwnd_pkts;
        if (event.kind == CongestionKind::Timeout) {
            if (!is_silent_) wanted_pkts_ = std::max((is_starting_ ? before : wanted_pkts_) / 2, kLeastPkts);
            if (models_ && model_.rate_pps() > 0) wanted_pkts_ = std::min(wanted_pkts_, modelled_pkts());
            is_silent_ = is_returning_ = true;
            lia_pkts_ = wanted_pkts_;
            lia_factor_ = 1;
            end_start();
            window.ssthresh_pkts = wanted_pkts_;
            if (event.why != nullptr) event.why->set(confluence_rules::kTimeout, {wanted_pkts_});
        } else if (is_starting_ && models_) {
            if (event.why != nullptr) event.why->set(confluence_rules::kLossSeen, {before});
        } else if (is_starting_) {
            if (event.why != nullptr) event.why->set(confluence_rules::kStartLoss, {before});
            end_start();
            wanted_pkts_ = std::max(before / 2, kLeastPkts);
            window.cwnd_pkts = window.ssthresh_pkts = lia_pkts_ = wanted_pkts_;
        } else if (is_tight_) {
            wanted_pkts_ = std::max(kTightCut * wanted_pkts_, kLeastPkts);
            window.ssthresh_pkts = window.cwnd_pkts = std::min(window.cwnd_pkts, wanted_pkts_);
            if (event.why != nullptr)
                event.why->set(confluence_rules::kTight, {wanted_pkts_, max_rate_pps_, to_seconds(event.srtt)});
        } else {
            lia_pkts_ = std::max(lia_pkts_ / 2, kLeastPkts);
            if (event.why != nullptr) event.why->set(confluence_rules::kLossSeen, {before});
            window.ssthresh_pkts = before;
        }
    }

    void epoch_sample(EpochSample& sample) const {
        if (reads_mean_) sample.least_rtt_s = std::max(sample.rtt_s, sample.min_rtt_s);
    }

    void observe(const EpochSample& sample, std::span<float> record) {
        const double base_s = sample.min_rtt_s;
        const bool has_queue = sample.least_rtt_s > base_s && base_s > 0;
        const double queue = has_queue ? sample.least_rtt_s / base_s - 1 : 0;
        const double queue_change = base_s > 0 && !std::isnan(sample.rtt_change_s) ? sample.rtt_change_s / base_s : 0;
        queue_ = queue;
        if (base_s > 0) base_s_ = base_s;
        least_s_ = std::max(sample.least_rtt_s, base_s);
        queueing_s_ = has_queue ? sample.least_rtt_s - base_s : 0;
        highest_rtt_s_.add(static_cast<std::uint32_t>(now_.value / 1'000'000), sample.least_rtt_s);
        const double span_s = std::max(highest_rtt_s_.value(), sample.least_rtt_s) - base_s;
        const double gain = sample.is_new ? 1 : kSlowGain;
        slow_queue_ += gain * (queue - slow_queue_);
        queue_swing_ += kSlowGain * (std::abs(queue - slow_queue_) - queue_swing_);
        const double pps = std::max(sample.delivered_pps, 1e-3);
        const double rate_change = last_pps_ > 0 ? natural_log(pps / last_pps_) : 0;
        last_pps_ = pps;
        follow(std::clamp(queue_change, -1.0, 1.0), std::clamp(rate_change, -1.0, 1.0));
        slow_loss_ += gain * (sample.loss_ratio - slow_loss_);
        if (const double pkts = epoch_pkts_ + epoch_lost_; models_ && pkts > 0)
            crowded_ += std::min(pkts / kLossStep, 1.0) * ((epoch_crowded_ + epoch_marked_) / pkts - crowded_);
        loss_ratio_ = sample.loss_ratio;
        const double window = std::max(sample.cwnd_pkts, 1.0);
        max_rate_pps_ = sample.reference_pps;

        record[0] = scaled(queue);
        record[1] = scaled_change(queue_change);
        record[2] = span_s > 0 ? static_cast<float>(std::clamp(queueing_s_ / span_s, 0.0, 1.0)) : 0;
        record[3] = scaled(span_s / base_s);
        record[4] = scaled(slow_queue_);
        record[5] = scaled(queue_swing_);
        record[6] = static_cast<float>(grip());
        record[7] = scaled(sample.rtt_dev_s / base_s);
        record[8] = root(sample.loss_ratio);
        record[9] = root(slow_loss_);
        record[10] = models_ ? root(crowded_) : epoch_pkts_ > 0 ? root(epoch_marked_ / epoch_pkts_) : 0;
        record[11] = static_cast<float>(std::min(sample.delivered_pps / sample.reference_pps, 1.0));
        record[12] = models_ ? scaled_change(reach())
                     : sample.delivered_pps > 0 && sample.sent_pps > 0
                         ? scaled_change(natural_log(sample.sent_pps / sample.delivered_pps))
                         : 0;
        record[13] = log_ratio(window, sample.delivered_pps * base_s);
        record[14] = log_ratio(window, sample.reference_pps * base_s);
        record[15] = static_cast<float>(10 / (10 + window));
        record[16] = static_cast<float>(last_exponent_);
        record[17] = static_cast<float>(share_);
        record[18] = static_cast<float>(together_);
        record[19] = scaled_change(elsewhere_);
        record[20] = scaled(others_queueing_s_ / base_s);
        record[21] = scaled_change(others_rtt_);
    }

    // A simple reward; a trainer has more information and computes a reward itself.
    double reward(std::span<const EpochSample> samples) const {
        const EpochSample& own = samples.front();
        const double rate = std::max(own.delivered_pps / own.reference_pps, 1e-3);
        const double queue = std::max(own.least_rtt_s / own.min_rtt_s - 1, 0.0);
        return natural_log(std::min(rate, 1.0)) - natural_log(1 + queue) / 2 - 5 * own.loss_ratio;
    }

    void on_action(Window& window, std::span<const float> action, const ActionMoment& moment) {
        const double srtt_s = to_seconds(moment.srtt);
        double exponent =
            std::clamp(kExponents[static_cast<std::size_t>(std::lround(action.front()))], -limit_, limit_);
        const RuleInfo* rule = multiplies_lia_ ? &confluence_rules::kChoiceOfLia
                               : models_       ? &confluence_rules::kModel
                                               : &confluence_rules::kChoice;
        const double chosen = exponent;
        const bool is_empty = queue_ < kNoQueue;
        // At an empty queue, a smaller window than the model's only wastes capacity: losses are random there.
        if (models_ && is_safe_ && is_empty && calm_epochs_ == 0) exponent = std::max(exponent, 0.0);
        const bool is_more = exponent > 0;
        const bool keeps = exponent == 0;
        const bool probes = keeps && is_empty && !multiplies_lia_ && calm_epochs_ == 0;
        const bool yields = keeps && !is_empty && slow_queue_ > kFilled && grip() < kNoGrip && elsewhere_ >= 0;
        probes_ = probes ? probes_ + 1 : 0;
        yields_ = yields ? yields_ + 1 : 0;
        calm_epochs_ = std::max(calm_epochs_ - 1, 0.0);
        if (probes) {
            exponent = std::min(kStep * probes_, kMostProbe);
            if (!models_) rule = &confluence_rules::kProbe;
        } else if (is_safe_ && yields && !multiplies_lia_ && !models_) {
            exponent = -std::min(kStep * yields_, kMostYield);
            rule = &confluence_rules::kYield;
        }
        const double before = multiplies_lia_ ? lia_pkts_ : wanted_pkts_;
        max_rate_pps_ = moment.reference_pps;
        const bool is_few = is_safe_ && epoch_pkts_ < kFewPkts;
        const double factor = is_few ? 1 : exponential(exponent * kLn2);
        lia_factor_ = factor;
        const double exponent_before = last_exponent_;
        last_exponent_ = is_few ? 0 : exponent;
        if (models_) {
            asked_before_ = exponent_before > 0;
            if (last_exponent_ <= 0 || !asked_before_) unasked_pps_ = model_.rate_pps();
            factor_ = factor;
            model_rtt_s_ = (is_more && !is_few) || holds() ? least_s_ : base_s_;
            // Behind a few packets of buffer, only the agent may find that the capacity belongs to others.
            wanted_pkts_ = !is_tight_              ? modelled_pkts()
                           : is_few || chosen >= 0 ? wanted_pkts_
                                                   : wanted_pkts_ * exponential(chosen * kLn2);
            exponents_ = {exponents_[1], std::clamp(log2_of(wanted_pkts_ / last_wanted_pkts_), -1.0, 1.0)};
            last_wanted_pkts_ = wanted_pkts_;
        } else {
            wanted_pkts_ = before * factor + (is_few && !multiplies_lia_ && loss_ratio_ <= 0 ? 1 : 0);
            exponents_ = {exponents_[1], last_exponent_};
        }
        wanted_pkts_ = std::clamp(wanted_pkts_, kLeastPkts, is_safe_ ? cap_pkts(max_rate_pps_, srtt_s) : kMostPkts);
        // After a timeout, the window of one packet stays until the first feedback.
        if (moment.is_in_loss) is_returning_ = true;
        if (moment.why != nullptr) {
            if (is_tight_ && !is_returning_)
                moment.why->set(confluence_rules::kTight, {wanted_pkts_, max_rate_pps_, srtt_s});
            else if (models_ && !is_returning_)
                moment.why->set(*rule, {model_.rate_pps(), model_rtt_s_, factor, spare_pkts(), max_rate_pps_, srtt_s});
            else if (is_few && !multiplies_lia_)
                moment.why->set(confluence_rules::kFew, {epoch_pkts_, loss_ratio_, max_rate_pps_, srtt_s});
            else if (is_returning_)
                moment.why->set(confluence_rules::kCap, {wanted_pkts_, max_rate_pps_, srtt_s});
            else
                moment.why->set(*rule, {before, factor, max_rate_pps_, srtt_s});
        }
        settle(window, 0, srtt_s);
        window.ssthresh_pkts = std::max(window.cwnd_pkts, is_returning_ ? wanted_pkts_ : kLeastPkts);
        pace(window, srtt_s);
        begin_epoch();
    }

private:
    static constexpr double kLn2 = 0.693147180559945309417232121458;
    static constexpr double kMostPkts = 1e6;  // upper bound of the window without the option safety

    static float root(double share) { return static_cast<float>(std::sqrt(std::clamp(share, 0.0, 1.0))); }

    static double log2_of(double ratio) { return natural_log(std::clamp(ratio, 1e-3, 1e3)) / kLn2; }

    static float log_ratio(double window, double bdp_pkts) {
        return bdp_pkts > 0 ? scaled_change(log2_of(window / bdp_pkts) / 4) : 1;
    }

    void begin_epoch() {
        is_due_ = false;
        begun_at_ = now_;
        epoch_pkts_ = epoch_marked_ = epoch_lost_ = epoch_crowded_ = 0;
    }

    void end_start() {
        if (!is_starting_) return;
        is_starting_ = false;
        begin_epoch();
    }

    void grow(Window& window, const AckSample& ack) {
        if (ack.begins_round) {
            const double round_pkts = round_pkts_;
            const Nanos least = round_least_;
            round_pkts_ = 0;
            round_least_ = kNever;
            const double threshold = kQueueBegins * static_cast<double>(ack.min_rtt.value);
            if ((least != kNever && static_cast<double>(least.value) > threshold) || (models_ && is_full())) {
                end_start();
                wanted_pkts_ =
                    models_
                        ? modelled_pkts()
                        : std::max(std::min(std::max(round_pkts, window.cwnd_pkts / 2), window.cwnd_pkts), kLeastPkts);
                window.cwnd_pkts = window.ssthresh_pkts = lia_pkts_ = wanted_pkts_;
                if (ack.why != nullptr)
                    ack.why->set(confluence_rules::kQueueBegins,
                                 {round_pkts, to_seconds(least), to_seconds(ack.min_rtt)});
                return;
            }
        }
        round_pkts_ += ack.acked_pkts;
        round_least_ = std::min(round_least_, ack.rtt);
        if (ack.is_cwnd_limited) window.cwnd_pkts += ack.acked_pkts;
        if (ack.why != nullptr) ack.why->set(confluence_rules::kGrow, {ack.acked_pkts});
    }

    // At the end of a round trip of the start: true if the rate has not grown for three round trips.
    bool is_full() {
        round_lost_ = 0;
        ++start_rounds_;
        if (model_.rate_pps() >= kStartGrowth * start_pps_) {
            start_pps_ = model_.rate_pps();
            start_rounds_ = 0;
        }
        return start_rounds_ >= kStartRounds;
    }

    // The window of the model for the last action.
    double modelled_pkts() const {
        const double rtt_s = model_rtt_s_ > 0 ? model_rtt_s_ : base_s_;
        return std::max(model_.rate_pps() * rtt_s * factor_ + spare_pkts(), kLeastPkts);
    }
    // Packets added to the bandwidth-delay product. The root lets equal flows converge within seconds on fast links.
    double spare_pkts() const { return kSparePkts + kSpareRoot * std::sqrt(model_.rate_pps() * base_s_); }

    // The fullest queue so far, packets; 0 before the first epoch.
    double buffer_pkts() const { return model_.fullest_queue_s(base_s_) * max_rate_pps_; }

    // True in a queue that others fill: with a queue as short as its own, the subflow would starve there. It gives way
    // if its connection gets at least as much through other queues.
    bool holds() const {
        return is_safe_ && slow_queue_ > kFilled && grip() < kNoGrip && elsewhere_ < 0 &&
               slow_queue_ * base_s_ > kCrowdedQueue * model_.fullest_queue_s(base_s_);
    }

    // Answers a loss in a full queue. A loss after the agent asked for more only ends that attempt.
    void cut() {
        const double least_pps = kCut * model_.rate_pps();
        const bool has_asked = last_exponent_ > 0 || asked_before_;
        model_.cut(has_asked ? std::clamp(unasked_pps_, least_pps, model_.rate_pps()) : least_pps);
        calm_epochs_ = kCalmEpochs;
        probes_ = 0;
    }

    // Sets the window to the agent's value, within its bounds. After a timeout, the window grows up to that value.
    void settle(Window& window, double acked_pkts, double srtt_s) {
        const bool knows_rate = is_safe_ && max_rate_pps_ > 0 && srtt_s > 0;
        const double most = knows_rate ? std::min(wanted_pkts_, cap_pkts(max_rate_pps_, srtt_s)) : wanted_pkts_;
        if (is_returning_) {
            window.cwnd_pkts = std::min(window.cwnd_pkts + acked_pkts, most);
            if (window.cwnd_pkts >= most) is_returning_ = false;
        } else {
            window.cwnd_pkts = most;
        }
    }

    void pace(Window& window, double srtt_s) const {
        if (srtt_s > 0) window.pacing_pps = (is_starting_ ? kStartGain : kPacingGain) * window.cwnd_pkts / srtt_s;
        // Behind a few packets of buffer, a paced packet takes the place of a competitor's. Packets that are sent as
        // ACKs arrive take the places that their predecessors have left.
        if (is_tight_) window.pacing_pps = 0;
    }

    // Correlates the queue's change over the epoch with the last two actions, because an action takes effect in its own
    // epoch and the next.
    void follow(double queue_change, double rate_change) {
        const double done = exponents_[0] + exponents_[1];
        reached_ += kSlowGain * (done * rate_change - reached_);
        moved_ += kSlowGain * (done * done - moved_);
        followed_ += kSlowGain * (done * queue_change - followed_);
    }
    // Measures the control over the queue, from -1 to 1: the RTT of a flow that fills a queue alone grows like its
    // window, which gives 1.
    double grip() const {
        if (moved_ < kHardlyMoved) return 0;
        return std::clamp(followed_ / (moved_ * kLn2 * (1 + slow_queue_)), -1.0, 1.0);
    }

    // Measures how closely the delivered rate follows the window: 1 below the capacity, 0 at a queue of its own.
    double reach() const { return moved_ < kHardlyMoved ? 0 : reached_ / (moved_ * kLn2); }

    // Pools the statistics of the siblings at the end of an epoch: this subflow's share of the connection's rate, and
    // how closely the siblings' queueing delays correlate with its own, which indicates a shared bottleneck.
    void pool(const Siblings& siblings) {
        if (!siblings.has_others()) {
            share_ = together_ = 1;
            elsewhere_ = -1;
            others_queueing_s_ = others_rtt_ = 0;
            return;
        }
        const Sibling& own = siblings.own();
        const double own_pps = own.rate_pps();
        own_mean_ += kPoolGain * (queueing_s_ - own_mean_);
        const double own_off = queueing_s_ - own_mean_;
        own_variance_ += kPoolGain * (own_off * own_off - own_variance_);
        double all_pps = own_pps, together_pps = own_pps, others_pps = 0, queueing = 0, rtt = 0;
        for (std::size_t i = 0; i < siblings.all.size(); ++i) {
            if (i == siblings.self) continue;
            const Sibling& other = siblings.all[i];
            const double pps = other.rate_pps();
            all_pps += pps;
            others_pps += pps;
            queueing += pps * other.advertised;
            rtt += pps * other.srtt_s;
            if (i >= kPooled) continue;
            Book& book = books_[i];
            book.mean += kPoolGain * (other.advertised - book.mean);
            const double off = other.advertised - book.mean;
            book.variance += kPoolGain * (off * off - book.variance);
            book.covariance += kPoolGain * (off * own_off - book.covariance);
            const double scale = std::sqrt(book.variance * own_variance_);
            if (scale > 0) together_pps += pps * std::clamp(book.covariance / scale, 0.0, 1.0);
        }
        share_ = std::clamp(own_pps / all_pps, 0.0, 1.0);
        together_ = std::clamp(own_pps / together_pps, 0.0, 1.0);
        elsewhere_ = log2_of(std::max(all_pps - together_pps, 0.0) / together_pps) / 4;
        others_queueing_s_ = others_pps > 0 ? queueing / others_pps : 0;
        others_rtt_ = others_pps > 0 && rtt > 0 ? log2_of(own.srtt_s * others_pps / rtt) / 4 : 0;
    }

    struct Book {
        double mean = 0;
        double variance = 0;
        double covariance = 0;
    };

    EpochPlan plan_;
    bool reads_mean_;
    bool multiplies_lia_;
    bool models_;
    bool pools_;
    bool is_safe_;
    double limit_;
    bool is_starting_ = true;
    bool is_due_ = false;
    bool is_returning_ = false;  // the window grows back after a timeout
    bool is_silent_ = false;     // no feedback since a timeout
    double wanted_pkts_ = kLeastPkts;
    double lia_pkts_ = kLeastPkts;  // the window of LIA after the start phase
    double lia_factor_ = 1;         // factor of the last action
    double max_rate_pps_ = 0;
    double last_exponent_ = 0;
    Nanos now_{};
    Nanos begun_at_{};
    double epoch_pkts_ = 0;
    double epoch_marked_ = 0;
    double round_pkts_ = 0;
    Nanos round_least_ = kNever;
    double loss_ratio_ = 0;
    double probes_ = 0;  // number of consecutive probes
    double yields_ = 0;
    double queue_ = 0;  // queueing delay in the last epoch, relative to the minimum RTT
    double queueing_s_ = 0;
    double slow_queue_ = 0;
    double slow_loss_ = 0;
    double queue_swing_ = 0;
    std::array<double, 2> exponents_{};  // exponents of the last two actions
    double moved_ = 0;  // mean of the squared sum of exponents_; followed_: of this sum times the queue's change
    double followed_ = 0;
    WindowedMax highest_rtt_s_{0};
    double share_ = 1;
    double together_ = 1;
    double elsewhere_ = -1;
    double others_queueing_s_ = 0;
    double others_rtt_ = 0;
    PathModel model_;
    double base_s_ = 0;                     // lowest RTT
    double least_s_ = 0;                    // lowest RTT of the last epoch
    double model_rtt_s_ = 0;                // RTT by which the model's rate is multiplied; 0: base_s_
    double factor_ = 1;                     // factor of the last action
    double last_wanted_pkts_ = kLeastPkts;  // wanted_pkts_ at the last action
    bool asked_before_ = false;             // the action before the last one asked for more
    double unasked_pps_ = 0;                // rate of the model before the agent asked for more
    bool is_tight_ = false;                 // the last acknowledgement fitted a buffer of a few packets
    double calm_epochs_ = 0;                // epochs left without probes
    double crowded_ = 0;                    // share of packets lost in full queues or marked
    double epoch_lost_ = 0;
    double epoch_crowded_ = 0;
    double round_lost_ = 0;  // packets lost in the current round trip of the start
    double start_pps_ = 0;   // rate of the start, and the round trips since it last grew clearly
    int start_rounds_ = 0;
    double last_pps_ = 0;  // delivered rate of the last epoch
    double reached_ = 0;   // mean of the sum of exponents_ times the change of the logarithm of the rate
    double own_mean_ = 0;
    double own_variance_ = 0;
    std::array<Book, kPooled> books_{};
};
static_assert(CongestionController<Confluence> && ChoosesEpochs<Confluence>);

}  // namespace subflow

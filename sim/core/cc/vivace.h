// PCC Vivace: tries rates, measures their utility, and follows its gradient.
// Source: Dong, Meng, Zarchy, Arslan, Gilad, Godfrey, Schapira, "PCC Vivace: Online-Learning Congestion Control", NSDI
// 2018; the authors' PCC-Uspace for details that the paper omits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "../rng.h"
#include "controller.h"

namespace subflow {

// Rates are on the wire and in Mbit/s: the unit is part of the utility.
class Vivace {
public:
    enum class Mode : std::uint8_t { Starting, Probing, Moving };

    static constexpr std::array<std::string_view, 2> kUtilities{"latency", "loss"};
    static constexpr std::array<std::string_view, 2> kProbings{"nsdi", "master"};
    static constexpr std::array<std::string_view, 2> kAmplifiers{"paper", "code"};
    static constexpr std::array<std::string_view, 2> kWaits{"keep", "half"};

    // Utility: u = x^0.9 - 900 x dRTT/dt - 11.35 x L. NSDI 2018, equation (2) and section 6.
    static constexpr double kExponent = 0.9;
    static constexpr double kLatencyWeight = 900;
    static constexpr double kLossWeight = 11.35;
    // Smaller RTT gradients count as noise: 1 to 3 % in PCC-Uspace.
    static constexpr double kNoiseFloor = 0.01;

    static constexpr double kProbeStep = 0.05;      // epsilon, section 4.1
    static constexpr double kConversion_mbps = 1;   // theta_0: Mbit/s per unit of gradient
    static constexpr double kFirstBound = 0.05;     // omega_0: largest relative change of the rate
    static constexpr double kBoundStep = 0.1;       // delta: increment of this bound each time a step reaches it
    static constexpr double kMinStep_mbps = 0.5;    // as in PCC-Uspace
    static constexpr double kMinRate_mbps = 0.5;    // as in PCC-Uspace
    static constexpr double kMinPacketsPerRtt = 2;  // lower bound of the rate
    static constexpr int kMaxUndone = 3;
    static constexpr int kMaxSwingBuffer = 2;              // changes after a reversal that are not amplified
    static constexpr std::uint32_t kMinIntervalPkts = 5;   // as in PCC-Uspace
    static constexpr double kInitialRate_mbps = 1.2;       // ten packets per RTT of 100 ms, as in PCC-Uspace
    static constexpr Nanos kInitialInterval{100'000'000};  // length before the first RTT sample
    // An interval measures no utility if its sending rate is below this share of the planned rate: the window held
    // packets back.
    static constexpr double kReachedShare = 0.8;
    // The window is a safety cap, which limits the packets in flight of a sender without feedback.
    static constexpr double kCwndGain = 2.5;
    static constexpr double kMinCwnd = 4;

    static constexpr std::array kOptions{
        OptionInfo{
            .key = "utility",
            .kind = OptionKind::Choice,
            .help = "latency: growing RTTs count against a rate. loss: they do not (Vivace-loss), and queues fill.",
            .default_choice = kUtilities[0],
            .choices = kUtilities,
        },
        OptionInfo{
            .key = "latency_weight",
            .kind = OptionKind::Number,
            .help = "Weight of the RTT's growth per second in the utility.",
            .default_number = kLatencyWeight,
            .minimum = 0,
            .maximum = 1e6,
        },
        OptionInfo{
            .key = "loss_weight",
            .kind = OptionKind::Number,
            .help =
                "Weight of the loss ratio in the utility. At x Mbit/s the rate holds below a loss of 0.9 / weight / "
                "x^0.1: 5 % at 100 Mbit/s and 11.35.",
            .default_number = kLossWeight,
            .minimum = 3,
            .maximum = 1e6,
        },
        OptionInfo{
            .key = "noise_floor",
            .kind = OptionKind::Ratio,
            .help = "Smaller RTT gradients count as zero, as do those below their own standard error.",
            .default_number = kNoiseFloor,
            .minimum = 0,
            .maximum = 1,
        },
        OptionInfo{
            .key = "falling_rtt",
            .kind = OptionKind::Flag,
            .help = "Falling RTTs count in favour of a rate, as in the paper; in the authors' code they count as zero.",
            .default_number = 0,
        },
        OptionInfo{
            .key = "probing",
            .kind = OptionKind::Choice,
            .help = "nsdi: two pairs of intervals that agree. master: three pairs; two are enough to go up, and all "
                    "are needed to go down.",
            .default_choice = kProbings[0],
            .choices = kProbings,
        },
        OptionInfo{
            .key = "amplifier",
            .kind = OptionKind::Choice,
            .help = "How steps grow with the n-th change in the same direction. paper: n, from the fourth on 2n - 3; "
                    "code: ((n + 1) / 2)^1.2.",
            .default_choice = kAmplifiers[0],
            .choices = kAmplifiers,
        },
        OptionInfo{
            .key = "bound_step",
            .kind = OptionKind::Ratio,
            .help = "Each time a change reaches the bound of 5 %, the bound widens by this: 10 % in the paper, 5 % "
                    "in the authors' code.",
            .default_number = kBoundStep,
            .minimum = 0.001,
            .maximum = 1,
        },
        OptionInfo{
            .key = "start_wait",
            .kind = OptionKind::Choice,
            .help = "Until the results of a doubled rate are in, keep it, or send at half of it.",
            .default_choice = kWaits[0],
            .choices = kWaits,
        },
        OptionInfo{
            .key = "initial_rate",
            .kind = OptionKind::Rate,
            .help = "On the wire; doubled while the utility grows.",
            .default_number = kInitialRate_mbps * 1e6,
            .minimum = 100e3,
            .maximum = 10e6,
        },
        OptionInfo{
            .key = "min_rate",
            .kind = OptionKind::Rate,
            .help = "The rate never falls below this, on the wire.",
            .default_number = kMinRate_mbps * 1e6,
            .minimum = 50e3,
            .maximum = 100e6,
        },
    };

    static constexpr RuleNumber kRate{"rate_mbps", "sending rate at the time of the decision"};
    static constexpr RuleNumber kRttGradient{"rtt_gradient", "change of the round-trip time per time"};

    static constexpr RuleInfo kSafetyCap{
        .name = "safety_cap",
        .formula = "cwnd = max(2.5 rate srtt, 4)",
        .computed = "cwnd = max(2.5 * rate * srtt, 4)",
        .source = "PCC-Uspace",
        .numbers = {number::kRatePps, number::kSrtt},
    };
    static constexpr RuleInfo kInterval{
        .name = "interval",
        .formula = "the next interval at the base rate, a probe above or below it; purpose 0: waiting, 1: under test",
        .computed = "rate = rate",
        .source = "Dong et al. 2018, section 4.1",
        .numbers = {{"base_rate_mbps", "rate around which it probes"},
                    kRate,
                    {"purpose", "purpose of the interval, as in the formula"}},
    };
    static constexpr RuleInfo kDoubling{
        .name = "doubling",
        .formula = "rate = 2 rate, as the utility grew",
        .computed = "rate = rate",
        .source = "Dong et al. 2018, section 4.1",
        .numbers = {number::kUtility, number::kLastUtility, number::kLossRatio, kRttGradient, kRate},
    };
    static constexpr RuleInfo kEndOfDoubling{
        .name = "end_of_doubling",
        .formula = "rate = last rate, or half of the first, as the utility fell",
        .computed = "rate = rate",
        .source = "Dong et al. 2018, section 4.1",
        .numbers = {number::kUtility, number::kLastUtility, number::kLossRatio, kRttGradient, kRate},
    };
    static constexpr RuleInfo kStep{
        .name = "gradient_step",
        .formula =
            "rate of the better probes or the previous move + theta_0 amplifier gradient, at least 0.5 Mbit/s and at "
            "most bound rate, which takes precedence",
        .source = "Dong et al. 2018, sections 4.2 and 4.3",
        .numbers = {number::kGradient,
                    {"streak", "successive moves in the same direction"},
                    number::kAmplifier,
                    {"bound", "largest step allowed"},
                    {"swing_buffer", "moves in one direction before the steps grow again"},
                    number::kUtility,
                    number::kLastUtility,
                    {"change_mbps", "by how much the rate moved last"}},
    };
    static constexpr RuleInfo kUndecided{
        .name = "undecided_probes",
        .formula = "rate stays: the pairs of probes do not agree",
        .source = "Dong et al. 2018, section 4.1",
        .numbers = {kRate,
                    number::kGradient1,
                    number::kGradient2,
                    {"gradient_3", "slope of the utility between the third two probes"}},
    };
    static constexpr RuleInfo kUndoneStep{
        .name = "undone_step",
        .formula = "rate = last rate, as the utility fell",
        .computed = "rate = rate",
        .source = "Dong et al. 2018, section 4.1",
        .numbers = {number::kUtility, number::kLastUtility, number::kLossRatio, kRttGradient, kRate},
    };
    static constexpr RuleInfo kIgnored{
        .name = "ignored_interval",
        .formula = "no result: too little data was ready to send, or a window held packets back",
        .source = "PCC-Uspace",
        .numbers = {kRate,
                    {"send_rate_mbps", "rate at which packets were really sent"},
                    {"is_app_limited", "1 where too little was ready to send"}},
    };
    static constexpr RuleInfo kSilence{
        .name = "silence",
        .formula = "the present trial ends: no ACK arrived for a retransmission timeout",
        .source = "PCC-Uspace",
        .numbers = {kRate},
    };
    static constexpr std::array kRules{&kSafetyCap, &kInterval,   &kDoubling, &kEndOfDoubling, &kStep,
                                       &kUndecided, &kUndoneStep, &kIgnored,  &kSilence};
    static constexpr AlgorithmInfo kInfo{
        .name = "vivace",
        .summary = "PCC Vivace: tries rates and follows the gradient of a utility of rate, RTT growth and loss",
        .source = "Dong et al., NSDI 2018",
        .options = kOptions,
        .rules = kRules,
    };
    static constexpr bool kGovernsRecovery = true;

    explicit Vivace(const Options& options);

    // NSDI 2018, equation (2), with the RTT gradient in s/s; 0 if the rate is not positive.
    static double utility(double rate_mbps, double loss_ratio, double rtt_gradient,
                          double latency_weight = kLatencyWeight, double loss_weight = kLossWeight);
    // Loss ratio above which the utility no longer grows with the rate: 0.9 x^-0.1 / loss_weight.
    static double break_even_loss(double rate_mbps, double loss_weight = kLossWeight);
    // m(n) for the n-th change in the same direction, n >= 1.
    static double paper_amplifier(int streak) { return streak <= 3 ? streak : 2 * streak - 3; }
    static double code_amplifier(int streak);

    void on_start(Window& window, std::uint64_t seed);
    IntervalPlan plan_interval(Window& window, const IntervalMoment& moment);
    NextInterval on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                             const Siblings& siblings);
    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings);
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings);

    Mode mode() const { return mode_; }
    double rate_mbps() const { return rate_mbps_; }  // the chosen rate, without probe steps
    int streak() const { return streak_; }
    int bounds_met() const { return bounds_met_; }
    int swing_buffer() const { return swing_buffer_; }

private:
    static constexpr std::size_t kMaxPairs = 3;

    struct Probe {
        double rate_mbps = 0;
        double utility = 0;
    };

    std::size_t probe_count() const { return is_three_pairs_ ? 6 : 4; }
    double gradient_of(const IntervalRecord& record) const;
    bool is_awaited(const IntervalRecord& record) const;
    void await(IntervalPlan& plan, std::size_t position);
    void set_rate(Window& window, double rate_mbps, const IntervalMoment& moment) const;
    double least_rate_mbps(const IntervalMoment& moment) const;

    void judge_start(const IntervalRecord& record, double gradient, const IntervalMoment& moment);
    void judge_probes(const IntervalMoment& moment);
    void judge_move(const IntervalRecord& record, double gradient, const IntervalMoment& moment);
    void take_step(double gradient, double utility, double last_utility, const IntervalMoment& moment);
    void begin_probing(std::uint32_t settling);
    void forget_trial();

    double latency_weight_;
    double loss_weight_;
    double noise_floor_;
    double bound_step_;
    double min_rate_mbps_;
    bool counts_falling_rtt_;
    bool is_three_pairs_;
    bool has_code_amplifier_;
    bool halves_while_waiting_;
    Draws draws_;

    Mode mode_ = Mode::Starting;
    double rate_mbps_;
    double last_rate_mbps_ = 0;  // rate before the last change
    double last_utility_ = 0;    // utility at last_rate_mbps_
    bool has_last_ = false;

    // The current trial: one interval, or the intervals of the probes
    std::int32_t trial_ = 1;  // tags are trial * 8 + position + 1
    std::size_t planned_ = 0;
    std::size_t judged_ = 0;
    std::uint32_t settling_ = 0;  // intervals at the base rate before the trial
    bool goes_up_first_ = false;  // in the current pair of probes
    std::array<Probe, 2 * kMaxPairs> probes_{};

    // Steps
    int direction_ = 0;
    int streak_ = 0;
    int bounds_met_ = 0;
    int swing_buffer_ = 0;
    int undone_in_a_row_ = 0;
};
static_assert(CongestionController<Vivace>);

}  // namespace subflow

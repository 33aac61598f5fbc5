// Copa: approaches a target rate of 1 / (delta * queueing delay) with a growing step, and has a competitive mode for
// buffer-filling cross traffic. Source: Arun, Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the
// Internet", NSDI 2018, section 2.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "../windowed_max.h"
#include "controller.h"

namespace subflow {

namespace copa_rules {

inline constexpr RuleNumber kDelta{"delta", "how much delay weighs: the target is 1 / delta packets in queues"};
inline constexpr RuleNumber kVelocity{"velocity", "times the step, growing while the direction stays"};
inline constexpr RuleNumber kQueueing{"queueing_s",
                                      "queueing delay: lowest RTT of the last half round trip, minus min_rtt"};
inline constexpr RuleNumber kStanding{"standing_rtt_s", "lowest RTT of the last half round trip"};
inline constexpr RuleNumber kTargetRate{"target_rate_pps", "1 / (delta * queueing)"};
inline constexpr RuleNumber kIsCompetitive{"is_competitive", "1 where others keep the queue from running empty"};

constexpr RuleInfo step_rule(std::string_view name, std::string_view formula, std::string_view computed,
                             std::string_view source) {
    return {.name = name,
            .formula = formula,
            .computed = computed,
            .source = source,
            .numbers = {number::kAcked, kVelocity, kDelta, kQueueing, kStanding, kTargetRate, number::kRatePps,
                        kIsCompetitive}};
}
inline constexpr RuleInfo kSlowStart = step_rule("copa_slow_start", "cwnd + acked, until the rate is above target_rate",
                                                 "cwnd = before + acked", "Arun, Balakrishnan, NSDI 2018, section 2.1");
inline constexpr RuleInfo kUp = step_rule(
    "copa_up", "the rate cwnd / standing_rtt is at most target_rate: cwnd + velocity / (delta * cwnd) per packet",
    "cwnd = before + acked * velocity / (delta * before)", "Arun, Balakrishnan, NSDI 2018, section 2.1");
inline constexpr RuleInfo kDown = step_rule(
    "copa_down", "the rate cwnd / standing_rtt is above target_rate: cwnd - velocity / (delta * cwnd) per packet",
    "cwnd = max(before - acked * velocity / (delta * before), 2)", "Arun, Balakrishnan, NSDI 2018, section 2.1");
inline constexpr RuleInfo kPace{
    .name = "copa_pace",
    .formula = "rate = 2 * cwnd / standing_rtt; cwnd stays",
    .source = "Arun, Balakrishnan, NSDI 2018, section 2.1",
    .numbers = {kStanding},
};
inline constexpr RuleInfo kLoss{
    .name = "copa_loss",
    .formula = "a loss changes neither rate nor cwnd; in competitive mode 1 / delta is halved, once per round trip",
    .source = "Arun, Balakrishnan, NSDI 2018, section 2.2",
    .numbers = {kDelta, kIsCompetitive},
};

}  // namespace copa_rules

class Copa {
public:
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "delta",
            .kind = OptionKind::Number,
            .help = "Weight of delay against throughput: a flow aims at 1 / delta packets in queues.",
            .default_number = 0.5,
            .minimum = 0.01,
            .maximum = 10,
        },
        OptionInfo{
            .key = "competitive",
            .kind = OptionKind::Flag,
            .help = "Lower delta while other flows keep the queue from running empty.",
            .default_number = 1,
        },
    };
    static constexpr std::array kRules{&copa_rules::kSlowStart, &copa_rules::kUp, &copa_rules::kDown,
                                       &copa_rules::kPace, &copa_rules::kLoss};
    static constexpr AlgorithmInfo kInfo{
        .name = "copa",
        .summary = "A rate of 1 / (delta * queueing delay); competes like NewReno with flows that fill the queue",
        .source = "Arun, Balakrishnan, NSDI 2018",
        .options = kOptions,
        .rules = kRules,
    };
    static constexpr bool kGovernsRecovery = true;

    static constexpr double kMinCwnd = 2;
    static constexpr Nanos kMinRttWindow{10'000'000'000};
    static constexpr std::int64_t kMaxRttRounds = 4;  // RTTmax covers the past four round trips
    static constexpr std::int64_t kModeRounds = 5;    // a queue filled only by Copa empties once in five round trips
    static constexpr double kNearlyEmpty = 0.1;       // relative to the range from RTTmin to RTTmax
    static constexpr int kSteadyRounds = 3;           // round trips in one direction before the velocity doubles
    static constexpr double kPacingGain = 2;

    explicit Copa(const Options& options)
        : default_delta_(options.number("delta")),
          may_compete_(options.number("competitive") != 0),
          delta_(default_delta_) {}

    void on_delivery(Window& window, const DeliverySample& sample, const Siblings& siblings);
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings);

    double delta() const { return delta_; }
    double velocity() const { return velocity_; }
    bool is_competitive() const { return is_competitive_; }
    bool is_slow_start() const { return is_slow_start_; }
    double standing_rtt_s() const { return standing_rtt_.value(); }
    double min_rtt_s() const { return min_rtt_.value(); }

private:
    // Times of the windowed filters: ticks of 10 microseconds, which wrap after half a day.
    static constexpr std::int64_t kTick = 10'000;
    static std::uint32_t ticks(Nanos time) { return static_cast<std::uint32_t>(time.value / kTick); }

    void measure(const DeliverySample& sample);
    void end_round(const Window& window);
    void turn(bool is_up);

    double default_delta_;
    bool may_compete_;
    double delta_;
    double velocity_ = 1;
    bool is_slow_start_ = true;
    bool is_competitive_ = false;
    bool is_up_ = true;
    bool lost_in_round_ = false;
    int steady_rounds_ = 0;  // round trips without a change of direction
    double cwnd_at_round_ = 0;
    std::uint64_t round_end_delivered_ = 0;
    Nanos nearly_empty_at_{};
    WindowedMin standing_rtt_{1};
    WindowedMin min_rtt_{static_cast<std::uint32_t>(kMinRttWindow.value / kTick)};
    WindowedMax max_rtt_{1};
};
static_assert(CongestionController<Copa>);

}  // namespace subflow

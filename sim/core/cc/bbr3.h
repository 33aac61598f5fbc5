// BBR, version 3: the path model of version 1, with bounds derived from losses.
// Source: draft-ietf-ccwg-bbr-06 and its editors' copy of August 2026, whose names appear in quotes if they differ.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "../rng.h"
#include "../windowed_max.h"
#include "controller.h"

namespace subflow {

namespace bbr3_rules {

inline constexpr RuleNumber kBw{"bw_pps", "rate that the model of the path allows"};
inline constexpr RuleNumber kLongterm{"inflight_longterm_pkts",
                                      "largest amount in flight that probing found safe; infinite: no bound is known"};
inline constexpr RuleNumber kShortterm{"inflight_shortterm_pkts",
                                       "largest safe amount in flight since recent losses; infinite: no recent loss"};
inline constexpr RuleNumber kMaxRate{"max_rate_pps", "largest delivery rate that was measured"};
inline constexpr RuleNumber kSavedCwnd{"saved_cwnd_pkts", "cwnd that is kept for later"};

// Rules for rate and window, by state
constexpr RuleInfo state_rule(std::string_view name, std::string_view formula, std::string_view computed,
                              std::string_view source) {
    return {.name = name,
            .formula = formula,
            .computed = computed,
            .source = source,
            .numbers = {{"pacing_gain", "times the measured rate"},
                        {"cwnd_gain", "times the bandwidth-delay product"},
                        kBw,
                        number::kMinRtt,
                        kLongterm,
                        kShortterm,
                        number::kTarget,
                        number::kInflight}};
}
inline constexpr std::string_view kPaced = "rate = pacing_gain * 0.99 * bw";
inline constexpr RuleInfo kStartup = state_rule(
    "bbr3_startup", "rate = 2.77 * 0.99 * bw, never less than before; cwnd + acked, up to the target of two bdp", {},
    "draft-ietf-ccwg-bbr-06 section 5.3.1");
inline constexpr RuleInfo kStartupLoss =
    state_rule("bbr3_startup_loss",
               "startup ends: for a round trip of recovery more than loss_threshold was lost, in at least six places; "
               "inflight_longterm = max(bdp, delivered in the round trip)",
               {}, "draft-ietf-ccwg-bbr-06 section 5.3.1.3");
inline constexpr RuleInfo kDrain =
    state_rule("bbr3_drain", "rate = 0.5 * 0.99 * bw, until no more than the bdp is in flight, three round trips long",
               kPaced, "draft-ietf-ccwg-bbr-06 section 5.3.2");
inline constexpr RuleInfo kDown =
    state_rule("bbr3_down", "rate = 0.9 * 0.99 * bw, until the queue is drained and headroom for others is left",
               kPaced, "draft-ietf-ccwg-bbr-06 section 5.3.3.1");
inline constexpr RuleInfo kCruise =
    state_rule("bbr3_cruise", "rate = 0.99 * bw; cwnd leaves headroom below inflight_longterm", kPaced,
               "draft-ietf-ccwg-bbr-06 section 5.3.3.2");
inline constexpr RuleInfo kRefill =
    state_rule("bbr3_refill", "rate = 0.99 * bw: recent losses are forgotten, the pipe is filled for a round trip",
               kPaced, "draft-ietf-ccwg-bbr-06 section 5.3.3.3");
inline constexpr RuleInfo kUp = state_rule(
    "bbr3_up", "rate = 1.25 * 0.99 * bw, to probe for more: inflight_longterm grows by 1, 2, 4, ... a round trip",
    kPaced, "draft-ietf-ccwg-bbr-06 section 5.3.3.4");
inline constexpr RuleInfo kTooHigh = state_rule(
    "bbr3_inflight_too_high",
    "more than loss_threshold of the packets in flight was lost while probing: inflight_longterm = packets in flight "
    "then, at least 0.7 of the target",
    {}, "draft-ietf-ccwg-bbr-06 section 5.5.10.2");
inline constexpr RuleInfo kProbeRtt =
    state_rule("bbr3_probe_rtt", "rate = 0.99 * bw; cwnd = half a bdp: let the queue drain to see min_rtt", kPaced,
               "draft-ietf-ccwg-bbr-06 section 5.3.4");
inline constexpr RuleInfo kNoReduction{
    .name = "bbr3_no_reduction",
    .formula = "cwnd is kept for the end of the recovery; the next ACKs use what the losses show about the path",
    .source = "draft-ietf-ccwg-bbr-06 section 5.6.4.4",
    .numbers = {kSavedCwnd},
};
inline constexpr RuleInfo kIdleRestart{
    .name = "bbr3_idle_restart",
    .formula = "rate = 0.99 * bw; a probe of the RTT ends if its time is up",
    .source = "draft-ietf-ccwg-bbr-06 section 5.4.1",
    .numbers = {kBw, kSavedCwnd},
};

}  // namespace bbr3_rules

// Does not respond to ECN marks: the draft leaves the response open.
class Bbr3 {
public:
    enum class State : std::uint8_t { Startup, Drain, Down, Cruise, Refill, Up, ProbeRtt };

    static constexpr std::array kOptions{
        OptionInfo{
            .key = "loss_threshold",
            .kind = OptionKind::Ratio,
            .help = "Share of a round trip's packets that may be lost while it probes for bandwidth.",
            .default_number = 0.02,
            .minimum = 0.001,
            .maximum = 0.5,
        },
        OptionInfo{
            .key = "headroom",
            .kind = OptionKind::Ratio,
            .help = "Share of the largest safe amount in flight that is left to others between probes.",
            .default_number = 0.15,
            .minimum = 0,
            .maximum = 0.5,
        },
        OptionInfo{
            .key = "precautionary",
            .kind = OptionKind::Flag,
            .help = "After a probe that lost too much, the next one stops at the same point, and continues in a "
                    "second probe if nothing was lost.",
            .default_number = 1,
        },
    };
    static constexpr std::array kRules{&bbr3_rules::kStartup,     &bbr3_rules::kStartupLoss, &bbr3_rules::kDrain,
                                       &bbr3_rules::kDown,        &bbr3_rules::kCruise,      &bbr3_rules::kRefill,
                                       &bbr3_rules::kUp,          &bbr3_rules::kTooHigh,     &bbr3_rules::kProbeRtt,
                                       &bbr3_rules::kNoReduction, &bbr3_rules::kIdleRestart};
    static constexpr AlgorithmInfo kInfo{
        .name = "bbr3",
        .summary = "Paces at the measured bottleneck rate, within bounds set by losses of more than 2 %; version 3",
        .source = "draft-ietf-ccwg-bbr-06",
        .options = kOptions,
        .rules = kRules,
    };
    static constexpr bool kGovernsRecovery = true;
    static constexpr bool kPacesByMss = true;

    static constexpr double kStartupGain = 2.77;  // 4 ln 2: the minimum that lets the rate double in each round trip
    static constexpr double kDrainGain = 0.5;
    static constexpr double kDownGain = 0.9;
    static constexpr double kUpGain = 1.25;
    static constexpr double kCwndGain = 2;
    static constexpr double kUpCwndGain = 2.25;
    static constexpr double kProbeRttCwndGain = 0.5;
    static constexpr double kPacingMargin = 0.99;
    static constexpr double kBeta = 0.7;   // minimum share that remains after a round trip with losses
    static constexpr double kMinCwnd = 4;  // "MinPipeCwnd" of the draft
    static constexpr double kQuanta = 3;
    static constexpr double kQuantum_s = 1e-3;
    static constexpr double kMinQuantumPkts = 2;
    static constexpr double kMaxQuantumPkts = 65536.0 / 1448;
    static constexpr double kFullPipeGrowth = 1.25;
    static constexpr int kFullPipeRounds = 3;
    static constexpr std::uint32_t kDrainRounds = 3;
    static constexpr int kStartupLossRanges = 6;  // "BBRStartupFullLossCnt" of the draft
    static constexpr std::uint32_t kAggregationRounds = 10;
    static constexpr std::uint32_t kRenoRounds = 63;
    static constexpr double kShortestProbeWait_s = 2;
    static constexpr Nanos kMinRttWindow{10'000'000'000};
    static constexpr Nanos kProbeRttInterval{5'000'000'000};
    static constexpr Nanos kProbeRttTime{200'000'000};
    static constexpr Nanos kInitialRtt{1'000'000};  // assumed before the first sample

    explicit Bbr3(const Options& options)
        : loss_threshold_(options.number("loss_threshold")),
          headroom_(options.number("headroom")),
          is_precautionary_(options.number("precautionary") != 0) {}

    void on_start(Window& window, std::uint64_t seed);
    void on_lost(const Window& window, const LostPacket& packet);
    void on_delivery(Window& window, const DeliverySample& sample, const Siblings& siblings);
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings);
    void on_undo(Window& window);
    void on_idle_restart(Window& window, Nanos now, Reason* why);

    State state() const { return state_; }
    double rate_pps() const { return max_rate_; }
    double bw_pps() const { return bw_; }
    Nanos min_rtt() const { return min_rtt_; }
    double inflight_longterm_pkts() const { return inflight_longterm_; }
    double inflight_shortterm_pkts() const { return inflight_shortterm_; }
    double extra_acked_pkts() const { return extra_acked_.value(); }
    double pacing_gain() const;
    double cwnd_gain() const;

private:
    static constexpr double kNoBound = std::numeric_limits<double>::infinity();
    // Phase of bandwidth probing to which the current ACKs belong.
    enum class Feedback : std::uint8_t { None, Refilling, Starting, Probing, Stopping };

    bool is_probe_bw() const { return state_ >= State::Down && state_ <= State::Up; }
    bool is_probing() const { return state_ == State::Startup || state_ == State::Refill || state_ == State::Up; }
    double bdp_multiple(double bw, double gain) const;
    double with_quanta(double pkts) const;
    double inflight_target(double bw, double gain) const { return with_quanta(bdp_multiple(bw, gain)); }
    double probe_rtt_cwnd() const;
    double inflight_with_headroom() const;
    double flight_aimed_at(const Window& window) const;
    bool was_cut(std::uint64_t prior_delivered) const {
        return prior_delivered >= cut_from_delivered_ && prior_delivered <= cut_until_delivered_;
    }
    bool is_too_high(double lost, double in_flight) const { return lost > in_flight * loss_threshold_; }

    void update_latest(const DeliverySample& sample);
    void update_congestion_signals(const Window& window, const DeliverySample& sample);
    void update_rate(const DeliverySample& sample);
    void update_aggregation(const Window& window, const DeliverySample& sample);
    void check_full_pipe();
    void check_startup_done(const DeliverySample& sample);
    void check_drain(const DeliverySample& sample);
    void update_cycle(const Window& window, const DeliverySample& sample);
    bool adapt_long_term_model(const Window& window, const DeliverySample& sample);
    void probe_upward(const Window& window, const DeliverySample& sample);
    void raise_slope(const Window& window);
    bool is_time_to_probe(const Window& window, Nanos now) const;
    bool is_time_to_cruise(const DeliverySample& sample) const;
    bool is_time_to_go_down(const Window& window, const DeliverySample& sample);
    void update_min_rtt(const DeliverySample& sample);
    void check_probe_rtt(Window& window, const DeliverySample& sample);
    void leave_probe_rtt_if_done(Window& window, Nanos now);

    void start_round(std::uint64_t delivered) { round_end_delivered_ = delivered; }
    void start_down(Nanos now, std::uint64_t delivered);
    void start_refill(std::uint64_t delivered);
    void start_up(const Window& window, const DeliverySample& sample);
    void reset_full_pipe(double rate);
    void reset_short_term_model() { bw_shortterm_ = inflight_shortterm_ = kNoBound; }

    void note_loss(const Window& window, std::uint64_t delivered);
    void save_for_undo();
    void save_cwnd(const Window& window);
    void set_pacing(Window& window, double gain) const;
    double set_cwnd(Window& window, const DeliverySample& sample) const;
    void explain(Reason& why, const DeliverySample& sample, double target) const;

    double loss_threshold_;
    double headroom_;
    bool is_precautionary_;

    State state_ = State::Startup;
    Feedback feedback_ = Feedback::None;  // "ack_phase" of the draft
    Draws draws_;

    // The model of the path
    std::array<double, 2> cycle_rates_{};  // largest delivery rates of the previous and the current cycle
    double max_rate_ = 0;
    double bw_ = 0;  // max_rate_, bounded by bw_shortterm_
    double bw_shortterm_ = kNoBound;
    double inflight_shortterm_ = kNoBound;
    double inflight_longterm_ = kNoBound;
    Nanos min_rtt_ = kNever;
    Nanos min_rtt_at_{};
    Nanos recent_min_rtt_ = kNever;  // minimum over five seconds, "probe_rtt_min_delay" of the draft
    Nanos recent_min_rtt_at_{};
    bool has_recent_expired_ = false;
    bool has_seen_rtt_ = false;

    std::uint64_t delivered_ = 0;
    std::uint32_t round_ = 0;
    std::uint64_t round_end_delivered_ = 0;
    bool begins_round_ = false;
    bool is_limited_ = false;  // the sample's packet was sent by an idle application or under a reduced window
    double rate_ = 0;          // delivery rate of the current sample; 0: no rate

    // The round trip over which the response to losses is computed
    double bw_latest_ = 0;
    double inflight_latest_ = 0;
    std::uint64_t loss_round_end_delivered_ = 0;
    bool begins_loss_round_ = false;
    bool is_loss_in_round_ = false;
    int lost_ranges_ = 0;
    std::uint32_t last_lost_seq_ = 0;

    double full_rate_ = 0;
    int full_rounds_ = 0;
    bool is_full_now_ = false;
    bool has_filled_pipe_ = false;
    std::uint32_t drain_start_round_ = 0;

    // Probing for bandwidth
    bool is_probe_sample_ = false;
    bool was_too_high_ = false;   // "prev_probe_too_high" of the draft
    bool stopped_early_ = false;  // "prev_probe_precautionary" of the draft
    std::uint32_t up_rounds_ = 0;
    double up_acked_ = 0;
    double up_acked_per_packet_ = kNoBound;
    std::uint32_t rounds_since_probe_ = 0;
    Nanos probe_wait_{};
    Nanos cycle_at_{};

    Nanos probe_rtt_done_at_ = kNever;
    bool probe_rtt_round_done_ = false;
    std::uint64_t cut_from_delivered_ = 1;
    std::uint64_t cut_until_delivered_ = 0;
    bool restarts_from_idle_ = false;

    double initial_cwnd_ = 0;
    double saved_cwnd_ = 0;
    bool was_recovering_ = false;  // fast recovery or loss, as of the last sample
    double quantum_ = kMinQuantumPkts;

    // State before a loss, to be restored if the loss was spurious
    State undo_state_ = State::Drain;  // Startup or Up: left because of losses; Drain: no state to restore
    double undo_bw_shortterm_ = 0;
    double undo_inflight_shortterm_ = 0;
    double undo_inflight_longterm_ = 0;

    // Packets ACKed beyond the estimated rate
    Nanos aggregation_at_{};
    double aggregation_acked_ = 0;
    WindowedMax extra_acked_{1};

    const RuleInfo* turn_ = nullptr;  // rule of a state change by a loss since the last ACK; null without a change
};
static_assert(CongestionController<Bbr3>);

}  // namespace subflow

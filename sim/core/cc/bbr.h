// BBR, version 1: controlled by a model of the path (bottleneck rate, propagation delay), not by losses.
// Source: Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016;
// Linux tcp_bbr.c for details that the paper omits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "../rng.h"
#include "../windowed_max.h"
#include "controller.h"

namespace subflow {

namespace bbr_rules {

inline constexpr RuleNumber kMaxRate{"max_rate_pps", "largest delivery rate that was measured"};
inline constexpr RuleNumber kSavedCwnd{"saved_cwnd_pkts", "cwnd that is kept for later"};

// Rules for rate and window, by mode
constexpr RuleInfo mode_rule(std::string_view name, std::string_view formula, std::string_view computed = {}) {
    return {.name = name,
            .formula = formula,
            .computed = computed,
            .source = "Cardwell et al., ACM Queue 2016; Linux tcp_bbr.c",
            .numbers = {{"pacing_gain", "times the measured rate"},
                        {"cwnd_gain", "times the bandwidth-delay product"},
                        kMaxRate,
                        number::kMinRtt,
                        {"bdp_pkts", "bandwidth-delay product"},
                        number::kTarget,
                        number::kAcked,
                        number::kInflight}};
}
inline constexpr RuleInfo kStartup = mode_rule(
    "bbr_startup", "rate = pacing_gain * 0.99 * max_rate, never less than before; cwnd + acked, up to the target");
inline constexpr RuleInfo kDrain =
    mode_rule("bbr_drain", "rate = pacing_gain * 0.99 * max_rate, until no more than the bdp is in flight",
              "rate = pacing_gain * 0.99 * max_rate");
inline constexpr RuleInfo kProbeBw =
    mode_rule("bbr_probe_bw", "rate = pacing_gain * 0.99 * max_rate; cwnd + acked, up to the target of two bdp",
              "rate = pacing_gain * 0.99 * max_rate");
inline constexpr RuleInfo kProbeRtt = mode_rule(
    "bbr_probe_rtt", "rate = 0.99 * max_rate; cwnd = 4 packets: let the queue drain to see min_rtt", "cwnd = 4");
inline constexpr RuleInfo kConservation =
    mode_rule("bbr_conservation", "cwnd = in flight + acked, in the first round trip of a recovery");
inline constexpr RuleInfo kNoReduction{
    .name = "bbr_no_reduction",
    .formula = "a loss changes neither rate nor cwnd, which is kept for the end of the recovery",
    .source = "Linux tcp_bbr.c (bbr_ssthresh)",
    .numbers = {kSavedCwnd},
};
inline constexpr RuleInfo kIdleRestart{
    .name = "bbr_idle_restart",
    .formula = "rate = 0.99 * max_rate; a probe of the RTT ends if its time is up",
    .source = "Linux tcp_bbr.c (bbr_cwnd_event)",
    .numbers = {kMaxRate, kSavedCwnd},
};

}  // namespace bbr_rules

// DEVIATION from Linux: no long-term sampling for token-bucket policers; real-valued gains and windows.
class Bbr {
public:
    enum class Mode : std::uint8_t { Startup, Drain, ProbeBw, ProbeRtt };

    static constexpr std::array<std::string_view, 2> kQuantizations{"linux", "fixed"};
    static constexpr std::array kOptions{
        OptionInfo{
            .key = "ack_aggregation",
            .kind = OptionKind::Flag,
            .help = "Enlarge the cwnd by the shortfall that bursts of ACKs have shown, as current Linux does.",
            .default_number = 1,
        },
        OptionInfo{
            .key = "quantization",
            .kind = OptionKind::Choice,
            .help = "Packets allowed beyond the product of rate and delay: Linux's three segmentation quanta, or three "
                    "packets, in the cwnd only. Default: linux under the linux profile, fixed under textbook.",
            .default_choice = "linux",
            .textbook_choice = "fixed",
            .choices = kQuantizations,
        },
    };
    static constexpr std::array kRules{&bbr_rules::kStartup,    &bbr_rules::kDrain,        &bbr_rules::kProbeBw,
                                       &bbr_rules::kProbeRtt,   &bbr_rules::kConservation, &bbr_rules::kNoReduction,
                                       &bbr_rules::kIdleRestart};
    static constexpr AlgorithmInfo kInfo{
        .name = "bbr",
        .summary =
            "Paces at the measured bottleneck rate, with at most two bandwidth-delay products in flight; "
            "version 1",
        .source = "Cardwell et al., ACM Queue 2016; Linux tcp_bbr.c",
        .options = kOptions,
        .rules = kRules,
    };
    static constexpr bool kGovernsRecovery = true;
    static constexpr bool kPacesByMss = true;

    // 2 / ln 2 = 2.885 is the minimum gain that lets the rate double in each round trip; its inverse drains the
    // resulting queue in one round trip. In Linux's steps of 1/256, with the gain rounded up.
    static constexpr double kHighGain = 739.0 / 256;
    static constexpr double kDrainGain = 88.0 / 256;
    static constexpr std::array kCycle{1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    static constexpr double kCwndGain = 2;
    static constexpr double kPacingMargin = 0.99;  // slightly below the rate, so that no queue persists
    static constexpr double kMinCwnd = 4;          // enough to keep ACKs coming
    static constexpr double kQuanta = 3;           // quanta beyond one product: queued in hosts or awaiting an ACK
    // Linux's target for a segmentation quantum: one millisecond of data (sk_pacing_shift: 1/1024 s), at least two
    // packets, or one below 1.2 Mbit/s (bbr_min_tso_rate), counted in payload of 1448 bytes; at most 64 kB.
    static constexpr double kQuantaPerSecond = 1024;
    static constexpr double kSlowPps = 1.2e6 / 8 / 1448;
    static constexpr double kMaxQuantumPkts = 44;
    static constexpr std::uint32_t kRateWindowRounds = 10;
    static constexpr Nanos kMinRttWindow{10'000'000'000};
    static constexpr Nanos kProbeRttTime{200'000'000};
    static constexpr double kFullPipeGrowth = 1.25;
    static constexpr int kFullPipeRounds = 3;
    static constexpr int kAggregationWindowRounds = 5;
    // largest excess of ACKed packets, in seconds at the measured rate
    static constexpr double kMaxAggregation_s = 0.1;
    static constexpr Nanos kInitialRtt{1'000'000};  // assumed before the first sample

    explicit Bbr(const Options& options)
        : has_ack_aggregation_(options.number("ack_aggregation") != 0),
          has_linux_quanta_(options.choice("quantization") == "linux") {}

    void on_start(Window& window, std::uint64_t seed);
    void on_delivery(Window& window, const DeliverySample& sample, const Siblings& siblings);
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings);
    void on_idle_restart(Window& window, Nanos now, Reason* why);

    Mode mode() const { return mode_; }
    double pacing_gain() const { return pacing_gain_; }
    double rate_pps() const { return max_rate_.value(); }
    Nanos min_rtt() const { return min_rtt_; }

private:
    double bdp_pkts() const { return max_rate_.value() * to_seconds(min_rtt_); }
    static double quantum_pkts(const Window& window);
    double inflight_target(const Window& window, double gain) const;
    double window_target(const Window& window, double gain) const;
    double inflight_at_departure(const Window& window, const DeliverySample& sample, double inflight_pkts) const;
    bool has_filled_pipe() const { return full_rate_rounds_ >= kFullPipeRounds; }

    void update_rate(const DeliverySample& sample);
    void update_aggregation(const Window& window, const DeliverySample& sample);
    void update_cycle(const Window& window, const DeliverySample& sample);
    void check_full_pipe(const DeliverySample& sample);
    void check_drain(Window& window, const DeliverySample& sample);
    void update_min_rtt(Window& window, const DeliverySample& sample);
    void update_gains();

    void enter_startup() { mode_ = Mode::Startup; }
    void enter_probe_bw(Nanos now);
    void leave_probe_rtt_if_done(Window& window, Nanos now);
    void save_cwnd(const Window& window);
    void set_pacing(Window& window, double gain) const;
    // Returns the target window; NaN during packet conservation.
    double set_cwnd(Window& window, const DeliverySample& sample);
    void explain(Reason& why, const DeliverySample& sample, double target) const;

    bool has_ack_aggregation_;
    bool has_linux_quanta_;
    Mode mode_ = Mode::Startup;
    double pacing_gain_ = kHighGain;
    double cwnd_gain_ = kHighGain;
    Draws draws_;

    // The path: the maximum delivery rate of the last ten round trips, the minimum RTT of the last ten seconds
    WindowedMax max_rate_{kRateWindowRounds};
    Nanos min_rtt_ = kNever;
    Nanos min_rtt_at_{};
    bool has_seen_rtt_ = false;

    std::uint32_t round_ = 0;
    std::uint64_t round_end_delivered_ = 0;
    bool begins_round_ = false;

    double full_rate_pps_ = 0;
    int full_rate_rounds_ = 0;

    std::uint8_t cycle_index_ = 0;
    Nanos cycle_at_{};

    // PROBE_RTT: packets sent under the reduced window do not measure the rate
    Nanos probe_rtt_done_at_ = kNever;
    bool probe_rtt_round_done_ = false;
    std::uint64_t cut_from_delivered_ = 0;
    std::uint64_t cut_until_delivered_ = 0;
    bool restarts_from_idle_ = false;

    double initial_cwnd_ = 0;
    double saved_cwnd_ = 0;
    bool was_recovering_ = false;  // fast recovery or loss, as of the last sample
    bool conserves_packets_ = false;

    // Packets ACKed beyond the estimated rate, and the largest such excess of five to ten rounds
    Nanos epoch_at_{};
    double epoch_acked_ = 0;
    std::array<double, 2> excess_{};
    std::uint8_t excess_index_ = 0;
    int excess_rounds_ = 0;
};
static_assert(CongestionController<Bbr>);

}  // namespace subflow

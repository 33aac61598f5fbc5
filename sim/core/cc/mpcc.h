// MPCC: each subflow tries rates and follows the gradient of a utility of the connection's total rate.
// Source: Gilad, Rozen-Schiff, Godfrey, Raiciu, Schapira, "MPCC: Online Learning Multipath Transport", CoNEXT 2020; its
// kernel module (mpcc_release: tcp_mpcc.c, tcp_mpcc_loss.c) for details that the paper omits.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "../rng.h"
#include "controller.h"
#include "mpcc_rules.h"

namespace subflow {

// Rates enter the utility in multiples of a unit; because of the exponent, the unit matters.
struct MpccConstants {
    double alpha = 0;
    double beta = 0;
    double gamma = 0;
    double unit_bps = 1;
    double utility_scale = 1;   // factor of the utility
    double gradient_scale = 1;  // factor of its gradient

    // U = R^alpha - beta L R - gamma R dRTT/dt with R the connection's total rate in units, and L and dRTT/dt of one
    // subflow.
    // Source: Gilad et al. 2020, section 4; DDPG-MPCC, equations (1) and (2).
    double utility(double total_bps, double loss_ratio, double latency_inflation) const;
    // Random loss at which the utility does not depend on the rate: alpha R^(alpha-1) / beta.
    double break_even_loss(double total_bps) const;
};

// Common base of all variants. Between two decisions, a subflow goes through a round: one or four intervals at trial
// rates, then the current rate until the results arrive.
class Mpcc {
public:
    enum class Mode : std::uint8_t { Beginning, SlowStart, Probing, Moving };
    enum class Direction : std::uint8_t { Down, Stay, Up };

    static constexpr std::array<std::string_view, 2> kPresets{"mbps", "kernel"};
    static constexpr bool kGovernsRecovery = true;

    // The constants of Vivace with rates in Mbit/s, and those of the kernel module with rates in byte/s, utilities
    // times 250 and gradients times 1000. gamma applies to MPCC-latency: MPCC-loss has no such term.
    static constexpr MpccConstants kMbps{
        .alpha = 0.9, .beta = 11.35, .gamma = 900, .unit_bps = 1e6, .utility_scale = 1, .gradient_scale = 1};
    static constexpr MpccConstants kKernel{
        .alpha = 0.9, .beta = 11, .gamma = 1, .unit_bps = 8, .utility_scale = 250, .gradient_scale = 1000};

    static constexpr double kInitialRate_bps = 4e6;
    static constexpr double kMinRate_bps = 0.2e6;
    static constexpr double kMaxRate_bps = 8.0 * 4'294'967'295;  // the kernel module stores byte/s in 32 bits
    static constexpr double kProbeShare = 0.05;                  // relative to the connection's total
    static constexpr double kIntervalRtts = 1.5;
    static constexpr std::uint32_t kProbes = 4;
    static constexpr double kInflationFloor = 0.03;
    // Slow start
    static constexpr int kSlowStartRetries = 2;
    static constexpr double kSlowStartThroughput = 0.9;  // share of the rate that allows doubling
    static constexpr double kSlowStartLoss = 0.15;       // smaller losses are ignored
    // Steps
    static constexpr int kAmplifierStep = 2;
    static constexpr int kMaxSwingBuffer = 2;
    static constexpr double kBoundShare = 0.05;  // relative to the connection's total: first bound and its increment
    static constexpr double kMinStep_bps = 0.5e6;
    static constexpr double kMaxStepShare = 0.5;  // relative to the subflow's own rate
    // Emergency brake
    static constexpr double kBrakeLoss = 0.30;
    static constexpr std::uint32_t kBrakePackets = 100;  // the interval must have more packets than this
    static constexpr int kBrakeProbes = 2;               // more probes than this must call for the brake
    // The window only limits a sender without feedback.
    static constexpr double kCwndGain = 2;
    static constexpr double kMinCwnd = 4;
    // A rate counts as tried if at least this share of it was sent.
    static constexpr double kTriedShare = 0.9;

    // The mode in which an interval was planned, from its tag.
    static Mode mode_of(const IntervalRecord& record);

    // (srtt at the last ACK - srtt at the first ACK) / sending time; 0 below the floor.
    static double latency_inflation(const IntervalRecord& record);
    // The higher and the lower rate for probes around a rate x with width w: {x + w, x - w}, or {x + w, (x + w) / 2} if
    // w is larger than x; the lower rate is at least kMinRate_bps.
    static std::array<double, 2> probe_rates(double rate_bps, double width_bps);
    // Largest change of the rate; `steps`: current number of increments of the bound.
    static double change_bound(double total_bps, int steps) { return kBoundShare * (1 + steps) * total_bps; }

    void on_start(Window& window, std::uint64_t seed);
    IntervalPlan plan_interval(Window& window, const IntervalMoment& moment);
    NextInterval on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                             const Siblings& siblings);
    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings);
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings);

    Mode mode() const { return mode_; }
    double rate_bps() const { return rate_bps_; }  // the chosen rate, without probes
    double probe_share() const { return probe_share_; }
    double others_bps() const { return others_bps_; }
    int amplifier() const { return amplifier_; }
    int bound_steps() const { return bound_steps_; }
    int swing_buffer() const { return swing_buffer_; }
    const MpccConstants& constants() const { return constants_; }

protected:
    // Source of the steps in the moving phase: the gradient, or a learning agent (ddpg_mpcc.h).
    enum class Mover : std::uint8_t { Gradient, Agent };
    Mpcc(const Options& options, bool senses_latency, Mover mover = Mover::Gradient);

    // The options that all variants declare.
    static constexpr OptionInfo kPresetOption{
        .key = "preset",
        .kind = OptionKind::Choice,
        .help =
            "Constants and units of the utility: mbps has Vivace's, with rates in Mbit/s; kernel has those of the "
            "authors' kernel module, with rates in byte/s, and tolerates less loss.",
        .default_choice = kPresets[0],
        .choices = kPresets,
    };
    static constexpr OptionInfo kAlphaOption{
        .key = "alpha",
        .kind = OptionKind::Number,
        .help = "Exponent of the total rate in the utility, below 1. 0: that of the preset, 0.9.",
        .minimum = 0,
        .maximum = 0.999,
    };
    static constexpr OptionInfo kBetaOption{
        .key = "beta",
        .kind = OptionKind::Number,
        .help = "Weight of loss in the utility, above 3. 0: that of the preset, 11.35 (mbps) or 11 (kernel).",
        .minimum = 0,
        .maximum = 1e6,
    };
    static constexpr OptionInfo kInitialRateOption{
        .key = "initial_rate",
        .kind = OptionKind::Rate,
        .help = "On the wire, of each subflow; doubled while the utility grows.",
        .default_number = kInitialRate_bps,
        .minimum = kMinRate_bps,
        .maximum = 100e6,
    };
    static constexpr OptionInfo kProbeOption{
        .key = "probe",
        .kind = OptionKind::Ratio,
        .help = "How far above and below its rate a subflow probes, as a share of the connection's total rate.",
        .default_number = kProbeShare,
        .minimum = 0.001,
        .maximum = 0.5,
    };

    // Mover::Agent: true after probing has found a direction, and after each move whose utility is not below the
    // previous one.
    bool wants_move() const { return wants_move_; }
    // The agent's move: the subflow sends at `rate_bps` for one interval.
    void move(Window& window, double rate_bps, const IntervalMoment& moment);

    // Result of an interval at a trial rate.
    struct Trial {
        double rate_bps = 0;
        double utility = 0;
        double loss_ratio = 0;
        double inflation = 0;
        double rtt_s = 0;      // mean RTT; NaN without samples
        bool is_tried = true;  // the sending rate nearly reached rate_bps
        bool calls_for_brake = false;
    };
    const Trial& latest() const { return latest_; }  // the latest trial of any kind
    const Trial& moved() const { return moved_; }    // trial of the last move

private:
    struct Result {
        double rate_bps = 0;
        double utility = 0;
    };
    struct Step {
        double change_bps = 0;
        double amplifier = 0;  // amplifier used for the change
        double bound_bps = 0;  // limit of the change
    };

    double total_bps() const { return rate_bps_ + others_bps_; }
    // 0 while ACKs arrive for packets sent before the first interval, after a change of controller.
    double advertised_pps() const { return packet_bits_ > 0 ? advertised_bps_ / packet_bits_ : 0; }
    double gradient(double rate_bps, double utility, const Result& from) const;
    Trial judge(const IntervalRecord& record) const;
    void decide_slow_start(Window& window, const IntervalRecord& record, const IntervalMoment& moment);
    void decide_probing(const IntervalMoment& moment);
    void decide_moving(const IntervalMoment& moment);
    void judge_move(const IntervalMoment& moment);
    void stay();
    void brake(const IntervalMoment& moment, const Trial& by);
    Step next_step(double gradient);
    Step turn();
    void begin_round(Mode mode);
    void draw_probes(const Siblings& siblings);
    void apply_rate(Window& window, double rate_bps, const IntervalMoment& moment) const;

    MpccConstants constants_;
    Mover mover_;
    double probe_share_;
    Draws draws_;
    double packet_bits_ = 0;

    Mode mode_ = Mode::Beginning;
    double rate_bps_;
    double others_bps_ = 0;   // advertised by the siblings when probing began
    double advertised_bps_;   // rate chosen after the last probing
    bool is_silent_ = false;  // timed out, without feedback since

    bool wants_move_ = false;
    Trial latest_;
    Trial moved_;

    // The current round
    std::uint32_t round_ = 0;
    std::uint32_t planned_ = 0;
    std::uint32_t judged_ = 0;
    std::array<Trial, kProbes> trials_{};
    // References for the next result. Slow start: [0] is the last rate with a rising utility, initially rate and
    // utility 0. Moving: the previous rate, or the higher and the lower of the probed rates. Moves of an agent: [0] is
    // the previous rate.
    std::array<Result, 2> last_{};
    int retries_left_ = kSlowStartRetries;

    // Steps
    Direction direction_ = Direction::Up;  // found by the last probing
    int amplifier_ = 0;
    int bound_steps_ = 0;
    int swing_buffer_ = 0;
};

class MpccLoss : public Mpcc {
public:
    static constexpr std::array kOptions{kPresetOption, kAlphaOption, kBetaOption, kInitialRateOption, kProbeOption};
    static constexpr AlgorithmInfo kInfo{
        .name = "mpcc-loss",
        .summary =
            "Online learning: tries rates, and judges them by a utility of the connection's rate and losses; meant "
            "for the scheduler mpcc-rate",
        .source = "Gilad et al., CoNEXT 2020 (MPCC-loss)",
        .is_coupled = true,
        .scheduler = "mpcc-rate",
        .options = kOptions,
        .rules = mpcc_rules::kAll,
    };
    explicit MpccLoss(const Options& options) : Mpcc(options, false) {}
};
static_assert(CongestionController<MpccLoss> && MonitorsIntervals<MpccLoss>);

class MpccLatency : public Mpcc {
public:
    static constexpr OptionInfo kGammaOption{
        .key = "gamma",
        .kind = OptionKind::Number,
        .help = "Weight of a growing round-trip time in the utility. 0: that of the preset, 900 (mbps) or 1 (kernel).",
        .minimum = 0,
        .maximum = 1e6,
    };
    static constexpr std::array kOptions{kPresetOption, kAlphaOption,       kBetaOption,
                                         kGammaOption,  kInitialRateOption, kProbeOption};
    static constexpr AlgorithmInfo kInfo{
        .name = "mpcc-latency",
        .summary =
            "Online learning: like mpcc-loss, but a growing round-trip time also counts against a rate; meant for "
            "the scheduler mpcc-rate",
        .source = "Gilad et al., CoNEXT 2020 (MPCC-latency)",
        .is_coupled = true,
        .scheduler = "mpcc-rate",
        .options = kOptions,
        .rules = mpcc_rules::kAll,
    };
    explicit MpccLatency(const Options& options) : Mpcc(options, true) {}
};
static_assert(CongestionController<MpccLatency> && MonitorsIntervals<MpccLatency>);

}  // namespace subflow

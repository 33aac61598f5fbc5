// MPLibra: on each subflow a classic controller and a learning agent propose rates, and a utility decides between them.
// Source: Yu, Zheng, Du, Chen, "MPLibra: Complementing the Benefits of Classic and Learning-based Multipath Congestion
// Control".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "../agent/agent_options.h"
#include "../agent/scaling.h"
#include "../listed.h"
#include "balia.h"
#include "lia.h"
#include "mplibra_rules.h"
#include "olia.h"
#include "wvegas.h"

namespace subflow {

// Rates x are packets per second; x_prev is the base rate, the result of the previous cycle. A cycle starts with the
// exploration: the classic controller sets the window for a round trip, then the agent acts. If both proposals agree,
// the exploration continues. Otherwise both rates are evaluated for half a round trip each, and the better one is
// exploited. A round trip is the smoothed RTT at the start of a stage.
class MpLibra {
public:
    enum class Stage : std::uint8_t {
        Beginning,     // before the first RTT sample
        Exploration,   // the classic controller sets cwnd
        Evaluation,    // paced at one candidate, then at the other
        Feedback,      // paced at x_prev while the results arrive
        Exploitation,  // paced at the chosen rate
    };
    // Purpose of an interval, stored in its tag as tag % 8.
    enum class Part : std::uint8_t { None, First, Explored, OfClassic, OfAgent, Awaiting, Exploited };

    static constexpr std::array<std::string_view, 4> kClassics{Olia::kInfo.name, Lia::kInfo.name, Balia::kInfo.name,
                                                               WVegas::kInfo.name};
    static constexpr std::array<std::string_view, 2> kArgmaxes{"alg2", "prose"};
    static constexpr std::array<std::string_view, 2> kPrices{"by_rate", "alone"};
    static constexpr std::array<std::string_view, 2> kRewards{"linear", "log"};
    static constexpr std::array<std::string_view, 2> kSeenStages{"all", "exploration"};
    static constexpr double kLeastShare = 0.01;  // minimum of x / x_max in the logarithm

    static constexpr double kThreshold = 0.2;  // theta, relative to x_prev
    static constexpr double kExploitationRtts = 1;
    static constexpr double kBeta = 10;
    static constexpr double kGamma = 5;
    static constexpr double kActionRange = 5;  // windows times 2^-5 to 2^5
    static constexpr double kHistory = 10;
    static constexpr double kLossWeight = 10;  // factor of the loss ratio in the reward

    // Smaller RTT gradients, and gradients from fewer packets, are noise.
    static constexpr double kGradientFloor = 0.01;
    static constexpr std::uint32_t kGradientPkts = 4;
    // An interval with fewer packets yields no utility.
    static constexpr std::uint32_t kEvidencePkts = 3;
    // Nor does an interval that was sent below this share of its rate.
    static constexpr double kReachedShare = 0.9;
    // Bounds of the agent's window: two packets and this number of bandwidth-delay products.
    static constexpr double kLeastWindow = 2;
    static constexpr double kMostBdps = 4;
    // While the subflow is paced, the window only limits a sender without feedback.
    static constexpr double kCwndGain = 2;
    static constexpr double kMinCwnd = 4;
    // Packets that may leave in a burst when the window becomes the limit again (RFC 6928). If the window has room for
    // more, the packets are paced at twice the window's rate, as Linux paces slow start.
    static constexpr double kBurst = 10;
    static constexpr double kBurstPacing = 2;

    static constexpr auto kOptions = [] {
        constexpr std::array own{
            OptionInfo{
                .key = "classic",
                .kind = OptionKind::Choice,
                .help = "The classic controller whose cwnd is compared with the agent's.",
                .default_choice = kClassics[0],
                .choices = kClassics,
            },
            OptionInfo{
                .key = "theta",
                .kind = OptionKind::Number,
                .help = "Rates that differ by at least this share of the base rate are evaluated.",
                .default_number = kThreshold,
                .minimum = 0,
                .maximum = 10,
            },
            OptionInfo{
                .key = "exploitation",
                .kind = OptionKind::Number,
                .help = "Round trips for which the chosen rate is kept before the next exploration.",
                .default_number = kExploitationRtts,
                .minimum = 0,
                .maximum = 3,
                .unit = "RTT",
            },
            OptionInfo{
                .key = "beta",
                .kind = OptionKind::Number,
                .help = "Weight of loss in the utility. At T Mbit/s more rate pays below a loss of 1 / (beta T).",
                .default_number = kBeta,
                .minimum = 0,
                .maximum = 1e6,
            },
            OptionInfo{
                .key = "gamma",
                .kind = OptionKind::Number,
                .help = "Weight of the growth of the RTT in the utility.",
                .default_number = kGamma,
                .minimum = 0,
                .maximum = 1e6,
            },
            OptionInfo{
                .key = "price",
                .kind = OptionKind::Choice,
                .help = "by_rate: beta and gamma are multiplied by T, as printed, so at ten times the rate, a tenth "
                        "of the loss stops growth. alone: they are not, so that loss is the same for all paths.",
                .default_choice = kPrices[0],
                .choices = kPrices,
            },
            OptionInfo{
                .key = "falling_rtt",
                .kind = OptionKind::Flag,
                .help = "Falling RTTs count in full in favour of a rate, as printed: while a queue drains, the lower "
                        "rate usually wins, however low. Off: they count as the smallest change above noise, 0.01 s/s.",
                .default_number = 0,
            },
            OptionInfo{
                .key = "argmax_over",
                .kind = OptionKind::Choice,
                .help = "Candidates of the utility. alg2: both candidates and the previous base rate; prose: "
                        "only the candidates.",
                .default_choice = kArgmaxes[0],
                .choices = kArgmaxes,
            },
            OptionInfo{
                .key = "action_range",
                .kind = OptionKind::Number,
                .help = "The agent multiplies the cwnd by 2 to the power of its action times this: 5 in the paper, 2 "
                        "in Orca.",
                .default_number = kActionRange,
                .minimum = 0.1,
                .maximum = 5,
            },
            kSeenRttOption,
            OptionInfo{
                .key = "sees",
                .kind = OptionKind::Choice,
                .help = "Time that a record of the agent covers. all: all stages since its last action; exploration: "
                        "the exploration alone, as in the paper.",
                .default_choice = kSeenStages[0],
                .choices = kSeenStages,
            },
            OptionInfo{
                .key = "reward_over",
                .kind = OptionKind::Choice,
                .help = "Time that the reward of an action covers. all: until the next action, with the trials of "
                        "both rates; exploration: the exploration alone. With sees = all, it is always all.",
                .default_choice = kSeenStages[0],
                .choices = kSeenStages,
            },
            OptionInfo{
                .key = "reward",
                .kind = OptionKind::Choice,
                .help = "How the agent's reward uses rate and RTT relative to their extremes. linear: the ratios, as "
                        "printed; log: their logarithms, with which doubling is worth the same at any rate.",
                .default_choice = kRewards[0],
                .choices = kRewards,
            },
            OptionInfo{
                .key = "reward_throughput",
                .kind = OptionKind::Number,
                .help = "Weight of the delivery rate, relative to its maximum so far, in the agent's reward.",
                .default_number = 1,
                .minimum = 0,
                .maximum = 1e3,
            },
            OptionInfo{
                .key = "reward_delay",
                .kind = OptionKind::Number,
                .help = "Weight of the RTT, relative to its minimum so far, in the agent's reward.",
                .default_number = 1,
                .minimum = 0,
                .maximum = 1e3,
            },
            OptionInfo{
                .key = "reward_loss",
                .kind = OptionKind::Number,
                .help = "Weight of the loss ratio in the agent's reward.",
                .default_number = kLossWeight,
                .minimum = 0,
                .maximum = 1e3,
            },
        };
        return joined(own, observation_options(kHistory), Olia::kOwnOptions, Balia::kOwnOptions, WVegas::kOwnOptions);
    }();

    static constexpr auto kRules = [] {
        RuleList<mplibra_rules::kAll.size() + Olia::kOwnRules.size() + Lia::kOwnRules.size() + Balia::kOwnRules.size() +
                 WVegas::kOwnRules.size()>
            all;
        all.add(mplibra_rules::kAll);
        all.add(Olia::kOwnRules);
        all.add(Lia::kOwnRules);
        all.add(Balia::kOwnRules);
        all.add(WVegas::kOwnRules);
        return all;
    }();
    static constexpr AlgorithmInfo kInfo{
        .name = "mplibra",
        .summary = "A classic controller and a learned agent on each subflow; a utility chooses between their rates",
        .source = "Yu, Zheng, Du, Chen, MPLibra",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules.distinct(),
    };

    // Measurements of the stages that the option sees names. Ratios x of rates and RTTs are shown as ln(1 + min(x,
    // 10)).
    static constexpr std::array kFeatures{
        NumberInfo{"sending_rate", "1", "sending rate / reference rate", 0, kScaledMaximum},
        NumberInfo{"rtt", "1", "RTT of the epoch (option rtt) / lowest RTT", 0, kScaledMaximum},
        NumberInfo{"min_rtt", "1", "lowest RTT / 100 ms", 0, kScaledMaximum},
        NumberInfo{"loss", "1", "lost / (lost + acknowledged)", 0, 1},
        NumberInfo{"delivery_rate", "1", "acknowledged rate / reference rate", 0, kScaledMaximum},
    };
    static constexpr double kMinRttUnit_s = 0.1;
    static constexpr std::array kActions{
        NumberInfo{"rate_exponent", "1", "a: the candidate is 2^(action_range a) of the window", -1, 1},
    };
    static constexpr AgentInfo kAgent{
        .scope = AgentScope::Subflow,
        .features = kFeatures,
        .actions = kActions,
        .reward =
            "w1 x / x_max - w2 d / d_min - w3 l, or with logarithms of both ratios: x delivery rate, d RTT, l loss "
            "ratio; weights 1, 1, 10",
    };

    static constexpr bool kGovernsRecovery = true;

    explicit MpLibra(const Options& options);

    // U = ln T - T (beta L + gamma dRTT/dt), equation (1), with T in Mbit/s > 0; or with 1 in place of the second T.
    static double utility(double total_mbps, double loss_ratio, double rtt_gradient, double beta = kBeta,
                          double gamma = kGamma, bool is_priced_by_rate = true);
    // Loss ratio above which the utility no longer grows with the rate: 1 / (beta T).
    static double break_even_loss(double total_mbps, double beta = kBeta) { return 1 / (beta * total_mbps); }
    // dRTT/dt in the utility: signed, 0 for noise. A fall lasts only until the queue is empty. At full weight it would
    // outweigh any loss of rate, and the utility would accept any proposal of the agent; unless `counts_falls_in_full`,
    // the gradient is therefore at least -kGradientFloor.
    static double gradient_of(const IntervalRecord& record, bool counts_falls_in_full);

    IntervalPlan plan_interval(Window& window, const IntervalMoment& moment);
    NextInterval on_interval(Window& window, IntervalRecord& record, const IntervalMoment& moment,
                             const Siblings& siblings);
    void on_every_ack(Window& window, const AckSample& ack, const Siblings& siblings);
    void on_ack(Window& window, const AckSample& ack, const Siblings& siblings);
    void on_recovery_exit(Window& window, const AckSample& ack, const Siblings& siblings);
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings& siblings);

    EpochPlan epoch_plan() const { return plan_; }
    bool wants_action() const { return wants_action_; }
    std::uint32_t measured_stage() const { return static_cast<std::uint32_t>(cycle_); }
    void epoch_sample(EpochSample& sample) const { sample.utility = base_utility_; }
    void observe(const EpochSample& sample, std::span<float> record);
    double reward(std::span<const EpochSample> samples) const;
    void on_action(Window& window, std::span<const float> action, const ActionMoment& moment);

    Stage stage() const { return stage_; }
    double base_rate_pps() const { return base_pps_; }  // x_prev
    double threshold_pps() const { return threshold_ * base_pps_; }

private:
    using Classic = std::variant<Olia, Lia, Balia, WVegas>;

    // A rate that may become the base rate, and its results.
    struct Candidate {
        double rate_pps = 0;
        double utility = 0;
        std::uint32_t sent_pkts = 0;
        bool is_known = false;
        bool is_conclusive = false;
    };

    static Classic make_classic(const Options& options);
    std::int32_t tag(Part part) const { return cycle_ * 8 + static_cast<std::int32_t>(part); }
    Candidate judge(const IntervalRecord& record) const;
    IntervalPlan plan_exploration(const IntervalMoment& moment);
    IntervalPlan plan_evaluation(Window& window, const IntervalMoment& moment);
    void explore(Window& window, Nanos srtt, double inflight_pkts, Reason* why);
    void begin_exploration(Nanos srtt);
    void pace(Window& window, double rate_pps, Nanos srtt) const;
    void choose(Window& window, const IntervalMoment& moment);
    void advertise(Window& window, Nanos srtt) const;
    template <class Call>
    void call_classic(const Siblings& siblings, Call&& call);

    Classic classic_;
    double threshold_;
    double exploitation_rtts_;
    double beta_;
    double gamma_;
    double action_range_;
    double reward_throughput_;
    double reward_delay_;
    double reward_loss_;
    bool compares_base_;  // the base rate is a candidate, too, as in algorithm 2
    bool is_priced_by_rate_;
    bool rewards_logarithms_;
    bool counts_falls_in_full_;
    EpochPlan plan_;

    Stage stage_ = Stage::Beginning;
    std::int32_t cycle_ = 0;
    bool is_running_ = false;  // an interval of the stage has begun
    bool wants_action_ = false;
    bool is_open_ended_ = false;    // the current interval lasts until a result ends it
    bool is_silent_ = false;        // timed out, without feedback since
    bool is_first_cycle_ = true;    // no cycle has reached an evaluation
    bool has_met_a_limit_ = false;  // slow start has ended
    Nanos stage_srtt_{};
    Nanos stage_end_ = kNever;
    double packet_bits_ = 0;
    double base_pps_ = 0;       // x_prev
    double overruled_pps_ = 0;  // the classic controller's rate if the agent's smaller rate won; 0: not overruled
    double base_utility_ = std::numeric_limits<double>::quiet_NaN();
    double others_pps_ = 0;  // rate advertised by the siblings at the end of the exploration
    Candidate of_classic_;
    Candidate of_agent_;
    Candidate explored_;
    bool agent_is_larger_ = false;
    int tried_ = 0;

    double largest_pps_ = 0;  // x_max of the reward
};
static_assert(CongestionController<MpLibra> && MonitorsIntervals<MpLibra> && MeasuresStages<MpLibra>);

}  // namespace subflow

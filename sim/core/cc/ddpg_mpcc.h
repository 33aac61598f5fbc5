// DDPG-MPCC: MPCC with a learning agent that takes the steps. Slow start and probing remain those of MPCC.
// Source: Pokhrel, Kua, Satish, Ozer, Howe, Walid, "DDPG-MPCC: An Experience Driven Multipath Performance Oriented
// Congestion Control", Future Internet 2024.
#pragma once

#include <array>
#include <string_view>

#include "../agent/agent_options.h"
#include "mpcc.h"

namespace subflow {

// Each step of the agent lasts for one monitor interval. The reward of an action is the utility of that interval, even
// if probing precedes the agent's next turn.
class DdpgMpcc : public Mpcc {
public:
    static constexpr std::array<std::string_view, 2> kBases{"loss", "latency"};
    static constexpr std::array<std::string_view, 2> kRewards{"max", "range"};
    static constexpr double kStep = 0.25;
    static constexpr double kMostReferences = 2;

    static constexpr auto kOptions = [] {
        constexpr std::array own{
            OptionInfo{
                .key = "base",
                .kind = OptionKind::Choice,
                .help = "The utility: of MPCC-loss, or of MPCC-latency, in which a growing round-trip time counts.",
                .default_choice = kBases[0],
                .choices = kBases,
            },
            OptionInfo{
                .key = "step",
                .kind = OptionKind::Ratio,
                .help = "The largest change of the rate that the agent can make in one interval.",
                .default_number = kStep,
                .minimum = 0.01,
                .maximum = 1,
            },
            OptionInfo{
                .key = "reward",
                .kind = OptionKind::Choice,
                .help = "How the utility becomes a reward between 0 and 1. max: divided by the largest so far, 0 if "
                        "negative; range: its position between the smallest and the largest so far.",
                .default_choice = kRewards[0],
                .choices = kRewards,
            },
            kPresetOption,
            kAlphaOption,
            kBetaOption,
            [] {
                OptionInfo gamma = MpccLatency::kGammaOption;
                gamma.base = kBases[1];
                return gamma;
            }(),
            kInitialRateOption,
            kProbeOption,
        };
        return joined(own, observation_options(1));
    }();
    static constexpr AlgorithmInfo kInfo{
        .name = "ddpg-mpcc",
        .summary = "MPCC with a learned agent that takes the steps; meant for the scheduler mpcc-rate",
        .source = "Pokhrel et al., Future Internet 2024",
        .is_coupled = true,
        .scheduler = "mpcc-rate",
        .options = kOptions,
        .rules = mpcc_rules::kAllOfAgent,
    };

    static constexpr std::array kFeatures{
        NumberInfo{"rate", "1", "rate of the last interval / the largest so far", 0, 1},
        NumberInfo{"rtt", "1", "its mean RTT / the largest so far", 0, 1},
        NumberInfo{"loss", "1", "its loss ratio / the largest so far", 0, 1},
    };
    static constexpr std::array kActions{
        NumberInfo{"rate_change", "1", "a: the rate becomes rate (1 + step a)", -1, 1},
    };
    static constexpr AgentInfo kAgent{
        .scope = AgentScope::Subflow,
        .features = kFeatures,
        .actions = kActions,
        .reward = "utility of the interval that was sent at the rate, normalised to [0, 1]",
    };

    explicit DdpgMpcc(const Options& options)
        : Mpcc(options, options.choice("base") == kBases[1], Mover::Agent),
          plan_(read_own_plan(options)),
          step_(options.number("step")),
          counts_range_(options.choice("reward") == kRewards[1]) {}

    // New rate after an action. The upper bound does not lower a rate that is already beyond it, so that a zero action
    // keeps the rate.
    static double moved_bps(double rate_bps, double change, double reference_bps) {
        const double most_bps = std::max(kMostReferences * reference_bps, rate_bps);
        return std::clamp(rate_bps * (1 + change), kMinRate_bps, std::max(most_bps, kMinRate_bps));
    }

    EpochPlan epoch_plan() const { return plan_; }
    bool wants_action() const { return wants_move(); }

    void epoch_sample(EpochSample& sample) const {
        sample.rate_pps = latest().rate_bps / sample.packet_bits;
        sample.rtt_s = latest().rtt_s;
        sample.loss_ratio = latest().loss_ratio;
        sample.utility = moved().utility;
    }

    void observe(const EpochSample& sample, std::span<float> record) {
        record[0] = rate_pps_.place(sample.rate_pps);
        record[1] = rtt_s_.place(sample.rtt_s);
        record[2] = loss_ratio_.place(sample.loss_ratio);
        least_utility_ = std::min(least_utility_, sample.utility);
        largest_utility_ = std::max(largest_utility_, sample.utility);
    }

    double reward(std::span<const EpochSample> samples) const {
        const double utility = samples.front().utility;
        const double floor = counts_range_ ? least_utility_ : 0;
        if (largest_utility_ <= floor) return 0;
        return std::clamp((utility - floor) / (largest_utility_ - floor), 0.0, 1.0);
    }

    void on_action(Window& window, std::span<const float> action, const ActionMoment& moment) {
        if (!wants_move()) return;
        const double a = static_cast<double>(action.front());
        const double reference_bps = moment.reference_pps * moment.packet_bits;
        if (moment.why != nullptr) moment.why->set(mpcc_rules::kAgentMove, {a, rate_bps(), reference_bps});
        move(window, moved_bps(rate_bps(), step_ * a, reference_bps), moment);
    }

private:
    // Scales a value relative to the largest so far.
    class Scale {
    public:
        float place(double value) {
            if (!(value > 0)) return 0;  // zero or unknown
            largest_ = std::max(largest_, value);
            return static_cast<float>(value / largest_);
        }

    private:
        double largest_ = 0;
    };

    EpochPlan plan_;
    double step_;
    bool counts_range_;
    Scale rate_pps_;
    Scale rtt_s_;
    Scale loss_ratio_;
    double least_utility_ = 0;
    double largest_utility_ = 0;
};
static_assert(CongestionController<DdpgMpcc> && MonitorsIntervals<DdpgMpcc> && ChoosesEpochs<DdpgMpcc>);

}  // namespace subflow

// Clean-slate RL: one agent per connection sets all its windows; only loss recovery remains from TCP.
#pragma once

#include <array>

#include "../agent/reward.h"
#include "agent_window.h"

namespace subflow {

// Source: Yu, Zheng, Du, Chen, "MPLibra: Complementing the Benefits of Classic and Learning-Based Multipath Congestion
// Control", the baseline of section II: one monitor interval for all subflows, reward ln sum x_i. The trained policy
// determines the possible numbers of subflows; the paper's policy allows only one number.
// DEVIATION: the paper has one fixed interval and omits its length; here it is the longest smoothed RTT by default, and
// fixed with epoch = time.
class CleanSlate : public AgentWindow {
public:
    static constexpr auto kOptions =
        joined(options_for({.kind = EpochKind::Rtt, .time_s = 0.01, .history = 10}),
               std::array{OptionInfo{
                   .key = "action_range",
                   .kind = OptionKind::Number,
                   .help = "The cwnd is multiplied by 2^(action_range * action). MPLibra has 5, Orca 2.",
                   .default_number = 5,
                   .minimum = 0.01,
                   .maximum = 5,
               }});
    static constexpr RuleInfo kWindowFactor{
        .name = "agent_window_factor",
        .formula = "w * 2^(action_range * action), within [2, 4 reference_bdp]",
        .computed = "cwnd = min(max(cwnd * 2**(action_range * action), 2), 4 * reference_bdp)",
        .source = "Yu et al. (MPLibra), section IV",
        .numbers = {number::kAction,
                    {"action_range", "powers of two that the largest action stands for"},
                    number::kCwnd,
                    number::kReferenceBdp},
    };
    static constexpr std::array kRules{&kSlowStart, &kFirstLoss, &kLossIgnored, &kBackAfterTimeout, &kWindowFactor};
    static constexpr AlgorithmInfo kInfo{
        .name = "clean-slate",
        .summary = "A learned agent per connection sets the cwnd of each subflow; no classic controller remains",
        .source = "Yu et al. (MPLibra), section II",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    static constexpr std::array kFeatures{
        NumberInfo{"sending_rate", "1", "sending rate / reference rate", 0, kScaledMaximum},
        NumberInfo{"rtt", "1", "RTT of the epoch (option rtt) / lowest RTT", 0, kScaledMaximum},
        NumberInfo{"cwnd", "1", "cwnd / (reference rate * lowest RTT)", 0, kScaledMaximum},
        NumberInfo{"loss", "1", "share lost of what was acknowledged or lost", 0, 1},
        NumberInfo{"delivery_rate", "1", "acknowledged rate / reference rate", 0, kScaledMaximum},
    };
    static constexpr std::array kActions{
        NumberInfo{"window_exponent", "1", "a: the window is multiplied by 2^(action_range * a)", -1, 1},
    };
    static constexpr AgentInfo kAgent{
        .scope = AgentScope::Connection,
        .features = kFeatures,
        .actions = kActions,
        .reward =
            "ln(max(goodput of the connection in Mbit/s, 0.01)) - loss_weight loss - delay_weight (rtt / lowest "
            "rtt - 1), the prices summed over the subflows",
    };
    static constexpr double kMostBdps = 4;

    explicit CleanSlate(const Options& options) : AgentWindow(options), range_(options.number("action_range")) {}

    void observe(const EpochSample& sample, std::span<float> record) const {
        record[0] = scaled(sample.sent_pps / sample.reference_pps);
        record[1] = scaled(sample.seen_rtt_s / sample.min_rtt_s);
        record[2] = scaled(sample.cwnd_pkts / sample.reference_bdp_pkts());
        record[3] = static_cast<float>(sample.loss_ratio);
        record[4] = scaled(sample.delivered_pps / sample.reference_pps);
    }

    double reward(std::span<const EpochSample> samples) const {
        double goodput_bps = 0;
        for (const EpochSample& sample : samples) goodput_bps += sample.goodput_bps();
        return log_goodput(goodput_bps) - price(samples);
    }

    void on_action(Window& window, std::span<const float> action, const ActionMoment& moment) {
        const double before = window.cwnd_pkts;
        const double bdp_pkts = reference_bdp_pkts(moment);
        const auto a = static_cast<double>(action[0]);
        if (moment.why != nullptr) moment.why->set(kWindowFactor, {a, range_, before, bdp_pkts});
        const double most = std::max(kMostBdps * bdp_pkts, 4.0);
        steer(window, std::clamp(before * power(2, range_ * a), 2.0, most));
    }

private:
    double range_;
};
static_assert(CongestionController<CleanSlate> && TakesActions<CleanSlate>);

}  // namespace subflow

// DRL-CC: one agent sets the windows of all MPTCP flows of a host, and also observes its TCP flows.
#pragma once

#include <array>

#include "../agent/reward.h"
#include "agent_window.h"

namespace subflow {

// Source: Xu, Tang, Yin, Wang, Xue, "Experience-Driven Congestion Control: When Multi-Path TCP Meets Deep
// Reinforcement Learning", IEEE JSAC 2019, section III.
class DrlCc : public RelativeWindow {
public:
    static constexpr std::array<std::string_view, 2> kStates{"turn", "epoch"};
    static constexpr auto kOptions =
        joined(options_for({.kind = EpochKind::Time, .time_s = 0.1}),
               std::array{
                   OptionInfo{
                       .key = "state",
                       .kind = OptionKind::Choice,
                       .help = "Time that the state of a flow covers. turn: from one turn of the flow to the next; "
                               "epoch: since the agent's last decision, for all flows, as in the paper.",
                       .default_choice = kStates[0],
                       .choices = kStates,
                   },
                   OptionInfo{
                       .key = "shows_kind",
                       .kind = OptionKind::Flag,
                       .help = "The agent sees which subflows belong to MPTCP flows and which are new. The paper has "
                               "no such inputs; without the option they are 0.",
                       .default_number = 1,
                   },
               });
    static constexpr AlgorithmInfo kInfo{
        .name = "drl-cc",
        .summary = "One learned agent sets the cwnd of all MPTCP flows of a host",
        .source = "Xu et al., IEEE JSAC 2019",
        .is_coupled = true,
        .options = kOptions,
        .rules = kRules,
    };

    // The paper's five features, and two that distinguish the kinds of flows. Ratios x are shown as ln(1 + min(x, 10)).
    static constexpr std::array kFeatures{
        NumberInfo{"sending_rate", "1", "sending rate / reference rate", 0, kScaledMaximum},
        NumberInfo{"goodput", "1", "acknowledged rate / reference rate", 0, kScaledMaximum},
        NumberInfo{"rtt", "1", "RTT of the epoch (option rtt) / lowest RTT", 0, kScaledMaximum},
        NumberInfo{"rtt_deviation", "1", "mean deviation of the RTT / lowest RTT", 0, kScaledMaximum},
        NumberInfo{"cwnd", "1", "cwnd / (reference rate * lowest RTT)", 0, kScaledMaximum},
        NumberInfo{"is_mptcp", "1", "1 for a subflow of an MPTCP flow, 0 for TCP", 0, 1},
        NumberInfo{"is_new", "1", "1 in the first epoch of the subflow", 0, 1},
    };
    static constexpr std::array kActions{kWindowAction};
    static constexpr AgentInfo kAgent{
        .scope = AgentScope::Host,
        .features = kFeatures,
        .actions = kActions,
        .reward =
            "sum over the flows of ln(max(goodput in Mbit/s, a packet per epoch)) - loss_weight loss - delay_weight "
            "(rtt / min_rtt - 1)",
    };

    explicit DrlCc(const Options& options)
        : RelativeWindow(options),
          measures_all_(options.choice("state") == kStates[1]),
          shows_kind_(options.number("shows_kind") != 0) {}

    EpochPlan epoch_plan() const {
        EpochPlan plan = RelativeWindow::epoch_plan();
        plan.measures_all = measures_all_;
        return plan;
    }

    void observe(const EpochSample& sample, std::span<float> record) const {
        record[0] = scaled(sample.sent_pps / sample.reference_pps);
        record[1] = scaled(sample.delivered_pps / sample.reference_pps);
        record[2] = scaled(sample.seen_rtt_s / sample.min_rtt_s);
        record[3] = scaled(sample.rtt_dev_s / sample.min_rtt_s);
        record[4] = scaled(sample.cwnd_pkts / sample.reference_bdp_pkts());
        record[5] = shows_kind_ && sample.is_multipath ? 1 : 0;
        record[6] = shows_kind_ && sample.is_new ? 1 : 0;
    }

    // Proportional fairness over all MPTCP and TCP flows, minus the penalty for losses and delay.
    double reward(std::span<const EpochSample> samples) const {
        return proportional_fairness(samples) - price(samples);
    }

    void on_action(Window& window, std::span<const float> action, const ActionMoment& moment) {
        change_window(window, static_cast<double>(action[0]), moment);
    }

private:
    bool measures_all_;
    bool shows_kind_;
};
static_assert(CongestionController<DrlCc> && TakesActions<DrlCc>);

}  // namespace subflow

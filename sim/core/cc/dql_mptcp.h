// DQL-MPTCP: one agent per connection sets the windows of its subflows and their shares of the packets.
#pragma once

#include <array>

#include "../agent/reward.h"
#include "agent_window.h"

namespace subflow {

// The scheduler `goodput` uses the shares: with theta_n the subflow's delivery rate and z_n the agent's logit, it
// distributes batches by softmax(z_n + ln theta_n). Other schedulers ignore the shares.
// Source: Pokhrel, Walid, "Learning to Harness Bandwidth with Multipath Congestion Control and Scheduling", IEEE TMC
// 2021, section III.
class DqlMptcp : public RelativeWindow {
public:
    static constexpr auto kOptions = options_for({.kind = EpochKind::Rtt, .time_s = 0.05});
    static constexpr AlgorithmInfo kInfo{
        .name = "dql-mptcp",
        .summary = "A learned agent per connection sets cwnd and scheduling together; meant for the scheduler goodput",
        .source = "Pokhrel, Walid, IEEE TMC 2021",
        .is_coupled = true,
        .scheduler = "goodput",
        .options = kOptions,
        .rules = kRules,
    };

    // The paper's six features. Ratios x of rates and RTTs are shown as ln(1 + min(x, 10)).
    static constexpr std::array kFeatures{
        NumberInfo{"sending_rate", "1", "sending rate / reference rate", 0, kScaledMaximum},
        NumberInfo{"throughput", "1", "acknowledged rate / reference rate", 0, kScaledMaximum},
        NumberInfo{"rtt", "1", "RTT of the epoch (option rtt) / lowest RTT", 0, kScaledMaximum},
        NumberInfo{"cwnd_change", "1", "change of the cwnd in the last slot / cwnd", -1, 1},
        NumberInfo{"schedule", "1", "share of the packets that the connection handed out in the last slot", 0, 1},
        NumberInfo{"rtt_change", "1", "change of that RTT since the previous slot / lowest RTT", -1, 1},
    };
    static constexpr std::array kActions{
        kWindowAction,
        NumberInfo{"schedule_change", "1", "z: the subflow's share of a batch is proportional to e^z theta", -1, 1},
    };
    static constexpr AgentInfo kAgent{
        .scope = AgentScope::Connection,
        .features = kFeatures,
        .actions = kActions,
        .reward =
            "sum over the subflows of ln(max(goodput in Mbit/s, a packet per epoch)) - loss_weight loss - delay_weight "
            "(rtt / min_rtt - 1)",
    };
    // Index of the action that is the subflow's logit in the scheduler.
    static constexpr std::size_t kScheduleAction = 1;

    using RelativeWindow::RelativeWindow;

    void observe(const EpochSample& sample, std::span<float> record) const {
        record[0] = scaled(sample.sent_pps / sample.reference_pps);
        record[1] = scaled(sample.delivered_pps / sample.reference_pps);
        record[2] = scaled(sample.seen_rtt_s / sample.min_rtt_s);
        record[3] = scaled_change(sample.cwnd_change_pkts / sample.cwnd_pkts);
        record[4] = static_cast<float>(sample.schedule_share);
        record[5] = scaled_change(sample.rtt_change_s / sample.min_rtt_s);
    }

    double reward(std::span<const EpochSample> samples) const {
        double sum = 0;
        for (const EpochSample& sample : samples)
            sum += log_goodput(std::max(sample.goodput_bps(), least_goodput_bps(sample)));
        return sum - price(samples);
    }

    void on_action(Window& window, std::span<const float> action, const ActionMoment& moment) {
        change_window(window, static_cast<double>(action[0]), moment);
    }
};
static_assert(CongestionController<DqlMptcp> && TakesActions<DqlMptcp>);

}  // namespace subflow

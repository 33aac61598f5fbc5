// A window controlled by a learning agent: common base of drl-cc, dql-mptcp and clean-slate.
#pragma once

#include <algorithm>
#include <cmath>

#include "../agent/agent_options.h"
#include "../agent/scaling.h"
#include "controller.h"
#include "power.h"

namespace subflow {

// Slow start runs until the agent's first action or the first loss, which halves the window; then the agent sets the
// window. Later losses are retransmitted and do not change the window. After a timeout, slow start returns from one
// packet to the agent's window.
// Source: Xu et al., "Experience-driven congestion control", JSAC 2019, section III: a hook in the kernel sets the
// window, and TCP keeps its loss recovery.
class AgentWindow {
public:
    static constexpr RuleInfo kFirstLoss{
        .name = "agent_first_loss",
        .formula = "half the window ends slow start, before the agent has acted",
        .computed = "cwnd = cwnd / 2",
        .source = "RFC 5681 section 3.1",
        .numbers = {number::kCwnd},
    };
    static constexpr RuleInfo kLossIgnored{
        .name = "agent_keeps_window",
        .formula = "the agent's window stays, the loss is repaired",
        .computed = "cwnd = cwnd",
        .source = "Xu et al., JSAC 2019, section III",
        .numbers = {number::kCwnd},
    };
    static constexpr RuleInfo kBackAfterTimeout{
        .name = "agent_timeout",
        .formula = "one packet; slow start leads back to the agent's window, ssthresh",
        .source = "RFC 5681 section 3.1; Xu et al., JSAC 2019, section III",
        .numbers = {{"agent_window_pkts", "cwnd that the learning agent wanted"}},
    };

    static constexpr bool kGovernsRecovery = true;

    static constexpr std::array<std::string_view, 2> kDelayPrices{"linear", "log"};

    // Additional terms beyond the papers' rewards. Without them, windows far beyond the queues' capacity score nearly
    // as well as windows that just fill the links, and agents learn to overload the path.
    static constexpr std::array kRewardOptions{
        OptionInfo{
            .key = "loss_weight",
            .kind = OptionKind::Number,
            .help = "Price of the share of lost packets in the reward, for each subflow. The paper has no such term.",
            .default_number = 0,
            .minimum = 0,
            .maximum = 100,
        },
        OptionInfo{
            .key = "delay_weight",
            .kind = OptionKind::Number,
            .help = "Price of RTT / lowest RTT - 1 in the reward, for each subflow. The paper has no such term.",
            .default_number = 0,
            .minimum = 0,
            .maximum = 100,
        },
        OptionInfo{
            .key = "delay_price",
            .kind = OptionKind::Choice,
            .help = "How the price of delay grows: in proportion, or with ln(RTT / lowest RTT), so that a path whose "
                    "queue the agent cannot shorten does not outweigh the others.",
            .default_choice = kDelayPrices[0],
            .choices = kDelayPrices,
        },
        OptionInfo{
            .key = "free_delay",
            .kind = OptionKind::Number,
            .help = "RTT / lowest RTT - 1 costs nothing up to this value. Without a queue, a full link looks the "
                    "same as one that is not full: an agent that pays for the smallest queue settles for either.",
            .default_number = 0,
            .minimum = 0,
            .maximum = 10,
        },
    };
    static constexpr auto options_for(const EpochDefaults& defaults) {
        return joined(agent_options(defaults), kRewardOptions);
    }

    explicit AgentWindow(const Options& options)
        : plan_(read_epoch_plan(options)),
          loss_weight_(options.number("loss_weight")),
          delay_weight_(options.number("delay_weight")),
          free_delay_(options.number("free_delay")),
          delay_is_log_(options.choice("delay_price") == kDelayPrices[1]) {}

    EpochPlan epoch_plan() const { return plan_; }

    void on_ack(Window& window, const AckSample& ack, const Siblings&) {
        if (window.in_slow_start()) slow_start(window, ack.acked_pkts, ack.why);
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        const double before = window.cwnd_pkts;
        if (event.kind == CongestionKind::Timeout) {
            // After the agent's first action, ssthresh is the agent's window, and repeated timeouts do not change it.
            if (std::isinf(window.ssthresh_pkts)) window.ssthresh_pkts = std::max(before / 2, 1.0);
            if (event.why != nullptr) event.why->set(kBackAfterTimeout, {window.ssthresh_pkts});
        } else if (has_acted_) {
            if (event.why != nullptr) event.why->set(kLossIgnored, {before});
        } else {
            window.ssthresh_pkts = window.cwnd_pkts = std::max(before / 2, 2.0);
            if (event.why != nullptr) event.why->set(kFirstLoss, {before});
        }
    }

protected:
    // Sets the window to the agent's value. A slow start after a timeout continues unless the value lowers the window.
    void steer(Window& window, double cwnd_pkts) {
        has_acted_ = true;
        const bool is_on_its_way = !std::isinf(window.ssthresh_pkts) && window.in_slow_start();
        const bool goes_on = is_on_its_way && cwnd_pkts >= window.cwnd_pkts;
        window.ssthresh_pkts = goes_on ? std::max(window.ssthresh_pkts, cwnd_pkts) : cwnd_pkts;
        window.cwnd_pkts = cwnd_pkts;
    }

    // Penalty for losses and queueing delay; 0 with the default weights.
    double price(std::span<const EpochSample> samples) const {
        double price = 0;
        for (const EpochSample& sample : samples) {
            price += loss_weight_ * sample.loss_ratio;
            if (delay_weight_ > 0) {
                const double delay = std::max(sample.seen_rtt_s / sample.min_rtt_s - 1 - free_delay_, 0.0);
                price += delay_weight_ * (delay_is_log_ ? natural_log(1 + delay) : delay);
            }
        }
        return price;
    }

    // Product of the reference rate and the minimum RTT in packets (BDP_ref).
    static double reference_bdp_pkts(const ActionMoment& moment) {
        return moment.reference_pps * to_seconds(moment.min_rtt);
    }

private:
    EpochPlan plan_;
    double loss_weight_;
    double delay_weight_;
    double free_delay_;
    bool delay_is_log_;
    bool has_acted_ = false;
};

// The action of drl-cc and dql-mptcp: w + a max(w/2, 2), a in [-1, 1], within [2, 10 BDP_ref].
// DEVIATION: the papers define a "change of the window" without a scale; this scale changes large windows in
// proportion, and windows below four packets by up to two packets. The minimum is 2, because the receiver delays the
// ACK of a single packet. This delay resembles a queue, and an agent that lowers the window in response would stay at
// one packet.
class RelativeWindow : public AgentWindow {
public:
    static constexpr double kMostBdps = 10;
    static constexpr double kLeastPkts = 2;
    static constexpr RuleInfo kWindowChange{
        .name = "agent_window_change",
        .formula = "w + action * max(w / 2, 2), within [2, 10 reference_bdp]",
        .computed = "cwnd = min(max(cwnd + action * max(cwnd / 2, 2), 2), 10 * reference_bdp)",
        .source = "Xu et al., JSAC 2019, section III; Pokhrel, Walid, IEEE TMC 2021, section III",
        .numbers = {number::kAction, number::kCwnd, number::kReferenceBdp},
    };
    static constexpr std::array kRules{&kSlowStart, &kFirstLoss, &kLossIgnored, &kBackAfterTimeout, &kWindowChange};
    static constexpr NumberInfo kWindowAction{"window_change", "1", "a: the window becomes w + a max(w / 2, 2)", -1, 1};

    using AgentWindow::AgentWindow;

    static double changed_pkts(double cwnd_pkts, double action, double reference_bdp_pkts) {
        const double most = std::max(kMostBdps * reference_bdp_pkts, kLeastPkts);
        return std::clamp(cwnd_pkts + action * std::max(cwnd_pkts / 2, 2.0), kLeastPkts, most);
    }

protected:
    void change_window(Window& window, double action, const ActionMoment& moment) {
        const double before = window.cwnd_pkts;
        const double bdp_pkts = reference_bdp_pkts(moment);
        if (moment.why != nullptr) moment.why->set(kWindowChange, {action, before, bdp_pkts});
        steer(window, changed_pkts(before, action, bdp_pkts));
    }
};

}  // namespace subflow

// RL-explore: a learned agent raises, keeps or lowers the sending rate of one path, and the controller occasionally
// probes higher rates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "../agent/agent_options.h"
#include "../agent/reward.h"
#include "../agent/scaling.h"
#include "controller.h"

namespace subflow {

// Source: "RL-explore", congestion control by PPO and bandwidth probing, section 4; for details that the paper omits,
// the simple_emulator of its authors ("the emulator" below). Rates count packets on the wire. The algorithm has no
// window: the window here only stops a sender without feedback.
class RlExplore {
public:
    static constexpr double kRateFactor = 1.25;  // factor of an increase, a decrease and a probe
    // throughput_max is the largest throughput of this number of epochs; fewer at the start
    static constexpr std::uint32_t kThroughputEpochs = 5;
    static constexpr double kLatencyWeight = 10;        // cost in the reward per second of latency
    static constexpr double kLossWeight = 10;           // factor of the loss ratio in the reward
    static constexpr double kStartingRate_bps = 6e6;    // the emulator's demonstration: 500 packets/s of 1500 bytes
    static constexpr std::uint32_t kIntervalPkts = 50;  // the emulator's demonstration
    static constexpr std::uint32_t kProbeInterval = 8;  // the paper writes "several"
    static constexpr double kRateFloor_bps = 120e3;
    static constexpr double kBitsPerPacket = 12'000;  // packet size behind the rates in the options
    static constexpr double kFewestPkts = 10;         // per epoch: fewer packets measure no throughput
    static constexpr double kShortestEpoch_s = 1e-4;  // ACKs that arrive together measure no throughput
    // DEVIATION: an agent that always raises the rate would flood the path. The rate is therefore at most twice the
    // throughput, as slow start doubles its rate per round trip.
    static constexpr double kMostThroughputs = 2;
    static constexpr double kCwndGain = 2.5;  // as in vivace
    static constexpr double kMinCwnd = 4;

    // Indices of the choices.
    static constexpr double kDecrease = 0;
    static constexpr double kKeep = 1;
    static constexpr double kIncrease = 2;

    static constexpr auto kOptions = [] {
        auto common = agent_options({.kind = EpochKind::Packets, .time_s = 0.01, .packets = kIntervalPkts});
        std::ranges::find(common, std::string_view("epoch_packets"), &OptionInfo::key)->minimum = kFewestPkts;
        constexpr std::array own{
            OptionInfo{
                .key = "probe_bw",
                .kind = OptionKind::Flag,
                .help = "ProbeBW: every few decisions, one that does not lower the rate raises it once more. Without "
                        "it, only reinforcement learning decides.",
                .default_number = 1,
            },
            OptionInfo{
                .key = "probe_interval",
                .kind = OptionKind::Number,
                .help = "Decisions from one probe to the next.",
                .default_number = kProbeInterval,
                .minimum = 1,
                .maximum = 1000,
            },
            OptionInfo{
                .key = "throughput_epochs",
                .kind = OptionKind::Number,
                .help = "Number of epochs over which throughput_max, which the agent sees and is rewarded for, is "
                        "the maximum. With the paper's 5, one epoch at the full rate is rewarded five times.",
                .default_number = kThroughputEpochs,
                .minimum = 1,
                .maximum = kThroughputEpochs,
            },
            OptionInfo{
                .key = "rate_factor",
                .kind = OptionKind::Number,
                .help = "Factor by which the rate is multiplied to raise it, and divided to lower it.",
                .default_number = kRateFactor,
                .minimum = 1.001,
                .maximum = 4,
            },
            OptionInfo{
                .key = "starting_rate",
                .kind = OptionKind::Rate,
                .help = "Until the first decision, of packets of 1500 bytes.",
                .default_number = kStartingRate_bps,
                .minimum = 100e3,
                .maximum = 100e6,
            },
            OptionInfo{
                .key = "rate_floor",
                .kind = OptionKind::Rate,
                .help = "The rate never falls below this, of packets of 1500 bytes.",
                .default_number = kRateFloor_bps,
                .minimum = 12e3,
                .maximum = 100e6,
            },
        };
        return joined(common, own);
    }();

    static constexpr RuleNumber kThroughputMax{"throughput_max_pps", "largest rate that has arrived"};

    static constexpr RuleInfo kRateChoice{
        .name = "agent_rate",
        .formula =
            "rate / factor (choice 0), rate (1) or rate * factor (2), within [rate_floor, 2 throughput_max] or "
            "the rate at the start",
        .source = "RL-explore, section 4.1",
        .numbers = {number::kChoice, number::kRatePps, kThroughputMax},
    };
    static constexpr RuleInfo kProbe{
        .name = "probe_bw",
        .formula = "factor times what the agent chose, once every probe_interval choices unless it lowers the rate",
        .source = "RL-explore, section 4.1 (ProbeBW)",
        .numbers = {number::kChoice, number::kRatePps, kThroughputMax},
    };
    static constexpr RuleInfo kSafetyCap{
        .name = "agent_rate_cap",
        .formula = "cwnd = max(2.5 rate srtt, 4): room for what is sent at the agent's rate",
        .computed = "cwnd = max(2.5 * rate * srtt, 4)",
        .source = "as in vivace (PCC-Uspace)",
        .numbers = {number::kRatePps, number::kSrtt},
    };
    // DEVIATION: the emulator reports each loss to the sender, so that the paper does not treat a path without
    // feedback. An agent that decides after a number of ACKs and losses would otherwise keep its rate on such a path
    // for a long time.
    static constexpr RuleInfo kSilence{
        .name = "agent_silence",
        .formula = "rate / 2, not below rate_floor: no ACK arrived for a retransmission timeout",
        .computed = "rate = rate / 2",
        .source = "RFC 8085 section 3.1.1",
        .numbers = {number::kRatePps},
    };
    static constexpr RuleInfo kLossSeen{
        .name = "agent_keeps_rate",
        .formula = "the agent's rate stays, the loss is repaired and enters the agent's observation",
        .computed = "rate = rate",
        .source = "RL-explore, section 4.1",
        .numbers = {number::kRatePps},
    };
    static constexpr std::array kRules{&kRateChoice, &kProbe, &kSafetyCap, &kSilence, &kLossSeen};
    static constexpr AlgorithmInfo kInfo{
        .name = "rl-explore",
        .summary = "A learned agent raises, keeps or lowers the sending rate, and occasionally probes for more",
        .source = "RL-explore: PPO with ProbeBW",
        .options = kOptions,
        .rules = kRules,
    };

    // DEVIATION: the paper only states "normalised". Here throughput is relative to the recent maximum on the path, and
    // the sending rate to the throughput, because their ratio shows overload; latency is the queueing delay relative to
    // the minimum RTT.
    static constexpr std::array kFeatures{
        NumberInfo{"throughput_max", "1", "largest acknowledged rate of the last 5 epochs / reference rate", 0,
                   kScaledMaximum},
        NumberInfo{"loss", "1", "share lost of what was acknowledged or lost", 0, 1},
        NumberInfo{"sending_rate", "1", "sending rate / largest acknowledged rate of the last 5 epochs", 0,
                   kScaledMaximum},
        NumberInfo{"latency", "1", "RTT of the epoch (option rtt) / lowest RTT - 1", 0, kScaledMaximum},
    };
    static constexpr std::array<std::string_view, 3> kChoices{"decrease", "keep", "increase"};
    static constexpr AgentInfo kAgent{
        .scope = AgentScope::Subflow,
        .features = kFeatures,
        .actions = {},
        .choices = kChoices,
        .neutral_choice = kKeep,
        .reward = "ln(max(throughput_max in Mbit/s on the wire, 0.01)) - 10 RTT in s - 10 loss ratio",
    };

    // The rate controls sending, also in recovery.
    static constexpr bool kGovernsRecovery = true;

    explicit RlExplore(const Options& options)
        : plan_(read_epoch_plan(options)),
          rate_factor_(options.number("rate_factor")),
          starting_rate_pps_(options.number("starting_rate") / kBitsPerPacket),
          rate_floor_pps_(options.number("rate_floor") / kBitsPerPacket),
          throughput_epochs_(static_cast<std::uint32_t>(options.number("throughput_epochs"))),
          probe_interval_(static_cast<std::uint32_t>(options.number("probe_interval"))),
          probes_(options.number("probe_bw") != 0) {}

    EpochPlan epoch_plan() const { return plan_; }

    // Reward of an epoch, RL-explore, equation (4): throughput on the wire, and the RTT that the agent sees.
    static double reward_of(double throughput_mbps, double latency_s, double loss_ratio) {
        return log_goodput(throughput_mbps * 1e6) - kLatencyWeight * latency_s - kLossWeight * loss_ratio;
    }

    void on_start(Window& window, std::uint64_t) { window.pacing_pps = std::max(starting_rate_pps_, rate_floor_pps_); }

    void on_every_ack(Window& window, const AckSample& ack, const Siblings&) {
        // A timeout may have reduced the window to one packet, and the RTT may have changed.
        make_room(window, ack.srtt);
        if (ack.why != nullptr) ack.why->set(kSafetyCap, {window.pacing_pps, to_seconds(ack.srtt)});
    }

    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) {
        if (event.kind != CongestionKind::Timeout) {
            if (event.why != nullptr) event.why->set(kLossSeen, {window.pacing_pps});
            return;
        }
        if (event.why != nullptr) event.why->set(kSilence, {window.pacing_pps});
        window.pacing_pps = std::max(window.pacing_pps / 2, rate_floor_pps_);
        window.ssthresh_pkts = kMinCwnd;  // marks the end of slow start for observers
    }

    void observe(const EpochSample& sample, std::span<float> record) {
        const double length_s = std::max(sample.length_s, kShortestEpoch_s);
        throughputs_pps_[epochs_++ % throughput_epochs_] = sample.delivered_pps * (sample.length_s / length_s);
        const double throughput_pps = throughput_max_pps();
        record[0] = scaled(throughput_pps / sample.reference_pps);
        record[1] = static_cast<float>(sample.loss_ratio);
        record[2] = scaled(sample.sent_pps / throughput_pps);
        record[3] = scaled(sample.seen_rtt_s / sample.min_rtt_s - 1);
    }

    double reward(std::span<const EpochSample> samples) const {
        const EpochSample& own = samples.front();
        const double latency_s = std::isnan(own.seen_rtt_s) ? 0 : own.seen_rtt_s;
        return reward_of(throughput_max_pps() * own.packet_bits * 1e-6, latency_s, own.loss_ratio);
    }

    void on_action(Window& window, std::span<const float> action, const ActionMoment& moment) {
        const double before = window.pacing_pps;
        const double choice = static_cast<double>(action[0]);
        double rate = before;
        if (choice == kDecrease) rate /= rate_factor_;
        if (choice == kIncrease) rate *= rate_factor_;
        bool is_probe = false;
        if (probes_ && ++since_probe_ >= probe_interval_) {
            since_probe_ = 0;
            is_probe = choice != kDecrease;
            if (is_probe) rate *= rate_factor_;
        }
        const double most = std::max(kMostThroughputs * throughput_max_pps(), starting_rate_pps_);
        window.pacing_pps = std::max(std::min(rate, most), rate_floor_pps_);
        window.ssthresh_pkts = kMinCwnd;
        // Without an RTT sample, the initial window stays. After a timeout, the window of one packet stays until the
        // first feedback.
        if (moment.srtt > Nanos(0) && !moment.is_in_loss) make_room(window, moment.srtt);
        if (moment.why != nullptr)
            moment.why->set(is_probe ? kProbe : kRateChoice, {choice, before, throughput_max_pps()});
    }

    double throughput_max_pps() const { return std::ranges::max(throughputs_pps_); }

private:
    static void make_room(Window& window, Nanos srtt) {
        window.cwnd_pkts = std::max(kCwndGain * window.pacing_pps * to_seconds(srtt), kMinCwnd);
    }

    EpochPlan plan_;
    double rate_factor_;
    double starting_rate_pps_;
    double rate_floor_pps_;
    std::uint32_t throughput_epochs_;
    std::uint32_t probe_interval_;
    bool probes_;

    std::array<double, kThroughputEpochs> throughputs_pps_{};
    std::uint32_t epochs_ = 0;
    std::uint32_t since_probe_ = 0;
};
static_assert(CongestionController<RlExplore> && TakesActions<RlExplore>);

}  // namespace subflow

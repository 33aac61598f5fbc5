// Options shared by controllers with a learning agent, each with its own defaults.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "../algorithm.h"
#include "agent_info.h"

namespace subflow {

inline constexpr std::array<std::string_view, 3> kEpochKinds{"time", "rtt", "packets"};
inline constexpr std::array<std::string_view, 2> kSeenRtts{"lowest", "mean"};

struct EpochDefaults {
    EpochKind kind = EpochKind::Time;
    double time_s = 0.1;
    double packets = 50;
    double history = 1;
};

// Option key of the reference rate, which only scales observed rates and does not limit sending.
inline constexpr std::string_view kReferenceRate = "reference_rate";

// Option for agents that see an RTT of the epoch. The papers' agents see its mean.
inline constexpr OptionInfo kSeenRttOption{
    .key = "rtt",
    .kind = OptionKind::Choice,
    .help =
        "RTT of an epoch that the agent sees, and for which its reward is reduced if the reward has an RTT. The "
        "mean includes the receiver's waiting, which resembles a queue.",
    .default_choice = kSeenRtts[0],
    .choices = kSeenRtts,
};

// Options for the observations of all agents: policy, history and scaling of rates.
constexpr std::array<OptionInfo, 4> observation_options(double history) {
    return {
        OptionInfo{
            .key = "policy",
            .kind = OptionKind::Policy,
            .help = "Maker of the decisions: a trained policy by name or file, neutral (changes nothing) or random.",
        },
        OptionInfo{
            .key = "history",
            .kind = OptionKind::Number,
            .help = "Past epochs that the agent sees. A policy is made for one such number.",
            .default_number = history,
            .minimum = 1,
            .maximum = 32,
        },
        OptionInfo{
            .key = kReferenceRate,
            .kind = OptionKind::Rate,
            .help = "Rates are shown to the agent relative to the largest delivery rate of the subflow within "
                    "memory, or to this if it is larger.",
            .default_number = 10e6,
            .minimum = 1e3,
            .maximum = 1e12,
        },
        OptionInfo{
            .key = "memory",
            .kind = OptionKind::Time,
            .help = "How long the largest delivery rate and the lowest RTT are remembered, to which an agent's "
                    "rates, RTTs and cwnd are related. An hour forgets practically nothing.",
            .default_number = 10,
            .minimum = 1,
            .maximum = 3600,
        },
    };
}

// observation_options(), the RTT that the agent sees, and the options for epochs that end by time, RTT or number of
// packets.
constexpr auto agent_options(const EpochDefaults& defaults) {
    const std::array epochs{
        OptionInfo{
            .key = "epoch",
            .kind = OptionKind::Choice,
            .help = "When the agent decides: after a fixed time, after a round trip, or after so many packets.",
            .default_choice = kEpochKinds[static_cast<std::size_t>(defaults.kind)],
            .choices = kEpochKinds,
        },
        OptionInfo{
            .key = "epoch_time",
            .kind = OptionKind::Time,
            .help = "The fixed time in which each flow of the agent is served once, or the minimum duration of a "
                    "round trip's epoch.",
            .default_number = defaults.time_s,
            .minimum = 0.001,
            .maximum = 60,
        },
        OptionInfo{
            .key = "epoch_packets",
            .kind = OptionKind::Number,
            .help = "Packets acknowledged or lost after which the agent decides.",
            .default_number = defaults.packets,
            .minimum = 1,
            .maximum = 1e6,
        },
    };
    return joined(epochs, observation_options(defaults.history), std::array{kSeenRttOption});
}

// Plan of a controller that ends its epochs by its own rule.
inline EpochPlan read_own_plan(const Options& options) {
    return {.kind = EpochKind::Own,
            .history = static_cast<std::uint32_t>(options.number("history")),
            .reference_bps = options.number(kReferenceRate),
            .memory = from_seconds(options.number("memory"))};
}

inline bool sees_mean_rtt(const Options& options) {
    return options.choice("rtt") == kSeenRtts[1];
}

inline EpochPlan read_epoch_plan(const Options& options) {
    EpochPlan plan = read_own_plan(options);
    const auto kind = std::ranges::find(kEpochKinds, options.choice("epoch")) - kEpochKinds.begin();
    plan.kind = static_cast<EpochKind>(kind);
    plan.time = from_seconds(options.number("epoch_time"));
    plan.packets = static_cast<std::uint32_t>(options.number("epoch_packets"));
    plan.sees_mean_rtt = sees_mean_rtt(options);
    return plan;
}

}  // namespace subflow

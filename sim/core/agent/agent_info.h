// Describes a learning agent to the simulator: its scope, observations, actions and epochs.
//
// An agent acts at the end of each epoch. Its observation covers the epoch that ends, its action takes effect
// immediately, and the reward of the action is measured over the following epoch. All values derive from the state of
// senders, which is never ahead of the clock. They therefore do not depend on how a caller divides a run into calls of
// Network::run_until().
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "../units.h"

namespace subflow {

// The subflows for which one agent decides.
enum class AgentScope : std::uint8_t {
    Host,        // all flows that a host sends; each epoch serves one flow, in turn
    Connection,  // the subflows of a connection
    Subflow,     // each subflow separately
};

// Condition that ends an epoch.
enum class EpochKind : std::uint8_t {
    Time,     // after a fixed time; AgentScope::Host: each flow is served once in that time
    Rtt,      // after the longest smoothed RTT of the acting subflows, but at least EpochPlan::time
    Packets,  // once EpochPlan::packets packets of the agent's subflows are delivered or lost
    Own,      // when the controller requests it (ChoosesEpochs)
};

struct EpochPlan {
    EpochKind kind = EpochKind::Time;
    Nanos time{};                  // length of an epoch (Time) or its minimum (Rtt)
    std::uint32_t packets = 0;     // number of packets that ends an epoch (Packets)
    std::uint32_t history = 1;     // records per subflow in an observation, latest first
    double reference_bps = 10e6;   // lower bound of the reference rate (EpochSample::reference_pps)
    Nanos memory{10'000'000'000};  // how long the largest rate and the smallest RTT are kept as scales
    bool sees_mean_rtt = false;    // EpochSample::seen_rtt_s is rtt_s, not least_rtt_s
    // AgentScope::Host: each decision measures all flows since the last one, not only the flow whose turn it is
    bool measures_all = false;
    // EpochKind::Own: a sample covers the time since the controller's measured_stage() changed
    bool measures_stage = false;
    // With measures_stage: the reward nevertheless covers the whole time since the last decision
    bool rewards_all_stages = false;
};

// One number of an observation or an action of a subflow.
struct NumberInfo {
    std::string_view name;
    std::string_view unit;  // "1" for ratios
    std::string_view help;
    float minimum = 0;
    float maximum = 0;
};

struct AgentInfo {
    AgentScope scope = AgentScope::Subflow;
    std::span<const NumberInfo> features;            // numbers about each subflow in each record
    std::span<const NumberInfo> actions;             // numbers for each acting subflow, within [minimum, maximum]
    std::span<const std::string_view> choices = {};  // replaces `actions`: an action is the index of one of these
    float neutral_choice = 0;                        // choice without effect; numeric actions use 0
    std::string_view reward;                         // formula, for display

    std::size_t action_width() const { return choices.empty() ? actions.size() : 1; }
};

// Measurements of one subflow over the epoch that ends. NaN: no measurement so far.
struct EpochSample {
    std::uint32_t flow = 0;
    bool is_multipath = false;  // the subflow belongs to an MPTCP flow
    bool is_new = false;        // this is its first epoch

    double length_s = 0;
    double sent_pps = 0;       // sent packets, including retransmissions
    double delivered_pps = 0;  // newly acknowledged packets
    double loss_ratio = 0;     // lost / (lost + acknowledged), of packets resolved in the epoch
    double rtt_s = std::numeric_limits<double>::quiet_NaN();  // mean of the epoch's samples, else the last known value
    double rtt_dev_s = std::numeric_limits<double>::quiet_NaN();  // smoothed mean deviation (RFC 6298)
    // Minimum of the epoch's RTT samples. Rules about queues use it, because delayed ACKs raise the mean RTT of a slow
    // sender as a queue does.
    double least_rtt_s = std::numeric_limits<double>::quiet_NaN();
    double min_rtt_s = std::numeric_limits<double>::quiet_NaN();   // minimum within EpochPlan::memory
    double seen_rtt_s = std::numeric_limits<double>::quiet_NaN();  // least_rtt_s or rtt_s: EpochPlan::sees_mean_rtt
    double rtt_change_s = 0;                                       // change of seen_rtt_s since the previous epoch
    double cwnd_pkts = 0;
    double cwnd_change_pkts = 0;  // change since the previous epoch
    double rate_pps = 0;          // pacing rate; 0: ACK-clocked
    double schedule_share = 0;    // share of the connection's packets handed to this subflow; 0 without packets
    double utility = std::numeric_limits<double>::quiet_NaN();  // only for controllers with a utility

    // Scale for rates: the largest delivery rate of an epoch within EpochPlan::memory, but at least
    // EpochPlan::reference_bps.
    double reference_pps = 0;
    double packet_bits = 0;   // size of a full packet on the wire
    double payload_bits = 0;  // payload of a full packet

    double goodput_bps() const { return delivered_pps * payload_bits; }
    double reference_bdp_pkts() const { return reference_pps * min_rtt_s; }
};

}  // namespace subflow

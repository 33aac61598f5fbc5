// What a learning agent is to the simulator: whom it serves, what it sees, what it may do, and when.
//
// An agent acts at decision epochs. What it sees covers the epoch that ends; what it does takes effect at once; the
// reward of an action is measured over the epoch that follows it. All of it is told from acknowledgements at the
// sending end, so it does not depend on how a run is cut into pieces.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "../units.h"

namespace subflow {

// What decides together, as one agent.
enum class AgentScope : std::uint8_t {
    Host,        // all flows that a host sends; one flow is served per epoch, in turn
    Connection,  // the subflows of a connection
    Subflow,     // each subflow by itself
};

// When an epoch ends.
enum class EpochKind : std::uint8_t {
    Time,     // after a fixed time; a host serves each of its flows once in that time
    Rtt,      // after the longest smoothed RTT of the subflows that act, but not before that fixed time
    Packets,  // once the fate of so many packets of the subflow is known
    Own,      // when the controller says so (ChoosesEpochs)
};

struct EpochPlan {
    EpochKind kind = EpochKind::Time;
    Nanos time{};                  // of Time; the least of Rtt
    std::uint32_t packets = 0;     // of Packets
    std::uint32_t history = 1;     // records of the past that an observation holds, the latest first
    double reference_bps = 10e6;   // the least that rates are scaled by (EpochSample::reference_pps)
    Nanos memory{10'000'000'000};  // for so long the extremes hold that rates and RTTs are scaled by
};

// One number that an agent sees of a subflow, or that it does to one.
struct NumberInfo {
    std::string_view name;
    std::string_view unit;  // "1" for ratios
    std::string_view help;
    float minimum = 0;
    float maximum = 0;
};

struct AgentInfo {
    AgentScope scope = AgentScope::Subflow;
    std::span<const NumberInfo> features;            // of each subflow, in each record
    std::span<const NumberInfo> actions;             // of each subflow that acts, within [minimum, maximum]
    std::span<const std::string_view> choices = {};  // instead: an action is one of these, by its number
    float neutral_choice = 0;                        // the one that changes nothing; of numbers that is 0
    std::string_view reward;                         // formula, for people

    std::size_t action_width() const { return choices.empty() ? actions.size() : 1; }
};

// What happened on one subflow in the epoch that ends. NaN: nothing to tell it from, ever.
struct EpochSample {
    std::uint32_t flow = 0;
    bool is_multipath = false;  // of an MPTCP flow
    bool is_new = false;        // this is its first epoch

    double length_s = 0;
    double sent_pps = 0;       // transmissions, retransmissions included
    double delivered_pps = 0;  // newly acknowledged
    double loss_ratio = 0;     // lost / (lost + acknowledged), of what became known in the epoch
    double rtt_s = std::numeric_limits<double>::quiet_NaN();  // mean of the epoch's samples, else the last one known
    double rtt_dev_s = std::numeric_limits<double>::quiet_NaN();  // smoothed mean deviation (RFC 6298)
    // The least of those samples. What judges queues reads this: a receiver that waits before it acknowledges raises
    // the mean of a slow sender as a queue does.
    double least_rtt_s = std::numeric_limits<double>::quiet_NaN();
    double min_rtt_s = std::numeric_limits<double>::quiet_NaN();  // the least within EpochPlan::memory
    double rtt_change_s = 0;                                      // of least_rtt_s, against the epoch before
    double cwnd_pkts = 0;
    double cwnd_change_pkts = 0;  // against the epoch before
    double rate_pps = 0;          // at which it paces; 0: clocked by ACKs
    double schedule_share = 0;    // of the packets that the connection handed out in the epoch
    double utility = std::numeric_limits<double>::quiet_NaN();  // of controllers that have one

    // The largest delivery rate of an epoch within EpochPlan::memory, but at least EpochPlan::reference_bps: what rates
    // are scaled by.
    double reference_pps = 0;
    double packet_bits = 0;   // of a full packet on the wire
    double payload_bits = 0;  // of it, for the application

    double goodput_bps() const { return delivered_pps * payload_bits; }
    double reference_bdp_pkts() const { return reference_pps * min_rtt_s; }
};

}  // namespace subflow

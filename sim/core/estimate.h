// Cost of a run, estimated before the simulation is built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decision.h"
#include "scenario.h"

namespace subflow {

// Assumes that all flows fill their links while they are active. The actual run makes at most 1.25 times as many
// crossings, and at least half as many if only the links limit the flows; random loss and cautious controllers can
// lower the number much further. Packets that controllers send beyond the capacity of their paths, because of their
// options, are not included. The memory covers traces, and packets on wires and in limited queues. It does not cover
// unlimited queues, which Simulation::set_limits() bounds.
struct Estimate {
    double link_crossings = 0;  // packets offered to links, ACKs included
    double trace_bytes = 0;     // sampled columns
    double packet_bytes = 0;    // packets in queues and on wires, and their records at both ends
    double object_bytes = 0;    // links, connections, subflows, marks
    double decision_bytes = 0;  // recorded decisions, and their columns when all are taken together

    std::int64_t samples = 0;
    std::int64_t columns = 0;
    std::string busiest_flow;      // name of the flow with the most crossings; empty without crossings
    double busiest_crossings = 0;  // crossings of this flow
    std::string fullest;           // link whose packets may use the most memory, as "link 'wifi/forward'"; may be empty
    double fullest_bytes = 0;      // memory for the packets of this link

    double memory_bytes() const { return trace_bytes + packet_bytes + object_bytes + decision_bytes; }
};

// Takes no longer than reading the scenario. Throws ScenarioError if the scenario or the interval is invalid.
// `decisions`: limits of the recorded decisions; nullopt if decisions are not recorded.
Estimate estimate(const Scenario& scenario, Nanos sample_interval,
                  const std::optional<DecisionLog::Limits>& decisions = std::nullopt);

}  // namespace subflow

// What a run would take, told before anything is built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "decision.h"
#include "scenario.h"

namespace subflow {

// As if all flows filled their links for as long as they are there. A run makes at most 1.25 times as many crossings,
// and at least half as many where nothing but the links holds the flows back; random loss and careful controllers can
// leave it far below. What controllers send beyond what their paths carry, because their options say so, comes on top.
// The memory is what has to be there at once, traces and what fits on wires and in queues that have a limit, and not
// what may pile up: Simulation::set_limits() is for that.
struct Estimate {
    double link_crossings = 0;  // packets offered to links, ACKs included
    double trace_bytes = 0;     // sampled columns
    double packet_bytes = 0;    // packets in queues and on wires, and what senders and receivers remember of them
    double object_bytes = 0;    // links, connections, subflows, marks
    double decision_bytes = 0;  // records of decisions, and the columns of what is taken out of them at once

    std::int64_t samples = 0;
    std::int64_t columns = 0;
    std::string busiest_flow;      // the name of the one with most crossings; empty if none has any
    double busiest_crossings = 0;  // of it
    std::string fullest;           // "link 'wifi/forward'": where most packets fit; empty if none do
    double fullest_bytes = 0;      // of it

    double memory_bytes() const { return trace_bytes + packet_bytes + object_bytes + decision_bytes; }
};

// Costs no more than reading the scenario. Throws ScenarioError if the scenario or the interval is not usable.
// `decisions`: how many are recorded, if any.
Estimate estimate(const Scenario& scenario, Nanos sample_interval,
                  const std::optional<DecisionLog::Limits>& decisions = std::nullopt);

}  // namespace subflow

// Invariants of every scenario: for the random networks of the tests and for the fuzzer.
#pragma once

#include <cstdint>
#include <string>

#include "random_scenario.h"

namespace subflow::testing {

// Runs the scenario four times: in one call, in random steps, from a snapshot, and with records of packets. Throws
// InternalError unless the network keeps its invariants at every stop, results and traces are equal, counters balance,
// the estimate was not too low, and live changes give equal results. Returns the network at its end, which refers to
// the scenario.
Network run_and_check(const Scenario& scenario, std::uint64_t seed, Draws& draw);

// Throws InternalError unless any scenario is unchanged after writing as JSON and reading.
void check_json(const Scenario& scenario);

// "cubic hystart=off"
std::string describe(const AlgorithmChoice& choice);
// The scenario in words, complete enough to build it by hand.
std::string describe(const Scenario& scenario);

// Breaks the scenario in one to three places: senseless values, unknown names.
void spoil(Scenario& scenario, Draws& draw);

// One input of the fuzzer: builds a scenario from the bytes, sometimes spoils it, and checks it; the core may refuse
// it. Throws like run_and_check().
void check_bytes(std::span<const std::uint8_t> bytes);

}  // namespace subflow::testing

// What must hold for every scenario, whatever it is: for the random networks of the tests and for the fuzzer.
#pragma once

#include <cstdint>
#include <string>

#include "random_scenario.h"

namespace subflow::testing {

// Runs the scenario four times, in one go, in steps drawn at random, from a snapshot and with records of packets, and
// throws InternalError for what does not hold: invariants of the network at every stop, equal results and traces, books
// that balance, an estimate that was not too low, and equal results when events come as live changes. Returns the
// network at its end, which refers to the scenario.
Network run_and_check(const Scenario& scenario, std::uint64_t seed, Draws& draw);

// Throws InternalError unless the scenario is the same after it was written as JSON and read again, whatever it is.
void check_json(const Scenario& scenario);

// "cubic hystart=off"
std::string describe(const AlgorithmChoice& choice);
// The scenario in words, enough to build it again by hand.
std::string describe(const Scenario& scenario);

// Breaks the scenario in one to three places: values of no sense, names of nothing.
void spoil(Scenario& scenario, Draws& draw);

// One input of the fuzzer: a scenario is made of the bytes, sometimes spoilt, and checked; what the core refuses is
// fine. Throws as run_and_check() does.
void check_bytes(std::span<const std::uint8_t> bytes);

}  // namespace subflow::testing

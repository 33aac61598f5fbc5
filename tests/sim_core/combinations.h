// Every congestion controller with every packet scheduler, and the small networks that each such pair has to master.
// All of it is made from the two lists: what is added to them is tested by being there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithm.h"
#include "scenario.h"

namespace subflow::testing {

// Controllers by themselves, for a flow over one path.
std::vector<AlgorithmChoice> single_path_controllers();
// What a connection of several subflows may run: each coupled controller, and `uncoupled` with each of its bases.
std::vector<AlgorithmChoice> multipath_controllers();

struct Combination {
    AlgorithmChoice controller;
    AlgorithmChoice scheduler;
};

std::vector<Combination> combinations();

// The values of all choices made, as a test may be called: "uncoupled_cubic_minrtt".
std::string name_of(const AlgorithmChoice& choice);
std::string name_of(const Combination& combination);

// A scenario of few seconds whose first flow runs the combination.
struct SmallNetwork {
    std::string_view name;
    Scenario scenario;
    double least_goodput_bps = 0;  // of the first flow where it has no size; one that has must complete
};

std::vector<SmallNetwork> small_networks(const Combination& combination);
// Loss, an outage, changes of rate and delay, a subflow closed and opened again: the harshest of them.
SmallNetwork storm(const Combination& combination);

// The network with nothing of the first flow left but its first subflow.
Scenario over_one_path(Scenario scenario, FlowKind kind);

// Each algorithm of a list with one of its options at a value other than the default: every choice, both states of a
// flag, the least and the greatest number. Options that bound each other are moved together. Not `uncoupled`, whose
// options are those of its bases.
std::vector<AlgorithmChoice> controllers_with_each_option();
std::vector<AlgorithmChoice> schedulers_with_each_option();

}  // namespace subflow::testing

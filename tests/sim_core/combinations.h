// Every congestion controller with every packet scheduler, and the small networks that each pair must pass. All of it
// derives from the two lists, so that tests include each new algorithm.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "algorithm.h"
#include "scenario.h"

namespace subflow::testing {

// Controllers without a base, for a flow over one path.
std::vector<AlgorithmChoice> single_path_controllers();
// Controllers of a connection with several subflows: each coupled one, and `uncoupled` with each of its bases.
std::vector<AlgorithmChoice> multipath_controllers();

struct Combination {
    AlgorithmChoice controller;
    AlgorithmChoice scheduler;
};

std::vector<Combination> combinations();

// The values of all choices as the name of a test: "uncoupled_cubic_minrtt".
std::string name_of(const AlgorithmChoice& choice);
std::string name_of(const Combination& combination);

// A scenario of few seconds whose first flow runs the combination.
struct SmallNetwork {
    std::string_view name;
    Scenario scenario;
    double least_goodput_bps = 0;  // of the first flow if it has no size; otherwise it must complete
};

std::vector<SmallNetwork> small_networks(const Combination& combination);
// The hardest network: loss, an outage, changes of rate and delay, a subflow closed and opened again.
SmallNetwork storm(const Combination& combination);

// The network with only the first subflow of the first flow.
Scenario over_one_path(Scenario scenario, FlowKind kind);

// Each algorithm of a list with one of its options at a value other than the default: every choice, both states of a
// flag, the least and the greatest number. Options that bound each other change together. Without `uncoupled`, whose
// options are those of its bases.
std::vector<AlgorithmChoice> controllers_with_each_option();
std::vector<AlgorithmChoice> schedulers_with_each_option();

}  // namespace subflow::testing

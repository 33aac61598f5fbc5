// Every rule by which anything in the core decides.
#pragma once

#include <span>

#include "decision.h"

namespace subflow {

// The sender's own rules, then those of the controllers and of the schedulers, each once. The position of a rule is its
// number in a DecisionTable; only another version has another order.
std::span<const RuleInfo* const> all_rules();

}  // namespace subflow

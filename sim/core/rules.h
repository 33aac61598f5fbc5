// All rules that explain decisions of the core.
#pragma once

#include <span>

#include "decision.h"

namespace subflow {

// The rules of the sender, then those of controllers and schedulers, each once. The position of a rule is its number in
// a DecisionTable; the order changes only between versions.
std::span<const RuleInfo* const> all_rules();

}  // namespace subflow

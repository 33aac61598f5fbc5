#pragma once

#include "../scenario.h"

namespace subflow {

// A policy file that cannot be used. The text names the tensor, layer or key, the value and what is allowed.
struct PolicyError : ScenarioError {
    using ScenarioError::ScenarioError;
};

}  // namespace subflow

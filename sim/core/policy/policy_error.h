#pragma once

#include <string_view>

#include "../json.h"
#include "../scenario.h"

namespace subflow {

// A policy file is unusable. The message names the tensor, layer or key, the value and the allowed values.
struct PolicyError : ScenarioError {
    using ScenarioError::ScenarioError;
};

// Like parse_json(), but throws PolicyError. `what`: the part of the policy file, for messages.
inline Json parse_policy_json(std::string_view text, std::string_view what) {
    try {
        return parse_json(text, what);
    } catch (const JsonError& error) {
        throw PolicyError(error.what());
    }
}

}  // namespace subflow

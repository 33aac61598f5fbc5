#pragma once

#include <string_view>

#include "../json.h"
#include "../scenario.h"

namespace subflow {

// A policy file that cannot be used. The text names the tensor, layer or key, the value and what is allowed.
struct PolicyError : ScenarioError {
    using ScenarioError::ScenarioError;
};

// As parse_json(), of a part of such a file.
inline Json parse_policy_json(std::string_view text, std::string_view what) {
    try {
        return parse_json(text, what);
    } catch (const JsonError& error) {
        throw PolicyError(error.what());
    }
}

}  // namespace subflow

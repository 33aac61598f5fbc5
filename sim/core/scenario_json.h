// A scenario as a JSON text, and back: for whoever runs the core without Python beside it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "scenario.h"

namespace subflow {

// A text that is no scenario. It says which of its values is wrong, and what is allowed.
struct ScenarioJsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Every field by its name, but for those that have their default. Numbers that a double cannot hold are texts, long
// lists of whole numbers are packed into one. A text is read by the version of the core that wrote it.
std::string write_scenario(const Scenario& scenario);
// The trained policies of its flows, each once: the text names them by their positions here.
std::vector<std::shared_ptr<const Policy>> policies_of(const Scenario& scenario);

// Throws ScenarioJsonError for anything but such a text, or one with more than `max_values` values, those of packed
// lists included. Whether the scenario makes sense is check_scenario()'s business.
Scenario read_scenario(std::string_view text, std::span<const std::shared_ptr<const Policy>> policies,
                       std::size_t max_values);

}  // namespace subflow

// A scenario as a JSON text, and back: the one form in which scenarios come into the core, and leave it for web pages.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "json.h"
#include "scenario.h"

namespace subflow {

// A text that is no scenario. It says which of its values is wrong, and what is allowed.
struct ScenarioJsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Objects that a text names by their positions, each once however many share it.
struct BesideScenario {
    std::vector<std::shared_ptr<const Policy>> policies{};
    std::vector<std::shared_ptr<const ScriptProgram>> programs{};  // numbered before those of the text itself
    // Lists of whole numbers in place of those of a text: uint32 each, as they lie in memory, read before the call
    // ends.
    std::vector<std::string_view> recordings{};
};

// Every field by its name, but for those that have their default. Numbers that a double cannot hold are texts, long
// lists of whole numbers are packed into one. A text is read by the version of the core that wrote it.
std::string write_scenario(const Scenario& scenario);
// The trained policies of its flows, each once: the text names them by their positions here.
std::vector<std::shared_ptr<const Policy>> policies_of(const Scenario& scenario);

// Throws ScenarioJsonError for anything but such a text, or one with more than `max_values` values, those of packed
// lists included. Whether the scenario makes sense is check_scenario()'s business.
Scenario read_scenario(std::string_view text, BesideScenario beside, std::size_t max_values);
// The same for a text that was taken apart; throws ScriptProgramError, too. A list of own programs may be missing.
Scenario read_scenario(const Json& document, BesideScenario beside, std::size_t max_values);
// A program as it stands in such a document. Throws ScenarioJsonError for anything else, and ScriptProgramError for a
// program that no compiler of ours makes.
std::shared_ptr<ScriptProgram> read_program(const Json& document);

}  // namespace subflow

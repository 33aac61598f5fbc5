// A scenario as a JSON text, and back: the only form in which scenarios enter the core, and leave it for web pages.
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

// A text is not a valid scenario. The message names the wrong value and the allowed ones.
struct ScenarioJsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Objects that a text refers to by position, each stored once.
struct SharedObjects {
    std::vector<std::shared_ptr<const Policy>> policies{};
    std::vector<std::shared_ptr<const ScriptProgram>> programs{};  // numbered before the programs in the text
    // Lists of whole numbers that replace lists of a text: uint32 each, read from memory before the call returns.
    std::vector<std::string_view> recordings{};
};

// Writes all fields by name, except those with default values. Numbers that a double cannot hold become texts, and long
// lists of whole numbers are packed into a text. Only the same version of the core can read the text.
std::string write_scenario(const Scenario& scenario);
// The trained policies of the flows, each once; the text refers to them by position.
std::vector<std::shared_ptr<const Policy>> policies_of(const Scenario& scenario);

// Throws ScenarioJsonError for an invalid text, or one with more than `max_values` values, including packed lists.
// check_scenario() checks the scenario itself.
Scenario read_scenario(std::string_view text, SharedObjects beside, std::size_t max_values);
// Likewise for a parsed text; also throws ScriptProgramError. The list of programs may be missing.
Scenario read_scenario(const Json& document, SharedObjects beside, std::size_t max_values);
// Reads a program of a document. Throws ScenarioJsonError for an invalid document, and ScriptProgramError for a program
// that the compiler cannot produce.
std::shared_ptr<ScriptProgram> read_program(const Json& document);

}  // namespace subflow

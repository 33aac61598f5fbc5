// Scenarios as JSON: Python and web pages pass scenarios to the core only in this form.
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

// The JSON does not describe a valid scenario. The message names the wrong value and the allowed ones.
struct ScenarioJsonError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// Objects outside the JSON, which refers to them by position. Each is stored once.
struct SharedObjects {
    std::vector<std::shared_ptr<const Policy>> policies{};
    std::vector<std::shared_ptr<const ScriptProgram>> programs{};  // numbered before the programs in the JSON
    // Lists of uint32 outside the JSON, as raw bytes that must stay valid until the call returns.
    std::vector<std::string_view> recordings{};
};

// Writes all fields by name, except those with default values. Numbers that a double cannot hold become strings, and
// long lists of whole numbers are packed into a string. Only the same version of the core can read the result.
std::string write_scenario(const Scenario& scenario);
// The trained policies of the flows, each once; the JSON refers to them by position.
std::vector<std::shared_ptr<const Policy>> policies_of(const Scenario& scenario);

// Throws ScenarioJsonError for invalid JSON, or for more than `max_values` values, including packed lists.
// check_scenario() checks the scenario itself.
Scenario read_scenario(std::string_view text, SharedObjects beside, std::size_t max_values);
// Like the first overload, for parsed JSON; also throws ScriptProgramError. The list of programs may be missing.
Scenario read_scenario(const Json& document, SharedObjects beside, std::size_t max_values);
// Reads a program of a document. Throws ScenarioJsonError for an invalid document, and ScriptProgramError for a program
// that the compiler cannot produce.
std::shared_ptr<ScriptProgram> read_program(const Json& document);

}  // namespace subflow

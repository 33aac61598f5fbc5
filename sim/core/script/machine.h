// The virtual machine for scripts: a frame of numbers and a sequence of instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "../rng.h"
#include "../scenario.h"
#include "program.h"

namespace subflow {

struct PathRate;
struct IntervalRecord;

// A script failed: for example, it divided by zero, or left a window that is not a number.
struct ScriptFailure : std::runtime_error {
    ScriptFailure(const void* owner, std::string name, std::uint32_t in_line, const std::string& what)
        : std::runtime_error(what), script(owner), program(std::move(name)), line(in_line) {}

    const void* script;  // the controller or scheduler with the script
    std::string program;
    std::uint32_t line;  // line in the source text; 0: unknown
};

// Arguments of a hook: objects, and subflows to iterate over.
struct ScriptInput {
    const void* objects[2] = {nullptr, nullptr};
    IntervalRecord* record = nullptr;  // its utility may be written
    const void* items = nullptr;       // subflows, `stride` bytes apart
    std::size_t stride = 0;            // bytes from one subflow to the next
    std::uint32_t count = 0;
    std::uint32_t self = 0;           // index of the controller's own subflow
    const PathRate* rates = nullptr;  // rates of the subflows, if maintained; else null
    double* kept = nullptr;           // the script's stored numbers per subflow
    Draws* draws = nullptr;
    StepWriter* steps = nullptr;  // output: steps of the run; null if decisions are not recorded
};

enum class ScriptEnd : std::uint8_t { Done, Now, Plan, Subflow, Wait };

struct ScriptOutcome {
    ScriptEnd end = ScriptEnd::Done;
    // The last instruction: its cell a is the length of an interval in seconds, or the number of a subflow; b is the
    // minimum number of packets of the interval, and `to` its tag.
    const ScriptInstruction* at = nullptr;
};

// The initial frame of a script with the given options. Throws ScenarioError for an unknown option or a value that is
// not a number.
std::vector<double> script_frame(const AlgorithmChoice& choice);

// Runs a hook of the program on a frame of the program's size. Throws ScriptFailure with `owner` as `script`.
ScriptOutcome run_script(const ScriptProgram& program, ScriptHook hook, double* frame, const ScriptInput& input,
                         const void* owner);

// Throws ScriptFailure; its message is `what` and the values of the script's variables. `line`: 0 if unknown.
[[noreturn]] void fail_script(const ScriptProgram& program, ScriptHook hook, const double* frame, const void* owner,
                              std::uint32_t line, const std::string& what);
// Like the first overload, for the line of an instruction.
[[noreturn]] void fail_script(const ScriptProgram& program, ScriptHook hook, const double* frame, const void* owner,
                              const ScriptInstruction* at, const std::string& what);

}  // namespace subflow

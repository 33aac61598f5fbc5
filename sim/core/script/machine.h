// The machine that runs scripts: a frame of numbers, an instruction after the other.
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

// What a script did that cannot go on: divided by zero, left a window that is no number.
struct ScriptFailure : std::runtime_error {
    ScriptFailure(const void* owner, std::string name, std::uint32_t in_line, const std::string& what)
        : std::runtime_error(what), script(owner), program(std::move(name)), line(in_line) {}

    const void* script;  // the controller or scheduler whose it is
    std::string program;
    std::uint32_t line;  // of the text; 0: none
};

// What a hook is given: objects, and subflows to go through.
struct ScriptInput {
    const void* objects[2] = {nullptr, nullptr};
    IntervalRecord* record = nullptr;  // whose utility may be written
    const void* items = nullptr;       // subflows
    std::size_t stride = 0;            // bytes from one to the next
    std::uint32_t count = 0;
    std::uint32_t self = 0;           // the own one among them
    const PathRate* rates = nullptr;  // theirs, where somebody keeps them
    double* kept = nullptr;           // what the script keeps of subflows
    Draws* draws = nullptr;
    StepWriter* steps = nullptr;  // to be filled in, if anybody asks
};

enum class ScriptEnd : std::uint8_t { Done, Now, Plan, Subflow, Wait };

struct ScriptOutcome {
    ScriptEnd end = ScriptEnd::Done;
    // The last instruction: its cell a is the length of an interval in seconds, or the number of a subflow; b the
    // interval's least packets, and `to` its tag.
    const ScriptInstruction* at = nullptr;
};

// The frame that a script begins with, by the options given. Throws ScenarioError for one that it does not have.
std::vector<double> script_frame(const AlgorithmChoice& choice);

// Runs a hook that the program has, on a frame of its size. Throws ScriptFailure, with `owner` as its script.
ScriptOutcome run_script(const ScriptProgram& program, ScriptHook hook, double* frame, const ScriptInput& input,
                         const void* owner);

// A failure with what the script's names stand for. `line` 0: none in particular.
[[noreturn]] void fail_script(const ScriptProgram& program, ScriptHook hook, const double* frame, const void* owner,
                              std::uint32_t line, const std::string& what);
// The same at an instruction of it.
[[noreturn]] void fail_script(const ScriptProgram& program, ScriptHook hook, const double* frame, const void* owner,
                              const ScriptInstruction* at, const std::string& what);

}  // namespace subflow

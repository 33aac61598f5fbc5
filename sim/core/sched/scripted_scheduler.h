// A scheduler written as a script (script/program.h): the virtual machine runs its function `select`.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "../boxed.h"
#include "../rng.h"
#include "../script/program.h"
#include "scheduler.h"

namespace subflow {

class ScriptedScheduler {
public:
    static constexpr AlgorithmInfo kInfo{.name = "", .summary = "", .source = ""};

    explicit ScriptedScheduler(const Options&) {}
    // Throws ScenarioError for an option unknown to the script.
    explicit ScriptedScheduler(const AlgorithmChoice& choice);

    // Throws ScriptFailure if the script fails, for example by a division by zero.
    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment& moment);

    bool is_work_conserving() const { return program_->is_work_conserving; }
    bool retransmits_when_blocked() const { return program_->retransmits_when_blocked; }
    bool penalises() const { return program_->penalises; }
    const ScriptProgram& program() const { return *program_; }
    std::size_t heap_bytes() const { return heap_bytes_of(state_); }

private:
    struct State {
        std::vector<double> frame;
        std::vector<double> kept;                // per subflow, concatenated
        std::vector<std::uint8_t> incarnations;  // incarnations of the subflows in `kept`
        Draws draws;
        std::size_t heap_bytes() const { return heap_bytes_of(frame, kept, incarnations); }
    };
    void follow(std::span<const Candidate> subflows);

    std::shared_ptr<const ScriptProgram> program_;
    Boxed<State> state_;
};

}  // namespace subflow

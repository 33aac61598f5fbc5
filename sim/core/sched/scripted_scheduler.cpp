#include "scripted_scheduler.h"

#include <algorithm>

#include "../script/machine.h"

namespace subflow {

ScriptedScheduler::ScriptedScheduler(const AlgorithmChoice& choice) : program_(choice.program) {
    State& state = state_.emplace();
    state.frame = script_frame(choice);
    state.draws = Draws(hash_name(program_->name));
}

// Initialises the stored variables of new subflows and of subflows that were opened again.
void ScriptedScheduler::follow(std::span<const Candidate> subflows) {
    const std::vector<double>& begin = program_->kept;
    if (begin.empty()) return;
    for (std::size_t i = state_->incarnations.size(); i < subflows.size(); ++i) {
        state_->incarnations.push_back(subflows[i].incarnation);
        state_->kept.insert(state_->kept.end(), begin.begin(), begin.end());
    }
    for (std::size_t i = 0; i < subflows.size(); ++i) {
        if (state_->incarnations[i] == subflows[i].incarnation) continue;
        state_->incarnations[i] = subflows[i].incarnation;
        std::ranges::copy(begin, state_->kept.begin() + static_cast<std::ptrdiff_t>(i * begin.size()));
    }
}

std::optional<std::size_t> ScriptedScheduler::select(std::span<const Candidate> subflows, const SendMoment& moment) {
    follow(subflows);
    ScriptInput input;
    input.objects[0] = &moment;
    input.items = subflows.data();
    input.stride = sizeof(Candidate);
    input.count = static_cast<std::uint32_t>(subflows.size());
    input.kept = state_->kept.data();
    input.draws = &state_->draws;
    if (moment.why != nullptr) {
        moment.why->rule = &program_->rule(ScriptHook::Select);
        input.steps = moment.why->begin_steps();
    }
    double* const frame = state_->frame.data();
    const ScriptOutcome outcome = run_script(*program_, ScriptHook::Select, frame, input, this);
    if (outcome.end != ScriptEnd::Subflow) return std::nullopt;
    const double number = frame[outcome.at->a];
    // If `best` finds no subflow in the script, the connection waits, as after `wait`.
    if (!(number >= 0 && number < static_cast<double>(subflows.size()))) return std::nullopt;
    const auto choice = static_cast<std::size_t>(number);
    // If the script chooses a subflow with a full window, the connection waits for room.
    if (!subflows[choice].is_available) return std::nullopt;
    return choice;
}

static_assert(PacketScheduler<ScriptedScheduler>);

}  // namespace subflow

#include "agent_steps.h"

namespace subflow {

void AgentStepLog::add(const AgentStep& step, std::span<const float> observation, std::span<const float> action) {
    table_.steps.push_back(step);
    std::vector<float>& numbers = table_.numbers;
    const std::size_t begin = numbers.size();
    numbers.insert(numbers.end(), observation.begin(), observation.end());
    numbers.resize(begin + table_.width, AgentStep::kNone);
    numbers.insert(numbers.end(), action.begin(), action.end());
    numbers.resize(begin + table_.width + table_.action_width, AgentStep::kNone);
}

AgentStepTable AgentStepLog::take() {
    // A copy, so that the log keeps its memory for later steps.
    AgentStepTable taken = table_;
    table_.steps.clear();
    table_.numbers.clear();
    return taken;
}

}  // namespace subflow

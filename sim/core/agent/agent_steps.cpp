#include "agent_steps.h"

#include <algorithm>

namespace subflow {

void AgentStepLog::add(std::span<const float> observation, std::span<const float> action) {
    const auto append = [](std::vector<float>& column, std::span<const float> values, std::uint32_t width) {
        column.insert(column.end(), values.begin(), values.end());
        column.resize(column.size() + width - values.size(), AgentStepTable::kNone);
    };
    append(table_.observation, observation, table_.width);
    append(table_.action, action, table_.action_width);
}

AgentStepTable AgentStepLog::take() {
    // A copy, so that the memory of the columns stays for what comes.
    AgentStepTable taken = table_;
    table_.for_each_column([](auto& column) { column.clear(); });
    return taken;
}

}  // namespace subflow

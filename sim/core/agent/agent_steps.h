// Log of the learning agents' observations, actions and rewards in a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "../memory.h"
#include "../units.h"

namespace subflow {

// One subflow in an agent's observation at a decision. Undefined values are NaN.
struct AgentStep {
    static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

    Nanos at{};
    std::uint32_t agent = 0;
    std::uint32_t number = 0;  // number of earlier decisions of the agent
    std::uint32_t subflow = 0;
    bool is_acting = false;  // true: the agent decided for the subflow; false: the subflow was only observed
    float value = kNone;     // the policy's value estimate at the decision
    float reward = kNone;    // reward of the epoch that ended; undefined at the first decision
    // Measurements of the ended epoch on this subflow: EpochSample in SI units
    float epoch_s = kNone;
    float sending_rate_bps = kNone;  // rate on the wire
    float goodput_bps = kNone;
    float loss_ratio = kNone;
    float rtt_s = kNone;
    float min_rtt_s = kNone;
    float schedule_share = kNone;
    // Before and after the action
    float cwnd_before_pkts = kNone;
    float cwnd_after_pkts = kNone;
    float rate_before_bps = kNone;  // pacing, on the wire; 0: ACK-clocked
    float rate_after_bps = kNone;
};

// Steps in order of time, with all rows of a decision together, and the observations and actions of the rows.
struct AgentStepTable {
    std::uint32_t width = 0;         // widest observation of all agents; shorter ones end with NaN
    std::uint32_t action_width = 0;  // widest action of all agents; NaN for subflows that are only observed
    std::vector<AgentStep> steps;
    std::vector<float> numbers;  // [steps, width + action_width]

    std::size_t size() const { return steps.size(); }
    std::span<const float> observation(std::size_t row) const {
        return std::span(numbers).subspan(row * (width + action_width), width);
    }
    std::span<const float> action(std::size_t row) const {
        return std::span(numbers).subspan(row * (width + action_width) + width, action_width);
    }
};

// Fills a step table of bounded size: decisions beyond the bound are only counted.
class AgentStepLog {
public:
    // Upper limit of the memory, for any scenario.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 24;

    AgentStepLog(std::uint32_t width, std::uint32_t action_width) {
        table_.width = width;
        table_.action_width = action_width;
    }

    std::size_t row_bytes() const { return sizeof(AgentStep) + (table_.width + table_.action_width) * sizeof(float); }
    // True if a decision of `rows` rows fits; otherwise counts it as lost.
    bool has_room(std::size_t rows) {
        if ((table_.size() + rows) * row_bytes() <= kMostBytes) return true;
        ++lost_;
        return false;
    }
    void add(const AgentStep& step, std::span<const float> observation, std::span<const float> action);

    std::vector<AgentStep>& steps() { return table_.steps; }
    // Returns and removes the steps since the last call.
    AgentStepTable take();
    std::int64_t lost() const { return lost_; }
    std::size_t heap_bytes() const { return heap_bytes_of(table_.steps, table_.numbers); }

private:
    AgentStepTable table_;
    std::int64_t lost_ = 0;
};

}  // namespace subflow

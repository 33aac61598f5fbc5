// What learning agents saw, did and earned in a run, kept until it is taken: a column per quantity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "agent_info.h"

namespace subflow {

// A row for each subflow that an agent saw when it decided, in order of time; the rows of a decision stand together.
// What is not defined is NaN.
struct AgentStepTable {
    static constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

    std::uint32_t width = 0;         // of observations, as the agent that sees most needs; the others' ends are NaN
    std::uint32_t action_width = 0;  // likewise

    std::vector<std::int64_t> time_ns;
    std::vector<std::uint32_t> agent;
    std::vector<std::uint32_t> number;  // decisions of the agent before this one
    std::vector<std::uint32_t> subflow;
    std::vector<std::uint8_t> is_acting;  // the agent decided for the subflow; else it was only seen
    std::vector<float> value;             // that the policy gave the decision
    std::vector<float> reward;            // of the epoch that ended; undefined at the first decision
    // Of that epoch on this subflow: EpochSample in SI units
    std::vector<float> epoch_s;
    std::vector<float> sending_rate_bps;  // on the wire
    std::vector<float> goodput_bps;
    std::vector<float> loss_ratio;
    std::vector<float> rtt_s;
    std::vector<float> min_rtt_s;
    std::vector<float> schedule_share;
    // Around the action
    std::vector<float> cwnd_before_pkts;
    std::vector<float> cwnd_after_pkts;
    std::vector<float> rate_before_bps;  // pacing, on the wire; 0: clocked by ACKs
    std::vector<float> rate_after_bps;
    std::vector<float> observation;  // [rows, width]
    std::vector<float> action;       // [rows, action_width]; undefined where it was only seen

    std::size_t size() const { return time_ns.size(); }
    std::size_t row_bytes() const { return 8 + 3 * 4 + 1 + (13 + width + action_width) * sizeof(float); }

    template <class Visit>
    void for_each_column(Visit&& visit) {
        for (auto* column : {&agent, &number, &subflow}) visit(*column);
        for (auto* column : {&value, &reward, &epoch_s, &sending_rate_bps, &goodput_bps, &loss_ratio, &rtt_s,
                             &min_rtt_s, &schedule_share, &cwnd_before_pkts, &cwnd_after_pkts, &rate_before_bps,
                             &rate_after_bps, &observation, &action})
            visit(*column);
        visit(time_ns);
        visit(is_acting);
    }
};

// Fills such a table. Bounded: decisions that there is no room for are counted, and not kept.
class AgentStepLog {
public:
    // What it takes at most, whatever the scenario.
    static constexpr std::size_t kMostBytes = std::size_t{1} << 24;

    AgentStepLog(std::uint32_t width, std::uint32_t action_width) {
        table_.width = width;
        table_.action_width = action_width;
    }

    // Whether there is room for a decision of so many rows; if not, it is lost.
    bool has_room(std::size_t rows) {
        if ((table_.size() + rows) * table_.row_bytes() <= kMostBytes) return true;
        ++lost_;
        return false;
    }
    // The next row, with what was seen of the subflow and, if it acts, what is done to it.
    void add(std::span<const float> observation, std::span<const float> action);

    AgentStepTable& table() { return table_; }
    // What came since the last call.
    AgentStepTable take();
    std::int64_t lost() const { return lost_; }

private:
    AgentStepTable table_;
    std::int64_t lost_ = 0;
};

}  // namespace subflow

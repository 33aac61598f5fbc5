// State of one learning agent: its past observations and the current decision.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "../memory.h"
#include "../rng.h"
#include "../units.h"
#include "../windowed_max.h"
#include "agent_info.h"
#include "decider.h"

namespace subflow {

// Part of a network's state and copied with it. learning_agents.h contains the code that reads and controls the
// network's subflows.
class Agent {
public:
    // Counters of a sender at one instant.
    struct Counters {
        double sent_pkts = 0;
        double delivered_pkts = 0;
        double lost_pkts = 0;
        double handed_pkts = 0;
        double rtt_seconds = 0;
        double rtt_samples = 0;
    };
    // A subflow that the agent observes.
    struct Member {
        std::uint32_t subflow = 0;
        std::uint32_t flow = 0;
        bool acts = false;      // the agent also controls the subflow
        bool is_known = false;  // the history contains a record
        bool is_counted = false;
        std::uint8_t incarnation = 0;
        std::uint32_t stage = 0;  // the controller's measured_stage() at begun_at
        Nanos joined_at{};        // start of this incarnation
        Counters at_join;         // counters at joined_at
        Counters at_begin;        // counters at the start of the current epoch
        Nanos begun_at{};
        double handed_pkts = 0;  // packets handed to the subflow in the epoch, as of the last observation
        EpochSample sample;      // measurements of the last epoch
        // Minimum RTT in s, and largest delivery rate of an epoch, within EpochPlan::memory (in ms)
        WindowedMin min_rtt{0};
        WindowedMax reference{0};
        Counters at_decision;  // if rewards cover the time since the last decision: counters at that decision
        Nanos decided_at{};    // time of at_decision; 0: no decision yet
    };

    Agent(const AgentInfo& info, const EpochPlan& plan, const DecisionSource& decider, std::uint64_t seed);

    const AgentInfo& info() const { return *info_; }
    const EpochPlan& plan() const { return plan_; }
    // True if packet feedback (EpochKind::Packets) or the controller (EpochKind::Own), not the clock, ends the agent's
    // epochs.
    bool acts_on_news() const { return plan_.kind == EpochKind::Packets || plan_.kind == EpochKind::Own; }
    const DecisionSource& decider() const { return decider_; }
    // Numbers per subflow in an observation.
    std::uint32_t width() const { return width_; }
    std::size_t action_width() const { return info_->action_width(); }

    void add_member(std::uint32_t subflow, std::uint32_t flow, bool acts);
    std::vector<Member>& members() { return members_; }
    const std::vector<Member>& members() const { return members_; }

    // Shifts the history of a member ([history, features], latest first) by one record. Returns the place of the new
    // record, which the caller fills in.
    std::span<float> shift(std::size_t member);
    void forget(std::size_t member);

    // Begins a decision without rows. The caller then calls add_row() for each member with a record.
    void begin_decision(double reward);
    void add_row(std::size_t member, bool acts);
    // Chooses the action: the neutral one, a random one, or that of the policy. The second overload takes an external
    // action, [acting, action_width], and limits it to the allowed range; NaN throws std::invalid_argument.
    void decide();
    void decide(std::span<const float> action);

    Observation observation() const { return {rows_, width_, acting_}; }
    // Index of the member that a row describes.
    std::uint32_t member_of(std::uint32_t row) const { return row_members_[row]; }
    std::span<const std::uint32_t> acting() const { return acting_; }
    std::span<const float> action() const { return action_; }  // [acting, action_width]
    double value() const { return value_; }                    // NaN if the policy has no value estimate
    double reward() const { return reward_; }                  // reward of the epoch before the decision

    std::size_t heap_bytes() const {
        return heap_bytes_of(members_, histories_, rows_, row_members_, acting_, action_, space_);
    }

    bool is_waiting = false;      // true while an external action is pending
    std::uint32_t decisions = 0;  // executed decisions; the last one has no reward yet
    Nanos due = kNever;           // end of the epoch; kNever if unknown
    double feedback_goal = 0;     // total of delivered and lost packets at which the epoch ends
    Nanos decided_at{};           // time of the last executed decision
    Nanos length{};               // time between the last two decisions; 0 before the second
    std::uint32_t turn = ~0u;     // AgentScope::Host: the flow that was served last

private:
    const AgentInfo* info_;
    EpochPlan plan_;
    DecisionSource decider_;
    Draws draws_;
    std::uint32_t width_ = 0;
    std::vector<Member> members_;
    std::vector<float> histories_;  // [members, width]

    std::vector<float> rows_;
    std::vector<std::uint32_t> row_members_;
    std::vector<std::uint32_t> acting_;
    std::vector<float> action_;
    double value_ = std::numeric_limits<double>::quiet_NaN();
    double reward_ = 0;
    Policy::Workspace space_;
};

}  // namespace subflow

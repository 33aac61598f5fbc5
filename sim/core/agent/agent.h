// One learning agent at work: what it has seen so far, and the decision it stands before.
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

// A value: copied with its network. What concerns the network's subflows is in learning_agents.h.
class Agent {
public:
    // What a sender had counted at some time.
    struct Counters {
        double sent_pkts = 0;
        double delivered_pkts = 0;
        double lost_pkts = 0;
        double handed_pkts = 0;
        double rtt_seconds = 0;
        double rtt_samples = 0;
    };
    // A subflow that the agent sees.
    struct Member {
        std::uint32_t subflow = 0;
        std::uint32_t flow = 0;
        bool acts = false;      // the agent steers it, too
        bool is_known = false;  // there is a record of it
        bool is_counted = false;
        std::uint8_t incarnation = 0;
        Nanos joined_at{};  // when this incarnation was established, and what those before had counted
        Counters at_join;
        Counters at_begin;  // of the epoch under way
        Nanos begun_at{};
        double handed_pkts = 0;  // in it
        EpochSample sample;      // of the last one
        WindowedMin min_rtt{0};  // s, and the largest delivery rate of an epoch: within the plan's memory, in ms
        WindowedMax reference{0};
        Counters at_decision;  // of a host's agent, its last one, whichever flow that was about
        Nanos decided_at{};    // 0: before the subflow was known
    };

    Agent(const AgentInfo& info, const EpochPlan& plan, const Decider& decider, std::uint64_t seed);

    const AgentInfo& info() const { return *info_; }
    const EpochPlan& plan() const { return plan_; }
    // It acts when its subflows have news, not by the clock.
    bool acts_on_news() const { return plan_.kind == EpochKind::Packets || plan_.kind == EpochKind::Own; }
    const Decider& decider() const { return decider_; }
    // Of an observation: numbers per subflow.
    std::uint32_t width() const { return width_; }
    std::size_t action_width() const { return info_->action_width(); }

    void add_member(std::uint32_t subflow, std::uint32_t flow, bool acts);
    std::vector<Member>& members() { return members_; }
    const std::vector<Member>& members() const { return members_; }

    // The history of a member, [history, features], the latest first. shift() makes room for a record, which it
    // returns.
    std::span<float> shift(std::size_t member);
    void forget(std::size_t member);

    // The decision that it stands before, or has made last: rows of members that were there then.
    void begin_decision(double reward);
    void add_row(std::size_t member, bool acts);
    // Decides, unless that is for somebody outside.
    void decide();
    void decide(std::span<const float> action);

    Observation observation() const { return {rows_, width_, acting_}; }
    // The member of a row.
    std::uint32_t member_of(std::uint32_t row) const { return row_members_[row]; }
    std::span<const std::uint32_t> acting() const { return acting_; }
    std::span<const float> action() const { return action_; }  // [acting, action_width]
    double value() const { return value_; }                    // NaN: not said
    double reward() const { return reward_; }                  // of the epoch before the decision

    std::size_t heap_bytes() const {
        return heap_bytes_of(members_, histories_, rows_, row_members_, acting_, action_, space_);
    }

    bool is_waiting = false;      // for somebody outside
    std::uint32_t decisions = 0;  // that were carried out; the reward of the last one is to come
    Nanos due = kNever;           // when the epoch ends, as far as that is known
    double feedback_goal = 0;     // packets whose fate ends it
    Nanos decided_at{};           // when the last decision was carried out
    Nanos length{};               // from the one before to that; 0: there was none
    std::uint32_t turn = ~0u;     // of a host: the flow that was served last

private:
    const AgentInfo* info_;
    EpochPlan plan_;
    Decider decider_;
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

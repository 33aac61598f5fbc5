// The learning agents of a network: measures their epochs, builds their observations, executes their actions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "../marks.h"
#include "agent.h"
#include "agent_steps.h"

namespace subflow {

class Network;
struct Subflow;

// A member of Network, which calls on_epoch() when an agent is due (Agent::due) and sends packets after an action has
// opened a window. A copy of the network copies this object.
class LearningAgents {
public:
    // The parts of a network that agents use: the network to observe, the senders to control, and the log of marks.
    struct Reach {
        const Network& network;
        std::span<Subflow> subflows;  // all subflows of the network
        MarkLog& marks;
    };

    LearningAgents() = default;
    explicit LearningAgents(const Network& network);

    bool empty() const { return agents_.empty(); }
    const std::vector<Agent>& all() const { return agents_; }
    const Agent& operator[](std::uint32_t index) const { return agents_[index]; }
    // The agent that controls a subflow; null without one.
    const Agent* steering(std::uint32_t subflow) const {
        return agent_of_[subflow] == kNoAgent ? nullptr : &agents_[agent_of_[subflow]];
    }
    std::uint32_t index_steering(std::uint32_t subflow) const { return agent_of_[subflow]; }
    // True while an agent waits for an external action.
    bool is_waiting() const { return waiting_ != 0; }

    // Call when a subflow is established. Returns true if this sets Agent::due of the agent that controls the subflow.
    bool note_joined(const Network& network, std::uint32_t subflow);
    // Call after an event of a subflow whose agent has Agent::acts_on_news(). Returns true if the agent acts now,
    // before any packet leaves.
    bool has_news(const Reach& reach, std::uint32_t subflow);
    // Call when an agent may be due. Returns the flow whose windows changed, if any.
    std::optional<std::uint32_t> on_epoch(const Reach& reach, std::uint32_t index);
    // Executes the action of a waiting agent. Returns the flow whose windows changed.
    std::uint32_t act(const Reach& reach, std::uint32_t index, std::span<const float> action);
    // Ends the current epoch: see Network::end_epoch().
    bool end_epoch(const Reach& reach, std::uint32_t index);

    std::optional<double> latest_reward(std::uint32_t subflow) const;
    // See Network::record_agent_steps().
    void record_steps();
    AgentStepTable take_steps() { return steps_ ? steps_->take() : AgentStepTable{}; }
    std::int64_t steps_lost() const { return steps_ ? steps_->lost() : 0; }

    std::size_t heap_bytes() const { return heap_bytes_of(agents_, agent_of_, samples_, steps_); }

private:
    static constexpr std::uint32_t kNoAgent = ~0u;

    static Nanos retry_after(const Agent& agent);
    static void set_due(Agent& agent, Nanos now, Nanos length);
    static double feedback_of(const Network& network, const Agent& agent);
    static std::optional<std::uint32_t> next_in_turn(const Network& network, const Agent& agent);
    static void begin_stage(Agent& agent, Subflow& s, std::uint32_t subflow, Nanos now);
    bool observe(const Reach& reach, Agent& agent);
    static void begin_counting(const Network& network, Agent::Member& member);
    static double share_of_handed(const Agent& agent, const Agent::Member& member);
    static void measure(EpochSample& epoch, const Agent::Counters& then, const Agent::Counters& now, Nanos length);
    static EpochSample since_last_decision(const Network& network, const EpochPlan& plan, Agent::Member& member);
    EpochSample take_sample(const Reach& reach, const Agent& agent, Agent::Member& member) const;
    std::uint32_t carry_out(const Reach& reach, std::uint32_t index);
    static std::int64_t served_flows(const Network& network, const Agent& agent);
    bool note_decision(const Reach& reach, std::uint32_t index);
    void note_effects(const Reach& reach, std::uint32_t index);

    std::vector<Agent> agents_;
    std::vector<std::uint32_t> agent_of_;  // [subflow] the agent that controls it
    std::uint32_t waiting_ = 0;            // agents that wait for an external action
    std::vector<EpochSample> samples_;     // scratch space
    std::optional<AgentStepLog> steps_;
};

}  // namespace subflow

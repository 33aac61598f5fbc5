// The part of Network that keeps what its learning agents saw, did and earned.
#include <algorithm>

#include "network.h"

namespace subflow {

void Network::record_agent_steps() {
    if (agents_.empty()) return;
    std::uint32_t width = 0;
    std::size_t action_width = 0;
    for (const Agent& agent : agents_) {
        width = std::max(width, agent.width());
        action_width = std::max(action_width, agent.action_width());
    }
    agent_steps_.emplace(width, static_cast<std::uint32_t>(action_width));
}

AgentStepTable Network::take_agent_steps() {
    return agent_steps_ ? agent_steps_->take() : AgentStepTable{};
}

// The decision that is about to be carried out. Returns whether it was kept.
bool Network::note_decision(std::uint32_t index) {
    const Agent& agent = agents_[index];
    const Observation seen = agent.observation();
    if (!agent_steps_->has_room(seen.subflows())) return false;
    const double packet_bits = scenario_->packet_bits();
    AgentStep step{.at = now_, .agent = index, .number = agent.decisions, .value = static_cast<float>(agent.value())};
    if (agent.decisions > 0) step.reward = static_cast<float>(agent.reward());
    std::size_t next = 0;  // of the acting rows, which are in order
    for (std::uint32_t row = 0; row < seen.subflows(); ++row) {
        const Agent::Member& m = agent.members()[agent.member_of(row)];
        const EpochSample& sample = m.sample;
        const Window& window = subflows_[m.subflow].sender.window();
        step.subflow = m.subflow;
        step.is_acting = next < seen.acting.size() && seen.acting[next] == row;
        step.epoch_s = static_cast<float>(sample.length_s);
        step.sending_rate_bps = static_cast<float>(sample.sent_pps * packet_bits);
        step.goodput_bps = static_cast<float>(sample.goodput_bps());
        step.loss_ratio = static_cast<float>(sample.loss_ratio);
        step.rtt_s = static_cast<float>(sample.rtt_s);
        step.min_rtt_s = static_cast<float>(sample.min_rtt_s);
        step.schedule_share = static_cast<float>(sample.schedule_share);
        step.cwnd_before_pkts = step.cwnd_after_pkts = static_cast<float>(window.cwnd_pkts);
        step.rate_before_bps = step.rate_after_bps = static_cast<float>(window.pacing_pps * packet_bits);
        const std::size_t width = agent.action_width();
        agent_steps_->add(step, seen.row(row),
                          step.is_acting ? agent.action().subspan(next * width, width) : std::span<const float>());
        next += step.is_acting ? 1 : 0;
    }
    return true;
}

// What the decision that was kept last came to.
void Network::note_effects(std::uint32_t index) {
    const Agent& agent = agents_[index];
    std::vector<AgentStep>& steps = agent_steps_->steps();
    const double packet_bits = scenario_->packet_bits();
    const std::size_t first_row = steps.size() - agent.observation().subflows();
    for (const std::uint32_t row : agent.acting()) {
        AgentStep& step = steps[first_row + row];
        const Window& window = subflows_[step.subflow].sender.window();
        step.cwnd_after_pkts = static_cast<float>(window.cwnd_pkts);
        step.rate_after_bps = static_cast<float>(window.pacing_pps * packet_bits);
        marks_.add(now_, MarkKind::Action, step.subflow, window.cwnd_pkts);
    }
}

std::optional<double> Network::latest_reward(std::uint32_t subflow) const {
    const std::uint32_t index = agent_of_[subflow];
    if (index == kNoAgent || agents_[index].decisions < 2) return std::nullopt;
    return agents_[index].reward();
}

}  // namespace subflow

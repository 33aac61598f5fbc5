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
    AgentStepTable& table = agent_steps_->table();
    const double packet_bits = static_cast<double>((scenario_->mss + kHeaderBytes).value * 8);
    std::span<const float> left = agent.action();
    for (std::uint32_t row = 0; row < seen.subflows(); ++row) {
        const Agent::Member& m = agent.members()[agent.member_of(row)];
        const EpochSample& sample = m.sample;
        const Window& window = subflows_[m.subflow].sender.window();
        const auto add = [](std::vector<float>& column, double value) { column.push_back(static_cast<float>(value)); };
        const bool is_acting = std::ranges::binary_search(seen.acting, row);
        table.time_ns.push_back(now_.value);
        table.agent.push_back(index);
        table.number.push_back(agent.decisions);
        table.subflow.push_back(m.subflow);
        table.is_acting.push_back(is_acting ? 1 : 0);
        add(table.value, agent.value());
        add(table.reward, agent.decisions == 0 ? AgentStepTable::kNone : agent.reward());
        add(table.epoch_s, sample.length_s);
        add(table.sending_rate_bps, sample.sent_pps * packet_bits);
        add(table.goodput_bps, sample.goodput_bps());
        add(table.loss_ratio, sample.loss_ratio);
        add(table.rtt_s, sample.rtt_s);
        add(table.min_rtt_s, sample.min_rtt_s);
        add(table.schedule_share, sample.schedule_share);
        add(table.cwnd_before_pkts, window.cwnd_pkts);
        add(table.cwnd_after_pkts, window.cwnd_pkts);
        add(table.rate_before_bps, window.pacing_pps * packet_bits);
        add(table.rate_after_bps, window.pacing_pps * packet_bits);
        const std::span<const float> action = left.first(is_acting ? agent.action_width() : 0);
        left = left.subspan(action.size());
        agent_steps_->add(seen.row(row), action);
    }
    return true;
}

// What the decision that was kept last came to.
void Network::note_effects(std::uint32_t index) {
    const Agent& agent = agents_[index];
    AgentStepTable& table = agent_steps_->table();
    const double packet_bits = static_cast<double>((scenario_->mss + kHeaderBytes).value * 8);
    const std::size_t first_row = table.size() - agent.observation().subflows();
    for (const std::uint32_t row : agent.acting()) {
        const std::uint32_t subflow = table.subflow[first_row + row];
        const Window& window = subflows_[subflow].sender.window();
        table.cwnd_after_pkts[first_row + row] = static_cast<float>(window.cwnd_pkts);
        table.rate_after_bps[first_row + row] = static_cast<float>(window.pacing_pps * packet_bits);
        mark(now_, MarkKind::Action, subflow, window.cwnd_pkts);
    }
}

std::optional<double> Network::latest_reward(std::uint32_t subflow) const {
    const std::uint32_t index = agent_of_[subflow];
    if (index == kNoAgent || agents_[index].decisions < 2) return std::nullopt;
    return agents_[index].reward();
}

}  // namespace subflow

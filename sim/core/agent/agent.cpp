#include "agent.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../check.h"

namespace subflow {

Agent::Agent(const AgentInfo& info, const EpochPlan& plan, const DecisionSource& decider, std::uint64_t seed)
    : info_(&info),
      plan_(plan),
      decider_(decider),
      draws_(seed),
      width_(static_cast<std::uint32_t>(info.features.size()) * plan.history) {
    if (decider.kind == DecisionSourceKind::Trained) decider.policy->require_fit(info, plan.history);
}

void Agent::add_member(std::uint32_t subflow, std::uint32_t flow, bool acts) {
    Member member;
    member.subflow = subflow;
    member.flow = flow;
    member.acts = acts;
    members_.push_back(member);
    histories_.resize(histories_.size() + width_);
    forget(members_.size() - 1);
}

std::span<float> Agent::shift(std::size_t member) {
    const auto history = std::span(histories_).subspan(member * width_, width_);
    const std::size_t features = info_->features.size();
    std::ranges::copy_backward(history.first(width_ - features), history.end());
    return history.first(features);
}

void Agent::forget(std::size_t member) {
    members_[member].is_known = members_[member].is_counted = false;
    members_[member].decided_at = Nanos(0);
    const auto memory_ms = static_cast<std::uint32_t>(plan_.memory.value / 1'000'000);
    members_[member].min_rtt = WindowedMin(memory_ms);
    members_[member].reference = WindowedMax(memory_ms);
    std::ranges::fill(std::span(histories_).subspan(member * width_, width_), 0.0F);
}

void Agent::begin_decision(double reward) {
    reward_ = reward;
    value_ = std::numeric_limits<double>::quiet_NaN();
    rows_.clear();
    row_members_.clear();
    acting_.clear();
}

void Agent::add_row(std::size_t member, bool acts) {
    if (acts) acting_.push_back(static_cast<std::uint32_t>(row_members_.size()));
    row_members_.push_back(static_cast<std::uint32_t>(member));
    const auto history = std::span(histories_).subspan(member * width_, width_);
    rows_.insert(rows_.end(), history.begin(), history.end());
}

void Agent::decide() {
    const std::size_t width = action_width();
    action_.assign(acting_.size() * width, info_->choices.empty() ? 0.0F : info_->neutral_choice);
    if (decider_.kind == DecisionSourceKind::Trained) {
        value_ = decider_.policy->act(observation(), space_, action_);
    } else if (decider_.kind == DecisionSourceKind::Random) {
        for (std::size_t i = 0; i < action_.size(); ++i) {
            if (!info_->choices.empty()) {
                action_[i] = static_cast<float>(draws_.below(static_cast<std::uint32_t>(info_->choices.size())));
            } else {
                const NumberInfo& number = info_->actions[i % width];
                action_[i] = number.minimum + (number.maximum - number.minimum) * static_cast<float>(draws_.uniform());
            }
        }
    }
}

void Agent::decide(std::span<const float> action) {
    SF_ASSERT(action.size() == acting_.size() * action_width());
    action_.assign(action.begin(), action.end());
    for (std::size_t i = 0; i < action_.size(); ++i) {
        float& a = action_[i];
        if (std::isnan(a)) throw std::invalid_argument("an action is not a number");
        if (info_->choices.empty()) {
            const NumberInfo& number = info_->actions[i % action_width()];
            a = std::clamp(a, number.minimum, number.maximum);
        } else {
            a = std::clamp(a, 0.0F, static_cast<float>(info_->choices.size() - 1));
        }
    }
}

}  // namespace subflow

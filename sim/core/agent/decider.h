// Sources of a learning agent's decisions: neutral, random, a trained policy, or the caller.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "../fields.h"
#include "agent_info.h"

namespace subflow {

// An agent's observation at a decision.
struct Observation {
    // [subflows, width] one row per existing subflow, each with `history` records of its features, latest first.
    std::span<const float> rows;
    std::uint32_t width = 0;
    std::span<const std::uint32_t> acting;  // indices of the rows that need an action, ascending; at least one

    std::uint32_t subflows() const { return width == 0 ? 0 : static_cast<std::uint32_t>(rows.size() / width); }
    std::span<const float> row(std::uint32_t i) const {
        return rows.subspan(static_cast<std::size_t>(i) * width, width);
    }
};

// A learned function from observations to actions. Immutable: shared by any number of networks and threads, each of
// which has a separate workspace for intermediate results.
class Policy {
public:
    using Workspace = std::vector<float>;

    virtual ~Policy() = default;
    // Name of the controller that the policy was trained for.
    virtual std::string_view controller() const = 0;
    // Throws ScenarioError with the mismatch unless the policy fits that agent with observations of `history` records.
    virtual void require_fit(const AgentInfo& agent, std::uint32_t history) const = 0;
    // Writes [acting, action_width] to `action`; for choices, their indices. Allocates only in `space`, and only at the
    // first call. Returns the value estimate of the observation (with that action), or NaN from a policy without one.
    virtual double act(const Observation& observation, Workspace& space, std::span<float> action) const = 0;
};

enum class DecisionSourceKind : std::uint8_t {
    Neutral,  // the action without effect
    Random,   // uniform over the allowed actions, from the run's seed: a stress test for controllers
    Trained,  // a policy
    Outside,  // the caller: the run stops and waits for Network::act()
};
SUBFLOW_WORDS(DecisionSourceKind, "neutral", "random", "trained", "outside")

struct DecisionSource {
    DecisionSourceKind kind = DecisionSourceKind::Neutral;
    std::shared_ptr<const Policy> policy;  // set for Trained only
};
SUBFLOW_FIELDS(DecisionSource, kind, policy)

}  // namespace subflow

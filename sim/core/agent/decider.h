// Who decides for a learning agent.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "agent_info.h"

namespace subflow {

// What an agent sees when it has to act.
struct Observation {
    // [subflows, width] row by row: the subflows that are there now, each with `history` records of its features, the
    // latest first.
    std::span<const float> rows;
    std::uint32_t width = 0;
    std::span<const std::uint32_t> acting;  // rows that an action is wanted for, ascending; one at least

    std::uint32_t subflows() const { return width == 0 ? 0 : static_cast<std::uint32_t>(rows.size() / width); }
    std::span<const float> row(std::uint32_t i) const {
        return rows.subspan(static_cast<std::size_t>(i) * width, width);
    }
};

// A function from observations to actions that somebody has learned. Immutable: shared by any number of networks and
// threads. Each of these has a workspace of its own, for the function to keep intermediate results in.
class Policy {
public:
    using Workspace = std::vector<float>;

    virtual ~Policy() = default;
    // Name of the controller it was made for.
    virtual std::string_view controller() const = 0;
    // Throws ScenarioError, which says what does not fit, unless it can serve that agent with observations of so many
    // records.
    virtual void require_fit(const AgentInfo& agent, std::uint32_t history) const = 0;
    // Writes [acting, action_width] to `action`; for choices, their numbers. Allocates only in `space`, and only the
    // first time. Returns how good the function thinks the observation (with that action) is: NaN if it does not say.
    virtual double act(const Observation& observation, Workspace& space, std::span<float> action) const = 0;
};

enum class DeciderKind : std::uint8_t {
    Neutral,  // the action that changes nothing
    Random,   // uniform over what is allowed, by the run's seed: what an agent has to survive
    Trained,  // a policy
    Outside,  // whoever holds the network: it stops and waits for Network::act()
};

struct Decider {
    DeciderKind kind = DeciderKind::Neutral;
    std::shared_ptr<const Policy> policy;  // of Trained only
};

}  // namespace subflow

// A trained policy from a file: an actor, and optionally a critic that estimates the value of an observation.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../agent/decider.h"
#include "policy_document.h"
#include "set_network.h"

namespace subflow {

struct PolicyFile {
    PolicyDocument document;
    TensorFile tensors;
};

// Reads the bytes of a policy file. Throws PolicyError with the reason.
PolicyFile read_policy_file(std::span<const std::byte> file);

// Several observations with the same number of slots each, some of which may be empty.
struct ObservationBatch {
    std::size_t slots = 0;
    std::span<const float> rows;   // [observations, slots, row width]
    std::span<const bool> mask;    // [observations, slots] the subflow exists
    std::span<const bool> acting;  // [observations, slots] the subflow exists and needs an action
};

// Numeric actions: the actor's outputs are clamped to [-1, 1] and mapped to [minimum, maximum] of the agent's action.
// Choices: the largest output wins, the first among equals. Rows beyond the network's slots, and rows whose arithmetic
// overflows, get the middle of the range or the neutral choice. A critic sees actions within [-1, 1]. If the critic
// evaluates each row separately, the value is the mean over the rows.
class NetworkPolicy final : public Policy, public std::enable_shared_from_this<NetworkPolicy> {
public:
    // `agent`: the core's description of the controller's agent. Throws PolicyError unless tensors, document and agent
    // fit.
    NetworkPolicy(PolicyFile file, const AgentInfo& agent);

    std::string_view controller() const override { return document_.controller; }
    void require_fit(const AgentInfo& agent, std::uint32_t history) const override;
    double act(const Observation& observation, Workspace& space, std::span<float> action) const override;
    // Writes [observations, slots, action_width()] to `actions`, only for acting subflows, and [observations] to
    // `values`, NaN for an observation without an acting subflow.
    void act_many(const ObservationBatch& batch, std::span<float> actions, std::span<float> values) const;

    const PolicyDocument& document() const { return document_; }
    // Numbers per action on one subflow.
    std::size_t action_width() const { return document_.choices.empty() ? document_.actions.size() : 1; }
    // Maximum number of acting subflows per call; empty for any number.
    std::optional<std::uint32_t> slots() const;

private:
    struct Range {
        float middle = 0;
        float half = 1;
    };

    NetworkPolicy(PolicyDocument document, TensorSource tensors, const AgentInfo& agent);

    // Writes [acting, outputs] within [-1, 1], or the indices of [acting] choices.
    void decide(const Observation& observation, std::span<const float> code, float* space,
                std::span<float> action) const;
    double value(const Observation& observation, std::span<const float> code, float* space,
                 std::span<const float> action) const;

    PolicyDocument document_;
    SetNetwork actor_;
    std::optional<SetNetwork> critic_;
    bool shares_encoder_ = false;  // actor and critic have the same encoder: one evaluation suffices
    std::vector<Range> ranges_;    // ranges of the actions; empty for choices
    float neutral_choice_;
    std::size_t code_width_;
    std::size_t workspace_;
};

// The policy of a file for the controller named in it. Throws PolicyError, also if the core has no such controller.
std::shared_ptr<const NetworkPolicy> read_policy(std::span<const std::byte> file);

}  // namespace subflow

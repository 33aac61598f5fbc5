// A trained policy from a file: an actor, and perhaps a critic that says how good it thinks things are.
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

// Reads the bytes of a file. Throws PolicyError, which says what is wrong.
PolicyFile read_policy_file(std::span<const std::byte> file);

// Many observations of as many slots each, of which some are empty.
struct ObservationBatch {
    std::size_t slots = 0;
    std::span<const float> rows;   // [observations, slots, row width]
    std::span<const bool> mask;    // [observations, slots] there is a subflow
    std::span<const bool> acting;  // [observations, slots] and an action is wanted for it
};

// Actions of numbers: what the actor gives is cut to [-1, 1] and spread over [minimum, maximum] of the agent's action.
// Rows beyond the network's slots are not seen and get the middle of that range, or the neutral choice; so does a row
// for which the arithmetic overflows. Of choices the one with the largest output is taken, the first of equals.
// A critic sees actions within [-1, 1]. The value of several rows, each by itself, is their mean.
class NetworkPolicy final : public Policy, public std::enable_shared_from_this<NetworkPolicy> {
public:
    // For an agent as the core has it. Throws PolicyError if tensors, document and agent do not fit one another.
    NetworkPolicy(PolicyFile file, const AgentInfo& agent);

    std::string_view controller() const override { return document_.controller; }
    void require_fit(const AgentInfo& agent, std::uint32_t history) const override;
    double act(const Observation& observation, Workspace& space, std::span<float> action) const override;
    // Of each of them: writes [observations, slots, action_width()] to `actions` where a subflow acts and leaves the
    // rest, and [observations] to `values`, NaN where none acts.
    void act_many(const ObservationBatch& batch, std::span<float> actions, std::span<float> values) const;

    const PolicyDocument& document() const { return document_; }
    // Numbers of an action on one subflow.
    std::size_t action_width() const { return document_.choices.empty() ? document_.actions.size() : 1; }
    // Subflows for which it can act at once; nothing: any number.
    std::optional<std::uint32_t> slots() const;

private:
    struct Range {
        float middle = 0;
        float half = 1;
    };

    NetworkPolicy(PolicyDocument document, TensorSource tensors, const AgentInfo& agent);

    // Writes [acting, outputs] within [-1, 1], or [acting] numbers of choices.
    void decide(const Observation& observation, std::span<const float> code, float* space,
                std::span<float> action) const;
    double value(const Observation& observation, std::span<const float> code, float* space,
                 std::span<const float> action) const;

    PolicyDocument document_;
    SetNetwork actor_;
    std::optional<SetNetwork> critic_;
    bool shares_encoder_ = false;  // actor and critic make the same of the rows: once is enough
    std::vector<Range> ranges_;    // of the actions; empty for choices
    float neutral_choice_;
    std::size_t code_width_;
    std::size_t workspace_;
};

// The policy of a file for the controller it names. Throws PolicyError, also if the core has no such controller.
std::shared_ptr<const NetworkPolicy> read_policy(std::span<const std::byte> file);

}  // namespace subflow

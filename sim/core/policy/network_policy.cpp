#include "network_policy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "../cc/controllers.h"
#include "policy_error.h"

namespace subflow {

namespace {

constexpr std::string_view kDocumentKey = "subflow_policy";

// Throws unless both lists contain the same names in the same order.
template <class Name>
void require_same(std::string_view what, const std::vector<std::string>& given, std::size_t count,
                  const Name& expected) {
    for (std::size_t i = 0; i < std::max(given.size(), count); ++i) {
        const std::string place = std::string(what) + "[" + std::to_string(i) + "]: ";
        if (i >= count)
            throw PolicyError(place + "\"" + given[i] + "\"; this version has only " + std::to_string(count));
        const std::string name(expected(i));
        if (i >= given.size()) throw PolicyError(place + "missing; this version has \"" + name + "\" there");
        if (given[i] != name)
            throw PolicyError(place + "\"" + given[i] + "\"; this version has \"" + name + "\" there");
    }
}

// The agent of a controller by name; null if the controller is unknown or has no agent.
const AgentInfo* agent_named(const std::string& controller) {
    const auto infos = controller_infos();
    const bool is_known = std::ranges::find(infos, controller, &AlgorithmInfo::name) != infos.end();
    return is_known ? agent_of(make_controller({controller, {}})) : nullptr;
}

}  // namespace

PolicyFile read_policy_file(std::span<const std::byte> file) {
    TensorFile tensors = read_tensors(file);
    const auto it = tensors.metadata.find(kDocumentKey);
    if (it == tensors.metadata.end())
        throw PolicyError("not a policy file: its metadata lack \"" + std::string(kDocumentKey) + "\"");
    PolicyDocument document = read_policy_document(it->second);
    return {std::move(document), std::move(tensors)};
}

NetworkPolicy::NetworkPolicy(PolicyFile file, const AgentInfo& agent)
    : NetworkPolicy(std::move(file.document), TensorSource(std::move(file.tensors)), agent) {}

NetworkPolicy::NetworkPolicy(PolicyDocument document, TensorSource tensors, const AgentInfo& agent)
    : document_(std::move(document)),
      actor_(document_.actor, document_.row_width(), document_.outputs(), "actor", tensors),
      neutral_choice_(agent.neutral_choice) {
    if (document_.critic) {
        critic_.emplace(*document_.critic, document_.row_width(), document_.outputs(), "critic", tensors);
        shares_encoder_ = critic_->has_encoder_of(actor_);
    }
    tensors.require_empty();
    require_fit(agent, document_.history);
    if (document_.choices.empty()) {
        for (const NumberInfo& action : agent.actions)
            ranges_.push_back({(action.minimum + action.maximum) / 2, (action.maximum - action.minimum) / 2});
    }
    code_width_ = std::max(actor_.code_width(), critic_ ? critic_->code_width() : 0);
    workspace_ = code_width_ + std::max(actor_.workspace(), critic_ ? critic_->workspace() : 0);
}

void NetworkPolicy::require_fit(const AgentInfo& agent, std::uint32_t history) const {
    require_same("observation.features", document_.features, agent.features.size(),
                 [&](std::size_t i) { return agent.features[i].name; });
    require_same("action.names", document_.actions, agent.actions.size(),
                 [&](std::size_t i) { return agent.actions[i].name; });
    require_same("action.choices", document_.choices, agent.choices.size(),
                 [&](std::size_t i) { return agent.choices[i]; });
    if (history != document_.history)
        throw PolicyError("it was trained with history = " + std::to_string(document_.history) + ", not " +
                          std::to_string(history));
}

std::optional<std::uint32_t> NetworkPolicy::slots() const {
    if (document_.actor.input == InputKind::Slot) return std::nullopt;
    return document_.actor.slots;
}

double NetworkPolicy::act(const Observation& observation, Workspace& space, std::span<float> action) const {
    if (space.size() < workspace_) space.resize(workspace_);
    const std::span<float> whole_code(space.data(), code_width_);
    float* const rest = space.data() + code_width_;

    std::span<float> code = whole_code.first(actor_.code_width());
    actor_.encode(observation, rest, code.data());
    decide(observation, code, rest, action);
    double worth = std::numeric_limits<double>::quiet_NaN();
    if (critic_) {
        code = whole_code.first(critic_->code_width());
        if (!shares_encoder_) critic_->encode(observation, rest, code.data());
        worth = value(observation, code, rest, action);
    }
    if (!ranges_.empty()) {
        for (std::size_t i = 0; i < action.size(); ++i) {
            const Range& range = ranges_[i % ranges_.size()];
            action[i] = range.middle + range.half * action[i];
        }
    }
    return worth;
}

void NetworkPolicy::act_many(const ObservationBatch& batch, std::span<float> actions, std::span<float> values) const {
    const std::size_t row_width = document_.row_width(), width = action_width();
    Workspace space;
    std::vector<float> there, action(batch.slots * width);
    std::vector<std::uint32_t> positions;    // positions of the acting rows among the existing rows
    std::vector<std::size_t> acting_places;  // positions of the acting rows among all rows of the batch
    for (std::size_t i = 0; i < values.size(); ++i) {
        there.clear();
        positions.clear();
        acting_places.clear();
        for (std::size_t place = i * batch.slots; place < (i + 1) * batch.slots; ++place) {
            if (!batch.mask[place]) continue;
            if (batch.acting[place]) {
                positions.push_back(static_cast<std::uint32_t>(there.size() / row_width));
                acting_places.push_back(place);
            }
            const std::span<const float> row = batch.rows.subspan(place * row_width, row_width);
            there.insert(there.end(), row.begin(), row.end());
        }
        values[i] = std::numeric_limits<float>::quiet_NaN();
        if (positions.empty()) continue;
        const std::span<float> acted = std::span(action).first(positions.size() * width);
        const Observation observation{.rows = there, .width = document_.row_width(), .acting = positions};
        values[i] = static_cast<float>(act(observation, space, acted));
        for (std::size_t k = 0; k < positions.size(); ++k)
            std::ranges::copy(acted.subspan(k * width, width), actions.subspan(acting_places[k] * width).begin());
    }
}

void NetworkPolicy::decide(const Observation& observation, std::span<const float> code, float* space,
                           std::span<float> action) const {
    const InputKind input = actor_.spec().input;
    const std::size_t outputs = document_.outputs();
    const std::size_t width = action_width();
    std::span<const float> all;
    for (std::size_t k = 0; k < observation.acting.size(); ++k) {
        const std::size_t place = input == InputKind::Slot ? 0 : input == InputKind::Target ? k : observation.acting[k];
        if (input == InputKind::Slot || k == 0) all = actor_.run(observation, code, k, {}, space);
        const bool is_answered = place < actor_.spec().answers();
        const std::span<const float> given = is_answered ? all.subspan(place * outputs, outputs) : all.first(0);
        const std::span<float> mine = action.subspan(k * width, width);
        if (document_.choices.empty()) {
            std::ranges::fill(mine, 0.0f);
            for (std::size_t i = 0; i < given.size(); ++i) {
                if (!std::isnan(given[i])) mine[i] = std::clamp(given[i], -1.0f, 1.0f);
            }
        } else {
            mine.front() = neutral_choice_;
            float best = -std::numeric_limits<float>::infinity();
            for (std::size_t i = 0; i < given.size(); ++i) {
                if (!(given[i] > best)) continue;
                best = given[i];
                mine.front() = static_cast<float>(i);
            }
        }
    }
}

double NetworkPolicy::value(const Observation& observation, std::span<const float> code, float* space,
                            std::span<const float> action) const {
    const std::size_t answers = critic_->spec().input == InputKind::Slot ? observation.acting.size() : 1;
    double sum = 0;
    for (std::size_t k = 0; k < answers; ++k)
        sum += static_cast<double>(critic_->run(observation, code, k, action, space).front());
    const double mean = sum / static_cast<double>(answers);
    return std::isfinite(mean) ? mean : std::numeric_limits<double>::quiet_NaN();
}

std::shared_ptr<const NetworkPolicy> read_policy(std::span<const std::byte> bytes) {
    PolicyFile file = read_policy_file(bytes);
    const AgentInfo* agent = agent_named(file.document.controller);
    if (agent == nullptr)
        throw PolicyError("controller: this version has no learned controller \"" + file.document.controller + "\"");
    return std::make_shared<const NetworkPolicy>(std::move(file), *agent);
}

}  // namespace subflow

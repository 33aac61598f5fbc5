// Reasons of a learning agent's decision, as in subflow_app/features/training/core/agent_explanations.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/agent_steps.h"
#include "json_text.h"
#include "network.h"
#include "policy/network_policy.h"

namespace subflow::web {

inline constexpr double kSameAction = 1e-4;  // actions that differ by less are equal

inline float median(std::vector<float>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 != 0) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

// Writes an agent's decision for the subflow in a row of the table, and the decisions it would have made with one
// feature replaced by its median.
inline void tell_agent(Text out, const Network& network, const AgentStepTable& table, std::size_t row) {
    const AgentStep& step = table.steps[row];
    const Agent& agent = network.agents()[step.agent];
    const AgentInfo& info = agent.info();
    const std::size_t count = info.features.size(), actions = info.action_width();
    const auto is_same = [&](const AgentStep& each) { return each.agent == step.agent && each.number == step.number; };
    std::size_t first = row, end = row + 1;
    while (first > 0 && is_same(table.steps[first - 1])) --first;
    while (end < table.size() && is_same(table.steps[end])) ++end;
    const std::span<const float> done = table.action(row).first(actions);

    out.open('{').number("time_s", static_cast<double>(step.at.value) * 1e-9).number("reward", double{step.reward});
    const auto tell_action = [&](std::string_view key, std::span<const float> action) {
        out.key(key).open('[');
        for (std::size_t i = 0; i < actions; ++i) {
            out.open('{');
            if (info.choices.empty()) {
                out.text("name", info.actions[i].name).number("value", double{action[i]});
            } else {
                const auto choice = static_cast<std::size_t>(std::lround(action[i]));
                out.text("name", info.choices[std::min(choice, info.choices.size() - 1)]);
            }
            out.close('}');
        }
        out.close(']');
    };
    tell_action("action", done);
    const auto* const policy = dynamic_cast<const NetworkPolicy*>(agent.decider().policy.get());
    if (policy == nullptr) {
        out.text("decider", agent.decider().kind == DecisionSourceKind::Random ? "random" : "neutral").close('}');
        return;
    }
    const std::size_t slots = end - first, width = policy->document().row_width();
    std::vector<float> usual(count), values;
    for (std::size_t feature = 0; feature < count; ++feature) {
        values.clear();
        for (std::size_t i = 0; i < table.size(); ++i)
            if (table.steps[i].is_acting && table.steps[i].agent == step.agent &&
                table.steps[i].subflow == step.subflow)
                values.push_back(table.observation(i)[feature]);
        usual[feature] = median(values);
    }
    // One trial per feature, followed by the actual observation.
    std::vector<float> rows;
    for (std::size_t trial = 0; trial <= count; ++trial)
        for (std::size_t i = first; i < end; ++i) {
            const std::span<const float> seen = table.observation(i).first(width);
            rows.insert(rows.end(), seen.begin(), seen.end());
            if (i != row || trial == count) continue;
            float* const own = rows.data() + rows.size() - width;
            for (std::size_t k = trial; k < width; k += count) own[k] = usual[trial];
        }
    const std::size_t cells = (count + 1) * slots;
    const auto flags = [&](auto is_set) {
        auto made = std::make_unique<bool[]>(cells);
        for (std::size_t i = 0; i < cells; ++i) made[i] = is_set(first + i % slots);
        return made;
    };
    const auto mask = flags([](std::size_t) { return true; });
    const auto acting = flags([&](std::size_t i) { return table.steps[i].is_acting; });
    std::vector<float> otherwise(cells * actions), worth(count + 1);
    policy->act_many(
        {.slots = slots, .rows = rows, .mask = std::span(mask.get(), cells), .acting = std::span(acting.get(), cells)},
        otherwise, worth);
    const auto action_of = [&](std::size_t trial) {
        return std::span<const float>(otherwise).subspan((trial * slots + row - first) * actions, actions);
    };
    std::vector<std::pair<double, std::size_t>> moved;
    for (std::size_t feature = 0; feature < count; ++feature) {
        double change = 0;
        for (std::size_t i = 0; i < actions; ++i)
            change += std::fabs(double{action_of(feature)[i]} - double{action_of(count)[i]});
        if (change > kSameAction) moved.emplace_back(-change, feature);
    }
    std::ranges::sort(moved);
    out.key("reasons").open('[');
    for (const auto& [change, feature] : moved) {
        out.open('{')
            .text("feature", info.features[feature].name)
            .text("help", info.features[feature].help)
            .number("value", double{table.observation(row)[feature]})
            .number("usual", double{usual[feature]});
        tell_action("otherwise", action_of(feature));
        out.close('}');
    }
    out.close(']').close('}');
}

}  // namespace subflow::web

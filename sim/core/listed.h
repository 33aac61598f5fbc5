// Operations on a closed list of types in a std::variant: construction by name, and the descriptions of all types.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "algorithm.h"
#include "visit_inline.h"

namespace subflow {

// Makes the alternative of `Variant` whose kInfo.name equals the name of the choice. Throws ScenarioError for an
// unknown name. `what`: kind of algorithm, for the message.
template <class Variant, std::size_t I = 0>
Variant make_by_name(const AlgorithmChoice& choice, const char* what) {
    if constexpr (I < std::variant_size_v<Variant>) {
        using Listed = std::variant_alternative_t<I, Variant>;
        if (!choice.name.empty() && Listed::kInfo.name == choice.name)
            return Listed(Options(Listed::kInfo, choice.options));
        return make_by_name<Variant, I + 1>(choice, what);
    } else {
        throw ScenarioError(std::string("unknown ") + what + " '" + choice.name + "'");
    }
}

// Rules of several algorithms without duplicates.
template <std::size_t kMost>
class RuleList {
public:
    constexpr void add(std::span<const RuleInfo* const> more) {
        for (const RuleInfo* rule : more) {
            // Compared by content: with sanitizers, g++ does not compare addresses of inline constants at compile time.
            const auto known = rules_.begin() + count_;
            const auto is_same = [&](const RuleInfo* other) {
                return other->name == rule->name && other->formula == rule->formula;
            };
            if (std::find_if(rules_.begin(), known, is_same) == known) rules_[count_++] = rule;
        }
    }
    constexpr std::span<const RuleInfo* const> distinct() const { return std::span(rules_).first(count_); }

private:
    std::array<const RuleInfo*, kMost> rules_{};
    std::size_t count_ = 0;
};

template <class Variant>
std::vector<const AlgorithmInfo*> infos_of() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        std::vector<const AlgorithmInfo*> infos{&std::variant_alternative_t<I, Variant>::kInfo...};
        std::erase_if(infos, [](const AlgorithmInfo* info) { return info->name.empty(); });  // scripts have no name
        return infos;
    }(std::make_index_sequence<std::variant_size_v<Variant>>());
}

}  // namespace subflow

// Working with a closed list of types held in a std::variant: making one by name, listing what there is.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "algorithm.h"

namespace subflow {

// The alternative of `Variant` whose kInfo.name is chosen. Throws ScenarioError if there is none.
template <class Variant, std::size_t I = 0>
Variant make_by_name(const AlgorithmChoice& choice, const char* what) {
    if constexpr (I < std::variant_size_v<Variant>) {
        using Listed = std::variant_alternative_t<I, Variant>;
        if (Listed::kInfo.name == choice.name) return Listed(Options(Listed::kInfo, choice.options));
        return make_by_name<Variant, I + 1>(choice, what);
    } else {
        throw ScenarioError(std::string("unknown ") + what + " '" + choice.name + "'");
    }
}

template <class Variant>
std::vector<const AlgorithmInfo*> infos_of() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        return std::vector<const AlgorithmInfo*>{&std::variant_alternative_t<I, Variant>::kInfo...};
    }(std::make_index_sequence<std::variant_size_v<Variant>>());
}

}  // namespace subflow

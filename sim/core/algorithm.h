// Declarations by which controllers and schedulers describe themselves. Each declaration serves to validate files, to
// print help and to build forms.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "decision.h"
#include "scenario.h"

namespace subflow {

// Policy: name of the policy that decides for a learning agent. The core ignores this option, because FlowSpec::decider
// contains the policy.
enum class OptionKind { Number, Ratio, Time, Rate, Flag, Choice, Policy };

struct OptionInfo {
    std::string_view key;
    OptionKind kind = OptionKind::Number;
    std::string_view help;
    double default_number = 0;  // in SI units; flags: 0 or 1
    std::string_view default_choice = {};
    std::string_view textbook_choice = {};  // default in the `textbook` profile; empty: default_choice
    double minimum = 0;
    double maximum = 0;
    std::span<const std::string_view> choices = {};
    std::string_view unit = {};  // only for kind Number
    std::string_view base = {};  // the option applies only if the option `base` has this value; empty: always
};

// Concatenates lists of options or rules.
template <class T, std::size_t... kSizes>
constexpr auto joined(const std::array<T, kSizes>&... lists) {
    std::array<T, (kSizes + ...)> all{};
    auto end = all.begin();
    ((end = std::ranges::copy(lists, end).out), ...);
    return all;
}

struct AlgorithmInfo {
    std::string_view name;            // as written in scenario files
    std::string_view summary;         // one line
    std::string_view source;          // RFC or paper
    bool is_coupled = false;          // controls all subflows of a connection jointly: for mptcp flows
    std::string_view scheduler = {};  // preferred scheduler with several paths; empty: any
    std::span<const OptionInfo> options = {};
    std::span<const RuleInfo* const> rules = {};  // rules of its decisions, including rules of its parts
};

// Options of an algorithm, for its constructor: the given value, or the declared default. Flags are the numbers 0 and
// 1. Throws ScenarioError for a key that the algorithm does not declare or a value of the wrong kind or out of range.
class Options {
public:
    Options(const AlgorithmInfo& info, std::span<const OptionValue> given);
    double number(std::string_view key) const;
    std::string_view choice(std::string_view key) const;
    // Options for an algorithm used as a part of this algorithm; `part` must declare a subset of this algorithm's
    // options.
    Options of_part(const AlgorithmInfo& part) const;

private:
    const OptionInfo& declared(std::string_view key) const;
    const OptionValue* given(std::string_view key) const;

    const AlgorithmInfo& info_;
    std::span<const OptionValue> given_;
};

}  // namespace subflow

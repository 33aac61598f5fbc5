// How controllers and schedulers describe themselves: the one declaration that validates files, prints help and builds
// forms.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "decision.h"
#include "scenario.h"

namespace subflow {

// Policy: who decides for a learning agent, by name. The core takes that from FlowSpec::decider and ignores the option.
enum class OptionKind { Number, Ratio, Time, Rate, Flag, Choice, Policy };

struct OptionInfo {
    std::string_view key;
    OptionKind kind = OptionKind::Number;
    std::string_view help;
    double default_number = 0;  // SI; flags: 0 or 1
    std::string_view default_choice = {};
    std::string_view textbook_choice = {};  // the default under the `textbook` profile; empty: the same
    double minimum = 0;
    double maximum = 0;
    std::span<const std::string_view> choices = {};
    std::string_view unit = {};  // of a Number
    std::string_view base = {};  // only with this value of the option `base`; empty: always
};

// Lists of options or rules one after the other.
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
    bool is_coupled = false;          // runs over the subflows of one connection together: for mptcp flows
    std::string_view scheduler = {};  // that it was made for, on several paths; empty: any
    std::span<const OptionInfo> options = {};
    std::span<const RuleInfo* const> rules = {};  // by which it decides, those it borrows included
};

// Option access for the constructors of algorithms: the given value, or the declared default.
// Throws ScenarioError for a key the algorithm does not declare or a value of the wrong kind or out of range.
class Options {
public:
    Options(const AlgorithmInfo& info, std::span<const OptionValue> given);
    double number(std::string_view key) const;
    std::string_view choice(std::string_view key) const;
    // The same values for an algorithm that is part of this one and declares some of its options.
    Options of_part(const AlgorithmInfo& part) const;

private:
    const OptionInfo& declared(std::string_view key) const;
    const OptionValue* given(std::string_view key) const;

    const AlgorithmInfo& info_;
    std::span<const OptionValue> given_;
};

}  // namespace subflow

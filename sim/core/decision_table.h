// Decisions of a network, taken out of their logs: a column per quantity.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "decision.h"

namespace subflow {

// Elements of a vector begin as they lie in memory: each is written before it is read.
template <class T>
struct Unfilled : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Unfilled<U>;
    };
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
};

// In order of time; of what was decided at the same instant, subflows come before connections, each in their own order.
// Row i of `numbers` are the kMaxDecisionNumbers from i * kMaxDecisionNumbers on; those that the rule does not have are
// NaN.
struct DecisionTable {
    template <class T>
    using Column = std::vector<T, Unfilled<T>>;

    Column<std::int64_t> time_ns;
    Column<std::uint32_t> owner;  // a subflow, or as many more than there are subflows as the flow's index
    Column<std::uint8_t> cause;
    Column<std::uint16_t> rule;  // position in all_rules(), or behind those among the rules of scripts
    Column<double> cwnd_before_pkts;
    Column<double> cwnd_after_pkts;
    Column<double> rate_before_bps;  // on the wire
    Column<double> rate_after_bps;
    Column<double> numbers;
    Column<std::uint8_t> chosen;
    Column<std::uint32_t> available;
    Column<std::uint32_t> usable;
    Column<std::uint32_t> data_seq;
    Column<std::uint16_t> step_count;  // of scripts: how many of the steps below are this decision's
    std::vector<std::uint32_t> step_notes;
    std::vector<double> step_values;

    explicit DecisionTable(std::size_t size)
        : time_ns(size),
          owner(size),
          cause(size),
          rule(size),
          cwnd_before_pkts(size),
          cwnd_after_pkts(size),
          rate_before_bps(size),
          rate_after_bps(size),
          numbers(size * kMaxDecisionNumbers),
          chosen(size),
          available(size),
          usable(size),
          data_seq(size),
          step_count(size) {}

    std::size_t size() const { return time_ns.size(); }
    // Per decision, all columns together
    static constexpr std::size_t kRowBytes = 8 + 4 + 1 + 2 + 4 * 8 + kMaxDecisionNumbers * 8 + 1 + 3 * 4 + 2;
};

// A log and whose it is, as in DecisionTable::owner.
struct OwnedLog {
    const DecisionLog* log = nullptr;
    std::uint32_t owner = 0;
};

// Everything that is in these logs. `packet_bits`: what a full packet weighs on the wire; `of_scripts`: the rules of
// the scripts that may be named in them.
DecisionTable merge_decisions(std::span<const OwnedLog> logs, double packet_bits,
                              std::span<const RuleInfo* const> of_scripts);

}  // namespace subflow

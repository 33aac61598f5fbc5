// Decisions of a network, taken from their logs: a column per quantity.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "decision.h"

namespace subflow {

// Allocator that leaves the elements of a vector uninitialised, for vectors whose elements are all written before they
// are read.
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

// Rows in order of time. At the same time, subflows come before connections, both in the order of their indices. Row i
// of `numbers` begins at i * kMaxDecisionNumbers; numbers that the rule does not have are NaN.
struct DecisionTable {
    template <class T>
    using Column = std::vector<T, Unfilled<T>>;

    Column<std::int64_t> time_ns;
    Column<std::uint32_t> owner;  // index of a subflow, or number of subflows plus index of a flow
    Column<std::uint8_t> cause;
    Column<std::uint16_t> rule;  // position in all_rules(), followed by the rules of scripts
    Column<double> cwnd_before_pkts;
    Column<double> cwnd_after_pkts;
    Column<double> rate_before_bps;  // pacing rate on the wire
    Column<double> rate_after_bps;
    Column<double> numbers;
    Column<std::uint8_t> chosen;
    Column<std::uint32_t> available;
    Column<std::uint32_t> usable;
    Column<std::uint32_t> data_seq;
    Column<std::uint16_t> step_count;  // number of steps of a script in the two columns below
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
    // Bytes per decision over all columns, without the steps of scripts
    static constexpr std::size_t kRowBytes = 8 + 4 + 1 + 2 + 4 * 8 + kMaxDecisionNumbers * 8 + 1 + 3 * 4 + 2;
};

// A log and its owner, as in DecisionTable::owner.
struct OwnedLog {
    const DecisionLog* log = nullptr;
    std::uint32_t owner = 0;
};

// Merges all decisions of these logs. `packet_bits`: size of a full packet on the wire in bits; `of_scripts`: rules of
// all scripts whose decisions the logs may contain.
DecisionTable merge_decisions(std::span<const OwnedLog> logs, double packet_bits,
                              std::span<const RuleInfo* const> of_scripts);

}  // namespace subflow

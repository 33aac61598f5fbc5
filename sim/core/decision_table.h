// Decisions of a network, taken out of their logs: a column per quantity.
#pragma once

#include <cstdint>
#include <vector>

#include "decision.h"

namespace subflow {

// In order of time; of what was decided at the same instant, subflows come before connections, each in their own order.
// Row i of `numbers` are the kMaxDecisionNumbers from i * kMaxDecisionNumbers on; those that the rule does not have are
// NaN.
struct DecisionTable {
    std::vector<std::int64_t> time_ns;
    std::vector<std::uint32_t> owner;  // a subflow, or as many more than there are subflows as the flow's index
    std::vector<std::uint8_t> cause;
    std::vector<std::uint16_t> rule;  // position in all_rules()
    std::vector<double> cwnd_before_pkts;
    std::vector<double> cwnd_after_pkts;
    std::vector<double> rate_before_bps;  // on the wire
    std::vector<double> rate_after_bps;
    std::vector<double> numbers;
    std::vector<std::uint8_t> chosen;
    std::vector<std::uint32_t> available;
    std::vector<std::uint32_t> usable;
    std::vector<std::uint32_t> data_seq;

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
          data_seq(size) {}

    std::size_t size() const { return time_ns.size(); }
    // Per decision, all columns together
    static constexpr std::size_t kRowBytes = 8 + 4 + 1 + 2 + 4 * 8 + kMaxDecisionNumbers * 8 + 1 + 3 * 4;
};

}  // namespace subflow

#include "decision_table.h"

#include <algorithm>
#include <array>
#include <limits>

#include "rules.h"

namespace subflow {

namespace {

// Rules by their addresses. Decisions name few different ones, nearly always those that it has seen.
class RuleNumbers {
public:
    struct Entry {
        const RuleInfo* rule = nullptr;
        std::uint16_t number = 0;
        std::uint16_t count = 0;  // of the numbers that it has
    };

    const Entry& operator[](const RuleInfo* rule) {
        Entry& entry = seen_[reinterpret_cast<std::uintptr_t>(rule) / alignof(RuleInfo) % seen_.size()];
        if (entry.rule != rule) entry = look_up(rule);
        return entry;
    }

private:
    static Entry look_up(const RuleInfo* rule) {
        const auto rules = all_rules();
        const auto it = std::ranges::find(rules, rule);
        SF_ASSERT(it != rules.end());  // else its algorithm does not list it
        return {rule, static_cast<std::uint16_t>(it - rules.begin()), static_cast<std::uint16_t>(rule->number_count())};
    }

    std::array<Entry, 61> seen_;  // a prime: the rules of an algorithm lie one after the other
};

// Where the merge stands in one log.
struct LogCursor : OwnedLog {
    std::uint32_t next = 0;

    Nanos at() const { return (*log)[next].at; }
    bool is_after(const LogCursor& other) const { return at() != other.at() ? at() > other.at() : owner > other.owner; }
};

}  // namespace

DecisionTable merge_decisions(std::span<const OwnedLog> logs, double packet_bits) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::size_t size = 0;
    std::vector<LogCursor> cursors;
    for (const OwnedLog& each : logs) {
        size += each.log->size();
        if (each.log->size() != 0) cursors.push_back({each});
    }
    // The log with the earliest decision stands at the front of the heap.
    const auto is_after = [](const LogCursor& a, const LogCursor& b) { return a.is_after(b); };
    std::ranges::make_heap(cursors, is_after);

    DecisionTable table(size);
    RuleNumbers rules;
    for (std::size_t row = 0; row < size;) {
        std::ranges::pop_heap(cursors, is_after);
        LogCursor& cursor = cursors.back();
        // A log goes on for as long as no other one has an earlier decision.
        do {
            const Decision& d = (*cursor.log)[cursor.next];
            const RuleNumbers::Entry& rule = rules[d.reason.rule];
            table.time_ns[row] = d.at.value;
            table.owner[row] = cursor.owner;
            table.cause[row] = static_cast<std::uint8_t>(d.cause);
            table.rule[row] = rule.number;
            table.cwnd_before_pkts[row] = d.cwnd_before_pkts;
            table.cwnd_after_pkts[row] = d.cwnd_after_pkts;
            table.rate_before_bps[row] = d.rate_before_pps * packet_bits;
            table.rate_after_bps[row] = d.rate_after_pps * packet_bits;
            double* const numbers = &table.numbers[row * kMaxDecisionNumbers];
            for (std::size_t i = 0; i < kMaxDecisionNumbers; ++i)
                numbers[i] = i < rule.count ? d.reason.numbers[i] : kNone;
            table.chosen[row] = d.chosen;
            table.available[row] = d.available;
            table.usable[row] = d.usable;
            table.data_seq[row] = d.data_seq;
            ++row;
            ++cursor.next;
        } while (cursor.next != cursor.log->size() && (cursors.size() == 1 || !cursor.is_after(cursors.front())));
        if (cursor.next == cursor.log->size()) {
            cursors.pop_back();
        } else {
            std::ranges::push_heap(cursors, is_after);
        }
    }
    return table;
}

}  // namespace subflow

#include "decision_table.h"

#include <algorithm>
#include <array>
#include <limits>

#include "rules.h"

namespace subflow {

namespace {

// Table number of each rule, looked up by the rule's address. Cached, because the decisions of a run use few different
// rules.
class RuleNumbers {
public:
    explicit RuleNumbers(std::span<const RuleInfo* const> of_scripts) : of_scripts_(of_scripts) {}

    struct Entry {
        const RuleInfo* rule = nullptr;
        std::uint16_t number = 0;
        std::uint16_t count = 0;  // number of the rule's inputs
    };

    const Entry& operator[](const RuleInfo* rule) {
        Entry& entry = seen_[reinterpret_cast<std::uintptr_t>(rule) / alignof(RuleInfo) % seen_.size()];
        if (entry.rule != rule) entry = look_up(rule);
        return entry;
    }

private:
    Entry look_up(const RuleInfo* rule) const {
        const auto rules = all_rules();
        auto number = std::ranges::find(rules, rule) - rules.begin();
        if (static_cast<std::size_t>(number) == rules.size()) {
            const auto it = std::ranges::find(of_scripts_, rule);
            SF_ASSERT(it != of_scripts_.end());  // otherwise no algorithm lists the rule
            number += it - of_scripts_.begin();
        }
        return {rule, static_cast<std::uint16_t>(number), static_cast<std::uint16_t>(rule->number_count())};
    }

    std::span<const RuleInfo* const> of_scripts_;

    std::array<Entry, 61> seen_;  // a prime size spreads rules at regular distances in memory
};

// Position of the merge in one log.
struct LogCursor : OwnedLog {
    std::uint32_t next = 0;
    std::uint32_t next_step = 0;

    Nanos at() const { return (*log)[next].at; }
    bool is_after(const LogCursor& other) const { return at() != other.at() ? at() > other.at() : owner > other.owner; }
};

}  // namespace

DecisionTable merge_decisions(std::span<const OwnedLog> logs, double packet_bits,
                              std::span<const RuleInfo* const> of_scripts) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    std::size_t size = 0;
    std::size_t step_count = 0;
    std::vector<LogCursor> cursors;
    for (const OwnedLog& each : logs) {
        size += each.log->size();
        if (each.log->size() != 0) cursors.push_back({each, 0, each.log->steps().begin_pos()});
        step_count += each.log->steps().size();
    }
    // The log with the earliest decision is at the front of the heap.
    const auto is_after = [](const LogCursor& a, const LogCursor& b) { return a.is_after(b); };
    std::ranges::make_heap(cursors, is_after);

    DecisionTable table(size);
    table.step_notes.reserve(step_count);
    table.step_values.reserve(step_count);
    RuleNumbers rules(of_scripts);
    for (std::size_t row = 0; row < size;) {
        std::ranges::pop_heap(cursors, is_after);
        LogCursor& cursor = cursors.back();
        // Stay in this log until another one has an earlier decision.
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
            table.step_count[row] = d.step_count;
            for (std::uint16_t i = 0; i < d.step_count; ++i, ++cursor.next_step) {
                const ScriptStep& step = cursor.log->steps()[cursor.next_step];
                table.step_notes.push_back(step.note);
                table.step_values.push_back(step.value);
            }
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

// The part of Network that keeps the reasons of its controllers and schedulers.
#include <algorithm>
#include <array>
#include <limits>
#include <queue>
#include <ranges>

#include "network.h"
#include "rules.h"
#include "sender_rules.h"

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
struct LogCursor {
    const DecisionLog* log = nullptr;
    std::uint32_t owner = 0;
    std::uint32_t next = 0;

    Nanos at() const { return (*log)[next].at; }
    bool is_after(const LogCursor& other) const { return at() != other.at() ? at() > other.at() : owner > other.owner; }
};

}  // namespace

void Network::record_decisions(const DecisionLog::Limits& limits) {
    SF_ASSERT(limits.capacity > 0 && limits.window > Nanos(0));
    for (Subflow& s : subflows_) s.sender.record_decisions(limits);
    for (Connection& c : connections_) {
        if (!c.is_multipath()) continue;
        if (!c.decisions) c.decisions.emplace();
        c.decisions->set_limits(limits);
    }
}

// What the scheduler was asked to explain has become its answer.
void Network::record_choice(Connection& c, std::uint32_t data_seq, std::optional<std::size_t> choice) {
    Decision& decision = c.decisions->current_draft();
    decision.data_seq = data_seq;
    if (choice) decision.chosen = static_cast<std::uint8_t>(*choice);
    for (std::uint32_t i = 0; i < c.subflow_count; ++i) {
        decision.available |= static_cast<std::uint32_t>(candidates_[i].is_available) << i;
        decision.usable |= static_cast<std::uint32_t>(candidates_[i].is_usable) << i;
    }
    if (decision.reason.rule == nullptr) {
        const bool had_no_choice = choice && decision.available == 1u << *choice;
        decision.reason.rule = decision.available == 0 ? &kNoneAvailable
                               : had_no_choice         ? &kOnlyAvailable
                                                       : &sender_rules::kUnexplained;
    }
    c.decisions->keep_draft();
}

// The scheduler was not asked: it would have taken the only subflow that had room.
void Network::record_only_choice(Connection& c, std::uint32_t data_seq, std::size_t choice) {
    Decision& decision = c.decisions->draft(Cause::Schedule, now_);
    decision.reason.rule = &kOnlyAvailable;
    decision.data_seq = data_seq;
    decision.chosen = static_cast<std::uint8_t>(choice);
    decision.available = 1u << choice;
    for (std::uint32_t i = 0; i < c.subflow_count; ++i)
        decision.usable |= static_cast<std::uint32_t>(is_usable(subflows_[c.first_subflow + i])) << i;
    c.decisions->keep_draft();
}

template <class Visit>
void Network::for_each_log(Visit&& visit) const {
    for (std::uint32_t i = 0; i < subflows_.size(); ++i) {
        if (subflows_[i].sender.decisions()) visit(*subflows_[i].sender.decisions(), i);
    }
    const auto first_flow = static_cast<std::uint32_t>(subflows_.size());
    for (std::uint32_t i = 0; i < connections_.size(); ++i) {
        if (connections_[i].decisions) visit(*connections_[i].decisions, first_flow + i);
    }
}

std::int64_t Network::decisions_lost() const {
    std::int64_t lost = 0;
    for_each_log([&](const DecisionLog& log, std::uint32_t) { lost += log.dropped(); });
    return lost;
}

double Network::decisions_fill() const {
    double fill = 0;
    for_each_log([&](const DecisionLog& log, std::uint32_t) {
        fill = std::max(fill, static_cast<double>(log.size()) / static_cast<double>(log.limits().capacity));
    });
    return fill;
}

DecisionTable Network::take_decisions() {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    const double packet_bits = scenario_->packet_bits();
    std::size_t size = 0;
    std::vector<LogCursor> cursors;
    for_each_log([&](const DecisionLog& log, std::uint32_t owner) {
        size += log.size();
        if (log.size() != 0) cursors.push_back({&log, owner, 0});
    });
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
    clear_decisions();
    return table;
}

void Network::clear_decisions() {
    for (Subflow& s : subflows_) s.sender.clear_decisions();
    for (Connection& c : connections_) {
        if (c.decisions) c.decisions->clear();
    }
}

}  // namespace subflow

// Records of decisions: those that are kept, their order, and their place in the state of a network.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "cc/controllers.h"
#include "network.h"
#include "rules.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

constexpr RuleInfo kRule{
    .name = "rule", .formula = "x", .source = "", .numbers = {{"x", "a number"}, {"y_pkts", "another"}}};

void add(DecisionLog& log, Nanos at) {
    log.draft(Cause::Ack, at).reason.set(kRule, {1, 2});
    log.keep_draft();
}

TEST(DecisionLog, KeepsTheLatestUpToItsCapacityAndCountsTheOthers) {
    DecisionLog log;
    log.set_limits({.capacity = 5});
    for (int i = 1; i <= 12; ++i) {
        add(log, Nanos(i));
        EXPECT_EQ(log.size(), std::min(i, 5));
        EXPECT_EQ(log[log.size() - 1].at, Nanos(i));
        EXPECT_EQ(log[0].at, Nanos(std::max(1, i - 4)));
    }
    EXPECT_EQ(log.dropped(), 7);
    log.set_limits({.capacity = 2});
    add(log, Nanos(13));
    EXPECT_EQ(log.size(), 2u);
    EXPECT_EQ(log.dropped(), 11);
    log.clear();
    EXPECT_EQ(log.size(), 0u);
    EXPECT_EQ(log.dropped(), 11);
}

TEST(DecisionLog, ForgetsWhatIsOlderThanItsWindowWithoutCountingIt) {
    DecisionLog log;
    log.set_limits({.capacity = 100, .window = Nanos(10)});
    for (const int at : {0, 3, 10, 11, 13}) add(log, Nanos(at));
    // The latest is at 13: records before 3 are too old.
    EXPECT_EQ(log.size(), 4u);
    EXPECT_EQ(log[0].at, Nanos(3));
    add(log, Nanos(100));
    EXPECT_EQ(log.size(), 1u);
    EXPECT_EQ(log.dropped(), 0);
}

TEST(DecisionLog, ADraftThatIsNotKeptLeavesNoTrace) {
    DecisionLog log;
    log.set_limits({.capacity = 16});  // the ring uses all of its first slots
    for (int i = 0; i < 16; ++i) add(log, Nanos(i));
    log.draft(Cause::Loss, Nanos(50)).chosen = 3;
    EXPECT_EQ(log.size(), 16u);
    EXPECT_EQ(log.dropped(), 0);
    EXPECT_EQ(log[0].at, Nanos(0));
    add(log, Nanos(51));
    EXPECT_EQ(log[15].at, Nanos(51));
    EXPECT_EQ(log[15].chosen, Decision::kNoSubflow);
    EXPECT_EQ(log[15].cause, Cause::Ack);
}

// Three subflows, a TCP flow beside them, losses, and a subflow that is closed and opened again.
Scenario eventful() {
    Scenario scenario = linux_profile(6_s);
    const PathSpec one = add_path(scenario, {.loss = 0.01});
    const PathSpec two = add_path(scenario, {.rate = 4_Mbps, .one_way = 10_ms, .queue_pkts = 20});
    add_mptcp(scenario, {one, two, one}, "olia");
    add_tcp(scenario, one);
    EventSpec change;
    change.flow = 0;
    change.subflow = 1;
    change.at = 2_s;
    change.open = false;
    scenario.events.push_back(change);
    change.at = 3_s;
    change.open = true;
    scenario.events.push_back(change);
    return scenario;
}

bool is_same_table(const DecisionTable& a, const DecisionTable& b) {
    // Bit for bit, NaN included
    const auto is_same = [](const auto& x, const auto& y) {
        return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0;
    };
    return is_same(a.time_ns, b.time_ns) && is_same(a.owner, b.owner) && is_same(a.cause, b.cause) &&
           is_same(a.rule, b.rule) && is_same(a.cwnd_before_pkts, b.cwnd_before_pkts) &&
           is_same(a.cwnd_after_pkts, b.cwnd_after_pkts) && is_same(a.rate_before_bps, b.rate_before_bps) &&
           is_same(a.rate_after_bps, b.rate_after_bps) && is_same(a.numbers, b.numbers) &&
           is_same(a.chosen, b.chosen) && is_same(a.available, b.available) && is_same(a.usable, b.usable) &&
           is_same(a.data_seq, b.data_seq);
}

TEST(Decisions, AreTakenInOrderOfTimeAndThenOfOwners) {
    const Scenario scenario = eventful();
    Network network(scenario, 1);
    network.record_decisions({});
    network.run_until(scenario.duration);
    std::vector<std::uint32_t> counts(6);
    for (std::uint32_t i = 0; i < network.subflows().size(); ++i)
        counts[i] = network.subflows()[i].sender.decisions()->size();
    counts[4] = network.connections()[0].decisions->size();
    EXPECT_GT(network.decisions_fill(), 0);

    const DecisionTable table = network.take_decisions();
    std::vector<std::uint32_t> taken(6);
    for (std::size_t i = 0; i < table.size(); ++i) {
        ++taken[table.owner[i]];
        if (i == 0) continue;
        const bool is_ordered = table.time_ns[i - 1] != table.time_ns[i] ? table.time_ns[i - 1] < table.time_ns[i]
                                                                         : table.owner[i - 1] <= table.owner[i];
        ASSERT_TRUE(is_ordered) << i;
    }
    EXPECT_EQ(taken, counts);
    EXPECT_GT(*std::ranges::min_element(counts.begin(), counts.begin() + 5), 10u);
    EXPECT_EQ(counts[5], 0u);  // a flow of one subflow has no choice
    EXPECT_EQ(network.decisions_fill(), 0);
    EXPECT_EQ(network.take_decisions().size(), 0u);
}

TEST(Decisions, OfASubflowThatIsOpenedAgainGoOnWithItsStart) {
    const Scenario scenario = eventful();
    Network network(scenario, 1);
    network.record_decisions({});
    network.run_until(scenario.duration);
    const DecisionTable table = network.take_decisions();
    std::vector<std::int64_t> starts;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.owner[i] == 1 && table.cause[i] == static_cast<std::uint8_t>(Cause::Start))
            starts.push_back(table.time_ns[i]);
        if (table.owner[i] == 1) {
            EXPECT_FALSE(table.time_ns[i] > (2_s).value && table.time_ns[i] < (3_s).value);
        }
    }
    // The subflow joins when the first data has been acknowledged, which waits for SYN and ACK at 10 Mbit/s, and then
    // takes two round trips with packets of 52 bytes at 4 Mbit/s. The same follows the event that opens it again.
    const Nanos first_ack = 200_ms + Nanos(2 * 41'600 + 1'200'000);
    const Nanos join = 40_ms + Nanos(2 * 104'000);
    EXPECT_EQ(starts, (std::vector<std::int64_t>{(first_ack + join).value, (3_s + join).value}));
}

TEST(Decisions, BelongToASnapshot) {
    const Scenario scenario = eventful();
    Network network(scenario, 1);
    network.record_decisions({});
    network.run_until(2500_ms);
    Network fork = network;
    network.run_until(scenario.duration);
    fork.run_until(scenario.duration);
    EXPECT_EQ(fork.signature(), network.signature());
    EXPECT_TRUE(is_same_table(fork.take_decisions(), network.take_decisions()));
}

TEST(Decisions, NumbersThatARuleDoesNotHaveAreUndefined) {
    const Scenario scenario = eventful();
    Network network(scenario, 1);
    network.record_decisions({});
    network.run_until(scenario.duration);
    const DecisionTable table = network.take_decisions();
    for (std::size_t i = 0; i < table.size(); ++i) {
        const std::size_t count = all_rules()[table.rule[i]]->number_count();
        for (std::size_t k = count; k < kMaxDecisionNumbers; ++k)
            ASSERT_TRUE(std::isnan(table.numbers[i * kMaxDecisionNumbers + k]));
    }
}

TEST(Siblings, MasksCountTheSubflowsThatAreAbsent) {
    const std::vector<Sibling> all(3, Sibling{.cwnd_pkts = 1, .srtt_s = 1});
    Siblings siblings{.all = all, .self = 0};
    const auto is_second = [&](const Sibling& s) { return &s == &all[1]; };
    EXPECT_EQ(siblings.mask_of(is_second), 0b10);
    // The first and the third of five subflows are not established: the span contains the second, fourth and fifth.
    siblings.absent = 0b00101;
    EXPECT_EQ(siblings.mask_of(is_second), 0b01000);
    EXPECT_EQ(siblings.mask_of([](const Sibling&) { return true; }), 0b11010);
}

TEST(Rules, AreEachListedOnceWithNumbersThatAreNamed) {
    std::vector<std::string_view> names;
    for (const RuleInfo* rule : all_rules()) names.push_back(rule->name);
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
    for (const AlgorithmInfo* info : controller_infos()) {
        EXPECT_FALSE(info->rules.empty()) << info->name;
        for (const RuleInfo* rule : info->rules)
            EXPECT_NE(std::ranges::find(all_rules(), rule), all_rules().end()) << rule->name;
    }
}

}  // namespace
}  // namespace subflow

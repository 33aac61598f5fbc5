// Packets that a scenario drops: exactly these, with any other features of the link and any steps of the run.
#include "scripted_loss.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "scenarios.h"
#include "simulation.h"

namespace subflow {
namespace {

using namespace testing;

Packet packet(PacketKind kind, std::uint32_t subflow) {
    Packet p;
    p.set_tag(kind, 0);
    p.subflow = subflow;
    return p;
}

std::vector<Mark> drops_in(Network& network) {
    std::vector<Mark> marks = network.take_marks();
    std::erase_if(marks, [](const Mark& m) { return m.kind != MarkKind::ScriptedDrop; });
    return marks;
}

TEST(ScriptedLoss, CountsTheDataPacketsOfEachSubflowAndOfEachTimeByThemselves) {
    ScriptedLoss script({{.subflow = 1, .number = 3},
                         {.subflow = 1, .number = 1},
                         {.subflow = 1, .number = 1},  // a repetition has no effect
                         {.subflow = 1, .number = 2, .after = 50_ns},
                         {.subflow = 2, .number = 1}});
    std::vector<int> taken;
    // A packet every 10 ns, from 10 ns on, with an ACK and a packet of a subflow without a script in between
    for (int i = 1; i <= 10; ++i) {
        const Nanos at(10 * i);
        if (script.takes(packet(PacketKind::Data, 1), at)) taken.push_back(i);
        EXPECT_FALSE(script.takes(packet(PacketKind::Ack, 1), at));
        EXPECT_FALSE(script.takes(packet(PacketKind::Data, 0), at));
    }
    // The second packet from 50 ns on; the fifth packet is the first of them
    EXPECT_EQ(taken, (std::vector<int>{1, 3, 6}));
    EXPECT_TRUE(script.takes(packet(PacketKind::Datagram, 2), 200_ns));
}

// A packet lost in the middle of a window, and then its retransmission as well.
TEST(ScriptedLoss, OnePacketIsOneFastRetransmitAndOneReduction) {
    Scenario scenario = textbook(10_s);
    add_tcp(scenario, add_path(scenario, {.queue_pkts = 2000})).size = Bytes(500 * 1448);
    scenario.links[0].drops = {{.subflow = 0, .number = 40}};
    Network network = finished(scenario);
    const SenderStats& stats = network.subflows()[0].sender.stats();
    EXPECT_EQ(network.links()[0].stats().drops_scripted, 1);
    EXPECT_EQ(network.subflow_result(0).packets.dropped, 1);
    EXPECT_EQ(stats.fast_retransmits, 1);
    EXPECT_EQ(stats.retransmits, 1);
    EXPECT_EQ(stats.timeouts, 0);
    const std::vector<Mark> drops = drops_in(network);
    ASSERT_EQ(drops.size(), 1u);
    EXPECT_EQ(drops[0].owner, 0u);
    EXPECT_EQ(drops[0].value, 39);  // sequence numbers count from 0
    EXPECT_LT(network.connections()[0].completed_at, 10_s);
}

// The packets arrive at the second link ahead of the clock; a change at a later time delays them.
TEST(ScriptedLoss, IsTheSameAheadOfTheClockAndHoweverTheRunIsCut) {
    for (const bool has_pure_delay : {false, true}) {
        Scenario scenario = linux_profile(5_s);
        PathSpec path = add_path(scenario, {.rate = 20_Mbps, .one_way = 3_ms});
        const PathSpec second = add_path(scenario, {.rate = 10_Mbps, .one_way = 20_ms});
        if (has_pure_delay) scenario.links[second.forward[0]].rate = kUnlimitedRate;
        path.forward.push_back(second.forward[0]);
        path.reverse.insert(path.reverse.begin(), second.reverse[0]);
        add_tcp(scenario, path);
        for (const std::int64_t number : {5, 6, 7, 60, 333})
            scenario.links[second.forward[0]].drops.push_back({.subflow = 0, .number = number});
        scenario.links[second.forward[0]].drops.push_back({.subflow = 0, .number = 10, .after = 2'500_ms});

        Network whole(scenario, 1);
        whole.run_until(5_s);
        whole.check_invariants();
        const std::vector<Mark> drops = drops_in(whole);
        EXPECT_EQ(drops.size(), 6u);
        EXPECT_GE(drops.back().time, 2'500_ms);
        EXPECT_TRUE(is_same_however_cut(scenario, 5_s));

        // In steps of a millisecond, packets are carried at most that far ahead.
        Network small(scenario, 1);
        for (Nanos at{}; at <= 5_s; at += 1_ms) small.run_until(at);
        EXPECT_EQ(small.signature(), whole.signature());
        const std::vector<Mark> again = drops_in(small);
        EXPECT_TRUE(std::ranges::equal(drops, again, {}, &Mark::time, &Mark::time));
    }
}

TEST(ScriptedLoss, ForksGoOnCountingByThemselves) {
    Scenario scenario = textbook(5_s);
    add_tcp(scenario, add_path(scenario));
    scenario.links[0].drops = {{.subflow = 0, .number = 30}, {.subflow = 0, .number = 700}};
    Simulation simulation(scenario, 1, 100_ms);
    simulation.run_until(1_s);
    ASSERT_EQ(simulation.network().links()[0].stats().drops_scripted, 1);
    const Simulation::Snapshot snapshot = simulation.snapshot();
    const auto fork = simulation.fork(snapshot);
    simulation.run_until(5_s);
    fork->run_until(5_s);
    EXPECT_EQ(simulation.network().links()[0].stats().drops_scripted, 2);
    EXPECT_EQ(fork->network().signature(), simulation.network().signature());
    simulation.restore(snapshot);
    simulation.run_until(5_s);
    EXPECT_EQ(fork->network().signature(), simulation.network().signature());
}

TEST(ScriptedLoss, IsOfASubflowThatSendsOverTheLink) {
    Scenario scenario = textbook(5_s);
    add_tcp(scenario, add_path(scenario));
    for (const ScriptedDrop& drop :
         {ScriptedDrop{.subflow = 1}, ScriptedDrop{.number = 0}, ScriptedDrop{.after = Nanos(-1)}}) {
        scenario.links[0].drops = {drop};
        EXPECT_THROW(Network(scenario, 1), ScenarioError);
    }
    scenario.links[0].drops.clear();
    scenario.links[1].drops = {{.subflow = 0}};  // the link of its ACKs
    EXPECT_THROW(Network(scenario, 1), ScenarioError);
}

}  // namespace
}  // namespace subflow

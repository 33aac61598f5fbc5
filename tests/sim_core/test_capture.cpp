// Packets of a flow as seen by its hosts: complete, in order of time, and without effect on the run.
#include <gtest/gtest.h>

#include <algorithm>

#include "network.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

// Two subflows, one with losses, a close and a reopening, and a TCP flow beside them.
Scenario eventful() {
    Scenario scenario = linux_profile(4_s);
    const PathSpec one = add_path(scenario, {.loss = 0.01});
    const PathSpec two = add_path(scenario, {.rate = 4_Mbps, .one_way = 10_ms, .queue_pkts = 20});
    add_mptcp(scenario, {one, two}, "lia");
    add_tcp(scenario, one);
    EventSpec change;
    change.flow = 0;
    change.subflow = 0;
    change.at = 1_s;
    change.open = false;
    scenario.events.push_back(change);
    change.at = 2_s;
    change.open = true;
    scenario.events.push_back(change);
    return scenario;
}

std::int64_t count(const PacketTable& table, PacketKind kind, Station station) {
    std::int64_t n = 0;
    for (std::size_t i = 0; i < table.size(); ++i)
        n += table.kind[i] == static_cast<std::uint8_t>(kind) && table.station[i] == static_cast<std::uint8_t>(station);
    return n;
}

TEST(Capture, ChangesNothingAndSeesEveryPacketOfTheFlowOnce) {
    const Scenario scenario = eventful();
    Network plain(scenario, 1);
    plain.run_until(scenario.duration);
    Network network(scenario, 1);
    network.capture_packets(0, 1 << 20);
    network.run_until(scenario.duration);
    EXPECT_EQ(network.signature(), plain.signature());

    const PacketTable table = network.take_packets();
    std::int64_t sent = 0;
    for (std::size_t i = 0; i < 2; ++i) sent += network.subflows()[i].sender.stats().packets_sent;
    EXPECT_EQ(count(table, PacketKind::Data, Station::Sender), sent);
    EXPECT_GT(sent, 1000);
    // Every packet sent has arrived, was dropped or is in flight; the same holds for ACKs.
    const std::int64_t arrived = count(table, PacketKind::Data, Station::Receiver);
    EXPECT_LT(arrived, sent);
    EXPECT_GT(arrived, sent * 9 / 10);
    EXPECT_LE(count(table, PacketKind::Ack, Station::Sender), count(table, PacketKind::Ack, Station::Receiver));
    EXPECT_TRUE(std::ranges::is_sorted(table.time_ns));
    EXPECT_LT(*std::ranges::max_element(table.subflow), 2u);
    EXPECT_EQ(*std::ranges::max_element(table.incarnation), 1);
    EXPECT_GT(*std::ranges::max_element(table.sack_count), 0);
    EXPECT_EQ(network.packets_not_captured(), 0);
    EXPECT_EQ(network.take_packets().size(), 0u);
}

// A reopened subflow has the ECN mode of its new controller; ACKs sent before it lack the fields of that mode.
TEST(Capture, AnAckFromBeforeItsSubflowWasSetUpAnewHasNoCountOfMarks) {
    Scenario scenario = eventful();
    scenario.links[0].drops.push_back({.subflow = 0, .number = 1, .after = 900_ms});
    EventSpec change;
    change.at = 500_ms;
    change.flow = 0;
    change.controller.emplace().name = "prague";
    scenario.events.insert(scenario.events.begin(), change);
    Network network(scenario, 1);
    network.capture_packets(0, 1 << 20);
    network.run_until(scenario.duration);
    const PacketTable table = network.take_packets();
    int overtaken = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.kind[i] != static_cast<std::uint8_t>(PacketKind::Ack) || table.incarnation[i] != 0) continue;
        EXPECT_EQ(table.has_ecn_option[i], 0);
        overtaken += table.sack_count[i] != 0 && table.subflow[i] == 0 && table.time_ns[i] > Nanos(1_s).value &&
                     table.station[i] == static_cast<std::uint8_t>(Station::Sender);
    }
    EXPECT_GT(overtaken, 0);
    // The ACKs of the reopened subflow have the option, whose counter of marked bytes begins at 1; no packet was
    // marked.
    EXPECT_GT(std::ranges::count(table.has_ecn_option, 1), 0);
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.has_ecn_option[i] != 0) {
            EXPECT_EQ(table.ecn_bytes[3 * i + 1], 0u);
        }
    }
}

TEST(Capture, IsTheSameHoweverItIsTakenAndGoesOnInACopy) {
    const Scenario scenario = eventful();
    Network whole(scenario, 1);
    whole.capture_packets(0, 1 << 20);
    whole.run_until(scenario.duration);
    const PacketTable at_once = whole.take_packets();

    Network first(scenario, 1);
    first.capture_packets(0, 1 << 20);
    std::vector<std::int64_t> times;
    std::vector<std::uint32_t> seqs;
    const auto take = [&](Network& network) {
        const PacketTable part = network.take_packets();
        times.insert(times.end(), part.time_ns.begin(), part.time_ns.end());
        seqs.insert(seqs.end(), part.seq.begin(), part.seq.end());
    };
    for (Nanos at = 7_ms; at < 2_s; at += 7_ms) {
        first.run_until(at);
        take(first);
    }
    Network copy = first;
    copy.run_until(scenario.duration);
    take(copy);
    EXPECT_EQ(times, at_once.time_ns);
    EXPECT_EQ(seqs, at_once.seq);
}

TEST(Capture, CountsWhatItHasNoRoomFor) {
    const Scenario scenario = eventful();
    Network network(scenario, 1);
    network.capture_packets(0, 10);
    network.run_until(1_s);
    EXPECT_EQ(network.take_packets().size(), 10u);
    EXPECT_GT(network.packets_not_captured(), 100);
}

}  // namespace
}  // namespace subflow

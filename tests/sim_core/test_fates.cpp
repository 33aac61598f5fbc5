// Fates of packets: every cause is recorded with its link, time and queue, and nothing is recorded unless requested.
#include "fate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "network.h"
#include "queue_disc/dual_pi2.h"
#include "queue_disc/fq_codel.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

constexpr std::size_t kCapacity = 100'000;

// The network after its run, with the fates of its first flow.
Network recorded(const Scenario& scenario, std::size_t capacity = kCapacity) {
    Network network(scenario, 1);
    network.record_fates(0, capacity);
    network.run_until(scenario.duration);
    network.check_invariants();
    return network;
}

// Number of records with a fate at a link.
std::int64_t fates_at(const FateTable& table, Fate fate, std::uint32_t link) {
    std::int64_t found = 0;
    for (std::size_t i = 0; i < table.size(); ++i)
        found += table.fate[i] == static_cast<std::uint8_t>(fate) && table.link[i] == link;
    return found;
}

std::int64_t dropped_by_queue(const FateTable& table, std::uint32_t link) {
    return fates_at(table, Fate::QueueFull, link) + fates_at(table, Fate::QueueLaw, link);
}

// A flow without a handshake over one link, whose counters count every packet that the table must contain.
struct FateCase {
    const char* name;
    Fate fate;
    Scenario scenario;
};

Scenario one_flow(const PathOptions& options, Nanos duration = 20_s) {
    Scenario scenario = textbook(duration);
    add_tcp(scenario, add_path(scenario, options));
    return scenario;
}

// One flow over a managed queue of 200 packets, with or without ECN.
Scenario managed(const Discipline& discipline, EcnMode ecn = EcnMode::Off) {
    Scenario scenario = one_flow({.queue_pkts = 200}, 30_s);
    scenario.links[0].discipline = discipline;
    scenario.transport.ecn = ecn;
    return scenario;
}

// Two flows at one medium whose stations do not hear each other.
Scenario hidden_stations() {
    Scenario scenario = textbook(5_s);
    for (std::uint32_t group = 1; group <= 2; ++group) {
        const PathSpec path = add_path(scenario, {.rate = 20_Mbps, .one_way = 1_ms});
        scenario.links[path.forward[0]].access = AccessOptions{.overhead = 100_us, .group = group};
        add_tcp(scenario, path, group == 1 ? "west" : "east");
    }
    return scenario;
}

std::vector<FateCase> fate_cases() {
    std::vector<FateCase> all;
    all.push_back({"full queue", Fate::QueueFull, one_flow({.queue_pkts = 20})});
    Scenario trace = one_flow({.rate = BitsPerSec(9.6e6), .queue_pkts = 20});
    trace.links[0].opportunities_ms = {0, 2, 2, 5};
    all.push_back({"full queue of a delivery trace", Fate::QueueFull, trace});
    all.push_back({"RED", Fate::QueueLaw, managed(RedOptions{})});
    all.push_back({"CoDel", Fate::QueueLaw, managed(CodelOptions{})});
    all.push_back({"FQ-CoDel", Fate::QueueLaw, managed(FqCodelOptions{})});
    all.push_back({"DualPI2", Fate::QueueLaw, managed(DualPi2Options{})});
    all.push_back({"mark of RED", Fate::Marked, managed(RedOptions{.marks = true}, EcnMode::Classic)});
    all.push_back({"mark of CoDel", Fate::Marked, managed(CodelOptions{.marks = true}, EcnMode::Classic)});
    all.push_back({"mark of FQ-CoDel", Fate::Marked, managed(FqCodelOptions{{.marks = true}}, EcnMode::Classic)});
    all.push_back({"mark of DualPI2", Fate::Marked, managed(DualPi2Options{}, EcnMode::Classic)});
    all.push_back({"random loss", Fate::Random, one_flow({.loss = 0.02})});
    Scenario bursts = one_flow({});
    bursts.links[0].loss_model = GilbertOptions{.p = 0.005, .r = 0.3};
    all.push_back({"bursts of loss", Fate::Random, bursts});
    Scenario radio = one_flow({});
    radio.links[0].retransmission = RetransmissionOptions{.loss = 0.15, .delay = 5_ms, .attempts = 2};
    all.push_back({"all attempts of a radio", Fate::Random, radio});
    all.push_back({"collisions", Fate::Collision, hidden_stations()});
    Scenario outage = one_flow({.queue_pkts = 2000});
    fail_link(outage, 0, 5_s, 8_s);
    all.push_back({"outage", Fate::Down, outage});
    Scenario scripted = one_flow({.queue_pkts = 2000});
    for (const std::int64_t number : {40, 41, 200}) scripted.links[0].drops.push_back({.subflow = 0, .number = number});
    all.push_back({"script", Fate::Scripted, scripted});
    return all;
}

TEST(Fates, EveryCauseIsRecordedAsOftenAsTheLinksCountIt) {
    for (const FateCase& each : fate_cases()) {
        const Network network = recorded(each.scenario);
        const FateTable table = network.fates();
        EXPECT_GE(fates_at(table, each.fate, 0), 2) << each.name;
        EXPECT_EQ(network.fates_lost(), 0) << each.name;
        // The second flow of the hidden stations is not recorded, and has links of its own.
        for (std::uint32_t link = 0; link < 2; ++link) {
            const LinkStats& stats = network.links()[link].stats();
            EXPECT_EQ(dropped_by_queue(table, link), stats.drops_queue) << each.name << " " << link;
            EXPECT_EQ(fates_at(table, Fate::Marked, link), stats.marks) << each.name << " " << link;
            EXPECT_EQ(fates_at(table, Fate::Random, link) + fates_at(table, Fate::Collision, link), stats.drops_random)
                << each.name << " " << link;
            EXPECT_EQ(fates_at(table, Fate::Down, link), stats.drops_down) << each.name << " " << link;
            EXPECT_EQ(fates_at(table, Fate::Scripted, link), stats.drops_scripted) << each.name << " " << link;
        }
        EXPECT_EQ(std::ranges::count_if(table.link, [](std::uint32_t link) { return link > 1; }), 0) << each.name;
    }
}

TEST(Fates, TheQueueAndItsLimitAreThoseOfTheLinkAtThatTime) {
    for (const FateCase& each : fate_cases()) {
        const FateTable table = recorded(each.scenario).fates();
        const std::int64_t limit = *each.scenario.links[0].queue_limit_pkts;
        EXPECT_TRUE(std::ranges::is_sorted(table.time_ns)) << each.name;
        for (std::size_t i = 0; i < table.size(); ++i) {
            ASSERT_GE(table.time_ns[i], table.sent_ns[i]) << each.name;
            ASSERT_LE(table.time_ns[i], each.scenario.duration.value) << each.name;
            ASSERT_EQ(table.limit_pkts[i], limit) << each.name;
            ASSERT_LE(table.queue_pkts[i], limit) << each.name;
            // All data packets have 1500 bytes.
            ASSERT_EQ(table.queue_bytes[i], 1500 * table.queue_pkts[i]) << each.name;
            if (table.fate[i] == static_cast<std::uint8_t>(Fate::QueueFull)) {
                ASSERT_EQ(table.queue_pkts[i], limit) << each.name;
            } else if (each.fate == Fate::QueueLaw) {
                ASSERT_LT(table.queue_pkts[i], limit) << each.name;
            }
        }
    }
}

// The initial window of ten packets arrives at once at a queue for four.
TEST(Fates, AFullQueueDropsThePacketsThatDoNotFit) {
    const FateTable table = recorded(one_flow({.queue_pkts = 4}, 10_ms)).fates();
    ASSERT_EQ(table.size(), 6u);
    for (std::uint32_t i = 0; i < 6; ++i) {
        EXPECT_EQ(table.seq[i], 4 + i);
        EXPECT_EQ(table.time_ns[i], 0);
        EXPECT_EQ(table.sent_ns[i], 0);
        EXPECT_EQ(table.link[i], 0u);
        EXPECT_EQ(table.kind[i], static_cast<std::uint8_t>(PacketKind::Data));
        EXPECT_EQ(table.fate[i], static_cast<std::uint8_t>(Fate::QueueFull));
        EXPECT_EQ(table.queue_pkts[i], 4);
        EXPECT_EQ(table.queue_bytes[i], 6000);
    }
}

// At 10 Mbit/s a packet takes 1.2 ms: the fifth of ten packets enters the second link after six times of sending and
// two delays, and the second link, at half the rate, still sends the third.
TEST(Fates, ADropAtTheSecondLinkHasItsTime) {
    Scenario scenario = textbook(1_s);
    PathSpec path = add_path(scenario, {.one_way = 10_ms});
    const PathSpec second = add_path(scenario, {.rate = 5_Mbps, .one_way = 10_ms});
    path.forward.push_back(second.forward[0]);
    path.reverse.insert(path.reverse.begin(), second.reverse[0]);
    add_tcp(scenario, path);
    scenario.links[second.forward[0]].drops = {{.subflow = 0, .number = 5}};
    const FateTable table = recorded(scenario).fates();
    ASSERT_EQ(table.size(), 1u);
    EXPECT_EQ(table.link[0], second.forward[0]);
    EXPECT_EQ(table.seq[0], 4u);
    EXPECT_EQ(Nanos(table.time_ns[0]), 5 * 1'200_us + 10_ms);
    // Packets enter every 1.2 ms and leave every 2.4 ms; after four gaps, two have left and two remain.
    EXPECT_EQ(table.queue_pkts[0], 2);
}

TEST(Fates, AnOutageLosesThePacketsOfItsTimeOnly) {
    Scenario scenario = one_flow({.queue_pkts = 2000});
    fail_link(scenario, 0, 5_s, 8_s);
    const FateTable table = recorded(scenario).fates();
    std::vector<Nanos> times;
    for (std::size_t i = 0; i < table.size(); ++i)
        if (table.fate[i] == static_cast<std::uint8_t>(Fate::Down)) times.emplace_back(table.time_ns[i]);
    ASSERT_GT(times.size(), 1u);
    EXPECT_EQ(times.front(), 5_s);  // packets in the queue
    EXPECT_GT(times.back(), 5_s);   // packets that come during the outage
    EXPECT_LT(times.back(), 8_s);
}

TEST(Fates, LostAcknowledgementsAreRecordedAtTheWayBack) {
    Scenario scenario = one_flow({});
    scenario.links[1].loss = 0.05;
    const Network network = recorded(scenario);
    const FateTable table = network.fates();
    EXPECT_EQ(fates_at(table, Fate::Random, 1), network.links()[1].stats().drops_random);
    EXPECT_GT(fates_at(table, Fate::Random, 1), 100);
    for (std::size_t i = 0; i < table.size(); ++i)
        EXPECT_EQ(table.kind[i], static_cast<std::uint8_t>(table.link[i] == 1 ? PacketKind::Ack : PacketKind::Data));
}

TEST(Fates, SendersNoticeEachDropLaterAndByTheRightSign) {
    struct Expected {
        const char* name;
        Scenario scenario;
        Fate fate;
        LossSign sign;
    };
    Scenario marked = managed(RedOptions{.marks = true}, EcnMode::Classic);
    Scenario outage = one_flow({.queue_pkts = 2000});
    fail_link(outage, 0, 5_s, 8_s);
    Scenario rack = linux_profile(20_s);
    add_tcp(rack, add_path(rack, {.loss = 0.01}));
    for (const Expected& each :
         {Expected{"RACK", rack, Fate::Random, LossSign::ReorderingWindow},
          Expected{"duplicate ACKs", one_flow({.queue_pkts = 20}), Fate::QueueFull, LossSign::DuplicateAcks},
          Expected{"timeout", outage, Fate::Down, LossSign::Timeout},
          Expected{"mark", marked, Fate::Marked, LossSign::Marks}}) {
        const Network network = recorded(each.scenario);
        const LossTable losses = network.losses();
        const FateTable fates = network.fates();
        std::int64_t found = 0;
        for (std::size_t i = 0; i < losses.size(); ++i) {
            if (losses.fate_ns[i] < 0 || losses.fate[i] == static_cast<std::uint8_t>(Fate::Arrived)) continue;
            EXPECT_LT(losses.fate_ns[i], losses.time_ns[i]) << each.name;
            found += losses.fate[i] == static_cast<std::uint8_t>(each.fate) &&
                     losses.sign[i] == static_cast<std::uint8_t>(each.sign) && losses.link[i] == 0;
            // The same link and queue as in the record of the drop or mark
            bool is_recorded = false;
            for (std::size_t j = 0; j < fates.size() && !is_recorded; ++j)
                is_recorded = fates.time_ns[j] == losses.fate_ns[i] && fates.link[j] == losses.link[i] &&
                              fates.queue_pkts[j] == losses.queue_pkts[i];
            EXPECT_TRUE(is_recorded) << each.name;
        }
        EXPECT_GE(found, 1) << each.name;
    }
}

TEST(Fates, NothingIsRecordedUnlessItIsRequestedAndTheRunIsTheSame) {
    for (const FateCase& each : fate_cases()) {
        const Network plain = finished(each.scenario);
        EXPECT_EQ(plain.fates().size(), 0u) << each.name;
        EXPECT_EQ(plain.losses().size(), 0u) << each.name;
        EXPECT_EQ(plain.fates_lost(), 0) << each.name;
        EXPECT_EQ(recorded(each.scenario).signature(), plain.signature()) << each.name;
    }
}

TEST(Fates, OnlyTheRequestedFlowIsRecorded) {
    Scenario scenario = textbook(20_s);
    const PathSpec path = add_path(scenario, {.queue_pkts = 20, .loss = 0.01});
    add_tcp(scenario, path, "first");
    add_tcp(scenario, path, "second");
    const Network network = recorded(scenario);
    const FateTable table = network.fates();
    EXPECT_GT(table.size(), 10u);
    for (const std::uint32_t subflow : table.subflow) EXPECT_EQ(subflow, 0u);
    EXPECT_EQ(static_cast<std::int64_t>(table.size()), network.subflow_result(0).packets.dropped);
    EXPECT_GT(network.subflow_result(1).packets.dropped, 10);
}

TEST(Fates, RecordsBeyondTheCapacityAreCounted) {
    const Scenario scenario = one_flow({.queue_pkts = 20, .loss = 0.02});
    const Network network = recorded(scenario, 50);
    EXPECT_LE(network.fates().size(), 50u);
    EXPECT_GT(network.fates_lost(), 1000);  // also the arrivals, which are recorded to find reordering
}

}  // namespace
}  // namespace subflow

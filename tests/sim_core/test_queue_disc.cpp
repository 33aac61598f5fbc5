// Queue disciplines: packets admitted, packets dropped, and order of service.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "link_driver.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

// --- RED
// ---------------------------------------------------------------------------------------------------------------

TEST(Red, TheDefaultThresholdsAreThoseOfTheLiteratureFor10Mbps) {
    // 0 below 25 packets, linear to 0.1 at 50, linear to 1 at 100
    const RedOptions o;
    EXPECT_EQ(Red::drop_probability(o, 24.9), 0);
    EXPECT_DOUBLE_EQ(Red::drop_probability(o, 37.5), 0.05);
    EXPECT_DOUBLE_EQ(Red::drop_probability(o, 50), 0.1);
    EXPECT_DOUBLE_EQ(Red::drop_probability(o, 75), 0.55);
    EXPECT_EQ(Red::drop_probability(o, 100), 1);
    EXPECT_EQ(Red::drop_probability({.gentle = false}, 50), 1);
}

TEST(Red, AveragesWithTheGivenWeightAndForgetsWhileIdle) {
    Red red({.weight = 0.002});
    for (int i = 0; i < 1000; ++i) red.admits(10, 0, 0.5);
    EXPECT_NEAR(red.average_pkts(), 10 * (1 - std::pow(0.998, 1000)), 1e-9);
    const double before = red.average_pkts();
    red.admits(0, 346, 0.5);  // 346 packets could have been sent meanwhile: 0.998^346 = 0.5002
    EXPECT_NEAR(red.average_pkts() / before, 0.5002, 1e-4);
    EXPECT_NEAR(red.average_pkts() / before, std::pow(0.998, 346), 1e-12);
}

// Gaps between drops at a constant drop probability of 0.1 before correction.
std::vector<int> gaps(bool spreads) {
    Red red({.min_pkts = 0, .max_pkts = 100, .max_p = 0.2, .spreads = spreads});
    std::vector<int> out;
    int gap = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i) {
        ++gap;
        if (red.admits(50, 0, to_unit_interval(mix64(i)))) continue;
        out.push_back(gap);
        gap = 0;
    }
    return out;
}

TEST(Red, SpreadDropsComeAtUniformGapsOthersAtGeometricOnes) {
    std::map<int, int> count;
    const std::vector<int> spread = gaps(true);
    for (const int gap : spread) ++count[gap];
    // Uniform on 1 … 10: mean 5.5, so about 18 182 drops, 1818 of each; standard deviation sqrt(18182 * 0.1 * 0.9) = 40
    ASSERT_EQ(count.size(), 10u);
    EXPECT_EQ(count.rbegin()->first, 10);
    for (const auto& [gap, times] : count) EXPECT_NEAR(times, 1818, 200) << gap;
    // Geometric: mean 10, and one in 0.9^-10 = 2.87 is longer than 10
    const std::vector<int> plain = gaps(false);
    EXPECT_NEAR(static_cast<double>(plain.size()), 10'000, 400);
    const auto longer = std::ranges::count_if(plain, [](int gap) { return gap > 10; });
    EXPECT_NEAR(static_cast<double>(longer) / static_cast<double>(plain.size()), 0.349, 0.02);
}

TEST(Red, SettlesWhereItsDropProbabilityMatchesTheOverload) {
    // Packets of 1 ms arrive every 1/1.2 ms: the excess is 1 - 1/1.2 = 1/6 of them. Above 50 packets the drop
    // probability is 0.1 + 0.9 (q - 50) / 50, which is 1/6 at q = 53.7.
    LinkSpec spec = link_spec();
    spec.discipline = RedOptions{};
    LinkDriver driver(spec);
    Nanos area_from{};
    for (std::uint32_t i = 0; i < 240'000; ++i) {
        const Nanos now(static_cast<std::int64_t>(i) * 1'000'000'000 / 1'200);
        if (i == 12'000) area_from = driver.link().queue_time_until(now);
        driver.offer(packet(i), now, mix64(i));
    }
    driver.run_until(200_s);
    const LinkStats& s = driver.link().stats();
    EXPECT_NEAR(static_cast<double>(s.drops_queue) / static_cast<double>(s.packets_in), 1.0 / 6, 0.002);
    EXPECT_NEAR(to_seconds(driver.link().queue_time_until(200_s) - area_from) / 190, 53.7, 1.0);
}

TEST(Red, AlsoObeysTheLimit) {
    LinkSpec spec = link_spec();
    spec.discipline = RedOptions{};
    spec.queue_limit_pkts = 3;
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 5; ++i) driver.offer(packet(i), 0_ms);
    EXPECT_EQ(driver.link().stats().drops_queue, 2);
    EXPECT_EQ(driver.link().max_queue_pkts(), 3);
}

// --- CoDel
// -------------------------------------------------------------------------------------------------------------

TEST(Codel, DropsByTheControlLaw) {
    // 400 packets of 1 ms at once: the i-th is examined after i ms. The sojourn time reaches the target of 5 ms at 5 ms
    // and stays above, so the first drop comes an interval later, at 105 ms. The next drops are scheduled 100 ms after
    // that, then 100/sqrt(2) = 70.7 ms, 100/sqrt(3) = 57.7 ms and 100/sqrt(4) = 50 ms apart: 205, 275.7, 333.4, 383.4
    // ms. They happen at the next departure.
    LinkSpec spec = link_spec();
    spec.discipline = CodelOptions{};
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 500; ++i) driver.offer(packet(i), 0_ms);
    driver.run_until(390_ms);
    std::vector<std::int64_t> dropped_ms;
    for (const Delivery& d : driver.dropped) dropped_ms.push_back(d.at / 1_ms);
    EXPECT_EQ(dropped_ms, (std::vector<std::int64_t>{105, 205, 276, 334, 384}));
    EXPECT_EQ(driver.link().stats().drops_queue, 5);
}

TEST(Codel, LeavesAQueueOfOnePacketAlone) {
    // 400 kbit/s: a 1000-byte packet takes 20 ms, four times the target. With one packet behind the examined one, a
    // drop would idle the link; with two behind it, CoDel may drop.
    for (const std::uint32_t standing : {3u, 4u}) {
        LinkSpec spec = link_spec();
        spec.rate = BitsPerSec(400'000);
        spec.discipline = CodelOptions{};
        LinkDriver driver(spec);
        for (std::uint32_t i = 0; i < standing; ++i) driver.offer(packet(i), 0_ms);
        for (std::uint32_t i = 0; i < 100; ++i) driver.offer(packet(i), 20_ms * (i + 1));
        EXPECT_EQ(driver.dropped.empty(), standing == 3) << standing;
    }
}

TEST(Codel, DropsWhatDoesNotFit) {
    LinkSpec spec = link_spec();
    spec.discipline = CodelOptions{};
    spec.queue_limit_pkts = 2;
    LinkDriver driver(spec);
    EXPECT_EQ(driver.offer(packet(0), 0_ms), Verdict::Accepted);
    EXPECT_EQ(driver.offer(packet(1), 0_ms), Verdict::Accepted);
    EXPECT_EQ(driver.offer(packet(2), 0_ms), Verdict::DroppedQueue);
    EXPECT_EQ(driver.offer(packet(3), 1_ms), Verdict::Accepted);  // the first has left
}

// One Reno flow over 10 Mbit/s with a round trip of 100 ms and a queue of four bandwidth-delay products.
LinkResult reno_bottleneck(const Discipline& discipline) {
    Scenario scenario = textbook(120_s, 20_s);
    const PathSpec path = add_path(scenario, {.queue_pkts = 333});
    scenario.links[path.forward[0]].discipline = discipline;
    add_tcp(scenario, path);
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    network.check_invariants();
    return network.link_result(path.forward[0]);
}

TEST(Codel, HoldsTheStandingQueueOfARenoFlowNearItsTargetWhereDropTailFillsTheBuffer) {
    // A packet takes 1.2 ms. Reno's window varies between half and all of 83 + 333 packets: behind drop-tail about 3/4
    // * 416 - 83 = 229 packets wait on average. CoDel keeps the delay near 5 ms (4.2 packets), at the cost of some idle
    // time: a window that just fills the path is halved, and without any queue 3/4 of the link would be used.
    const LinkResult drop_tail = reno_bottleneck({});
    const LinkResult codel = reno_bottleneck(CodelOptions{});
    EXPECT_NEAR(drop_tail.mean_queue_pkts, 229, 35);
    EXPECT_LT(codel.mean_queue_pkts * 1.2, 10);
    EXPECT_GT(codel.utilisation, 0.75);
    EXPECT_GT(codel.drops_queue, 0);
}

// --- FQ-CoDel
// ----------------------------------------------------------------------------------------------------------

LinkSpec fq_codel_spec() {
    LinkSpec spec = link_spec();
    spec.discipline = FqCodelOptions{};
    return spec;
}

TEST(FqCodel, ServesFlowsByBytesInTurn) {
    // Two backlogged flows, one of 1000-byte and one of 250-byte packets: each gets half of the bytes. For 100 ms CoDel
    // drops nothing.
    LinkDriver driver(fq_codel_spec());
    for (std::uint32_t i = 0; i < 200; ++i) driver.offer(packet(i, 1000, 1), 0_ms);
    for (std::uint32_t i = 0; i < 800; ++i) driver.offer(packet(i, 250, 2), 0_ms);
    driver.run_until(100_ms);
    std::map<std::uint32_t, int> bytes;
    for (const Delivery& d : driver.arrived) bytes[d.packet.subflow] += d.packet.size;
    EXPECT_EQ(bytes[1] + bytes[2], 100'000);
    EXPECT_NEAR(bytes[1], 50'000, 1514);  // a quantum
}

TEST(FqCodel, ASparseFlowWaitsForThePacketInServiceOnly) {
    // A flow of twice the link's rate beside a flow of 200-byte packets every 20 ms. A sparse packet finds its queue
    // empty and therefore goes first: at most a packet in service (1 ms) before it and its own 0.2 ms.
    LinkSpec spec = fq_codel_spec();
    spec.queue_limit_pkts = 200;
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 20'000; ++i) {
        const Nanos now = Nanos(500'000) * i;
        driver.offer(packet(i, 1000, 1), now);
        if (i % 40 == 7) {
            Packet sparse = packet(i, 200, 2);
            sparse.sent_time = now;
            driver.offer(sparse, now);
        }
    }
    driver.run_until(10_s);
    int sparse_count = 0;
    for (const Delivery& d : driver.arrived) {
        if (d.packet.subflow != 2) continue;
        ++sparse_count;
        EXPECT_LE(d.at - d.packet.sent_time, Nanos(1'200'000));
    }
    EXPECT_EQ(sparse_count, 500);
    for (const Delivery& d : driver.dropped) EXPECT_EQ(d.packet.subflow, 1u);
}

TEST(FqCodel, MakesRoomAtTheHeadOfTheFattestFlow) {
    LinkSpec spec = fq_codel_spec();
    spec.queue_limit_pkts = 10;
    LinkDriver driver(spec);
    driver.offer(packet(0, 1000, 3), 0_ms);  // in service
    for (std::uint32_t i = 0; i < 8; ++i) driver.offer(packet(i, 1000, 1), 0_ms);
    driver.offer(packet(0, 1000, 2), 0_ms);
    EXPECT_TRUE(driver.dropped.empty());
    // the eleventh: half of the eight packets of flow 1 are dropped, the oldest first
    driver.offer(packet(1, 1000, 2), 0_ms);
    ASSERT_EQ(driver.dropped.size(), 4u);
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(driver.dropped[i].packet.subflow, 1u);
        EXPECT_EQ(driver.dropped[i].packet.seq, i);
    }
    EXPECT_EQ(driver.link().queue_pkts(0_ms), 7);
    EXPECT_EQ(driver.link().max_queue_pkts(), 10);
}

TEST(FqCodel, AFlowOfSinglePacketsDoesNotStarveTheOthers) {
    // Whenever flow 2's only packet has left, the next arrives. Its queue is new each time, but an emptied queue first
    // passes through the list of old queues, so that flow 1 gets its turns.
    LinkDriver driver(fq_codel_spec());
    for (std::uint32_t i = 0; i < 100; ++i) driver.offer(packet(i, 1000, 1), 0_ms);
    for (std::uint32_t i = 0; i < 50; ++i) driver.offer(packet(i, 1000, 2), Nanos(1'000'000) * i + Nanos(1));
    driver.run_until(50_ms);
    const auto of_1 = std::ranges::count(driver.arrived, 1u, [](const Delivery& d) { return d.packet.subflow; });
    EXPECT_GE(of_1, 20);
}

TEST(FqCodel, ARenoFlowAndAConstantRateShareTheLinkEqually) {
    // 10 Mbit/s, of which the datagrams could use 8: the fair share of each side is 5. The datagrams use the capacity
    // that Reno leaves after a drop, so they get at least their share, and Reno nearly all of its own.
    Scenario scenario = textbook(120_s, 20_s);
    const PathSpec path = add_path(scenario, {.one_way = 10_ms, .queue_pkts = 1000});
    add_tcp(scenario, path);
    FlowSpec cbr;
    cbr.name = "cbr";
    cbr.kind = FlowKind::Cbr;
    cbr.paths = {path};
    cbr.datagrams.rate = 8_Mbps;
    scenario.flows.push_back(cbr);

    const auto wire_rates = [&] {
        Network network(scenario, 1);
        network.run_until(scenario.duration);
        network.check_invariants();
        return std::pair(network.flow_result(0).goodput_bps * 1500 / 1448,
                         network.flow_result(1).goodput_bps * 1500 / 1472);
    };
    const auto [starved, greedy] = wire_rates();
    EXPECT_LT(starved, 2.2e6);  // drop-tail: Reno gets the remaining capacity
    EXPECT_GT(greedy, 7.5e6);

    scenario.links[path.forward[0]].discipline = FqCodelOptions{};
    const auto [tcp, datagrams] = wire_rates();
    EXPECT_NEAR(datagrams, 5e6, 0.4e6);
    EXPECT_NEAR(tcp, 5e6, 0.4e6);
    EXPECT_NEAR(tcp + datagrams, 10e6, 0.1e6);
}

}  // namespace
}  // namespace subflow

// One link direction: timing, limits, changes while packets are queued.
#include <gtest/gtest.h>

#include "link_driver.h"

namespace subflow {
namespace {

using namespace literals;
using testing::packet;

// 8 Mbit/s: a 1000-byte packet takes exactly 1 ms.
Link make_link(std::optional<std::int64_t> limit = 10, Nanos delay = 5_ms) {
    LinkSpec spec;
    spec.name = "l/forward";
    spec.rate = 8_Mbps;
    spec.delay = delay;
    spec.queue_limit_pkts = limit;
    return Link(spec, 1);
}

Verdict enqueue(Link& link, const Packet& p, Nanos at, std::uint64_t draw) {
    const Verdict verdict = link.offer(p, at, draw);
    if (verdict == Verdict::Accepted) link.hold(p);
    return verdict;
}

// Sequence numbers and times in microseconds of all arrivals still in flight.
using Arrivals = std::vector<std::pair<std::uint32_t, std::int64_t>>;

Arrivals drain(Link& link) {
    Arrivals out;
    while (link.next_arrival() < kNever) {
        const Nanos at = link.next_arrival();
        out.emplace_back(link.take_arrival().seq, at / 1_us);
    }
    return out;
}

TEST(Link, ServesOnePacketAfterTheOther) {
    Link link = make_link();
    for (std::uint32_t i = 0; i < 3; ++i) enqueue(link, packet(i), 0_ms, 0);
    EXPECT_EQ(link.queue_pkts(0_ms), 3);
    EXPECT_EQ(link.queue_pkts(1_ms), 2);  // the first has just left
    EXPECT_EQ(drain(link), (Arrivals{{0, 6000}, {1, 7000}, {2, 8000}}));
    // Time in the queue: 1 + 2 + 3 ms; transmitter busy 3 ms
    EXPECT_EQ(link.stats().queue_time, 6_ms);
    EXPECT_EQ(link.busy_until(2_ms), 2_ms);
    EXPECT_EQ(link.busy_until(9_ms), 3_ms);
}

TEST(Link, TheLimitCountsThePacketInService) {
    Link link = make_link(2);
    EXPECT_EQ(enqueue(link, packet(0), 0_ms, 0), Verdict::Accepted);
    EXPECT_EQ(enqueue(link, packet(1), 0_ms, 0), Verdict::Accepted);
    EXPECT_EQ(enqueue(link, packet(2), 0_ms, 0), Verdict::DroppedQueue);
    EXPECT_EQ(enqueue(link, packet(3), 1_ms, 0), Verdict::Accepted);
    EXPECT_EQ(link.max_queue_pkts(), 2);
}

TEST(Link, ALimitInBytesCountsBytes) {
    Link link = make_link(std::nullopt);
    link.set_queue_limit({.limit_bytes = 2500_B});
    EXPECT_EQ(enqueue(link, packet(0), 0_ms, 0), Verdict::Accepted);
    EXPECT_EQ(enqueue(link, packet(1), 0_ms, 0), Verdict::Accepted);
    EXPECT_EQ(enqueue(link, packet(2), 0_ms, 0), Verdict::DroppedQueue);
    EXPECT_EQ(enqueue(link, packet(3, 500), 0_ms, 0), Verdict::Accepted);
}

TEST(Link, FractionsOfANanosecondAddUp) {
    // 1500 B at 7 Mbit/s: 1 714 285.714… ns; 7000 packets in a row take exactly 12 s.
    LinkSpec spec;
    spec.name = "l";
    spec.rate = 7_Mbps;
    Link link(spec, 1);
    for (std::uint32_t i = 0; i < 7000; ++i) enqueue(link, packet(i, 1500), 0_ms, 0);
    Nanos last{};
    while (link.next_arrival() < kNever) {
        last = link.next_arrival();
        link.take_arrival();
    }
    EXPECT_NEAR(static_cast<double>(last.value), 12e9, 1);
}

TEST(Link, ANewRateHoldsForPacketsThatStartServiceAfterIt) {
    Link link = make_link();
    for (std::uint32_t i = 0; i < 3; ++i) enqueue(link, packet(i), 0_ms, 0);
    link.set_rate(4_Mbps, Nanos(500'000));  // the first is half sent and continues; the others take 2 ms
    EXPECT_EQ(drain(link), (Arrivals{{0, 6000}, {1, 8000}, {2, 10000}}));
    EXPECT_EQ(link.stats().queue_time, 9_ms);  // 1 + 3 + 5
    EXPECT_EQ(link.busy_until(10_ms), 5_ms);
}

TEST(Link, AShorterDelayDoesNotReorder) {
    Link link = make_link();
    for (std::uint32_t i = 0; i < 3; ++i) enqueue(link, packet(i), 0_ms, 0);
    link.set_delay(1_ms,
                   Nanos(1'500'000));  // the first is on the wire and arrives at 6 ms; the others may not overtake
    EXPECT_EQ(drain(link), (Arrivals{{0, 6000}, {1, 6000}, {2, 6000}}));
    enqueue(link, packet(3), 20_ms, 0);
    EXPECT_EQ(drain(link), (Arrivals{{3, 22000}}));
}

TEST(Link, GoingDownLosesTheQueueButNotTheWire) {
    Link link = make_link();
    for (std::uint32_t i = 0; i < 4; ++i) enqueue(link, packet(i), 0_ms, 0);
    std::vector<std::uint32_t> dropped;
    link.set_up(false, Nanos(1'500'000), [&](const Packet& p) { dropped.push_back(p.seq); });
    EXPECT_EQ(dropped, (std::vector<std::uint32_t>{1, 2, 3}));
    EXPECT_EQ(enqueue(link, packet(4), 2_ms, 0), Verdict::DroppedDown);
    EXPECT_EQ(link.stats().drops_down, 4);
    EXPECT_EQ(link.busy_until(2_ms), Nanos(1'500'000));
    link.set_up(true, 3_ms, [](const Packet&) {});
    EXPECT_EQ(enqueue(link, packet(5), 3_ms, 0), Verdict::Accepted);
    EXPECT_EQ(drain(link), (Arrivals{{0, 6000}, {5, 9000}}));
}

TEST(Link, LosesTheGivenShareOfItsPackets) {
    LinkSpec spec;
    spec.name = "lossy";
    spec.loss = 0.02;
    Link link(spec, 1);
    int lost = 0;
    for (std::uint64_t i = 0; i < 100'000; ++i)
        lost += enqueue(link, packet(0), 0_ms, mix64(i)) == Verdict::DroppedRandom;
    // Binomial: mean 2000, standard deviation sqrt(100000 * 0.02 * 0.98) = 44; four of them
    EXPECT_NEAR(lost, 2000, 177);
    link.set_loss(1);
    EXPECT_EQ(enqueue(link, packet(0), 0_ms, 1), Verdict::DroppedRandom);
    link.set_loss(0);
    EXPECT_EQ(enqueue(link, packet(0), 0_ms, 1), Verdict::Accepted);
}

TEST(Link, WithoutARateIsAPureDelay) {
    LinkSpec spec;
    spec.name = "wire";
    spec.delay = 5_ms;
    spec.queue_limit_pkts = 1;
    Link link(spec, 1);
    for (std::uint32_t i = 0; i < 3; ++i) EXPECT_EQ(enqueue(link, packet(i), 1_ms, 0), Verdict::Accepted);
    EXPECT_EQ(link.queue_pkts(1_ms), 0);
    EXPECT_EQ(drain(link), (Arrivals{{0, 6000}, {1, 6000}, {2, 6000}}));
}

TEST(Link, APureDelayMayBeOfferedPacketsInAnyOrder) {
    LinkSpec spec;
    spec.name = "l/forward";
    spec.delay = 5_ms;
    Link link(spec, 1);
    for (const std::uint32_t seq : {2u, 4u, 1u, 3u}) enqueue(link, packet(seq), Nanos(1'000'000) * seq, 0);
    EXPECT_EQ(drain(link), (Arrivals{{1, 6000}, {2, 7000}, {3, 8000}, {4, 9000}}));
}

TEST(Link, APacketTakenOnAtOnceStillCountsInTheQueue) {
    Link link = make_link(2);
    EXPECT_EQ(link.offer(packet(0), 0_ms, 0), Verdict::Accepted);
    EXPECT_EQ(link.arrival(), 6_ms);
    link.pass();
    EXPECT_EQ(link.packets_under_way(), 0);
    EXPECT_EQ(enqueue(link, packet(1), 0_ms, 0), Verdict::Accepted);
    EXPECT_EQ(enqueue(link, packet(2), 0_ms, 0), Verdict::DroppedQueue);
    EXPECT_EQ(link.queue_pkts(1_ms), 1);
}

TEST(Link, TakesWhatIsWantedUpToATimeAndKeepsTheRest) {
    Link link = make_link();
    for (std::uint32_t i = 0; i < 6; ++i) enqueue(link, packet(i), 0_ms, 0);  // arrive at 6, 7, ... 11 ms
    std::vector<std::uint32_t> taken;
    link.take_until(
        9_ms, [](const Packet& p) { return p.seq % 2 == 0; }, [&](const Packet& p, Nanos) { taken.push_back(p.seq); });
    EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 2}));
    EXPECT_EQ(drain(link), (Arrivals{{1, 7000}, {3, 9000}, {4, 10000}, {5, 11000}}));
}

}  // namespace
}  // namespace subflow

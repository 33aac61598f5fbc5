// Bursty loss, delivery traces, reordering, and equal counters of queues served by the clock and of predicted ones.
#include <gtest/gtest.h>

#include "link_driver.h"

namespace subflow {
namespace {

using namespace testing;

// --- loss in bursts
// ----------------------------------------------------------------------------------------------------

TEST(Gilbert, LosesInBurstsAtTheStationaryRate) {
    LinkSpec spec = link_spec();
    spec.loss_model = GilbertOptions{.p = 0.01, .r = 0.25};
    Link link(spec, 1);
    constexpr int kPackets = 200'000;
    int lost = 0;
    int bursts = 0;
    bool was_lost = false;
    for (std::uint64_t i = 0; i < kPackets; ++i) {
        const bool is_lost = link.offer(packet(0), 1_s * static_cast<std::int64_t>(i), mix64(i)) != Verdict::Accepted;
        lost += is_lost;
        bursts += is_lost && !was_lost;
        was_lost = is_lost;
    }
    // Stationary: p / (p + r) = 0.03846. The chain's correlation 1 - p - r = 0.74 widens the standard deviation to
    // sqrt(0.03846 * 0.96154 * 1.74 / 0.26 / 200000) = 0.00111; four of them
    EXPECT_NEAR(static_cast<double>(lost) / kPackets, 0.03846, 0.00445);
    // A burst ends with probability r: mean 4; about 1920 bursts with standard deviation sqrt(0.75) / 0.25 = 3.46 each
    EXPECT_NEAR(static_cast<double>(lost) / bursts, 4, 0.32);
    EXPECT_EQ(link.stats().drops_random, lost);
}

TEST(Gilbert, EachStateHasItsOwnLoss) {
    // The stationary loss is (r * good + p * bad) / (p + r) = (0.1 * 0.02 + 0.1 * 0.3) / 0.2 = 0.16
    LinkSpec spec = link_spec();
    spec.loss_model = GilbertOptions{.p = 0.1, .r = 0.1, .good = 0.02, .bad = 0.3};
    Link link(spec, 1);
    for (std::uint64_t i = 0; i < 100'000; ++i) link.offer(packet(0), 1_s * static_cast<std::int64_t>(i), mix64(i));
    // Standard deviation: of the draws sqrt(0.16 * 0.84 / 1e5) = 0.0012, of the chain 0.14 * sqrt(1.8 / 0.2 / 1e5)
    // = 0.0013, together 0.0018; four of them
    EXPECT_NEAR(static_cast<double>(link.stats().drops_random) / 1e5, 0.16, 0.007);
}

TEST(Gilbert, TheChainDependsOnTheCountOfPacketsNotOnTheirLuck) {
    LinkSpec spec = link_spec();
    spec.loss_model = GilbertOptions{.p = 0.05, .r = 0.3};
    Link first(spec, 7);
    Link second(spec, 7);
    Link other_seed(spec, 8);
    int differences = 0;
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const Verdict verdict = first.offer(packet(i), 1_s * i, mix64(i));
        ASSERT_EQ(verdict, second.offer(packet(0, 100, 5), 1_s * i, ~mix64(i)));
        differences += verdict != other_seed.offer(packet(i), 1_s * i, mix64(i));
    }
    EXPECT_GT(differences, 100);
}

TEST(Gilbert, AnEventExchangesTheModel) {
    Link link(link_spec(), 1);
    EXPECT_FALSE(link.uses_draw());
    link.set_loss(GilbertOptions{.p = 1, .r = 0});  // bad from the first packet to the last
    for (std::uint32_t i = 0; i < 10; ++i) EXPECT_EQ(link.offer(packet(i), 0_ms, i), Verdict::DroppedRandom);
    link.set_loss(0.0);
    EXPECT_EQ(link.offer(packet(0), 0_ms, 1), Verdict::Accepted);
}

// --- delivery traces
// ---------------------------------------------------------------------------------------------------

LinkSpec trace_spec() {
    LinkSpec spec = link_spec();
    spec.opportunities_ms = {0, 2, 2, 5};  // four in 5 ms: 9.6 Mbit/s
    spec.rate = BitsPerSec(9.6e6);
    return spec;
}

using Arrivals = std::vector<std::pair<std::uint32_t, std::int64_t>>;

TEST(DeliveryTrace, SendsAtItsOpportunitiesAndStartsOver) {
    LinkDriver driver(trace_spec());
    for (std::uint32_t i = 0; i < 6; ++i) driver.offer(packet(i, 1500), 0_ms);
    driver.run_until(20_ms);
    // The opportunity at 0 ms has passed when the packets come. The second round starts at the end of the first, at 5
    // ms.
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 2000}, {1, 2000}, {2, 5000}, {3, 5000}, {4, 7000}, {5, 7000}}));
}

TEST(DeliveryTrace, DeliversExactlyItsOpportunitiesWhileThereIsAQueue) {
    LinkDriver driver(trace_spec());
    for (std::uint32_t i = 0; i < 1000; ++i) driver.offer(packet(i, 1500), 0_ms);
    driver.run_until(1_s);
    // 200 rounds of 4 without the opportunity at 0 ms, and the first of the 201st, at 1 s
    EXPECT_EQ(driver.arrived.size(), 800u);
    driver.run_until(Nanos(1'002'000'000));
    EXPECT_EQ(driver.arrived.size(), 802u);
}

TEST(DeliveryTrace, AnOpportunityCarriesSeveralSmallPacketsOrAPartOfALargeOne) {
    LinkDriver driver(trace_spec());
    for (std::uint32_t i = 0; i < 3; ++i) driver.offer(packet(i, 500), 0_ms);
    driver.offer(packet(3, 2000), 0_ms);  // 1500 bytes at 2 ms, 500 at 5 ms
    driver.offer(packet(4, 1000), 0_ms);  // the rest of that opportunity
    driver.offer(packet(5, 100), 0_ms);
    driver.run_until(20_ms);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 2000}, {1, 2000}, {2, 2000}, {3, 5000}, {4, 5000}, {5, 5000}}));
}

TEST(DeliveryTrace, WhatIsNotUsedIsLost) {
    LinkDriver driver(trace_spec());
    driver.offer(packet(0, 100), 0_ms);
    driver.offer(packet(1, 100), 2_ms);  // too late for the 1400 bytes left at 2 ms
    driver.offer(packet(2, 100), 100_ms + Nanos(1));
    driver.run_until(200_ms);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 2000}, {1, 5000}, {2, 102'000}}));
    // Engaged while packets wait: 2 + 3 + (2 ms - 1 ns)
    EXPECT_EQ(driver.link().busy_until(200_ms), Nanos(6'999'999));
}

TEST(DeliveryTrace, AfterAnOutageItGoesOnWhereItIs) {
    LinkDriver driver(trace_spec());
    for (std::uint32_t i = 0; i < 100; ++i) driver.offer(packet(i, 1500), 0_ms);
    driver.run_until(4_ms);
    driver.link().set_up(false, 4_ms, [](const Packet&) {});
    driver.link().set_up(true, 6_ms, [](const Packet&) {});
    driver.offer(packet(200, 1500), 6_ms);
    driver.run_until(20_ms);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 2000}, {1, 2000}, {200, 7000}}));
    EXPECT_EQ(driver.link().stats().drops_down, 98);
}

TEST(DeliveryTrace, ARateTakesItsPlace) {
    LinkDriver driver(trace_spec());
    for (std::uint32_t i = 0; i < 3; ++i) driver.offer(packet(i, 1000), 0_ms);
    driver.link().set_rate(8_Mbps, 1_ms);  // the first keeps its opportunity
    driver.run_until(20_ms);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 2000}, {1, 3000}, {2, 4000}}));
}

// --- overtaking
// --------------------------------------------------------------------------------------------------------

TEST(Reorder, AShorterDelayLetsLaterPacketsOvertake) {
    LinkSpec spec = link_spec(5_ms);
    spec.reorder = true;
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 3; ++i) driver.offer(packet(i), 0_ms);
    driver.run_until(Nanos(1'500'000));
    driver.link().set_delay(1_ms, Nanos(1'500'000));  // the first has left and arrives at 6 ms
    driver.run_until(20_ms);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{1, 3000}, {2, 4000}, {0, 6000}}));
}

TEST(Reorder, TiesArriveInTheOrderOfSending) {
    LinkSpec spec = link_spec(3_ms);
    spec.rate = kUnlimitedRate;
    spec.reorder = true;
    LinkDriver driver(spec);
    driver.offer(packet(0), 0_ms);
    driver.offer(packet(1), 0_ms);
    driver.link().set_delay(2_ms, 1_ms);
    driver.offer(packet(2), 1_ms);
    driver.link().set_delay(1_ms, 1_ms);
    driver.offer(packet(3), 1_ms);
    driver.run_until(20_ms);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{3, 2000}, {0, 3000}, {1, 3000}, {2, 3000}}));
}

// --- the same books
// ----------------------------------------------------------------------------------------------------

// Poisson arrivals of packets of two sizes at load 0.8; records the arrivals and the final counters.
void run_poisson(LinkDriver& driver) {
    PoissonTimes times(Nanos(1'250'000), 3);
    for (std::uint32_t i = 0; i < 5000; ++i) driver.offer(packet(i, mix64(i) % 2 != 0 ? 1300 : 700), times.next());
    driver.run_until(20_s);
}

TEST(ManagedQueue, KeepsTheSameTimesAndBooksAsAPredictedOne) {
    // CoDel without drops, FQ-CoDel with one flow, and reordering without a change of delay are all plain
    // first-come-first-served queues, computed in another way.
    const CodelOptions patient{.target = 1000_s};
    for (const bool has_trace : {false, true}) {
        LinkSpec plain = has_trace ? trace_spec() : link_spec(3_ms);
        plain.queue_limit_pkts = 5;
        LinkDriver expected(plain);
        run_poisson(expected);
        ASSERT_GT(expected.link().stats().drops_queue, 0);

        LinkSpec codel = plain;
        codel.discipline = patient;
        LinkSpec reorder = plain;
        reorder.reorder = true;
        LinkSpec both = codel;
        both.reorder = true;
        for (const LinkSpec& spec : {codel, reorder, both}) {
            LinkDriver driver(spec);
            EXPECT_FALSE(driver.link().is_predictable());
            run_poisson(driver);
            EXPECT_EQ(driver.arrivals_us(), expected.arrivals_us());
            EXPECT_EQ(driver.link().stats().drops_queue, expected.link().stats().drops_queue);
            EXPECT_EQ(driver.link().stats().queue_time, expected.link().stats().queue_time);
            EXPECT_EQ(driver.link().stats().busy, expected.link().stats().busy);
            EXPECT_EQ(driver.link().max_queue_pkts(), expected.link().max_queue_pkts());
        }

        plain.queue_limit_pkts = std::nullopt;
        LinkDriver unlimited(plain);
        run_poisson(unlimited);
        LinkSpec fq = plain;
        fq.discipline = FqCodelOptions{.codel = patient, .flows = 1};
        LinkDriver driver(fq);
        run_poisson(driver);
        EXPECT_EQ(driver.arrivals_us(), unlimited.arrivals_us());
        EXPECT_EQ(driver.link().stats().queue_time, unlimited.link().stats().queue_time);
    }
}

TEST(ManagedQueue, LosesItsQueueWhenTheLinkGoesDown) {
    for (const Discipline& discipline : {Discipline(CodelOptions{}), Discipline(FqCodelOptions{})}) {
        LinkSpec spec = link_spec(5_ms);
        spec.discipline = discipline;
        LinkDriver driver(spec);
        for (std::uint32_t i = 0; i < 4; ++i) driver.offer(packet(i, 1000, i), 0_ms);
        driver.run_until(Nanos(1'500'000));
        int lost = 0;
        driver.link().set_up(false, Nanos(1'500'000), [&](const Packet&) { ++lost; });
        EXPECT_EQ(lost, 3);  // one in service, two waiting
        EXPECT_EQ(driver.link().stats().drops_down, 3);
        EXPECT_EQ(driver.link().queue_pkts(2_ms), 0);
        // 1 ms of the first, 1.5 ms for each of the others
        EXPECT_EQ(driver.link().queue_time_until(3_ms), Nanos(5'500'000));
        EXPECT_EQ(driver.offer(packet(4), 2_ms), Verdict::DroppedDown);
        driver.link().set_up(true, 3_ms, [](const Packet&) {});
        EXPECT_EQ(driver.offer(packet(5), 3_ms), Verdict::Accepted);
        driver.run_until(20_ms);
        EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 6000}, {5, 9000}}));
    }
}

TEST(ManagedQueue, ACopyGoesOnAsTheOriginal) {
    for (const Discipline& discipline :
         {Discipline(RedOptions{}), Discipline(CodelOptions{}), Discipline(FqCodelOptions{})}) {
        LinkSpec spec = link_spec(5_ms);
        spec.discipline = discipline;
        spec.reorder = true;
        spec.loss_model = GilbertOptions{.p = 0.01, .r = 0.2};
        Link link(spec, 1);
        for (std::uint32_t i = 0; i < 40; ++i) (void)link.offer(packet(i, 1000, i % 3), 0_ms, mix64(i));
        Link copy = link;
        const auto drain = [](Link& l) {
            std::vector<std::pair<std::uint32_t, Nanos>> out;
            while (l.next_event() < kNever) {
                const Nanos now = l.next_event();
                l.serve(now);
                if (l.next_arrival() <= now) out.emplace_back(l.take_arrival().seq, now);
            }
            return out;
        };
        const auto first = drain(link);
        EXPECT_FALSE(first.empty());
        EXPECT_EQ(drain(copy), first);
    }
}

TEST(Link, QueueOfPoissonArrivalsIsAsLongAsTheFormulaSays) {
    // M/D/1 at load 0.7: the mean wait is 0.7 / (2 * 0.3) = 1.1667 service times, so a packet spends 2.1667 ms in the
    // queue, service included.
    for (const Discipline& discipline : {Discipline(), Discipline(CodelOptions{.target = 1000_s})}) {
        LinkSpec spec = link_spec();
        spec.discipline = discipline;
        LinkDriver driver(spec);
        PoissonTimes times(Nanos(1'428'571), 5);
        constexpr std::uint32_t kPackets = 400'000;
        for (std::uint32_t i = 0; i < kPackets; ++i) driver.offer(packet(i), times.next());
        driver.run_until(2000_s);
        EXPECT_NEAR(to_seconds(driver.link().stats().queue_time) / kPackets, 2.1667e-3, 0.05 * 1.1667e-3);
    }
}

}  // namespace
}  // namespace subflow

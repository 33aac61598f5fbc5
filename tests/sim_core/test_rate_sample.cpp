// Delivery-rate samples, and their windowed maximum.
#include <gtest/gtest.h>

#include "rate_sample.h"
#include "rng.h"
#include "windowed_max.h"

namespace subflow {
namespace {

using namespace literals;

// A sender with only a real sampler: packets are numbered, and each is sent once unless a test states otherwise.
class SamplerTest : public ::testing::Test {
protected:
    DeliverySampler sampler;
    std::uint32_t una = 0;
    std::uint32_t nxt = 0;
    std::uint32_t pipe = 0;
    std::int64_t marked_lost = 0;

    void send(Nanos now) {
        sampler.on_send(nxt, una == nxt, now, pipe, marked_lost);
        ++nxt;
    }
    DeliverySample ack(std::uint32_t cumulative, Nanos now) {
        sampler.begin_ack(0, 0);
        for (; una != cumulative; ++una) sampler.on_delivered(una, una, false);
        sampler.forget_below(cumulative);
        return sampler.sample(now, 0_ms, 0);
    }
};

TEST_F(SamplerTest, ASteadyFlowMeasuresItsRate) {
    // A packet every 10 ms, round trip 100 ms. Packet 20 leaves at 200 ms, when packets 0 to 10 have arrived: at 300 ms
    // 21 have, 10 in 100 ms.
    DeliverySample sample;
    for (int t = 0; t <= 300; t += 10) {
        if (t >= 100) sample = ack(una + 1, Nanos(t * 1'000'000));
        send(Nanos(t * 1'000'000));
    }
    EXPECT_EQ(sample.delivered_pkts, 21u);
    EXPECT_EQ(sample.prior_delivered_pkts, 11u);
    EXPECT_EQ(sample.interval, 100_ms);
    EXPECT_EQ(sample.rtt, 100_ms);
    EXPECT_DOUBLE_EQ(sample.rate_pps(), 100);
    EXPECT_FALSE(sample.is_app_limited);
}

TEST_F(SamplerTest, APacketKnowsWhatWasInFlightAndWhatWasLostSinceItLeft) {
    pipe = 7;
    marked_lost = 3;
    send(0_ms);
    pipe = 8;
    marked_lost = 5;
    send(1_ms);
    sampler.begin_ack(0, 0);
    sampler.on_delivered(0, 0, false);
    sampler.forget_below(1);
    const DeliverySample first = sampler.sample(100_ms, 0_ms, 9);
    EXPECT_EQ(first.inflight_at_send_pkts, 8);
    EXPECT_EQ(first.lost_since_send_pkts, 6);
    const LostPacket second = sampler.lost(1, 100_ms, 10);
    EXPECT_EQ(second.inflight_at_send_pkts, 9);
    EXPECT_EQ(second.lost_since_send_pkts, 5);
    EXPECT_EQ(second.delivered_pkts, 1u);
    EXPECT_EQ(second.prior_delivered_pkts, 0u);
    // An undo removes marks.
    EXPECT_EQ(sampler.lost(1, 100_ms, 2).lost_since_send_pkts, 0);
}

TEST_F(SamplerTest, AcksInABurstDoNotRaiseTheRate) {
    // Sent over 100 ms, acknowledged at once: the ACKs alone would give ten packets in 55 ms.
    for (int i = 0; i < 10; ++i) send(Nanos(i * 10'000'000));
    ack(1, 100_ms);  // packet 0: delivered_at 100 ms, first_sent 0 ms
    for (int i = 0; i < 9; ++i) send(Nanos(110'000'000 + i * 10'000'000));
    const DeliverySample early = ack(10, 200_ms);  // packet 9 left at 90 ms, before the first arrival
    EXPECT_EQ(early.interval, 200_ms);
    EXPECT_DOUBLE_EQ(early.rate_pps(), 50);
    // Packet 18 left at 190 ms: 18 packets of 19 since, in max(190 - 0 sending, 245 - 100 acknowledging).
    const DeliverySample burst = ack(19, 245_ms);
    EXPECT_EQ(burst.delivered_pkts - burst.prior_delivered_pkts, 18u);
    EXPECT_EQ(burst.interval, 190_ms);
}

TEST_F(SamplerTest, SendsInABurstDoNotRaiseTheRate) {
    // Ten packets at once; the bottleneck passes one every 10 ms, and from then on ACKs clock the next packets.
    for (int i = 0; i < 10; ++i) send(0_ms);
    double highest = 0;
    for (int t = 100; t < 500; t += 10) {
        const Nanos now(t * 1'000'000);
        highest = std::max(highest, ack(una + 1, now).rate_pps());
        send(now);
    }
    EXPECT_DOUBLE_EQ(highest, 100);
}

TEST_F(SamplerTest, ARestartAfterIdlenessDoesNotCountThePause) {
    send(0_ms);
    ack(1, 100_ms);
    for (int i = 0; i < 5; ++i) send(10_s);
    const DeliverySample sample = ack(6, 10_s + 125_ms);
    EXPECT_EQ(sample.interval, 125_ms);
    EXPECT_DOUBLE_EQ(sample.rate_pps(), 40);
}

TEST_F(SamplerTest, PacketsOfAnApplicationThatRanDryAreMarked) {
    send(0_ms);
    send(1_ms);
    sampler.mark_app_limited(2);  // two in flight, room for more
    send(50_ms);
    EXPECT_FALSE(ack(2, 101_ms).is_app_limited);  // they left before
    EXPECT_TRUE(sampler.is_app_limited());
    send(101_ms);
    EXPECT_TRUE(ack(3, 150_ms).is_app_limited);
    // With the third delivery the bubble has left the network: the delivered packets exceed those sent at its start.
    EXPECT_FALSE(sampler.is_app_limited());
    send(150_ms);
    EXPECT_TRUE(ack(4, 201_ms).is_app_limited);
    EXPECT_FALSE(ack(5, 250_ms).is_app_limited);
}

TEST_F(SamplerTest, AnIntervalBelowTheRoundTripIsNoSample) {
    send(0_ms);
    EXPECT_TRUE(ack(1, 100_ms).has_rate());
    send(100_ms);
    send(100_ms);
    // Both are retransmitted needlessly, right before the ACKs of their first copies.
    sampler.on_send(1, false, 199_ms, 0, 0);
    sampler.begin_ack(0, 0);
    sampler.on_delivered(1, 3, true);
    sampler.forget_below(2);
    const DeliverySample first = sampler.sample(200_ms, 100_ms, 0);
    EXPECT_EQ(first.rtt, 100_ms);  // of the echo; the time stamp gives 1 ms
    // Its interval began when packet 1 was first sent, after an idle time: a round trip, as intended.
    EXPECT_EQ(first.interval, 100_ms);
    sampler.on_send(2, false, 201_ms, 0, 0);
    sampler.begin_ack(0, 0);
    sampler.on_delivered(2, 4, true);
    sampler.forget_below(3);
    // 2 ms since the last delivered send (at 199 ms), 2 ms since the last delivery: no path is that fast.
    EXPECT_FALSE(sampler.sample(202_ms, 102_ms, 0).has_rate());
}

TEST_F(SamplerTest, TheSampleIsOfThePacketSentLast) {
    send(0_ms);
    send(1_ms);
    send(2_ms);
    sampler.on_send(0, false, 50_ms, 0, 0);  // transmission 3
    sampler.begin_ack(0, 0);
    sampler.on_delivered(0, 3, true);
    sampler.on_delivered(1, 1, false);
    sampler.on_delivered(2, 2, false);
    sampler.forget_below(3);
    EXPECT_EQ(sampler.sample(150_ms, 100_ms, 0).rtt, 100_ms);
}

TEST(WindowedMax, FollowsARiseAtOnceAndAFallAfterTheWindow) {
    WindowedMax max(10);
    max.add(1, 5);
    EXPECT_EQ(max.value(), 5);
    max.add(2, 8);
    EXPECT_EQ(max.value(), 8);
    for (std::uint32_t t = 3; t <= 12; ++t) {
        max.add(t, 6);
        EXPECT_EQ(max.value(), 8) << t;
    }
    max.add(13, 6);
    EXPECT_EQ(max.value(), 6);
    max.add(30, 1);  // no sample for longer than the window
    EXPECT_EQ(max.value(), 1);
}

TEST(WindowedMax, StaysBetweenTheMaximaOfHalfAndOfTheWholeWindow) {
    // At most the true maximum of the last ten samples; at least that of the last five, because the third candidate is
    // never older when it is needed.
    WindowedMax max(10);
    std::vector<double> values;
    subflow::Draws draws(1);
    for (std::uint32_t t = 0; t < 10'000; ++t) {
        values.push_back(draws.uniform());
        max.add(t, values.back());
        const auto newest = values.end();
        const auto begin = [&](std::ptrdiff_t n) { return newest - std::min<std::ptrdiff_t>(n, std::ssize(values)); };
        ASSERT_LE(max.value(), *std::max_element(begin(11), newest)) << t;
        ASSERT_GE(max.value(), *std::max_element(begin(6), newest)) << t;
    }
}

TEST(WindowedMin, FollowsAFallAtOnceAndARiseAfterTheWindow) {
    WindowedMin min(10);
    EXPECT_EQ(min.value(), std::numeric_limits<double>::infinity());
    min.add(1, 5);
    min.add(2, 3);
    for (std::uint32_t t = 3; t <= 12; ++t) {
        min.add(t, 4);
        EXPECT_EQ(min.value(), 3) << t;
    }
    min.add(13, 4);
    EXPECT_EQ(min.value(), 4);
}

TEST(Draws, AreThoseOfTheLuckAndItsOrder) {
    subflow::Draws a(7);
    subflow::Draws b(7);
    subflow::Draws other(8);
    EXPECT_EQ(a.next(), b.next());
    EXPECT_NE(a.next(), other.next());
    // Uniform over 0..6: 7000 draws, 1000 each, standard deviation sqrt(7000 * 1/7 * 6/7) = 29.
    std::array<int, 7> counts{};
    for (int i = 0; i < 7000; ++i) ++counts[a.below(7)];
    for (const int count : counts) EXPECT_NEAR(count, 1000, 120);
}

}  // namespace
}  // namespace subflow

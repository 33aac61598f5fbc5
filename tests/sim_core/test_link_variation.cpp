// Jitter, recorded delays and token buckets, against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "link_driver.h"

namespace subflow {
namespace {

using namespace testing;
using Arrivals = std::vector<std::pair<std::uint32_t, std::int64_t>>;

// --- jitter ----------------------------------------------------------------------------------------------------------

struct Moments {
    double mean = 0;
    double deviation = 0;
    double least = 0;
    double most = 0;
    double share_beyond_one = 0;  // of draws above 1
};

Moments moments_of(JitterKind kind) {
    constexpr int kDraws = 400'000;
    double sum = 0;
    double squares = 0;
    Moments out{.least = 1e9, .most = -1e9};
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        const double x = unit_jitter(kind, mix64(i));
        sum += x;
        squares += x * x;
        out.least = std::min(out.least, x);
        out.most = std::max(out.most, x);
        out.share_beyond_one += x > 1;
    }
    out.mean = sum / kDraws;
    out.deviation = std::sqrt(squares / kDraws - out.mean * out.mean);
    out.share_beyond_one /= kDraws;
    return out;
}

// The bounds below are four standard errors: deviation / sqrt(400000) of a mean, sqrt(p (1 - p) / 400000) of a share.

TEST(Jitter, IsUniform) {
    const Moments found = moments_of(JitterKind::Uniform);
    EXPECT_NEAR(found.mean, 0, 0.0037);
    EXPECT_NEAR(found.deviation, 1 / std::sqrt(3.0), 0.002);
    EXPECT_GE(found.least, -1);
    EXPECT_LT(found.most, 1);
}

TEST(Jitter, IsNormalUpToFour) {
    const Moments found = moments_of(JitterKind::Normal);
    EXPECT_NEAR(found.mean, 0, 0.0064);
    EXPECT_NEAR(found.deviation, 1, 0.005);
    EXPECT_NEAR(found.share_beyond_one, std::erfc(1 / std::sqrt(2.0)) / 2, 0.0023);
    EXPECT_LE(found.most, 4);
    EXPECT_GE(found.least, -4);
}

TEST(Jitter, IsExponential) {
    const Moments found = moments_of(JitterKind::Exponential);
    EXPECT_NEAR(found.mean, 1, 0.0064);
    EXPECT_NEAR(found.deviation, 1, 0.014);
    EXPECT_NEAR(found.share_beyond_one, std::exp(-1.0), 0.0031);
    EXPECT_GE(found.least, 0);
}

TEST(Jitter, IsTheParetoOfNetem) {
    // x = (4 / 3) (y - 3 / 2) with P(Y > y) = y^-3 from 1 on, cut at x = 4, that is y = 4.5. The mean of min(Y, 4.5) is
    // 1 + (1 - 4.5^-2) / 2 = 1.47531; a share of 2.25^-3 of the packets lies beyond x = 1, that is y = 2.25.
    const Moments found = moments_of(JitterKind::Pareto);
    EXPECT_NEAR(found.mean, 4.0 / 3 * (1.475309 - 1.5), 0.006);
    EXPECT_NEAR(found.share_beyond_one, std::pow(2.25, -3), 0.0018);
    EXPECT_NEAR(found.least, -2.0 / 3, 1e-4);
    EXPECT_EQ(found.most, 4);
}

LinkSpec jitter_spec(bool reorder) {
    LinkSpec spec = link_spec(10_ms);
    spec.rate = kUnlimitedRate;
    spec.jitter = JitterOptions{.kind = JitterKind::Uniform, .spread = 5_ms};
    spec.reorder = reorder;
    return spec;
}

TEST(Jitter, OvertakingIsAsLikelyAsTwoUniformDrawsSay) {
    // Packets g apart, delays uniform over 2 s: the second is first with probability (2 s - g)^2 / (8 s^2).
    LinkDriver driver(jitter_spec(true));
    constexpr std::uint32_t kPairs = 20'000;
    for (std::uint32_t i = 0; i < kPairs; ++i) {
        driver.offer(packet(2 * i), 100_ms * i, mix64(2 * i));
        driver.offer(packet(2 * i + 1), 100_ms * i + 2_ms, mix64(2 * i + 1));
    }
    driver.run_until(100_ms * kPairs + 1_s);
    ASSERT_EQ(driver.arrived.size(), 2 * kPairs);
    int overtaken = 0;
    for (std::size_t i = 0; i < driver.arrived.size(); i += 2) overtaken += driver.arrived[i].packet.seq % 2 == 1;
    // (10 - 2)^2 / 200 = 0.32; four standard errors of 0.0033
    EXPECT_NEAR(overtaken / static_cast<double>(kPairs), 0.32, 0.0132);
}

TEST(Jitter, KeepsTheOrderUnlessTheLinkLetsPacketsOvertake) {
    LinkDriver driver(jitter_spec(false));
    for (std::uint32_t i = 0; i < 1000; ++i) driver.offer(packet(i), 1_ms * i, mix64(i));
    driver.run_until(2_s);
    ASSERT_EQ(driver.arrived.size(), 1000u);
    // The n-th arrives when it and all before it would have arrived: the running maximum of independent arrivals.
    Nanos latest{};
    for (std::uint32_t i = 0; i < 1000; ++i) {
        LinkDriver alone(jitter_spec(true));
        alone.offer(packet(i), 1_ms * i, mix64(i));
        alone.run_until(2_s);
        latest = std::max(latest, alone.arrived.front().at);
        ASSERT_EQ(driver.arrived[i].packet.seq, i);
        ASSERT_EQ(driver.arrived[i].at, latest);
    }
}

TEST(Jitter, IsThePacketsOwnWhateverElseTheLinkCarries) {
    LinkDriver crowded(jitter_spec(true), 3);
    LinkDriver alone(jitter_spec(true), 3);
    LinkDriver other_seed(jitter_spec(true), 4);
    for (std::uint32_t i = 0; i < 50; ++i) crowded.offer(packet(i), 0_ms, mix64(i));
    alone.offer(packet(20), 0_ms, mix64(20));
    other_seed.offer(packet(20), 0_ms, mix64(20));
    for (LinkDriver* driver : {&crowded, &alone, &other_seed}) driver->run_until(1_s);
    const auto it = std::ranges::find(crowded.arrived, 20u, [](const Delivery& d) { return d.packet.seq; });
    EXPECT_EQ(it->at, alone.arrived.front().at);
    EXPECT_NE(it->at, other_seed.arrived.front().at);
}

TEST(Jitter, GoesWithQueuesThatAreServedAtTheClock) {
    // CoDel without drops is an ordinary queue: the same packets at the same times.
    LinkSpec plain = link_spec(10_ms);
    plain.jitter = JitterOptions{.kind = JitterKind::Pareto, .spread = 3_ms};
    LinkSpec codel = plain;
    codel.discipline = CodelOptions{.target = 100_s, .interval = 100_s};
    LinkDriver first(plain);
    LinkDriver second(codel);
    for (std::uint32_t i = 0; i < 200; ++i) {
        first.offer(packet(i), 900_us * i, mix64(i));
        second.offer(packet(i), 900_us * i, mix64(i));
    }
    first.run_until(2_s);
    second.run_until(2_s);
    EXPECT_EQ(first.arrivals_us(), second.arrivals_us());
}

TEST(Jitter, StaysWithAPacketWhenTheLinkChanges) {
    LinkSpec spec = link_spec(20_ms);
    spec.jitter = JitterOptions{.kind = JitterKind::Uniform, .spread = 5_ms};
    LinkDriver changed(spec);
    LinkDriver alike(spec);
    for (std::uint32_t i = 0; i < 20; ++i) {
        changed.offer(packet(i), 0_ms, mix64(i));
        alike.offer(packet(i), 0_ms, mix64(i));
    }
    changed.link().set_delay(20_ms, 3_ms);
    changed.link().set_rate(8_Mbps, 4_ms);
    changed.run_until(1_s);
    alike.run_until(1_s);
    EXPECT_EQ(changed.arrivals_us(), alike.arrivals_us());
}

TEST(Jitter, WhatAnOutageLosesHoldsNobodyBack) {
    LinkSpec spec = link_spec(10_ms);
    spec.jitter = JitterOptions{.kind = JitterKind::Exponential, .spread = 500_ms};
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 50; ++i) driver.offer(packet(i), 0_ms, mix64(i));
    driver.link().set_up(false, 0_ms, [](const Packet&) {});
    driver.link().set_up(true, 1_ms, [](const Packet&) {});
    LinkDriver alone(spec);
    driver.offer(packet(99), 1_ms, 7);
    alone.offer(packet(99), 1_ms, 7);
    driver.run_until(10_s);
    alone.run_until(10_s);
    EXPECT_EQ(driver.arrivals_us(), alone.arrivals_us());
}

// --- recorded delays -------------------------------------------------------------------------------------------------

TEST(DelayTrace, APacketHasTheDelayOfTheIntervalInWhichItLeaves) {
    LinkSpec spec = link_spec();
    spec.delays_us = {30'000, 10'000, 20'000};
    spec.delay_interval = 10_ms;
    spec.reorder = true;
    LinkDriver driver(spec);
    EXPECT_EQ(driver.link().delay(), 10_ms);
    // They leave at 9, 10, 20 and 30 ms; after the third interval the trace repeats.
    for (std::uint32_t i = 0; i < 4; ++i) driver.offer(packet(i), i == 0 ? 8_ms : 10_ms * i - 1_ms);
    driver.run_until(1_s);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{1, 20'000}, {0, 39'000}, {2, 40'000}, {3, 60'000}}));
}

TEST(DelayTrace, KeepsTheOrderUnlessTheLinkLetsPacketsOvertake) {
    LinkSpec spec = link_spec();
    spec.delays_us = {30'000, 10'000};
    spec.delay_interval = 10_ms;
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 3; ++i) driver.offer(packet(i), i == 0 ? 8_ms : 9_ms);
    driver.run_until(1_s);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 39'000}, {1, 39'000}, {2, 39'000}}));
}

TEST(DelayTrace, ADelayTakesItsPlace) {
    LinkSpec spec = link_spec();
    spec.delays_us = {30'000};
    spec.delay_interval = 10_ms;
    LinkDriver driver(spec);
    driver.link().set_delay(5_ms, 0_ms);
    driver.offer(packet(0), 0_ms);
    driver.run_until(1_s);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 6000}}));
}

// --- token buckets ---------------------------------------------------------------------------------------------------

LinkSpec bucket_spec(std::int64_t burst, BitsPerSec peak) {
    LinkSpec spec = link_spec();  // 8 Mbit/s: a byte per microsecond
    spec.bucket = TokenBucketOptions{.burst = Bytes(burst), .peak = peak};
    return spec;
}

TEST(TokenBucket, LetsABurstPassAndThenItsRate) {
    // 40 kB at once, then 1000 bytes per millisecond
    LinkDriver driver(bucket_spec(40'000, kUnlimitedRate));
    for (std::uint32_t i = 0; i < 60; ++i) driver.offer(packet(i), 0_ms);
    driver.run_until(1_s);
    for (const Delivery& d : driver.arrived)
        EXPECT_EQ(d.at, d.packet.seq < 40 ? 0_ms : 1_ms * (std::int64_t{d.packet.seq} - 39)) << d.packet.seq;
}

TEST(TokenBucket, ABurstAtThePeakRateIsLongerThanTheBucket) {
    // During a burst at the peak p, tokens arrive at r: it has burst * p / (p - r) bytes, 40 kB * 10 / 9 = 44.4 kB.
    LinkDriver driver(bucket_spec(40'000, 80_Mbps));
    for (std::uint32_t i = 0; i < 60; ++i) driver.offer(packet(i), 0_ms);
    driver.run_until(1_s);
    // At the peak, packets leave 0.1 ms apart. The n-th from 0 finds 40 - 0.9 n kB: at least one kB up to n = 43.
    for (std::uint32_t i = 0; i <= 43; ++i) EXPECT_EQ(driver.arrived[i].at, 100_us * (i + 1));
    for (std::uint32_t i = 46; i < 60; ++i) EXPECT_EQ(driver.arrived[i].at - driver.arrived[i - 1].at, 1_ms);
}

TEST(TokenBucket, NeverSendsMoreThanTheBurstAndTheRateAllow) {
    LinkDriver driver(bucket_spec(5000, 40_Mbps));
    PoissonTimes times(Nanos(900'000), 5);
    for (std::uint32_t i = 0; i < 3000; ++i)
        driver.offer(packet(i, static_cast<std::uint16_t>(64 + mix64(i) % 1400)), times.next());
    driver.run_until(100_s);
    ASSERT_GT(driver.arrived.size(), 2000u);
    // In t, transmissions of 5000 + t / us bytes may begin; the first packet to leave began up to 1464 * 0.2 us
    // earlier.
    double most = 0;
    double level = 0;  // of a bucket that leaks at the rate: the largest excess of any interval
    Nanos last{};
    for (const Delivery& d : driver.arrived) {
        level = std::max(0.0, level - static_cast<double>((d.at - last).value) / 1000) + d.packet.size;
        most = std::max(most, level);
        last = d.at;
    }
    EXPECT_LE(most, 5000 + 293);
    EXPECT_GT(most, 4500);
}

TEST(TokenBucket, WhatAnOutageLosesTookNoTokens) {
    LinkDriver driver(bucket_spec(3000, kUnlimitedRate));
    for (std::uint32_t i = 0; i < 20; ++i) driver.offer(packet(i), 0_ms);  // three leave, then one per millisecond
    driver.run_until(Nanos(2'500'000));
    driver.link().set_up(false, Nanos(2'500'000), [](const Packet&) {});
    driver.link().set_up(true, Nanos(2'600'000), [](const Packet&) {});
    EXPECT_EQ(driver.arrived.size(), 5u);
    // At 2.5 ms the bucket held half a packet: 600 bytes at 2.6 ms, and 1000 at 3 ms.
    driver.offer(packet(50), Nanos(2'600'000));
    driver.run_until(1_s);
    EXPECT_EQ(driver.arrived.back().at, 3_ms);
}

TEST(TokenBucket, APacketLargerThanTheBucketWaitsUntilItIsFull) {
    LinkDriver driver(bucket_spec(500, kUnlimitedRate));
    driver.offer(packet(0), 0_ms);
    driver.offer(packet(1), 0_ms);
    driver.run_until(1_s);
    // The first takes 500 tokens more than the bucket has; a millisecond later the bucket is full again.
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 0}, {1, 1000}}));
}

TEST(TokenBucket, ARateTakesItsPlace) {
    LinkDriver driver(bucket_spec(1000, kUnlimitedRate));
    for (std::uint32_t i = 0; i < 4; ++i) driver.offer(packet(i), 0_ms);
    driver.link().set_rate(16_Mbps, 0_ms);  // the second is in service: it waits for its tokens
    driver.run_until(1_s);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 0}, {1, 1000}, {2, 1500}, {3, 2000}}));
}

}  // namespace
}  // namespace subflow

// Pacing: exact rates, no bursts, the same run in any steps.
#include <gtest/gtest.h>

#include "pacer.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;
using testing::PathOptions;

TEST(Pacer, TheRateIsExactOverASecond) {
    // Packets of 12 000 bit at 1 to 500 Mbit/s. The k-th leaves after k intervals, rounded down to a nanosecond, so
    // that the count differs by at most one of rate * 1 s: 1 / 83 at 1 Mbit/s. The time of the last packet checks the
    // rate to 1e-9.
    for (const double mbps : {1.0, 7.0, 33.3, 100.0, 499.0, 500.0}) {
        const double rate_pps = mbps * 1e6 / 12'000;
        Pacer pacer;
        std::int64_t sent = 0;
        Nanos last;
        for (Nanos now; now < 1_s; now = pacer.next()) {
            ASSERT_TRUE(pacer.allows(now));
            pacer.on_send(now, rate_pps);
            ASSERT_FALSE(pacer.allows(now));
            last = now;
            ++sent;
        }
        EXPECT_NEAR(static_cast<double>(sent), rate_pps, 1) << mbps;
        EXPECT_NEAR(static_cast<double>(last.value), static_cast<double>(sent - 1) * 1e9 / rate_pps, 1.01) << mbps;
    }
}

TEST(Pacer, IdleTimeIsNotMadeUpFor) {
    Pacer pacer;
    pacer.on_send(0_ms, 1000);
    EXPECT_EQ(pacer.next(), 1_ms);
    // Five seconds later one packet may leave, and the next a millisecond after it.
    pacer.on_send(5_s, 1000);
    EXPECT_FALSE(pacer.allows(5_s));
    EXPECT_EQ(pacer.next(), 5_s + 1_ms);
}

TEST(Pacer, AVanishingRateStillHasANextPacket) {
    Pacer pacer;
    pacer.on_send(0_ms, 1e-300);
    EXPECT_EQ(pacer.next(), 3600_s);
}

TEST(Pacer, ABurstLeavesAtOnceAndTheNextOneWhenItWouldHaveBeenThroughOneByOne) {
    // Bursts of seven at 1 to 500 Mbit/s: the k-th begins at 7 k intervals, as above.
    for (const double mbps : {1.0, 33.3, 500.0}) {
        const double rate_pps = mbps * 1e6 / 12'000;
        Pacer pacer;
        Nanos now;
        for (int burst = 0; burst < 1000; ++burst, now = pacer.next()) {
            EXPECT_NEAR(static_cast<double>(now.value), burst * 7e9 / rate_pps, 1.01) << mbps;
            for (int i = 0; i < 7; ++i) {
                ASSERT_TRUE(pacer.allows(now));
                pacer.on_send_in_burst(now, rate_pps, 7);
            }
            ASSERT_FALSE(pacer.allows(now));
        }
    }
}

TEST(Pacer, ABurstThatIsCutShortHasTheNextWaitForWhatLeft) {
    Pacer pacer;
    for (int i = 0; i < 3; ++i) pacer.on_send_in_burst(5_s, 1000, 7);
    pacer.end_burst();
    EXPECT_EQ(pacer.next(), 5_s + 3_ms);
    // The rest of a burst that lacked data follows when data arrives, and no more.
    pacer.on_send_in_burst(6_s, 1000, 4);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(pacer.allows(6001_ms));
        pacer.on_send_in_burst(6001_ms, 1000, 4);
    }
    EXPECT_EQ(pacer.next(), 6004_ms);
}

TEST(Pacer, BurstsAreWhatLinuxHandsToANetworkCard) {
    // tcp_tso_autosize: rate / 1024 bytes, and 65215 / 2^k where the round trip is k times 512 us, in packets of 1448.
    const auto burst = [](double mbps, Nanos min_rtt) { return burst_pkts(mbps * 1e6 / 8 / 1448, min_rtt, 1448); };
    EXPECT_EQ(burst(1.1, 50_ms), 1u);    // below 1.2 Mbit/s: BBR's minimum
    EXPECT_EQ(burst(10, 50_ms), 2u);     // 1220 bytes, at least two packets
    EXPECT_EQ(burst(100, 50_ms), 8u);    // 12207 / 1448 = 8.4
    EXPECT_EQ(burst(100, 3_ms), 9u);     // and 65215 / 2^5 = 2037
    EXPECT_EQ(burst(100, 600_us), 30u);  // and 65215 / 2
    EXPECT_EQ(burst(100, 500_us), 45u);  // at most 65215 / 1448 = 45.04
    EXPECT_EQ(burst(10'000, 50_ms), 45u);
    EXPECT_EQ(burst(100, kNever), 8u);
}

// A BBR flow beside a NewReno flow, with enough loss to visit every state.
Scenario two_flows() {
    Scenario scenario = testing::linux_profile(20_s);
    const PathSpec path = testing::add_path(scenario, {.queue_pkts = 60, .loss = 0.005});
    testing::add_tcp(scenario, path, "paced").controller.name = "bbr";
    testing::add_tcp(scenario, path, "clocked");
    return scenario;
}

TEST(Pacing, ARunCutIntoPiecesIsTheSame) {
    const Scenario scenario = two_flows();
    Network whole(scenario, 1);
    whole.run_until(20_s);
    Network pieces(scenario, 1);
    for (Nanos t = Nanos(777'777); t < 20_s; t += Nanos(777'777)) pieces.run_until(t);
    pieces.run_until(20_s);
    EXPECT_EQ(whole.signature(), pieces.signature());
}

TEST(Pacing, ASnapshotContinuesLikeTheOriginal) {
    const Scenario scenario = two_flows();
    Network original(scenario, 1);
    original.run_until(7_s);
    Network copy = original;
    original.run_until(20_s);
    copy.run_until(20_s);
    EXPECT_EQ(original.signature(), copy.signature());
}

TEST(Pacing, APacedFlowKeepsAWindowSpreadOverTheRoundTrip) {
    // Startup on 100 Mbit/s with a round trip of 100 ms: from the second round trip on, packets leave at 2.86 times the
    // measured rate. An unpaced sender doubles by sending two packets per ACK, back to back at the bottleneck: its
    // queue grows by half a window per round trip, to over 100 packets when 400 are in flight. Pacing below the
    // bottleneck's rate needs no queue: the packet in service, and a simultaneous arrival.
    Scenario scenario = testing::textbook(1_s);
    const PathSpec path = testing::add_path(scenario, {.rate = 1_Gbps, .queue_pkts = 10'000});
    testing::add_tcp(scenario, path).controller.name = "bbr";
    Network network(scenario, 1);
    network.run_until(700_ms);
    EXPECT_GT(network.subflows()[0].sender.pipe(), 400u);
    EXPECT_LE(network.link_result(0).max_queue_pkts, 2);
}

}  // namespace
}  // namespace subflow

// Vegas and wVegas: the number of queued packets, and the change of the window after each round trip.
#include <gtest/gtest.h>

#include <array>

#include "cc/vegas.h"
#include "cc/wvegas.h"

namespace subflow {
namespace {

using namespace literals;

// Delivers a round trip of ACKs of one packet each with this RTT; the last one begins the next round.
template <class C>
void round(C& controller, Window& window, Nanos rtt, Nanos min_rtt, int acks, const Siblings& siblings = {}) {
    for (int i = 0; i < acks; ++i) {
        const AckSample ack{.acked_pkts = 1, .rtt = rtt, .min_rtt = min_rtt, .begins_round = i == acks - 1};
        controller.on_every_ack(window, ack, siblings);
        controller.on_ack(window, ack, siblings);
    }
}

Vegas vegas() {
    return Vegas(Options(Vegas::kInfo, {}));
}
WVegas wvegas(bool drain = true) {
    return WVegas(Options(WVegas::kInfo, std::array{OptionValue{"drain", drain}}));
}

TEST(Vegas, CountsThePacketsThatItQueues) {
    // w = 30, base 0.10 s, rtt 0.12 s: 30 * 0.02 / 0.12 = 5 queued, 25 in flight
    EXPECT_NEAR(Vegas::queued_pkts(30, 100_ms, 120_ms), 5, 1e-9);
    // The queue holds rate times queueing delay: (30 / 0.12) * 0.02 = 5
    EXPECT_NEAR(30 / 0.12 * 0.02, Vegas::queued_pkts(30, 100_ms, 120_ms), 1e-9);
}

TEST(Vegas, KeepsBetweenAlphaAndBetaQueued) {
    struct Case {
        Nanos rtt;
        double after;
    };
    // w = 30, base 100 ms: queued = 30 (rtt - 100) / rtt. 104 ms: 1.15 < 2, one more; 110 ms: 2.73, hold;
    // 115 ms: 3.91, hold; 120 ms: 5 > 4, one less.
    for (const Case& c : {Case{104_ms, 31}, Case{110_ms, 30}, Case{115_ms, 30}, Case{120_ms, 29}}) {
        Vegas controller = vegas();
        Window window{30, 10};
        round(controller, window, c.rtt, 100_ms, 30);
        EXPECT_EQ(window.cwnd_pkts, c.after);
    }
}

TEST(Vegas, TakesTheLowestRttOfTheRoundNotTheMean) {
    Vegas controller = vegas();
    Window window{30, 10};
    // One sample of 101 ms among many of 200 ms: 30 / 101 = 0.3 packets queued, below alpha
    const AckSample low{.acked_pkts = 1, .rtt = 101_ms, .min_rtt = 100_ms};
    controller.on_every_ack(window, low, {});
    controller.on_ack(window, low, {});
    round(controller, window, 200_ms, 100_ms, 29);
    EXPECT_EQ(window.cwnd_pkts, 31);
}

TEST(Vegas, LeavesSlowStartForWhatThePathHoldsAndOne) {
    Vegas controller = vegas();
    Window window{40, kInfiniteSsthresh};
    // 41 ACKs of 130 ms, base 100: 40 of them grow the window to 80; then 80 * 30 / 130 = 18.46 > gamma queued:
    // w = 80 - 18.46 + 1 = 62.54, ssthresh = w - 1 = 61.54 (above 3/4 of w)
    round(controller, window, 130_ms, 100_ms, 41);
    EXPECT_NEAR(window.cwnd_pkts, 80 * 100.0 / 130 + 1, 1e-9);
    EXPECT_NEAR(window.ssthresh_pkts, 80 * 100.0 / 130, 1e-9);
    // Half a packet queued: slow start continues to double
    Window growing{40, kInfiniteSsthresh};
    Vegas fresh = vegas();
    round(fresh, growing, Nanos(101'000'000), 100_ms, 40);
    EXPECT_EQ(growing.cwnd_pkts, 80);
}

TEST(Vegas, JudgesNothingByTwoSamples) {
    Vegas controller = vegas();
    Window window{2, 1};
    // NewReno's step for the ACK that ends the round: 2 + 1/2
    round(controller, window, 300_ms, 100_ms, 2);
    EXPECT_EQ(window.cwnd_pkts, 2.5);
}

TEST(Vegas, IsNewRenoWhileLossesAreRepaired) {
    Vegas controller = vegas();
    Window window{30, 10};
    controller.on_congestion_event(window, {CongestionKind::Timeout, 28, {}}, {});
    EXPECT_EQ(window.ssthresh_pkts, 14);
    window.cwnd_pkts = 1;
    // 13 ACKs of slow start up to ssthresh, the 14th adds 1/14, with any RTT
    round(controller, window, 300_ms, 100_ms, 14);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 14 + 1.0 / 14);
    controller.on_recovery_exit(window, {}, {});
    round(controller, window, 300_ms, 100_ms, 14);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 13 + 1.0 / 14);
}

TEST(WVegas, SharesTenPacketsByTheStoredRates) {
    // Rates (400, 100) packets per second: weights 0.8 and 0.2, alpha (8, 2)
    const std::array<Sibling, 2> siblings{
        {{.cwnd_pkts = 40, .srtt_s = 0.1, .advertised = 400}, {.cwnd_pkts = 10, .srtt_s = 0.1, .advertised = 100}}};
    EXPECT_NEAR(WVegas::alpha(400, {siblings, 0}), 8, 1e-9);
    EXPECT_NEAR(WVegas::alpha(100, {siblings, 1}), 2, 1e-9);
    // Never below 2: a weight of 1/10 would be 1
    EXPECT_EQ(WVegas::alpha(100, {std::array<Sibling, 2>{{{.advertised = 900}, {}}}, 1}), 2);
    // Without siblings: all of it
    EXPECT_EQ(WVegas::alpha(100, {}), 10);
}

TEST(WVegas, StatesItsRateWhenItsShareIsQueued) {
    const std::array<Sibling, 2> siblings{{{.advertised = 0}, {.advertised = 500.0 / 3}}};
    WVegas controller = wvegas(false);
    Window window{30, 10};
    // Mean RTT 120 ms, base 100: 5 queued >= alpha 2: rate 30 / 0.12 = 250, weight 250 / 416.7, alpha 6; 5 is less: one
    // more
    round(controller, window, 120_ms, 100_ms, 30, {siblings, 0});
    EXPECT_NEAR(window.advertised, 250, 1e-9);
    EXPECT_NEAR(controller.alpha_pkts(), 6, 1e-9);
    EXPECT_EQ(window.cwnd_pkts, 31);
    controller.on_congestion_event(window, {CongestionKind::FastRetransmit, 30, {}}, {siblings, 0});
    EXPECT_NEAR(window.advertised, 250, 1e-9);
    controller.on_congestion_event(window, {CongestionKind::Timeout, 30, {}}, {siblings, 0});
    EXPECT_EQ(window.advertised, 0);
}

TEST(WVegas, LearnsItsShareAnewAfterARecovery) {
    WVegas controller = wvegas(false);
    Window window{30, 10};
    round(controller, window, 150_ms, 100_ms, 30);  // 10 queued: the share of a lone subflow
    EXPECT_EQ(controller.alpha_pkts(), 10);
    controller.on_congestion_event(window, {CongestionKind::FastRetransmit, 30, {}}, {});
    window.cwnd_pkts = window.ssthresh_pkts;
    controller.on_recovery_exit(window, {}, {});
    EXPECT_EQ(controller.alpha_pkts(), 2);
    EXPECT_EQ(window.advertised, 0);
}

TEST(WVegas, TakesTheMeanRttOfTheRound) {
    WVegas controller = wvegas(false);
    Window window{30, 10};
    // 15 samples of 100 ms and 15 of 104 ms: mean 102 ms, 0.59 queued < 2: grow
    for (int i = 0; i < 15; ++i) controller.on_every_ack(window, {.rtt = 100_ms, .min_rtt = 100_ms}, {});
    round(controller, window, 104_ms, 100_ms, 15);
    EXPECT_EQ(window.cwnd_pkts, 31);
    // 15 of 100 ms and 15 of 200 ms: mean 150 ms, 31 / 3 = 10.3 queued > 10, the share of a lone subflow: shrink
    for (int i = 0; i < 15; ++i) controller.on_every_ack(window, {.rtt = 100_ms, .min_rtt = 100_ms}, {});
    round(controller, window, 200_ms, 100_ms, 15);
    EXPECT_EQ(window.cwnd_pkts, 30);
}

TEST(WVegas, LeavesSlowStartWhenTwoWholePacketsAreQueued) {
    WVegas controller = wvegas();
    Window window{20};
    round(controller, window, 104_ms, 100_ms, 20);  // 39 * 4 / 104 = 1.5 at the last ACK
    EXPECT_EQ(window.cwnd_pkts, 40);
    round(controller, window, 106_ms, 100_ms, 40);  // 79 * 6 / 106 = 4.5
    EXPECT_NEAR(window.cwnd_pkts, 79 - 79 * 6.0 / 106 + 1, 1e-9);
    EXPECT_FALSE(window.in_slow_start());
}

TEST(WVegas, DrainsWhenTheQueueingDelayHasDoubled) {
    WVegas controller = wvegas();
    Window window{30, 10};
    round(controller, window, 102_ms, 100_ms, 30);  // 0.59 queued: 31; lowest queueing delay 2 ms
    EXPECT_EQ(window.cwnd_pkts, 31);
    round(controller, window, 103_ms, 100_ms, 30);  // 0.9 queued: 32; 3 ms is not twice 2 ms
    EXPECT_EQ(window.cwnd_pkts, 32);
    round(controller, window, 104_ms, 100_ms, 30);  // 1.2 queued: 33, and 4 ms is: 33 * 100 / 208
    EXPECT_NEAR(window.cwnd_pkts, 33 * 100.0 / 208, 1e-9);
}

TEST(WVegas, DrainsAnEmptyQueueUnlessToldNotTo) {
    WVegas empty = wvegas();
    Window window{30, 10};
    round(empty, window, 100_ms, 100_ms, 30);  // 31, and zero is twice zero
    EXPECT_EQ(window.cwnd_pkts, 15.5);

    WVegas undrained = wvegas(false);
    Window other{30, 10};
    for (const Nanos rtt : {102_ms, 103_ms, 104_ms}) round(undrained, other, rtt, 100_ms, 30);
    EXPECT_EQ(other.cwnd_pkts, 33);
}

}  // namespace
}  // namespace subflow

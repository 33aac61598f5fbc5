// CUBIC's curve, its special cases, and the exits from slow start.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "cc/cubic.h"

namespace subflow {
namespace {

using namespace literals;

Cubic cubic(std::string_view hystart = "off", bool fast_convergence = true, bool reno_friendly = true) {
    return Cubic(Options(
        Cubic::kInfo,
        std::array{OptionValue{"arithmetic", std::string("rfc9438")}, OptionValue{"hystart", std::string(hystart)},
                   OptionValue{"fast_convergence", fast_convergence}, OptionValue{"reno_friendly", reno_friendly}}));
}

AckSample ack_at(Nanos now, double acked_pkts = 1, Nanos rtt = 100_ms) {
    return {.acked_pkts = acked_pkts,
            .rtt = rtt,
            .oldest_rtt = rtt,
            .srtt = rtt,
            .min_rtt = 100_ms,
            .now = now,
            .inflight_pkts = 50};
}

void ack(Cubic& controller, Window& window, const AckSample& sample) {
    controller.on_every_ack(window, sample, {});
    controller.on_ack(window, sample, {});
}

void lose(Cubic& controller, Window& window, CongestionKind kind = CongestionKind::FastRetransmit) {
    controller.on_congestion_event(window, {kind, 50, {}}, {});
    window.cwnd_pkts = kind == CongestionKind::Timeout ? 1 : window.ssthresh_pkts;
}

TEST(Cubic, FollowsItsCurve) {
    // W_max = 100, cwnd_epoch = 70: K = cbrt(30 / 0.4) = cbrt(75) = 4.217163. W(t) = 0.4 (t - K)^3 + 100:
    // W(0) = 70, W(1) = 86.68076, W(2) = 95.64034, W(K) = 100, W(6) = 102.2667, W(2K) = 130
    const double k = CubicCurve::k_s(100, 70);
    EXPECT_NEAR(k, 4.217163, 5e-7);
    EXPECT_NEAR(CubicCurve::window_at(0, k, 100), 70, 1e-9);
    EXPECT_NEAR(CubicCurve::window_at(1, k, 100), 86.68076, 5e-6);
    EXPECT_NEAR(CubicCurve::window_at(2, k, 100), 95.64034, 5e-6);
    EXPECT_NEAR(CubicCurve::window_at(k, k, 100), 100, 1e-9);
    EXPECT_NEAR(CubicCurve::window_at(6, k, 100), 102.2667, 5e-5);
    EXPECT_NEAR(CubicCurve::window_at(2 * k, k, 100), 130, 1e-9);
    // A window above W_max starts at the inflection point.
    EXPECT_EQ(CubicCurve::k_s(100, 120), 0);
}

TEST(Cubic, HasACubeRootOfItsOwn) {
    EXPECT_EQ(cube_root(0), 0);
    for (double x = 1e-9; x < 1e12; x *= 1.37) EXPECT_NEAR(cube_root(x) / std::cbrt(x), 1, 1e-15) << x;
}

TEST(Cubic, GrowsTowardsWhereTheCurveIsARoundTripFromNow) {
    Cubic controller = cubic("off", true, false);
    Window window{100, 50};
    lose(controller, window);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 70);
    // First ACK at 10 s: t = 0, target W(0.1) = 0.4 (0.1 - 4.217163)^3 + 100 = 72.0835; 70 + (72.0835 - 70) / 70
    const double k = std::cbrt(75.0);
    const double target = 0.4 * std::pow(0.1 - k, 3) + 100;
    ack(controller, window, ack_at(10_s));
    EXPECT_NEAR(window.cwnd_pkts, 70 + (target - 70) / 70, 1e-9);
}

TEST(Cubic, GrowsByAtMostHalfAWindowPerRoundTrip) {
    Cubic controller = cubic("off", true, false);
    Window window{100, 50};
    lose(controller, window);
    ack(controller, window, ack_at(10_s));
    const double before = window.cwnd_pkts;
    // 20 s later the curve is at 0.4 * 15.9^3 + 100, far above 1.5 w: each ACK adds 0.5 w / w
    ack(controller, window, ack_at(30_s));
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, before + 0.5);
    // The window never shrinks to the curve: it stays where the curve is below it. Here W(0.1) < 99.
    Window high{99, 50};
    Cubic other = cubic("off", true, false);
    Window lost{100, 50};
    lose(other, lost);
    ack(other, high, ack_at(10_s));
    EXPECT_GE(high.cwnd_pkts, 99);
}

TEST(Cubic, GivesUpMoreWhenTheWindowWasStillGrowing) {
    Cubic fast = cubic("off", true, false);
    Cubic slow = cubic("off", false, false);
    for (Cubic* controller : {&fast, &slow}) {
        Window window{100, 50};
        lose(*controller, window);
        window.cwnd_pkts = 80;  // below W_max = 100
        lose(*controller, window);
        EXPECT_DOUBLE_EQ(window.ssthresh_pkts, 56);
        // W_max = 80 * 1.7 / 2 = 68 with fast convergence, 80 without: K = cbrt((W_max - 56) / 0.4)
        const double w_max = controller == &fast ? 68 : 80;
        const double target = 0.4 * std::pow(0.1 - std::cbrt((w_max - 56) / 0.4), 3) + w_max;
        ack(*controller, window, ack_at(10_s));
        EXPECT_NEAR(window.cwnd_pkts, 56 + (target - 56) / 56, 1e-9);
    }
}

TEST(Cubic, IsAsFastAsRenoWhereItsCurveIsSlower) {
    Cubic controller = cubic();
    Window window{10, 5};
    lose(controller, window);
    ASSERT_DOUBLE_EQ(window.cwnd_pkts, 7);
    // alpha = 3 * 0.3 / 1.7 = 0.5294118. At t = 0: W(0) = 7 < W_est = 7 + 0.5294118 / 7
    ack(controller, window, ack_at(10_s));
    EXPECT_NEAR(window.cwnd_pkts, 7 + 9.0 / 17 / 7, 1e-9);
    // Ten round trips of w ACKs each, RTT 1 ms: the curve hardly moves. W_est grows by alpha per round until it reaches
    // 10 again, and by one afterwards.
    double expected = window.cwnd_pkts;
    for (int i = 1; i <= 10; ++i) {
        const double w = window.cwnd_pkts;
        expected += expected >= 10 ? 1 : 9.0 / 17;
        ack(controller, window, ack_at(10_s + i * 1_ms, w, 1_ms));
        EXPECT_NEAR(window.cwnd_pkts, expected, 1e-9);
    }
    EXPECT_GT(window.cwnd_pkts, 12);
}

TEST(Cubic, StartsAtTheInflectionPointAfterATimeout) {
    Cubic controller = cubic("off", true, false);
    Window window{100, 50};
    lose(controller, window, CongestionKind::Timeout);
    EXPECT_DOUBLE_EQ(window.ssthresh_pkts, 70);
    // Slow start from 1 to 70, then K = 0 and W_max = 70: W(0.1) = 70 + 0.4 * 0.001
    ack(controller, window, ack_at(10_s, 69));
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 70);
    ack(controller, window, ack_at(11_s));
    EXPECT_NEAR(window.cwnd_pkts, 70 + 0.4 * 0.001 / 70, 1e-9);
}

TEST(Cubic, StartsAtTheInflectionPointWhenSlowStartEndsWithoutALoss) {
    Cubic controller = cubic("off", true, false);
    Window window{40, 40};
    ack(controller, window, ack_at(10_s));
    EXPECT_NEAR(window.cwnd_pkts, 40 + 0.4 * 0.001 / 40, 1e-9);
}

TEST(Cubic, LeavesOutTimeInWhichTheWindowWasNotUsed) {
    const auto window_after = [](bool is_idle, bool is_limited, Nanos at) {
        Cubic controller = cubic("off", true, false);
        Window window{100, 50};
        lose(controller, window);
        AckSample before = ack_at(10_s);
        if (is_idle) before.inflight_pkts = 0;
        ack(controller, window, before);
        AckSample after = ack_at(at);
        after.is_cwnd_limited = is_limited;
        controller.on_every_ack(window, after, {});
        controller.on_ack(window, ack_at(at), {});
        return window.cwnd_pkts;
    };
    const double used = window_after(false, true, 11_s);
    EXPECT_NE(window_after(false, true, 14_s), used);
    // Idle: the packet of this ACK was sent a round trip (0.1 s) before it, so only that part of the 4 s counts
    const double a_round_trip = window_after(false, true, 10'100_ms);
    EXPECT_NEAR(window_after(true, true, 14_s), a_round_trip, 1e-9);
    // Sending below the window all the time: none of it counts
    const double at_once = window_after(false, true, 10_s);
    EXPECT_NEAR(window_after(false, false, 14_s), at_once, 1e-9);
}

Cubic linux_cubic() {
    return Cubic(Options(Cubic::kInfo, std::array{OptionValue{"arithmetic", std::string("linux")},
                                                  OptionValue{"hystart", std::string("off")}}));
}

TEST(LinuxCubic, CountsWholePackets) {
    Cubic controller = linux_cubic();
    Window window{9, 5};
    lose(controller, window);
    EXPECT_EQ(window.ssthresh_pkts, 6);  // 9 * 717 / 1024 = 6.3
    window.cwnd_pkts = 2;
    lose(controller, window);
    EXPECT_EQ(window.ssthresh_pkts, 2);
}

TEST(LinuxCubic, GrowsTowardsRenosWindowByEightFifteenthsARoundTripForGood) {
    Cubic controller = linux_cubic();
    Window window{10, 5};
    lose(controller, window);
    ASSERT_EQ(window.cwnd_pkts, 7);
    // RTT 40 ms, so that each round trip evaluates the curve, which hardly moves (K = (3 / 0.4)^(1/3) = 2 s). Each
    // packet of Reno's window takes w * 15 / 8 acknowledgements, rounded down: 13 at 7, 15 at 8, 16 at 9, 18 at 10 and
    // 20 at 11, 82 in all plus one, because the count must exceed them. The window follows at the next evaluation,
    // within 32 ms, the time of 7 to 11 packets. RFC 9438's window would be at 10 by then and add one per round trip.
    Nanos now = 10_s;
    int acks = 0;
    while (window.cwnd_pkts < 12) {
        now += 40_ms / static_cast<std::int64_t>(window.cwnd_pkts);
        ack(controller, window, ack_at(now, 1, 40_ms));
        EXPECT_EQ(window.cwnd_pkts, std::floor(window.cwnd_pkts));
        ++acks;
        ASSERT_LT(acks, 200);
    }
    EXPECT_GE(acks, 83);
    EXPECT_LE(acks, 83 + 5 * 11);
}

TEST(LinuxCubic, IsBackAtTheOldWindowAfterK) {
    Cubic controller = linux_cubic();
    Window window{100, 50};
    lose(controller, window);
    ASSERT_EQ(window.cwnd_pkts, 70);  // 100 * 717 / 1024 = 70.02
    // K = (30 / 0.4004)^(1/3) = 4.216 s; an ACK each 100 ms / w
    Nanos now = 10_s;
    for (const Nanos end = now + 4'216_ms; now < end; now += 100_ms / static_cast<std::int64_t>(window.cwnd_pkts))
        ack(controller, window, ack_at(now));
    EXPECT_NEAR(window.cwnd_pkts, 100, 1);
}

TEST(LinuxCubic, ForgetsEverythingAfterATimeout) {
    Cubic controller = linux_cubic();
    Window window{100, 50};
    lose(controller, window, CongestionKind::Timeout);
    EXPECT_EQ(window.ssthresh_pkts, 70);
    ack(controller, window, ack_at(10_s, 69));
    EXPECT_EQ(window.cwnd_pkts, 70);
    // Without an old window it grows by one per 20 acknowledged packets: 5 % per round trip.
    for (int i = 1; i <= 200; ++i) ack(controller, window, ack_at(10_s + i * 1_ms));
    EXPECT_NEAR(window.cwnd_pkts, 80, 1);
}

// The model of the closed forms: an ACK every rtt / w, a loss after every `1 / loss` packets, instantaneous recovery,
// the first loss at a window of `peak_pkts`. Returns the time average of the window over some cycles, in packets.
template <class C>
double mean_window_under_periodic_loss(C controller, double rtt_s, double loss, double peak_pkts) {
    Window window{peak_pkts, 1};
    double now_s = 0;
    double area = 0;
    constexpr int kCycles = 6;
    const Nanos rtt = from_seconds(rtt_s);
    for (int cycle = 0; cycle < kCycles; ++cycle) {
        controller.on_congestion_event(window, {CongestionKind::FastRetransmit, window.cwnd_pkts, {}}, {});
        window.cwnd_pkts = window.ssthresh_pkts;
        for (double acked = 0; acked < 1 / loss; ++acked) {
            const double step_s = rtt_s / window.cwnd_pkts;
            now_s += step_s;
            area += window.cwnd_pkts * step_s;
            const Nanos now = from_seconds(now_s);
            controller.on_ack(window, {.acked_pkts = 1, .rtt = rtt, .oldest_rtt = rtt, .srtt = rtt, .now = now}, {});
        }
    }
    return area / now_s;
}

TEST(PeriodicLoss, RenosMeanWindowIsRootThreeHalvesOverRootP) {
    // Peak W, trough W/2, W/2 round trips of 3W/4 packets each: 1/p = 3 W^2 / 8; mean 3W/4 = sqrt(3 / 2p)
    for (const double loss : {1e-2, 1e-3, 1e-4}) {
        const NewReno reno(Options(NewReno::kInfo, {}));
        const double mean = mean_window_under_periodic_loss(reno, 0.1, loss, std::sqrt(8 / (3 * loss)));
        EXPECT_NEAR(mean / std::sqrt(1.5 / loss), 1, 0.02) << loss;
    }
}

TEST(PeriodicLoss, CubicsMeanWindowIsThatOfRfc9438) {
    // RFC 9438 section 5.1: [C (3 + beta) / (4 (1 - beta))]^(1/4) (RTT / p)^(3/4) = (0.4 * 3.7 / 1.2)^(1/4) (...) =
    // 1.054 (RTT / p)^(3/4): 187, 1054 and 5927 packets at RTT 0.1 s. It holds for equal cycles: from W_max back to
    // W_max in K, with a mean of W_max (3 + beta) / 4. Without fast convergence, which would treat rounding differences
    // of peaks as falling peaks.
    for (const double loss : {1e-4, 1e-5, 1e-6}) {
        const double expected = std::pow(0.4 * 3.7 / 1.2, 0.25) * std::pow(0.1 / loss, 0.75);
        const double mean = mean_window_under_periodic_loss(cubic("off", false), 0.1, loss, expected * 4 / 3.7);
        EXPECT_NEAR(mean / expected, 1, 0.01) << loss;
    }
}

TEST(PeriodicLoss, CubicIsRenoWhereLossesAreFrequent) {
    // p = 1e-2 and 1e-3 at RTT 0.1 s: 12 and 38 packets, as Reno's sqrt(3 / 2p) = 12.2 and 38.7
    for (const double loss : {1e-2, 1e-3}) {
        const double expected = std::sqrt(1.5 / loss);
        // Mean W (1 + beta) / 2 of a saw-tooth between W and beta W
        const double mean = mean_window_under_periodic_loss(cubic("off", false), 0.1, loss, expected / 0.85);
        EXPECT_NEAR(mean / expected, 1, 0.05) << loss;
    }
}

// A round trip of slow start: `acks` ACKs `spacing` apart.
struct Rounds {
    Cubic controller;
    Window window{16, kInfiniteSsthresh};
    Nanos now = 1_s;

    void run(Nanos rtt, int acks, Nanos spacing, Nanos min_rtt = 100_ms) {
        for (int i = 0; i < acks; ++i) {
            AckSample sample = ack_at(now, 1, rtt);
            sample.min_rtt = min_rtt;
            sample.begins_round = i == 0;
            ack(controller, window, sample);
            now += spacing;
        }
    }
    bool is_over() const { return !window.in_slow_start(); }
};

TEST(HyStart, EndsSlowStartWhenTheRttHasRisenByAnEighth) {
    // Base 100 ms: threshold 112.5 ms, judged from the ninth sample on. ACKs 5 ms apart are no train.
    Rounds below{cubic("linux")};
    below.run(112_ms, 30, 5_ms);
    EXPECT_FALSE(below.is_over());
    Rounds above{cubic("linux")};
    above.run(113_ms, 8, 5_ms);
    EXPECT_FALSE(above.is_over());
    above.run(113_ms, 9, 5_ms);
    EXPECT_TRUE(above.is_over());
    // 16 + 8 + 8 ACKs of slow start; the ninth of the second round ended it, and CUBIC's curve is flat there
    EXPECT_DOUBLE_EQ(above.window.ssthresh_pkts, 32);
    EXPECT_NEAR(above.window.cwnd_pkts, 32, 0.1);
}

TEST(HyStart, ThresholdStaysWithinFourToSixteenMilliseconds) {
    EXPECT_EQ(hystart_delay_threshold(8_ms), 4_ms);
    EXPECT_EQ(hystart_delay_threshold(80_ms), 10_ms);
    EXPECT_EQ(hystart_delay_threshold(800_ms), 16_ms);
}

TEST(HyStart, EndsSlowStartAfterATrainOfHalfTheRtt) {
    // (100 ms + 1 ms) / 2 = 50.5 ms: a train 1 ms apart is longer than that with its 52nd ACK (51 ms)
    Rounds train{cubic("linux")};
    train.run(100_ms, 51, 1_ms);
    EXPECT_FALSE(train.is_over());
    train.run(100_ms, 51, 1_ms);  // a new round starts a new train
    EXPECT_FALSE(train.is_over());
    train.run(100_ms, 52, 1_ms);
    EXPECT_TRUE(train.is_over());
    // 3 ms apart: no train
    Rounds sparse{cubic("linux")};
    sparse.run(100_ms, 60, 3_ms);
    EXPECT_FALSE(sparse.is_over());
}

TEST(HyStart, WaitsForAWindowOfSixteen) {
    Rounds small{cubic("linux")};
    small.window.cwnd_pkts = 4;
    small.run(200_ms, 12, 5_ms);  // reaches 16 with the twelfth
    EXPECT_FALSE(small.is_over());
}

TEST(HyStart, IsOffUnlessAskedForAndBackAfterATimeoutOnly) {
    Rounds off{cubic("off")};
    off.run(300_ms, 60, 1_ms);
    EXPECT_FALSE(off.is_over());
    for (const CongestionKind kind : {CongestionKind::FastRetransmit, CongestionKind::Timeout}) {
        Rounds again{cubic("linux")};
        again.window.cwnd_pkts = 200;
        lose(again.controller, again.window, kind);
        again.window.cwnd_pkts = 20;  // as after a restart from idle
        again.run(300_ms, 30, 5_ms);
        EXPECT_EQ(again.is_over(), kind == CongestionKind::Timeout);
    }
}

TEST(HyStartPlusPlus, SlowsDownOnARiseAndEndsSlowStartAfterFiveRounds) {
    Rounds rounds{cubic("rfc9406")};
    rounds.window.cwnd_pkts = 10;
    rounds.run(100_ms, 10, 1_ms);  // 20, doubled: too small for the train test
    EXPECT_EQ(rounds.window.cwnd_pkts, 20);
    // 113 ms >= 100 + 12.5: detected at the eighth sample, before its growth. 7 whole steps, then 13 quarters.
    rounds.run(113_ms, 20, 1_ms);
    EXPECT_DOUBLE_EQ(rounds.window.cwnd_pkts, 20 + 7 + 13 / 4.0);
    // The rest of that round was the first of five: four more, each with a quarter of its ACKs
    for (int i = 0; i < 4; ++i) {
        EXPECT_FALSE(rounds.is_over());
        rounds.run(113_ms, 20, 1_ms);
    }
    EXPECT_DOUBLE_EQ(rounds.window.cwnd_pkts, 30.25 + 4 * 20 / 4.0);
    rounds.run(113_ms, 1, 1_ms);
    EXPECT_TRUE(rounds.is_over());
    EXPECT_DOUBLE_EQ(rounds.window.ssthresh_pkts, 50.25);
}

TEST(HyStartPlusPlus, ResumesWhenTheRiseWasNone) {
    Rounds rounds{cubic("rfc9406")};
    rounds.run(100_ms, 20, 1_ms);
    rounds.run(113_ms, 20, 1_ms);
    const double before = rounds.window.cwnd_pkts;
    // Below the baseline of 113 ms with the eighth sample: 7 quarters, then 13 whole steps
    rounds.run(105_ms, 20, 1_ms);
    EXPECT_DOUBLE_EQ(rounds.window.cwnd_pkts, before + 7 / 4.0 + 13);
}

TEST(HyStartPlusPlus, GrowsByAtMostEightPacketsPerAck) {
    Rounds rounds{cubic("rfc9406")};
    ack(rounds.controller, rounds.window, ack_at(1_s, 30));
    EXPECT_EQ(rounds.window.cwnd_pkts, 24);
}

TEST(HyStartPlusPlus, IsForTheFirstSlowStartOnly) {
    Rounds rounds{cubic("rfc9406")};
    lose(rounds.controller, rounds.window, CongestionKind::Timeout);
    rounds.window = {20, 200};
    rounds.run(100_ms, 20, 1_ms);
    rounds.run(150_ms, 20, 1_ms);
    EXPECT_EQ(rounds.window.cwnd_pkts, 60);
}

}  // namespace
}  // namespace subflow

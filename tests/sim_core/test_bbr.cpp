// BBR as a state machine: effects of single acknowledgements and losses on window and pacing rate.
#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;

// Feeds a controller with acknowledgements of a path of 1000 packets/s and 100 ms: a BDP of 100.
class BbrTest : public ::testing::Test {
protected:
    static constexpr double kRate = 1000;
    static constexpr Nanos kRtt = 100_ms;

    Bbr bbr = make();
    Window window = start(bbr, 1);
    Nanos now{};
    DeliverySample next;

    static Bbr make(bool has_ack_aggregation = false, const std::string& quantization = "fixed") {
        const std::vector<OptionValue> options{{"ack_aggregation", has_ack_aggregation},
                                               {"quantization", quantization}};
        return Bbr(Options(Bbr::kInfo, options));
    }
    static Window start(Bbr& controller, std::uint64_t seed) {
        Window window{.cwnd_pkts = 10};
        controller.on_start(window, seed);
        return window;
    }
    // One ACK of `acked` packets, with a rate sample of `rate_pps`.
    void ack(double acked, double rate_pps, double inflight) {
        now += Nanos(static_cast<std::int64_t>(acked / kRate * 1e9));
        next.now = now;
        next.rtt = next.rtt == Nanos(0) ? kRtt : next.rtt;
        next.srtt = kRtt;
        next.newly_delivered_pkts = acked;
        next.delivered_pkts += static_cast<std::uint64_t>(acked);
        next.inflight_pkts = inflight;
        next.prior_inflight_pkts = inflight + acked;
        // The packet left a round trip ago.
        const auto in_a_round = static_cast<std::uint64_t>(rate_pps * to_seconds(kRtt));
        next.prior_delivered_pkts = next.delivered_pkts - std::min(in_a_round, next.delivered_pkts);
        next.interval = Nanos(static_cast<std::int64_t>(
            static_cast<double>(next.delivered_pkts - next.prior_delivered_pkts) / rate_pps * 1e9));
        bbr.on_delivery(window, next, {});
        next.newly_lost_pkts = 0;
    }
    // Passes startup and drain, at the true rate.
    void reach_probe_bw() {
        for (int i = 0; i < 1000 && bbr.mode() != Bbr::Mode::ProbeBw; ++i) ack(1, kRate, 80);
        ASSERT_EQ(bbr.mode(), Bbr::Mode::ProbeBw);
    }
};

TEST_F(BbrTest, BeginsAtAWindowPerMillisecondUntilThereIsARoundTrip) {
    // 739/256 x 0.99 x 10 packets / 1 ms
    EXPECT_DOUBLE_EQ(window.pacing_pps, 739.0 / 256 * 0.99 * 10 / 0.001);
    // The first sample is one packet in 100 ms: 10 packets/s, less than 10 packets / 100 ms, which counts.
    ack(1, 10, 9);
    EXPECT_DOUBLE_EQ(window.pacing_pps, 739.0 / 256 * 0.99 * 10 / 0.1);
    EXPECT_EQ(window.cwnd_pkts, 11);
}

TEST_F(BbrTest, TheMeanGainOfACycleIsOne) {
    EXPECT_DOUBLE_EQ(std::accumulate(Bbr::kCycle.begin(), Bbr::kCycle.end(), 0.0), 8);
}

TEST_F(BbrTest, ThreeRoundsWithoutGrowthMeanThatThePipeIsFull) {
    // 100 acknowledgements per round trip. The first sample sets the reference; rounds 2, 3 and 4 do not exceed it by
    // 25 %.
    int acks = 0;
    while (bbr.mode() == Bbr::Mode::Startup) {
        if (acks > 0) {
            EXPECT_NEAR(window.pacing_pps, 739.0 / 256 * 0.99 * kRate, 1e-6);
        }
        ack(1, kRate, 250);
        ++acks;
        ASSERT_LE(acks, 1000);
    }
    EXPECT_GE(acks, 301);
    EXPECT_LE(acks, 305);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::Drain);
    EXPECT_NEAR(window.pacing_pps, 88.0 / 256 * 0.99 * kRate, 1e-6);
    // It drains until at most the BDP is in flight.
    ack(1, kRate, 101);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::Drain);
    ack(1, kRate, 100);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::ProbeBw);
}

TEST_F(BbrTest, GrowthByAQuarterKeepsStartupGoing) {
    double rate = 1000;
    for (int round = 0; round < 10; ++round) {
        for (double sent = 0; sent < rate * 0.1 + 1; ++sent) ack(1, rate, 50);
        rate *= 1.27;
    }
    EXPECT_EQ(bbr.mode(), Bbr::Mode::Startup);
}

TEST_F(BbrTest, AnApplicationThatRunsDryDoesNotEndStartup) {
    next.is_app_limited = true;
    for (int i = 0; i < 2000; ++i) ack(1, kRate / 10, 5);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::Startup);
}

TEST_F(BbrTest, TheWindowIsTwoProductsAndThree) {
    reach_probe_bw();
    for (int i = 0; i < 300; ++i) ack(1, kRate, 95);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 203);  // 2 x 1000/s x 0.1 s + 3
}

TEST_F(BbrTest, LinuxAllowsThreeQuantaInEachComparison) {
    bbr = make(false, "linux");
    window = start(bbr, 1);
    // 1000 packets/s are less than two packets per 1/1024 s, so a quantum is two packets, and three of them are six.
    while (bbr.mode() == Bbr::Mode::Startup) ack(1, kRate, 250);
    ack(1, kRate, 107);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::Drain);
    ack(1, kRate, 106);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::ProbeBw);
    while (bbr.pacing_gain() != 1.25) ack(1, kRate, 100);
    // 131 before each of these, and two that leave next: below 134, which is 125 + 6, rounded to 132, and 2.
    for (int i = 0; i < 300; ++i) ack(1, kRate, 130);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 208);  // 2 x 100 + 6, and 2 while probing
    // Two packets arrive before the next two leave, then one.
    next.departs_in = 2'500_us;
    ack(1, kRate, 132);
    EXPECT_EQ(bbr.pacing_gain(), 1.25);
    next.departs_in = 1'500_us;
    ack(1, kRate, 132);
    EXPECT_EQ(bbr.pacing_gain(), 0.75);
    ack(1, kRate, 107);  // 108 before this one, and one that arrives: not drained
    EXPECT_EQ(bbr.pacing_gain(), 0.75);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 206);
    ack(1, kRate, 106);
    EXPECT_EQ(bbr.pacing_gain(), 1.0);
}

TEST_F(BbrTest, TheCycleProbesDrainsAndCruises) {
    reach_probe_bw();
    std::vector<double> gains;
    for (int i = 0; i < 3000; ++i) {
        // In flight: filled by a probe, emptied by a drain.
        ack(1, kRate, bbr.pacing_gain() > 1 ? 126 : 105);
        EXPECT_NEAR(window.pacing_pps, bbr.pacing_gain() * 0.99 * kRate, 1e-6);
        if (gains.empty() || gains.back() != bbr.pacing_gain()) gains.push_back(bbr.pacing_gain());
    }
    // Each phase lasts a round trip, 100 ACKs and one: 3000 hold three cycles of eight.
    const auto probe = std::ranges::find(gains, 1.25);
    ASSERT_LE(probe + 9, gains.end());
    EXPECT_EQ(std::vector(probe, probe + 7), (std::vector{1.25, 0.75, 1.0, 1.25, 0.75, 1.0, 1.25}));
}

TEST_F(BbrTest, AProbeLastsUntilThePipeHoldsAQuarterMoreOrLoses) {
    reach_probe_bw();
    while (bbr.pacing_gain() != 1.25) ack(1, kRate, 100);
    for (int i = 0; i < 500; ++i) ack(1, kRate, 120);  // five round trips below 1.25 x 100
    EXPECT_EQ(bbr.pacing_gain(), 1.25);
    Bbr undisturbed = bbr;
    ack(1, kRate, 124);  // 125 before this one
    EXPECT_EQ(bbr.pacing_gain(), 0.75);
    bbr = undisturbed;
    next.newly_lost_pkts = 1;
    ack(1, kRate, 120);
    EXPECT_EQ(bbr.pacing_gain(), 0.75);
    ack(1, kRate, 99);  // 100 before this one: drained
    EXPECT_EQ(bbr.pacing_gain(), 1.0);
}

TEST_F(BbrTest, TheFirstPhaseIsDrawnAmongAllButTheDrain) {
    // The test counts full-length phases until the next probe: 0 for the probe itself, 6 for the first cruising phase
    // down to 1 for the last; the drain would be 7.
    std::set<int> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        bbr = make();
        window = start(bbr, seed);
        next = {};
        now = Nanos(0);
        reach_probe_bw();
        EXPECT_NE(bbr.pacing_gain(), 0.75);
        int acks = 0;
        for (; bbr.pacing_gain() != 1.25; ++acks) ack(1, kRate, 100);
        seen.insert((acks + 99) / 101);
    }
    EXPECT_EQ(seen, (std::set<int>{0, 1, 2, 3, 4, 5, 6}));
}

TEST_F(BbrTest, ProbeRttEachTenSecondsForFifthOfASecond) {
    reach_probe_bw();
    const Nanos refreshed = 100_ms;  // by the first ACK; equal samples later do not count as new
    while (bbr.mode() == Bbr::Mode::ProbeBw) ack(1, kRate, 100);
    EXPECT_GE(now, refreshed - 100_ms + 10_s);
    EXPECT_LE(now, refreshed + 10_s);
    EXPECT_EQ(window.cwnd_pkts, 4);
    // The clock of 200 ms starts when no more than four are in flight.
    for (int i = 0; i < 96; ++i) ack(1, kRate, 99 - i);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::ProbeRtt);
    const Nanos drained = now;
    while (bbr.mode() == Bbr::Mode::ProbeRtt) ack(4, 40, 4);
    EXPECT_GT(now, drained + 200_ms);
    EXPECT_LE(now, drained + 300_ms);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::ProbeBw);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 203);  // restored
    EXPECT_DOUBLE_EQ(bbr.rate_pps(), kRate);  // the few packets in flight do not change the estimate
}

TEST_F(BbrTest, ALowerRoundTripPutsProbeRttOff) {
    reach_probe_bw();
    while (now < 8_s) ack(1, kRate, 100);
    next.rtt = 90_ms;
    ack(1, kRate, 100);
    next.rtt = 100_ms;
    while (now < 17_s) ack(1, kRate, 100);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::ProbeBw);
    EXPECT_EQ(bbr.min_rtt(), 90_ms);
}

TEST_F(BbrTest, RecoveryConservesPacketsForOneRoundAndGivesTheWindowBack) {
    reach_probe_bw();
    for (int i = 0; i < 300; ++i) ack(1, kRate, 100);
    ASSERT_DOUBLE_EQ(window.cwnd_pkts, 203);
    bbr.on_congestion_event(window, {CongestionKind::FastRetransmit, 97, now}, {});
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 203);  // the window is not halved
    next.in_recovery = true;
    next.newly_lost_pkts = 3;
    ack(1, kRate, 97);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 98);  // in flight and acknowledged: packet conservation
    for (int i = 0; i < 99; ++i) ack(1, kRate, 97);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 98);
    ack(1, kRate, 97);  // delivers a packet that left after recovery began: the round is over, growth resumes
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 99);
    next.in_recovery = false;
    ack(1, kRate, 97);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 203);
}

TEST_F(BbrTest, ATimeoutRegrowsFromFourAndGivesTheWindowBack) {
    reach_probe_bw();
    for (int i = 0; i < 300; ++i) ack(1, kRate, 100);
    bbr.on_congestion_event(window, {CongestionKind::Timeout, 100, now}, {});
    window.cwnd_pkts = 1;  // the sender's part
    next.in_loss = true;
    ack(1, kRate, 0);
    EXPECT_EQ(window.cwnd_pkts, 4);
    ack(1, kRate, 3);
    EXPECT_EQ(window.cwnd_pkts, 5);
    next.in_loss = false;
    ack(1, kRate, 3);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 203);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::ProbeBw);
}

TEST_F(BbrTest, LowSamplesAgeTheEstimateOnlyIfTheWindowWasUsed) {
    reach_probe_bw();
    next.is_app_limited = true;
    for (int i = 0; i < 3000; ++i) ack(1, kRate / 2, 20);
    EXPECT_DOUBLE_EQ(bbr.rate_pps(), kRate);
    ack(1, kRate * 1.5, 20);
    EXPECT_DOUBLE_EQ(bbr.rate_pps(), kRate * 1.5);  // a lower bound may increase it
    next.is_app_limited = false;
    for (int i = 0; i < 11 * 50 + 2; ++i) ack(1, kRate / 2, 20);  // ten rounds of 50
    EXPECT_DOUBLE_EQ(bbr.rate_pps(), kRate / 2);
}

TEST_F(BbrTest, AfterIdlenessItGoesOnAtTheBottlenecksRate) {
    reach_probe_bw();
    while (bbr.pacing_gain() != 1.25) ack(1, kRate, 100);
    now += 20_s;
    bbr.on_idle_restart(window, now, nullptr);
    EXPECT_NEAR(window.pacing_pps, 0.99 * kRate, 1e-6);
    // The RTT is older than ten seconds, but idleness has drained the queue: no need for a probe.
    ack(1, kRate, 100);
    EXPECT_EQ(bbr.mode(), Bbr::Mode::ProbeBw);
}

TEST_F(BbrTest, AggregatedAcksEarnAWindowForTheirExcess) {
    bbr = make(true);
    window = start(bbr, 1);
    reach_probe_bw();
    // 40 packets at once every 40 ms, at the rate: when a burst arrives 40 are acknowledged where 0 are expected.
    for (int i = 0; i < 100; ++i) ack(40, kRate, 100);
    EXPECT_NEAR(window.cwnd_pkts, 203 + 40, 1);
}

// The estimate of a sender after ten packets, sent and acknowledged at 1000 packets/s, and 30 round trips of a single
// packet.
double rate_after_trickle(bool is_told) {
    const TransportOptions options;
    SubflowSender sender(make_controller({"bbr", {}}), options);
    for (int i = 0; i < 10; ++i) sender.send_new(sender.snd_nxt(), Nanos(i * 1'000'000), options);
    for (int i = 0; i < 10; ++i) {
        const Nanos sent(i * 1'000'000);
        sender.on_ack(sender.snd_una() + 1, {}, sent, sent + 100_ms, {}, options);
    }
    for (Nanos now = 200_ms; now < 3200_ms; now += 100_ms) {
        if (is_told) sender.note_out_of_data();
        sender.send_new(sender.snd_nxt(), now, options);
        sender.on_ack(sender.snd_nxt(), {}, now, now + 100_ms, {}, options);
    }
    return std::get<Bbr>(sender.controller()).rate_pps();
}

TEST(BbrSender, AnApplicationThatTricklesDoesNotLowerTheEstimate) {
    // The last of the ten left 9 ms after the first and was acknowledged at 109 ms: 10 packets in 109 ms. The single
    // packets give one packet in 100 ms, which counts only without the mark of an application limit.
    EXPECT_DOUBLE_EQ(rate_after_trickle(true), 10 / 0.109);
    EXPECT_DOUBLE_EQ(rate_after_trickle(false), 1 / 0.1);
}

}  // namespace
}  // namespace subflow

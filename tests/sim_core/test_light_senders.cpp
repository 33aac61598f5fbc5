// BBR version 3, Copa, coupled CUBIC, DCTCP and Prague with delayed ACKs, with little data, and after pauses.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "cc/controllers.h"
#include "scenarios.h"
#include "sender.h"

namespace subflow {
namespace {

using namespace literals;
using namespace testing;

constexpr std::array kLightControllers{"bbr3", "copa", "coupled-cubic", "dctcp", "prague"};

template <class C>
C built(std::vector<OptionValue> options = {}) {
    return C(Options(C::kInfo, options));
}

// --- All controllers -------------------------------------------------------------------------------------------------

// RFC 7661 section 3: an unused window contains no information on the path, and does not grow.
TEST(LightSender, AWindowThatIsNotUsedDoesNotGrow) {
    for (const char* name : kLightControllers) {
        TransportOptions options;
        options.initial_window_pkts = 40;
        SubflowSender sender(make_controller({name, {}}), options);
        Nanos now{};
        // Two packets per round trip. BBR may grow until the initial window has been delivered (section 5.6.4.6).
        double after_start = 0;
        for (int round = 0; round < 70; ++round) {
            if (round == 20) after_start = sender.window().cwnd_pkts;
            sender.send_new(sender.snd_nxt(), now, options);
            sender.send_new(sender.snd_nxt(), now, options);
            sender.note_out_of_data();
            now += 100_ms;
            sender.on_ack(sender.snd_nxt(), {}, now - 100_ms, now, {}, options);
        }
        EXPECT_LE(after_start, 80) << name;
        EXPECT_LE(sender.window().cwnd_pkts, after_start) << name;
        EXPECT_GE(sender.window().cwnd_pkts, 4) << name;
    }
}

// The goodput of a flow is the same with an ACK per packet and per two packets.
TEST(LightSender, DelayedAcksCostNothing) {
    for (const char* name : kLightControllers) {
        std::array<double, 2> goodput_bps{};
        for (const bool is_delayed : {false, true}) {
            Scenario scenario = linux_profile(20_s, 5_s);
            if (!is_delayed) scenario.transport.delayed_ack = DelayedAck::Off;
            add_tcp(scenario, add_path(scenario)).controller.name = name;
            const Network network = finished(scenario);
            goodput_bps[is_delayed] = network.subflow_result(0).goodput_bps;
        }
        // 1448 of 1500 bytes are payload
        EXPECT_GT(goodput_bps[0], 0.9 * 10e6 * 1448 / 1500) << name;
        EXPECT_NEAR(goodput_bps[1] / goodput_bps[0], 1, 0.02) << name;
    }
}

// --- BBR version 3 ---------------------------------------------------------------------------------------------------

// A path of 100 ms with a given delivery rate, one or two packets per ACK.
class Bbr3Path {
public:
    Bbr3Path() { bbr.on_start(window, 1); }

    void deliver(Nanos duration, double rate_pps, bool is_limited, double per_ack = 1) {
        const Nanos step = from_seconds(per_ack / rate_pps);
        const double in_flight = rate_pps * 0.1;
        for (const Nanos end = now + duration; now < end;) {
            now += step;
            delivered += static_cast<std::uint64_t>(per_ack);
            const auto back = static_cast<std::uint64_t>(in_flight);
            const std::uint64_t before = delivered > back ? delivered - back : 0;
            const auto count = static_cast<double>(delivered - before);
            bbr.on_delivery(window,
                            {.now = now,
                             .rtt = 100_ms,
                             .srtt = 100_ms,
                             .newly_delivered_pkts = per_ack,
                             .inflight_pkts = in_flight - per_ack,
                             .prior_inflight_pkts = in_flight,
                             .delivered_pkts = delivered,
                             .prior_delivered_pkts = before,
                             .interval = from_seconds(count / rate_pps),
                             .inflight_at_send_pkts = in_flight,
                             .is_app_limited = is_limited,
                             .is_cwnd_limited = !is_limited},
                            {});
        }
    }

    Bbr3 bbr = built<Bbr3>();
    Window window{10};
    Nanos now{};
    std::uint64_t delivered = 0;
};

// draft-ietf-ccwg-bbr-06 section 5.5.5: a sample of an application-limited sender counts only if it is larger;
// meanwhile the estimate does not age.
TEST(Bbr3Light, KeepsItsRateWhileThereIsLittleToSend) {
    Bbr3Path path;
    path.deliver(3_s, 1000, false);
    ASSERT_NEAR(path.bbr.rate_pps(), 1000, 1);
    path.deliver(30_s, 100, true);
    EXPECT_NEAR(path.bbr.rate_pps(), 1000, 1);
    // The same low rate of a sender with enough data is that of the path: the old estimate expires after two cycles of
    // at most about 3 s each.
    path.deliver(30_s, 100, false);
    EXPECT_NEAR(path.bbr.rate_pps(), 100, 1);
    // A larger sample always counts.
    path.deliver(1_s, 300, true);
    EXPECT_NEAR(path.bbr.rate_pps(), 300, 1);
}

TEST(Bbr3Light, MeasuresTheSameRateByHalfAsManyAcks) {
    Bbr3Path each;
    Bbr3Path second;
    each.deliver(5_s, 1000, false);
    second.deliver(5_s, 1000, false, 2);
    EXPECT_NEAR(second.bbr.rate_pps() / each.bbr.rate_pps(), 1, 1e-6);
    EXPECT_EQ(second.bbr.min_rtt(), each.bbr.min_rtt());
}

// Section 5.4.1: after a pause of any length it continues at its rate, without a gain and without a probe of the round
// trip.
TEST(Bbr3Light, ComesBackFromAPauseAtItsRate) {
    Bbr3Path path;
    path.deliver(4_s, 1000, false);
    ASSERT_GE(path.bbr.state(), Bbr3::State::Down);
    const double bw = path.bbr.bw_pps();
    path.now += 60_s;  // both windows of min_rtt have expired
    path.bbr.on_idle_restart(path.window, path.now, nullptr);
    EXPECT_DOUBLE_EQ(path.window.pacing_pps, Bbr3::kPacingMargin * bw);
    path.deliver(2_ms, 1000, true);
    EXPECT_NE(path.bbr.state(), Bbr3::State::ProbeRtt);
    EXPECT_DOUBLE_EQ(path.bbr.bw_pps(), bw);
    // A sender without a pause probes when its sample of five seconds expires.
    Bbr3Path busy;
    busy.deliver(4_s, 1000, false);
    busy.now += 60_s;
    busy.deliver(2_ms, 1000, true);
    EXPECT_EQ(busy.bbr.state(), Bbr3::State::ProbeRtt);
}

// --- Copa ------------------------------------------------------------------------------------------------------------

class CopaPath {
public:
    // Round trips of the whole window, or of a part of it, with this RTT.
    void rounds(int count, Nanos rtt, bool is_limited = true, double per_ack = 1) {
        for (int i = 0; i < count; ++i) {
            const std::uint64_t round_begins = delivered;
            const auto acks = static_cast<int>(window.cwnd_pkts / per_ack);
            for (int k = 0; k < acks; ++k) {
                now += Nanos(rtt.value / acks);
                delivered += static_cast<std::uint64_t>(per_ack);
                copa.on_delivery(window,
                                 {.now = now,
                                  .rtt = rtt,
                                  .srtt = rtt,
                                  .newly_delivered_pkts = per_ack,
                                  .delivered_pkts = delivered,
                                  .prior_delivered_pkts = round_begins,
                                  .is_cwnd_limited = is_limited},
                                 {});
            }
        }
    }
    // A queue of half the RTT ends slow start.
    void leave_slow_start() {
        rounds(1, 100_ms);
        rounds(1, 150_ms);
        ASSERT_FALSE(copa.is_slow_start());
    }

    Copa copa = built<Copa>();
    Window window{40};
    Nanos now{};
    std::uint64_t delivered = 0;
};

// Section 2.1 of the paper: the velocity doubles while the window moves in one direction. A window that does not move,
// for lack of data, has no direction; with the velocity of ten round trips the next ACKs would empty it.
TEST(CopaLight, GainsNoVelocityWhileThereIsLittleToSend) {
    CopaPath path;
    path.leave_slow_start();
    path.rounds(3, 100_ms, false);
    const double before = path.window.cwnd_pkts;
    path.rounds(12, 100_ms, false);
    EXPECT_EQ(path.window.cwnd_pkts, before);
    EXPECT_EQ(path.copa.velocity(), 1);
    // Two round trips with a rate above the target remove at most 1 / delta packets each, not the window.
    path.rounds(2, 130_ms, true);
    EXPECT_LT(path.window.cwnd_pkts, before);
    EXPECT_GT(path.window.cwnd_pkts, before - 2.5 / path.copa.delta());
}

TEST(CopaLight, GrowsTheSameByHalfAsManyAcks) {
    std::array<double, 2> windows{};
    for (const double per_ack : {1.0, 2.0}) {
        CopaPath path;
        path.leave_slow_start();
        path.rounds(8, 100_ms, true, per_ack);
        windows[static_cast<std::size_t>(per_ack) - 1] = path.window.cwnd_pkts;
    }
    EXPECT_NEAR(windows[1] / windows[0], 1, 0.03);
    EXPECT_GT(windows[0], 50);
}

// After a pause longer than the ten seconds of min_rtt only the first sample is known: no queue is detected, and the
// rate follows from window and RTT.
TEST(CopaLight, ComesBackFromAPauseByWhatItSeesThen) {
    CopaPath path;
    path.leave_slow_start();
    path.rounds(3, 100_ms);
    path.now += 20_s;
    const double before = path.window.cwnd_pkts;
    path.rounds(1, 120_ms);
    EXPECT_DOUBLE_EQ(path.copa.min_rtt_s(), 0.120);
    EXPECT_FALSE(path.copa.is_competitive());
    EXPECT_GE(path.window.cwnd_pkts, before);
    EXPECT_DOUBLE_EQ(path.window.pacing_pps, 2 * path.window.cwnd_pkts / 0.120);
}

// --- Coupled CUBIC ---------------------------------------------------------------------------------------------------

class CubicPath {
public:
    CubicPath() {
        cubic.on_congestion_event(window, {CongestionKind::FastRetransmit, 100, {}}, {});
        window.cwnd_pkts = window.ssthresh_pkts;
    }
    void rounds(int count, double per_ack = 1, bool is_limited = true) {
        for (int i = 0; i < count; ++i) {
            const auto acks = static_cast<int>(window.cwnd_pkts / per_ack);
            for (int k = 0; k < acks; ++k) {
                now += Nanos((100_ms).value / acks);
                const AckSample ack{.acked_pkts = per_ack,
                                    .rtt = 100_ms,
                                    .srtt = 100_ms,
                                    .min_rtt = 100_ms,
                                    .now = now,
                                    .inflight_pkts = is_limited ? window.cwnd_pkts - per_ack : 1,
                                    .begins_round = k == 0,
                                    .is_cwnd_limited = is_limited};
                cubic.on_every_ack(window, ack, {});
                if (is_limited) cubic.on_ack(window, ack, {});
            }
        }
    }

    CoupledCubic cubic = built<CoupledCubic>();
    Window window{100, 50};
    Nanos now = 1_s;
};

// RFC 9438 section 5.8: time in which the window was not the limit does not count, otherwise the window would jump.
TEST(CoupledCubicLight, TheCurveWaitsWhileThereIsLittleToSend) {
    CubicPath busy;
    CubicPath light;
    busy.rounds(10);
    light.rounds(10);
    light.rounds(100, 1, false);
    EXPECT_EQ(light.window.cwnd_pkts, busy.window.cwnd_pkts);
    busy.rounds(10);
    light.rounds(10);
    EXPECT_NEAR(light.window.cwnd_pkts, busy.window.cwnd_pkts, 0.01);
    // W_cubic(2 s) = 95.6; with the ten seconds it would be far beyond the window of the loss.
    EXPECT_NEAR(light.window.cwnd_pkts, 95.6, 0.5);
}

TEST(CoupledCubicLight, FollowsTheCurveByHalfAsManyAcks) {
    CubicPath each;
    CubicPath second;
    each.rounds(30);
    second.rounds(30, 2);
    EXPECT_NEAR(second.window.cwnd_pkts / each.window.cwnd_pkts, 1, 0.01);
    // W_cubic is back at 100 after K = 4.2 s, and 3 s have passed.
    EXPECT_GT(each.window.cwnd_pkts, 95);
    EXPECT_LT(each.window.cwnd_pkts, 101);
}

// --- DCTCP and Prague ------------------------------------------------------------------------------------------------

// RFC 8257 section 3.2: although an ACK carries one bit for two packets, the sender counts every mark.
TEST(DctcpLight, LearnsOfEveryMarkByDelayedAcks) {
    for (const double max_p : {0.3, 1.0}) {
        Scenario scenario = linux_profile(20_s);
        const PathSpec path = add_path(scenario);
        scenario.links[path.forward.front()].discipline =
            RedOptions{.min_pkts = 5, .max_pkts = 40, .max_p = max_p, .weight = 1, .spreads = false, .marks = true};
        FlowSpec& flow = add_tcp(scenario, path);
        flow.controller.name = "dctcp";
        const Network network = finished(scenario);
        const Subflow& s = network.subflows()[0];
        ASSERT_EQ(s.ecn, EcnMode::Dctcp);
        ASSERT_GT(s.marked_pkts, 100);
        ASSERT_LT(s.marked_pkts, s.arrived_pkts / 2);
        // Marks of the last round trip, about 90 packets, are not known yet.
        EXPECT_LE(s.sender.stats().marked, s.marked_pkts);
        EXPECT_GE(s.sender.stats().marked, s.marked_pkts - 90);
        EXPECT_EQ(network.subflow_result(0).packets.dropped, 0);
    }
}

// A window of ten packets with marks on the first three, acknowledged one by one or as by a receiver of RFC 8257: each
// change of the mark acknowledges the previous packets.
TEST(DctcpLight, TheShareIsThatOfItsClosedFormWhateverTheAcksAre) {
    const std::vector<std::array<double, 2>> each{{1, 1}, {1, 1}, {1, 1}, {1, 0}, {1, 0},
                                                  {1, 0}, {1, 0}, {1, 0}, {1, 0}, {1, 0}};
    const std::vector<std::array<double, 2>> delayed{{2, 2}, {1, 1}, {2, 0}, {2, 0}, {2, 0}, {1, 0}};
    for (const auto& acks : {each, delayed}) {
        Dctcp dctcp = built<Dctcp>();
        Window window{10, 10};
        std::uint32_t una = 0;
        double expected = 1;
        for (int round = 0; round < 40; ++round) {
            for (const auto& [acked, marked] : acks) {
                una += static_cast<std::uint32_t>(acked);
                dctcp.on_every_ack(
                    window, {.acked_pkts = acked, .snd_una = una, .snd_nxt = una + 10, .marked_pkts = marked}, {});
            }
            // alpha = (1 - g) alpha + g F, g = 1/16; the very first ACK ends the window before a packet was sent
            if (round > 0) expected += (0.3 - expected) / 16;
        }
        EXPECT_NEAR(dctcp.marked_share(), expected, 0.01);
    }
}

// The share of marks does not age while nothing is sent: a pause is not a round trip without marks.
TEST(DctcpLight, APauseLeavesTheShareOfMarks) {
    Dctcp dctcp = built<Dctcp>();
    Prague prague = built<Prague>();
    Window window{10, 10};
    std::uint32_t una = 0;
    Nanos now{};
    const auto round = [&](double marked) {
        una += 10;
        now += 100_ms;
        const AckSample ack{
            .acked_pkts = 10, .srtt = 100_ms, .now = now, .snd_una = una, .snd_nxt = una + 10, .marked_pkts = marked};
        dctcp.on_every_ack(window, ack, {});
        prague.on_every_ack(window, ack, {});
    };
    for (int i = 0; i < 100; ++i) round(5);
    ASSERT_NEAR(dctcp.marked_share(), 0.5, 0.01);
    const double before = dctcp.marked_share();
    now += 60_s;
    round(0);
    EXPECT_DOUBLE_EQ(dctcp.marked_share(), before * 15 / 16);
    EXPECT_DOUBLE_EQ(prague.marked_share(), dctcp.marked_share());
}

// draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.3: a short path averages once per virtual round trip of
// 25 ms and grows by (srtt / 25 ms)^2 per round trip, for any number of ACKs.
TEST(PragueLight, AShortPathGoesByItsVirtualRoundTripByHowEverManyAcks) {
    for (const double per_ack : {1.0, 2.0}) {
        Prague prague = built<Prague>();
        Window window{100, 50};
        std::uint32_t una = 0;
        Nanos now{};
        for (int round = 0; round < 50; ++round) {  // of 5 ms: a quarter of a second
            for (int k = 0; k < 100 / static_cast<int>(per_ack); ++k) {
                una += static_cast<std::uint32_t>(per_ack);
                now += Nanos(static_cast<std::int64_t>(50'000 * per_ack));
                const AckSample ack{
                    .acked_pkts = per_ack, .srtt = 5_ms, .now = now, .snd_una = una, .snd_nxt = una + 100};
                prague.on_every_ack(window, ack, {});
                prague.on_ack(window, ack, {});
            }
        }
        // Ten periods, or nine if an ACK arrives a little late: the share without marks is (15/16)^10.
        EXPECT_NEAR(prague.marked_share(), std::pow(15.0 / 16, 9.5), 0.04) << per_ack;
        // 50 (5 / 25)^2 = 2
        EXPECT_NEAR(window.cwnd_pkts, 102, 0.1) << per_ack;
    }
}

}  // namespace
}  // namespace subflow

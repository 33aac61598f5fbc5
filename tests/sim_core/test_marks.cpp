// Explicit congestion notification: marks of queues, reports of receivers, responses of senders.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "cc/controllers.h"
#include "ecn.h"
#include "link_driver.h"
#include "network.h"
#include "queue_disc/dual_pi2.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

Packet capable_packet(std::uint32_t seq) {
    Packet p = packet(seq);
    p.set_ecn(Ecn::Ect0);
    return p;
}

TEST(PacketOfEcn, KeepsItsNumberBesideWhatItSays) {
    Packet data;
    data.transmission = Packet::kNumberMask;
    EXPECT_FALSE(data.mark());  // the flow does not support marks
    data.set_ecn(Ecn::Ect1);
    data.set_ecn_flags(1);
    EXPECT_EQ(data.ecn(), Ecn::Ect1);
    EXPECT_TRUE(data.mark());
    EXPECT_EQ(data.ecn(), Ecn::Marked);
    EXPECT_EQ(data.ecn_flags(), 1);
    EXPECT_EQ(data.number(), Packet::kNumberMask);

    Packet ack;
    ack.set_tag(PacketKind::Ack, 3);
    ack.transmission = 7;
    ack.set_ecn_flags(7);
    EXPECT_EQ(ack.ecn_flags(), 7);
    EXPECT_EQ(ack.ecn(), Ecn::NotCapable);  // its bits are not the ECN field of IP
    EXPECT_FALSE(ack.mark());
    EXPECT_EQ(ack.number(), 7);
}

// Of two links in the same state, one is offered an ECN-capable packet and the other an incapable one.
TEST(Marking, RedMarksWhereItWouldDrop) {
    for (const double weight : {1.0, 0.01}) {
        LinkSpec spec = link_spec();
        spec.queue_limit_pkts = 60;
        spec.discipline = RedOptions{
            .min_pkts = 5, .max_pkts = 15, .max_p = 0.1, .weight = weight, .spreads = weight < 1, .marks = true};
        Link link(spec, 1);
        PoissonTimes times(900_us, 5);  // 1000 bytes take 1 ms: the queue grows
        int marked = 0;
        int overflowed = 0;
        for (std::uint32_t i = 0; i < 5000; ++i) {
            const Nanos at = times.next();
            Link twin = link;
            const Verdict without = twin.offer(packet(i), at, mix64(i));
            const Verdict with = link.offer(capable_packet(i), at, mix64(i));
            const bool finds_room = link.stats().drops_queue == overflowed;
            ASSERT_EQ(with == Verdict::Accepted, without == Verdict::Accepted);
            if (with == Verdict::Accepted) continue;
            // RED is asked first: without marks, it may drop a packet that finds no room anyway.
            ASSERT_TRUE(without == Verdict::DroppedEarly || (!finds_room && without == Verdict::DroppedQueue));
            ASSERT_EQ(with, finds_room ? Verdict::Marked : Verdict::DroppedQueue);
            ++(finds_room ? marked : overflowed);
        }
        EXPECT_GT(marked, 100);
        EXPECT_GT(overflowed, 10);  // packets that find no room are dropped
        EXPECT_EQ(link.stats().marks, marked);
    }
}

std::vector<Nanos> event_times(bool marks, bool is_capable, Nanos ce_threshold = kNever) {
    LinkSpec spec = link_spec();
    const CodelOptions codel{.target = 5_ms, .interval = 100_ms, .marks = marks, .ce_threshold = ce_threshold};
    spec.discipline = codel;
    LinkDriver driver(spec);
    std::vector<Nanos> times;
    std::int64_t before = 0;
    // Twice as many as can leave: the queue persists under any control law.
    for (std::uint32_t i = 0; i < 1600; ++i) {
        driver.offer(is_capable ? capable_packet(i) : packet(i), 500_us * i);
        const LinkStats& stats = driver.link().stats();
        for (; before < stats.marks + stats.drops_queue; ++before) times.push_back(500_us * i);
    }
    EXPECT_EQ(driver.link().stats().marks != 0, is_capable && (marks || ce_threshold < kNever));
    EXPECT_EQ(driver.link().stats().marks + driver.link().stats().drops_queue, before);
    return times;
}

// RFC 8289 section 5.5: the law is the same. A drop hardly shortens a persistent queue: after a few drops, marks and
// drops agree to a packet's transmission time.
TEST(Marking, CodelMarksWhenItWouldDrop) {
    const std::vector<Nanos> dropped = event_times(false, true);
    const std::vector<Nanos> marked = event_times(true, true);
    ASSERT_GE(dropped.size(), 8u);
    ASSERT_GE(marked.size(), 8u);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(to_seconds(marked[i]), to_seconds(dropped[i]), 0.002) << i;
    EXPECT_EQ(event_times(true, false), dropped);  // incapable packets are dropped as before
}

TEST(Marking, WhatHasWaitedTooLongIsMarkedOnce) {
    LinkSpec spec = link_spec();
    spec.discipline = CodelOptions{.target = 1_s, .interval = 1_s, .ce_threshold = 3_ms};
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 8; ++i) driver.offer(capable_packet(i), Nanos(0));
    driver.run_until(1_s);
    ASSERT_EQ(driver.arrived.size(), 8u);
    // Packet i begins to be sent after i ms.
    for (const Delivery& d : driver.arrived) EXPECT_EQ(d.packet.ecn() == Ecn::Marked, d.packet.seq > 3) << d.packet.seq;
    EXPECT_EQ(driver.link().stats().marks, 4);
}

// --- DualPI2 ---------------------------------------------------------------------------------------------------------

struct Through {
    std::int64_t classic_sent = 0, classic_marked = 0, scalable_sent = 0, scalable_marked = 0, dropped = 0;
};

// Offers a number of packets of each kind per millisecond, in which eight can leave; counts in the second half.
Through offered_to(DualPi2Queue& queue, int classic, int scalable, Ecn kind, Nanos duration) {
    Through out;
    std::int64_t marks = 0;
    std::uint32_t seq = 0;
    for (Nanos now = Nanos(0); now < duration; now += 1_ms) {
        const auto offer = [&](int count, Ecn ecn) {
            for (int i = 0; i < count; ++i) {
                Packet p = packet(seq++, 1000, ecn == Ecn::Ect1 ? 1 : 0);
                p.set_ecn(ecn);
                queue.enqueue({p, now});
            }
        };
        offer(classic, kind);
        offer(scalable, Ecn::Ect1);
        const bool counts = now > duration / 2;
        for (int i = 0; i < 8; ++i) {
            const auto next = queue.dequeue(now, [&](const Waiting&) { out.dropped += counts; }, marks);
            if (!next || !counts) continue;
            const bool is_marked = next->packet.ecn() == Ecn::Marked;
            (next->packet.subflow == 1 ? out.scalable_sent : out.classic_sent) += 1;
            (next->packet.subflow == 1 ? out.scalable_marked : out.classic_marked) += is_marked;
        }
    }
    return out;
}

// RFC 9332 section 2.1: p_C = (p_CL / k)^2, for any p.
TEST(DualPi2, CouplesTheSquareRootOfTheClassicProbability) {
    for (const double coupling : {1.0, 2.0, 4.0}) {
        DualPi2Queue queue(DualPi2Options{.alpha_hz = 0.01, .beta_hz = 0, .coupling = coupling, .step = 1_s});
        // Slightly more classic packets than can leave: the probability rises slowly, and is the same for both.
        const Through seen = offered_to(queue, 8, 1, Ecn::Ect0, 2_s);
        const double p = queue.base_probability();
        ASSERT_GT(p, 0.01);
        EXPECT_DOUBLE_EQ(queue.classic_probability(), std::min(p * p, 1 / (coupling * coupling)));
        EXPECT_DOUBLE_EQ(queue.coupled_probability(), std::min(coupling * p, 1.0));
        EXPECT_GT(seen.scalable_marked, seen.classic_marked);
    }
}

// Below the step only the coupling marks, above it the queue marks every packet; a single packet is never late.
TEST(DualPi2, MarksTheLowLatencyQueueFromTheStepOn) {
    LinkSpec spec = link_spec();
    spec.discipline = DualPi2Options{.step = 3_ms};
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 8; ++i) {
        Packet p = packet(i);
        p.set_ecn(Ecn::Ect1);
        driver.offer(p, Nanos(0));
    }
    driver.run_until(1_s);
    ASSERT_EQ(driver.arrived.size(), 8u);
    for (const Delivery& d : driver.arrived)
        EXPECT_EQ(d.packet.ecn() == Ecn::Marked, d.packet.seq > 3 && d.packet.seq < 7) << d.packet.seq;
}

// RFC 9332 appendix A.1: no marks up to minTh, all packets from maxTh on, and a straight line between them.
TEST(DualPi2, MarksAlongTheRampOfTheRfc) {
    const DualPi2Options ramp{.alpha_hz = 0, .beta_hz = 0, .step = 800_us, .ramp = 400_us};
    DualPi2Queue queue(ramp);
    for (const auto& [waited, likelihood] : {std::pair{0_us, 0.0}, std::pair{800_us, 0.0}, std::pair{900_us, 0.25},
                                             std::pair{1000_us, 0.5}, std::pair{1200_us, 1.0}, std::pair{5_ms, 1.0}})
        EXPECT_DOUBLE_EQ(queue.native_probability(waited), likelihood) << waited.value;
    // Of 400 packets that leave after 900 us each, a fourth is marked; the last packet is alone, and so never late.
    std::int64_t marks = 0;
    for (std::uint32_t i = 0; i < 401; ++i) {
        Packet p = packet(i, 1000);
        p.set_ecn(Ecn::Ect1);
        queue.enqueue({p, Nanos(0)});
    }
    while (queue.pkts() != 0) queue.dequeue(900_us, [](const Waiting&) { FAIL(); }, marks);
    EXPECT_EQ(marks, 100);
}

TEST(DualPi2, GivesATenthToClassicPacketsWhateverOthersSend) {
    DualPi2Queue queue(DualPi2Options{.alpha_hz = 0, .beta_hz = 0});
    const Through seen = offered_to(queue, 8, 8, Ecn::Ect0, 400_ms);
    EXPECT_NEAR(static_cast<double>(seen.classic_sent) / static_cast<double>(seen.classic_sent + seen.scalable_sent),
                0.1, 0.01);
}

// Senders without a response: the L queue marks as often as possible, and both drop packets that do not fit (appendix
// A.2).
TEST(DualPi2, DropsWhenMarksDoNotHelp) {
    DualPi2Queue queue{DualPi2Options{}};
    const Through seen = offered_to(queue, 0, 12, Ecn::Ect0, 4_s);
    EXPECT_EQ(queue.coupled_probability(), 1);
    EXPECT_EQ(queue.classic_probability(), 0.25);
    EXPECT_EQ(seen.scalable_marked, seen.scalable_sent);
    EXPECT_GT(seen.dropped, 0);
}

// --- responses -------------------------------------------------------------------------------------------------------

CongestionEvent event_of(CongestionKind kind) {
    return {.kind = kind, .inflight_pkts = 100, .now = 1_s, .srtt = 20_ms, .is_exact = true};
}

// The threshold after an event at a window of a hundred packets.
template <class C>
double left_of_a_hundred(C controller, CongestionKind kind) {
    Window window{100, 80};
    controller.on_congestion_event(window, event_of(kind), {});
    return window.ssthresh_pkts;
}

// RFC 8511 section 3: a mark leaves 0.8 of NewReno's window and 0.85 of CUBIC's, a loss leaves the usual share.
TEST(Abe, LeavesMoreAtAMarkThanAtALoss) {
    const auto check = []<class C>(double at_loss, double at_mark, std::span<const OptionValue> options) {
        std::vector<OptionValue> with(options.begin(), options.end());
        with.push_back({std::string(C::kInfo.name == "cubic" ? "abe_cubic" : "abe"), true});
        EXPECT_DOUBLE_EQ(left_of_a_hundred(C(Options(C::kInfo, options)), CongestionKind::Mark), at_loss);
        EXPECT_DOUBLE_EQ(left_of_a_hundred(C(Options(C::kInfo, with)), CongestionKind::Mark), at_mark);
        EXPECT_DOUBLE_EQ(left_of_a_hundred(C(Options(C::kInfo, with)), CongestionKind::FastRetransmit), at_loss);
    };
    check.operator()<NewReno>(50, 80, {});
    check.operator()<Ewtcp>(50, 80, {});
    check.operator()<CoupledCubic>(70, 85, {});
    check.operator()<Cubic>(70, 85, std::array{OptionValue{"arithmetic", std::string("rfc9438")}});
    check.operator()<Cubic>(70, 85, std::array{OptionValue{"arithmetic", std::string("linux")}});
}

// On average it is lg(x): the half added to x times a remainder of 1 to 2 adds at most 0.5 lg(e) / x, and a remainder
// is left at the end.
TEST(ClassicQueue, CarriesTheRestsOfItsLogarithms) {
    for (const double x : {1.5, 3.0, 100.0, 750.0, 2000.0, 123'456.0}) {
        CarriedLog2 log;
        double sum = 0;
        for (int i = 0; i < 10'000; ++i) sum += log.take(x);
        EXPECT_NEAR(sum / 10'000, std::log2(x), 0.73 / x + 1e-4) << x;
    }
}

// V lg(v / V0) + D lg(max(d / D0, 1)) per round trip, with V = D = 1/2, V0 = 750 us and D0 = 2 ms.
TEST(ClassicQueue, ScoresVariationAndDepth) {
    struct Case {
        double deviation_us, depth_us, per_round;
    };
    for (const Case& c : {Case{1500, 1000, 0.5}, Case{3000, 0, 1}, Case{750, 8000, 1}, Case{3000, 8000, 2}}) {
        ClassicQueueDetector detector;
        const int rounds = 8;  // below the bound
        for (int i = 0; i < rounds; ++i) detector.judge(c.deviation_us, c.depth_us);
        EXPECT_NEAR(detector.score(), std::min(rounds * c.per_round, 17.0), 0.6) << c.deviation_us;
    }
    // The steady RTT of an L4S queue, and back: at most seventeen, so that the verdict on a classic queue can change.
    ClassicQueueDetector detector;
    for (int i = 0; i < 1000; ++i) detector.judge(200, 900);
    EXPECT_EQ(detector.score(), 0);
    for (int i = 0; i < 1000; ++i) detector.judge(5000, 15'000);
    EXPECT_EQ(detector.score(), 17);
    EXPECT_EQ(detector.likelihood(), 1);
}

// --- the ACE field ---------------------------------------------------------------------------------------------------

TEST(Ace, IsReadAsTheRfcSays) {
    struct Case {
        std::uint32_t ahead, delivered;
        std::int64_t bytes;
        std::uint32_t told;
    };
    constexpr std::uint32_t kPayload = 1000;
    // Up to seven packets the field is exact. Beyond that the safest count that agrees with it is used, RFC 9768
    // section 3.2.2.5.2: "5 ahead, 14 acknowledged" may be 5 or 13. The option decides.
    for (const Case& c :
         {Case{0, 1, -1, 0}, Case{3, 7, -1, 3}, Case{7, 7, -1, 7}, Case{0, 8, -1, 8}, Case{5, 14, -1, 13},
          Case{5, 12, -1, 5}, Case{1, 20, -1, 17}, Case{0, 8, 0, 0}, Case{0, 8, 8'000, 8}, Case{5, 14, 5'000, 5},
          Case{5, 14, 4'200, 5}, Case{5, 14, 13'000, 13}, Case{5, 14, 12'100, 13}, Case{2, 40, 17'500, 18}})
        EXPECT_EQ(marks_told(c.ahead, c.delivered, c.bytes, kPayload), c.told)
            << c.ahead << " of " << c.delivered << " with " << c.bytes;
}

// --- whole networks --------------------------------------------------------------------------------------------------

// A link of 10 Mbit/s and an RTT of 100 ms whose queue marks every packet that finds `step` others.
Scenario marked_network(EcnMode ecn, bool is_textbook, double step = 20, const std::string& controller = "newreno") {
    Scenario scenario = is_textbook ? textbook(20_s) : linux_profile(20_s);
    scenario.transport.ecn = ecn;
    scenario.transport.handshake = false;  // its packets are not ECN-capable, and would be dropped
    const PathSpec path = add_path(scenario, {.queue_pkts = 1000});
    scenario.links[path.forward.front()].discipline =
        RedOptions{.min_pkts = step, .max_pkts = step, .gentle = false, .marks = true};
    FlowSpec& flow = add_tcp(scenario, path);
    flow.controller.name = controller;
    return scenario;
}

TEST(Ecn, AWindowIsReducedOnceARoundTripHoweverManyMarksThereAre) {
    for (const EcnMode mode : {EcnMode::Classic, EcnMode::Accurate}) {
        for (const bool is_textbook : {true, false}) {
            // Every packet is marked: the window stays at its floor of two, and halves once per round trip of 0.1 s.
            const Network network = finished(marked_network(mode, is_textbook, 0));
            const SubflowResult result = network.subflow_result(0);
            EXPECT_EQ(result.marked_pkts, network.packets_delivered());
            EXPECT_EQ(result.packets.dropped, 0);
            EXPECT_EQ(result.retransmits, 0);
            EXPECT_LE(result.mark_reductions, 20 / 0.1);
            // With a report that persists until the response, or marks on every packet, no reduction is missing for
            // long.
            EXPECT_GE(result.mark_reductions, 20 / 0.1 / 3);
        }
    }
}

TEST(Ecn, ReplacesLossesByMarksAtTheSameThroughput) {
    for (const EcnMode mode : {EcnMode::Classic, EcnMode::Accurate}) {
        for (const bool is_textbook : {true, false}) {
            const Network network = finished(marked_network(mode, is_textbook));
            const SubflowResult result = network.subflow_result(0);
            EXPECT_EQ(result.packets.dropped, 0);
            EXPECT_GT(result.mark_reductions, 1);
            // Reno's saw-tooth between half of the capacity of path and queue and all of it: 83 + 20 packets of 83, so
            // at least 3/4 of the link is used.
            EXPECT_GT(result.goodput_bps, 0.75 * 1448.0 / 1500 * 10e6);
            EXPECT_EQ(network.subflows()[0].sender.stats().undone, 0);
        }
    }
}

// A report persists: from the arrival of a mark until CWR arrives each ACK has ECE, and other ACKs lack it.
TEST(Ecn, TheReportLastsUntilItIsAnswered) {
    const Scenario scenario = marked_network(EcnMode::Classic, true);
    Network network(scenario, 1);
    network.capture_packets(0, 1 << 20);
    network.run_until(20_s);
    const PacketTable table = network.take_packets();
    bool is_reporting = false;
    int reports = 0;
    int answers = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.station[i] != static_cast<std::uint8_t>(Station::Receiver)) continue;
        if (table.kind[i] == static_cast<std::uint8_t>(PacketKind::Data)) {
            if (table.ecn_flags[i] == 2) {  // CWR
                ++answers;
                is_reporting = false;
            }
            if (table.ecn[i] == static_cast<std::uint8_t>(Ecn::Marked)) is_reporting = true;
        } else {
            ASSERT_EQ(table.ecn_flags[i], is_reporting ? 1 : 0) << i;
            reports += table.ecn_flags[i];
        }
    }
    EXPECT_EQ(answers, network.subflow_result(0).mark_reductions);
    EXPECT_GT(reports, answers);
}

// Most ACKs are lost, so that the three-bit field wraps between two of them.
TEST(Ecn, CountsMarksWhenAcksAreLost) {
    Scenario scenario = marked_network(EcnMode::Accurate, false, 1);
    scenario.links[1].loss = 0.6;
    scenario.transport.delayed_ack = DelayedAck::Off;
    scenario.transport.initial_window_pkts = 60;
    scenario.flows[0].size = Bytes(60 * 1448);
    for (int i = 1; i < 20; ++i) {
        FlowSpec flow = scenario.flows[0];
        flow.start = 1_s * i;
        flow.name += std::to_string(i);
        scenario.flows.push_back(flow);
    }
    scenario.duration = 60_s;
    const Network network = finished(scenario);
    for (const Subflow& s : network.subflows()) {
        ASSERT_TRUE(s.sender.snd_una() == 60);
        EXPECT_GT(s.marked_pkts, 57);
        // Each ACK carries the option, which gives the number of wraps.
        EXPECT_EQ(s.sender.stats().marked, s.marked_pkts);
    }
}

TEST(Ecn, AFlowThatDoesNotKnowItLosesWhatOthersGetMarked) {
    Scenario scenario = marked_network(EcnMode::Classic, false);
    add_tcp(scenario, scenario.flows[0].paths[0], "old").ecn = EcnMode::Off;
    const Network network = finished(scenario);
    EXPECT_GT(network.subflow_result(0).marked_pkts, 0);
    EXPECT_EQ(network.subflow_result(0).packets.dropped, 0);
    EXPECT_EQ(network.subflow_result(1).marked_pkts, 0);
    EXPECT_GT(network.subflow_result(1).packets.dropped, 0);
}

TEST(Ecn, ControllersWithoutAnAnswerPromiseNone) {
    for (const char* const name : {"bbr", "vivace"}) {
        const Network network = finished(marked_network(EcnMode::Classic, false, 20, name));
        EXPECT_EQ(network.subflow_result(0).marked_pkts, 0) << name;
        EXPECT_GT(network.subflow_result(0).packets.dropped, 0) << name;
    }
}

// A loss within a window that marks have reduced does not reduce it again (RFC 3168 section 6.1.2).
TEST(Ecn, MarksAndLossesOfOneWindowAreOneReduction) {
    for (const bool is_textbook : {true, false}) {
        Scenario scenario = marked_network(EcnMode::Classic, is_textbook, 0);
        scenario.duration = 1_s;
        // In the first flight of ten the first packet and those behind it are marked; the tenth is lost.
        scenario.links[0].drops.push_back({.subflow = 0, .number = 10});
        Network network(scenario, 1);
        std::vector<Mark> reductions;
        network.run_until(400_ms);
        for (const Mark& mark : network.take_marks())
            if (mark.kind == MarkKind::Marked || mark.kind == MarkKind::Loss) reductions.push_back(mark);
        ASSERT_GE(reductions.size(), 2u);
        EXPECT_EQ(reductions[0].kind, MarkKind::Marked);
        EXPECT_EQ(reductions[1].kind, MarkKind::Loss);
        EXPECT_EQ(network.subflows()[0].sender.window().ssthresh_pkts >= 2, true);
        EXPECT_EQ(network.subflow_result(0).mark_reductions >= 1, true);
    }
}

TEST(Ecn, IsTheSameHoweverTheRunIsCut) {
    for (const EcnMode mode : {EcnMode::Classic, EcnMode::Accurate})
        EXPECT_TRUE(is_same_however_cut(marked_network(mode, false), 5_s));
}

TEST(Ecn, ChangesNothingWhereNoQueueMarks) {
    for (const bool is_textbook : {true, false}) {
        Scenario with = marked_network(EcnMode::Accurate, is_textbook);
        with.links[0].discipline = {};
        with.links[0].queue_limit_pkts = 84;
        Scenario without = with;
        without.transport.ecn = EcnMode::Off;
        EXPECT_EQ(finished(with).signature(), finished(without).signature());
    }
}

}  // namespace
}  // namespace subflow

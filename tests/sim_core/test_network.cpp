// Whole networks: conservation, order, determinism, and the basic behaviour of TCP and MPTCP on simple paths.
#include "network.h"

#include <gtest/gtest.h>

#include <cmath>

#include "scenarios.h"
#include "simulation.h"

namespace subflow {
namespace {

using namespace testing;

TEST(Network, ASingleFlowFillsALinkWithABufferOfOneBdp) {
    // 10 Mbit/s, 100 ms: BDP = 83.3 packets; with a queue of 84, b = 84/83.3 > 1: utilisation 1.
    Scenario scenario = textbook(100_s, 20_s);
    add_tcp(scenario, add_path(scenario));
    const Network network = finished(scenario);
    EXPECT_GT(network.link_result(0).utilisation, 0.995);
    EXPECT_EQ(network.link_result(0).max_queue_pkts, 84);
    // 1448 of 1500 bytes are payload
    EXPECT_NEAR(network.flow_result(0).goodput_bps, 10e6 * 1448 / 1500, 0.01 * 10e6);
    EXPECT_EQ(network.subflow_result(0).timeouts, 0);
}

TEST(Network, WhatTheFirstSlowStartTookIsGivenBack) {
    Scenario scenario = textbook(100_s);
    add_tcp(scenario, add_path(scenario, {}));
    Network network(scenario, 1);
    std::size_t most = 0;
    while (network.subflows()[0].sender.state() != SenderState::Recovery) network.run_until(network.now() + 10_ms);
    while (network.subflows()[0].sender.state() == SenderState::Recovery) {
        const Subflow& s = network.subflows()[0];
        most = std::max(most, s.heap_bytes() + network.connections()[0].heap_bytes());
        network.run_until(network.now() + 10_ms);
    }
    const Subflow& s = network.subflows()[0];
    EXPECT_LT(s.heap_bytes() + network.connections()[0].heap_bytes(), most / 2);
    network.run_until(100_s);
    network.check_invariants();
}

TEST(Network, PacketsArriveWhenTheArithmeticSaysSo) {
    // 10 packets of 1500 B at 10 Mbit/s: 1.2 ms each; the last byte arrives after 10 * 1.2 + 50 ms.
    Scenario scenario = textbook(1_s);
    add_tcp(scenario, add_path(scenario)).size = Bytes(14480);
    const Network network = finished(scenario);
    EXPECT_NEAR(network.flow_result(0).completion_s, 0.062, 1e-9);
    EXPECT_EQ(network.packets_delivered(), 10);
}

TEST(Network, AShortLastPacketCarriesWhatIsLeft) {
    Scenario scenario = textbook(1_s);
    add_tcp(scenario, add_path(scenario)).size = Bytes(1449);
    const Network network = finished(scenario);
    EXPECT_EQ(network.connections()[0].delivered_bytes, 1449);
    // Second packet: 53 bytes at 10 Mbit/s
    EXPECT_NEAR(network.flow_result(0).completion_s, 0.0512 + 53 * 8 / 10e6, 1e-9);
}

TEST(Network, EveryByteOfAFiniteTransferIsDeliveredOnceInSpiteOfLoss) {
    for (const char* controller : {"lia", "uncoupled"}) {
        Scenario scenario = linux_profile(60_s);
        const PathOptions lossy{.loss = 0.05};
        const PathSpec one = add_path(scenario, lossy);
        const PathSpec two = add_path(scenario, {.rate = 5_Mbps, .one_way = 20_ms, .loss = 0.03});
        add_mptcp(scenario, {one, two}, controller).size = Bytes(3'000'001);
        const Network network = finished(scenario);
        EXPECT_EQ(network.connections()[0].delivered_bytes, 3'000'001);
        EXPECT_TRUE(std::isfinite(network.flow_result(0).completion_s));
        EXPECT_EQ(network.subflows()[0].goodput_bytes + network.subflows()[1].goodput_bytes, 3'000'001);
        EXPECT_GT(network.subflow_result(0).retransmits, 0);
    }
}

TEST(Network, TheSameSeedGivesTheSameRunAndAnotherSeedAnother) {
    Scenario scenario = linux_profile(20_s);
    add_tcp(scenario, add_path(scenario, {.loss = 0.01}));
    EXPECT_EQ(finished(scenario, 7).signature(), finished(scenario, 7).signature());
    EXPECT_NE(finished(scenario, 7).signature(), finished(scenario, 8).signature());
}

TEST(Network, StepsDoNotMatter) {
    Scenario scenario = linux_profile(20_s);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 10_ms})}, "lia");
    const std::uint64_t whole = finished(scenario).signature();
    Network stepped(scenario, 1);
    for (Nanos t = 1_ms; t <= scenario.duration; t += 7_ms) stepped.run_until(t);
    stepped.run_until(scenario.duration);
    EXPECT_EQ(stepped.signature(), whole);
}

TEST(Network, ASnapshotContinuesBitForBit) {
    Scenario scenario = linux_profile(30_s);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 10_ms})}, "lia");
    add_tcp(scenario, scenario.flows[0].paths[0]);
    Simulation simulation(scenario, 3, 100_ms);
    simulation.run_until(11_s);
    const Simulation::Snapshot snapshot = simulation.snapshot();
    simulation.run_until(30_s);
    const std::uint64_t straight = simulation.network().signature();
    const std::vector<float> trace = simulation.recorder().values(4);
    simulation.restore(snapshot);
    EXPECT_EQ(simulation.now(), 11_s);
    EXPECT_EQ(simulation.recorder().count(), 110u);
    simulation.run_until(30_s);
    EXPECT_EQ(simulation.network().signature(), straight);
    EXPECT_EQ(simulation.recorder().values(4), trace);
}

TEST(Network, ASnapshotOfAnotherSimulationIsRefused) {
    Scenario scenario = textbook(1_s);
    add_tcp(scenario, add_path(scenario));
    Simulation one(scenario, 1, 100_ms);
    Simulation two(scenario, 1, 100_ms);
    EXPECT_THROW(two.restore(one.snapshot()), ScenarioError);
}

// RFC 6356 with one subflow is TCP: packet for packet.
TEST(Network, LiaAndUncoupledWithOneSubflowAreNewReno) {
    for (const bool is_linux : {false, true}) {
        Scenario reno = is_linux ? linux_profile(60_s) : textbook(60_s);
        add_tcp(reno, add_path(reno, {.loss = 0.005}), "flow");
        const Network reference = finished(reno);
        for (const char* controller : {"lia", "uncoupled"}) {
            Scenario multipath = is_linux ? linux_profile(60_s) : textbook(60_s);
            add_mptcp(multipath, {add_path(multipath, {.loss = 0.005})}, controller, "flow");
            EXPECT_EQ(finished(multipath).signature(), reference.signature()) << controller;
        }
    }
}

TEST(Network, AnotherFlowDoesNotChangeTheLuckOfTheFirst) {
    // Two separate links: the second flow must not change the first, including its losses.
    Scenario alone = textbook(20_s);
    add_tcp(alone, add_path(alone, {.loss = 0.02}), "first");
    Scenario both = alone;
    add_tcp(both, add_path(both, {.loss = 0.02}), "second");
    const Network a = finished(alone);
    const Network b = finished(both);
    EXPECT_EQ(a.connections()[0].delivered_bytes, b.connections()[0].delivered_bytes);
    EXPECT_EQ(a.link_result(0).drops_random, b.link_result(0).drops_random);
    EXPECT_NE(b.link_result(0).drops_random, b.link_result(2).drops_random);
}

TEST(Network, MultiHopPathsAddTheirDelays) {
    // Three links of 1 ms and 10 Mbit/s, ACKs back over 52-byte packets: the RTT of the first packet is
    // 3 * (1 ms + 1.2 ms) + 3 * (1 ms + 52 * 8 / 10e6 s).
    Scenario scenario = textbook(1_s);
    PathSpec path;
    for (std::uint32_t hop = 0; hop < 3; ++hop) {
        PathSpec link = add_path(scenario, {.one_way = 1_ms});
        scenario.links[link.reverse[0]].rate = 10_Mbps;
        path.forward.push_back(link.forward[0]);
        path.reverse.insert(path.reverse.begin(), link.reverse[0]);
    }
    add_tcp(scenario, path).size = Bytes(1448);
    const Network network = finished(scenario);
    EXPECT_NEAR(network.flow_result(0).mean_rtt_s, 3 * 0.0022 + 3 * (0.001 + 52 * 8 / 10e6), 1e-8);
}

TEST(Network, TwoFlowsShareALinkFairly) {
    // Section 2.1: Jain > 0.98 for equal RTTs. Different starts break the phase effects.
    Scenario scenario = textbook(200_s, 40_s);
    const PathSpec path = add_path(scenario);
    add_tcp(scenario, path, "one");
    add_tcp(scenario, path, "two").start = 700_ms;
    const Network network = finished(scenario);
    const double a = network.flow_result(0).goodput_bps;
    const double b = network.flow_result(1).goodput_bps;
    EXPECT_GT((a + b) * (a + b) / (2 * (a * a + b * b)), 0.98);
}

TEST(Network, MptcpUsesBothPathsInFull) {
    Scenario scenario = textbook(60_s, 10_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario)}, "lia");
    const Network network = finished(scenario);
    EXPECT_GT(network.link_result(0).utilisation, 0.97);
    EXPECT_GT(network.link_result(2).utilisation, 0.97);
}

TEST(Network, PathsWithoutDelayKeepLiaFinite) {
    // 53 bytes at 1 Tbit/s take less than a nanosecond: the RTT is 0.
    Scenario scenario = textbook(10_us);
    scenario.mss = 1_B;
    const PathOptions instant{.rate = BitsPerSec(1e12), .one_way = Nanos(0)};
    add_mptcp(scenario, {add_path(scenario, instant), add_path(scenario, instant)}, "lia");
    const Network network = finished(scenario);
    EXPECT_GT(network.packets_delivered(), 1000);
}

TEST(Network, TheSecondSubflowJoinsOneRoundTripLater) {
    Scenario scenario = textbook(1_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario, {.one_way = 30_ms})}, "lia");
    Network network = finished(scenario);
    std::vector<Mark> established;
    for (const Mark& m : network.take_marks())
        if (m.kind == MarkKind::Established) established.push_back(m);
    ASSERT_EQ(established.size(), 2u);
    EXPECT_EQ(established[0].time, 0_ms);
    EXPECT_EQ(established[1].time, 60_ms);
}

TEST(Network, AReceiveBufferBoundsWhatIsOutstanding) {
    // 100 packets in 100 ms: at most 1000 packets per second, 11.584 Mbit/s of payload on a 100 Mbit/s path.
    Scenario scenario = textbook(20_s, 2_s);
    add_tcp(scenario, add_path(scenario, {.rate = 100_Mbps})).recv_buffer = Bytes(100 * 1448);
    const Network network = finished(scenario);
    EXPECT_NEAR(network.flow_result(0).goodput_bps, 11.584e6, 0.02 * 11.584e6);
    EXPECT_LE(network.link_result(0).max_queue_pkts, 100);
}

TEST(Network, ASharedReceiveBufferDoesNotStallTheConnection) {
    Scenario scenario = linux_profile(30_s);
    add_mptcp(scenario, {add_path(scenario, {.one_way = 5_ms}), add_path(scenario, {.one_way = 150_ms, .loss = 0.02})},
              "lia")
        .recv_buffer = Bytes(20 * 1448);
    const Network network = finished(scenario);
    EXPECT_GT(network.connections()[0].delivered_bytes, 1'000'000);
    EXPECT_LE(network.connections()[0].reassembly.held_pkts(), 20u);
}

TEST(Network, WhatADeadPathHeldIsReinjectedOnTheOther) {
    // The second link fails permanently in the middle of a transfer; the last byte still arrives.
    Scenario scenario = linux_profile(60_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario)}, "lia").size = Bytes(20'000'000);
    for (std::uint32_t link : {2u, 3u}) {
        EventSpec down;
        down.at = 5_s;
        down.link = link;
        down.up = false;
        scenario.events.push_back(down);
    }
    const Network network = finished(scenario);
    EXPECT_EQ(network.connections()[0].delivered_bytes, 20'000'000);
    // 20 MB at 9.65 Mbit/s of payload over one link take 16.6 s; with 5 s of two links, less.
    EXPECT_LT(network.flow_result(0).completion_s, 16.6);
}

TEST(Network, AClosedSubflowHandsItsDataOverAtOnce) {
    Scenario scenario = textbook(20_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario)}, "lia");
    EventSpec close;
    close.at = 5_s;
    close.flow = 0;
    close.subflow = 1;
    close.open = false;
    EventSpec open = close;
    open.at = 10_s;
    open.open = true;
    scenario.events = {close, open};
    Network network(scenario, 1);
    network.run_until(5_s);
    network.run_until(Nanos(9'999'999'999));
    EXPECT_FALSE(network.subflows()[1].is_established);
    const std::int64_t while_closed = network.subflows()[1].received_bytes;
    network.run_until(10_s + 50_ms);
    EXPECT_EQ(network.subflows()[1].received_bytes, while_closed);
    network.run_until(20_s);
    network.check_invariants();
    // Re-opened after a join of one round trip, and in use again: ten seconds at 9.65 Mbit/s, minus the start.
    EXPECT_GT(network.subflows()[1].received_bytes - while_closed, 7'000'000);
    EXPECT_EQ(network.subflow_result(0).timeouts, 0);
    // In-order delivery continued: only data in flight or waiting in the reorder queue is undelivered.
    EXPECT_GT(network.connections()[0].delivered_bytes, 30'000'000);
}

TEST(Network, ATcpFlowSurvivesAnOutageByItsTimeouts) {
    Scenario scenario = textbook(30_s);
    add_tcp(scenario, add_path(scenario));
    for (const auto& [at, up] : {std::pair{5_s, false}, std::pair{8_s, true}}) {
        EventSpec event;
        event.at = at;
        event.link = 0;
        event.up = up;
        scenario.events.push_back(event);
    }
    Network network(scenario, 1);
    network.run_until(8_s);
    const std::int64_t before = network.connections()[0].delivered_bytes;
    EXPECT_GE(network.subflow_result(0).timeouts, 3);  // backed off: 0.2…0.5 s, doubled each time, within 3 s
    network.run_until(30_s);
    network.check_invariants();
    EXPECT_GT(network.connections()[0].delivered_bytes, before + 15'000'000);
}

TEST(Network, AConstantBitRateFlowSendsAtItsRate) {
    Scenario scenario = textbook(10_s);
    FlowSpec cbr;
    cbr.name = "cbr";
    cbr.kind = FlowKind::Cbr;
    cbr.datagrams.rate = BitsPerSec(3e6);
    cbr.paths = {add_path(scenario)};
    cbr.stop = 5_s;
    scenario.flows.push_back(cbr);
    const Network network = finished(scenario);
    // 3 Mbit/s of 1500-byte packets for 5 s: 1250 packets of 1472 bytes payload
    EXPECT_EQ(network.packets_delivered(), 1250);
    EXPECT_EQ(network.connections()[0].delivered_bytes, 1250 * 1472);
}

TEST(Network, AConstantBitRateFlowPausesWhileClosedAndDoesNotCatchUp) {
    Scenario scenario = textbook(10_s);
    FlowSpec cbr;
    cbr.name = "cbr";
    cbr.kind = FlowKind::Cbr;
    cbr.datagrams.rate = BitsPerSec(3e6);
    cbr.paths = {add_path(scenario)};
    scenario.flows.push_back(cbr);
    for (const auto& [at, is_open] : {std::pair{2_s, false}, std::pair{6_s, true}}) {
        EventSpec event;
        event.at = at;
        event.flow = 0;
        event.open = is_open;
        scenario.events.push_back(event);
    }
    const Network network = finished(scenario);
    // 250 packets a second in [0, 2) and [6, 10], minus the 12 or 13 in flight on the 50 ms at the end
    EXPECT_NEAR(static_cast<double>(network.packets_delivered()), 6 * 250 - 12.5, 2);
    EXPECT_LE(network.link_result(0).max_queue_pkts, 1);
}

TEST(Network, StartJitterMovesStartsWithinItsBound) {
    Scenario scenario = textbook(3_s);
    scenario.start_jitter = 1_s;
    const PathSpec path = add_path(scenario);
    for (int i = 0; i < 20; ++i) add_tcp(scenario, path, "tcp." + std::to_string(i));
    const Network network = finished(scenario);
    double least = 1;
    double most = 0;
    for (const Connection& c : network.connections()) {
        least = std::min(least, to_seconds(c.started_at));
        most = std::max(most, to_seconds(c.started_at));
    }
    EXPECT_GE(least, 0);
    EXPECT_LT(most, 1);
    EXPECT_GT(most - least, 0.5);
}

TEST(Network, ManyLiveSideBySide) {
    Scenario scenario = textbook(5_s);
    add_tcp(scenario, add_path(scenario, {.loss = 0.01}));
    const std::uint64_t alone = finished(scenario).signature();
    std::vector<Network> networks;
    for (int i = 0; i < 8; ++i) networks.emplace_back(scenario, 1);
    for (Nanos t = 100_ms; t <= scenario.duration; t += 100_ms)
        for (Network& n : networks) n.run_until(t);
    for (const Network& n : networks) EXPECT_EQ(n.signature(), alone);
}

// Packets have 32-bit numbers, half of which are usable: 2^31 = 2.15 * 10^9 of 1448 bytes are 2.49 * 10^13 bits, as
// many as 1 Gbit/s carries in 24 900 s.
TEST(Network, RefusesMorePacketsThanCanBeNumbered) {
    const auto refusal = [](const Scenario& scenario) -> std::string {
        try {
            check_scenario(scenario);
        } catch (const ScenarioError& error) {
            return error.what();
        }
        return "";
    };
    const auto speeds_up = [](std::uint32_t link, Nanos at, BitsPerSec rate) {
        EventSpec event;
        event.at = at;
        event.link = link;
        event.rate = rate;
        return event;
    };
    const Nanos long_time = 20'000_s;
    Scenario scenario = textbook(long_time);
    const PathSpec first = add_path(scenario, {.rate = 1_Gbps});
    const PathSpec second = add_path(scenario, {.rate = 1_Gbps});
    add_tcp(scenario, first);
    EXPECT_EQ(refusal(scenario), "");
    // An event raises the rate: 100 Gbit/s for 300 s are as many packets again; for 40 s they are acceptable.
    scenario.events = {speeds_up(0, long_time - 300_s, 100_Gbps)};
    EXPECT_NE(refusal(scenario).find("more than 2^31 packets could be sent within the duration"), std::string::npos);
    scenario.events = {speeds_up(0, long_time - 40_s, 100_Gbps)};
    EXPECT_EQ(refusal(scenario), "");
    scenario.events = {speeds_up(0, 1_s, 10_Mbps), speeds_up(0, long_time - 200_s, 100_Gbps)};
    EXPECT_EQ(refusal(scenario), "");
    scenario.events.clear();
    // Paths share the data numbers: two are too much where each alone is not, unless one link bounds both.
    scenario.flows.clear();
    add_mptcp(scenario, {first, second}, "lia");
    EXPECT_NE(refusal(scenario).find("flow 'mptcp'"), std::string::npos);
    EXPECT_NE(refusal(scenario).find("over its paths together"), std::string::npos);
    scenario.flows[0].paths[1] = first;
    EXPECT_EQ(refusal(scenario), "");
    // A live change is checked together with earlier ones.
    Network network(scenario, 1);
    const EventSpec live[] = {speeds_up(0, 0_s, 2_Gbps)};
    EXPECT_THROW(network.apply(live), ScenarioError);
    EXPECT_TRUE(network.live_changes().empty());
    network.apply(std::span(live).first(0));
}

TEST(Network, RefusesWhatCannotBeSimulated) {
    Scenario scenario = textbook(1_s);
    const PathSpec path = add_path(scenario);
    add_tcp(scenario, path);
    const auto refused = [](Scenario s, auto change) {
        change(s);
        EXPECT_THROW(Network(s, 1), ScenarioError);
    };
    refused(scenario, [](Scenario& s) { s.duration = Nanos(0); });
    refused(scenario, [](Scenario& s) { s.warmup = s.duration; });
    refused(scenario, [](Scenario& s) { s.links[0].rate = BitsPerSec(0); });
    refused(scenario, [](Scenario& s) { s.links[0].loss = 1.5; });
    refused(scenario, [](Scenario& s) { s.links[0].queue_limit_pkts = 0; });
    refused(scenario, [](Scenario& s) { s.links[0].rate = kUnlimitedRate; });  // the window would have no limit
    refused(scenario, [](Scenario& s) {
        EventSpec event;
        event.link = 0;
        event.rate = kUnlimitedRate;
        s.events.push_back(event);
    });
    refused(scenario, [](Scenario& s) { s.flows[0].paths[0].forward = {9}; });
    refused(scenario, [](Scenario& s) { s.flows[0].paths.push_back(s.flows[0].paths[0]); });
    refused(scenario, [](Scenario& s) { s.flows[0].controller.name = "nonsense"; });
    refused(scenario, [](Scenario& s) { s.flows[0].size = Bytes(0); });
    refused(scenario, [](Scenario& s) { s.flows[0].recv_buffer = Bytes(100); });
    refused(scenario, [](Scenario& s) { s.flows[0].lifetime = Nanos(0); });
    const auto datagrams = [](Scenario& s, DatagramSpec spec) {
        s.flows[0].kind = FlowKind::OnOff;
        s.flows[0].datagrams = spec;
    };
    refused(scenario, [&](Scenario& s) { datagrams(s, {BitsPerSec(0), 1500_B, Spacing::Constant, 1_s, 1_s}); });
    refused(scenario, [&](Scenario& s) { datagrams(s, {1_Mbps, 28_B, Spacing::Constant, 1_s, 1_s}); });
    refused(scenario, [&](Scenario& s) { datagrams(s, {1_Mbps, 1500_B, Spacing::Constant, Nanos(0), 1_s}); });
    refused(scenario, [&](Scenario& s) { datagrams(s, {1_Mbps, 1500_B, Spacing::Constant, 1_s, kNever}); });
}

}  // namespace
}  // namespace subflow

// Behaviour of a whole connection: shared window, send buffer, backups, reinjection, and the cost of stalls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "network.h"
#include "recorder.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

// Calls `look` every `step`.
Network watched(const Scenario& scenario, Nanos step, const std::function<void(const Network&)>& look) {
    Network network(scenario, 1);
    for (Nanos t = step; t <= scenario.duration; t += step) {
        network.run_until(t);
        look(network);
    }
    network.check_invariants();
    return network;
}

EventSpec link_event(Nanos at, std::uint32_t link, bool up) {
    EventSpec event;
    event.at = at;
    event.link = link;
    event.up = up;
    return event;
}

EventSpec subflow_event(Nanos at, std::uint32_t subflow, bool open) {
    EventSpec event;
    event.at = at;
    event.flow = 0;
    event.subflow = subflow;
    event.open = open;
    return event;
}

std::vector<Mark> marks_of(Network& network, MarkKind kind) {
    std::vector<Mark> marks = network.take_marks();
    std::erase_if(marks, [kind](const Mark& m) { return m.kind != kind; });
    return marks;
}

// Sets minRTT's two responses to a full window.
void set_answers(FlowSpec& flow, bool retransmits, bool penalises) {
    flow.scheduler.options = {{"opportunistic_retransmission", retransmits}, {"penalisation", penalises}};
}

// --- the reorder queue ----------------------------------------------------------------------------------------------

TEST(Reassembly, CountsWhatWaitsAndForHowLong) {
    Reassembly r;
    std::vector<std::uint32_t> delivered;
    const auto arrive = [&](std::uint32_t seq, std::uint8_t origin, Nanos at) {
        return r.on_data(seq, seq == 2 ? 10u : 100u, origin, at, [&](std::uint32_t s, std::uint8_t) {
            delivered.push_back(s);
            return s == 2 ? 10u : 100u;
        });
    };
    EXPECT_TRUE(arrive(1, 1, 10_ms));
    EXPECT_TRUE(arrive(2, 0, 20_ms));
    EXPECT_EQ(r.held_bytes(), 110);
    EXPECT_FALSE(arrive(1, 0, 30_ms));  // already held
    EXPECT_TRUE(arrive(0, 0, 50_ms));
    EXPECT_EQ(delivered, (std::vector<std::uint32_t>{0, 1, 2}));
    EXPECT_FALSE(arrive(2, 1, 60_ms));  // already delivered
    EXPECT_EQ(r.held_bytes(), 0);
    EXPECT_EQ(r.max_held_bytes(), 110);
    EXPECT_EQ(r.duplicates(), 2);
    // 40 ms for packet 1 and 30 ms for packet 2; packet 0 did not wait
    EXPECT_NEAR(r.waited_s(), 0.070, 1e-12);
    r.restart_max();
    EXPECT_EQ(r.max_held_bytes(), 0);
}

TEST(MultipathTransport, HeadOfLineBlockingAgreesWithLittlesLaw) {
    // The mean number of waiting packets is arrivals per second times the mean wait: here from samples every 0.1 ms,
    // while the network counts packet by packet.
    Scenario scenario = textbook(20_s);
    add_mptcp(scenario, {add_path(scenario, {.one_way = 5_ms}), add_path(scenario, {.one_way = 60_ms})}, "lia");
    double held_pkt_seconds = 0;
    std::int64_t most_bytes = 0;
    const Network network = watched(scenario, 100_us, [&](const Network& n) {
        const Reassembly& r = n.connections()[0].reassembly;
        held_pkt_seconds += r.held_pkts() * 1e-4;
        most_bytes = std::max(most_bytes, r.held_bytes());
    });
    const FlowResult flow = network.flow_result(0);
    const double delivered = network.connections()[0].reassembly.next();
    ASSERT_GT(flow.mean_hol_blocking_s, 0.001);
    EXPECT_NEAR(flow.mean_hol_blocking_s * delivered, held_pkt_seconds, 0.01 * held_pkt_seconds);
    EXPECT_GE(flow.max_reorder_queue_bytes, most_bytes);
    EXPECT_LE(flow.max_reorder_queue_bytes, most_bytes + 2 * 1448);
}

TEST(MultipathTransport, TracesOfTheConnectionAddUpToItsFigures) {
    Scenario scenario = linux_profile(20_s);
    add_mptcp(scenario, {add_path(scenario, {.one_way = 5_ms}), add_path(scenario, {.one_way = 60_ms, .loss = 0.02})},
              "lia")
        .recv_buffer = Bytes(100'000);
    add_tcp(scenario, add_path(scenario));
    // Packets in flight on the fast path at its failure are sent again on the other.
    fail_link(scenario, 0, 10_s, 11_s);
    Network network(scenario, 1);
    Recorder recorder(network, 100_ms);
    ASSERT_EQ(recorder.columns().size(), Recorder::column_count(scenario));
    std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    recorder.run_until(network, scenario.duration, unlimited);
    const auto column = [&](std::string_view name, std::uint32_t owner) {
        const auto& all = recorder.columns();
        const auto it = std::ranges::find_if(all, [&](const TraceColumn& c) {
            return c.name() == name && c.owner == owner && c.scope != TraceScope::Link;
        });
        EXPECT_NE(it, all.end()) << name;
        return recorder.values(static_cast<std::size_t>(it - all.begin()));
    };
    const auto reinjections = column("reinjections_pkts", 0);
    EXPECT_GT(network.flow_result(0).reinjections, 0);
    EXPECT_EQ(std::accumulate(reinjections.begin(), reinjections.end(), 0.0),
              static_cast<double>(network.flow_result(0).reinjections));
    const auto one = column("schedule_share", 0);
    const auto two = column("schedule_share", 1);
    for (std::size_t k = 0; k < one.size(); ++k) {
        if (std::isnan(one[k])) continue;
        EXPECT_NEAR(one[k] + two[k], 1, 1e-6);
    }
    EXPECT_NEAR(network.subflow_result(0).schedule_share + network.subflow_result(1).schedule_share, 1, 1e-12);
    // The wait of an interval is that of the packets delivered in it: weighted with their number it gives the mean of
    // the run.
    const auto waits = column("hol_blocking_s", 0);
    const auto goodput = column("goodput_bps", 0);
    double waited = 0;
    double bits = 0;
    for (std::size_t k = 0; k < waits.size(); ++k) {
        bits += goodput[k];
        EXPECT_EQ(std::isnan(waits[k]), goodput[k] == 0);
        if (goodput[k] > 0) waited += waits[k] * goodput[k];
    }
    EXPECT_NEAR(waited / bits, network.flow_result(0).mean_hol_blocking_s, 1e-6);
    const auto queue = column("reorder_queue_bytes", 0);
    EXPECT_LE(*std::ranges::max_element(queue), network.flow_result(0).max_reorder_queue_bytes);
    // A single path has neither these columns nor a schedule share.
    EXPECT_EQ(std::ranges::count(recorder.columns(), std::string_view("reorder_queue_bytes"), &TraceColumn::name), 1);
    EXPECT_EQ(std::ranges::count(recorder.columns(), std::string_view("schedule_share"), &TraceColumn::name), 2);
    EXPECT_TRUE(std::isnan(network.subflow_result(2).schedule_share));
}

TEST(MultipathTransport, FiguresDoNotDependOnHowTheRunIsCut) {
    // Packets of a single path are carried ahead of the clock, up to the time that the caller requests.
    Scenario scenario = linux_profile(10_s, 3_s);
    add_tcp(scenario, add_path(scenario, {.loss = 0.02}));
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.02}), add_path(scenario, {.one_way = 5_ms, .queue_pkts = 10})},
              "lia")
        .recv_buffer = Bytes(60'000);
    const Network whole = finished(scenario);
    const Network cut = watched(scenario, 7_ms, [](const Network&) {});
    Network rest = cut;
    rest.run_until(scenario.duration);
    for (const std::size_t flow : {0u, 1u}) {
        const FlowResult a = whole.flow_result(flow);
        const FlowResult b = rest.flow_result(flow);
        EXPECT_GT(a.mean_hol_blocking_s, 0);
        EXPECT_EQ(a.mean_hol_blocking_s, b.mean_hol_blocking_s);
        EXPECT_EQ(a.max_reorder_queue_bytes, b.max_reorder_queue_bytes);
        EXPECT_EQ(a.reinjections, b.reinjections);
        EXPECT_EQ(a.duplicates, b.duplicates);
    }
    EXPECT_EQ(whole.subflow_result(1).schedule_share, rest.subflow_result(1).schedule_share);
}

// --- a full window --------------------------------------------------------------------------------------------------

// Two paths of 10 Mbit/s with round trips of 20 and 200 ms.
Scenario uneven(Nanos duration, std::optional<Bytes> buffer) {
    Scenario scenario = textbook(duration, duration / 4);
    const PathSpec fast = add_path(scenario, {.one_way = 10_ms, .queue_pkts = 17});
    const PathSpec slow = add_path(scenario, {.one_way = 100_ms, .queue_pkts = 167});
    add_mptcp(scenario, {fast, slow}, "lia").recv_buffer = buffer;
    return scenario;
}

TEST(MultipathTransport, AnUnlimitedBufferNeverReinjects) {
    // Section 6.1: then minRTT only fills the path of the lowest RTT.
    Scenario scenario = uneven(30_s, std::nullopt);
    const Network with = finished(scenario);
    set_answers(scenario.flows[0], false, false);
    const Network without = finished(scenario);
    EXPECT_EQ(with.flow_result(0).reinjections, 0);
    EXPECT_EQ(with.flow_result(0).duplicates, 0);
    EXPECT_EQ(with.signature(), without.signature());
}

void expect_answers_pay(Scenario scenario, double best_bps) {
    const FlowResult with = finished(scenario).flow_result(0);
    EXPECT_GE(with.goodput_bps, 0.9 * best_bps);
    EXPECT_GT(with.reinjections, 0);
    EXPECT_GT(with.duplicates, 0);
    set_answers(scenario.flows[0], false, false);
    const FlowResult without = finished(scenario).flow_result(0);
    EXPECT_LT(without.goodput_bps, 0.9 * best_bps);
}

TEST(MultipathTransport, ASmallBufferCostsLittleWithBothAnswersAndMuchWithout) {
    // Section 6.1: 10:1 round trips, and 200 kB, whereas section 7 advises 2 * 20 Mbit/s * 200 ms = 1 MB. The fast path
    // alone fills its 10 Mbit/s with that buffer.
    const double best_bps = 10e6 * 1448 / 1500;
    const Scenario scenario = uneven(60_s, Bytes(200'000));
    expect_answers_pay(scenario, best_bps);
    Scenario as_linux = linux_profile(scenario.duration, scenario.warmup);
    as_linux.links = scenario.links;
    as_linux.flows = scenario.flows;
    expect_answers_pay(as_linux, best_bps);
}

TEST(MultipathTransport, WiFiAnd3GTogetherAreWorthWiFiAlone) {
    // The paths of Raiciu et al., NSDI 2012, section 4.2: 8 Mbit/s, 20 ms, 80 ms of queue; 2 Mbit/s, 150 ms, 2 s of
    // queue.
    for (const std::int64_t buffer : {200'000, 300'000, 500'000}) {
        Scenario scenario = textbook(60_s, 15_s);
        const PathSpec wifi = add_path(scenario, {.rate = 8_Mbps, .one_way = 10_ms, .queue_pkts = 54});
        const PathSpec mobile = add_path(scenario, {.rate = 2_Mbps, .one_way = 75_ms, .queue_pkts = 334});
        add_mptcp(scenario, {wifi, mobile}, "lia").recv_buffer = Bytes(buffer);
        expect_answers_pay(scenario, 8e6 * 1448 / 1500);
    }
}

TEST(MultipathTransport, TheHeadGoesOutOncePerSubflow) {
    // Each reinjection is a packet that waited for a subflow 10 times as slow, and arrives twice unless one copy is
    // lost: there cannot be more duplicates than reinjections.
    Scenario scenario = uneven(30_s, Bytes(50'000));
    scenario.warmup = Nanos(0);
    set_answers(scenario.flows[0], true, false);
    Network network = finished(scenario);
    const FlowResult flow = network.flow_result(0);
    EXPECT_GT(flow.reinjections, 0);
    EXPECT_LE(flow.duplicates, flow.reinjections);
    EXPECT_TRUE(marks_of(network, MarkKind::Penalised).empty());
}

TEST(MultipathTransport, PenalisesTheSlowSubflowOncePerRoundTripOfTheFastOne) {
    Scenario scenario = uneven(30_s, Bytes(50'000));
    set_answers(scenario.flows[0], false, true);
    Network network = finished(scenario);
    EXPECT_EQ(network.flow_result(0).reinjections, 0);
    const std::vector<Mark> marks = marks_of(network, MarkKind::Penalised);
    ASSERT_GT(marks.size(), 5u);
    for (std::size_t i = 0; i < marks.size(); ++i) {
        EXPECT_EQ(marks[i].owner, 1u);
        EXPECT_GE(marks[i].value, 1);
        if (i == 0) continue;
        EXPECT_GE(marks[i].time - marks[i - 1].time, 20_ms);  // srtt of the fast one, at least
    }
}

TEST(MultipathTransport, EqualPathsAreNotPenalisedForBeingChosenSecond) {
    // No subflow delays another by more than the difference of two queues.
    Scenario scenario = textbook(30_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario)}, "lia").recv_buffer = Bytes(300'000);
    const Network network = finished(scenario);
    // Rule (b) requires a window of at most four packets or four times the RTT.
    EXPECT_EQ(network.flow_result(0).reinjections, 0);
}

TEST(Sender, APenaltyHalvesTheWindowAndTheThresholdOutsideSlowStart) {
    const TransportOptions options;
    SubflowSender sender(NewReno(Options(NewReno::kInfo, {})), options);
    sender.penalise(1_s);  // 10 packets in slow start
    EXPECT_EQ(sender.window().cwnd_pkts, 5);
    EXPECT_TRUE(std::isinf(sender.window().ssthresh_pkts));
    for (int i = 0; i < 5; ++i) sender.penalise(1_s);
    EXPECT_EQ(sender.window().cwnd_pkts, 1);
}

TEST(Sender, APenaltyLeavesAThresholdOfTwoPacketsAtLeast) {
    TransportOptions options;
    SubflowSender sender(NewReno(Options(NewReno::kInfo, {})), options);
    // A loss leaves ssthresh at half of 10; in congestion avoidance both are halved.
    for (std::uint32_t i = 0; i < 10; ++i) sender.send_new(i, Nanos(0), options);
    const SeqRange above{1, 10};
    sender.on_ack(0, {&above, 1}, Nanos(0), 100_ms, {}, options);
    sender.retransmit(100_ms, options);
    sender.on_ack(10, {}, 100_ms, 200_ms, {}, options);
    ASSERT_EQ(sender.state(), SenderState::Open);
    ASSERT_EQ(sender.window().ssthresh_pkts, 5);
    sender.penalise(1_s);
    EXPECT_EQ(sender.window().cwnd_pkts, 2.5);
    EXPECT_EQ(sender.window().ssthresh_pkts, 2.5);
    sender.penalise(1_s);
    EXPECT_EQ(sender.window().cwnd_pkts, 1.25);
    EXPECT_EQ(sender.window().ssthresh_pkts, 2);
    sender.penalise(1_s);  // 1.25 packets are below the threshold of 2: slow start again
    EXPECT_EQ(sender.window().cwnd_pkts, 1);
    EXPECT_EQ(sender.window().ssthresh_pkts, 2);
}

TEST(MultipathTransport, TheRightEdgeNeverMovesBackAndBoundsWhatIsSent) {
    Scenario scenario = uneven(20_s, Bytes(50'000));
    std::uint32_t edge = 0;
    watched(scenario, 1_ms, [&](const Network& n) {
        const Connection& c = n.connections()[0];
        ASSERT_GE(c.right_edge, edge);
        ASSERT_LE(c.data_nxt, c.right_edge);
        // 34 packets fit beyond the delivered data.
        ASSERT_LE(c.right_edge, c.reassembly.next() + 34);
        edge = c.right_edge;
    });
    EXPECT_GT(edge, 1000u);
}

// --- the send buffer ------------------------------------------------------------------------------------------------

TEST(MultipathTransport, ASendBufferHoldsDataUntilItIsDataAcked) {
    Scenario scenario = uneven(20_s, std::nullopt);
    scenario.flows[0].send_buffer = Bytes(40 * 1448 + 1000);
    std::uint32_t most = 0;
    Network network = watched(scenario, 1_ms, [&](const Network& n) {
        const Connection& c = n.connections()[0];
        most = std::max(most, c.data_nxt - c.data_una);
    });
    EXPECT_EQ(most, 40u);
    // The application waits although the window has room: a retransmission, but no penalty (section 6.1).
    EXPECT_GT(network.flow_result(0).reinjections, 0);
    EXPECT_TRUE(marks_of(network, MarkKind::Penalised).empty());
}

TEST(MultipathTransport, ASendBufferBoundsTheRateOfASinglePath) {
    // 100 packets in 100 ms, like a receive buffer of that size: 11.584 Mbit/s of a path of 100 Mbit/s.
    for (const FlowKind kind : {FlowKind::Tcp, FlowKind::Mptcp}) {
        Scenario scenario = textbook(20_s, 2_s);
        FlowSpec& flow = add_tcp(scenario, add_path(scenario, {.rate = 100_Mbps}));
        flow.kind = kind;
        flow.scheduler.name = "minrtt";
        flow.send_buffer = Bytes(100 * 1448);
        const Network network = finished(scenario);
        EXPECT_NEAR(network.flow_result(0).goodput_bps, 11.584e6, 0.02 * 11.584e6);
        EXPECT_EQ(network.flow_result(0).reinjections, 0);
    }
}

TEST(MultipathTransport, ASendBufferThatNeverFillsChangesNothing) {
    Scenario scenario = uneven(10_s, std::nullopt);
    const std::uint64_t unlimited = finished(scenario).signature();
    scenario.flows[0].send_buffer = Bytes(100'000'000);
    EXPECT_EQ(finished(scenario).signature(), unlimited);
    scenario.flows[0].send_buffer = Bytes(100);
    EXPECT_THROW(Network(scenario, 1), ScenarioError);
}

TEST(MultipathTransport, TransfersEndWithAnySendBuffer) {
    for (const std::int64_t bytes : {1448, 3000, 20'000}) {
        Scenario scenario = linux_profile(120_s);
        add_mptcp(scenario,
                  {add_path(scenario, {.loss = 0.02}), add_path(scenario, {.one_way = 5_ms, .queue_pkts = 10})}, "lia");
        scenario.flows[0].size = Bytes(300'001);
        scenario.flows[0].send_buffer = Bytes(bytes);
        EXPECT_EQ(finished(scenario).connections()[0].delivered_bytes, 300'001);
    }
}

// --- backups --------------------------------------------------------------------------------------------------------

TEST(MultipathTransport, ABackupCarriesDataOnlyWhileNoOtherSubflowIsUsable) {
    Scenario scenario = textbook(30_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario, {.one_way = 5_ms})}, "lia");
    scenario.flows[0].paths[1].is_backup = true;  // although it is the faster one
    scenario.events = {link_event(10_s, 0, false), link_event(20_s, 0, true)};
    Network network(scenario, 1);
    const auto received = [&](std::size_t subflow) { return network.subflows()[subflow].received_bytes; };
    network.run_until(10_s);
    EXPECT_TRUE(network.subflows()[1].is_established);
    EXPECT_EQ(received(1), 0);
    EXPECT_GT(received(0), 10'000'000);
    network.run_until(20_s);
    // From the timeout of the first subflow on: 9.65 Mbit/s
    EXPECT_GT(received(1), 9'000'000);
    network.run_until(24_s);
    const std::int64_t at_return = received(1);
    network.run_until(30_s);
    network.check_invariants();
    EXPECT_EQ(received(1), at_return);
    EXPECT_GT(received(0), 17'000'000);
}

TEST(MultipathTransport, AConnectionOfBackupsOnlyUsesThem) {
    Scenario scenario = textbook(5_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario)}, "lia");
    const std::uint64_t active = finished(scenario).signature();
    for (PathSpec& path : scenario.flows[0].paths) path.is_backup = true;
    EXPECT_EQ(finished(scenario).signature(), active);
}

// --- reinjection ----------------------------------------------------------------------------------------------------

TEST(MultipathTransport, ATimeoutReinjectsEachPacketOnceAndTheSubflowGoesOnTrying) {
    Scenario scenario = textbook(20_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario)}, "lia");
    scenario.events = {link_event(5_s, 2, false), link_event(15_s, 2, true)};
    Network network(scenario, 1);
    network.run_until(5_s);
    const std::uint32_t outstanding = network.subflows()[1].sender.snd_nxt() - network.subflows()[1].sender.snd_una();
    network.run_until(14_s);
    EXPECT_TRUE(network.subflows()[1].is_potentially_failed);
    EXPECT_GE(network.subflow_result(1).timeouts, 3);
    EXPECT_GE(network.subflow_result(1).retransmits, 3);
    const std::int64_t reinjections = network.flow_result(0).reinjections;
    // The packets in flight at the outage and those sent during it until the timeout, each once
    EXPECT_GE(reinjections, outstanding / 2);
    EXPECT_LE(reinjections, network.subflows()[1].sender.snd_nxt() - network.subflows()[1].sender.snd_una());
    network.run_until(20_s);
    network.check_invariants();
    // The next ACK clears the mark of the timeout, and the subflow carries its share again.
    EXPECT_FALSE(network.subflows()[1].is_potentially_failed);
    EXPECT_GT(network.subflows()[1].sender.snd_una(), 0u);
    EXPECT_EQ(network.flow_result(0).reinjections, reinjections);
    // Packets that the subflow itself delivers late are duplicates: discarded, without goodput.
    EXPECT_GT(network.flow_result(0).duplicates, 0);
    EXPECT_EQ(network.connections()[0].delivered_bytes,
              network.subflows()[0].goodput_bytes + network.subflows()[1].goodput_bytes);
}

TEST(MultipathTransport, WhatATimeoutAlreadyQueuedIsNotQueuedAgainByTheClose) {
    // The other subflow is so slow that reinjections of the timeout still wait when the subflow is closed.
    Scenario scenario = textbook(40_s);
    const PathSpec fast = add_path(scenario);
    const PathSpec slow = add_path(scenario, {.rate = BitsPerSec(200'000), .queue_pkts = 10});
    add_mptcp(scenario, {fast, slow}, "uncoupled");
    scenario.events = {link_event(5_s, 0, false), subflow_event(7_s, 0, false)};
    Network network(scenario, 1);
    network.run_until(Nanos(6'999'999'999));
    const Connection& c = network.connections()[0];
    const std::int64_t sent_again = network.flow_result(0).reinjections;
    ASSERT_GT(sent_again, 0);
    ASSERT_GT(c.reinjections.size(), 20u);
    network.run_until(7_s);
    std::vector<std::uint32_t> queued;
    for (std::uint32_t k = c.reinjections.begin_pos(); k != c.reinjections.end_pos(); ++k)
        queued.push_back(c.reinjections[k]);
    std::ranges::sort(queued);
    EXPECT_EQ(std::ranges::adjacent_find(queued), queued.end());
    network.run_until(40_s);
    network.check_invariants();
}

TEST(MultipathTransport, ASinglePathIsWhatTcpIsPacketForPacket) {
    for (const double loss : {0.0, 0.02}) {
        Scenario scenario = textbook(20_s);
        FlowSpec& flow = add_tcp(scenario, add_path(scenario, {.loss = loss}));
        flow.recv_buffer = Bytes(150'000);
        const std::uint64_t tcp = finished(scenario).signature();
        flow.kind = FlowKind::Mptcp;
        flow.scheduler.name = "minrtt";
        const Network mptcp = finished(scenario);
        EXPECT_EQ(mptcp.signature(), tcp);
        EXPECT_EQ(mptcp.connections()[0].meta_timer.expiries, 0);
    }
}

// --- the timeout of the connection ----------------------------------------------------------------------------------

TEST(MultipathTransport, TheMetaTimeoutIsTwiceTheLongestAndDoublesUntilDataIsAcked) {
    Scenario scenario = textbook(40_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario, {.one_way = 20_ms})}, "lia");
    for (const std::uint32_t link : {0u, 2u}) {
        scenario.events.push_back(link_event(5_s, link, false));
        scenario.events.push_back(link_event(12_s, link, true));
    }
    std::ranges::stable_sort(scenario.events, {}, &EventSpec::at);
    Network network(scenario, 1);
    network.run_until(6_s);
    const Nanos progress = network.connections()[0].data_acked_at;
    network.run_until(40_s);
    network.check_invariants();
    const std::vector<Mark> marks = marks_of(network, MarkKind::MetaTimeout);
    ASSERT_GE(marks.size(), 2u);
    // Not before twice the shortest timeout, and each expiry after twice the previous interval
    EXPECT_GE(marks[0].time - progress, 400_ms);
    EXPECT_NEAR(marks[0].value, to_seconds(marks[0].time - progress), 0.4);
    for (std::size_t i = 1; i < marks.size(); ++i) {
        EXPECT_DOUBLE_EQ(marks[i].value, 2 * marks[i - 1].value);
        EXPECT_NEAR(to_seconds(marks[i].time - marks[i - 1].time), marks[i].value, 1e-9);
    }
    // After the outage the connection works again: the last expiry is long past.
    EXPECT_LT(marks.back().time, 20_s);
    EXPECT_GT(network.flow_result(0).goodput_bps, 8e6);
}

TEST(MultipathTransport, TheMetaTimeoutRepairsWhatNobodyElseRepeats) {
    // Two of three paths fail permanently, the second with packets in flight that the first one's timeout had
    // reinjected: each is reinjected once, so that only the connection's timer can send them by the third.
    Scenario scenario = textbook(120_s);
    scenario.transport.rto_max = 1_s;
    const auto path = [&] { return add_path(scenario, {.rate = 2_Mbps, .one_way = 20_ms, .queue_pkts = 10}); };
    const std::vector<PathSpec> paths{path(), path(), path()};
    add_mptcp(scenario, paths, "uncoupled").size = Bytes(6'000'000);
    Network network(scenario, 1);
    scenario.events = {link_event(5_s, 0, false)};
    Network first_dies(scenario, 1);
    first_dies.run_until(10_s);
    const std::vector<Mark> timeouts = marks_of(first_dies, MarkKind::Timeout);
    ASSERT_FALSE(timeouts.empty());
    scenario.events.push_back(link_event(timeouts.front().time + 25_ms, 2, false));
    Network second_dies(scenario, 1);
    second_dies.run_until(scenario.duration);
    second_dies.check_invariants();
    const std::vector<Mark> marks = marks_of(second_dies, MarkKind::MetaTimeout);
    ASSERT_FALSE(marks.empty());
    EXPECT_EQ(second_dies.connections()[0].delivered_bytes, 6'000'000);
    EXPECT_EQ(marks.front().owner, 0u);
}

TEST(MultipathTransport, AWellConnectionHasNoMetaTimeouts) {
    Scenario scenario = linux_profile(60_s);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 200_ms})}, "lia");
    Network network = finished(scenario);
    EXPECT_TRUE(marks_of(network, MarkKind::MetaTimeout).empty());
    EXPECT_EQ(network.connections()[0].meta_timer.expiries, 0);
}

}  // namespace
}  // namespace subflow

// Data is bound to a paced subflow before it is sent, and bound again when the subflow fails.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;

Scenario two_paths(const std::string& controller, Nanos duration = 10_s) {
    Scenario scenario = testing::linux_profile(duration);
    const PathSpec fast = testing::add_path(scenario, {.one_way = 10_ms});
    const PathSpec slow = testing::add_path(scenario, {.one_way = 50_ms});
    testing::add_mptcp(scenario, {fast, slow}, "uncoupled").controller.options = {{"base", controller}};
    return scenario;
}

EventSpec at(Nanos time) {
    EventSpec event;
    event.at = time;
    return event;
}

// The largest number of packets that waited for each subflow at any millisecond of the run.
std::vector<std::uint32_t> largest_queues(const Scenario& scenario) {
    Network network(scenario, 1);
    std::vector<std::uint32_t> largest(network.subflows().size());
    for (Nanos t; t < scenario.duration; t += 1_ms) {
        network.run_until(t);
        network.check_invariants();
        for (std::size_t i = 0; i < largest.size(); ++i)
            largest[i] = std::max(largest[i], network.subflows()[i].sender.queued_pkts());
    }
    return largest;
}

TEST(Binding, OnlyPacedSubflowsHaveSomethingWaitingForThem) {
    // An endless flow: minRTT gives each paced subflow as much as its window permits. When BBR probes, that is two BDP,
    // one of them in flight: of 17 packets on the fast path (10 Mbit/s, 20 ms), and of 83 on the slow path.
    const std::vector<std::uint32_t> paced = largest_queues(two_paths("bbr"));
    EXPECT_GE(paced[0], 10u);
    EXPECT_GE(paced[1], 60u);
    EXPECT_EQ(largest_queues(two_paths("newreno")), (std::vector<std::uint32_t>{0, 0}));
}

TEST(Binding, AloneOnAConnectionDataWaitsThere) {
    Scenario scenario = two_paths("bbr");
    scenario.flows.front().paths.resize(1);
    EXPECT_EQ(largest_queues(scenario), std::vector<std::uint32_t>{0});
}

TEST(Binding, ADroppedPathGivesBackWhatWaitedForIt) {
    // The slow path fails permanently after two seconds, with data waiting for it: by a close, or by an outage without
    // an end. About 4 MB are delivered by then, and another 4 MB take about 3 s over the remaining path.
    for (const bool is_closed : {false, true}) {
        Scenario scenario = two_paths("bbr");
        scenario.flows.front().size = Bytes(8'000'000);
        EventSpec failure = at(2_s);
        if (is_closed) {
            failure.flow = 0;
            failure.subflow = 1;
            failure.open = false;
        } else {
            failure.link = 2;
            failure.up = false;
        }
        scenario.events = {failure};
        Network network(scenario, 1);
        network.run_until(2_s - Nanos(1));
        ASSERT_GT(network.subflows()[1].sender.queued_pkts(), 10u);
        network.run_until(2_s);
        EXPECT_EQ(network.subflows()[1].sender.has_queued(), !is_closed);
        network.run_until(10_s);
        network.check_invariants();
        EXPECT_LT(network.flow_result(0).completion_s, 6);
        EXPECT_EQ(network.connections()[0].delivered_bytes, 8'000'000);
        // The failed subflow does not send packets again that the other one carried.
        EXPECT_FALSE(network.subflows()[1].sender.has_queued());
    }
}

TEST(Binding, ARunCutIntoPiecesOrContinuedFromACopyIsTheSame) {
    const Scenario scenario = two_paths("bbr");
    Network whole(scenario, 1);
    whole.run_until(10_s);
    Network pieces(scenario, 1);
    for (Nanos t = Nanos(777'777); t < 5_s; t += Nanos(777'777)) pieces.run_until(t);
    Network copy = pieces;
    copy.run_until(10_s);
    EXPECT_EQ(whole.signature(), copy.signature());
}

TEST(Binding, TheRateBasedRuleBoundsWhatWaitsByAShareOfARoundTrip) {
    // At most a tenth of rate times RTT, and the packet that exceeds it. Data bound at a higher rate or RTT drains
    // under the previous bound: the largest of the last round trip.
    for (const double share : {0.1, 0.3}) {
        Scenario scenario = two_paths("bbr");
        scenario.flows.front().scheduler = {"mpcc-rate", {{"backlog_share", share}}};
        Network network(scenario, 1);
        std::array<Ring<double>, 2> limits;
        std::array<std::uint32_t, 2> most{};
        for (Nanos t; t < scenario.duration; t += 1_ms) {
            network.run_until(t);
            for (std::size_t i = 0; i < 2; ++i) {
                const SubflowSender& sender = network.subflows()[i].sender;
                if (!sender.rtt().has_sample()) continue;
                limits[i].push_back(share * sender.window().pacing_pps * to_seconds(sender.rtt().srtt()));
                while (limits[i].size() > static_cast<std::uint32_t>(sender.rtt().srtt() / 1_ms)) limits[i].pop_front();
                double limit = 0;
                for (std::uint32_t k = limits[i].begin_pos(); k != limits[i].end_pos(); ++k)
                    limit = std::max(limit, limits[i][k]);
                EXPECT_LE(sender.queued_pkts(), limit + 1) << i << " at " << to_seconds(t);
                most[i] = std::max(most[i], sender.queued_pkts());
            }
        }
        // The slow path holds 83 packets: its share of them does wait.
        EXPECT_GE(most[1], share * 83);
        EXPECT_GT(network.link_result(0).utilisation, 0.9);
        EXPECT_GT(network.link_result(2).utilisation, 0.9);
    }
}

// A transfer of 2 MB with a copy of all data on either path.
Scenario redundant(std::vector<EventSpec> events, const std::string& controller = "newreno") {
    Scenario scenario = two_paths(controller, 60_s);
    scenario.flows.front().scheduler.name = "redundant";
    scenario.flows.front().size = Bytes(2'000'000);
    scenario.events = std::move(events);
    return scenario;
}

EventSpec opens(Nanos time, std::uint32_t subflow, bool open) {
    EventSpec event = at(time);
    event.flow = 0;
    event.subflow = subflow;
    event.open = open;
    return event;
}

Network completed(const Scenario& scenario) {
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    network.check_invariants();
    EXPECT_EQ(network.connections()[0].delivered_bytes, 2'000'000);
    return network;
}

TEST(Copies, AreSentOfEverythingThatIsNotAcknowledgedYet) {
    for (const char* controller : {"newreno", "bbr"}) {
        const Scenario scenario = redundant({}, controller);
        const Network network = completed(scenario);
        std::int64_t sent = 0;
        std::int64_t again = 0;
        for (const Subflow& s : network.subflows()) {
            sent += s.sender.stats().packets_sent;
            again += s.sender.stats().retransmits;
        }
        const std::int64_t copies = network.connections()[0].copied_pkts;
        EXPECT_GT(copies, 300) << controller;
        if (controller == std::string("newreno")) {
            // 2 MB are 1382 packets, each sent once as an original.
            EXPECT_EQ(sent - again, 1382 + copies);
        } else {
            // Some copies that wait for pacing are acknowledged over the other path before they are sent.
            EXPECT_LE(sent - again, 1382 + copies);
        }
    }
}

TEST(Copies, NothingIsLostWithASubflowThatIsClosed) {
    // Close the fast subflow in the middle of the transfer; both, one after the first has reopened; both at once, so
    // that no subflow with sent data remains.
    completed(redundant({opens(1_s, 0, false)}));
    completed(redundant({opens(500_ms, 0, false), opens(700_ms, 0, true), opens(1_s, 1, false)}));
    completed(redundant({opens(500_ms, 0, false), opens(500_ms, 1, false), opens(2_s, 1, true)}));
}

TEST(Copies, AnOutageOfTheFastPathCostsNothingButItsSpeed) {
    // The slow path has sent only copies, but continues from the cumulative acknowledgement. It alone takes 2 MB / 9.65
    // Mbit/s = 1.7 s and its slow start; the fast path fails after half a second.
    EventSpec outage = at(500_ms);
    outage.link = 0;
    outage.up = false;
    const Scenario scenario = redundant({outage});
    const Network network = completed(scenario);
    EXPECT_LT(network.flow_result(0).completion_s, 2.5);
    EXPECT_EQ(network.connections()[0].reinjected_pkts, 0);
}

TEST(Sender, WhatWaitsIsInOrderAndUndelivered) {
    SubflowSender sender(NewReno(Options(NewReno::kInfo, {})), {});
    sender.queue(7);
    sender.queue(3);
    EXPECT_EQ(sender.next_queued(), 7u);
    EXPECT_EQ(sender.queued_pkts(), 2u);
    std::vector<std::uint32_t> undelivered;
    sender.for_each_undelivered([&](std::uint32_t data_seq) { undelivered.push_back(data_seq); });
    EXPECT_EQ(undelivered, (std::vector<std::uint32_t>{7, 3}));
    EXPECT_EQ(sender.probe_with_new(sender.take_queued(), Nanos(0), {}).data_seq, 7u);
    EXPECT_EQ(sender.take_queued(), 3u);
    EXPECT_FALSE(sender.has_queued());
}

}  // namespace
}  // namespace subflow

// Data is bound to a paced subflow ahead of its time, and what becomes of it when the subflow fails.
#include <gtest/gtest.h>

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
    // An endless flow: minRTT hands each paced subflow what its window takes. Once BBR probes, that is two BDP, of
    // which one is on its way: of 17 packets on the fast path (10 Mbit/s, 20 ms), and of 83 on the slow one.
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
    // The slow path fails for good after two seconds, with data waiting for it: by a close, or by an outage that it
    // never returns from. 4 MB or so are delivered by then, and another 4 MB take some 3 s over what is left.
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
        // What was carried by the other subflow does not go out a second time.
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

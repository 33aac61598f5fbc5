// A simulation as one object: ended early and continued, failed and isolated, restored and valid again.
#include "simulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <thread>

#include "allocations.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

Scenario lossy_pair(Nanos duration) {
    Scenario scenario = linux_profile(duration);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 10_ms})}, "lia");
    return scenario;
}

EventSpec rate_change(std::uint32_t link, BitsPerSec rate) {
    EventSpec change;
    change.link = link;
    change.rate = rate;
    return change;
}

std::uint64_t signature_alone(const Scenario& scenario, std::uint64_t seed = 1) {
    Network network(scenario, seed);
    network.run_until(scenario.duration);
    return network.signature();
}

TEST(Simulation, EndsAfterTheEventsAllowedAndGoesOnFromThere) {
    const Scenario scenario = lossy_pair(20_s);
    Simulation simulation(scenario, 1, 100_ms);
    int parts = 0;
    Nanos reached{};
    while (simulation.run_until(20_s, 777) == RunEnd::Exhausted) {
        simulation.network().check_invariants();
        EXPECT_GE(simulation.now(), reached);
        EXPECT_TRUE(std::isfinite(simulation.network().flow_result(0).goodput_bps));
        // Every sample up to the current time is recorded.
        EXPECT_EQ(simulation.recorder().count(), static_cast<std::size_t>(simulation.now() / 100_ms));
        reached = simulation.now();
        ++parts;
    }
    // 20 s at up to 20 Mbit/s are about 30 000 packets, with an ACK for at least every second one.
    EXPECT_GT(parts, 20);
    EXPECT_EQ(simulation.recorder().count(), 200u);
    EXPECT_EQ(simulation.network().signature(), signature_alone(scenario));
}

TEST(Simulation, TakesALiveChangeAsIfTheScenarioHadHadIt) {
    const Scenario scenario = lossy_pair(20_s);
    Simulation simulation(scenario, 1, 100_ms);
    simulation.run_until(7_s);
    EventSpec change = rate_change(0, 3_Mbps);
    change.up = true;
    EXPECT_EQ(simulation.apply(std::span(&change, 1)), 7_s + Nanos(1));
    simulation.run_until(20_s);
    Scenario replayed = scenario;
    replayed.events.push_back(change);
    replayed.events.back().at = 7_s + Nanos(1);
    EXPECT_EQ(simulation.network().signature(), signature_alone(replayed));
    EXPECT_NE(simulation.network().signature(), signature_alone(scenario));
}

TEST(Simulation, LiveChangesOfOneTimeComeAfterTheScenariosAndInTheirOrder) {
    Scenario scenario = lossy_pair(10_s);
    scenario.events.push_back(rate_change(0, 1_Mbps));
    scenario.events.back().at = 4_s + Nanos(1);
    Simulation simulation(scenario, 1, 100_ms);
    simulation.run_until(4_s);
    const EventSpec first = rate_change(0, 2_Mbps);
    const EventSpec second = rate_change(0, 6_Mbps);
    simulation.apply(std::span(&first, 1));
    simulation.apply(std::span(&second, 1));
    simulation.run_until(10_s);
    Scenario last_alone = scenario;
    last_alone.events.front().rate = 6_Mbps;
    EXPECT_EQ(simulation.network().signature(), signature_alone(last_alone));
    const std::vector<Mark> marks = simulation.network().take_marks();
    EXPECT_EQ(std::ranges::count(marks, MarkKind::LinkChange, &Mark::kind), 3);
}

TEST(Simulation, ARefusedLiveChangeChangesNothing) {
    const Scenario scenario = lossy_pair(10_s);
    Simulation simulation(scenario, 1, 100_ms);
    simulation.run_until(4_s);
    const EventSpec good = rate_change(0, 2_Mbps);
    EventSpec bad = rate_change(0, 2_Mbps);
    bad.loss = 1.5;
    const EventSpec both[] = {good, bad};
    EXPECT_THROW(simulation.apply(both), ScenarioError);
    const EventSpec nowhere = rate_change(99, 2_Mbps);
    EXPECT_THROW(simulation.apply(std::span(&nowhere, 1)), ScenarioError);
    simulation.run_until(10_s);
    EXPECT_EQ(simulation.network().signature(), signature_alone(scenario));
    EXPECT_THROW(simulation.apply(std::span(&good, 1)), ScenarioError);  // the run has ended
}

TEST(Simulation, ASnapshotHasTheLiveChangesMadeByThen) {
    const Scenario scenario = lossy_pair(10_s);
    Simulation simulation(scenario, 1, 100_ms);
    simulation.run_until(2_s);
    const auto before = simulation.snapshot();
    const EventSpec change = rate_change(0, 2_Mbps);
    simulation.apply(std::span(&change, 1));
    const auto after = simulation.snapshot();
    simulation.run_until(10_s);
    const std::uint64_t changed = simulation.network().signature();
    simulation.restore(before);
    simulation.run_until(10_s);
    EXPECT_EQ(simulation.network().signature(), signature_alone(scenario));
    simulation.restore(after);
    simulation.run_until(10_s);
    EXPECT_EQ(simulation.network().signature(), changed);
}

TEST(Simulation, ARequestToStopEndsTheNextCallOnceAndChangesNothing) {
    const Scenario scenario = lossy_pair(20_s);
    Simulation simulation(scenario, 1, 100_ms);
    simulation.interrupt();
    EXPECT_EQ(simulation.run_until(20_s), RunEnd::Interrupted);
    EXPECT_EQ(simulation.now(), 0_s);
    EXPECT_EQ(simulation.run_until(20_s), RunEnd::Reached);
    EXPECT_EQ(simulation.network().signature(), signature_alone(scenario));
}

TEST(Simulation, CanBeStoppedFromAnotherThreadWithinOneStep) {
    // Most of a day at 1 Gbit/s: minutes of work, in one call. Only the interrupt ends it in time.
    Scenario scenario = textbook(60'000_s);
    scenario.mss = Bytes(64'000);
    add_tcp(scenario, add_path(scenario, {.rate = 1_Gbps, .one_way = 5_ms, .queue_pkts = 500}));
    Simulation simulation(scenario, 1, 1_s);
    RunEnd end = RunEnd::Reached;
    std::thread runner([&] { end = simulation.run_until(60'000_s); });
    while (simulation.recorder().count() == 0) std::this_thread::yield();  // until it runs
    simulation.interrupt();
    runner.join();
    EXPECT_EQ(end, RunEnd::Interrupted);
    EXPECT_LT(simulation.now(), 60'000_s);
    simulation.network().check_invariants();
}

TEST(Simulation, CanBeStoppedWhileItOnlySamples) {
    // No traffic after 1 s, a sample every microsecond: sampling must check for the request.
    Scenario scenario = textbook(10_s);
    add_tcp(scenario, add_path(scenario)).stop = 1_s;
    Simulation simulation(scenario, 1, 10_us);
    simulation.run_until(2_s);
    EXPECT_EQ(simulation.run_until(10_s, 1000), RunEnd::Exhausted);
    EXPECT_LT(simulation.now(), 3_s);
}

// An unlimited queue in front of a slow link, and a source without congestion control: the ring must grow.
Scenario growing_queue() {
    Scenario scenario = textbook(100_s);
    FlowSpec cbr;
    cbr.name = "cbr";
    cbr.kind = FlowKind::Cbr;
    cbr.datagrams.rate = BitsPerSec(10e6);
    cbr.paths = {add_path(scenario, {.rate = 1_Mbps})};
    scenario.links[0].queue_limit_pkts.reset();
    scenario.flows.push_back(cbr);
    return scenario;
}

TEST(Simulation, RunningOutOfMemoryLeavesOthersIntactAndCanBeUndone) {
    const Scenario scenario = growing_queue();
    Simulation failing(scenario, 1, 1_s);
    Simulation other(scenario, 1, 1_s);
    failing.run_until(1_s);
    const Simulation::Snapshot before = failing.snapshot();
    std::uint64_t beside = 0;
    std::thread neighbour([&] {
        Simulation inner(scenario, 1, 1_s);
        inner.run_until(100_s);
        beside = inner.network().signature();
    });
    {
        const OutOfMemory no_more(0);
        EXPECT_THROW(failing.run_until(100_s), std::bad_alloc);
    }
    neighbour.join();
    EXPECT_LT(failing.now(), 100_s);
    EXPECT_EQ(failing.failure(), "out of memory");
    EXPECT_THROW(failing.run_until(100_s), InternalError);
    EXPECT_THROW(failing.snapshot(), InternalError);
    EXPECT_GT(failing.network().packets_delivered(), 0);  // readable

    other.run_until(100_s);
    EXPECT_EQ(other.network().signature(), signature_alone(scenario));
    EXPECT_EQ(beside, signature_alone(scenario));

    failing.restore(before);
    EXPECT_EQ(failing.failure(), "");
    EXPECT_EQ(failing.run_until(100_s), RunEnd::Reached);
    EXPECT_EQ(failing.network().signature(), signature_alone(scenario));
}

// A day at 1 Gbit/s, a run that the test must stop.
Scenario endless() {
    Scenario scenario = textbook(60'000_s);
    scenario.mss = Bytes(64'000);
    add_tcp(scenario, add_path(scenario, {.rate = 1_Gbps, .one_way = 5_ms, .queue_pkts = 500}));
    return scenario;
}

TEST(Simulation, AnotherThreadThatUsesItWhileItRunsIsRefusedAndChangesNothing) {
    const Scenario scenario = endless();
    Simulation simulation(scenario, 1, 100_ms);
    const Simulation::Snapshot start = simulation.snapshot();
    const EventSpec change = rate_change(0, 2_Mbps);
    RunEnd end = RunEnd::Reached;
    std::thread runner([&] { end = simulation.run_until(60'000_s); });
    while (simulation.recorder().count() == 0) std::this_thread::yield();  // until it is under way
    int refused = 0;
    const auto expect_refusal = [&](auto use) {
        try {
            use();
            ADD_FAILURE() << "it was not in use";
        } catch (const BusyError& error) {
            EXPECT_NE(std::string(error.what()).find("in use by another thread"), std::string::npos);
            ++refused;
        }
    };
    expect_refusal([&] { simulation.run_until(1_s); });
    expect_refusal([&] { simulation.snapshot(); });
    expect_refusal([&] { simulation.restore(start); });
    expect_refusal([&] { simulation.fork(start); });
    expect_refusal([&] { simulation.apply(std::span(&change, 1)); });
    expect_refusal([&] { simulation.set_limits({}); });
    expect_refusal([&] { const Simulation::Turn turn = simulation.claim(); });
    EXPECT_EQ(refused, 7);
    simulation.interrupt();
    runner.join();
    EXPECT_EQ(end, RunEnd::Interrupted);
    // The refused calls have no effect: the state equals that of a single simulation after as many events.
    simulation.network().check_invariants();
    Network alone(scenario, 1);
    alone.run_until(simulation.now());
    EXPECT_EQ(simulation.network().signature(), alone.signature());
    EXPECT_EQ(simulation.run_until(simulation.now() + 1_s), RunEnd::Reached);
}

TEST(Simulation, EndsSoonAfterTheCrossingsAllowed) {
    Simulation simulation(endless(), 1, 100_ms);
    simulation.set_limits({.link_crossings = 1'000'000});
    EXPECT_EQ(simulation.run_until(60'000_s), RunEnd::OverEvents);
    EXPECT_GT(simulation.network().link_crossings(), 1'000'000);
    EXPECT_LT(simulation.network().link_crossings(), 1'200'000);
    EXPECT_EQ(simulation.run_until(60'000_s), RunEnd::OverEvents);
    simulation.set_limits({});
    EXPECT_EQ(simulation.run_until(simulation.now() + 1_s), RunEnd::Reached);
}

TEST(Simulation, EndsSoonAfterTheMemoryAllowedAndNamesWhatHasIt) {
    const Scenario scenario = growing_queue();
    const std::size_t before = heap_bytes();
    Simulation simulation(scenario, 1, 1_s);
    simulation.set_limits({.memory_bytes = 4'000'000});  // 2 MB of them are the buffer of marks
    restart_peak();
    // Also in slices that each reach their end
    RunEnd end = RunEnd::Reached;
    for (Nanos at = 1_s; end == RunEnd::Reached && at < 100_s; at += 1_s) end = simulation.run_until(at);
    EXPECT_EQ(end, RunEnd::OverMemory);
    EXPECT_GT(simulation.memory_bytes(), 4'000'000u);
    EXPECT_LT(peak_heap_bytes() - before, 8'000'000u);  // a ring of twice the size, and the previous one
    const Network::Fullest fullest = simulation.network().fullest();
    EXPECT_TRUE(fullest.is_link);
    EXPECT_EQ(scenario.links[fullest.index].name, scenario.links[0].name);
    EXPECT_GT(fullest.bytes, 1'000'000u);
    simulation.network().check_invariants();
}

TEST(Simulation, EveryAllocationOfItsConstructionMayFail) {
    const Scenario scenario = lossy_pair(1_s);
    const auto attempt = [&](long granted) {
        try {
            const OutOfMemory limit(granted);
            Simulation simulation(scenario, 1, 100_ms);
            return true;
        } catch (const std::bad_alloc&) {
            return false;
        }
    };
    long granted = 0;
    while (!attempt(granted)) ++granted;
    EXPECT_GT(granted, 10);  // links, rings, columns, …; memory taken before each failure has been freed
}

TEST(Simulation, ABrokenInvariantNamesItselfAndEndsOnlyThisOne) {
    const Scenario scenario = lossy_pair(20_s);
    Simulation broken(scenario, 1, 100_ms);
    Simulation sound(scenario, 1, 100_ms);
    broken.network().capture_packets(0, 1);  // so that an ACK carries its DATA_ACK, and not its place in a lane
    broken.run_until(5_s);
    // An ACK for packets that were never sent, put on the reverse link by the test.
    Packet forged;
    forged.set_tag(PacketKind::Ack, 0);
    forged.seq = 4'000'000'000;
    forged.size = 52;
    forged.hop = 0;
    broken.network().links()[1].offer(forged, broken.now(), 0);
    broken.network().links()[1].hold(forged);
    try {
        broken.run_until(20_s);
        FAIL() << "the forged ACK went unnoticed";
    } catch (const InternalError& error) {
        EXPECT_NE(std::string(error.what()).find("cumulative <= snd_nxt_"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("sender.cpp"), std::string::npos) << error.what();
    }
    try {
        broken.run_until(20_s);
        FAIL() << "a failed simulation continued";
    } catch (const InternalError& error) {
        EXPECT_NE(std::string(error.what()).find("failed before"), std::string::npos) << error.what();
    }
    sound.run_until(20_s);
    EXPECT_EQ(sound.network().signature(), signature_alone(scenario));
}

}  // namespace
}  // namespace subflow

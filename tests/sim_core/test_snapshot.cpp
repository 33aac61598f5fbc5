// Snapshots and forks: their size, and the equality of a fork and its origin until a change.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>

#include "allocations.h"
#include "combinations.h"
#include "instant.h"
#include "random_scenario.h"
#include "scenarios.h"
#include "simulation.h"

namespace subflow {
namespace {

using namespace testing;

// The reported bytes of a snapshot equal the bytes requested from the heap. The heap uses more by its rounding, less
// than 24 bytes for each block.
void expect_true_size(const Simulation& simulation) {
    const long pieces_before = allocation_count();
    const std::size_t heap_before = testing::heap_bytes();
    const auto snapshot = std::make_unique<const Simulation::Snapshot>(simulation.snapshot());
    const std::size_t heap = testing::heap_bytes() - heap_before;
    const auto pieces = static_cast<std::size_t>(allocation_count() - pieces_before);
    EXPECT_LE(snapshot->bytes(), heap);
    EXPECT_LE(heap, snapshot->bytes() + 24 * pieces);
}

TEST(Snapshot, TellsTheBytesThatItTakesWhateverRuns) {
    for (const Combination& combination : combinations()) {
        SCOPED_TRACE(name_of(combination));
        Simulation simulation(storm(combination).scenario, 1, 50_ms);
        expect_true_size(simulation);
        simulation.network().record_decisions({.capacity = 3000});
        simulation.run_until(simulation.duration() / 3);
        expect_true_size(simulation);
        simulation.network().take_marks();
        simulation.network().take_decisions();
        simulation.run_until(simulation.duration() / 2);
        expect_true_size(simulation);
    }
}

TEST(Snapshot, TellsTheBytesThatItTakesWhateverTheLinksAre) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        testing::Draws draw(seed);
        Scenario scenario = random_network(draw);
        slow_down(scenario, 50'000);
        Simulation simulation(scenario, seed, 100_ms);
        simulation.run_until(simulation.duration() / 2);
        expect_true_size(simulation);
    }
}

Scenario lossy_pair() {
    Scenario scenario = linux_profile(20_s);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 10_ms})}, "lia");
    return scenario;
}

std::uint64_t hash_of_traces(const Simulation& simulation) {
    std::uint64_t hash = 0;
    for (std::size_t column = 0; column < simulation.recorder().columns().size(); ++column)
        for (const float value : simulation.recorder().values(column))
            hash = combine64(hash, std::bit_cast<std::uint32_t>(value));
    return hash;
}

std::size_t undefined_samples(const Simulation& simulation, Nanos from, Nanos to) {
    const Recorder& recorder = simulation.recorder();
    // The goodput of the flow is always defined.
    const std::vector<float> goodput = recorder.values(0);
    std::size_t count = 0;
    for (std::size_t k = 0; k < goodput.size(); ++k) {
        const Nanos at = recorder.interval() * static_cast<std::int64_t>(k + 1);
        if (at > from && at <= to && std::isnan(goodput[k])) ++count;
    }
    return count;
}

EventSpec slower() {
    EventSpec change;
    change.link = 0;
    change.rate = 1_Mbps;
    return change;
}

TEST(Fork, OutlivesItsOriginAndTakesItsSnapshots) {
    auto origin = std::make_unique<Simulation>(lossy_pair(), 1, 100_ms);
    origin->run_until(5_s);
    const Simulation::Snapshot early = origin->snapshot();
    origin->run_until(Nanos(7'345'678'901));  // in the middle of an interval
    const std::unique_ptr<Simulation> fork = origin->fork(origin->snapshot());
    origin->run_until(20_s);
    const std::uint64_t signature = origin->network().signature();
    const std::uint64_t traces = hash_of_traces(*origin);
    origin.reset();
    fork->run_until(20_s);
    EXPECT_EQ(fork->network().signature(), signature);
    EXPECT_EQ(hash_of_traces(*fork), traces);
    fork->restore(early);
    EXPECT_EQ(fork->now(), 5_s);
    fork->run_until(20_s);
    EXPECT_EQ(fork->network().signature(), signature);
    EXPECT_EQ(hash_of_traces(*fork), traces);
    EXPECT_THROW(Simulation(lossy_pair(), 1, 100_ms).restore(early), ScenarioError);
    EXPECT_THROW(Simulation(lossy_pair(), 1, 100_ms).fork(early), ScenarioError);
}

TEST(Fork, GoesItsOwnWayWithoutTouchingItsOrigin) {
    Simulation origin(lossy_pair(), 1, 100_ms);
    origin.run_until(5_s);
    const std::unique_ptr<Simulation> fork = origin.fork(origin.snapshot());
    const EventSpec change = slower();
    fork->apply(std::span(&change, 1));
    fork->run_until(20_s);
    origin.run_until(20_s);
    Simulation alone(lossy_pair(), 1, 100_ms);
    alone.run_until(20_s);
    EXPECT_EQ(origin.network().signature(), alone.network().signature());
    EXPECT_EQ(hash_of_traces(origin), hash_of_traces(alone));
    EXPECT_NE(fork->network().signature(), alone.network().signature());
    EXPECT_EQ(fork->network().live_changes().size(), 1u);
}

TEST(Fork, HasTheMarksThatNobodyHadTakenBeforeIt) {
    Simulation origin(lossy_pair(), 1, 100_ms);
    origin.run_until(5_s);
    const std::size_t taken = origin.network().take_marks().size();
    origin.run_until(10_s);
    const std::unique_ptr<Simulation> fork = origin.fork(origin.snapshot());
    const std::vector<Mark> of_origin = origin.network().take_marks();
    const std::vector<Mark> of_fork = fork->network().take_marks();
    EXPECT_GT(taken, 0u);
    ASSERT_EQ(of_origin.size(), of_fork.size());
    for (std::size_t i = 0; i < of_fork.size(); ++i) EXPECT_EQ(of_fork[i].time, of_origin[i].time);
    EXPECT_TRUE(fork->network().take_marks().empty());
}

// Back and forth over one history, every sample is kept; a different history keeps none of them.
TEST(Fork, KeepsTheSamplesOfItsHistoryAndNoOthers) {
    Simulation simulation(lossy_pair(), 1, 100_ms);
    simulation.run_until(5_s);
    const Simulation::Snapshot early = simulation.snapshot();
    const EventSpec change = slower();
    simulation.run_until(8_s);
    simulation.apply(std::span(&change, 1));
    simulation.run_until(12_s);
    const Simulation::Snapshot late = simulation.snapshot();
    const std::uint64_t traces = hash_of_traces(simulation);

    simulation.restore(early);
    EXPECT_EQ(simulation.recorder().count(), 50u);
    simulation.restore(late);
    EXPECT_EQ(hash_of_traces(simulation), traces);
    simulation.restore(early);
    simulation.run_until(7_s);  // before the change: the same again
    simulation.restore(late);
    EXPECT_EQ(hash_of_traces(simulation), traces);

    simulation.restore(early);
    simulation.run_until(10_s);  // without the change
    simulation.restore(late);
    EXPECT_EQ(simulation.recorder().count(), 120u);
    EXPECT_EQ(undefined_samples(simulation, 0_s, 8_s), 0u);
    EXPECT_EQ(undefined_samples(simulation, 8_s, 12_s), 40u);

    // A simulation that never ran there has no samples.
    Simulation other(lossy_pair(), 1, 100_ms);
    const Simulation::Snapshot start = other.snapshot();
    const std::unique_ptr<Simulation> ahead = other.fork(start);
    ahead->run_until(3_s);
    other.restore(ahead->snapshot());
    EXPECT_EQ(other.recorder().count(), 30u);
    EXPECT_EQ(undefined_samples(other, 0_s, 3_s), 30u);
    other.run_until(4_s);
    EXPECT_EQ(undefined_samples(other, 3_s, 4_s), 0u);
}

}  // namespace
}  // namespace subflow

// A run is a function of scenario and seed only, independent of concurrent runs, steps and samples.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "random_scenario.h"
#include "simulation.h"

namespace subflow::testing {
namespace {

constexpr std::uint64_t kScenarios = 16;

std::vector<Scenario> scenarios() {
    std::vector<Scenario> all;
    for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
        Draws draw(1'000'000 + seed);
        all.push_back(random_network(draw));
        slow_down(all.back(), 10'000);
    }
    return all;
}

std::vector<std::uint64_t> signatures_alone(const std::vector<Scenario>& all) {
    std::vector<std::uint64_t> signatures;
    for (std::size_t i = 0; i < all.size(); ++i) {
        Network network(all[i], i);
        network.run_until(all[i].duration);
        signatures.push_back(network.signature());
    }
    return signatures;
}

TEST(Determinism, OneToEightThreadsRunWhatOneRunsAlone) {
    const std::vector<Scenario> all = scenarios();
    const std::vector<std::uint64_t> alone = signatures_alone(all);
    for (unsigned threads = 1; threads <= 8; ++threads) {
        std::vector<std::uint64_t> together(all.size());
        std::atomic<std::size_t> next = 0;
        std::vector<std::thread> workers;
        for (unsigned t = 0; t < threads; ++t) {
            workers.emplace_back([&] {
                for (std::size_t i; (i = next++) < all.size();) {
                    Simulation simulation(all[i], i, Nanos(1 + static_cast<std::int64_t>(threads) * 37'000'000));
                    // As many steps as threads
                    for (unsigned step = 1; step <= threads; ++step)
                        simulation.run_until(all[i].duration * step / threads);
                    together[i] = simulation.network().signature();
                }
            });
        }
        for (std::thread& worker : workers) worker.join();
        EXPECT_EQ(together, alone) << threads << " threads";
    }
}

TEST(Determinism, SamplingLeavesTheRunAsItIs) {
    const std::vector<Scenario> all = scenarios();
    const std::vector<std::uint64_t> alone = signatures_alone(all);
    for (const Nanos interval : {1_ms, Nanos(33'333'333), 1_s, 1000_s}) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            Simulation simulation(all[i], i, interval);
            simulation.run_until(all[i].duration);
            EXPECT_EQ(simulation.network().signature(), alone[i]) << i << " every " << interval.value << " ns";
        }
    }
}

TEST(Determinism, WhatFollowsASnapshotIsTheSameAsOftenAsItIsPutBack) {
    const std::vector<Scenario> all = scenarios();
    const std::vector<std::uint64_t> alone = signatures_alone(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        Simulation simulation(all[i], i, 100_ms);
        simulation.run_until(all[i].duration / 3);
        const Simulation::Snapshot snapshot = simulation.snapshot();
        for (const std::int64_t parts : {1, 2, 7}) {
            for (std::int64_t part = 1; part <= parts; ++part) simulation.run_until(all[i].duration * part / parts);
            EXPECT_EQ(simulation.network().signature(), alone[i]) << i << " in " << parts << " parts";
            simulation.restore(snapshot);
        }
    }
}

}  // namespace
}  // namespace subflow::testing

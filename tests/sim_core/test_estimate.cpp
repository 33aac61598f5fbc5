// Estimates before a run against the run itself: link crossings as counted by the links, bytes as counted by the heap.
#include "estimate.h"

#include <gtest/gtest.h>

#include "allocations.h"
#include "scenarios.h"
#include "simulation.h"

namespace subflow {
namespace {

using namespace testing;

struct Case {
    const char* name;
    Scenario scenario;
    Nanos interval = 100_ms;
    std::optional<DecisionLog::Limits> decisions = {};
};

Scenario one_tcp(Nanos duration, const PathOptions& path) {
    Scenario scenario = textbook(duration);
    add_tcp(scenario, add_path(scenario, path));
    return scenario;
}

Scenario many_tcp(int count) {
    Scenario scenario = linux_profile(10_s);
    const PathSpec path = add_path(scenario, {.rate = 200_Mbps, .one_way = 20_ms, .queue_pkts = 667});
    for (int i = 0; i < count; ++i) add_tcp(scenario, path, "tcp." + std::to_string(i));
    return scenario;
}

Scenario two_paths(const PathOptions& one, const PathOptions& two) {
    Scenario scenario = linux_profile(60_s);
    add_mptcp(scenario, {add_path(scenario, one), add_path(scenario, two)}, "lia");
    return scenario;
}

Scenario dumbbell() {
    // Access, bottleneck and egress, each with a queue in both directions.
    Scenario scenario = textbook(20_s);
    PathSpec path;
    for (const auto& [rate, queue] : {std::pair{1_Gbps, 1000}, std::pair{100_Mbps, 333}, std::pair{1_Gbps, 1000}}) {
        const PathSpec hop = add_path(scenario, {.rate = rate, .one_way = 6_ms, .queue_pkts = queue});
        LinkSpec& back = scenario.links[hop.reverse[0]];
        back.rate = rate;
        back.queue_limit_pkts = queue;
        path.forward.push_back(hop.forward[0]);
        path.reverse.insert(path.reverse.begin(), hop.reverse[0]);
    }
    add_tcp(scenario, path);
    return scenario;
}

// Endless flows limited only by their links: the case that the estimate models.
std::vector<Case> full_links() {
    std::vector<Case> cases;
    cases.push_back({"one flow", one_tcp(100_s, {})});
    cases.push_back({"a deep queue", one_tcp(10_s, {.one_way = 10_ms, .queue_pkts = 1000})});
    cases.push_back({"a long fat path", one_tcp(5_s, {.rate = 100_Mbps, .one_way = 50_ms, .queue_pkts = 833})});
    cases.push_back({"fine samples", one_tcp(20_s, {}), 100_us});
    cases.push_back({"a hundred flows", many_tcp(100)});
    cases.push_back({"two equal paths", two_paths({}, {})});
    cases.push_back(
        {"two unequal paths", two_paths({.rate = 20_Mbps, .one_way = 5_ms}, {.one_way = 150_ms, .queue_pkts = 250})});
    cases.push_back({"a dumbbell", dumbbell()});
    cases.push_back({"decisions of a flow", one_tcp(20_s, {}), 100_ms, DecisionLog::Limits{}});
    cases.push_back({"decisions of two paths", two_paths({}, {}), 100_ms, DecisionLog::Limits{.capacity = 20'000}});
    cases.push_back({"decisions of a hundred flows", many_tcp(100), 100_ms, DecisionLog::Limits{.capacity = 500}});
    return cases;
}

// Other flows use less than the capacity.
std::vector<Case> held_back() {
    std::vector<Case> cases;
    cases.push_back({"lossy paths", two_paths({.loss = 0.02}, {.loss = 0.05})});
    Scenario short_transfer = two_paths({}, {.one_way = 10_ms});
    short_transfer.flows[0].size = Bytes(2'000'000);
    cases.push_back({"a short transfer", short_transfer});
    Scenario small_buffer = two_paths({.rate = 1_Gbps}, {.rate = 1_Gbps});
    small_buffer.flows[0].recv_buffer = Bytes(200'000);
    cases.push_back({"a small receive buffer", small_buffer});
    return cases;
}

struct Measured {
    double crossings = 0;
    double bytes = 0;  // at the peak, without the buffer of marks, which has a fixed size
};

Measured measure(const Case& c) {
    const std::size_t before = heap_bytes();
    restart_peak();
    Simulation simulation(c.scenario, 1, c.interval);
    if (c.decisions) simulation.network().record_decisions(*c.decisions);
    simulation.run_until(c.scenario.duration);
    if (c.decisions) simulation.network().take_decisions();
    return {static_cast<double>(simulation.network().link_crossings()),
            static_cast<double>(peak_heap_bytes() - before) - static_cast<double>(MarkLog::kBytes)};
}

TEST(Estimate, IsCloseWhereLinksAreFull) {
    for (const Case& c : full_links()) {
        const Estimate told = estimate(c.scenario, c.interval, c.decisions);
        const double told_bytes = told.memory_bytes() - static_cast<double>(MarkLog::kBytes);
        const Measured is = measure(c);
        EXPECT_LE(is.crossings, 1.25 * told.link_crossings) << c.name;
        EXPECT_GE(is.crossings, told.link_crossings / 2) << c.name;
        EXPECT_LE(is.bytes, 2 * told_bytes) << c.name;
        // Samples that repeat each other take less than two bytes each.
        EXPECT_GE(is.bytes, told_bytes / 8) << c.name;
    }
}

// Hours at 10 Gbit/s, and a buffer of more than a gigabyte: the estimate computes without building them.
TEST(Estimate, TellsOfMuchWithoutBuildingIt) {
    const std::size_t before = heap_bytes();
    restart_peak();
    Scenario scenario = textbook(10'000_s);
    scenario.mss = Bytes(64'000);
    add_tcp(scenario, add_path(scenario, {.rate = 10_Gbps, .one_way = 50_ms, .queue_pkts = 100'000'000}));
    const Estimate told = estimate(scenario, 1_s);
    // 10^14 bits in packets of 64 052 bytes, and an ACK for each
    EXPECT_NEAR(told.link_crossings, 2 * 1e14 / (8 * 64'052), 0.01e9);
    EXPECT_GT(told.packet_bytes, 9e9);
    EXPECT_EQ(told.fullest, "link '" + scenario.links[0].name + "'");
    EXPECT_LT(peak_heap_bytes() - before, 100'000u);
}

TEST(Estimate, IsAnUpperBoundWhereFlowsAreHeldBack) {
    for (const Case& c : held_back()) {
        const Estimate told = estimate(c.scenario, c.interval, c.decisions);
        const double told_bytes = told.memory_bytes() - static_cast<double>(MarkLog::kBytes);
        const Measured is = measure(c);
        EXPECT_LE(is.crossings, 1.25 * told.link_crossings) << c.name;
        EXPECT_LE(is.bytes, 2 * told_bytes) << c.name;
    }
}

}  // namespace
}  // namespace subflow

// Conformance of the lists: every congestion controller with every packet scheduler passes the small networks:
// invariants hold, counters balance, every byte arrives once and in order, finite transfers complete, and a seed gives
// one run.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "combinations.h"
#include "scenario_checks.h"
#include "sched/schedulers.h"

namespace subflow::testing {
namespace {

std::uint64_t signature_of(const Scenario& scenario, std::uint64_t seed = 1) {
    Network network(scenario, seed);
    network.run_until(scenario.duration);
    network.check_invariants();
    return network.signature();
}

// The first flow has delivered its data.
void expect_delivery(const SmallNetwork& small, const Network& network) {
    const FlowResult result = network.flow_result(0);
    const std::optional<Bytes> size = small.scenario.flows.front().size;
    if (size) {
        EXPECT_EQ(network.connections().front().delivered_bytes, size->value);
        EXPECT_TRUE(std::isfinite(result.completion_s));
    } else {
        // An agent that changes nothing keeps the window at the end of slow start.
        const double part = network.agents().empty() ? 1 : 0.5;
        EXPECT_GT(result.active_goodput_bps, part * small.least_goodput_bps);
    }
}

void expect_conformance(const SmallNetwork& small, std::uint64_t seed) {
    SCOPED_TRACE(small.name);
    Draws draw(seed);
    try {
        expect_delivery(small, run_and_check(small.scenario, seed, draw));
    } catch (const InternalError& error) {
        ADD_FAILURE() << error.what() << '\n' << describe(small.scenario);
    }
}

class EveryCombination : public ::testing::TestWithParam<Combination> {};

TEST_P(EveryCombination, MastersEverySmallNetwork) {
    for (const SmallNetwork& small : small_networks(GetParam())) expect_conformance(small, 1);
}

TEST_P(EveryCombination, RunsAsItsSeedSays) {
    const Scenario scenario = storm(GetParam()).scenario;
    const std::uint64_t signature = signature_of(scenario, 5);
    EXPECT_EQ(signature_of(scenario, 5), signature);
    EXPECT_NE(signature_of(scenario, 6), signature);
}

INSTANTIATE_TEST_SUITE_P(Lists, EveryCombination, ::testing::ValuesIn(combinations()),
                         [](const auto& tested) { return name_of(tested.param); });

class EverySinglePathController : public ::testing::TestWithParam<AlgorithmChoice> {};

// RFC 8684 adds a mapping and nothing else: a connection of one subflow sends the same packets as TCP. This excludes
// linux-mptcp with two properties of the kernel: timers at its ticks, and its count of a send buffer.
TEST_P(EverySinglePathController, SendsTheSameOverOneSubflowAsInTcpWhateverTheScheduler) {
    const Combination combination{{"uncoupled", {{"base", GetParam().name}}}, {"minrtt", {}}};
    for (const SmallNetwork& small : small_networks(combination)) {
        SmallNetwork tcp{small.name, over_one_path(small.scenario, FlowKind::Tcp)};
        tcp.scenario.flows.front().controller = GetParam();
        expect_conformance(tcp, 1);
        const std::uint64_t signature = signature_of(tcp.scenario);
        for (const AlgorithmInfo* scheduler : scheduler_infos()) {
            if (scheduler->name == "linux-mptcp") continue;
            Scenario mptcp = over_one_path(small.scenario, FlowKind::Mptcp);
            mptcp.flows.front().scheduler.name = scheduler->name;
            EXPECT_EQ(signature_of(mptcp), signature) << small.name << ", " << scheduler->name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Lists, EverySinglePathController, ::testing::ValuesIn(single_path_controllers()),
                         [](const auto& tested) { return name_of(tested.param); });

// At an end of its range an option may spoil the goodput, but never the counters.
void expect_to_survive(const Combination& combination) {
    Scenario scenario = storm(combination).scenario;
    scenario.flows.front().size.reset();
    scenario.duration = 3_s;
    Draws draw(1);
    try {
        const Network network = run_and_check(scenario, 1, draw);
        EXPECT_GT(network.packets_delivered(), 0) << describe(combination.controller);
    } catch (const std::exception& error) {
        ADD_FAILURE() << error.what() << '\n'
                      << describe(combination.controller) << ", " << describe(combination.scheduler);
    }
}

TEST(Options, EveryValueOfEveryControllersSurvivesAStorm) {
    for (const AlgorithmChoice& controller : controllers_with_each_option())
        expect_to_survive({controller, {"minrtt", {}}});
}

// With windows and ACK clocking, and with pacing.
TEST(Options, EveryValueOfEverySchedulersSurvivesAStorm) {
    for (const AlgorithmChoice& scheduler : schedulers_with_each_option()) {
        expect_to_survive({{"lia", {}}, scheduler});
        expect_to_survive({{"uncoupled", {{"base", "bbr"}}}, scheduler});
    }
}

TEST(Conformance, FourThreadsRunEveryCombinationAsOneDoesAlone) {
    std::vector<Scenario> all;
    std::vector<std::uint64_t> alone;
    for (const Combination& combination : combinations()) {
        all.push_back(storm(combination).scenario);
        alone.push_back(signature_of(all.back()));
    }
    std::vector<std::uint64_t> together(all.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> workers;
    for (int t = 0; t < 4; ++t) {
        workers.emplace_back([&] {
            for (std::size_t i; (i = next++) < all.size();) together[i] = signature_of(all[i]);
        });
    }
    for (std::thread& worker : workers) worker.join();
    EXPECT_EQ(together, alone);
}

// After a change, ACKs still arrive for packets that were sent under the previous controller.
TEST(Conformance, EveryControllerTakesOverFromAnother) {
    for (const AlgorithmInfo* info : controller_infos()) {
        const AlgorithmChoice choice{std::string(info->name), {}};
        if (agent_of(make_controller(choice)) != nullptr) continue;  // no event can start or end an agent
        Scenario scenario = linux_profile(3_s);
        const PathSpec near = add_path(scenario, {.one_way = 10_ms});
        const PathSpec far = add_path(scenario, {.rate = 2_Mbps, .one_way = 200_ms});
        add_mptcp(scenario, {near, far}, "lia");
        EventSpec& change = scenario.events.emplace_back();
        change.at = 2_s;
        change.flow = 0;
        change.controller = choice;
        Network network(scenario, 1);
        for (Nanos until = change.at; until < scenario.duration; until += 5_ms) {
            network.run_until(until);
            for (const Subflow& subflow : network.subflows()) {
                const Window& window = subflow.sender.window();
                ASSERT_TRUE(std::isfinite(window.cwnd_pkts)) << info->name;
                ASSERT_TRUE(std::isfinite(window.pacing_pps)) << info->name;
                ASSERT_TRUE(std::isfinite(window.advertised)) << info->name;
            }
        }
    }
}

// Signatures of all small networks, in order.
std::vector<std::uint64_t> signatures_of(const Combination& combination) {
    std::vector<std::uint64_t> signatures;
    for (const SmallNetwork& small : small_networks(combination)) signatures.push_back(signature_of(small.scenario));
    return signatures;
}

// A name with the implementation of another algorithm would pass all other tests. Some algorithms differ only where
// queues mark.
TEST(Conformance, NoTwoControllersDoTheSame) {
    std::set<std::vector<std::uint64_t>> seen;
    for (const AlgorithmChoice& controller : multipath_controllers()) {
        const Combination combination{controller, {"minrtt", {}}};
        std::vector<std::uint64_t> signatures = signatures_of(combination);
        Scenario marked = small_networks(combination).front().scenario;
        for (LinkSpec& link : marked.links)
            link.discipline = RedOptions{.min_pkts = 5, .max_pkts = 5, .gentle = false, .marks = true};
        signatures.push_back(signature_of(marked));
        EXPECT_TRUE(seen.insert(signatures).second) << describe(controller);
    }
}

// Some differ only where pacing holds packets back.
TEST(Conformance, NoTwoSchedulersDoTheSame) {
    std::set<std::vector<std::uint64_t>> seen;
    for (const AlgorithmInfo* info : scheduler_infos()) {
        const AlgorithmChoice scheduler{std::string(info->name), {}};
        std::vector<std::uint64_t> signatures = signatures_of({{"lia", {}}, scheduler});
        for (const std::uint64_t paced : signatures_of({{"uncoupled", {{"base", "bbr"}}}, scheduler}))
            signatures.push_back(paced);
        EXPECT_TRUE(seen.insert(signatures).second) << info->name;
    }
}

}  // namespace
}  // namespace subflow::testing

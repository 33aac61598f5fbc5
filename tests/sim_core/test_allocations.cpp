// After warm-up a step makes no allocations.
#include <gtest/gtest.h>

#include "allocations.h"
#include "network.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

TEST(Allocations, NoneAfterWarmUp) {
    // Loss on one path and a full queue on the other keep SACK blocks, retransmissions and reassembly busy.
    Scenario scenario = linux_profile(200_s);
    add_mptcp(scenario, {add_path(scenario, {.loss = 0.01}), add_path(scenario, {.one_way = 10_ms})}, "lia");
    add_tcp(scenario, scenario.flows[0].paths[1]);
    FlowSpec bursts;
    bursts.name = "bursts";
    bursts.kind = FlowKind::OnOff;
    bursts.paths = {scenario.flows[0].paths[0]};
    bursts.datagrams = {1_Mbps, 1500_B, Spacing::Poisson, 100_ms, 300_ms};
    scenario.flows.push_back(bursts);
    Network network(scenario, 1);
    network.run_until(160_s);
    network.take_marks();
    const long before = allocation_count();
    network.run_until(200_s);
    EXPECT_EQ(allocation_count() - before, 0);
    EXPECT_GT(network.subflow_result(0).retransmits, 20);
}

}  // namespace
}  // namespace subflow

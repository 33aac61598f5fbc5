// MPLibra in networks, with agents of known behaviour: no actions, random actions, control by delay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scenarios.h"
#include "sender_rules.h"

namespace subflow::testing {
namespace {

constexpr PathOptions kPath{.rate = 5_Mbps, .one_way = 60_ms, .queue_pkts = 50};  // a queue of one BDP

AlgorithmChoice libra_over(const std::string& classic) {
    return {"mplibra", {{"classic", classic}}};
}

FlowSpec& add_agent_flow(Scenario& scenario, const std::vector<PathSpec>& paths, const AlgorithmChoice& controller,
                         DecisionSourceKind kind = DecisionSourceKind::Neutral) {
    FlowSpec& flow = add_mptcp(scenario, paths, controller.name);
    flow.controller = controller;
    flow.decider.kind = kind;
    return flow;
}

// Two separate links.
Scenario two_links(const AlgorithmChoice& controller, DecisionSourceKind kind, double loss = 0,
                   Nanos duration = 100_s) {
    Scenario scenario = linux_profile(duration, 20_s);
    PathOptions path = kPath;
    path.loss = loss;
    const PathSpec first = add_path(scenario, path);
    const PathSpec second = add_path(scenario, path);
    add_agent_flow(scenario, {first, second}, controller, kind);
    return scenario;
}

double goodput_mbps(const Scenario& scenario, std::size_t flow = 0, std::uint64_t seed = 1) {
    Network network(scenario, seed);
    network.run_until(scenario.duration);
    network.check_invariants();
    return network.flow_result(flow).goodput_bps / 1e6;
}

MpLibra libra_of(const Network& network, std::size_t subflow) {
    return std::get<MpLibra>(network.subflows()[subflow].sender.controller());
}

class EveryClassic : public ::testing::TestWithParam<std::string> {};

// Links whose queues do not fill again after slow start: the window grows by at most a packet per round trip.
TEST_P(EveryClassic, IsLeftAloneByAnAgentThatDoesNothingWhereItBarelyMoves) {
    const auto deep = [&](const AlgorithmChoice& controller) {
        Scenario scenario = two_links(controller, DecisionSourceKind::Neutral, 0, 60_s);
        // If slow start doubles, its losses occur while an evaluation paces: the classic controller is not notified of
        // them, and slow start continues from cycle to cycle.
        scenario.transport.handshake = false;
        scenario.transport.delayed_ack = DelayedAck::Rfc;
        for (LinkSpec& link : scenario.links)
            if (link.queue_limit_pkts) link.queue_limit_pkts = 400;
        return scenario;
    };
    AlgorithmChoice classic{GetParam(), {}};
    AlgorithmChoice controller = libra_over(GetParam());
    if (GetParam() == "wvegas") {  // its drain reduces the window without a loss
        classic.options.push_back({"drain", false});
        controller.options.push_back({"drain", false});
    }
    const Scenario scenario = deep(controller);
    Network network(scenario, 1);
    network.run_until(scenario.warmup);
    network.take_intervals();
    network.run_until(scenario.duration);
    int explorations = 0;
    for (const SubflowInterval& interval : network.take_intervals()) {
        const auto part = static_cast<MpLibra::Part>(interval.record.tag % 8);
        EXPECT_TRUE(part == MpLibra::Part::Explored || part == MpLibra::Part::None);
        explorations += part == MpLibra::Part::Explored;
    }
    EXPECT_GT(explorations, 80);  // for two subflows in 40 s, with round trips of up to 0.9 s
    const double alone = goodput_mbps(deep(classic));
    EXPECT_NEAR(network.flow_result(0).goodput_bps / 1e6, alone, 0.02 * alone);
}

TEST_P(EveryClassic, LosesNothingToAnAgentThatDoesNothing) {
    for (const double loss : {0.0, 0.001, 0.005}) {
        const double alone = goodput_mbps(two_links({GetParam(), {}}, DecisionSourceKind::Neutral, loss));
        EXPECT_GT(goodput_mbps(two_links(libra_over(GetParam()), DecisionSourceKind::Neutral, loss)), 0.9 * alone)
            << loss;
    }
}

// Random losses do not reduce a rate that the utility defends: at 0.1 % a sum of 10 Mbit/s breaks even.
TEST_P(EveryClassic, IsKeptFromGivingInToRandomLoss) {
    const auto mean_mbps = [](const AlgorithmChoice& controller) {
        const Scenario scenario = two_links(controller, DecisionSourceKind::Neutral, 0.005);
        double sum = 0;
        for (std::uint64_t seed = 1; seed <= 4; ++seed) sum += goodput_mbps(scenario, 0, seed);
        return sum / 4;
    };
    // wVegas also gives way to its own queue, which the utility does not defend.
    EXPECT_GT(mean_mbps(libra_over(GetParam())), (GetParam() == "wvegas" ? 1.4 : 2) * mean_mbps({GetParam(), {}}));
}

// The lower bound: the utility rejects worse rates, for any action of the agent.
TEST_P(EveryClassic, IsDefendedAgainstAnAgentThatDoesAnything) {
    for (const double loss : {0.001, 0.005}) {
        const double alone = goodput_mbps(two_links({GetParam(), {}}, DecisionSourceKind::Neutral, loss));
        EXPECT_GT(goodput_mbps(two_links(libra_over(GetParam()), DecisionSourceKind::Random, loss)), 0.8 * alone)
            << loss;
    }
    const double alone = goodput_mbps(two_links({GetParam(), {}}, DecisionSourceKind::Neutral));
    EXPECT_GT(goodput_mbps(two_links(libra_over(GetParam()), DecisionSourceKind::Random)), 0.8 * alone);
    // With a persistent queue, a falling RTT favours any lower rate: computed as in the paper, only a part of the bound
    // holds.
    AlgorithmChoice as_printed = libra_over(GetParam());
    as_printed.options.push_back({"falling_rtt", true});
    EXPECT_GT(goodput_mbps(two_links(as_printed, DecisionSourceKind::Random)), 0.6 * alone);
}

// An agent that proposes half of the rate: each of its decisions ends an exploration of a round trip, and an evaluation
// and an exploitation of three more follow, which a record covers or not.
TEST(MpLibraNetwork, ARecordCoversAllStagesOrTheExplorationAlone) {
    for (const std::string sees : {"all", "exploration"}) {
        SCOPED_TRACE(sees);
        AlgorithmChoice libra = libra_over("olia");
        libra.options.push_back({"sees", sees});
        libra.options.push_back({"rtt", std::string("mean")});
        const Scenario s = two_links(libra, DecisionSourceKind::Outside, 0, 30_s);
        Network network(s, 1);
        double covered_s = 0;
        double passed_s = 0;
        double delivered_pkts = 0;
        std::vector<double> last_s(network.agents().size());
        while (!network.run_until(s.duration)) {
            for (std::uint32_t a = 0; a < network.agents().size(); ++a) {
                const Agent& agent = network.agents()[a];
                if (!agent.is_waiting) continue;
                const EpochSample& e = agent.members()[0].sample;
                const double now_s = to_seconds(network.now());
                if (now_s > 5) {
                    covered_s += e.length_s;
                    passed_s += now_s - last_s[a];
                    delivered_pkts += e.delivered_pps * e.length_s;
                    EXPECT_GT(e.delivered_pps, 0);
                    EXPECT_GT(e.sent_pps, 0);
                    if (sees == "exploration") {
                        EXPECT_LT(e.length_s, 2 * e.rtt_s);
                    }
                }
                last_s[a] = now_s;
                network.act(a, std::vector<float>{-0.2F});
            }
        }
        EXPECT_GT(delivered_pkts, 1000);
        if (sees == "all") {
            EXPECT_NEAR(covered_s, passed_s, 1e-6);
        } else {
            EXPECT_LT(covered_s, 0.5 * passed_s);
            EXPECT_GT(covered_s, 0.15 * passed_s);
        }
    }
}

// The topologies of the paper's figures 1 and 10, with links of 5 Mbit/s: the connection is flow 0.
std::vector<std::pair<std::string, Scenario>> topologies(const AlgorithmChoice& controller, DecisionSourceKind kind) {
    std::vector<std::pair<std::string, Scenario>> all;
    const auto begin = [&](const char* name) -> Scenario& {
        Scenario scenario = linux_profile(100_s, 20_s);
        scenario.start_jitter = 1_s;
        return all.emplace_back(name, scenario).second;
    };
    {
        Scenario& s = begin("1(b): all over one link, with a TCP");
        const PathSpec shared = add_path(s, kPath);
        add_agent_flow(s, {shared, shared}, controller, kind);
        add_tcp(s, shared);
    }
    {
        Scenario& s = begin("10(a): two links, a TCP on one");
        const PathSpec top = add_path(s, kPath);
        add_agent_flow(s, {top, add_path(s, kPath)}, controller, kind);
        add_tcp(s, top);
    }
    {
        Scenario& s = begin("10(b): two links, a TCP on each");
        const PathSpec top = add_path(s, kPath);
        const PathSpec bottom = add_path(s, kPath);
        add_agent_flow(s, {top, bottom}, controller, kind);
        add_tcp(s, top, "top");
        add_tcp(s, bottom, "bottom");
    }
    {
        Scenario& s = begin("10(c): both over one link, one of them over another before, with a TCP");
        const PathSpec second = add_path(s, kPath);
        const PathSpec first = add_path(s, kPath);
        const PathSpec both{{first.forward[0], second.forward[0]}, {second.reverse[0], first.reverse[0]}};
        add_agent_flow(s, {second, both}, controller, kind);
        add_tcp(s, first);
    }
    {
        Scenario& s = begin("10(d): two links, bursts at the rate of one");
        const PathSpec top = add_path(s, kPath);
        add_agent_flow(s, {top, add_path(s, kPath)}, controller, kind);
        FlowSpec& bursts = add_tcp(s, top, "bursts");
        bursts.kind = FlowKind::OnOff;
        bursts.datagrams = {5_Mbps, 1500_B, Spacing::Constant, 1_s, 10_s};
    }
    return all;
}

class EveryClassicInEveryTopology : public EveryClassic {};

TEST_P(EveryClassicInEveryTopology, IsDefended) {
    const auto alone = topologies({GetParam(), {}}, DecisionSourceKind::Neutral);
    const auto defended = topologies(libra_over(GetParam()), DecisionSourceKind::Random);
    for (std::size_t i = 0; i < alone.size(); ++i) {
        double of_classic = 0;
        double of_libra = 0;
        // Means over ten seeds still vary by a twentieth.
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            of_classic += goodput_mbps(alone[i].second, 0, seed);
            of_libra += goodput_mbps(defended[i].second, 0, seed);
        }
        EXPECT_GT(of_libra, 0.8 * of_classic) << alone[i].first;
    }
}

INSTANTIATE_TEST_SUITE_P(MpLibra, EveryClassic, ::testing::Values("olia"),
                         [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(Full, EveryClassic, ::testing::Values("lia", "balia", "wvegas"),
                         [](const auto& tested) { return tested.param; });
INSTANTIATE_TEST_SUITE_P(Full, EveryClassicInEveryTopology, ::testing::Values("olia", "lia", "balia", "wvegas"),
                         [](const auto& tested) { return tested.param; });

TEST(MpLibraNetwork, SharesABottleneckWithRenoFairly) {
    double mptcp = 0;
    double reno = 0;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Scenario scenario = linux_profile(120_s, 20_s);
        scenario.start_jitter = 1_s;
        const PathSpec path = add_path(scenario, kPath);
        add_agent_flow(scenario, {path, path}, libra_over("olia"));
        add_tcp(scenario, path);
        Network network(scenario, seed);
        network.run_until(scenario.duration);
        mptcp += network.flow_result(0).goodput_bps;
        reno += network.flow_result(1).goodput_bps;
    }
    EXPECT_GT((mptcp + reno) * (mptcp + reno) / (2 * (mptcp * mptcp + reno * reno)), 0.95);
}

// An agent that keeps at most a tenth of a round trip queued: x_rl = 1.1 x_prev min_rtt / rtt.
void decide_by_delay(Network& network) {
    for (std::uint32_t a = 0; a < network.agents().size(); ++a) {
        const Agent& agent = network.agents()[a];
        if (!agent.is_waiting) continue;
        const EpochSample& sample = agent.members().front().sample;
        const double wanted = std::log2(1.1 * sample.min_rtt_s / sample.rtt_s);
        const std::array<float, 1> action{static_cast<float>(wanted / MpLibra::kActionRange)};
        network.act(a, action);
    }
}

// Capacities of 8 Mbit/s, a BDP of 80 packets, are halved. Returns the base rate times the RTT, which is defined in
// every stage: in the second before the change, in the third and in the fourth after it. Means over five changes.
std::array<double, 3> windows_around_a_fall(DecisionSourceKind kind) {
    std::array<double, 3> means{};
    for (const Nanos fall : {60'000_ms, 60'400_ms, 60'800_ms, 61'200_ms, 61'600_ms}) {
        Scenario scenario = linux_profile(70_s);
        PathOptions path = kPath;
        path.rate = 8_Mbps;
        const std::vector<PathSpec> paths{add_path(scenario, path), add_path(scenario, path)};
        AlgorithmChoice libra = libra_over("olia");
        libra.options.push_back({"memory", 3600.0});  // the agent below uses the RTT of an empty path
        add_agent_flow(scenario, paths, libra, kind);
        for (const std::uint32_t link : {0u, 2u}) {
            EventSpec& event = scenario.events.emplace_back();
            event.at = fall;
            event.link = link;
            event.rate = 4_Mbps;
        }
        Network network(scenario, 1);
        const auto mean_over = [&](Nanos from) {
            double sum = 0;
            for (int i = 0; i < 10; ++i) {
                while (!network.run_until(from + 100_ms * i)) decide_by_delay(network);
                for (std::size_t k = 0; k < 2; ++k)
                    sum += libra_of(network, k).base_rate_pps() * to_seconds(network.subflows()[k].sender.rtt().srtt());
            }
            return sum / 20;
        };
        for (std::size_t i = 0; const Nanos from : {fall - 1_s, fall + 2_s, fall + 3_s})
            means[i++] += mean_over(from) / 5;
    }
    return means;
}

TEST(MpLibraNetwork, FollowsAFallOfTheCapacityWithinFourSeconds) {
    // Without an agent's help, down to the new capacity of the path: a BDP of 40 and a queue of 50 packets.
    const auto [before, third, fourth] = windows_around_a_fall(DecisionSourceKind::Neutral);
    EXPECT_GT(before, 80);
    EXPECT_LT(third, 92);
    EXPECT_GT(third, 40);
    EXPECT_GT(fourth, 40);
    // Below that with an agent that controls delay; in the paper from 80 to 50.
    const auto [minded_before, minded_third, minded_fourth] = windows_around_a_fall(DecisionSourceKind::Outside);
    EXPECT_GT(minded_before, 72);
    EXPECT_LT(minded_third, 70);
    EXPECT_LT(minded_fourth, 55);
}

TEST(MpLibraNetwork, EverythingItDoesHasAReason) {
    std::set<const RuleInfo*> seen;
    for (const double loss : {0.0, 0.01}) {
        for (const DecisionSourceKind kind : {DecisionSourceKind::Neutral, DecisionSourceKind::Random}) {
            Scenario scenario = two_links(libra_over("olia"), kind, loss, 30_s);
            EventSpec& outage = scenario.events.emplace_back();
            outage.at = 15_s;
            outage.link = 0;
            outage.up = false;
            EventSpec& mended = scenario.events.emplace_back(outage);
            mended.at = 18_s;
            mended.up = true;
            Network network(scenario, 1);
            network.record_decisions({});
            network.run_until(scenario.duration);
            for (const Subflow& s : network.subflows()) {
                const DecisionLog& log = *s.sender.decisions();
                for (std::uint32_t i = 0; i < log.size(); ++i) seen.insert(log[i].reason.rule);
            }
        }
    }
    EXPECT_FALSE(seen.contains(&sender_rules::kUnexplained));
    for (const RuleInfo* rule : mplibra_rules::kAll) EXPECT_TRUE(seen.contains(rule)) << rule->name;
}

TEST(MpLibraNetwork, RunsOverOnePathAsTcpToo) {
    for (const DecisionSourceKind kind : {DecisionSourceKind::Neutral, DecisionSourceKind::Random}) {
        Scenario scenario = linux_profile(60_s, 10_s);
        FlowSpec& flow = add_tcp(scenario, add_path(scenario, kPath));
        flow.controller = libra_over("olia");
        flow.decider.kind = kind;
        EXPECT_GT(goodput_mbps(scenario), kind == DecisionSourceKind::Neutral ? 4.3 : 2.9);
    }
}

TEST(MpLibraNetwork, RunsAlikeHoweverItIsCut) {
    for (const DecisionSourceKind kind : {DecisionSourceKind::Neutral, DecisionSourceKind::Random}) {
        for (const char* classic : {"olia", "wvegas"}) {
            const Scenario scenario = two_links(libra_over(classic), kind, 0.01, 25_s);
            EXPECT_TRUE(is_same_however_cut(scenario, scenario.duration)) << classic;
        }
    }
}

}  // namespace
}  // namespace subflow::testing

// Learning agents in a network: epochs, observations, deciders, results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "agent/vec_env.h"
#include "scenarios.h"
#include "simulation.h"

namespace subflow {
namespace {

// `flows` connections over two lossy links of 8 Mbit/s, RTT 100 ms.
Scenario lossy_pair(std::size_t flows, const std::string& controller, DecisionSource decider = {}) {
    Scenario s;
    s.duration = from_seconds(20);
    for (const char* name : {"a/forward", "a/reverse", "b/forward", "b/reverse"}) {
        LinkSpec link;
        link.name = name;
        link.rate = BitsPerSec(8e6);
        link.delay = from_seconds(0.05);
        link.queue_limit_pkts = 67;
        link.loss = std::string(name).ends_with("forward") ? 0.02 : 0;
        s.links.push_back(link);
    }
    for (std::size_t i = 0; i < flows; ++i) {
        FlowSpec flow;
        flow.name = "f" + std::to_string(i + 1);
        flow.kind = FlowKind::Mptcp;
        flow.controller = {controller, {}};
        flow.scheduler = {"minrtt", {}};
        flow.decider = decider;
        flow.paths = {{{0}, {1}}, {{2}, {3}}};
        s.flows.push_back(flow);
    }
    return s;
}

// Runs to the end, with the same action for every subflow at each decision.
int run_with(Network& network, Nanos until, float value) {
    int decisions = 0;
    while (!network.run_until(until)) {
        EXPECT_TRUE(network.is_waiting());
        for (std::uint32_t a = 0; a < network.agents().size(); ++a) {
            const Agent& agent = network.agents()[a];
            if (!agent.is_waiting) continue;
            network.act(a, std::vector<float>(agent.acting().size() * agent.action_width(), value));
            ++decisions;
        }
    }
    return decisions;
}

TEST(Agents, HostServesItsFlowsInTurnOnceInTheEpochTime) {
    const Scenario s = lossy_pair(5, "drl-cc", {DecisionSourceKind::Outside, nullptr});
    Network network(s, 1);
    ASSERT_EQ(network.agents().size(), 1u);
    std::vector<std::uint32_t> served;
    std::vector<double> times;
    while (served.size() < 50) {
        ASSERT_FALSE(network.run_until(s.duration));
        const Agent& agent = network.agents()[0];
        ASSERT_TRUE(agent.is_waiting);
        if (served.size() > 20) {
            EXPECT_EQ(agent.acting().size(), 2u);  // both subflows of one flow
        }
        served.push_back(agent.members()[agent.member_of(agent.acting()[0])].flow);
        times.push_back(to_seconds(network.now()));
        network.act(0, std::vector<float>(agent.acting().size(), 0.1F));
    }
    for (std::size_t i = 20; i < served.size(); ++i) {
        EXPECT_EQ(served[i], (served[i - 1] + 1) % 5);
        EXPECT_NEAR(times[i] - times[i - 1], 0.02, 1e-9);
    }
    EXPECT_EQ(network.agents()[0].observation().subflows(), 10u);
}

TEST(Agents, SeesWhatItsSendersCounted) {
    const Scenario s = lossy_pair(1, "dql-mptcp", {DecisionSourceKind::Outside, nullptr});
    Network network(s, 1);
    double acked = 0;
    for (int i = 0; i < 40; ++i) {
        ASSERT_FALSE(network.run_until(s.duration));
        const Agent& agent = network.agents()[0];
        for (const Agent::Member& m : agent.members()) {
            if (m.is_known) acked += m.sample.delivered_pps * m.sample.length_s;
        }
        network.act(0, std::vector<float>(agent.acting().size() * 2, 0.0F));
    }
    double delivered = 0;
    for (const Subflow& each : network.subflows()) delivered += each.sender.delivered_pkts();
    EXPECT_NEAR(acked, delivered, 1e-6 * delivered);
    const EpochSample& sample = network.agents()[0].members()[0].sample;
    EXPECT_GE(sample.rtt_s, 0.1);
    EXPECT_GE(sample.min_rtt_s, 0.1);
    EXPECT_GT(sample.length_s, 0.0999);
    double shares = 0;
    for (const Agent::Member& m : network.agents()[0].members()) shares += m.sample.schedule_share;
    EXPECT_NEAR(shares, 1, 1e-9);
}

// A rate that falls from 8 to 2 Mbit/s and a delay that rises from 50 to 80 ms each way, both at 10 s.
TEST(Agents, MeasureByTheExtremesOfTheirMemory) {
    for (const double memory_s : {10.0, 3600.0}) {
        Scenario s = lossy_pair(1, "dql-mptcp", {DecisionSourceKind::Outside, nullptr});
        s.flows[0].controller.options = {{"memory", memory_s}, {"reference_rate", 1e6}};
        s.duration = from_seconds(40);
        for (std::uint32_t i = 0; i < s.links.size(); ++i) {
            s.links[i].loss = 0;
            EventSpec& event = s.events.emplace_back();
            event.at = from_seconds(10);
            event.link = i;
            event.rate = BitsPerSec(2e6);
            event.delay = from_seconds(0.08);
        }
        Network network(s, 1);
        run_with(network, from_seconds(9), 0.0F);
        const EpochSample early = network.agents()[0].members()[0].sample;
        run_with(network, from_seconds(39), 0.0F);
        const EpochSample late = network.agents()[0].members()[0].sample;
        EXPECT_LT(early.min_rtt_s, 0.12);
        if (memory_s > 40) {
            EXPECT_EQ(late.min_rtt_s, early.min_rtt_s);
            EXPECT_GE(late.reference_pps, early.reference_pps);
        } else {
            EXPECT_GE(late.min_rtt_s, 0.16);
            EXPECT_LT(late.reference_pps, 0.7 * early.reference_pps);
        }
        EXPECT_GE(late.rtt_s, late.least_rtt_s - 1e-9);  // a mean of sums
        EXPECT_GE(late.least_rtt_s, late.min_rtt_s);
    }
}

TEST(Agents, SeeTheLowestOrTheMeanRtt) {
    const std::pair<const char*, std::size_t> rtt_features[]{
        {"drl-cc", 2}, {"dql-mptcp", 2}, {"clean-slate", 1}, {"rl-explore", 3}, {"mplibra", 1}};
    for (const auto& [controller, feature] : rtt_features) {
        for (const std::string rtt : {"", "lowest", "mean"}) {
            SCOPED_TRACE(controller);
            SCOPED_TRACE(rtt);
            Scenario s = lossy_pair(1, controller, {DecisionSourceKind::Outside, nullptr});
            if (!rtt.empty()) s.flows[0].controller.options = {{"rtt", rtt}};
            Network network(s, 1);
            int differences = 0;
            double last_s = 0;
            for (int i = 0; i < 60; ++i) {
                ASSERT_FALSE(network.run_until(s.duration));
                for (std::uint32_t a = 0; a < network.agents().size(); ++a) {
                    const Agent& agent = network.agents()[a];
                    if (!agent.is_waiting) continue;
                    const std::uint32_t row = agent.acting()[0];
                    const EpochSample& e = agent.members()[agent.member_of(row)].sample;
                    const double seen_s = rtt == "mean" ? e.rtt_s : e.least_rtt_s;
                    EXPECT_EQ(e.seen_rtt_s, seen_s);
                    const double ratio = seen_s / e.min_rtt_s - (feature == 3 ? 1 : 0);
                    EXPECT_EQ(agent.observation().row(row)[feature], scaled(ratio));
                    if (a == 0) {
                        if (last_s > 0) {
                            EXPECT_EQ(e.rtt_change_s, seen_s - last_s);
                        }
                        last_s = seen_s;
                    }
                    differences += e.rtt_s > e.least_rtt_s;
                    const float neutral = agent.info().choices.empty() ? 0.0F : agent.info().neutral_choice;
                    network.act(a, std::vector<float>(agent.acting().size() * agent.action_width(), neutral));
                }
            }
            EXPECT_GT(differences, 5);
        }
    }
}

TEST(Agents, TheRewardsOfLatencyUseTheRttThatIsSeen) {
    EpochSample sample{.rtt_s = 0.3, .least_rtt_s = 0.1, .min_rtt_s = 0.1, .seen_rtt_s = 0.3};
    const std::vector<EpochSample> mean{sample};
    sample.seen_rtt_s = 0.1;
    const std::vector<EpochSample> lowest{sample};
    const RlExplore explore{Options(RlExplore::kInfo, {})};
    EXPECT_NEAR(explore.reward(lowest) - explore.reward(mean), 10 * 0.2, 1e-9);
    const MpLibra libra{Options(MpLibra::kInfo, {})};
    EXPECT_NEAR(libra.reward(lowest) - libra.reward(mean), 3 - 1, 1e-9);
    const std::vector<OptionValue> priced{{"delay_weight", 1.0}};
    const CleanSlate clean{Options(CleanSlate::kInfo, priced)};
    EXPECT_NEAR(clean.reward(lowest) - clean.reward(mean), 2, 1e-9);
}

// With four flows that are served every 25 ms, a flow's values cover 100 ms from turn to turn, or the past 25 ms. The
// agent also observes a TCP flow.
TEST(Agents, AHostMeasuresAFlowFromTurnToTurnOrAllFlowsInTheEpoch) {
    for (const std::string state : {"turn", "epoch"}) {
        SCOPED_TRACE(state);
        Scenario s = lossy_pair(5, "drl-cc", {DecisionSourceKind::Outside, nullptr});
        s.flows[0].controller.options = {{"state", state}};
        for (FlowSpec& flow : s.flows) flow.controller = s.flows[0].controller;
        s.flows[4].kind = FlowKind::Tcp;
        s.flows[4].controller = {"newreno", {}};
        s.flows[4].scheduler = {};
        s.flows[4].decider = {};
        s.flows[4].paths = {{{0}, {1}}};
        Network network(s, 1);
        ASSERT_EQ(network.agents().size(), 1u);
        double before_s = 0;
        double total_pkts = 0;
        for (int i = 0; i < 100; ++i) {
            ASSERT_FALSE(network.run_until(s.duration));
            const Agent& agent = network.agents()[0];
            const double passed_s = to_seconds(network.now()) - before_s;
            before_s = to_seconds(network.now());
            for (const Agent::Member& m : agent.members()) {
                if (i < 50 || !m.is_known) continue;
                if (state == "epoch") {
                    EXPECT_NEAR(m.sample.length_s, passed_s, 1e-9);
                } else if (m.acts) {
                    EXPECT_NEAR(m.sample.length_s, 0.1, 1e-6);
                }
                if (m.subflow == 0) total_pkts += m.sample.delivered_pps * m.sample.length_s;
            }
            network.act(0, std::vector<float>(agent.acting().size(), 0.0F));
        }
        EXPECT_GT(total_pkts, 0);
    }
}

TEST(Agents, AHostHidesTheKindsOfItsFlows) {
    for (const bool shows : {true, false}) {
        Scenario s = lossy_pair(1, "drl-cc", {DecisionSourceKind::Outside, nullptr});
        s.flows[0].controller.options = {{"shows_kind", shows}};
        Network network(s, 1);
        ASSERT_FALSE(network.run_until(s.duration));
        const std::span<const float> row = network.agents()[0].observation().row(0);
        EXPECT_EQ(row[5], shows ? 1 : 0);  // of an MPTCP flow
        EXPECT_EQ(row[6], shows ? 1 : 0);  // in its first epoch
    }
}

TEST(Agents, AnEpochThatTheEndCutsShortIsNotRewarded) {
    Scenario s = lossy_pair(1, "drl-cc", {DecisionSourceKind::Outside, nullptr});
    s.flows[0].controller.options = {{"epoch_time", 1.0}};
    for (const double more_s : {0.3, 0.8}) {
        Network network(s, 1);
        int decisions = 0;
        while (decisions < 5) {
            ASSERT_FALSE(network.run_until(s.duration));
            network.act(0, std::vector<float>(network.agents()[0].acting().size(), 0.0F));
            ++decisions;
        }
        ASSERT_TRUE(network.run_until(network.now() + from_seconds(more_s)));
        EXPECT_EQ(network.end_epoch(0), more_s > 0.5);
    }
}

TEST(Agents, ActionSetsTheWindowAtOnceAndLossesDoNot) {
    const Scenario s = lossy_pair(1, "drl-cc", {DecisionSourceKind::Outside, nullptr});
    Network network(s, 1);
    ASSERT_FALSE(network.run_until(s.duration));
    const double before = network.subflows()[0].sender.window().cwnd_pkts;
    network.act(0, std::vector<float>(network.agents()[0].acting().size(), 1.0F));
    EXPECT_DOUBLE_EQ(network.subflows()[0].sender.window().cwnd_pkts, before + std::max(before / 2, 2.0));
    run_with(network, from_seconds(10), 0.0F);
    const SubflowSender& sender = network.subflows()[0].sender;
    EXPECT_GT(sender.stats().fast_retransmits, 5);
    ASSERT_NE(sender.state(), SenderState::Loss);  // where the window recovers towards ssthresh
    EXPECT_DOUBLE_EQ(sender.window().cwnd_pkts, before + std::max(before / 2, 2.0));
}

TEST(Agents, RewardOfTheHostIsTheSumOfLogGoodputs) {
    const DrlCc controller{Options(DrlCc::kInfo, {})};
    std::vector<EpochSample> samples(5);
    for (std::uint32_t i = 0; i < 5; ++i) {
        samples[i].flow = i;
        samples[i].payload_bits = 11584;
        samples[i].delivered_pps = 3.2e6 / 11584;
    }
    EXPECT_NEAR(controller.reward(samples), 5.8157540, 1e-6);
}

TEST(Agents, QueuesUpToWhatIsFreeCostNothing) {
    std::vector<OptionValue> given{{"delay_weight", 2.0}, {"free_delay", 0.25}};
    const DrlCc linear{Options(DrlCc::kInfo, given)};
    given.push_back({"delay_price", std::string("log")});
    const DrlCc logarithmic{Options(DrlCc::kInfo, given)};
    std::vector<EpochSample> samples(1);
    samples[0].payload_bits = 1e6;
    samples[0].delivered_pps = 1;
    samples[0].min_rtt_s = 0.1;
    for (const auto& [rtt_s, delay] : {std::pair{0.1, 0.0}, {0.124, 0.0}, {0.15, 0.25}, {0.625, 5.0}}) {
        samples[0].seen_rtt_s = rtt_s;
        EXPECT_NEAR(linear.reward(samples), -2 * delay, 1e-9);
        EXPECT_NEAR(logarithmic.reward(samples), -2 * std::log(1 + delay), 1e-9);
    }
}

TEST(Agents, NoActionLeavesASinglePacket) {
    const Scenario s = lossy_pair(1, "drl-cc", {DecisionSourceKind::Outside, nullptr});
    Network network(s, 1);
    run_with(network, from_seconds(5), -1.0F);
    const SubflowSender& sender = network.subflows()[0].sender;
    ASSERT_NE(sender.state(), SenderState::Loss);
    EXPECT_DOUBLE_EQ(sender.window().cwnd_pkts, 2.0);
}

TEST(Agents, NeutralAndRandomDecidersRunWithoutAnybodyAndAlike) {
    for (const char* controller : {"drl-cc", "dql-mptcp", "clean-slate"}) {
        for (const DecisionSourceKind kind : {DecisionSourceKind::Neutral, DecisionSourceKind::Random}) {
            const Scenario s = lossy_pair(3, controller, {kind, nullptr});
            EXPECT_TRUE(testing::is_same_however_cut(s, s.duration)) << controller;
            Network network(s, 7);
            network.run_until(s.duration);
            EXPECT_GT(network.packets_delivered(), 1000) << controller;
        }
    }
}

TEST(Agents, DoingFromOutsideWhatTheNeutralDeciderDoesIsTheSameRun) {
    Scenario s = lossy_pair(2, "drl-cc");
    Network inside(s, 3);
    inside.run_until(s.duration);
    Scenario same = lossy_pair(2, "drl-cc", {DecisionSourceKind::Outside, nullptr});
    Network outside(same, 3);
    EXPECT_GT(run_with(outside, same.duration, 0.0F), 300);
    EXPECT_EQ(inside.signature(), outside.signature());
}

TEST(Agents, ASimulationThatWaitsForOneSaysSoAndGoesOn) {
    const Scenario s = lossy_pair(1, "drl-cc");
    Network inside(s, 3);
    inside.run_until(s.duration);
    Simulation outside(lossy_pair(1, "drl-cc", {DecisionSourceKind::Outside, nullptr}), 3, from_seconds(0.1));
    int decisions = 0;
    for (; outside.run_until(s.duration) == RunEnd::Waiting; ++decisions) {
        outside.network().act(0, std::vector<float>(outside.network().agents()[0].acting().size(), 0.0F));
    }
    EXPECT_GT(decisions, 100);
    EXPECT_TRUE(outside.is_finished());
    EXPECT_EQ(outside.network().signature(), inside.signature());
}

TEST(Agents, ScheduleActionMovesShares) {
    Scenario s = lossy_pair(1, "dql-mptcp", {DecisionSourceKind::Outside, nullptr});
    s.flows[0].scheduler = {"goodput", {}};
    for (LinkSpec& link : s.links) link.loss = 0;
    s.flows[0].send_buffer = Bytes(60'000);  // less than the windows: the shares decide
    const auto share = [&](float first) {
        Network network(s, 1);
        for (int decision = 0; !network.run_until(s.duration); ++decision) {
            const float growth = decision < 10 ? 0.5F : 0;
            const std::vector<float> both{growth, first, growth, -first};
            network.act(0, std::span(both).first(2 * network.agents()[0].acting().size()));
        }
        return network.subflow_result(0).schedule_share;
    };
    EXPECT_GT(share(0.5F), share(0) + 0.1);
    EXPECT_LT(share(-0.5F), share(0) - 0.1);
}

AgentStepTable steps_of(const Scenario& s, Nanos step) {
    Simulation simulation(s, 7, from_seconds(0.1));
    while (!simulation.is_finished()) simulation.run_until(simulation.now() + step);
    return simulation.network().take_agent_steps();
}

TEST(AgentSteps, HaveARowForEachSubflowThatWasSeen) {
    const Scenario s = lossy_pair(5, "drl-cc", {DecisionSourceKind::Random, nullptr});
    const AgentStepTable steps = steps_of(s, s.duration);
    ASSERT_EQ(steps.width, 7u);
    ASSERT_EQ(steps.action_width, 1u);
    EXPECT_EQ(steps.numbers.size(), steps.size() * 8);
    // 20 s at 50 decisions a second, each with the ten subflows of the host.
    EXPECT_NEAR(static_cast<double>(steps.size()), 20 * 50 * 10, 700);
    for (std::size_t row = 0; row < steps.size(); ++row) {
        SCOPED_TRACE(row);
        const AgentStep& step = steps.steps[row];
        EXPECT_EQ(std::isnan(steps.action(row)[0]), !step.is_acting);
        EXPECT_EQ(std::isnan(step.reward), step.number == 0);
        EXPECT_TRUE(std::isnan(step.value));
        if (row > 0) {
            const AgentStep& last = steps.steps[row - 1];
            const bool is_same = step.number == last.number;
            EXPECT_TRUE(is_same || step.number == last.number + 1);
            EXPECT_EQ(is_same, step.at == last.at);
        }
        // DrlCc: w + a max(w / 2, 2); subflows that recover from a timeout rise to ssthresh first.
        const auto before = static_cast<double>(step.cwnd_before_pkts);
        const auto after = static_cast<double>(step.cwnd_after_pkts);
        if (!step.is_acting) {
            EXPECT_EQ(before, after);
        } else if (before > 4) {
            const double wanted = before + static_cast<double>(steps.action(row)[0]) * before / 2;
            EXPECT_LE(after, std::max(wanted, before) * 1.0001);
        }
        EXPECT_GT(step.epoch_s, 0);
        EXPECT_GE(step.rtt_s, 0.1F);
    }
}

bool same_steps(const AgentStepTable& a, const AgentStepTable& b) {
    const auto same = [](float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return std::ranges::equal(a.numbers, b.numbers, same) &&
           std::ranges::equal(a.steps, b.steps, [&](const AgentStep& x, const AgentStep& y) {
               return x.at == y.at && x.subflow == y.subflow && x.number == y.number && same(x.reward, y.reward) &&
                      same(x.goodput_bps, y.goodput_bps) && same(x.cwnd_after_pkts, y.cwnd_after_pkts);
           });
}

TEST(AgentSteps, DoNotDependOnHowARunIsCutNorChangeIt) {
    for (const char* controller : {"drl-cc", "dql-mptcp", "clean-slate"}) {
        SCOPED_TRACE(controller);
        const Scenario s = lossy_pair(2, controller, {DecisionSourceKind::Random, nullptr});
        const AgentStepTable once = steps_of(s, s.duration);
        ASSERT_GT(once.size(), 100u);
        EXPECT_TRUE(same_steps(once, steps_of(s, from_seconds(0.0137))));

        Network plain(s, 7);
        plain.run_until(s.duration);
        Simulation recorded(s, 7, from_seconds(0.1));
        recorded.run_until(s.duration);
        EXPECT_EQ(plain.signature(), recorded.network().signature());
        EXPECT_EQ(plain.take_agent_steps().size(), 0u);
    }
}

TEST(AgentSteps, AreForgottenWhenTakenAndFollowASnapshot) {
    const Scenario s = lossy_pair(1, "drl-cc", {DecisionSourceKind::Random, nullptr});
    Simulation simulation(s, 1, from_seconds(0.1));
    simulation.run_until(from_seconds(5));
    const std::size_t early = simulation.network().take_agent_steps().size();
    EXPECT_EQ(simulation.network().take_agent_steps().size(), 0u);
    const Simulation::Snapshot snapshot = simulation.snapshot();
    simulation.run_until(from_seconds(10));
    const AgentStepTable late = simulation.network().take_agent_steps();
    simulation.restore(snapshot);
    simulation.run_until(from_seconds(10));
    EXPECT_TRUE(same_steps(simulation.network().take_agent_steps(), late));
    EXPECT_NEAR(static_cast<double>(early), static_cast<double>(late.size()), 20);
    EXPECT_EQ(simulation.network().agent_steps_lost(), 0);
}

TEST(AgentSteps, BeyondWhatThereIsRoomForAreCounted) {
    AgentStepLog log(7, 1);
    const std::size_t most = AgentStepLog::kMostBytes / log.row_bytes();
    EXPECT_TRUE(log.has_room(most));
    EXPECT_FALSE(log.has_room(most + 1));
    EXPECT_EQ(log.lost(), 1);
}

TEST(AgentSteps, NarrowerAgentsLeaveTheRestUndefined) {
    Scenario s = lossy_pair(2, "drl-cc");
    s.flows[1].controller = {"dql-mptcp", {}};
    const AgentStepTable steps = steps_of(s, s.duration);
    ASSERT_EQ(steps.width, 7u);
    ASSERT_EQ(steps.action_width, 2u);
    std::size_t narrow = 0;
    for (std::size_t row = 0; row < steps.size(); ++row) {
        if (steps.steps[row].agent != 1) continue;
        ++narrow;
        EXPECT_FALSE(std::isnan(steps.observation(row)[5]));
        EXPECT_TRUE(std::isnan(steps.observation(row)[6]));
    }
    EXPECT_GT(narrow, 100u);
}

TEST(AgentSteps, EachActionIsAMark) {
    const Scenario s = lossy_pair(1, "drl-cc", {DecisionSourceKind::Random, nullptr});
    Simulation simulation(s, 1, from_seconds(0.1));
    simulation.run_until(s.duration);
    const AgentStepTable steps = simulation.network().take_agent_steps();
    std::vector<std::pair<std::int64_t, std::uint32_t>> acted, marked;
    for (const AgentStep& step : steps.steps) {
        if (step.is_acting) acted.emplace_back(step.at.value, step.subflow);
    }
    for (const Mark& mark : simulation.network().take_marks()) {
        if (mark.kind == MarkKind::Action) marked.emplace_back(mark.time.value, mark.owner);
    }
    EXPECT_EQ(acted, marked);
    Network plain(s, 1);
    plain.run_until(s.duration);
    for (const Mark& mark : plain.take_marks()) EXPECT_NE(mark.kind, MarkKind::Action);
}

TEST(AgentSteps, RewardIsSampledOncePerFlowThatLearns) {
    Scenario s = lossy_pair(2, "drl-cc", {DecisionSourceKind::Random, nullptr});
    s.flows[1].controller = {"lia", {}};
    s.flows[1].decider = {};
    Simulation simulation(s, 1, from_seconds(0.1));
    simulation.run_until(s.duration);
    const auto& columns = simulation.recorder().columns();
    EXPECT_EQ(columns.size(), Recorder::column_count(s));
    std::vector<std::size_t> rewards;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name() == "reward") rewards.push_back(i);
    }
    ASSERT_EQ(rewards.size(), 1u);
    EXPECT_EQ(columns[rewards[0]].scope, TraceScope::Flow);
    EXPECT_EQ(columns[rewards[0]].owner, 0u);
    const auto values = simulation.recorder().values(rewards[0]);
    EXPECT_TRUE(std::isnan(values[0]));
    // The last sample holds the reward of the last decision before it.
    const AgentStepTable steps = simulation.network().take_agent_steps();
    EXPECT_EQ(values.back(), steps.steps.back().reward);
}

TEST(VecEnv, StepsEpisodesInThreadsAsWithout) {
    const auto play = [](unsigned threads) {
        VecEnv env("drl-cc", {.envs = 4, .slots = 6, .width = 7, .action_width = 1}, threads);
        std::vector<std::uint32_t> all(4);
        std::iota(all.begin(), all.end(), 0u);
        for (const std::uint32_t i : all) env.load(i, lossy_pair(3, "drl-cc"), 100 + i, from_seconds(5));
        double sum = 0;
        int ended = 0;
        for (int step = 0; step < 400; ++step) {
            env.send(all);
            std::size_t received = 0;
            while (received < all.size()) received += env.recv(1).size();
            for (const std::uint32_t i : all) {
                for (std::size_t slot = 0; slot < 6; ++slot) {
                    const std::size_t at = i * 6 + slot;
                    EXPECT_TRUE(std::isfinite(env.reward[at]));
                    EXPECT_LE(env.acting[at], env.mask[at]);
                    sum += env.reward[at] + env.observation[at * 7] * static_cast<double>(slot + 1);
                    env.action[at] = 0.3F * env.acting[at] - 0.2F * env.observation[at * 7 + 2];
                }
                EXPECT_FALSE(env.terminated[i]);
                if (!env.truncated[i]) continue;
                ++ended;
                EXPECT_NEAR(env.summary(i).duration_s, 5, 1e-9);
                EXPECT_GT(env.summary(i).goodput_bps, 1e5);
                env.load(i, lossy_pair(3, "drl-cc"), 200 + i, from_seconds(5));
            }
        }
        EXPECT_GE(ended, 4);
        return sum;
    };
    const double inline_sum = play(0);
    EXPECT_EQ(inline_sum, play(2));
}

TEST(VecEnv, RefusesWhatHasNoLearnerOrTooManySubflows) {
    VecEnv env("drl-cc", {.envs = 1, .slots = 4, .width = 7, .action_width = 1}, 0);
    EXPECT_THROW(env.load(0, lossy_pair(1, "lia"), 1, from_seconds(1)), ScenarioError);
    EXPECT_THROW(env.load(0, lossy_pair(3, "drl-cc"), 1, from_seconds(1)), ScenarioError);
    EXPECT_EQ(VecEnv::slots_of(lossy_pair(3, "drl-cc"), "drl-cc"), 6u);
}

TEST(VecEnv, FiniteTransfersTerminate) {
    Scenario s = lossy_pair(1, "dql-mptcp");
    s.flows[0].size = Bytes(500'000);
    VecEnv env("dql-mptcp", {.envs = 1, .slots = 2, .width = 6, .action_width = 2}, 0);
    env.load(0, s, 1, from_seconds(20));
    const std::vector<std::uint32_t> all{0};
    for (int step = 0; step < 1000 && !env.terminated[0]; ++step) {
        ASSERT_FALSE(env.truncated[0]);
        env.send(all);
        env.recv(1);
    }
    EXPECT_TRUE(env.terminated[0]);
}

}  // namespace
}  // namespace subflow

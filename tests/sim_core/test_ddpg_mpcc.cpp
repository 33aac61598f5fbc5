// DDPG-MPCC as a state machine: MPCC up to its moving phase, in which an agent takes the steps; and in networks.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;
using testing::kPacketBits;

constexpr double kMbit = 1e6;

TEST(DdpgMpccRates, AStepIsAQuarterOfTheRateAtMostAndTwiceTheReferenceTheLimit) {
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(8e6, 0.25, 10e6), 10e6);
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(8e6, -0.25, 10e6), 6e6);
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(8e6, 0, 10e6), 8e6);
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(18e6, 0.25, 10e6), 20e6);
    // A rate beyond the bound does not fall without an action.
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(30e6, 0, 10e6), 30e6);
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(30e6, 0.25, 10e6), 30e6);
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(30e6, -0.1, 10e6), 27e6);
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(0.21e6, -0.25, 10e6), Mpcc::kMinRate_bps);
    EXPECT_DOUBLE_EQ(DdpgMpcc::moved_bps(0.3e6, 0.25, 0.01e6), 0.3e6);
}

// A controller with a sender that follows it exactly, and a path under control of the test; RTT 100 ms.
class DdpgMpccTest : public ::testing::Test {
protected:
    static constexpr Nanos kRtt = 100_ms;
    static constexpr double kReference_bps = 40e6;

    DdpgMpcc mpcc{Options(DdpgMpcc::kInfo, {})};
    Window window{.cwnd_pkts = 10};
    IntervalMoment moment{.now = Nanos(0), .packet_bits = kPacketBits};
    std::vector<Sibling> subflows{{.cwnd_pkts = 10, .srtt_s = 0.1}};
    Reason why;
    std::vector<IntervalRecord> records;  // of the latest round

    double mbps() const { return mpcc.rate_bps() / kMbit; }

    struct Fate {
        double loss_ratio = 0;
        double sent_share = 1;
        double inflation = 0;
        double capacity_bps = 1e12;
    };

    // Sends all intervals of a round and gives their results.
    void round(const Fate& fate) {
        records.clear();
        for (;;) {
            const IntervalPlan plan = mpcc.plan_interval(window, moment);
            if (plan.length > 3600_s) break;
            IntervalRecord record{.tag = plan.tag, .begin = moment.now, .rate_pps = window.pacing_pps};
            record.sent_pkts = 1'000'000;
            record.end = moment.now + from_seconds(1e6 / window.pacing_pps / fate.sent_share);
            record.lost_pkts = static_cast<std::uint32_t>(std::lround(fate.loss_ratio * 1e6));
            record.delivered_pkts = record.sent_pkts - record.lost_pkts;
            record.rtt_mean_s = 0.12;
            record.first_srtt = kRtt;
            record.last_srtt = kRtt + from_seconds(fate.inflation * record.length_s());
            record.first_ack_at = record.begin + kRtt;
            const double arriving_pps =
                std::min(window.pacing_pps * (1 - fate.loss_ratio), fate.capacity_bps / kPacketBits);
            record.last_ack_at = record.first_ack_at + from_seconds(record.delivered_pkts / arriving_pps);
            moment.now = record.end;
            records.push_back(record);
        }
        for (IntervalRecord& record : records) {
            why = {};
            mpcc.on_interval(window, record, moment, {subflows, 0});
        }
    }
    // Probing at 16 Mbit/s has found a direction: the agent acts next.
    void reach_the_agent(const std::vector<OptionValue>& given = {}) {
        std::vector<OptionValue> options{{"initial_rate", 16e6}};
        options.insert(options.end(), given.begin(), given.end());
        mpcc = DdpgMpcc(Options(DdpgMpcc::kInfo, options));
        moment = {.now = Nanos(0), .packet_bits = kPacketBits, .why = &why};
        mpcc.on_start(window, 1);
        const IntervalPlan plan = mpcc.plan_interval(window, moment);
        IntervalRecord first{.tag = plan.tag, .begin = Nanos(0), .end = 3_ms, .rate_pps = window.pacing_pps};
        first.sent_pkts = first.delivered_pkts = 1;
        mpcc.plan_interval(window, moment);
        moment.now = moment.srtt = moment.min_rtt = kRtt;
        mpcc.on_interval(window, first, moment, {subflows, 0});
        round({});
        for (int i = 0; i <= Mpcc::kSlowStartRetries; ++i) round({.capacity_bps = 16e6});
        ASSERT_EQ(mpcc.mode(), Mpcc::Mode::Probing);
        ASSERT_DOUBLE_EQ(mbps(), 16);
        EXPECT_FALSE(mpcc.wants_action());
        probe();
    }
    void probe() {
        round({});
        ASSERT_EQ(records.size(), 4u);
        ASSERT_TRUE(mpcc.wants_action());
        EXPECT_EQ(why.rule, &mpcc_rules::kHandOver);
    }
    void act(double action) {
        why = {};
        const std::array<float, 1> actions{static_cast<float>(action)};
        mpcc.on_action(window, actions,
                       {{.now = moment.now, .srtt = kRtt, .min_rtt = kRtt, .packet_bits = kPacketBits, .why = &why},
                        kReference_bps / kPacketBits});
        EXPECT_EQ(why.rule, &mpcc_rules::kAgentMove);
        EXPECT_FALSE(mpcc.wants_action());
    }
    EpochSample sample() {
        EpochSample sample{.packet_bits = kPacketBits};
        mpcc.epoch_sample(sample);
        return sample;
    }
    double reward(double utility) {
        EpochSample sample{.utility = utility, .packet_bits = kPacketBits};
        std::array<float, 3> record{};
        mpcc.observe(sample, record);
        return mpcc.reward(std::span(&sample, 1));
    }
};

TEST_F(DdpgMpccTest, TheAgentTakesTheStepsWhileTheUtilityDoesNotFall) {
    reach_the_agent();
    EXPECT_EQ(mpcc.mode(), Mpcc::Mode::Moving);
    double rate = 16;
    for (const double action : {1.0, 0.5, 0.1}) {
        act(action);
        rate *= 1 + 0.25 * static_cast<double>(static_cast<float>(action));
        EXPECT_NEAR(mbps(), rate, 1e-9);
        EXPECT_DOUBLE_EQ(window.pacing_pps, mpcc.rate_bps() / kPacketBits);  // at once
        round({});
        ASSERT_EQ(records.size(), 1u);
        EXPECT_EQ(Mpcc::mode_of(records[0]), Mpcc::Mode::Moving);
        EXPECT_EQ(why.rule, &mpcc_rules::kGoOn);
        EXPECT_TRUE(mpcc.wants_action());
        EXPECT_NEAR(sample().utility, std::pow(rate, 0.9), 1e-9);
    }
    // Downwards has a lower utility here.
    act(-1);
    round({});
    EXPECT_EQ(why.rule, &mpcc_rules::kFallBack);
    EXPECT_EQ(mpcc.mode(), Mpcc::Mode::Probing);
}

TEST_F(DdpgMpccTest, AFallingUtilityLeadsBackToProbingFromTheRateBefore) {
    reach_the_agent();
    act(1);
    round({.loss_ratio = 0.05});
    EXPECT_EQ(mpcc.mode(), Mpcc::Mode::Probing);
    EXPECT_FALSE(mpcc.wants_action());
    EXPECT_DOUBLE_EQ(mbps(), 16);
    const double moved = std::pow(20, 0.9) - 11.35 * 0.05 * 20;
    probe();
    for (const IntervalRecord& record : records) EXPECT_EQ(Mpcc::mode_of(record), Mpcc::Mode::Probing);
    // The reward is that of the interval with the tried rate; the observation is that of the last interval.
    EXPECT_NEAR(sample().utility, moved, 1e-9);
    EXPECT_EQ(sample().loss_ratio, 0);
    EXPECT_NEAR(sample().rate_pps, records.back().rate_pps, 1e-9);
    EXPECT_DOUBLE_EQ(sample().rtt_s, 0.12);
}

TEST_F(DdpgMpccTest, DoingNothingEndsInProbing) {
    reach_the_agent();
    act(0);
    EXPECT_DOUBLE_EQ(mbps(), 16);
    round({});
    EXPECT_EQ(why.rule, &mpcc_rules::kFallBack);
    EXPECT_EQ(mpcc.mode(), Mpcc::Mode::Probing);
    probe();
}

TEST_F(DdpgMpccTest, WhatWasNotSentAtAHigherRateIsNoGroundForGoingOn) {
    reach_the_agent();
    act(1);
    round({.sent_share = 0.5});
    EXPECT_EQ(why.rule, &mpcc_rules::kFallBack);
    EXPECT_EQ(why.numbers[6], 0);
}

TEST_F(DdpgMpccTest, TheEmergencyBrakeIsMpccs) {
    reach_the_agent();
    act(1);
    round({.loss_ratio = 0.31});
    EXPECT_EQ(why.rule, &mpcc_rules::kBrake);
    EXPECT_DOUBLE_EQ(mbps(), 10);
    EXPECT_EQ(mpcc.mode(), Mpcc::Mode::Probing);
    EXPECT_LT(sample().utility, 0);
}

TEST_F(DdpgMpccTest, WhatLeavesBeforeTheAgentHasActedIsNoPartOfItsMove) {
    reach_the_agent();
    const IntervalPlan early = mpcc.plan_interval(window, moment);
    EXPECT_EQ(early.length, Nanos(1));
    IntervalRecord record{
        .tag = early.tag, .begin = moment.now, .end = moment.now + 1_ms, .sent_pkts = 1, .lost_pkts = 1};
    act(1);
    EXPECT_EQ(mpcc.on_interval(window, record, moment, {subflows, 0}), NextInterval::InTurn);
    EXPECT_EQ(mpcc.mode(), Mpcc::Mode::Moving);
    round({});
    EXPECT_TRUE(mpcc.wants_action());
}

TEST_F(DdpgMpccTest, TheBaseDecidesWhetherAGrowingRoundTripTimeCounts) {
    for (const bool is_latency : {false, true}) {
        reach_the_agent({{"base", std::string(is_latency ? "latency" : "loss")}});
        EXPECT_EQ(mpcc.constants().gamma, is_latency ? 900 : 0);
        act(1);
        round({.inflation = 0.05});
        EXPECT_EQ(mpcc.wants_action(), !is_latency);
    }
    reach_the_agent({{"preset", std::string("kernel")}, {"base", std::string("latency")}, {"step", 0.1}});
    EXPECT_EQ(mpcc.constants().unit_bps, 8);
    EXPECT_EQ(mpcc.constants().gamma, 1);
    act(1);
    EXPECT_NEAR(mbps(), 17.6, 1e-9);
}

TEST_F(DdpgMpccTest, SeesEachNumberRelativeToTheLargestSoFar) {
    EpochSample sample{.loss_ratio = 0.02, .rtt_s = 0.1, .rate_pps = 500};
    sample.utility = 1;
    std::array<float, 3> record{};
    mpcc.observe(sample, record);
    EXPECT_EQ(record, (std::array{1.0F, 1.0F, 1.0F}));
    sample.loss_ratio = 0.005;
    sample.rtt_s = 0.08;
    sample.rate_pps = 200;
    mpcc.observe(sample, record);
    EXPECT_FLOAT_EQ(record[0], 0.4F);
    EXPECT_FLOAT_EQ(record[1], 0.8F);
    EXPECT_FLOAT_EQ(record[2], 0.25F);
    sample.loss_ratio = 0;
    sample.rtt_s = std::nan("");
    sample.rate_pps = 1000;
    mpcc.observe(sample, record);
    EXPECT_EQ(record, (std::array{1.0F, 0.0F, 0.0F}));
}

TEST_F(DdpgMpccTest, RewardsLieWithinZeroAndOne) {
    mpcc = DdpgMpcc(Options(DdpgMpcc::kInfo, {}));
    EXPECT_EQ(reward(-5), 0);
    EXPECT_EQ(reward(8), 1);
    EXPECT_EQ(reward(6), 0.75);
    EXPECT_EQ(reward(-100), 0);
    EXPECT_EQ(reward(16), 1);
    const std::vector<OptionValue> range{{"reward", std::string("range")}};
    mpcc = DdpgMpcc(Options(DdpgMpcc::kInfo, range));
    EXPECT_EQ(reward(0), 0);
    EXPECT_EQ(reward(8), 1);
    EXPECT_EQ(reward(-8), 0);
    EXPECT_EQ(reward(0), 0.5);
    EXPECT_EQ(reward(4), 0.75);
}

TEST_F(DdpgMpccTest, RefusesWhatIsNoOptionOfIt) {
    const auto make = [](const std::vector<OptionValue>& options) {
        return DdpgMpcc(Options(DdpgMpcc::kInfo, options));
    };
    EXPECT_THROW(make({{"base", std::string("olia")}}), ScenarioError);
    EXPECT_THROW(make({{"beta", 3.0}}), ScenarioError);
    EXPECT_THROW(make({{"step", 0.0}}), ScenarioError);
    EXPECT_NO_THROW(make({{"history", 4.0}}));
}

// Two separate links, 20 Mbit/s in all.
Scenario rate_based(const std::string& base, DecisionSourceKind kind) {
    Scenario scenario = testing::linux_profile(60_s, 20_s);
    const testing::PathOptions path{.rate = 10_Mbps, .one_way = 20_ms, .queue_pkts = 60};
    const PathSpec first = testing::add_path(scenario, path);
    const PathSpec second = testing::add_path(scenario, path);
    FlowSpec& flow = testing::add_mptcp(scenario, {first, second}, "ddpg-mpcc");
    flow.controller.options = {{"base", base}};
    flow.decider.kind = kind;
    flow.scheduler.name = "mpcc-rate";
    return scenario;
}

double goodput_mbps(const Scenario& scenario) {
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    network.check_invariants();
    return network.flow_result(0).goodput_bps / 1e6;
}

TEST(DdpgMpccNetwork, ProbingHoldsTheLinksWhateverTheAgentDoes) {
    for (const char* base : {"loss", "latency"}) {
        EXPECT_GT(goodput_mbps(rate_based(base, DecisionSourceKind::Neutral)), 8) << base;
        EXPECT_GT(goodput_mbps(rate_based(base, DecisionSourceKind::Random)), 8) << base;
    }
}

// An agent that always increases the rate fills both links; the utility reduces it when the queue overflows.
TEST(DdpgMpccNetwork, AnAgentThatAsksForMoreFillsTheLinks) {
    const Scenario scenario = rate_based("loss", DecisionSourceKind::Outside);
    Network network(scenario, 1);
    const std::array<float, 1> more{0.5F};
    while (!network.run_until(scenario.duration)) {
        for (std::uint32_t a = 0; a < network.agents().size(); ++a)
            if (network.agents()[a].is_waiting) network.act(a, more);
    }
    EXPECT_GT(network.flow_result(0).goodput_bps, 0.85 * 20e6 * 1448 / 1500);
}

TEST(DdpgMpccNetwork, LogsWhatItsMovingPhaseCameTo) {
    const Scenario scenario = rate_based("loss", DecisionSourceKind::Random);
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    int moves = 0;
    for (const SubflowInterval& interval : network.take_intervals()) {
        if (Mpcc::mode_of(interval.record) != Mpcc::Mode::Moving) continue;
        ++moves;
        EXPECT_TRUE(std::isfinite(interval.record.utility));
        EXPECT_GT(interval.record.rate_pps, 0);
        EXPECT_EQ(interval.record.sent_pkts, interval.record.delivered_pkts + interval.record.lost_pkts);
    }
    EXPECT_GT(moves, 50);
}

TEST(DdpgMpccNetwork, RunsAlikeHoweverItIsCut) {
    for (const DecisionSourceKind kind : {DecisionSourceKind::Neutral, DecisionSourceKind::Random}) {
        EXPECT_TRUE(testing::is_same_however_cut(rate_based("latency", kind), 25_s));
    }
}

}  // namespace
}  // namespace subflow

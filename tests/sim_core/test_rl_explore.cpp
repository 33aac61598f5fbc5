// RL-explore: effects of actions on the rate, observations of the agent; then in networks, with untrained agents.
#include "cc/rl_explore.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>

#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;
using testing::add_path;
using testing::add_tcp;
using testing::linux_profile;

TEST(RlExploreReward, HasTheValueOfTheReference) {
    // ln 6 - 10 * 0.025 - 10 * 0.01
    EXPECT_NEAR(RlExplore::reward_of(6, 0.025, 0.01), 1.4417595, 5e-8);
    // Silence costs a finite amount.
    EXPECT_NEAR(RlExplore::reward_of(0, 0, 1), std::log(0.01) - 10, 1e-12);
}

class RlExploreTest : public ::testing::Test {
protected:
    RlExplore controller = make({});
    Window window = started();
    ActionMoment moment{{.srtt = 40_ms, .min_rtt = 40_ms, .packet_bits = 12'000}, 5000};
    std::array<float, 4> record{};

    static RlExplore make(const std::vector<OptionValue>& options) {
        return RlExplore(Options(RlExplore::kInfo, options));
    }
    Window started() {
        Window fresh{.cwnd_pkts = 10};
        controller.on_start(fresh, 1);
        return fresh;
    }
    void start(const std::vector<OptionValue>& options) {
        controller = make(options);
        window = started();
    }
    double act(double choice) {
        const std::array action{static_cast<float>(choice)};
        controller.on_action(window, action, moment);
        return window.pacing_pps;
    }
    // An epoch of a path with a reference rate of 5000 packets/s (60 Mbit/s) and an RTT of 40 ms without queues.
    static EpochSample epoch(double sent_pps, double delivered_pps, double rtt_s = 0.04, double loss = 0) {
        return {.length_s = 0.05,
                .sent_pps = sent_pps,
                .delivered_pps = delivered_pps,
                .loss_ratio = loss,
                .rtt_s = rtt_s,
                .least_rtt_s = rtt_s,
                .min_rtt_s = 0.04,
                .seen_rtt_s = rtt_s,
                .reference_pps = 5000,
                .packet_bits = 12'000,
                .payload_bits = 11'584};
    }
    double see(const EpochSample& sample) {
        controller.observe(sample, record);
        return controller.reward({&sample, 1});
    }
};

TEST_F(RlExploreTest, StartsPacedAtTheInitialRateWithinTheInitialWindow) {
    EXPECT_EQ(window.pacing_pps, 500);
    EXPECT_EQ(window.cwnd_pkts, 10);
    start({{"starting_rate", 960e3}});
    EXPECT_EQ(window.pacing_pps, 80);
    start({{"starting_rate", 960e3}, {"rate_floor", 1.2e6}});
    EXPECT_EQ(window.pacing_pps, 100);
}

TEST_F(RlExploreTest, MultipliesKeepsAndDividesTheRate) {
    see(epoch(4000, 4000));
    EXPECT_EQ(act(RlExplore::kIncrease), 625);
    EXPECT_EQ(act(RlExplore::kKeep), 625);
    EXPECT_EQ(act(RlExplore::kDecrease), 500);
    start({{"rate_factor", 2.0}});
    see(epoch(4000, 4000));
    EXPECT_EQ(act(RlExplore::kIncrease), 1000);
    EXPECT_EQ(act(RlExplore::kDecrease), 500);
}

TEST_F(RlExploreTest, EveryEighthChoiceProbesUnlessItLowersTheRate) {
    see(epoch(4000, 4000));
    std::vector<double> factors;
    double before = window.pacing_pps;
    for (int i = 0; i < 16; ++i) {
        const double after = act(RlExplore::kKeep);
        factors.push_back(after / before);
        before = after;
    }
    for (std::size_t i = 0; i < factors.size(); ++i) EXPECT_EQ(factors[i], i % 8 == 7 ? 1.25 : 1) << i;

    // A decrease at that moment counts as one, and the next probe is eight choices away.
    for (int i = 0; i < 7; ++i) act(RlExplore::kKeep);
    before = window.pacing_pps;
    EXPECT_EQ(act(RlExplore::kDecrease), before / 1.25);
    for (int i = 0; i < 7; ++i) EXPECT_EQ(act(RlExplore::kKeep), before / 1.25);
    EXPECT_EQ(act(RlExplore::kIncrease), before / 1.25 * 1.25 * 1.25);
}

TEST_F(RlExploreTest, ProbesAsOftenAsToldOrNever) {
    start({{"probe_interval", 2.0}});
    see(epoch(4000, 4000));
    EXPECT_EQ(act(RlExplore::kKeep), 500);
    EXPECT_EQ(act(RlExplore::kKeep), 625);
    EXPECT_EQ(act(RlExplore::kKeep), 625);
    EXPECT_EQ(act(RlExplore::kKeep), 781.25);
    start({{"probe_bw", false}, {"probe_interval", 1.0}});
    see(epoch(4000, 4000));
    for (int i = 0; i < 20; ++i) EXPECT_EQ(act(RlExplore::kKeep), 500);
}

TEST_F(RlExploreTest, TheRateStaysWithinTwiceWhatGetsThroughAndItsFloor) {
    see(epoch(4000, 3000));
    for (int i = 0; i < 100; ++i) act(RlExplore::kIncrease);
    EXPECT_EQ(window.pacing_pps, 2 * 3000);
    for (int i = 0; i < 200; ++i) act(RlExplore::kDecrease);
    EXPECT_EQ(window.pacing_pps, 10);
    // If no packet arrives, the initial rate may be tried.
    for (int i = 0; i < 5; ++i) see(epoch(500, 0));
    for (int i = 0; i < 100; ++i) act(RlExplore::kIncrease);
    EXPECT_EQ(window.pacing_pps, 500);
}

TEST_F(RlExploreTest, AcksThatArriveTogetherAreNoThroughput) {
    EpochSample burst = epoch(500, 10e9);  // ten packets in a nanosecond
    burst.length_s = 1e-9;
    see(burst);
    EXPECT_NEAR(controller.throughput_max_pps(), 100'000, 1e-6);
}

TEST_F(RlExploreTest, TheWindowIsACapThatFollowsTheRate) {
    // 2.5 * 625 packets/s * 40 ms = 62.5
    see(epoch(4000, 4000));
    act(RlExplore::kIncrease);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 62.5);
    controller.on_every_ack(window, {.srtt = 80_ms}, {});
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 125);
    controller.on_every_ack(window, {.srtt = 1_ms}, {});
    EXPECT_EQ(window.cwnd_pkts, RlExplore::kMinCwnd);

    // Without an RTT sample the cap is the initial window.
    start({});
    moment.srtt = Nanos(0);
    act(RlExplore::kIncrease);
    EXPECT_EQ(window.cwnd_pkts, 10);
}

TEST_F(RlExploreTest, OnlySilenceTouchesTheRateBetweenActions) {
    Reason why;
    controller.on_congestion_event(window, {.kind = CongestionKind::FastRetransmit, .why = &why}, {});
    EXPECT_EQ(window.pacing_pps, 500);
    EXPECT_EQ(why.rule, &RlExplore::kLossSeen);

    controller.on_congestion_event(window, {.kind = CongestionKind::Timeout, .why = &why}, {});
    EXPECT_EQ(window.pacing_pps, 250);
    EXPECT_EQ(why.rule, &RlExplore::kSilence);
    EXPECT_EQ(why.numbers[0], 500);
    // The sender leaves one packet; an action does not open the window before an acknowledgement arrives.
    window.cwnd_pkts = 1;
    moment.is_in_loss = true;
    act(RlExplore::kKeep);
    EXPECT_EQ(window.cwnd_pkts, 1);
    for (int i = 0; i < 20; ++i) controller.on_congestion_event(window, {.kind = CongestionKind::Timeout}, {});
    EXPECT_EQ(window.pacing_pps, 10);
}

TEST_F(RlExploreTest, SeesTheBestThroughputOfFiveEpochs) {
    const auto shown = [](double ratio) { return static_cast<float>(std::log1p(ratio)); };
    see(epoch(2000, 2000));
    EXPECT_FLOAT_EQ(record[0], shown(2000.0 / 5000));
    EXPECT_FLOAT_EQ(record[2], shown(1));
    for (int i = 0; i < 4; ++i) see(epoch(1500, 1000));
    EXPECT_FLOAT_EQ(record[0], shown(2000.0 / 5000));
    EXPECT_FLOAT_EQ(record[2], shown(1500.0 / 2000));
    see(epoch(1500, 1000));
    EXPECT_FLOAT_EQ(record[0], shown(1000.0 / 5000));
    EXPECT_FLOAT_EQ(record[2], shown(1500.0 / 1000));
}

TEST_F(RlExploreTest, SeesLossAndWhatQueuesAddToTheRtt) {
    see(epoch(1000, 1000, 0.05, 0.2));
    EXPECT_FLOAT_EQ(record[1], 0.2F);
    EXPECT_FLOAT_EQ(record[3], static_cast<float>(std::log1p(0.25)));
    see(epoch(1000, 1000, 0.04));
    EXPECT_EQ(record[3], 0);
}

TEST_F(RlExploreTest, WhatItSeesStaysWithinItsBoundsAndIsNeverNaN) {
    const auto check = [&] {
        for (std::size_t i = 0; i < record.size(); ++i) {
            EXPECT_GE(record[i], RlExplore::kFeatures[i].minimum) << i;
            EXPECT_LE(record[i], RlExplore::kFeatures[i].maximum) << i;
        }
    };
    // No acknowledgement yet; then a flood without acknowledgements; then an RTT a thousand times the lowest.
    EpochSample silent = epoch(0, 0, kNaN);
    silent.min_rtt_s = kNaN;
    EXPECT_TRUE(std::isfinite(see(silent)));
    check();
    EXPECT_TRUE(std::isfinite(see(epoch(1e9, 0, kNaN, 1))));
    check();
    EXPECT_TRUE(std::isfinite(see(epoch(1e9, 1e9, 40))));
    check();
}

TEST_F(RlExploreTest, RewardsTheBestThroughputOnTheWire) {
    // 4000 packets/s of 12 kbit: 48 Mbit/s
    EXPECT_NEAR(see(epoch(4000, 4000, 0.05, 0.01)), std::log(48) - 0.5 - 0.1, 1e-9);
    EXPECT_NEAR(see(epoch(1000, 1000, 0.04)), std::log(48) - 0.4, 1e-9);
}

TEST_F(RlExploreTest, SaysWhyTheRateIsWhatItIs) {
    Reason why;
    moment.why = &why;
    see(epoch(4000, 4000));
    act(RlExplore::kIncrease);
    EXPECT_EQ(why.rule, &RlExplore::kRateChoice);
    EXPECT_EQ(why.numbers[0], RlExplore::kIncrease);
    EXPECT_EQ(why.numbers[1], 500);
    EXPECT_EQ(why.numbers[2], 4000);
    for (int i = 0; i < 7; ++i) act(RlExplore::kKeep);
    EXPECT_EQ(why.rule, &RlExplore::kProbe);
}

TEST(RlExploreOptions, DecideWhenTheAgentActs) {
    const EpochPlan packets = RlExplore(Options(RlExplore::kInfo, {})).epoch_plan();
    EXPECT_EQ(packets.kind, EpochKind::Packets);
    EXPECT_EQ(packets.packets, 50u);
    EXPECT_EQ(packets.history, 1u);
    const std::vector<OptionValue> given{{"epoch", std::string("rtt")}, {"history", 8.0}};
    const EpochPlan rounds = RlExplore(Options(RlExplore::kInfo, given)).epoch_plan();
    EXPECT_EQ(rounds.kind, EpochKind::Rtt);
    EXPECT_EQ(rounds.history, 8u);
}

// One flow over the link of T-rlx: 48 Mbit/s (4000 packets/s), 20 ms each way, 55 packets of queue.
Scenario fast_link(Nanos duration, DecisionSource decider, const std::vector<OptionValue>& options = {}) {
    Scenario scenario = linux_profile(duration);
    const PathSpec path = add_path(scenario, {.rate = 48_Mbps, .one_way = 20_ms, .queue_pkts = 55});
    FlowSpec& flow = add_tcp(scenario, path);
    flow.controller = {"rl-explore", options};
    flow.decider = std::move(decider);
    return scenario;
}
constexpr double kPayloadShare = 1448.0 / 1500;

TEST(RlExploreNetwork, WithoutProbesAnAgentThatChangesNothingSendsAtTheStartingRate) {
    const Scenario scenario = fast_link(10_s, {}, {{"probe_bw", false}, {"starting_rate", 12e6}});
    Network network(scenario, 1);
    network.run_until(10_s);
    network.check_invariants();
    EXPECT_NEAR(network.flow_result(0).goodput_bps, 12e6 * kPayloadShare, 0.01 * 12e6);
    EXPECT_NEAR(network.flow_result(0).mean_rtt_s, 0.0405, 0.001);  // half of the ACKs wait for a second packet
}

TEST(RlExploreNetwork, ProbesAloneFindTheLinksRate) {
    Scenario scenario = fast_link(10_s, {});
    scenario.warmup = 6_s;
    Network network(scenario, 1);
    network.run_until(10_s);
    EXPECT_GT(network.link_result(0).utilisation, 0.95);
}

// Runs from decision to decision with one choice. Returns the time and the sample of each decision.
std::vector<std::pair<Nanos, EpochSample>> decisions_of(Network& network, Nanos until, float choice) {
    std::vector<std::pair<Nanos, EpochSample>> seen;
    while (!network.run_until(until)) {
        seen.emplace_back(network.now(), network.agents()[0].members()[0].sample);
        network.act(0, std::array{choice});
    }
    return seen;
}

TEST(RlExploreNetwork, AnEpochEndsWithTheFateOfFiftyPackets) {
    const Scenario scenario = fast_link(5_s, {DecisionSourceKind::Outside, nullptr}, {{"starting_rate", 24e6}});
    Network network(scenario, 1);
    const auto seen = decisions_of(network, 5_s, RlExplore::kKeep);
    ASSERT_GT(seen.size(), 100u);
    for (std::size_t i = 1; i < seen.size(); ++i) {
        const EpochSample& e = seen[i].second;
        const double delivered = e.delivered_pps * e.length_s;
        // ACKs cover two packets each, and more when a missing packet has arrived.
        EXPECT_GE(delivered / (1 - e.loss_ratio), 50 - 1e-6) << i;
        if (e.loss_ratio == 0) {
            EXPECT_LE(delivered, 51 + 1e-6) << i;
        }
    }
}

TEST(RlExploreNetwork, AnEpochOfRoundTripsLastsOne) {
    const std::vector<OptionValue> options{{"epoch", std::string("rtt")}, {"probe_bw", false}};
    const Scenario scenario = fast_link(5_s, {DecisionSourceKind::Outside, nullptr}, options);
    Network network(scenario, 1);
    const auto seen = decisions_of(network, 5_s, RlExplore::kKeep);
    ASSERT_GT(seen.size(), 100u);
    for (std::size_t i = 10; i < seen.size(); ++i)
        EXPECT_NEAR(to_seconds(seen[i].first - seen[i - 1].first), 0.0405, 0.002) << i;
}

TEST(RlExploreNetwork, AnAgentThatAlwaysWantsMoreLosesPacketsAndKeepsTheLinkBusy) {
    Scenario scenario = fast_link(5_s, {DecisionSourceKind::Outside, nullptr});
    scenario.warmup = 40_ms;  // the handshake, without data to send
    Network network(scenario, 1);
    const auto seen = decisions_of(network, 5_s, RlExplore::kIncrease);
    network.check_invariants();
    // At twice the delivery rate, one of two packets is dropped. An ACK for many packets may end an epoch of 50.
    const auto last = std::span(seen).last(20);
    const double lost = std::accumulate(last.begin(), last.end(), 0.0,
                                        [](double sum, const auto& e) { return sum + e.second.loss_ratio; });
    EXPECT_NEAR(lost / 20, 0.5, 0.05);
    EXPECT_LE(seen.back().second.rate_pps, 2.001 * seen.back().second.reference_pps);
    EXPECT_GT(network.link_result(0).utilisation, 0.9);
}

TEST(RlExploreNetwork, ASilentPathIsSentLessAndFoundAgain) {
    Scenario scenario = fast_link(12_s, {}, {{"probe_bw", false}, {"starting_rate", 24e6}});
    for (const auto& [at, up] : {std::pair{3_s, false}, std::pair{6_s, true}}) {
        EventSpec& event = scenario.events.emplace_back();
        event.at = at;
        event.link = 0;
        event.up = up;
    }
    Network network(scenario, 1);
    network.run_until(3_s);
    EXPECT_EQ(network.subflows()[0].sender.window().pacing_pps, 2000);
    network.run_until(6_s);
    EXPECT_LE(network.subflows()[0].sender.window().pacing_pps, 1000);
    network.run_until(9_s);
    const std::int64_t before = network.connections()[0].delivered_bytes;
    network.run_until(12_s);
    network.check_invariants();
    const double rate_pps = network.subflows()[0].sender.window().pacing_pps;
    EXPECT_NEAR(static_cast<double>(network.connections()[0].delivered_bytes - before) / 1448 / 3, rate_pps,
                0.02 * rate_pps);
}

TEST(RlExploreNetwork, EachSubflowHasAnAgentOfItsOwn) {
    Scenario scenario = linux_profile(5_s);
    const PathSpec one = add_path(scenario, {.rate = 8_Mbps, .one_way = 10_ms, .queue_pkts = 40});
    const PathSpec two = add_path(scenario, {.rate = 4_Mbps, .one_way = 20_ms, .queue_pkts = 40});
    FlowSpec& flow = testing::add_mptcp(scenario, {one, two}, "uncoupled");
    flow.controller.options = {{"base", std::string("rl-explore")}};
    Network network(scenario, 1);
    ASSERT_EQ(network.agents().size(), 2u);
    network.run_until(5_s);
    EXPECT_GT(network.link_result(0).utilisation, 0.7);
    EXPECT_GT(network.link_result(2).utilisation, 0.7);
}

}  // namespace
}  // namespace subflow

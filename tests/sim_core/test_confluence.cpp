// Confluence: effects of actions on the window, observations of the agent, and bounds that hold for any action.
#include "cc/confluence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "agent/vec_env.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;
using testing::add_mptcp;
using testing::add_path;
using testing::add_tcp;
using testing::linux_profile;

constexpr double kPathRtt_s = 0.04;

std::size_t seen_at(std::string_view name) {
    const auto& all = Confluence::kFeatures;
    return static_cast<std::size_t>(std::ranges::find(all, name, &NumberInfo::name) - all.begin());
}

class ConfluenceTest : public ::testing::Test {
protected:
    Confluence controller = make({});
    Window window{.cwnd_pkts = 100};
    Siblings alone;
    Nanos now = 1_s;
    std::array<float, Confluence::kFeatures.size()> record{};

    static Confluence make(const std::vector<OptionValue>& options) {
        return Confluence(Options(Confluence::kInfo, options));
    }
    // A loss ends the start at half the window.
    void begin() { controller.on_congestion_event(window, {.now = now}, alone); }
    void acknowledge(double pkts, Nanos after, const Siblings& siblings, Nanos rtt = 40_ms) {
        now = now + after;
        controller.on_every_ack(
            window, {.acked_pkts = pkts, .rtt = rtt, .srtt = rtt, .min_rtt = 40_ms, .now = now, .inflight_pkts = 50},
            siblings);
    }
    static EpochSample epoch(double delivered_pps, double least_rtt_s = kPathRtt_s, double loss = 0) {
        return {.length_s = 0.04,
                .sent_pps = delivered_pps,
                .delivered_pps = delivered_pps,
                .loss_ratio = loss,
                .rtt_s = least_rtt_s + 0.01,
                .rtt_dev_s = 0.001,
                .least_rtt_s = least_rtt_s,
                .min_rtt_s = kPathRtt_s,
                .cwnd_pkts = 50,
                .reference_pps = 2000};
    }
    float see(const EpochSample& sample, std::string_view name) {
        controller.observe(sample, record);
        return record[seen_at(name)];
    }
    double act(double choice, bool is_in_loss = false) {
        ActionMoment moment{{.now = now, .srtt = 40_ms, .min_rtt = 40_ms, .packet_bits = 12'000}, 2000, is_in_loss};
        controller.on_action(window, std::array{static_cast<float>(choice)}, moment);
        return window.cwnd_pkts;
    }
};

TEST_F(ConfluenceTest, DoublesUntilALossOrAQueue) {
    acknowledge(10, 10_ms, alone);
    EXPECT_EQ(window.cwnd_pkts, 110);
    EXPECT_NEAR(window.pacing_pps, 2 * 110 / kPathRtt_s, 1e-6);
    begin();
    EXPECT_EQ(window.cwnd_pkts, 55);
    acknowledge(10, 10_ms, alone);
    EXPECT_EQ(window.cwnd_pkts, 55);
    EXPECT_NEAR(window.pacing_pps, 1.1 * 55 / kPathRtt_s, 1e-6);
}

TEST_F(ConfluenceTest, TheStartEndsWithWhatARoundOfLongerRttsDelivered) {
    const auto round = [&](bool begins, Nanos rtt) {
        now = now + 50_ms;
        controller.on_every_ack(
            window, {.acked_pkts = 60, .rtt = rtt, .srtt = rtt, .min_rtt = 40_ms, .now = now, .begins_round = begins},
            alone);
    };
    round(true, 49_ms);
    round(true, 51_ms);  // the previous round had 1.23 times the lowest RTT
    EXPECT_EQ(window.cwnd_pkts, 220);
    round(false, 52_ms);
    round(true, 60_ms);                // this round had 1.28 times
    EXPECT_EQ(window.cwnd_pkts, 140);  // half of 280; the round delivered 120
    EXPECT_FALSE(window.in_slow_start());
}

TEST_F(ConfluenceTest, AnEpochTakesARoundTripAndTwentyPacketsOrFiveRoundTrips) {
    begin();
    acknowledge(30, 30_ms, alone);
    EXPECT_FALSE(controller.wants_action());
    acknowledge(1, 10_ms, alone);
    EXPECT_TRUE(controller.wants_action());
    act(Confluence::kKeep);
    EXPECT_FALSE(controller.wants_action());
    acknowledge(19, 190_ms, alone);
    EXPECT_FALSE(controller.wants_action());
    acknowledge(0, 10_ms, alone);
    EXPECT_TRUE(controller.wants_action());
}

TEST_F(ConfluenceTest, MultipliesItsOwnWindow) {
    begin();
    see(epoch(1250, 0.05), "queue");
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(6), 100, 1e-9);
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(5), 100 * std::exp2(0.3), 1e-9);
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(Confluence::kKeep), 100 * std::exp2(0.3), 1e-9);
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(0), 50 * std::exp2(0.3), 1e-9);
}

TEST_F(ConfluenceTest, MultipliesTheWindowThatLiaWouldHaveIfAskedTo) {
    controller = make({{"window", std::string("lia")}});
    begin();
    see(epoch(2000), "queue");
    double lia = 50;
    const auto epoch_of_25 = [&] {
        acknowledge(25, 40_ms, alone);
        lia += 25 / lia;
    };
    epoch_of_25();
    EXPECT_NEAR(window.cwnd_pkts, lia, 1e-9);
    EXPECT_NEAR(act(Confluence::kKeep), lia, 1e-9);  // keeping does not probe
    epoch_of_25();
    EXPECT_NEAR(act(5), lia * std::exp2(0.3), 1e-9);
    epoch_of_25();
    EXPECT_NEAR(window.cwnd_pkts, lia * std::exp2(0.3), 1e-9);
    EXPECT_NEAR(act(4), lia * std::exp2(0.1), 1e-9);  // relative to LIA's window each time
    controller.on_congestion_event(window, {.now = now}, alone);
    acknowledge(0, 1_ms, alone);
    EXPECT_NEAR(window.cwnd_pkts, lia / 2 * std::exp2(0.1), 1e-9);
}

TEST_F(ConfluenceTest, AKeptWindowWithoutAQueueGrowsFasterAndFaster) {
    begin();
    double expected = 50;
    for (int k = 1; k <= 20; ++k) {
        see(epoch(1250), "queue");
        acknowledge(20, 40_ms, alone);
        expected = std::min(expected * std::exp2(std::min(0.02 * k, 0.3)), 2 * 2000 * kPathRtt_s + 4);
        EXPECT_NEAR(act(Confluence::kKeep), expected, 1e-6) << k;
    }
    see(epoch(1250, 0.05), "queue");
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(Confluence::kKeep), expected, 1e-6);
}

TEST_F(ConfluenceTest, NoActionLeadsBeyondTwiceTheLargestRateOfLate) {
    begin();
    const double cap = 2 * 2000 * kPathRtt_s + 4;
    for (int i = 0; i < 20; ++i) {
        see(epoch(1250), "queue");
        acknowledge(20, 40_ms, alone);
        EXPECT_LE(act(6), cap);
    }
    EXPECT_EQ(window.cwnd_pkts, cap);
    acknowledge(1, 1_ms, alone, 80_ms);  // the current RTT, not the lowest: a queue must not starve the flow
    EXPECT_EQ(window.cwnd_pkts, cap);    // the agent's choice
    acknowledge(1, 1_ms, alone, 20_ms);
    EXPECT_NEAR(window.cwnd_pkts, 2 * 2000 * 0.02 + 4, 1e-9);
    controller = make({{"safety", false}});
    window.cwnd_pkts = 100;
    begin();
    for (int i = 0; i < 3; ++i) {
        acknowledge(20, 40_ms, alone);
        act(6);
    }
    EXPECT_GT(window.cwnd_pkts, cap);
}

TEST_F(ConfluenceTest, AFewPacketsTellNothingAndHaveARuleOfTheirOwn) {
    begin();
    see(epoch(100), "queue");
    acknowledge(9, 200_ms, alone);
    EXPECT_EQ(act(6), 51);
    see(epoch(100, kPathRtt_s, 0.1), "queue");
    acknowledge(9, 200_ms, alone);
    EXPECT_EQ(act(0), 51);
    acknowledge(10, 200_ms, alone);
    EXPECT_EQ(act(0), 25.5);
}

TEST_F(ConfluenceTest, ARowOfTimeoutsHalvesTheWindowOnceAndTheWayBackIsClockedByAcks) {
    begin();
    acknowledge(20, 40_ms, alone);
    act(6);
    for (int i = 0; i < 3; ++i) {
        controller.on_congestion_event(window, {.kind = CongestionKind::Timeout, .now = now}, alone);
        window.cwnd_pkts = 1;  // done by the sender
    }
    acknowledge(1, 40_ms, alone);
    EXPECT_EQ(window.cwnd_pkts, 2);
    acknowledge(10, 40_ms, alone);
    EXPECT_EQ(window.cwnd_pkts, 12);
    act(Confluence::kKeep, true);
    EXPECT_EQ(window.cwnd_pkts, 12);
    acknowledge(60, 40_ms, alone);
    EXPECT_NEAR(window.cwnd_pkts, 50, 2);  // half of the previous window, and the action's effect on it
}

// The window of the path model: packets are delivered at a rate, and some are lost.
class ConfluenceModelTest : public ConfluenceTest {
protected:
    std::uint64_t delivered = 0;

    ConfluenceModelTest() { controller = make({{"window", std::string("model")}}); }
    // An ACK of a packet sent a round trip ago, when a round trip's deliveries fewer had arrived.
    void deliver(double pkts, double rate_pps, Nanos rtt = 40_ms, double lost = 0) {
        acknowledge(pkts, 10_ms, alone, rtt);
        delivered += static_cast<std::uint64_t>(pkts);
        const auto in_a_round = static_cast<std::uint64_t>(std::lround(rate_pps * to_seconds(rtt)));
        const DeliverySample sample{.now = now,
                                    .rtt = rtt,
                                    .srtt = rtt,
                                    .newly_delivered_pkts = pkts,
                                    .newly_lost_pkts = lost,
                                    .delivered_pkts = delivered + 1000,
                                    .prior_delivered_pkts = delivered + 1000 - in_a_round,
                                    .interval = rtt};
        controller.on_delivery(window, sample, alone);
    }
    // Packets that the model adds.
    static double spare(double rate_pps) { return 2 + 0.3 * std::sqrt(rate_pps * kPathRtt_s); }
    // A start that ends after three round trips at the same rate. Once, a queue was full.
    void begin_at(double rate_pps, Nanos full = 80_ms) {
        for (int i = 0; i < 2; ++i) deliver(1, rate_pps, full);  // two, because a single one may be a delayed ACK
        for (int i = 0; i < 6; ++i) {
            now = now + 40_ms;
            deliver(20, rate_pps);
            controller.on_every_ack(
                window,
                {.acked_pkts = 1, .rtt = 40_ms, .srtt = 40_ms, .min_rtt = 40_ms, .now = now, .begins_round = true},
                alone);
        }
        see(epoch(rate_pps), "queue");
    }
};

TEST_F(ConfluenceModelTest, TheStartOutlivesRandomLossesAndEndsWithoutGrowthOrInAFlood) {
    controller.on_congestion_event(window, {.now = now}, alone);
    EXPECT_EQ(window.cwnd_pkts, 100);
    EXPECT_TRUE(window.in_slow_start());
    deliver(10, 2500, 40_ms, 5);
    EXPECT_TRUE(window.in_slow_start());
    EXPECT_EQ(window.cwnd_pkts, 110);
    deliver(10, 2500, 40_ms, 10);  // 15 of 120 packets in a round trip
    EXPECT_FALSE(window.in_slow_start());
    EXPECT_NEAR(window.cwnd_pkts, 2500 * kPathRtt_s + spare(2500), 1e-9);
    controller = make({{"window", std::string("model")}});
    window = {.cwnd_pkts = 100};
    begin_at(1000);
    EXPECT_FALSE(window.in_slow_start());
    EXPECT_NEAR(window.cwnd_pkts, 1000 * kPathRtt_s + spare(1000), 0.5);  // no epoch yet has measured the buffer
}

TEST_F(ConfluenceModelTest, TheStartIsBoundByTheModel) {
    for (int i = 0; i < 20; ++i) deliver(50, 1000);
    EXPECT_NEAR(window.cwnd_pkts, 2.5 * 1000 * kPathRtt_s + 10, 1e-9);
}

TEST_F(ConfluenceModelTest, MultipliesTheModelInsteadOfItsOwnWindow) {
    begin_at(1000);
    see(epoch(1000, 0.05), "queue");
    for (int i = 0; i < 3; ++i) {
        acknowledge(20, 40_ms, alone);
        EXPECT_NEAR(act(1), 40 * std::exp2(-0.3) + spare(1000), 1e-9);  // the same each time
    }
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(5), 50 * std::exp2(0.3) + spare(1000),
                1e-9);  // more: with the RTT of the epoch, which includes the queue
    deliver(20, 1200);
    EXPECT_NEAR(window.cwnd_pkts, 1200 * 0.05 * std::exp2(0.3) + spare(1200),
                1e-6);  // follows the rate between actions
    see(epoch(1000, 0.05), "queue");
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(Confluence::kKeep), 48 + spare(1200), 1e-6);
}

TEST_F(ConfluenceModelTest, AtAnEmptyQueueTheWindowProbesWhereItIsAskedToShrink) {
    begin_at(1000);
    const auto after = [&](double choice, double least_rtt_s = kPathRtt_s) {
        see(epoch(1000, least_rtt_s), "queue");
        acknowledge(20, 40_ms, alone);
        return act(choice);
    };
    EXPECT_NEAR(after(Confluence::kKeep), 40 * std::exp2(0.02) + spare(1000), 1e-9);
    EXPECT_NEAR(after(0), 40 * std::exp2(0.04) + spare(1000), 1e-9);
    EXPECT_NEAR(after(2), 40 * std::exp2(0.06) + spare(1000), 1e-9);
    EXPECT_NEAR(after(2, 0.05), 40 * std::exp2(-0.1) + spare(1000), 1e-9);
    EXPECT_NEAR(after(Confluence::kKeep), 40 * std::exp2(0.02) + spare(1000), 1e-9);
}

TEST_F(ConfluenceModelTest, ALossInAFullQueueCutsTheRateAndARandomOneDoesNot) {
    begin_at(1000);
    for (int i = 0; i < 10; ++i) deliver(1, 1000, 41_ms);
    deliver(1, 1000, 41_ms, 1);
    EXPECT_NEAR(window.cwnd_pkts, 40 + spare(1000), 1e-9);
    EXPECT_LT(see(epoch(1000), "marks"), 0.02);  // the position of its RTT in the queue, 0.025, over 200 packets
    deliver(1, 1000, 75_ms, 1);                  // a single long RTT may be a delayed ACK
    EXPECT_NEAR(window.cwnd_pkts, 40 + spare(1000), 1e-9);
    deliver(1, 1000, 75_ms, 1);
    EXPECT_NEAR(window.cwnd_pkts, 0.7 * 40 + spare(700), 1e-9);
    deliver(1, 1000, 75_ms, 1);  // the same queue: once for both losses
    EXPECT_NEAR(window.cwnd_pkts, 0.7 * 40 + spare(700), 1e-9);
    EXPECT_GT(see(epoch(1000), "marks"), 0);
    for (int i = 0; i < 40; ++i) {  // no probes for a while
        see(epoch(700), "queue");
        acknowledge(20, 40_ms, alone);
        EXPECT_EQ(act(Confluence::kKeep) > 28.1 + spare(700), i >= 30) << i;
    }
}

TEST_F(ConfluenceModelTest, ALossAfterAskingForMoreOnlyEndsTheAttempt) {
    begin_at(1000);
    acknowledge(20, 40_ms, alone);
    act(5);
    for (int i = 0; i < 2; ++i) deliver(1, 1100, 75_ms);
    deliver(1, 1100, 75_ms, 1);
    EXPECT_NEAR(window.cwnd_pkts, 40 * std::exp2(0.3) + spare(1000), 1e-6);  // the rate before, 1000 packets/s
    controller = make({{"window", std::string("model")}, {"safety", false}});
    window = {.cwnd_pkts = 100};
    begin_at(1000);
    for (int i = 0; i < 2; ++i) deliver(1, 1000, 75_ms, 1);
    EXPECT_NEAR(window.cwnd_pkts, 40 + spare(1000), 1e-9);
}

// A paced packet would take the place of a competitor's there, and no queue would show the competitor.
TEST_F(ConfluenceModelTest, BehindAFewPacketsOfBufferItGrowsSlowlyAndIsClockedByAcks) {
    begin_at(1000, 44_ms);  // 4 ms of queue at 2000 packets/s: 8 packets
    const double first = window.cwnd_pkts;
    const auto acknowledged = [&] {
        controller.on_every_ack(
            window,
            {.acked_pkts = 3, .rtt = 40_ms, .srtt = 40_ms, .min_rtt = 40_ms, .now = now, .is_cwnd_limited = true},
            alone);
    };
    acknowledged();
    EXPECT_NEAR(window.cwnd_pkts, first + 1 / first, 1e-9);  // a third of NewReno's increase
    EXPECT_EQ(window.pacing_pps, 0);
    acknowledge(20, 40_ms, alone);
    const double before = window.cwnd_pkts;
    EXPECT_NEAR(act(6), before, 1e-9);  // a policy may only ask for less
    acknowledge(0, 1_ms, alone);
    EXPECT_NEAR(act(2), before, 1e-9);  // not after an epoch of a few packets
    deliver(0, 2000);
    EXPECT_NEAR(window.cwnd_pkts, before, 1e-9);
    controller.on_congestion_event(window, {.now = now}, alone);
    EXPECT_NEAR(window.cwnd_pkts, 0.8 * before, 1e-9);
    acknowledge(20, 40_ms, alone);
    const double cut = window.cwnd_pkts;
    EXPECT_NEAR(act(2), cut * std::exp2(-0.1), 1e-9);
    deliver(1, 1000, 46_ms);
    deliver(1, 1000, 46_ms);  // now the buffer is known to be longer, even if that queue is never seen again
    now = now + 100_s;
    deliver(1, 1000);
    acknowledged();
    EXPECT_GT(window.pacing_pps, 0);
    controller = make({{"window", std::string("model")}, {"safety", false}});
    window = {.cwnd_pkts = 100};
    begin_at(1000, 44_ms);
    acknowledged();
    EXPECT_GT(window.pacing_pps, 0);
}

TEST_F(ConfluenceModelTest, InAQueueThatOthersFillTheModelIncludesTheQueue) {
    const auto kept = [&](double least_rtt_s, const Siblings& siblings) {
        controller = make({{"window", std::string("model")}});
        window = {.cwnd_pkts = 100};
        begin_at(1000);
        for (int i = 0; i < 30; ++i) {
            see(epoch(1000, least_rtt_s), "queue");
            acknowledge(20, 40_ms, siblings);
            act(Confluence::kKeep);
        }
        return window.cwnd_pkts;
    };
    EXPECT_NEAR(kept(0.06, alone), 60 + spare(1000), 1e-6);
    EXPECT_NEAR(kept(0.046, alone), 40 + spare(1000), 1e-6);  // a short queue, compared with the full one
    std::array<Sibling, 2> all{};
    for (Sibling& sibling : all) sibling = {.cwnd_pkts = 40, .srtt_s = kPathRtt_s};
    EXPECT_NEAR(kept(0.06, {.all = all, .self = 0}), 40 + spare(1000), 1e-6);  // as much through another queue
}

TEST_F(ConfluenceModelTest, ALimitBoundsTheChoices) {
    controller = make({{"window", std::string("model")}, {"limit", 0.05}});
    begin_at(1000);
    see(epoch(1000, 0.05), "queue");
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(0), 40 * std::exp2(-0.05) + spare(1000), 1e-9);
    acknowledge(20, 40_ms, alone);
    EXPECT_NEAR(act(6), 50 * std::exp2(0.05) + spare(1000), 1e-9);
}

TEST_F(ConfluenceModelTest, ATimeoutLeavesNoMoreThanTheModel) {
    begin_at(1000);
    controller.on_congestion_event(window, {.kind = CongestionKind::Timeout, .now = now}, alone);
    EXPECT_NEAR(window.ssthresh_pkts, (40 + spare(1000)) / 2, 0.25);
    window.cwnd_pkts = 1;  // done by the sender
    deliver(10, 250);
    EXPECT_NEAR(window.cwnd_pkts, 11, 1e-9);  // the way back is clocked by ACKs
}

TEST_F(ConfluenceTest, SeesQueuesByTheLeastRttUnlessToldOtherwise) {
    EXPECT_NEAR(see(epoch(1000, 0.05), "queue"), std::log(1.25), 1e-6);
    EXPECT_EQ(see(epoch(1000, 0.05), "rate"), 0.5F);
    EXPECT_NEAR(see(epoch(1000, 0.05, 0.04), "loss"), 0.2, 1e-6);
    EpochSample sample = epoch(1000, 0.05);
    make({{"queue_rtt", std::string("mean")}}).epoch_sample(sample);
    EXPECT_NEAR(sample.least_rtt_s, 0.06, 1e-12);
}

TEST_F(ConfluenceTest, SeesTheSameOfAPathThatIsTenTimesAsFastAndTenTimesAsShort) {
    const EpochSample slow = epoch(1000, 0.05, 0.01);
    EpochSample fast = slow;
    for (double EpochSample::* time : {&EpochSample::length_s, &EpochSample::rtt_s, &EpochSample::rtt_dev_s,
                                       &EpochSample::least_rtt_s, &EpochSample::min_rtt_s})
        fast.*time /= 10;
    for (double EpochSample::* rate :
         {&EpochSample::sent_pps, &EpochSample::delivered_pps, &EpochSample::reference_pps})
        fast.*rate *= 10;
    controller.observe(slow, record);
    const auto seen = record;
    controller = make({});
    controller.observe(fast, record);
    for (std::size_t i = 0; i < record.size(); ++i) EXPECT_NEAR(record[i], seen[i], 1e-5) << i;
}

TEST_F(ConfluenceTest, TellsSiblingsInTheSameQueueFromOthers) {
    begin();
    std::array<Sibling, 3> all{};
    for (Sibling& sibling : all) sibling = {.cwnd_pkts = 40, .srtt_s = kPathRtt_s};
    const Siblings siblings{.all = all, .self = 0};
    for (int i = 0; i < 60; ++i) {
        const double queue_s = 0.01 + 0.005 * std::sin(i);
        controller.observe(epoch(1000, kPathRtt_s + queue_s), record);
        all[1].advertised = queue_s;                           // the same queue
        all[2].advertised = 0.01 + 0.005 * std::sin(3.7 * i);  // another queue
        acknowledge(20, 40_ms, siblings);
        act(Confluence::kKeep);
    }
    controller.observe(epoch(1000, 0.05), record);
    EXPECT_NEAR(record[seen_at("share")], 1.0 / 3, 1e-3);
    EXPECT_NEAR(record[seen_at("together")], 0.5, 0.06);
    EXPECT_NEAR(window.advertised, 0.01, 0.006);
}

TEST_F(ConfluenceTest, YieldsWhereOthersFillTheQueueAndThereIsAsMuchElsewhere) {
    begin();
    std::array<Sibling, 2> all{};
    for (Sibling& sibling : all) sibling = {.cwnd_pkts = 40, .srtt_s = kPathRtt_s};
    const Siblings siblings{.all = all, .self = 0};
    const auto keep_beside = [&](double elsewhere_pkts) {
        all[1].cwnd_pkts = elsewhere_pkts;
        see(epoch(1000, 0.05), "queue");  // the choice remains under any change of the window
        acknowledge(20, 40_ms, siblings);
        return act(Confluence::kKeep);
    };
    for (int i = 0; i < 20; ++i) keep_beside(30);
    EXPECT_EQ(window.cwnd_pkts, 50);
    const double first = keep_beside(50);
    EXPECT_NEAR(first, 50 * std::exp2(-0.02), 1e-9);
    for (int i = 0; i < 60; ++i) keep_beside(50);
    EXPECT_EQ(window.cwnd_pkts, Confluence::kLeastPkts);
}

TEST_F(ConfluenceTest, HasNumbersWithinTheirBounds) {
    for (const EpochSample& sample : {EpochSample{.min_rtt_s = 1e-9, .reference_pps = 1}, epoch(1e9, 100, 1), epoch(0),
                                      epoch(1e-9, kPathRtt_s, 1)}) {
        EpochSample seen = sample;
        seen.is_new = true;
        controller.observe(seen, record);
        for (std::size_t i = 0; i < record.size(); ++i) {
            EXPECT_GE(record[i], Confluence::kFeatures[i].minimum) << i;
            EXPECT_LE(record[i], Confluence::kFeatures[i].maximum) << i;
        }
    }
}

// Two paths into one link and a third over a separate link, beside a NewReno flow.
Scenario fork_beside_newreno(Nanos duration, DecisionSource decider, std::string_view window = "own") {
    Scenario scenario = linux_profile(duration);
    const PathSpec one = add_path(scenario, {.rate = 12_Mbps, .one_way = 20_ms, .queue_pkts = 40});
    const PathSpec two = add_path(scenario, {.rate = 6_Mbps, .one_way = 10_ms, .queue_pkts = 20});
    FlowSpec& flow = add_mptcp(scenario, {one, one, two}, "confluence");
    flow.decider = std::move(decider);
    flow.controller.options = {{"window", std::string(window)}};
    add_tcp(scenario, one);
    return scenario;
}

// The guaranteed bound: in every network, for every subflow, at every decision after the start.
TEST(ConfluenceNetwork, NoPolicyGetsBeyondTheCap) {
    for (const auto& [choice, window] :
         {std::pair{6.0F, "own"}, {5.0F, "own"}, {0.0F, "own"}, {6.0F, "model"}, {5.0F, "model"}, {0.0F, "model"}}) {
        const Scenario scenario = fork_beside_newreno(6_s, {DecisionSourceKind::Outside, nullptr}, window);
        Network network(scenario, 3);
        std::size_t decisions = 0;
        while (!network.run_until(6_s)) {
            for (std::uint32_t a = 0; a < network.agents().size(); ++a) {
                if (!network.agents()[a].is_waiting) continue;
                const Agent::Member& member = network.agents()[a].members()[0];
                network.act(a, std::array{choice});
                const SubflowSender& sender = network.subflows()[member.subflow].sender;
                EXPECT_LE(sender.window().cwnd_pkts,
                          2 * member.sample.reference_pps * to_seconds(sender.rtt().srtt()) + 4 + 1e-9);
                ++decisions;
            }
        }
        network.check_invariants();
        EXPECT_GT(decisions, 50u);
    }
}

TEST(ConfluenceNetwork, WithoutAPolicyItFillsALinkAndStopsAtAQueue) {
    Scenario scenario = linux_profile(20_s);
    const PathSpec path = add_path(scenario, {.rate = 12_Mbps, .one_way = 20_ms, .queue_pkts = 40});
    add_mptcp(scenario, {path}, "confluence");
    scenario.warmup = 10_s;
    Network network(scenario, 1);
    network.run_until(20_s);
    network.check_invariants();
    EXPECT_GT(network.link_result(0).utilisation, 0.95);
}

// BBR fills such a link, the papers' agents do not.
TEST(ConfluenceNetwork, TheModelFillsALinkWithRandomLossWithoutAPolicy) {
    Scenario scenario = linux_profile(20_s);
    const PathSpec path = add_path(scenario, {.rate = 50_Mbps, .one_way = 30_ms, .queue_pkts = 250, .loss = 0.01});
    add_mptcp(scenario, {path}, "confluence").controller.options = {{"window", std::string("model")}};
    scenario.warmup = 8_s;
    Network network(scenario, 1);
    network.run_until(20_s);
    network.check_invariants();
    EXPECT_GT(network.link_result(0).utilisation, 0.93);
}

TEST(ConfluenceNetwork, TheModelLeavesAShallowBufferToANewReno) {
    const auto newreno_bps = [](std::string_view window) {
        Scenario scenario = linux_profile(30_s);
        const PathSpec path = add_path(scenario, {.rate = 20_Mbps, .one_way = 20_ms, .queue_pkts = 10});
        add_mptcp(scenario, {path}, "confluence").controller.options = {{"window", std::string(window)}};
        add_tcp(scenario, path);
        scenario.warmup = 10_s;
        Network network(scenario, 1);
        network.run_until(30_s);
        return network.flow_result(1).goodput_bps;
    };
    EXPECT_GT(newreno_bps("model"), 4e6);
    EXPECT_LT(newreno_bps("own"), 2e6);
}

TEST(ConfluenceNetwork, FourEqualFlowsConvergeToEqualShares) {
    Scenario scenario = linux_profile(30_s);
    const PathSpec path = add_path(scenario, {.rate = 60_Mbps, .one_way = 30_ms, .queue_pkts = 300});
    for (int i = 0; i < 4; ++i) {
        FlowSpec& flow = add_mptcp(scenario, {path}, "confluence");
        flow.controller.options = {{"window", std::string("model")}};
        flow.start = Nanos(i * 200'000'000);
    }
    scenario.warmup = 15_s;
    Network network(scenario, 1);
    network.run_until(30_s);
    double sum = 0, squares = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        const double bps = network.flow_result(i).goodput_bps;
        sum += bps;
        squares += bps * bps;
    }
    EXPECT_GT(sum * sum / (4 * squares), 0.95);
    EXPECT_GT(sum, 55e6);
}

TEST(ConfluenceTruth, TellsWhatGroupsAndTheFlowsBesideGot) {
    VecEnv env("confluence", {.envs = 1, .slots = 3, .width = 88, .action_width = 1}, 0);
    env.load(0, fork_beside_newreno(10_s, {}), 1, 10_s, {0, 0, 1});
    const std::array first{std::uint32_t{0}};
    double group_pps = 0, alone_pps = 0, beside_pps = 0;
    for (int step = 0; step < 4000 && !env.truncated[0]; ++step) {
        env.send(first);
        env.recv(1);
        std::ranges::fill(env.action, Confluence::kKeep);
        if (env.acting[0] && env.time_s[0] > 3) {
            group_pps = std::max(group_pps, static_cast<double>(env.truth[0].group_pps));
            beside_pps = std::max(beside_pps, static_cast<double>(env.truth[0].beside_pps));
            EXPECT_LE(env.truth[0].own_pps, env.truth[0].group_pps + 60);
            EXPECT_GT(env.truth[0].epoch_s, 0);
        }
        if (env.acting[2] && env.time_s[0] > 3) {
            alone_pps = std::max(alone_pps, static_cast<double>(env.truth[2].group_pps));
            EXPECT_NEAR(env.truth[2].own_pps, env.truth[2].group_pps, 60);
        }
    }
    EXPECT_GT(group_pps, 500);  // of 1000 that the link carries, shared with a NewReno flow
    EXPECT_GT(beside_pps, 50);
    EXPECT_NEAR(alone_pps, 500, 100);
    EXPECT_THROW(env.load(0, fork_beside_newreno(10_s, {}), 1, 10_s, {0, 0}), ScenarioError);
}

}  // namespace
}  // namespace subflow

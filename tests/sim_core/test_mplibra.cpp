// MPLibra as a state machine: stages, candidates, evidence, choices. The equations, and vectors computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;
using testing::kPacketBits;

TEST(MpLibraUtility, MatchesVectors) {
    // ln 5 - 5 (10 x 0.02 + 5 x 0.01)
    EXPECT_NEAR(MpLibra::utility(5, 0.02, 0.01), 0.3594379, 5e-8);
    EXPECT_NEAR(MpLibra::utility(5, 0, -0.1), std::log(5) + 2.5, 1e-12);
    EXPECT_NEAR(MpLibra::utility(5, 0.02, 0.01, 1, 2), std::log(5) - 5 * 0.04, 1e-12);
}

TEST(MpLibraUtility, TheBreakEvenLossIsWhereMoreRateIsWorthNothing) {
    EXPECT_DOUBLE_EQ(MpLibra::break_even_loss(10), 0.01);
    EXPECT_DOUBLE_EQ(MpLibra::break_even_loss(100), 0.001);
    for (const double total : {1.0, 10.0, 100.0}) {
        const double loss = MpLibra::break_even_loss(total);
        const auto slope = [&](double share) {
            return (MpLibra::utility(1.001 * total, share * loss, 0) - MpLibra::utility(total, share * loss, 0)) /
                   (0.001 * total);
        };
        EXPECT_NEAR(slope(1) * total, 0, 1e-3);
        EXPECT_GT(slope(0.9), 0);
        EXPECT_LT(slope(1.1), 0);
    }
}

TEST(MpLibraUtility, GradientsAreSignedAndNoiseIsNone) {
    IntervalRecord record;
    const auto taken = [&](double gradient, std::uint32_t samples, bool counts_falls_in_full = true) {
        record.rtt_gradient = gradient;
        record.rtt_samples = samples;
        return MpLibra::gradient_of(record, counts_falls_in_full);
    };
    EXPECT_EQ(taken(0.2, 4), 0.2);
    EXPECT_EQ(taken(-0.2, 4), -0.2);
    EXPECT_EQ(taken(-0.2, 4, false), -0.01);
    EXPECT_EQ(taken(-0.0099, 40, false), 0);
    EXPECT_EQ(taken(0.2, 4, false), 0.2);
    EXPECT_EQ(taken(0.0099, 40), 0);
    EXPECT_EQ(taken(-0.0099, 40), 0);
    EXPECT_EQ(taken(0.01, 40), 0.01);
    EXPECT_EQ(taken(0.2, 3), 0);
    EXPECT_EQ(taken(std::nan(""), 40), 0);
}

TEST(MpLibraAgent, RewardMatchesTheVector) {
    MpLibra libra{Options(MpLibra::kInfo, {})};
    std::array<float, 5> record{};
    EpochSample sample{.sent_pps = 100, .delivered_pps = 100, .min_rtt_s = 0.1, .seen_rtt_s = 0.1};
    sample.reference_pps = 1000;
    libra.observe(sample, record);
    EXPECT_DOUBLE_EQ(libra.reward(std::span(&sample, 1)), 1 - 1);
    // x / x_max = 0.8, d / d_min = 1.5, l = 0.01
    sample.delivered_pps = 80;
    sample.seen_rtt_s = 0.15;
    sample.loss_ratio = 0.01;
    libra.observe(sample, record);
    EXPECT_NEAR(libra.reward(std::span(&sample, 1)), -0.8, 1e-12);
    const std::vector<OptionValue> weights{{"reward_throughput", 2.0}, {"reward_delay", 3.0}, {"reward_loss", 4.0}};
    MpLibra weighted{Options(MpLibra::kInfo, weights)};
    weighted.observe(sample, record);
    EXPECT_NEAR(weighted.reward(std::span(&sample, 1)), 2 - 3 * 1.5 - 4 * 0.01, 1e-12);
}

TEST(MpLibraAgent, RewardOfLogarithmsIsTheSameFromAnyRateOn) {
    const std::vector<OptionValue> options{{"reward", std::string("log")}, {"reward_delay", 0.5}};
    MpLibra libra{Options(MpLibra::kInfo, options)};
    std::array<float, 5> record{};
    EpochSample sample{.delivered_pps = 100, .min_rtt_s = 0.1, .seen_rtt_s = 0.1};
    sample.reference_pps = 1000;
    libra.observe(sample, record);
    EXPECT_DOUBLE_EQ(libra.reward(std::span(&sample, 1)), 0);
    sample.delivered_pps = 25;
    sample.seen_rtt_s = 0.2;
    sample.loss_ratio = 0.01;
    EXPECT_NEAR(libra.reward(std::span(&sample, 1)), std::log(0.25) - 0.5 * std::log(2) - 10 * 0.01, 1e-12);
    sample.delivered_pps = 0;
    EXPECT_TRUE(std::isfinite(libra.reward(std::span(&sample, 1))));
}

TEST(MpLibraUtility, PricedAloneItPaysFromTheSameLossOnAtAnyRate) {
    // Twice the rate is worth ln 2 = 0.69, and 5 % more loss costs 0.5: it pays at 1 Mbit/s in both variants, at 50 in
    // one.
    const auto gain = [](double mbps, bool by_rate) {
        return MpLibra::utility(2 * mbps, 0.05, 0, 10, 5, by_rate) - MpLibra::utility(mbps, 0, 0, 10, 5, by_rate);
    };
    EXPECT_NEAR(gain(1, false), std::log(2) - 0.5, 1e-12);
    EXPECT_NEAR(gain(50, false), std::log(2) - 0.5, 1e-12);
    EXPECT_LT(gain(50, true), -40);
}

TEST(MpLibraAgent, SeesRatesAndDelaysAsRatios) {
    MpLibra libra{Options(MpLibra::kInfo, {})};
    EXPECT_EQ(libra.epoch_plan().kind, EpochKind::Own);
    EXPECT_EQ(libra.epoch_plan().history, 10u);
    std::array<float, 5> record{};
    EpochSample sample{.sent_pps = 500, .delivered_pps = 250, .loss_ratio = 0.5, .min_rtt_s = 0.05, .seen_rtt_s = 0.3};
    sample.reference_pps = 1000;
    libra.observe(sample, record);
    EXPECT_FLOAT_EQ(record[0], static_cast<float>(std::log(1.5)));
    EXPECT_FLOAT_EQ(record[1], static_cast<float>(std::log(7)));
    EXPECT_FLOAT_EQ(record[2], static_cast<float>(std::log(1.5)));
    EXPECT_FLOAT_EQ(record[3], 0.5F);
    EXPECT_FLOAT_EQ(record[4], static_cast<float>(std::log(1.25)));
    sample.seen_rtt_s = 100;
    libra.observe(sample, record);
    EXPECT_LE(record[1], MpLibra::kFeatures[1].maximum);
    sample.seen_rtt_s = std::nan("");
    libra.observe(sample, record);
    EXPECT_EQ(record[1], 0);
}

// Result of an interval.
struct Evidence {
    double loss_ratio = 0;
    double gradient = 0;
    std::uint32_t packets = 1000;
    bool is_app_limited = false;
    double sent_share = 1;  // of the packets that the rate permits
};

// A controller with a sender that follows it exactly, over a path of 125 ms; the test supplies the results.
class MpLibraTest : public ::testing::Test {
protected:
    static constexpr Nanos kRtt{125'000'000};  // windows of 8 packets are 64 packets/s

    Controller controller = MpLibra(Options(MpLibra::kInfo, {}));
    Window window{.cwnd_pkts = 8};
    IntervalMoment moment{.now = Nanos(0), .packet_bits = kPacketBits};
    std::vector<Sibling> subflows{{.cwnd_pkts = 8, .srtt_s = 0.125}};
    Reason why;

    MpLibra& libra() { return std::get<MpLibra>(controller); }
    Siblings siblings() { return {subflows, 0}; }
    AckSample ack(double acked = 1) {
        why = {};
        return {.acked_pkts = acked,
                .rtt = kRtt,
                .srtt = kRtt,
                .min_rtt = kRtt,
                .now = moment.now,
                .inflight_pkts = window.cwnd_pkts,
                .why = &why};
    }
    static MpLibra::Part part_of(const IntervalPlan& plan) { return static_cast<MpLibra::Part>(plan.tag % 8); }
    IntervalPlan plan() {
        why = {};
        return libra().plan_interval(window, moment);
    }

    // After the first ACK, with a window of `cwnd_pkts`, beyond slow start unless `ssthresh_pkts` is larger.
    void begin(const std::vector<OptionValue>& options = {}, double cwnd_pkts = 8, double ssthresh_pkts = 1) {
        controller = MpLibra(Options(MpLibra::kInfo, options));
        moment = {.now = Nanos(0), .packet_bits = kPacketBits, .inflight_pkts = cwnd_pkts, .why = &why};
        window = {.cwnd_pkts = cwnd_pkts, .ssthresh_pkts = ssthresh_pkts};
        const IntervalPlan first = plan();
        EXPECT_EQ(part_of(first), MpLibra::Part::First);
        EXPECT_EQ(first.length, Nanos(1));
        EXPECT_GT(plan().length, 3600_s);  // until its result arrives
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Beginning);
        moment.now = moment.srtt = moment.min_rtt = kRtt;
        IntervalRecord record{.tag = first.tag, .begin = Nanos(0), .end = 1_ms, .sent_pkts = 1, .delivered_pkts = 1};
        EXPECT_EQ(libra().on_interval(window, record, moment, siblings()), NextInterval::BeginsNow);
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
        EXPECT_DOUBLE_EQ(libra().base_rate_pps(), cwnd_pkts * 8);
    }
    // An exploration in which the classic controller moves the window to `cwnd_pkts`.
    IntervalPlan explore(double cwnd_pkts) {
        const IntervalPlan explored = plan();
        EXPECT_EQ(part_of(explored), MpLibra::Part::Explored);
        EXPECT_EQ(explored.length, kRtt);
        moment.now = moment.now + kRtt - Nanos(1);
        libra().on_every_ack(window, ack(), siblings());
        EXPECT_FALSE(libra().wants_action());
        window.cwnd_pkts = cwnd_pkts;
        moment.now = moment.now + Nanos(1);
        libra().on_every_ack(window, ack(), siblings());
        EXPECT_TRUE(libra().wants_action());
        return explored;
    }
    void act(double action, double reference_pps = 1000) {
        why = {};
        const std::array<float, 1> actions{static_cast<float>(action)};
        libra().on_action(window, actions,
                          {{.now = moment.now,
                            .srtt = kRtt,
                            .min_rtt = kRtt,
                            .packet_bits = kPacketBits,
                            .inflight_pkts = window.cwnd_pkts,
                            .why = &why},
                           reference_pps});
        EXPECT_FALSE(libra().wants_action());
    }
    NextInterval tell(const IntervalPlan& of, double rate_pps, const Evidence& evidence) {
        why = {};
        IntervalRecord record{.tag = of.tag, .rate_pps = rate_pps};
        record.sent_pkts = evidence.packets;
        const double sent_pps = (rate_pps > 0 ? rate_pps : libra().base_rate_pps()) * evidence.sent_share;
        record.end = from_seconds(evidence.packets / sent_pps);
        record.lost_pkts = static_cast<std::uint32_t>(std::lround(evidence.loss_ratio * evidence.packets));
        record.delivered_pkts = record.sent_pkts - record.lost_pkts;
        record.rtt_samples = record.delivered_pkts;
        record.rtt_gradient = evidence.gradient;
        record.is_app_limited = evidence.is_app_limited;
        return libra().on_interval(window, record, moment, siblings());
    }
    struct Interval {
        IntervalPlan plan;
        double rate_pps = 0;
    };
    Interval try_next() {
        Interval interval{plan(), 0};
        interval.rate_pps = window.pacing_pps;
        EXPECT_EQ(interval.plan.length, kRtt / 2);
        moment.now = moment.now + interval.plan.length;
        return interval;
    }
    // Tries both candidates and gives results for the classic controller, the agent, and x_prev.
    void evaluate(const IntervalPlan& explored, const Evidence& of_classic, const Evidence& of_agent,
                  const Evidence& of_base = {}) {
        const double base_pps = libra().base_rate_pps();
        const Interval first = try_next();
        const Interval second = try_next();
        EXPECT_LE(first.rate_pps, second.rate_pps);
        const IntervalPlan waits = plan();
        EXPECT_EQ(part_of(waits), MpLibra::Part::Awaiting);
        EXPECT_GT(waits.length, 3600_s);
        EXPECT_DOUBLE_EQ(window.pacing_pps, base_pps);
        moment.now = moment.now + kRtt;
        EXPECT_EQ(tell(explored, 0, of_base), NextInterval::InTurn);
        for (const Interval& each : {first, second}) {
            const bool is_classic = part_of(each.plan) == MpLibra::Part::OfClassic;
            EXPECT_EQ(tell(each.plan, each.rate_pps, is_classic ? of_classic : of_agent),
                      each.plan.tag == second.plan.tag ? NextInterval::BeginsNow : NextInterval::InTurn);
        }
    }
};

TEST_F(MpLibraTest, AgreementGoesOnExploringFromTheClassicRate) {
    begin();
    explore(8.5);
    act(0);
    EXPECT_EQ(why.rule, &mplibra_rules::kAgreement);
    EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
    EXPECT_DOUBLE_EQ(libra().base_rate_pps(), 68);
    EXPECT_EQ(window.cwnd_pkts, 8.5);  // the window continues unchanged
    EXPECT_EQ(window.pacing_pps, 0);
    explore(9);
    act(0);
    EXPECT_DOUBLE_EQ(libra().base_rate_pps(), 72);
}

TEST_F(MpLibraTest, RatesThatAreApartByTheThresholdAreEvaluated) {
    // theta = 1/4 of 64 packets/s
    begin({{"theta", 0.25}});
    explore(9.99);
    act(0);
    EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
    begin({{"theta", 0.25}});
    EXPECT_DOUBLE_EQ(libra().threshold_pps(), 16);
    explore(10);
    act(0);
    EXPECT_EQ(why.rule, &mplibra_rules::kDisagreement);
    EXPECT_EQ(libra().stage(), MpLibra::Stage::Evaluation);
    EXPECT_DOUBLE_EQ(why.numbers[2], 80);
    EXPECT_DOUBLE_EQ(why.numbers[3], 64);
}

TEST_F(MpLibraTest, TheSmallerCandidateIsTriedFirstForHalfARoundTrip) {
    for (const double action : {-0.2, 0.2}) {
        begin();
        explore(8);
        act(action);  // 2^(5 a) = 1/2 or 2
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Evaluation);
        const double agent_pps = action < 0 ? 32 : 128;
        EXPECT_NEAR(window.pacing_pps, std::min(agent_pps, 64.0), 1e-4);  // from now on
        const Interval first = try_next();
        EXPECT_NEAR(first.rate_pps, std::min(agent_pps, 64.0), 1e-4);
        EXPECT_EQ(part_of(first.plan), action < 0 ? MpLibra::Part::OfAgent : MpLibra::Part::OfClassic);
        EXPECT_EQ(why.rule, &mplibra_rules::kTry);
        const Interval second = try_next();
        EXPECT_NEAR(second.rate_pps, std::max(agent_pps, 64.0), 1e-4);
        EXPECT_EQ(part_of(second.plan), action < 0 ? MpLibra::Part::OfClassic : MpLibra::Part::OfAgent);
        // The cap follows the largest rate: only pacing holds packets back.
        EXPECT_NEAR(window.cwnd_pkts, 2 * std::max(agent_pps, 64.0) * 0.125, 1e-4);
        plan();
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Feedback);
        EXPECT_EQ(why.rule, &mplibra_rules::kAwait);
        EXPECT_DOUBLE_EQ(window.pacing_pps, 64);
    }
}

TEST_F(MpLibraTest, TheLargestUtilityOfThreeIsChosen) {
    struct Case {
        Evidence classic, agent, base;
        double choice;
        double rate_pps;
    };
    // x_cl = 96, x_rl = 128, x_prev = 64 packets/s: 1.152, 1.536, 0.768 Mbit/s
    for (const Case& each : {Case{{}, {}, {}, 1, 128}, Case{{}, {.loss_ratio = 0.1}, {}, 0, 96},
                             Case{{.loss_ratio = 0.1}, {.gradient = 0.2}, {}, 2, 64},
                             Case{{.gradient = -0.1}, {}, {}, 0, 96}, Case{{}, {}, {.gradient = -0.5}, 2, 64}}) {
        begin({{"falling_rtt", true}});
        const IntervalPlan explored = explore(12);
        act(0.2);
        evaluate(explored, each.classic, each.agent, each.base);
        EXPECT_EQ(why.rule, &mplibra_rules::kChoice);
        EXPECT_EQ(why.numbers[0], each.choice);
        EXPECT_NEAR(why.numbers[2], MpLibra::utility(1.152, each.classic.loss_ratio, each.classic.gradient), 1e-6);
        EXPECT_NEAR(why.numbers[4], MpLibra::utility(1.536, each.agent.loss_ratio, each.agent.gradient), 1e-6);
        EXPECT_NEAR(why.numbers[6], MpLibra::utility(0.768, each.base.loss_ratio, each.base.gradient), 1e-6);
        EXPECT_NEAR(libra().base_rate_pps(), each.rate_pps, 1e-4);
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploitation);
        EXPECT_DOUBLE_EQ(window.pacing_pps, libra().base_rate_pps());
    }
}

TEST_F(MpLibraTest, InTheProseTheBaseRateIsNoCandidate) {
    begin({{"argmax_over", std::string("prose")}});
    const IntervalPlan explored = explore(12);
    act(0.2);
    evaluate(explored, {.loss_ratio = 0.1}, {.loss_ratio = 0.2}, {});
    EXPECT_EQ(why.numbers[0], 0);
    EXPECT_NEAR(libra().base_rate_pps(), 96, 1e-9);
}

TEST_F(MpLibraTest, WithoutEvidenceTheClassicRateIsKept) {
    for (const Evidence& weak :
         {Evidence{.packets = 2}, Evidence{.is_app_limited = true}, Evidence{.sent_share = 0.8}}) {
        for (const bool is_agents : {true, false}) {
            begin();
            const IntervalPlan explored = explore(12);
            act(0.2);
            evaluate(explored, is_agents ? Evidence{.loss_ratio = 0.5} : weak, is_agents ? weak : Evidence{});
            EXPECT_EQ(why.rule, &mplibra_rules::kInconclusive);
            EXPECT_NEAR(libra().base_rate_pps(), 96, 1e-9);
        }
    }
    // Three packets are evidence of loss, but not of the RTT.
    begin();
    const IntervalPlan explored = explore(12);
    act(0.2);
    evaluate(explored, {.packets = 3}, {.gradient = 5, .packets = 3});
    EXPECT_EQ(why.numbers[0], 1);
}

TEST_F(MpLibraTest, TheChosenRateIsExploitedForNRoundTrips) {
    for (const double n : {0.0, 1.0, 2.0, 3.0}) {
        begin({{"exploitation", n}});
        const IntervalPlan explored = explore(12);
        act(0.2);
        evaluate(explored, {}, {});
        moment.inflight_pkts = 16;
        if (n > 0) {
            const IntervalPlan exploited = plan();
            EXPECT_EQ(part_of(exploited), MpLibra::Part::Exploited);
            EXPECT_EQ(exploited.length, kRtt * static_cast<std::int64_t>(n));
            EXPECT_NEAR(window.pacing_pps, 128, 1e-4);
            moment.now = moment.now + exploited.length;
        }
        const IntervalPlan next = plan();
        EXPECT_EQ(part_of(next), MpLibra::Part::Explored);
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
        EXPECT_NEAR(window.cwnd_pkts, 16, 1e-4);  // x_prev srtt
        EXPECT_EQ(window.pacing_pps, 0);
    }
}

TEST_F(MpLibraTest, WhatACKsDoNotClockOutIsPacedAtTwiceTheWindow) {
    begin({{"exploitation", 0.0}});
    const IntervalPlan explored = explore(20);
    act(0.4);  // 32 packets per round trip
    moment.inflight_pkts = 21;
    evaluate(explored, {}, {});
    EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
    EXPECT_NEAR(window.cwnd_pkts, 32, 1e-3);
    EXPECT_NEAR(window.pacing_pps, 2 * 256, 1e-2);
}

TEST_F(MpLibraTest, LossesReduceTheWindowInExplorationOnly) {
    const CongestionEvent loss{.kind = CongestionKind::FastRetransmit, .inflight_pkts = 12, .why = &why};
    begin();
    plan();
    libra().on_congestion_event(window, loss, siblings());
    EXPECT_EQ(window.cwnd_pkts, 4);
    EXPECT_EQ(why.rule, &NewReno::kHalving);

    begin();
    const IntervalPlan explored = explore(12);
    act(0.2);
    const auto expect_no_change = [&](MpLibra::Stage stage) {
        ASSERT_EQ(libra().stage(), stage);
        const Window before = window;
        libra().on_congestion_event(window, loss, siblings());
        EXPECT_EQ(window, before);
        EXPECT_EQ(why.rule, &mplibra_rules::kLossPassed);
        libra().on_ack(window, ack(), siblings());
        EXPECT_EQ(window.cwnd_pkts, before.cwnd_pkts);
        EXPECT_EQ(window.pacing_pps, before.pacing_pps);
    };
    expect_no_change(MpLibra::Stage::Evaluation);
    evaluate(explored, {}, {});
    plan();
    expect_no_change(MpLibra::Stage::Exploitation);
    // But slow start ends at that point.
    moment.now = moment.now + kRtt;
    window.ssthresh_pkts = kInfiniteSsthresh;
    plan();
    EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
    EXPECT_FALSE(window.in_slow_start());
}

TEST_F(MpLibraTest, ATimeoutInAnyStageHalvesTheBaseRateAndExploresOnceThePathIsHeardOf) {
    for (const int stage : {0, 1, 2, 3}) {
        begin();
        IntervalPlan explored = explore(12);
        if (stage > 0) {
            act(0.2);
            if (stage == 1) plan();
            if (stage > 1) evaluate(explored, {.loss_ratio = 0.5}, {.loss_ratio = 0.5});  // x_prev stays
            if (stage == 3) plan();
        }
        ASSERT_DOUBLE_EQ(libra().base_rate_pps(), 64);
        libra().on_congestion_event(window, {.kind = CongestionKind::Timeout, .inflight_pkts = 12, .why = &why},
                                    siblings());
        EXPECT_EQ(why.rule, &mplibra_rules::kGivenUp);
        EXPECT_DOUBLE_EQ(libra().base_rate_pps(), 32);
        EXPECT_FALSE(libra().wants_action());
        EXPECT_EQ(window.advertised, 0);
        window.cwnd_pkts = 1;
        // Packets sent during the silence are no exploration, and an action requested earlier is void.
        EXPECT_EQ(part_of(plan()), MpLibra::Part::None);
        act(1);
        EXPECT_EQ(window.cwnd_pkts, 1);
        AckSample heard = ack();
        heard.inflight_pkts = 0;
        libra().on_every_ack(window, heard, siblings());
        EXPECT_EQ(why.rule, &mplibra_rules::kExplore);
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
        EXPECT_DOUBLE_EQ(window.cwnd_pkts, 4);
        EXPECT_FALSE(window.in_slow_start());
        EXPECT_DOUBLE_EQ(window.advertised, 32);
        EXPECT_EQ(part_of(plan()), MpLibra::Part::Explored);
        // Results from before the timeout have no effect.
        EXPECT_EQ(tell(explored, 0, {}), NextInterval::InTurn);
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Exploration);
    }
}

TEST_F(MpLibraTest, AnAgentThatObjectsToNothingLetsTheFirstSlowStartGoOn) {
    begin({}, 8, kInfiniteSsthresh);
    for (const double cwnd : {16.0, 32.0, 64.0}) {
        explore(cwnd);
        act(0);
        EXPECT_EQ(why.rule, &mplibra_rules::kAgreement);
        EXPECT_DOUBLE_EQ(libra().base_rate_pps(), cwnd * 8);
    }
    // The agent objects by choosing less than the current window, or more than slow start gives.
    for (const double action : {-0.2, 0.3}) {
        begin({}, 8, kInfiniteSsthresh);
        explore(16);
        act(action);
        EXPECT_EQ(libra().stage(), MpLibra::Stage::Evaluation);
    }
    // After a loss the distance of the candidates decides.
    begin({}, 8, kInfiniteSsthresh);
    const IntervalPlan explored = explore(16);
    libra().on_congestion_event(window, {.kind = CongestionKind::FastRetransmit, .inflight_pkts = 16}, siblings());
    EXPECT_EQ(window.cwnd_pkts, 8);
    window.cwnd_pkts = 6;
    act(0);
    EXPECT_EQ(libra().stage(), MpLibra::Stage::Evaluation);
    evaluate(explored, {}, {});
}

TEST_F(MpLibraTest, SlowStartIsOverOnceLessWasBetter) {
    begin({{"falling_rtt", true}}, 8, kInfiniteSsthresh);
    IntervalPlan explored = explore(16);
    act(-0.2);
    evaluate(explored, {}, {.gradient = -1});  // the agent's 32 packets/s
    EXPECT_NEAR(libra().base_rate_pps(), 32, 1e-4);
    plan();
    moment.now = moment.now + kRtt;
    plan();
    // It leads back to the rate with the better result, and no further.
    EXPECT_NEAR(window.cwnd_pkts, 32 * to_seconds(kRtt), 1e-4);
    EXPECT_NEAR(window.ssthresh_pkts, 16, 1e-4);
    // After a loss of its own the classic controller uses its own threshold.
    libra().on_congestion_event(window, {.kind = CongestionKind::FastRetransmit, .inflight_pkts = 4}, siblings());
    EXPECT_FALSE(window.in_slow_start());
    // If more was better, slow start continues.
    begin({}, 8, kInfiniteSsthresh);
    explored = explore(16);
    act(0.4);
    evaluate(explored, {}, {});
    plan();
    moment.now = moment.now + kRtt;
    plan();
    EXPECT_TRUE(window.in_slow_start());
}

TEST_F(MpLibraTest, TheAgentsWindowIsBounded) {
    begin();
    explore(8);
    act(-1);  // 8 / 32
    EXPECT_NEAR(window.pacing_pps, 2 * 8, 1e-9);
    begin();
    explore(8);
    act(1, 100);  // 8 x 32 is more than 4 x 100 x 0.125
    EXPECT_NEAR(why.numbers[3], 4 * 100, 1e-9);
    begin({{"action_range", 2.0}});
    explore(8);
    act(1);
    EXPECT_NEAR(why.numbers[3], 4 * 64, 1e-3);
}

TEST_F(MpLibraTest, TheSiblingsCountAsTheyWereWhenTheExplorationEnded) {
    subflows.push_back({.cwnd_pkts = 20, .srtt_s = 0.125, .advertised = 200});
    begin();
    const IntervalPlan explored = explore(12);
    act(0.2);
    subflows[1].advertised = 900;
    evaluate(explored, {}, {});
    EXPECT_DOUBLE_EQ(why.numbers[7], 200);
    EXPECT_NEAR(why.numbers[2], MpLibra::utility((200 + 96) * 0.012, 0, 0), 1e-9);
    EXPECT_NEAR(why.numbers[4], MpLibra::utility((200 + 128) * 0.012, 0, 0), 1e-6);
}

TEST_F(MpLibraTest, SiblingsAreToldTheWindowThatIsExploredAndElseTheBaseRate) {
    begin();
    explore(12);
    EXPECT_DOUBLE_EQ(window.advertised, 96);
    act(0.2);
    libra().on_every_ack(window, ack(), siblings());
    EXPECT_DOUBLE_EQ(window.advertised, 64);
}

TEST_F(MpLibraTest, TheClassicControllerSeesThePacedSiblingsByTheirRates) {
    // A sibling paced at 160 packets/s within a window of twice that; another one limited by its window.
    for (const double own_window : {40.0, 20.0}) {
        subflows = {{.cwnd_pkts = 8, .srtt_s = 0.125}, {.cwnd_pkts = own_window, .srtt_s = 0.125, .advertised = 160}};
        begin({{"classic", std::string("lia")}});
        plan();
        libra().on_ack(window, ack(), siblings());
        // LIA with windows of 8 and 20: max(w / rtt^2) / (sum(w / rtt))^2 = 20 / 28^2
        EXPECT_NEAR(window.cwnd_pkts, 8 + 20.0 / (28 * 28), 1e-12);
    }
}

TEST_F(MpLibraTest, EachClassicControllerHasItsOwnRules) {
    subflows.push_back({.cwnd_pkts = 24, .srtt_s = 0.125, .advertised = 192});
    const auto reacts_by = [&](const std::vector<OptionValue>& options) {
        begin(options);
        plan();
        why = {};
        libra().on_congestion_event(window, {.kind = CongestionKind::FastRetransmit, .why = &why}, siblings());
        return window.cwnd_pkts;
    };
    EXPECT_EQ(reacts_by({{"classic", std::string("olia")}}), 4);
    EXPECT_EQ(reacts_by({{"classic", std::string("lia")}}), 4);
    EXPECT_EQ(reacts_by({{"classic", std::string("wvegas")}}), 4);
    // alpha = 24/8 = 3: a reduction by three quarters of the window
    EXPECT_EQ(reacts_by({{"classic", std::string("balia")}}), 2);
    EXPECT_EQ(why.rule, &Balia::kBalancedDecrease);
}

TEST_F(MpLibraTest, RefusesWhatIsNoOptionOfIt) {
    const auto make = [](const std::vector<OptionValue>& options) { return MpLibra(Options(MpLibra::kInfo, options)); };
    EXPECT_THROW(make({{"classic", std::string("cubic")}}), ScenarioError);
    EXPECT_THROW(make({{"exploitation", 4.0}}), ScenarioError);
    EXPECT_THROW(make({{"action_range", 6.0}}), ScenarioError);
    EXPECT_THROW(make({{"epoch", std::string("time")}}), ScenarioError);
    EXPECT_NO_THROW(make({{"classic", std::string("wvegas")}, {"drain", false}}));
    EXPECT_NO_THROW(make({{"rank", std::string("l^2/rtt")}, {"kernel_int", true}}));
}

}  // namespace
}  // namespace subflow

// Schedulers against numbers computed by hand.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "sched/schedulers.h"
#include "units.h"

namespace subflow {
namespace {

using namespace literals;
using Positions = std::vector<std::optional<std::size_t>>;

constexpr double kInf = std::numeric_limits<double>::infinity();

template <class S>
S make(std::vector<OptionValue> options = {}) {
    return S(Options(S::kInfo, options));
}

// A subflow with room for `cwnd_pkts` minus the packets in flight.
Candidate path(Nanos srtt, double cwnd_pkts = 10, double inflight_pkts = 0) {
    return {.is_usable = true,
            .is_available = inflight_pkts + 1 <= cwnd_pkts,
            .srtt = srtt,
            .cwnd_pkts = cwnd_pkts,
            .ssthresh_pkts = kInf,
            .inflight_pkts = inflight_pkts};
}

// The fast subflow of 20 ms is full, the slow subflow of 100 ms is not.
std::array<Candidate, 2> fast_is_full() {
    return {path(20_ms, 10, 10), path(100_ms, 10, 4)};
}

template <class S>
const RuleInfo* rule_of(S& scheduler, std::span<const Candidate> subflows, SendMoment moment) {
    Reason why;
    moment.why = &why;
    scheduler.select(subflows, moment);
    return why.rule;
}

TEST(Ecf, WaitsForTheFastestIfThatFinishesWhatIsLeftSooner) {
    // algorithms.md, section 11.1: srtt 20 and 100 ms, windows of 10, delta 0. With 5 packets: 0.02 (10 + 10) < 10 *
    // 0.1 and 0.1 * 10 >= 10 * 2 * 0.02: wait. With 100: 0.02 (100 + 10) = 2.2 >= 1: use the slow subflow.
    const auto subflows = fast_is_full();
    auto ecf = make<Ecf>();
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 5}), std::nullopt);
    EXPECT_TRUE(ecf.is_waiting());
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 100}), 1u);
    EXPECT_FALSE(ecf.is_waiting());
    EXPECT_EQ(ecf.select(subflows, {}), 1u);  // an endless flow
}

TEST(Ecf, OnceItWaitsTheSlowerOneNeedsAMargin) {
    // 0.02 (k + 10) < (1 + beta) 10 * 0.1: up to k = 39 before it waits, up to k = 52 afterwards; 39 again with beta 0.
    const auto subflows = fast_is_full();
    auto ecf = make<Ecf>();
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 41}), 1u);
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 39}), std::nullopt);
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 52}), std::nullopt);
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 53}), 1u);
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 52}), 1u);
    auto strict = make<Ecf>({{"beta", 0.0}});
    EXPECT_EQ(strict.select(subflows, {.unsent_pkts = 39}), std::nullopt);
    EXPECT_EQ(strict.select(subflows, {.unsent_pkts = 41}), 1u);
}

TEST(Ecf, TheSlowerOneIsUsedWhereItIsNoSlowerThanTwoRoundsOfTheFastest) {
    // srtt 60 and 100 ms, rttvar 10 and 25 ms: delta = 50 ms. 0.06 * 20 < 10 * 0.15, but 0.1 * 10 < 10 (0.12 + 0.05).
    std::array<Candidate, 2> subflows{path(60_ms, 10, 10), path(100_ms, 10, 4)};
    subflows[0].rttvar = 10_ms;
    subflows[1].rttvar = 25_ms;
    auto ecf = make<Ecf>();
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 5}), 1u);
    // With delta at 20 ms the first test fails already: 1.2 >= 10 * 0.12.
    subflows[1].rttvar = 10_ms;
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 5}), 1u);
    // With 18 packets the second test holds: 0.1 * 18 >= 10 * 0.17; the first, 0.06 (18 + 10) < 10 * (0.1 + delta),
    // holds only from a delta of 68 ms on, where the second does not. Both hold for windows of 10 and 5: 0.1 * 18 >= 5
    // * 0.188.
    subflows[1] = path(100_ms, 5, 4);
    subflows[1].rttvar = 35_ms;
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 18}), std::nullopt);
}

TEST(Ecf, TheFastestItselfIsNotWaitedFor) {
    auto ecf = make<Ecf>();
    const std::array<Candidate, 2> room{path(20_ms, 10, 9), path(100_ms)};
    EXPECT_EQ(ecf.select(room, {.unsent_pkts = 1}), 0u);
    // Nor for a subflow that timed out, that has no RTT sample, or that has sent the packet before.
    std::array<Candidate, 2> subflows = fast_is_full();
    subflows[0].is_usable = false;
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 1}), 1u);
    subflows = fast_is_full();
    subflows[0].srtt = Nanos(0);
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 1}), 1u);
    subflows = fast_is_full();
    subflows[0].has_sent_this = true;
    EXPECT_EQ(ecf.select(subflows, {.unsent_pkts = 1, .is_reinjection = true}), 1u);
}

TEST(Blest, SkipsTheSlowerOneIfTheFastestWouldFillTheWindowMeanwhile) {
    // algorithms.md, section 11.1: a packet takes 0.1 s on the slow subflow, 6 rounds of the fast one of 20 ms, in
    // which the fast one sends (10 + 2) * 6 * 1.2 = 86.4 packets. With 4 in flight on the slow subflow: skip while
    // window - 5 < 86.4.
    std::array<Candidate, 2> subflows = fast_is_full();
    subflows[0].ssthresh_pkts = 5;
    auto blest = make<Blest>();
    EXPECT_EQ(blest.select(subflows, {.window_pkts = 91}), std::nullopt);
    EXPECT_EQ(blest.select(subflows, {.window_pkts = 92}), 1u);
    EXPECT_EQ(blest.select(subflows, {.window_pkts = 3}), std::nullopt);
    EXPECT_EQ(blest.select(subflows, {}), 1u);  // an unlimited receive buffer
    // Packets that wait for pacing take window, too.
    subflows[1].queued_pkts = 1;
    EXPECT_EQ(blest.select(subflows, {.window_pkts = 92}), std::nullopt);
}

TEST(Blest, TheFastestIsTakenToDoubleInItsInitialSlowStart) {
    // 10 (2^6 - 1) * 1.2 = 756
    auto blest = make<Blest>();
    EXPECT_EQ(blest.select(fast_is_full(), {.window_pkts = 760}), std::nullopt);
    EXPECT_EQ(blest.select(fast_is_full(), {.window_pkts = 762}), 1u);
    const Candidate fast = path(1_ms, 10, 10);
    EXPECT_EQ(Blest::packets_within(16, fast), 655'350);
    EXPECT_EQ(Blest::packets_within(17, fast), 655'350);
}

TEST(Blest, CongestionAvoidanceBeginsAboveSsthreshAndCountsWholePackets) {
    Candidate fast = path(20_ms, 10.9);
    fast.ssthresh_pkts = 20.7;
    // (21 + (4 - 1) / 2) * 4
    EXPECT_EQ(Blest::packets_within(4, fast), 88);
    fast.ssthresh_pkts = 2;
    EXPECT_EQ(Blest::packets_within(4, fast), 44);
    EXPECT_EQ(Blest::packets_within(1, fast), 10);
}

TEST(Blest, APacketLingersTheLongerTheFullerTheWindow) {
    const Blest::RttRange seen{.lowest = 100_ms, .highest = 200_ms};
    EXPECT_EQ(Blest::linger_time(path(120_ms, 10, 4), seen), 150_ms);
    EXPECT_EQ(Blest::linger_time(path(120_ms, 10, 0), seen), 120_ms);
    EXPECT_EQ(Blest::linger_time(path(120_ms, 10, 9), seen), 200_ms);
    EXPECT_EQ(Blest::linger_time(path(120_ms, 10, 15), seen), 200_ms);
    EXPECT_EQ(Blest::rounds_within(449_ms, seen), 3);
    EXPECT_EQ(Blest::rounds_within(450_ms, seen), 4);
}

TEST(Blest, LambdaRisesWithBlockingAndFallsWithoutOncePerSlowRoundTrip) {
    auto blest = make<Blest>();
    const auto subflows = fast_is_full();
    const auto lambda_at = [&](Nanos now) {
        blest.select(subflows, {.now = now});
        return blest.lambda();
    };
    EXPECT_DOUBLE_EQ(lambda_at(99_ms), 1.2);
    EXPECT_DOUBLE_EQ(lambda_at(100_ms), 1.19);
    EXPECT_DOUBLE_EQ(lambda_at(199_ms), 1.19);
    blest.on_blocked_retransmission(0);
    blest.on_blocked_retransmission(0);
    EXPECT_DOUBLE_EQ(lambda_at(200_ms), 1.23);
    EXPECT_DOUBLE_EQ(lambda_at(300_ms), 1.22);
    for (Nanos now = 400_ms; now < 3_s; now += 100_ms) lambda_at(now);
    EXPECT_DOUBLE_EQ(blest.lambda(), 1.0);
    for (Nanos now = 3_s; now < 5_s; now += 100_ms) {
        blest.on_blocked_retransmission(0);
        lambda_at(now);
    }
    EXPECT_DOUBLE_EQ(blest.lambda(), 1.3);
}

TEST(Blest, ASubflowOpenedAgainHasNoHistory) {
    auto blest = make<Blest>();
    std::array<Candidate, 2> subflows = fast_is_full();
    subflows[0].ssthresh_pkts = 5;
    subflows[1].srtt = 300_ms;
    blest.select(subflows, {.window_pkts = 90});  // the slow subflow has had an RTT of 300 ms
    subflows[1].srtt = 100_ms;
    subflows[1].inflight_pkts = 9;  // full with this packet: it would take the longest RTT seen
    // 16 rounds: (10 + 7) * 16 * 1.2 = 326.4; with a new incarnation 6 rounds: 86.4, and 10 on the slow one
    EXPECT_EQ(blest.select(subflows, {.window_pkts = 300}), std::nullopt);
    ++subflows[1].incarnation;
    EXPECT_EQ(blest.select(subflows, {.window_pkts = 97}), 1u);
    EXPECT_EQ(blest.select(subflows, {.window_pkts = 96}), std::nullopt);
}

TEST(RoundRobin, EachSubflowInTurnGetsItsSegments) {
    const std::array<Candidate, 3> subflows{path(30_ms), path(20_ms), path(10_ms)};
    auto single = make<RoundRobin>();
    auto pairs = make<RoundRobin>({{"num_segments", 2.0}});
    Positions singles, doubles;
    for (int i = 0; i < 7; ++i) {
        singles.push_back(single.select(subflows, {}));
        doubles.push_back(pairs.select(subflows, {}));
    }
    EXPECT_EQ(singles, (Positions{0, 1, 2, 0, 1, 2, 0}));
    EXPECT_EQ(doubles, (Positions{0, 0, 1, 1, 2, 2, 0}));
}

TEST(RoundRobin, AFullWindowIsPassedOverAndHasItsTurnFirstAfterwards) {
    std::array<Candidate, 2> subflows{path(30_ms), path(20_ms, 10, 10)};
    auto scheduler = make<RoundRobin>();
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
    subflows[1].is_available = true;
    EXPECT_EQ(scheduler.select(subflows, {}), 1u);
    subflows[0].is_available = subflows[1].is_available = false;
    EXPECT_EQ(scheduler.select(subflows, {}), std::nullopt);
}

TEST(RoundRobin, StrictTurnsWait) {
    std::array<Candidate, 2> subflows{path(30_ms), path(20_ms, 10, 10)};
    auto scheduler = make<RoundRobin>({{"cwnd_limited", false}});
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
    EXPECT_EQ(scheduler.select(subflows, {}), std::nullopt);
    EXPECT_EQ(rule_of(scheduler, subflows, {}), &RoundRobin::kWaitForTurn);
    subflows[1].is_available = true;
    EXPECT_EQ(scheduler.select(subflows, {}), 1u);
    // No subflow waits for a failed one.
    subflows[1].is_usable = subflows[1].is_available = false;
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
}

TEST(RoundRobin, WhatIsSentAgainTakesNoTurn) {
    std::array<Candidate, 2> subflows{path(30_ms), path(20_ms)};
    subflows[0].is_available = false;  // it carried the packet
    auto scheduler = make<RoundRobin>({{"cwnd_limited", false}});
    EXPECT_EQ(scheduler.select(subflows, {.is_reinjection = true}), 1u);
    subflows[0].is_available = true;
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
    EXPECT_EQ(scheduler.select(subflows, {}), 1u);
}

std::vector<double> shares(std::vector<GoodputBatches::Part> parts, double batch_pkts) {
    GoodputBatches::share_out(parts, batch_pkts);
    std::vector<double> pkts;
    for (const GoodputBatches::Part& part : parts) pkts.push_back(part.pkts);
    return pkts;
}

TEST(Goodput, ABatchIsSplitByTheRatesAsFarAsWindowsHaveRoom) {
    using Shares = std::vector<double>;
    // 20 packets at 1:3: 5 and 15.
    EXPECT_EQ(shares({{100, 20}, {300, 20}}, 20), (Shares{5, 15}));
    // The larger one has room for 9: the remaining packets go to the other.
    EXPECT_EQ(shares({{100, 20}, {300, 9}}, 20), (Shares{11, 9}));
    // Rounded: 10 at 1:2 is 3.3 and 6.7.
    EXPECT_EQ(shares({{100, 20}, {200, 20}}, 10), (Shares{3, 7}));
    // Thirds of one packet round to 0: it goes to the largest. Halves of one round up, but only one packet exists.
    EXPECT_EQ(shares({{99, 5}, {100, 5}, {99, 5}}, 1), (Shares{0, 1, 0}));
    EXPECT_EQ(shares({{100, 5}, {100, 5}}, 1), (Shares{1, 0}));
    // No room gives no share.
    EXPECT_EQ(shares({{0, 0}, {100, 5}}, 5), (Shares{0, 5}));
}

TEST(Goodput, ABatchWhoseRestWaitsIsAsLargeAsTheSharesAllow) {
    using Parts = std::vector<GoodputBatches::Part>;
    // 3:1, and room for 9 and 20: 12 packets would be 9 and 3, and 12.6 the largest number that still rounds to 9.
    EXPECT_EQ(GoodputBatches::batch_within_shares(Parts{{300, 9}, {100, 20}}), 12);
    EXPECT_EQ(shares({{300, 9}, {100, 20}}, 12), (std::vector<double>{9, 3}));
    // A full window of half of the rate holds back the other: one packet, for progress.
    EXPECT_EQ(GoodputBatches::batch_within_shares(Parts{{100, 0}, {100, 20}}), 1);
    // Packets that a subflow is owed from earlier batches, or has had in advance.
    EXPECT_EQ(shares({{300, 9, 0, 0}, {100, 20, 0, 0.6}}, 3), (std::vector<double>{2, 1}));
    EXPECT_EQ(shares({{300, 9, 0, 0}, {100, 20, 0, -0.6}}, 3), (std::vector<double>{3, 0}));
}

// Two subflows whose logits ask for 0.88 and 0.12 of a batch, with equal rates and 4 free packets each per slot.
TEST(Goodput, OnlyARestThatWaitsKeepsToTheSharesOfTheAgent) {
    for (const std::string rest : {"fill", "wait"}) {
        auto scheduler = make<GoodputBatches>({{"rest", rest}});
        std::array<double, 2> sent{};
        for (int slot = 0; slot < 100; ++slot) {
            std::array<Candidate, 2> subflows{path(40_ms, 4), path(40_ms, 4)};
            subflows[0].logit = 1;
            subflows[1].logit = -1;
            subflows[0].delivered_pkts = subflows[1].delivered_pkts = 4.0 * slot;
            const SendMoment moment{.now = Nanos(10'000'000) * slot};
            while (const auto next = scheduler.select(subflows, moment)) {
                ++sent[*next];
                ++subflows[*next].inflight_pkts;
                subflows[*next].is_available = subflows[*next].inflight_pkts < 4;
            }
        }
        const double share = sent[0] / (sent[0] + sent[1]);
        EXPECT_NEAR(share, rest == "wait" ? 0.88 : 0.5, 0.01) << rest;
        EXPECT_EQ(sent[0], 400) << rest;
    }
}

TEST(Goodput, ARestThatWaitsStillLetsPacketsPassAFullWindow) {
    std::array<Candidate, 2> subflows{path(40_ms, 4, 4), path(40_ms, 4)};
    auto scheduler = make<GoodputBatches>({{"rest", std::string("wait")}});
    EXPECT_EQ(scheduler.select(subflows, {}), 1u);
    EXPECT_EQ(scheduler.select(subflows, {}), std::nullopt);
    EXPECT_EQ(scheduler.select(subflows, {.now = 10_ms}), 1u);
}

TEST(Goodput, RatesAreAveragedOverRoundTrips) {
    // 20 packets in 0.1 s are 200 pkt/s: 100 + 1/8 (200 - 100)
    EXPECT_DOUBLE_EQ(GoodputBatches::averaged(100, 20, 100_ms, 0.125), 112.5);
    // From the initial window over the first RTT: 10 packets in 50 ms.
    auto scheduler = make<GoodputBatches>();
    std::array<Candidate, 1> subflow{path(Nanos(0))};
    scheduler.select(subflow, {});
    subflow[0] = path(50_ms, 20);
    subflow[0].delivered_pkts = 10;
    scheduler.select(subflow, {.now = 50_ms});
    EXPECT_DOUBLE_EQ(scheduler.theta_pps(0), 200);
    // No update before a round trip has passed; then 30 in 60 ms: 200 + 1/8 (500 - 200).
    subflow[0].delivered_pkts = 40;
    scheduler.select(subflow, {.now = 99_ms});
    EXPECT_DOUBLE_EQ(scheduler.theta_pps(0), 200);
    scheduler.select(subflow, {.now = 110_ms});
    EXPECT_DOUBLE_EQ(scheduler.theta_pps(0), 237.5);
    // A pause gives no measurement; a new incarnation begins with its own window.
    scheduler.select(subflow, {.now = 500_ms});
    EXPECT_DOUBLE_EQ(scheduler.theta_pps(0), 237.5);
    ++subflow[0].incarnation;
    subflow[0].delivered_pkts = 0;
    scheduler.select(subflow, {.now = 510_ms});
    EXPECT_DOUBLE_EQ(scheduler.theta_pps(0), 400);
}

TEST(Goodput, EachPartIsSentInOnePieceTheFirstToArriveFirst) {
    // Windows of 4 over 100 ms and 3 over 20 ms: the shorter path's part arrives first.
    const std::array<Candidate, 2> subflows{path(100_ms, 4), path(20_ms, 3)};
    auto scheduler = make<GoodputBatches>();
    Positions positions;
    for (int i = 0; i < 7; ++i) positions.push_back(scheduler.select(subflows, {}));
    EXPECT_EQ(positions, (Positions{1, 1, 1, 0, 0, 0, 0}));
    // 3 packets of data at 40 and 150 pkt/s are a batch of 1 and 2, although the windows have room for 7.
    auto fresh = make<GoodputBatches>();
    Positions last;
    for (double unsent = 3; unsent > 0; --unsent) last.push_back(fresh.select(subflows, {.unsent_pkts = unsent}));
    EXPECT_EQ(last, (Positions{1, 1, 0}));
}

TEST(Goodput, TheNextBatchWaitsForItsSlotUnlessNothingIsUnderWay) {
    std::array<Candidate, 2> subflows{path(100_ms, 1), path(20_ms, 1)};
    auto scheduler = make<GoodputBatches>({{"slot", 0.5}});
    EXPECT_EQ(scheduler.select(subflows, {}), 1u);
    subflows[1].inflight_pkts = 1;
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
    subflows[0] = path(100_ms, 1, 1);
    subflows[1] = path(20_ms, 2, 1);  // its window has grown
    EXPECT_EQ(scheduler.select(subflows, {.now = Nanos(9'999'999)}), std::nullopt);
    EXPECT_EQ(rule_of(scheduler, subflows, {.now = 9_ms}), &GoodputBatches::kWaitForSlot);
    EXPECT_EQ(scheduler.select(subflows, {.now = 10_ms}), 1u);
    EXPECT_EQ(scheduler.select(subflows, {.now = 11_ms}), std::nullopt);
    subflows[0].inflight_pkts = subflows[1].inflight_pkts = 0;
    EXPECT_EQ(scheduler.select(subflows, {.now = 11_ms}), 1u);
    auto eager = make<GoodputBatches>({{"slot", 0.0}});
    subflows[1].inflight_pkts = 1;
    for (int i = 0; i < 5; ++i) EXPECT_NE(eager.select(subflows, {}), std::nullopt);
}

TEST(MpccRate, ASubflowThatIsBehindItsRateIsPassedOver) {
    // 10 % of 1000 pkt/s * 20 ms = 2 packets may wait; at 2.1 the subflow is behind.
    std::array<Candidate, 2> subflows{path(20_ms, 1000), path(100_ms, 1000)};
    subflows[0].pacing_pps = subflows[1].pacing_pps = 1000;
    subflows[0].queued_pkts = 2;
    auto scheduler = make<MpccRate>();
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
    EXPECT_EQ(rule_of(scheduler, subflows, {}), &MpccRate::kLowestRtt);
    subflows[0].queued_pkts = 3;
    EXPECT_EQ(scheduler.select(subflows, {}), 1u);
    subflows[1].queued_pkts = 11;  // of 10
    EXPECT_EQ(scheduler.select(subflows, {}), std::nullopt);
    EXPECT_EQ(rule_of(scheduler, subflows, {}), &MpccRate::kAllBehind);
    EXPECT_EQ(make<MpccRate>({{"backlog_share", 0.15}}).select(subflows, {}), 0u);
    // Without pacing no packets wait, and the window is the only limit.
    subflows[0].pacing_pps = 0;
    EXPECT_EQ(scheduler.select(subflows, {}), 0u);
}

TEST(Redundant, ANewPacketGoesToTheFastestFirst) {
    const std::array<Candidate, 2> subflows{path(100_ms), path(20_ms)};
    EXPECT_EQ(make<Redundant>().select(subflows, {}), 1u);
    EXPECT_EQ(make<Redundant>().copies(), Copies::Queued);
    EXPECT_EQ(make<Redundant>({{"copies", std::string("now")}}).copies(), Copies::Now);
}

TEST(Schedulers, SayWhatAFullReceiveWindowIsMetWith) {
    const auto answers = [](const std::string& name, std::vector<OptionValue> options = {}) {
        const Scheduler scheduler = make_scheduler({name, std::move(options)});
        return std::pair(retransmits_when_blocked(scheduler), penalises(scheduler));
    };
    using Answers = std::pair<bool, bool>;
    EXPECT_EQ(answers("ecf"), Answers(true, true));
    EXPECT_EQ(answers("ecf", {{"penalisation", false}}), Answers(true, false));
    EXPECT_EQ(answers("ecf", {{"opportunistic_retransmission", false}}), Answers(false, true));
    EXPECT_EQ(answers("blest"), Answers(true, false));
    EXPECT_EQ(answers("blest", {{"opportunistic_retransmission", false}}), Answers(false, false));
    for (const char* name : {"roundrobin", "redundant", "goodput", "mpcc-rate"})
        EXPECT_EQ(answers(name), Answers(false, false)) << name;
    // Schedulers that use the report respond to it, the others ignore it.
    Scheduler blest = make_scheduler({"blest", {}});
    tell_blocked_retransmission(blest, 0);
    const auto subflows = fast_is_full();
    std::get<Blest>(blest).select(subflows, {.now = 100_ms});
    EXPECT_DOUBLE_EQ(std::get<Blest>(blest).lambda(), 1.24);
    Scheduler other = make_scheduler({"roundrobin", {}});
    tell_blocked_retransmission(other, 0);
    EXPECT_EQ(copies_of(other), Copies::None);
}

}  // namespace
}  // namespace subflow

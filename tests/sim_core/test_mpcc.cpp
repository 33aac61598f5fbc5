// MPCC as a state machine: effects of interval results on the rate. The equations, and vectors computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <vector>

#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;
using testing::kPacketBits;

constexpr double kMbit = 1e6;

TEST(MpccUtility, MatchesVectors) {
    // x = 20, others = 80, L = 0.02: 100^0.9 - 11.35 x 0.02 x 100
    EXPECT_NEAR(Mpcc::kMbps.utility(100e6, 0.02, 0), 40.39573, 5e-6);
    // Without siblings it is Vivace's utility.
    EXPECT_NEAR(Mpcc::kMbps.utility(100e6, 0, 0), 63.09573, 5e-6);
    EXPECT_NEAR(Mpcc::kMbps.utility(100e6, 0.01, 0), 51.74573, 5e-6);
    EXPECT_NEAR(Mpcc::kMbps.utility(100e6, 0.01, 0.002), -128.25427, 5e-6);
    // kernel: 250 ((12.5e6)^0.9 - (11 L + 1 dRTT/dt) 12.5e6) with rates in byte/s
    EXPECT_NEAR(Mpcc::kKernel.utility(100e6, 0.02, 0.05), 250 * (std::pow(12.5e6, 0.9) - (0.22 + 0.05) * 12.5e6), 1e-3);
}

TEST(MpccUtility, ItsSlopeIsWhatTheFormulaSays) {
    // Finite differences: alpha R^(alpha-1) - beta L - gamma dRTT/dt, and - beta R dL/dx where the loss grows with the
    // own rate. Utility per unit of rate.
    constexpr double kStep_bps = 1e3;
    for (const MpccConstants& c : {Mpcc::kMbps, Mpcc::kKernel}) {
        for (const double total_bps : {1e6, 30e6, 200e6, 2e9}) {
            const auto slope = [&](const std::function<double(double)>& loss, double inflation) {
                const double above = c.utility(total_bps + kStep_bps, loss(total_bps + kStep_bps), inflation);
                const double below = c.utility(total_bps - kStep_bps, loss(total_bps - kStep_bps), inflation);
                return (above - below) / (2 * kStep_bps / c.unit_bps) / c.utility_scale;
            };
            const double total = total_bps / c.unit_bps;
            const double gain = c.alpha * std::pow(total, c.alpha - 1);
            const auto constant = [](double share) { return [share](double) { return share; }; };
            EXPECT_NEAR(slope(constant(0), 0), gain, 1e-5 * gain);
            EXPECT_NEAR(slope(constant(0.02), 0), gain - c.beta * 0.02, 1e-5);
            EXPECT_NEAR(slope(constant(0.02), 0.05), gain - c.beta * 0.02 - c.gamma * 0.05, 1e-4);
            // A full link: L = 1 - C/x with C = 0.98 x, of which the slope is C/x^2 per unit.
            const auto overload = [&](double x_bps) { return 1 - 0.98 * total_bps / x_bps; };
            EXPECT_NEAR(slope(overload, 0), gain - c.beta * 0.02 - c.beta * 0.98, 1e-4);
        }
    }
}

TEST(MpccUtility, TheBreakEvenLossIsWhereTheSlopeIsNil) {
    // Same as Vivace: 7.9 % at 1 Mbit/s, 6.3 % at 10, 5.0 % at 100, 4.0 % at 1000. kernel: 1.6 % at 100.
    EXPECT_NEAR(Mpcc::kMbps.break_even_loss(1e6), 0.079, 5e-4);
    EXPECT_NEAR(Mpcc::kMbps.break_even_loss(10e6), 0.063, 5e-4);
    EXPECT_NEAR(Mpcc::kMbps.break_even_loss(100e6), 0.050, 5e-4);
    EXPECT_NEAR(Mpcc::kMbps.break_even_loss(1e9), 0.040, 5e-4);
    EXPECT_NEAR(Mpcc::kKernel.break_even_loss(100e6), 0.016, 5e-4);
}

TEST(MpccRates, ProbesLieFivePercentOfTheTotalAboveAndBelow) {
    EXPECT_EQ(Mpcc::probe_rates(50e6, 5e6), (std::array{55e6, 45e6}));
    // Wider than the rate itself: (x + w) / 2 for the lower one; and never below the minimum rate.
    EXPECT_EQ(Mpcc::probe_rates(1e6, 5e6), (std::array{6e6, 3e6}));
    EXPECT_EQ(Mpcc::probe_rates(0.2e6, 0.01e6), (std::array{0.21e6, 0.2e6}));
    EXPECT_DOUBLE_EQ(Mpcc::change_bound(100e6, 0), 5e6);
    EXPECT_DOUBLE_EQ(Mpcc::change_bound(100e6, 2), 15e6);
}

TEST(MpccRates, SmallLatencyInflationIsNone) {
    IntervalRecord record{.begin = Nanos(0), .end = 100_ms, .sent_pkts = 100, .delivered_pkts = 100};
    record.first_srtt = 50_ms;
    const auto with_last = [&](Nanos srtt) {
        record.last_srtt = srtt;
        return Mpcc::latency_inflation(record);
    };
    EXPECT_EQ(with_last(Nanos(52'900'000)), 0);
    EXPECT_DOUBLE_EQ(with_last(54_ms), 0.04);
    EXPECT_EQ(with_last(Nanos(47'100'000)), 0);
    EXPECT_DOUBLE_EQ(with_last(46_ms), -0.04);
    record.delivered_pkts = 0;
    EXPECT_EQ(with_last(80_ms), 0);
}

// Outcome of a rate on a path.
struct Fate {
    double loss_ratio = 0;
    double inflation = 0;
    double capacity_bps = 1e12;
    double sent_share = 1;  // of the packets that the rate permits
};
using Path = std::function<Fate(double rate_bps)>;

Fate no_loss(double) {
    return {};
}

// A controller with a sender that follows it exactly, and a path under control of the test.
class MpccTest : public ::testing::Test {
protected:
    static constexpr Nanos kRtt = 100_ms;

    Controller controller = MpccLoss(Options(MpccLoss::kInfo, {}));
    Window window{.cwnd_pkts = 10};
    IntervalMoment moment{.now = Nanos(0), .packet_bits = kPacketBits};
    std::vector<Sibling> subflows{{.cwnd_pkts = 10, .srtt_s = 0.1, .advertised = 0}};
    std::vector<double> tried_bps;  // in the latest round
    Reason why;

    void make(bool senses_latency, const std::vector<OptionValue>& options, std::uint64_t seed = 1) {
        if (senses_latency) {
            controller = MpccLatency(Options(MpccLatency::kInfo, options));
        } else {
            controller = MpccLoss(Options(MpccLoss::kInfo, options));
        }
        std::visit(
            [&]<class C>(C& c) {
                if constexpr (FollowsStart<C>) c.on_start(window, seed);
            },
            controller);
        moment.why = &why;
        first_packet();
    }
    Mpcc& mpcc() {
        if (auto* latency = std::get_if<MpccLatency>(&controller)) return *latency;
        return std::get<MpccLoss>(controller);
    }
    Siblings siblings() { return {subflows, 0}; }
    double mbps() { return mpcc().rate_bps() / kMbit; }

    IntervalRecord sent(const IntervalPlan& plan, const Path& path) {
        const double rate_bps = window.pacing_pps * kPacketBits;
        const Fate fate = path(rate_bps);
        IntervalRecord record{.tag = plan.tag, .begin = moment.now, .rate_pps = window.pacing_pps};
        // Long enough for losses in thousandths to be whole packets
        record.end = moment.now + plan.length;
        const double scale = 1e6 / (record.rate_pps * record.length_s());
        record.end = moment.now + Nanos(static_cast<std::int64_t>(static_cast<double>(plan.length.value) * scale));
        moment.now = record.end;
        record.sent_pkts = static_cast<std::uint32_t>(std::lround(1e6 * fate.sent_share));
        record.lost_pkts = static_cast<std::uint32_t>(std::lround(fate.loss_ratio * record.sent_pkts));
        record.delivered_pkts = record.sent_pkts - record.lost_pkts;
        record.first_srtt = kRtt;
        record.last_srtt = kRtt + Nanos(static_cast<std::int64_t>(fate.inflation * 1e9 * record.length_s()));
        record.first_ack_at = record.begin + kRtt;
        const double arriving_pps =
            std::min(rate_bps * (1 - fate.loss_ratio) * fate.sent_share, fate.capacity_bps) / kPacketBits;
        record.last_ack_at =
            record.first_ack_at + Nanos(static_cast<std::int64_t>(1e9 * record.delivered_pkts / arriving_pps));
        return record;
    }
    // The first packet is acknowledged: the round-trip time is known from now on.
    void first_packet() {
        const IntervalPlan plan = mpcc().plan_interval(window, moment);
        IntervalRecord record{.tag = plan.tag, .begin = Nanos(0), .end = 3_ms, .rate_pps = window.pacing_pps};
        record.sent_pkts = record.delivered_pkts = 1;
        mpcc().plan_interval(window, moment);
        moment.now = kRtt;
        moment.srtt = moment.min_rtt = kRtt;
        EXPECT_EQ(mpcc().on_interval(window, record, moment, siblings()), NextInterval::BeginsNow);
    }
    // Sends all intervals of a round and the waiting one, and gives their results.
    void round(const Path& path) {
        tried_bps.clear();
        std::vector<IntervalRecord> records;
        for (;;) {
            const IntervalPlan plan = mpcc().plan_interval(window, moment);
            if (plan.length > 3600_s) break;
            EXPECT_EQ(plan.length, 150_ms);
            tried_bps.push_back(window.pacing_pps * kPacketBits);
            records.push_back(sent(plan, path));
        }
        EXPECT_DOUBLE_EQ(window.pacing_pps * kPacketBits, mpcc().rate_bps());  // while it waits
        for (std::size_t i = 0; i < records.size(); ++i) {
            why = {};
            const NextInterval next = mpcc().on_interval(window, records[i], moment, siblings());
            EXPECT_EQ(next, i + 1 == records.size() ? NextInterval::BeginsNow : NextInterval::InTurn);
        }
        EXPECT_DOUBLE_EQ(window.pacing_pps * kPacketBits, mpcc().rate_bps());
    }
    // Ends slow start at `rate`, by a lower throughput.
    void probe_from(double rate_mbps, bool senses_latency = false, std::vector<OptionValue> options = {}) {
        options.push_back({"initial_rate", rate_mbps * kMbit});
        make(senses_latency, options);
        round(no_loss);
        const auto stuck = [&](double) { return Fate{.capacity_bps = rate_mbps * kMbit}; };
        for (int i = 0; i <= Mpcc::kSlowStartRetries; ++i) round(stuck);
        ASSERT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
        ASSERT_DOUBLE_EQ(mbps(), rate_mbps);
    }
};

TEST_F(MpccTest, SlowStartDoublesFromFourMegabit) {
    make(false, {});
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::SlowStart);
    for (const double rate : {4.0, 8.0, 16.0, 32.0}) {
        EXPECT_DOUBLE_EQ(mbps(), rate);
        round(no_loss);
        EXPECT_EQ(why.rule, &mpcc_rules::kDouble);
    }
    // The rate in numbers: 64 Mbit/s of packets of 12000 bits, and a window of twice that times 0.1 s
    EXPECT_DOUBLE_EQ(window.pacing_pps, 64e6 / 12e3);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 2 * 64e6 / 12e3 * 0.1);
    EXPECT_TRUE(window.in_slow_start());
}

TEST_F(MpccTest, SlowStartTriesThriceAndReturnsToTheLastRateThatPaid) {
    make(false, {});
    for (int i = 0; i < 3; ++i) round(no_loss);
    EXPECT_DOUBLE_EQ(mbps(), 32);
    // Throughput 0.89 of the rate
    const auto slow = [](double rate_bps) { return Fate{.capacity_bps = 0.89 * rate_bps}; };
    for (int i = 0; i < 2; ++i) {
        round(slow);
        EXPECT_EQ(why.rule, &mpcc_rules::kRetry);
        EXPECT_EQ(mpcc().mode(), Mpcc::Mode::SlowStart);
        EXPECT_DOUBLE_EQ(mbps(), 32);
    }
    round(slow);
    EXPECT_EQ(why.rule, &mpcc_rules::kLeaveSlowStart);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
    EXPECT_DOUBLE_EQ(mbps(), 16);
    EXPECT_FALSE(window.in_slow_start());
}

TEST_F(MpccTest, ASuccessGivesSlowStartItsRetriesBack) {
    make(false, {});
    const auto slow = [](double rate_bps) { return Fate{.capacity_bps = 0.89 * rate_bps}; };
    for (int i = 0; i < 5; ++i) {
        round(slow);
        round(slow);
        round(no_loss);
    }
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::SlowStart);
    EXPECT_DOUBLE_EQ(mbps(), 128);
}

TEST_F(MpccTest, SlowStartIgnoresLossBelowFifteenPercent) {
    make(false, {});
    round([](double) { return Fate{.loss_ratio = 0.149}; });
    EXPECT_DOUBLE_EQ(mbps(), 8);
    // 15 %: U = 8^0.9 - 11.35 x 0.15 x 8 = -7.1
    round([](double) { return Fate{.loss_ratio = 0.15}; });
    EXPECT_EQ(why.rule, &mpcc_rules::kRetry);
    EXPECT_NEAR(why.numbers[1], std::pow(8, 0.9) - 11.35 * 0.15 * 8, 1e-9);
}

TEST_F(MpccTest, SlowStartIgnoresAShrinkingRoundTripTimeAndHeedsAGrowingOne) {
    make(true, {});
    round([](double) { return Fate{.inflation = -0.1}; });
    EXPECT_NEAR(why.numbers[1], std::pow(4, 0.9), 1e-9);
    round([](double) { return Fate{.inflation = 0.04}; });
    EXPECT_EQ(why.rule, &mpcc_rules::kRetry);
    EXPECT_NEAR(why.numbers[1], std::pow(8, 0.9) - 900 * 0.04 * 8, 1e-6);
}

TEST_F(MpccTest, ProbingTriesTwoPairsInRandomOrder) {
    std::set<std::vector<bool>> orders;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        probe_from(40);
        mpcc().on_start(window, seed);
        round([](double) { return Fate{.sent_share = 0.5}; });  // drawn with another seed
        const double now = mpcc().rate_bps();
        round(no_loss);
        ASSERT_EQ(tried_bps.size(), 4);
        std::vector<bool> order;
        for (const double rate : tried_bps) {
            EXPECT_NEAR(std::abs(rate - now), 0.05 * now, 1);
            order.push_back(rate > now);
        }
        EXPECT_NE(order[0], order[1]);
        EXPECT_NE(order[2], order[3]);
        orders.insert(order);
    }
    EXPECT_EQ(orders.size(), 4);
}

TEST_F(MpccTest, TheWidthIsFivePercentOfTheConnectionAndTheOthersAreThoseOfTheBegin) {
    subflows.push_back({.cwnd_pkts = 10, .srtt_s = 0.05, .advertised = 160e6 / kPacketBits});
    probe_from(40);
    // R = 200: 40 +- 10. A rate advertised meanwhile counts for the next probing.
    subflows[1].advertised = 360e6 / kPacketBits;
    round([](double rate_bps) { return Fate{.loss_ratio = rate_bps > 40e6 ? 1e-3 : 0.0}; });
    for (const double rate : tried_bps) EXPECT_NEAR(std::abs(rate - 40e6), 10e6, 1e-3);
    EXPECT_DOUBLE_EQ(mpcc().others_bps(), 160e6);
    // The utility of the connection: R = 210 with a loss of 0.1 %
    EXPECT_EQ(why.rule, &mpcc_rules::kAgreement);
    EXPECT_NEAR(why.numbers[2], std::pow(210, 0.9) - 11.35 * 1e-3 * 210, 1e-9);
    EXPECT_NEAR(why.numbers[3], std::pow(190, 0.9), 1e-9);
    // dU = 4.7 - 2.4 over 20 Mbit/s: up by the least step, and then further
    EXPECT_NEAR(mbps(), 40.5, 1e-9);
    round([](double) { return Fate{.loss_ratio = 0.1}; });
    EXPECT_EQ(why.rule, &mpcc_rules::kTurn);
    round(no_loss);
    EXPECT_DOUBLE_EQ(mpcc().others_bps(), 360e6);
    for (const double rate : tried_bps) EXPECT_NEAR(std::abs(rate - 40.5e6), 0.05 * 400.5e6, 1e-3);
}

TEST_F(MpccTest, ASubflowWithLessThanTheWidthProbesAtHalfOfTheSum) {
    subflows.push_back({.cwnd_pkts = 10, .srtt_s = 0.05, .advertised = 99e6 / kPacketBits});
    probe_from(1);
    round(no_loss);
    for (const double rate : tried_bps) EXPECT_TRUE(std::abs(rate - 6e6) < 1 || std::abs(rate - 3e6) < 1) << rate;
}

TEST_F(MpccTest, PairsThatDisagreeAreProbedAgain) {
    probe_from(40);
    int interval = 0;
    // The upper rate of the first pair loses packets, then the lower rate of the second pair.
    const auto fickle = [&](double rate_bps) {
        const bool is_second = interval++ >= 2;
        return Fate{.loss_ratio = (rate_bps > 40e6) != is_second ? 0.1 : 0.0};
    };
    round(fickle);
    EXPECT_EQ(why.rule, &mpcc_rules::kDisagreement);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
    EXPECT_DOUBLE_EQ(mbps(), 40);
}

TEST_F(MpccTest, StepsGrowWithTheAmplifierOnceTheSwingBufferIsUsedUp) {
    probe_from(100);
    round(no_loss);
    // g = (105^0.9 - 95^0.9) / 10 = 0.568; half of it is less than the least step.
    const double g = (std::pow(105, 0.9) - std::pow(95, 0.9)) / 10;
    EXPECT_NEAR(why.numbers[0], g, 1e-12);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Moving);
    EXPECT_DOUBLE_EQ(mbps(), 100.5);
    EXPECT_EQ(mpcc().amplifier(), 2);  // slow start went up, too
    double last = 105;                 // the better tried rate
    for (const int amplifier : {2, 4, 6, 8}) {
        const double rate = mbps();
        const double slope = (std::pow(rate, 0.9) - std::pow(last, 0.9)) / (rate - last);
        round(no_loss);
        ASSERT_EQ(tried_bps.size(), 1);
        EXPECT_EQ(why.rule, &mpcc_rules::kMove);
        EXPECT_EQ(why.numbers[4], amplifier);
        EXPECT_NEAR(mbps(), rate + slope / 2 * (1 + amplifier), 1e-9);
        last = rate;
    }
    // It reverses at its current rate, and starts with small steps again.
    const double rate = mbps();
    round([](double) { return Fate{.loss_ratio = 0.3}; });
    EXPECT_EQ(why.rule, &mpcc_rules::kTurn);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
    EXPECT_DOUBLE_EQ(mbps(), rate);
    EXPECT_EQ(mpcc().amplifier(), 0);
    EXPECT_EQ(mpcc().swing_buffer(), 1);
    // Down is another change of direction: two steps without a larger amplifier.
    const auto lossy = [](double rate_bps) { return Fate{.loss_ratio = 1e-9 * rate_bps}; };
    round(lossy);
    EXPECT_EQ(mpcc().swing_buffer(), 2);
    for (const int amplifier : {0, 0, 0, 2, 4}) {
        round(lossy);
        EXPECT_EQ(why.rule, &mpcc_rules::kMove);
        EXPECT_EQ(why.numbers[4], amplifier);
    }
}

TEST_F(MpccTest, TheBoundWidensWhereItIsMetAndNarrowsWhereItIsNot) {
    subflows.push_back({.cwnd_pkts = 10, .srtt_s = 0.05, .advertised = 100e6 / kPacketBits});
    probe_from(100);
    const auto with_loss = [](double share) { return [share](double) { return Fate{.loss_ratio = share}; }; };
    round(with_loss(0.01));
    round(with_loss(0.01));
    EXPECT_EQ(why.rule, &mpcc_rules::kMove);
    EXPECT_EQ(mpcc().bound_steps(), 0);
    // Half a per cent less loss is worth 11.35 x 0.005 x 201 = 11.4 for a step of one megabit: far more than 5 % of R.
    double before = mbps();
    round(with_loss(0.005));
    EXPECT_NEAR(why.numbers[5], 0.05 * (before + 100) * kMbit, 1e-3);
    EXPECT_NEAR(mbps() - before, 0.05 * (before + 100), 1e-9);
    EXPECT_EQ(mpcc().bound_steps(), 1);
    // The same for a step of ten: 1.7 / 2 x (1 + 6) = 5.9 Mbit/s, below the bound of 10 %.
    before = mbps();
    round(with_loss(0));
    EXPECT_NEAR(why.numbers[5], 0.10 * (before + 100) * kMbit, 1e-3);
    EXPECT_NEAR(mbps() - before, 5.9, 0.1);
    EXPECT_EQ(mpcc().bound_steps(), 0);
}

TEST_F(MpccTest, AStepIsHalfTheRateAtMost) {
    subflows.push_back({.cwnd_pkts = 10, .srtt_s = 0.05, .advertised = 198e6 / kPacketBits});
    probe_from(2);
    round([](double rate_bps) { return Fate{.loss_ratio = rate_bps > 8e6 ? 0.25 : 0.1}; });
    EXPECT_EQ(why.rule, &mpcc_rules::kAgreement);
    EXPECT_NEAR(mbps(), 1, 1e-9);
}

TEST_F(MpccTest, TheRateHasAFloor) {
    probe_from(1);
    for (int i = 0; i < 60; ++i) round([](double rate_bps) { return Fate{.loss_ratio = 0.1 + 1e-9 * rate_bps}; });
    EXPECT_DOUBLE_EQ(mbps(), 0.2);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 4);
}

TEST_F(MpccTest, TheEmergencyBrakeHalvesTheRate) {
    // While probing: in more than two of four intervals
    probe_from(40);
    int interval = 0;
    round([&](double) { return Fate{.loss_ratio = interval++ < 2 ? 0.0 : 0.31}; });
    EXPECT_NE(why.rule, &mpcc_rules::kBrake);
    probe_from(40);
    interval = 0;
    round([&](double) { return Fate{.loss_ratio = interval++ < 1 ? 0.0 : 0.31}; });
    EXPECT_EQ(why.rule, &mpcc_rules::kBrake);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
    EXPECT_DOUBLE_EQ(mbps(), 20);
    // While moving: at once
    probe_from(40);
    round(no_loss);
    ASSERT_EQ(mpcc().mode(), Mpcc::Mode::Moving);
    round([](double) { return Fate{.loss_ratio = 0.31}; });
    EXPECT_EQ(why.rule, &mpcc_rules::kBrake);
    EXPECT_DOUBLE_EQ(mbps(), 20.25);
}

TEST_F(MpccTest, WhatWasNotSentAtARateDoesNotRaiseIt) {
    probe_from(40);
    const auto starved = [](double) { return Fate{.sent_share = 0.5}; };
    round(starved);
    EXPECT_EQ(why.rule, &mpcc_rules::kUntried);
    EXPECT_DOUBLE_EQ(mbps(), 40);
    round(no_loss);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Moving);
    const double rate = mbps();
    round(starved);
    EXPECT_EQ(why.rule, &mpcc_rules::kUntried);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
    EXPECT_DOUBLE_EQ(mbps(), rate);
}

TEST_F(MpccTest, KernelStepsAreAMegabitTimesTheSlopeOfTheUtility) {
    // g = 1000 x 250 dU/dR in byte/s per byte/s; half of it is 125000 byte/s = 1 Mbit/s times the slope.
    probe_from(100, false, {{"preset", std::string("kernel")}});
    round(no_loss);
    EXPECT_NEAR(why.numbers[0], 250e3 * (std::pow(105e6 / 8, 0.9) - std::pow(95e6 / 8, 0.9)) / (10e6 / 8), 1e-3);
    EXPECT_DOUBLE_EQ(mbps(), 100.5);  // 0.18 Mbit/s are less than the least step
    for (int i = 0; i < 5; ++i) round(no_loss);
    const double rate = mbps();
    const double before = why.numbers[2] / 1e6;
    round(no_loss);
    const double slope =
        (std::pow(rate * 125e3, 0.9) - std::pow(why.numbers[2] / 8, 0.9)) / (rate * 125e3 - why.numbers[2] / 8);
    EXPECT_GT(why.numbers[2] / 1e6, before);
    EXPECT_NEAR(mbps() - rate, slope * (1 + why.numbers[4]), 1e-6);
}

TEST_F(MpccTest, TheRateTurnsAtTheBreakEvenLossOfEitherPreset) {
    // Bisection: with a random loss that does not depend on the rate, the first decision is up below the break-even
    // loss and down above it.
    for (const char* preset : {"mbps", "kernel"}) {
        for (const double rate_mbps : {1.0, 10.0, 100.0}) {
            double low = 0;
            double high = 0.15;
            while (high - low > 1e-6) {
                const double loss = (low + high) / 2;
                probe_from(rate_mbps, false, {{"preset", std::string(preset)}});
                round([&](double) { return Fate{.loss_ratio = loss}; });
                (mbps() > rate_mbps ? low : high) = loss;
            }
            // The slope over +-5 % equals the slope at the rate to within 1e-4; lost packets are counted in millionths.
            EXPECT_NEAR(low / mpcc().constants().break_even_loss(rate_mbps * kMbit), 1, 3e-4) << preset;
        }
    }
}

TEST_F(MpccTest, SiblingsAreToldTheRateDecidedUponByProbing) {
    make(false, {});
    const AckSample ack{.acked_pkts = 1, .rtt = kRtt, .srtt = kRtt, .now = kRtt};
    const auto told = [&] {
        mpcc().on_every_ack(window, ack, siblings());
        return window.advertised * kPacketBits / kMbit;
    };
    round(no_loss);
    round(no_loss);
    EXPECT_NEAR(told(), 4, 1e-9);  // slow start does not change it
    probe_from(40);
    mpcc().plan_interval(window, moment);
    EXPECT_NE(window.pacing_pps * kPacketBits, 40e6);  // nor do tried rates
    EXPECT_NEAR(window.advertised * kPacketBits, 40e6, 1);
    probe_from(40);
    round(no_loss);
    EXPECT_NEAR(told(), 40.5, 1e-9);
    round(no_loss);
    EXPECT_GT(mbps(), 40.5);
    EXPECT_NEAR(told(), 40.5, 1e-9);
}

TEST_F(MpccTest, ASilentSubflowHasOnePacketAndNoRateUntilItIsHeardOf) {
    probe_from(40);
    const AckSample ack{.acked_pkts = 1, .rtt = kRtt, .srtt = kRtt, .now = kRtt};
    mpcc().on_congestion_event(window, {.kind = CongestionKind::FastRetransmit, .inflight_pkts = 50}, siblings());
    EXPECT_GT(window.advertised, 0);
    mpcc().on_congestion_event(window, {.kind = CongestionKind::Timeout, .inflight_pkts = 50}, siblings());
    window.cwnd_pkts = 1;
    mpcc().plan_interval(window, moment);
    EXPECT_EQ(window.cwnd_pkts, 1);
    EXPECT_EQ(window.advertised, 0);
    mpcc().on_every_ack(window, ack, siblings());
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 2 * window.pacing_pps * 0.1);
    EXPECT_GT(window.advertised, 0);
}

TEST_F(MpccTest, WhatWasPlannedBeforeADecisionIsNoPartOfTheNext) {
    probe_from(40);
    // The waiting interval of the last round ends when the first probe begins; its loss must have no effect.
    const IntervalPlan first = mpcc().plan_interval(window, moment);
    IntervalRecord stale = sent(first, [](double) { return Fate{.loss_ratio = 0.9}; });
    stale.tag -= 1;
    EXPECT_EQ(mpcc().on_interval(window, stale, moment, siblings()), NextInterval::InTurn);
    EXPECT_EQ(mpcc().mode(), Mpcc::Mode::Probing);
    EXPECT_LT(stale.utility, 0);  // observers receive it nevertheless
}

TEST_F(MpccTest, OptionsReplaceTheConstantsOfThePreset) {
    make(true, {{"preset", std::string("kernel")}, {"alpha", 0.8}});
    EXPECT_EQ(mpcc().constants().alpha, 0.8);
    EXPECT_EQ(mpcc().constants().beta, 11);
    EXPECT_EQ(mpcc().constants().gamma, 1);
    EXPECT_EQ(mpcc().constants().unit_bps, 8);
    make(true, {{"beta", 5.0}, {"gamma", 30.0}});
    EXPECT_EQ(mpcc().constants().alpha, 0.9);
    EXPECT_EQ(mpcc().constants().beta, 5);
    EXPECT_EQ(mpcc().constants().gamma, 30);
    make(false, {});
    EXPECT_EQ(mpcc().constants().gamma, 0);
    EXPECT_THROW(make(false, {{"beta", 3.0}}), ScenarioError);
    EXPECT_THROW(make(false, {{"gamma", 3.0}}), ScenarioError);
}

TEST(MpccNetwork, ASubflowAdvertisesARateOnlyWhileItHasSomethingToSend) {
    Scenario scenario = testing::linux_profile(20_s);
    const std::vector<PathSpec> paths{testing::add_path(scenario), testing::add_path(scenario)};
    FlowSpec& flow = testing::add_mptcp(scenario, paths, "mpcc-loss");
    flow.size = Bytes(5'000'000);
    Network network(scenario, 1);
    network.run_until(1_s);
    for (const Subflow& s : network.subflows()) EXPECT_DOUBLE_EQ(s.sender.window().advertised * kPacketBits, 4 * kMbit);
    network.run_until(20_s);  // completed long before, at 20 Mbit/s
    for (const Subflow& s : network.subflows()) EXPECT_EQ(s.sender.window().advertised, 0);
}

}  // namespace
}  // namespace subflow

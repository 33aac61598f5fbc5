// PCC Vivace as a state machine: effects of single intervals on the rate. tests/sim/test_oracles_online.py tests
// networks.
#include "cc/vivace.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "cc/controllers.h"

namespace subflow {
namespace {

using namespace literals;

TEST(VivaceUtility, HasTheValuesOfTheReference) {
    EXPECT_NEAR(Vivace::utility(100, 0, 0), 63.09573, 5e-6);
    EXPECT_NEAR(Vivace::utility(100, 0.01, 0), 51.74573, 5e-6);
    EXPECT_NEAR(Vivace::utility(100, 0.01, 0.002), -128.25427, 5e-6);
    EXPECT_EQ(Vivace::utility(0, 0, 0), 0);
}

TEST(VivaceUtility, GrowsWithTheRateBelowTheBreakEvenLoss) {
    // du/dx = 0.9 x^-0.1 - 900 dRTT/dt - 11.35 L, by central differences
    for (const double x : {1.0, 10.0, 100.0, 1000.0}) {
        for (const double loss : {0.0, 0.02, 0.3}) {
            for (const double slope : {0.0, 0.001}) {
                const double h = 1e-4 * x;
                const double difference =
                    (Vivace::utility(x + h, loss, slope) - Vivace::utility(x - h, loss, slope)) / (2 * h);
                EXPECT_NEAR(difference, 0.9 * std::pow(x, -0.1) - 900 * slope - 11.35 * loss, 1e-8);
            }
        }
        const double break_even = Vivace::break_even_loss(x);
        EXPECT_GT(Vivace::utility(1.001 * x, 0.99 * break_even, 0), Vivace::utility(x, 0.99 * break_even, 0));
        EXPECT_LT(Vivace::utility(1.001 * x, 1.01 * break_even, 0), Vivace::utility(x, 1.01 * break_even, 0));
    }
    EXPECT_NEAR(Vivace::break_even_loss(1), 0.079, 5e-4);
    EXPECT_NEAR(Vivace::break_even_loss(10), 0.063, 5e-4);
    EXPECT_NEAR(Vivace::break_even_loss(100), 0.050, 5e-4);
    EXPECT_NEAR(Vivace::break_even_loss(1000), 0.040, 5e-4);
}

TEST(VivaceAmplifier, GrowsWithTheStreak) {
    const double paper[] = {1, 2, 3, 5, 7, 9};
    for (int n = 1; n <= 6; ++n) {
        EXPECT_EQ(Vivace::paper_amplifier(n), paper[n - 1]);
        EXPECT_NEAR(Vivace::code_amplifier(n), std::pow((n + 1) / 2.0, 1.2), 1e-12);
    }
}

// Intervals of 100 packets with results at their end, at an RTT of 50 ms.
class VivaceTest : public ::testing::Test {
protected:
    struct Result {
        double loss = 0;
        double gradient = 0;
        double error = 0;
    };
    using Network = std::function<Result(double rate_mbps)>;

    Vivace vivace = make({});
    Window window{.cwnd_pkts = 10};
    IntervalMoment moment{.srtt = 50_ms, .min_rtt = 50_ms, .packet_bits = 12'000};
    IntervalPlan plan;
    IntervalRecord record;
    NextInterval next = NextInterval::InTurn;

    static Vivace make(const std::vector<OptionValue>& options, std::uint64_t seed = 1) {
        Vivace made(Options(Vivace::kInfo, options));
        Window any;
        made.on_start(any, seed);
        return made;
    }
    static OptionValue choose(const char* key, const char* value) { return {key, std::string(value)}; }

    double sent_mbps() const { return window.pacing_pps * 0.012; }
    // Starts the next interval.
    double begin() {
        plan = vivace.plan_interval(window, moment);
        record = IntervalRecord();
        record.tag = plan.tag;
        record.rate_pps = window.pacing_pps;
        record.begin = moment.now;
        record.sent_pkts = record.delivered_pkts = 100;
        moment.now += from_seconds(100 / record.rate_pps);
        record.end = moment.now;
        return sent_mbps();
    }
    NextInterval end() { return next = vivace.on_interval(window, record, moment, {}); }
    // One whole interval. Returns its rate in Mbit/s.
    double pass(const Network& network) {
        const double rate = begin();
        const Result result = network(rate);
        record.lost_pkts = static_cast<std::uint32_t>(std::lround(100 * result.loss));
        record.delivered_pkts = 100 - record.lost_pkts;
        record.rtt_gradient = result.gradient;
        record.rtt_gradient_error = result.error;
        end();
        return rate;
    }
    // Doubles up to `rate_mbps`, which must be 1.2 times a power of two, and falls back to it.
    void start_at(double rate_mbps) {
        const Network full = [&](double rate) { return Result{.loss = rate > 1.01 * rate_mbps ? 0.5 : 0}; };
        for (int i = 0; i < 20 && vivace.mode() == Vivace::Mode::Starting; ++i) pass(full);
        ASSERT_NEAR(vivace.rate_mbps(), rate_mbps, 1e-9);
    }
    static Result clean(double) { return {}; }
    static Result hopeless(double) { return {.loss = 0.5}; }
};

TEST_F(VivaceTest, DoublesWhileTheUtilityGrowsAndFallsBackOnce) {
    const Network full = [](double rate) { return Result{.gradient = std::max(0.0, (rate - 10) / 10)}; };
    std::vector<double> rates;
    while (vivace.mode() == Vivace::Mode::Starting) rates.push_back(pass(full));
    ASSERT_EQ(rates.size(), 5u);
    for (std::size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], 1.2 * std::pow(2.0, i), 1e-9);
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
    EXPECT_NEAR(sent_mbps(), 9.6, 1e-9);  // at once
    EXPECT_EQ(next, NextInterval::BeginsNow);
    EXPECT_FALSE(window.in_slow_start());
}

TEST_F(VivaceTest, AFirstRateThatIsTooHighIsHalvedUntilItPays) {
    vivace = make({{"initial_rate", 10e6}});
    const Network full = [](double rate) { return Result{.loss = std::max(0.0, 1 - 1 / rate)}; };
    std::vector<double> rates;
    while (vivace.mode() == Vivace::Mode::Starting) rates.push_back(pass(full));
    const double expected[] = {10, 5, 2.5, 1.25, 0.625, 1.25};
    ASSERT_EQ(rates.size(), std::size(expected));
    for (std::size_t i = 0; i < rates.size(); ++i) EXPECT_NEAR(rates[i], expected[i], 1e-9);
    EXPECT_EQ(vivace.rate_mbps(), 0.625);
    vivace = make({});
    for (int i = 0; i < 3; ++i) pass(hopeless);  // 1.2, 0.6, 0.5
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
    EXPECT_EQ(vivace.rate_mbps(), 0.5);
}

TEST_F(VivaceTest, WaitsForResultsAtTheSameRateOrAtHalf) {
    EXPECT_NEAR(begin(), 1.2, 1e-9);
    EXPECT_NE(plan.tag, 0);
    EXPECT_NEAR(begin(), 1.2, 1e-9);
    EXPECT_EQ(plan.tag, 0);
    vivace = make({choose("start_wait", "half")});
    EXPECT_NEAR(begin(), 1.2, 1e-9);
    EXPECT_NEAR(begin(), 0.6, 1e-9);
}

TEST_F(VivaceTest, NothingIsLearnedBeforeThereIsARoundTripTime) {
    moment.srtt = Nanos(0);
    begin();
    EXPECT_EQ(plan.tag, 0);
    EXPECT_EQ(plan.length, 100_ms);
    EXPECT_EQ(window.cwnd_pkts, 10);  // the initial window
    moment.srtt = 50_ms;
    end();
    EXPECT_NEAR(begin(), 1.2, 1e-9);
    EXPECT_NE(plan.tag, 0);
    EXPECT_EQ(plan.length, 50_ms);
    EXPECT_EQ(plan.min_packets, 5u);
}

TEST_F(VivaceTest, ProbesInPairsAboveAndBelowInRandomOrder) {
    int up_first = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        vivace = make({}, seed);
        start_at(9.6);
        EXPECT_NEAR(begin(), 9.6, 1e-9);  // the queue of the previous interval drains
        EXPECT_EQ(plan.tag, 0);
        for (int pair = 0; pair < 2; ++pair) {
            const double first = begin();
            const double second = begin();
            EXPECT_NEAR(std::max(first, second), 1.05 * 9.6, 1e-9);
            EXPECT_NEAR(std::min(first, second), 0.95 * 9.6, 1e-9);
            up_first += first > second;
        }
        EXPECT_NEAR(begin(), 9.6, 1e-9);  // until the results arrive
        EXPECT_EQ(plan.tag, 0);
    }
    EXPECT_GT(up_first, 20);  // of 80: a fair coin falls below once in 10^6 tries
    EXPECT_LT(up_first, 60);
}

TEST_F(VivaceTest, StepsAlongTheGradientAndAmplifiesItWhileItHolds) {
    start_at(76.8);
    for (int i = 0; i < 5; ++i) pass(clean);
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Moving);
    // From the better probes on, along the mean of both pairs: (u(1.05 r) - u(0.95 r)) / (0.1 r) = 0.583; the bound is
    // 5 % of r, 3.84.
    const double r = 76.8;
    const double gradient = (Vivace::utility(1.05 * r, 0, 0) - Vivace::utility(0.95 * r, 0, 0)) / (0.1 * r);
    EXPECT_NEAR(vivace.rate_mbps(), 1.05 * r + gradient, 1e-6);  // times are in whole nanoseconds
    EXPECT_EQ(vivace.streak(), 1);
    // From now on one step per interval, with the slope between the last two and an amplifier of two, three and five.
    for (const double amplifier : {2.0, 3.0, 5.0}) {
        const double before = vivace.rate_mbps();
        pass(clean);
        const double step = vivace.rate_mbps() - before;
        const double marginal = 0.9 * std::pow(before, -0.1);
        EXPECT_NEAR(step, amplifier * marginal, 0.02 * amplifier);
    }
    EXPECT_EQ(vivace.bounds_met(), 0);
}

TEST_F(VivaceTest, AStepIsBoundedAndTheBoundWidensWhereItIsMet) {
    start_at(9.6);
    for (int i = 0; i < 5; ++i) pass(clean);
    EXPECT_NEAR(vivace.rate_mbps(), 1.05 * 1.05 * 9.6, 1e-9);  // the step of 0.72 Mbit/s exceeds 5 %
    EXPECT_EQ(vivace.bounds_met(), 1);
    pass(clean);
    // Twice 0.71 is less than 15 % of 10.58: the bound narrows again.
    EXPECT_LT(vivace.rate_mbps(), 1.15 * 10.58);
    EXPECT_EQ(vivace.bounds_met(), 0);
}

TEST_F(VivaceTest, AStepIsHalfAMegabitAtLeastButWithinItsBound) {
    // A loss slightly below break-even leaves a small gradient: 0.9 x^-0.1 - 11.35 * 0.05 = 0.016 at 76.8 Mbit/s.
    start_at(76.8);
    for (int i = 0; i < 5; ++i) pass([](double) { return Result{.loss = 0.05}; });
    EXPECT_NEAR(vivace.rate_mbps(), 1.05 * 76.8 + 0.5, 1e-9);
    vivace = make({});
    start_at(2.4);
    for (int i = 0; i < 5; ++i) pass([](double) { return Result{.loss = 0.07}; });
    EXPECT_NEAR(vivace.rate_mbps(), 1.05 * 1.05 * 2.4, 1e-9);
}

TEST_F(VivaceTest, PairsThatDisagreeAreProbedAgain) {
    start_at(9.6);
    pass(clean);
    int probes = 0;
    // In the first pair the higher rate is better, in the second the lower.
    for (; probes < 4; ++probes) pass([&](double rate) { return Result{.loss = probes >= 2 && rate > 9.6 ? 0.5 : 0}; });
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
    EXPECT_NEAR(vivace.rate_mbps(), 9.6, 1e-9);
    const double first = pass(clean);
    EXPECT_GT(std::abs(first - 9.6), 0.4);  // a probe, at once
}

TEST_F(VivaceTest, ThreePairsGoUpByMajorityAndDownByUnanimity) {
    for (const int worse_pairs : {1, 2, 3}) {
        vivace = make({choose("probing", "master")});
        start_at(9.6);
        pass(clean);
        for (int probe = 0; probe < 6; ++probe)
            pass([&](double rate) { return Result{.loss = probe < 2 * worse_pairs && rate > 9.6 ? 0.5 : 0}; });
        if (worse_pairs == 2) {
            EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
        } else {
            EXPECT_EQ(vivace.mode(), Vivace::Mode::Moving);
            EXPECT_EQ(vivace.rate_mbps() > 9.6, worse_pairs == 1);
        }
    }
}

TEST_F(VivaceTest, AStepThatDoesNotPayIsUndone) {
    start_at(9.6);
    for (int i = 0; i < 5; ++i) pass(clean);
    EXPECT_GT(vivace.rate_mbps(), 1.05 * 9.6);
    pass(hopeless);
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
    EXPECT_NEAR(vivace.rate_mbps(), 1.05 * 9.6, 1e-9);  // the better probe
    EXPECT_NEAR(sent_mbps(), 1.05 * 9.6, 1e-9);
}

TEST_F(VivaceTest, StepsThatAreUndoneAgainAndAgainBecomeSmall) {
    start_at(2.4);
    const Network wall = [](double rate) { return Result{.loss = rate > 1.051 * 2.4 ? 0.5 : 0}; };
    double largest = 0;
    for (int i = 0; i < 300; ++i) largest = std::max(largest, pass(wall));
    // 5 %, 15 %, 25 % above the capacity, and then 5 % again
    EXPECT_LT(largest, 1.36 * 1.051 * 2.4);
    EXPECT_LE(vivace.bounds_met(), 3);
}

TEST_F(VivaceTest, AFlipOfDirectionStartsOverAndIsNotTrustedAtFirst) {
    start_at(76.8);
    for (int i = 0; i < 8; ++i) pass(clean);
    EXPECT_EQ(vivace.streak(), 4);
    EXPECT_EQ(vivace.swing_buffer(), 0);
    // The step is undone, an interval settles, four probes favour a lower rate.
    for (int i = 0; i < 6; ++i) pass([](double) { return Result{.loss = 0.2}; });
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Moving);
    EXPECT_EQ(vivace.streak(), 1);
    EXPECT_EQ(vivace.swing_buffer(), 1);
    pass([](double) { return Result{.loss = 0.2}; });
    EXPECT_EQ(vivace.streak(), 1);  // the second change in the same direction only empties the buffer
    EXPECT_EQ(vivace.swing_buffer(), 0);
    pass([](double) { return Result{.loss = 0.2}; });
    EXPECT_EQ(vivace.streak(), 2);
}

TEST_F(VivaceTest, IntervalsThatSayNothingAreIgnored) {
    start_at(9.6);
    pass(clean);
    for (int probe = 0; probe < 3; ++probe) pass(clean);
    begin();
    record.is_app_limited = true;
    EXPECT_EQ(end(), NextInterval::InTurn);
    EXPECT_FALSE(std::isnan(record.utility));
    // Four other intervals are needed.
    for (int probe = 0; probe < 3; ++probe) pass(clean);
    begin();
    record.end = record.begin + (record.end - record.begin) * 2;  // half the rate: the sender was held back
    EXPECT_EQ(end(), NextInterval::InTurn);
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
    for (int probe = 0; probe < 4; ++probe) pass(clean);
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Moving);
}

TEST_F(VivaceTest, SilenceIsALossOfEverything) {
    start_at(9.6);
    pass(clean);
    for (int probe = 0; probe < 4; ++probe) {
        begin();
        record.delivered_pkts = 0;
        record.lost_pkts = 100;
        record.rtt_gradient = kNaN;
        record.end = record.begin + (record.end - record.begin) * 3;  // the window was full
        end();
        EXPECT_NEAR(record.utility, Vivace::utility(record.send_rate_pps() * 0.012, 1, 0), 1e-9);
    }
    EXPECT_LT(vivace.rate_mbps(), 9.6);
}

TEST_F(VivaceTest, GradientsThatAreNoiseOrFallCountAsNil) {
    const auto utility_of = [&](double gradient, double error) {
        begin();
        record.rtt_gradient = gradient;
        record.rtt_gradient_error = error;
        end();
        return record.utility - Vivace::utility(record.send_rate_pps() * 0.012, 0, 0);
    };
    EXPECT_NEAR(utility_of(0.009, 0), 0, 1e-9);  // below the floor of 1 %
    EXPECT_LT(utility_of(0.011, 0), -1);
    EXPECT_NEAR(utility_of(0.1, 0.2), 0, 1e-9);  // within its error
    EXPECT_NEAR(utility_of(-0.5, 0), 0, 1e-9);
    EXPECT_NEAR(utility_of(kNaN, kNaN), 0, 1e-9);
    vivace = make({{"falling_rtt", true}});
    EXPECT_GT(utility_of(-0.5, 0), 1);
    vivace = make({{"noise_floor", 0.0}});
    EXPECT_LT(utility_of(0.009, 0), -1);
    vivace = make({choose("utility", "loss")});
    EXPECT_NEAR(utility_of(0.5, 0), 0, 1e-9);
}

TEST_F(VivaceTest, TheRateKeepsTwoPacketsPerRoundTripAndHalfAMegabit) {
    for (int i = 0; i < 400; ++i) pass(hopeless);
    EXPECT_NEAR(vivace.rate_mbps(), 0.5, 0.06);  // probes go below by 5 %
    moment.srtt = 10_ms;                         // 200 packets/s
    begin();
    EXPECT_NEAR(vivace.rate_mbps(), 2.4, 1e-9);
}

TEST_F(VivaceTest, TheWindowIsACapThatEveryAcknowledgementRestores) {
    start_at(9.6);
    begin();
    EXPECT_NEAR(window.cwnd_pkts, 2.5 * 800 * 0.05, 1e-9);
    window.cwnd_pkts = 1;  // a timeout
    AckSample ack;
    ack.srtt = 60_ms;
    vivace.on_every_ack(window, ack, {});
    EXPECT_NEAR(window.cwnd_pkts, 2.5 * 800 * 0.06, 1e-9);
    ack.srtt = 10_us;
    vivace.on_every_ack(window, ack, {});
    EXPECT_EQ(window.cwnd_pkts, 4);
}

TEST_F(VivaceTest, ATimeoutGivesUpWhatIsBeingTried) {
    start_at(9.6);
    for (int i = 0; i < 3; ++i) pass(clean);
    const IntervalRecord late = [&] {
        begin();
        return record;
    }();
    vivace.on_congestion_event(window, {.kind = CongestionKind::Timeout}, {});
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
    record = late;
    EXPECT_EQ(end(), NextInterval::InTurn);  // its result comes too late
    pass(clean);                             // settles
    for (int probe = 0; probe < 4; ++probe) {
        EXPECT_EQ(vivace.mode(), Vivace::Mode::Probing);
        pass(clean);
    }
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Moving);
    // A loss reported by acknowledgements changes nothing immediately.
    const double rate = vivace.rate_mbps();
    vivace.on_congestion_event(window, {.kind = CongestionKind::FastRetransmit}, {});
    EXPECT_EQ(vivace.mode(), Vivace::Mode::Moving);
    EXPECT_EQ(vivace.rate_mbps(), rate);
}

TEST_F(VivaceTest, EveryChangeHasARuleAndItsNumbers) {
    Reason why;
    moment.why = &why;
    start_at(76.8);
    EXPECT_EQ(why.rule, &Vivace::kEndOfDoubling);
    EXPECT_EQ(why.numbers[4], 76.8);
    for (int i = 0; i < 4; ++i) pass(clean);
    begin();
    EXPECT_EQ(why.rule, &Vivace::kInterval);
    EXPECT_NEAR(why.numbers[1], sent_mbps(), 1e-9);
    EXPECT_EQ(why.numbers[2], 1);
    end();
    ASSERT_EQ(why.rule, &Vivace::kStep);
    const double before = vivace.rate_mbps() - why.numbers[7];
    EXPECT_NEAR(before, 1.05 * 76.8, 1e-9);
    EXPECT_NEAR(why.numbers[7], why.numbers[0] * why.numbers[2], 1e-9);  // gradient times amplifier, within the bound
    EXPECT_LT(why.numbers[7], why.numbers[3] * before);
    pass(hopeless);
    EXPECT_EQ(why.rule, &Vivace::kUndoneStep);
    EXPECT_LT(why.numbers[0], why.numbers[1]);
    pass(clean);
    int probe = 0;
    for (; probe < 4; ++probe) pass([&](double rate) { return Result{.loss = probe >= 2 && rate > 76.8 ? 0.5 : 0}; });
    EXPECT_EQ(why.rule, &Vivace::kUndecided);
    EXPECT_LT(why.numbers[1] * why.numbers[2], 0);
    begin();
    record.is_app_limited = true;
    end();
    EXPECT_EQ(why.rule, &Vivace::kIgnored);
}

TEST(VivaceOptions, UncoupledTakesThemForItsBase) {
    const Controller made = make_controller(
        {"uncoupled", {{"base", std::string("vivace")}, {"utility", std::string("loss")}, {"bound_step", 0.05}}});
    EXPECT_TRUE(std::holds_alternative<Vivace>(made));
    EXPECT_TRUE(monitors_intervals(made));
    EXPECT_FALSE(monitors_intervals(make_controller({"bbr", {}})));
}

}  // namespace
}  // namespace subflow

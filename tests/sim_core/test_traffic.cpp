// Sources of datagrams and arrivals of flows: exact times, and means against the laws of the distributions.
#include "traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "network.h"
#include "rng.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

// 12 Mbit/s of 1500 bytes: a packet per millisecond.
DatagramSpec packet_per_ms(Nanos mean_on = Nanos(0), Nanos mean_off = Nanos(0)) {
    DatagramSpec spec;
    spec.rate = 12_Mbps;
    spec.mean_on = mean_on;
    spec.mean_off = mean_off;
    return spec;
}

std::vector<Nanos> times_until(DatagramSource& source, Nanos end) {
    std::vector<Nanos> times;
    while (source.wake_at() < end) {
        const Nanos at = source.wake_at();
        if (source.wake()) times.push_back(at);
    }
    return times;
}

FlowSpec& add_datagrams(Scenario& scenario, const PathSpec& path, FlowKind kind, const DatagramSpec& spec,
                        const std::string& name) {
    FlowSpec flow;
    flow.name = name;
    flow.kind = kind;
    flow.paths = {path};
    flow.datagrams = spec;
    scenario.flows.push_back(flow);
    return scenario.flows.back();
}

TEST(UnitExponential, IsTheLogarithmOfItsUniform) {
    EXPECT_EQ(unit_exponential(~std::uint64_t{0}), 0);                         // u = 1
    EXPECT_EQ(unit_exponential((std::uint64_t{1} << 63) - 1), std::log(2.0));  // u = 1/2: nothing is rounded
    EXPECT_DOUBLE_EQ(unit_exponential(0), 53 * std::log(2.0));                 // u = 2^-53
    double sum = 0;
    double squares = 0;
    constexpr int kDraws = 1'000'000;
    for (std::uint64_t i = 0; i < kDraws; ++i) {
        const std::uint64_t bits = mix64(i);
        const double x = unit_exponential(bits);
        const double u = static_cast<double>((bits >> 11) + 1) * 0x1p-53;
        ASSERT_NEAR(x, -std::log(u), 4e-16 * std::max(1.0, x));
        sum += x;
        squares += x * x;
    }
    // Mean 1 with a standard error of 1/sqrt(10^6) = 0.001; E[x^2] = 2 with one of sqrt(24 - 4)/1000 = 0.0045.
    EXPECT_NEAR(sum / kDraws, 1, 0.004);
    EXPECT_NEAR(squares / kDraws, 2, 0.018);
}

TEST(DatagramSource, ABurstHasItsPacketsAtExactDistances) {
    DatagramSource source(FlowKind::OnOff, packet_per_ms(50_ms, 100_ms), 1, "bursts");
    source.start(3_s);
    const std::vector<Nanos> times = times_until(source, 6003_s);
    EXPECT_EQ(times.front(), 3_s);  // on from the start
    std::size_t interrupted = 0;
    double silent_s = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
        const Nanos gap = times[i] - times[i - 1];
        ASSERT_GE(gap, 1_ms);
        if (gap == 1_ms) continue;
        ++interrupted;
        silent_s += to_seconds(gap - 1_ms);
    }
    // On for 1/3 of the time: 2 million packets. Renewal theory: the standard deviation of that share over T = 6000 s
    // is sqrt(2 on^2 off^2 / ((on + off)^3 T)) = 0.0016, 0.5 % of it; four of them are allowed.
    const auto packets = static_cast<double>(times.size());
    EXPECT_NEAR(packets, 2e6, 0.02 * 2e6);
    // A burst ends within a given on-millisecond with probability 1 - exp(-1/50) = 1.98 %: 39 600 gaps +- 0.5 %, each
    // with 1.01 silences on average, of 100 ms each.
    EXPECT_NEAR(static_cast<double>(interrupted) / packets, 1 - std::exp(-1.0 / 50), 0.0198 * 0.02);
    EXPECT_NEAR(silent_s, 4000, 80);
}

TEST(DatagramSource, BurstsShorterThanAPacketDoNotChangeTheMeanRate) {
    DatagramSource source(FlowKind::OnOff, packet_per_ms(100_us, 200_us), 1, "flicker");
    source.start(0_s);
    // A third of 1000 packets a second in 300 s; the share of on-time has a deviation of 0.03 % here.
    EXPECT_NEAR(static_cast<double>(times_until(source, 300_s).size()), 100'000, 200);
}

TEST(DatagramSource, PoissonPacketsHaveExponentialGapsWithTheMeanOfTheRate) {
    DatagramSpec spec = packet_per_ms();
    spec.spacing = Spacing::Poisson;
    DatagramSource source(FlowKind::Cbr, spec, 1, "noise");
    source.start(0_s);
    const std::vector<Nanos> times = times_until(source, 1000_s);
    // A Poisson count of mean 10^6 has a deviation of 1000. Gaps: mean square 2 (1 ms)^2 +- 0.45 %, and a share of
    // exp(-1) = 36.8 % +- 0.05 % longer than the mean.
    EXPECT_NEAR(static_cast<double>(times.size()), 1e6, 4e3);
    double squares = 0;
    double longer = 0;
    for (std::size_t i = 1; i < times.size(); ++i) {
        const double gap_ms = to_seconds(times[i] - times[i - 1]) * 1e3;
        squares += gap_ms * gap_ms;
        longer += gap_ms > 1 ? 1 : 0;
    }
    EXPECT_NEAR(squares / static_cast<double>(times.size()), 2, 0.04);
    EXPECT_NEAR(longer / static_cast<double>(times.size()), std::exp(-1.0), 0.002);
}

TEST(DatagramSource, StartingAnewCatchesUpOnNothingAndGoesOnDrawing) {
    DatagramSource source(FlowKind::OnOff, packet_per_ms(50_ms, 100_ms), 1, "bursts");
    source.start(0_s);
    const std::vector<Nanos> first = times_until(source, 10_s);
    source.stop();
    EXPECT_EQ(source.wake_at(), kNever);
    source.start(20_s);
    std::vector<Nanos> second = times_until(source, 30_s);
    EXPECT_EQ(second.front(), 20_s);
    for (Nanos& time : second) time -= 20_s;
    EXPECT_NE(first, second);
    EXPECT_EQ(source.sent(), first.size() + second.size());
}

// M/D/1 (Pollaczek-Khinchine with constant service): Poisson arrivals at load rho wait rho / (2 (1 - rho)) service
// times on average.
TEST(Network, PoissonPacketsWaitAsLongAsTheMD1FormulaSays) {
    for (const double rho : {0.3, 0.5, 0.7, 0.9}) {
        Scenario scenario = textbook(4000_s, 100_s);
        LinkSpec link;
        link.name = "link/forward";
        link.rate = 12_Mbps;  // 1 ms per packet
        scenario.links.push_back(link);
        DatagramSpec spec;
        spec.rate = BitsPerSec(rho * 12e6);
        spec.spacing = Spacing::Poisson;
        add_datagrams(scenario, {{0}, {}}, FlowKind::Cbr, spec, "poisson");
        Network network(scenario, 1);
        network.run_until(scenario.duration);
        const LinkResult result = network.link_result(0);
        // 3.9 million service times: the count of packets varies by 0.1 %.
        EXPECT_NEAR(result.utilisation, rho, 0.004 * rho);
        // Little: a mean number N in the system, at u = lambda * service, is a mean stay of N / u service times,
        // including the service itself.
        const double wait = result.mean_queue_pkts / result.utilisation - 1;
        const double expected = rho / (2 * (1 - rho));
        EXPECT_NEAR(wait, expected, 0.05 * expected) << "load " << rho;
    }
}

TEST(Network, AnOnOffFlowSendsWhatItsSourceSays) {
    Scenario scenario = textbook(60_s);
    const DatagramSpec spec = packet_per_ms(300_ms, 700_ms);
    // Faster than the flow and lossless: all packets arrive, 50 ms later.
    FlowSpec& flow = add_datagrams(scenario, add_path(scenario, {.rate = 100_Mbps}), FlowKind::OnOff, spec, "bursts");
    flow.start = 5_s;
    flow.stop = 50_s;
    Network network(scenario, 7);
    network.run_until(scenario.duration);
    DatagramSource source(FlowKind::OnOff, spec, 7, "bursts");
    source.start(5_s);
    const auto packets = static_cast<std::int64_t>(times_until(source, 50_s).size());
    EXPECT_EQ(network.packets_delivered(), packets);
    EXPECT_EQ(network.connections()[0].delivered_bytes, packets * 1472);
    EXPECT_DOUBLE_EQ(network.flow_result(0).active_s, 45);
    EXPECT_EQ(network.flow_result(0).loss_ratio, 0);
}

TEST(Network, AnotherFlowDoesNotChangeWhenAnOnOffFlowSends) {
    Scenario alone = textbook(20_s);
    add_datagrams(alone, add_path(alone), FlowKind::OnOff, packet_per_ms(300_ms, 700_ms), "bursts");
    Scenario with_another = alone;
    const PathSpec elsewhere = add_path(with_another);
    with_another.flows.insert(with_another.flows.begin(), FlowSpec(with_another.flows[0]));
    with_another.flows[0].name = "another";
    with_another.flows[0].paths = {elsewhere};
    Network a(alone, 1);
    Network b(with_another, 1);
    for (Nanos t = 100_ms; t <= 20_s; t += 100_ms) {
        a.run_until(t);
        b.run_until(t);
        ASSERT_EQ(a.connections()[0].delivered_bytes, b.connections()[1].delivered_bytes);
    }
    EXPECT_NE(b.connections()[0].delivered_bytes, b.connections()[1].delivered_bytes);
}

TEST(Network, AFlowLivesAsLongAsItSaysWhateverItsStartJitter) {
    Scenario scenario = textbook(10_s);
    scenario.start_jitter = 1_s;
    const PathSpec path = add_path(scenario, {.rate = 100_Mbps});
    for (int i = 0; i < 8; ++i) {
        FlowSpec& flow = add_datagrams(scenario, path, FlowKind::Cbr, packet_per_ms(), "cbr" + std::to_string(i));
        flow.start = 2_s;
        flow.lifetime = 3_s;
    }
    scenario.flows[7].stop = 4_s;  // the earlier of the two ends counts
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_NEAR(network.flow_result(i).active_s, 3, 1e-9);
        EXPECT_EQ(network.connections()[i].delivered_bytes, 3000 * 1472);
    }
    EXPECT_NEAR(network.flow_result(7).active_s, 4 - to_seconds(network.connections()[7].started_at), 1e-9);
}

TEST(Network, AStoppedFlowIsActiveUntilWhatItSentHasArrived) {
    Scenario scenario = textbook(20_s, 1_s);
    // 10 Mbit/s, 50 ms one way: a window of 10 packets leaves at the start, and no packet after the stop a moment
    // later.
    FlowSpec& brief = add_tcp(scenario, add_path(scenario), "brief");
    brief.start = 2_s;
    brief.lifetime = 1_us;
    add_tcp(scenario, add_path(scenario), "long").lifetime = 11_s;
    FlowSpec& sized = add_tcp(scenario, add_path(scenario), "sized");
    sized.size = 14480_B;
    add_tcp(scenario, add_path(scenario), "late").start = 30_s;
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    // The tenth packet is sent 12 ms after the start and arrives 50 ms later.
    EXPECT_DOUBLE_EQ(network.flow_result(0).active_s, 0.062);
    EXPECT_DOUBLE_EQ(network.flow_result(0).active_goodput_bps, 14480 * 8 / 0.062);
    EXPECT_TRUE(std::isnan(network.flow_result(0).completion_s));
    // The warm-up is not measured; packets in flight at the stop take a round trip of up to 200 ms.
    EXPECT_GT(network.flow_result(1).active_s, 10);
    EXPECT_LT(network.flow_result(1).active_s, 10.2);
    EXPECT_EQ(network.flow_result(2).active_s, 0);  // ended within the warm-up
    EXPECT_EQ(network.flow_result(2).active_goodput_bps, 0);
    EXPECT_DOUBLE_EQ(network.flow_result(2).completion_s, 0.062);
    EXPECT_TRUE(std::isnan(network.flow_result(3).start_s));
    EXPECT_EQ(network.flow_result(3).active_s, 0);
}

TEST(PoissonArrivals, ComeAtTheRateAndLiveAsLongAsTheirMeansSay) {
    ArrivalSpec spec;
    spec.mean_gap = 10_ms;
    spec.from = 5_s;
    spec.until = 1005_s;
    spec.lifetime = 30_ms;
    spec.is_lifetime_exponential = true;
    const std::vector<Arrival> arrivals = poisson_arrivals(spec, 1, "download");
    // 100 000 +- 316 arrivals, uniform in time; mean lifetime 30 ms +- 0.1 ms.
    EXPECT_NEAR(static_cast<double>(arrivals.size()), 100'000, 4 * 316);
    EXPECT_TRUE(std::ranges::is_sorted(arrivals, {}, &Arrival::at));
    EXPECT_GE(arrivals.front().at, 5_s);
    EXPECT_LT(arrivals.back().at, 1005_s);
    double lifetimes_s = 0;
    double times_s = 0;
    for (const Arrival& arrival : arrivals) {
        lifetimes_s += to_seconds(arrival.lifetime);
        times_s += to_seconds(arrival.at);
    }
    const auto count = static_cast<double>(arrivals.size());
    EXPECT_NEAR(lifetimes_s / count, 0.03, 4e-4);
    EXPECT_NEAR(times_s / count, 505, 4 * 1000 / std::sqrt(12 * count));
}

TEST(PoissonArrivals, TheFirstOnesDoNotDependOnHowManyFollow) {
    ArrivalSpec spec;
    spec.mean_gap = 10_s;
    spec.until = 1000_s;
    spec.lifetime = 30_s;
    const std::vector<Arrival> all = poisson_arrivals(spec, 1, "download");
    spec.limit = 5;
    const std::vector<Arrival> five = poisson_arrivals(spec, 1, "download");
    spec.until = kNever;
    const std::vector<Arrival> five_without_end = poisson_arrivals(spec, 1, "download");
    ASSERT_EQ(five.size(), 5u);
    ASSERT_EQ(five_without_end.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(five[i].at, all[i].at);
        EXPECT_EQ(five_without_end[i].at, all[i].at);
        EXPECT_EQ(five[i].lifetime, 30_s);
    }
    EXPECT_NE(poisson_arrivals(spec, 1, "upload")[0].at, five[0].at);
    EXPECT_NE(poisson_arrivals(spec, 2, "download")[0].at, five[0].at);
}

TEST(PoissonArrivals, RefuseWhatWouldNeverEnd) {
    ArrivalSpec spec;
    spec.mean_gap = 1_s;
    EXPECT_THROW(poisson_arrivals(spec, 1, "endless"), ScenarioError);
    spec.limit = 1;
    spec.mean_gap = Nanos(0);
    EXPECT_THROW(poisson_arrivals(spec, 1, "all at once"), ScenarioError);
}

TEST(Outages, LastAndComeAsTheirMeansSay) {
    const std::vector<Pause> outages = random_outages("wifi", 1, 2_s, 500_ms, 50'000_s);
    // One per 2.5 s; the count of renewals has a variance of n (2^2 + 0.5^2) / 2.5^2 = 0.68 n: four deviations
    const auto count = static_cast<double>(outages.size());
    EXPECT_NEAR(count, 20'000, 4 * std::sqrt(0.68 * 20'000));
    double down = 0;
    for (const Pause& outage : outages) down += to_seconds(outage.to - outage.from);
    EXPECT_NEAR(down / count, 0.5, 4 * 0.5 / std::sqrt(count));
    EXPECT_NE(outages.front().from, random_outages("wifi", 2, 2_s, 500_ms, 50'000_s).front().from);
    EXPECT_EQ(outages.front().from, random_outages("wifi", 1, 2_s, 100_ms, 100_s).front().from);
}

}  // namespace
}  // namespace subflow

// Radio links against independent models: Bianchi's fixed point, the anomaly of 802.11, geometric series.
#include <gtest/gtest.h>

#include <cmath>

#include "link_driver.h"
#include "network.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;
using Arrivals = std::vector<std::pair<std::uint32_t, std::int64_t>>;

// --- repetition below the transport ----------------------------------------------------------------------------------

TEST(Retransmission, DelaysByAGeometricSeriesAndLosesWhatNoAttemptBrings) {
    LinkSpec spec = link_spec(10_ms);
    spec.rate = kUnlimitedRate;
    spec.reorder = true;
    spec.retransmission = RetransmissionOptions{.loss = 0.3, .delay = 8_ms, .attempts = 3};
    LinkDriver driver(spec);
    constexpr std::uint32_t kPackets = 60'000;
    for (std::uint32_t i = 0; i < kPackets; ++i) driver.offer(packet(i), 1_ms * i, mix64(i));
    driver.run_until(1000_s);
    std::array<int, 4> late{};
    for (const Delivery& d : driver.arrived)
        ++late[static_cast<std::size_t>((d.at - 10_ms - 1_ms * d.packet.seq) / 8_ms)];
    // Four standard errors of a share p: 4 sqrt(p (1 - p) / 60000)
    EXPECT_NEAR(late[0] / 60'000.0, 0.7, 0.0075);
    EXPECT_NEAR(late[1] / 60'000.0, 0.21, 0.0067);
    EXPECT_NEAR(late[2] / 60'000.0, 0.063, 0.004);
    EXPECT_EQ(late[3], 0);
    EXPECT_NEAR(static_cast<double>(driver.link().stats().drops_random) / 60'000, 0.027, 0.0027);
}

// --- pauses ----------------------------------------------------------------------------------------------------------

TEST(Pauses, WhatIsBeingSentGoesOnAfterwards) {
    LinkSpec spec = link_spec();  // a packet takes a millisecond
    spec.pauses = {{Nanos(1'500'000), 4_ms}, {5_ms, 6_ms}};
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 4; ++i) driver.offer(packet(i), 0_ms);
    driver.run_until(1_s);
    // At 4 ms the second has half a millisecond left, at 5 ms the third.
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 1000}, {1, 4500}, {2, 6500}, {3, 7500}}));
    EXPECT_EQ(driver.link().stats().drops_down, 0);
}

TEST(Pauses, HoldTokensGrantsRecordingsAndPureDelaysBack) {
    LinkSpec bucket = link_spec();
    bucket.pauses = {{0_ms, 10_ms}};
    LinkSpec trace = bucket;
    LinkSpec grants = bucket;
    LinkSpec wire = bucket;
    bucket.bucket = TokenBucketOptions{.burst = Bytes(9000)};
    trace.opportunities_ms = {2, 7, 11};
    grants.grants = GrantOptions{.period = 4_ms};
    wire.rate = kUnlimitedRate;
    for (const auto& [spec, at] : {std::pair(bucket, 10_ms), {trace, 11_ms}, {grants, 12_ms}, {wire, 10_ms}}) {
        LinkDriver driver(spec);
        driver.offer(packet(0), 1_ms);
        driver.run_until(1_s);
        ASSERT_EQ(driver.arrived.size(), 1u);
        EXPECT_EQ(driver.arrived.front().at, at);
    }
}

// --- grants ----------------------------------------------------------------------------------------------------------

TEST(Grants, CarryWhatTheRateMakesInAPeriod) {
    LinkSpec spec = link_spec();  // 1000 bytes per millisecond: 2500 per grant
    spec.grants = GrantOptions{.period = Nanos(2'500'000)};
    LinkDriver driver(spec);
    for (std::uint32_t i = 0; i < 6; ++i) driver.offer(packet(i), 0_ms);
    driver.run_until(1_s);
    EXPECT_EQ(driver.arrivals_us(), (Arrivals{{0, 2500}, {1, 2500}, {2, 5000}, {3, 5000}, {4, 5000}, {5, 7500}}));
}

TEST(Grants, ALonelyPacketWaitsHalfAPeriodOnAverage) {
    LinkSpec spec = link_spec();
    spec.rate = 80_Mbps;
    spec.grants = GrantOptions{.period = 10_ms, .jitter = 4_ms};
    LinkDriver driver(spec);
    PoissonTimes times(100_ms, 3);
    double waited = 0;
    constexpr std::uint32_t kPackets = 20'000;
    std::vector<Nanos> sent;
    for (std::uint32_t i = 0; i < kPackets; ++i) {
        sent.push_back(times.next());
        driver.offer(packet(i), sent.back());
    }
    driver.run_until(10'000_s);
    for (const Delivery& d : driver.arrived) waited += to_seconds(d.at - sent[d.packet.seq]);
    // The gaps g between grants are 10 ms and the difference of two uniform draws: the mean wait is E[g^2] / (2 E[g]),
    // (100 + 4^2 / 6) / 20 = 5.133 ms. Its deviation of about 3 ms gives 0.021 ms for a mean; four of them.
    EXPECT_NEAR(waited / kPackets * 1e3, 5.133, 0.09);
}

// --- media -----------------------------------------------------------------------------------------------------------

// `rates.size()` saturated senders, each with a separate link at one medium.
Scenario saturated(const std::vector<double>& rates_mbps, const AccessOptions& access) {
    Scenario scenario = textbook(20_s);
    for (std::size_t i = 0; i < rates_mbps.size(); ++i) {
        // WORKAROUND(g++ 12): https://gcc.gnu.org/bugzilla/show_bug.cgi?id=105651, the sum of a literal and a temporary
        // string inserts at its front, which the compiler takes for a copy of more than half the memory.
        const std::string number = std::to_string(i);
        LinkSpec link;
        link.name = "s" + number + "/forward";
        link.rate = BitsPerSec(rates_mbps[i] * 1e6);
        link.queue_limit_pkts = 100;
        link.access = access;
        scenario.links.push_back(link);
        FlowSpec flow;
        flow.name = "f" + number;
        flow.kind = FlowKind::Cbr;
        flow.datagrams.rate = link.rate;
        flow.paths.push_back(
            {.forward = {static_cast<std::uint32_t>(i)}, .reverse = {static_cast<std::uint32_t>(rates_mbps.size())}});
        scenario.flows.push_back(flow);
    }
    scenario.links.push_back(link_spec());  // an unused reverse link
    return scenario;
}

struct Bianchi {
    double attempt = 0;    // probability that a station sends in a slot
    double collision = 0;  // probability that a transmission collides
};

// Bianchi 2000, equations (7) and (9), with windows of W slots that double m times, by bisection.
Bianchi bianchi(int stations, double window, int doublings) {
    double low = 0;
    double high = 1;
    Bianchi found;
    for (int i = 0; i < 100; ++i) {
        const double p = (low + high) / 2;
        const double tau =
            2 * (1 - 2 * p) / ((1 - 2 * p) * (window + 1) + p * window * (1 - std::pow(2 * p, doublings)));
        found = {tau, p};
        (1 - std::pow(1 - tau, stations - 1) > p ? low : high) = p;
    }
    return found;
}

TEST(Medium, CollidesAsOftenAsBianchiSays) {
    for (const int stations : {2, 5, 10, 20}) {
        const AccessOptions access{.overhead = 100_us, .window_min = 31, .window_max = 1023};
        const Scenario scenario = saturated(std::vector(static_cast<std::size_t>(stations), 54.0), access);
        Network network(scenario, 1);
        network.run_until(scenario.duration);
        const Medium& medium = network.media().front();
        const Bianchi model = bianchi(stations, 32, 5);
        const double share = static_cast<double>(medium.collided_attempts()) / static_cast<double>(medium.attempts());
        // The model treats the stations as independent of each other: 3 % of the figure, plus the statistical error
        EXPECT_NEAR(share, model.collision, 0.03 * model.collision + 0.004) << stations;
        // Throughput, equation (13): packets per mean slot
        const double busy = 1 - std::pow(1 - model.attempt, stations);
        const double success = stations * model.attempt * std::pow(1 - model.attempt, stations - 1);
        const double airtime = 100e-6 + 1500 * 8 / 54e6 + to_seconds(kDifs);
        const double slot = (1 - busy) * to_seconds(kSlot) + busy * airtime;
        double arrived = 0;
        for (const Link& link : network.links()) arrived += static_cast<double>(link.stats().packets_out);
        EXPECT_NEAR(arrived / 20, success / slot, 0.02 * success / slot) << stations;
    }
}

// Two saturated stations that do not hear each other, with constant windows: each idles for a DIFS and 0 to w slots,
// then sends. A frame is received if the other station is idle at its start and stays idle: by renewal theory with
// probability E[(I - T)+] / E[I + T] of idle times I and sending times T.
TEST(Medium, StationsThatDoNotHearEachOtherLoseWhatOverlaps) {
    for (const std::uint32_t window : {127u, 255u, 1023u}) {
        const AccessOptions access{.overhead = 100_us, .window_min = window, .window_max = window};
        Scenario scenario = saturated({54, 54}, access);
        scenario.links[0].access->group = 1;
        scenario.links[1].access->group = 2;
        Network network(scenario, 1);
        network.run_until(scenario.duration);
        const double sending = 100e-6 + 1500 * 8 / 54e6;
        double idle = 0;
        double beyond = 0;
        for (std::uint32_t slots = 0; slots <= window; ++slots) {
            const double each = to_seconds(kDifs) + slots * to_seconds(kSlot);
            idle += each / (window + 1);
            beyond += std::max(each - sending, 0.0) / (window + 1);
        }
        const double heard = beyond / (idle + sending);
        const Medium& medium = network.media().front();
        const auto attempts = static_cast<double>(medium.attempts());
        EXPECT_NEAR(attempts, 2 * 20 / (idle + sending), 0.02 * attempts) << window;
        // Collisions come in pairs or longer sequences: six standard errors of half as many draws
        const double error = std::sqrt(heard * (1 - heard) / (attempts / 2));
        EXPECT_NEAR(1 - static_cast<double>(medium.collided_attempts()) / attempts, heard, 6 * error + 0.005) << window;
    }
}

TEST(Medium, WhoHearsAllIsNeverMetByThoseWhoAreHiddenFromEachOther) {
    // A third station between the two, like an access point: both defer to it, and it defers to both. It gets the
    // capacity that they lose by collisions with each other.
    AccessOptions access{.overhead = 100_us, .window_min = 31, .window_max = 1023};
    Scenario scenario = saturated({54, 54, 54}, access);
    Network together(scenario, 1);
    together.run_until(scenario.duration);
    scenario.links[0].access->group = 1;
    scenario.links[1].access->group = 2;
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    const auto sent = [](const Network& of, std::size_t link) {
        return static_cast<double>(of.links()[link].stats().packets_out);
    };
    for (const std::size_t hidden : {0u, 1u}) {
        EXPECT_LT(sent(network, hidden), 0.7 * sent(together, hidden));
        EXPECT_GT(sent(network, 2), 2 * sent(network, hidden));
    }
    EXPECT_GT(sent(network, 2), 1.2 * sent(together, 2));

    // One group with all stations has no effect.
    for (std::size_t i = 0; i < 3; ++i) scenario.links[i].access->group = 7;
    Network grouped(scenario, 1);
    grouped.run_until(scenario.duration);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(sent(grouped, i), sent(together, i));
}

TEST(Medium, ASlowStationMakesAFastOneSlow) {
    // Heusse et al. 2003, "Performance anomaly of 802.11b": each station sends one packet per access, so that all have
    // the throughput of alternating slow and fast packets.
    const AccessOptions access{.overhead = 100_us};
    const Scenario scenario = saturated({54, 6}, access);
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    const auto fast = static_cast<double>(network.links()[0].stats().packets_out);
    const auto slow = static_cast<double>(network.links()[1].stats().packets_out);
    EXPECT_NEAR(fast / slow, 1, 0.05);
    // Bianchi's equation (13) with two stations of different packets: a collision takes as long as the slow packet.
    const double tau = bianchi(2, 16, 6).attempt;
    const double overhead = 100e-6 + to_seconds(kDifs);
    const double fast_s = 1500 * 8 / 54e6 + overhead;
    const double slow_s = 1500 * 8 / 6e6 + overhead;
    const double slot =
        (1 - tau) * (1 - tau) * to_seconds(kSlot) + tau * (1 - tau) * (fast_s + slow_s) + tau * tau * slow_s;
    const double expected = 20 * tau * (1 - tau) / slot;
    EXPECT_NEAR(fast, expected, 0.03 * expected);
    const Scenario alone = saturated({54}, access);
    Network other(alone, 1);
    other.run_until(alone.duration);
    EXPECT_GT(static_cast<double>(other.links()[0].stats().packets_out), 4 * fast);
}

TEST(Medium, AggregationSpreadsTheOverheadOverManyPackets) {
    // One station: DIFS, 7.5 slots on average, the overhead, and the packets.
    for (const std::uint32_t packets : {1u, 8u, 32u}) {
        const AccessOptions access{.aggregation = packets, .airtime = 5_ms, .overhead = 150_us};
        Scenario scenario = saturated({300}, access);
        Network network(scenario, 1);
        network.run_until(scenario.duration);
        const double each = 1500 * 8 / 300e6;
        const double expected = packets / (34e-6 + 7.5 * 9e-6 + 150e-6 + packets * each);
        EXPECT_NEAR(static_cast<double>(network.links()[0].stats().packets_out) / 20, expected, 0.02 * expected);
    }
}

TEST(Medium, NoPacketOfAnAccessBeginsAfterItsAirtime) {
    // At 6 Mbit/s a packet takes 2 ms: three of them begin within 5 ms.
    const AccessOptions access{.aggregation = 64, .airtime = 5_ms, .overhead = 100_us};
    Scenario scenario = saturated({6}, access);
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    const double expected = 3 / (34e-6 + 7.5 * 9e-6 + 100e-6 + 6e-3);
    EXPECT_NEAR(static_cast<double>(network.links()[0].stats().packets_out) / 20, expected, 0.01 * expected);
}

TEST(Medium, TurnsShareTheTimeEqually) {
    // Three terminals at 10, 20 and 60 Mbit/s, a millisecond each: each gets a third of its own rate.
    AccessOptions access{.kind = AccessKind::Turns, .aggregation = 1000, .airtime = 10_ms};
    Scenario scenario = saturated({10, 20, 60}, access);
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    for (std::size_t i = 0; i < 3; ++i) {
        const double alone = scenario.links[i].rate.value / 12'000;
        EXPECT_NEAR(static_cast<double>(network.links()[i].stats().packets_out) / 20, alone / 3, 0.05 * alone / 3) << i;
    }
}

TEST(Medium, AllThatShareOneGetAtItInTheSameWay) {
    Scenario scenario = saturated({10, 20, 60}, {.kind = AccessKind::Turns});
    EXPECT_NO_THROW(check_scenario(scenario));
    scenario.links[2].access->kind = AccessKind::Contention;
    EXPECT_THROW(check_scenario(scenario), ScenarioError);
    scenario.links[2].access->medium = 1;
    EXPECT_NO_THROW(check_scenario(scenario));
}

TEST(Medium, WithALonelyStationTurnsAreARate) {
    Scenario scenario = saturated({8}, {.kind = AccessKind::Turns});
    scenario.flows[0].datagrams.rate = 4_Mbps;
    Scenario plain = scenario;
    plain.links[0].access.reset();
    Network first(scenario, 1);
    Network second(plain, 1);
    first.run_until(scenario.duration);
    second.run_until(scenario.duration);
    EXPECT_EQ(first.signature(), second.signature());
}

}  // namespace
}  // namespace subflow

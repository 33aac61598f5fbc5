// BBR on simulated paths against claims of the papers, under textbook transport unless a test states another.
#include <gtest/gtest.h>

#include <cmath>

#include "scenarios.h"

namespace subflow {
namespace {

using namespace literals;
using testing::kPacketBits;
using testing::PathOptions;

constexpr double kPayloadShare = 1448.0 / 1500;

struct Path {
    double mbps = 10;
    Nanos rtt = 100_ms;
    std::int64_t queue_pkts = 84;
    double loss = 0;

    double rate_pps() const { return mbps * 1e6 / kPacketBits; }
    double bdp_pkts() const { return rate_pps() * to_seconds(rtt); }
    PathOptions options() const {
        return {.rate = BitsPerSec(mbps * 1e6), .one_way = rtt / 2, .queue_pkts = queue_pkts, .loss = loss};
    }
};

void PrintTo(const Path& path, std::ostream* out) {
    *out << path.mbps << " Mbit/s, " << to_seconds(path.rtt) << " s, " << path.queue_pkts << " packets, loss "
         << path.loss;
}

// With the allowance of the textbook profile: the derivations here assume an empty queue.
FlowSpec& add_bbr(Scenario& scenario, const PathSpec& path, const std::string& name = "bbr") {
    FlowSpec& flow = testing::add_tcp(scenario, path, name);
    flow.controller.name = "bbr";
    flow.controller.options = {{"quantization", std::string("fixed")}};
    return flow;
}

Scenario solo(const Path& path, Nanos duration, Nanos warmup = 5_s) {
    Scenario scenario = testing::textbook(duration, warmup);
    add_bbr(scenario, testing::add_path(scenario, path.options()));
    return scenario;
}

Bbr bbr_of(const Network& network, std::size_t subflow = 0) {
    return std::get<Bbr>(network.subflows()[subflow].sender.controller());
}

TEST(BbrNetwork, StartupDoublesWhatIsDeliveredPerRoundTrip) {
    // 100 Mbit/s, 100 ms: a BDP of 833. Packets delivered in successive round trips, from the initial ten on. Single
    // steps vary, because rate samples lag behind a rate that grows within the round trip; over six steps the growth is
    // a factor of 2 each, within a tenth.
    const Path path{.mbps = 100, .queue_pkts = 10'000};
    const Scenario scenario = solo(path, 2_s, 0_s);
    Network network(scenario, 1);
    network.run_until(50_ms);  // nothing has arrived yet
    std::vector<double> delivered;
    std::int64_t before = 0;
    for (int round = 1; round <= 7; ++round) {
        network.run_until(50_ms + path.rtt * round);
        delivered.push_back(static_cast<double>(network.packets_delivered() - before));
        before = network.packets_delivered();
    }
    EXPECT_EQ(delivered[0], 10);
    EXPECT_EQ(delivered[1], 20);
    for (std::size_t i = 1; i < delivered.size(); ++i) {
        EXPECT_GE(delivered[i], 1.5 * delivered[i - 1]) << i;
        EXPECT_LE(delivered[i], 2.3 * delivered[i - 1]) << i;
    }
    EXPECT_NEAR(std::pow(delivered[6] / delivered[0], 1.0 / 6), 2, 0.2);
}

class BbrPaths : public ::testing::TestWithParam<Path> {};

TEST_P(BbrPaths, ASoloFlowFillsThePipeWithHardlyAQueue) {
    // Cruising at 0.99 of the rate costs at most a hundredth, partly covered by the queue that probing leaves.
    // PROBE_RTT silences the sender for 200 ms and a round trip every ten seconds: 3 % at 100 ms.
    const Path path = GetParam();
    const Scenario scenario = solo(path, 65_s);
    Network network(scenario, 1);
    // The rate is that of the bottleneck and the RTT includes a transmission time; the estimated rate may exceed it by
    // one packet, the error of a round trip's count.
    const double rtt_s = to_seconds(path.rtt) + 1 / path.rate_pps();
    const double bdp = path.rate_pps() * rtt_s;
    double gain_sum = 0;
    double gain_count = 0;
    std::uint32_t max_pipe = 0;
    for (Nanos t = 5_s; t <= 65_s; t += 1_ms) {
        network.run_until(t);
        max_pipe = std::max(max_pipe, network.subflows()[0].sender.pipe());
        const Bbr& bbr = bbr_of(network);
        if (bbr.mode() != Bbr::Mode::ProbeBw) continue;
        gain_sum += bbr.pacing_gain();
        ++gain_count;
        ASSERT_NEAR(bbr.rate_pps(), path.rate_pps(), 0.01 * path.rate_pps() + 1 / rtt_s);
        ASSERT_NEAR(to_seconds(bbr.min_rtt()), rtt_s, 1e-6);
    }
    const LinkResult link = network.link_result(0);
    EXPECT_GE(link.utilisation, 0.95);
    EXPECT_LE(max_pipe, 2 * bdp + 3);
    // Probing adds a quarter of the BDP for a round trip, and the drain removes it in the next: 1/8 of the time each. A
    // triangle of 0.25 BDP in height over two of eight phases leaves 0.03 BDP; simultaneous packets add a little.
    EXPECT_LE(link.mean_queue_pkts, 0.06 * bdp + 1.5);
    EXPECT_EQ(link.drops_queue, 0);
    // 1.25, 0.75 and six times 1; a probe may last a little longer than a round trip, a drain a little shorter.
    EXPECT_NEAR(gain_sum / gain_count, 1, 0.01);
}

INSTANTIATE_TEST_SUITE_P(Solo, BbrPaths,
                         ::testing::Values(Path{}, Path{.rtt = 20_ms}, Path{.mbps = 100, .rtt = 10_ms},
                                           Path{.mbps = 100, .rtt = 40_ms, .queue_pkts = 333},
                                           Path{.mbps = 2, .rtt = 200_ms}));

TEST(BbrNetwork, ProbeRttComesOnceInTenSecondsAndCostsTwoPercent) {
    // A visit lasts until four packets are in flight, a round trip, and another 200 ms; at 20 ms that is 220 to 240 ms
    // in 10.23 s. The lost share is all but four packets per round trip of 16.7: 0.76 x 2.2 % = 1.7 %.
    const Path path{.rtt = 20_ms};
    const Scenario scenario = solo(path, 105_s);
    Network network(scenario, 1);
    int visits = 0;
    Nanos in_visits{};
    Nanos between_visits{};
    Nanos busy_between{};
    Nanos settled = kNever;  // after a visit
    Bbr::Mode before = Bbr::Mode::Startup;
    for (Nanos t = 5_s; t <= 105_s; t += 1_ms) {
        const Nanos busy = network.links()[0].busy_until(network.now());
        network.run_until(t);
        const Bbr::Mode mode = bbr_of(network).mode();
        visits += mode == Bbr::Mode::ProbeRtt && before != Bbr::Mode::ProbeRtt;
        if (mode == Bbr::Mode::ProbeRtt) {
            in_visits += 1_ms;
            settled = t + 1_s;
        } else if (t > settled) {
            between_visits += 1_ms;
            busy_between += network.links()[0].busy_until(network.now()) - busy;
        }
        before = mode;
    }
    // The first at 10 s, then each 10 s + 0.22 to 0.24 s: at 10, 20.2, ... 102.1 s.
    EXPECT_EQ(visits, 10);
    EXPECT_GE(in_visits, 220_ms * visits);
    EXPECT_LE(in_visits, 240_ms * visits);
    const double undisturbed = to_seconds(busy_between) / to_seconds(between_visits);
    EXPECT_GE(undisturbed, 0.985);
    EXPECT_LE(1 - network.link_result(0).utilisation / undisturbed, 0.02);
}

double goodput_share(const Scenario& scenario, const Path& path, std::uint64_t seed) {
    Network network(scenario, seed);
    network.run_until(scenario.duration);
    return network.subflow_result(0).goodput_bps / (path.mbps * 1e6 * kPayloadShare * (1 - path.loss));
}

class BbrLoss : public ::testing::TestWithParam<double> {};

TEST_P(BbrLoss, RandomLossUpToFivePercentLeavesNineTenths) {
    // Share of C (1 - p), in payload. Five seeds, textbook and Linux transport.
    const Path path{.loss = GetParam()};
    for (Scenario scenario : {testing::textbook(125_s, 5_s), testing::linux_profile(125_s, 5_s)}) {
        add_bbr(scenario, testing::add_path(scenario, path.options()));
        double mean = 0;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) mean += goodput_share(scenario, path, seed) / 5;
        EXPECT_GE(mean, 0.9);
        EXPECT_LE(mean, 1);
    }
}

INSTANTIATE_TEST_SUITE_P(Loss, BbrLoss, ::testing::Values(0.05));
INSTANTIATE_TEST_SUITE_P(Full, BbrLoss, ::testing::Values(0.001, 0.01, 0.02));

TEST(BbrNetwork, CollapsesWhereProbingNoLongerMakesUpForLoss) {
    // A probe at 1.25 x 0.99 of the estimate delivers 1.2375 (1 - p) of it: less than the estimate from p = 19.2 % on,
    // which then decays to nothing. Half of that loss has no such effect.
    const auto share = [](double loss) {
        const Path path{.loss = loss};
        return goodput_share(solo(path, 125_s, 25_s), path, 1);
    };
    EXPECT_GE(share(0.10), 0.8);
    EXPECT_LE(share(0.25), 0.2);
}

TEST(BbrNetwork, TwoFlowsInADeepBufferStandAProductInQueue) {
    // Each keeps the highest estimate of its share, so that together they offer more than the capacity and their
    // windows of two BDP become the limit: 2 BDP in flight, one of them in the queue. PROBE_RTT, which synchronises
    // them, empties it at times.
    const Path path{.queue_pkts = 1000};
    Scenario scenario = testing::textbook(120_s, 20_s);
    const PathSpec shared = testing::add_path(scenario, path.options());
    add_bbr(scenario, shared, "first");
    add_bbr(scenario, shared, "second").start = 370_ms;
    double queue = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Network network(scenario, seed);
        network.run_until(scenario.duration);
        queue += network.link_result(0).mean_queue_pkts / 5;
        EXPECT_GE(network.link_result(0).utilisation, 0.95);
        const double first = network.flow_result(0).goodput_bps;
        const double second = network.flow_result(1).goodput_bps;
        EXPECT_LE(std::max(first, second), 2 * std::min(first, second));
    }
    EXPECT_GE(queue, 0.7 * path.bdp_pkts());
    EXPECT_LE(queue, 1.3 * path.bdp_pkts());
}

TEST(BbrNetwork, FillsThePipeUnderLinuxTransportWithDelayedAcks) {
    for (const Path& path : {Path{}, Path{.rtt = 20_ms}, Path{.mbps = 50, .rtt = 20_ms}}) {
        Scenario scenario = testing::linux_profile(65_s, 5_s);
        add_bbr(scenario, testing::add_path(scenario, path.options()));
        Network network(scenario, 1);
        network.run_until(65_s);
        EXPECT_GE(network.link_result(0).utilisation, 0.95);
        EXPECT_LE(network.link_result(0).mean_queue_pkts, 0.06 * path.bdp_pkts() + 1.5);
    }
}

TEST(BbrNetwork, WithLinuxQuantaAShortQueueLastsAndTheLinkIsFull) {
    // 5 Mbit/s, 20 ms: a BDP of 417 packets/s x 22.4 ms = 9.3, plus three quanta of two packets, rounded to an even
    // number: 16. So 6.7 packets stay in the queue after probing and draining. Cruising at 0.99 drains 1 % of the BDP
    // per round trip, a tenth of a packet: the queue lasts until the next probe. Only PROBE_RTT costs capacity, half of
    // the link for 220 ms of 10.2 s, 1.1 %, and the refill afterwards. Without quanta the rate between probes is 0.99.
    // Linux 6.18 on this path: 98.7 % of the link and an RTT of 40.8 ms.
    const Path path{.mbps = 5, .rtt = 20_ms, .queue_pkts = 20};
    const auto run = [&](const char* quantization) {
        Scenario scenario = testing::linux_profile(65_s, 5_s);
        add_bbr(scenario, testing::add_path(scenario, path.options())).controller.options = {
            {"quantization", std::string(quantization)}};
        Network network(scenario, 1);
        network.run_until(65_s);
        return network.link_result(0);
    };
    const LinkResult with = run("linux");
    const LinkResult without = run("fixed");
    EXPECT_GE(with.utilisation, 0.983);
    EXPECT_GE(with.utilisation, without.utilisation + 0.008);
    EXPECT_NEAR(with.mean_queue_pkts, 6.7, 1.5);
    EXPECT_LE(without.mean_queue_pkts, 2.5);
    EXPECT_EQ(with.drops_queue, 0);
}

TEST(BbrNetwork, AReceiveWindowBelowTheProductIsFilled) {
    // 40 packets per round trip of 101.2 ms: 395 packets/s. The flow never finds the bottleneck, and does not need to.
    Scenario scenario = testing::textbook(65_s, 5_s);
    add_bbr(scenario, testing::add_path(scenario, Path{}.options())).recv_buffer = Bytes(40 * 1448);
    Network network(scenario, 1);
    network.run_until(65_s);
    const double expected_bps = 40 / 0.1012 * 1448 * 8;
    EXPECT_GE(network.subflow_result(0).goodput_bps, 0.95 * expected_bps);
    EXPECT_LE(network.subflow_result(0).goodput_bps, 1.0001 * expected_bps);
}

TEST(BbrNetwork, UncoupledSubflowsEachFillTheirPath) {
    // One instance per subflow: a fast near path and a slow far path with loss, both fully used.
    Scenario scenario = testing::linux_profile(65_s, 5_s);
    const Path near{.mbps = 20, .rtt = 20_ms};
    const Path far{.mbps = 5, .rtt = 120_ms, .loss = 0.01};
    FlowSpec& flow = testing::add_mptcp(
        scenario, {testing::add_path(scenario, near.options()), testing::add_path(scenario, far.options())},
        "uncoupled");
    flow.controller.options = {{"base", std::string("bbr")}};
    Network network(scenario, 1);
    network.run_until(65_s);
    EXPECT_GE(network.link_result(0).utilisation, 0.93);
    EXPECT_GE(network.link_result(2).utilisation, 0.9);
}

TEST(BbrNetwork, SubflowsDrawTheirOwnPhases) {
    // Twenty equal subflows on equal paths: with seven possible phases they do not all agree.
    Scenario scenario = testing::textbook(5_s);
    for (int i = 0; i < 20; ++i)
        add_bbr(scenario, testing::add_path(scenario, Path{}.options()), "flow" + std::to_string(i));
    const auto probing = [&](std::uint64_t seed) {
        Network network(scenario, seed);
        network.run_until(4_s);
        std::vector<bool> gains;
        for (std::size_t i = 0; i < 20; ++i) gains.push_back(bbr_of(network, i).pacing_gain() > 1);
        return gains;
    };
    const std::vector<bool> first = probing(1);
    EXPECT_NE(std::ranges::count(first, true), 20);
    EXPECT_NE(std::ranges::count(first, true), 0);
    EXPECT_EQ(first, probing(1));
    EXPECT_NE(first, probing(2));
}

}  // namespace
}  // namespace subflow

// One-way delay, jitter and reordering, against closed forms and against the record of packets.
#include "one_way_delay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "network.h"
#include "recorder.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

// --- the observer ----------------------------------------------------------------------------------------------------

struct Reordering {
    std::int64_t reordered;
    std::int64_t max_extent;
    bool operator==(const Reordering&) const = default;
};

Reordering reordering_of(const std::vector<std::uint32_t>& numbers) {
    OneWayDelay delays;
    for (std::size_t i = 0; i < numbers.size(); ++i)
        delays.on_arrival(numbers[i], Nanos(0), Nanos(static_cast<std::int64_t>(i)));
    return {delays.counters().reordered_pkts, delays.max_extent_pkts()};
}

TEST(OneWayDelay, TheExamplesOfRfc4737HaveTheirExtents) {
    // Sections 7.1 to 7.3, tables 1 to 3
    EXPECT_EQ(reordering_of({1, 2, 3, 5, 6, 7, 8, 4, 9, 10}), (Reordering{1, 4}));
    EXPECT_EQ(reordering_of({1, 2, 3, 4, 7, 5, 6, 8, 9, 10}), (Reordering{2, 2}));
    EXPECT_EQ(reordering_of({1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11}), (Reordering{3, 6}));
    // A lost packet is not reordered.
    EXPECT_EQ(reordering_of({0, 1, 3, 4, 6}), (Reordering{0, 0}));
    // The first packets are late: the first arrival is the first with a greater number.
    EXPECT_EQ(reordering_of({2, 3, 0, 1}), (Reordering{2, 3}));
}

TEST(OneWayDelay, AnAlternatingDelayHasItsJitterInClosedForm) {
    // Every change of the delay is 3 ms, hence J after n changes is 3 ms * (1 - (15/16)^n).
    OneWayDelay delays;
    double sum_s = 0;
    for (std::uint32_t i = 0; i < 100; ++i) {
        const Nanos sent = 10_ms * std::int64_t{i};
        delays.on_arrival(i, sent, sent + (i % 2 == 0 ? 20_ms : 23_ms));
        const double expected_s = 3e-3 * (1 - std::pow(15.0 / 16, i));
        EXPECT_NEAR(delays.jitter_s(), expected_s, 1e-15) << i;
        sum_s += expected_s;
    }
    EXPECT_NEAR(delays.counters().mean_jitter_s(), sum_s / 99, 1e-15);
    EXPECT_DOUBLE_EQ(delays.counters().mean_delay_s(), 21.5e-3);
    EXPECT_EQ(delays.packets().least, 20_ms);
    EXPECT_EQ(delays.packets().most, 23_ms);
    // A new connection has neither a preceding packet nor a missing number.
    delays.reopen();
    delays.on_arrival(5, 5_s, 6_s);
    delays.on_arrival(6, 6_s, 7_s);
    EXPECT_EQ(delays.jitter_s(), 0);
    EXPECT_EQ(delays.counters().compared_pkts, 100);
    EXPECT_EQ(delays.counters().reordered_pkts, 0);
}

TEST(OneWayDelay, LossesDoNotLetItsMemoryGrow) {
    OneWayDelay delays;
    const auto lose_half = [&](std::uint32_t from, std::uint32_t to) {
        for (std::uint32_t i = from; i < to; i += 2) {
            delays.on_arrival(i, Nanos(i), Nanos(i + 1));
            delays.on_ack_sent(Nanos(i));
            delays.on_ack_sent(Nanos(i + 1));
            delays.on_ack(i, Nanos(i + 5));
        }
    };
    lose_half(0, 20'000);
    const std::size_t bytes = delays.heap_bytes();
    lose_half(20'000, 200'000);
    EXPECT_EQ(delays.heap_bytes(), bytes);
    EXPECT_EQ(delays.counters().arrived_acks, 100'000);
    EXPECT_DOUBLE_EQ(delays.counters().mean_ack_delay_s(), 5e-9);
    // Overtaken by 1000 packets, and by more than it remembers
    delays.on_arrival(200'000 - 2001, Nanos(0), Nanos(1));
    EXPECT_EQ(delays.max_extent_pkts(), 1000);
    delays.on_arrival(1, Nanos(0), Nanos(1));
    EXPECT_EQ(delays.max_extent_pkts(), 4097);
    EXPECT_EQ(delays.counters().reordered_pkts, 2);
}

// --- closed forms ----------------------------------------------------------------------------------------------------

FlowSpec& add_voice(Scenario& scenario, const PathSpec& path) {
    FlowSpec flow;
    flow.name = "voice";
    flow.kind = FlowKind::Cbr;
    flow.paths = {path};
    flow.datagrams.rate = 5_Mbps;
    flow.datagrams.packet = 1250_B;  // 1 ms at 10 Mbit/s
    flow.one_way_delay = true;
    scenario.flows.push_back(flow);
    return scenario.flows.back();
}

TEST(OneWayDelay, OfAConstantRateIsSerialisationAndPropagation) {
    Scenario scenario = textbook(5_s, 1_s);
    add_voice(scenario, add_path(scenario));
    const Network network = finished(scenario);
    const FlowResult flow = network.flow_result(0);
    ASSERT_TRUE(flow.delays);
    EXPECT_DOUBLE_EQ(flow.delays->mean_s, 0.051);
    EXPECT_DOUBLE_EQ(flow.delays->p95_s, 0.051);
    EXPECT_DOUBLE_EQ(flow.delays->max_s, 0.051);
    EXPECT_EQ(flow.delays->mean_jitter_s, 0);
    EXPECT_EQ(flow.delays->reordered_pkts, 0);
    EXPECT_EQ(flow.delays->max_extent_pkts, 0);
    EXPECT_TRUE(std::isnan(flow.delays->mean_ack_s) && std::isnan(flow.delays->p95_ack_s));
}

TEST(OneWayDelay, OfAcksIsThatOfTheWayBack) {
    Scenario scenario = textbook(5_s);
    const PathSpec path = add_path(scenario, {.one_way = 30_ms});
    scenario.links[1].delay = 7_ms;
    scenario.links[1].rate = BitsPerSec(52 * 8000);  // 1 ms for an ACK
    FlowSpec& flow = add_tcp(scenario, path);
    flow.recv_buffer = Bytes(1448);  // one packet per round trip, without a queue
    flow.one_way_delay = true;
    const Network network = finished(scenario);
    const DelayResult delays = *network.subflow_result(0).delays;
    EXPECT_DOUBLE_EQ(delays.mean_s, 0.0312);  // 1500 bytes take 1.2 ms
    EXPECT_DOUBLE_EQ(delays.max_s, 0.0312);
    EXPECT_DOUBLE_EQ(delays.mean_ack_s, 0.008);
    EXPECT_DOUBLE_EQ(delays.p95_ack_s, 0.008);
    EXPECT_DOUBLE_EQ(delays.max_ack_s, 0.008);
    EXPECT_NEAR(delays.mean_s + delays.mean_ack_s, network.subflow_result(0).mean_rtt_s, 1e-12);
}

TEST(OneWayDelay, OfAFlowWeighsItsPathsByTheirArrivals) {
    Scenario scenario = linux_profile(10_s, 2_s);
    const PathSpec fast = add_path(scenario, {.one_way = 5_ms});
    const PathSpec slow = add_path(scenario, {.rate = 4_Mbps, .one_way = 60_ms});
    add_mptcp(scenario, {fast, slow}, "lia").one_way_delay = true;
    add_tcp(scenario, fast);
    const Network network = finished(scenario);
    const DelayResult all = *network.flow_result(0).delays;
    const SubflowResult one = network.subflow_result(0);
    const SubflowResult two = network.subflow_result(1);
    const auto weight = static_cast<double>(one.packets.delivered);
    const auto other = static_cast<double>(two.packets.delivered);
    EXPECT_GT(one.delays->mean_s, 0.005);
    EXPECT_GT(two.delays->mean_s, 0.060);
    EXPECT_NEAR(all.mean_s, (one.delays->mean_s * weight + two.delays->mean_s * other) / (weight + other), 1e-12);
    EXPECT_EQ(all.max_s, std::max(one.delays->max_s, two.delays->max_s));
    EXPECT_GT(all.p95_s, all.mean_s);
    EXPECT_LE(all.p95_s, all.max_s);
    EXPECT_FALSE(network.flow_result(1).delays);
    EXPECT_FALSE(network.subflow_result(2).delays);
}

// --- against the record of packets -----------------------------------------------------------------------------------

struct Arrival {
    std::int64_t at_ns;
    std::int64_t delay_ns;
    double jitter_ns;  // NaN for the first arrival
    bool is_reordered;
    std::int64_t extent;
};

// The arrivals of one subflow in order, computed step by step from the packets that its hosts saw. `closed_at`: time at
// which the subflow was closed; packets of the closed connection that arrive later do not count.
std::vector<Arrival> arrivals_of(const PacketTable& table, std::uint32_t subflow, PacketKind kind, Nanos closed_at) {
    const auto from = static_cast<std::uint8_t>(kind == PacketKind::Ack ? Station::Receiver : Station::Sender);
    using Key = std::pair<std::uint8_t, std::uint32_t>;
    std::map<Key, std::int64_t> sent_ns;
    std::vector<Arrival> arrivals;
    std::vector<std::uint32_t> numbers;  // of the same incarnation
    int incarnation = -1;
    double jitter_ns = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table.subflow[i] != subflow || table.kind[i] != static_cast<std::uint8_t>(kind)) continue;
        const Key key{table.incarnation[i], table.transmission[i]};
        if (table.station[i] == from) {
            sent_ns[key] = table.time_ns[i];
            continue;
        }
        if (table.incarnation[i] == 0 && table.time_ns[i] >= closed_at.value) continue;
        const bool is_first = table.incarnation[i] != incarnation;
        if (is_first) numbers.clear();
        incarnation = table.incarnation[i];
        Arrival arrival{table.time_ns[i], table.time_ns[i] - sent_ns.at(key), kNaN, false, 0};
        if (is_first) {
            jitter_ns = 0;
        } else {
            // RFC 3550 section 6.4.1: D(i-1,i) = (R_i - S_i) - (R_(i-1) - S_(i-1))
            const double d = std::abs(static_cast<double>(arrival.delay_ns - arrivals.back().delay_ns));
            jitter_ns += (d - jitter_ns) / 16;
            arrival.jitter_ns = jitter_ns;
        }
        // RFC 4737 section 4.2.2: the first arrival with a greater number
        const auto overtaker =
            std::ranges::find_if(numbers, [&](std::uint32_t number) { return number > table.transmission[i]; });
        arrival.is_reordered = overtaker != numbers.end();
        if (arrival.is_reordered) arrival.extent = numbers.end() - overtaker;
        numbers.push_back(table.transmission[i]);
        arrivals.push_back(arrival);
    }
    return arrivals;
}

void expect_delays(double mean_s, double p95_s, double max_s, std::vector<std::int64_t> delays_ns) {
    ASSERT_GT(delays_ns.size(), 100u);
    std::ranges::sort(delays_ns);
    const auto count = static_cast<double>(delays_ns.size());
    const double sum_ns = std::accumulate(delays_ns.begin(), delays_ns.end(), 0.0);
    EXPECT_NEAR(mean_s, sum_ns / count * 1e-9, 1e-12);
    EXPECT_DOUBLE_EQ(max_s, static_cast<double>(delays_ns.back()) * 1e-9);
    const double p95_ns = static_cast<double>(delays_ns[static_cast<std::size_t>(0.95 * count)]);
    EXPECT_NEAR(p95_s, p95_ns * 1e-9, p95_ns * 1e-9 / 30);
}

// Every way in which packets can be late: queues, losses, overtaking, marks, a subflow that is closed and opened again,
// a change of the delay, an ACK path with overtaking.
Scenario troubled(EcnMode ecn) {
    Scenario scenario = linux_profile(6_s, 1_s);
    scenario.transport.ecn = ecn;
    const PathSpec one = add_path(scenario, {.one_way = 20_ms, .loss = 0.01});
    const PathSpec two = add_path(scenario, {.rate = 6_Mbps, .one_way = 10_ms, .queue_pkts = 30});
    for (LinkSpec* link : {&scenario.links[2], &scenario.links[3]}) {
        link->jitter = JitterOptions{.kind = JitterKind::Exponential, .spread = 3_ms};
        link->reorder = true;
    }
    scenario.links[0].discipline =
        RedOptions{.min_pkts = 5, .max_pkts = 30, .max_p = 0.1, .gentle = true, .weight = 1, .spreads = true};
    add_mptcp(scenario, {one, two}, "lia").one_way_delay = true;
    add_voice(scenario, two).datagrams.rate = BitsPerSec(1e6);
    add_tcp(scenario, one);
    EventSpec change;
    change.flow = 0;
    change.subflow = 0;
    change.at = 3_s;
    change.open = false;
    scenario.events.push_back(change);
    change.at = 3'005_ms;
    change.open = true;
    scenario.events.push_back(change);
    EventSpec longer;
    longer.link = 2;
    longer.at = 4_s;
    longer.delay = 5_ms;
    scenario.events.push_back(longer);
    return scenario;
}

class OneWayDelays : public ::testing::TestWithParam<EcnMode> {};

TEST_P(OneWayDelays, AreThoseOfTheRecordedPackets) {
    const Scenario scenario = troubled(GetParam());
    Network network(scenario, 3);
    network.capture_packets(0, 1 << 20);
    network.capture_packets(1, 1 << 20);
    network.run_until(scenario.duration);
    const PacketTable table = network.take_packets();
    for (const std::uint32_t subflow : {0u, 1u, 2u}) {
        const bool is_voice = subflow == 2;
        const Nanos closed_at = subflow == 0 ? 3_s : kNever;
        const DelayResult found = *network.subflow_result(subflow).delays;
        std::vector<std::int64_t> delays_ns;
        double jitter_ns = 0;
        std::int64_t compared = 0;
        std::int64_t reordered = 0;
        std::int64_t max_extent = 0;
        const PacketKind kind = is_voice ? PacketKind::Datagram : PacketKind::Data;
        for (const Arrival& each : arrivals_of(table, subflow, kind, closed_at)) {
            if (each.at_ns <= scenario.warmup.value) continue;
            delays_ns.push_back(each.delay_ns);
            if (!std::isnan(each.jitter_ns)) {
                jitter_ns += each.jitter_ns;
                ++compared;
            }
            reordered += each.is_reordered;
            max_extent = std::max(max_extent, each.extent);
        }
        const auto count = static_cast<double>(delays_ns.size());
        expect_delays(found.mean_s, found.p95_s, found.max_s, delays_ns);
        EXPECT_NEAR(found.mean_jitter_s, jitter_ns * 1e-9 / static_cast<double>(compared), 1e-13);
        EXPECT_EQ(found.reordered_pkts, reordered);
        EXPECT_DOUBLE_EQ(found.reordered_ratio, static_cast<double>(reordered) / count);
        EXPECT_EQ(found.max_extent_pkts, max_extent);
        EXPECT_EQ(reordered > 0, subflow != 0);
        if (is_voice) continue;
        std::vector<std::int64_t> acks_ns;
        for (const Arrival& each : arrivals_of(table, subflow, PacketKind::Ack, closed_at))
            if (each.at_ns > scenario.warmup.value) acks_ns.push_back(each.delay_ns);
        expect_delays(found.mean_ack_s, found.p95_ack_s, found.max_ack_s, acks_ns);
    }
}

TEST_P(OneWayDelays, AreSampledFromTheArrivalsOfEachInterval) {
    const Scenario scenario = troubled(GetParam());
    Network network(scenario, 3);
    network.capture_packets(0, 1 << 20);
    Recorder recorder(network, 37_ms);
    ASSERT_EQ(recorder.columns().size(), Recorder::column_count(scenario));
    std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
    recorder.run_until(network, scenario.duration, unlimited);
    const PacketTable table = network.take_packets();
    const auto column = [&](std::string_view name, std::uint32_t owner) {
        const auto it = std::ranges::find_if(recorder.columns(), [&](const TraceColumn& c) {
            return c.scope == TraceScope::Subflow && c.name() == name && c.owner == owner;
        });
        EXPECT_NE(it, recorder.columns().end()) << name;
        return recorder.values(static_cast<std::size_t>(it - recorder.columns().begin()));
    };
    for (const std::uint32_t subflow : {0u, 1u}) {
        const Nanos closed_at = subflow == 0 ? 3_s : kNever;
        const std::vector<Arrival> packets = arrivals_of(table, subflow, PacketKind::Data, closed_at);
        const std::vector<Arrival> acks = arrivals_of(table, subflow, PacketKind::Ack, closed_at);
        const auto delay = column("one_way_delay_s", subflow);
        const auto jitter = column("jitter_s", subflow);
        const auto reordered = column("reordered_pkts", subflow);
        const auto ack_delay = column("ack_delay_s", subflow);
        std::size_t gaps = 0;
        for (std::size_t k = 0; k < recorder.count(); ++k) {
            const std::int64_t from = recorder.interval().value * static_cast<std::int64_t>(k);
            const auto in_interval = [&](const std::vector<Arrival>& all) {
                std::vector<Arrival> found;
                for (const Arrival& each : all)
                    if (each.at_ns > from && each.at_ns <= from + recorder.interval().value) found.push_back(each);
                return found;
            };
            const auto mean_s = [](const std::vector<Arrival>& all) {
                double sum_ns = 0;
                for (const Arrival& each : all) sum_ns += static_cast<double>(each.delay_ns);
                return static_cast<float>(sum_ns * 1e-9 / static_cast<double>(all.size()));
            };
            const std::vector<Arrival> arrived = in_interval(packets);
            const std::vector<Arrival> heard = in_interval(acks);
            ASSERT_EQ(std::isnan(delay[k]), arrived.empty()) << k;
            ASSERT_EQ(std::isnan(ack_delay[k]), heard.empty()) << k;
            ASSERT_EQ(reordered[k], static_cast<float>(std::ranges::count(arrived, true, &Arrival::is_reordered)));
            if (!heard.empty()) {
                ASSERT_FLOAT_EQ(ack_delay[k], mean_s(heard)) << k;
            }
            gaps += arrived.empty();
            if (arrived.empty()) {
                ASSERT_TRUE(std::isnan(jitter[k]));
                continue;
            }
            ASSERT_FLOAT_EQ(delay[k], mean_s(arrived)) << k;
            if (!std::isnan(arrived.back().jitter_ns)) {
                ASSERT_FLOAT_EQ(jitter[k], static_cast<float>(arrived.back().jitter_ns * 1e-9)) << k;
            }
        }
        EXPECT_GT(gaps, 0u);  // until the subflow is established
    }
}

TEST_P(OneWayDelays, ChangeNothingElseAndDoNotDependOnHowTheRunIsCut) {
    const Scenario scenario = troubled(GetParam());
    Scenario plain = scenario;
    for (FlowSpec& flow : plain.flows) flow.one_way_delay = false;
    const Network measured = finished(scenario);
    const Network other = finished(plain);
    EXPECT_EQ(measured.signature(), other.signature());
    EXPECT_EQ(measured.subflow_result(1).mean_rtt_s, other.subflow_result(1).mean_rtt_s);
    EXPECT_TRUE(is_same_however_cut(scenario, scenario.duration));

    Network cut(scenario, 1);
    for (Nanos t = 11_ms; t < 4_s; t += 131_ms) cut.run_until(t);
    Network copy = cut;
    for (Network* each : {&cut, &copy}) {
        each->run_until(scenario.duration);
        for (const std::size_t flow : {0u, 1u}) {
            const DelayResult a = *measured.flow_result(flow).delays;
            const DelayResult b = *each->flow_result(flow).delays;
            EXPECT_EQ(std::tie(a.mean_s, a.p95_s, a.max_s, a.mean_jitter_s, a.reordered_pkts, a.max_extent_pkts),
                      std::tie(b.mean_s, b.p95_s, b.max_s, b.mean_jitter_s, b.reordered_pkts, b.max_extent_pkts));
            if (flow == 0) {
                EXPECT_EQ(std::tie(a.mean_ack_s, a.p95_ack_s, a.max_ack_s),
                          std::tie(b.mean_ack_s, b.p95_ack_s, b.max_ack_s));
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfEveryEcnMode, OneWayDelays,
                         ::testing::Values(EcnMode::Off, EcnMode::Classic, EcnMode::Accurate));

TEST(OneWayDelay, HasColumnsOnlyWhereItIsAskedFor) {
    Scenario scenario = textbook(1_s);
    const PathSpec path = add_path(scenario);
    add_tcp(scenario, path);
    add_voice(scenario, path);
    const Network network(scenario, 1);
    const Recorder recorder(network, 100_ms);
    EXPECT_EQ(recorder.columns().size(), Recorder::column_count(scenario));
    std::vector<std::pair<TraceScope, std::string_view>> found;
    for (const TraceColumn& c : recorder.columns()) {
        if (c.name() == "one_way_delay_s" || c.name() == "jitter_s" || c.name() == "reordered_pkts" ||
            c.name() == "ack_delay_s") {
            EXPECT_EQ(c.owner, 1u);
            found.emplace_back(c.scope, c.name());
        }
    }
    // A datagram flow has neither subflows nor ACKs.
    EXPECT_EQ(found, (std::vector<std::pair<TraceScope, std::string_view>>{{TraceScope::Flow, "one_way_delay_s"},
                                                                           {TraceScope::Flow, "jitter_s"},
                                                                           {TraceScope::Flow, "reordered_pkts"}}));
}

}  // namespace
}  // namespace subflow

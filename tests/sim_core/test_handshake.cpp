// Handshakes of subflows: their cost, lost packets, and the time at which further subflows join.
#include <gtest/gtest.h>

#include <vector>

#include "network.h"
#include "scenarios.h"

namespace subflow {
namespace {

using namespace testing;

// Transmission times at 10 Mbit/s.
constexpr Nanos kSmallPacket{41'600};    // 52 bytes
constexpr Nanos kFullPacket{1'200'000};  // 1500 bytes

std::vector<Nanos> times_of(Network& network, MarkKind kind, std::uint32_t owner = 0) {
    std::vector<Nanos> times;
    for (const Mark& mark : network.take_marks())
        if (mark.kind == kind && mark.owner == owner) times.push_back(mark.time);
    return times;
}

// Link `index` is down until `until`.
void add_outage(Scenario& scenario, std::uint32_t index, Nanos until) {
    EventSpec event;
    event.link = index;
    event.up = false;
    scenario.events.push_back(event);
    if (until == kNever) return;
    event.at = until;
    event.up = true;
    scenario.events.push_back(event);
}

TEST(Handshake, TakesARoundTripAndTellsIt) {
    Scenario scenario = linux_profile(1_s);
    add_tcp(scenario, add_path(scenario)).size = Bytes(1448);
    Network network = finished(scenario);
    // SYN over a link with a rate, SYN-ACK over a pure delay, data behind the ACK.
    EXPECT_EQ(times_of(network, MarkKind::Established), std::vector{100_ms + kSmallPacket});
    EXPECT_EQ(network.connections()[0].completed_at, 150_ms + kSmallPacket * 2 + kFullPacket);
    // RFC 6298 with two samples: 100.0416 ms of the handshake, 101.2416 ms of the data (it leaves behind the ACK).
    const Nanos first = 100_ms + kSmallPacket;
    const Nanos second = 100_ms + kSmallPacket + kFullPacket;
    EXPECT_EQ(network.subflows()[0].sender.rtt().srtt(), first + (second - first) / 8);
    EXPECT_EQ(network.subflows()[0].sender.rtt().min_rtt(), second);  // of data alone
}

TEST(Handshake, TheTimeoutOfTheFirstDataFollowsFromIt) {
    Scenario scenario = linux_profile(2_s);
    add_tcp(scenario, add_path(scenario)).size = Bytes(1448);
    // The data is lost: it is sent at the arrival of the SYN-ACK.
    fail_link(scenario, 0, 90_ms, 120_ms);
    Network network = finished(scenario);
    // The probe timer is two round trips plus 200 ms for a single packet, but at most the retransmission timeout: srtt
    // + 4 rttvar are three round trips. Source: RFC 8985 section 7.2
    const Nanos rtt = 100_ms + kSmallPacket;
    EXPECT_EQ(network.subflow_result(0).timeouts, 0);
    EXPECT_EQ(network.connections()[0].completed_at, rtt + rtt * 3 + 50_ms + kFullPacket);
}

// A SYN that takes hardly longer than its timeout: the loss of its answer must not depend on the order in which the
// simulator handles the two ends.
TEST(Handshake, IsTheSameWhereverARunStops) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Scenario scenario = linux_profile(30_s);
        add_tcp(scenario, add_path(scenario, {.one_way = 1'010_ms})).size = Bytes(1448);
        for (LinkSpec& link : scenario.links) link.loss = 0.4;
        Network whole(scenario, seed);
        whole.run_until(scenario.duration);
        Network stopped(scenario, seed);
        stopped.run_until(1'005_ms);
        stopped.run_until(scenario.duration);
        EXPECT_EQ(stopped.signature(), whole.signature()) << seed;
    }
}

TEST(Handshake, ALostSynIsSentAgainAfterASecond) {
    Scenario scenario = linux_profile(10_s);
    add_tcp(scenario, add_path(scenario)).size = Bytes(100'000);
    add_outage(scenario, 0, 500_ms);
    Network network = finished(scenario);
    EXPECT_EQ(times_of(network, MarkKind::Established), std::vector{1'100_ms + kSmallPacket});
    EXPECT_LT(network.connections()[0].completed_at, 2_s);
    // No handshake packet counts as lost data.
    EXPECT_EQ(network.subflow_result(0).loss_ratio, 0);
}

TEST(Handshake, ALostSynAckIsSentAgainAfterASecond) {
    Scenario scenario = linux_profile(10_s);
    add_tcp(scenario, add_path(scenario)).size = Bytes(100'000);
    add_outage(scenario, 1, 500_ms);
    Network network = finished(scenario);
    EXPECT_EQ(times_of(network, MarkKind::Established), std::vector{1'100_ms + kSmallPacket});
}

TEST(Handshake, AfterASecondLossTheWindowBeginsWithOnePacket) {
    for (const auto& [until, window] : {std::pair{500_ms, 10.0}, std::pair{1'500_ms, 1.0}}) {
        Scenario scenario = linux_profile(5_s);
        add_tcp(scenario, add_path(scenario));
        add_outage(scenario, 0, until);
        Network network(scenario, 1);
        network.run_until(until + 700_ms);  // established, without acknowledged data
        ASSERT_TRUE(network.subflows()[0].is_established);
        EXPECT_EQ(network.subflows()[0].sender.window().cwnd_pkts, window);
    }
}

TEST(Handshake, AFirstPathThatIsDeadIsGivenUpAndNothingJoins) {
    Scenario scenario = linux_profile(200_s);
    const PathSpec dead = add_path(scenario);
    add_mptcp(scenario, {dead, add_path(scenario)}, "lia");
    add_outage(scenario, 0, kNever);
    Network network(scenario, 1);
    // Linux tcp_syn_retries: "67 seconds till the last retransmission", "the final timeout after 131 seconds".
    network.run_until(66'999_ms);
    const std::int64_t before = network.links()[0].stats().drops_down;
    network.run_until(67_s);
    EXPECT_EQ(network.links()[0].stats().drops_down, before + 1);
    EXPECT_EQ(before, 10);
    network.run_until(130'999_ms);
    EXPECT_EQ(network.connections()[0].ended_at, kNever);
    network.run_until(200_s);
    network.check_invariants();
    EXPECT_EQ(network.links()[0].stats().drops_down, 11);
    EXPECT_EQ(network.connections()[0].ended_at, 131_s);
    EXPECT_EQ(times_of(network, MarkKind::Closed), std::vector{131_s});
    EXPECT_FALSE(network.subflows()[1].is_established);
    EXPECT_EQ(network.links()[2].stats().packets_in, 0);
}

TEST(Handshake, OthersJoinWhenTheFirstIsAcknowledgedData) {
    Scenario scenario = linux_profile(3_s);
    const PathSpec near = add_path(scenario, {.rate = 100_Mbps, .one_way = 10_ms});
    const PathSpec far = add_path(scenario, {.rate = 100_Mbps, .one_way = 50_ms});
    add_mptcp(scenario, {near, far}, "uncoupled");
    Network network = finished(scenario);
    const std::vector<Mark> marks = network.take_marks();
    std::vector<Nanos> established(2);
    for (const Mark& mark : marks)
        if (mark.kind == MarkKind::Established) established[mark.owner] = mark.time;
    const Nanos small{4'160};
    const Nanos full{120'000};
    EXPECT_EQ(established[0], 20_ms + small);
    // The first data is acknowledged a round trip later; SYN, SYN-ACK, ACK and its ACK take two of the other path.
    EXPECT_EQ(established[1], 40_ms + small * 2 + full + 200_ms + small * 2);
    EXPECT_GT(network.subflows()[1].received_bytes, 0);
}

TEST(Handshake, AJoinWhoseThirdPacketIsLostRepeatsIt) {
    Scenario scenario = linux_profile(3_s);
    const PathSpec near = add_path(scenario, {.rate = 100_Mbps, .one_way = 10_ms});
    const PathSpec far = add_path(scenario, {.rate = 100_Mbps, .one_way = 50_ms});
    add_mptcp(scenario, {near, far}, "uncoupled");
    // The ACK leaves at 140.1 ms.
    fail_link(scenario, 2, 120_ms, 180_ms);
    Network network = finished(scenario);
    const std::vector<Nanos> at = times_of(network, MarkKind::Established, 1);
    ASSERT_EQ(at.size(), 1u);
    // After two round trips, 200 ms, plus one for the answer.
    EXPECT_NEAR(to_seconds(at[0]), 0.140 + 0.200 + 0.100, 0.001);
}

TEST(Handshake, AJoinIsGivenUpAloneAndMayBeOpenedAgain) {
    Scenario scenario = linux_profile(200_s);
    const PathSpec near = add_path(scenario, {.rate = 1_Mbps, .one_way = 10_ms, .queue_pkts = 20});
    const PathSpec far = add_path(scenario, {.rate = 1_Mbps, .one_way = 50_ms, .queue_pkts = 20});
    add_mptcp(scenario, {near, far}, "uncoupled");
    add_outage(scenario, 2, 150_s);
    EventSpec open;
    open.at = 160_s;
    open.flow = 0;
    open.subflow = 1;
    open.open = true;
    scenario.events.push_back(open);
    Network network(scenario, 1);
    network.run_until(159_s);
    EXPECT_FALSE(network.subflows()[1].is_established);
    EXPECT_TRUE(network.subflows()[0].is_established);
    network.run_until(200_s);
    network.check_invariants();
    EXPECT_TRUE(network.subflows()[1].is_established);
    EXPECT_GT(network.subflows()[1].received_bytes, 1'000'000);
}

TEST(Handshake, ASubflowClosedWhileItOpensIsOpenedByNoLateAnswer) {
    Scenario scenario = linux_profile(2_s);
    add_tcp(scenario, add_path(scenario));
    EventSpec close;
    close.at = 50_ms;
    close.flow = 0;
    close.subflow = 0;
    close.open = false;
    EventSpec open = close;
    open.at = 1_s;
    open.open = true;
    scenario.events = {close, open};
    Network network(scenario, 1);
    network.run_until(999_ms);
    EXPECT_FALSE(network.subflows()[0].is_established);
    network.run_until(2_s);
    network.check_invariants();
    EXPECT_EQ(times_of(network, MarkKind::Established), std::vector{1'100_ms + kSmallPacket});
}

TEST(Handshake, IsTheSameHoweverTheRunIsCut) {
    Scenario scenario = linux_profile(8_s);
    const PathSpec one = add_path(scenario, {.loss = 0.2});
    const PathSpec two = add_path(scenario, {.one_way = 20_ms, .loss = 0.2});
    for (int i = 0; i < 10; ++i) add_tcp(scenario, one, "tcp" + std::to_string(i)).start = 100_ms * i;
    add_mptcp(scenario, {one, two}, "lia");
    EXPECT_TRUE(is_same_however_cut(scenario, 8_s));
}

TEST(Handshake, ATextbookFlowSendsWhenItStarts) {
    Scenario scenario = textbook(1_s);
    add_mptcp(scenario, {add_path(scenario), add_path(scenario, {.one_way = 20_ms})}, "lia");
    Network network = finished(scenario);
    const std::vector<Mark> marks = network.take_marks();
    ASSERT_GE(marks.size(), 2u);
    EXPECT_EQ(marks[0].time, 0_ms);
    EXPECT_EQ(marks[1].time, 40_ms);
}

TEST(Handshake, AMegabyteInSlowStartIsThatOfTheKernel) {
    // Linux 6.18 over an emulated link of 10 Mbit/s, 100 ms and 84 packets (`subflow compare-kernel`): HyStart ends
    // slow start of CUBIC without a drop only if every packet is acknowledged while the receive window opens.
    struct Transfer {
        const char* controller;
        std::int64_t size;
        double completion_s;
        std::int64_t drops;
        std::int64_t tolerance;
    };
    for (const Transfer& c : {Transfer{"cubic", 1'000'000, 1.208, 0, 0}, Transfer{"cubic", 3'000'000, 2.866, 9, 0},
                              Transfer{"newreno", 30'000, 0.266, 0, 0}, Transfer{"newreno", 100'000, 0.401, 0, 0},
                              Transfer{"newreno", 1'000'000, 1.208, 168, 3}}) {
        Scenario scenario = linux_profile(5_s);
        FlowSpec& flow = add_tcp(scenario, add_path(scenario));
        flow.controller.name = c.controller;
        flow.size = Bytes(c.size);
        const Network network = finished(scenario);
        EXPECT_NEAR(network.flow_result(0).completion_s, c.completion_s, 0.01 * c.completion_s)
            << c.controller << c.size;
        EXPECT_NEAR(static_cast<double>(network.links()[0].stats().drops_queue), static_cast<double>(c.drops),
                    static_cast<double>(c.tolerance))
            << c.controller << c.size;
    }
}

}  // namespace
}  // namespace subflow

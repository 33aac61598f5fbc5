// Window arithmetic against vectors worked out by hand to seven digits, and the lists.
#include <gtest/gtest.h>

#include <array>

#include "cc/controllers.h"
#include "sched/schedulers.h"

namespace subflow {
namespace {

double lia_increase(std::span<const Sibling> siblings, std::size_t self) {
    return Lia::increase_per_ack(siblings[self].cwnd_pkts, {siblings, self});
}

TEST(Lia, MatchesVectorV1) {
    // w = (10, 30), rtt = (0.05, 0.2): x = (200, 150), S = 350; max w/rtt^2 = 4000; 4000 / 350^2 = 0.03265306
    const std::array<Sibling, 2> v1{{{10, 0.05}, {30, 0.2}}};
    EXPECT_NEAR(lia_increase(v1, 0), 0.03265306, 5e-9);
    EXPECT_NEAR(lia_increase(v1, 1), 0.03265306, 5e-9);
}

TEST(Lia, MatchesVectorV2) {
    // w = (20, 20, 5), rtt = 0.1: max w/rtt^2 = 2000, S = 450; 2000 / 450^2 = 0.009876543
    const std::array<Sibling, 3> v2{{{20, 0.1}, {20, 0.1}, {5, 0.1}}};
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(lia_increase(v2, i), 0.009876543, 5e-10);
}

TEST(Lia, IsCappedByNewRenoAsInVectorV3) {
    // w = (4, 40), rtt = (0.02, 0.4): max w/rtt^2 = 10000, S = 300; coupled 0.1111111, caps 1/4 and 1/40
    const std::array<Sibling, 2> v3{{{4, 0.02}, {40, 0.4}}};
    EXPECT_NEAR(lia_increase(v3, 0), 0.1111111, 5e-8);
    EXPECT_EQ(lia_increase(v3, 1), 0.025);
}

TEST(Lia, IsUnchangedWhenAllRttsScale) {
    const std::array<Sibling, 2> seconds{{{10, 0.05}, {30, 0.2}}};
    const std::array<Sibling, 2> thrice{{{10, 0.15}, {30, 0.6}}};
    EXPECT_NEAR(lia_increase(seconds, 0), lia_increase(thrice, 0), 1e-12);
}

TEST(Lia, PermutesWithItsSubflows) {
    const std::array<Sibling, 3> one{{{7, 0.03}, {20, 0.1}, {5, 0.2}}};
    const std::array<Sibling, 3> other{{{5, 0.2}, {7, 0.03}, {20, 0.1}}};
    EXPECT_NEAR(lia_increase(one, 0), lia_increase(other, 1), 1e-15);
    EXPECT_NEAR(lia_increase(one, 1), lia_increase(other, 2), 1e-15);
    EXPECT_NEAR(lia_increase(one, 2), lia_increase(other, 0), 1e-15);
}

TEST(NewReno, GrowsByOnePacketPerWindowAndByOnePerAckInSlowStart) {
    NewReno reno{Options(NewReno::kInfo, {})};
    Window window{10, kInfiniteSsthresh};
    reno.on_ack(window, {.acked_pkts = 3}, {});
    EXPECT_EQ(window.cwnd_pkts, 13);
    // Three packets acknowledged one below ssthresh: one by slow start, two by congestion avoidance: 14 + 2/14
    window.ssthresh_pkts = 14;
    reno.on_ack(window, {.acked_pkts = 3}, {});
    EXPECT_DOUBLE_EQ(window.cwnd_pkts, 14 + 2.0 / 14);
}

TEST(NewReno, HalvesTheWindowOrTheFlightSizeWithAFloorOfTwo) {
    NewReno reno{Options(NewReno::kInfo, {})};
    Window window{31, kInfiniteSsthresh};
    reno.on_congestion_event(window, {CongestionKind::FastRetransmit, 20, {}}, {});
    EXPECT_EQ(window.ssthresh_pkts, 15.5);
    reno.on_congestion_event(window, {CongestionKind::Timeout, 20, {}}, {});
    EXPECT_EQ(window.ssthresh_pkts, 10);
    reno.on_congestion_event(window, {CongestionKind::Timeout, 1, {}}, {});
    EXPECT_EQ(window.ssthresh_pkts, 2);
}

TEST(Lists, EveryListedAlgorithmIsMadeByItsNameAndDescribesItself) {
    for (const AlgorithmInfo* info : controller_infos()) {
        EXPECT_NO_THROW(make_controller({std::string(info->name), {}})) << info->name;
        EXPECT_FALSE(info->summary.empty()) << info->name;
        EXPECT_FALSE(info->source.empty()) << info->name;
    }
    for (const AlgorithmInfo* info : scheduler_infos()) {
        EXPECT_NO_THROW(make_scheduler({std::string(info->name), {}})) << info->name;
        EXPECT_FALSE(info->summary.empty()) << info->name;
    }
}

TEST(Lists, UnknownNamesAndOptionsAreRefused) {
    EXPECT_THROW(make_controller({"reno", {}}), ScenarioError);
    EXPECT_THROW(make_controller({"newreno", {{"beta", 0.5}}}), ScenarioError);
    EXPECT_THROW(make_controller({"uncoupled", {{"base", std::string("lia")}}}), ScenarioError);
    EXPECT_THROW(make_controller({"uncoupled", {{"base", 1.0}}}), ScenarioError);
    EXPECT_THROW(make_scheduler({"maxrtt", {}}), ScenarioError);
}

TEST(MinRtt, PrefersTheFastestAvailableAndAnUntriedOne) {
    const MinRtt scheduler{Options(MinRtt::kInfo, {})};
    std::array<Candidate, 3> c{
        {{true, true, false, Nanos(30)}, {true, true, false, Nanos(20)}, {true, false, false, Nanos(10)}}};
    EXPECT_EQ(scheduler.select(c), 1u);  // the third is faster but has no room
    c[1].has_sent_this = true;
    EXPECT_EQ(scheduler.select(c), 0u);
    c[0].is_available = c[1].is_available = false;
    EXPECT_EQ(scheduler.select(c), std::nullopt);
    c[2].is_available = true;
    c[0] = {true, true, false, Nanos(0)};  // no sample yet
    EXPECT_EQ(scheduler.select(c), 0u);
}

}  // namespace
}  // namespace subflow

// Arithmetic of NewReno, the lists of algorithms and their options.
#include <gtest/gtest.h>

#include <array>

#include "cc/controllers.h"
#include "sched/schedulers.h"

namespace subflow {
namespace {

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
    EXPECT_THROW(make_controller({"uncoupled", {{"hystart", std::string("off")}}}), ScenarioError);
    EXPECT_THROW(make_controller({"vegas", {{"alpha", 3.0}, {"beta", 2.0}}}), ScenarioError);
    EXPECT_THROW(make_scheduler({"maxrtt", {}}), ScenarioError);
}

const AlgorithmInfo& info_of(std::string_view name) {
    for (const AlgorithmInfo* info : controller_infos()) {
        if (info->name == name) return *info;
    }
    throw std::out_of_range("no such controller");
}

TEST(Lists, EveryOptionTakesEachOfItsValues) {
    for (const AlgorithmInfo* info : controller_infos()) {
        for (const OptionInfo& option : info->options) {
            std::vector<std::variant<double, bool, std::string>> values;
            if (option.kind == OptionKind::Choice) {
                for (const std::string_view choice : option.choices) values.push_back(std::string(choice));
                EXPECT_NE(std::ranges::find(option.choices, option.default_choice), option.choices.end());
            } else if (option.kind == OptionKind::Flag) {
                values = {true, false};
            } else if (option.kind == OptionKind::Policy) {
                values = {"neutral", "any name"};
            } else {
                EXPECT_LE(option.minimum, option.default_number) << option.key;
                EXPECT_LE(option.default_number, option.maximum) << option.key;
                values = {option.default_number};
            }
            for (const auto& value : values) {
                AlgorithmChoice choice{std::string(info->name), {{std::string(option.key), value}}};
                if (!option.base.empty()) choice.options.push_back({"base", std::string(option.base)});
                EXPECT_NO_THROW(make_controller(choice)) << info->name << " " << option.key;
            }
        }
    }
}

TEST(Uncoupled, HasTheSinglePathControllersForBasesAndTheirOptions) {
    std::vector<std::string_view> bases;
    std::vector<std::string_view> keys{"base"};
    for (const AlgorithmInfo* info : controller_infos()) {
        if (info->is_coupled) continue;
        bases.push_back(info->name);
        for (const OptionInfo& option : info->options) keys.push_back(option.key);
    }
    const std::span<const OptionInfo> options = info_of("uncoupled").options;
    EXPECT_TRUE(std::ranges::equal(options.front().choices, bases));
    EXPECT_TRUE(std::ranges::equal(options, keys, {}, &OptionInfo::key));
    for (const std::string_view base : bases) {
        const Controller controller = make_controller({"uncoupled", {{"base", std::string(base)}}});
        EXPECT_EQ(std::visit([](const auto& c) { return c.kInfo.name; }, controller), base);
    }
}

TEST(MinRtt, PrefersTheFastestAvailableAndAnUntriedOne) {
    const MinRtt scheduler{Options(MinRtt::kInfo, {})};
    std::array<Candidate, 3> c{{{.is_usable = true, .is_available = true, .srtt = Nanos(30), .rttvar = {}},
                                {.is_usable = true, .is_available = true, .srtt = Nanos(20), .rttvar = {}},
                                {.is_usable = true, .is_available = false, .srtt = Nanos(10), .rttvar = {}}}};
    EXPECT_EQ(scheduler.select(c, {}), 1u);  // the third is faster but has no room
    c[1].has_sent_this = true;
    EXPECT_EQ(scheduler.select(c, {}), 0u);
    c[0].is_available = c[1].is_available = false;
    EXPECT_EQ(scheduler.select(c, {}), std::nullopt);
    c[2].is_available = true;
    c[0].is_available = true;
    c[0].has_sent_this = false;
    c[0].srtt = Nanos(0);  // no sample yet
    EXPECT_EQ(scheduler.select(c, {}), 0u);
}

}  // namespace
}  // namespace subflow

// Scenarios as JSON texts: reading restores the written scenario, to the last bit of a run.
#include <gtest/gtest.h>

#include <limits>

#include "json.h"
#include "scenario_checks.h"
#include "scenario_json.h"

namespace subflow::testing {
namespace {

Scenario read_text(const std::string& text, std::size_t max_values = kMaxJsonValues) {
    return read_scenario(text, {}, max_values);
}

std::string error_of(const std::string& text, std::size_t max_values = kMaxJsonValues) {
    try {
        read_text(text, max_values);
    } catch (const ScenarioJsonError& error) {
        return error.what();
    }
    return "";
}

std::string of_scenario(const std::string& fields) {
    return "{\"scenario\":{" + fields + "},\"programs\":[]}";
}

TEST(ScenarioJson, RandomNetworksRunAsBefore) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Draws draw(3'000'000 + seed);
        Scenario scenario = random_network(draw);
        slow_down(scenario, 2000);
        check_json(scenario);
        const Scenario read = read_scenario(write_scenario(scenario), {policies_of(scenario)}, kMaxJsonValues);
        Network first(scenario, seed), second(read, seed);
        first.run_until(scenario.duration);
        second.run_until(read.duration);
        ASSERT_EQ(first.signature(), second.signature()) << "seed " << seed;
        ASSERT_EQ(describe(scenario), describe(read)) << "seed " << seed;
    }
}

TEST(ScenarioJson, SpoiltOnesKeepWhatIsWrong) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Draws draw(4'000'000 + seed);
        Scenario scenario = random_network(draw);
        spoil(scenario, draw);
        EXPECT_NO_THROW(check_json(scenario)) << "seed " << seed;
    }
}

// Names of fields that other programs read.
TEST(ScenarioJson, FieldsHaveTheirNames) {
    Scenario scenario;
    scenario.duration = 60_s;
    scenario.seed = std::numeric_limits<std::uint64_t>::max();
    LinkSpec link;
    link.name = "a \"b\"\n/forward";
    link.rate = 8_Mbps;
    link.delay = 50_ms;
    link.queue_limit_pkts = 67;
    link.loss = 0.02;
    link.discipline = CodelOptions{.marks = true};
    link.reorder = true;
    scenario.links.push_back(link);
    FlowSpec flow;
    flow.name = "download";
    flow.kind = FlowKind::Mptcp;
    flow.controller = {"uncoupled", {{"base", std::string("cubic")}, {"c", 0.5}, {"fast", false}}};
    flow.paths.push_back({{0}, {1}, true});
    scenario.flows.push_back(flow);
    EventSpec event;
    event.at = 1_s;
    event.link = 0;
    event.up = false;
    scenario.events.push_back(event);
    EXPECT_EQ(
        write_scenario(scenario),
        "{\"scenario\":{\"duration\":60000000000,\"seed\":\"18446744073709551615\",\"links\":[{"
        "\"name\":\"a \\\"b\\\"\\u000a/forward\",\"rate\":8e+06,\"delay\":50000000,\"queue_limit_pkts\":67,"
        "\"loss\":0.02,\"discipline\":{\"codel\":{\"marks\":true}},\"reorder\":true}],\"flows\":[{"
        "\"name\":\"download\",\"kind\":\"mptcp\",\"controller\":{\"name\":\"uncoupled\",\"options\":[{"
        "\"key\":\"base\",\"value\":\"cubic\"},{\"key\":\"c\",\"value\":0.5},{\"key\":\"fast\",\"value\":false}]},"
        "\"paths\":[{\"forward\":[0],\"reverse\":[1],\"is_backup\":true}]}],\"events\":[{\"at\":1000000000,"
        "\"link\":0,\"up\":false}]},\"programs\":[]}");
}

TEST(ScenarioJson, NumbersThatAreNoneAndLongListsAreThere) {
    Scenario scenario;
    LinkSpec link;
    link.rate = kUnlimitedRate;
    link.loss = kNaN;
    for (std::uint32_t i = 0; i < 5000; ++i) link.opportunities_ms.push_back(i * i % 7919);
    link.delays_us = {std::numeric_limits<std::uint32_t>::max(), 0, 1};
    link.delays_us.resize(100, 77);
    scenario.links.push_back(link);
    FlowSpec flow;
    flow.controller.options = {{"most", std::numeric_limits<double>::infinity()}, {"word", std::string("inf")}};
    scenario.flows.push_back(flow);
    check_json(scenario);
    const std::string text = write_scenario(scenario);
    EXPECT_LT(text.size(), 20'000u);
    const Scenario read = read_text(text);
    EXPECT_EQ(read.links[0].opportunities_ms, link.opportunities_ms);
    EXPECT_EQ(read.links[0].delays_us, link.delays_us);
    EXPECT_EQ(read.flows[0].controller, flow.controller);
    EXPECT_EQ(read.flows[0].stop, kNever);
}

// Packed numbers count like unpacked ones.
TEST(ScenarioJson, TheCallerSaysHowMuchThereMayBe) {
    Scenario scenario;
    scenario.links.emplace_back().opportunities_ms.assign(1000, 7);
    EXPECT_NO_THROW(read_text(write_scenario(scenario), 1000));
    EXPECT_EQ(error_of(write_scenario(scenario), 999), "links[0].opportunities_ms: more numbers than are allowed");
    EXPECT_EQ(error_of(of_scenario("\"links\":[{},{},{}]"), 6),
              "the scenario is no usable JSON: more than 6 values, at byte 44");
}

TEST(ScenarioJson, LargeAndSharedObjectsMayComeBesideTheText) {
    const std::vector<std::uint32_t> numbers{1, 7, std::numeric_limits<std::uint32_t>::max()};
    const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), 4 * numbers.size());
    const auto program = std::make_shared<const ScriptProgram>();
    const Scenario read = read_scenario(
        "{\"scenario\":{\"links\":[{\"opportunities_ms\":1},{\"delays_us\":0}],\"flows\":[{\"controller\":"
        "{\"program\":0}}]},\"programs\":[]}",
        {.programs = {program}, .recordings = {"", bytes}}, 20);
    EXPECT_EQ(read.links[0].opportunities_ms, numbers);
    EXPECT_TRUE(read.links[1].delays_us.empty());
    EXPECT_EQ(read.flows[0].controller.program, program);
    EXPECT_EQ(error_of(of_scenario("\"links\":[{\"delays_us\":0}]")), "links[0].delays_us: only 0");
}

TEST(ScenarioJson, WhatIsWrongIsNamed) {
    EXPECT_EQ(error_of(""), "the scenario is no usable JSON: it ends too early, at byte 0");
    EXPECT_EQ(error_of("[]"), "the scenario: no scenario");
    EXPECT_EQ(error_of(of_scenario("\"duration\":1.5")),
              "duration: a whole number from -9223372036854775808 to 9223372036854775807 is wanted");
    EXPECT_EQ(error_of(of_scenario("\"seed\":\"18446744073709551616\"")),
              "seed: a whole number from 0 to 18446744073709551615 is wanted");
    EXPECT_EQ(error_of(of_scenario("\"links\":[{\"loss\":\"much\"}]")),
              "links[0].loss: \"much\" is no number; allowed besides numbers: \"inf\", \"-inf\", \"nan\"");
    EXPECT_EQ(error_of(of_scenario("\"links\":[{\"discipline\":{\"blue\":{}}}]")),
              "links[0].discipline: \"blue\" is not known; allowed: red, codel, fq_codel, dualpi2");
    EXPECT_EQ(error_of(of_scenario("\"links\":[{\"opportunities_ms\":\"!\"}]")),
              "links[0].opportunities_ms: no packed numbers");
    EXPECT_EQ(error_of(of_scenario("\"links\":[{\"opportunities_ms\":\"g\"}]")),
              "links[0].opportunities_ms: no packed numbers");
    EXPECT_EQ(error_of(of_scenario("\"links\":[{\"opportunities_ms\":\"D\"}]")),
              "links[0].opportunities_ms: a packed number is out of range");
    EXPECT_EQ(error_of(of_scenario("\"flows\":[{\"kind\":\"udp\"}]")),
              "flows[0].kind: \"udp\" is not known; allowed: tcp, mptcp, cbr, onoff");
    EXPECT_EQ(error_of(of_scenario("\"flows\":[{\"decider\":{\"policy\":0}}]")), "flows[0].decider.policy: only 0");
    EXPECT_EQ(error_of(of_scenario("\"flows\":[{\"paths\":[{\"forwards\":[]}]}]")),
              "flows[0].paths[0]: \"forwards\" is not known; allowed: forward, reverse, is_backup, is_late");
    EXPECT_NE(error_of("{\"scenario\":{},\"programs\":[{}]}"), "");
}

}  // namespace
}  // namespace subflow::testing

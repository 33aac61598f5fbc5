// Controllers and schedulers as programs of the script machine. Python tests cover the output of the compiler; these
// tests cover programs that the compiler never makes, under sanitizers.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rng.h"
#include "scenarios.h"
#include "script/machine.h"
#include "script/program.h"
#include "simulation.h"

namespace subflow {
namespace {

using namespace subflow::testing;
using Op = ScriptOp;

constexpr std::size_t kCells = 24;

ScriptProgram empty_program() {
    ScriptProgram program;
    program.name = "mine";
    program.frame.assign(kCells, 0.0);
    return program;
}

void begin(ScriptProgram& program, ScriptHook hook) {
    program.entry[static_cast<std::size_t>(hook)] = static_cast<std::int32_t>(program.code.size());
}

void put(ScriptProgram& program, Op op, std::uint8_t to = 0, std::uint8_t a = 0, std::uint8_t b = 0,
         std::int32_t value = 0) {
    program.code.push_back({op, to, a, b, value});
    program.lines.push_back(static_cast<std::uint32_t>(program.code.size()));
    program.notes.push_back(0);
}

std::int32_t place_of(std::string_view object, std::string_view name) {
    const auto fields = script_fields();
    return std::ranges::find_if(fields, [&](const auto& f) { return f.object == object && f.name == name; })->place;
}

// NewReno: left = slow_start(w, ack); w.cwnd += left / w.cwnd. Without a function for losses, they halve the window.
ScriptProgram newreno() {
    ScriptProgram program = empty_program();
    begin(program, ScriptHook::Ack);
    put(program, Op::ReadReal, 4, 0, 0, place_of("ack", "acked"));
    put(program, Op::SlowStart, 5, 4);
    put(program, Op::Divide, 6, 5, ScriptCell::kCwnd);
    put(program, Op::Add, ScriptCell::kCwnd, ScriptCell::kCwnd, 6);
    put(program, Op::Return);
    return program;
}

std::shared_ptr<const ScriptProgram> checked(ScriptProgram program) {
    auto shared = std::make_shared<ScriptProgram>(std::move(program));
    shared->check();
    return shared;
}

Scenario two_paths(const std::shared_ptr<const ScriptProgram>& program) {
    Scenario scenario = linux_profile(3_s);
    const PathSpec one = add_path(scenario, {.rate = 8_Mbps, .one_way = 10_ms, .queue_pkts = 20, .loss = 0.01});
    const PathSpec two = add_path(scenario, {.rate = 4_Mbps, .one_way = 25_ms, .queue_pkts = 30});
    add_mptcp(scenario, {one, two}, "newreno").controller.program = program;
    return scenario;
}

TEST(Scripted, HasTheSignatureOfWhatItCopies) {
    // After a timeout the built-in starts from the packets in flight, which this program does not: no timeouts here.
    Scenario scenario = textbook(3_s);
    const PathSpec path = add_path(scenario, {.rate = 10_Mbps, .one_way = 10_ms, .queue_pkts = 60});
    add_tcp(scenario, path);
    const Network built_in = finished(scenario);
    scenario.flows[0].controller.program = checked(newreno());
    EXPECT_EQ(finished(scenario).signature(), built_in.signature());
    EXPECT_EQ(built_in.subflow_result(0).timeouts, 0);
}

TEST(Scripted, IsTheSameHoweverARunIsCut) {
    EXPECT_TRUE(is_same_however_cut(two_paths(checked(newreno())), 3_s));
}

TEST(Scripted, ProgramsThatNoCompilerMakesAreRefused) {
    const auto refused = [](auto&& damage) {
        ScriptProgram program = newreno();
        damage(program);
        EXPECT_THROW(program.check(), ScriptProgramError);
    };
    refused([](ScriptProgram& p) { p.code[0].to = kCells; });
    refused([](ScriptProgram& p) { p.code[0].value = 3; });  // no field has this number
    refused([](ScriptProgram& p) { p.code.back().op = Op::Move; });
    refused([](ScriptProgram& p) { p.code[1] = {Op::Jump, 0, 0, 0, 0}; });
    refused([](ScriptProgram& p) { p.code[1] = {Op::Jump, 0, 0, 0, 99}; });
    refused([](ScriptProgram& p) { p.code[1] = {Op::Next, 0, 0, 0, 1}; });
    refused([](ScriptProgram& p) { p.code[1] = {Op::ForEach, 2, 0, 0, 3}; });
    refused([](ScriptProgram& p) { p.code[1] = {Op::RecentMaximum, kCells - 2, 0, 0, 0}; });
    refused([](ScriptProgram& p) {
        p.code[0] = {Op::Jump, 0, 0, 0, 2};
        p.code[1] = {Op::ForEach, 0, 0, 0, 4};
        p.code[3] = {Op::Next, 0, 0, 0, 2};
    });
    refused([](ScriptProgram& p) { p.code[1] = {Op::ItemLoad, 4, 0, 0, 0}; });
    refused([](ScriptProgram& p) { p.entry[1] = 99; });
    refused([](ScriptProgram& p) { p.lines.pop_back(); });
    refused([](ScriptProgram& p) { p.frame.resize(2); });
    EXPECT_NO_THROW(newreno().check());
}

TEST(Scripted, AFailureTellsWhoseItIsAndWhen) {
    ScriptProgram program = empty_program();
    begin(program, ScriptHook::Ack);
    put(program, Op::Divide, ScriptCell::kCwnd, ScriptCell::kCwnd, 10);
    put(program, Op::Return);
    Simulation simulation(two_paths(checked(program)), 1, 10_ms);
    try {
        simulation.run_until(3_s);
        FAIL() << "the run continued";
    } catch (const ScriptRunError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with("script 'mine', line 1, mptcp/1 at 0.")) << text;
        EXPECT_NE(text.find("division by zero"), std::string::npos) << text;
    }
    EXPECT_EQ(simulation.failed_script()->second, 1u);
    EXPECT_THROW(simulation.run_until(3_s), InternalError);
}

// Any operations on any cells, forward jumps and loops: they end, stay in their frame, and give the same results each
// time.
ScriptProgram random_program(subflow::Draws& draws) {
    constexpr Op kValues[]{Op::Move,
                           Op::Add,
                           Op::Subtract,
                           Op::Multiply,
                           Op::Divide,
                           Op::FloorDivide,
                           Op::Remainder,
                           Op::Power,
                           Op::Negate,
                           Op::Difference,
                           Op::Minimum,
                           Op::Maximum,
                           Op::Absolute,
                           Op::SquareRoot,
                           Op::CubeRoot,
                           Op::Exponential,
                           Op::Logarithm,
                           Op::Floor,
                           Op::Ceiling,
                           Op::Known,
                           Op::Random,
                           Op::Less,
                           Op::LessEqual,
                           Op::Equal,
                           Op::NotEqual,
                           Op::Count,
                           Op::TotalRate,
                           Op::LargestRate,
                           Op::LargestRatePerRtt,
                           Op::SlowStart,
                           Op::Average};
    ScriptProgram program = empty_program();
    for (double& cell : program.frame) cell = draws.below(5) == 0 ? 0.0 : 20 * draws.uniform() - 2;
    const auto cell = [&] { return static_cast<std::uint8_t>(draws.below(kCells - 2)); };
    begin(program, ScriptHook::Ack);
    const std::uint32_t length = 5 + draws.below(30);
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::size_t loop = kNone;  // start of a loop
    for (std::uint32_t i = 0; i < length; ++i) {
        switch (draws.below(8)) {
            case 0:
                put(program, Op::ReadReal, cell(), 0, 0, place_of("ack", "acked"));
                break;
            case 1:
                put(program, Op::ReadTime, cell(), 0, 0, place_of("ack", "rtt"));
                break;
            case 2:
                put(program, Op::JumpUnlessLess, 0, cell(), cell(), -1);  // filled in below
                break;
            case 3:
                if (loop == kNone) {
                    loop = program.code.size();
                    put(program, Op::ForEach, 0, 0, 0, -1);
                } else {
                    put(program, Op::ItemReal, cell(), 0, 0, place_of("sibling", "cwnd"));
                    put(program, Op::Next, 0, 0, 0, static_cast<std::int32_t>(loop) + 1);
                    program.code[loop].value = static_cast<std::int32_t>(program.code.size());
                    loop = kNone;
                }
                break;
            default:
                put(program, kValues[draws.below(static_cast<std::uint32_t>(std::size(kValues)))], cell(), cell(),
                    cell());
        }
    }
    if (loop != kNone) program.code[loop] = {Op::Move, 4, 5, 0, 0};
    put(program, Op::Return);
    const auto end = static_cast<std::int32_t>(program.code.size()) - 1;
    for (std::int32_t at = 0; at < end; ++at) {
        ScriptInstruction& each = program.code[static_cast<std::size_t>(at)];
        if (each.op == Op::JumpUnlessLess)
            each.value = at + 1 + static_cast<std::int32_t>(draws.below(static_cast<std::uint32_t>(end - at)));
    }
    return program;
}

TEST(Scripted, RandomProgramsEndStayInTheirFrameAndAreTheSameEachTime) {
    subflow::Draws draws(11);
    int finished_runs = 0;
    for (int i = 0; i < 40; ++i) {
        std::shared_ptr<const ScriptProgram> program;
        while (!program) {
            try {
                program = checked(random_program(draws));
            } catch (const ScriptProgramError&) {  // a jump into a loop
            }
        }
        const Scenario scenario = two_paths(program);
        std::optional<std::uint64_t> first;
        std::string failure;
        for (int again = 0; again < 2; ++again) {
            Simulation simulation(scenario, 3, 50_ms);
            if (again == 1) simulation.network().record_decisions({.capacity = 100});
            try {
                simulation.run_until(150_ms);
                simulation.network().check_invariants();
                if (first) {
                    EXPECT_EQ(simulation.network().signature(), *first);
                }
                first = simulation.network().signature();
                finished_runs += again;
            } catch (const ScriptRunError& error) {
                if (again == 1) {
                    EXPECT_EQ(failure, error.what());
                }
                failure = error.what();
            }
        }
    }
    EXPECT_GT(finished_runs, 5);
}

}  // namespace
}  // namespace subflow

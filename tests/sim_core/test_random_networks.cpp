// Random networks with random events: packets are conserved, counters balance, data arrives once and in order, and a
// run is the same in any steps.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include "scenario_checks.h"

namespace subflow::testing {
namespace {

// Spreads the tests over the cores.
constexpr std::uint64_t kShards = 8;

// Seed of the current scenario, for a sanitizer that ends the program.
std::uint64_t current_seed = 0;

[[maybe_unused]] void tell_seed() {
    std::fprintf(stderr, "in random network %llu: SUBFLOW_FUZZ_SEED repeats it alone\n",
                 static_cast<unsigned long long>(current_seed));
}

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

void check_seed(std::uint64_t seed) {
    current_seed = seed;
    Draws draw(seed);
    Scenario scenario = random_network(draw);
    slow_down(scenario, 30'000);
    try {
        run_and_check(scenario, seed, draw);
    } catch (const std::exception& error) {
        ADD_FAILURE() << error.what() << "\nSUBFLOW_FUZZ_SEED=" << seed << " repeats this one:\n" << describe(scenario);
    }
}

class RandomNetworks : public ::testing::TestWithParam<std::uint64_t> {
protected:
    static void SetUpTestSuite() {
#if defined(__SANITIZE_ADDRESS__)
        __sanitizer_set_death_callback(tell_seed);
#endif
    }
};

// SUBFLOW_FUZZ_SCENARIOS sets a larger number than the few hundred of every test run, SUBFLOW_FUZZ_SEED selects one.
TEST_P(RandomNetworks, KeepWhatEveryNetworkMustKeep) {
    if (std::getenv("SUBFLOW_FUZZ_SEED") != nullptr) {
        if (GetParam() == 0) check_seed(number_from("SUBFLOW_FUZZ_SEED", 0));
        return;
    }
    const std::uint64_t count = number_from("SUBFLOW_FUZZ_SCENARIOS", 320);
    for (std::uint64_t seed = GetParam(); seed < count && !HasFailure(); seed += kShards) check_seed(seed);
}

INSTANTIATE_TEST_SUITE_P(Shard, RandomNetworks, ::testing::Range(std::uint64_t{0}, kShards));

// The fuzzer's inputs are arbitrary bytes. Some of them, without the fuzzer:
TEST(FuzzInputs, AnyBytesAreAScenarioOrRefused) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        std::vector<std::uint8_t> bytes(combine64(seed, 0) % 600);
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(combine64(seed, 1 + i));
        EXPECT_NO_THROW(check_bytes(bytes)) << seed;
    }
}

// Regression test of inputs that the fuzzer found.
TEST(FuzzInputs, TheKeptOnesPass) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(SUBFLOW_FUZZ_CORPUS)) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
        const std::vector<std::uint8_t> bytes(text.begin(), text.end());
        EXPECT_NO_THROW(check_bytes(bytes)) << entry.path();
        ++count;
    }
    EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace subflow::testing

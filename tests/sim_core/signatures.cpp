// Prints the signatures of some random networks: builds with and without optimisation and checks must print the same.
// With --scenarios each line ends with the network itself, for cores on other platforms.
#include <cinttypes>
#include <cstdio>
#include <string_view>

#include "random_scenario.h"
#include "scenario_json.h"

int main(int count, char** words) {
    using namespace subflow;
    const bool has_scenarios = count > 1 && std::string_view(words[1]) == "--scenarios";
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        testing::Draws draw(2'000'000 + seed);
        Scenario scenario = testing::random_network(draw);
        testing::slow_down(scenario, 5000);
        Network network(scenario, seed);
        network.run_until(scenario.duration);
        std::printf("%" PRIu64 " %016" PRIx64, seed, network.signature());
        if (has_scenarios) std::printf(" %s", write_scenario(scenario).c_str());
        std::printf("\n");
    }
    return 0;
}

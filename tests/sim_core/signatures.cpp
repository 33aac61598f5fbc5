// Prints the signatures of some random networks: built twice, with and without optimisation and checks, the same text.
#include <cinttypes>
#include <cstdio>

#include "random_scenario.h"

int main() {
    using namespace subflow;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        testing::Draws draw(2'000'000 + seed);
        Scenario scenario = testing::random_network(draw);
        testing::slow_down(scenario, 5000);
        Network network(scenario, seed);
        network.run_until(scenario.duration);
        std::printf("%" PRIu64 " %016" PRIx64 "\n", seed, network.signature());
    }
    return 0;
}

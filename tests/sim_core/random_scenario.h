// Random scenarios, from a seed or from the bytes of a fuzzer: topologies, links, flows, events.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "rng.h"
#include "scenarios.h"

namespace subflow::testing {

class Draws {
public:
    explicit Draws(std::uint64_t seed) : seed_(seed) {}
    // Four bytes for each draw, then zeros, which give the smallest value of each draw.
    explicit Draws(std::span<const std::uint8_t> bytes) : bytes_(bytes), is_seeded_(false) {}

    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(double p) { return to_unit_interval(next()) < p; }
    // Uniform, and sometimes one of the ends, which may be infinite.
    double number(double low, double high) {
        if (chance(0.1)) return low;
        if (chance(0.1)) return high;
        return std::isfinite(high) ? low + (high - low) * to_unit_interval(next()) : low + scale(1e-3, 1e6);
    }
    // Log-uniform, so that small and large values are equally likely.
    double scale(double low, double high) { return low * std::pow(high / low, to_unit_interval(next())); }

private:
    std::uint64_t next() {
        if (is_seeded_) return combine64(seed_, count_++);
        std::uint64_t word = 0;
        for (int i = 0; i < 4 && !bytes_.empty(); ++i, bytes_ = bytes_.subspan(1)) word = word << 8 | bytes_.front();
        return word << 32 | word;
    }

    std::uint64_t seed_ = 0;
    std::uint64_t count_ = 0;
    std::span<const std::uint8_t> bytes_;
    bool is_seeded_ = true;
};

// Either independent parts, or flows through one bottleneck with queues in both directions.
Scenario random_network(Draws& draw);

// Slows all rates down until a run has about the wanted number of link crossings: the shape stays, with fewer packets.
void slow_down(Scenario& scenario, double crossings);

}  // namespace subflow::testing

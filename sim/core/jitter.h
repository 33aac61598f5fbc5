// Random delay per packet.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cc/cube_root.h"
#include "fields.h"
#include "rng.h"
#include "units.h"

namespace subflow {

// Difference between the delay of a packet and the delay of its link, in units of `spread`:
//   Uniform      uniform between -1 and 1
//   Normal       the standard normal distribution
//   Exponential  only positive, 1 on average
//   Pareto       (4 / 3) (u^(-1/3) - 3/2) for a uniform u: most packets are a little early, few are very late
// Normal and Pareto are limited to 4; Exponential is not.
// Source: the distributions of Linux's netem and the tables that iproute2 makes for it (netem/normal.c and pareto.c),
// which end at 4; Exponential is not among them.
enum class JitterKind : std::uint8_t { Uniform, Normal, Exponential, Pareto };
SUBFLOW_WORDS(JitterKind, "uniform", "normal", "exponential", "pareto")

struct JitterOptions {
    JitterKind kind = JitterKind::Uniform;
    Nanos spread{};
};
SUBFLOW_FIELDS(JitterOptions, kind, spread)

// These limits keep a drawn delay within 32 bits of nanoseconds.
inline constexpr Nanos kMaxExtraDelay{2'000'000'000};
inline constexpr Nanos kMaxJitterSpread{500'000'000};
inline constexpr double kMostSpreads = 4;

// Standard normal. The length of a two-dimensional normal vector is the root of an exponential variable, and its
// direction is that of a point drawn from the unit disc. The code uses no function whose last digits differ between
// platforms.
inline double unit_normal(std::uint64_t bits) {
    double x = 1;
    double square = 1;
    for (std::uint64_t n = 1; square >= 1 || square == 0; n += 2) {
        x = 2 * to_unit_interval(combine64(bits, n)) - 1;
        const double y = 2 * to_unit_interval(combine64(bits, n + 1)) - 1;
        square = x * x + y * y;
    }
    return std::sqrt(2 * unit_exponential(bits) / square) * x;
}

// Jitter in units of the spread, from a draw with 64 random bits.
inline double unit_jitter(JitterKind kind, std::uint64_t bits) {
    switch (kind) {
        case JitterKind::Uniform:
            return 2 * to_unit_interval(bits) - 1;
        case JitterKind::Normal:
            return std::clamp(unit_normal(bits), -kMostSpreads, kMostSpreads);
        case JitterKind::Exponential:
            return unit_exponential(bits);
        case JitterKind::Pareto:
            return std::min((1 / cube_root(1 - to_unit_interval(bits)) - 1.5) * 4 / 3, kMostSpreads);
    }
    return 0;
}

inline Nanos jitter_of(const JitterOptions& options, std::uint64_t bits) {
    const double extra = unit_jitter(options.kind, bits) * static_cast<double>(options.spread.value);
    return std::min(Nanos(static_cast<std::int64_t>(extra)), kMaxExtraDelay);
}

}  // namespace subflow

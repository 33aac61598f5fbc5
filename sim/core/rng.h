// Counter-based randomness: a draw is a pure function of the seed, the purpose and a counter.
//
// Without a generator state, the draw for one packet does not depend on earlier draws for other packets: an additional
// flow or a forked run does not change the draws of other flows.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace subflow {

// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection on 64 bits with full avalanche.
constexpr std::uint64_t mix64(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

constexpr std::uint64_t combine64(std::uint64_t a, std::uint64_t b) {
    return mix64(a ^ mix64(b));
}

// FNV-1a. Streams are keyed by names, not by positions, so that an inserted link or flow does not renumber the draws of
// others.
constexpr std::uint64_t hash_name(std::string_view name) {
    std::uint64_t h = 0xcbf29ce484222325ULL;
    for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return h;
}

// Uniform in [0, 1) with 53 random bits.
constexpr double to_unit_interval(std::uint64_t bits) {
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

// A sequence of random numbers for one component: each depends only on the seed and on its position.
class Draws {
public:
    explicit Draws(std::uint64_t seed = 0) : seed_(seed) {}

    std::uint64_t next() { return combine64(seed_, ++count_); }
    double uniform() { return to_unit_interval(next()); }
    // Uniform in 0, 1, ..., n - 1. Only for n > 0.
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(uniform() * static_cast<double>(n)); }

private:
    std::uint64_t seed_;
    std::uint64_t count_ = 0;
};

// Exponential with mean 1: -ln(u) of a uniform u in (0, 1], at most 53 ln 2 = 36.7. The logarithm uses only sums,
// products and quotients, because library logarithms differ in their last digits between platforms.
constexpr double unit_exponential(std::uint64_t bits) {
    constexpr double kLn2 = 0.693147180559945309417232121458;
    constexpr double kSqrt2 = 1.414213562373095048801688724210;
    // u = scaled / 2^53 = fraction * 2^(exponent - 53), exactly
    const std::uint64_t scaled = (bits >> 11) + 1;
    int exponent = static_cast<int>(std::bit_width(scaled)) - 1;
    double fraction = static_cast<double>(scaled) / static_cast<double>(std::uint64_t{1} << exponent);
    if (fraction > kSqrt2) {
        fraction /= 2;
        ++exponent;
    }
    // ln f = 2 atanh s = 2 s (1 + s^2/3 + s^4/5 + ...) with s = (f - 1) / (f + 1), |s| < 0.172: the terms after the
    // eleventh are below the last digit.
    const double s = (fraction - 1) / (fraction + 1);
    double series = 0;
    for (int k = 21; k >= 1; k -= 2) series = series * (s * s) + 1.0 / k;
    return (53 - exponent) * kLn2 - 2 * s * series;
}

}  // namespace subflow

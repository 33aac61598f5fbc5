// Quantiles of delays in little memory.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "units.h"

namespace subflow {

// Distribution of delays with a resolution of 1/32 of the value: 32 buckets per octave above 2^10 ns.
class DelayHistogram {
public:
    void add(Nanos delay) {
        std::size_t bucket = bucket_of(delay) - first_;
        if (bucket >= buckets_.size()) [[unlikely]]
            bucket = widen(bucket + first_);
        ++buckets_[bucket];
        ++count_;
    }
    // Adds all samples of another distribution.
    void add(const DelayHistogram& other);
    std::uint64_t count() const { return count_; }
    // Value in seconds below which `fraction` of the samples lie, interpolated within its bucket. 0 without samples.
    double quantile_s(double fraction) const;
    std::size_t heap_bytes() const { return heap_bytes_of(buckets_); }

private:
    static constexpr int kSubBits = 5;
    static constexpr int kLowestOctave = 10;
    static constexpr int kOctaves = 28;  // up to 2^38 ns, 4.6 minutes

    static std::size_t bucket_of(Nanos delay) {
        const auto v = static_cast<std::uint64_t>(delay.value);
        const int octave = static_cast<int>(std::bit_width(v)) - 1;
        if (octave < kLowestOctave) return 0;
        if (octave >= kLowestOctave + kOctaves) return (kOctaves << kSubBits) - 1;
        const std::uint64_t within = (v >> (octave - kSubBits)) & ((1u << kSubBits) - 1);
        return (static_cast<std::size_t>(octave - kLowestOctave) << kSubBits) + within;
    }

    // Makes room for a bucket and returns its position.
    [[gnu::noinline]] std::size_t widen(std::size_t bucket);

    // Covers the octaves from the smallest to the largest sample: the samples of a flow span few octaves, and a network
    // may have many flows.
    std::vector<std::uint32_t> buckets_;
    std::size_t first_ = 0;  // first bucket in `buckets_`
    std::uint64_t count_ = 0;
};

}  // namespace subflow

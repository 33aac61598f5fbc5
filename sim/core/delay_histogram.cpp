#include "delay_histogram.h"

#include <cmath>

namespace subflow {

double DelayHistogram::quantile_s(double fraction) const {
    if (count_ == 0) return 0;
    const double target = fraction * static_cast<double>(count_);
    double below = 0;
    for (std::size_t i = first_; i < first_ + buckets_.size(); ++i) {
        const double here = buckets_[i - first_];
        if (here > 0 && below + here >= target) {
            const int octave = static_cast<int>(i >> kSubBits) + kLowestOctave;
            const double width = std::ldexp(1.0, octave - kSubBits);
            const double low = std::ldexp(1.0, octave) + static_cast<double>(i & ((1u << kSubBits) - 1)) * width;
            return (low + width * (target - below) / here) * 1e-9;
        }
        below += here;
    }
    return std::ldexp(1.0, kLowestOctave + kOctaves) * 1e-9;
}

void DelayHistogram::add(const DelayHistogram& other) {
    for (std::size_t i = 0; i < other.buckets_.size(); ++i) {
        if (other.buckets_[i] == 0) continue;
        std::size_t bucket = other.first_ + i - first_;
        if (bucket >= buckets_.size()) bucket = widen(bucket + first_);
        buckets_[bucket] += other.buckets_[i];
    }
    count_ += other.count_;
}

std::size_t DelayHistogram::widen(std::size_t bucket) {
    constexpr std::size_t kPerOctave = std::size_t{1} << kSubBits;
    const std::size_t octave = bucket / kPerOctave * kPerOctave;
    if (buckets_.empty()) {
        first_ = octave;
        buckets_.resize(kPerOctave);
    } else if (octave < first_) {
        buckets_.insert(buckets_.begin(), first_ - octave, 0);
        first_ = octave;
    } else {
        buckets_.resize(octave + kPerOctave - first_);
    }
    return bucket - first_;
}

}  // namespace subflow

// A transmitter behind a token bucket: it may save up what it does not send, and then sends faster for a while.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "units.h"

namespace subflow {

struct TokenBucketOptions {
    Bytes burst{};                     // that can be saved up
    BitsPerSec peak = kUnlimitedRate;  // at which it sends while there are tokens
};

// Tokens are bytes; they come at the rate of the link, up to `burst`. A packet begins as soon as there are as many as
// it has bytes (one that is larger than the bucket: as soon as that is full) and leaves at the peak rate. In any
// interval t no more than burst + rate * t bytes begin. Source: Linux's tbf, man tc-tbf(8); RFC 2697 for the meter.
class TokenBucket {
public:
    TokenBucket(const TokenBucketOptions& options, BitsPerSec rate)
        : burst_(static_cast<double>(options.burst.value)),
          bytes_per_nano_(rate.value / 8e9),
          peak_nanos_per_byte_(std::isinf(options.peak.value) ? 0 : 8e9 / options.peak.value),
          tokens_(burst_) {}

    // When a packet that reaches the transmitter at `ready` has left; the times of successive calls do not decrease.
    Nanos departure(Bytes size, Nanos ready) {
        const auto bytes = static_cast<double>(size.value);
        const double needed = std::min(bytes, burst_);
        Nanos start = ready;
        double there = tokens_at(ready);
        if (there < needed) {
            start = ready + Nanos(static_cast<std::int64_t>(std::ceil((needed - there) / bytes_per_nano_)));
            there = std::max(tokens_at(start), needed);
        }
        tokens_ = there - bytes;
        counted_at_ = start;
        return start + sending_time(size);
    }

    // How long before its departure a packet began.
    Nanos sending_time(Bytes size) const {
        return Nanos(static_cast<std::int64_t>(static_cast<double>(size.value) * peak_nanos_per_byte_));
    }

    // Packets of so many bytes that were to begin after `now` are gone. Behind one another the bucket was never full in
    // between, so that it is as it would have been without them.
    void take_back(Bytes bytes, Nanos now) {
        const double later = static_cast<double>((counted_at_ - now).value) * bytes_per_nano_;
        tokens_ = std::min(burst_, tokens_ + static_cast<double>(bytes.value) - later);
        counted_at_ = now;
    }

private:
    double tokens_at(Nanos time) const {
        return std::min(burst_, tokens_ + static_cast<double>((time - counted_at_).value) * bytes_per_nano_);
    }

    double burst_;
    double bytes_per_nano_;
    double peak_nanos_per_byte_;
    double tokens_;       // at counted_at_
    Nanos counted_at_{};  // when the last packet began
};

}  // namespace subflow

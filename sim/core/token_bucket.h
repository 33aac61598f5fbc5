// A transmitter with a token bucket: unused rate accumulates as tokens, which allow faster bursts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fields.h"
#include "units.h"

namespace subflow {

struct TokenBucketOptions {
    Bytes burst{};                     // size of the bucket
    BitsPerSec peak = kUnlimitedRate;  // sending rate while tokens last
};
SUBFLOW_FIELDS(TokenBucketOptions, burst, peak)

// Tokens are bytes. They arrive at the rate of the link, up to `burst`. The transmission of a packet begins once the
// tokens cover its size (or the bucket is full, for a packet larger than the bucket) and runs at the peak rate. In any
// interval t, at most burst + rate * t bytes begin. Source: Linux's tbf, man tc-tbf(8); RFC 2697 for the meter.
class TokenBucket {
public:
    TokenBucket(const TokenBucketOptions& options, BitsPerSec rate)
        : burst_(static_cast<double>(options.burst.value)),
          bytes_per_nano_(rate.value / 8e9),
          peak_nanos_per_byte_(std::isinf(options.peak.value) ? 0 : 8e9 / options.peak.value),
          tokens_(burst_) {}

    // Departure time of a packet that reaches the transmitter at `ready`. `ready` must not decrease between calls.
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

    // Transmission time of a packet at the peak rate.
    Nanos sending_time(Bytes size) const {
        return Nanos(static_cast<std::int64_t>(static_cast<double>(size.value) * peak_nanos_per_byte_));
    }

    // Returns the tokens of removed packets, of `bytes` bytes in total, whose transmission was planned after `now`.
    // Such back-to-back packets never let the bucket fill, so that the state is as if they had not been planned.
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
    double tokens_;       // tokens in bytes at counted_at_
    Nanos counted_at_{};  // time for which tokens_ holds; after departure(), the start of the last transmission
};

}  // namespace subflow

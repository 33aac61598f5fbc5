// A transmitter that sends on grants of a scheduler, like a terminal in a cellular network.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "fields.h"
#include "rng.h"
#include "units.h"

namespace subflow {

struct GrantOptions {
    Nanos period{};
    Nanos jitter{};  // upper bound of the uniform delay of each grant, at most a period
};
SUBFLOW_FIELDS(GrantOptions, period, jitter)

// Grant k comes after k periods and a random delay. It carries as many bytes as the link sends in a period at its rate.
// Only packets that were waiting strictly before the grant may use it: many small packets, or part of a large one.
// Unused bytes are lost.
class Grants {
public:
    Grants(const GrantOptions& options, std::uint64_t stream) : options_(options), stream_(stream) {}

    // Like DeliveryTrace::departure(), at the current rate of the link.
    Nanos departure(Bytes size, Nanos now, bool is_backlogged, double nanos_per_byte) {
        const double capacity = static_cast<double>(options_.period.value) / nanos_per_byte;
        if (!is_backlogged) {
            current_ = first_after(now);
            room_ = capacity;
        }
        double left = static_cast<double>(size.value) - room_;
        if (left > 0) {
            const double more = std::ceil(left / capacity);
            current_ += static_cast<std::int64_t>(more);
            left -= more * capacity;
        }
        room_ = -left;
        return time_of(current_);
    }

    // Discards the rest of the grant at `departure`; the next packet waits for the following grant.
    void skip_to_next_grant(Nanos departure) {
        current_ = first_after(departure) - 1;
        room_ = 0;
    }

private:
    Nanos time_of(std::int64_t grant) const {
        const double draw = to_unit_interval(combine64(stream_, static_cast<std::uint64_t>(grant)));
        return options_.period * grant +
               Nanos(static_cast<std::int64_t>(draw * static_cast<double>(options_.jitter.value)));
    }
    std::int64_t first_after(Nanos now) const {
        std::int64_t grant = std::max<std::int64_t>(0, now / options_.period - 1);
        while (time_of(grant) <= now) ++grant;
        return grant;
    }

    GrantOptions options_;
    std::uint64_t stream_ = 0;
    std::int64_t current_ = 0;
    double room_ = 0;
};

}  // namespace subflow

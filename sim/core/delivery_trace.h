// A transmitter whose rate is a recording: it may send at the recorded times only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "units.h"

namespace subflow {

// Bytes that one delivery opportunity carries (mahimahi's are 1504, with 4 bytes of its tunnel's header).
inline constexpr Bytes kOpportunityBytes{1500};

// Opportunities as milliseconds since the start, in ascending order; the same millisecond may occur many times. After
// the last one the recording starts over, its zero at the time of the last. Each carries kOpportunityBytes of what
// waits strictly before its time: many small packets, or part of a large one. What it cannot fill is lost.
//
// Source: the packet-delivery traces of mahimahi (Netravali et al. 2015, "Mahimahi: accurate record-and-replay for
// HTTP"; Winstein et al. 2013 for the format's origin in Sprout).
class DeliveryTrace {
public:
    DeliveryTrace() = default;
    // The times stay where they are: the scenario owns them.
    explicit DeliveryTrace(std::span<const std::uint32_t> times_ms) : times_ms_(times_ms) {}

    // When the last byte of a packet leaves. `now` is when it reaches the transmitter: at or after all earlier calls'.
    // Behind others that left no later than now it shares what they left of the last opportunity.
    Nanos departure(Bytes size, Nanos now, bool is_backlogged) {
        if (!is_backlogged) {
            current_ = first_after(now);
            room_ = kOpportunityBytes;
        }
        for (Bytes left = size;;) {
            const Bytes taken = std::min(left, room_);
            left -= taken;
            room_ -= taken;
            if (left == Bytes(0)) return time_of(current_);
            ++current_;
            room_ = kOpportunityBytes;
        }
    }

private:
    std::int64_t count() const { return static_cast<std::int64_t>(times_ms_.size()); }
    std::int64_t period_ms() const { return times_ms_.back(); }

    Nanos time_of(std::int64_t opportunity) const {
        const std::int64_t round = opportunity / count();
        const std::int64_t ms = times_ms_[static_cast<std::size_t>(opportunity % count())];
        return Nanos(1'000'000) * (round * period_ms() + ms);
    }

    std::int64_t first_after(Nanos now) const {
        const std::int64_t ms = now.value / 1'000'000;  // an opportunity is after now if it is after this millisecond
        const std::int64_t round = ms / period_ms();
        const auto later = std::ranges::upper_bound(times_ms_, static_cast<std::uint32_t>(ms % period_ms()));
        return round * count() + (later - times_ms_.begin());
    }

    std::span<const std::uint32_t> times_ms_;
    std::int64_t current_ = 0;
    Bytes room_{};
};

}  // namespace subflow

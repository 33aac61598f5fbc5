// A transmitter with a recorded rate: it sends at the recorded times only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "units.h"

namespace subflow {

// Bytes per delivery opportunity (1504 in mahimahi, including 4 bytes of its tunnel's header).
inline constexpr Bytes kOpportunityBytes{1500};

// Opportunities in milliseconds since the start, in ascending order; the same millisecond may occur many times. At the
// time of the last opportunity, the trace starts again. Each opportunity carries kOpportunityBytes of the packets that
// were waiting strictly before its time: many small packets, or part of a large one. Unused bytes are lost.
//
// Source: the packet-delivery traces of mahimahi (Netravali et al. 2015, "Mahimahi: accurate record-and-replay for
// HTTP"; Winstein et al. 2013 for the format's origin in Sprout).
class DeliveryTrace {
public:
    DeliveryTrace() = default;
    // The times are not copied: the scenario owns them.
    explicit DeliveryTrace(std::span<const std::uint32_t> times_ms) : times_ms_(times_ms) {}

    // Time at which the last byte of a packet leaves. `now`: arrival of the packet at the transmitter; must not
    // decrease between calls. `is_backlogged`: the packet follows other packets and may use the rest of their last
    // opportunity.
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

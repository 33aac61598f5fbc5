// Recorded propagation delays of a link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "units.h"

namespace subflow {

// One delay per interval, in microseconds; after the last one, the trace repeats. A packet has the delay of the
// interval in which it leaves the transmitter.
// Source: behaviour and format of LeoReplayer (Lai et al. 2025, "LeoCC: Making Internet Congestion Control Robust to
// LEO Satellite Dynamics").
class DelayTrace {
public:
    DelayTrace() = default;
    // The delays are not copied: the scenario owns them.
    DelayTrace(std::span<const std::uint32_t> delays_us, Nanos interval) : delays_us_(delays_us), interval_(interval) {}

    Nanos at(Nanos time) const {
        const auto index = static_cast<std::size_t>(time / interval_) % delays_us_.size();
        return Nanos(1000) * delays_us_[index];
    }
    Nanos shortest() const { return Nanos(1000) * std::ranges::min(delays_us_); }

private:
    std::span<const std::uint32_t> delays_us_;
    Nanos interval_{};
};

}  // namespace subflow

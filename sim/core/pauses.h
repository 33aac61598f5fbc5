// Intervals in which a transmitter sends nothing and its queue waits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fields.h"
#include "memory.h"
#include "units.h"

namespace subflow {

struct Pause {
    Nanos from{};
    Nanos to{};
};
SUBFLOW_FIELDS(Pause, from, to)

// Sorted, disjoint pauses. A transmission interrupted by a pause continues afterwards where it stopped.
class Pauses {
public:
    explicit Pauses(std::vector<Pause> pauses) : pauses_(std::move(pauses)) {}

    // End of a transmission of `duration` that begins at `start`.
    Nanos end_of(Nanos start, Nanos duration) const {
        auto next = std::ranges::upper_bound(pauses_, start, {}, &Pause::to);
        for (; next != pauses_.end() && start + duration > next->from; ++next) {
            duration -= std::max(Nanos(0), next->from - start);
            start = next->to;
        }
        return start + duration;
    }
    // The first time at or after `time` outside all pauses.
    Nanos working_at(Nanos time) const {
        const auto next = std::ranges::upper_bound(pauses_, time, {}, &Pause::to);
        return next != pauses_.end() && next->from <= time ? next->to : time;
    }

    std::size_t heap_bytes() const { return heap_bytes_of(pauses_); }

private:
    std::vector<Pause> pauses_;
};

}  // namespace subflow

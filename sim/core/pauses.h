// Times in which a transmitter stands still and what waits for it stays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "units.h"

namespace subflow {

struct Pause {
    Nanos from{};
    Nanos to{};
};

// In order, apart from each other. What is being sent when one begins goes on after it where it stopped.
class Pauses {
public:
    explicit Pauses(std::vector<Pause> pauses) : pauses_(std::move(pauses)) {}

    // When work of `duration` that begins at `start` is done.
    Nanos end_of(Nanos start, Nanos duration) const {
        auto next = std::ranges::upper_bound(pauses_, start, {}, &Pause::to);
        for (; next != pauses_.end() && start + duration > next->from; ++next) {
            duration -= std::max(Nanos(0), next->from - start);
            start = next->to;
        }
        return start + duration;
    }
    // When it works, at `time` or after it.
    Nanos working_at(Nanos time) const {
        const auto next = std::ranges::upper_bound(pauses_, time, {}, &Pause::to);
        return next != pauses_.end() && next->from <= time ? next->to : time;
    }

    std::size_t heap_bytes() const { return heap_bytes_of(pauses_); }

private:
    std::vector<Pause> pauses_;
};

}  // namespace subflow

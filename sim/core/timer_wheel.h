// Expiry of a Linux timer: timers expire at ticks of the clock, and long timeouts have a coarser resolution.
#pragma once

#include <cstdint>

#include "units.h"

namespace subflow {

// The wheel has levels of 64 slots, each eight times as long as those of the level below. A timer fires in the slot
// after its expiry, so that it is late by up to an eighth of its length and never early. Ticks count from the start of
// the run.
// Source: Linux kernel/time/timer.c (calc_index)
inline Nanos wheel_expiry(Nanos now, Nanos timeout, Nanos tick) {
    constexpr std::int64_t kSlots = 64;
    constexpr int kLevels = 9;
    const std::int64_t ticks = (timeout.value + tick.value - 1) / tick.value;
    int shift = 0;
    for (int level = 1; level < kLevels && ticks >= (kSlots - 1) << shift; ++level) shift += 3;
    const std::int64_t ends = now.value / tick.value + ticks;
    return Nanos((((ends >> shift) + 1) << shift) * tick.value);
}

}  // namespace subflow

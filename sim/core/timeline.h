// Events at times that are known beforehand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "memory.h"
#include "scenario.h"
#include "units.h"

namespace subflow {

// Starts and stops of flows, changes of a scenario, and live changes during the run, in order of time.
class Timeline {
public:
    enum class Kind : std::uint8_t { FlowStart, FlowStop, Change, LiveChange };
    struct Entry {
        Nanos at;
        std::uint32_t index = 0;  // flow, or position in Scenario::events or in live_changes()
        Kind kind = Kind::Change;
    };

    Timeline() = default;
    Timeline(const Scenario& scenario, std::uint64_t seed);

    // Time of the next entry; kNever at the end.
    Nanos next_at() const { return next_ < entries_.size() ? entries_[next_].at : kNever; }
    Entry take_next() { return entries_[next_++]; }

    // Schedules these changes for time `at`, ignoring their own `at`, after all entries planned for that time.
    void add(std::span<const EventSpec> changes, Nanos at);
    // The added changes, in order.
    const std::vector<EventSpec>& live_changes() const { return live_changes_; }

    std::size_t heap_bytes() const { return heap_bytes_of(entries_, live_changes_); }

private:
    std::vector<Entry> entries_;
    std::size_t next_ = 0;
    std::vector<EventSpec> live_changes_;
};

}  // namespace subflow

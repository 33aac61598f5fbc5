// Timers of delayed ACKs that leave on one link, for receivers that run ahead of the clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory.h"
#include "units.h"

namespace subflow {

// All packets of these receivers arrive from one link, in order, and all their ACKs enter one other link, also in order
// (lookahead.cpp). A packet that arrives ahead of the clock therefore first lets all earlier timers expire. Before the
// last of these packets, an arrival that would cancel a timer has been seen.
//
// Timers are lazy, as in EventQueue: postponing or cancelling one costs nothing, because it wakes early.
class AckTimers {
public:
    struct Timer {
        Nanos time;
        std::uint32_t subflow;
    };

    // The subflow whose timer in EventQueue stands for all timers here, so that they expire without further packets.
    explicit AckTimers(std::uint32_t leader) : leader_(leader) {}
    std::uint32_t leader() const { return leader_; }

    // Time of the first timer; kNever without one.
    Nanos due() const { return due_; }

    void add(Timer timer) {
        timers_.push_back(timer);
        std::ranges::push_heap(timers_, is_later);
        due_ = timers_.front().time;
    }
    bool empty() const { return timers_.empty(); }
    // Subflow of the first timer. Requires a timer.
    std::uint32_t next() const { return timers_.front().subflow; }
    // Requires a timer.
    Timer take_first() {
        std::ranges::pop_heap(timers_, is_later);
        const Timer first = timers_.back();
        timers_.pop_back();
        due_ = timers_.empty() ? kNever : timers_.front().time;
        return first;
    }

    std::size_t heap_bytes() const { return heap_bytes_of(timers_); }

private:
    // Timers of the same time expire in the order of their subflows, as in EventQueue.
    static bool is_later(const Timer& a, const Timer& b) {
        return a.time != b.time ? a.time > b.time : a.subflow > b.subflow;
    }

    Nanos due_ = kNever;
    std::uint32_t leader_;
    std::vector<Timer> timers_;
};

}  // namespace subflow

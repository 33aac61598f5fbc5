// What comes by the subflows of a connection, put into the order of the connection afterwards.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "check.h"
#include "memory.h"
#include "ring.h"
#include "scenario.h"
#include "units.h"

namespace subflow {

// A receiver answers ahead of the clock (lookahead.cpp) where its answer depends on nothing but what comes by its
// subflow. With several subflows the DATA_ACK is the exception, and so is the delivery to the application. Hence the
// arrivals of each subflow wait in a lane of their own, and many at a time are settled, in the order in which the clock
// would have come to them, once somebody asks for what has become of them. An acknowledgement names its place in the
// lane; which DATA_ACK it stands for the sender finds out when that makes a difference.
class DataLane {
public:
    // Instead of a data number, where an acknowledgement leaves without news for the connection: a packet had been
    // there before, or a delayed one is due.
    static constexpr std::uint32_t kNothing = 0xffffffff;
    static constexpr std::uint32_t kTimer = 0xfffffffe;

    struct Arrival {
        Nanos at;
        Nanos heard_at;  // when the sender has got the acknowledgement that left with it; kNever: not yet, or never
        std::uint32_t data_seq;  // or one of the above
        std::uint32_t next;  // settled: the DATA_ACK from here on. Before: its turn among those that came by its link
    };

    DataLane() = default;
    // `link`: the last one of the way here; `is_order_free`: Link::is_order_free().
    DataLane(std::uint32_t ordinal, std::uint32_t link, bool is_order_free)
        : ordinal_(ordinal), link_(link), is_order_free_(is_order_free) {}

    SF_INLINE void add(Nanos at, std::uint32_t data_seq, std::uint32_t turn) {
        Arrival& arrival = arrivals_.push_slot();
        arrival.at = at;
        arrival.heard_at = kNever;
        arrival.data_seq = data_seq;
        arrival.next = turn;
    }
    // What an acknowledgement carries that leaves with the arrival added last.
    std::uint32_t latest() const { return arrivals_.end_pos() - 1; }

    // The sender has got the acknowledgement that left with the arrival at `position`.
    SF_INLINE void hear(std::uint32_t position, Nanos now) {
        SF_VALIDATE(position - heard_end_ < arrivals_.end_pos() - heard_end_);
        arrivals_[position].heard_at = now;
        heard_end_ = position + 1;
    }
    bool has_heard() const { return heard_end_ != arrivals_.begin_pos(); }
    // Only while it has.
    const Arrival& latest_heard() const { return arrivals_[heard_end_ - 1]; }
    bool has_settled_heard() const {
        return settled_end_ - arrivals_.begin_pos() >= heard_end_ - arrivals_.begin_pos();
    }
    // Of what has been heard and settled: when the sender first got a DATA_ACK of at least `data_ack`; kNever: not by
    // this lane.
    Nanos first_heard(std::uint32_t data_ack) const {
        Nanos first = kNever;
        for (std::uint32_t pos = heard_end_; pos != arrivals_.begin_pos() && arrivals_[pos - 1].next >= data_ack; --pos)
            first = std::min(first, arrivals_[pos - 1].heard_at);
        return first;
    }
    void forget_heard() { arrivals_.pop_front(heard_end_ - arrivals_.begin_pos()); }
    // Only of what is settled and not forgotten.
    std::uint32_t data_ack_of(std::uint32_t position) const { return arrivals_[position].next; }

    // The first one that is not settled: when it came (kNever: there is none), and itself.
    Nanos next_at() const { return settled_end_ == arrivals_.end_pos() ? kNever : arrivals_[settled_end_].at; }
    Arrival& next() { return arrivals_[settled_end_]; }
    void settle_next() { ++settled_end_; }
    // Whether of two that came at the same time the next of this lane was first.
    bool precedes(const DataLane& other) const {
        const Arrival& a = arrivals_[settled_end_];
        const Arrival& b = other.arrivals_[other.settled_end_];
        if ((a.data_seq == kTimer) != (b.data_seq == kTimer)) return b.data_seq == kTimer;
        if (a.data_seq != kTimer && link_ != other.link_) return link_ < other.link_;
        return a.data_seq == kTimer || is_order_free_ ? ordinal_ < other.ordinal_ : a.next < b.next;
    }

    std::size_t heap_bytes() const { return heap_bytes_of(arrivals_); }

private:
    Ring<Arrival> arrivals_;
    std::uint32_t settled_end_ = 0;
    std::uint32_t heard_end_ = 0;
    std::uint32_t ordinal_ = 0;
    std::uint32_t link_ = 0;
    bool is_order_free_ = false;
};

// The lanes of a connection, to be settled: of(i) is the lane of its i-th subflow.
template <class Of>
class DataLanes {
public:
    DataLanes(std::uint32_t count, Of of) : count_(count), of_(of) {
        for (std::uint32_t i = 0; i < count_; ++i) next_at_[i] = of_(i).next_at();
    }

    // Calls take(i, arrival) for what came before `end`, in order.
    template <class Take>
    SF_INLINE void settle_until(Nanos end, Take&& take) {
        for (;;) {
            std::uint32_t first = count_;
            Nanos earliest = end;
            Nanos second = end;
            for (std::uint32_t i = 0; i < count_; ++i) {
                const Nanos at = next_at_[i];
                const bool is_tie = at == earliest && first != count_;
                if (at < earliest || (is_tie && of_(i).precedes(of_(first)))) {
                    second = earliest;
                    earliest = at;
                    first = i;
                } else if (at < second || is_tie) {
                    second = at;
                }
            }
            if (first == count_) return;
            DataLane& lane = of_(first);
            do {
                take(first, lane.next());
                lane.settle_next();
                next_at_[first] = lane.next_at();
            } while (next_at_[first] < second);
        }
    }
    // The same for all of which the sender has got the acknowledgement, and for what came before them.
    template <class Take>
    void settle_heard(Take&& take) {
        Nanos latest{};
        for (std::uint32_t i = 0; i < count_; ++i)
            if (of_(i).has_heard()) latest = std::max(latest, of_(i).latest_heard().at);
        settle_until(latest, take);
        // What came at that very time, but no more than that: others may yet come at it.
        for (bool is_open = true; is_open;) {
            is_open = false;
            std::uint32_t first = count_;
            for (std::uint32_t i = 0; i < count_; ++i) {
                is_open |= !of_(i).has_settled_heard();
                if (next_at_[i] == latest && (first == count_ || of_(i).precedes(of_(first)))) first = i;
            }
            if (!is_open) return;
            take(first, of_(first).next());
            of_(first).settle_next();
            next_at_[first] = of_(first).next_at();
        }
    }

private:
    std::uint32_t count_;
    Of of_;
    std::array<Nanos, kMaxSubflows> next_at_;
};

}  // namespace subflow

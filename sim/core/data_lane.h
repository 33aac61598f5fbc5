// Arrivals on the subflows of a connection, put into the order of the connection afterwards.
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

// A receiver answers ahead of the clock (lookahead.cpp) if its answer depends only on the packets of its own subflow.
// With several subflows, the DATA_ACK and the delivery to the application depend on all of them. The arrivals of each
// subflow therefore wait in a lane. Many arrivals are settled at a time, in the order of their simulated times, when
// the result is needed. An acknowledgement carries its position in the lane, and the sender looks up the DATA_ACK when
// the value matters.
class DataLane {
public:
    // Values in place of a data number: kNothing for an arrival without new data, kTimer for the expiry of a delayed
    // ACK.
    static constexpr std::uint32_t kNothing = 0xffffffff;
    static constexpr std::uint32_t kTimer = 0xfffffffe;

    struct Arrival {
        Nanos at;
        Nanos heard_at;          // time at which its acknowledgement reached the sender; kNever: not yet
        std::uint32_t data_seq;  // data number, kNothing or kTimer
        std::uint32_t next;      // settled: DATA_ACK after this arrival; unsettled: order of processing
    };

    DataLane() = default;
    // `link`: last link of the forward path; `is_order_free`: Link::is_order_free() of that link.
    DataLane(std::uint32_t ordinal, std::uint32_t link, bool is_order_free)
        : ordinal_(ordinal), link_(link), is_order_free_(is_order_free) {}

    SF_INLINE void add(Nanos at, std::uint32_t data_seq, std::uint32_t turn) {
        Arrival& arrival = arrivals_.push_slot();
        arrival.at = at;
        arrival.heard_at = kNever;
        arrival.data_seq = data_seq;
        arrival.next = turn;
    }
    // Position of the latest arrival, which its acknowledgement carries.
    std::uint32_t latest() const { return arrivals_.end_pos() - 1; }

    // The sender has received the acknowledgement of the arrival at `position`.
    SF_INLINE void hear(std::uint32_t position, Nanos now) {
        SF_VALIDATE(position - heard_end_ < arrivals_.end_pos() - heard_end_);
        arrivals_[position].heard_at = now;
        heard_end_ = position + 1;
    }
    bool has_heard() const { return heard_end_ != arrivals_.begin_pos(); }
    // Requires has_heard().
    const Arrival& latest_heard() const { return arrivals_[heard_end_ - 1]; }
    bool has_settled_heard() const {
        return settled_end_ - arrivals_.begin_pos() >= heard_end_ - arrivals_.begin_pos();
    }
    // Time at which the sender first received a DATA_ACK of at least `data_ack`, among the heard and settled arrivals
    // of this lane; kNever if it has not received any.
    Nanos first_heard(std::uint32_t data_ack) const {
        Nanos first = kNever;
        for (std::uint32_t pos = heard_end_; pos != arrivals_.begin_pos() && arrivals_[pos - 1].next >= data_ack; --pos)
            first = std::min(first, arrivals_[pos - 1].heard_at);
        return first;
    }
    void drop_acked() { arrivals_.pop_front(heard_end_ - arrivals_.begin_pos()); }
    // Requires that the arrival is settled and not yet dropped by drop_acked().
    std::uint32_t data_ack_of(std::uint32_t position) const { return arrivals_[position].next; }

    // Time of the first unsettled arrival, or kNever if all arrivals are settled; next() returns this arrival.
    Nanos next_at() const { return settled_end_ == arrivals_.end_pos() ? kNever : arrivals_[settled_end_].at; }
    Arrival& next() { return arrivals_[settled_end_]; }
    void settle_next() { ++settled_end_; }
    // True if the next arrival of this lane precedes that of `other`, for arrivals at the same time.
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

// The lanes of a connection during settlement: of(i) is the lane of its i-th subflow.
template <class Of>
class DataLanes {
public:
    DataLanes(std::uint32_t count, Of of) : count_(count), of_(of) {
        for (std::uint32_t i = 0; i < count_; ++i) next_at_[i] = of_(i).next_at();
    }

    // Calls take(i, arrival) for the arrivals before `end`, in order.
    template <class Take>
    SF_INLINE void settle_until(Nanos end, Take&& take) {
        if (count_ == 2) return settle_two(end, take);
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
            do settle_next(first, take);
            while (next_at_[first] < second);
        }
    }
    // Settles all arrivals whose acknowledgement has reached the sender, and all earlier arrivals.
    template <class Take>
    void settle_acked(Take&& take) {
        Nanos latest{};
        for (std::uint32_t i = 0; i < count_; ++i)
            if (of_(i).has_heard()) latest = std::max(latest, of_(i).latest_heard().at);
        settle_until(latest, take);
        // Settle only as many arrivals at exactly that time as necessary: later calls may add arrivals with the same
        // time.
        for (bool is_open = true; is_open;) {
            is_open = false;
            std::uint32_t first = count_;
            for (std::uint32_t i = 0; i < count_; ++i) {
                is_open |= !of_(i).has_settled_heard();
                if (next_at_[i] == latest && (first == count_ || of_(i).precedes(of_(first)))) first = i;
            }
            if (!is_open) return;
            settle_next(first, take);
        }
    }

private:
    // Two lanes are merged without a search.
    template <class Take>
    SF_INLINE void settle_two(Nanos end, Take&& take) {
        while (std::min(next_at_[0], next_at_[1]) < end) {
            const bool is_second = next_at_[1] < next_at_[0] || (next_at_[1] == next_at_[0] && of_(1).precedes(of_(0)));
            settle_next(is_second, take);
        }
    }
    template <class Take>
    SF_INLINE void settle_next(std::uint32_t i, Take&& take) {
        DataLane& lane = of_(i);
        take(i, lane.next());
        lane.settle_next();
        next_at_[i] = lane.next_at();
    }

    std::uint32_t count_;
    Of of_;
    std::array<Nanos, kMaxSubflows> next_at_;
};

}  // namespace subflow

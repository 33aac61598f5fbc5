// Arrivals on the subflows of a connection, put into the order of the connection afterwards.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

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
    // Order of the next arrival among those of other lanes at the same time: data before timers, then by link. On one
    // link, packets follow each other in the order of the offers, or by subflow on a pure delay.
    std::uint64_t next_rank() const {
        const Arrival& arrival = arrivals_[settled_end_];
        if (arrival.data_seq == kTimer) [[unlikely]]
            return std::uint64_t{1} << 63 | ordinal_;
        return std::uint64_t{link_} << 32 | (is_order_free_ ? ordinal_ : arrival.next);
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
//
// A tournament finds the next arrival of many lanes: each match stores its loser, so that a new arrival of the winner
// plays only the matches between its lane and the final.
template <class Of>
class DataLanes {
public:
    DataLanes(std::uint32_t count, Of of) : size_(std::bit_ceil(count)), count_(count), of_(of) {
        for (std::uint32_t i = 0; i < size_; ++i) {
            next_[i] = i < count_ ? next_of(i) : kNone;
            // The winner of a match waits in the next one for the lanes with higher numbers.
            std::uint32_t winner = i;
            std::uint32_t match = (size_ + i) / 2;
            for (std::uint32_t place = i; (place & 1) != 0; place /= 2, match /= 2) play(match, winner);
            losers_[match] = winner;
        }
    }

    // Calls take(i, arrival) for the arrivals before `end`, in order.
    template <class Take>
    SF_INLINE void settle_until(Nanos end, Take&& take) {
        if (has_two()) {
            while (std::min(next_[0].at, next_[1].at) < end) settle_first<true>(take);
        } else {
            while (next_[losers_[0]].at < end) settle_first<false>(take);
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
        for (std::uint32_t i = 0; i < count_; ++i)
            while (!of_(i).has_settled_heard()) has_two() ? settle_first<true>(take) : settle_first<false>(take);
    }

private:
    // The next arrival of a lane.
    struct Next {
        Nanos at;
        std::uint64_t rank;

        bool precedes(const Next& other) const { return at < other.at || (at == other.at && rank < other.rank); }
    };
    static constexpr Next kNone{kNever, 0};

    Next next_of(std::uint32_t i) const {
        const DataLane& lane = of_(i);
        return lane.next_at() < kNever ? Next{lane.next_at(), lane.next_rank()} : kNone;
    }
    SF_INLINE void play(std::uint32_t match, std::uint32_t& winner) {
        if (next_[losers_[match]].precedes(next_[winner])) std::swap(losers_[match], winner);
    }
    bool has_two() const { return count_ == 2; }
    SF_INLINE std::uint32_t first_of_two() const {
        if (next_[0].at == next_[1].at) [[unlikely]]
            return of_(1).next_rank() < of_(0).next_rank();
        return next_[1].at < next_[0].at;
    }
    // kIsOfTwo: two lanes need neither a tournament nor their ranks, except for arrivals at the same time.
    template <bool kIsOfTwo, class Take>
    SF_INLINE void settle_first(Take&& take) {
        std::uint32_t first = kIsOfTwo ? first_of_two() : losers_[0];
        DataLane& lane = of_(first);
        take(first, lane.next());
        lane.settle_next();
        if (kIsOfTwo) {
            next_[first].at = lane.next_at();
            return;
        }
        next_[first] = next_of(first);
        for (std::uint32_t match = (size_ + first) / 2; match != 0; match /= 2) play(match, first);
        losers_[0] = first;
    }

    static_assert(std::has_single_bit(kMaxSubflows));

    std::uint32_t size_;  // number of lanes, rounded up to a power of two
    std::uint32_t count_;
    Of of_;
    // [match] 1 is the final, and the winners of the matches 2 m and 2 m + 1 play match m; 0: winner of the final
    std::array<std::uint32_t, kMaxSubflows> losers_;
    std::array<Next, kMaxSubflows> next_;
};

}  // namespace subflow

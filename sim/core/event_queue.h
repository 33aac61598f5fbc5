// The pending events, ordered by (time, source).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "check.h"
#include "fetch.h"
#include "memory.h"
#include "units.h"

namespace subflow {

// Each source (a link's next arrival, a subflow's timer, …) has a fixed number and at most one live event. The number
// decides ties in time, so that the order is total and depends only on the scenario; with a global sequence counter, it
// would also depend on the history of insertions.
//
// A 4-ary heap of keys of 8 bytes, with the time above the source; two sets of four children share a cache line. Times
// are relative to `base_`, because a key has fewer bits for them than Nanos: 52 days with 4 000 sources, 3 days with
// 60 000. Later events share the last time of the range, and once they reach the front, rebase() moves the range.
//
// Timers are lazy: postponing one costs nothing, because it wakes early and is rescheduled. To fire a timer earlier,
// push() finds and moves its entry if the heap is small. In a large heap, it adds an entry, and the superseded one is
// skipped when it reaches the front.
class EventQueue {
public:
    explicit EventQueue(std::size_t source_count = 0)
        : source_bits_(static_cast<int>(std::bit_width(source_count))), pending_(source_count, kNever) {
        heap_.reserve(2 * source_count + 8);
    }

    // Makes `source` fire at `time` or earlier: the handler of an early wake-up returns the real deadline.
    void schedule(std::uint32_t source, Nanos time) {
        if (time < pending_[source]) [[unlikely]]
            push(source, time);
    }

    bool empty() const { return heap_.empty(); }
    // Time of the first event, or an earlier time if the event lies beyond the range of the keys.
    Nanos next_time() const { return heap_.empty() ? kNever : time_of(heap_.front()); }

    // True if the queue has so many sources that data of the next source has probably left the processor's caches, and
    // find_candidates() finds four entries.
    bool has_many() const { return pending_.size() > kSearched && heap_.size() > 4; }
    struct Candidates {
        std::uint32_t next;    // source of the next event, unless the current event schedules an earlier one
        std::uint32_t newest;  // source that has become one of the four candidates for the next event
    };
    // Called once in each event. Requires has_many().
    Candidates find_candidates() {
        // The entry that the last event moved to the root has left its place to the newest candidate.
        const std::uint32_t newest = source_of(heap_[likely_]);
        likely_ = 1 + static_cast<std::uint32_t>(least_of_four(&heap_[1]));
        return {source_of(heap_[likely_]), newest};
    }

    // Takes the next event and calls `handle(source, time)`; a superseded entry is only removed, and an event beyond
    // the range of the keys only moves the range. The handler returns the time at which the source fires again (kNever:
    // not until scheduled again). The entry is replaced in place, which saves a pop and a push per packet.
    template <class Handler>
    void dispatch(Handler&& handle) {
        const Key first = heap_.front();
        const std::uint32_t source = source_of(first);
        const Nanos time = time_of(first);
        if (pending_[source] != time) [[unlikely]] {
            if (is_beyond_range(first))
                rebase();
            else
                remove_front();  // superseded by an earlier deadline that already fired
            return;
        }
        // During the handler, the entry stays at the root under a key below all others.
        heap_.front() = 0;
        pending_[source] = Nanos(-1);  // the return value of the handler replaces its own schedule() calls
        const Nanos again = handle(source, time);
        pending_[source] = again;
        if (again < kNever) {
            SF_VALIDATE(again >= time);
            sift_down(key(again, source));
        } else {
            remove_front();
        }
    }

    // Throws InternalError unless the heap order holds and every pending source has its entry.
    void check_invariants() const {
        std::vector<bool> is_found(pending_.size(), false);
        for (std::size_t i = 0; i < heap_.size(); ++i) {
            SF_ASSERT(i == 0 || heap_[i] >= heap_[(i - 1) / 4]);
            const std::uint32_t source = source_of(heap_[i]);
            if (pending_[source] < kNever && key(pending_[source], source) == heap_[i]) is_found[source] = true;
        }
        for (std::size_t source = 0; source < pending_.size(); ++source)
            SF_ASSERT(pending_[source] == kNever || is_found[source]);
    }

    // See Network::fetch_ahead().
    void fetch_ahead() const {
        fetch_some(heap_.data(), heap_.size());
        fetch_some(pending_.data(), pending_.size());
    }
    std::size_t heap_bytes() const { return heap_bytes_of(heap_, pending_); }

private:
    // Largest heap in which push() searches for the superseded entry. With pacing, every second packet makes a timer
    // fire earlier, and without the search each superseded entry would stay for a retransmission timeout.
    static constexpr std::size_t kSearched = 512;

    using Key = std::uint64_t;

    std::uint64_t range() const { return ~std::uint64_t{0} >> source_bits_; }
    Key key(Nanos time, std::uint32_t source) const {
        return std::min(static_cast<std::uint64_t>((time - base_).value), range()) << source_bits_ | source;
    }
    Nanos time_of(Key key) const { return base_ + Nanos(static_cast<std::int64_t>(key >> source_bits_)); }
    std::uint32_t source_of(Key key) const {
        return static_cast<std::uint32_t>(key & ((std::uint64_t{1} << source_bits_) - 1));
    }
    bool is_beyond_range(Key key) const { return key >> source_bits_ == range(); }

    // Begins the next range of keys at the end of this one, because no event before it remains, and removes superseded
    // entries.
    [[gnu::cold, gnu::noinline]] void rebase() {
        base_ += Nanos(static_cast<std::int64_t>(range()));
        heap_.clear();
        for (std::uint32_t source = 0; source < pending_.size(); ++source)
            if (pending_[source] < kNever) heap_.push_back(key(pending_[source], source));
        std::ranges::sort(heap_);
    }

    void push(std::uint32_t source, Nanos time) {
        std::size_t place = heap_.size();
        if (pending_[source] < kNever && place <= kSearched) {
            const Key live = key(pending_[source], source);
            for (place = 0; heap_[place] != live; ++place) {
            }
        }
        pending_[source] = time;
        if (place == heap_.size()) heap_.emplace_back();
        heap_[place] = key(time, source);
        sift_up(place);
    }

    // Index of the least of four adjacent children. Computed without branches: the result is nearly random, and the
    // processor would mispredict half of the branches.
    static std::size_t least_of_four(const Key* children) {
        const auto first = static_cast<std::size_t>(children[1] < children[0]);
        const auto second = 2 + static_cast<std::size_t>(children[3] < children[2]);
        const auto chooses_second = static_cast<std::size_t>(children[second] < children[first]);
        return first ^ ((first ^ second) & (0 - chooses_second));
    }
    // Index of the lesser of two keys, by a branch: the processor can predict the order of the few sources of a
    // small network.
    static std::size_t lesser(const Key* keys, std::size_t a, std::size_t b) { return keys[b] < keys[a] ? b : a; }

    void sift_up(std::size_t i) {
        const Key moving = heap_[i];
        while (i > 0) {
            const std::size_t parent = (i - 1) / 4;
            if (moving >= heap_[parent]) break;
            heap_[i] = heap_[parent];
            i = parent;
        }
        heap_[i] = moving;
    }

    // Replaces the first entry.
    SF_INLINE void sift_down(Key moving) {
        constexpr std::size_t kFew = 12;
        Key* const heap = heap_.data();
        const std::size_t n = heap_.size();
        std::size_t i = 0;
        std::size_t child = 1;
        const auto ends_at = [&](std::size_t least) {
            if (heap[least] >= moving) return true;
            heap[i] = heap[least];
            i = least;
            child = 4 * i + 1;
            return false;
        };
        if (n > kFew) {
            while (child + 4 <= n)
                if (ends_at(child + least_of_four(heap + child))) break;
        } else {
            while (child + 4 <= n)
                if (ends_at(lesser(heap, lesser(heap, child, child + 1), lesser(heap, child + 2, child + 3)))) break;
        }
        if (child < n && child + 4 > n) {
            std::size_t least = child;
            for (std::size_t c = child + 1; c < n; ++c) least = lesser(heap, least, c);
            ends_at(least);
        }
        heap[i] = moving;
    }

    void remove_front() {
        const Key last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sift_down(last);
    }

    int source_bits_;
    std::uint32_t likely_ = 1;  // place of the candidate for the next event in the latest find_candidates()
    Nanos base_{};              // earliest time of a key
    std::vector<Key> heap_;
    std::vector<Nanos> pending_;  // [source] time of its live entry; kNever: no live entry
};

}  // namespace subflow

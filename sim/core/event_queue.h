// The pending events, ordered by (time, source).
#pragma once

#include <array>
#include <cstdint>
#include <utility>
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
// A 4-ary heap of 16-byte entries: four children share a cache line. Timers are lazy: postponing one costs nothing,
// because it wakes early and is rescheduled. To fire a timer earlier, push() finds and moves its entry if the heap
// is small. In a large heap, it adds an entry, and the superseded one is skipped when it reaches the front.
class EventQueue {
public:
    explicit EventQueue(std::size_t source_count = 0) : pending_(source_count, kNever) {
        heap_.reserve(2 * source_count + 8);
    }

    // Makes `source` fire at `time` or earlier: the handler of an early wake-up returns the real deadline.
    void schedule(std::uint32_t source, Nanos time) {
        if (time < pending_[source]) [[unlikely]]
            push(source, time);
    }

    bool empty() const { return heap_.empty(); }
    Nanos next_time() const { return heap_.empty() ? kNever : heap_.front().time; }

    // True if the queue has so many sources that data of the next source has probably left the processor's caches, and
    // next_four() finds four entries.
    bool has_many() const { return pending_.size() > kSearched && heap_.size() > 4; }
    // Sources of four events, the likeliest first. One of these events follows the first event, unless that event
    // schedules an earlier one. Requires has_many().
    std::array<std::uint32_t, 4> next_four() const {
        std::array<std::uint32_t, 4> sources;
        for (std::size_t i = 0; i < 4; ++i) sources[i] = static_cast<std::uint32_t>(heap_[1 + i].source);
        std::swap(sources[0], sources[least_of_four(&heap_[1])]);
        return sources;
    }

    // Takes the next event and calls `handle(source, time)`; a superseded entry is only removed. The handler returns
    // the time at which the source fires again (kNever: not until scheduled again). The entry is replaced in place,
    // which saves a pop and a push per packet.
    template <class Handler>
    void dispatch(Handler&& handle) {
        const auto source = static_cast<std::uint32_t>(heap_.front().source);
        const Nanos time = heap_.front().time;
        if (pending_[source] != time) {  // superseded by an earlier deadline that already fired
            remove_front();
            return;
        }
        // During the handler, the entry stays at the root under a key below all others.
        heap_.front().time = Nanos(-1);
        pending_[source] = Nanos(-1);  // the return value of the handler replaces its own schedule() calls
        const Nanos again = handle(source, time);
        pending_[source] = again;
        if (again < kNever) {
            SF_VALIDATE(again >= time);
            sift_down(again, source);
        } else {
            remove_front();
        }
    }

    // Throws InternalError unless the heap order holds and every pending source has its entry.
    void check_invariants() const {
        std::vector<bool> is_found(pending_.size(), false);
        for (std::size_t i = 0; i < heap_.size(); ++i) {
            SF_ASSERT(i == 0 || !before(heap_[i], heap_[(i - 1) / 4]));
            if (pending_[heap_[i].source] == heap_[i].time) is_found[heap_[i].source] = true;
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

    struct Entry {
        Nanos time;
        std::uint64_t source = 0;  // as wide as the time: copies read words exactly as they were written
    };

    void push(std::uint32_t source, Nanos time) {
        const Entry live{pending_[source], source};
        std::size_t place = heap_.size();
        if (live.time < kNever && place <= kSearched)
            for (place = 0; key(heap_[place]) != key(live); ++place) {
            }
        pending_[source] = time;
        if (place == heap_.size()) heap_.emplace_back();
        heap_[place] = {time, source};
        sift_up(place);
    }

    // Comparing both fields as one number of 128 bits takes two instructions.
    static bool before(const Entry& a, const Entry& b) { return key(a) < key(b); }
    static __int128 key(const Entry& e) { return static_cast<__int128>(e.time.value) << 64 | e.source; }

    // Index of the least of four adjacent children. Computed without branches: the result is nearly random, and the
    // processor would mispredict half of the branches.
    static std::size_t least_of_four(const Entry* children) {
        const auto first = static_cast<std::size_t>(before(children[1], children[0]));
        const auto second = 2 + static_cast<std::size_t>(before(children[3], children[2]));
        const auto chooses_second = static_cast<std::size_t>(before(children[second], children[first]));
        return first ^ ((first ^ second) & (0 - chooses_second));
    }
    // Index of the lesser of two entries, by a branch: the processor can predict the order of the few sources of a
    // small network.
    static std::size_t lesser(const Entry* entries, std::size_t a, std::size_t b) {
        return before(entries[b], entries[a]) ? b : a;
    }

    void sift_up(std::size_t i) {
        const Entry moving = heap_[i];
        while (i > 0) {
            const std::size_t parent = (i - 1) / 4;
            if (!before(moving, heap_[parent])) break;
            heap_[i] = heap_[parent];
            i = parent;
        }
        heap_[i] = moving;
    }

    // Replaces the first entry. Its fields are passed and written one by one: copying an entry whose fields were just
    // written would stall the processor until the writes reach the cache.
    SF_INLINE void sift_down(Nanos time, std::uint64_t source) {
        const Entry moving{time, source};
        constexpr std::size_t kFew = 12;
        Entry* const heap = heap_.data();
        const std::size_t n = heap_.size();
        std::size_t i = 0;
        for (;;) {
            const std::size_t child = 4 * i + 1;
            if (child >= n) break;
            std::size_t least = child;
            if (child + 4 > n) {
                for (std::size_t c = child + 1; c < n; ++c) least = lesser(heap, least, c);
            } else if (n > kFew) {
                least += least_of_four(heap + child);
            } else {
                least = lesser(heap, lesser(heap, child, child + 1), lesser(heap, child + 2, child + 3));
            }
            if (!before(heap[least], moving)) break;
            heap[i].time = heap[least].time;
            heap[i].source = heap[least].source;
            i = least;
        }
        heap[i].time = time;
        heap[i].source = source;
    }

    void remove_front() {
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sift_down(last.time, last.source);
    }

    std::vector<Entry> heap_;
    std::vector<Nanos> pending_;  // [source] time of its live entry; kNever: no live entry
};

}  // namespace subflow

// The pending events, ordered by (time, source).
#pragma once

#include <cstdint>
#include <vector>

#include "check.h"
#include "fetch.h"
#include "memory.h"
#include "units.h"

namespace subflow {

// Sources (a link's next arrival, a subflow's timer, …) are numbered once and for all, and each has at most one live
// event. Ties in time are decided by the source's number, so the order is total and depends on nothing but the
// scenario; a global sequence counter would have tied it to the history of insertions.
//
// A 4-ary heap of 16-byte entries: four children share a cache line. Timers are lazy: moving one later costs nothing
// (it wakes early and is put off), moving one earlier adds an entry and the superseded one is skipped when it surfaces.
class EventQueue {
public:
    explicit EventQueue(std::size_t source_count = 0) : pending_(source_count, kNever) {
        heap_.reserve(2 * source_count + 8);
    }

    // Makes `source` fire at `time` or earlier: the handler of an early wake-up answers with its real deadline.
    void schedule(std::uint32_t source, Nanos time) {
        if (time < pending_[source]) [[unlikely]]
            push(source, time);
    }

    bool empty() const { return heap_.empty(); }
    Nanos next_time() const { return heap_.empty() ? kNever : heap_.front().time; }

    // Takes the next event and lets `handle(source, time)` process it; the handler returns when the source wants to
    // fire again (kNever: not until scheduled anew). The entry is replaced in place, which saves a pop and a push per
    // packet.
    template <class Handler>
    void dispatch(Handler&& handle) {
        const Entry event = heap_.front();
        if (pending_[event.source] != event.time) {  // superseded by an earlier deadline that already fired
            remove_front();
            return;
        }
        // While the handler runs the entry stays at the root under a key below all others, whatever gets scheduled.
        heap_.front().time = Nanos(-1);
        pending_[event.source] = Nanos(-1);  // the handler's own schedule() calls are answered by its return value
        const Nanos again = handle(static_cast<std::uint32_t>(event.source), event.time);
        pending_[event.source] = again;
        if (again < kNever) {
            SF_VALIDATE(again >= event.time);
            sift_down(again, event.source);
        } else {
            remove_front();
        }
    }

    // Throws InternalError unless the heap is one and every source that waits has its entry.
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
    struct Entry {
        Nanos time;
        std::uint64_t source = 0;  // as wide as the time: a copy of the entry then reads just what was written
    };

    void push(std::uint32_t source, Nanos time) {
        pending_[source] = time;
        heap_.push_back({time, source});
        sift_up(heap_.size() - 1);
    }

    // Without branches: which child is the least is as good as random.
    static bool before(const Entry& a, const Entry& b) {
        return (a.time < b.time) | ((a.time == b.time) & (a.source < b.source));
    }
    static std::size_t lesser(const std::vector<Entry>& heap, std::size_t a, std::size_t b) {
        return before(heap[b], heap[a]) ? b : a;
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

    // Puts an entry in the place of the first one. Its parts are passed and written one by one: a copy of an entry just
    // written would have to wait until it is in the cache.
    SF_INLINE void sift_down(Nanos time, std::uint64_t source) {
        const std::size_t n = heap_.size();
        const Entry moving{time, source};
        std::size_t i = 0;
        for (;;) {
            const std::size_t child = 4 * i + 1;
            if (child >= n) break;
            std::size_t least = child;
            if (child + 4 <= n) {
                least = lesser(heap_, lesser(heap_, child, child + 1), lesser(heap_, child + 2, child + 3));
            } else {
                for (std::size_t c = child + 1; c < n; ++c) least = lesser(heap_, least, c);
            }
            if (!before(heap_[least], moving)) break;
            heap_[i].time = heap_[least].time;
            heap_[i].source = heap_[least].source;
            i = least;
        }
        heap_[i].time = time;
        heap_[i].source = source;
    }

    void remove_front() {
        const Entry last = heap_.back();
        heap_.pop_back();
        if (!heap_.empty()) sift_down(last.time, last.source);
    }

    std::vector<Entry> heap_;
    std::vector<Nanos> pending_;  // [source] when its live entry fires; kNever: none
};

}  // namespace subflow

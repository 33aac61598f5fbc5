// A set of sequence numbers, stored as sorted disjoint half-open ranges: the packets that a receiver holds out of
// order, or those that SACK blocks have reported to a sender.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory.h"

namespace subflow {

struct SeqRange {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;  // one past the last member
    friend bool operator==(SeqRange, SeqRange) = default;
};

// A sorted vector rather than a tree: the ranges are few, and new ones nearly always join or follow the last one.
// Removal from the front only moves an offset.
class RangeSet {
public:
    bool empty() const { return first_ == ranges_.size(); }
    std::size_t size() const { return ranges_.size() - first_; }
    const SeqRange& operator[](std::size_t i) const { return ranges_[first_ + i]; }
    const SeqRange& front() const { return ranges_[first_]; }
    const SeqRange& back() const { return ranges_.back(); }

    void clear() {
        ranges_.clear();
        first_ = 0;
    }

    bool contains(std::uint32_t seq) const {
        const auto it = first_ending_after(seq);
        return it != ranges_.end() && it->begin <= seq;
    }

    // Adds `added` and calls `on_new(begin, end)` for each part that was not yet a member, in order.
    // Returns the merged range that now holds `added`.
    template <class OnNew>
    SeqRange add(SeqRange added, OnNew&& on_new) {
        auto it = first_touching(added.begin);
        SeqRange merged = added;
        std::uint32_t uncovered = added.begin;
        auto last = it;
        for (; last != ranges_.end() && last->begin <= added.end; ++last) {
            if (last->begin > uncovered) on_new(uncovered, last->begin);
            uncovered = std::max(uncovered, std::min(last->end, added.end));
            merged.begin = std::min(merged.begin, last->begin);
            merged.end = std::max(merged.end, last->end);
        }
        if (uncovered < added.end) on_new(uncovered, added.end);
        if (it == last) {
            ranges_.insert(it, merged);
        } else {
            *it = merged;
            ranges_.erase(it + 1, last);
        }
        return merged;
    }

    SeqRange add(SeqRange added) {
        return add(added, [](std::uint32_t, std::uint32_t) {});
    }

    // Removes all members below `seq`.
    void erase_below(std::uint32_t seq) {
        while (!empty() && front().end <= seq) ++first_;
        if (!empty() && front().begin < seq) ranges_[first_].begin = seq;
        if (empty()) {
            clear();
        } else if (first_ > 64 && first_ > ranges_.size() / 2) {  // amortised: fewer ranges are moved than erased
            ranges_.erase(ranges_.begin(), ranges_.begin() + offset());
            first_ = 0;
        }
    }

    // Frees memory beyond the needs of the current ranges.
    void shrink() {
        ranges_.erase(ranges_.begin(), ranges_.begin() + offset());
        first_ = 0;
        ranges_.shrink_to_fit();
    }
    std::size_t heap_bytes() const { return heap_bytes_of(ranges_); }

private:
    std::ptrdiff_t offset() const { return static_cast<std::ptrdiff_t>(first_); }
    // The first range that touches or follows `seq`. Checks the last three ranges first: one of them nearly always
    // matches, so that the branch predictor succeeds.
    std::vector<SeqRange>::iterator first_touching(std::uint32_t seq) {
        const auto begin = ranges_.begin() + offset();
        auto end = ranges_.end();
        for (int tries = 3; tries > 0; --tries) {
            if (end == begin || (end - 1)->end < seq) return end;
            --end;
        }
        return std::lower_bound(begin, end, seq, [](const SeqRange& r, std::uint32_t s) { return r.end < s; });
    }
    std::vector<SeqRange>::const_iterator first_ending_after(std::uint32_t seq) const {
        return std::upper_bound(ranges_.begin() + offset(), ranges_.end(), seq,
                                [](std::uint32_t s, const SeqRange& r) { return s < r.end; });
    }

    std::vector<SeqRange> ranges_;
    std::size_t first_ = 0;  // index of the first range; earlier ones have been erased
};

}  // namespace subflow

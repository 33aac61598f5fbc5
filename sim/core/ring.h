// A double-ended queue addressed by ever-growing positions, for example for the packets between send and
// acknowledgement.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "check.h"
#include "fetch.h"

namespace subflow {

// Elements occupy positions [begin, end). A position identifies the same element for its whole life, so that other
// objects can store the number. The capacity is a power of two that doubles when full. It starts at 0, because most
// rings of most flows stay empty; after warm-up, no push allocates. std::deque would double the cost of a look-up on
// the hot path, and would continue to allocate blocks.
template <class T>
class Ring {
public:
    // `capacity`: size of the first allocation, in elements.
    explicit Ring(std::uint32_t capacity = 16) : first_capacity_(std::bit_ceil(capacity)) {}
    Ring(const Ring& other) : mask_(other.mask_), first_capacity_(other.first_capacity_) {
        if (other.capacity() != 0) copy_slots(other, other.capacity());
        begin_ = other.begin_;
        end_ = other.end_;
    }
    Ring(Ring&&) noexcept = default;
    Ring& operator=(const Ring& other) { return *this = Ring(other); }
    Ring& operator=(Ring&&) noexcept = default;
    ~Ring() = default;

    std::uint32_t begin_pos() const { return begin_; }
    std::uint32_t end_pos() const { return end_; }
    std::uint32_t size() const { return end_ - begin_; }
    bool empty() const { return begin_ == end_; }

    T& operator[](std::uint32_t pos) { return slots_[pos & mask_]; }
    const T& operator[](std::uint32_t pos) const { return slots_[pos & mask_]; }
    T& front() { return (*this)[begin_]; }
    const T& front() const { return (*this)[begin_]; }
    T& back() { return (*this)[end_ - 1]; }
    const T& back() const { return (*this)[end_ - 1]; }

    SF_INLINE T& push_back(const T& value) { return push_slot() = value; }

    // The slot of a new element at the end, for the caller to fill in.
    SF_INLINE T& push_slot() {
        if (is_full()) [[unlikely]]
            grow();
        return slots_[end_++ & mask_];
    }

    // The slot that push_slot() returns next.
    T& next_slot() {
        if (is_full()) [[unlikely]]
            grow();
        return slots_[end_ & mask_];
    }

    void pop_front(std::uint32_t count = 1) {
        SF_VALIDATE(count <= size());
        begin_ += count;
    }

    // Makes the first allocation now.
    void reserve() {
        if (capacity() == 0) grow();
    }

    // Frees memory beyond the largest of `count`, size() and the first allocation, rounded up to a power of two.
    void shrink(std::uint32_t count = 0) {
        const std::uint32_t enough = std::bit_ceil(std::max({count, size(), first_capacity_}));
        if (capacity() > enough) copy_slots(*this, enough);
    }

    // Prefetches some slots, starting at `pos`.
    void fetch_from(std::uint32_t pos) const {
        const std::uint32_t first = pos & mask_;
        fetch_some(slots_.get() + first, capacity() - first, kFetchedBytes);
    }

    // Drops all elements at `pos` and later positions.
    void truncate(std::uint32_t pos) {
        SF_VALIDATE(pos - begin_ <= size());
        end_ = pos;
    }

    // Empties the ring and continues numbering at `pos`.
    void reset(std::uint32_t pos = 0) { begin_ = end_ = pos; }
    std::size_t heap_bytes() const { return capacity() * sizeof(T); }

private:
    std::uint32_t capacity() const { return mask_ + 1; }
    // size() == capacity(): with signs, the mask of an empty ring is -1.
    bool is_full() const { return static_cast<std::int32_t>(size()) > static_cast<std::int32_t>(mask_); }
    // Out of line, so that push_back() is small enough to be inlined wherever it is used.
    [[gnu::noinline]] void grow() { copy_slots(*this, capacity() == 0 ? first_capacity_ : capacity() * 2); }
    void copy_slots(const Ring& from, std::uint32_t capacity) {
        auto slots = std::make_unique<T[]>(capacity);
        for (std::uint32_t pos = from.begin_; pos != from.end_; ++pos) slots[pos & (capacity - 1)] = from[pos];
        slots_ = std::move(slots);
        mask_ = capacity - 1;
    }

    static constexpr std::size_t kFetchedBytes = 1536;

    std::unique_ptr<T[]> slots_;
    std::uint32_t mask_ = ~std::uint32_t{0};  // capacity - 1
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
    std::uint32_t first_capacity_;
};

}  // namespace subflow

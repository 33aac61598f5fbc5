// What the tests can know of and do to the heap: this program's operator new is its own (allocations.cpp).
#pragma once

#include <cstddef>

namespace subflow::testing {

// Of the calling thread, since it began.
long allocation_count();

// Of the whole program: bytes in use as the heap rounds them up, and the most there were since restart_peak().
std::size_t heap_bytes();
std::size_t peak_heap_bytes();
void restart_peak();

// While it lives, every allocation of this thread beyond the first `granted` ones throws std::bad_alloc.
class OutOfMemory {
public:
    explicit OutOfMemory(long granted);
    ~OutOfMemory();
    OutOfMemory(const OutOfMemory&) = delete;
    OutOfMemory& operator=(const OutOfMemory&) = delete;
};

}  // namespace subflow::testing

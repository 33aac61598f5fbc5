// Heap measurements and simulated allocation failures for tests: the test program replaces operator new
// (allocations.cpp).
#pragma once

#include <cstddef>

namespace subflow::testing {

// Allocations of the calling thread since its start.
long allocation_count();

// Heap of the whole program: bytes in use, with the heap's rounding, and their peak since restart_peak().
std::size_t heap_bytes();
std::size_t peak_heap_bytes();
void restart_peak();

// During its lifetime, every allocation of this thread beyond the first `granted` ones throws std::bad_alloc.
class OutOfMemory {
public:
    explicit OutOfMemory(long granted);
    ~OutOfMemory();
    OutOfMemory(const OutOfMemory&) = delete;
    OutOfMemory& operator=(const OutOfMemory&) = delete;
};

}  // namespace subflow::testing

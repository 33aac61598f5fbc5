// Replaces the global operator new and delete of the test program, to count, to measure and to fail.
#include "allocations.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

thread_local long count = 0;
thread_local long granted_count = std::numeric_limits<long>::max();
std::atomic<std::size_t> bytes = 0;
std::atomic<std::size_t> peak_bytes = 0;

#ifdef _WIN32
// Windows frees an aligned block by another function and does not report its size, so the size is stored before the
// block.
constexpr std::size_t kBefore = 64;  // no type of the core needs a larger alignment

void* taken(std::size_t size, std::size_t alignment) {
    void* p = alignment > kBefore ? nullptr : _aligned_malloc(kBefore + size, kBefore);
    if (p == nullptr) return nullptr;
    *static_cast<std::size_t*>(p) = size;
    return static_cast<std::byte*>(p) + kBefore;
}
std::size_t size_of(void* p) {
    return *reinterpret_cast<std::size_t*>(static_cast<std::byte*>(p) - kBefore);
}
void give_back(void* p) {
    if (p != nullptr) _aligned_free(static_cast<std::byte*>(p) - kBefore);
}
#else
void* taken(std::size_t size, std::size_t alignment) {
    return std::aligned_alloc(alignment, size);
}
std::size_t size_of(void* p) {
    return malloc_usable_size(p);
}
void give_back(void* p) {
    std::free(p);
}
#endif

void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
    ++count;
    const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
    void* p = count > granted_count ? nullptr : taken(rounded, alignment);
    if (p == nullptr) return nullptr;
    const std::size_t now = bytes += size_of(p);
    std::size_t peak = peak_bytes;
    while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
    }
    return p;
}

void release(void* p) noexcept {
    if (p != nullptr) bytes -= size_of(p);
    give_back(p);
}

}  // namespace

// Not inlined: g++ would see malloc on the one side and operator delete on the other, and warn of a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    if (void* p = allocate(size)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return allocate(size);
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
    if (void* p = allocate(size, static_cast<std::size_t>(alignment))) return p;
    throw std::bad_alloc();
}
// Those of sanitizers would not call these.
[[gnu::noinline]] void* operator new[](std::size_t size) {
    return operator new(size);
}
[[gnu::noinline]] void operator delete[](void* p) noexcept {
    release(p);
}
[[gnu::noinline]] void operator delete[](void* p, std::size_t) noexcept {
    release(p);
}
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept {
    release(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
    release(p);
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
    release(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept {
    release(p);
}
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept {
    release(p);
}

namespace subflow::testing {

long allocation_count() {
    return count;
}

std::size_t heap_bytes() {
    return bytes;
}

std::size_t peak_heap_bytes() {
    return ::peak_bytes;
}

void restart_peak() {
    ::peak_bytes = bytes.load();
}

OutOfMemory::OutOfMemory(long granted) {
    granted_count = count + granted;
}

OutOfMemory::~OutOfMemory() {
    granted_count = std::numeric_limits<long>::max();
}

}  // namespace subflow::testing

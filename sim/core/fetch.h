// Prefetching of memory before it is read.
#pragma once

#include <algorithm>
#include <cstddef>

namespace subflow {

inline constexpr std::size_t kCacheLine = 64;

// Prefetches at most the first `most_bytes` bytes of an array of values; `count` may be 0.
template <class T>
void fetch_some(const T* values, std::size_t count, std::size_t most_bytes = 4096) {
    const std::size_t bytes = std::min(count * sizeof(T), most_bytes);
    for (std::size_t at = 0; at < bytes; at += kCacheLine)
        __builtin_prefetch(reinterpret_cast<const char*>(values) + at);
}

}  // namespace subflow

// heap_bytes(): the heap memory that a value owns, in bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace subflow {

// Heap memory of a value as requested, without the allocator's rounding. A type that owns heap memory must define
// heap_bytes(), otherwise the generic function does not compile. Shared objects, for example policies, are not counted.
template <class T>
std::size_t heap_bytes(const T& value);
template <class T>
std::size_t heap_bytes(const std::vector<T>& values);
template <class T>
std::size_t heap_bytes(const std::optional<T>& value);
template <class... T>
std::size_t heap_bytes(const std::variant<T...>& value);

inline std::size_t heap_bytes(const std::string& text) {
    return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

template <class T>
std::size_t heap_bytes(const T& value) {
    if constexpr (requires { value.heap_bytes(); }) {
        return value.heap_bytes();
    } else {
        static_assert(std::is_trivially_destructible_v<T>, "it may keep something on the heap: give it heap_bytes()");
        return 0;
    }
}

template <class T>
std::size_t heap_bytes(const std::vector<T>& values) {
    std::size_t bytes = values.capacity() * sizeof(T);
    if constexpr (!std::is_trivially_destructible_v<T>)
        for (const T& value : values) bytes += heap_bytes(value);
    return bytes;
}

template <class T>
std::size_t heap_bytes(const std::optional<T>& value) {
    return value ? heap_bytes(*value) : 0;
}

template <class... T>
std::size_t heap_bytes(const std::variant<T...>& value) {
    return std::visit([](const auto& each) { return heap_bytes(each); }, value);
}

// Sum of heap_bytes() over several values.
template <class... T>
std::size_t heap_bytes_of(const T&... values) {
    return (heap_bytes(values) + ...);
}

}  // namespace subflow

// An optional value on the heap that is copied with its owner.
#pragma once

#include <memory>
#include <utility>

#include "memory.h"

namespace subflow {

// For large state that few objects of a type have: all other objects store only a null pointer. A copy of the owner
// gets a copy of the value; a unique_ptr would forbid the copy, and a shared_ptr would share the value.
template <class T>
class Boxed {
public:
    Boxed() = default;
    Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
    Boxed(Boxed&&) noexcept = default;
    Boxed& operator=(const Boxed& other) { return *this = Boxed(other); }
    Boxed& operator=(Boxed&&) noexcept = default;
    ~Boxed() = default;

    template <class... Arguments>
    T& emplace(Arguments&&... arguments) {
        value_ = std::make_unique<T>(std::forward<Arguments>(arguments)...);
        return *value_;
    }
    explicit operator bool() const { return value_ != nullptr; }
    T& operator*() { return *value_; }
    const T& operator*() const { return *value_; }
    T* operator->() { return value_.get(); }
    const T* operator->() const { return value_.get(); }
    std::size_t heap_bytes() const { return value_ ? sizeof(T) + subflow::heap_bytes(*value_) : 0; }

private:
    std::unique_ptr<T> value_;
};

}  // namespace subflow

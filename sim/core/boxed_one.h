// One of the types of a variant, on the heap in its own size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

#include "check.h"
#include "fetch.h"
#include "memory.h"

namespace subflow {

// A variant has the size of its largest type. Where many objects hold a variant and its types differ in size, each
// takes only its own size here. `Choice` is a class with the type `Variant`; only the calls need its definition.
template <class Choice>
class BoxedOne {
public:
    BoxedOne() = default;
    BoxedOne(const BoxedOne& other) {
        if (other.value_ != nullptr) other.visit([this](const auto& value) { this->keep(value); });
        index_ = other.index_;
    }
    BoxedOne(BoxedOne&& other) noexcept { swap(other); }
    BoxedOne& operator=(const BoxedOne& other) {
        BoxedOne(other).swap(*this);
        return *this;
    }
    BoxedOne& operator=(BoxedOne&& other) noexcept {
        BoxedOne(std::move(other)).swap(*this);
        return *this;
    }
    ~BoxedOne() {
        if (value_ != nullptr) visit([]<class T>(T& value) { delete &value; });
    }

    void emplace(const Choice& choice) {
        BoxedOne made;
        std::visit([&](const auto& value) { made.keep(value); }, static_cast<const typename Choice::Variant&>(choice));
        made.index_ = static_cast<std::uint8_t>(choice.index());
        swap(made);
    }
    // A copy of the value.
    Choice get() const {
        return visit([](const auto& value) { return Choice(value); });
    }
    const void* address() const { return value_; }
    void fetch() const { fetch_some(static_cast<const char*>(value_), bytes_); }

    // Calls visitor(value).
    template <class Visitor>
    decltype(auto) visit(Visitor&& visitor) {
        return call_by_table<false>(value_, visitor);
    }
    template <class Visitor>
    decltype(auto) visit(Visitor&& visitor) const {
        return call_by_table<true>(value_, visitor);
    }
    // As a chain of comparisons without a table of functions: see visit_inline().
    template <std::size_t kFirst = 0, class Visitor>
    SF_INLINE decltype(auto) visit_inline(Visitor&& visitor) {
        using Variant = typename Choice::Variant;
        using Value = std::variant_alternative_t<kFirst, Variant>;
        if constexpr (kFirst + 1 == std::variant_size_v<Variant>) {
            return visitor(*static_cast<Value*>(value_));
        } else {
            if (index_ == kFirst) return visitor(*static_cast<Value*>(value_));
            return visit_inline<kFirst + 1>(visitor);
        }
    }

    std::size_t heap_bytes() const {
        return bytes_ + visit([](const auto& value) { return subflow::heap_bytes(value); });
    }

private:
    template <class T>
    void keep(const T& value) {
        value_ = new T(value);
        bytes_ = sizeof(T);
    }
    void swap(BoxedOne& other) noexcept {
        std::swap(value_, other.value_);
        std::swap(bytes_, other.bytes_);
        std::swap(index_, other.index_);
    }
    template <bool kIsConst, class Visitor>
    decltype(auto) call_by_table(void* value, Visitor& visitor) const {
        using Variant = typename Choice::Variant;
        return [&]<std::size_t... I>(std::index_sequence<I...>) -> decltype(auto) {
            using Result = decltype(call<0, kIsConst, Visitor>(value, visitor));
            static constexpr std::array<Result (*)(void*, Visitor&), sizeof...(I)> kCalls{
                &call<I, kIsConst, Visitor>...};
            return kCalls[index_](value, visitor);
        }(std::make_index_sequence<std::variant_size_v<Variant>>());
    }
    template <std::size_t kIndex, bool kIsConst, class Visitor>
    static decltype(auto) call(void* value, Visitor& visitor) {
        using Value = std::variant_alternative_t<kIndex, typename Choice::Variant>;
        return visitor(*static_cast<std::conditional_t<kIsConst, const Value, Value>*>(value));
    }

    void* value_ = nullptr;
    std::uint16_t bytes_ = 0;
    std::uint8_t index_ = 0;  // of the type in the variant
};

}  // namespace subflow

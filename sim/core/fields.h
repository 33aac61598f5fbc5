// Names of the fields of a structure and words for the values of an enumeration. They are declared once, next to the
// type, for code that reads and writes all fields or values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

// The fields of a structure in the order of their declaration. A list that omits a field does not compile, because the
// structured binding needs a name for each field. Use the macro in the namespace of the structure.
#define SUBFLOW_FIELDS(Type, ...)                                      \
    constexpr std::string_view field_names(std::type_identity<Type>) { \
        return #__VA_ARGS__;                                           \
    }                                                                  \
    template <class T>                                                 \
        requires std::is_same_v<std::remove_const_t<T>, Type>          \
    auto fields_of(T& structure) {                                     \
        auto& [__VA_ARGS__] = structure;                               \
        return std::tie(__VA_ARGS__);                                  \
    }

// Words for the values of an enumeration, in order, as in scenario files. word_of() returns an empty word for a value
// beyond the last.
#define SUBFLOW_WORDS(Enum, ...)                                       \
    constexpr std::string_view word_of(Enum value) {                   \
        constexpr std::string_view kWords[] = {__VA_ARGS__};           \
        const auto i = static_cast<std::size_t>(value);                \
        return i < std::size(kWords) ? kWords[i] : std::string_view(); \
    }

namespace subflow {

template <class T>
concept Structure = requires(T& structure) { fields_of(structure); };

template <class T>
constexpr std::size_t kFieldCount = std::tuple_size_v<decltype(fields_of(std::declval<T&>()))>;

template <class T>
constexpr std::array<std::string_view, kFieldCount<T>> names_of() {
    std::array<std::string_view, kFieldCount<T>> names;
    std::string_view rest = field_names(std::type_identity<T>());
    for (std::string_view& name : names) {
        const std::size_t end = std::min(rest.find(','), rest.size());
        name = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return names;
}

}  // namespace subflow

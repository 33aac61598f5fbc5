// The names of a structure's fields, written once beside it, for what reads and writes all of them.
#pragma once

#include <string_view>
#include <tuple>
#include <type_traits>

// The fields of a structure in the order of their declaration. One that is missing here does not compile: that many
// names do not take the structure apart. Use it in the namespace of the structure.
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

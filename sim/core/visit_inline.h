// Visits a variant without a table of functions.
#pragma once

#include <cstddef>
#include <type_traits>
#include <variant>

#include "check.h"

namespace subflow {

// Like std::visit, but as a chain of comparisons, which compilers turn into a jump. With more than eleven alternatives,
// libstdc++ calls through a table, which prevents inlining. Used for calls per packet.
template <std::size_t kFirst = 0, class Visitor, class Variant>
SF_INLINE decltype(auto) visit_inline(Visitor&& visit, Variant& variant) {
    if constexpr (kFirst + 1 == std::variant_size_v<std::remove_const_t<Variant>>) {
        return visit(*std::get_if<kFirst>(&variant));
    } else {
        if (variant.index() == kFirst) return visit(*std::get_if<kFirst>(&variant));
        return visit_inline<kFirst + 1>(visit, variant);
    }
}

}  // namespace subflow

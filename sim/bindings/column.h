// Columns of a bound struct as numpy arrays.
#pragma once

#include <nanobind/ndarray.h>

#include <type_traits>

namespace subflow::bindings {

template <class T>
using Column =
    nanobind::ndarray<nanobind::numpy, const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

// A view of a table's member vector, which keeps the table alive.
template <auto kMember, class Table>
auto column(const Table& table) {
    const auto& values = table.*kMember;
    return Column<typename std::decay_t<decltype(values)>::value_type>(values.data(), {values.size()},
                                                                       nanobind::find(&table));
}

}  // namespace subflow::bindings

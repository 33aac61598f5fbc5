// Trained policies: reading of files, and evaluation.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>

#include "bindings.h"
#include "policy/network_policy.h"
#include "policy/policy_error.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

using Rows = nb::ndarray<const float, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const bool, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Not const, because nanobind does not support pointers to const. NetworkPolicy derives from enable_shared_from_this,
// so that scenarios hold the policy itself and not its Python object, whose destructor would take the GIL.
std::shared_ptr<NetworkPolicy> read(const nb::bytes& file) {
    const std::span bytes(static_cast<const std::byte*>(file.data()), file.size());
    return std::const_pointer_cast<NetworkPolicy>(read_policy(bytes));
}

void check_shapes(const NetworkPolicy& policy, const Rows& rows, const Flags& mask, const Flags& acting) {
    if (rows.shape(2) != policy.document().row_width())
        throw nb::value_error(("rows have " + std::to_string(policy.document().row_width()) + " numbers").c_str());
    for (const Flags* flags : {&mask, &acting}) {
        if (flags->shape(0) != rows.shape(0) || flags->shape(1) != rows.shape(1))
            throw nb::value_error("mask and acting have a flag for each row");
    }
}

template <class T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<T>(std::move(values));
    const nb::capsule owner(kept, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
    return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.begin(), owner);
}

// Maps rows [observations, slots, width] to actions [observations, slots, action width] and values [observations]. The
// mask is false for empty slots. Actions of slots that do not act are 0.
nb::tuple act_many(const NetworkPolicy& policy, const Rows& rows, const Flags& mask, const Flags& acting) {
    check_shapes(policy, rows, mask, acting);
    const std::size_t count = rows.shape(0), slots = rows.shape(1), width = policy.action_width();
    std::vector<float> actions(count * slots * width), values(count);
    {
        const nb::gil_scoped_release released;
        policy.act_many({.slots = slots,
                         .rows = std::span(rows.data(), rows.size()),
                         .mask = std::span(mask.data(), mask.size()),
                         .acting = std::span(acting.data(), acting.size())},
                        actions, values);
    }
    return nb::make_tuple(array_of(std::move(actions), {count, slots, width}), array_of(std::move(values), {count}));
}

}  // namespace

void bind_policy(nb::module_& m) {
    nb::class_<NetworkPolicy>(m, "NetworkPolicy")
        .def_prop_ro("document", [](const NetworkPolicy& p) { return p.document().text; })
        .def_prop_ro("controller", [](const NetworkPolicy& p) { return p.document().controller; })
        .def_prop_ro("history", [](const NetworkPolicy& p) { return p.document().history; })
        .def_prop_ro("width", [](const NetworkPolicy& p) { return p.document().row_width(); })
        .def_prop_ro("slots", &NetworkPolicy::slots)
        .def("act_many", &act_many, "rows"_a, "mask"_a, "acting"_a,
             nb::sig("def act_many(self, rows: numpy.typing.NDArray[numpy.float32], "
                     "mask: numpy.typing.NDArray[numpy.bool_], acting: numpy.typing.NDArray[numpy.bool_]) -> "
                     "tuple[numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.float32]]"),
             "Maps rows [observations, slots, width] to actions [observations, slots, action width] and values.");
    m.def("read_policy", &read, "file"_a, "The policy in the bytes of a file, for the controller named there.");
}

}  // namespace subflow::bindings

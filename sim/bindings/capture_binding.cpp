// Packets captured at the network interfaces of a flow's hosts.
#include "capture.h"

#include <nanobind/ndarray.h>

#include "bindings.h"
#include "column.h"

namespace nb = nanobind;

namespace subflow::bindings {

namespace {

using Ranges = nb::ndarray<nb::numpy, const std::uint32_t, nb::shape<-1, 3, 2>, nb::c_contig, nb::device::cpu>;
using Counters = nb::ndarray<nb::numpy, const std::uint32_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_capture(nb::module_& m) {
    nb::class_<PacketTable>(m, "PacketTable")
        .def_prop_ro("time_ns", &column<&PacketTable::time_ns, PacketTable>)
        .def_prop_ro("echo_ns", &column<&PacketTable::echo_ns, PacketTable>)
        .def_prop_ro("seq", &column<&PacketTable::seq, PacketTable>)
        .def_prop_ro("data_seq", &column<&PacketTable::data_seq, PacketTable>)
        .def_prop_ro("transmission", &column<&PacketTable::transmission, PacketTable>)
        .def_prop_ro("right_edge", &column<&PacketTable::right_edge, PacketTable>)
        .def_prop_ro("subflow", &column<&PacketTable::subflow, PacketTable>)
        .def_prop_ro(
            "sack",
            [](const PacketTable& table) { return Ranges(table.sack.data(), {table.size(), 3, 2}, nb::find(&table)); })
        .def_prop_ro("size_bytes", &column<&PacketTable::size_bytes, PacketTable>)
        .def_prop_ro("payload_bytes", &column<&PacketTable::payload_bytes, PacketTable>)
        .def_prop_ro("kind", &column<&PacketTable::kind, PacketTable>)
        .def_prop_ro("station", &column<&PacketTable::station, PacketTable>)
        .def_prop_ro("incarnation", &column<&PacketTable::incarnation, PacketTable>)
        .def_prop_ro("sack_count", &column<&PacketTable::sack_count, PacketTable>)
        .def_prop_ro("ecn", &column<&PacketTable::ecn, PacketTable>)
        .def_prop_ro("ecn_flags", &column<&PacketTable::ecn_flags, PacketTable>)
        .def_prop_ro("has_ecn_option", &column<&PacketTable::has_ecn_option, PacketTable>)
        .def_prop_ro("ecn_bytes", [](const PacketTable& table) {
            return Counters(table.ecn_bytes.data(), {table.size(), 3}, nb::find(&table));
        });
}

}  // namespace subflow::bindings

// Fates of packets: drops, marks, and the losses that senders noticed.
#include "bindings.h"
#include "column.h"
#include "fate.h"

namespace nb = nanobind;

namespace subflow::bindings {

void bind_fates(nb::module_& m) {
    nb::enum_<Fate>(m, "Fate")
        .value("UNDER_WAY", Fate::UnderWay)
        .value("ARRIVED", Fate::Arrived)
        .value("QUEUE_FULL", Fate::QueueFull)
        .value("QUEUE_LAW", Fate::QueueLaw)
        .value("RANDOM", Fate::Random)
        .value("COLLISION", Fate::Collision)
        .value("DOWN", Fate::Down)
        .value("SCRIPTED", Fate::Scripted)
        .value("MARKED", Fate::Marked);
    nb::enum_<LossSign>(m, "LossSign")
        .value("DUPLICATE_ACKS", LossSign::DuplicateAcks)
        .value("REORDERING_WINDOW", LossSign::ReorderingWindow)
        .value("TAIL_LOSS_PROBE", LossSign::Probe)
        .value("RTO", LossSign::Timeout)
        .value("MARKS", LossSign::Marks);

    nb::class_<LossTable>(m, "LossTable")
        .def_prop_ro("time_ns", &column<&LossTable::time_ns, LossTable>)
        .def_prop_ro("sent_ns", &column<&LossTable::sent_ns, LossTable>)
        .def_prop_ro("subflow", &column<&LossTable::subflow, LossTable>)
        .def_prop_ro("seq", &column<&LossTable::seq, LossTable>)
        .def_prop_ro("number", &column<&LossTable::number, LossTable>)
        .def_prop_ro("sign", &column<&LossTable::sign, LossTable>)
        .def_prop_ro("fate", &column<&LossTable::fate, LossTable>)
        .def_prop_ro("fate_ns", &column<&LossTable::fate_ns, LossTable>)
        .def_prop_ro("link", &column<&LossTable::link, LossTable>)
        .def_prop_ro("queue_pkts", &column<&LossTable::queue_pkts, LossTable>)
        .def_prop_ro("queue_bytes", &column<&LossTable::queue_bytes, LossTable>)
        .def_prop_ro("limit_pkts", &column<&LossTable::limit_pkts, LossTable>)
        .def_prop_ro("limit_bytes", &column<&LossTable::limit_bytes, LossTable>)
        .def_prop_ro("overtaken_ns", &column<&LossTable::overtaken_ns, LossTable>)
        .def_prop_ro("lost_acks", &column<&LossTable::lost_acks, LossTable>)
        .def_prop_ro("ack_link", &column<&LossTable::ack_link, LossTable>);

    nb::class_<FateTable>(m, "FateTable")
        .def_prop_ro("time_ns", &column<&FateTable::time_ns, FateTable>)
        .def_prop_ro("sent_ns", &column<&FateTable::sent_ns, FateTable>)
        .def_prop_ro("subflow", &column<&FateTable::subflow, FateTable>)
        .def_prop_ro("seq", &column<&FateTable::seq, FateTable>)
        .def_prop_ro("number", &column<&FateTable::number, FateTable>)
        .def_prop_ro("kind", &column<&FateTable::kind, FateTable>)
        .def_prop_ro("fate", &column<&FateTable::fate, FateTable>)
        .def_prop_ro("link", &column<&FateTable::link, FateTable>)
        .def_prop_ro("queue_pkts", &column<&FateTable::queue_pkts, FateTable>)
        .def_prop_ro("queue_bytes", &column<&FateTable::queue_bytes, FateTable>)
        .def_prop_ro("limit_pkts", &column<&FateTable::limit_pkts, FateTable>)
        .def_prop_ro("limit_bytes", &column<&FateTable::limit_bytes, FateTable>);
}

}  // namespace subflow::bindings

// State of a network at one point in time.
#include "instant.h"

#include <nanobind/ndarray.h>

#include "bindings.h"
#include "column.h"

namespace nb = nanobind;

namespace subflow::bindings {

void bind_instant(nb::module_& m) {
    using Packets = PacketsUnderWay;
    nb::class_<Packets>(m, "PacketsUnderWay")
        .def_prop_ro("link", &column<&Packets::link, Packets>)
        .def_prop_ro("subflow", &column<&Packets::subflow, Packets>)
        .def_prop_ro("kind", &column<&Packets::kind, Packets>)
        .def_prop_ro("seq", &column<&Packets::seq, Packets>)
        .def_prop_ro("size_bytes", &column<&Packets::size_bytes, Packets>)
        .def_prop_ro("progress", &column<&Packets::progress, Packets>)
        .def_prop_ro("queue_position", &column<&Packets::queue_position, Packets>);
    nb::class_<LinksNow>(m, "LinksNow")
        .def_prop_ro("queue_pkts", &column<&LinksNow::queue_pkts, LinksNow>)
        .def_prop_ro("queue_bytes", &column<&LinksNow::queue_bytes, LinksNow>)
        .def_prop_ro("is_up", &column<&LinksNow::is_up, LinksNow>)
        .def_prop_ro("delivered_pkts", &column<&LinksNow::delivered_pkts, LinksNow>)
        .def_prop_ro("dropped_pkts", &column<&LinksNow::dropped_pkts, LinksNow>);
    nb::enum_<SubflowState>(m, "SubflowState")
        .value("CLOSED", SubflowState::Closed)
        .value("JOINING", SubflowState::Joining)
        .value("OPEN", SubflowState::Open)
        .value("RECOVERY", SubflowState::Recovery)
        .value("LOSS", SubflowState::Loss)
        .value("DATAGRAMS", SubflowState::Datagrams)
        .value("REDUCED", SubflowState::Reduced);
    nb::class_<SubflowsNow>(m, "SubflowsNow")
        .def_prop_ro("is_established", &column<&SubflowsNow::is_established, SubflowsNow>)
        .def_prop_ro("state", &column<&SubflowsNow::state, SubflowsNow>)
        .def_prop_ro("cwnd_pkts", &column<&SubflowsNow::cwnd_pkts, SubflowsNow>)
        .def_prop_ro("ssthresh_pkts", &column<&SubflowsNow::ssthresh_pkts, SubflowsNow>)
        .def_prop_ro("inflight_pkts", &column<&SubflowsNow::inflight_pkts, SubflowsNow>)
        .def_prop_ro("srtt_s", &column<&SubflowsNow::srtt_s, SubflowsNow>)
        .def_prop_ro("min_rtt_s", &column<&SubflowsNow::min_rtt_s, SubflowsNow>)
        .def_prop_ro("rto_s", &column<&SubflowsNow::rto_s, SubflowsNow>)
        .def_prop_ro("pacing_rate_bps", &column<&SubflowsNow::pacing_rate_bps, SubflowsNow>);
    nb::class_<FlowsNow>(m, "FlowsNow")
        .def_prop_ro("delivered_bytes", &column<&FlowsNow::delivered_bytes, FlowsNow>)
        .def_prop_ro("reorder_queue_bytes", &column<&FlowsNow::reorder_queue_bytes, FlowsNow>)
        .def_prop_ro("is_active", &column<&FlowsNow::is_active, FlowsNow>);
    nb::class_<Instant>(m, "Instant")
        .def_prop_ro("now_ns", [](const Instant& i) { return i.now.value; })
        .def_ro("packets", &Instant::packets)
        .def_ro("links", &Instant::links)
        .def_ro("subflows", &Instant::subflows)
        .def_ro("flows", &Instant::flows);
}

}  // namespace subflow::bindings

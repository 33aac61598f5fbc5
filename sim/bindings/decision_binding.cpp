// Reasons for the decisions of controllers and schedulers.
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include "bindings.h"
#include "column.h"
#include "decision_table.h"

namespace nb = nanobind;

namespace subflow::bindings {

namespace {

using Matrix = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

}  // namespace

void bind_decisions(nb::module_& m) {
    nb::enum_<Cause>(m, "Cause")
        .value("START", Cause::Start)
        .value("ACK", Cause::Ack)
        .value("LOSS", Cause::Loss)
        .value("RTO", Cause::Timeout)
        .value("RECOVERY_EXIT", Cause::RecoveryExit)
        .value("INTERVAL", Cause::Interval)
        .value("IDLE", Cause::Idle)
        .value("SCHEDULE", Cause::Schedule)
        .value("ACTION", Cause::Action)
        .value("MARK", Cause::Mark);

    nb::class_<DecisionTable>(m, "DecisionTable")
        .def_prop_ro("time_ns", &column<&DecisionTable::time_ns, DecisionTable>)
        .def_prop_ro("owner", &column<&DecisionTable::owner, DecisionTable>)
        .def_prop_ro("cause", &column<&DecisionTable::cause, DecisionTable>)
        .def_prop_ro("rule", &column<&DecisionTable::rule, DecisionTable>)
        .def_prop_ro("cwnd_before_pkts", &column<&DecisionTable::cwnd_before_pkts, DecisionTable>)
        .def_prop_ro("cwnd_after_pkts", &column<&DecisionTable::cwnd_after_pkts, DecisionTable>)
        .def_prop_ro("rate_before_bps", &column<&DecisionTable::rate_before_bps, DecisionTable>)
        .def_prop_ro("rate_after_bps", &column<&DecisionTable::rate_after_bps, DecisionTable>)
        .def_prop_ro("numbers",
                     [](const DecisionTable& table) {
                         return Matrix(table.numbers.data(), {table.size(), kMaxDecisionNumbers}, nb::find(&table));
                     })
        .def_prop_ro("chosen", &column<&DecisionTable::chosen, DecisionTable>)
        .def_prop_ro("available", &column<&DecisionTable::available, DecisionTable>)
        .def_prop_ro("usable", &column<&DecisionTable::usable, DecisionTable>)
        .def_prop_ro("data_seq", &column<&DecisionTable::data_seq, DecisionTable>)
        .def_prop_ro("step_count", &column<&DecisionTable::step_count, DecisionTable>)
        .def_prop_ro("step_notes", &column<&DecisionTable::step_notes, DecisionTable>)
        .def_prop_ro("step_values", &column<&DecisionTable::step_values, DecisionTable>);
}

}  // namespace subflow::bindings

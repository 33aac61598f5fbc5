// Runs of a scenario, and their results.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings.h"
#include "estimate.h"
#include "instant.h"
#include "script/program.h"
#include "simulation.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

// These functions wrap calls that need exclusive use of the simulation: of the simulation, of its network, and of the
// network with the index of a flow, subflow or link.
template <class Use>
auto alone(Use use) {
    return [use](Simulation& s) {
        const Simulation::Turn turn = s.claim();
        return use(s);
    };
}
template <class Use>
auto of_network(Use use) {
    return alone([use](Simulation& s) { return use(s.network()); });
}
template <class Result>
auto of_one(Result (Network::*use)(std::size_t) const) {
    return [use](const Simulation& s, std::size_t index) {
        const Simulation::Turn turn = s.claim();
        return (s.network().*use)(index);
    };
}

std::pair<std::string, std::size_t> fullest(const Simulation& s) {
    const Network::Fullest most = s.network().fullest();
    const Scenario& scenario = s.scenario();
    const std::string& name = most.is_link ? scenario.links[most.index].name : scenario.flows[most.index].name;
    return {(most.is_link ? "link '" : "flow '") + name + "'", most.bytes};
}

using TraceValues = nb::ndarray<nb::numpy, const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The samples so far from the sample `first` on, in memory of their own.
TraceValues trace_values(const Simulation& s, std::size_t column, std::size_t first) {
    if (column >= s.recorder().columns().size()) throw nb::index_error("no such trace column");
    auto values = std::make_unique<std::vector<float>>(s.recorder().values(column, first));
    const std::vector<float>& taken = *values;
    const nb::capsule owner(values.release(), [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
    return TraceValues(taken.data(), {taken.size()}, owner);
}

// An array [records] of one field, which owns its memory.
template <class T, class Field>
nb::object interval_column(const std::vector<SubflowInterval>& intervals, Field&& field) {
    auto values = std::make_unique<T[]>(intervals.size());
    for (std::size_t i = 0; i < intervals.size(); ++i) values[i] = static_cast<T>(field(intervals[i]));
    T* const data = values.get();
    const nb::capsule owner(values.release(), [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {intervals.size()}, owner));
}

// The monitor intervals finished since the last call, as columns named as in subflow_sim.trace.Intervals.
nb::dict take_intervals(Simulation& s) {
    const std::vector<SubflowInterval> taken = s.network().take_intervals();
    const double wire_bits = s.scenario().packet_bits();
    nb::dict columns;
    const auto whole = [&](const char* name, auto field) {
        columns[name] = interval_column<std::int32_t>(taken, [&](const SubflowInterval& i) { return field(i.record); });
    };
    const auto time = [&](const char* name, auto field) {
        columns[name] =
            interval_column<std::int64_t>(taken, [&](const SubflowInterval& i) { return field(i.record).value; });
    };
    const auto real = [&](const char* name, auto field) {
        columns[name] = interval_column<double>(taken, [&](const SubflowInterval& i) { return field(i.record); });
    };
    using R = IntervalRecord;
    columns["owner"] = interval_column<std::int32_t>(taken, [](const SubflowInterval& i) { return i.subflow; });
    whole("number", [](const R& r) { return r.number; });
    whole("tag", [](const R& r) { return r.tag; });
    time("time_ns", [](const R& r) { return r.finished_at; });
    time("begin_ns", [](const R& r) { return r.begin; });
    time("end_ns", [](const R& r) { return r.end; });
    real("rate_bps", [=](const R& r) { return r.rate_pps * wire_bits; });
    real("send_rate_bps", [=](const R& r) { return r.send_rate_pps() * wire_bits; });
    real("throughput_bps", [=](const R& r) { return r.throughput_pps() * wire_bits; });
    whole("sent_pkts", [](const R& r) { return r.sent_pkts; });
    whole("delivered_pkts", [](const R& r) { return r.delivered_pkts; });
    whole("lost_pkts", [](const R& r) { return r.lost_pkts; });
    real("loss_ratio", [](const R& r) { return r.loss_ratio(); });
    real("rtt_mean_s", [](const R& r) { return r.rtt_mean_s; });
    real("rtt_min_s", [](const R& r) { return r.rtt_min_s; });
    real("rtt_gradient", [](const R& r) { return r.rtt_gradient; });
    real("rtt_gradient_error", [](const R& r) { return r.rtt_gradient_error; });
    columns["is_app_limited"] =
        interval_column<bool>(taken, [](const SubflowInterval& i) { return i.record.is_app_limited; });
    real("utility", [](const R& r) { return r.utility; });
    return columns;
}

// One dict per agent: flow and subflow of the first member that it controls, and its source of decisions.
nb::list agents(const Simulation& s) {
    constexpr std::string_view kDeciders[]{"neutral", "random", "trained", "outside"};
    nb::list told;
    for (const Agent& agent : s.network().agents()) {
        const auto served = std::ranges::find_if(agent.members(), &Agent::Member::acts);
        nb::dict each;
        each["flow"] = served->flow;
        each["subflow"] = served->subflow;
        each["decider"] = kDeciders[static_cast<std::size_t>(agent.decider().kind)];
        told.append(each);
    }
    return told;
}

}  // namespace

void bind_simulation(nb::module_& m) {
    nb::enum_<TraceScope>(m, "TraceScope")
        .value("FLOW", TraceScope::Flow)
        .value("SUBFLOW", TraceScope::Subflow)
        .value("LINK", TraceScope::Link);
    nb::class_<TraceColumn>(m, "TraceColumn")
        .def_ro("scope", &TraceColumn::scope)
        .def_ro("owner", &TraceColumn::owner)
        .def_prop_ro("name", &TraceColumn::name)
        .def_prop_ro("unit", &TraceColumn::unit);

    nb::enum_<MarkKind>(m, "MarkKind")
        .value("LOSS", MarkKind::Loss)
        .value("RTO", MarkKind::Timeout)
        .value("RECOVERED", MarkKind::Recovered)
        .value("ESTABLISHED", MarkKind::Established)
        .value("CLOSED", MarkKind::Closed)
        .value("COMPLETED", MarkKind::Completed)
        .value("LINK_UP", MarkKind::LinkUp)
        .value("LINK_DOWN", MarkKind::LinkDown)
        .value("LINK_CHANGE", MarkKind::LinkChange)
        .value("PENALISED", MarkKind::Penalised)
        .value("META_RTO", MarkKind::MetaTimeout)
        .value("ACTION", MarkKind::Action)
        .value("CONTROLLER_CHANGE", MarkKind::ControllerChange)
        .value("SCRIPTED_DROP", MarkKind::ScriptedDrop)
        .value("ANNOUNCED", MarkKind::Announced)
        .value("REFUSED", MarkKind::Refused)
        .value("STALE", MarkKind::Stale)
        .value("MARKED", MarkKind::Marked);
    nb::class_<Mark>(m, "Mark")
        .def_prop_ro("time_ns", [](const Mark& k) { return k.time.value; })
        .def_ro("value", &Mark::value)
        .def_ro("owner", &Mark::owner)
        .def_ro("kind", &Mark::kind);

    nb::class_<PacketBalance>(m, "PacketBalance")
        .def_ro("in_flight_at_start", &PacketBalance::in_flight_at_start)
        .def_ro("sent", &PacketBalance::sent)
        .def_ro("delivered", &PacketBalance::delivered)
        .def_ro("dropped", &PacketBalance::dropped)
        .def_ro("lost", &PacketBalance::lost)
        .def_ro("acked", &PacketBalance::acked);
    nb::class_<DelayResult>(m, "DelayResult")
        .def_ro("mean_s", &DelayResult::mean_s)
        .def_ro("p95_s", &DelayResult::p95_s)
        .def_ro("max_s", &DelayResult::max_s)
        .def_ro("mean_jitter_s", &DelayResult::mean_jitter_s)
        .def_ro("reordered_pkts", &DelayResult::reordered_pkts)
        .def_ro("reordered_ratio", &DelayResult::reordered_ratio)
        .def_ro("max_extent_pkts", &DelayResult::max_extent_pkts)
        .def_ro("mean_ack_s", &DelayResult::mean_ack_s)
        .def_ro("p95_ack_s", &DelayResult::p95_ack_s)
        .def_ro("max_ack_s", &DelayResult::max_ack_s);
    nb::class_<SubflowResult>(m, "SubflowResult")
        .def_ro("throughput_bps", &SubflowResult::throughput_bps)
        .def_ro("goodput_bps", &SubflowResult::goodput_bps)
        .def_ro("mean_cwnd_pkts", &SubflowResult::mean_cwnd_pkts)
        .def_ro("active_mean_cwnd_pkts", &SubflowResult::active_mean_cwnd_pkts)
        .def_ro("mean_rtt_s", &SubflowResult::mean_rtt_s)
        .def_ro("loss_ratio", &SubflowResult::loss_ratio)
        .def_ro("retransmits", &SubflowResult::retransmits)
        .def_ro("timeouts", &SubflowResult::timeouts)
        .def_ro("marked_pkts", &SubflowResult::marked_pkts)
        .def_ro("mark_reductions", &SubflowResult::mark_reductions)
        .def_ro("packets", &SubflowResult::packets)
        .def_ro("schedule_share", &SubflowResult::schedule_share)
        .def_ro("delays", &SubflowResult::delays);
    nb::class_<FlowResult>(m, "FlowResult")
        .def_ro("goodput_bps", &FlowResult::goodput_bps)
        .def_ro("completion_s", &FlowResult::completion_s)
        .def_ro("start_s", &FlowResult::start_s)
        .def_ro("active_s", &FlowResult::active_s)
        .def_ro("active_goodput_bps", &FlowResult::active_goodput_bps)
        .def_ro("mean_rtt_s", &FlowResult::mean_rtt_s)
        .def_ro("p95_rtt_s", &FlowResult::p95_rtt_s)
        .def_ro("loss_ratio", &FlowResult::loss_ratio)
        .def_ro("packets", &FlowResult::packets)
        .def_ro("retransmits", &FlowResult::retransmits)
        .def_ro("marked_pkts", &FlowResult::marked_pkts)
        .def_ro("mark_reductions", &FlowResult::mark_reductions)
        .def_ro("reinjections", &FlowResult::reinjections)
        .def_ro("duplicates", &FlowResult::duplicates)
        .def_ro("mean_hol_blocking_s", &FlowResult::mean_hol_blocking_s)
        .def_ro("max_reorder_queue_bytes", &FlowResult::max_reorder_queue_bytes)
        .def_ro("delays", &FlowResult::delays);
    nb::class_<LinkResult>(m, "LinkResult")
        .def_ro("utilisation", &LinkResult::utilisation)
        .def_ro("drops_queue", &LinkResult::drops_queue)
        .def_ro("drops_random", &LinkResult::drops_random)
        .def_ro("drops_down", &LinkResult::drops_down)
        .def_ro("drops_scripted", &LinkResult::drops_scripted)
        .def_ro("marks", &LinkResult::marks)
        .def_ro("mean_queue_pkts", &LinkResult::mean_queue_pkts)
        .def_ro("max_queue_pkts", &LinkResult::max_queue_pkts);

    nb::class_<Simulation::Snapshot>(m, "Snapshot")
        .def_prop_ro("now_ns", [](const Simulation::Snapshot& s) { return s.network.now().value; })
        .def_prop_ro("bytes", &Simulation::Snapshot::bytes);

    nb::class_<Estimate>(m, "Estimate")
        .def_ro("link_crossings", &Estimate::link_crossings)
        .def_ro("trace_bytes", &Estimate::trace_bytes)
        .def_ro("packet_bytes", &Estimate::packet_bytes)
        .def_ro("object_bytes", &Estimate::object_bytes)
        .def_ro("decision_bytes", &Estimate::decision_bytes)
        .def_prop_ro("memory_bytes", &Estimate::memory_bytes)
        .def_ro("samples", &Estimate::samples)
        .def_ro("columns", &Estimate::columns)
        .def_ro("busiest_flow", &Estimate::busiest_flow)
        .def_ro("busiest_crossings", &Estimate::busiest_crossings)
        .def_ro("fullest", &Estimate::fullest)
        .def_ro("fullest_bytes", &Estimate::fullest_bytes);
    m.def(
        "estimate",
        [](const Scenario& scenario, std::int64_t sample_interval_ns, std::optional<std::uint32_t> decision_capacity) {
            std::optional<DecisionLog::Limits> decisions;
            if (decision_capacity) decisions = {*decision_capacity, kNever};
            return estimate(scenario, Nanos(sample_interval_ns), decisions);
        },
        "scenario"_a, "sample_interval_ns"_a, "decision_capacity"_a.none() = nb::none());

    nb::enum_<RunEnd>(m, "RunEnd")
        .value("REACHED", RunEnd::Reached)
        .value("INTERRUPTED", RunEnd::Interrupted)
        .value("EXHAUSTED", RunEnd::Exhausted)
        .value("WAITING", RunEnd::Waiting)
        .value("OVER_EVENTS", RunEnd::OverEvents)
        .value("OVER_MEMORY", RunEnd::OverMemory);
    nb::class_<Simulation>(m, "Simulation")
        .def(
            "__init__",
            [](Simulation* self, const Scenario& scenario, std::uint64_t seed, std::int64_t sample_interval_ns) {
                new (self) Simulation(scenario, seed, Nanos(sample_interval_ns));
            },
            "scenario"_a, "seed"_a, "sample_interval_ns"_a)
        .def(
            "run_until",
            [](Simulation& s, std::int64_t until_ns, std::int64_t max_events) {
                return s.run_until(Nanos(until_ns), max_events);
            },
            "until_ns"_a, "max_events"_a = Simulation::kUnlimitedEvents, nb::call_guard<nb::gil_scoped_release>())
        .def("interrupt", &Simulation::interrupt)
        .def(
            "apply", [](Simulation& s, const Scenario& changes) { return s.apply(changes.events).value; }, "changes"_a,
            "Applies the events of that scenario now, in fact at the returned time in nanoseconds.")
        .def(
            "set_limits",
            [](Simulation& s, std::int64_t link_crossings, std::size_t memory_bytes) {
                s.set_limits({link_crossings, memory_bytes});
            },
            "link_crossings"_a, "memory_bytes"_a)
        .def_prop_ro("memory_bytes", alone([](const Simulation& s) { return s.memory_bytes(); }))
        .def_prop_ro(
            "fullest", alone([](const Simulation& s) { return fullest(s); }),
            "The part with the most memory, for example \"link 'wifi/forward'\" or \"flow 'download'\", and its bytes.")
        .def_prop_ro("now_ns", alone([](const Simulation& s) { return s.now().value; }))
        .def_prop_ro("duration_ns", [](const Simulation& s) { return s.duration().value; })
        .def_prop_ro("is_finished", alone([](const Simulation& s) { return s.is_finished(); }))
        .def_prop_ro("packets_delivered", of_network([](const Network& n) { return n.packets_delivered(); }))
        .def_prop_ro("packets_in_flight", of_network([](const Network& n) { return n.packets_in_flight(); }))
        .def_prop_ro("link_crossings", of_network([](const Network& n) { return n.link_crossings(); }))
        .def("signature", of_network([](const Network& n) { return n.signature(); }))
        .def("columns", [](const Simulation& s) { return s.recorder().columns(); })
        .def_prop_ro("sample_count", [](const Simulation& s) { return s.recorder().count(); })
        .def("values", &trace_values, "column"_a, "first"_a = 0)
        .def("take_marks", of_network([](Network& n) { return n.take_marks(); }))
        .def(
            "record_decisions",
            [](Simulation& s, std::uint32_t capacity, std::optional<std::int64_t> window_ns) {
                const Simulation::Turn turn = s.claim();
                s.network().record_decisions({capacity, window_ns ? Nanos(*window_ns) : kNever});
            },
            "capacity"_a, "window_ns"_a.none())
        .def("take_decisions", of_network([](Network& n) { return n.take_decisions(); }))
        .def("scripts", of_network([](const Network& n) {
                 std::vector<std::shared_ptr<ScriptProgram>> all;
                 // Python has no const; a program cannot be changed from Python.
                 for (const auto& each : n.scripts()) all.push_back(std::const_pointer_cast<ScriptProgram>(each));
                 return all;
             }),
             "Scripts that have run here, in the order of script_rules().")
        .def("script_rules", of_network([](const Network& n) { return n.script_rules(); }), nb::rv_policy::copy,
             "Further rules of decisions, numbered after all_rules().")
        .def_prop_ro(
            "failed_script", [](const Simulation& s) { return s.failed_script(); },
            "The script that failed and its line.")
        .def_prop_ro("decisions_fill", of_network([](const Network& n) { return n.decisions_fill(); }))
        .def_prop_ro("decisions_lost", of_network([](const Network& n) { return n.decisions_lost(); }))
        .def(
            "capture_packets",
            [](Simulation& s, std::uint32_t flow, std::size_t capacity) {
                const Simulation::Turn turn = s.claim();
                s.network().capture_packets(flow, capacity);
            },
            "flow"_a, "capacity"_a)
        .def("take_packets", of_network([](Network& n) { return n.take_packets(); }))
        .def_prop_ro("packets_not_captured", of_network([](const Network& n) { return n.packets_not_captured(); }))
        .def(
            "record_fates",
            [](Simulation& s, std::uint32_t flow, std::size_t capacity) {
                const Simulation::Turn turn = s.claim();
                s.network().record_fates(flow, capacity);
            },
            "flow"_a, "capacity"_a)
        .def("losses", of_network([](const Network& n) { return n.losses(); }))
        .def("fates", of_network([](const Network& n) { return n.fates(); }))
        .def_prop_ro("fates_lost", of_network([](const Network& n) { return n.fates_lost(); }))
        .def_prop_ro("marks_lost", of_network([](const Network& n) { return n.marks_lost(); }))
        .def("take_intervals", alone(&take_intervals), nb::sig("def take_intervals(self) -> dict[str, typing.Any]"))
        .def("agents", alone(&agents), nb::sig("def agents(self) -> list[dict[str, typing.Any]]"))
        .def("take_agent_steps", of_network([](Network& n) { return n.take_agent_steps(); }))
        .def_prop_ro("agent_steps_lost", of_network([](const Network& n) { return n.agent_steps_lost(); }))
        .def_prop_ro("intervals_lost", of_network([](const Network& n) { return n.intervals_lost(); }))
        .def("flow_result", of_one(&Network::flow_result), "flow"_a)
        .def("subflow_result", of_one(&Network::subflow_result), "subflow"_a)
        .def("link_result", of_one(&Network::link_result), "link"_a)
        .def("inspect", of_network([](const Network& n) { return inspect(n); }))
        .def("check_invariants", of_network([](const Network& n) { n.check_invariants(); }))
        .def("snapshot", &Simulation::snapshot)
        .def("restore", &Simulation::restore, "snapshot"_a)
        .def("fork", &Simulation::fork, "snapshot"_a);
}

}  // namespace subflow::bindings

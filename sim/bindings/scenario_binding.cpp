// Building a core scenario from plain numbers.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <map>

#include "bindings.h"
#include "policy/network_policy.h"
#include "rng.h"
#include "scenario.h"
#include "scenario_json.h"
#include "script/program.h"
#include "traffic.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

using Route = std::vector<std::uint32_t>;

template <class Unit>
std::optional<Unit> maybe(const std::optional<std::int64_t>& raw) {
    return raw ? std::optional(Unit(*raw)) : std::nullopt;
}

std::size_t add_link(Scenario& s, std::string name, double rate_bps, std::int64_t delay_ns,
                     std::optional<std::int64_t> queue_limit_pkts, std::optional<std::int64_t> queue_limit_bytes,
                     double loss, bool reorder) {
    LinkSpec link;
    link.name = std::move(name);
    link.rate = BitsPerSec(rate_bps);
    link.delay = Nanos(delay_ns);
    link.queue_limit_pkts = queue_limit_pkts;
    link.queue_limit_bytes = maybe<Bytes>(queue_limit_bytes);
    link.loss = loss;
    link.reorder = reorder;
    s.links.push_back(std::move(link));
    return s.links.size() - 1;
}

using LossModel = std::tuple<double, double, double, double>;

GilbertOptions loss_model(const LossModel& model) {
    const auto& [p, r, good, bad] = model;
    return {.p = p, .r = r, .good = good, .bad = bad};
}

void use_loss_model(Scenario& s, std::size_t link, const LossModel& model) {
    s.links.at(link).loss_model = loss_model(model);
}

void use_red(Scenario& s, std::size_t link, double min_pkts, double max_pkts, double max_p, bool gentle, double weight,
             bool spreads, bool marks) {
    s.links.at(link).discipline = RedOptions{.min_pkts = min_pkts,
                                             .max_pkts = max_pkts,
                                             .max_p = max_p,
                                             .gentle = gentle,
                                             .weight = weight,
                                             .spreads = spreads,
                                             .marks = marks};
}

CodelOptions codel_options(std::int64_t target_ns, std::int64_t interval_ns, bool marks,
                           std::optional<std::int64_t> ce_threshold_ns) {
    return {.target = Nanos(target_ns),
            .interval = Nanos(interval_ns),
            .marks = marks,
            .ce_threshold = ce_threshold_ns ? Nanos(*ce_threshold_ns) : kNever};
}

void use_codel(Scenario& s, std::size_t link, std::int64_t target_ns, std::int64_t interval_ns, bool marks,
               std::optional<std::int64_t> ce_threshold_ns) {
    s.links.at(link).discipline = codel_options(target_ns, interval_ns, marks, ce_threshold_ns);
}

void use_fq_codel(Scenario& s, std::size_t link, std::int64_t target_ns, std::int64_t interval_ns,
                  std::int64_t quantum_bytes, std::uint32_t flows, bool marks,
                  std::optional<std::int64_t> ce_threshold_ns) {
    s.links.at(link).discipline = FqCodelOptions{.codel = codel_options(target_ns, interval_ns, marks, ce_threshold_ns),
                                                 .quantum = Bytes(quantum_bytes),
                                                 .flows = flows};
}

std::vector<std::uint32_t> numbers_of(const nb::bytes& packed) {
    std::vector<std::uint32_t> numbers(packed.size() / sizeof(std::uint32_t));
    std::memcpy(numbers.data(), packed.c_str(), numbers.size() * sizeof(std::uint32_t));
    return numbers;
}

void use_dual_pi2(Scenario& s, std::size_t link, std::int64_t target_ns, std::int64_t update_ns, double alpha_hz,
                  double beta_hz, double coupling, std::int64_t step_ns, std::int64_t ramp_ns) {
    s.links.at(link).discipline = DualPi2Options{.target = Nanos(target_ns),
                                                 .update = Nanos(update_ns),
                                                 .alpha_hz = alpha_hz,
                                                 .beta_hz = beta_hz,
                                                 .coupling = coupling,
                                                 .step = Nanos(step_ns),
                                                 .ramp = Nanos(ramp_ns)};
}

void use_trace(Scenario& s, std::size_t link, const nb::bytes& opportunities_ms) {
    s.links.at(link).opportunities_ms = numbers_of(opportunities_ms);
}

void use_delay_trace(Scenario& s, std::size_t link, const nb::bytes& delays_us, std::int64_t interval_ns) {
    s.links.at(link).delays_us = numbers_of(delays_us);
    s.links.at(link).delay_interval = Nanos(interval_ns);
}

void use_jitter(Scenario& s, std::size_t link, JitterKind kind, std::int64_t spread_ns) {
    s.links.at(link).jitter = JitterOptions{.kind = kind, .spread = Nanos(spread_ns)};
}

void use_token_bucket(Scenario& s, std::size_t link, std::int64_t burst_bytes, double peak_bps) {
    s.links.at(link).bucket = TokenBucketOptions{.burst = Bytes(burst_bytes), .peak = BitsPerSec(peak_bps)};
}

void add_drop(Scenario& s, std::size_t link, std::uint32_t subflow, std::int64_t number, std::int64_t after_ns) {
    s.links.at(link).drops.push_back({subflow, number, Nanos(after_ns)});
}

void use_retransmission(Scenario& s, std::size_t link, double loss, std::int64_t delay_ns, std::uint32_t attempts) {
    s.links.at(link).retransmission =
        RetransmissionOptions{.loss = loss, .delay = Nanos(delay_ns), .attempts = attempts};
}

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

void use_pauses(Scenario& s, std::size_t link, const Spans& pauses) {
    for (const auto& [from, to] : pauses) s.links.at(link).pauses.push_back({Nanos(from), Nanos(to)});
}

void use_grants(Scenario& s, std::size_t link, std::int64_t period_ns, std::int64_t jitter_ns) {
    s.links.at(link).grants = GrantOptions{.period = Nanos(period_ns), .jitter = Nanos(jitter_ns)};
}

void use_access(Scenario& s, std::size_t link, std::uint32_t medium, AccessKind kind, std::uint32_t aggregation,
                std::int64_t airtime_ns, std::int64_t overhead_ns, std::uint32_t window_min, std::uint32_t window_max,
                std::uint32_t group) {
    s.links.at(link).access = AccessOptions{.medium = medium,
                                            .kind = kind,
                                            .aggregation = aggregation,
                                            .airtime = Nanos(airtime_ns),
                                            .overhead = Nanos(overhead_ns),
                                            .window_min = window_min,
                                            .window_max = window_max,
                                            .group = group};
}

Spans outages(const std::string& name, std::uint64_t seed, std::int64_t mean_up_ns, std::int64_t mean_down_ns,
              std::int64_t until_ns) {
    Spans spans;
    for (const Pause& pause : random_outages(name, seed, Nanos(mean_up_ns), Nanos(mean_down_ns), Nanos(until_ns)))
        spans.emplace_back(pause.from.value, pause.to.value);
    return spans;
}

double draw(const std::string& name, std::uint64_t seed, std::uint64_t number) {
    return to_unit_interval(combine64(combine64(seed, hash_name(name)), number));
}

std::size_t add_flow(Scenario& s, std::string name, FlowKind kind, const std::vector<std::pair<Route, Route>>& paths,
                     const std::string& controller, const OptionMap& controller_options, const std::string& scheduler,
                     const OptionMap& scheduler_options, std::int64_t start_ns, std::optional<std::int64_t> stop_ns,
                     std::optional<std::int64_t> size_bytes, std::optional<std::int64_t> recv_buffer_bytes,
                     std::optional<std::int64_t> send_buffer_bytes, const std::vector<std::size_t>& backups,
                     std::optional<std::int64_t> lifetime_ns, double rate_bps, std::int64_t packet_bytes,
                     Spacing spacing, std::int64_t mean_on_ns, std::int64_t mean_off_ns, std::uint32_t host,
                     std::optional<EcnMode> ecn) {
    FlowSpec flow;
    flow.name = std::move(name);
    flow.kind = kind;
    flow.host = host;
    flow.controller = choice(controller, controller_options);
    flow.scheduler = choice(scheduler, scheduler_options);
    for (const auto& [forward, reverse] : paths) flow.paths.push_back({forward, reverse});
    flow.start = Nanos(start_ns);
    if (stop_ns) flow.stop = Nanos(*stop_ns);
    flow.size = maybe<Bytes>(size_bytes);
    flow.recv_buffer = maybe<Bytes>(recv_buffer_bytes);
    flow.send_buffer = maybe<Bytes>(send_buffer_bytes);
    flow.ecn = ecn;
    for (const std::size_t position : backups) flow.paths.at(position).is_backup = true;
    if (lifetime_ns) flow.lifetime = Nanos(*lifetime_ns);
    flow.datagrams = {BitsPerSec(rate_bps), Bytes(packet_bytes), spacing, Nanos(mean_on_ns), Nanos(mean_off_ns)};
    s.flows.push_back(std::move(flow));
    return s.flows.size() - 1;
}

void use_path_manager(Scenario& s, std::size_t flow, const std::vector<std::size_t>& late,
                      std::optional<std::uint32_t> subflow_limit, std::optional<std::uint32_t> address_limit) {
    FlowSpec& spec = s.flows.at(flow);
    for (const std::size_t position : late) spec.paths.at(position).is_late = true;
    spec.subflow_limit = subflow_limit;
    spec.address_limit = address_limit;
}

void use_controller_program(Scenario& s, std::size_t flow, std::shared_ptr<const ScriptProgram> program) {
    s.flows.at(flow).controller.program = std::move(program);
}

void use_scheduler_program(Scenario& s, std::size_t flow, std::shared_ptr<const ScriptProgram> program) {
    s.flows.at(flow).scheduler.program = std::move(program);
}

void use_decider(Scenario& s, std::size_t flow, DeciderKind kind, std::shared_ptr<NetworkPolicy> policy) {
    s.flows.at(flow).decider = {.kind = kind, .policy = std::move(policy)};
}

void add_link_event(Scenario& s, std::int64_t at_ns, std::uint32_t link, std::optional<double> rate_bps,
                    std::optional<std::int64_t> delay_ns, std::optional<double> loss,
                    const std::optional<LossModel>& model, bool sets_queue,
                    std::optional<std::int64_t> queue_limit_pkts, std::optional<std::int64_t> queue_limit_bytes,
                    std::optional<bool> up) {
    EventSpec event;
    event.at = Nanos(at_ns);
    event.link = link;
    if (rate_bps) event.rate = BitsPerSec(*rate_bps);
    event.delay = maybe<Nanos>(delay_ns);
    event.loss = loss;
    if (model) event.loss_model = loss_model(*model);
    event.sets_queue = sets_queue;
    event.queue_limit_pkts = queue_limit_pkts;
    event.queue_limit_bytes = maybe<Bytes>(queue_limit_bytes);
    event.up = up;
    s.events.push_back(event);
}

void add_flow_event(Scenario& s, std::int64_t at_ns, std::uint32_t flow, std::optional<std::uint32_t> subflow,
                    std::optional<bool> open, std::optional<bool> backup, const std::optional<std::string>& controller,
                    const OptionMap& controller_options, std::shared_ptr<const ScriptProgram> controller_program,
                    std::optional<bool> announce, std::optional<bool> refuse) {
    EventSpec event;
    event.at = Nanos(at_ns);
    event.flow = flow;
    event.subflow = subflow;
    event.open = open;
    event.backup = backup;
    event.announce = announce;
    event.refuse = refuse;
    if (controller) {
        event.controller = choice(*controller, controller_options);
        event.controller->program = std::move(controller_program);
    }
    s.events.push_back(event);
}

using ArrivalTimes = std::vector<std::pair<std::int64_t, std::optional<std::int64_t>>>;

ArrivalTimes arrivals(const std::string& name, std::uint64_t seed, std::int64_t mean_gap_ns, std::int64_t from_ns,
                      std::int64_t until_ns, std::int64_t limit, std::optional<std::int64_t> lifetime_ns,
                      bool is_lifetime_exponential) {
    ArrivalSpec spec;
    spec.mean_gap = Nanos(mean_gap_ns);
    spec.from = Nanos(from_ns);
    spec.until = Nanos(until_ns);
    spec.limit = limit;
    if (lifetime_ns) spec.lifetime = Nanos(*lifetime_ns);
    spec.is_lifetime_exponential = is_lifetime_exponential;
    ArrivalTimes times;
    for (const Arrival& arrival : poisson_arrivals(spec, seed, name))
        times.emplace_back(arrival.at.value,
                           arrival.lifetime < kNever ? std::optional(arrival.lifetime.value) : std::nullopt);
    return times;
}

Scenario read_json(const std::string& text, const std::vector<std::shared_ptr<NetworkPolicy>>& policies,
                   std::size_t max_values) {
    const std::vector<std::shared_ptr<const Policy>> given(policies.begin(), policies.end());
    return read_scenario(text, given, max_values);
}

}  // namespace

void bind_scenario(nb::module_& m) {
    nb::exception<ScenarioJsonError>(m, "CoreScenarioJsonError", PyExc_ValueError);
    nb::enum_<FlowKind>(m, "FlowKind")
        .value("TCP", FlowKind::Tcp)
        .value("MPTCP", FlowKind::Mptcp)
        .value("CBR", FlowKind::Cbr)
        .value("ON_OFF", FlowKind::OnOff);
    nb::enum_<Spacing>(m, "Spacing").value("CONSTANT", Spacing::Constant).value("POISSON", Spacing::Poisson);
    nb::enum_<LossDetection>(m, "LossDetection")
        .value("DUPACK", LossDetection::DupAck)
        .value("RACK", LossDetection::Rack);
    nb::enum_<DelayedAck>(m, "DelayedAck")
        .value("OFF", DelayedAck::Off)
        .value("RFC", DelayedAck::Rfc)
        .value("LINUX", DelayedAck::Linux);
    nb::enum_<RtoRule>(m, "RtoRule").value("RFC6298", RtoRule::Rfc6298).value("LINUX", RtoRule::Linux);
    nb::enum_<Prr>(m, "Prr").value("OFF", Prr::Off).value("RFC6937", Prr::Rfc6937).value("LINUX", Prr::Linux);

    nb::enum_<CwndValidation>(m, "CwndValidation")
        .value("OFF", CwndValidation::Off)
        .value("HOLD", CwndValidation::Hold)
        .value("DECAY", CwndValidation::Decay);
    nb::enum_<IdleRestart>(m, "IdleRestart")
        .value("OFF", IdleRestart::Off)
        .value("RFC5681", IdleRestart::Rfc5681)
        .value("LINUX", IdleRestart::Linux);
    nb::enum_<EcnMode>(m, "EcnMode")
        .value("OFF", EcnMode::Off)
        .value("RFC3168", EcnMode::Classic)
        .value("ACCECN", EcnMode::Accurate);

    nb::enum_<AccessKind>(m, "AccessKind")
        .value("CONTENTION", AccessKind::Contention)
        .value("TURNS", AccessKind::Turns);
    nb::enum_<JitterKind>(m, "JitterKind")
        .value("UNIFORM", JitterKind::Uniform)
        .value("NORMAL", JitterKind::Normal)
        .value("EXPONENTIAL", JitterKind::Exponential)
        .value("PARETO", JitterKind::Pareto);

    nb::class_<TransportOptions>(m, "TransportOptions")
        .def(nb::init<>())
        .def_rw("initial_window_pkts", &TransportOptions::initial_window_pkts)
        .def_rw("handshake", &TransportOptions::handshake)
        .def_rw("loss_detection", &TransportOptions::loss_detection)
        .def_rw("dsack", &TransportOptions::dsack)
        .def_rw("tso", &TransportOptions::tso)
        .def_rw("syn_retries", &TransportOptions::syn_retries)
        .def_rw("delayed_ack", &TransportOptions::delayed_ack)
        .def_rw("quick_acks", &TransportOptions::quick_acks)
        .def_rw("rto_rule", &TransportOptions::rto_rule)
        .def_rw("prr", &TransportOptions::prr)
        .def_rw("undo", &TransportOptions::undo)
        .def_rw("cwnd_validation", &TransportOptions::cwnd_validation)
        .def_rw("idle_restart", &TransportOptions::idle_restart)
        .def_rw("ecn", &TransportOptions::ecn)
        .def_prop_rw(
            "rto_max_ns", [](const TransportOptions& t) { return t.rto_max.value; },
            [](TransportOptions& t, std::int64_t ns) { t.rto_max = Nanos(ns); })
        .def_prop_rw(
            "dss_option_bytes", [](const TransportOptions& t) { return t.dss_option.value; },
            [](TransportOptions& t, std::int64_t bytes) { t.dss_option = Bytes(bytes); })
        .def_prop_rw(
            "rto_min_ns", [](const TransportOptions& t) { return t.rto_min.value; },
            [](TransportOptions& t, std::int64_t ns) { t.rto_min = Nanos(ns); })
        .def_prop_rw(
            "delayed_ack_timeout_ns", [](const TransportOptions& t) { return t.delayed_ack_timeout.value; },
            [](TransportOptions& t, std::int64_t ns) { t.delayed_ack_timeout = Nanos(ns); });

    nb::class_<Scenario>(m, "Scenario")
        .def(
            "__init__",
            [](Scenario* self, std::int64_t duration_ns, std::int64_t warmup_ns, std::int64_t mss_bytes,
               std::int64_t start_jitter_ns, const TransportOptions& transport) {
                new (self) Scenario();
                self->duration = Nanos(duration_ns);
                self->warmup = Nanos(warmup_ns);
                self->mss = Bytes(mss_bytes);
                self->start_jitter = Nanos(start_jitter_ns);
                self->transport = transport;
            },
            "duration_ns"_a, "warmup_ns"_a, "mss_bytes"_a, "start_jitter_ns"_a, "transport"_a)
        .def("add_link", &add_link, "name"_a, "rate_bps"_a, "delay_ns"_a, "queue_limit_pkts"_a.none(),
             "queue_limit_bytes"_a.none(), "loss"_a, "reorder"_a = false,
             "Returns the index of the new link direction.")
        .def("use_loss_model", &use_loss_model, "link"_a, "model"_a, "Instead of the plain loss: (p, r, good, bad).")
        .def("use_red", &use_red, "link"_a, "min_pkts"_a, "max_pkts"_a, "max_p"_a, "gentle"_a, "weight"_a, "spreads"_a,
             "marks"_a = false)
        .def("use_codel", &use_codel, "link"_a, "target_ns"_a, "interval_ns"_a, "marks"_a = false,
             "ce_threshold_ns"_a.none() = nb::none())
        .def("use_fq_codel", &use_fq_codel, "link"_a, "target_ns"_a, "interval_ns"_a, "quantum_bytes"_a, "flows"_a,
             "marks"_a = false, "ce_threshold_ns"_a.none() = nb::none())
        .def("use_dual_pi2", &use_dual_pi2, "link"_a, "target_ns"_a, "update_ns"_a, "alpha_hz"_a, "beta_hz"_a,
             "coupling"_a, "step_ns"_a, "ramp_ns"_a)
        .def("add_drop", &add_drop, "link"_a, "subflow"_a, "number"_a, "after_ns"_a,
             "Lose a packet of a subflow, which counts among all of the scenario: the number-th, from 1, that gets "
             "there.")
        .def("use_trace", &use_trace, "link"_a, "opportunities_ms"_a,
             "Follow a delivery trace, uint32 each; the rate given before is its mean.")
        .def("use_delay_trace", &use_delay_trace, "link"_a, "delays_us"_a, "interval_ns"_a,
             "Follow a delay trace, uint32 each; the delay given before is its mean.")
        .def("use_jitter", &use_jitter, "link"_a, "kind"_a, "spread_ns"_a)
        .def("use_token_bucket", &use_token_bucket, "link"_a, "burst_bytes"_a, "peak_bps"_a,
             "Tokens come at the rate given before.")
        .def("use_retransmission", &use_retransmission, "link"_a, "loss"_a, "delay_ns"_a, "attempts"_a)
        .def("use_pauses", &use_pauses, "link"_a, "pauses"_a, "Times from and to, in order and apart from each other.")
        .def("use_grants", &use_grants, "link"_a, "period_ns"_a, "jitter_ns"_a)
        .def("use_access", &use_access, "link"_a, "medium"_a, "kind"_a, "aggregation"_a, "airtime_ns"_a,
             "overhead_ns"_a, "window_min"_a, "window_max"_a, "group"_a = 0)
        .def("add_flow", &add_flow, "name"_a, "kind"_a, "paths"_a, "controller"_a, "controller_options"_a,
             "scheduler"_a, "scheduler_options"_a, "start_ns"_a, "stop_ns"_a.none(), "size_bytes"_a.none(),
             "recv_buffer_bytes"_a.none(), "send_buffer_bytes"_a.none(), "backups"_a, "lifetime_ns"_a.none(),
             "rate_bps"_a, "packet_bytes"_a, "spacing"_a, "mean_on_ns"_a, "mean_off_ns"_a, "host"_a = 0,
             "ecn"_a.none() = nb::none(),
             "Paths are (forward links, reverse links), backups positions among them. Returns the index.")
        .def("use_path_manager", &use_path_manager, "flow"_a, "late"_a, "subflow_limit"_a.none(),
             "address_limit"_a.none(), "Which of its paths are not there at the start, and how many may join.")
        .def("use_controller_program", &use_controller_program, "flow"_a, "program"_a,
             "The controller of a flow is this script; its name and options stay.")
        .def("use_scheduler_program", &use_scheduler_program, "flow"_a, "program"_a)
        .def("use_decider", &use_decider, "flow"_a, "kind"_a, "policy"_a.none(),
             "Who decides for the agent of a flow's controller; the policy is of a trained one.")
        .def("add_link_event", &add_link_event, "at_ns"_a, "link"_a, "rate_bps"_a.none(), "delay_ns"_a.none(),
             "loss"_a.none(), "loss_model"_a.none(), "sets_queue"_a, "queue_limit_pkts"_a.none(),
             "queue_limit_bytes"_a.none(), "up"_a.none())
        .def("add_flow_event", &add_flow_event, "at_ns"_a, "flow"_a, "subflow"_a.none(), "open"_a.none(),
             "backup"_a.none(), "controller"_a.none() = nb::none(), "controller_options"_a = OptionMap(),
             "controller_program"_a.none() = nb::none(), "announce"_a.none() = nb::none(),
             "refuse"_a.none() = nb::none())
        .def(
            "with_events",
            [](const Scenario& s, const Scenario& other) {
                Scenario joined = s;
                joined.events.insert(joined.events.end(), other.events.begin(), other.events.end());
                return joined;
            },
            "other"_a, "A copy with the events of another one as well.")
        .def("to_json", &write_scenario, "A text for read_scenario() of the same version; policies by their numbers.");

    m.def("read_scenario", &read_json, "text"_a, "policies"_a, "max_values"_a,
          "The scenario that to_json() has written; more values than allowed are refused.");

    m.def("random_outages", &outages, "name"_a, "seed"_a, "mean_up_ns"_a, "mean_down_ns"_a, "until_ns"_a,
          "When something of that name is out of service: times from and to, in order.");
    m.def("draw", &draw, "name"_a, "seed"_a, "number"_a, "Uniform in [0, 1), one of those of a name.");
    m.def("poisson_arrivals", &arrivals, "name"_a, "seed"_a, "mean_gap_ns"_a, "from_ns"_a, "until_ns"_a, "limit"_a,
          "lifetime_ns"_a.none(), "is_lifetime_exponential"_a,
          "When the flows of a name arrive and how long each lives (None: endless), in order. A limit of 0 is none.");
}

}  // namespace subflow::bindings

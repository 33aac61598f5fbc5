// Scenarios as documents, and their random draws before the run.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "bindings.h"
#include "document.h"
#include "policy/network_policy.h"
#include "rng.h"
#include "scenario.h"
#include "traffic.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

using Spans = std::vector<std::pair<std::int64_t, std::int64_t>>;

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

Scenario read_document(const nb::typed<nb::dict, nb::str, nb::any>& fields,
                       const std::vector<std::shared_ptr<NetworkPolicy>>& policies) {
    Document document = document_of(fields, {policies.begin(), policies.end()});
    return read_scenario(document.json, std::move(document.beside), std::numeric_limits<std::size_t>::max());
}

}  // namespace

void bind_scenario(nb::module_& m) {
    nb::exception<ScenarioJsonError>(m, "CoreScenarioJsonError", PyExc_ValueError);
    nb::class_<Scenario>(m, "Scenario")
        .def(
            "with_events",
            [](const Scenario& s, const Scenario& other) {
                Scenario joined = s;
                joined.events.insert(joined.events.end(), other.events.begin(), other.events.end());
                return joined;
            },
            "other"_a, "A copy with the events of another scenario added.")
        .def("to_json", &write_scenario,
             "JSON text for read_scenario() of the same version; it refers to policies by position.");

    m.def("read_scenario", &read_document, "document"_a, "policies"_a = nb::list(),
          "The scenario of a document, which may contain policies, programs and recordings (bytes, uint32 each) "
          "instead of the positions and texts of to_json(); its positions refer to the given policies.");

    m.def("random_outages", &outages, "name"_a, "seed"_a, "mean_up_ns"_a, "mean_down_ns"_a, "until_ns"_a,
          "Outages of the component with that name: start and end times, in order.");
    m.def("draw", &draw, "name"_a, "seed"_a, "number"_a, "Draw `number` of a name, uniform in [0, 1).");
    m.def("poisson_arrivals", &arrivals, "name"_a, "seed"_a, "mean_gap_ns"_a, "from_ns"_a, "until_ns"_a, "limit"_a,
          "lifetime_ns"_a.none(), "is_lifetime_exponential"_a,
          "Arrival times of the flows of a name and the lifetime of each (None: endless), in order. A limit of 0 means "
          "unlimited.");
}

}  // namespace subflow::bindings

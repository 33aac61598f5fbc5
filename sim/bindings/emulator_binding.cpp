// Links between network interfaces, in real time. Only on Linux.
#ifdef __linux__
#include <arpa/inet.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <stdexcept>
#include <system_error>
#include <tuple>

#include "bindings.h"
#include "link_emulator.h"
#include "scenario_json.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

namespace {

// Fields of link_emulator.Wire.
using WireFields = std::tuple<std::string, std::string, std::vector<std::uint32_t>, std::uint32_t, std::string,
                              std::string, std::int32_t>;
using Counts = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

std::uint32_t address_of(const std::string& text) {
    if (text.empty()) return 0;
    in_addr address{};
    if (inet_pton(AF_INET, text.c_str(), &address) != 1) throw std::invalid_argument(text + ": no IPv4 address");
    return ntohl(address.s_addr);
}

Wire wire_of(const WireFields& fields) {
    const auto& [arrives_at, leaves_at, links, network, source, destination, counter] = fields;
    return {arrives_at, leaves_at, links, network, address_of(source), address_of(destination), counter};
}

LinkEmulator* make_emulator(const std::vector<std::pair<std::string, std::uint64_t>>& networks,
                            const std::vector<WireFields>& wires, std::int64_t start_ns, std::int64_t interval_ns,
                            std::size_t mtu_bytes) {
    std::vector<LinkEmulator::Part> parts;
    for (const auto& [text, seed] : networks)
        parts.push_back({read_scenario(text, {}, std::numeric_limits<std::size_t>::max()), seed});
    std::vector<Wire> ways;
    for (const WireFields& fields : wires) ways.push_back(wire_of(fields));
    return new LinkEmulator(std::move(parts), ways, Nanos(start_ns), Nanos(interval_ns), mtu_bytes);
}

Counts fields_of(const WireCounts& counts) {
    return {counts.offered, counts.lost, counts.delivered_bytes};
}

std::vector<Counts> all_fields_of(const std::vector<WireCounts>& counts) {
    std::vector<Counts> all;
    for (const WireCounts& each : counts) all.push_back(fields_of(each));
    return all;
}

nb::typed<nb::dict, nb::str, nb::any> results_of(const LinkEmulator& emulator) {
    const LinkEmulator::Results& results = emulator.results();
    nb::dict lateness;
    lateness["p50_s"] = results.late_p50_s;
    lateness["p99_s"] = results.late_p99_s;
    lateness["max_s"] = results.late_max_s;
    nb::list networks;
    for (const EmulatedNetwork& network : results.networks) {
        nb::list links;
        for (const EmulatedLink& link : network.links) {
            nb::dict one;
            one["name"] = link.name;
            one["utilisation"] = link.utilisation;
            one["drops_queue"] = link.drops_queue;
            one["drops_random"] = link.drops_random;
            one["drops_down"] = link.drops_down;
            one["marks"] = link.marks;
            one["mean_queue_pkts"] = link.mean_queue_pkts;
            one["max_queue_pkts"] = link.max_queue_pkts;
            links.append(one);
        }
        nb::dict one;
        one["links"] = links;
        networks.append(one);
    }
    nb::dict all;
    all["lateness"] = lateness;
    all["cpu_s"] = results.cpu_s;
    all["packets"] = results.packets;
    all["overruns"] = results.overruns;
    all["unknown_packets"] = results.unknown_packets;
    all["networks"] = networks;
    return nb::typed<nb::dict, nb::str, nb::any>(all);
}

}  // namespace

void bind_emulator(nb::module_& m) {
    nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
        try {
            std::rethrow_exception(raised);
        } catch (const std::system_error& error) {
            const nb::tuple arguments = nb::make_tuple(error.code().value(), error.what());
            PyErr_SetObject(PyExc_OSError, arguments.ptr());
        }
    });
    m.attr("NEVER_NS") = kNever.value;
    nb::class_<LinkEmulator>(m, "LinkEmulator")
        .def(nb::new_(&make_emulator), "networks"_a, "wires"_a, "start_ns"_a, "sample_interval_ns"_a, "mtu_bytes"_a)
        .def(
            "run", [](LinkEmulator& emulator, std::int64_t end_ns) { emulator.run(Nanos(end_ns)); }, "end_ns"_a,
            nb::call_guard<nb::gil_scoped_release>())
        .def("stop", &LinkEmulator::stop)
        .def(
            "change",
            [](LinkEmulator& emulator, std::uint32_t network, const std::string& document) {
                const Scenario changes = read_scenario(document, {}, std::numeric_limits<std::size_t>::max());
                for (const EventSpec& event : changes.events) emulator.change(network, event);
            },
            "network"_a, "document"_a)
        .def("take_samples",
             [](LinkEmulator& emulator) {
                 std::vector<std::tuple<std::uint32_t, double, std::vector<double>>> rows;
                 for (LinkEmulator::Row& row : emulator.take_samples())
                     rows.emplace_back(row.network, row.time_s, std::move(row.values));
                 return rows;
             })
        .def("measured_counts",
             [](const LinkEmulator& emulator) {
                 return std::pair(all_fields_of(emulator.results().warmup_counts),
                                  all_fields_of(emulator.results().counts));
             })
        .def("conversations",
             [](const LinkEmulator& emulator) {
                 std::vector<std::tuple<std::uint32_t, std::string, std::uint32_t, std::string, std::uint32_t, Counts>>
                     all;
                 for (const Conversation& each : emulator.conversations())
                     all.emplace_back(each.wire, each.ends.source, each.ends.source_port, each.ends.destination,
                                      each.ends.destination_port, fields_of(each.counts));
                 return all;
             })
        .def("results", &results_of);
}

}  // namespace subflow::bindings
#endif

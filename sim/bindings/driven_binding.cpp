// Controllers that are told by hand what a sender would tell them.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "driven_controllers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

void bind_driven_controllers(nb::module_& m) {
    nb::class_<DrivenControllers>(
        m, "DrivenControllers",
        "The controllers of one connection without a network, to be held against an oracle: one subflow for each "
        "smoothed round-trip time, all with a window of cwnd_pkts. Windows and thresholds are in packets, inf: none. "
        "A subflow that there is not is an IndexError.")
        .def(
            "__init__",
            [](DrivenControllers* self, const std::string& controller, const OptionMap& options,
               const std::vector<std::int64_t>& srtt_ns, double cwnd_pkts) {
                const std::vector<Nanos> srtts(srtt_ns.begin(), srtt_ns.end());
                new (self) DrivenControllers(choice(controller, options), srtts, cwnd_pkts);
            },
            "controller"_a, "options"_a, "srtt_ns"_a, "cwnd_pkts"_a)
        .def(
            "acknowledge",
            [](DrivenControllers& self, std::size_t subflow, std::uint32_t pkts, std::int64_t rtt_ns,
               std::int64_t srtt_ns, std::uint32_t snd_nxt, bool is_cwnd_limited) {
                self.acknowledge(subflow, pkts, Nanos(rtt_ns), Nanos(srtt_ns), snd_nxt, is_cwnd_limited);
            },
            "subflow"_a, "pkts"_a, "rtt_ns"_a, "srtt_ns"_a, "snd_nxt"_a, "is_cwnd_limited"_a,
            "An ACK of so many more packets, with the round-trip time it measured and the smoothed one after it.")
        .def(
            "lose",
            [](DrivenControllers& self, std::size_t subflow, bool by_timeout) {
                self.lose(subflow, by_timeout ? CongestionKind::Timeout : CongestionKind::FastRetransmit);
            },
            "subflow"_a, "by_timeout"_a, "A loss was found: cwnd is ssthresh then, after a timeout 1.")
        .def("recover", &DrivenControllers::recover, "subflow"_a, "snd_nxt"_a, "The latest ACK ended the recovery.")
        .def("set_window", &DrivenControllers::set_window, "subflow"_a, "cwnd_pkts"_a,
             "The sender itself changes the window.")
        .def(
            "cwnd_pkts",
            [](const DrivenControllers& self, std::size_t subflow) { return self.window(subflow).cwnd_pkts; },
            "subflow"_a)
        .def(
            "ssthresh_pkts",
            [](const DrivenControllers& self, std::size_t subflow) { return self.window(subflow).ssthresh_pkts; },
            "subflow"_a);
}

}  // namespace subflow::bindings

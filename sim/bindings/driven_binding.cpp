// Controllers whose events come from the caller instead of a sender, and the Linux scheduler with sockets from the
// caller.
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "driven_controllers.h"
#include "sched/schedulers.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace subflow::bindings {

void bind_driven_controllers(nb::module_& m) {
    nb::class_<DrivenControllers>(
        m, "DrivenControllers",
        "The controllers of one connection without a network, for comparison with a reference: one subflow per "
        "smoothed RTT, all with a window of cwnd_pkts. Windows and thresholds are in packets; an unset threshold is "
        "inf. An unknown subflow raises IndexError.")
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
            "An ACK of `pkts` further packets, with its RTT sample and the smoothed RTT after it.")
        .def(
            "lose",
            [](DrivenControllers& self, std::size_t subflow, bool by_timeout) {
                self.lose(subflow, by_timeout ? CongestionKind::Timeout : CongestionKind::FastRetransmit);
            },
            "subflow"_a, "by_timeout"_a, "A loss was detected: cwnd becomes ssthresh, or 1 after a timeout.")
        .def("recover", &DrivenControllers::recover, "subflow"_a, "snd_nxt"_a, "The latest ACK ended the recovery.")
        .def("set_window", &DrivenControllers::set_window, "subflow"_a, "cwnd_pkts"_a,
             "Sets the window, as the sender does.")
        .def(
            "cwnd_pkts",
            [](const DrivenControllers& self, std::size_t subflow) { return self.window(subflow).cwnd_pkts; },
            "subflow"_a)
        .def(
            "ssthresh_pkts",
            [](const DrivenControllers& self, std::size_t subflow) { return self.window(subflow).ssthresh_pkts; },
            "subflow"_a);

    nb::class_<Socket>(m, "Socket", "State of a subflow's Linux socket, for DrivenLinuxMptcp.")
        .def(nb::init<>())
        .def_rw("is_open", &Socket::is_open)
        .def_rw("is_backup", &Socket::is_backup)
        .def_rw("incarnation", &Socket::incarnation)
        .def_rw("acks_heard", &Socket::acks_heard)
        .def_rw("cwnd_pkts", &Socket::cwnd_pkts)
        .def_rw("ssthresh_pkts", &Socket::ssthresh_pkts)
        .def_rw("packets_out", &Socket::packets_out)
        .def_rw("unsent_pkts", &Socket::unsent_pkts)
        .def_rw("srtt_eighth_us", &Socket::srtt_eighth_us)
        .def_rw("paced_rate", &Socket::paced_rate)
        .def_prop_rw(
            "timer_ns", [](const Socket& self) { return self.timer.value; },
            [](Socket& self, std::int64_t timer_ns) { self.timer = Nanos(timer_ns); });
    nb::class_<LinuxMptcp>(
        m, "DrivenLinuxMptcp",
        "The scheduler linux-mptcp without a network, for comparison with a reference, decision by decision.")
        .def(
            "__init__",
            [](LinuxMptcp* self, const OptionMap& options) {
                new (self) LinuxMptcp(
                    std::get<LinuxMptcp>(make_scheduler(choice(std::string(LinuxMptcp::kInfo.name), options))));
            },
            "options"_a)
        .def(
            "select",
            [](LinuxMptcp& self, std::int64_t now_ns, const std::vector<Socket>& sockets, std::uint32_t payload_bytes,
               std::uint64_t window_left_bytes) {
                const SocketsView view{sockets, payload_bytes, window_left_bytes};
                return self.select({}, {.now = Nanos(now_ns), .sockets = &view});
            },
            "now_ns"_a, "sockets"_a, "payload_bytes"_a, "window_left_bytes"_a,
            "Position of the subflow for the next packet.")
        .def(
            "select_retransmission",
            [](LinuxMptcp& self, const std::vector<Socket>& sockets) {
                std::vector<std::size_t> stale;
                const auto choice =
                    self.select_retransmission(sockets, [&](std::size_t position) { stale.push_back(position); });
                return std::pair(choice, stale);
            },
            "sockets"_a,
            "The connection's timer expired: the subflow for the head of the line, and the subflows that became stale.")
        .def(
            "timeout_ns",
            [](LinuxMptcp& self, const std::vector<Socket>& sockets) { return self.timeout(sockets).value; },
            "sockets"_a)
        .def("is_stale", &LinuxMptcp::is_stale, "position"_a)
        .def("mean_rate", &LinuxMptcp::mean_rate, "position"_a, "Bytes/s.")
        .def("send_buffer", &LinuxMptcp::send_buffer, "position"_a, "Bytes.");
}

}  // namespace subflow::bindings

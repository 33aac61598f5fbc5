"""A newcomer adds a congestion controller or a scheduler: one file, and one entry in THE list. The rest follows."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.core_program import copied_core, said_by

pytestmark = pytest.mark.full("compiles the core")

_CONTROLLER = """\
// Half of what NewReno does: a packet more every `patience` round trips. Source: a test.
#pragma once

#include <array>

#include "newreno.h"

namespace subflow {

class Newcomer {
public:
    static constexpr std::array kOptions{OptionInfo{
        .key = "patience",
        .kind = OptionKind::Number,
        .help = "Round trips per packet of growth.",
        .default_number = 2,
        .minimum = 1,
        .maximum = 10,
    }};
    static constexpr AlgorithmInfo kInfo{
        .name = "newcomer", .summary = "Reno, but patient", .source = "a test", .options = kOptions};

    explicit Newcomer(const Options& options) : patience_(options.number("patience")) {}

    void on_ack(Window& window, const AckSample& ack, const Siblings&) const {
        const double acked = window.in_slow_start() ? slow_start(window, ack.acked_pkts, ack.why) : ack.acked_pkts;
        window.cwnd_pkts += acked / (patience_ * window.cwnd_pkts);
    }
    void on_congestion_event(Window& window, const CongestionEvent& event, const Siblings&) const {
        NewReno::halve(window, event);
    }

private:
    double patience_;
};
static_assert(CongestionController<Newcomer>);

}  // namespace subflow
"""

_SCHEDULER = """\
// The slowest subflow first, and few packets on each. Source: a test.
#pragma once

#include <array>

#include "scheduler.h"

namespace subflow {

class Contrary {
public:
    static constexpr std::array kOptions{OptionInfo{
        .key = "most",
        .kind = OptionKind::Number,
        .help = "Packets in flight on a subflow.",
        .default_number = 5,
        .minimum = 1,
        .maximum = 100,
        .unit = "pkt",
    }};
    static constexpr AlgorithmInfo kInfo{
        .name = "contrary", .summary = "The slowest first", .source = "a test", .options = kOptions};

    explicit Contrary(const Options& options) : most_(options.number("most")) {}

    std::optional<std::size_t> select(std::span<const Candidate> subflows, const SendMoment&) const {
        std::optional<std::size_t> slowest;
        for (std::size_t i = 0; i < subflows.size(); ++i) {
            if (!subflows[i].is_available || subflows[i].inflight_pkts >= most_) continue;
            if (!slowest || subflows[i].srtt > subflows[*slowest].srtt) slowest = i;
        }
        return slowest;
    }

private:
    double most_;
};
static_assert(PacketScheduler<Contrary>);

}  // namespace subflow
"""

# Lists the algorithms, tries the options, and runs two flows for 10 s each over links of 10 Mbit/s and queues of 20
# packets: the controller over a round trip of 20 ms, the scheduler over one of 20 and one of 60 ms.
_PROGRAM = """\
#include <cstdio>

#include "cc/controllers.h"
#include "network.h"
#include "sched/schedulers.h"

using namespace subflow;

void list(const std::vector<const AlgorithmInfo*>& infos) {
    for (const AlgorithmInfo* info : infos) {
        std::printf("%s:", std::string(info->name).c_str());
        for (const OptionInfo& option : info->options) std::printf(" %s", std::string(option.key).c_str());
        std::printf("\\n");
    }
}

template <class Make>
void try_option(Make make, const char* name, const char* key, double value) {
    try {
        make(AlgorithmChoice{name, {{key, value}}});
        std::printf("%s %g taken\\n", key, value);
    } catch (const ScenarioError& error) {
        std::printf("refused: %s\\n", error.what());
    }
}

PathSpec add_path(Scenario& scenario, std::int64_t one_way_ns) {
    const auto index = static_cast<std::uint32_t>(scenario.links.size());
    for (const char* direction : {"forward", "reverse"}) {
        LinkSpec link;
        link.name = "path" + std::to_string(index) + "/" + direction;
        link.delay = Nanos(one_way_ns);
        scenario.links.push_back(link);
    }
    scenario.links[index].rate = BitsPerSec(10e6);
    scenario.links[index].queue_limit_pkts = 20;
    return {{index}, {index + 1}};
}

void run(const char* name, const FlowSpec& flow, Scenario scenario) {
    scenario.duration = Nanos(10'000'000'000);
    scenario.flows = {flow};
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    network.check_invariants();
    std::printf("%s delivered %lld\\n", name, static_cast<long long>(network.packets_delivered()));
}

int main() {
    list(controller_infos());
    list(scheduler_infos());
    for (const double value : {4.0, 11.0}) try_option(make_controller, "newcomer", "patience", value);
    for (const double value : {4.0, 101.0}) try_option(make_scheduler, "contrary", "most", value);
    Scenario scenario;
    FlowSpec flow;
    flow.name = "flow";
    flow.controller = {"newcomer", {}};
    flow.paths = {add_path(scenario, 10'000'000)};
    run("newcomer", flow, scenario);
    flow.kind = FlowKind::Mptcp;
    flow.controller = {"lia", {}};
    flow.scheduler = {"contrary", {}};
    flow.paths.push_back(add_path(scenario, 30'000'000));
    run("contrary", flow, scenario);
}
"""


def listed(text: str, name: str, header: str, before: str) -> str:
    """THE list with the newcomer in it, its header in front of another one."""
    assert text.count("std::variant<") == 1
    text = text.replace("std::variant<", f"std::variant<{name}, ")
    assert f'#include "{before}"' in text
    return text.replace(f'#include "{before}"\n', f'#include "{header}"\n#include "{before}"\n')


def add(folder: Path, header: str, text: str, list_file: str, name: str, before: str) -> None:
    """What a newcomer does: a file, and an entry in the list."""
    (folder / header).write_text(text)
    path = folder / list_file
    path.write_text(listed(path.read_text(), name, header, before))


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the program says that is built of a core with both newcomers."""
    folder = tmp_path_factory.mktemp("newcomer")
    core = copied_core(folder)
    add(core / "cc", "newcomer.h", _CONTROLLER, "controllers.h", "Newcomer", "newreno.h")
    add(core / "sched", "contrary.h", _SCHEDULER, "schedulers.h", "Contrary", "min_rtt.h")
    return said_by(folder, core, _PROGRAM).splitlines()


def delivered(said: list[str], name: str) -> int:
    """Packets that the run of this newcomer delivered."""
    (line,) = (line for line in said if line.startswith(f"{name} delivered "))
    return int(line.rpartition(" ")[2])


def test_a_file_and_an_entry_in_the_list_make_a_controller(said: list[str]) -> None:
    assert "newcomer: patience" in said
    # A single-path controller is a base of `uncoupled` as well, which takes its options.
    (uncoupled,) = (line for line in said if line.startswith("uncoupled:"))
    assert "patience" in uncoupled.split()
    assert "patience 4 taken" in said
    assert any(line.startswith("refused: ") and "patience" in line for line in said)
    # 10 s of 10 Mbit/s are 8333 packets of 1500 bytes; a queue above the bandwidth-delay product of 17 keeps it full.
    assert 0.9 * 8333 < delivered(said, "newcomer") <= 8333


def test_a_file_and_an_entry_in_the_list_make_a_scheduler(said: list[str]) -> None:
    assert "contrary: most" in said
    assert "most 4 taken" in said
    assert any(line.startswith("refused: ") and "most" in line for line in said)
    # Five packets per round trip of 20 and of 60 ms, both 1.2 ms longer for the packet itself: 318 packets per second.
    assert delivered(said, "contrary") == pytest.approx(3176, rel=0.03)

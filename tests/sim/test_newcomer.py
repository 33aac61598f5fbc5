"""A newcomer adds a congestion controller: one file, and one entry in THE list. Everything else follows from that."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "sim" / "core"
COMPILER = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")

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

# Lists the controllers, tries the options, and runs a flow: 10 Mbit/s, 20 ms, a queue of 20 packets, 10 s.
_PROGRAM = """\
#include <cstdio>

#include "network.h"

using namespace subflow;

int main() {
    for (const AlgorithmInfo* info : controller_infos()) {
        std::printf("%s:", std::string(info->name).c_str());
        for (const OptionInfo& option : info->options) std::printf(" %s", std::string(option.key).c_str());
        std::printf("\\n");
    }
    for (const double patience : {4.0, 11.0}) {
        try {
            make_controller({"newcomer", {{"patience", patience}}});
            std::printf("patience %g taken\\n", patience);
        } catch (const ScenarioError& error) {
            std::printf("refused: %s\\n", error.what());
        }
    }
    Scenario scenario;
    scenario.duration = Nanos(10'000'000'000);
    LinkSpec link;
    link.name = "path/forward";
    link.rate = BitsPerSec(10e6);
    link.delay = Nanos(10'000'000);
    link.queue_limit_pkts = 20;
    LinkSpec back;
    back.name = "path/reverse";
    back.delay = Nanos(10'000'000);
    scenario.links = {link, back};
    FlowSpec flow;
    flow.name = "flow";
    flow.controller = {"newcomer", {}};
    flow.paths = {{{0}, {1}}};
    scenario.flows = {flow};
    Network network(scenario, 1);
    network.run_until(scenario.duration);
    network.check_invariants();
    std::printf("delivered %lld\\n", static_cast<long long>(network.packets_delivered()));
}
"""


def listed(text: str) -> str:
    """THE list with the newcomer in it."""
    assert text.count("std::variant<") == 1
    text = text.replace("std::variant<", "std::variant<Newcomer, ")
    return text.replace('#include "newreno.h"\n', '#include "newcomer.h"\n#include "newreno.h"\n')


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
@pytest.mark.timeout(600)
def test_a_file_and_an_entry_in_the_list_make_a_controller(tmp_path: Path) -> None:
    core = tmp_path / "core"
    shutil.copytree(CORE, core)
    (core / "cc" / "newcomer.h").write_text(_CONTROLLER)
    list_file = core / "cc" / "controllers.h"
    list_file.write_text(listed(list_file.read_text()))
    (core / "newcomer.cpp").write_text(_PROGRAM)

    sources = sorted(core.rglob("*.cpp"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(lambda source: compiled(source, core, tmp_path), sources))
    program = tmp_path / "newcomer"
    subprocess.run([str(COMPILER), *map(str, objects), "-o", str(program)], check=True)
    out = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()

    assert "newcomer: patience" in out
    # A single-path controller is a base of `uncoupled` as well, which takes its options.
    (uncoupled,) = (line for line in out if line.startswith("uncoupled:"))
    assert "patience" in uncoupled.split()
    assert "patience 4 taken" in out
    assert any(line.startswith("refused: ") and "patience" in line for line in out)
    # 10 s of 10 Mbit/s are 8333 packets of 1500 bytes; a queue above the bandwidth-delay product of 17 keeps it full.
    delivered = int(out[-1].removeprefix("delivered "))
    assert 0.9 * 8333 < delivered <= 8333


def compiled(source: Path, core: Path, folder: Path) -> Path:
    """The object file of a source, without optimisation: it is compiled once and runs for a moment."""
    target = folder / f"{source.relative_to(core).as_posix().replace('/', '-')}.o"
    flags = ["-std=c++20", "-O0", "-ffp-contract=off", f"-I{core}", "-c", str(source), "-o", str(target)]
    done = subprocess.run([str(COMPILER), *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return target

"""Real programs on a drawn network, skipped where the machine does not allow them.

One run has ping, iperf3, curl with a web server and a QUIC stack, because each start of a worker takes a second.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.emulations import TWO_PATHS, reason_against

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import source_of
from subflow_app.features.emulation.core.emulation import EmulationJob
from subflow_app.features.emulation.core.job_text import Program
from subflow_app.features.emulation.core.keeping import keep_emulation
from subflow_app.features.emulation.core.network import plan_emulation
from subflow_app.features.emulation.core.recording import EmulationRecording, EndedEmulation
from subflow_app.features.traces.core.measured import emulated_tags
from subflow_app.foundation.errors import KernelError
from subflow_store import Store

ROOT = Path(__file__).resolve().parents[4]
PYTHON = shlex.quote(sys.executable)
QUIC = f"{PYTHON} -m tests.helpers.quic_transfer"

# From the client by a router to the server, and directly. The path by the router is the first.
NETWORK = """
format = 1
name = "A router and a direct path"
duration = "30s"
[nodes]
client = {}
router = { kind = "router" }
server = {}
[links]
near = { ends = ["client", "router"], rate = "50Mbit/s", delay = "5ms", queue = "100pkt" }
far = { ends = ["router", "server"], rate = "8Mbit/s", delay = "15ms", queue = "60pkt" }
own = { ends = ["client", "server"], rate = "4Mbit/s", delay = "25ms", queue = "40pkt" }
[flows]
upload = { kind = "mptcp", from = "client", to = "server", controller = { name = "uncoupled", base = "cubic" },
 paths = [["near", "far"], ["own"]] }
""".replace(",\n paths", ", paths")


def run(text: str, programs: list[tuple[str, str]], **options: Any) -> tuple[EndedEmulation, Mapping[str, Any]]:
    """Run shell commands on nodes to the end; return the recording and its summary."""
    reason = reason_against("iperf3", "ping", "curl")
    if reason:
        pytest.skip(reason)
    network = plan_emulation(source_of(Use.EMULATE, text).scenario)
    words = tuple(Program(node, ("sh", "-c", f"exec {line}")) for node, line in programs)
    recording = EmulationRecording(EmulationJob(network, 1, words, **options))
    wait_for(recording)
    ended = recording.complete()
    return ended, ended.summary()


def wait_for(recording: EmulationRecording) -> None:
    """Wait for the end of a run."""
    while not recording.finished:
        recording.run_until(recording.now_s + 1.0)


def output(summary: Mapping[str, Any], program: int) -> str:
    return "\n".join(summary["emulation"]["programs"][program]["output"])


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[EndedEmulation, Mapping[str, Any]]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "page").write_bytes(bytes(1_000_000))
    script = folder / "client.sh"
    script.write_text(
        "set -e\n"
        "ping -q -c 20 -i 0.05 server\n"
        "ping -6 -q -c 5 -i 0.05 server\n"
        "ping -q -c 5 -i 0.05 router\n"
        "iperf3 -c server -O 1 -t 4 -J > result.json\n"
        "grep -A 9 sum_received result.json | grep bits_per_second\n"
        "curl -s -o copy http://server:8000/page\n"
        "cmp copy page\n"
        "hostname\n"
        "cat /etc/hosts\n"
        "ls /sys/class/net\n"
        f"cd {shlex.quote(str(ROOT))}\n"
        f"{QUIC} fetch server\n"
    )
    pytest.importorskip("aioquic")
    return run(
        NETWORK,
        [
            ("server", "iperf3 -s"),
            ("server", f"{PYTHON} -m http.server 8000 --directory {shlex.quote(str(folder))}"),
            ("server", f"env PYTHONPATH={shlex.quote(str(ROOT))} {QUIC} serve 500000"),
            ("client", f"env -C {shlex.quote(str(folder))} PYTHONPATH={shlex.quote(str(ROOT))} sh client.sh"),
        ],
        ends_with=3,
        seconds=60.0,
    )


def test_programs_end_well_and_their_output_is_kept(everything: tuple[EndedEmulation, Mapping[str, Any]]) -> None:
    _, summary = everything
    programs = summary["emulation"]["programs"]
    assert programs[3]["code"] == 0, output(summary, 3)
    assert [program["node"] for program in programs] == ["server", "server", "server", "client"]
    assert all(program["code"] is not None for program in programs)
    assert "500000 bytes" in output(summary, 3)
    assert re.search(r"^client$", output(summary, 3), re.MULTILINE)  # the name of the host
    assert re.search(r"^lo\s+near\s+own$|^lo$", output(summary, 3), re.MULTILINE)  # the interfaces of the node alone


def test_delay_and_rate_are_the_drawn_ones_within_two_percent(
    everything: tuple[EndedEmulation, Mapping[str, Any]],
) -> None:
    _, summary = everything
    if not summary["emulation"]["is_reliable"]:
        pytest.skip(f"this machine is too busy: {summary['emulation']['lateness']}")
    found = re.findall(r"rtt min/avg/max/mdev = ([\d.]+)/([\d.]+)/", output(summary, 3))
    times_ms = [(float(least), float(mean)) for least, mean in found]
    # There and back over both links, and 98 bytes at their rates; IPv6 has 20 bytes more.
    # On a busy machine, programs wake up late by some tenths of a millisecond.
    for found_ms in zip(*times_ms, strict=True):
        assert list(found_ms) == pytest.approx([40.2, 40.2, 10.03], rel=0.02, abs=0.5)
    (goodput_bps,) = (float(each) for each in re.findall(r'"bits_per_second":\s*([\d.]+)', output(summary, 3)))
    assert goodput_bps == pytest.approx(8e6 * 1448 / 1500, rel=0.02)


def test_flows_are_recorded_as_flows_of_the_scenario_or_by_node_and_port(
    everything: tuple[EndedEmulation, Mapping[str, Any]], tmp_path: Path
) -> None:
    recording, summary = everything
    flows = {flow["name"]: flow for flow in summary["flows"]}
    assert flows.keys() == {"upload", "server:8000", "server:4433"}
    # Without --mptcp, everything takes the first path.
    assert flows["upload"]["kind"] == "tcp"
    assert flows["upload"]["controller"] == "cubic"
    assert flows["upload"]["subflows"][0]["path"] == ["near", "far"]
    assert flows["upload"]["subflows"][1]["packets_sent"] == 0
    assert flows["server:4433"]["kind"] == "udp"
    columns = {(column.owner, column.name): index for index, column in enumerate(recording.columns)}
    recording.run_until(recording.duration_s)
    # The whole transfer is in the curve: the last state of a socket counts, too. Packets by UDP count with their
    # headers and with the handshake of QUIC, about a tenth more than the data.
    for flow, size in (("server:8000", 1_000_000), ("server:4433", 545_000)):
        samples = recording.values(columns[flow, "goodput_bps"])
        assert np.nansum(samples) * 0.05 / 8 == pytest.approx(size, rel=0.1)
    window = recording.values(columns["upload/1", "cwnd_pkts"])
    assert np.nanmax(window) > 10
    links = {(link["name"], link["direction"]): link for link in summary["links"]}
    assert links["far", "forward"]["max_queue_pkts"] > 30  # iperf3 fills the queue
    source = source_of(Use.EMULATE, NETWORK)
    with Store(tmp_path / "runs.db") as store:
        kept = keep_emulation(recording, source, store, tmp_path / "out", with_simulation=True)
        assert kept.run_ids is not None
        run_row = store.run(kept.run_ids["emulated"])
        assert run_row.tags == emulated_tags(summary)
        assert run_row.tags[0] == "emulated"
        assert run_row.name == "A router and a direct path · sh"
        simulated = store.run(kept.run_ids["simulated"])
        assert simulated.duration_s == pytest.approx(run_row.duration_s, abs=0.1)
    assert {path.parent.name for path in kept.files} == {"emulated", "simulated"}


@pytest.mark.parametrize("opens", ["client", "server"])
def test_mptcp_uses_both_paths_whichever_end_opens_the_connection(opens: str) -> None:
    other = {"client": "server", "server": "client"}[opens]
    # The client always sends: with -R, the end that did not open the connection does.
    direction = "" if opens == "client" else "-R"
    _, summary = run(
        TWO_PATHS,
        [(other, "iperf3 -s"), (opens, f"iperf3 -c {other} -t 3 {direction}")],
        ends_with=1,
        uses_mptcp=True,
    )
    (flow,) = (each for each in summary["flows"] if each["name"] == "upload")
    assert flow["kind"] == "mptcp", summary["emulation"]["programs"]
    shares = [subflow["goodput_bps"] / flow["goodput_bps"] for subflow in flow["subflows"]]
    assert len(shares) == 2
    assert min(shares) > 0.2


def test_links_change_while_programs_run_and_outages_stop_them() -> None:
    reason = reason_against("ping")
    if reason:
        pytest.skip(reason)
    events = '[[events]]\nat = "0.8s"\nlink = "wifi"\nup = false\n[[events]]\nat = "1.4s"\nlink = "wifi"\nup = true\n'
    network = plan_emulation(source_of(Use.EMULATE, TWO_PATHS + events).scenario)
    seen: list[Mapping[str, Any]] = []

    def watch(message: Mapping[str, Any]) -> None:
        seen.append(message)
        if "sample" in message and message["sample"]["t_s"] == pytest.approx(1.8):
            recording.emulation.send_change("wifi", delay_s=0.08)
        if "sample" in message and message["sample"]["t_s"] == pytest.approx(2.5):
            recording.emulation.stop()

    job = EmulationJob(network, 1, (Program("client", ("ping", "-i", "0.1", "server")),), ends_with=0)
    recording = EmulationRecording(job, watch)
    wait_for(recording)
    ended = recording.complete()
    marks = [(mark.kind, mark.owner) for mark in ended.take_marks() if mark.owner == "wifi/forward"]
    assert marks == [(kind, "wifi/forward") for kind in ("link_down", "link_up", "link_change")]
    summary = ended.summary()
    (change,) = summary["emulation"]["changes"]
    assert (change["link"], change["direction"], change["delay_s"]) == ("wifi", "both", 0.08)
    assert 1.75 < change["t_s"] < 2.4
    times_ms = [float(each) for each in re.findall(r"time=([\d.]+) ms", output(summary, 0))]
    assert min(times_ms) == pytest.approx(40.2, rel=0.02)
    assert max(times_ms) == pytest.approx(160.2, rel=0.02)
    numbers = [int(each) for each in re.findall(r"icmp_seq=(\d+)", output(summary, 0))]
    assert 3 <= max(numbers) - len(numbers) <= 9  # those of the outage were lost
    assert summary["emulation"]["programs"][0]["code"] == -15  # SIGTERM


def test_a_program_that_cannot_start_is_one_sentence(tmp_path: Path) -> None:
    reason = reason_against()
    if reason:
        pytest.skip(reason)
    broken = tmp_path / "broken"
    broken.write_text("no program\n")
    broken.chmod(0o755)
    network = plan_emulation(source_of(Use.EMULATE, TWO_PATHS).scenario)
    recording = EmulationRecording(EmulationJob(network, 1, (Program("client", (str(broken),)),), ends_with=0))
    with pytest.raises(KernelError, match='/broken" cannot be started at client: Exec format error'):
        wait_for(recording)


def test_nothing_remains_after_sigkill_of_any_part() -> None:
    reason = reason_against("iperf3")
    if reason:
        pytest.skip(reason)
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.killed_emulations", "3", "5"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 rounds, 0 with leftovers" in done.stdout

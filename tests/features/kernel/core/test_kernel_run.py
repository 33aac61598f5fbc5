"""Short runs on the TCP and MPTCP of this machine's kernel, skipped where it does not allow them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from subflow_app.features.kernel.core.compare import Case, run_comparisons
from subflow_app.features.kernel.core.probe import Machine, probe_machine
from subflow_app.features.kernel.core.worker_process import ask_worker, worker_words
from subflow_sim.scenario import parse_scenario

SCENARIO = """\
format = 1
name = "Reno and MPTCP"
duration = "4s"
warmup = "1s"
nodes = { sender = {}, router = { kind = "router" }, receiver = {} }
[links]
near = { ends = ["sender", "router"], rate = "20Mbit/s", delay = "5ms", queue = "100pkt" }
own = { ends = ["sender", "receiver"], rate = "5Mbit/s", delay = "10ms", queue = "17pkt" }
[links.far]
ends = ["router", "receiver"]
rate = "10Mbit/s"
delay = "15ms"
queue = "34pkt"
reverse = { queue = "1000pkt" }
[links.other]
ends = ["sender", "receiver"]
rate = "5Mbit/s"
delay = "20ms"
queue = "17pkt"
reverse = { queue = "1000pkt" }
[flows]
reno = { kind = "tcp", from = "sender", to = "receiver", controller = "newreno", paths = [["near", "far"]] }
both = { kind = "mptcp", from = "sender", to = "receiver", controller = "uncoupled", paths = [["own"], ["other"]] }
"""


@cache
def machine() -> Machine:
    return probe_machine()


@pytest.fixture(scope="module")
def able_machine() -> Machine:
    plan = Case.of(parse_scenario(SCENARIO), seed=1, socket_buffer_bytes=8 << 20).plan
    reasons = machine().reasons_against([plan])
    if reasons:
        pytest.skip("; ".join(reasons))
    return machine()


def own_interfaces() -> set[str]:
    return {folder.name for folder in Path("/sys/class/net").iterdir()}


def test_reno_and_mptcp_fill_their_paths_on_the_kernel_as_in_the_simulator(able_machine: Machine) -> None:
    before = own_interfaces()
    case = Case.of(parse_scenario(SCENARIO), seed=1, socket_buffer_bytes=8 << 20)
    (comparison,) = run_comparisons([case], able_machine, seeds=1, repetitions=1)
    document = comparison.document()
    assert own_interfaces() == before
    if document["is_late"]:
        pytest.skip(f"this machine is too busy: the emulator was late by {document['lateness']['p99_s']:.4f} s (p99)")
    reno, both = document["flows"]
    # A buffer of one bandwidth-delay product keeps the link of a Reno flow full: 10 Mbit/s * 1448 / 1500 = 9.65 Mbit/s,
    # and 2 * 5 * 1424 / 1500 = 9.49 Mbit/s for the two subflows. One recovery or a late start costs less than 10 %.
    assert reno["goodput_bps"]["kernel"]["mean"] == pytest.approx(9.65e6, rel=0.10)
    assert both["goodput_bps"]["kernel"]["mean"] == pytest.approx(9.49e6, rel=0.10)
    assert abs(reno["goodput_bps"]["difference"]) < 0.10
    assert abs(both["goodput_bps"]["difference"]) < 0.10
    # A full queue of 34 packets takes 40.8 ms: the RTT lies between the 40 ms of propagation and their sum.
    assert 0.040 < reno["mean_rtt_s"]["kernel"]["mean"] < 0.085
    recording = comparison.kernel[0].recording
    columns = {(column.owner, column.name): index for index, column in enumerate(recording.columns)}
    assert recording.sample_count == 40
    # Losses count among the packets sent in the three seconds after the warm-up.
    sent = sum(flow["packets_sent"] for flow in recording.summary()["flows"])
    assert 0.55 < sent / recording.packets < 0.95
    assert recording.values(columns["reno/1", "min_rtt_s"])[-1] == pytest.approx(0.040, abs=0.003)
    assert recording.values(columns["far/forward", "queue_pkts"]).max() <= 34
    assert recording.values(columns["both/2", "throughput_bps"])[-1] > 1e6

    # The loss of a flow covers the time after the warm-up, as in the simulator, without the overshoot of slow start.
    summary = recording.summary()
    dropped = {each["name"]: each["drops_queue"] for each in summary["links"] if each["direction"] == "forward"}
    for subflow, link in zip(summary["flows"][1]["subflows"], ("own", "other"), strict=True):
        rows = recording.values(columns[f"{link}/forward", "drops_pkts"])
        assert rows[:10].sum() > 0
        assert subflow["packets_lost"] == dropped[link] == pytest.approx(rows[10:].sum(), abs=2)
        assert subflow["loss_ratio"] == subflow["packets_lost"] / subflow["packets_sent"]
    assert summary["flows"][0]["packets_lost"] == dropped["near"] + dropped["far"]


MANAGED = """\
format = 1
name = "queues"
duration = "4s"
warmup = "1s"
nodes = { sender = {}, receiver = {} }
[links]
codel = { ends = ["sender", "receiver"], rate = "10Mbit/s", delay = "10ms", queue = { discipline = "codel" } }
[links.marks]
ends = ["sender", "receiver"]
rate = "10Mbit/s"
delay = "10ms"
queue = { discipline = "red", ecn = true, min = "10pkt", max = "30pkt", limit = "100pkt" }
[flows]
under_codel = { kind = "tcp", from = "sender", to = "receiver", controller = "cubic", paths = [["codel"]] }
under_red = { kind = "tcp", from = "sender", to = "receiver", controller = "newreno", paths = [["marks"]] }
[transport]
ecn = "rfc3168"
[[events]]
at = "2.5s"
link = "codel"
rate = "5Mbit/s"
delay = "20ms"
"""


def test_managed_queues_and_changes_of_links_act_on_the_kernel_as_in_the_simulator(able_machine: Machine) -> None:
    case = Case.of(parse_scenario(MANAGED), seed=1, socket_buffer_bytes=8 << 20)
    (comparison,) = run_comparisons([case], able_machine, seeds=1, repetitions=1)
    document = comparison.document()
    if document["is_late"]:
        pytest.skip(f"this machine is too busy: the emulator was late by {document['lateness']['p99_s']:.4f} s (p99)")
    for flow in document["flows"]:
        assert abs(flow["goodput_bps"]["difference"]) < 0.10
        assert abs(flow["mean_rtt_s"]["difference"]) < 0.10
    links = {link["name"]: link for link in comparison.kernel[0].recording.summary()["links"][::2]}
    assert links["marks"]["marks"] > 0 == links["marks"]["drops_queue"]
    assert links["codel"]["drops_queue"] + links["codel"]["marks"] > 0


def test_nothing_is_left_of_an_interrupted_command(able_machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    del able_machine
    plan = Case.of(parse_scenario(SCENARIO), seed=1, socket_buffer_bytes=8 << 20).plan
    started: list[int] = []

    class Spy(subprocess.Popen[str]):
        def __init__(self, *words: Any, **options: Any) -> None:
            super().__init__(*words, **options)
            started.append(self.pid)

    def interrupt(elapsed_s: float) -> None:
        if len(session(started[0])) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Spy)
    with pytest.raises(KeyboardInterrupt):
        ask_worker({"networks": [plan.to_json()]}, timeout_s=20, progress=interrupt)
    # The kernel kills the emulator and the endpoints after the exit of the worker, their parent; that takes a moment.
    deadline = time.monotonic() + 10
    while session(started[0]) and time.monotonic() < deadline:
        os.sched_yield()
    assert session(started[0]) == set()


@pytest.mark.usefixtures("able_machine")
def test_a_worker_speaks_of_what_the_machine_refuses_to_a_parent_that_is_there() -> None:
    def asked(**job: object) -> subprocess.CompletedProcess[str]:
        text = json.dumps(job)
        return subprocess.run(worker_words(), input=text, capture_output=True, text=True, timeout=60, check=False)

    words = asked(probe=["no-such-control"], parent=os.getpid())
    assert words.returncode == 0, words.stderr
    assert "congestion control no-such-control" in words.stdout
    orphan = asked(probe=[], parent=0)
    assert (orphan.returncode, orphan.stdout) == (1, "")


def test_the_worker_starts_without_threads() -> None:
    # A process with threads may not enter a user namespace, and numpy starts some.
    code = (
        "import sys, subflow_app.shell.commands, subflow_app.features.kernel.core.worker\nprint('numpy' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert answer.stdout == "False\n"


def session(leader: int) -> set[int]:
    """Process ids of the living processes of a session."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, its_session = (folder / "stat").read_text().rpartition(") ")[2].split()[:4]
        except OSError:
            continue
        if int(its_session) == leader and state != "Z":
            found.add(int(folder.name))
    return found

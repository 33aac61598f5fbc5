"""Duration of jumps in time in runs of 200 s."""

from __future__ import annotations

import random
import time
from dataclasses import asdict, dataclass
from typing import Any

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, open_scenario
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.running.core.runs import RunJob
from subflow_sim.scenario import parse_scenario
from subflow_store import open_store

TARGET_MS = 100.0
"""From this delay on, a person notices that a picture lags behind the hand."""

DURATION_S = 200.0
_SEEKS = 200

_TWO_LINKS = """\
format = 1
name = "{title}"
duration = "{duration:g}s"

[nodes.client]
[nodes.server]

[links.one]
ends = ["server", "client"]
rate = "{rate}"
delay = "{first_delay}"
queue = "{queue}"

[links.two]
ends = ["server", "client"]
rate = "{rate}"
delay = "{second_delay}"
queue = "{queue}"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = {controller}
paths = [["one"], ["two"]]
"""


@dataclass(frozen=True, slots=True)
class SeekFigure:
    """One run, prepared in one pass and then sought at random times.

    Attributes:
        name: name of the workload.
        description: description of the workload.
        crossings: packets offered to links in the run.
        run_cpu_s: CPU time of the run, s.
        prepare_cpu_s: CPU time of the first pass, s.
        states: number of states kept.
        bytes: memory of the states kept.
        median_ms: CPU time of a jump, ms.
        p95_ms: 95th percentile of CPU times of jumps, ms.
        worst_ms: longest CPU time of a jump, ms.
    """

    name: str
    description: str
    crossings: int
    run_cpu_s: float
    prepare_cpu_s: float
    states: int
    bytes: int
    median_ms: float
    p95_ms: float
    worst_ms: float


def document() -> dict[str, Any]:
    """Measures jumps in each workload."""
    runs = [asdict(figure) for figure in measure_seek()]
    return {"duration_s": DURATION_S, "target_ms": TARGET_MS, "runs": runs}


def measure_seek(duration_s: float = DURATION_S, seeks: int = _SEEKS) -> tuple[SeekFigure, ...]:
    """Run each workload, prepare its replay, and seek random times within the default memory budget."""
    return tuple(_measure(name, *workload, seeks) for name, workload in _workloads(duration_s).items())


def _workloads(duration_s: float) -> dict[str, tuple[str, ScenarioSource]]:

    def two_links(title: str, **values: str) -> tuple[str, ScenarioSource]:
        text = _TWO_LINKS.format(title=title, duration=duration_s, **values)
        return title, ScenarioSource(parse_scenario(text), text, Use.RUN)

    delays = {"first_delay": "20ms", "second_delay": "40ms"}
    t_10b = open_scenario("t-10b", overrides=[f"duration={duration_s:g}s", "warmup=0s"])
    return {
        "fast": two_links(
            "MPTCP with LIA on 2 x 100 Mbit/s", rate="100Mbit/s", queue="100pkt", controller='"lia"', **delays
        ),
        "t-10b": ("T-10b, LIA", t_10b),
        "heavy": two_links(
            "MPTCP with uncoupled CUBIC on 2 x 1 Gbit/s",
            rate="1Gbit/s",
            queue="3000pkt",
            controller='{ name = "uncoupled", base = "cubic" }',
            **delays,
        ),
    }


def _measure(name: str, description: str, source: ScenarioSource, seeks: int) -> SeekFigure:
    with open_store(":memory:") as store:
        began_s = time.thread_time()
        run_id = RunJob(source.scenario, source.text, store=store).run().run_id
        run_cpu_s = time.thread_time() - began_s
        assert run_id is not None
        began_s = time.thread_time()
        replay = Replay.stored(store, run_id)
        replay.prepare()
        prepare_cpu_s = time.thread_time() - began_s
    crossings = replay.seek(replay.known_until_s).links.delivered_pkts.sum()
    chance = random.Random(1)
    times_ms = []
    for _ in range(seeks):
        t_s = chance.uniform(0, replay.known_until_s)
        began_s = time.thread_time()
        replay.seek(t_s)
        times_ms.append((time.thread_time() - began_s) * 1e3)
    times_ms.sort()
    return SeekFigure(
        name=name,
        description=description,
        crossings=int(crossings),
        run_cpu_s=run_cpu_s,
        prepare_cpu_s=prepare_cpu_s,
        states=replay.cost.states,
        bytes=replay.cost.bytes,
        median_ms=times_ms[len(times_ms) // 2],
        p95_ms=times_ms[int(len(times_ms) * 0.95)],
        worst_ms=times_ms[-1],
    )

"""An emulation without a worker: it answers as the worker does, with samples and output made of formulas."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from subflow_app.features.emulation.core import readiness, recording
from subflow_app.features.emulation.core.emulation import SAMPLE_INTERVAL_S, EmulationJob
from subflow_app.features.emulation.core.job_text import Program
from subflow_app.features.kernel.core.probe import Machine
from subflow_app.foundation.errors import KernelError

MACHINE = Machine("6.18.0", ("reno", "cubic"), {})
_TOOTH = 40  # samples of a saw-tooth


class FakeEmulation:
    """Each connection of the first flow has a saw-tooth; a run takes a part of its time."""

    last: FakeEmulation
    lateness: Mapping[str, float] = {"p50_s": 1e-5, "p99_s": 6e-5, "max_s": 3e-4}
    refusal: str | None = None
    speed = 10.0

    def __init__(self, job: EmulationJob, on_message: Callable[[Mapping[str, Any]], None]) -> None:
        self.job = job
        self.error: str | None = None
        self.is_over = False
        self.changes: list[dict[str, Any]] = []
        self._say = on_message
        self._stop = threading.Event()
        self._over = threading.Event()
        self._count = 0
        self._now_s = 0.0
        self._result: Mapping[str, Any] = {}
        self._thread = threading.Thread(target=self._work, daemon=True)
        FakeEmulation.last = self

    def start(self) -> None:
        self._thread.start()

    def send_change(self, link: str, direction: str = "both", **values: Any) -> None:
        given = {key: value for key, value in values.items() if value is not None}
        self.changes.append({"link": link, "direction": direction, **given})
        self._say({"changed": {"t_s": self._now_s, "link": link, "direction": direction, **given}})

    def start_program(self, program: Program) -> None:
        number, self._count = self._count, self._count + 1
        started = {"program": number, "node": program.node, "words": list(program.words), "t_s": self._now_s}
        self._say({"started": started})
        self._say({"output": {"program": number, "text": f"{program.name} <b>runs</b> on {program.node}"}})

    def end_program(self, number: int) -> None:
        self._say({"ended": {"program": number, "code": -15, "t_s": self._now_s}})

    def stop(self) -> None:
        self._stop.set()

    kill = stop

    def wait(self, timeout_s: float | None = None) -> bool:
        return self._over.wait(timeout_s)

    def result(self) -> Mapping[str, Any]:
        self._over.wait()
        if self.error is not None:
            raise KernelError(self.error)
        return self._result

    def _work(self) -> None:
        if self.refusal is not None:
            self.error = self.refusal
            message: Mapping[str, Any] = {"error": self.refusal}
        else:
            self._run()
            self._result = {"lateness": self.lateness, "links": [], "packets": 1000}
            message = {"result": self._result}
        self.is_over = True
        self._over.set()
        self._say(message)

    def _run(self) -> None:
        self._say({"ready": {"release": "6.18.0", "addresses": {}, "notes": []}})
        for program in self.job.programs:
            self.start_program(program)
        assert self.job.seconds is not None
        links = 2 * len(self.job.network.scenario.links)
        for tick in range(1, round(self.job.seconds / SAMPLE_INTERVAL_S) + 1):
            if self._stop.is_set():
                return
            self._now_s = tick * SAMPLE_INTERVAL_S
            row = [10 + 5 * math.sin(tick / 10), 0, 0, 0.8]
            parts = {"links": [row] * links, "sockets": list(self._sockets(tick)), "mptcp": [], "udp": []}
            self._say({"sample": {"t_s": self._now_s, "at_s": self._now_s, **parts}})
            time.sleep(SAMPLE_INTERVAL_S / self.speed)
        for number in range(self._count):
            self._say({"ended": {"program": number, "code": 0, "t_s": self.job.seconds}})

    def _sockets(self, tick: int) -> Iterator[dict[str, Any]]:
        plan = self.job.network.plan
        flow = next(iter(plan.scenario.flows.values()))
        for ordinal in range(1, len(flow.paths) + 1):
            route = plan.route_of[flow.name, ordinal]
            cwnd = 20 + (tick + 13 * ordinal) % _TOOTH
            packets = 20 * tick
            info = (True, cwnd, 20.0, 0.05, 0.04, cwnd, math.nan, packets, packets, 0, packets * 1448, 0, 0.0, 0.0)
            yield {
                "node": flow.source,
                "id": ordinal,
                "local": route.source.ipv4,
                "remote": route.destination.ipv4,
                "port": 40_000 + ordinal,
                "remote_port": 5201,
                "token": 0,
                "controller": "cubic",
                "info": info,
            }


def install(replace: Callable[[Any, str, Any], object]) -> type[FakeEmulation]:
    """Replaces the worker, and makes this computer one that has all programs."""
    replace(recording, "Emulation", FakeEmulation)
    replace(readiness, "machine", lambda: MACHINE)
    replace(readiness, "missing_programs", lambda _programs: ())
    return FakeEmulation

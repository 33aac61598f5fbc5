"""Built-in cases of single flows over one or two bottlenecks: loss 0 to 2 %, RTT 20 to 200 ms, rate 5 to 50 Mbit/s.

For each controller, every loss is combined with every rate, and the RTTs rotate. Each RTT thus occurs with several
losses and rates, without running all 48 combinations. Queues hold one bandwidth-delay product, but at least 20 packets.

`script_cases` has the same 12 combinations for controllers of scripts, and `coupled_cases` has coupled controllers on
two paths: disjoint, lossy, with a common bottleneck, and beside a TCP flow. Linux has neither, so that the kernel runs
the scripts themselves.

Further cases are transfers from 10 kB to 3 MB over one path, which end within slow start or soon after it, and paths
whose queue marks packets (ECN, AccECN). In the remaining cases, the second path of a connection joins late, or is a
backup until an outage of the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.kernel.core.case_text import ENDS, case_text, flow_text, link_text
from subflow_sim.scenario import Scenario

RATES_MBIT = (5, 20, 50)
RTTS_MS = (20, 50, 100, 200)
LOSSES_PERCENT = (0.0, 0.5, 1.0, 2.0)
CONTROLLERS = ("newreno", "cubic", "bbr")
SCRIPTS = ("newreno", "cubic", "vegas", "bdp")
COUPLED = ("lia", "olia", "balia")
TRANSFERS_KB = (10, 30, 100, 300, 1000, 3000)
# Rate and RTT of a second path, relative to the first path.
_SECOND_PATH = (0.5, 2)
_WIRE_BITS = 1500 * 8
_LEAST_QUEUE_PKTS = 20

_WORDS = {"rfc3168": " ecn", "accecn": " accecn", "late": " late", "backup": " backup"}
_WITH_CHANGES_S = 30
_SCRIPT_NAME = "as-text"
# Keys and events for the second path, appended to [flows.bulk], which is the last section of the file.
_CHANGES = {
    "late": """\
late = [2]
[[events]]
at = "12s"
flow = "bulk"
subflow = 2
open = true
""",
    "backup": """\
backup = [2]
[[events]]
at = "12s"
link = "first"
up = false
[[events]]
at = "20s"
link = "first"
up = true
""",
}


@dataclass(frozen=True, slots=True)
class GridCase:
    """One case: controller, properties of the first path, number of paths, and duration or size.

    Attributes:
        controller: controller of each subflow.
        rate_mbit: rate of the first path, Mbit/s.
        rtt_ms: RTT of the first path, ms.
        loss_percent: loss of both paths, %.
        is_mptcp: whether the connection has a second path.
        is_short: whether the run covers only the first 5 s.
        size_kb: size of a transfer, kB; None for unlimited data.
        ecn: ECN mode of a path whose queue marks packets; empty for dropping.
        second: role of the second path: "late", "backup" or empty.
        is_script: whether the controller is the shipped script of this name.
    """

    controller: str
    rate_mbit: int
    rtt_ms: int
    loss_percent: float
    is_mptcp: bool = False
    is_short: bool = False
    size_kb: int | None = None
    ecn: str = ""
    second: str = ""
    is_script: bool = False

    @property
    def name(self) -> str:
        """Name in tables, e.g. ``cubic 20Mbit/s 50ms 0.5%``, ``2 × cubic ...``, ``... short``, ``... 30kB``."""
        many = "2 × " if self.is_mptcp else "script " if self.is_script else ""
        length = " short" if self.is_short else _WORDS.get(self.ecn or self.second, "")
        length = length if self.size_kb is None else f" {self.size_kb}kB"
        return f"{many}{self.controller} {self.rate_mbit}Mbit/s {self.rtt_ms}ms {self.loss_percent:g}%{length}"

    @property
    def duration_s(self) -> int:
        """Duration in seconds; longer for slow flows, whose few losses would make the mean of three runs uncertain."""
        if self.is_short or self.size_kb is not None:
            return 5
        if self.second:
            return _WITH_CHANGES_S
        is_slow = self.loss_percent > 0 and self.rtt_ms >= 100 and self.controller != "bbr"
        return 120 if is_slow else 40

    def text(self) -> str:
        """The scenario file of the case."""
        share, stretch = _SECOND_PATH
        paths = [("first", self.rate_mbit * 1000, self.rtt_ms)]
        if self.is_mptcp:
            paths.append(("second", round(self.rate_mbit * 1000 * share), self.rtt_ms * stretch))
        links = "".join(
            link_text(
                name,
                rate=f"{rate_kbit}kbit/s",
                delay_ms=rtt_ms / 2,
                queue=self._queue(max(_LEAST_QUEUE_PKTS, math.ceil(rate_kbit * rtt_ms / _WIRE_BITS))),
                loss_percent=self.loss_percent,
            )
            for name, rate_kbit, rtt_ms in paths
        )
        controller = f'"{_SCRIPT_NAME}"' if self.is_script else f'"{self.controller}"'
        if self.is_mptcp:
            controller = f'{{ name = "uncoupled", base = {controller} }}'
        flow = flow_text("bulk", controller, [[name] for name, _, _ in paths], is_mptcp=self.is_mptcp)
        size = "" if self.size_kb is None else f'size = "{self.size_kb}kB"\n'
        warmup_s = 0 if self.duration_s == 5 else 5
        return case_text(self.name, self.duration_s, warmup_s, links, flow + size) + self._more()

    def _more(self) -> str:
        """Sections after the flow."""
        if self.is_script:
            return f'[controllers.{_SCRIPT_NAME}]\nscript = "{self.controller}"\n'
        return f'[transport]\necn = "{self.ecn}"\n' if self.ecn else _CHANGES.get(self.second, "")

    def _queue(self, pkts: int) -> str:
        """TOML value of a queue that holds `pkts` packets.

        With ECN, it holds four times as many, and marks 10 % of the packets that arrive when its length is `pkts`.
        """
        if not self.ecn:
            return f'"{pkts}pkt"'
        return (
            f'{{ discipline = "red", ecn = true, min = "{pkts // 2}pkt", max = "{pkts}pkt", limit = "{4 * pkts}pkt" }}'
        )


def grid_cases() -> Iterator[GridCase]:
    """All cases: one path, the first 5 s, transfers, ECN, two paths, and two paths with changes."""
    for controller in CONTROLLERS:
        yield from _steady_cases(controller)
    for controller in CONTROLLERS:
        for rate, rtt in ((5, 100), (50, 50), (20, 200)):
            yield GridCase(controller, rate, rtt, 0.0, is_short=True)
    for controller in CONTROLLERS:
        for size_kb in TRANSFERS_KB:
            yield GridCase(controller, 10, 100, 0.0, size_kb=size_kb)
    for controller in ("newreno", "cubic"):  # the kernel's bbr ignores marks
        for rate, rtt in ((20, 50), (5, 100), (50, 20)):
            yield GridCase(controller, rate, rtt, 0.0, ecn="rfc3168")
        yield GridCase(controller, 20, 50, 0.0, ecn="accecn")
    for controller in CONTROLLERS:
        for rate, rtt, loss in ((20, 50, 0.0), (5, 100, 0.5), (20, 20, 1.0)):
            yield GridCase(controller, rate, rtt, loss, is_mptcp=True)
    for second in ("late", "backup"):
        for controller in CONTROLLERS:
            yield GridCase(controller, 20, 50, 0.0, is_mptcp=True, second=second)


def script_cases() -> Iterator[GridCase]:
    """The steady cases of one path, each with the shipped scripts of controllers."""
    for script in SCRIPTS:
        yield from (replace(case, is_script=True) for case in _steady_cases(script))


def _steady_cases(controller: str) -> Iterator[GridCase]:
    """One path with every combination of loss and rate; the RTTs rotate."""
    for i, loss in enumerate(LOSSES_PERCENT):
        for j, rate in enumerate(RATES_MBIT):
            yield GridCase(controller, rate, RTTS_MS[(i + j) % len(RTTS_MS)], loss)


@dataclass(frozen=True, slots=True)
class CoupledCase:
    """A coupled controller on two paths.

    Attributes:
        controller: "lia", "olia" or "balia".
        layout: a key of `LAYOUTS`.
    """

    controller: str
    layout: str

    @property
    def name(self) -> str:
        """Name in tables, e.g. ``lia, shared bottleneck beside a TCP``."""
        return f"{self.controller}, {self.layout}"

    def text(self) -> str:
        """The scenario file of the case."""
        layout = LAYOUTS[self.layout]
        ends, names = ENDS, ("first", "second")
        near, bottleneck = layout.paths, ""
        paths = [[name] for name in names]
        if layout.is_shared:
            ends, near = ("sender", "router"), (PathLayout(1000, 2, 0.0), PathLayout(1000, 6, 0.0))
            bottleneck = layout.paths[0].text("shared", ("router", "receiver"))
            paths = [[name, "shared"] for name in names]
        links = "".join(path.text(name, ends) for name, path in zip(names, near, strict=True)) + bottleneck
        flows = flow_text("coupled", f'"{self.controller}"', paths, is_mptcp=True)
        if layout.has_tcp:
            flows += flow_text("tcp", '"newreno"', paths[:1], is_mptcp=False)
        router = '[nodes.router]\nkind = "router"\n' if layout.is_shared else ""
        return case_text(self.name, 65, 5, links, flows, nodes=router)


@dataclass(frozen=True, slots=True)
class PathLayout:
    """Rate in Mbit/s, one-way delay in ms and loss in % of a link, and its queue in packets."""

    rate_mbit: float
    delay_ms: float
    loss: float
    queue_pkts: int = 1000

    def text(self, name: str, ends: Iterable[str] = ENDS) -> str:
        """The section of a link with this name between these nodes."""
        return link_text(
            name,
            rate=f"{self.rate_mbit:g}Mbit/s",
            delay_ms=self.delay_ms,
            queue=f'"{self.queue_pkts}pkt"',
            loss_percent=self.loss,
            ends=ends,
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """The links of a coupled case.

    Attributes:
        paths: a link for each path; the one common bottleneck if `is_shared`.
        is_shared: whether both paths pass the same bottleneck.
        has_tcp: whether a NewReno flow competes on the first path.
    """

    paths: tuple[PathLayout, ...]
    is_shared: bool = False
    has_tcp: bool = False


LAYOUTS = {
    "equal paths": Layout((PathLayout(8, 20, 0.0, 40), PathLayout(8, 20, 0.0, 40))),
    "unequal paths": Layout((PathLayout(8, 20, 0.0, 40), PathLayout(4, 50, 0.0, 40))),
    "two lossy paths": Layout((PathLayout(20, 20, 1.0, 100), PathLayout(20, 40, 1.0, 100))),
    "one lossy path": Layout((PathLayout(8, 20, 0.0, 40), PathLayout(20, 20, 1.0, 100))),
    "shared bottleneck": Layout((PathLayout(10, 20, 0.0, 50),), is_shared=True),
    "shared bottleneck beside a TCP": Layout((PathLayout(12, 20, 0.0, 50),), is_shared=True, has_tcp=True),
    "lossy shared bottleneck beside a TCP": Layout((PathLayout(12, 20, 0.1, 50),), is_shared=True, has_tcp=True),
    "a TCP on the first path": Layout(
        (PathLayout(8, 20, 0.02, 40), PathLayout(8, 20, 0.02, 40)), has_tcp=True
    ),
}  # fmt: skip
"""Layouts of the coupled cases. Where two flows compete for a clean drop-tail queue of their own, 0.02 % loss keeps
them from losing packets in step, which would make the shares depend on a phase."""


def coupled_cases() -> Iterator[CoupledCase]:
    """Each coupled controller in each layout."""
    for layout in LAYOUTS:
        for controller in COUPLED:
            yield CoupledCase(controller, layout)


CASES: Mapping[str, Callable[[], Iterator[GridCase | CoupledCase]]] = {
    "kernel": grid_cases,
    "scripts": script_cases,
    "coupled": coupled_cases,
}
"""Sets of cases: controllers that Linux itself has, scripts, and coupled controllers."""


def grid_scenarios(only: str | None = None, overrides: Sequence[str] = (), *, cases: str = "kernel") -> list[Scenario]:
    """The cases as scenarios, except those whose path changes would come after the end of the run.

    Args:
        only: a part of the name; None for all cases.
        overrides: ``KEY=VALUE`` texts for all cases.
        cases: a key of `CASES`.

    Raises:
        ScenarioError: if an override is invalid.
    """

    def has_time(case: GridCase | CoupledCase) -> bool:
        """True if the path changes of a case precede the end of its run, which an override may have moved."""
        if isinstance(case, CoupledCase):
            return True
        still = read_scenario(Use.KERNEL, replace(case, second="").text(), overrides=overrides)
        return not case.second or still.duration_s >= _WITH_CHANGES_S

    return [
        read_scenario(Use.KERNEL, case.text(), file=case.name, overrides=overrides)
        for case in CASES[cases]()
        if (only is None or only in case.name) and has_time(case)
    ]

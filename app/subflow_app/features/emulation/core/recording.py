"""A run of real programs with the interface of a simulation, so that the same code stores, exports and draws both.

The run is live: rows grow while programs run. Its columns are those of the links and of the scenario's flows, because
columns are fixed from the start. `EmulationRecording.complete` adds the flows that only the run has shown.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.emulation.core.emulation import SAMPLE_INTERVAL_S, Emulation, EmulationJob, Message
from subflow_app.features.emulation.core.flows import (
    IDLE_ROW,
    FlowRecorder,
    FlowTrace,
    GrowingTable,
    Mark,
    SubflowTrace,
)
from subflow_app.features.emulation.core.lateness import Lateness, lateness_of
from subflow_app.features.kernel.core.recording import (
    FLOW_COLUMNS,
    SUBFLOW_COLUMNS,
    EndedRecording,
    WithoutDecisions,
    link_summary,
    signature_of,
)
from subflow_app.foundation.errors import KernelError
from subflow_sim.errors import SimulationError
from subflow_sim.scenario import Event, Scenario
from subflow_sim.stats import jain_index
from subflow_sim.trace import Column

LINK_COLUMNS = (("queue_pkts", "pkt"), ("drops_pkts", "pkt"), ("marks_pkts", "pkt"), ("utilisation", ""))
MOST_OUTPUT_LINES = 1000
"""Lines of output that a run keeps of each program: the first half and the latest half."""

_WAIT_S = 0.5
_STOP_S = 15.0


class EmulationRecording(WithoutDecisions):
    """A run of programs on the network of a scenario.

    Args:
        job: the network and the programs.
        on_message: called with each message of the worker, in the thread of the emulation.

    Attributes:
        emulation: the emulation; the first `run_until` starts it.
        programs: the started programs by number, as ``{"node", "words", "code", "ended_s", "output"}``.
    """

    sample_interval_s = SAMPLE_INTERVAL_S

    def __init__(self, job: EmulationJob, on_message: Callable[[Message], None] | None = None) -> None:
        self.job = job
        self.scenario = job.network.scenario
        self.emulation = Emulation(job, self._take)
        self._on_message = on_message
        self._changed = threading.Condition()
        self._is_started = False
        self._is_interrupted = False
        self._limit_s = job.seconds if job.seconds is not None else self.scenario.duration_s
        self.now_s = 0.0  # time up to which samples are published, s
        self._flows = FlowRecorder(job.network, job.warmup_s)
        self._link_names = [f"{name}/{side}" for name in self.scenario.links for side in ("forward", "reverse")]
        self._links = GrowingTable(len(self._link_names) * len(LINK_COLUMNS))
        self._sample_count = 0
        self._marks: list[Mark] = []
        self._taken_marks = 0
        events = (event for event in self.scenario.events if event.link is not None)
        self._events = deque(sorted(events, key=lambda event: event.at_s))
        self.programs: dict[int, dict[str, Any]] = {}
        self._changes: list[dict[str, Any]] = []
        self._ready: Mapping[str, Any] = {}
        self._tables: list[tuple[GrowingTable, int]] = []
        self.columns: Sequence[Column] = self._show(self._flows.planned)

    def _show(self, flows: Sequence[FlowTrace]) -> Sequence[Column]:
        """Columns of these flows and of all links; `_tables` gets the place of each."""
        columns: list[Column] = []
        for trace in flows:
            columns += _flow_columns(trace)
            self._tables += [(trace.table, place) for place in range(len(FLOW_COLUMNS))]
        for trace in flows:
            for subflow in trace.subflows.values():
                columns += _subflow_columns(subflow)
                self._tables += [(subflow.table, place) for place in range(len(SUBFLOW_COLUMNS))]
        self._tables += [(self._links, place) for place in range(len(self._link_names) * len(LINK_COLUMNS))]
        return (*columns, *self._link_columns())

    def _link_columns(self) -> list[Column]:
        return [Column("link", link, name, unit) for link in self._link_names for name, unit in LINK_COLUMNS]

    # ---- messages ----

    def _take(self, message: Message) -> None:
        if "sample" in message:
            self._add_sample(message["sample"])
        elif "ready" in message:
            self._ready = message["ready"]
        elif "started" in message:
            started = message["started"]
            self.programs[started["program"]] = {
                "node": started["node"],
                "words": started["words"],
                "started_s": started["t_s"],
                "code": None,
                "ended_s": None,
                "output": [],
                "note": started.get("note", ""),
            }
        elif "output" in message:
            self._add_output(message["output"])
        elif "ended" in message:
            ended = message["ended"]
            self.programs[ended["program"]].update(code=ended["code"], ended_s=ended["t_s"])
        elif "changed" in message:
            changed = {key: value for key, value in message["changed"].items() if key != "links"}
            self._changes.append(changed)
            self._mark_change(changed)
        if self._on_message is not None:
            self._on_message(message)
        if "result" in message or "error" in message:
            with self._changed:
                self._changed.notify_all()

    def _add_sample(self, sample: Mapping[str, Any]) -> None:
        t_s = float(sample["t_s"])
        self._links.append([value for link in sample["links"] for value in link])
        if sample["at_s"] is None:  # the next sample has the sockets of this time, too
            return
        self._flows.add(t_s, sample, self._links.count - self._sample_count)
        while self._events and self._events[0].at_s <= t_s:
            event = self._events.popleft()
            up = {} if event.up is None else {"up": event.up}
            self._mark_change({"link": event.link, "direction": event.direction, "t_s": event.at_s, **up})
        self._marks += self._flows.take_marks()
        with self._changed:
            self._sample_count = self._links.count
            self.now_s = t_s
            self._changed.notify_all()

    def _add_output(self, output: Mapping[str, Any]) -> None:
        lines = self.programs[output["program"]]["output"]
        lines.append(output["text"])
        if len(lines) > MOST_OUTPUT_LINES:
            del lines[MOST_OUTPUT_LINES // 2]

    def _mark_change(self, changed: Mapping[str, Any]) -> None:
        kind = "link_change" if "up" not in changed else "link_up" if changed["up"] else "link_down"
        sides = ("forward", "reverse") if changed["direction"] == "both" else (changed["direction"],)
        self._marks += [Mark(changed["t_s"], f"{changed['link']}/{side}", kind, 0.0) for side in sides]

    # ---- as a simulation ----

    @property
    def seed(self) -> int:
        """Seed of the links' random losses and delays."""
        return self.job.seed

    @property
    def duration_s(self) -> float:
        """Length of the run, s; while it runs without a limit of its own, at least that of the scenario."""
        return self.now_s if self.finished else max(self._limit_s, self.now_s)

    @property
    def finished(self) -> bool:
        """True after the worker has ended."""
        return self.emulation.is_over

    @property
    def packets(self) -> int:
        """Number of packets that crossed the links; 0 before the end."""
        return int(self._result().get("packets", 0))

    @property
    def sample_count(self) -> int:
        """Number of samples."""
        return self._sample_count

    def run_until(self, t_s: float) -> bool:
        """Wait until a time of the run, and start it first if necessary; return False if the wait was cut short.

        Raises:
            KernelError: if the run failed.
        """
        if not self._is_started:
            self._is_started = True
            self.emulation.start()
        before_s = self.now_s
        with self._changed:
            self._changed.wait_for(
                lambda: self._is_interrupted or self.finished or self.now_s >= max(t_s, before_s + 1e-9),
                timeout=_WAIT_S,
            )
            was_interrupted, self._is_interrupted = self._is_interrupted, False
        if self.emulation.error is not None and self.emulation.wait(_STOP_S):
            raise KernelError(self.emulation.error)
        return not was_interrupted and self.now_s >= t_s

    def apply(self, event: Event) -> Event:
        """Change a link now.

        Raises:
            SimulationError: if the event changes anything else.
        """
        if event.link is None:
            raise SimulationError("only links can be changed while programs run")
        if event.loss_model is not None:
            raise SimulationError("a model of losses cannot be changed while programs run")
        if self.finished:
            raise SimulationError("the run is over")
        self.emulation.send_change(
            event.link,
            event.direction,
            rate_bps=event.rate_bps,
            delay_s=event.delay_s,
            loss=event.loss,
            up=event.up,
            queue_pkts=None if event.queue is None else event.queue.limit_pkts,
        )
        return replace(event, at_s=self.now_s)

    def interrupt(self) -> None:
        """Let the current or the next `run_until` return at once."""
        with self._changed:
            self._is_interrupted = True
            self._changed.notify_all()

    def values(self, index: int, first: int = 0) -> NDArray[np.float32]:
        """Samples of one column from the sample `first` on, float32 [sample_count - first]."""
        table, column = self._tables[index]
        return table.values(column, first)[: max(0, self._sample_count - first)]

    def take_marks(self) -> Sequence[Mark]:
        """Losses and timeouts as the counters show them, and changes of links, since the last call."""
        first, self._taken_marks = self._taken_marks, len(self._marks)
        return self._marks[first : self._taken_marks]

    # ---- results ----

    def stop(self) -> None:
        """End all programs and the run, and wait for its result."""
        self.emulation.stop()
        if self._is_started and not self.emulation.wait(_STOP_S):
            self.emulation.kill()
            self.emulation.wait(_STOP_S)

    def complete(self) -> EndedEmulation:
        """The ended run with all its flows, also those that the scenario lacks."""
        self.stop()
        flows = (*self._flows.planned, *self._flows.others())
        count = self._sample_count
        columns: list[Column] = []
        blocks: list[NDArray[np.float32]] = []
        for trace in flows:
            columns += _flow_columns(trace)
            blocks.append(trace.table.whole(count, (0.0,)))
        for trace in flows:
            for subflow in trace.subflows.values():
                columns += _subflow_columns(subflow)
                blocks.append(subflow.table.whole(count, IDLE_ROW))
        columns += self._link_columns()
        blocks.append(self._links.whole(count, [0.0] * (len(self._link_names) * len(LINK_COLUMNS))))
        return EndedEmulation(self.scenario, columns, np.column_stack(blocks), self._marks, self.summary())

    @property
    def lateness(self) -> Lateness | None:
        """Lateness of the links' packets; None without a result."""
        measured = self._result().get("lateness")
        return None if measured is None else lateness_of(measured, self.scenario)

    def _result(self) -> Mapping[str, Any]:
        if not self.finished or self.emulation.error is not None:
            return {}
        return self.emulation.result()

    def signature(self) -> str:
        """Hash of the samples, 16 hexadecimal digits; it differs between any two runs."""
        return signature_of(np.column_stack([self.values(index) for index in range(len(self.columns))]))

    def summary(self) -> dict[str, Any]:
        """Results after the warm-up, with keys of `subflow run --json`; only such runs have the key "emulation".

        A run that has not ended is ended first.
        """
        if self._is_started:
            self.stop()
        flows = [self._flow_summary(trace) for trace in (*self._flows.planned, *self._flows.others())]
        rates = [flow["active_goodput_bps"] for flow in flows if flow["active_s"] > 0]
        result = self._result()
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "duration_s": self.duration_s,
            "simulated_s": self.now_s,
            "warmup_s": self.job.warmup_s,
            "profile": "emulated",
            "signature": self.signature(),
            "packets": self.packets,
            "flows": flows,
            "links": [link_summary(link) for link in result.get("links", ())],
            "fairness": {"jain": jain_index(rates) if any(rates) else None},
            "emulation": self._about(result),
        }

    def _about(self, result: Mapping[str, Any]) -> dict[str, Any]:
        lateness = self.lateness
        return {
            "release": self._ready.get("release", ""),
            "priority": result.get("priority", ""),
            "addresses": self._ready.get("addresses", {}),
            "mptcp": self.job.uses_mptcp,
            "uplink": self.job.uplink,
            "programs": [self.programs[number] for number in sorted(self.programs)],
            "lateness": None
            if lateness is None
            else {
                "p50_s": lateness.p50_s,
                "p99_s": lateness.p99_s,
                "max_s": lateness.max_s,
                "limit_s": lateness.limit_s,
            },
            "is_reliable": lateness is not None and lateness.is_reliable,
            "cpu_s": result.get("cpu_s"),
            "overruns": result.get("overruns", 0),
            "changes": list(self._changes),
            "notes": list(self.job.network.notes),
            "flows_left_out": self._flows.left_out,
        }

    def _flow_summary(self, trace: FlowTrace) -> dict[str, Any]:
        measured_s = max(self.now_s - self.job.warmup_s, SAMPLE_INTERVAL_S)
        subflows = [self._subflow_summary(subflow, measured_s) for subflow in trace.subflows.values()]
        acked = sum(subflow["packets_acked"] for subflow in subflows)
        weighted = sum(each["packets_acked"] * (each["mean_rtt_s"] or 0.0) for each in subflows)
        sent, lost = (sum(subflow[key] for subflow in subflows) for key in ("packets_sent", "packets_lost"))
        goodput_bps = trace.goodput_bytes * 8 / measured_s
        active_s = 0.0 if trace.first_s is None else max(0.0, trace.last_s - max(trace.first_s, self.job.warmup_s))
        return {
            "name": trace.name,
            "kind": trace.protocol or (trace.flow.kind if trace.flow is not None else ""),
            "controller": ", ".join(sorted(filter(None, trace.controllers))),
            "scheduler": "default" if trace.protocol == "mptcp" else "",
            "size_bytes": None,
            "goodput_bps": goodput_bps,
            "start_s": trace.first_s or 0.0,
            "active_s": active_s,
            "active_goodput_bps": goodput_bps * measured_s / active_s if active_s > 0 else 0.0,
            "completion_s": None,
            "mean_rtt_s": weighted / acked if acked else None,
            "p95_rtt_s": None,
            "loss_ratio": lost / sent if sent else 0.0,
            "packets_sent": sent,
            "packets_lost": lost,
            "packets_acked": acked,
            "retransmits": lost,
            "subflows": subflows,
        }

    def _subflow_summary(self, subflow: SubflowTrace, measured_s: float) -> dict[str, Any]:
        totals = subflow.totals
        return {
            "path": list(subflow.path),
            "throughput_bps": totals.delivered_bytes * 8 / measured_s,
            "goodput_bps": totals.acked_bytes * 8 / measured_s,
            "mean_cwnd_pkts": totals.cwnd_sum / totals.cwnd_looks if totals.cwnd_looks else 0.0,
            "mean_rtt_s": totals.rtt_sum / totals.rtt_weight if totals.rtt_weight else None,
            "loss_ratio": totals.lost_pkts / totals.sent_pkts if totals.sent_pkts else 0.0,
            "packets_sent": totals.sent_pkts,
            "packets_lost": totals.lost_pkts,
            "packets_acked": int(totals.rtt_weight),
            "retransmits": totals.lost_pkts,
            "timeouts": totals.timeouts,
            "rwnd_limited_s": totals.rwnd_limited_s,
            "sndbuf_limited_s": totals.sndbuf_limited_s,
        }


def _flow_columns(trace: FlowTrace) -> list[Column]:
    return [Column("flow", trace.name, name, unit) for name, unit in FLOW_COLUMNS]


def _subflow_columns(subflow: SubflowTrace) -> list[Column]:
    return [Column("subflow", subflow.owner, name, unit) for name, unit in SUBFLOW_COLUMNS]


class EndedEmulation(EndedRecording):
    """An ended run with columns for all its flows, as `EmulationRecording.complete` makes it.

    Args:
        scenario: the scenario.
        columns: the columns.
        values: samples, float32 [samples, columns].
        marks: all marks.
        summary: results, as in `EmulationRecording.summary`.
    """

    def __init__(
        self,
        scenario: Scenario,
        columns: Sequence[Column],
        values: NDArray[np.float32],
        marks: Sequence[Mark],
        summary: Mapping[str, Any],
    ) -> None:
        super().__init__(values, summary["duration_s"])
        self.scenario = scenario
        self.columns = tuple(columns)
        self.seed: int = summary["seed"]
        self.packets: int = summary["packets"]
        self._marks = tuple(marks)
        self._summary = dict(summary)

    def take_marks(self) -> Sequence[Mark]:
        """All marks, once."""
        marks, self._marks = self._marks, ()
        return marks

    def summary(self) -> dict[str, Any]:
        """Results after the warm-up; see `EmulationRecording.summary`."""
        return {**self._summary, "signature": self.signature()}

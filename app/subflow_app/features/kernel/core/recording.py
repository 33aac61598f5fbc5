"""A kernel run with the interface of a simulation, so that the same code stores, exports and draws both."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.kernel.core.network_plan import FlowPlan, NetworkPlan
from subflow_sim.decisions import DecisionLimits
from subflow_sim.errors import SimulationError
from subflow_sim.scenario import Event, Scenario
from subflow_sim.stats import jain_index
from subflow_sim.trace import Column

FLOW_COLUMNS = (("goodput_bps", "bit/s"),)
SUBFLOW_COLUMNS = (
    ("throughput_bps", "bit/s"),
    ("goodput_bps", "bit/s"),
    ("cwnd_pkts", "pkt"),
    ("ssthresh_pkts", "pkt"),
    ("srtt_s", "s"),
    ("min_rtt_s", "s"),
    ("inflight_pkts", "pkt"),
    ("pacing_rate_bps", "bit/s"),
    ("losses_pkts", "pkt"),
)
LINK_COLUMNS = (("queue_pkts", "pkt"), ("drops_pkts", "pkt"), ("utilisation", ""))


class WithoutDecisions:
    """The part of a simulation's interface that runs on a kernel leave empty."""

    def take_intervals(self) -> None:
        """None, because no controller of the kernel sends in monitor intervals."""

    def take_agent_steps(self) -> None:
        """None, because the kernel runs no learning agent."""

    def record_decisions(self, limits: DecisionLimits | None = None) -> None:
        """Does nothing, because TCP_INFO does not contain the reasons for decisions."""

    def take_decisions(self) -> None:
        """None, because a kernel run records no decisions."""

    @property
    def decisions_lost(self) -> int:
        """0, because a kernel run records no decisions."""
        return 0


class EndedRecording(WithoutDecisions):
    """The part of a simulation's interface that all ended runs on a kernel share: `run_until` only publishes samples.

    Args:
        values: samples, float32 [samples, columns].
        duration_s: length of the run, s.
    """

    def __init__(self, values: NDArray[np.float32], duration_s: float) -> None:
        self._values = values
        self.duration_s = duration_s
        self.now_s = 0.0  # time up to which samples are published, s

    @property
    def finished(self) -> bool:
        """True after all samples have been published."""
        return self.now_s >= self.duration_s

    @property
    def sample_count(self) -> int:
        """Number of published samples."""
        return len(self._values) if self.finished else 0

    def run_until(self, t_s: float) -> bool:
        """Publish all samples for any time above 0; return True, because the call is never interrupted."""
        self.now_s = self.duration_s if t_s > 0 else 0.0
        return True

    def apply(self, event: Event) -> Event:
        """Refuse the event.

        Raises:
            SimulationError: always.
        """
        raise SimulationError("a recording cannot be changed")

    def interrupt(self) -> None:
        """Does nothing, because the run has finished."""

    def values(self, index: int, first: int = 0) -> NDArray[np.float32]:
        """Samples of one column from the sample `first` on, float32 [sample_count - first]."""
        values: NDArray[np.float32] = self._values[first : self.sample_count, index]
        return values

    def signature(self) -> str:
        """Hash of the samples, 16 hexadecimal digits; it differs between any two runs on a kernel."""
        return signature_of(self._values)


class KernelRecording(EndedRecording):
    """The kernel run of one network.

    Columns have the simulator's names, but `losses_pkts` counts retransmitted packets, and the column
    `recv_buffer_bytes` is missing.

    Args:
        scenario: the scenario of the run.
        plan: the plan made from the scenario.
        network: the part of the worker's answer for this network.
        about: section "kernel" of the summary.
    """

    def __init__(
        self, scenario: Scenario, plan: NetworkPlan, network: Mapping[str, Any], about: Mapping[str, Any]
    ) -> None:
        self.scenario = scenario
        self._plan = plan
        self._network = network
        self._about = dict(about)
        columns: list[Column] = []
        blocks: list[NDArray[np.float32]] = []
        for flow, result in zip(plan.flows, network["flows"], strict=True):
            columns += [Column("flow", flow.name, name, unit) for name, unit in FLOW_COLUMNS]
            blocks.append(_block(result["rows"], len(FLOW_COLUMNS)))
        for flow, result in zip(plan.flows, network["flows"], strict=True):
            for ordinal, subflow in enumerate(result["subflows"], start=1):
                columns += [Column("subflow", f"{flow.name}/{ordinal}", name, unit) for name, unit in SUBFLOW_COLUMNS]
                blocks.append(_block(subflow["rows"], len(SUBFLOW_COLUMNS)))
        for link in plan.links:
            columns += [Column("link", link.name, name, unit) for name, unit in LINK_COLUMNS]
        blocks.append(_block(network["samples"], len(plan.links) * len(LINK_COLUMNS)))
        self.columns: Sequence[Column] = tuple(columns)
        count = min(len(block) for block in blocks)
        super().__init__(np.column_stack([block[:count] for block in blocks]), plan.duration_s)

    @property
    def seed(self) -> int:
        """Seed of the random losses."""
        return self._plan.seed

    @property
    def packets(self) -> int:
        """Number of data packets that reached their destination, including the warm-up."""
        counts = (*self._network["paths"], *self._network.get("warmup_paths", ()))
        return int(sum(offered - lost for flow in counts for offered, lost in flow))

    def take_marks(self) -> Sequence[Any]:
        """Empty, because TCP_INFO reports states, but no events."""
        return ()

    def summary(self) -> dict[str, Any]:
        """Results after the warm-up, with keys of `subflow run --json`; only kernel runs have the key "kernel"."""
        flows = [
            self._flow_summary(flow, result, paths)
            for flow, result, paths in zip(
                self._plan.flows, self._network["flows"], self._network["paths"], strict=True
            )
        ]
        rates = [flow["active_goodput_bps"] for flow in flows if flow["active_s"] > 0]
        return {
            "scenario": self.scenario.name,
            "seed": self.seed,
            "duration_s": self.duration_s,
            "simulated_s": self.now_s,
            "warmup_s": self._plan.warmup_s,
            "profile": "kernel",
            "signature": self.signature(),
            "packets": self.packets,
            "flows": flows,
            "links": [link_summary(link) for link in self._network["links"]],
            "fairness": {"jain": jain_index(rates) if any(rates) else None},
            "kernel": self._about,
        }

    def _flow_summary(
        self, flow: FlowPlan, result: Mapping[str, Any], path_counts: Sequence[Sequence[int]]
    ) -> dict[str, Any]:
        subflows = [
            {
                "path": list(path.links),
                "throughput_bps": subflow.get("throughput_bps", 0.0),
                "goodput_bps": subflow.get("goodput_bps", 0.0),
                "mean_cwnd_pkts": subflow.get("mean_cwnd_pkts", 0.0),
                "mean_rtt_s": _defined(subflow.get("mean_rtt_s")),
                "loss_ratio": lost / offered if offered else 0.0,
                "packets_sent": offered,
                "packets_lost": lost,
                "packets_acked": subflow.get("rtt_weight", 0),
                "retransmits": subflow.get("retransmits", 0),
                "timeouts": subflow.get("timeouts", 0),
                "rwnd_limited_s": subflow.get("rwnd_limited_s", 0.0),
                "sndbuf_limited_s": subflow.get("sndbuf_limited_s", 0.0),
            }
            for path, subflow, (offered, lost) in zip(flow.paths, result["subflows"], path_counts, strict=True)
        ]
        acked = sum(subflow["packets_acked"] for subflow in subflows)
        weighted = sum(each["packets_acked"] * each["mean_rtt_s"] for each in subflows if each["packets_acked"])
        offered, lost = (sum(counts) for counts in zip(*path_counts, strict=True))
        active_s = self._active_s(flow, result["completion_s"])
        measured_s = self._plan.duration_s - self._plan.warmup_s
        return {
            "name": flow.name,
            "kind": "mptcp" if flow.is_mptcp else "tcp",
            "controller": flow.controller,
            "scheduler": "default" if flow.is_mptcp else "",
            "size_bytes": flow.size_bytes,
            "goodput_bps": result["goodput_bps"],
            "start_s": flow.start_s,
            "active_s": active_s,
            "active_goodput_bps": result["goodput_bps"] * measured_s / active_s if active_s else 0.0,
            "completion_s": result["completion_s"],
            "mean_rtt_s": weighted / acked if acked else None,
            "p95_rtt_s": None,
            "loss_ratio": lost / offered if offered else 0.0,
            "packets_sent": offered,
            "packets_lost": lost,
            "packets_acked": acked,
            "retransmits": sum(subflow["retransmits"] for subflow in subflows),
            "subflows": subflows,
        }

    def _active_s(self, flow: FlowPlan, completion_s: float | None) -> float:
        """Measured time from the start of a flow until it completes, stops, or the run ends, s."""
        end_s = self._plan.duration_s if flow.stop_s is None else min(flow.stop_s, self._plan.duration_s)
        if completion_s is not None:
            end_s = min(end_s, flow.start_s + completion_s)
        return max(0.0, end_s - max(flow.start_s, self._plan.warmup_s))


def signature_of(values: NDArray[np.float32]) -> str:
    """Hash of samples, 16 hexadecimal digits."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]


def link_summary(link: Mapping[str, Any]) -> dict[str, Any]:
    """Results of a link direction, with the name of the link apart from its direction."""
    name, _, direction = link["name"].rpartition("/")
    return {**link, "name": name, "direction": direction}


def _block(rows: Sequence[Sequence[float]], columns: int) -> NDArray[np.float32]:
    """Samples as float32 [n, columns]."""
    return np.array(rows, dtype=np.float32).reshape(-1, columns)


def _defined(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value

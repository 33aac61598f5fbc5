"""Measures of a finished run: each figure once, with its key in the summary and how several flows become one number.

Checks of labs, claims and recipes call a measure by its name. Unit and title of the figure are those of `METRICS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.metrics import metric

Part: TypeAlias = Mapping[str, Any]
"""A flow, subflow or link of a summary, as `Simulation.summary` has it."""


class NotMeasuredError(Exception):
    """A run has no such figure; the message names it."""


def mean(values: Sequence[float]) -> float:
    """The plain mean."""
    return math.fsum(values) / len(values)


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a run.

    Attributes:
        name: in checks, claims and recipes.
        key: in the summary; its unit is at its end.
        about: meaning, for authors.
        of: the part of a run that has it.
        combine: makes one number of several flows or subflows.
        by_subflow: always the subflows' figures; else those of flows, and of a subflow only where one is asked for.
    """

    name: str
    key: str
    about: str
    of: Literal["flow", "link", "run"] = "flow"
    combine: Callable[[Sequence[float]], float] = mean
    by_subflow: bool = False

    @property
    def unit(self) -> str:
        """The unit that it is shown in; empty for counts and ratios without one."""
        shown = metric(self.key).unit
        return "" if (self.of == "link" and self.key.startswith("drops")) or self.key == "retransmits" else shown

    def of_flows(self, flows: Sequence[Part], subflow: int = 0) -> float:
        """The figure of some flows, SI.

        Args:
            flows: of the summary.
            subflow: number of the only subflow of each that counts; 0: all.

        Raises:
            NotMeasuredError: if none of them has it.
        """
        parts: list[Part] = []
        for flow in flows:
            subflows = flow.get("subflows") or []
            if subflow > len(subflows):
                text = tr(
                    "{flow} has {count} subflows, not {wanted}", flow=flow["name"], count=len(subflows), wanted=subflow
                )
                raise NotMeasuredError(text)
            parts += [subflows[subflow - 1]] if subflow else subflows if self.by_subflow else [flow]
        values = [float(part[self.key]) for part in parts if isinstance(part.get(self.key), int | float)]
        if not values:
            raise NotMeasuredError(self.unknown_text(", ".join(flow["name"] for flow in flows)))
        return self.combine(values)

    def unknown_text(self, owner: str) -> str:
        """Says that an owner has no such figure."""
        return tr("{name} of {owner} is not known", name=self.name, owner=owner)


MEASURES: Mapping[str, Measure] = {
    each.name: each
    for each in (
        Measure(
            "goodput",
            "goodput_bps",
            "Payload delivered in order per time, bit/s; of several flows the sum.",
            combine=math.fsum,
        ),
        Measure(
            "throughput",
            "throughput_bps",
            "Payload acknowledged by the subflows of a flow, bit/s.",
            combine=math.fsum,
            by_subflow=True,
        ),
        Measure("rtt", "mean_rtt_s", "Mean round-trip time, s."),
        Measure("p95_rtt", "p95_rtt_s", "95th percentile of a flow's round-trip times, s."),
        Measure("loss_ratio", "loss_ratio", "Packets lost over packets sent."),
        Measure("retransmits", "retransmits", "Packets that a flow sent again.", combine=math.fsum),
        Measure("completion", "completion_s", "Time that the transfer of a flow took, s."),
        Measure(
            "hol_blocking", "mean_hol_blocking_s", "Mean time that data waited for earlier data at the receiver, s."
        ),
        Measure(
            "mean_cwnd",
            "mean_cwnd_pkts",
            "Mean congestion window of the subflows together, packets.",
            combine=math.fsum,
            by_subflow=True,
        ),
        Measure("jain", "jain", "Jain's index of the flows' goodputs; 1 when all are equal.", "run"),
        Measure(
            "utilisation", "utilisation", "Share of a link's capacity that was used; 'wifi' or 'wifi/reverse'.", "link"
        ),
        Measure("drops", "drops_queue", "Packets dropped by the queue of a link.", "link"),
        Measure("mean_queue", "mean_queue_pkts", "Mean length of a link's queue, packets.", "link"),
        Measure("max_queue", "max_queue_pkts", "Greatest length of a link's queue, packets.", "link"),
    )
}
"""By name."""

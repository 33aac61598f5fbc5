"""The effect of a fork, shown by values of both runs after the time of the fork."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from subflow_app.features.traces.core.traces import FLOW, LINK, SUBFLOW, Traces, select_keys
from subflow_app.vocabulary.means import time_mean
from subflow_app.vocabulary.measures import MEASURES, flow_kind
from subflow_app.vocabulary.number_text import finite, signed_percent_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

# Compared columns by scope. Counts are summed over the samples, all other columns are averaged.
_FIGURES = {
    FLOW: ("goodput_bps",),
    SUBFLOW: ("throughput_bps", "cwnd_pkts", "srtt_s", "losses_pkts"),
    LINK: ("utilisation", "queue_pkts", "drops_pkts"),
}
_COUNTS = ("losses_pkts", "drops_pkts")


@dataclass(frozen=True, slots=True)
class ForkFigure:
    """One compared value of both runs.

    Attributes:
        scope: "flow", "subflow" or "link".
        owner: flow, subflow or link with this value.
        name: name of the column.
        is_sum: whether the value is the sum of the samples instead of the mean.
        original: value of the original run in SI units; None if unknown.
        fork: value of the fork in SI units; None if unknown.
    """

    scope: str
    owner: str
    name: str
    is_sum: bool
    original: float | None
    fork: float | None

    @property
    def relative(self) -> float | None:
        """Relative change from the original to the fork; None if undefined."""
        if not self.original or self.fork is None:
            return None
        return self.fork / self.original - 1.0


def fork_figures(original: Traces, fork: Traces, at_s: float) -> tuple[list[ForkFigure], float]:
    """Compare both runs from the time of the fork to the last common sample.

    Args:
        original: the original run.
        fork: the fork of that run.
        at_s: time of the fork in seconds.

    Returns:
        The compared values, and the end of the compared interval in seconds.
    """
    ends = [_end_s(traces) for traces in (original, fork)]
    until_s = min(ends)
    sized = [_transfers(traces) for traces in (original, fork)]
    figures = []
    for scope, names in _FIGURES.items():
        for key in select_keys(fork, scope):
            if key.name not in names:
                continue
            known = select_keys(original, scope, key.name, key.owner)
            both = ((original, known[0] if known else None), (fork, key))
            values = [_figure(traces, found, at_s, until_s) for traces, found in both]
            if scope == FLOW and any(key.owner in each for each in sized):
                transfers = [each.get(key.owner) for each in sized]
                took = [None if each is None else each.took_s for each in transfers]
                figures.append(ForkFigure(scope, key.owner, "completion_s", False, *took))
                active = [
                    None if each is None else _active_rate(traces, found, at_s, until_s, each)
                    for (traces, found), each in zip(both, transfers, strict=True)
                ]
                figures.append(ForkFigure(scope, key.owner, "active_goodput_bps", False, *active))
            figures.append(ForkFigure(scope, key.owner, key.name, key.name in _COUNTS, *values))
    return figures, until_s


class _Transfer(NamedTuple):
    """The transfer of a flow with a size, from the summary of its run; times in seconds."""

    start_s: float
    took_s: float | None

    @property
    def end_s(self) -> float:
        return math.inf if self.took_s is None else self.start_s + self.took_s


def _transfers(traces: Traces) -> dict[str, _Transfer]:
    """The transfers of an ended run, by flow; empty for an active run."""
    summary = traces.row.summary if traces.row is not None else None
    return {
        str(flow["name"]): _Transfer(finite(flow.get("start_s")) or 0.0, finite(flow.get("completion_s")))
        for flow in (summary or {}).get("flows", ())
        if flow_kind(flow) == "sized"
    }


def figures_document(figures: Sequence[ForkFigure], at_s: float, until_s: float) -> dict[str, Any]:
    """JSON document of the compared values."""
    return {
        "from_s": at_s,
        "until_s": until_s,
        "figures": [
            {"scope": each.scope, "owner": each.owner, "name": each.name, "original": each.original, "fork": each.fork}
            for each in figures
        ],
    }


def figures_table(figures: Sequence[ForkFigure], labels: Mapping[str, str]) -> TextTable:
    """Table of the compared values of flows and subflows, without values that are zero or unknown in both runs.

    For flows with a size, the table shows the completion time and the goodput while active instead of the goodput.
    """
    sized = {each.owner for each in figures if each.name == "completion_s"}
    columns: tuple[Column[ForkFigure], ...] = (
        Column("After the fork", lambda each: labels.get(each.owner, each.owner)),
        Column("Metric", lambda each: MEASURES[each.name].title),
        NumberColumn("Original", lambda each: MEASURES[each.name].text(each.original)),
        NumberColumn("Fork", lambda each: MEASURES[each.name].text(each.fork)),
        Column("Unit", lambda each: MEASURES[each.name].unit),
        NumberColumn("Change", lambda each: each.relative, signed_percent_text, "%"),
    )
    shown = (
        each
        for each in figures
        if each.scope != LINK
        and (each.original or each.fork)
        and not (each.name == "goodput_bps" and each.owner in sized)
    )
    return TextTable.of(shown, columns)


def _end_s(traces: Traces) -> float:
    keys = traces.keys()
    times = traces.read(keys[0])[0] if keys else np.empty(0)
    return float(times[-1]) if len(times) else 0.0


def _active_rate(traces: Traces, key: Any, from_s: float, until_s: float, transfer: _Transfer) -> float | None:
    """Mean of a rate over the part of a window in which a flow was active; None if it was inactive.

    The flow usually ends within a sample. All bytes of this sample count, because they were delivered before the end.
    """
    begin_s, end_s = max(from_s, transfer.start_s), min(until_s, transfer.end_s)
    mean = _figure(traces, key, begin_s, until_s)
    return None if mean is None or end_s <= begin_s else mean * (until_s - begin_s) / (end_s - begin_s)


def _figure(traces: Traces, key: Any, from_s: float, until_s: float) -> float | None:
    if key is None:
        return None
    times, values = traces.read(key)
    # A sample covers the interval that ends with it.
    inside = (times > from_s) & (times <= until_s) & np.isfinite(values)
    if not np.any(inside):
        return None
    if key.name in _COUNTS:
        return float(values[inside].sum(dtype=np.float64))
    return finite(time_mean(times, values, from_s, until_s))

"""What is measured of monitor intervals: rate, utility and reward by the number of the interval.

Controllers that send by monitor intervals hold one rate for about a round trip and judge what became of it. Figures 6
to 8 of DDPG-MPCC show the first hundred of them, whenever they were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_app.features.gallery.core.run_data import RunData, Samples
from subflow_sim.parameter import Param
from subflow_sim.units import Dimension

if TYPE_CHECKING:
    from subflow_store import EventTable

FIRST = Param("first", Dimension.COUNT, "Number of the first interval, from 1.", default=1, minimum=1)
LAST = Param("last", Dimension.COUNT, "Number of the last one.", default=100, minimum=1)


def interval_value(column: str) -> Callable[[RunData, Mapping[str, Any]], float]:
    """Mean of a column over the intervals from `first` to `last` of all subflows.

    Args:
        column: "rate", "utility" or "reward".
    """

    def value(run: RunData, options: Mapping[str, Any]) -> float:
        _numbers, values = _course(run, options, column)
        known = values[np.isfinite(values)]
        return float(known.mean()) if len(known) else math.nan

    return value


def interval_course(column: str) -> Callable[[RunData, Mapping[str, Any]], tuple[Samples, Samples]]:
    """Numbers of intervals, and the mean of a column over the subflows that had them."""

    def course(run: RunData, options: Mapping[str, Any]) -> tuple[Samples, Samples]:
        return _course(run, options, column)

    return course


def _course(run: RunData, options: Mapping[str, Any], column: str) -> tuple[Samples, Samples]:
    first, last = int(options["first"]), int(options["last"])
    numbers = np.arange(first, last + 1, dtype=np.float64)
    parts = _by_subflow(run, options.get("flows"), "utility" if column == "reward" else f"{column}{_UNITS[column]}")
    if not parts:
        return numbers, np.full(len(numbers), math.nan)
    rows = np.full((len(parts), len(numbers)), math.nan)
    for row, values in zip(rows, parts, strict=True):
        shown = values[first - 1 : last]
        row[: len(shown)] = shown
    if column == "reward":
        largest = largest_utility(run)
        rows = np.clip(rows / largest, 0.0, 1.0) if largest > 0 else np.full_like(rows, math.nan)
    counts = np.isfinite(rows).sum(axis=0)
    sums = np.nansum(rows, axis=0)
    return numbers, np.divide(sums, counts, out=np.full(len(numbers), math.nan), where=counts > 0)


_UNITS = {"rate": "_bps", "utility": ""}


def largest_utility(run: RunData) -> float:
    """The largest utility of an interval in all runs of the experiment: what rewards are normalised by.

    Of one scale for all series: by its own largest a controller that never gets far would look as good as any.
    """
    found = [
        float(np.nanmax(values))
        for each in run.siblings.all()
        for values in _by_subflow(each, None, "utility")
        if np.isfinite(values).any()
    ]
    return max(found, default=math.nan)


def _by_subflow(run: RunData, flows: str | None, column: str) -> list[Samples]:
    """A column of the intervals of each subflow in their order."""
    table: EventTable = run.store.intervals(run.run_id)
    owners = table.names["owner"]
    wanted = [owner for name in run.flows(flows) for owner in run.subflows(name, None) if owner in owners]
    found = []
    for owner in wanted:
        mine = table.columns["owner"] == owners.index(owner)
        order = np.argsort(table.columns["number"][mine], kind="stable")
        found.append(np.asarray(table.columns[column][mine][order], dtype=np.float64))
    return found

"""Runs in groups: of one scenario, controller, tag, seed, status or day, with the mean of what each has measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from subflow_app.core.history.run_columns import Value, local_day
from subflow_app.core.language import translatable
from subflow_store.values import RunRow

GROUPINGS: Mapping[str, str] = {
    "": translatable("No groups"),
    "scenario": translatable("By scenario"),
    "controllers": translatable("By controller"),
    "tag": translatable("By tag"),
    "seed": translatable("By seed"),
    "status": translatable("By status"),
    "day": translatable("By day"),
}
"""What runs can be grouped by, and what the choice is called."""

_LABELS: Mapping[str, Callable[[RunRow], Sequence[str]]] = {
    "scenario": lambda row: (row.scenario_name,),
    "controllers": lambda row: (row.controllers,),
    "tag": lambda row: row.tags or ("",),
    "seed": lambda row: (str(row.seed),),
    "status": lambda row: (row.status,),
    "day": lambda row: (local_day(row),),
}


@dataclass(frozen=True, slots=True, eq=False)
class RunGroup:
    """Runs that have something in common.

    Attributes:
        label: what they have in common; empty for runs that lack it.
        rows: in the order of the list.
    """

    label: str
    rows: list[RunRow]


class Interval(NamedTuple):
    """A mean, and half the width of its 95 % confidence interval (NaN for a single value)."""

    mean: float
    half: float


def grouped(rows: Iterable[RunRow], by: str) -> list[RunGroup]:
    """The runs in groups, in the order of each group's first run; a run of several tags is in each one's group.

    Args:
        rows: in the order in which they are listed.
        by: one of GROUPINGS but the empty one.
    """
    groups: dict[str, RunGroup] = {}
    labels = _LABELS[by]
    for row in rows:
        for label in labels(row):
            if label not in groups:
                groups[label] = RunGroup(label, [])
            groups[label].rows.append(row)
    return list(groups.values())


def mean_interval(values: Iterable[Value]) -> Interval | None:
    """Mean and 95 % confidence interval by Student's t of those values that are numbers; None if none is."""
    # Not at the top of the file: it would cost the window's start 40 ms.
    from subflow_agents.evaluation import Figure

    numbers = [float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)]
    if not numbers:
        return None
    figure = Figure.of(numbers)
    return Interval(figure.mean, figure.ci95)

"""A figure by the values of a parameter, as boxes: how much runs differ, and not only their mean.

Source: Tukey 1977, "Exploratory Data Analysis": whiskers reach to the last value within 1.5 times the height of the
box, what lies further out is drawn by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from subflow_app.core.sweeps.views.study import Parameter, Study, StudyFigure

WHISKER = 1.5
"""How far whiskers reach at most, in heights of the box."""


class BoxValue(NamedTuple):
    """A single run of a box: its figure (SI), its point and its seed, and its number in the store."""

    value: float
    point: int
    seed: int
    run_id: int | None


@dataclass(frozen=True, slots=True)
class Box:
    """One box, all in SI units.

    Attributes:
        level: of the parameter below.
        series: level of the parameter that tells boxes beside each other apart; 0 if there is none.
        low: where the lower whisker ends.
        q1: lower quartile.
        median: of the values.
        q3: upper quartile.
        high: where the upper whisker ends.
        values: of the single runs, all of them.
    """

    level: int
    series: int
    low: float
    q1: float
    median: float
    q3: float
    high: float
    values: tuple[BoxValue, ...]

    @property
    def outliers(self) -> tuple[BoxValue, ...]:
        """Runs beyond the whiskers."""
        return tuple(value for value in self.values if not self.low <= value.value <= self.high)


@dataclass(frozen=True, slots=True, eq=False)
class BoxesContent:
    """What a plot of boxes shows.

    Attributes:
        figure: up the plot.
        parameter: along the plot, a place for each level.
        series: tells boxes beside each other apart; None if there is one each.
        boxes: by level, then by series; of those that have runs.
        averaged: keys of further parameters, whose levels are thrown together.
    """

    figure: StudyFigure
    parameter: Parameter
    series: Parameter | None
    boxes: tuple[Box, ...]
    averaged: tuple[str, ...]


def box_plot(
    study: Study, figure: str, parameter: str, series: str = "", fixed: Mapping[str, int] | None = None
) -> BoxesContent:
    """Boxes of a figure by a parameter.

    Args:
        study: the sweep.
        figure: key of the figure.
        parameter: key of the parameter along the plot.
        series: key of the parameter that tells boxes beside each other apart; empty or the same one: none.
        fixed: level of each further parameter; all levels of those that are left out count.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    series = "" if series == parameter else series
    held = {key: level for key, level in (fixed or {}).items() if key not in (parameter, series)}
    members: dict[tuple[int, int], list[BoxValue]] = {}
    for point, run, value in study.single_runs(study.chosen(held), figure):
        key = (study.place(point, parameter), study.place(point, series) if series else 0)
        members.setdefault(key, []).append(BoxValue(value, point, run.seed, run.run_id))
    boxes = tuple(_box(level, rank, tuple(members[level, rank])) for level, rank in sorted(members))
    averaged = tuple(
        other.key for other in study.parameters if other.key not in (parameter, series, *held) and len(other.levels) > 1
    )
    shown_series = study.parameter(series) if series else None
    return BoxesContent(study.figure(figure), study.parameter(parameter), shown_series, boxes, averaged)


def _box(level: int, series: int, values: tuple[BoxValue, ...]) -> Box:
    numbers = np.array([value.value for value in values])
    q1, median, q3 = (float(quartile) for quartile in np.percentile(numbers, (25, 50, 75)))
    reach = WHISKER * (q3 - q1)
    within = numbers[(numbers >= q1 - reach) & (numbers <= q3 + reach)]
    return Box(level, series, float(within.min()), q1, median, q3, float(within.max()), values)

"""Throughput against delay, a mark with its 95 % intervals for each point of a sweep.

As in Pantheon's reports the delay axis runs from right to left, so that the corner everybody wants is at the top right.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from subflow_app.core.sweeps.views.study import Parameter, Study, StudyFigure
from subflow_sim.stats import Estimate


@dataclass(frozen=True, slots=True)
class ScatterMark:
    """One point of the sweep.

    Attributes:
        point: its number.
        series: level of the parameter that tells marks apart; 0 if there is none.
        x: the figure along the plot, SI.
        y: the figure up the plot, SI.
        label: what it is beside its series, in words.
    """

    point: int
    series: int
    x: Estimate
    y: Estimate
    label: str


@dataclass(frozen=True, slots=True, eq=False)
class ScatterContent:
    """What a scatter shows.

    Attributes:
        x: figure along the plot.
        y: figure up the plot.
        series: tells marks apart by shape and colour; None if there is none.
        marks: in the order of the sweep.
    """

    x: StudyFigure
    y: StudyFigure
    series: Parameter | None
    marks: tuple[ScatterMark, ...]

    @property
    def is_x_reversed(self) -> bool:
        """Whether less is better along the plot: the axis then runs from right to left."""
        return self.x.better < 0

    @property
    def is_y_reversed(self) -> bool:
        """Whether less is better up the plot: the axis then runs downwards."""
        return self.y.better < 0

    @property
    def has_better_corner(self) -> bool:
        """Whether it is known of both figures which way is better."""
        return self.x.better != 0 and self.y.better != 0


def scatter(study: Study, x: str, y: str, series: str = "", fixed: Mapping[str, int] | None = None) -> ScatterContent:
    """Marks of two figures.

    Args:
        study: the sweep.
        x: key of the figure along the plot.
        y: key of the figure up the plot.
        series: key of the parameter that tells marks apart; empty: none.
        fixed: levels of parameters; points with others are left out.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    held = {key: level for key, level in (fixed or {}).items() if key != series}
    marks = []
    for point in study.chosen(held):
        found_x, found_y = study.mean([point], x), study.mean([point], y)
        if math.isfinite(found_x.mean) and math.isfinite(found_y.mean):
            rank = study.place(point, series) if series else 0
            marks.append(ScatterMark(point, rank, found_x, found_y, study.words(point, (series, *held))))
    told_apart = study.parameter(series) if series else None
    return ScatterContent(study.figure(x), study.figure(y), told_apart, tuple(marks))

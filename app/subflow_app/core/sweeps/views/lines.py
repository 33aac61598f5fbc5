"""A figure over a parameter, a line with its 95 % band for each value of another."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from subflow_app.core.sweeps.views.study import Parameter, Study, StudyFigure


class LinePoint(NamedTuple):
    """A point of a line: position on the axis, mean and half the interval in SI units, and what it is the mean of."""

    x: float
    mean: float
    ci95: float
    runs: int
    points: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line.

    Attributes:
        series: level of the parameter that tells lines apart; 0 if there is one.
        name: of that level; empty if there is one line.
        points: from left to right; levels without runs are left out.
    """

    series: int
    name: str
    points: tuple[LinePoint, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LinesContent:
    """What a plot of lines shows; see :func:`line_plot`."""

    figure: StudyFigure
    parameter: Parameter
    series: Parameter | None
    lines: tuple[Line, ...]
    averaged: tuple[str, ...]

    @property
    def can_be_log(self) -> bool:
        """Whether the values of the parameter span a decade and none is zero: each is then seen on such an axis."""
        levels = [level.number for level in self.parameter.levels]
        return self.parameter.is_numeric and bool(levels) and levels[0] > 0 and levels[-1] >= 10 * levels[0]


def line_plot(
    study: Study, figure: str, parameter: str, series: str = "", fixed: Mapping[str, int] | None = None
) -> LinesContent:
    """Lines of a figure over a parameter.

    Args:
        study: the sweep.
        figure: key of the figure.
        parameter: key of the parameter along the plot; one with names has its places in their order.
        series: key of the parameter that tells lines apart; empty or the same one: a single line.
        fixed: level of each further parameter; those that are left out are averaged over.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    series = "" if series == parameter else series
    held = {key: level for key, level in (fixed or {}).items() if key not in (parameter, series)}
    along = study.parameter(parameter)
    told_apart = study.parameter(series) if series else None
    members: dict[int, dict[int, list[int]]] = {}
    for point in study.chosen(held):
        by_level = members.setdefault(study.place(point, series) if series else 0, {})
        by_level.setdefault(study.place(point, parameter), []).append(point)
    lines = []
    for rank in sorted(members):
        points = []
        for level in sorted(members[rank]):
            numbers = members[rank][level]
            found = study.mean(numbers, figure)
            if math.isfinite(found.mean):
                points.append(LinePoint(along.position(level), found.mean, found.ci95, found.n, tuple(numbers)))
        name = told_apart.levels[rank].text if told_apart else ""
        lines.append(Line(rank, name, tuple(points)))
    averaged = tuple(
        other.key for other in study.parameters if other.key not in (parameter, series, *held) and len(other.levels) > 1
    )
    return LinesContent(study.figure(figure), along, told_apart, tuple(lines), averaged)

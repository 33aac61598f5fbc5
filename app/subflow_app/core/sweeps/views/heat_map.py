"""A figure over two parameters, as the cells of a map."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.core.sweeps.views.span import span_of
from subflow_app.core.sweeps.views.study import Parameter, Study, StudyFigure
from subflow_sim.stats import Estimate


class HeatCell(NamedTuple):
    """One cell.

    Attributes:
        mean: SI; NaN where no run has the figure.
        ci95: half the width of the 95 % interval; NaN where there is none.
        runs: how many runs the mean is of.
        points: of the sweep; several where other parameters are averaged over.
    """

    mean: float
    ci95: float
    runs: int
    points: tuple[int, ...]

    @property
    def measured(self) -> Estimate:
        """Mean and interval."""
        return Estimate(self.mean, self.ci95, self.runs)


@dataclass(frozen=True, slots=True, eq=False)
class HeatMapContent:
    """What a map shows.

    Attributes:
        figure: that the colours show.
        x: the parameter along the map.
        y: the parameter up the map; None where there is but one.
        cells: by level of `y`, then of `x`.
        averaged: keys of further parameters whose levels are averaged over.
    """

    figure: StudyFigure
    x: Parameter
    y: Parameter | None
    cells: tuple[tuple[HeatCell, ...], ...]
    averaged: tuple[str, ...]

    def means(self) -> NDArray[np.float64]:
        """float64 [levels of y, levels of x], in the unit of the figure; NaN where nothing is known."""
        return np.array([[cell.mean for cell in row] for row in self.cells], dtype=np.float64) * self.figure.scale

    def span(self) -> tuple[float, float]:
        """What the colours reach over, in the unit of the figure: 0 and 1 of an empty map, never twice the same.

        From the least to the greatest mean, but no less than an interval is wide on average: means that do not differ
        have colours that do not differ.
        """
        low, high = span_of(self.means())
        missing = max(0.0, self.interval_width() - (high - low))
        return low - missing / 2, high + missing / 2

    def interval_width(self) -> float:
        """Mean width of the 95 % intervals of the cells, in the unit of the figure; 0 where there are none."""
        halves = [cell.ci95 for row in self.cells for cell in row if math.isfinite(cell.ci95)]
        return 2 * math.fsum(halves) / len(halves) * self.figure.scale if halves else 0.0

    @property
    def is_within_noise(self) -> bool:
        """Whether all means lie within the width that an interval has on average."""
        low, high = span_of(self.means())
        return self.interval_width() > high - low


def heat_map(study: Study, figure: str, x: str, y: str = "", fixed: Mapping[str, int] | None = None) -> HeatMapContent:
    """The map of a figure.

    Args:
        study: the sweep.
        figure: key of the figure.
        x: key of the parameter along the map.
        y: key of the parameter up the map; empty for a single row.
        fixed: level of each further parameter; those that are left out are averaged over.

    Raises:
        KeyError: if there is no such figure or parameter.
    """
    held = {key: level for key, level in (fixed or {}).items() if key not in (x, y)}
    across, up = study.parameter(x), study.parameter(y) if y else None
    members: dict[tuple[int, int], list[int]] = {}
    for point in study.chosen(held):
        row = study.place(point, y) if y else 0
        members.setdefault((row, study.place(point, x)), []).append(point)
    rows = []
    for row in range(len(up.levels) if up else 1):
        cells = []
        for column in range(len(across.levels)):
            points = members.get((row, column), [])
            found = study.mean(points, figure)
            cells.append(HeatCell(found.mean, found.ci95, found.n, tuple(points)))
        rows.append(tuple(cells))
    averaged = tuple(
        parameter.key
        for parameter in study.parameters
        if parameter.key not in (x, y, *held) and len(parameter.levels) > 1
    )
    return HeatMapContent(study.figure(figure), across, up, tuple(rows), averaged)

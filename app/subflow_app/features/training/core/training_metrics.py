"""Metrics of a training run, in columns that grow with its reports, and plots of the metrics with units and warnings.

The cost of drawing a curve does not increase with the length of the training run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.trace_measures import REPORT_MEASURES

FloatArray = NDArray[np.float64]

_FIRST_CAPACITY = 256
_GROUP = 4


class GrowingCurve:
    """A growing curve that can be reduced to few points with the same outline on the screen.

    The minimum and maximum of every four points are added to a coarser curve, recursively. Each level has half the
    points of the finer level and the same outline. All points remain available for zooming in.
    """

    def __init__(self) -> None:
        self._points: FloatArray = np.empty((2, _FIRST_CAPACITY))
        self._count = 0
        self._passed_on = 0  # points included in the coarser curve
        self._coarser: GrowingCurve | None = None

    def __len__(self) -> int:
        return self._count

    def extend(self, x: FloatArray, y: FloatArray) -> None:
        """Append points: `x` and `y` are finite float64 [n], and `x` is ascending."""
        end = self._count + len(x)
        if end > self._points.shape[1]:
            grown = np.empty((2, max(end, 2 * self._points.shape[1])))
            grown[:, : self._count] = self._points[:, : self._count]
            self._points = grown
        self._points[:, self._count : end] = x, y
        self._count = end
        groups = (end - self._passed_on) // _GROUP
        if groups:
            self._coarser = self._coarser or GrowingCurve()
            begin, self._passed_on = self._passed_on, self._passed_on + groups * _GROUP
            self._coarser.extend(*_outline(self._points[:, begin : self._passed_on]))

    def between(self, low: float, high: float, most: int) -> tuple[FloatArray, FloatArray]:
        """The points between two values of x, and one neighbour on each side, as x and y (float64 [k] each).

        Args:
            low: first x.
            high: last x.
            most: maximum number of points. A range with more points is reduced to its outline, to which a few of the
                latest points may be added.
        """
        x = self._points[0, : self._count]
        first = max(0, int(np.searchsorted(x, low)) - 1)
        last = min(self._count, int(np.searchsorted(x, high, "right")) + 1)
        if last - first <= most or self._coarser is None:
            return x[first:last], self._points[1, first:last]
        # Coarser curves lack the points of an incomplete group, and can lack the last point of a complete group.
        newest = self._points[:, max(first, min(self._passed_on, last - 1)) : last]
        outline = np.concatenate([self._coarser.between(low, high, most), newest], axis=1)
        return outline[0], outline[1]


def _outline(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The minimum and the maximum of each group of `_GROUP` points, in the order of x."""
    groups = points.reshape(2, -1, _GROUP)  # [x and y, groups, points]
    chosen = np.sort([groups[1].argmin(axis=1), groups[1].argmax(axis=1)], axis=0).T
    x, y = np.take_along_axis(groups, chosen[np.newaxis], axis=2).reshape(2, -1)
    return x, y


# An actor with this share of its actions at their bounds is in the flat part of its tanh and stops learning.
SATURATION_WARNING = 0.5


@dataclass(frozen=True, slots=True)
class TrainingPlot:
    """A plot of one metric over the course of training runs.

    Attributes:
        metric: measure of the plot; its key is the reported column.
        floor: minimum possible value, as reported; None if values may be negative.
        ceiling: maximum possible value; the axis then always shows the full range.
        warn_above: reported values above this limit cause a warning; None: no warning.
        compares: whether the plot also shows evaluations against classic controllers.
    """

    metric: Measure
    floor: float | None = None
    ceiling: float | None = None
    warn_above: float | None = None
    compares: bool = False


TRAINING_PLOTS: tuple[TrainingPlot, ...] = (
    TrainingPlot(REPORT_MEASURES["return_mean"]),
    TrainingPlot(REPORT_MEASURES["flow_goodput_bps"], floor=0.0, compares=True),
    TrainingPlot(REPORT_MEASURES["rtt_s"], floor=0.0),
    TrainingPlot(REPORT_MEASURES["loss_ratio"], floor=0.0),
    TrainingPlot(REPORT_MEASURES["jain"], floor=0.0, ceiling=1.0),
    TrainingPlot(REPORT_MEASURES["actor_saturation"], 0.0, 1.0, SATURATION_WARNING),
    TrainingPlot(REPORT_MEASURES["td_error"], floor=0.0),
    TrainingPlot(REPORT_MEASURES["q_mean"]),
    TrainingPlot(REPORT_MEASURES["kl"], floor=0.0),
    TrainingPlot(REPORT_MEASURES["entropy"]),
    TrainingPlot(REPORT_MEASURES["rtt_inflation"], floor=0.0),
)
DEFAULT_TRAINING_PLOTS = (
    *("return_mean", "flow_goodput_bps", "rtt_s", "loss_ratio", "jain"),
    *("actor_saturation", "td_error", "kl"),
)


class MetricLog:
    """All metrics reported by one training run, in one column per metric. Values missing in a report are NaN.

    Columns grow in place, so that the cost of adding a report is constant.
    """

    def __init__(self) -> None:
        self._count = 0
        self.revision = 0  # number of changes; identical revisions mean identical contents
        self._columns: dict[str, FloatArray] = {}
        self._latest: dict[str, float] = {}
        self._outlines: dict[tuple[str, str], tuple[GrowingCurve, int]] = {}  # curve and number of included reports

    def __len__(self) -> int:
        return self._count

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all metrics that have been reported."""
        return tuple(self._columns)

    def add(self, values: Mapping[str, object]) -> None:
        """Append a report; values other than numbers (text, null) count as missing."""
        self.revision += 1
        self._make_room(self._count + 1)
        for name, value in values.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                self._column(name, self._count + 1)[self._count] = float(value)
                if math.isfinite(value):
                    self._latest[name] = float(value)
        self._count += 1

    def extend(self, reports: Iterable[Mapping[str, object]]) -> None:
        """Append reports in order."""
        for values in reports:
            self.add(values)

    def extend_columns(self, columns: Mapping[str, Sequence[float] | FloatArray]) -> None:
        """Append many reports in one call, given as columns like those of the store.

        Args:
            columns: float64 [n] each, NaN for missing values.

        Raises:
            ValueError: if the columns differ in length.
        """
        lengths = {len(column) for column in columns.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns of {sorted(lengths)} reports; all need as many")
        added = lengths.pop() if lengths else 0
        self.revision += 1
        self._make_room(self._count + added)
        for name, column in columns.items():
            self._column(name, self._count + added)[self._count : self._count + added] = column
            known = np.flatnonzero(np.isfinite(column))
            if len(known):
                self._latest[name] = float(column[known[-1]])
        self._count += added

    def forget_from(self, name: str, value: float) -> None:
        """Drop the first report in which a rising metric has reached `value`, and all later reports."""
        reached = np.flatnonzero(self.values(name) >= value)
        if len(reached) == 0:
            return
        self.revision += 1
        self._count = int(reached[0])
        self._latest.clear()
        self._outlines.clear()
        for metric, column in self._columns.items():
            column[self._count :] = math.nan
            known = np.flatnonzero(np.isfinite(column[: self._count]))
            if len(known):
                self._latest[metric] = float(column[known[-1]])

    def values(self, name: str) -> FloatArray:
        """The values of a metric, float64 [number of reports], all NaN if the metric is unknown.

        The array is a view that is valid until the next report is added.
        """
        column = self._columns.get(name)
        return np.full(self._count, math.nan) if column is None else column[: self._count]

    def latest(self, name: str) -> float:
        """The latest finite value of a metric; NaN before the first."""
        return self._latest.get(name, math.nan)

    def has(self, name: str) -> bool:
        """True if any report had a finite value of this metric."""
        return name in self._latest

    def curve(self, name: str, x: str, begin: int = 0) -> tuple[FloatArray, FloatArray]:
        """Values of `x` and `name`, float64 [k] each, in those reports from index `begin` on that contain both."""
        at, values = self.values(x)[begin:], self.values(name)[begin:]
        known = np.isfinite(at) & np.isfinite(values)
        return at[known], values[known]

    def outline(
        self, name: str, x: str, most: int, low: float = -math.inf, high: float = math.inf
    ) -> tuple[FloatArray, FloatArray]:
        """The points of a curve, or of its outline, between two values of `x`: x and y, float64 [k] each.

        The cost does not increase with the length of the training run.

        Args:
            name: name of the metric.
            x: name of a rising metric.
            most: maximum number of points.
            low: first x.
            high: last x.
        """
        known, read = self._outlines.get((name, x)) or (GrowingCurve(), 0)
        if read < self._count:
            known.extend(*self.curve(name, x, read))
            self._outlines[name, x] = known, self._count
        return known.between(low, high, most)

    # --- internals ---

    def _column(self, name: str, count: int) -> FloatArray:
        """The column of a metric, with space for `count` reports."""
        column = self._columns.get(name)
        if column is None:
            capacity = max(_FIRST_CAPACITY, *(len(each) for each in self._columns.values()), count)
            column = self._columns[name] = np.full(capacity, math.nan)
        return column

    def _make_room(self, count: int) -> None:
        for name, column in self._columns.items():
            if count > len(column):
                grown = np.full(max(count, 2 * len(column)), math.nan)
                grown[: self._count] = column[: self._count]
                self._columns[name] = grown

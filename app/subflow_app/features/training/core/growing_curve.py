"""A curve that grows for hours and costs the same to draw all the time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_FIRST_CAPACITY = 256
_GROUP = 4


class GrowingCurve:
    """Points that come in the order of x, given back as so few that a screen still shows the same.

    Of every four points the least and the greatest go on to a coarser curve, of which the same is true: so each has
    half the points of the finer one and its outline, as the pyramids of stored runs have. To thin the points out once
    would take less, but who zooms in wants to see them all.
    """

    def __init__(self) -> None:
        self._points: FloatArray = np.empty((2, _FIRST_CAPACITY))
        self._count = 0
        self._passed_on = 0  # points that the coarser curve stands for
        self._coarser: GrowingCurve | None = None

    def __len__(self) -> int:
        return self._count

    def extend(self, x: FloatArray, y: FloatArray) -> None:
        """Add points at the end, float64 [n] each, finite."""
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
        """Points from one x to another with their neighbours on both sides, float64 [k] each: x and y.

        Args:
            low: first x that is of interest.
            high: last x.
            most: points; with more than these it is the outline of them. Some of the newest may come on top.
        """
        x = self._points[0, : self._count]
        first = max(0, int(np.searchsorted(x, low)) - 1)
        last = min(self._count, int(np.searchsorted(x, high, "right")) + 1)
        if last - first <= most or self._coarser is None:
            return x[first:last], self._points[1, first:last]
        # What makes no whole group yet stands in no coarser curve, and the last point need be no extreme of its group.
        newest = self._points[:, max(first, min(self._passed_on, last - 1)) : last]
        outline = np.concatenate([self._coarser.between(low, high, most), newest], axis=1)
        return outline[0], outline[1]


def _outline(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest point of each group, in the order in which they came."""
    groups = points.reshape(2, -1, _GROUP)  # [x and y, groups, points]
    chosen = np.sort([groups[1].argmin(axis=1), groups[1].argmax(axis=1)], axis=0).T
    x, y = np.take_along_axis(groups, chosen[np.newaxis], axis=2).reshape(2, -1)
    return x, y

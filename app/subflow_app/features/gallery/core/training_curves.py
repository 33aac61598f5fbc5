"""What is measured of trainings: numbers that follow from their curves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

COLUMNS: Mapping[str, str] = {
    "reward": "return_mean",
    "goodput": "flow_goodput_bps",
    "loss_ratio": "loss_ratio",
    "rtt_inflation": "rtt_inflation",
}
"""Metrics of a training by the names of the measures that show them."""

SMOOTHED = 0.1
"""Share of the budget over which a curve is averaged before it is asked when it reaches a level."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingCurve:
    """A metric over the course of a training.

    Attributes:
        steps: transitions learned from, float64 [n], rising.
        values: float64 [n].
        budget: steps of the whole training.
    """

    steps: FloatArray
    values: FloatArray
    budget: float

    @classmethod
    def of_points(cls, steps: FloatArray, values: FloatArray, budget: float) -> TrainingCurve:
        """The curve of what was reported; of what was reported twice, after a training was cut off, the last.

        Args:
            steps: float64 [n].
            values: float64 [n]; reports without the metric have NaN.
            budget: steps of the whole training.
        """
        known = np.isfinite(values)
        steps, values = steps[known], values[known]
        kept, last = np.unique(steps[::-1], return_index=True)
        return cls(kept, values[::-1][last], budget)

    def mean(self, since: float, until: float) -> float:
        """Mean of the reports between two shares of the budget, the first left out, the last taken in; NaN for none."""
        inside = (self.steps > since * self.budget) & (self.steps <= until * self.budget + 0.5)
        # The budget is overshot by what the environments bring at once.
        if until >= 1:
            inside = self.steps > since * self.budget
        return float(self.values[inside].mean()) if inside.any() else math.nan

    def smoothed(self) -> FloatArray:
        """Each value averaged with those within a tenth of the budget before it, float64 [n]."""
        sums = np.concatenate([[0.0], np.cumsum(self.values)])
        begin = np.searchsorted(self.steps, self.steps - SMOOTHED * self.budget, side="right")
        end = np.arange(1, len(self.steps) + 1)
        smooth: FloatArray = (sums[end] - sums[begin]) / (end - begin)
        return smooth

    def steps_to_reach(self, level: float) -> float:
        """Steps after which the smoothed curve is at a level for the first time; the budget if it never is.

        Then it is the least that it can be: a comparison with it says too little rather than too much.
        """
        if len(self.steps) == 0 or math.isnan(level):
            return math.nan
        reached = np.flatnonzero(self.smoothed() >= level)
        return float(self.steps[reached[0]]) if len(reached) else float(self.budget)


def common_level(curves: Mapping[str, list[TrainingCurve]], share: float, last: float = 0.8) -> float:
    """A level between where trainings begin and the best of them ends.

    Args:
        curves: of the trainings of each series.
        share: 0: the lowest first report of all series; 1: the highest mean over the end of the budget.
        last: share of the budget at which that end begins.

    Returns:
        The level; NaN where there is no curve.
    """
    begins, ends = [], []
    for trained in curves.values():
        known = [curve for curve in trained if len(curve.steps)]
        if known:
            begins.append(float(np.mean([curve.values[0] for curve in known])))
            ends.append(float(np.mean([curve.mean(last, 1.0) for curve in known])))
    if not begins:
        return math.nan
    return min(begins) + share * (max(ends) - min(begins))

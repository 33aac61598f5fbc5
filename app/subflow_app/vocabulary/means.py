"""Means of curves, detection of equal runs, and the Pareto front of points with two values each.

The mean of a curve is weighted by time over a given interval and ignores gaps. A run that repeats another bit for bit
adds no evidence, whatever its seed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.vocabulary.language import tr


def time_mean(
    time_s: NDArray[np.float64], values: NDArray[Any], from_s: float = 0.0, until_s: float = math.inf
) -> float:
    """The mean of a curve over an interval of time, in the unit of its values; NaN if the interval has no values.

    Each sample is weighted by the time since the previous sample, within the interval; the first sample has the same
    weight as the second. A gap (NaN or infinity) has no weight. If all samples have the same time, their weights are
    equal. `Recorder::mean` of the simulator computes the same mean for web pages.

    Args:
        time_s: float64 [n], s, ascending.
        values: [n], or fewer during a run.
        from_s: beginning of the interval, s; a sample at that time belongs to the time before.
        until_s: end of the interval, s.
    """
    count = min(len(time_s), len(values))
    at_s, known = time_s[:count], np.asarray(values[:count], dtype=np.float64)
    before_s = np.concatenate([2 * at_s[:1] - at_s[1:2] if count > 1 else at_s[:1] * 0.0, at_s[:-1]])
    begins_s = np.maximum(before_s, from_s)
    # Times are rounded. A sample at the beginning of the interval must count as before it, whatever its last digit.
    is_counted = (at_s > from_s * (1 + 1e-9)) & (begins_s < until_s * (1 - 1e-9)) & np.isfinite(known)
    if not is_counted.any():
        return math.nan
    weights = (np.minimum(at_s, until_s) - begins_s)[is_counted]
    return float(np.average(known[is_counted], weights=weights if weights.sum() > 0 else None))


def repeated(signatures: Sequence[str]) -> frozenset[int]:
    """Positions of the signatures that repeat an earlier one; an empty signature never counts as a repetition."""
    seen: set[str] = set()
    copies = set()
    for place, signature in enumerate(signatures):
        if signature and signature in seen:
            copies.add(place)
        seen.add(signature)
    return frozenset(copies)


def is_one_run(signatures: Sequence[str]) -> bool:
    """True if several seeds gave the same run, bit for bit, so that a confidence interval would be meaningless.

    Args:
        signatures: signatures of the finished runs of one scenario, one per seed.
    """
    return len(signatures) > 1 and len(repeated(signatures)) == len(signatures) - 1


def one_run_notice(points: Sequence[Sequence[str]]) -> str:
    """A sentence about points of a sweep whose runs are the same for all seeds; empty if no point has such runs.

    Args:
        points: signatures of the runs of each point that has runs.
    """
    same = [len(signatures) for signatures in points if is_one_run(signatures)]
    if not same:
        return ""
    if len(same) == len(points):
        return tr(
            "All {seeds} seeds gave the same run: nothing in this scenario is random. Add a loss or a start_jitter.",
            seeds=max(same),
        )
    return tr(
        "At {points} of {count} points, all {seeds} seeds gave the same run, because nothing is random there: these "
        "points have no interval. Add a loss or a start_jitter.",
        points=len(same),
        count=len(points),
        seeds=max(same),
    )


def pareto_front(values: Sequence[tuple[float, float]]) -> list[bool]:
    """For each point, True if no other point dominates it; larger is better in both values."""
    return [
        not any(
            other[0] >= value[0] and other[1] >= value[1] and (other[0] > value[0] or other[1] > value[1])
            for other in values
        )
        for value in values
    ]

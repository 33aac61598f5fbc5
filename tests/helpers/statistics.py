"""Means over seeds and their confidence."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Two-sided 95 % quantiles of Student's t by degrees of freedom.
_STUDENT_T = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228, 11: 2.201}


def mean(values: Sequence[float]) -> float:
    """Arithmetic mean."""
    return sum(values) / len(values)


def confidence_95(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % confidence interval of the mean of 3 to 12 independent runs.

    Source: Student, Biometrika 6, 1908.
    """
    n, middle = len(values), mean(values)
    deviation = math.sqrt(sum((value - middle) ** 2 for value in values) / (n - 1))
    half = _STUDENT_T[n - 1] * deviation / math.sqrt(n)
    return middle - half, middle + half


def agrees_with(values: Sequence[float], low: float, high: float) -> bool:
    """True if a mean within [low, high] is consistent with the runs: their confidence interval overlaps it."""
    least, most = confidence_95(values)
    return least <= high and most >= low

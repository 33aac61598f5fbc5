"""The stretch of values that an axis or a colour bar covers, and where a value stands in it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def span_of(values: NDArray[np.float64]) -> tuple[float, float]:
    """Least and greatest value; 0 and 1 if none is a number, and never twice the same."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    margin = abs(low) * 0.05 or 0.5
    return (low, high) if are_apart(low, high) else (low - margin, high + margin)


def are_apart(low: float, high: float) -> bool:
    """Whether values differ by more than what sums of the same numbers are rounded by."""
    return high - low > 1e-9 * max(abs(low), abs(high))


def spread_texts(values: Sequence[float], digits: int = 2) -> list[str]:
    """Numbers with as many decimals as telling them apart takes: so many digits of what lies between them.

    >>> spread_texts((9.6518, 9.6521, 9.6524))
    ['9.65180', '9.65210', '9.65240']
    """
    spread = max(values) - min(values)
    reach = spread or max(abs(value) for value in values) or 1.0
    decimals = max(0, digits - 1 - math.floor(math.log10(reach)))
    return [f"{value:.{decimals}f}" for value in values]


def shade(value: float, low: float, high: float) -> float:
    """Where a value stands between two others, 0 to 1; NaN if it is none."""
    if not math.isfinite(value):
        return math.nan
    return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5

"""The stretch of values that an axis or a colour bar covers, and where a value stands in it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray


def span_of(values: NDArray[np.float64]) -> tuple[float, float]:
    """Least and greatest value; 0 and 1 if none is a number, and never twice the same."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    margin = abs(low) * 0.05 or 0.5
    return (low, high) if high > low else (low - margin, high + margin)


def shade(value: float, low: float, high: float) -> float:
    """Where a value stands between two others, 0 to 1; NaN if it is none."""
    if not math.isfinite(value):
        return math.nan
    return min(1.0, max(0.0, (value - low) / (high - low))) if high > low else 0.5

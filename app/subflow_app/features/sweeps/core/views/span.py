"""The stretch of values that a colour bar covers, and numbers along it."""

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
    # Sums of the same numbers are rounded by less than this.
    are_apart = high - low > 1e-9 * max(abs(low), abs(high))
    return (low, high) if are_apart else (low - margin, high + margin)


def spread_texts(values: Sequence[float], digits: int = 2) -> list[str]:
    """Numbers with as many decimals as telling them apart takes: so many digits of what lies between them.

    >>> spread_texts((9.6518, 9.6521, 9.6524))
    ['9.65180', '9.65210', '9.65240']
    """
    spread = max(values) - min(values)
    reach = spread or max(abs(value) for value in values) or 1.0
    decimals = max(0, digits - 1 - math.floor(math.log10(reach)))
    return [f"{value:.{decimals}f}" for value in values]

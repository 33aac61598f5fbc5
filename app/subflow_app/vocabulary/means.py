"""The mean of a curve, defined once: weighted by time over a stated interval, without its gaps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray


def time_mean(
    time_s: NDArray[np.float64], values: NDArray[Any], from_s: float = 0.0, until_s: float = math.inf
) -> float:
    """The mean of a curve over an interval of time, in the unit of its values; NaN where it only has gaps.

    A sample counts for the time since the sample before it, as far as that lies in the interval; the first one of all
    counts for as long as the second. A gap, NaN or infinite, counts for nothing: the mean is over the rest. Samples
    that all stand at one instant count alike. `Recorder::mean` of the simulator is the same, for web pages.

    Args:
        time_s: float64 [n], s, ascending.
        values: [n], or fewer while a run goes on.
        from_s: beginning of the interval, s; a sample at that time belongs to what was before.
        until_s: end of the interval, s.
    """
    count = min(len(time_s), len(values))
    at_s, known = time_s[:count], np.asarray(values[:count], dtype=np.float64)
    before_s = np.concatenate([2 * at_s[:1] - at_s[1:2] if count > 1 else at_s[:1] * 0.0, at_s[:-1]])
    begins_s = np.maximum(before_s, from_s)
    # Times are rounded: a sample at the beginning of the interval lies before it, whatever its last digit says.
    is_counted = (at_s > from_s * (1 + 1e-9)) & (begins_s < until_s * (1 - 1e-9)) & np.isfinite(known)
    if not is_counted.any():
        return math.nan
    weights = (np.minimum(at_s, until_s) - begins_s)[is_counted]
    return float(np.average(known[is_counted], weights=weights if weights.sum() > 0 else None))

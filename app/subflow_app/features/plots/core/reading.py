"""Statistics of a curve between two times, for the cursors A and B."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.vocabulary.means import time_mean


class Stretch(NamedTuple):
    """Statistics of a curve between two times, in the unit of its values; NaN for unknown statistics.

    `first` and `last` are the values at the two times in the given order. `difference` is `last` minus `first`, and
    `per_second` divides it by the time between them. `mean` is weighted by time, without gaps. `lowest` and `highest`
    cover all samples between the times, both ends included.
    """

    first: float
    last: float
    difference: float
    per_second: float
    mean: float
    lowest: float
    highest: float


NOTHING = Stretch(*[math.nan] * len(Stretch._fields))


def stretch(time_s: NDArray[np.float64], values: NDArray[np.float64], from_s: float, to_s: float) -> Stretch:
    """Statistics of a curve between the samples nearest to two times, which may be given in any order.

    Args:
        time_s: float64 [n], s, ascending.
        values: float64 [n], in any unit; infinite values and NaN are left out.
        from_s: one end, s.
        to_s: the other end, s.
    """
    count = min(len(time_s), len(values))
    if count == 0:
        return NOTHING
    begin, end = nearest(time_s[:count], from_s), nearest(time_s[:count], to_s)
    between = values[min(begin, end) : max(begin, end) + 1]
    known = between[np.isfinite(between)]
    first, last = (float(value) if math.isfinite(value) else math.nan for value in (values[begin], values[end]))
    span_s = float(time_s[end] - time_s[begin])
    if len(known) == 0:
        return NOTHING
    mean = time_mean(time_s, values, float(time_s[min(begin, end)]), float(time_s[max(begin, end)]))
    return Stretch(
        first,
        last,
        last - first,
        (last - first) / span_s if span_s != 0 else math.nan,
        mean if math.isfinite(mean) else float(known.mean()),
        float(known.min()),
        float(known.max()),
    )


def nearest(time_s: NDArray[np.float64], at_s: float) -> int:
    """Index of the sample nearest to a time."""
    right = int(np.searchsorted(time_s, at_s))
    if right == 0:
        return 0
    if right == len(time_s):
        return right - 1
    return right if time_s[right] - at_s < at_s - time_s[right - 1] else right - 1

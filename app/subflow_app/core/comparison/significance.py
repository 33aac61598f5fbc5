"""Whether two groups of repeated runs differ: Welch's t and the paired t, with the interval of the difference.

A figure of a simulation is a number per seed. Two means always differ; what matters is whether they differ by more
than other seeds would have made them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

Method = Literal["welch", "paired", ""]
WELCH: Method = "welch"
PAIRED: Method = "paired"
NO_TEST: Method = ""

Reason = Literal["", "nothing", "one seed", "no spread", "no pairs", "one pair"]
"""Why there is no test; empty where there is one."""

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure over the runs of a group.

    Attributes:
        count: of values.
        mean: NaN without values.
        half: half the width of the 95 % interval of the mean by Student's t; NaN for fewer than two values.
        variance: of the values, over count - 1; NaN for fewer than two.
    """

    count: int
    mean: float
    half: float
    variance: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of these values; those that are no finite numbers do not count."""
        known = [value for value in values if math.isfinite(value)]
        count = len(known)
        if count == 0:
            return cls(0, math.nan, math.nan, math.nan)
        mean = math.fsum(known) / count
        if count == 1:
            return cls(1, mean, math.nan, math.nan)
        variance = math.fsum((value - mean) ** 2 for value in known) / (count - 1)
        return cls(count, mean, half_width(variance, count), variance)


@dataclass(frozen=True, slots=True)
class Difference:
    """How much the mean of a group exceeds that of the reference.

    Attributes:
        method: "welch", "paired", or empty without a test.
        value: difference of the means; NaN where one is not known.
        low: lower end of its 95 % interval; NaN without a test.
        high: upper end.
        t: test statistic.
        freedom: degrees of freedom; not whole for Welch's.
        p: chance of a difference at least as great if there were none; NaN without a test.
        p_holm: p with Holm's correction for the other tests of the table; equal to p where that was not asked for.
        effect: Hedges' g: the difference in standard deviations, corrected for small groups; NaN where undefined.
        reason: why there is no test.
    """

    method: Method
    value: float
    low: float = math.nan
    high: float = math.nan
    t: float = math.nan
    freedom: float = math.nan
    p: float = math.nan
    p_holm: float = math.nan
    effect: float = math.nan
    reason: Reason = ""

    @property
    def is_tested(self) -> bool:
        """Whether there is a p."""
        return not math.isnan(self.p)


def load() -> None:
    """Loads what the tests are made of, which takes half a second: for a thread that has the time."""
    import scipy.special  # noqa: F401


def welch(values: Sequence[float], reference: Sequence[float]) -> Difference:
    """Welch's t test of a group against the reference: unequal variances, unequal numbers of runs.

    Args:
        values: of the group, one per run.
        reference: of the other.

    Source: Welch 1947 (Biometrika 34), degrees of freedom after Welch and Satterthwaite.
    """
    ours, theirs = Spread.of(values), Spread.of(reference)
    difference = ours.mean - theirs.mean
    if ours.count == 0 or theirs.count == 0:
        return Difference(NO_TEST, math.nan, reason="nothing")
    if ours.count == 1 or theirs.count == 1:
        return Difference(NO_TEST, difference, reason="one seed")
    first, second = ours.variance / ours.count, theirs.variance / theirs.count
    error_squared = first + second
    if _is_nothing(error_squared, ours.mean, theirs.mean):
        return Difference(NO_TEST, difference, reason="no spread")
    freedom = error_squared**2 / (first**2 / (ours.count - 1) + second**2 / (theirs.count - 1))
    error = math.sqrt(error_squared)
    pooled = math.sqrt(
        ((ours.count - 1) * ours.variance + (theirs.count - 1) * theirs.variance) / (ours.count + theirs.count - 2)
    )
    return _tested(WELCH, difference, error, freedom, _hedges(difference, pooled, ours.count + theirs.count - 2))


def paired(values: Sequence[float], reference: Sequence[float]) -> Difference:
    """The t test of the differences by pair, of runs with the same luck: their seed.

    Args:
        values: of the group, in the order of its seeds.
        reference: of the other, in the same order of the same seeds.
    """
    assert len(values) == len(reference)
    each = [ours - theirs for ours, theirs in zip(values, reference, strict=True)]
    spread = Spread.of(each)
    if spread.count == 0:
        return Difference(NO_TEST, math.nan, reason="no pairs")
    if spread.count == 1:
        return Difference(NO_TEST, spread.mean, reason="one pair")
    error_squared = spread.variance / spread.count
    if _is_nothing(error_squared, Spread.of(values).mean, Spread.of(reference).mean):
        return Difference(NO_TEST, spread.mean, reason="no spread")
    effect = _hedges(spread.mean, math.sqrt(spread.variance), spread.count - 1)
    return _tested(PAIRED, spread.mean, math.sqrt(error_squared), spread.count - 1.0, effect)


def with_holm(differences: Sequence[Difference]) -> list[Difference]:
    """The same with Holm's correction over all tests among them: the chance of any false alarm stays below 5 %.

    Source: Holm 1979 (Scandinavian Journal of Statistics 6).
    """
    tested = sorted((place for place, each in enumerate(differences) if each.is_tested), key=lambda k: differences[k].p)
    corrected = list(differences)
    least = 0.0
    for rank, place in enumerate(tested):
        # Never below what came before it, so that the order of the p values stays.
        least = max(least, min(1.0, (len(tested) - rank) * differences[place].p))
        corrected[place] = replace(differences[place], p_holm=least)
    return corrected


def stars(p: float) -> str:
    """The usual marks: three below 0.1 %, two below 1 %, one below 5 %, none above."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def _tested(method: Method, difference: float, error: float, freedom: float, effect: float) -> Difference:
    from scipy.special import stdtr

    t = difference / error
    p = min(1.0, 2.0 * float(stdtr(freedom, -abs(t))))
    half = _t_quantile(freedom) * error
    return Difference(method, difference, difference - half, difference + half, t, freedom, p, p, effect)


def half_width(variance: float, count: int) -> float:
    """Half the width of the 95 % interval of a mean of that many values of that variance, by Student's t."""
    return _t_quantile(count - 1) * math.sqrt(variance / count)


def _t_quantile(freedom: float) -> float:
    """Point of Student's t that is exceeded on either side by what is outside the confidence."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def _hedges(difference: float, deviation: float, freedom: float) -> float:
    """Hedges' g with the usual approximation of its correction for small samples."""
    return difference / deviation * (1 - 3 / (4 * freedom - 1)) if deviation > 0 else math.nan


def _is_nothing(error_squared: float, *means: float) -> bool:
    """Whether a standard error is nothing but the rounding of the values."""
    return error_squared <= (1e-12 * max(map(abs, means))) ** 2

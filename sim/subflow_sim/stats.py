"""Statistics over repeated runs: means with 95 % intervals, and tests for differences between two groups of runs.

A result of a simulation is one number per seed. Two means always differ; the question is whether they differ by more
than the choice of seeds explains. Runs without a finite value do not count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE = 0.95

Method = Literal["welch", "paired", ""]
WELCH: Method = "welch"
PAIRED: Method = "paired"
NO_TEST: Method = ""

Reason = Literal["", "nothing", "one seed", "no spread", "no pairs", "one pair"]
"""Reason why a difference was not tested; empty if it was."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over runs with different seeds, and its confidence interval.

    Attributes:
        mean: mean of the finite values; NaN if no value is finite.
        ci95: half-width of the 95 % confidence interval of the mean, by Student's t; NaN for fewer than two values.
        n: number of finite values.
        values: all values in the order of the seeds; NaN for runs without a value. Empty if they are not kept.
    """

    mean: float
    ci95: float = math.nan
    n: int = 0
    values: tuple[float, ...] = ()

    @classmethod
    def of(cls, values: Iterable[float]) -> Estimate:
        """Estimate from one value per run; values that are not finite do not count."""
        each = tuple(values)
        known = [value for value in each if math.isfinite(value)]
        if not known:
            return cls(math.nan, math.nan, 0, each)
        mean = math.fsum(known) / len(known)
        return cls(mean, half_width(_variance(known, mean), len(known)), len(known), each)

    @property
    def low(self) -> float:
        """Lower end of the interval; NaN without an interval."""
        return self.mean - self.ci95

    @property
    def high(self) -> float:
        """Upper end of the interval; NaN without an interval."""
        return self.mean + self.ci95

    def to_json(self) -> dict[str, Any]:
        """The estimate as a JSON object; values that are not finite become null."""
        return {"mean": _known(self.mean), "ci95": _known(self.ci95), "values": [_known(each) for each in self.values]}


@dataclass(frozen=True, slots=True)
class Difference:
    """Difference of a group's mean from that of the reference.

    Attributes:
        method: "welch", "paired", or empty without a test.
        value: difference of the means; NaN if a mean is unknown.
        low: lower end of its 95 % interval; NaN without a test.
        high: upper end of the interval; NaN without a test.
        t: test statistic; NaN without a test.
        freedom: degrees of freedom, fractional for Welch's test.
        p: probability of a difference at least as large under the null hypothesis; NaN without a test.
        p_holm: p with Holm's correction for the other tests of the table; equal to p without correction.
        effect: Hedges' g, the difference in units of the standard deviation, corrected for small groups; NaN if
            undefined.
        reason: reason why the difference was not tested; empty if it was.
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
        """True if the difference has a p value."""
        return not math.isnan(self.p)


def welch(values: Sequence[float], reference: Sequence[float]) -> Difference:
    """Welch's t test of a group against the reference; variances and numbers of runs may differ.

    Args:
        values: values of the group, one per run.
        reference: values of the reference, one per run.

    Source: Welch 1947 (Biometrika 34), degrees of freedom after Welch and Satterthwaite.
    """
    (ours, our_variance, n), (theirs, their_variance, m) = map(_moments, (values, reference))
    if n == 0 or m == 0:
        return Difference(NO_TEST, math.nan, reason="nothing")
    difference = ours - theirs
    if n == 1 or m == 1:
        return Difference(NO_TEST, difference, reason="one seed")
    first, second = our_variance / n, their_variance / m
    if _is_nothing(first + second, ours, theirs):
        return Difference(NO_TEST, difference, reason="no spread")
    freedom = (first + second) ** 2 / (first**2 / (n - 1) + second**2 / (m - 1))
    pooled = math.sqrt(((n - 1) * our_variance + (m - 1) * their_variance) / (n + m - 2))
    return _tested(WELCH, difference, math.sqrt(first + second), freedom, _hedges(difference, pooled, n + m - 2))


def paired(values: Sequence[float], reference: Sequence[float]) -> Difference:
    """The paired t test on runs with common seeds.

    Args:
        values: values of the group, in the order of the seeds.
        reference: values of the reference, for the same seeds in the same order.

    Raises:
        ValueError: if the lengths differ.
    """
    mean, variance, n = _moments([ours - theirs for ours, theirs in zip(values, reference, strict=True)])
    if n == 0:
        return Difference(NO_TEST, math.nan, reason="no pairs")
    if n == 1:
        return Difference(NO_TEST, mean, reason="one pair")
    if _is_nothing(variance / n, _moments(values)[0], _moments(reference)[0]):
        return Difference(NO_TEST, mean, reason="no spread")
    return _tested(PAIRED, mean, math.sqrt(variance / n), n - 1.0, _hedges(mean, math.sqrt(variance), n - 1))


def with_holm(differences: Sequence[Difference]) -> list[Difference]:
    """Sets `p_holm` of each difference by Holm's correction for all tests together.

    If tests with `p_holm` below 5 % count as significant, the probability of any false positive is at most 5 %.

    Source: Holm 1979 (Scandinavian Journal of Statistics 6).
    """
    tested = sorted((place for place, each in enumerate(differences) if each.is_tested), key=lambda k: differences[k].p)
    corrected = list(differences)
    least = 0.0
    for rank, place in enumerate(tested):
        # At least the previous corrected value, so that the order of the p values stays the same.
        least = max(least, min(1.0, (len(tested) - rank) * differences[place].p))
        corrected[place] = replace(differences[place], p_holm=least)
    return corrected


def stars(p: float) -> str:
    """The usual significance marks: three below 0.1 %, two below 1 %, one below 5 %, otherwise empty."""
    return "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else ""


def half_width(variance: float, n: int) -> float:
    """Half-width of the 95 % interval of a mean of n values with this variance, by Student's t; NaN for n below 2."""
    return t_quantile(n - 1) * math.sqrt(variance / n) if n > 1 else math.nan


def t_tail(t: float, freedom: float) -> float:
    """Two-sided tail probability of Student's t: probability of an absolute value of at least `abs(t)`."""
    return _beta_tail(freedom / (freedom + t * t), freedom / 2)


@lru_cache(maxsize=1024)
def t_quantile(freedom: float) -> float:
    """Two-sided 95 % quantile of Student's t."""
    # Newton's method in ln t, in which the tail is nearly linear, even for few degrees of freedom.
    log_density = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    t = 2.0
    for _ in range(100):
        tail = t_tail(t, freedom)
        density = 2 * math.exp(log_density - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = math.log(tail / (1 - CONFIDENCE)) * tail / (density * t)
        t *= math.exp(step)
        if abs(step) < 1e-13:
            break
    return t


def _beta_tail(x: float, a: float) -> float:
    """The regularised incomplete beta function I_x(a, 1/2), by its continued fraction.

    SciPy provides this function, too, but would add 59 MiB to the installed program.

    Source: Didonato and Morris 1992 (ACM TOMS 18), Lentz 1976 (Applied Optics 15).
    """
    b = 0.5
    if x <= 0.0 or x >= 1.0:
        return min(max(x, 0.0), 1.0)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a
    return 1.0 - front * _beta_fraction(1.0 - x, b, a) / b


def _beta_fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300
    d = 1.0 / (1.0 - (a + b) * x / (a + 1) or tiny)
    c, fraction = 1.0, d
    for k in range(1, 10_000):
        for term in (
            k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)),
            -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)),
        ):
            d = 1.0 / (1.0 + term * d or tiny)
            c = 1.0 + term / c or tiny
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return fraction


def _moments(values: Sequence[float]) -> tuple[float, float, int]:
    """Mean, variance over n - 1, and number of the finite values."""
    known = [value for value in values if math.isfinite(value)]
    mean = math.fsum(known) / len(known) if known else math.nan
    return mean, _variance(known, mean), len(known)


def _variance(known: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in known) / (len(known) - 1) if len(known) > 1 else math.nan


def _tested(method: Method, difference: float, error: float, freedom: float, effect: float) -> Difference:
    t = difference / error
    p = t_tail(t, freedom)
    half = t_quantile(freedom) * error
    return Difference(method, difference, difference - half, difference + half, t, freedom, p, p, effect)


def _hedges(difference: float, deviation: float, freedom: float) -> float:
    """Hedges' g with the usual approximation of its small-sample correction."""
    return difference / deviation * (1 - 3 / (4 * freedom - 1)) if deviation > 0 else math.nan


def _is_nothing(error_squared: float, *means: float) -> bool:
    """True if a standard error is within the rounding error of the values."""
    return error_squared <= (1e-12 * max(map(abs, means))) ** 2


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def jain_index(rates_bps: NDArray[np.float64] | Sequence[float]) -> float:
    """Jain's fairness index of rates: 1.0 for equal rates, 1/n if one flow has all of the rate.

    Args:
        rates_bps: float64 [n_flows], bit/s, each >= 0.

    Raises:
        ValueError: if every rate is zero, because the index is then undefined.

    Source: Jain, Chiu, Hawe 1984 (DEC-TR-301).
    """
    import numpy as np

    rates = np.asarray(rates_bps, dtype=np.float64)
    squares = float(np.sum(rates * rates))
    if squares == 0.0:
        raise ValueError("Jain's index of rates that are all zero is undefined")
    return float(np.sum(rates)) ** 2 / (len(rates) * squares)

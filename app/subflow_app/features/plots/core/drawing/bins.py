"""How smooth curves over time are drawn: as the samples of the run, or as their means over bins of equal length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from subflow_app.features.plots.core.spec import Curve, averaged, samples_to_average

RAW_S = 0.0
"""The bin of the samples as they are."""
BIN_WIDTHS_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Bins to choose from, s; else the time in view says which."""

# More points of a rate than this are not a line but a band of noise: 200 s are drawn as means of 1 s.
MOST_RATE_POINTS = 250
# States at an instant are not noise: their saw-teeth and peaks stay as long as a screen has a pixel for each sample.
MOST_STATE_POINTS = 1000


def sample_intervals_s(curves: Sequence[Curve]) -> tuple[float, ...]:
    """The intervals between the samples of curves over time, each once, s."""
    return tuple(dict.fromkeys(interval for interval in map(sample_interval_s, curves) if interval is not None))


def sample_interval_s(curve: Curve) -> float | None:
    """Between the samples of a curve over time, s; None while that is not known."""
    return float(curve.time_s[1] - curve.time_s[0]) if len(curve.time_s) > 1 else None


def bin_width_s(intervals_s: Sequence[float], span_s: float, *, chosen_s: float | None, is_rate: bool) -> float:
    """The bins that curves of one plot are drawn with, s; zero: as they are.

    All curves of a plot have the same bins, also when the runs of an overlay were sampled differently.

    Args:
        intervals_s: between the samples of the curves, s.
        span_s: how much of the time is in view.
        chosen_s: what a person chose; None: as wide as the time in view asks for.
        is_rate: whether samples are means over the interval that ends there.
    """
    if not intervals_s:
        return RAW_S
    interval_s = min(intervals_s)
    if chosen_s is None:
        samples = samples_to_average(interval_s, span_s, MOST_RATE_POINTS if is_rate else MOST_STATE_POINTS)
    else:
        samples = round(chosen_s / interval_s)
    return samples * interval_s if samples > 1 else RAW_S


def samples_in(curve: Curve, bin_s: float) -> int:
    """How many samples of a curve one bin holds; at least one."""
    interval_s = sample_interval_s(curve)
    return 1 if interval_s is None else max(1, round(bin_s / interval_s))


def in_bins(curve: Curve, bin_s: float) -> Curve:
    """The curve with the mean of each bin in place of its samples."""
    return curve if bin_s == RAW_S else replace(averaged(curve, samples_in(curve, bin_s)), bin_s=bin_s)

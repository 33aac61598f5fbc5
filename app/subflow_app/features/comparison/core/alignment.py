"""Alignment of a measured trace with a simulated one: offset, clock rate, and the remaining errors.

A measured trace rarely begins at the same time as the simulated one, and the two clocks differ. The offset maximises
the correlation of the two curves. The remaining errors show how well the aligned curves agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.history.core.run_columns import recorded_column
from subflow_app.features.traces.core.traces import LINK, SCOPES, SeriesKey, TraceMark, Traces, select_keys
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.number_text import finite, fixed_text, typeset
from subflow_app.vocabulary.palette import label_of, written
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_store.values import EventTable, RunRow

Method = Literal["correlation", "first data", "manual"]
CORRELATION: Method = "correlation"
FIRST_DATA: Method = "first data"
MANUAL: Method = "manual"
METHODS: Mapping[str, Method] = {"correlation": CORRELATION, "first data": FIRST_DATA, "manual": MANUAL}

_MOST_SERIES = 8  # largest number of series used to find the offset, the most informative measures first
_LEAST_OVERLAP = 0.3  # minimum overlap as a share of the shorter curve; with less overlap, curves may agree by chance
_WIDEST_SKEW = 0.02
_SKEW_STEPS = 81
_FINEST_STEP = 1e-3  # accuracy of the refined offset, in samples
_MOST_MOVES = 200
_MOST_SAMPLES = 1 << 16  # largest number of samples per series used to find the offset; longer series are thinned out
_ALIGNED_BY = ("throughput_bps", "goodput_bps", "cwnd_pkts", "srtt_s", "inflight_pkts", "queue_pkts")


class Alignment(NamedTuple):
    """Map from times of a measured run to times of the reference: ``rate * time_s + offset_s``.

    Attributes:
        offset_s: offset in seconds.
        rate: seconds on the reference clock per second on the measured clock; 1 unless the clocks differ in speed.
        method: how the offset was found: by correlation, by the first data, or manually.
        agreement: correlation of the matched curves after alignment, -1 to 1; NaN if not computed.
    """

    offset_s: float
    rate: float = 1.0
    method: Method = MANUAL
    agreement: float = math.nan

    def reference_s(self, time_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Times of the measured run on the clock of the reference."""
        return self.rate * time_s + self.offset_s

    @property
    def text(self) -> str:
        """Display text: ``+1.2 s, clock 0.05 % slow``; without the clock if its rate is 1."""
        skew = (self.rate - 1) * 100
        clock = "" if abs(skew) < 1e-4 else f", clock {abs(skew):.3g} % {'slow' if skew > 0 else 'fast'}"
        return f"{typeset(f'{self.offset_s:+.3g}')} s{clock}"


class SeriesPair(NamedTuple):
    """A trace of the reference and its counterpart in the measured run."""

    reference: SeriesKey
    measured: SeriesKey


@dataclass(frozen=True, slots=True)
class SeriesError:
    """Errors of a measured trace against the reference, where both have samples after the warm-up.

    Attributes:
        pair: traces that are compared.
        count: number of compared samples.
        rmse: root mean squared error, in the trace's unit.
        mae: mean absolute error.
        relative: mean absolute error relative to the reference, over samples with a nonzero reference; NaN if all are
            zero.
        correlation: correlation of the samples; NaN if either is constant.
        mean_difference: mean of the measured samples minus mean of the reference.
        p95_difference: 95th percentile of the measured samples minus that of the reference.
    """

    pair: SeriesPair
    count: int
    rmse: float
    mae: float
    relative: float
    correlation: float
    mean_difference: float
    p95_difference: float


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of traces in two runs.

    Attributes:
        pairs: pairs in the order of the reference.
        is_by_order: whether owners have different names in the two runs and are therefore matched by their order.
    """

    pairs: tuple[SeriesPair, ...]
    is_by_order: bool


def match_series(reference: Traces, measured: Traces) -> Matching:
    """Pairs traces with the same scope, owner and name.

    If no traces match, pairs traces by scope, name and order, and leaves out traces of links.
    """
    theirs = {(key.scope, key.owner, key.name): key for key in _keys(measured)}
    pairs = [
        SeriesPair(key, theirs[key.scope, key.owner, key.name])
        for key in _keys(reference)
        if (key.scope, key.owner, key.name) in theirs
    ]
    if pairs:
        return Matching(tuple(pairs), False)
    for scope in SCOPES:
        if scope == LINK:
            continue
        for name in dict.fromkeys(key.name for key in select_keys(reference, scope)):
            ours, others = select_keys(reference, scope, name), select_keys(measured, scope, name)
            pairs += [SeriesPair(*pair) for pair in zip(ours, others, strict=False)]
    return Matching(tuple(pairs), True)


def align(reference: Traces, measured: Traces, *, method: Method = CORRELATION, with_skew: bool = False) -> Alignment:
    """Find the position of a measured run on the clock of the reference.

    Args:
        reference: run that defines the clock, usually a simulated run.
        measured: run to align.
        method: correlation, or first data.
        with_skew: whether to estimate the clock rate too, within 2 %.

    Raises:
        InputError: if no traces match, if no matching traces vary in both runs, or, for first data, if a run has no
            samples.
    """
    matching = match_series(reference, measured)
    if not matching.pairs:
        raise InputError(
            f'"{reference.title}" and "{measured.title}" have no trace in common: import it with --map to traces of the'
            " other, e.g. --map cwnd=cwnd_pkts:download/1"
        )
    if method == FIRST_DATA:
        offset_s = _first_data_s(reference, matching, 0) - _first_data_s(measured, matching, 1)
        return Alignment(offset_s, 1.0, FIRST_DATA, _agreement(reference, measured, matching, offset_s, 1.0))
    curves = _curves(reference, measured, matching)
    if not curves:
        raise InputError(
            f'no trace of "{measured.title}" varies with one of "{reference.title}": align them by their first'
            " data, or give the offset"
        )
    step_s = _step_s(curves)
    found = [(*_offset_at(curves, step_s, rate), rate) for rate in _rates(with_skew)]
    # Among equally good clock rates, prefers the rate closest to 1.
    offset_s, _, rate = max(found, key=lambda each: (each[1], -abs(each[2] - 1)))
    if with_skew:
        offset_s, rate = _refined(curves, offset_s, rate)
    return Alignment(offset_s, rate, CORRELATION, _score(curves, offset_s, rate))


def series_errors(reference: Traces, measured: Traces, alignment: Alignment) -> list[SeriesError]:
    """The errors of all matched traces at the times of the reference; traces without overlap are left out."""
    errors = []
    for pair in match_series(reference, measured).pairs:
        time_s, values = reference.read(pair.reference)
        count = min(len(time_s), len(values))
        other_s, others = measured.read(pair.measured)
        found = _error(
            pair,
            time_s[:count],
            values[:count].astype(np.float64),
            alignment.reference_s(other_s),
            others[: len(other_s)].astype(np.float64),
            reference.warmup_s,
        )
        if found is not None:
            errors.append(found)
    return errors


def _digits(value: float) -> str:
    return typeset(f"{value:.4g}")


def _scaled(name: str) -> Callable[[SeriesError], float]:
    """A function that returns this attribute of an error, converted to the display unit of its trace."""
    return lambda error: float(getattr(error, name) * recorded_column(error.pair.reference.name).scale)


ERROR_COLUMNS: tuple[Column[SeriesError], ...] = (
    Column(
        translatable("Of"),
        lambda e: label_of(e.pair.reference.owner),
        tip=translatable("Flow, subflow or link of the reference"),
    ),
    Column(translatable("Trace"), lambda e: e.pair.reference.name),
    Column(translatable("Unit"), lambda e: recorded_column(e.pair.reference.name).unit),
    NumberColumn(
        translatable("Samples"),
        lambda e: e.count,
        tip=translatable("Samples of the reference, after its warm-up, at which both are known"),
    ),
    NumberColumn(translatable("RMSE"), _scaled("rmse"), _digits, tip=translatable("Root of the mean squared error")),
    NumberColumn(translatable("MAE"), _scaled("mae"), _digits, tip=translatable("Mean absolute error")),
    NumberColumn(
        translatable("Relative error, %"),
        lambda e: e.relative,
        lambda ratio: fixed_text(ratio, 1, 100.0),
        tip=translatable("Mean absolute error as a share of the reference"),
    ),
    NumberColumn(
        translatable("Correlation"),
        lambda e: e.correlation,
        lambda value: fixed_text(value, 3),
        tip=translatable("1: the curves rise and fall together"),
    ),
    NumberColumn(
        translatable("Difference of means"),
        _scaled("mean_difference"),
        _digits,
        tip=translatable("Mean of the other run minus that of the reference"),
    ),
    NumberColumn(
        translatable("Difference of 95 %"),
        _scaled("p95_difference"),
        _digits,
        tip=translatable("The same for the 95th percentiles"),
    ),
)
"""Errors of traces in the units of the list of runs."""


def errors_document(alignment: Alignment, errors: Sequence[SeriesError], *, is_by_order: bool) -> dict[str, Any]:
    """Alignment and errors as a JSON document; unknown values are null."""
    return {
        "offset_s": alignment.offset_s,
        "clock_rate": alignment.rate,
        "method": alignment.method,
        "agreement": finite(alignment.agreement),
        "matched_by_order": is_by_order,
        "series": [
            {
                "trace": error.pair.reference.name,
                "unit": error.pair.reference.unit,
                "reference": written(error.pair.reference.owner),
                "measured": written(error.pair.measured.owner),
                "n": error.count,
                "rmse": finite(error.rmse),
                "mae": finite(error.mae),
                "mean_relative_error": finite(error.relative),
                "correlation": finite(error.correlation),
                "mean_difference": finite(error.mean_difference),
                "p95_difference": finite(error.p95_difference),
            }
            for error in errors
        ],
    }


class AlignedTraces:
    """The traces of a run on the clock of another run, with the alignment in the title; otherwise unchanged."""

    def __init__(self, traces: Traces, alignment: Alignment) -> None:
        """Maps the times of ``traces`` as ``alignment`` defines."""
        self.traces = traces
        self.alignment = alignment

    @property
    def title(self) -> str:
        """Name of the run with its alignment."""
        return f"{self.traces.title} ({self.alignment.text})"

    @property
    def duration_s(self) -> float:
        """End of the run on the clock of the reference, s."""
        return max(0.0, self.alignment.rate * self.traces.duration_s + self.alignment.offset_s)

    @property
    def warmup_s(self) -> float:
        """End of the warm-up on the clock of the reference, s."""
        return max(0.0, self.alignment.rate * self.traces.warmup_s + self.alignment.offset_s)

    @property
    def labels(self) -> Mapping[str, str]:
        """Display text by owner, as in the run."""
        return self.traces.labels

    @property
    def condition(self) -> str:
        """Identifier of the condition; equal for runs that differ only in seed and name."""
        return self.traces.condition

    @property
    def controllers(self) -> Mapping[str, str]:
        """Name of the congestion controller by flow."""
        return self.traces.controllers

    @property
    def versions(self) -> Mapping[str, str]:
        """Names of script versions."""
        return self.traces.versions

    @property
    def mss_bytes(self) -> int:
        """Payload of a full packet, bytes."""
        return self.traces.mss_bytes

    @property
    def row(self) -> RunRow | None:
        """Row of the run in the list of runs, with its original times; None during the run."""
        return self.traces.row

    def keys(self) -> Sequence[SeriesKey]:
        """Keys of all traces, in the order of the run."""
        return self.traces.keys()

    def read(self, key: SeriesKey) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Times on the clock of the reference, and values; otherwise as `Traces.read`."""
        time_s, values = self.traces.read(key)
        return self.alignment.reference_s(time_s), values

    def marks(self) -> Sequence[TraceMark]:
        """All marks at aligned times."""
        rate, offset_s = self.alignment.rate, self.alignment.offset_s
        return [mark._replace(time_s=rate * mark.time_s + offset_s) for mark in self.traces.marks()]

    def events(self, stream: str) -> EventTable:
        """The events of a stream at aligned times."""
        table = self.traces.events(stream)
        moved = np.rint(self.alignment.rate * table["time_ns"] + self.alignment.offset_s * 1e9).astype(np.int64)
        return EventTable({**table.columns, "time_ns": moved}, table.names)


class _Curve(NamedTuple):
    """A trace of the reference and its counterpart, standardised to mean 0 and standard deviation 1; NaN in gaps."""

    time_s: NDArray[np.float64]
    values: NDArray[np.float64]
    other_s: NDArray[np.float64]
    others: NDArray[np.float64]


def _keys(traces: Traces) -> Sequence[SeriesKey]:
    return traces.keys()


def _rates(with_skew: bool) -> list[float]:
    return (1 + np.linspace(-_WIDEST_SKEW, _WIDEST_SKEW, _SKEW_STEPS)).tolist() if with_skew else [1.0]


def _curves(reference: Traces, measured: Traces, matching: Matching) -> list[_Curve]:
    """The matched traces that vary in both runs, the most informative measures first."""
    found: list[tuple[int, _Curve]] = []
    for pair in matching.pairs:
        rank = _ALIGNED_BY.index(pair.reference.name) if pair.reference.name in _ALIGNED_BY else len(_ALIGNED_BY)
        sides = []
        for traces, key in ((reference, pair.reference), (measured, pair.measured)):
            time_s, values = traces.read(key)
            count = min(len(time_s), len(values))
            known = values[:count].astype(np.float64)
            finite = known[np.isfinite(known)]
            if len(finite) < 8 or float(finite.std()) <= 1e-9 * max(1e-30, float(np.abs(finite).max())):
                break
            sides += [time_s[:count], (known - finite.mean()) / finite.std()]
        else:
            found.append((rank, _Curve(*sides)))
    return [curve for _, curve in sorted(found, key=lambda each: each[0])[:_MOST_SERIES]]


def _step_s(curves: Sequence[_Curve]) -> float:
    steps = [float(np.median(np.diff(side))) for curve in curves for side in (curve.time_s, curve.other_s)]
    longest = max(float(side[-1] - side[0]) for curve in curves for side in (curve.time_s, curve.other_s))
    return max(min(steps), longest / _MOST_SAMPLES)


def _offset_at(curves: Sequence[_Curve], step_s: float, rate: float) -> tuple[float, float]:
    """The offset with the highest correlation at a given clock rate, and the value of this correlation."""
    begin_s = min(float(curve.time_s[0]) for curve in curves)
    other_begin_s = min(float(curve.other_s[0]) for curve in curves) * rate
    span = max(float(curve.time_s[-1]) for curve in curves) - begin_s
    other_span = max(float(curve.other_s[-1]) for curve in curves) * rate - other_begin_s
    count, other_count = math.floor(span / step_s + 1e-6) + 1, math.floor(other_span / step_s + 1e-6) + 1
    size = 1 << (count + other_count - 1).bit_length()
    products = np.zeros(size)
    ours, theirs, overlap = np.zeros(size), np.zeros(size), np.zeros(size)
    for curve in curves:
        first = _sampled(curve.time_s, curve.values, begin_s + step_s * np.arange(count, dtype=np.float64))
        second = _sampled(
            curve.other_s * rate, curve.others, other_begin_s + step_s * np.arange(other_count, dtype=np.float64)
        )
        is_first, is_second = np.isfinite(first).astype(float), np.isfinite(second).astype(float)
        first, second = np.nan_to_num(first), np.nan_to_num(second)
        products += _correlated(first, second, size)
        ours += _correlated(first**2, is_second, size)
        theirs += _correlated(is_first, second**2, size)
        overlap += _correlated(is_first, is_second, size)
    norm = np.sqrt(np.maximum(ours, 0.0) * np.maximum(theirs, 0.0))
    # For traces with gaps, the required overlap is limited to the largest overlap possible.
    least = _LEAST_OVERLAP * min(min(count, other_count) * len(curves), float(overlap.max()))
    scores = np.where((overlap >= least) & (norm > 1e-9), products / np.maximum(norm, 1e-9), -2.0)
    best = int(np.argmax(scores))
    lag = best if best < count else best - size
    # Interpolates the maximum between samples by a parabola through the best sample and its neighbours.
    before, at, after = scores[best - 1], scores[best], scores[(best + 1) % size]
    bend = before - 2 * at + after
    shift = 0.5 * (before - after) / bend if min(before, after) > -1.5 and bend < 0 else 0.0
    return begin_s + (lag + shift) * step_s - other_begin_s, float(at)


def _correlated(first: NDArray[np.float64], second: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Cross-correlation by FFT: element k is the sum of first[n + k] * second[n]; negative k are stored at the end."""
    product = np.fft.rfft(first, size) * np.conj(np.fft.rfft(second, size))
    result: NDArray[np.float64] = np.fft.irfft(product, size)
    return result


def _sampled(
    time_s: NDArray[np.float64], values: NDArray[np.float64], at_s: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Values interpolated linearly at other times; NaN next to samples that are NaN, and outside the sampled time."""
    # At a time that coincides with a sample, the result is the sample, even if a neighbouring sample is NaN.
    step_s = float(np.median(np.diff(time_s))) if len(time_s) > 1 else 1.0
    sampled: NDArray[np.float64] = np.interp(at_s, time_s, values, left=np.nan, right=np.nan)
    nearest = np.clip(np.searchsorted(time_s, at_s - 1e-6 * step_s), 0, len(time_s) - 1)
    on = np.abs(time_s[nearest] - at_s) <= 1e-6 * step_s
    sampled[on] = values[nearest[on]]
    return sampled


def _score(curves: Sequence[_Curve], offset_s: float, rate: float) -> float:
    """Correlation of the curves where both have values, for an offset and a clock rate; -1 for too little overlap."""
    firsts, seconds = [], []
    for curve in curves:
        second = _sampled(rate * curve.other_s + offset_s, curve.others, curve.time_s)
        both = np.isfinite(curve.values) & np.isfinite(second)
        firsts.append(curve.values[both])
        seconds.append(second[both])
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    least = _LEAST_OVERLAP * sum(min(len(curve.values), len(curve.others)) for curve in curves) / 4
    norm = math.sqrt(float((first**2).sum()) * float((second**2).sum()))
    return float((first * second).sum()) / norm if len(first) >= least and norm > 0 else -1.0


def _refined(curves: Sequence[_Curve], offset_s: float, rate: float) -> tuple[float, float]:
    """Refines offset and clock rate to fractions of a sample; the given values must be near the result."""
    middle_s = float(np.mean([np.mean(curve.other_s) for curve in curves]))
    # The rate is changed about the middle time, which decouples the rate from the offset. Each is scaled by its
    # uncertainty.
    scale = np.array([_step_s(curves), 0.7 * 2 * _WIDEST_SKEW / (_SKEW_STEPS - 1)])

    def place(point: NDArray[np.float64]) -> tuple[float, float]:
        change_s, change = scale * point
        return offset_s + float(change_s) - float(change) * middle_s, rate + float(change)

    # Compass search: it moves to the best neighbour, and halves the step if no neighbour is better.
    best, best_score, step = np.zeros(2), _score(curves, offset_s, rate), 1.0
    for _ in range(_MOST_MOVES):
        neighbours = [best + step * np.array(way) for way in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        scores = [_score(curves, *place(each)) for each in neighbours]
        if max(scores) > best_score:
            best_score, best = max(scores), neighbours[int(np.argmax(scores))]
        elif step > _FINEST_STEP:
            step /= 2
        else:
            break
    return place(best)


def _agreement(reference: Traces, measured: Traces, matching: Matching, offset_s: float, rate: float) -> float:
    curves = _curves(reference, measured, matching)
    return _score(curves, offset_s, rate) if curves else math.nan


def _first_data_s(traces: Traces, matching: Matching, side: int) -> float:
    """Time of the first positive sample of any rate, s; if no trace is a rate, time of the first sample."""
    firsts = []
    for pair in matching.pairs:
        time_s, values = traces.read(pair[side])
        count = min(len(time_s), len(values))
        known = np.isfinite(values[:count])
        busy = np.flatnonzero(known & (values[:count] > 0)) if pair[side].unit == "bit/s" else np.flatnonzero(known)
        if len(busy):
            firsts.append((pair[side].unit != "bit/s", float(time_s[busy[0]])))
    if not firsts:
        raise InputError(f'"{traces.title}" has no samples to align it by')
    # A rate shows when data began to flow; other traces show only when the measurement began.
    of_rates = [at for is_other, at in firsts if not is_other]
    return min(of_rates or [at for _, at in firsts])


def _error(
    pair: SeriesPair,
    time_s: NDArray[np.float64],
    values: NDArray[np.float64],
    other_s: NDArray[np.float64],
    others: NDArray[np.float64],
    from_s: float,
) -> SeriesError | None:
    if len(other_s) == 0 or len(time_s) == 0:
        return None
    measured = _sampled(other_s, others, time_s)
    both = np.isfinite(values) & np.isfinite(measured) & (time_s > from_s * (1 + 1e-9))
    if not np.any(both):
        return None
    first, second = values[both], measured[both]
    off = second - first
    nonzero = first != 0
    varies = len(first) > 1 and first.std() > 0 and second.std() > 0
    return SeriesError(
        pair,
        len(first),
        float(np.sqrt(np.mean(off**2))),
        float(np.mean(np.abs(off))),
        float(np.mean(np.abs(off[nonzero] / first[nonzero]))) if np.any(nonzero) else math.nan,
        float(np.corrcoef(first, second)[0, 1]) if varies else math.nan,
        float(second.mean() - first.mean()),
        float(np.quantile(second, 0.95) - np.quantile(first, 0.95)),
    )

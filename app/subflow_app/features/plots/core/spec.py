"""What a plot is, without saying how it is drawn: the window draws it with pyqtgraph, exports with matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.history.core.run_names import run_names
from subflow_app.features.plots.core.bars import Bar, BarsOf
from subflow_app.features.traces.core.traces import (
    FLOW,
    LINK,
    SUBFLOW,
    SeriesKey,
    Traces,
    select_keys,
    transport_owners,
)
from subflow_app.features.training.core.agent_explanations import (
    REWARD,
    Numbers,
    learning_subflows,
    number_series,
    steps_of,
)
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.means import time_mean
from subflow_app.vocabulary.measures import measure


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """An area around a curve, drawn behind it.

    Attributes:
        share: of what it holds, 0.95 of a confidence interval, 0.8 between the 10th and the 90th percentile.
        low: float32 [n], SI, at the times of the curve; NaN where nothing is known.
        high: float32 [n], likewise.
    """

    share: float
    low: NDArray[np.float32]
    high: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line of a plot, in SI units; the axis of the plot says how to scale it.

    Attributes:
        label: text for the legend, e.g. ``"download · wifi"``.
        owner: owner string; together with `kind` it names the curve, also across runs and calls.
        kind: ``"subflow"``, ``"total"`` (sum over the subflows of a flow), ``"flow"`` or ``"link"``.
        colour: turn it into a hex value with `palette.hex_colour`.
        time_s: float64 [n], s.
        values: float32 [n], SI; NaN where nothing is known.
        x: float64 [n], SI, of a plot over another quantity than time; the curve is drawn from point to point in this
            order, parted where a point is NaN. None: the samples stand at `time_s`. A curve over another quantity need
            not have times: a distribution has none, a phase plot has that of each point.
        run: position of the run in an overlay, from 0.
        run_title: name of that run, which no other run has that is shown with it.
        is_ghost: the run is shown behind another one that branched off it.
        dash: number of its dash pattern, see `palette.dash`.
        bands: around it, the widest first, of a curve that stands for several.
        bin_s: length of the bins whose means its samples are, s; 0 where they are the samples of the run.
    """

    label: str
    owner: str
    kind: str
    colour: palette.ColourKey
    time_s: NDArray[np.float64]
    values: NDArray[np.float32]
    run: int = 0
    run_title: str = ""
    x: NDArray[np.float64] | None = None
    is_ghost: bool = False
    dash: int = 0
    bands: tuple[Band, ...] = ()
    bin_s: float = 0.0

    @property
    def positions(self) -> NDArray[np.float64]:
        """Where the samples stand along the x axis, float64 [n], SI: their times, unless the curve has an `x`."""
        return self.time_s if self.x is None else self.x


@dataclass(frozen=True, slots=True, eq=False)
class Ticks:
    """Instants at which something happened, as ticks at the foot of a plot or as lines across it.

    Attributes:
        times_s: float64 [n], s.
        height: share of the height of the plot that ticks take; 1: lines across it.
        colour: of the curve to which they belong; None: of none.
        text: beside a line; empty for none.
    """

    times_s: NDArray[np.float64]
    height: float = 1.0
    colour: palette.ColourKey | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class XAxis:
    """The quantity along the x axis of a plot that is not over time.

    Attributes:
        label: axis text without the unit.
        unit: unit that the axis shows; empty for a quantity without one.
        scale: factor from SI to `unit`.
        name: heading in tables, with the SI unit, e.g. ``"srtt_s"``.
    """

    label: str
    unit: str
    scale: float
    name: str

    @property
    def axis_text(self) -> str:
        """Axis text with its unit, e.g. ``"Smoothed RTT (ms)"``."""
        return axis_text(self.label, self.unit)


CONNECTION = "Connection"
INTERVALS = "Monitor interval"
AGENTS = "Learning agent"
STATISTICS = "Statistics"
FAIRNESS = "Fairness"
GROUPS = (STATISTICS, FAIRNESS, CONNECTION, INTERVALS, AGENTS)
"""Plots that only some runs have or fewer people want: they stand together, apart from the others."""

Kind = Literal["time", "xy", "bars"]
TIME: Final = "time"
XY: Final = "xy"
BARS: Final = "bars"

SIGNED: Mapping[str, Any] = {"from_zero": False, "is_signed": True}
TRANSPORT: Mapping[str, Any] = {"needs": "a tcp or mptcp flow"}
MULTIPATH: Mapping[str, Any] = {"group": CONNECTION, "needs": "an mptcp flow with several paths"}
MONITORED: Mapping[str, Any] = {"group": INTERVALS, "needs": "a controller that sends by monitor intervals"}
MARKED: Mapping[str, Any] = {"group": CONNECTION, "needs": "a flow that supports ECN and a queue that marks"}
LEARNERS: Mapping[str, Any] = {"group": AGENTS, "needs": "a learning agent"}
"""What several plots have alike."""

_MOST_QUANTILES = 1000

CurvesOf = Callable[[Traces], list[Curve]]


@dataclass(frozen=True, slots=True)
class PlotSpec:
    """A plot of the traces of a run, of one of three kinds: curves over time, curves over another quantity, or bars.

    Attributes:
        id: name on the command line and in settings, e.g. ``"cwnd"``.
        title: heading, e.g. ``"Congestion window"``.
        y_label: axis text without the unit.
        unit: unit that the axis shows; empty for a quantity without one.
        scale: factor from SI to `unit`.
        columns: the (scope, column) pairs that the plot reads; a run without any of them has no such plot.
        curves: reads the traces and returns the curves; the same number in the same order at every call for a run. Of
            a plot of bars it returns none.
        x: the quantity along the x axis of a plot that is not over time.
        is_joined: whether a curve takes all columns of its owner; measurements may have one of them alone.
        bars: of a plot of bars: reads the traces of all runs shown and returns the bars.
        from_zero: whether the axis starts at zero, as quantities do whose size matters more than their change.
        is_rate: whether samples are means over the interval that ends there, so that the mean of several is the mean
            over the longer interval (`averaged`); states at an instant have no such meaning.
        is_signed: whether values may be negative.
        ceiling: what the axis reaches whatever the values are, SI: 1 for shares and indices; None: it fits itself.
        least_flows: how many tcp and mptcp flows a run must have to have this plot: what compares flows needs two.
        figures: the (kind, figure) pairs of curves whose mean over the measured interval the summary of a run has, e.g.
            ``("subflow", "mean_cwnd_pkts")``; see `measured_means`.
        needs: what a run must have for this plot, as a person would say it: ``"a flow with several subflows"``.
        group: one of `GROUPS`, or empty.
        numbers: whose numbers it shows, of plots of what agents saw or did.
        number: which of these; empty: the first that an agent has. Of a script's decisions, what is shown of them.
    """

    id: str
    title: str
    y_label: str
    unit: str
    scale: float
    columns: tuple[tuple[str, str], ...]
    curves: CurvesOf
    x: XAxis | None = None
    is_joined: bool = False
    bars: BarsOf | None = None
    from_zero: bool = True
    is_rate: bool = False
    is_signed: bool = False
    ceiling: float | None = None
    least_flows: int = 1
    figures: tuple[tuple[str, str], ...] = ()
    needs: str = ""
    group: str = ""
    numbers: Numbers | None = None
    number: str = ""

    @property
    def kind(self) -> Kind:
        """How it is drawn."""
        if self.bars is not None:
            return BARS
        return TIME if self.x is None else XY

    @property
    def axis_text(self) -> str:
        """Text of the value axis with its unit, e.g. ``"Throughput (Mbit/s)"``."""
        return axis_text(self.y_label, self.unit)

    @property
    def x_text(self) -> str:
        """Text of the x axis with its unit; empty for bars, which have names there."""
        if self.bars is not None:
            return ""
        return "Time (s)" if self.x is None else self.x.axis_text

    @property
    def data_name(self) -> str:
        """Heading of its data in tables."""
        return self.number or self.numbers or self.columns[0][1]

    def of_number(self, name: str) -> PlotSpec:
        """The same of another number than the first: ``"window_change"``; only of a plot that has `numbers`.

        Subflows whose agent has none of that name have no samples.
        """
        assert self.numbers is not None
        return replace(
            self,
            title=f"{self.title}: {name}",
            y_label=f"{self.y_label}: {name}",
            curves=partial(agent_curves, numbers=self.numbers, name=name),
            number=name,
        )

    def overlay(self, runs: Sequence[Traces]) -> list[Curve]:
        """Curves of several runs in one plot: run k carries `run` = k, and dash pattern k."""
        return [
            replace(curve, run=index, run_title=name, dash=index)
            for index, (name, traces) in enumerate(zip(run_names(runs), runs, strict=True))
            for curve in self.curves(traces)
        ]

    def all_bars(self, runs: Sequence[Traces]) -> list[Bar]:
        """The bars of these runs; none of a plot that is not of bars."""
        return [] if self.bars is None or not runs else self.bars(runs)

    def is_in(self, traces: Traces) -> bool:
        """Whether a run has what this plot shows."""
        if not self.reads(traces):
            return False
        # A measurement has neither controllers nor fair shares: what can be drawn of it shows when it is drawn.
        return bool(traces.controllers) or self.kind == TIME or bool(self.all_bars([traces]) or self.curves(traces))

    def reads(self, traces: Traces) -> bool:
        """True if a run has the traces and the flows that this plot needs."""
        return bool(self.series(traces)) and (self.least_flows <= 1 or len(transport_flows(traces)) >= self.least_flows)

    def series(self, traces: Traces) -> list[SeriesKey]:
        """The traces that this plot reads, e.g. for an export of the data shown."""
        found = [key for scope, name in self.columns for key in select_keys(traces, scope, name)]
        if not self.is_joined:
            return found
        known = {(key.owner, key.name) for key in found}
        return [key for key in found if all((key.owner, name) in known for _scope, name in self.columns)]


def axis_text(label: str, unit: str) -> str:
    """A quantity with its unit, as axes name it."""
    return f"{label} ({unit})" if unit else label


def no_curves(_traces: Traces) -> list[Curve]:
    """What a plot of bars has instead of curves."""
    return []


def transport_colours(traces: Traces) -> dict[str, palette.ColourKey]:
    """Colours of all flows and subflows of a run: every plot asks here, so that they agree."""
    return palette.colour_keys(transport_owners(traces))


def transport_flows(traces: Traces) -> list[str]:
    """The tcp and mptcp flows of a run: those that have subflows."""
    return list(dict.fromkeys(key.owner.partition("/")[0] for key in select_keys(traces, SUBFLOW)))


def mean_rates(traces: Traces, name: str) -> dict[str, float]:
    """By flow, the mean of a rate from the end of the warm-up to now; NaN before its first sample."""
    return {curve.owner: measured_mean(curve, traces.warmup_s) for curve in column_curves(traces, FLOW, name)}


def measured_mean(curve: Curve, warmup_s: float) -> float:
    """The mean of a curve from the end of the warm-up on, SI; NaN where nothing is known. See `time_mean`."""
    return time_mean(curve.time_s, curve.values, warmup_s)


def distribution(curve: Curve, warmup_s: float) -> Curve:
    """The cumulative distribution of the samples after the warm-up: at x, the share of samples that are at most x."""
    count = min(len(curve.time_s), len(curve.values))
    counted = curve.values[:count][curve.time_s[:count] > warmup_s * (1 + 1e-9)]
    ordered = np.sort(counted[np.isfinite(counted)].astype(np.float64))
    if len(ordered) == 0:
        return replace(curve, time_s=np.empty(0), values=np.empty(0, np.float32), x=np.empty(0))
    # More points than a plot is wide show nothing: of many samples, as many quantiles are kept.
    ranks = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_QUANTILES)).astype(np.int64))
    shares = np.concatenate([[0.0], (ranks + 1) / len(ordered)])
    x = np.concatenate([ordered[:1], ordered[ranks]])
    return replace(curve, time_s=np.empty(0), values=shares.astype(np.float32), x=x)


def column_curves(traces: Traces, scope: str, name: str) -> list[Curve]:
    """One curve per flow, subflow or link direction that has this column."""
    keys = select_keys(traces, scope, name)
    colours = palette.link_colour_keys(key.owner for key in keys) if scope == LINK else transport_colours(traces)
    return [
        Curve(traces.labels[key.owner], key.owner, scope, colours[key.owner], *_possible(name, *traces.read(key)))
        for key in keys
    ]


def _possible(
    name: str, time_s: NDArray[np.float64], values: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """The samples of a column, with a gap where a value cannot be, as a loss above 1 in an imported file."""
    shown = measure(name)
    if not len(values) or all(shown.is_possible(float(end.reduce(values))) for end in (np.fmin, np.fmax)):
        return time_s, values
    least, most = shown.bounds
    return time_s, np.where((values >= least) & (values <= most), values, np.float32(np.nan))


def _all_curves(traces: Traces, scopes: Sequence[str], name: str) -> list[Curve]:
    return [curve for scope in scopes for curve in column_curves(traces, scope, name)]


def trailing_sum(values: NDArray[np.float32], interval_s: float, window_s: float) -> NDArray[np.float64]:
    """Per sample, the sum of the samples of the last `window_s`, fewer at the beginning; NaN counts as nothing.

    Args:
        values: float32 [n], one per `interval_s`.
        interval_s: between samples, s.
        window_s: rounded to whole samples, at least one.

    Returns:
        float64 [n].
    """
    samples = max(1, round(window_s / interval_s))
    sums = np.concatenate([[0.0], np.cumsum(np.nan_to_num(values, posinf=0.0, neginf=0.0), dtype=np.float64)])
    last = np.arange(1, len(values) + 1)
    window: NDArray[np.float64] = sums[last] - sums[np.maximum(last - samples, 0)]
    return window


def agent_curves(traces: Traces, numbers: Numbers, name: str | None = None) -> list[Curve]:
    """One curve per subflow that an agent decides for, with a sample at each decision; see `number_series`."""
    colours = transport_colours(traces)
    series = number_series(steps_of(traces), numbers, name)
    nothing = (np.empty(0, np.float64), np.empty(0, np.float32))
    return [
        Curve(traces.labels[owner], owner, SUBFLOW, colours[owner], *series.get(owner, nothing))
        for owner in learning_subflows(traces)
    ]


_SCALES = {"Mbit/s": 1e-6, "ms": 1e3, "ms/s": 1e3, "%": 100.0, "kB": 1e-3}


def column_plot(
    plot_id: str, title: str, column: str, *scopes: str, unit: str = "", y_label: str = "", **more: Any
) -> PlotSpec:
    """The plot of a column as it stands in the traces: a curve per flow, subflow or link that has it.

    Args:
        plot_id: see :class:`PlotSpec`.
        title: heading; the axis is called so too, unless there is a `y_label`.
        column: name of the column.
        scopes: whose column.
        unit: that the axis shows.
        y_label: axis text without the unit.
        more: further attributes of the plot.
    """
    return PlotSpec(
        id=plot_id,
        title=title,
        y_label=y_label or title,
        unit=unit,
        scale=_SCALES.get(unit, 1.0),
        columns=tuple((scope, column) for scope in scopes),
        curves=partial(_all_curves, scopes=scopes, name=column),
        **more,
    )


def agent_plot(plot_id: str, title: str, y_label: str, numbers: Numbers) -> PlotSpec:
    """The plot of what agents saw or did: a curve per subflow that an agent decides for, of the first number."""
    made = column_plot(plot_id, title, REWARD, FLOW, SUBFLOW, y_label=y_label, **SIGNED, **LEARNERS)
    return replace(made, curves=partial(agent_curves, numbers=numbers), numbers=numbers)


def samples_to_average(interval_s: float, duration_s: float, most_points: int) -> int:
    """How many samples one point of a rate curve should be the mean of: 1, 2, 5, 10, 20, 50 ...

    A rate sampled more often than a window is sent jumps between full and empty: 200 s at 100 ms are a solid block of
    ink. The least of these numbers is taken that leaves at most `most_points` points.
    """
    samples = duration_s / interval_s
    factor = 1
    while True:
        for step in (1, 2, 5):
            if samples <= most_points * step * factor:
                return step * factor
        factor *= 10


def averaged(curve: Curve, samples: int) -> Curve:
    """The curve with the mean of so many samples in place of them, at the time of the last; NaN samples do not count.

    The last point may be the mean of fewer, because a run need not end at a multiple.
    """
    if samples <= 1 or len(curve.values) == 0:
        return curve
    count = min(len(curve.time_s), len(curve.values))
    ends = np.minimum(np.arange(0, count, samples) + samples, count) - 1
    return replace(curve, time_s=curve.time_s[ends], values=bin_means(curve.values[:count], samples))


def bin_means(values: NDArray[np.float32], samples: int) -> NDArray[np.float32]:
    """Means of so many values each along the last axis; NaN does not count, and gives NaN where there is nothing else.

    Args:
        values: float32 [..., n].
        samples: in each bin, at least 1; the last may have fewer.

    Returns:
        float32 [..., number of bins].
    """
    if samples <= 1 or values.shape[-1] == 0:
        return values
    starts = np.arange(0, values.shape[-1], samples)
    known = ~np.isnan(values)
    sums = np.add.reduceat(np.where(known, values, 0.0).astype(np.float64), starts, axis=-1)
    how_many = np.add.reduceat(known.astype(np.int64), starts, axis=-1)
    means: NDArray[np.float64] = np.where(how_many > 0, sums / np.maximum(how_many, 1), np.nan)
    return means.astype(np.float32)

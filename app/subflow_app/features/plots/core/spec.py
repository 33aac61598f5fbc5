"""Definition of a plot, independent of its drawing, which uses pyqtgraph in the window and matplotlib in exports."""

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
    """A shaded area around a curve, drawn behind the curve.

    Attributes:
        share: share of the values inside the area: 0.95 for a confidence interval, 0.8 between the 10th and 90th
            percentile.
        low: lower edge, float32 [n], SI, at the times of the curve; NaN for unknown values.
        high: upper edge, of the same shape as `low`.
    """

    share: float
    low: NDArray[np.float32]
    high: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line of a plot, in SI units; the plot defines the scale of its axis.

    Attributes:
        label: text for the legend, e.g. ``"download · wifi"``.
        owner: name of the flow, subflow or link direction; `owner` and `kind` together identify the curve, also across
            runs and calls.
        kind: ``"subflow"``, ``"total"`` (sum over the subflows of a flow), ``"flow"``, ``"link"``, or ``"all"`` for a
            curve of all flows.
        colour: colour key; `palette.hex_colour` converts it to a hex value.
        time_s: float64 [n], s.
        values: float32 [n], SI; NaN for unknown values.
        x: float64 [n], SI, x positions in drawing order, for a plot that is not over time; NaN interrupts the curve. If
            `x` is None, the positions are `time_s`; otherwise, `time_s` may be empty, e.g. for distributions.
        run: position of the run in an overlay, from 0.
        run_title: name of that run, distinct among the runs in the plot.
        is_ghost: whether the run is the original of a fork, drawn behind the fork.
        dash: number of the dash pattern, see `palette.dash`.
        bands: areas around a combined curve, the widest first.
        bin_s: length of the bins over which samples were averaged, s; 0 for unaveraged samples.
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
        """Positions of the samples along the x axis, float64 [n], SI."""
        return self.time_s if self.x is None else self.x


@dataclass(frozen=True, slots=True, eq=False)
class Ticks:
    """Times of events, drawn as ticks at the bottom of a plot or as lines across it.

    Attributes:
        times_s: float64 [n], s.
        height: height of the ticks as a share of the height of the plot; 1 draws lines across the plot.
        colour: colour of the curve to which the events belong; None for events that belong to no curve.
        text: label of a line; empty for a line without a label.
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
        unit: unit that the axis shows; empty for a quantity without a unit.
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
"""Groups of plots that are listed separately, because few runs support them or few users need them."""

Kind = Literal["time", "xy", "bars"]
TIME: Final = "time"
XY: Final = "xy"
BARS: Final = "bars"

SIGNED: Mapping[str, Any] = {"from_zero": False, "is_signed": True}
TRANSPORT: Mapping[str, Any] = {"needs": "a tcp or mptcp flow"}
MULTIPATH: Mapping[str, Any] = {"group": CONNECTION, "needs": "an mptcp flow with several paths"}
MONITORED: Mapping[str, Any] = {"group": INTERVALS, "needs": "a controller that sends by monitor intervals"}
MARKED: Mapping[str, Any] = {"group": CONNECTION, "needs": "a flow that supports ECN and a queue that marks"}
DELAYED: Mapping[str, Any] = {"group": CONNECTION, "needs": "a flow that measures its one-way delay"}
LEARNERS: Mapping[str, Any] = {"group": AGENTS, "needs": "a learning agent"}
"""Attributes that several plots share."""

_MOST_QUANTILES = 1000

CurvesOf = Callable[[Traces], list[Curve]]


@dataclass(frozen=True, slots=True)
class PlotSpec:
    """A plot of the traces of a run: curves over time, curves over another quantity, or bars.

    Attributes:
        id: name on the command line and in settings, e.g. ``"cwnd"``.
        title: heading, e.g. ``"Congestion window"``.
        y_label: axis text without the unit.
        unit: unit that the axis shows; empty for a quantity without a unit.
        scale: factor from SI to `unit`.
        columns: pairs of scope and column that the plot reads; a run with none of these columns lacks the plot.
        curves: computes the curves of a run from its traces, always the same number in the same order; returns an empty
            list for a plot of bars.
        x: quantity along the x axis; None for plots over time and bars.
        is_joined: whether a curve needs all of `columns` of its owner; imported measurements may lack some columns.
        bars: computes the bars from the traces of all runs; None for plots of curves.
        from_zero: whether the axis starts at zero, for quantities whose size matters more than their change.
        is_rate: whether each sample is a mean over the interval that ends at its time, instead of a state at that time.
            Only then is the mean of several samples exact for their whole interval, see `averaged`.
        is_signed: whether values may be negative.
        ceiling: minimum upper end of the axis, SI: 1 for shares and indices; None: the axis fits the values.
        least_flows: minimum number of tcp and mptcp flows in a run: 2 for comparisons of flows.
        figures: pairs of curve kind and summary key for the means over the measured interval, e.g. ``("subflow",
            "mean_cwnd_pkts")``; see `bar_plots.measured_value`.
        needs: requirement on a run in words for messages, e.g. ``"a flow with several subflows"``.
        group: one of `GROUPS`, or empty.
        numbers: kind of agents' numbers that the plot shows; None for other plots.
        number: name of the number, or of a variable in a script's decisions; empty: the first number of each agent.
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
        """Kind of drawing: over time, over another quantity, or bars."""
        if self.bars is not None:
            return BARS
        return TIME if self.x is None else XY

    @property
    def axis_text(self) -> str:
        """Text of the value axis with its unit, e.g. ``"Throughput (Mbit/s)"``."""
        return axis_text(self.y_label, self.unit)

    @property
    def x_text(self) -> str:
        """Text of the x axis with its unit; empty for bars, whose axis shows names."""
        if self.bars is not None:
            return ""
        return "Time (s)" if self.x is None else self.x.axis_text

    @property
    def data_name(self) -> str:
        """Heading of the plot's data in tables."""
        return self.number or self.numbers or self.columns[0][1]

    def of_number(self, name: str) -> PlotSpec:
        """The same plot for a different number, e.g. ``"window_change"``; requires `numbers`.

        Subflows whose agent lacks this number have no samples.
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
        """Curves of several runs in one plot; the curves of run k have `run` = k and dash pattern k."""
        return [
            replace(curve, run=index, run_title=name, dash=index)
            for index, (name, traces) in enumerate(zip(run_names(runs), runs, strict=True))
            for curve in self.curves(traces)
        ]

    def all_bars(self, runs: Sequence[Traces]) -> list[Bar]:
        """The bars of these runs; empty for plots of curves."""
        return [] if self.bars is None or not runs else self.bars(runs)

    def is_in(self, traces: Traces) -> bool:
        """True if a run has data for this plot."""
        if not self.reads(traces):
            return False
        # For a measurement, which lacks controllers and fair shares, only computing the plot shows whether data exist.
        return bool(traces.controllers) or self.kind == TIME or bool(self.all_bars([traces]) or self.curves(traces))

    def reads(self, traces: Traces) -> bool:
        """True if a run has the traces and the flows that this plot needs."""
        return bool(self.series(traces)) and (self.least_flows <= 1 or len(transport_flows(traces)) >= self.least_flows)

    def series(self, traces: Traces) -> list[SeriesKey]:
        """Traces that this plot reads, e.g. for an export of its data."""
        found = [key for scope, name in self.columns for key in select_keys(traces, scope, name)]
        if not self.is_joined:
            return found
        known = {(key.owner, key.name) for key in found}
        return [key for key in found if all((key.owner, name) in known for _scope, name in self.columns)]


def axis_text(label: str, unit: str) -> str:
    """A quantity with its unit, in the form of axis titles."""
    return f"{label} ({unit})" if unit else label


def no_curves(_traces: Traces) -> list[Curve]:
    """Returns an empty list, because a plot of bars shows no curves."""
    return []


def transport_colours(traces: Traces) -> dict[str, palette.ColourKey]:
    """Colours of all flows and subflows of a run, the same in every plot."""
    return palette.colour_keys(transport_owners(traces))


def transport_flows(traces: Traces) -> list[str]:
    """The tcp and mptcp flows of a run, i.e. the flows with subflows."""
    return list(dict.fromkeys(key.owner.partition("/")[0] for key in select_keys(traces, SUBFLOW)))


def mean_rates(traces: Traces, name: str) -> dict[str, float]:
    """Mean of a rate for each flow since the end of the warm-up, SI; NaN before the first sample."""
    return {curve.owner: measured_mean(curve, traces.warmup_s) for curve in column_curves(traces, FLOW, name)}


def measured_mean(curve: Curve, warmup_s: float) -> float:
    """Time-weighted mean of a curve since the end of the warm-up, SI; NaN for an empty curve. See `time_mean`."""
    return time_mean(curve.time_s, curve.values, warmup_s)


def distribution(curve: Curve, warmup_s: float) -> Curve:
    """Cumulative distribution of the samples after the warm-up: at x, the share of samples that are at most x."""
    count = min(len(curve.time_s), len(curve.values))
    counted = curve.values[:count][curve.time_s[:count] > warmup_s * (1 + 1e-9)]
    ordered = np.sort(counted[np.isfinite(counted)].astype(np.float64))
    if len(ordered) == 0:
        return replace(curve, time_s=np.empty(0), values=np.empty(0, np.float32), x=np.empty(0))
    # Many samples are reduced to quantiles, because a plot cannot show more points than its width.
    ranks = np.unique(np.linspace(0, len(ordered) - 1, min(len(ordered), _MOST_QUANTILES)).astype(np.int64))
    shares = np.concatenate([[0.0], (ranks + 1) / len(ordered)])
    x = np.concatenate([ordered[:1], ordered[ranks]])
    return replace(curve, time_s=np.empty(0), values=shares.astype(np.float32), x=x)


def column_curves(traces: Traces, scope: str, name: str) -> list[Curve]:
    """One curve per flow, subflow or link direction with this column."""
    keys = select_keys(traces, scope, name)
    colours = palette.link_colour_keys(key.owner for key in keys) if scope == LINK else transport_colours(traces)
    return [
        Curve(traces.labels[key.owner], key.owner, scope, colours[key.owner], *_possible(name, *traces.read(key)))
        for key in keys
    ]


def _possible(
    name: str, time_s: NDArray[np.float64], values: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """The samples of a column, with NaN for impossible values, e.g. a loss above 1 in an imported file."""
    shown = measure(name)
    if not len(values) or all(shown.is_possible(float(end.reduce(values))) for end in (np.fmin, np.fmax)):
        return time_s, values
    least, most = shown.bounds
    return time_s, np.where((values >= least) & (values <= most), values, np.float32(np.nan))


def _all_curves(traces: Traces, scopes: Sequence[str], name: str) -> list[Curve]:
    return [curve for scope in scopes for curve in column_curves(traces, scope, name)]


def trailing_sum(values: NDArray[np.float32], interval_s: float, window_s: float) -> NDArray[np.float64]:
    """Sum of the samples of the last `window_s` at each sample; the first windows are shorter, and NaN counts as zero.

    Args:
        values: float32 [n], one per `interval_s`.
        interval_s: sampling interval, s.
        window_s: length of the window, rounded to whole samples, at least one.

    Returns:
        float64 [n].
    """
    samples = max(1, round(window_s / interval_s))
    sums = np.concatenate([[0.0], np.cumsum(np.nan_to_num(values, posinf=0.0, neginf=0.0), dtype=np.float64)])
    last = np.arange(1, len(values) + 1)
    window: NDArray[np.float64] = sums[last] - sums[np.maximum(last - samples, 0)]
    return window


def agent_curves(traces: Traces, numbers: Numbers, name: str | None = None) -> list[Curve]:
    """One curve per subflow that an agent controls, with a sample at each decision; see `number_series`."""
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
    """A plot that shows a column of the traces unchanged: one curve per flow, subflow or link with this column.

    Args:
        plot_id: name on the command line and in settings.
        title: heading; also the axis text if `y_label` is empty.
        column: name of the column.
        scopes: scopes of the column.
        unit: unit on the axis.
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
    """The plot of the first observation or action of each agent, with a curve per subflow that an agent controls."""
    made = column_plot(plot_id, title, REWARD, FLOW, SUBFLOW, y_label=y_label, **SIGNED, **LEARNERS)
    return replace(made, curves=partial(agent_curves, numbers=numbers), numbers=numbers)


def samples_to_average(interval_s: float, duration_s: float, most_points: int) -> int:
    """Number of samples per drawn point: 1, 2, 5, 10, 20, 50 and so on.

    The result is the smallest of these numbers that leaves at most `most_points` points. Averaging is necessary,
    because a rate sampled several times per RTT alternates between zero and the link rate. Without averaging, the curve
    of 200 s sampled at 100 ms would cover the whole plot.
    """
    samples = duration_s / interval_s
    factor = 1
    while True:
        for step in (1, 2, 5):
            if samples <= most_points * step * factor:
                return step * factor
        factor *= 10


def averaged(curve: Curve, samples: int) -> Curve:
    """The curve with means of this many samples, each at the time of its last sample; NaN is ignored.

    The last mean may cover fewer samples, because a run may end within a bin.
    """
    if samples <= 1 or len(curve.values) == 0:
        return curve
    count = min(len(curve.time_s), len(curve.values))
    ends = np.minimum(np.arange(0, count, samples) + samples, count) - 1
    return replace(curve, time_s=curve.time_s[ends], values=bin_means(curve.values[:count], samples))


def bin_means(values: NDArray[np.float32], samples: int) -> NDArray[np.float32]:
    """Means of consecutive values along the last axis; NaN is ignored, and a bin of only NaN gives NaN.

    Args:
        values: float32 [..., n].
        samples: number of values per bin, at least 1; the last bin may have fewer.

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

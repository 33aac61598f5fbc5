"""Trade-offs between runs, such as throughput against delay, with the Pareto front and tables of the points.

Friendliness measures the effect on other connections. Runs that differ only in their seed form one point, which is
their mean with a 95 % confidence interval. A point is on the Pareto front if no other point is at least as good in both
and better in one; this comparison ignores the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from subflow_app.features.fairness.core.analysis import end_of, run_analysis, scenario_of
from subflow_app.features.history.core.run_names import shared_words
from subflow_app.features.plots.core.bars import repetitions
from subflow_app.features.plots.core.spec import mean_rates, transport_flows
from subflow_app.features.traces.core.traces import SUBFLOW, Traces, select_keys
from subflow_app.foundation.files import write_csv
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.means import pareto_front
from subflow_app.vocabulary.measure import Measure
from subflow_app.vocabulary.measures import RUN_MEASURES, flow_kind
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import Panel, PanelSeries
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable, csv_number
from subflow_sim.stats import Estimate


class TradeOffKind(StrEnum):
    """Kind of trade-off; the values are its names on the command line."""

    DELAY = "delay"
    TRANSFER = "transfer"
    FRIENDLINESS = "friendliness"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity along an axis.

    Attributes:
        metric: title, unit and format in tables and on the axis.
        of_run: returns the value of a run in SI units; NaN if undefined.
    """

    metric: Measure
    of_run: Callable[[Traces], float]


@dataclass(frozen=True, slots=True)
class TradeOff:
    """The two quantities of a trade-off.

    Attributes:
        x: quantity of the horizontal axis.
        y: quantity of the vertical axis.
        needs: requirement on a run, as text for display.
    """

    x: Quantity
    y: Quantity
    needs: str


@dataclass(frozen=True, slots=True)
class Point:
    """A point in the plot, which summarises the runs of one experiment.

    Attributes:
        title: title of the experiment, unique among the points.
        runs: positions of the point's runs among the given runs.
        x: estimate of the horizontal quantity over these runs, in SI units.
        y: estimate of the vertical quantity over these runs, in SI units.
        is_best: whether the point is on the Pareto front.
    """

    title: str
    runs: tuple[int, ...]
    x: Estimate
    y: Estimate
    is_best: bool = False


def total_goodput_bps(traces: Traces) -> float:
    """Total goodput of all tcp and mptcp connections after the warm-up, bit/s; NaN if no goodput is known."""
    means = mean_rates(traces, "goodput_bps")
    known = [means[flow] for flow in transport_flows(traces) if math.isfinite(means.get(flow, math.nan))]
    return math.fsum(known) if known else math.nan


def mean_delay_s(traces: Traces) -> float:
    """Mean RTT of the flows after the warm-up in seconds, as in the list of runs and in comparisons.

    If no mean RTT is stored, this is the mean of smoothed RTTs, weighted by the throughput of the subflows.
    """
    if traces.row is not None and traces.row.mean_rtt_s is not None:
        return traces.row.mean_rtt_s
    sums: dict[str, tuple[float, float]] = {}
    for key in select_keys(traces, SUBFLOW, "srtt_s"):
        rates = select_keys(traces, SUBFLOW, "throughput_bps", key.owner)
        if not rates:
            continue
        time_s, rtts = traces.read(key)
        _, rate = traces.read(rates[0])
        count = min(len(time_s), len(rtts), len(rate))
        counted = time_s[:count] > traces.warmup_s * (1 + 1e-9)
        counted &= np.isfinite(rtts[:count]) & np.isfinite(rate[:count])
        flow = key.owner.partition("/")[0]
        weighted, weights = sums.get(flow, (0.0, 0.0))
        weighted += float(rtts[:count][counted].astype(np.float64) @ rate[:count][counted].astype(np.float64))
        sums[flow] = weighted, weights + float(rate[:count][counted].sum(dtype=np.float64))
    means = [weighted / weights for weighted, weights in sums.values() if weights > 0]
    return math.fsum(means) / len(means) if means else math.nan


def mean_completion_s(traces: Traces) -> float:
    """Mean completion time of the transfers of a run in seconds; NaN if any flow is incomplete or endless."""
    took = {mark.owner: mark.value for mark in traces.marks() if mark.kind == "completed"}
    flows = transport_flows(traces)
    return math.fsum(took[flow] for flow in flows) / len(flows) if flows and took.keys() >= set(flows) else math.nan


def default_kind(runs: Sequence[Traces]) -> TradeOffKind:
    """Initial kind of trade-off: transfers if all tcp and mptcp flows of all runs have a size, else delay."""
    scenarios = [scenario_of(traces) for traces in runs]
    known = [flow for each in scenarios if each is not None for flow in each.flows.values() if not flow.sends_datagrams]
    is_all_sized = known and None not in scenarios and all(flow_kind(flow) == "sized" for flow in known)
    return TradeOffKind.TRANSFER if is_all_sized else TradeOffKind.DELAY


def multipath_goodput_bps(traces: Traces) -> float:
    """Total goodput of the multipath connections after the warm-up, bit/s; NaN if no such goodput is known."""
    means, multipath = mean_rates(traces, "goodput_bps"), _multipath(traces)
    known = [means[flow] for flow in multipath if math.isfinite(means.get(flow, math.nan))]
    return math.fsum(known) if known else math.nan


def friendliness(traces: Traces) -> float:
    """Total goodput of the single-path connections over the total of their max-min fair shares.

    The result is NaN if either kind of connection is missing.

    At 1, the single-path connections get their fair share despite the multipath connections, which "do no harm" (RFC
    6356, section 2.1, goal 2). Below 1, the multipath connections take more than their fair share, or the network is
    not full. Above 1, the multipath connections yield. RFC 6356 compares with a single-path TCP connection in place of
    the multipath connection. For different paths, this would require a different topology for each path; the fair share
    avoids this choice. Harm by Ware et al. 2019 ("Beyond Jain's Fairness Index", HotNets) would need a second run
    without the other connections.
    """
    multipath = _multipath(traces)
    if not multipath or not end_of(traces) > 0:
        return math.nan
    rivals = [
        share
        for share in run_analysis(traces).connections
        if share.name not in multipath and math.isfinite(share.of_max_min)
    ]
    fair_bps = math.fsum(share.max_min_bps for share in rivals)
    return math.fsum(share.goodput_bps for share in rivals) / fair_bps if fair_bps > 0 else math.nan


def _multipath(traces: Traces) -> list[str]:
    owners = list(dict.fromkeys(key.owner for key in select_keys(traces, SUBFLOW)))
    flows = [owner.partition("/")[0] for owner in owners]
    return [flow for flow in transport_flows(traces) if flows.count(flow) > 1]


_GOODPUT = Quantity(
    replace(RUN_MEASURES["goodput_bps"], title=translatable("Goodput of all connections")), total_goodput_bps
)
_DELAY = Quantity(replace(RUN_MEASURES["mean_rtt_s"], key="delay_s"), mean_delay_s)
_TRANSFER = Quantity(RUN_MEASURES["mean_completion_s"], mean_completion_s)
_MULTIPATH = Quantity(RUN_MEASURES["multipath_goodput_bps"], multipath_goodput_bps)
_FRIENDLINESS = Quantity(
    replace(
        RUN_MEASURES["friendliness"],
        title=translatable("Fair share reached by single-path connections"),
        unit="%",
        scale=100.0,
    ),
    friendliness,
)

TRADE_OFFS: dict[TradeOffKind, TradeOff] = {
    TradeOffKind.DELAY: TradeOff(_DELAY, _GOODPUT, translatable("a tcp or mptcp connection that delivered data")),
    TradeOffKind.TRANSFER: TradeOff(_DELAY, _TRANSFER, translatable("flows with a size, all of them complete")),
    TradeOffKind.FRIENDLINESS: TradeOff(
        _FRIENDLINESS, _MULTIPATH, translatable("connections with several paths next to single-path ones")
    ),
}
TRADE_OFF_TEXTS: dict[TradeOffKind, str] = {
    TradeOffKind.DELAY: translatable("Throughput and delay"),
    TradeOffKind.TRANSFER: translatable("Completion time and delay"),
    TradeOffKind.FRIENDLINESS: translatable("Throughput and friendliness"),
}


class KnownFigures:
    """Cache of the two quantities of each run, which are valid until the run has new samples. Not thread-safe."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._known: WeakKeyDictionary[Traces, dict[TradeOffKind, tuple[float, tuple[float, float]]]] = (
            WeakKeyDictionary()
        )

    def of(self, traces: Traces, kind: TradeOffKind) -> tuple[float, float]:
        """Both quantities of a run, x and y, in SI units.

        Raises:
            InputError: if friendliness needs the unknown scenario of the run.
        """
        spec, end_s = TRADE_OFFS[kind], end_of(traces)
        known = self._known.setdefault(traces, {})
        if kind not in known or known[kind][0] != end_s:
            known[kind] = (end_s, (spec.x.of_run(traces), spec.y.of_run(traces)))
        return known[kind][1]


def trade_off_points(
    runs: Sequence[Traces],
    kind: TradeOffKind,
    is_cancelled: Callable[[], bool] = lambda: False,
    known: KnownFigures | None = None,
) -> list[Point]:
    """Compute the points of some runs, in the order of the runs, omitting runs in which a quantity is undefined.

    Args:
        runs: runs, live or stored.
        kind: kind of trade-off.
        is_cancelled: returns True to cancel.
        known: cache of the quantities; None computes all values.

    Raises:
        InputError: if friendliness needs the unknown scenario of a run.
        InterruptedError: if the caller cancels.
    """
    spec = TRADE_OFFS[kind]
    known = known or KnownFigures()
    points = []
    positions = {id(traces): position for position, traces in enumerate(runs)}
    for group in repetitions(runs):
        figures: list[tuple[int, float, float]] = []
        for traces in group.runs:
            if is_cancelled():
                raise InterruptedError
            x, y = known.of(traces, kind)
            if math.isfinite(x) and math.isfinite(y):
                figures.append((positions[id(traces)], x, y))
        if figures:
            x_values, y_values = Estimate.of(x for _, x, _ in figures), Estimate.of(y for _, _, y in figures)
            points.append(Point(group.title, tuple(run for run, _, _ in figures), x_values, y_values))
    best = pareto_front(
        [
            (
                point.x.mean if spec.x.metric.better > 0 else -point.x.mean,
                point.y.mean if spec.y.metric.better > 0 else -point.y.mean,
            )
            for point in points
        ]
    )
    return [Point(p.title, p.runs, p.x, p.y, is_best) for p, is_best in zip(points, best, strict=True)]


def short_titles(titles: Sequence[str]) -> list[str]:
    """Titles without their common first words; unchanged for fewer than two titles, or if a title would become empty.

    >>> short_titles(["Sweep: controller = lia", "Sweep: controller = olia"])
    ['lia', 'olia']
    """
    words, same = [title.split(" ") for title in titles], shared_words(titles)
    if len(titles) < 2 or any(len(each) <= same for each in words):
        return list(titles)
    return [" ".join(each[same:]) for each in words]


def trade_off_panel(points: Sequence[Point], kind: TradeOffKind) -> Panel:
    """The scatter plot of the points, in the units of the axes."""
    spec = TRADE_OFFS[kind]
    x, y = spec.x.metric, spec.y.metric
    series = tuple(
        PanelSeries(
            name,
            ColourKey(number, 0),
            number,
            point.is_best,
            np.array([point.y.mean * y.scale]),
            np.array([point.y.ci95 * y.scale]),
            x=np.array([point.x.mean * x.scale]),
            x_halves=np.array([point.x.ci95 * x.scale]),
            words=point_text(point, kind),
        )
        for number, (name, point) in enumerate(zip(short_titles([p.title for p in points]), points, strict=True))
    )
    best = ", ".join(point.title for point in points if point.is_best)
    note = tr("On the Pareto front: {names}", names=best) if best else ""
    return Panel(
        "scatter",
        "",
        x.axis_title,
        y.axis_title,
        ("",),
        np.empty(0),
        series,
        note,
        is_signed=y.is_signed,
        x_is_signed=x.is_signed,
        better=(x.better, y.better),
    )


def interval_text(found: Estimate, metric: Measure) -> str:
    """A mean with its interval, if known, and unit: "3.2 ± 0.1 Mbit/s"."""
    text = f"{found.mean * metric.scale:.4g}"
    if math.isfinite(found.ci95):
        text += f" ± {found.ci95 * metric.scale:.2g}"
    return f"{text} {metric.unit}".rstrip()


def point_text(point: Point, kind: TradeOffKind) -> str:
    """Description of a point: its title, both quantities, and a line if it is on the Pareto front."""
    spec = TRADE_OFFS[kind]
    lines = [point.title]
    for quantity, figure in ((spec.x, point.x), (spec.y, point.y)):
        lines.append(f"{tr(quantity.metric.title)}: {interval_text(figure, quantity.metric)}")
    if point.is_best:
        lines.append(tr("On the Pareto front: no other is at least as good in both"))
    return "\n".join(lines)


def points_document(points: Sequence[Point], kind: TradeOffKind, run_ids: Sequence[int]) -> dict[str, Any]:
    """JSON document of the points, with values in SI units."""
    spec = TRADE_OFFS[kind]
    return {
        "trade_off": kind.value,
        "x": spec.x.metric.key,
        "y": spec.y.metric.key,
        "points": [
            {
                "title": point.title,
                "run_ids": [run_ids[run] for run in point.runs],
                "is_best": point.is_best,
                spec.x.metric.key: point.x.to_json(),
                spec.y.metric.key: point.y.to_json(),
            }
            for point in points
        ],
    }


def write_points(points: Sequence[Point], kind: TradeOffKind, path: Path) -> None:
    """Write the points as CSV: title, number of runs, is_best, and mean and 95 % interval of each quantity.

    Values are in SI units.

    Raises:
        ExportError: if the file cannot be written.
    """
    spec = TRADE_OFFS[kind]
    heads = [head for each in (spec.x, spec.y) for head in (each.metric.key, f"{each.metric.key}_ci95")]
    rows = (
        (
            *(point.title, len(point.runs), int(point.is_best)),
            *map(csv_number, (point.x.mean, point.x.ci95, point.y.mean, point.y.ci95)),
        )
        for point in points
    )
    write_csv(path, ("title", "runs", "is_best", *heads), rows)


def point_table(points: Sequence[Point], kind: TradeOffKind, run_ids: Sequence[int]) -> TextTable:
    """Table with one row for each point; a star marks the Pareto front."""
    spec = TRADE_OFFS[kind]
    columns: list[Column[Point]] = [
        Column("Best", lambda point: "*" if point.is_best else ""),
        Column("Experiment", lambda point: point.title),
        *_columns(spec.y.metric, lambda point: point.y),
        *_columns(spec.x.metric, lambda point: point.x),
        Column("Runs", lambda point: ", ".join(str(run_ids[run]) for run in point.runs)),
    ]
    return TextTable.of(points, columns)


def _columns(shown: Measure, found: Callable[[Point], Estimate]) -> tuple[Column[Point], ...]:
    return (
        NumberColumn(shown.title, lambda point: found(point).mean, shown.text, shown.unit),
        NumberColumn("±", lambda point: found(point).ci95, shown.text, shown.unit),
    )

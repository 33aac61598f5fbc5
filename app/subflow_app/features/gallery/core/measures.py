"""Measures of simulation runs. A recipe selects a measure by its name, with the key `of`.

Each measure is a function of a finished run and of the options in the recipe. Values from the summary cover the time
after the warm-up; with `since`, `until` or `over_time`, they are computed from the time series. Flows are selected by
patterns ("download*", "mptcp, tcp*"), and links by name (forward direction) or "NAME/reverse".

Measures of monitor intervals are rate, utility and reward as functions of the number of the interval. Controllers with
monitor intervals hold one rate for about a round trip, and evaluate it afterwards. Figures 6 to 8 of DDPG-MPCC show the
first hundred intervals, regardless of when they occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from subflow_app.features.gallery.core import measuring
from subflow_app.features.gallery.core.measuring import Options
from subflow_app.features.gallery.core.recipe import MeasureKind
from subflow_app.features.gallery.core.run_data import RunData, Samples
from subflow_app.vocabulary.measure import dimension_of
from subflow_app.vocabulary.measures import DELAYS
from subflow_app.vocabulary.measures import NAMED as SHARED
from subflow_sim.parameter import Param
from subflow_sim.units import Dimension

if TYPE_CHECKING:
    from subflow_store import EventTable


FIRST = Param("first", Dimension.COUNT, "Number of the first interval, from 1.", default=1, minimum=1)
LAST = Param("last", Dimension.COUNT, "Number of the last one.", default=100, minimum=1)


def interval_value(column: str) -> Callable[[RunData, Mapping[str, Any]], float]:
    """Return a function that averages a column over the intervals `first` to `last` and over the subflows.

    Args:
        column: "rate", "utility" or "reward".
    """

    def value(run: RunData, options: Mapping[str, Any]) -> float:
        _numbers, values = _course(run, options, column)
        known = values[np.isfinite(values)]
        return float(known.mean()) if len(known) else math.nan

    return value


def interval_course(column: str) -> Callable[[RunData, Mapping[str, Any]], tuple[Samples, Samples]]:
    """Return a function that computes the interval numbers and, for each, the mean of a column over the subflows."""

    def course(run: RunData, options: Mapping[str, Any]) -> tuple[Samples, Samples]:
        return _course(run, options, column)

    return course


def _course(run: RunData, options: Mapping[str, Any], column: str) -> tuple[Samples, Samples]:
    first, last = int(options["first"]), int(options["last"])
    numbers = np.arange(first, last + 1, dtype=np.float64)
    parts = _by_subflow(run, options.get("flows"), "utility" if column == "reward" else f"{column}{_UNITS[column]}")
    if not parts:
        return numbers, np.full(len(numbers), math.nan)
    rows = np.full((len(parts), len(numbers)), math.nan)
    for row, values in zip(rows, parts, strict=True):
        shown = values[first - 1 : last]
        row[: len(shown)] = shown
    if column == "reward":
        largest = largest_utility(run)
        rows = np.clip(rows / largest, 0.0, 1.0) if largest > 0 else np.full_like(rows, math.nan)
    counts = np.isfinite(rows).sum(axis=0)
    sums = np.nansum(rows, axis=0)
    return numbers, np.divide(sums, counts, out=np.full(len(numbers), math.nan), where=counts > 0)


_UNITS = {"rate": "_bps", "utility": ""}


def largest_utility(run: RunData) -> float:
    """The largest utility of any interval in all runs of the experiment; NaN if no utility is known.

    It normalises the rewards of all series. Normalised by its own maximum, even a poor controller would reach 1.
    """
    found = [
        float(np.nanmax(values))
        for each in run.siblings.all()
        for values in _by_subflow(each, None, "utility")
        if np.isfinite(values).any()
    ]
    return max(found, default=math.nan)


def _by_subflow(run: RunData, flows: str | None, column: str) -> list[Samples]:
    """Values of a column for each subflow, in the order of the intervals."""
    table: EventTable = run.store.intervals(run.run_id)
    owners = table.names["owner"]
    wanted = [owner for name in run.flows(flows) for owner in run.subflows(name, None) if owner in owners]
    found = []
    for owner in wanted:
        mine = table.columns["owner"] == owners.index(owner)
        order = np.argsort(table.columns["number"][mine], kind="stable")
        found.append(np.asarray(table.columns[column][mine][order], dtype=np.float64))
    return found


_FLOWS = Param("flows", Dimension.TEXT, "Patterns of flows, comma-separated; default: all with a controller.")
_SUBFLOW = Param("subflow", Dimension.COUNT, "Only this subflow of each.", minimum=1, maximum=64)
_LINKS = Param("links", Dimension.TEXT, "Links by comma.", required=True)
_SINCE = Param("since", Dimension.TIME, "Time series from here on; default: from the end of the warm-up.", minimum=0)
_UNTIL = Param("until", Dimension.TIME, "Time series up to here; default: to the end.", minimum=0)
_OVER_TIME = Param("over_time", Dimension.CHOICE, "Statistic over time.", choices=("mean", "max", "min", "last"))
_WIRE = Param("wire", Dimension.FLAG, "Count headers, too.", default=False)
_ACTIVE = Param("active", Dimension.FLAG, "By goodput while active; false: after the warm-up.", default=True)


def _reduce(default: str, help: str = "Of several flows or links.") -> Param:
    choices = dict.fromkeys(("mean", "sum", "min", "max", default))
    return Param("reduce", Dimension.CHOICE, help, default=default, choices=tuple(choices))


def _reduce_as(name: str) -> Param:
    """The option `reduce`, which by default combines several flows in the same way as the shared measure `name`."""
    combine = SHARED[name].combine
    assert combine is not None
    default = measuring.DEFAULT_REDUCE[combine.how]
    return _reduce(default, f"Of several flows; {default}: {combine.text}; mean: per flow.")


def _window(default_s: float) -> Param:
    return Param("window", Dimension.TIME, "Of the moving average.", default=default_s, minimum=0)


_TIMED = (_SINCE, _UNTIL, _OVER_TIME)


@dataclass(frozen=True, slots=True)
class RunMeasure(MeasureKind):
    """A measure of simulation runs.

    Attributes:
        value: function that computes the value of a run, SI; NaN if the value is unknown.
        course: function that computes the time series, as values at `RunData.times_s` or as a pair of x and values;
            None for a measure without a time series.
    """

    value: Callable[[RunData, Options], float] = lambda run, options: math.nan
    course: Callable[[RunData, Options], Samples | tuple[Samples, Samples]] | None = None


_RATE_OPTIONS = (_FLOWS, _SUBFLOW, _reduce_as("goodput"), _WIRE, *_TIMED)
_OF_FLOWS = (_FLOWS, _SUBFLOW, _reduce("mean"))
_WINDOW_OPTIONS = (_FLOWS, _SUBFLOW, _reduce_as("mean_cwnd"), *_TIMED)
_LEVEL = Param("level", Dimension.RATIO, "Of the links' rate.", default=0.9, minimum=0, exclusive_minimum=True)

_ALL: tuple[RunMeasure, ...] = (
    RunMeasure(
        "goodput",
        SHARED["goodput"].definition,
        Dimension.RATE,
        _RATE_OPTIONS,
        has_trace=True,
        value=measuring.rate("goodput_bps"),
        course=measuring.rate_course("goodput_bps"),
    ),
    RunMeasure(
        "active_goodput",
        SHARED["active_goodput"].definition,
        Dimension.RATE,
        (_FLOWS, _reduce_as("active_goodput"), _WIRE),
        value=measuring.active_goodput,
    ),
    RunMeasure(
        "throughput",
        SHARED["throughput"].definition,
        Dimension.RATE,
        _RATE_OPTIONS,
        has_trace=True,
        value=measuring.rate("throughput_bps"),
        course=measuring.rate_course("throughput_bps"),
    ),
    RunMeasure(
        "capacity_share",
        "Throughput on the wire of all flows over the mean rates of links; of_goodput: of what arrived in order.",
        Dimension.RATIO,
        (
            _FLOWS,
            _SUBFLOW,
            _LINKS,
            Param("of_goodput", Dimension.FLAG, "Of what arrived in order.", default=False),
            _SINCE,
            _UNTIL,
        ),
        value=measuring.capacity_share,
    ),
    RunMeasure(
        "share_ratio",
        "Mean goodput of the flows over that of the flows `over`: 1 is an equal share.",
        Dimension.NUMBER,
        (_FLOWS, _SUBFLOW, Param("over", Dimension.TEXT, "Patterns of the others.", required=True), _SINCE, _UNTIL),
        value=measuring.share_ratio,
    ),
    RunMeasure(
        "jain",
        "Jain's index of the flows, by goodput while active: (sum x)^2 / (n sum x^2).",
        Dimension.NUMBER,
        (_FLOWS, _ACTIVE, _SINCE, _UNTIL),
        value=measuring.jain,
    ),
    RunMeasure(
        "rtt",
        f"{SHARED['rtt'].definition} Sampled, the smoothed RTT, weighted by what each subflow carries.",
        Dimension.TIME,
        (_FLOWS, _SUBFLOW, _reduce_as("rtt"), *_TIMED),
        has_trace=True,
        value=measuring.rtt,
        course=measuring.rtt_course,
    ),
    RunMeasure(
        "p95_rtt",
        SHARED["p95_rtt"].definition,
        Dimension.TIME,
        (_FLOWS, _reduce_as("p95_rtt")),
        value=measuring.flow_figure("p95_rtt"),
    ),
    RunMeasure(
        "rtt_deviation",
        "Standard deviation over time of the smoothed RTT.",
        Dimension.TIME,
        (*_OF_FLOWS, _SINCE, _UNTIL),
        is_sampled=True,
        value=measuring.rtt_deviation,
    ),
    RunMeasure(
        "queueing_delay",
        "Mean RTT less the delay of path and way back, of several subflows weighed by what each carries.",
        Dimension.TIME,
        _OF_FLOWS,
        value=measuring.queueing_delay,
    ),
    RunMeasure(
        "loss_ratio",
        SHARED["loss_ratio"].definition,
        Dimension.RATIO,
        (_FLOWS, _SUBFLOW, _reduce_as("loss_ratio")),
        value=measuring.flow_figure("loss_ratio"),
    ),
    RunMeasure(
        "retransmits",
        SHARED["retransmits"].definition,
        Dimension.QUEUE,
        (_FLOWS, _SUBFLOW, _reduce_as("retransmits")),
        value=measuring.flow_figure("retransmits"),
    ),
    RunMeasure(
        "hol_blocking",
        SHARED["hol_blocking"].definition,
        Dimension.TIME,
        (_FLOWS, _reduce_as("hol_blocking")),
        value=measuring.flow_figure("hol_blocking"),
    ),
    *(
        RunMeasure(
            name,
            SHARED[name].definition,
            Dimension.QUEUE,
            (_FLOWS, _SUBFLOW, _reduce_as(name)),
            value=measuring.flow_figure(name),
        )
        for name in ("packets_sent", "packets_acked", "packets_lost")
    ),
    *(
        RunMeasure(
            each.function,
            each.definition,
            dimension_of(each.key) or Dimension.NUMBER,
            (_FLOWS, _SUBFLOW, _reduce_as(each.function)),
            value=measuring.flow_figure(each.function),
        )
        for each in DELAYS
        if each.function
    ),
    *(
        RunMeasure(
            f"full_packets_{name}",
            f"{told}, full ones: acked = goodput x measured time / payload, lost = acked x loss / (1 - loss).",
            Dimension.QUEUE,
            (_FLOWS, _reduce("sum")),
            value=measuring.full_packets(count),
        )
        for name, told, count in (
            ("sent", "Acknowledged and lost packets together", lambda acked, lost: acked + lost),
            ("acked", "Acknowledged packets", lambda acked, lost: acked),
            ("lost", "Lost packets", lambda acked, lost: lost),
        )
    ),
    RunMeasure(
        "completion_time",
        SHARED["completion"].definition,
        Dimension.TIME,
        (
            _FLOWS,
            _reduce_as("completion"),
            Param("from_start", Dimension.FLAG, "Of older recipes: it always counts from the start.", default=True),
        ),
        value=measuring.flow_figure("completion"),
    ),
    RunMeasure(
        "makespan",
        SHARED["makespan"].definition,
        Dimension.TIME,
        (_FLOWS,),
        value=measuring.makespan,
    ),
    RunMeasure(
        "cwnd",
        SHARED["mean_cwnd"].definition,
        Dimension.QUEUE,
        _WINDOW_OPTIONS,
        has_trace=True,
        value=measuring.cwnd,
        course=measuring.cwnd_course,
    ),
    RunMeasure(
        "inflight",
        "Mean of the packets under way; of several subflows the sum. For rate-based senders, the window.",
        Dimension.QUEUE,
        _WINDOW_OPTIONS,
        is_sampled=True,
        has_trace=True,
        value=measuring.inflight,
        course=measuring.inflight_course,
    ),
    RunMeasure(
        "utilisation",
        "Share of the time after warm-up that a link was busy.",
        Dimension.RATIO,
        (_LINKS, _reduce("mean"), *_TIMED),
        has_trace=True,
        value=measuring.link_figure("utilisation", "utilisation"),
        course=measuring.link_course("utilisation"),
    ),
    RunMeasure(
        "queue",
        "Mean length of a link's queue.",
        Dimension.QUEUE,
        (_LINKS, _reduce("mean"), *_TIMED),
        has_trace=True,
        value=measuring.link_figure("mean_queue_pkts", "queue_pkts"),
        course=measuring.link_course("queue_pkts"),
    ),
    RunMeasure(
        "link_rate",
        "Sum of the mean rates of links: what could be had.",
        Dimension.RATE,
        (_LINKS, _SINCE, _UNTIL),
        has_trace=True,
        value=measuring.link_rate,
        course=measuring.link_rate_course,
    ),
    RunMeasure(
        "convergence_time",
        "From `since` to when the moving average of each subflow's rate stays within the tolerance of its mean over "
        "the last `steady` before `until`; first: to when it first comes that near, for rates that never stay.",
        Dimension.TIME,
        (
            _FLOWS,
            _SUBFLOW,
            _reduce("max"),
            Param("column", Dimension.CHOICE, "The rate.", default="throughput", choices=("throughput", "goodput")),
            Param("since", Dimension.TIME, "Time of the change.", required=True, minimum=0),
            _UNTIL,
            _window(5.0),
            Param("steady", Dimension.TIME, "Time before `until` that is taken for steady.", default=20.0, minimum=0),
            Param("first", Dimension.FLAG, "Take the first time that it is near.", default=False),
            Param("tolerance", Dimension.RATIO, "Tolerance.", default=0.15, minimum=0, exclusive_minimum=True),
        ),
        is_sampled=True,
        value=measuring.convergence_time,
    ),
    RunMeasure(
        "time_to_reach",
        "From `since` to when the moving average of the throughput on the wire is `level` of the links' rate. A run "
        "that never gets there counts with all the time up to `until`, the least it can be.",
        Dimension.TIME,
        (
            _FLOWS,
            _SUBFLOW,
            _LINKS,
            _reduce("max"),
            Param("since", Dimension.TIME, "From when.", default=0.0, minimum=0),
            _UNTIL,
            _window(0.2),
            _LEVEL,
        ),
        is_sampled=True,
        value=measuring.time_to_reach,
    ),
    RunMeasure(
        "share_above",
        "Share of the time, in windows, in which the throughput is above that of another series.",
        Dimension.RATIO,
        (
            _FLOWS,
            Param("over_series", Dimension.TEXT, "Name of the other series.", required=True),
            _window(1.0),
            _SINCE,
            _UNTIL,
        ),
        is_sampled=True,
        value=measuring.share_above,
    ),
    *(
        RunMeasure(
            f"interval_{column}",
            f"{told} Mean over the monitor intervals from `first` to `last` of each subflow, counted from its start.",
            dimension,
            (_FLOWS, FIRST, LAST),
            is_sampled=True,
            has_trace=True,
            value=interval_value(column),
            course=interval_course(column),
        )
        for column, dimension, told in (
            ("rate", Dimension.RATE, "Rate on the wire that was asked for."),
            ("utility", Dimension.NUMBER, "Utility that the controller found, in its own unit."),
            ("reward", Dimension.NUMBER, "Utility over the largest in any run of the experiment, within 0 and 1."),
        )
    ),
)

MEASURES: Mapping[str, RunMeasure] = {measure.name: measure for measure in _ALL}
"""All measures by name."""

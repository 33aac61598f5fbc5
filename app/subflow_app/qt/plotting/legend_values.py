"""What the legend tells of every line: its value at a time, the present one, or the mean of the measured interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from subflow_app.core.comparison.conditions import flows_of
from subflow_app.core.history.run_columns import Value, recorded_column
from subflow_app.core.plots import TIME, PlotSpec
from subflow_app.core.plots.measured import figure_column, measured_value
from subflow_app.core.traces import Traces
from subflow_app.qt import format as fmt
from subflow_app.qt.plotting.curve_id import CurveId, curve_id
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import finite
from subflow_app.vocabulary.plain_text import readable_line

if TYPE_CHECKING:
    from subflow_app.qt.plotting.plot_stack import PlotStack

_GOODPUT = "goodput_bps"


class LegendValues(NamedTuple):
    """The values of all lines.

    Attributes:
        heading: of which time they are.
        columns: per plot over time the values by line, in the plot's unit; NaN where nothing is known.
        decimals: per plot, of its values; None: three significant digits.
        goodputs: of each flow by run and name, for people; None where no summary has them.
        are_means: whether they are means of the measured interval.
    """

    heading: str
    columns: Sequence[Mapping[CurveId, float]]
    decimals: Sequence[int | None]
    goodputs: Mapping[tuple[int, str], str] | None = None
    are_means: bool = False


def values_at(stacks: Sequence[PlotStack], time_s: float) -> LegendValues:
    """The values where somebody points, or has gone to."""
    return _of_instant(stacks, time_s, tr("At {time} s", time=f"{time_s:.2f}"))


def present_values(stacks: Sequence[PlotStack]) -> LegendValues:
    """The newest values while a run goes on; runs that are over are read at the same time."""
    curves = [(stack.runs[c.run], c.time_s) for stack in stacks for c in stack.curves.values() if len(c.time_s)]
    going = [float(time_s[-1]) for run, time_s in curves if run.row is None]
    if not going:
        return _of_instant(stacks, None, tr("No samples yet"))
    now_s = max(going)
    # Of runs that all go on every line has its newest value, those of streams that come more rarely too.
    time_s = None if len(going) == len(curves) else now_s
    return _of_instant(stacks, time_s, tr("Now, {time} s", time=f"{now_s:.1f}"))


def mean_values(specs: Sequence[PlotSpec], runs: Sequence[Traces]) -> LegendValues:
    """The means of the measured intervals of runs that are over: the figures of their summaries, where these have them.

    Args:
        specs: of all plots, in the order of the legend's columns.
        runs: as they are shown.
    """
    from subflow_app.core.history.run_comparison import run_figures  # late: a start has no runs to tell of

    figures = [{} if run.row is None else run_figures(run.row) for run in runs]
    curves = [(spec, spec.overlay(runs)) for spec in specs if spec.kind == TIME]
    ends_s = [0.0] * len(runs)
    for _spec, shown in curves:
        for curve in shown:
            if len(curve.time_s):
                ends_s[curve.run] = max(ends_s[curve.run], float(curve.time_s[-1]))
    # Of a run that was stopped within its warm-up everything counts.
    starts_s = [run.warmup_s if end_s > run.warmup_s else 0.0 for run, end_s in zip(runs, ends_s, strict=True)]
    columns = [
        {
            curve_id(curve): measured_value(spec, curve, figures[curve.run], starts_s[curve.run]) * spec.scale
            for curve in shown
        }
        for spec, shown in curves
    ]
    shown_as = [figure_column(spec) for spec, _shown in curves]
    decimals = [None if column is None else column.decimals for column in shown_as]
    goodputs = {
        (place, readable_line(str(flow["name"]))): _goodput_text(flow[_GOODPUT])
        for place, run in enumerate(runs)
        for flow in (flows_of(run.row) if run.row is not None else ())
        if finite(flow.get(_GOODPUT)) is not None
    }
    return LegendValues(_mean_heading(starts_s, ends_s), columns, decimals, goodputs, are_means=True)


def summed_up(values: LegendValues, stacks: Sequence[PlotStack]) -> LegendValues:
    """The same with the values of lines that stand for several: the median of flows, the mean of seeds."""
    columns = [dict(column) for column in values.columns]
    for stack in stacks:
        for key, curve in stack.curves.items():
            for column in columns if curve.bands else ():
                behind = [column.get(CurveId(run, owner, key.kind), math.nan) for run, owner in stack.behind(key)]
                known = [value for value in behind if math.isfinite(value)]
                if known:
                    column[key] = statistics.median(known) if len(curve.bands) > 1 else statistics.fmean(known)
    return values._replace(columns=columns)


def _goodput_text(value: Value) -> str:
    shown = recorded_column(_GOODPUT)
    return f"{shown.text(value)} {shown.unit}"


def _of_instant(stacks: Sequence[PlotStack], time_s: float | None, heading: str) -> LegendValues:
    columns = [values for stack in stacks for values in stack.values_at(time_s)]
    return LegendValues(heading, columns, [None] * len(columns))


def _mean_heading(starts_s: Sequence[float], ends_s: Sequence[float]) -> str:
    spans = {(start_s, end_s) for start_s, end_s in zip(starts_s, ends_s, strict=True) if end_s > 0}
    if not spans:
        return tr("No samples yet")
    if len(spans) > 1:
        return tr("Mean after the warm-up")
    ((start_s, end_s),) = spans
    return tr("Mean, {first}–{last} s", first=fmt.number(start_s, 4), last=fmt.number(end_s, 4))

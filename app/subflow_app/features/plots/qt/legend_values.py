"""Values of the legend: of every line at a time, now, or its mean over the measured interval; measures of flows."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from subflow_app.features.comparison.core.conditions import flows_of
from subflow_app.features.history.core.run_comparison import run_figures
from subflow_app.features.plots.core import TIME, PlotSpec
from subflow_app.features.plots.core.measured import figure_column, measured_value
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id
from subflow_app.features.traces.core.traces import Traces
from subflow_app.toolkit import format as fmt
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.measures import default_measures
from subflow_app.vocabulary.number_text import finite
from subflow_app.vocabulary.plain_text import readable_line

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.plot_stack import PlotStack


class FlowWords(NamedTuple):
    """The measures that a flow shows first.

    Attributes:
        brief: numbers with their units, where room is short: ``7.904 s, 0.911 Mbit/s``.
        words: the same with the names of the measures.
        tip: a paragraph for each, with definition, formula and time.
    """

    brief: str
    words: str
    tip: str


NO_WORDS = FlowWords("", "", "")


class LegendValues(NamedTuple):
    """The values of all lines.

    Attributes:
        heading: of which time they are.
        columns: per plot over time the values by line, in the plot's unit; NaN where nothing is known.
        decimals: per plot, of its values; None: three significant digits.
        flows: the measures of each flow by run and name; None where no summary has them.
        are_means: whether they are means of the measured interval.
    """

    heading: str
    columns: Sequence[Mapping[CurveId, float]]
    decimals: Sequence[int | None]
    flows: Mapping[tuple[int, str], FlowWords] | None = None
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
    """The means of the curves over the measured intervals of runs that are over, and the measures of their flows.

    A value is the mean of the curve beside it, over time: a gap does not count. A mean over packets, as the mean RTT of
    a summary, is another measure and not shown as the mean of the curve.

    Args:
        specs: of all plots, in the order of the legend's columns.
        runs: as they are shown.
    """
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
    flows = {
        (place, readable_line(str(flow["name"]))): flow_words(flow)
        for place, run in enumerate(runs)
        for flow in (flows_of(run.row) if run.row is not None else ())
        if finite(flow.get("goodput_bps")) is not None
    }
    return LegendValues(_mean_heading(starts_s, ends_s), columns, decimals, flows, are_means=True)


def flow_words(flow: Mapping[str, Any]) -> FlowWords:
    """The measures that a flow of a summary shows first, in words of three lengths.

    Completion time and goodput while active of a flow with a size, the goodput after the warm-up of any other.
    """
    shown = [(each, flow.get(each.key)) for each in default_measures(flow)]
    texts = [f"{each.checked_text(value)} {each.unit}".rstrip() for each, value in shown]
    is_complete = all(value is not None for _, value in shown)
    if len(texts) == 1:
        brief, words = texts[0], tr("goodput {rate}", rate=texts[0])
    elif is_complete:
        brief = ", ".join(texts)
        words = tr("took {time} at {rate}", time=texts[0], rate=texts[1])
    else:
        brief = tr("incomplete, {rate}", rate=texts[1])
        words = tr("incomplete, at {rate}", rate=texts[1])
    lines = [f"{tr(each.title)}: {text}\n{each.tip}" for (each, _), text in zip(shown, texts, strict=True)]
    return FlowWords(brief, words, "\n\n".join(lines))


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


def _of_instant(stacks: Sequence[PlotStack], time_s: float | None, heading: str) -> LegendValues:
    columns = [values for stack in stacks for values in stack.values_at(time_s)]
    return LegendValues(heading, columns, [None] * len(columns))


def _mean_heading(starts_s: Sequence[float], ends_s: Sequence[float]) -> str:
    spans = {(start_s, end_s) for start_s, end_s in zip(starts_s, ends_s, strict=True) if end_s > 0}
    if not spans:
        return tr("No samples yet")
    if len(spans) > 1:
        return tr("Curve mean over time, after the warm-up")
    ((start_s, end_s),) = spans
    return tr("Curve mean over time, {first}–{last} s", first=fmt.number(start_s, 4), last=fmt.number(end_s, 4))

"""Presentation of the fairness analysis: the chosen window, Jain's index over time, tables and sentences.

The terminal and the window use the same sentences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.fairness.core.analysis import (
    Bottleneck,
    ConnectionShare,
    FairnessAnalysis,
    PoolingGain,
    end_of,
    run_analysis,
    scenario_analysis,
)
from subflow_app.features.plots.core.curve_plots import JAIN
from subflow_app.features.traces.core.traces import Traces
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.number_text import NOTHING, fixed, mbit_text, percent_text
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable
from subflow_sim.scenario import Scenario

LATEST_S = 5.0
"""Length of the latest part of a run in seconds."""

AROUND_S = 2.5
"""Half the length of a window around a time, in seconds."""


class WindowChoice(StrEnum):
    """Part of a run to analyse."""

    COUNTED = "counted"
    WHOLE = "whole"
    LATEST = "latest"
    AROUND = "around"
    CURSORS = "cursors"


WINDOW_TEXTS: dict[WindowChoice, str] = {
    WindowChoice.COUNTED: translatable("After the warm-up"),
    WindowChoice.WHOLE: translatable("Whole run"),
    WindowChoice.LATEST: translatable("Last 5 s"),
    WindowChoice.AROUND: translatable("Around the marked time"),
    WindowChoice.CURSORS: translatable("Between the cursors A and B"),
}


@dataclass(frozen=True, slots=True)
class WindowOf:
    """A window choice with the times that it needs.

    Attributes:
        choice: part of the run.
        marked_s: time marked in the plots, in seconds; None if no time is marked.
        cursors_s: times of the cursors A and B in seconds; None if they are not set.
    """

    choice: WindowChoice = WindowChoice.COUNTED
    marked_s: float | None = None
    cursors_s: tuple[float, float] | None = None

    def times(self, end_s: float) -> tuple[float | None, float | None]:
        """Start and end of the window in a run up to ``end_s``, in seconds; None for the default of `run_analysis`.

        Raises:
            InputError: if the choice needs a mark or cursors that are not set.
        """
        if self.choice is WindowChoice.WHOLE:
            return 0.0, end_s
        if self.choice is WindowChoice.LATEST:
            return max(0.0, end_s - LATEST_S), end_s
        if self.choice is WindowChoice.AROUND:
            if self.marked_s is None:
                raise InputError(tr("no time is marked: click into the plots"))
            begin_s = max(0.0, min(self.marked_s, end_s) - AROUND_S)
            return begin_s, min(end_s, begin_s + 2 * AROUND_S)
        if self.choice is WindowChoice.CURSORS:
            if self.cursors_s is None:
                raise InputError(tr("no cursors: set A and B in the plots with the keys A and B"))
            return min(self.cursors_s), max(self.cursors_s)
        return None, None


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisView:
    """The content of the shares page.

    Attributes:
        analysis: analysis of the window.
        jain_time_s: float64 [n], times of `jain` in seconds; empty for a scenario without a run.
        jain: float32 [n], Jain's index over the 5 s before each time; NaN if undefined.
        duration_s: duration of the run or scenario in seconds.
    """

    analysis: FairnessAnalysis
    jain_time_s: NDArray[np.float64]
    jain: NDArray[np.float32]
    duration_s: float


def run_view(traces: Traces, window: WindowOf, is_cancelled: Callable[[], bool] = lambda: False) -> AnalysisView:
    """Analyse a window of a run; raises the errors of `run_analysis`."""
    from_s, to_s = window.times(end_of(traces))
    analysis = run_analysis(traces, from_s, to_s, is_cancelled)
    (curve,) = JAIN.curves(traces)
    return AnalysisView(analysis, curve.time_s, curve.values, traces.duration_s)


def scenario_view(scenario: Scenario) -> AnalysisView:
    """The fair shares of a scenario; raises the errors of `scenario_analysis`."""
    return AnalysisView(scenario_analysis(scenario), np.empty(0), np.empty(0, np.float32), scenario.duration_s)


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """The connections of a flow, shown as one row with a row for each copy below it.

    Attributes:
        name: name of the flow.
        shares: shares of the flow's connections.
    """

    name: str
    shares: tuple[ConnectionShare, ...]

    @property
    def has_copies(self) -> bool:
        """True if the flow has several connections."""
        return len(self.shares) > 1

    def mean(self, figure: Callable[[ConnectionShare], float]) -> float:
        """Mean of a quantity over the connections for which it is known; NaN if it is unknown for all."""
        values = [value for value in map(figure, self.shares) if not math.isnan(value)]
        return math.fsum(values) / len(values) if values else math.nan


def grouped(analysis: FairnessAnalysis) -> list[ShareGroup]:
    """The connections grouped by flow, in the order of the scenario."""
    groups: dict[str, list[ConnectionShare]] = {}
    for share in analysis.connections:
        groups.setdefault(share.flow, []).append(share)
    return [ShareGroup(name, tuple(shares)) for name, shares in groups.items()]


_NEAR = 0.1  # distance to the max-min fair split below which the shares count as fair


def share_table(analysis: FairnessAnalysis) -> TextTable:
    """Table with one row for each connection."""
    columns: tuple[Column[ConnectionShare], ...] = (
        Column("Connection", lambda each: each.name),
        Column("Controller", lambda each: each.controller),
        NumberColumn("Goodput", lambda each: each.goodput_bps, rate_text, "active Mbit/s"),
        NumberColumn("Max-min", lambda each: each.max_min_bps, rate_text, "Mbit/s"),
        NumberColumn("Goodput", lambda each: each.of_max_min, percent_text, "% of max-min"),
        NumberColumn("Proportional", lambda each: each.proportional_bps, rate_text, "Mbit/s"),
        NumberColumn("Goodput", lambda each: each.of_proportional, percent_text, "% of prop."),
        NumberColumn("One path", lambda each: each.single_path_bps, rate_text, "Mbit/s"),
        NumberColumn("Pooling", lambda each: each.pooling.gain if each.pooling is not None else None, fixed(2), "×"),
        Column("Limited by", lambda each: ", ".join(each.bottlenecks) or NOTHING),
    )
    return TextTable.of(analysis.connections, columns)


def bottleneck_table(analysis: FairnessAnalysis) -> TextTable:
    """Table with one row for each limiting link."""
    columns: tuple[Column[Bottleneck], ...] = (
        Column("Bottleneck", lambda each: each.name),
        NumberColumn("of the time", lambda each: each.time_share, percent_text, "%"),
        NumberColumn("limits", lambda each: each.connections, unit="connections"),
        NumberColumn("1 bit/s more gives each", lambda each: each.price, fixed(3), "bit/s"),
    )
    return TextTable.of(analysis.bottlenecks, columns)


def rate_text(rate_bps: float) -> str:
    """A rate in Mbit/s: "unlimited" for infinity, a dash for NaN."""
    return tr("unlimited") if math.isinf(rate_bps) else mbit_text(rate_bps)


def window_text(analysis: FairnessAnalysis) -> str:
    """The window, and the number of connections that send in it."""
    return trn(
        "{begin} s to {end} s, {count} connection",
        "{begin} s to {end} s, {count} connections",
        len(analysis.connections),
        begin=f"{analysis.from_s:.3g}" if analysis.from_s < 1 else f"{analysis.from_s:.1f}",
        end=f"{analysis.to_s:.1f}",
    )


def meaning(analysis: FairnessAnalysis) -> str:
    """Interpretation of the numbers in one or two sentences."""
    if not analysis.connections:
        return tr("No connection sends in this interval.")
    if not analysis.is_run:
        return tr("This is what would be fair; run the scenario to see what its connections get.")
    sentences = []
    known = [each for each in analysis.connections if math.isfinite(each.of_max_min)]
    if math.isfinite(analysis.to_max_min) and known:
        sentences.append(_shares_text(analysis, known))
    if analysis.pooling is not None:
        sentences.append(pooling_text(analysis.pooling))
    return " ".join(sentences)


def _shares_text(analysis: FairnessAnalysis, known: Sequence[ConnectionShare]) -> str:
    """Interpretation of the distances from the max-min fair shares.

    The wording agrees with the percentages in the table.
    """
    least, most = (pick(known, key=lambda each: each.of_max_min) for pick in (min, max))
    unused = _unused(analysis)
    if analysis.to_max_min < _NEAR:
        return tr("Shares are close to the max-min fair split.")
    if most.of_max_min <= 1 + _NEAR and least.of_max_min >= most.of_max_min - _NEAR and unused > 0:
        return tr("All get equal shares, but {lost} % of the usable capacity is not used.", lost=_percent(unused))
    if _percent(least.of_max_min) == _percent(most.of_max_min):
        return tr("Each connection has {share} % of its fair share.", share=_percent(most.of_max_min))
    if most.of_max_min > 1 + _NEAR:
        return tr(
            "{winner} takes {more} % of its fair share, while {loser} has {less} % of its own.",
            winner=most.name,
            more=_percent(most.of_max_min),
            loser=least.name,
            less=_percent(least.of_max_min),
        )
    text = tr(
        "{loser} has {less} % of its fair share, and {winner} has {more} % of its own.",
        loser=least.name,
        less=_percent(least.of_max_min),
        winner=most.name,
        more=_percent(most.of_max_min),
    )
    if unused < _NEAR / 2:
        return text
    return " ".join((text, tr("{lost} % of the usable capacity is not used.", lost=_percent(unused))))


def pooling_text(gain: PoolingGain) -> str:
    """Interpretation of the pooling gain in one sentence."""
    if math.isnan(gain.gain):
        if not math.isfinite(gain.efficiency) and abs(gain.potential - 1) < 1e-3:
            return tr("Pooling gains nothing here: one path is as good as all of them.")
        return tr(
            "Pooling could bring {potential} times the goodput of a single path.", potential=f"{gain.potential:.2f}"
        )
    if math.isnan(gain.efficiency):
        return tr(
            "Pooling: {gain} times the best single path; all paths together could not bring more than one.",
            gain=f"{gain.gain:.2f}",
        )
    return tr(
        "Pooling: {gain} times the best single path, where {potential} times would be fair.",
        gain=f"{gain.gain:.2f}",
        potential=f"{gain.potential:.2f}",
    )


def _unused(analysis: FairnessAnalysis) -> float:
    known = [each for each in analysis.connections if math.isfinite(each.of_max_min)]
    fair = math.fsum(each.max_min_bps for each in known)
    return 1 - math.fsum(each.goodput_bps for each in known) / fair


def _percent(share: float) -> str:
    return f"{share * 100:.0f}"

"""What the fairness panel shows of a run: the analysis over the chosen window, and Jain's index over time."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.fairness.core.analysis import (
    ConnectionShare,
    FairnessAnalysis,
    end_of,
    run_analysis,
    scenario_analysis,
)
from subflow_app.features.plots.core.curve_plots import JAIN
from subflow_app.features.traces.core.traces import Traces
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.scenario import Scenario

LATEST_S = 5.0
"""How long the latest part of a run is."""

AROUND_S = 2.5
"""How far a window around a time reaches to each side, s."""


class WindowChoice(StrEnum):
    """Which part of a run is looked at."""

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
    """A choice with the times that it needs.

    Attributes:
        choice: which part.
        marked_s: the time that is marked in the plots, s; None: none is.
        cursors_s: those of the cursors A and B, s; None: they are not set.
    """

    choice: WindowChoice = WindowChoice.COUNTED
    marked_s: float | None = None
    cursors_s: tuple[float, float] | None = None

    def times(self, end_s: float) -> tuple[float | None, float | None]:
        """Start and end of the window in a run that has come that far, s; None: as `run_analysis` has it.

        Raises:
            InputError: if the times that the choice needs are not there.
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
    """What is shown.

    Attributes:
        analysis: over the window.
        jain_time_s: float64 [n], s; none of a scenario without a run.
        jain: float32 [n], Jain's index over the last 5 s of each time; NaN where it is not defined.
        duration_s: of the run or scenario, s.
    """

    analysis: FairnessAnalysis
    jain_time_s: NDArray[np.float64]
    jain: NDArray[np.float32]
    duration_s: float


def run_view(traces: Traces, window: WindowOf, is_cancelled: Callable[[], bool] = lambda: False) -> AnalysisView:
    """Reads a run; see `run_analysis` for what can go wrong."""
    from_s, to_s = window.times(end_of(traces))
    analysis = run_analysis(traces, from_s, to_s, is_cancelled)
    (curve,) = JAIN.curves(traces)
    return AnalysisView(analysis, curve.time_s, curve.values, traces.duration_s)


def scenario_view(scenario: Scenario) -> AnalysisView:
    """The ideal of a scenario; see `scenario_analysis` for what can go wrong."""
    return AnalysisView(scenario_analysis(scenario), np.empty(0), np.empty(0, np.float32), scenario.duration_s)


@dataclass(frozen=True, slots=True)
class ShareGroup:
    """The copies of a flow, or a flow that has none: what one row stands for, with the others below it.

    Attributes:
        name: of the flow.
        shares: its connections.
    """

    name: str
    shares: tuple[ConnectionShare, ...]

    @property
    def has_copies(self) -> bool:
        """Whether there are rows below it."""
        return len(self.shares) > 1

    def mean(self, figure: Callable[[ConnectionShare], float]) -> float:
        """Mean of a figure over the connections that have it; NaN if none has."""
        values = [value for value in map(figure, self.shares) if not math.isnan(value)]
        return math.fsum(values) / len(values) if values else math.nan


def grouped(analysis: FairnessAnalysis) -> list[ShareGroup]:
    """The connections by flow, in the order of the scenario."""
    groups: dict[str, list[ConnectionShare]] = {}
    for share in analysis.connections:
        groups.setdefault(share.flow, []).append(share)
    return [ShareGroup(name, tuple(shares)) for name, shares in groups.items()]

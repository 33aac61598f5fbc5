"""How curves look apart from what they show: in colours that a person chose, and originals as ghosts of their forks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from subflow_app.core.history.plot_columns import PlotColumn, plot_columns
from subflow_app.core.history.run_names import run_names
from subflow_app.core.language import tr
from subflow_app.core.replay.ghosts import Ghost, find_ghosts, ghost_title
from subflow_app.core.traces import TraceMark, Traces
from subflow_app.plots import TIME, Bar, Curve, PlotSpec
from subflow_app.qt.plotting.curve_id import line_kind

_NANOSECOND = 1e-9


class CurveLooks:
    """Of the runs that one stack of plots shows.

    Attributes:
        chosen: ``#RRGGBB`` by owner and kind, in all runs.
        ghosts_shown: whether originals are drawn behind their forks.
    """

    def __init__(self) -> None:
        """Own colours, ghosts shown, no runs."""
        self.chosen: Mapping[tuple[str, str], str] = {}
        self.ghosts_shown = True
        self._runs: tuple[Traces, ...] = ()
        self._ghosts: Mapping[int, Ghost] = {}

    @property
    def ghosts(self) -> tuple[Ghost, ...]:
        """The forks shown with their originals."""
        return tuple(self._ghosts.values())

    def take(self, other: CurveLooks) -> None:
        """Looks as another one, for runs that come."""
        self.chosen, self.ghosts_shown = other.chosen, other.ghosts_shown

    def set_runs(self, runs: Sequence[Traces]) -> None:
        """Finds out which of these runs branched off which."""
        self._runs = tuple(runs)
        self._ghosts = find_ghosts(runs)

    def columns(self) -> list[PlotColumn]:
        """The runs side by side; nothing where there is only one column."""
        names = run_names(self._runs)
        forks = {ghost.fork: ghost for ghost in self._ghosts.values()}
        if len(forks) == 1:
            (ghost,) = forks.values()
            names[ghost.fork] = _fork_title(ghost)
        columns = plot_columns(names, {ghost.original: ghost.fork for ghost in self._ghosts.values()})
        return columns if len(columns) > 1 else []

    def curves(self, spec: PlotSpec) -> list[Curve]:
        """The curves of a plot as they are to be drawn."""
        curves = [self._coloured(curve) for curve in spec.overlay(self._runs)]
        if not self._ghosts:
            return curves
        forks = {ghost.fork: ghost for ghost in self._ghosts.values()}
        by_place = {(curve.run, curve.owner, curve.kind): curve for curve in curves}
        drawn = []
        for curve in curves:
            ghost = self._ghosts.get(curve.run)
            if ghost is not None and not self.ghosts_shown:
                continue
            if ghost is not None:
                fork = by_place.get((ghost.fork, curve.owner, curve.kind))
                title = ghost_title(self._runs[curve.run].title)
                curve = replace(curve, is_ghost=True, run_title=title)
                if spec.kind == TIME and fork is not None:
                    curve = _from_fork_on(curve, fork, ghost.at_s)
            elif curve.run in forks and len(forks) == 1:
                curve = replace(curve, run_title=_fork_title(forks[curve.run]))
            drawn.append(curve)
        return drawn

    def bars(self, spec: PlotSpec) -> list[Bar]:
        """The bars of a plot as they are to be drawn."""
        bars = [self._coloured_bar(bar) for bar in spec.all_bars(self._runs)]
        return [bar for bar in bars if self.ghosts_shown or bar.run not in self._ghosts]

    def marks(self) -> list[Sequence[TraceMark]]:
        """What happened in each run; of ghosts nothing, which would hide what happened in their forks."""
        return [() if run in self._ghosts else traces.marks() for run, traces in enumerate(self._runs)]

    def _coloured(self, curve: Curve) -> Curve:
        chosen = self.chosen.get((curve.owner, line_kind(curve.kind)))
        return curve if chosen is None else replace(curve, colour=curve.colour._replace(chosen=chosen))

    def _coloured_bar(self, bar: Bar) -> Bar:
        chosen = self.chosen.get((bar.owner, line_kind(bar.kind)))
        return bar if chosen is None else replace(bar, colour=bar.colour._replace(chosen=chosen))


def _fork_title(ghost: Ghost) -> str:
    return tr("Fork: {difference}", difference=ghost.text)


def _from_fork_on(curve: Curve, fork: Curve, at_s: float) -> Curve:
    """The curve without the part that is its fork's too; all of it where the two differ before, as of two versions."""
    # The change happens a nanosecond later: a sample whose time differs by rounding is one of that time.
    first = max(0, int(np.searchsorted(curve.time_s, at_s + _NANOSECOND, side="right")) - 1)
    is_same = np.array_equal(curve.values[:first], fork.values[:first], equal_nan=True)
    return replace(curve, time_s=curve.time_s[first:], values=curve.values[first:]) if is_same else curve

"""How curves are drawn: in which bins and colours, each or as what stands for many, originals as ghosts of forks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from subflow_app.features.forking.core.words import Ghost, find_ghosts, ghost_title
from subflow_app.features.history.core.run_names import PlotColumn, plot_columns, run_names
from subflow_app.features.plots.core import TIME, Bar, Curve, PlotSpec
from subflow_app.features.plots.core.bars import Group, repetitions
from subflow_app.features.plots.core.drawing.bins import RAW_S, bin_width_s, in_bins, sample_intervals_s
from subflow_app.features.plots.core.drawing.choices import CurveChoices
from subflow_app.features.plots.core.drawing.colouring import BY_RUN, Colouring
from subflow_app.features.plots.core.drawing.summaries import LEAST_SEEDS, Crowd, mean_of_seeds, with_crowds
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id, line_kind
from subflow_app.features.traces.core.traces import TraceMark, Traces
from subflow_app.toolkit.plotting.event_ticks import LINE_KINDS
from subflow_app.vocabulary.language import tr

_NANOSECOND = 1e-9
_Line = TypeVar("_Line", Curve, Bar)


class CurveLooks:
    """Of the runs that one stack of plots shows.

    Attributes:
        choices: how they are to be drawn.
        colours: ``#RRGGBB`` of lines that a person chose: of all runs, or of one where colours tell runs apart.
    """

    def __init__(self) -> None:
        """As at first, no runs."""
        self.choices = CurveChoices()
        self.colours: Mapping[CurveId, str] = {}
        self._runs: tuple[Traces, ...] = ()
        self._ghosts: Mapping[int, Ghost] = {}
        self._experiments: tuple[Group, ...] = ()  # of enough runs to be drawn as one
        self._running = -1  # how many runs went on when that was found out
        self._crowds: dict[str, list[Crowd]] = {}  # by plot id
        self._bins: dict[str, tuple[tuple[float, ...], float]] = {}  # by plot id: intervals between samples, and bin, s

    @property
    def ghosts(self) -> tuple[Ghost, ...]:
        """The forks shown with their originals, and runs with the ones before."""
        return tuple(self._ghosts.values())

    def set_runs(self, runs: Sequence[Traces]) -> None:
        """Finds out which of these runs branched off which, and which repeat each other."""
        self._runs = tuple(runs)
        self._ghosts = find_ghosts(runs)
        self._find_experiments()
        self._crowds.clear()

    def crowds(self, spec: PlotSpec) -> Sequence[Crowd]:
        """What stands for many flows in a plot."""
        return self._crowds.get(spec.id, ())

    def in_bins(self, spec: PlotSpec, curve: Curve) -> Curve:
        """A curve in the bins of the others of a plot."""
        return in_bins(curve, self.bin_s(spec))

    def bin_s(self, spec: PlotSpec) -> float:
        """The bins that a plot is drawn with, s; zero: as sampled."""
        return self._bins[spec.id][1] if spec.id in self._bins else RAW_S

    def behind(self, key: CurveId) -> set[tuple[int, str]]:
        """The runs, by position, and the owners that a line stands for: one of each, unless it sums up several."""
        crowd = next(
            (crowd for crowds in self._crowds.values() for crowd in crowds if curve_id(crowd.curve) == key), None
        )
        owners = [key.owner] if crowd is None else [member.owner for member in crowd.members]
        runs = next((group.sample_positions for group in self._averaged() if key.run in group.positions), (key.run,))
        return {(run, owner) for run in runs for owner in owners}

    def has_other_bins(self, spec: PlotSpec, span_s: float) -> bool:
        """Whether a plot is drawn with other bins than before where so much of the time is in view, s."""
        intervals_s, bin_s = self._bins.get(spec.id, ((), RAW_S))
        return self._bin_s(spec, intervals_s, span_s) != bin_s

    def columns(self) -> list[PlotColumn]:
        """The runs side by side; nothing where there is only one column."""
        names = run_names(self._runs)
        forks = {ghost.fork: ghost for ghost in self.ghosts if not ghost.is_before}
        if len(forks) == 1:
            (ghost,) = forks.values()
            names[ghost.fork] = _fork_title(ghost)
        columns = plot_columns(names, {ghost.original: ghost.fork for ghost in self._ghosts.values()})
        return columns if len(columns) > 1 else []

    def curves(self, spec: PlotSpec, span_s: float = 0.0) -> list[Curve]:
        """The curves of a plot as they are to be drawn.

        Args:
            spec: what it shows.
            span_s: how much of the time is in view, s.
        """
        colouring = self._colouring()
        curves = self._with_ghosts(spec, [_by(colouring, curve) for curve in spec.overlay(self._runs)])
        if spec.kind == TIME:
            intervals_s = sample_intervals_s(curves)
            bin_s = self._bin_s(spec, intervals_s, span_s)
            self._bins[spec.id] = intervals_s, bin_s
            crowds: list[Crowd] = []
            if self.choices.crowds_summed_up:
                curves, crowds = with_crowds(curves, bin_s)
            self._crowds[spec.id] = crowds
            curves = [curve if curve.bands else in_bins(curve, bin_s) for curve in curves]
            curves = self._with_means(curves, is_signed=spec.is_signed)
        return [self._chosen(colouring, curve) for curve in curves]

    def samples(self, spec: PlotSpec) -> list[Curve]:
        """The curves of all runs as sampled."""
        return self._with_ghosts(spec, spec.overlay(self._runs))

    def bars(self, spec: PlotSpec) -> list[Bar]:
        """The bars of a plot as they are to be drawn."""
        colouring = self._colouring()
        bars = [
            replace(bar, colour=colouring.colour(bar.colour, bar.run, bar.owner))
            for bar in spec.all_bars(self._runs)
            if self.choices.ghosts_shown or bar.run not in self._ghosts
        ]
        return [self._chosen(colouring, bar) for bar in bars]

    def marks(self) -> list[Sequence[TraceMark]]:
        """What happened in each run.

        Of ghosts nothing, which would hide what happened in their forks; of runs that are drawn as their mean what
        happened to links, which is the same in all of them.
        """
        averaged = {run for group in self._averaged() for run in group.positions}
        marks: list[Sequence[TraceMark]] = []
        for run, traces in enumerate(self._runs):
            own = () if run in self._ghosts else traces.marks()
            marks.append([mark for mark in own if mark.kind in LINE_KINDS] if run in averaged else own)
        return marks

    # ---- inside ----

    def _find_experiments(self) -> None:
        self._running = self._count_running()
        forked = {*self._ghosts, *(ghost.fork for ghost in self._ghosts.values())}
        self._experiments = tuple(
            group
            for group in repetitions(self._runs)
            if len(group.positions) >= LEAST_SEEDS
            and (len(group.runs) >= LEAST_SEEDS or len(group.runs) == 1)
            and forked.isdisjoint(group.positions)
        )

    def _count_running(self) -> int:
        return sum(traces.row is None for traces in self._runs)

    def _averaged(self) -> Sequence[Group]:
        """The experiments that are drawn as one: of enough seeds, or of many runs that are all the same."""
        if self._running != self._count_running():
            # Whether a run repeats another one is known when it is over.
            self._find_experiments()
        return self._experiments if self.choices.seeds_averaged else ()

    def _repeated(self, run: int) -> Sequence[int]:
        """Positions of the runs that are drawn as one with this run: its own, or those of its experiment."""
        return next((group.positions for group in self._averaged() if run in group.positions), (run,))

    def _colouring(self) -> Colouring:
        """Runs that are one to a reader, as a fork with its original, have one colour."""
        heads = [
            self._ghosts[run].fork if run in self._ghosts else self._repeated(run)[0] for run in range(len(self._runs))
        ]
        places = {head: rank for rank, head in enumerate(dict.fromkeys(heads))}
        return Colouring(self._runs, self.choices.colour_by, [places[head] for head in heads])

    def _bin_s(self, spec: PlotSpec, intervals_s: Sequence[float], span_s: float) -> float:
        # Numbers of agents and of scripts stand at decisions, not at equal intervals.
        if spec.numbers is not None or spec.number:
            return RAW_S
        return bin_width_s(intervals_s, span_s, chosen_s=self.choices.bin_s, is_rate=spec.is_rate)

    def _with_ghosts(self, spec: PlotSpec, curves: list[Curve]) -> list[Curve]:
        if not self._ghosts:
            return curves
        forks = {ghost.fork: ghost for ghost in self.ghosts if not ghost.is_before}
        by_place = {(curve.run, curve.owner, curve.kind): curve for curve in curves}
        drawn = []
        for curve in curves:
            ghost = self._ghosts.get(curve.run)
            if ghost is not None and not self.choices.ghosts_shown:
                continue
            if ghost is not None:
                fork = by_place.get((ghost.fork, curve.owner, curve.kind))
                title = ghost_title(ghost, self._runs[curve.run].title)
                curve = replace(curve, is_ghost=True, run_title=title)
                if spec.kind == TIME and fork is not None:
                    curve = _from_fork_on(curve, fork, ghost.at_s)
            elif curve.run in forks and len(forks) == 1:
                curve = replace(curve, run_title=_fork_title(forks[curve.run]))
            drawn.append(curve)
        return drawn

    def _with_means(self, curves: list[Curve], *, is_signed: bool) -> list[Curve]:
        """The curves with the mean of each experiment in the place of those of its first run."""
        heads = {run: group for group in self._averaged() for run in group.positions}
        if not heads:
            return curves
        members: dict[tuple[int, str, str], list[Curve]] = {}
        for curve in curves:
            run = heads[curve.run].first if curve.run in heads else curve.run
            members.setdefault((run, curve.owner, curve.kind), []).append(curve)
        drawn = []
        for (run, _owner, _kind), group in members.items():
            if run not in heads:
                drawn += group
                continue
            experiment = heads[run]
            count = len(experiment.runs)
            if count > 1:
                title = tr("{run}, mean of {count} seeds", run=experiment.title, count=count)
            else:
                title = tr("{run}, {count} identical runs", run=experiment.title, count=len(experiment.positions))
            group = [curve for curve in group if curve.run in experiment.sample_positions] or group
            mean = mean_of_seeds(group, is_signed=is_signed) if len(group) > 1 else group[0]
            drawn.append(replace(mean, run=run, run_title=title))
        return drawn

    def _chosen(self, colouring: Colouring, line: _Line) -> _Line:
        for key, chosen in self.colours.items():
            is_of_run = colouring.by != BY_RUN or key.run == line.run
            if is_of_run and (key.owner, key.kind) == (line.owner, line_kind(line.kind)):
                return replace(line, colour=line.colour._replace(chosen=chosen))
        return line


def _by(colouring: Colouring, curve: Curve) -> Curve:
    colour = colouring.colour(curve.colour, curve.run, curve.owner)
    dash = colouring.dash(curve.colour, curve.run)
    # A copy costs something where there are thousands.
    return curve if (colour, dash) == (curve.colour, curve.dash) else replace(curve, colour=colour, dash=dash)


def _fork_title(ghost: Ghost) -> str:
    return tr("Fork: {difference}", difference=ghost.text)


def _from_fork_on(curve: Curve, fork: Curve, at_s: float) -> Curve:
    """The curve without the part that is its fork's too; all of it where the two differ before, as of two versions."""
    # The change happens a nanosecond later: a sample whose time differs by rounding is one of that time.
    first = max(0, int(np.searchsorted(curve.time_s, at_s + _NANOSECOND, side="right")) - 1)
    is_same = np.array_equal(curve.values[:first], fork.values[:first], equal_nan=True)
    return replace(curve, time_s=curve.time_s[first:], values=curve.values[first:]) if is_same else curve

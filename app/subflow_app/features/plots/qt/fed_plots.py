"""Plots that are fed with binned and coloured curves of runs, in time slices if the curves are many.

A curve is drawn separately or as part of a combined curve, and the originals of forks are drawn as ghosts. The window
handles input between slices. Without slices, the 700 curves of 100 flows with two paths would block the window.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from PySide6.QtCore import QObject, QPointF, Signal
from PySide6.QtWidgets import QWidget

from subflow_app.features.forking.core.words import Ghost, find_ghosts, ghost_title
from subflow_app.features.history.core.run_names import PlotColumn, plot_columns, run_names
from subflow_app.features.plots.core import TIME, Bar, Curve, PlotSpec
from subflow_app.features.plots.core.bars import Group, repetitions
from subflow_app.features.plots.core.drawing import (
    BY_RUN,
    LEAST_SEEDS,
    RAW_S,
    Colouring,
    Crowd,
    CurveChoices,
    bin_width_s,
    in_bins,
    mean_of_seeds,
    nearest_member,
    sample_intervals_s,
    with_crowds,
)
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id, line_kind
from subflow_app.features.plots.qt.stacked_plot import StackedPlot
from subflow_app.features.plots.qt.time_plot import TimePlot
from subflow_app.features.plots.qt.xy_plot import BarPlot, XYPlot
from subflow_app.features.traces.core.traces import TraceMark, Traces
from subflow_app.toolkit.plotting.plot_parts import LINE_KINDS, ScrolledPlots
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr

# Duration of a slice, s.
_SLICE_S = 0.015
END_OF_SLICE = True
"""Yielded by work to end its slice early, so that the window repaints before the next slice."""


class SlicedFeed(QObject):
    """Feeds a stack of plots in short slices, between which the event loop runs."""

    done = Signal()  # all curves are fed, and painting follows

    def __init__(self, stack: Any) -> None:
        """Starts without work.

        Args:
            stack: the `PlotStack`, whose painting is suspended during the work, because painting each plot once at the
                end suffices.
        """
        super().__init__(stack)
        self._stack = stack
        self._mode = stack.viewportUpdateMode()
        self._work: Iterator[object] | None = None
        self._began = 0.0
        self.took_s = 0.0  # duration of the latest finished work, s
        self._timer = timer(self, self._go_on, 1, is_single=True)

    @property
    def is_busy(self) -> bool:
        """True while work is waiting."""
        return self._work is not None

    def start(self, work: Iterator[object]) -> None:
        """Starts this work, which yields wherever it may be interrupted."""
        self._work = work
        self._began = time.perf_counter()
        self._stack.setViewportUpdateMode(self._stack.ViewportUpdateMode.NoViewportUpdate)
        self._timer.start()

    def clear(self) -> None:
        """Discards the waiting work."""
        self._work = None
        self._timer.stop()
        self._stack.setViewportUpdateMode(self._mode)

    def _go_on(self) -> None:
        if self._work is None:
            return
        if _is_left(self._work):
            self._timer.start()
            return
        self.took_s = time.perf_counter() - self._began
        self.clear()
        self.done.emit()


def _is_left(work: Iterator[object]) -> bool:
    """Runs the work for one slice; returns True if work may remain."""
    end = time.perf_counter() + _SLICE_S
    return any(said is END_OF_SLICE or time.perf_counter() >= end for said in work)


_NANOSECOND = 1e-9
_Line = TypeVar("_Line", Curve, Bar)


class CurveLooks:
    """Curves, bars and marks of the runs in one stack of plots, in their bins and colours.

    Attributes:
        choices: the user's choices for curves.
        colours: ``#RRGGBB`` of lines that the user coloured. The colour of a line applies to all runs, unless colours
            distinguish runs.
    """

    def __init__(self) -> None:
        """Starts with the default choices and without runs."""
        self.choices = CurveChoices()
        self.colours: Mapping[CurveId, str] = {}
        self._runs: tuple[Traces, ...] = ()
        self._ghosts: Mapping[int, Ghost] = {}
        self._experiments: tuple[Group, ...] = ()  # experiments with enough runs to be drawn as one
        self._running = -1  # number of running simulations when the experiments were found
        self._crowds: dict[str, list[Crowd]] = {}  # by plot id
        self._bins: dict[str, tuple[tuple[float, ...], float]] = {}  # by plot id: sampling intervals and bin length, s

    @property
    def ghosts(self) -> tuple[Ghost, ...]:
        """Pairs of a fork and its original, and pairs of a run and the run before a change of the scenario."""
        return tuple(self._ghosts.values())

    def set_runs(self, runs: Sequence[Traces]) -> None:
        """Replaces the runs, and finds forks and repetitions among them."""
        self._runs = tuple(runs)
        self._ghosts = find_ghosts(runs)
        self._find_experiments()
        self._crowds.clear()

    def crowds(self, spec: PlotSpec) -> Sequence[Crowd]:
        """Combined curves of many flows in a plot."""
        return self._crowds.get(spec.id, ())

    def in_bins(self, spec: PlotSpec, curve: Curve) -> Curve:
        """The curve, averaged over the bins of this plot."""
        return in_bins(curve, self.bin_s(spec))

    def bin_s(self, spec: PlotSpec) -> float:
        """Bin length of a plot, s; zero for unaveraged samples."""
        return self._bins[spec.id][1] if spec.id in self._bins else RAW_S

    def behind(self, key: CurveId) -> set[tuple[int, str]]:
        """Pairs of run position and owner that a line represents: one, or several for a combined line."""
        crowd = next(
            (crowd for crowds in self._crowds.values() for crowd in crowds if curve_id(crowd.curve) == key), None
        )
        owners = [key.owner] if crowd is None else [member.owner for member in crowd.members]
        runs = next((group.sample_positions for group in self._averaged() if key.run in group.positions), (key.run,))
        return {(run, owner) for run in runs for owner in owners}

    def has_other_bins(self, spec: PlotSpec, span_s: float) -> bool:
        """True if the bins of a plot would change for a visible time range of this length, s."""
        intervals_s, bin_s = self._bins.get(spec.id, ((), RAW_S))
        return self._bin_s(spec, intervals_s, span_s) != bin_s

    def columns(self) -> list[PlotColumn]:
        """Columns of runs side by side; empty if all runs share one column."""
        names = run_names(self._runs)
        forks = {ghost.fork: ghost for ghost in self.ghosts if not ghost.is_before}
        if len(forks) == 1:
            (ghost,) = forks.values()
            names[ghost.fork] = _fork_title(ghost)
        columns = plot_columns(names, {ghost.original: ghost.fork for ghost in self._ghosts.values()})
        return columns if len(columns) > 1 else []

    def curves(self, spec: PlotSpec, span_s: float = 0.0) -> list[Curve]:
        """Curves of a plot, with bins, colours, ghosts, medians and means as the user chose them.

        Args:
            spec: specification of the plot.
            span_s: length of the visible time range, s.
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
        """The unaveraged curves of all runs."""
        return self._with_ghosts(spec, spec.overlay(self._runs))

    def bars(self, spec: PlotSpec) -> list[Bar]:
        """Bars of a plot, with colours and ghosts as the user chose them."""
        colouring = self._colouring()
        bars = [
            replace(bar, colour=colouring.colour(bar.colour, bar.run, bar.owner))
            for bar in spec.all_bars(self._runs)
            if self.choices.ghosts_shown or bar.run not in self._ghosts
        ]
        return [self._chosen(colouring, bar) for bar in bars]

    def marks(self) -> list[Sequence[TraceMark]]:
        """Marks of the events in each run.

        The marks of ghosts are left out, because they would hide the marks of the forks. Runs drawn as a mean show only
        changes of links and controllers, which all runs of an experiment share.
        """
        averaged = {run for group in self._averaged() for run in group.positions}
        marks: list[Sequence[TraceMark]] = []
        for run, traces in enumerate(self._runs):
            own = () if run in self._ghosts else traces.marks()
            marks.append([mark for mark in own if mark.kind in LINE_KINDS] if run in averaged else own)
        return marks

    # ---- internals ----

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
        """Experiments whose runs are drawn as one: those with enough seeds, or with many identical runs."""
        if self._running != self._count_running():
            # Repetitions are known only after the end of a run.
            self._find_experiments()
        return self._experiments if self.choices.seeds_averaged else ()

    def _repeated(self, run: int) -> Sequence[int]:
        """Positions of this run and of the runs that are drawn together with it."""
        return next((group.positions for group in self._averaged() if run in group.positions), (run,))

    def _colouring(self) -> Colouring:
        """Colouring in which a fork and its original share a colour, and so do the runs of an averaged experiment."""
        heads = [
            self._ghosts[run].fork if run in self._ghosts else self._repeated(run)[0] for run in range(len(self._runs))
        ]
        places = {head: rank for rank, head in enumerate(dict.fromkeys(heads))}
        return Colouring(self._runs, self.choices.colour_by, [places[head] for head in heads])

    def _bin_s(self, spec: PlotSpec, intervals_s: Sequence[float], span_s: float) -> float:
        # Numbers of agents and scripts are sampled at decisions, not at equal intervals.
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
                # The title of a ghost needs no number to differ from that of its run.
                own, distinct = self._runs[curve.run].title, curve.run_title
                title = own if distinct.startswith(f"{own} (") else distinct
                is_only = len(self._ghosts) == 1
                curve = replace(curve, is_ghost=True, run_title=ghost_title(ghost, title, is_only=is_only))
                if spec.kind == TIME and fork is not None:
                    curve = _from_fork_on(curve, fork, ghost.at_s)
            elif curve.run in forks and len(forks) == 1:
                curve = replace(curve, run_title=_fork_title(forks[curve.run]))
            drawn.append(curve)
        return drawn

    def _with_means(self, curves: list[Curve], *, is_signed: bool) -> list[Curve]:
        """Replaces the curves of the runs of an experiment by their mean, in the place of the first run."""
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
    # Copying thousands of curves would take noticeable time.
    return curve if (colour, dash) == (curve.colour, curve.dash) else replace(curve, colour=colour, dash=dash)


def _fork_title(ghost: Ghost) -> str:
    return tr("Fork: {difference}", difference=ghost.text)


def _from_fork_on(curve: Curve, fork: Curve, at_s: float) -> Curve:
    """The curve of an original, without the part that its fork repeats.

    If the curves differ before the fork, e.g. because different versions computed them, the whole curve is returned.
    """
    # One nanosecond after the fork, so that rounding cannot exclude a sample at the time of the fork.
    first = max(0, int(np.searchsorted(curve.time_s, at_s + _NANOSECOND, side="right")) - 1)
    is_same = np.array_equal(curve.values[:first], fork.values[:first], equal_nan=True)
    return replace(curve, time_s=curve.time_s[first:], values=curve.values[first:]) if is_same else curve


_MOST_SAMPLES_OF_WIDE_LINES = 100_000
# Largest number of visible points with antialiasing; wide lines take longer to draw.
_MOST_ANTIALIASED_POINTS = 15_000
_MOST_WIDE_ANTIALIASED_POINTS = 3_000
_OTHERS_MS = 400
# With more curves, or more traces behind them, the curves are fed in time slices.
_MOST_CURVES_AT_ONCE = 200
_MOST_TRACES_AT_ONCE = 2000
_Plot = TypeVar("_Plot", TimePlot, XYPlot)


class FedPlots(ScrolledPlots):
    """A stack of plots with the curves of runs."""

    plots: list[StackedPlot]

    curves_changed = Signal()  # the set of lines has changed, not only their samples
    time_range_changed = Signal(float, float)  # first and last visible time, s
    fed = Signal()  # emitted when sliced work ends and all curves show their latest samples

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.hidden: frozenset[CurveId] = frozenset()  # lines that are hidden
        self._colours: dict[CurveId, palette.ColourKey] = {}
        self._curves: dict[CurveId, Curve] = {}
        self._looks = CurveLooks()
        self.pointed_flow: CurveId | None = None  # highlighted flow near the mouse, one of many behind a median
        self.line_width = self._line_scale = 1.0
        self._duration_s = 1.0
        self.runs: tuple[Traces, ...] = ()  # the runs shown
        self.plots = []
        self.time_plots: list[TimePlot] = []  # row by row
        self._rows: list[list[TimePlot]] = []  # by quantity: one plot, or one per column of runs
        self._others: list[XYPlot | BarPlot] = []
        self._marks_shown = True
        self._log = False
        # Plots that are not over time are recomputed from all samples, so they are fed only a few times per second.
        self._others_timer = timer(self, self._feed_others, _OTHERS_MS, is_single=True)
        # Feeds the bins for the current time range once, however often the range changes in a turn of the event loop.
        self._bins_timer = timer(self, self._feed, is_single=True)
        self._sliced = SlicedFeed(self)
        self._is_crowded = self._is_stale = False  # whether curves are fed in slices; whether samples arrived meanwhile
        self._sliced.done.connect(self._on_fed)
        # A pause as long as the slices leaves half of the time for input.
        self._rest = timer(self, lambda: self._feed_newest() if self._is_stale else None, is_single=True)

    @property
    def time_range(self) -> tuple[float, float]:
        """First and last time in view, s."""
        raise NotImplementedError

    def recolour(self) -> None:
        """Draws everything in the colours of the theme."""
        raise NotImplementedError

    def set_line_width(self, width: float) -> None:
        """Draws everything with lines of this width, px."""
        raise NotImplementedError

    def set_colours(self, chosen: Mapping[CurveId, str]) -> None:
        """Applies the user's colours, ``#RRGGBB``, to lines; other lines get their default colours."""
        self._looks.colours = dict(chosen)
        self._feed()
        self.recolour()
        self.curves_changed.emit()

    @property
    def choices(self) -> CurveChoices:
        """The current choices for curves; `set_choices` replaces them."""
        return self._looks.choices

    def set_choices(self, choices: CurveChoices) -> None:
        """Redraws all curves with these choices."""
        if choices == self._looks.choices:
            return
        self._looks.choices = choices
        self._clear_plots()
        self._feed()
        self.curves_changed.emit()

    def bin_s(self, spec: PlotSpec) -> float:
        """Bin length of a plot, s; zero for unaveraged samples."""
        return self._looks.bin_s(spec)

    def behind(self, key: CurveId) -> set[tuple[int, str]]:
        """Pairs of run position and owner that a line represents: one, or several for a combined line."""
        return self._looks.behind(key)

    def sampled_curves(self, spec: PlotSpec) -> list[Curve]:
        """The unaveraged curves behind the visible lines of a plot."""
        shown = {
            (curve.kind, *behind)
            for plots in (plots for own, plots in self.plots_by_spec() if own is spec)
            for plot in plots
            for curve in plot.shown_curves()
            for behind in self._looks.behind(curve_id(curve))
        }
        return [curve for curve in self._looks.samples(spec) if (curve.kind, curve.run, curve.owner) in shown]

    @property
    def _span_s(self) -> float:
        low_s, high_s = self.time_range
        return min(high_s - low_s, self._duration_s)

    def _on_time_range_changed(self) -> None:
        self.time_range_changed.emit(*self.time_range)
        if any(self._looks.has_other_bins(row[0].spec, self._span_s) for row in self._rows):
            self._bins_timer.start()

    def _clear_plots(self) -> None:
        self.pointed_flow = None
        for plot in self.plots:
            plot.clear()

    def _feed(self) -> None:
        self._curves = {}
        self._sliced.clear()
        self._is_stale = False
        self._rest.stop()
        fed = self._note_curves(self.time_plots)
        # The limit also counts the traces behind a median, because all of them are read.
        traces = sum(len(row[0].spec.series(run)) for row in self._rows for run in self.runs)
        self._is_crowded = len(fed) > _MOST_CURVES_AT_ONCE or traces > _MOST_TRACES_AT_ONCE
        self._feed_over_time(fed)
        self._feed_others()

    def _feed_newest(self) -> None:
        # While slices are waiting, this frame is skipped; the next frame shows all samples.
        self._is_stale = self._sliced.is_busy or self._rest.isActive()
        if not self._is_stale:
            self._feed_over_time([] if self._is_crowded else self._note_curves(self.time_plots))

    def _on_fed(self) -> None:
        self._rest.start(round(1000 * self._sliced.took_s))
        self.fed.emit()

    def _feed_over_time(self, fed: Sequence[tuple[TimePlot, Curve]]) -> None:
        """Feeds these curves immediately, or in slices if the curves are many."""
        self._fit_lines()
        if self._is_crowded:
            self._sliced.start(self._slices(fed))
            return
        for plot, curve in fed:
            plot.feed([curve])
        self._feed_marks()

    def _slices(self, fed: Sequence[tuple[TimePlot, Curve]]) -> Iterator[object]:
        """Feeds, marks and paints plot by plot; may be interrupted at each yield."""
        for plot in self.time_plots:
            for _plot, curve in [each for each in fed if each[0] is plot] or self._note_curves([plot]):
                plot.feed([curve])
                yield None
        marks = self._looks.marks() if self._marks_shown else []
        for each in self.plots if self._marks_shown else ():
            yield from each.marking(marks, self._colours)
        for plot in self.time_plots:
            yield from plot.painting()
        for plot in self.time_plots:
            # Each slice repaints one plot with its title.
            area = plot.item.sceneBoundingRect()
            if plot.title.scene() is not None:
                area = area.united(plot.title.sceneBoundingRect())
            band = self.mapFromScene(area)
            self.viewport().update(band.boundingRect())
            yield END_OF_SLICE

    def _feed_others(self) -> None:
        fed = self._note_curves([plot for plot in self._others if isinstance(plot, XYPlot)])
        for plot in self._others:
            if isinstance(plot, BarPlot):
                plot.feed_bars(self._looks.bars(plot.spec))
            else:
                plot.feed([curve for each, curve in fed if each is plot])

    def _note_curves(self, plots: Sequence[_Plot]) -> list[tuple[_Plot, Curve]]:
        """Computes the curves of these plots, and registers them for the legend."""
        fed = []
        of_spec: tuple[PlotSpec | None, list[Curve]] = (None, [])
        for plot in plots:
            if plot.spec is not of_spec[0]:
                # The plots of a row share the curves computed for all runs.
                of_spec = plot.spec, self._looks.curves(plot.spec, self._span_s)
            shown = [curve for curve in of_spec[1] if plot.has_run(curve.run)]
            fed += [(plot, curve) for curve in shown]
            for curve in shown:
                key = curve_id(curve)
                # The legend prefers the curve over time to a curve of another plot.
                if key not in self._curves or isinstance(plot, TimePlot):
                    self._curves[key] = curve
        self._colours = {key: curve.colour for key, curve in self._curves.items()}
        return fed

    def _fit_lines(self) -> None:
        """Chooses antialiasing and line width by the number of samples; wide lines take seven times as long to draw.

        On high-resolution screens, a line of one pixel would be too thin.
        """
        samples = sum(len(curve.values) for curve in self._curves.values())
        width = self._line_scale * (self.devicePixelRatioF() if samples <= _MOST_SAMPLES_OF_WIDE_LINES else 1.0)
        drawn = sum(min(len(curve.values), 2 * self.width()) for curve in self._curves.values())
        most = _MOST_ANTIALIASED_POINTS if width <= 1.0 else _MOST_WIDE_ANTIALIASED_POINTS
        for plot in self.time_plots:
            plot.set_antialiased(drawn <= most)
        if width != self.line_width:
            self.line_width = width
            self.set_line_width(width)

    def _feed_marks(self) -> None:
        if self._marks_shown:
            marks = self._looks.marks()
            for plot in self.plots:
                plot.set_marks(marks, self._colours)

    def _point_at_flow(self, under: StackedPlot | None, position: QPointF) -> None:
        """Highlights, in all plots, the flow nearest to the mouse among the flows that medians represent.

        If the plot under the mouse shows no median, removes the highlight.
        """
        found, time_s = None, math.nan
        if isinstance(under, TimePlot):
            at = under.view.mapSceneToView(position)
            value = 10.0 ** float(at.y()) if self._log else float(at.y())
            time_s = float(at.x())
            found = nearest_member(self._shown_crowds(under), time_s, value / under.spec.scale)
        if found is None and self.pointed_flow is None:
            return
        self.pointed_flow = None if found is None else curve_id(found)
        for plot in self.time_plots:
            members = (member for crowd in self._shown_crowds(plot) for member in crowd.members)
            own = next((member for member in members if curve_id(member) == self.pointed_flow), None)
            plot.point_at(None if own is None else self._looks.in_bins(plot.spec, own), time_s)

    def _shown_crowds(self, plot: TimePlot) -> list[Crowd]:
        return [
            crowd
            for crowd in self._looks.crowds(plot.spec)
            if curve_id(crowd.curve) not in self.hidden and plot.has_run(crowd.curve.run)
        ]

    def curve_of(self, key: CurveId) -> Curve | None:
        """The curve of a line, or of a single flow that a median represents; None for an unknown id."""
        if key in self._curves:
            return self._curves[key]
        crowds = (crowd for plot in self.time_plots for crowd in self._looks.crowds(plot.spec))
        return next((each for crowd in crowds for each in crowd.members if curve_id(each) == key), None)

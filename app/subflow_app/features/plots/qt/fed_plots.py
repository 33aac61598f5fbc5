"""Plots that are fed with the curves of runs: as they are to be drawn, quickly, and very many of them in slices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from PySide6.QtCore import QPointF, Signal
from PySide6.QtWidgets import QWidget

from subflow_app.features.plots.core import Curve, PlotSpec
from subflow_app.features.plots.core.drawing.choices import CurveChoices
from subflow_app.features.plots.core.drawing.summaries import Crowd, nearest_member
from subflow_app.features.plots.qt.bar_plot import BarPlot
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id
from subflow_app.features.plots.qt.curve_looks import CurveLooks
from subflow_app.features.plots.qt.stacked_plot import StackedPlot
from subflow_app.features.plots.qt.time_plot import TimePlot
from subflow_app.features.plots.qt.xy_plot import XYPlot
from subflow_app.features.traces.core.traces import Traces
from subflow_app.toolkit.plotting.scrolled_plots import ScrolledPlots
from subflow_app.toolkit.plotting.sliced_feed import END_OF_SLICE, SlicedFeed
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary import palette

_MOST_SAMPLES_OF_WIDE_LINES = 100_000
# In view; wide ones take longer.
_MOST_ANTIALIASED_POINTS = 15_000
_MOST_WIDE_ANTIALIASED_POINTS = 3_000
_OTHERS_MS = 400
# More are fed in slices of time.
_MOST_CURVES_AT_ONCE = 200
_MOST_TRACES_AT_ONCE = 2000
_Plot = TypeVar("_Plot", TimePlot, XYPlot)


class FedPlots(ScrolledPlots):
    """The curves in a stack of plots."""

    plots: list[StackedPlot]

    curves_changed = Signal()  # other lines than before, not only more samples
    time_range_changed = Signal(float, float)  # first and last time in view, s
    fed = Signal()  # all of very many curves have their newest samples

    def __init__(self, parent: QWidget | None, *, paper: bool) -> None:
        """Of no runs yet; ``paper`` is for print."""
        super().__init__(parent)
        self.hidden: frozenset[CurveId] = frozenset()  # lines that are switched off
        self._colours: dict[CurveId, palette.ColourKey] = {}
        self._curves: dict[CurveId, Curve] = {}
        self._looks = CurveLooks()
        self._flow: CurveId | None = None  # of a crowd, that the mouse is near
        self._line_width = self._line_scale = 1.0
        self._duration_s = 1.0
        self.runs: tuple[Traces, ...] = ()  # the runs shown
        self.plots = []
        self.time_plots: list[TimePlot] = []  # row by row
        self._rows: list[list[TimePlot]] = []  # by quantity; of each one plot, or one for each column
        self._others: list[XYPlot | BarPlot] = []
        self._paper = paper
        self._marks_shown = True
        self._log = False
        # What is not over time is made anew from all samples: a few times a second is often enough.
        self._others_timer = timer(self, self._feed_others, _OTHERS_MS, is_single=True)
        # Once for all that a turn of the wheel or a drag does.
        self._bins_timer = timer(self, self._feed_in_bins, is_single=True)
        self._sliced = SlicedFeed(self)
        self._is_crowded = self._is_stale = False  # so many curves that they are fed in slices; samples came meanwhile
        self._sliced.done.connect(self._on_fed)
        # As long as the slices took nothing follows, so that half of the time is left for a person.
        self._rest = timer(self, lambda: self._feed_newest() if self._is_stale else None, is_single=True)

    @property
    def time_range(self) -> tuple[float, float]:
        """First and last time in view, s."""
        raise NotImplementedError

    def recolour(self) -> None:
        """Draws everything in the colours of the theme."""
        raise NotImplementedError

    def set_line_width(self, width: float) -> None:
        """Draws everything with wider lines, px."""
        raise NotImplementedError

    def set_colours(self, chosen: Mapping[CurveId, str]) -> None:
        """Draws lines in colours that a person chose, ``#RRGGBB``; others in theirs."""
        self._looks.colours = dict(chosen)
        self._feed()
        self.recolour()
        self.curves_changed.emit()

    @property
    def choices(self) -> CurveChoices:
        """How curves are drawn."""
        return self._looks.choices

    def set_choices(self, choices: CurveChoices) -> None:
        """Draws curves in other bins or colours, or others of them."""
        if choices == self._looks.choices:
            return
        self._looks.choices = choices
        self._clear_plots()
        self._feed()
        self.curves_changed.emit()

    def bin_s(self, spec: PlotSpec) -> float:
        """Length of the bins that a plot is drawn with, s; zero: as sampled."""
        return self._looks.bin_s(spec)

    def behind(self, key: CurveId) -> set[tuple[int, str]]:
        """The runs, by position, and the owners that a line stands for: one of each, unless it sums up several."""
        return self._looks.behind(key)

    def sampled_curves(self, spec: PlotSpec) -> list[Curve]:
        """The samples behind the visible lines of a plot, each as its run has it."""
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

    def _feed_in_bins(self) -> None:
        """Feeds what is in view again, in the bins that it asks for now."""
        self._feed()

    def _clear_plots(self) -> None:
        self._flow = None
        for plot in self.plots:
            plot.clear()

    def _feed(self) -> None:
        self._curves = {}
        self._sliced.clear()
        self._is_stale = False
        self._rest.stop()
        fed = self._note_curves(self.time_plots)
        # What is read counts, also where the median of all is drawn.
        traces = sum(len(row[0].spec.series(run)) for row in self._rows for run in self.runs)
        is_much = len(fed) > _MOST_CURVES_AT_ONCE or traces > _MOST_TRACES_AT_ONCE
        self._is_crowded = not self._paper and is_much
        self._feed_over_time(fed)
        self._feed_others()

    def _feed_newest(self) -> None:
        # While some wait the pictures drop a frame; the samples are all there for the next.
        self._is_stale = self._sliced.is_busy or self._rest.isActive()
        if not self._is_stale:
            self._feed_over_time([] if self._is_crowded else self._note_curves(self.time_plots))

    def _on_fed(self) -> None:
        self._rest.start(round(1000 * self._sliced.took_s))
        self.fed.emit()

    def _feed_over_time(self, fed: Sequence[tuple[TimePlot, Curve]]) -> None:
        """Feeds these curves; with very many all there are, in slices."""
        self._fit_lines()
        if self._is_crowded:
            self._sliced.start(self._slices(fed))
            return
        for plot, curve in fed:
            plot.feed([curve])
        self._feed_marks()

    def _slices(self, fed: Sequence[tuple[TimePlot, Curve]]) -> Iterator[object]:
        """Feeds, marks and paints, plot by plot; may be interrupted wherever it yields."""
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
            # One plot at a time: what lies over it and beside it belongs to it.
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
        """The curves of plots, which the legend gets to know."""
        fed = []
        of_spec: tuple[PlotSpec | None, list[Curve]] = (None, [])
        for plot in plots:
            if plot.spec is not of_spec[0]:
                # The plots of one row share what is worked out for all runs.
                of_spec = plot.spec, self._looks.curves(plot.spec, self._span_s)
            shown = [curve for curve in of_spec[1] if plot.has_run(curve.run)]
            fed += [(plot, curve) for curve in shown]
            for curve in shown:
                key = curve_id(curve)
                # The curve over time is the line to the legend; another stands in where there is none.
                if key not in self._curves or isinstance(plot, TimePlot):
                    self._curves[key] = curve
        self._colours = {key: curve.colour for key, curve in self._curves.items()}
        return fed

    def _fit_lines(self) -> None:
        """Smooth edges and, on a screen of fine pixels, wider lines, as long as they are drawn quickly.

        A line of one is a hair there; two cost seven times as much.
        """
        if self._paper:
            return
        samples = sum(len(curve.values) for curve in self._curves.values())
        width = self._line_scale * (self.devicePixelRatioF() if samples <= _MOST_SAMPLES_OF_WIDE_LINES else 1.0)
        drawn = sum(min(len(curve.values), 2 * self.width()) for curve in self._curves.values())
        most = _MOST_ANTIALIASED_POINTS if width <= 1.0 else _MOST_WIDE_ANTIALIASED_POINTS
        for plot in self.time_plots:
            plot.set_antialiased(drawn <= most)
        if width != self._line_width:
            self._line_width = width
            self.set_line_width(width)

    def _feed_marks(self) -> None:
        if self._marks_shown:
            marks = self._looks.marks()
            for plot in self.plots:
                plot.set_marks(marks, self._colours)

    def _point_at_flow(self, under: StackedPlot | None, position: QPointF) -> None:
        """Draws the flow of a crowd that is nearest to the mouse, in all plots; outside of them none."""
        found, time_s = None, math.nan
        if isinstance(under, TimePlot):
            at = under.view.mapSceneToView(position)
            value = 10.0 ** float(at.y()) if self._log else float(at.y())
            time_s = float(at.x())
            found = nearest_member(self._shown_crowds(under), time_s, value / under.spec.scale)
        if found is None and self._flow is None:
            return
        self._flow = None if found is None else curve_id(found)
        for plot in self.time_plots:
            members = (member for crowd in self._shown_crowds(plot) for member in crowd.members)
            own = next((member for member in members if curve_id(member) == self._flow), None)
            plot.point_at(None if own is None else self._looks.in_bins(plot.spec, own), time_s)

    def _shown_crowds(self, plot: TimePlot) -> list[Crowd]:
        return [
            crowd
            for crowd in self._looks.crowds(plot.spec)
            if curve_id(crowd.curve) not in self.hidden and plot.has_run(crowd.curve.run)
        ]

    def curve_of(self, key: CurveId) -> Curve | None:
        """A line with its label, also one that is drawn only while the mouse is near; None if there is no such line."""
        if key in self._curves:
            return self._curves[key]
        crowds = (crowd for plot in self.time_plots for crowd in self._looks.crowds(plot.spec))
        return next((each for crowd in crowds for each in crowd.members if curve_id(each) == key), None)

"""Stack of plots: plots over time above each other with one time axis and one crosshair, other plots below in pairs.

Without a legend, the values at the crosshair follow the title of each plot.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QShowEvent, QWindow
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from subflow_app.features.history.core.run_names import PlotColumn
from subflow_app.features.plots.core import BARS, TIME, Curve, PlotSpec, Ticks
from subflow_app.features.plots.qt.curve_id import CurveId
from subflow_app.features.plots.qt.fed_plots import FedPlots
from subflow_app.features.plots.qt.plot_grid import PlotGrid
from subflow_app.features.plots.qt.span import SpanRow, span_rows
from subflow_app.features.plots.qt.stacked_plot import StackedPlot
from subflow_app.features.plots.qt.time_lines import NAMES, ForkLines, SpanCursors
from subflow_app.features.plots.qt.time_plot import TimePlot, plot_row
from subflow_app.features.plots.qt.xy_plot import BarPlot, XYPlot
from subflow_app.features.traces.core.traces import Traces
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.plot_parts import Span
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr


def readout(
    at_time: Mapping[CurveId, float],
    time_s: float | None,
    curves: Mapping[CurveId, Curve],
    hidden: frozenset[CurveId],
    tokens: Tokens,
) -> list[Span]:
    """Coloured text with the values of visible curves at a time, s, in the unit of the plot; empty for None."""
    if time_s is None:
        return []
    spans = [Span(f"   {tr('at {time} s', time=fmt.number(time_s, 4))}", tokens.muted_text)]
    # Values of the same line in several runs are combined: "wifi 3.5 / 3.7".
    values: dict[tuple[str, str], list[str]] = {}
    lines: dict[tuple[str, str], Curve] = {}
    for key, value in at_time.items():
        if key not in hidden and math.isfinite(value):
            values.setdefault((key.owner, key.kind), []).append(fmt.number(value))
            lines.setdefault((key.owner, key.kind), curves[key])
    for line, texts in values.items():
        colour = palette.hex_colour(lines[line].colour, dark=tokens.is_dark)
        spans.append(Span(f"   {lines[line].label} ", tokens.muted_text))
        spans.append(Span(" / ".join(texts), colour, bold=True))
    return spans


_ZOOM_STEP = 1.25
_HIT_PX = 8.0  # largest distance of a click from the curve that it selects
_KEY_STEP = 0.01  # step per arrow key without samples, as a share of the visible time
_SHIFT_STEPS = 10  # samples per arrow key with Shift


class PlotStack(FedPlots):
    """Stack of the plots of one or more runs."""

    cursor_moved = Signal(object)  # time at the crosshair, s, or None
    pointed = Signal(object)  # time under the mouse, s, or None once the mouse has left the plots over time
    time_clicked = Signal(float)  # s
    curve_clicked = Signal(object)  # CurveId
    menu_requested = Signal(QPoint)  # global position
    axis_changed = Signal()  # position or range of the time axis have changed

    def __init__(self, specs: Sequence[PlotSpec], parent: QWidget | None = None) -> None:
        """Creates an empty plot for each of ``specs``, from top to bottom."""
        super().__init__(parent)
        named(self, "plot_stack", tr("Plots over simulated time"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(self.Shape.NoFrame)
        self._plot_font = QFont(self.font())
        self.grid = PlotGrid(self, self._plot_font)
        self._is_side_by_side = False  # whether each run has a column
        self._columns: list[PlotColumn] = []  # empty: runs are overlaid
        self.forks = ForkLines()
        self._crosshair_shown = True
        self._readout_shown = False
        self.cursor_s: float | None = None  # time under the crosshair, s
        self.pin_s: float | None = None  # time of the pinned line, s
        self._pointed = ""
        self._handle: QWindow | None = None
        self._specs: tuple[PlotSpec, ...] = ()
        self.cursors = SpanCursors(self)
        follow_theme(self._on_theme)
        self.set_specs(specs)
        self.sigDeviceRangeChanged.connect(self._share_height)
        self.scene().sigMouseMoved.connect(self._on_mouse_moved)
        self.scene().sigMouseClicked.connect(self._on_mouse_clicked)

    # ---- content ----

    @property
    def curves(self) -> dict[CurveId, Curve]:
        """All lines with their labels and colours, hidden ones included, in the order of the plots."""
        return self._curves

    def set_specs(self, specs: Sequence[PlotSpec]) -> None:
        """Shows these plots, those over time first; keeps the time range and hidden lines."""
        time_range = self.time_range if self.time_plots else None
        self._make_plots(specs)
        self._feed()
        self.curves_changed.emit()
        if time_range is None:
            self.fit()
        else:
            self.set_time_range(*time_range)

    def plots_by_spec(self) -> list[tuple[PlotSpec, list[StackedPlot]]]:
        """The plots, grouped by quantity."""
        return [(row[0].spec, list[StackedPlot](row)) for row in self._rows] + [(p.spec, [p]) for p in self._others]

    @property
    def specs(self) -> list[PlotSpec]:
        """The quantities of the plots from top to bottom."""
        return [spec for spec, _plots in self.plots_by_spec()]

    def _make_plots(self, specs: Sequence[PlotSpec]) -> None:
        self._specs = tuple(specs)
        self._columns = self._looks.columns() if self._is_side_by_side else []
        self.clear()
        runs = [column.runs for column in self._columns]
        self._rows = [plot_row(spec, runs, self._plot_font) for spec in specs if spec.kind == TIME]
        self.time_plots = [plot for row in self._rows for plot in row]
        self._others = [
            (BarPlot if spec.kind == BARS else XYPlot)(spec, self._plot_font) for spec in specs if spec.kind != TIME
        ]
        self.plots = [*self.time_plots, *self._others]
        self.grid.place(self._rows, self._others, self._columns)
        for plot in self.plots:
            plot.set_line_width(self.line_width)
            plot.set_log(self._log)
            plot.set_hidden(self.hidden)
            plot.view.menu_requested.connect(self._on_menu_requested)
            plot.view.reset_requested.connect(self.fit if isinstance(plot, TimePlot) else plot.fit_values)
        for time_plot in self.time_plots:
            time_plot.show_time_axis(time_plot in self._rows[-1])
            time_plot.set_duration(self._duration_s)
            time_plot.set_pin(self.pin_s)
            if time_plot is not self.time_plots[0]:
                time_plot.item.setXLink(self.time_plots[0].item)
        self.cursors.attach(self.time_plots)
        self.forks.attach(self.time_plots)
        if self.time_plots:
            self.time_plots[0].view.sigXRangeChanged.connect(self._on_time_range_changed)
            self.time_plots[0].view.sigXRangeChanged.connect(lambda *_: self.axis_changed.emit())
            self.time_plots[0].view.sigResized.connect(lambda *_: self.axis_changed.emit())
        self._share_height()
        self.recolour()

    def show_runs(self, runs: Sequence[Traces]) -> None:
        """Replaces the runs; hidden lines remain hidden if the new runs also contain these lines."""
        self._clear_plots()
        # While many curves are fed, painting is suspended, so the old picture must be erased first.
        self.viewport().update()
        self.runs = tuple(runs)
        self._looks.set_runs(runs)
        self.forks.show([ghost for ghost in self._looks.ghosts if not ghost.is_before])
        self._duration_s = max((run.duration_s for run in runs), default=1.0)
        if self._is_side_by_side and self._columns != self._looks.columns():
            self._make_plots(self._specs)
        for plot in self.time_plots:
            plot.set_duration(self._duration_s)
        self.cursors.set_duration(self._duration_s)
        # The time range is set first, because bins depend on it.
        self.set_time_range(0.0, self._duration_s)
        self._feed()
        self.curves_changed.emit()
        self.fit()
        self._draw_cursor()

    def refresh(self) -> None:
        """Draws the samples added since the last call."""
        self._feed_newest()
        if self._others and not self._others_timer.isActive():
            self._others_timer.start()
        if self.cursor_s is not None:
            self._draw_cursor()

    def take_switches(self, other: PlotStack) -> None:
        """Copies the switches, the colours and the choices for curves from another stack."""
        self._marks_shown = other._marks_shown
        self._is_side_by_side = other._is_side_by_side
        self._looks.choices, self._looks.colours = other._looks.choices, other._looks.colours
        self._crosshair_shown = other._crosshair_shown
        self.set_log(other._log)

    def set_line_width(self, width: float) -> None:
        """Draws everything with lines of this width, px, e.g. for a picture of higher resolution."""
        for plot in self.plots:
            plot.set_line_width(width)
        self.recolour()

    def ticks(self, plot: StackedPlot) -> list[Ticks]:
        """Events of the runs in a plot, and the lines at the times of forks."""
        return [*plot.shown_ticks(), *(self.forks.ticks(plot) if isinstance(plot, TimePlot) else ())]

    def column_title(self, plot: StackedPlot) -> str:
        """Title above the column of a plot; empty for a plot of all runs."""
        named = zip(self._columns, self.grid.column_titles, strict=True)
        return next((title.shown_text() for column, title in named if column.runs == plot.runs), "")

    def set_type(self, font: QFont, line_scale: float) -> None:
        """Uses this font, and multiplies line widths by ``line_scale``, e.g. for viewers at a distance."""
        self._line_scale = line_scale
        self._plot_font = self.grid.font = QFont(font)
        self.set_specs(self._specs)

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides these lines in all plots."""
        self.hidden = hidden
        for plot in self.plots:
            plot.set_hidden(hidden)
        self._draw_cursor()

    def values_at(self, time_s: float | None) -> list[dict[CurveId, float]]:
        """Values of all lines at a time, s, or the latest values if the time is None.

        Each quantity has a mapping from lines to values in the unit of its plot. Unknown values are NaN.
        """
        return [{key: value for plot in row for key, value in plot.values_at(time_s).items()} for row in self._rows]

    def values_of(self, spec: PlotSpec, time_s: float | None) -> dict[CurveId, float]:
        """Values of the lines of a plot over time at a time, s, or the latest ones for None; else empty."""
        row = next((row for row in self._rows if row[0].spec == spec), ())
        return {key: value for plot in row for key, value in plot.values_at(time_s).items()}

    @property
    def latest_time_s(self) -> float:
        """Time of the latest sample, s; 0 before the first sample."""
        return max((float(c.time_s[-1]) for c in self._curves.values() if len(c.time_s)), default=0.0)

    # ---- switches ----

    @property
    def is_log(self) -> bool:
        """True if value axes are logarithmic."""
        return self._log

    def set_log(self, is_log: bool) -> None:
        """Switches all plots to a logarithmic or linear scale."""
        self._log = is_log
        for plot in self.plots:
            plot.set_log(is_log)
        self._draw_cursor()

    def set_side_by_side(self, is_on: bool) -> None:
        """Shows each run in a separate column, or overlays all runs."""
        self._is_side_by_side = is_on
        if self._columns != (self._looks.columns() if is_on else []):
            self.set_specs(self._specs)

    def set_marks_shown(self, is_shown: bool) -> None:
        """Shows or hides the marks of events, e.g. losses, timeouts and link changes."""
        self._marks_shown = is_shown
        if is_shown:
            self._feed_marks()
        else:
            for plot in self.plots:
                plot.clear_marks()

    def set_crosshair_shown(self, is_shown: bool) -> None:
        """Shows or hides the crosshair; while the crosshair is hidden, `cursor_s` is None."""
        self._crosshair_shown = is_shown
        if not is_shown:
            self.set_cursor(None)

    def set_readout_shown(self, is_shown: bool) -> None:
        """Shows or hides the values at the crosshair after the titles, for use without a legend."""
        self._readout_shown = is_shown
        self._draw_cursor()

    # ---- view ----

    @property
    def time_range(self) -> tuple[float, float]:
        """First and last time in view, s."""
        if not self.time_plots:
            return 0.0, self._duration_s
        low, high = self.time_plots[0].view.viewRange()[0]
        return float(low), float(high)

    def set_time_range(self, low_s: float, high_s: float) -> None:
        """Shows this time range, s, in all plots."""
        # The range is slightly wider, because pyqtgraph drops a tick that rounding moves outside the view.
        if self.time_plots:
            self.time_plots[0].view.setXRange(low_s, high_s, padding=1e-6)

    def follow_time(self, low_s: float, high_s: float) -> None:
        """Shows the time range of another stack; ignores tiny differences, so that two stacks can follow each other."""
        shown_low_s, shown_high_s = self.time_range
        least = 1e-4 * (high_s - low_s)
        if self.time_plots and max(abs(low_s - shown_low_s), abs(high_s - shown_high_s)) > least:
            self.time_plots[0].view.setXRange(low_s, high_s, padding=0.0)

    def curves_by_spec(self) -> list[tuple[PlotSpec, dict[CurveId, Curve]]]:
        """The lines of each plot, hidden ones included, from top to bottom; plots without lines are left out."""
        found = []
        for spec, plots in self.plots_by_spec():
            keys = dict.fromkeys(key for plot in plots for key in getattr(plot, "curves", ()))
            curves = {key: self._curves[key] for key in keys if key in self._curves}
            if curves:
                found.append((spec, curves))
        return found

    def tops(self) -> dict[str, int]:
        """Upper end of the title of each plot, px from the upper end of the stack, by plot id."""
        return {
            spec.id: self.mapFromScene(plots[0].title.sceneBoundingRect()).boundingRect().top()
            for spec, plots in self.plots_by_spec()
        }

    @property
    def axis_ends(self) -> tuple[int, int] | None:
        """Global x of both ends of the time axis, px; None if no plot over time is visible, or runs have columns."""
        if not self.time_plots or self._columns or not self.isVisible():
            return None
        area = self.mapFromScene(self.time_plots[0].view.sceneBoundingRect()).boundingRect()
        origin = self.viewport().mapToGlobal(QPoint(0, 0)).x()
        return origin + area.left(), origin + area.right()

    @property
    def pointed_id(self) -> str:
        """Id of the plot that was last under the mouse, or initially the id of the first plot."""
        ids = [plot.spec.id for plot in self.plots]
        return self._pointed if self._pointed in ids else next(iter(ids), "")

    def fit(self) -> None:
        """Shows the whole duration, and lets the value axes follow the curves."""
        if not self.plots:
            return
        self.set_time_range(0.0, self._duration_s)
        for plot in self.plots:
            plot.fit_values()

    def zoom(self, steps: int) -> None:
        """Zooms the time axis in, or out if ``steps`` is negative, around the crosshair, or else around the middle."""
        low, high = self.time_range
        anchor = self.cursor_s if self.cursor_s is not None and low <= self.cursor_s <= high else (low + high) / 2
        factor = _ZOOM_STEP**-steps
        self.set_time_range(anchor + (low - anchor) * factor, anchor + (high - anchor) * factor)

    # ---- crosshair ----

    def set_cursor(self, time_s: float | None) -> None:
        """Moves the crosshair in all plots; None hides it."""
        if time_s is not None and (not self._crosshair_shown or not self.runs):
            time_s = None
        if time_s is not None:
            time_s = min(max(time_s, 0.0), self._duration_s)
        if time_s == self.cursor_s:
            return
        self.cursor_s = time_s
        self._draw_cursor()
        self.cursor_moved.emit(time_s)

    def set_pin(self, time_s: float | None) -> None:
        """Draws a line at this time in all plots, scrolls to it if necessary, and moves the crosshair to it.

        While the mouse is outside the plots over time, the crosshair returns to the line. None removes the line.
        """
        had_cursor_there = self.cursor_s == self.pin_s
        self.pin_s = time_s
        for plot in self.plots:
            plot.set_pin(time_s)
        if time_s is not None:
            low, high = self.time_range
            if not low <= time_s <= high:
                self.set_time_range(time_s - (high - low) / 2, time_s + (high - low) / 2)
            self.set_cursor(time_s)
        elif had_cursor_there:
            self.set_cursor(None)

    # ---- cursors A and B ----

    def place_cursor(self, name: str) -> None:
        """Moves A or B to the crosshair or, if it is hidden, to one third (A) or two thirds (B) of the visible time."""
        if not self.runs:
            return
        low, high = self.time_range
        share = (1 + NAMES.index(name)) / (1 + len(NAMES))
        self.cursors.set_time(name, self.cursor_s if self.cursor_s is not None else low + share * (high - low))

    def span_rows(self) -> list[SpanRow]:
        """Statistics of each visible curve over time between A and B; empty until both are set."""
        if self.cursors.span_s is None:
            return []
        return span_rows(self.time_plots, self._curves, self.hidden, self.cursors.span_s)

    def _draw_cursor(self) -> None:
        for plot in self.plots:
            plot.set_cursor(self.cursor_s)
        at_s = self.cursor_s if self._readout_shown else None
        values = self.values_at(at_s) if at_s is not None else [{} for _ in self._rows]
        for row, at_time in zip(self._rows, values, strict=True):
            row[0].set_readout(readout(at_time, at_s, self._curves, self.hidden, current_tokens()))

    def _on_mouse_moved(self, position: QPointF) -> None:
        under = next((plot for plot in self.plots if plot.view.sceneBoundingRect().contains(position)), None)
        self._pointed = under.spec.id if under is not None else self._pointed
        for plot in self._others:
            if isinstance(plot, XYPlot):
                # The readout of a distribution follows the mouse along the x axis, as the crosshair does along time.
                is_read = plot is under and self._crosshair_shown
                plot.set_pointer(float(plot.view.mapSceneToView(position).x()) if is_read else None)
        self._point_at_flow(under, position)
        if isinstance(under, TimePlot) and self._crosshair_shown and self.runs:
            self.set_cursor(float(under.view.mapSceneToView(position).x()))
            self.pointed.emit(self.cursor_s)
        else:
            self.set_cursor(self.pin_s)
            self.pointed.emit(None)

    def _on_mouse_clicked(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton or event.double():
            return
        curve = self.curve_at(event.scenePos())
        if curve is not None:
            self.curve_clicked.emit(curve)
        for plot in self.time_plots:
            if plot.view.sceneBoundingRect().contains(event.scenePos()):
                self.time_clicked.emit(float(plot.view.mapSceneToView(event.scenePos()).x()))

    def _on_menu_requested(self, position: QPoint) -> None:
        # Menu entries about "this curve" refer to the curve under the mouse.
        curve = self.curve_at(self.mapToScene(self.mapFromGlobal(position)))
        if curve is not None:
            self.curve_clicked.emit(curve)
        self.menu_requested.emit(position)

    def curve_at(self, position: QPointF) -> CurveId | None:
        """The visible curve that a click at a position of the scene selects; None if every curve is too far away."""
        under = next((plot for plot in self.plots if plot.view.sceneBoundingRect().contains(position)), None)
        if isinstance(under, TimePlot) and self.pointed_flow is not None and under.is_pointed_at(position, _HIT_PX):
            return self.pointed_flow
        found = under.curve_at(position) if under is not None else None
        return found[0] if found is not None and found[1] <= _HIT_PX else None

    def _share_height(self) -> None:
        self.grid.share_room()
        for plot in self._others:
            if isinstance(plot, BarPlot):
                plot.take_room()

    def showEvent(self, event: QShowEvent) -> None:
        """Connects to the window's screen changes, so that lines and sizes adapt to the resolution."""
        super().showEvent(event)
        handle = self.window().windowHandle()
        if handle is not None and handle is not self._handle:
            self._handle = handle
            handle.screenChanged.connect(self._on_screen_changed)

    def _on_screen_changed(self) -> None:
        self._fit_lines()
        self._share_height()

    def leaveEvent(self, event: QEvent) -> None:
        """Hides the crosshair when the mouse leaves, or returns it to the pinned line."""
        self.set_cursor(self.pin_s)
        self.pointed.emit(None)
        self._point_at_flow(None, QPointF())
        for plot in self._others:
            if isinstance(plot, XYPlot):
                plot.set_pointer(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Moves to the next or previous sample with the left and right arrow keys, with Shift ten samples."""
        direction = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if direction is None or not self._crosshair_shown:
            super().keyPressEvent(event)
            return
        low, high = self.time_range
        intervals = (np.diff(curve.time_s[:2]) for curve in self._curves.values() if not curve.bin_s)
        step = min((float(each[0]) for each in intervals if len(each)), default=(high - low) * _KEY_STEP)
        step = max(step, _KEY_STEP * (high - low) / _SHIFT_STEPS)
        many = _SHIFT_STEPS if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        start = self.cursor_s if self.cursor_s is not None else (low + high) / 2
        self.set_cursor(start + direction * step * many)
        if self.cursor_s is not None:
            self.time_clicked.emit(self.cursor_s)
        event.accept()

    # ---- colours ----

    def recolour(self) -> None:
        """Draws everything in the colours of the theme."""
        tokens = current_tokens()
        self.setBackground(tokens.base)
        for plot in self.plots:
            plot.recolour()
        self.grid.recolour(tokens)
        self.cursors.recolour(tokens)
        self.forks.recolour(tokens)
        self._draw_cursor()

    def _on_theme(self, _tokens: Tokens) -> None:
        # The theme may change while a stack is deleted and its items no longer exist.
        if all(isValid(plot.item) for plot in self.plots):
            self.recolour()

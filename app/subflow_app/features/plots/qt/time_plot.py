"""Plot over time: curves, marks, the crosshair, and areas around combined curves.

An area shows the interval of a mean, or a range between percentiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath

from subflow_app.features.plots.core import Band, Curve, PlotSpec, Ticks
from subflow_app.features.plots.qt.curve_id import CurveId, curve_id
from subflow_app.features.plots.qt.curve_item import TraceCurve, make_pen
from subflow_app.features.plots.qt.stacked_plot import INNER_AXIS_HEIGHT, INNER_AXIS_WIDTH, StackedPlot, make_crosshair
from subflow_app.features.traces.core.traces import TraceMark
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.plotting.plot_parts import HEIGHTS, LINE_KINDS, EventTicks, Span, TimeViewBox
from subflow_app.toolkit.theme import current_tokens
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr

# Opacity of each area; overlapping areas add up.
_OPACITY = 0.20


class BandItem(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph is untyped
    """All areas around one curve."""

    def __init__(self, scale: float) -> None:
        """``scale`` converts SI values to the unit of the axis."""
        super().__init__()
        self._scale = scale
        self._colour = QColor(Qt.GlobalColor.transparent)
        self._log = False
        self._time_s: NDArray[np.float64] = np.empty(0)
        self._bands: tuple[Band, ...] = ()
        self._paths: list[QPainterPath] | None = None
        self._bounds = QRectF()

    def feed(self, time_s: NDArray[np.float64], bands: Sequence[Band]) -> None:
        if not bands and not self._bands:
            return
        self._time_s, self._bands = time_s, tuple(bands)
        self._renew()

    def set_colour(self, colour: str) -> None:
        """Sets the colour of the curve, ``#rrggbb``."""
        self._colour = QColor(colour)
        self._colour.setAlphaF(_OPACITY)
        self.update()

    def set_log(self, is_log: bool) -> None:
        """Switches to a logarithmic or linear axis.

        On a logarithmic axis, a lower edge at or below zero is drawn at the lowest positive value of the upper edge.
        """
        self._log = is_log
        self._renew()

    def edges(self) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Lower and upper edges of each area on the value axis, float64 [n]; NaN for unknown values."""
        found = []
        for band in self._bands:
            low, high = (edge.astype(np.float64) * self._scale for edge in (band.low, band.high))
            if self._log:
                lowest = np.nanmin(high, where=high > 0, initial=np.inf)
                high = np.log10(np.where(high > 0, high, np.nan))
                low = np.log10(np.where(low > 0, low, lowest if np.isfinite(lowest) else np.nan))
            found.append((low, high))
        return found

    def _renew(self) -> None:
        self.prepareGeometryChange()
        self._paths = None
        edges = [np.concatenate(pair) for pair in self.edges()]
        values = np.concatenate(edges) if edges else np.empty(0)
        known = values[np.isfinite(values)]
        self._bounds = QRectF()
        if len(known) and len(self._time_s):
            width = float(self._time_s[-1] - self._time_s[0])
            self._bounds = QRectF(
                float(self._time_s[0]), float(known.min()), max(width, 1e-12), max(float(np.ptp(known)), 1e-12)
            )
        self.informViewBoundsChanged()
        self.update()

    def implements(self, interface: str | None = None) -> object:
        """Declares to pyqtgraph that the item has bounds."""
        return ["plotData"] if interface is None else interface == "plotData"

    def dataBounds(self, axis: int, _share: float = 1.0, **kwargs: Any) -> tuple[float, float] | None:
        """Range of times (axis 0) or of values (axis 1), the latter within the times ``orthoRange`` if given.

        None if no value is finite.
        """
        if self._bounds.isNull():
            return None
        if axis == 0:
            return self._bounds.left(), self._bounds.right()
        first, last = 0, len(self._time_s)
        if kwargs.get("orthoRange") is not None:
            first, last = (int(place) for place in np.searchsorted(self._time_s, kwargs["orthoRange"]))
        values = np.concatenate([edge[first:last] for pair in self.edges() for edge in pair])
        known = values[np.isfinite(values)]
        return (float(known.min()), float(known.max())) if len(known) else None

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(self, painter: QPainter, *_args: Any) -> None:
        if self._paths is None:
            self._paths = [_area(self._time_s, low, high) for low, high in self.edges()]
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        for path in self._paths:
            painter.drawPath(path)


def _area(time_s: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> QPainterPath:
    """The area between two edges, with gaps where either edge is NaN."""
    count = min(len(time_s), len(low), len(high))
    known = np.isfinite(low[:count]) & np.isfinite(high[:count])
    path = QPainterPath()
    breaks = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(np.int8)))
    for first, end in zip(breaks[::2], breaks[1::2], strict=True):
        x = np.concatenate([time_s[first:end], time_s[first:end][::-1]])
        y = np.concatenate([high[first:end], low[first:end][::-1]])
        path.addPath(cast("QPainterPath", pg.arrayToQPath(x, y, connect="all")))
        path.closeSubpath()
    return path


# Ticks of events appear only in the plot of the congestion window.
_TICKED_PLOT = "cwnd"
_TICK_ALPHA = 150
# A click selects a curve by its samples within this horizontal distance, px, so that clicks can hit steep flanks.
_REACH_PX = 4.0
# Lowest visible value; slightly below zero, because pyqtgraph drops a tick that rounding moves outside the view.
_FLOOR = -1e-6
_LOG_FLOOR = -300.0
_LOWEST = -1e300


class TimePlot(StackedPlot):
    """Plot of curves over time."""

    def __init__(self, spec: PlotSpec, font: QFont) -> None:
        """Creates an empty plot; see :class:`StackedPlot`."""
        super().__init__(spec, TimeViewBox(), font, over_time=True)
        self.curves: dict[CurveId, TraceCurve] = {}
        self._bands: dict[CurveId, BandItem] = {}
        self._latest: dict[CurveId, Curve] = {}
        self.ticks: dict[tuple[CurveId, str], EventTicks] = {}
        self.lines: list[Any] = []
        self._mark_counts: list[int] = []  # number of drawn marks by run
        self._spare_curves: list[TraceCurve] = []
        self._pointed: TraceCurve | None = None  # curve of the highlighted flow, one of many behind a median
        self._flow: Curve | None = None  # data of the highlighted flow
        self._flow_value = math.nan  # value at the mouse, in the unit of the axis
        self._spare_ticks: list[EventTicks] = []
        self._log = False
        self._is_antialiased = False
        self.crosshair: Any = make_crosshair()
        self.pin: Any = make_crosshair()  # the line that `set_pin` moves; a caller may make it draggable
        self._dots: Any = pg.ScatterPlotItem(size=6, pxMode=True)
        for item in (self.pin, self.crosshair, self._dots):
            item.setZValue(20)
            self.item.addItem(item, ignoreBounds=True)
        self._reach = _Reach(spec)
        # Added to the view, because the plot item would treat it as a curve.
        self.view.addItem(self._reach)
        self._limit_values(is_log=False)

    def stand_beside(self, leader: TimePlot) -> None:
        """Shares the value axis of the leftmost plot, which shows the numbers."""
        self.view.share_values(leader.view)
        axis = self.item.getAxis("left")
        axis.showLabel(False)
        axis.setStyle(showValues=False)
        axis.setWidth(INNER_AXIS_WIDTH)

    def show_time_axis(self, is_shown: bool) -> None:
        """Shows or hides the times along the time axis, which only the lowest plot shows."""
        axis = self.item.getAxis("bottom")
        axis.unit = tr("s")
        axis.showLabel(False)
        axis.setStyle(showValues=is_shown)
        axis.setHeight(self.axis_height if is_shown else INNER_AXIS_HEIGHT)

    def set_duration(self, duration_s: float) -> None:
        """Limits zoom and pan to the duration of the runs, s, with a margin of 5 % on both sides."""
        margin = 0.05 * duration_s
        self.view.setLimits(
            xMin=-margin, xMax=duration_s + margin, minXRange=duration_s * 1e-5, maxXRange=duration_s + 2 * margin
        )

    # ---- curves ----

    def feed(self, curves: Iterable[Curve]) -> None:
        """Adds new curves, and updates the samples of existing ones."""
        for curve in curves:
            key = curve_id(curve)
            item = self.curves.get(key)
            if item is None:
                item = self.curves[key] = self._spare_curves.pop() if self._spare_curves else self._make_curve()
                item.setVisible(key not in self._hidden)
                self._set_pen(item, curve)
                # Totals are drawn below the subflows, which they would otherwise cover.
                item.setZValue(-1 if curve.is_ghost else 0 if curve.kind == "total" else 1)
                item.set_log(self._log)
                item.set_antialiased(self._is_antialiased)
            self._latest[key] = curve
            item.feed(curve)
            if curve.bands:
                self._feed_bands(key, curve)
        self._update_title()

    def _feed_bands(self, key: CurveId, curve: Curve) -> None:
        bands = self._bands.get(key)
        if bands is None:
            bands = self._bands[key] = BandItem(self.spec.scale)
            bands.set_colour(self._hex(curve.colour).name())
            bands.set_log(self._log)
            bands.setVisible(key not in self._hidden)
            bands.setZValue(-10)
            # Added to the view, because the plot item would treat it as a curve.
            self.view.addItem(bands)
        bands.feed(curve.time_s, curve.bands)

    def _notes(self) -> list[Span]:
        """Notes on averaged lines, areas, and the flow near the mouse."""
        curves = list(self._latest.values())
        notes = []
        bin_s = next((curve.bin_s for curve in curves if curve.bin_s), 0.0)
        if bin_s:
            notes.append(tr("mean of {time} s", time=fmt.number(bin_s)))
        if any(len(curve.bands) == 1 for curve in curves):
            notes.append(tr("area: 95 % interval of the mean"))
        if any(len(curve.bands) > 1 for curve in curves):
            notes.append(tr("areas: 10 to 90 % and 25 to 75 % of the flows"))
        spans = [Span(f"  · {note}", current_tokens().muted_text) for note in notes]
        if self._flow is not None:
            value = "" if math.isnan(self._flow_value) else f" {fmt.number(self._flow_value)}"
            spans.append(Span(f"  {self._flow.label}{value}", current_tokens().text, bold=True))
        return spans

    def set_antialiased(self, is_on: bool) -> None:
        self._is_antialiased = is_on
        for item in self.curves.values():
            item.set_antialiased(is_on)

    def point_at(self, curve: Curve | None, time_s: float = math.nan) -> None:
        """Highlights one of the flows that a median represents, by drawing its curve on top of all others.

        The title shows the name of the flow and its value at this time, s. None removes the highlight.
        """
        if self._pointed is None:
            if curve is None:
                return
            self._pointed = TraceCurve(self.spec.scale)
            self._pointed.setZValue(10)
            self._pointed.set_antialiased(True)
            self.item.addItem(self._pointed, ignoreBounds=True)
        self._pointed.forget()
        if curve is not None:
            self._pointed.setPen(make_pen(current_tokens().text, width=self._line_width))
            self._pointed.set_log(self._log)
            self._pointed.feed(curve)
            self._pointed.show()
        self._flow = curve
        self._flow_value = math.nan if curve is None or math.isnan(time_s) else self._pointed.value_at(time_s)
        self._update_title()

    def is_pointed_at(self, position: QPointF, reach_px: float) -> bool:
        """True if the highlighted curve is within reach of a position of the scene."""
        if self._pointed is None or not self._pointed.isVisible():
            return False
        return self._distance_px(self._pointed, position) <= reach_px

    def _make_curve(self) -> TraceCurve:
        item = TraceCurve(self.spec.scale)
        self.item.addItem(item)
        return item

    def clear(self) -> None:
        """Removes all curves and marks."""
        self.clear_marks()
        for item in self.curves.values():
            item.forget()
        # Kept for the next run, because creating items is slow, and destroying hundreds takes half a second.
        self._spare_curves += self.curves.values()
        self.curves.clear()
        for bands in self._bands.values():
            self.view.removeItem(bands)
        self._bands.clear()
        self._latest.clear()
        self.point_at(None)
        self.set_cursor(None)

    def set_hidden(self, hidden: frozenset[CurveId]) -> None:
        """Hides these curves with their marks, and shows all others."""
        super().set_hidden(hidden)
        for key, item in self.curves.items():
            item.setVisible(key not in hidden)
        for key, bands in self._bands.items():
            bands.setVisible(key not in hidden)
        for (key, _kind), ticks in self.ticks.items():
            ticks.setVisible(key not in hidden)
        # pyqtgraph fits visible curves only, but does not notice changes of visibility.
        if self.view.is_fitting_values:
            self.view.fit_now()

    def shown_curves(self) -> list[Curve]:
        """The visible curves, with their drawn samples."""
        return [curve for key, curve in self._latest.items() if key not in self._hidden]

    def shown_ticks(self) -> list[Ticks]:
        """Ticks of the events of visible curves, and changes of links or controllers as lines."""
        found = [
            Ticks(ticks.times, HEIGHTS[kind], self._latest[key].colour)
            for (key, kind), ticks in self.ticks.items()
            if key in self._latest and key not in self._hidden
        ]
        return [*found, Ticks(np.array([float(line.value()) for line in self.lines]))]

    def curve_at(self, position: QPointF) -> tuple[CurveId, float] | None:
        """The visible curve at the smallest vertical distance from a position of the scene, and this distance in px."""
        found: tuple[CurveId, float] | None = None
        for key, item in self.curves.items():
            distance = self._distance_px(item, position) if key not in self._hidden else math.inf
            if distance < (math.inf if found is None else found[1]):
                found = key, distance
        return found

    def _distance_px(self, item: TraceCurve, position: QPointF) -> float:
        """Vertical distance of a curve from a position of the scene, px; infinite if the curve has no samples there."""
        at = self.view.mapSceneToView(position)
        width_s, height = self.view.viewPixelSize()
        low, high = item.range_near(float(at.x()), _REACH_PX * width_s)
        if np.isnan(low) or height <= 0:
            return math.inf
        return float(max(low - at.y(), at.y() - high, 0.0) / height)

    def painting(self) -> Iterator[None]:
        """Prepares the next painting of the curves in small steps, so that the painting itself is fast."""
        shown = [item for key, item in self.curves.items() if key not in self._hidden]
        if self.view.is_fitting_values:
            # The view will call this method with the same arguments, and find the bounds in the cache.
            for item in shown:
                item.dataBounds(ax=1, frac=1.0, orthoRange=self.view.viewRange()[0])
                yield
        self.view.prepareForPaint()
        yield
        for item in shown:
            item.curve.boundingRect()
            item.curve.getPath()
            yield

    # ---- axes ----

    def set_log(self, is_log: bool) -> None:
        """Switches to a logarithmic or linear scale."""
        self._log = is_log
        self._limit_values(is_log=is_log)
        self._reach.setVisible(not is_log)
        self.item.setLogMode(False, is_log)
        for item in self.curves.values():
            item.set_log(is_log)
        for bands in self._bands.values():
            bands.set_log(is_log)
        self.fit_values()

    def _limit_values(self, *, is_log: bool) -> None:
        # A linear axis can end at zero; on a logarithmic axis, zero is infinitely far down.
        floor = _LOWEST if self.spec.is_signed else _FLOOR
        self.view.setLimits(yMin=_LOG_FLOOR if is_log else floor)

    def fit_values(self) -> None:
        """Lets the value axis follow the curves again."""
        self.view.fit_values()

    # ---- marks ----

    def set_marks(
        self, marks_by_run: Sequence[Sequence[TraceMark]], colours: Mapping[CurveId, palette.ColourKey]
    ) -> None:
        """Draws events of subflows as ticks, and changes of links or controllers as lines.

        Further calls for the same runs draw only marks added since the last call.
        """
        for _ in self.marking(marks_by_run, colours):
            pass

    def marking(
        self, marks_by_run: Sequence[Sequence[TraceMark]], colours: Mapping[CurveId, palette.ColourKey]
    ) -> Iterator[None]:
        """Draws the marks in small steps, which may run in later turns of the event loop."""
        if len(self._mark_counts) != len(marks_by_run):
            self.clear_marks()
            self._mark_counts = [0] * len(marks_by_run)
        counts = self._mark_counts
        new: dict[tuple[CurveId, str], list[float]] = {}
        line_times: set[float] = set()
        for run, marks in enumerate(marks_by_run):
            if not self.has_run(run):
                continue
            for mark in marks[self._mark_counts[run] :]:
                if mark.kind in LINE_KINDS:
                    line_times.add(mark.time_s)
                elif mark.kind in HEIGHTS and self.spec.id == _TICKED_PLOT:
                    new.setdefault((CurveId(run, mark.owner, "subflow"), mark.kind), []).append(mark.time_s)
            self._mark_counts[run] = len(marks)
        for key, times in new.items():
            yield
            if self._mark_counts is not counts:
                return  # the marks were cleared meanwhile
            if key[0] not in colours:
                continue
            ticks = self.ticks.get(key)
            if ticks is None:
                ticks = self.ticks[key] = self._spare_ticks.pop() if self._spare_ticks else self._make_ticks()
                ticks.set_height(HEIGHTS[key[1]])
                ticks.set_pen(self._tick_pen(colours[key[0]]))
                ticks.setVisible(key[0] not in self._hidden)
            ticks.set_times(np.append(ticks.times, times))
        for at_s in sorted(line_times - {float(line.value()) for line in self.lines}):
            line = pg.InfiniteLine(at_s, angle=90, movable=False, pen=self._line_pen())
            line.setZValue(-20)
            self.lines.append(line)
            self.item.addItem(line, ignoreBounds=True)

    def _make_ticks(self) -> EventTicks:
        ticks = EventTicks()
        self.item.addItem(ticks, ignoreBounds=True)
        return ticks

    def clear_marks(self) -> None:
        for ticks in self.ticks.values():
            ticks.hide()
            ticks.set_times(np.empty(0))
        self._spare_ticks += self.ticks.values()
        self.ticks.clear()
        for line in self.lines:
            self.item.removeItem(line)
        self.lines.clear()
        self._mark_counts = []

    def mark_times(self, key: CurveId, kind: str) -> list[float]:
        """Times of the ticks of a curve, s; empty while marks are hidden."""
        ticks = self.ticks.get((key, kind))
        return [] if ticks is None else [float(time) for time in ticks.times]

    def _set_pen(self, item: TraceCurve, curve: Curve) -> None:
        pen = self._pen_of(curve)
        item.setPen(pen)
        # Qt draws a self-crossing wide smooth line thirty times slower as a whole than in segments.
        is_in_pieces = pen.widthF() > 1.0 and pen.style() == Qt.PenStyle.SolidLine
        item.curve.setSegmentedLineMode("on" if is_in_pieces else "auto")

    def _tick_pen(self, colour: palette.ColourKey) -> Any:
        shown = self._hex(colour)
        shown.setAlpha(_TICK_ALPHA)
        return make_pen(shown.name(QColor.NameFormat.HexArgb), width=self._line_width)

    def _line_pen(self) -> Any:
        return make_pen(current_tokens().muted_text, (2.0, 4.0), self._line_width)

    # ---- crosshair ----

    def set_cursor(self, time_s: float | None) -> None:
        """Moves the crosshair and a dot on every visible curve to this time; None hides them."""
        self.crosshair.setVisible(time_s is not None)
        if time_s is None:
            self._dots.clear()
            return
        self.crosshair.setValue(time_s)
        spots = []
        for key, item in self.curves.items():
            value = item.value_at(time_s)
            if key in self._hidden or not np.isfinite(value) or (self._log and value <= 0):
                continue
            y = float(np.log10(value)) if self._log else value
            spots.append({"pos": (time_s, y), "brush": self._hex(self._latest[key].colour), "pen": None})
        self._dots.setData(spots=spots)

    def set_pin(self, time_s: float | None) -> None:
        """Draws the pinned line at this time; None hides it."""
        self.pin.setVisible(time_s is not None)
        if time_s is not None:
            self.pin.setValue(time_s)

    def values_at(self, time_s: float | None) -> dict[CurveId, float]:
        """Values of all curves at a time, s, or the latest values for None, in the unit of the axis; NaN if unknown."""
        return {
            key: item.last_value() if time_s is None else item.value_at(time_s) for key, item in self.curves.items()
        }

    # ---- colours ----

    def recolour(self) -> None:
        """Draws everything in the colours of the theme."""
        super().recolour()
        for key, curve in self._latest.items():
            self._set_pen(self.curves[key], curve)
            if key in self._bands:
                self._bands[key].set_colour(self._hex(curve.colour).name())
        for (key, _kind), ticks in self.ticks.items():
            if key in self._latest:
                ticks.set_pen(self._tick_pen(self._latest[key].colour))
        for line in self.lines:
            line.setPen(self._line_pen())
        self.crosshair.setPen(make_pen(current_tokens().muted_text))
        self.pin.setPen(make_pen(current_tokens().accent))


def plot_row(spec: PlotSpec, runs: Sequence[frozenset[int]], font: QFont) -> list[TimePlot]:
    """One plot for each of these sets of runs, side by side with a common value axis.

    If no sets are given, one plot shows all runs.
    """
    row = [TimePlot(spec, font) for _ in runs or (None,)]
    for plot, shown in zip(row, runs, strict=False):
        plot.runs = shown
    for plot in row[1:]:
        plot.stand_beside(row[0])
    return row


class _Reach(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph is untyped
    """Invisible item that extends the value axis to zero and the ceiling of the plot."""

    def __init__(self, spec: PlotSpec) -> None:
        super().__init__()
        self._bounds = None
        if spec.from_zero or spec.ceiling is not None:
            self._bounds = (0.0, (spec.ceiling or 0.0) * spec.scale)

    def implements(self, interface: str | None = None) -> object:
        """Declares to pyqtgraph that the item has bounds."""
        return ["plotData"] if interface is None else interface == "plotData"

    def dataBounds(self, axis: int, **_kwargs: object) -> tuple[float, float] | None:
        """Range of values for axis 1; None for axis 0, because the item has no times."""
        return self._bounds if axis == 1 else None

    def boundingRect(self) -> QRectF:
        return QRectF()

    def paint(self, *_args: object) -> None:
        """Draws nothing."""

"""Pictures of a sweep with two axes: marks with intervals, lines with bands, boxes; on screen and as a file.

They are read by mouse and keys. Axes have room for numbers or names, and short numbers where all are nearly the same.
The legend has a sample and the name of each series, in rows above the plot.

A file shows the same picture, but light and in the font of figures, for print.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import (
    QGraphicsLineItem,
    QGraphicsRectItem,
    QGraphicsWidget,
    QStyleOptionGraphicsItem,
    QToolTip,
    QWidget,
)

from subflow_app.features.paper.core.figure_plan import figure_kind
from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.figure_file import FigureSize, paper_font, picture_content
from subflow_app.features.plots.qt.stacked_plot import colour_axes, label_style, make_plot_item, show_bottom_axis
from subflow_app.features.sweeps.core.views.view import Box, Hit, Marks, Picture, PictureAxis, SweepView
from subflow_app.foundation.files import write_file
from subflow_app.toolkit.plotting.plot_parts import Axis, PlotViewBox
from subflow_app.toolkit.theme import LIGHT, Tokens
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.palette import ColourKey
from subflow_app.vocabulary.picture import interval_ends

# Numbers of more digits than these are told as their difference from a round one, which the title names.
_MOST_DIGITS = 5
_TICK_ROOM = 12.0  # of the tick and the gaps beside its number, px
_NAME_GAP = 8.0  # between two names, px
_LEAST_NAME = "www…"  # names of which less than this is left tell nothing


class StudyAxis(Axis):
    """An axis whose owner tells it which stretch it shows."""

    def __init__(self, orientation: str, **arguments: Any) -> None:
        """Without a title."""
        super().__init__(orientation, **arguments)
        self.title = ""
        self.tick_font = QFont()
        self.start = 0.0  # what numbers count from
        self._names: tuple[str, ...] = ()  # of the places 0, 1, 2 ...; empty: it has numbers
        self._names_can_be_cut = False
        self._decimals = 0

    def set_names(self, names: Sequence[str], *, can_be_cut: bool = False) -> None:
        """Names for the places 0, 1, 2 ... in the place of numbers.

        Args:
            names: in order; none: numbers again.
            can_be_cut: whether a part of one says something still, as that of a word does and that of a number does
                not; where they have no room each, the others are told one in two, three ...
        """
        self._names, self._names_can_be_cut = tuple(names), can_be_cut
        if not names:
            self.setTicks(None)

    def shown_names(self) -> list[str]:
        """The names that stand along it now."""
        return [text for _place, text in self._tickLevels[0]] if self._names and self._tickLevels else []

    def show_range(self, low: float, high: float) -> None:
        """Makes room for the numbers between two values, and chooses what they count from."""
        view = self.linkedView()
        size = view.height() if self.orientation == "left" else view.width()
        if self._names:
            if size > 0 and high > low:
                self._show_names(size / (high - low))
            return
        has_numbers = self._tickLevels is None and not self.logMode and size > 0 and high > low
        start = start_of(low, high) if has_numbers else 0.0
        if start != self.start:
            self.start = start
            self.setLabel(self.title if start == 0 else f"{self.title} − {start:.10g}", **self.labelStyle)
            self.picture = None
        if not has_numbers:
            return
        levels = self.tickValues(low, high, size)[: self.style["maxTickLevel"] + 1]
        finest = min((spacing for spacing, _values in levels), default=1.0)
        self._decimals = max(0, -math.floor(math.log10(finest) + 1e-9))
        if self.orientation != "left":
            return
        metrics = QFontMetricsF(self.tick_font)
        texts = [text for spacing, values in levels for text in self.tickStrings(values, 1.0, spacing)]
        widest = max(map(metrics.horizontalAdvance, texts), default=0.0)
        self.setWidth(math.ceil(widest + metrics.height() + _TICK_ROOM))

    def _show_names(self, room: float) -> None:
        """Shows as much of the names as fits, with so much room for each, px."""
        metrics = QFontMetricsF(self.tick_font)
        texts = list(self._names)
        if self.orientation == "left":
            needed = metrics.height()
        else:
            needed = max(map(metrics.horizontalAdvance, texts)) + _NAME_GAP
            if needed > room and self._names_can_be_cut and room - _NAME_GAP >= metrics.horizontalAdvance(_LEAST_NAME):
                texts = [metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, room - _NAME_GAP) for text in texts]
                needed = room
        ticks = [list(enumerate(texts))[:: math.ceil(needed / room - 1e-6)]]
        if ticks != self._tickLevels:
            self.setTicks(ticks)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float | None) -> list[str]:
        """Numbers of the ticks, all with as many decimals."""
        if self.logMode or spacing is None:
            logarithmic: list[str] = super().tickStrings(values, scale, spacing)
            return logarithmic
        return [f"{value - self.start:.{self._decimals}f}" for value in values]


def start_of(low: float, high: float) -> float:
    """What numbers between two values count from: 0 if they are short anyway, else a round one below them.

    >>> start_of(9.6521, 9.6527)
    9.652
    """
    greatest = max(abs(low), abs(high))
    # About as far apart as the ticks, of which there are five or so.
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    if greatest < step * 10.0**_MOST_DIGITS:
        return 0.0
    round_step = 10.0 ** math.ceil(math.log10(high - low))
    return round(math.floor(low / round_step) * round_step, 12)


_SAMPLE = 18.0
_GAP = 6.0
_BETWEEN = 20.0
_LINE_SPACING = 1.4
_LEFT = 10.0


class StripEntry(NamedTuple):
    """A name, the colour of its series and the shape of its marks as pyqtgraph names it; empty: a line."""

    text: str
    colour: str
    symbol: str


class SeriesStrip(QGraphicsWidget):
    """Entries beside each other, in as many rows as the width asks for."""

    def __init__(self, font: QFont) -> None:
        """An empty strip."""
        super().__init__()
        self.setFont(font)
        self.entries: tuple[StripEntry, ...] = ()
        self._title = ""
        self._colour = "#000000"

    def show_entries(self, title: str, entries: Sequence[StripEntry], colour: str) -> None:
        """Shows others; ``title`` says what they are values of, ``colour`` is that of the names."""
        self._title, self.entries, self._colour = title, tuple(entries), colour
        self._take_height()
        self.update()

    def resizeEvent(self, event: object) -> None:
        """Wraps to the new width."""
        super().resizeEvent(event)  # type: ignore[arg-type] # the stub knows its own event alone
        self._take_height()

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Draws samples and names."""
        metrics = QFontMetricsF(self.font())
        painter.setFont(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lift = (metrics.ascent() - metrics.descent()) / 2
        for place, text, entry in self._placed():
            middle = place.y() + self._line / 2
            x = place.x()
            if entry is not None:
                _draw_sample(painter, QPointF(x + _SAMPLE / 2, middle), entry)
                x += _SAMPLE + _GAP
            painter.setPen(QColor(self._colour))
            painter.drawText(QPointF(x, middle + lift), text)

    @property
    def _line(self) -> float:
        return QFontMetricsF(self.font()).height() * _LINE_SPACING

    def _placed(self) -> list[tuple[QPointF, str, StripEntry | None]]:
        metrics = QFontMetricsF(self.font())
        cells: list[tuple[str, StripEntry | None, float]] = []
        if self._title:
            cells.append((self._title, None, metrics.horizontalAdvance(self._title)))
        for entry in self.entries:
            cells.append((entry.text, entry, metrics.horizontalAdvance(entry.text) + _SAMPLE + _GAP))
        placed = []
        x, y = _LEFT, 0.0
        for text, drawn, width in cells:
            if x > _LEFT and x + width > self.size().width():
                x, y = _LEFT, y + self._line
            placed.append((QPointF(x, y), text, drawn))
            x += width + _BETWEEN
        return placed

    def _take_height(self) -> None:
        placed = self._placed() if self.entries else []
        height = placed[-1][0].y() + self._line if placed else 0.0
        if height != self.maximumHeight():
            self.setMinimumHeight(height)
            self.setMaximumHeight(height)
            self.setPreferredSize(QSizeF(100.0, height))
        self.setVisible(height > 0)


def _draw_sample(painter: QPainter, middle: QPointF, entry: StripEntry) -> None:
    painter.save()
    painter.translate(middle)
    if entry.symbol:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(entry.colour))
        painter.scale(_SAMPLE * 0.55, _SAMPLE * 0.55)
        painter.drawPath(pg.graphicsItems.ScatterPlotItem.Symbols[entry.symbol])
    else:
        painter.setPen(QPen(QColor(entry.colour), 2.0))
        painter.drawLine(QPointF(-_SAMPLE / 2, 0.0), QPointF(_SAMPLE / 2, 0.0))
    painter.restore()


SYMBOLS = ("o", "s", "t1", "d", "star", "p", "t", "h", "x", "+")
"""Shapes of marks, by series: colour alone tells them apart for most people only."""

_REACH_PX = 14.0
_CLICK_PX = 5.0
_RING = 16.0
_MARK, _MARK_OF_LINE = 11, 7
_DOT, _OUTLIER = 5, 7
_BAND_ALPHA, _BOX_ALPHA, _CROSS_ALPHA = 50, 70, 150
_ARROW = 26
_MARGIN = 10


class StudyPlot(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph is untyped
    """One picture."""

    hovered = Signal(str)  # what is said about what is pointed at; empty: nothing
    chosen = Signal(object)  # Hit that was clicked, or that the keys are on
    opened = Signal(object)  # Hit that was double-clicked, or entered

    zooms = True
    content: Picture | None = None  # what is shown; pyqtgraph resizes a widget before it is made

    def __init__(
        self, shown: SweepView, tokens: Tokens, font: QFont | None = None, parent: QWidget | None = None
    ) -> None:
        """An empty picture of a view."""
        super().__init__(parent)
        self._shown = shown
        named(self, f"sweep_{shown.key}", tr(shown.words))
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._tokens = tokens
        self._font = QFont(font or self.font())
        self.line_width = 1.0
        self._hits: list[Hit] = []
        self._current: int | None = None
        self._pressed: QPointF | None = None
        self._is_zoomed = False
        self.strip = SeriesStrip(self._font)
        self.view = PlotViewBox()
        self.item: Any = make_plot_item(self.view, self._font, over_time=False, axis=StudyAxis)
        for side in ("left", "bottom"):
            self.item.getAxis(side).tick_font = self._font
        show_bottom_axis(self.item, " ", self._font)
        self.addItem(self.strip, 0, 0)
        self.addItem(self.item, 1, 0)
        self.ci.layout.setContentsMargins(4, 6, 12, 4)
        self.ci.layout.setSpacing(2)
        self._drawn: list[Any] = []
        self._ring: Any = pg.ScatterPlotItem(size=_RING, symbol="o", brush=None, pxMode=True)
        self._ring.setZValue(50)
        self.item.addItem(self._ring, ignoreBounds=True)
        # It stands in the corner of the view, whatever that shows.
        self._arrow = pg.ArrowItem(angle=135, headLen=12, headWidth=10, tailLen=14, tailWidth=3, pxMode=True)
        self._better = pg.LabelItem(tr("better"))
        self._arrow.setParentItem(self.view)
        self._better.setParentItem(self.view)
        self.view.reset_requested.connect(self.fit)
        self.view.sigRangeChangedManually.connect(self._on_zoomed)
        self.view.sigResized.connect(self._on_resized)
        self.view.sigRangeChanged.connect(lambda _view, _ranges: self._make_room())

    # ---- content ----

    def show_content(self, content: Picture) -> None:
        """Shows this; all of it, unless a person has zoomed into the same axes."""
        self.content = content
        self._current = None
        before = self.titles()
        self.redraw()
        if not self._is_zoomed or self.titles() != before:
            self.fit()

    def redraw(self) -> None:
        """Draws everything anew in the present colours."""
        for item in self._drawn:
            self.item.removeItem(item)
        self._drawn.clear()
        self._hits = []
        self.setBackground(self._tokens.base)
        if self.content is not None:
            self._draw(self.content)
        # Titles get the colour that the numbers have when that is set.
        colour_axes(self.item, self._tokens, line_width=self.line_width)
        self._make_room()
        self._mark()

    def fit(self) -> None:
        """Shows all of it."""
        self._is_zoomed = False
        self.view.autoRange(padding=0.06)
        low, high = self.view.viewRange()[1]
        if self.content is not None and high - low < self.content.y.least:
            middle, half = (low + high) / 2, self.content.y.least / 2
            self.view.setYRange(middle - half, middle + half, padding=0.0)
        if self.content is not None and self.content.x.names:
            self.view.setXRange(-0.6, len(self.content.x.names) - 0.4, padding=0.0)

    def titles(self) -> tuple[str, str]:
        """What stands along the plot and up the plot, with units."""
        return self.item.getAxis("bottom").title, self.item.getAxis("left").title

    def _on_resized(self, _view: object) -> None:
        # Marks have a size in pixels: how much room they take beside the values depends on how large the plot is.
        if self.content is not None and not self._is_zoomed:
            self.fit()
        self._make_room()
        self._place_corner()

    def _on_zoomed(self, _mouse_enabled: object) -> None:
        self._is_zoomed = True

    def hits(self) -> list[Hit]:
        """What can be pointed at, in the order of the keys."""
        return list(self._hits)

    def recolour(self, tokens: Tokens) -> None:
        """Recolours everything."""
        self._tokens = tokens
        self.redraw()

    def set_line_width(self, width: float) -> None:
        """Draws wider lines, for a picture of more pixels."""
        self.line_width = width
        self.redraw()

    def draw_on(self, painter: QPainter, target: QRectF) -> None:
        """Draws all of it into an area."""
        self.render(painter, target, self.viewRect().toRect())

    def copy_for(self, tokens: Tokens, font: QFont) -> StudyPlot:
        """Another one of its kind in other colours, empty."""
        return type(self)(self._shown, tokens, font)

    def show_like(self, shown: StudyPlot) -> None:
        """Shows what another one shows, and as much of it."""
        if shown.content is None:
            return
        self.show_content(shown.content)
        if shown._is_zoomed:
            self.view.setRange(rect=shown.view.viewRect(), padding=0.0)

    def _make_room(self) -> None:
        """Room for the numbers beside the title of each axis, and a starting value where they would be too long."""
        for side, (low, high) in zip(("bottom", "left"), self.view.viewRange(), strict=True):
            self.item.getAxis(side).show_range(low, high)

    # ---- drawing ----

    def _draw(self, content: Picture) -> None:
        self.item.setLogMode(content.x.is_log, False)
        self.view.setMouseEnabled(x=self.zooms and not content.boxes, y=self.zooms)
        self.view.invertX(content.x.is_reversed)
        self.view.invertY(content.y.is_reversed)
        self._draw_axis("bottom", content.x)
        self._draw_axis("left", content.y)
        self._hits = [replace(hit, x=float(np.log10(hit.x))) if content.x.is_log else hit for hit in content.hits]
        for marks in content.marks:
            self._draw_intervals(content, marks, np.log10(marks.x) if content.x.is_log else marks.x)
        for marks in content.marks:
            self._draw_marks(marks, np.log10(marks.x) if content.x.is_log else marks.x)
        for box in content.boxes:
            self._draw_box(box)
        self._draw_legend(content)
        for part in (self._arrow, self._better):
            part.setVisible(content.has_better_corner)
        size = f"{QFontInfo(self._font).pixelSize()}px"
        self._better.setText(tr("better"), color=self._tokens.ok, bold=True, size=size)
        self._arrow.setStyle(brush=QColor(self._tokens.ok), pen=make_pen(self._tokens.ok, width=self.line_width))
        self._place_corner()

    def _add(self, item: Any, *, counts: bool = True) -> None:
        """Adds a part; ``counts`` says whether fitting looks at it."""
        self._drawn.append(item)
        self.item.addItem(item, ignoreBounds=not counts)

    def _draw_axis(self, side: str, shown: PictureAxis) -> None:
        axis = self.item.getAxis(side)
        axis.title, axis.start = shown.title, 0.0
        axis.set_names(shown.names, can_be_cut=shown.names_can_be_cut)
        if side == "bottom":
            show_bottom_axis(self.item, shown.title, self._font)
        else:
            axis.setLabel(shown.title, **label_style(self._font))

    def _colour(self, series: int, alpha: int = 255) -> QColor:
        colour = QColor(palette.hex_colour(ColourKey(series, 0), dark=self._tokens.is_dark))
        colour.setAlpha(alpha)
        return colour

    def _draw_intervals(self, content: Picture, marks: Marks, x: Any) -> None:
        """Crosses of marks, in one item (one each would be slow with thousands), or the band around a line."""
        low, high = interval_ends(marks.y, np.nan_to_num(marks.y_halves), is_signed=content.y.is_signed)
        if len(marks.x_halves):
            colour = self._colour(marks.series, _CROSS_ALPHA).name(QColor.NameFormat.HexArgb)
            left, right = interval_ends(marks.x, np.nan_to_num(marks.x_halves), is_signed=content.x.is_signed)
            pen = make_pen(colour, width=1.2 * self.line_width)
            reach = {"left": marks.x - left, "right": right - marks.x, "top": high - marks.y, "bottom": marks.y - low}
            self._add(pg.ErrorBarItem(x=x, y=marks.y, **reach, pen=pen))
        elif (high > low).any():
            # Without a line of their own.
            edges = [pg.PlotCurveItem(x, edge, pen=None) for edge in (high, low)]
            for edge in edges:
                self._add(edge)
            band = pg.FillBetweenItem(*edges, brush=self._colour(marks.series, _BAND_ALPHA))
            band.setZValue(-10)
            self._add(band, counts=False)

    def _draw_marks(self, marks: Marks, x: Any) -> None:
        colour, is_line = self._colour(marks.series), not len(marks.x_halves)
        if is_line:
            pen = make_pen(colour.name(), width=1.5 * self.line_width)
            self._add(pg.PlotCurveItem(x, marks.y, pen=pen, antialias=True))
        rim = make_pen(self._tokens.base, width=1.0 if is_line else self.line_width)
        symbol, size = SYMBOLS[marks.series % len(SYMBOLS)], _MARK_OF_LINE if is_line else _MARK
        self._add(pg.ScatterPlotItem(x, marks.y, size=size, symbol=symbol, brush=colour, pen=rim))

    def _draw_box(self, box: Box) -> None:
        colour = self._colour(box.series)
        pen = make_pen(colour.name(), width=1.3 * self.line_width)
        left, right, cap = box.middle - box.width / 2, box.middle + box.width / 2, box.width / 4
        body = QGraphicsRectItem(QRectF(left, box.q1, box.width, box.q3 - box.q1))
        body.setPen(pen)
        body.setBrush(self._colour(box.series, _BOX_ALPHA))
        self._add(body)
        strong = make_pen(self._tokens.text, width=2.0 * self.line_width)
        strong.setCapStyle(Qt.PenCapStyle.FlatCap)
        for line, its_pen in (
            (QLineF(box.middle, box.low, box.middle, box.q1), pen),
            (QLineF(box.middle, box.q3, box.middle, box.high), pen),
            (QLineF(box.middle - cap, box.low, box.middle + cap, box.low), pen),
            (QLineF(box.middle - cap, box.high, box.middle + cap, box.high), pen),
            (QLineF(left, box.median, right, box.median), strong),
        ):
            part = QGraphicsLineItem(line)
            part.setPen(its_pen)
            self._add(part)
        dots = pg.ScatterPlotItem(
            x=[x for x, _, _ in box.dots],
            y=[y for _, y, _ in box.dots],
            size=[_OUTLIER if is_outlier else _DOT for _, _, is_outlier in box.dots],
            symbol=["d" if is_outlier else "o" for _, _, is_outlier in box.dots],
            pen=make_pen(self._tokens.text, width=self.line_width),
            brush=QColor(self._tokens.base),
        )
        self._add(dots)

    def _draw_legend(self, content: Picture) -> None:
        """The series that are drawn."""
        if content.series is None:
            self.strip.show_entries("", (), self._tokens.text)
            return
        entries = [
            StripEntry(
                content.series.levels[level].text,
                self._colour(level).name(),
                SYMBOLS[level % len(SYMBOLS)] if content.marks else "",
            )
            for level in content.used_series
        ]
        self.strip.show_entries(f"{content.series.key}:", entries, self._tokens.text)

    @property
    def has_better_corner(self) -> bool:
        """Whether the corner that everybody wants is marked."""
        return bool(self._better.isVisible())

    def _place_corner(self) -> None:
        area = self.view.boundingRect()
        words = self._better.boundingRect()
        self._arrow.setPos(area.right() - _MARGIN, area.top() + _MARGIN)
        self._better.setPos(area.right() - _MARGIN - _ARROW - words.width(), area.top() + _MARGIN)

    # ---- reading and choosing ----

    def hit_at(self, position: QPointF) -> Hit | None:
        """What is at a place of the widget; the nearest one within reach."""
        at = self.view.mapSceneToView(self.mapToScene(position.toPoint()))
        width, height = self.view.viewPixelSize()
        if width <= 0 or height <= 0 or not self._hits:
            return None
        nearest = min(self._hits, key=lambda hit: ((hit.x - at.x()) / width) ** 2 + ((hit.y - at.y()) / height) ** 2)
        distance = ((nearest.x - at.x()) / width) ** 2 + ((nearest.y - at.y()) / height) ** 2
        return nearest if distance <= _REACH_PX**2 else None

    def position_of(self, hit: Hit) -> QPointF:
        """Where something stands in the widget."""
        return QPointF(self.mapFromScene(self.view.mapViewToScene(QPointF(hit.x, hit.y))))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Remembers where, to tell a click from a drag."""
        self._pressed = event.position() if event.button() == Qt.MouseButton.LeftButton else None
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Chooses what was clicked."""
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        if pressed is None or (event.position() - pressed).manhattanLength() > _CLICK_PX:
            return
        hit = self.hit_at(event.position())
        if hit is not None:
            self._go_to(self._hits.index(hit))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Opens what is there; beside everything, shows all."""
        hit = self.hit_at(event.position())
        if hit is not None and event.button() == Qt.MouseButton.LeftButton:
            self.opened.emit(hit)
        else:
            super().mouseDoubleClickEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Says what is pointed at."""
        super().mouseMoveEvent(event)
        if event.buttons() == Qt.MouseButton.NoButton:
            hit = self.hit_at(event.position())
            QToolTip.showText(event.globalPosition().toPoint(), hit.text if hit is not None else "", self)
            self.hovered.emit(hit.text if hit is not None else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Goes from one thing to the next, and opens it."""
        steps = {Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1, Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1}
        step = steps.get(Qt.Key(event.key()))
        if step is not None and self._hits:
            self._go_to(((-1 if step > 0 else 0) if self._current is None else self._current) + step)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current is not None:
            self.opened.emit(self._hits[self._current])
        else:
            super().keyPressEvent(event)

    def _go_to(self, number: int) -> None:
        self._current = number % len(self._hits)
        self._mark()
        hit = self._hits[self._current]
        self.hovered.emit(hit.text)
        self.chosen.emit(hit)

    def _mark(self) -> None:
        self._ring.setPen(make_pen(self._tokens.accent, width=2.0 * self.line_width))
        hit = None if self._current is None or self._current >= len(self._hits) else self._hits[self._current]
        self._ring.setData([] if hit is None else [hit.x], [] if hit is None else [hit.y])


CHART_SIZE = FigureSize(170.0, 105.0)


def save_chart(shown: StudyPlot, path: Path, size: FigureSize = CHART_SIZE) -> None:
    """Writes what a chart shows.

    Args:
        shown: the chart of the window; what is zoomed there is so in the file.
        path: its suffix says the format: .svg, .pdf or .png.
        size: of the figure.

    Raises:
        InputError: if the suffix is none of these.
        ExportError: if the file cannot be written.
    """
    kind = figure_kind(path)
    copy = shown.copy_for(LIGHT, paper_font())
    # Laid out like a widget on screen, without ever being one.
    copy.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    copy.resize(size.layout_size())
    copy.show()
    copy.show_like(shown)
    try:
        content = picture_content(copy, kind, size)
    finally:
        copy.close()
        copy.deleteLater()
    write_file(path, content)

"""What all pictures of a sweep with two axes share: axes with units, a legend, reading by mouse and keys, choosing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QToolTip, QWidget

from subflow_app.core import palette
from subflow_app.core.palette import ColourKey
from subflow_app.core.sweeps.views.study import Parameter
from subflow_app.qt.plotting.curve_item import make_pen
from subflow_app.qt.plotting.plot_item import colour_axes, label_style, make_plot_item, show_bottom_axis
from subflow_app.qt.plotting.view_box import PlotViewBox
from subflow_app.qt.sweeps.plots.series_strip import SeriesStrip, StripEntry
from subflow_app.qt.sweeps.plots.study_axis import StudyAxis
from subflow_app.qt.theme import Tokens

SYMBOLS = ("o", "s", "t1", "d", "star", "p", "t", "h", "x", "+")
"""Shapes of marks, by series: colour alone tells them apart for most people only."""

_REACH_PX = 14.0
_CLICK_PX = 5.0
_RING = 16.0


@dataclass(frozen=True, slots=True)
class Hit:
    """Something in a picture that can be pointed at.

    Attributes:
        x: where it stands, in the coordinates of the axes.
        y: likewise.
        text: what is said about it.
        points: of the sweep that it stands for.
        run_ids: a single run of them; empty: all of theirs.
    """

    x: float
    y: float
    text: str
    points: tuple[int, ...]
    run_ids: tuple[int, ...] = ()


class StudyPlot(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph is untyped
    """One picture; :meth:`_draw` of its kinds fills it."""

    hovered = Signal(str)  # what is said about what is pointed at; empty: nothing
    chosen = Signal(object)  # Hit that was clicked, or that the keys are on
    opened = Signal(object)  # Hit that was double-clicked, or entered

    zooms = True
    content: Any = None  # what is shown; pyqtgraph resizes a widget before it is made

    def __init__(self, tokens: Tokens, font: QFont | None = None, parent: QWidget | None = None) -> None:
        """An empty picture."""
        super().__init__(parent)
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
        self.view.setMouseEnabled(x=self.zooms, y=self.zooms)
        self.view.reset_requested.connect(self.fit)
        self.view.sigRangeChangedManually.connect(self._on_zoomed)
        self.view.sigResized.connect(self._on_resized)
        self.view.sigRangeChanged.connect(lambda _view, _ranges: self._make_room())

    # ---- content ----

    def show_content(self, content: Any) -> None:
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
            self._draw()
        # Titles get the colour that the numbers have when that is set.
        colour_axes(self.item, self._tokens, line_width=self.line_width)
        self._make_room()
        self._mark()

    def fit(self) -> None:
        """Shows all of it."""
        self._is_zoomed = False
        self.view.autoRange(padding=0.06)

    def titles(self) -> tuple[str, str]:
        """What stands along the plot and up the plot, with units."""
        return self.item.getAxis("bottom").title, self.item.getAxis("left").title

    def _on_resized(self, _view: object) -> None:
        # Marks have a size in pixels: how much room they take beside the values depends on how large the plot is.
        if self.content is not None and not self._is_zoomed:
            self.fit()
        self._make_room()

    def _on_zoomed(self, _mouse_enabled: object) -> None:
        self._is_zoomed = True

    def hits(self) -> list[Hit]:
        """What can be pointed at, in the order of the keys."""
        return list(self._hits)

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours everything."""
        self._tokens = tokens
        self.redraw()

    def set_line_width(self, width: float) -> None:
        """Draws wider lines, for a picture of more pixels."""
        self.line_width = width
        self.redraw()

    def copy_for(self, tokens: Tokens, font: QFont) -> StudyPlot:
        """Another one of its kind in other colours, empty."""
        return type(self)(tokens, font)

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

    # ---- for the kinds ----

    def _draw(self) -> None:
        raise NotImplementedError

    def _add(self, item: Any, *, counts: bool = True) -> None:
        """Adds a part; ``counts`` says whether fitting looks at it."""
        self._drawn.append(item)
        self.item.addItem(item, ignoreBounds=not counts)

    def _label(self, side: str, title: str) -> None:
        axis = self.item.getAxis(side)
        axis.title, axis.start = title, 0.0
        if side == "bottom":
            show_bottom_axis(self.item, title, self._font)
        else:
            axis.setLabel(title, **label_style(self._font))

    def _colour(self, series: int) -> QColor:
        return QColor(palette.hex_colour(ColourKey(series, 0), dark=self._tokens.is_dark))

    def _series(self, parameter: Parameter | None, used: Sequence[int], *, has_symbols: bool = False) -> None:
        """The legend of the series that are drawn."""
        if parameter is None:
            self.strip.show_entries("", (), self._tokens.text)
            return
        entries = [
            StripEntry(
                parameter.levels[level].text,
                self._colour(level).name(),
                SYMBOLS[level % len(SYMBOLS)] if has_symbols else "",
            )
            for level in used
        ]
        self.strip.show_entries(f"{parameter.key}:", entries, self._tokens.text)

    def _names(self, side: str, parameter: Parameter) -> None:
        """Names of levels along an axis, at 0, 1, 2 ..."""
        names = [level.text for level in parameter.levels]
        self.item.getAxis(side).set_names(names, can_be_cut=not parameter.is_numeric)

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

"""Drawing of panels in the window: marks with intervals, lines with bands, boxes, and coloured cells and marks.

Users read the values with the mouse or the keys. `features.paper.core.figures` draws the same panels in files.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetricsF, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QGraphicsLineItem, QGraphicsRectItem, QToolTip, QWidget

from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.panel_axes import PanelAxis, SeriesStrip, StripEntry
from subflow_app.features.plots.qt.stacked_plot import (
    colour_axes,
    colour_axis,
    label_style,
    make_plot_item,
    show_bottom_axis,
)
from subflow_app.toolkit.plotting.graphs import pg
from subflow_app.toolkit.plotting.plot_parts import PlotViewBox
from subflow_app.toolkit.theme import Tokens, contrast_ratio, current_tokens, follow_theme, mixed
from subflow_app.toolkit.widgets.shorthand import as_written, named
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import spread_texts
from subflow_app.vocabulary.picture import ColourScale, FloatArray, Hit, Panel, PanelSeries

SYMBOLS = ("o", "s", "t1", "d", "star", "p", "t", "h", "x", "+")
"""Mark shapes by series, because colours alone do not distinguish series for all readers."""

_REACH_PX = 14.0
_CLICK_PX = 5.0
_RING = 16.0
_MARK, _MARK_OF_LINE, _MARK_OF_MANY = 11, 7, 6
_DOT, _OUTLIER, _SPOT = 5, 7, 4
_BAND_ALPHA, _BOX_ALPHA, _CROSS_ALPHA = 50, 70, 150
_ARROW = 26
_MARGIN = 10
_NAME_GAP = 6.0  # gap between a mark and its name, px
_FADED = 0.65
_BAR_WIDTH = 14
# With more cells, the numbers in the cells would not be readable.
_MOST_NUMBERS = 240


def scale_colours(scale: ColourScale, tokens: Tokens) -> pg.ColorMap:
    """Perceptually uniform colours that are safe for the colour-blind; "parted" uses the colours of the theme."""
    if scale.colours != "parted":
        return pg.colormap.get("viridis" if scale.colours == "rising" else "CET-D1A")
    faded = (mixed(side, tokens.base, _FADED) for side in (tokens.error, tokens.accent))
    return pg.ColorMap([0.0, 0.4999, 0.5001, 1.0], [QColor(each) for each in (tokens.error, *faded, tokens.accent)])


class PanelPlot(pg.GraphicsLayoutWidget):  # type: ignore[misc] # pyqtgraph is untyped
    hovered = Signal(str)  # description of the hit under the mouse; empty elsewhere
    pointed = Signal(object)  # Hit under the mouse, or None
    name_clicked = Signal(int)  # place of a name along the value axis that was clicked, from the top
    chosen = Signal(object)  # Hit that was clicked, or selected by keys
    opened = Signal(object)  # Hit that was double-clicked, or opened by Enter

    # None at first; a class attribute, because pyqtgraph resizes the widget before its construction ends
    panel: Panel | None = None

    def __init__(self, name: str, text: str, empty: str = "", parent: QWidget | None = None) -> None:
        """Creates the widget without a panel.

        Args:
            name: object name.
            text: accessible name.
            empty: text shown instead of a panel without values.
            parent: Qt parent.
        """
        super().__init__(parent)
        named(self, name, text)
        self.setFrameShape(self.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setMinimumSize(240, 150)
        self._tokens = current_tokens()
        self._font = QFont(self.font())
        self._hits: tuple[Hit, ...] = ()
        self._words: Callable[[Hit], str] | None = None
        self._places: FloatArray = np.empty((0, 2))
        self._current: int | None = None
        self._pressed: QPointF | None = None
        self._is_zoomed = False
        self._is_held = False
        self._name_count = 0
        self.strip = SeriesStrip(self._font)
        self.view = PlotViewBox()
        self.item: Any = make_plot_item(self.view, self._font, over_time=False, axis=PanelAxis)
        for side in ("left", "bottom"):
            self.item.getAxis(side).tick_font = self._font
        show_bottom_axis(self.item, " ", self._font)
        self.addItem(self.strip, 0, 0)
        self.addItem(self.item, 1, 0)
        self.ci.layout.setContentsMargins(4, 6, 12, 4)
        self.ci.layout.setSpacing(2)
        self._drawn: list[Any] = []
        self._names: list[tuple[Any, QPointF]] = []  # names of marks, with their places
        self._numbers: list[tuple[Any, str]] = []  # numbers of cells, each with its full text
        self._bar: Any = None
        self._ring: Any = pg.ScatterPlotItem(size=_RING, symbol="o", brush=None, pxMode=True)
        self._ring.setZValue(50)
        self._outline = QGraphicsRectItem()
        self._outline.setZValue(40)
        for mark in (self._ring, self._outline):
            self.item.addItem(mark, ignoreBounds=True)
        # These items stay in their corner while the view moves.
        self._arrow = pg.ArrowItem(angle=135, headLen=12, headWidth=10, tailLen=14, tailWidth=3, pxMode=True)
        self._better, self._empty = pg.LabelItem(tr("better")), pg.LabelItem(empty)
        self._arrow.setParentItem(self.view)
        self._better.setParentItem(self.view)
        self._empty.setParentItem(self.ci)
        self.view.reset_requested.connect(self.fit)
        self.view.sigRangeChangedManually.connect(self._on_zoomed)
        self.view.sigResized.connect(self._on_resized)
        self.view.sigRangeChanged.connect(lambda _view, _ranges: self._make_room())
        follow_theme(self.recolour)

    # ---- content ----

    def sizeHint(self) -> QSize:
        """Preferred size, before the layout stretches the plot."""
        return QSize(480, 300)

    def show_panel(
        self, panel: Panel, hits: Sequence[Hit] | None = None, words: Callable[[Hit], str] | None = None
    ) -> None:
        """Shows a panel; resets the view, unless the user has zoomed and the panel has the same axes as before.

        Args:
            panel: the panel.
            hits: points and cells that react to mouse and keys, in the order in which arrow keys select them; None: the
                marks, each with the number of its series.
            words: computes the description of a hit, for panels with too many hits to store a text for each.
        """
        if hits is None:
            hits = [
                Hit(float(x), float(y), series.words or series.name, (number,))
                for number, series in enumerate(panel.series)
                for x, y in zip(series.x, series.means, strict=True)
            ]
        self._words = words
        before = self.titles()
        self.panel, self._hits, self._current = panel, tuple(hits), None
        self._places = np.array([(hit.x, hit.y) for hit in hits]).reshape(-1, 2)
        if panel.is_log_x:
            self._places[:, 0] = np.log10(self._places[:, 0])
        self.setAccessibleDescription(panel.note)
        self.redraw()
        if not self._is_zoomed or self.titles() != before:
            self.fit()

    def shown_panel(self) -> Panel | None:
        """The panel, limited to the visible range if the user has zoomed; None if no panel is shown."""
        if self.panel is None or not self._is_zoomed:
            return self.panel
        (left, right), (low, high) = self.view.viewRange()
        if self.panel.is_log_x:
            left, right = 10.0**left, 10.0**right
        return replace(self.panel, view=(left, right, low, high))

    def hold_still(self) -> None:
        """Keeps the whole panel in view: the wheel scrolls the page around the plot, and drags have no effect."""
        self._is_held = True
        self.view.setMouseEnabled(x=False, y=False)

    def set_current(self, number: int) -> None:
        """Marks the hit with this number; a negative number removes the mark."""
        self._current = number if number >= 0 else None
        self._mark()

    def redraw(self) -> None:
        """Redraws everything in the current colours."""
        for item in self._drawn:
            self.item.removeItem(item)
        self._drawn.clear()
        self._names.clear()
        self._numbers.clear()
        self.setBackground(self._tokens.base)
        if self.panel is not None:
            self._draw(self.panel)
        # Setting the colour of the numbers also colours the titles.
        colour_axes(self.item, self._tokens)
        if self.panel is not None and self.panel.cells:
            for side in ("left", "bottom"):
                self.item.getAxis(side).setGrid(False)
        self._make_room()
        self._mark()

    def fit(self) -> None:
        """Shows the whole panel."""
        self._is_zoomed = False
        panel = self.panel
        if panel is None:
            return
        if panel.cells:
            self.view.setRange(self._area(panel), padding=0.0)
            return
        if panel.view is not None:
            left, right, low, high = panel.view
            self.view.setRange(QRectF(left, low, right - left, high - low), padding=0.0)
            return
        self.view.autoRange(padding=0.06)
        low, high = self.view.viewRange()[1]
        if high - low < panel.least:
            middle, half = (low + high) / 2, panel.least / 2
            self.view.setYRange(middle - half, middle + half, padding=0.0)
        if panel.scale is None and (names := self._names_along(panel)):
            self.view.setXRange(-0.6, len(names) - 0.4, padding=0.0)

    def titles(self) -> tuple[str, str]:
        """Titles of the x and y axes, with units."""
        return self.item.getAxis("bottom").title, self.item.getAxis("left").title

    def hits(self) -> list[Hit]:
        """All hits, in the order in which arrow keys select them."""
        return list(self._hits)

    def recolour(self, tokens: Tokens) -> None:
        """Redraws everything in the colours of the theme."""
        self._tokens = tokens
        self.redraw()

    def _on_resized(self, _view: object) -> None:
        # Marks have a fixed size in pixels, so the margin beside the values depends on the size of the plot.
        if not self._is_zoomed:
            self.fit()
        self._make_room()
        self._place_corner()

    def _on_zoomed(self, _mouse_enabled: object) -> None:
        self._is_zoomed = True

    def _make_room(self) -> None:
        """Adapts the axes to the visible range: reserves space for numbers, and subtracts an offset from long ones."""
        for side, (low, high) in zip(("bottom", "left"), self.view.viewRange(), strict=True):
            self.item.getAxis(side).show_range(low, high)
        self._choose_numbers()
        self._place_names()

    # ---- drawing ----

    @staticmethod
    def _names_along(panel: Panel) -> Sequence[tuple[float, str]]:
        """Names along the x axis with their positions; empty if the axis shows numbers."""
        if panel.form != "box":
            return panel.x_ticks
        names = [series.name for series in panel.series] if panel.is_single else panel.points
        return [(float(place), name) for place, name in enumerate(names)]

    def _draw(self, panel: Panel) -> None:
        self.item.setLogMode(panel.is_log_x, False)
        has_cells = bool(panel.cells)
        zooms = not has_cells or panel.cell_area is not None
        zooms = zooms and not self._is_held
        self.view.setMouseEnabled(x=zooms and panel.form != "box", y=zooms)
        self.view.invertX(panel.better[0] < 0)
        self.view.invertY(panel.better[1] < 0)
        for side, title, names in (
            ("bottom", panel.x_text, self._names_along(panel)),
            ("left", panel.y_text, panel.y_ticks),
        ):
            axis = self.item.getAxis(side)
            axis.title, axis.start = title, 0.0
            axis.set_names(names)
            axis.setLabel(title, **label_style(self._font))
        self._draw_bar(panel.scale)
        if has_cells:
            self._draw_cells(panel)
        elif panel.form == "box":
            for number in range(len(panel.series)):
                for point in range(len(panel.points)):
                    self._draw_box(panel, number, point)
        elif panel.scale is not None:
            self._draw_shaded(panel, panel.scale)
        else:
            for series in panel.series:
                self._draw_intervals(panel, series)
            self._add(pg.PlotCurveItem(*_columns(panel.front), pen=make_pen(self._tokens.ok, (5.0, 4.0), 1.4)))
            for series in panel.series:
                self._draw_marks(panel, series)
                if series.name and not panel.legend:
                    self._draw_name(series)
        self._draw_legend(panel)
        has_corner = 0 not in panel.better
        for part in (self._arrow, self._better):
            part.setVisible(has_corner)
        size = f"{QFontInfo(self._font).pixelSize()}px"
        self._better.setText(tr("better"), color=self._tokens.ok, bold=True, size=size)
        self._arrow.setStyle(brush=QColor(self._tokens.ok), pen=make_pen(self._tokens.ok))
        self._empty.setText(self._empty.text, color=self._tokens.muted_text, size=size)
        is_empty = bool(self._empty.text) and not panel.has_values
        self._empty.setVisible(is_empty)
        self.item.setVisible(not is_empty)
        self._place_corner()

    def _add(self, item: Any, *, counts: bool = True) -> None:
        """Adds an item, which automatic ranges include if ``counts`` is True."""
        self._drawn.append(item)
        self.item.addItem(item, ignoreBounds=not counts)

    def _colour(self, series: PanelSeries, alpha: int = 255) -> QColor:
        colour = QColor(palette.hex_colour(series.colour, dark=self._tokens.is_dark))
        colour.setAlpha(alpha)
        return colour

    def _draw_intervals(self, panel: Panel, series: PanelSeries) -> None:
        """Draws the band of a line, or the intervals of marks as crosses, in one item, because many items are slow."""
        (x, y), (low, high) = _points(panel, series), panel.ends(series)
        known = np.isfinite(series.means)
        low, high = np.fmin(low, series.means)[known], np.fmax(high, series.means)[known]
        if panel.form != "lines":
            colour = self._colour(series, _CROSS_ALPHA).name(QColor.NameFormat.HexArgb)
            left, right = (np.nan_to_num(end - series.x) for end in panel.x_ends(series))
            reach = {"left": -left, "right": right, "top": high - y, "bottom": y - low}
            self._add(pg.ErrorBarItem(x=x, y=y, **reach, pen=make_pen(colour, width=1.2)))
        elif (high > low).any():
            # Edges of the band are not drawn.
            edges = [pg.PlotCurveItem(x, edge, pen=None) for edge in (high, low)]
            for edge in edges:
                self._add(edge)
            band = pg.FillBetweenItem(*edges, brush=self._colour(series, _BAND_ALPHA))
            band.setZValue(-10)
            self._add(band, counts=False)

    def _draw_marks(self, panel: Panel, series: PanelSeries) -> None:
        (x, y), colour, is_line = _points(panel, series), self._colour(series), panel.form == "lines"
        if is_line:
            self._add(pg.PlotCurveItem(x, y, pen=make_pen(colour.name(), width=1.5), antialias=True))
        # Marks that are not on the Pareto front are hollow, which distinguishes them even without colours.
        is_hollow = bool(panel.front) and not series.is_ours
        rim = make_pen(colour.name() if is_hollow else self._tokens.base, width=1.5 if is_hollow else 1.0)
        # The runs of a group are many and lie close together, unlike means.
        is_small = is_line or not (series.is_ours or series.name or panel.legend)
        symbol, size = SYMBOLS[series.shape % len(SYMBOLS)], _MARK_OF_LINE if is_small else _MARK
        brush = QColor(self._tokens.base) if is_hollow else colour
        self._add(pg.ScatterPlotItem(x, y, size=size, symbol=symbol, brush=brush, pen=rim))

    def _draw_shaded(self, panel: Panel, scale: ColourScale) -> None:
        """Draws marks coloured by their values; the lowest values are drawn last, on top."""
        colours = scale_colours(scale, self._tokens)
        for series in panel.series:
            order = np.argsort(-series.shades)
            brushes = colours.map(scale.shares(series.shades[order]), mode="qcolor")
            x, y = series.x[order], series.means[order]
            self._add(pg.ScatterPlotItem(x, y, size=_MARK_OF_MANY, symbol="o", brush=brushes, pen=None))

    def _draw_name(self, series: PanelSeries) -> None:
        """Draws the name of a mark next to the mark."""
        name = pg.TextItem(series.name, color=self._tokens.text if series.is_ours else self._tokens.muted_text)
        name.setFont(self._font)
        self._names.append((name, QPointF(float(series.x[0]), float(series.means[0]))))
        self._add(name, counts=False)

    def _place_names(self) -> None:
        """Shows the names that fit beside their marks, starting with the subjects of the figure.

        Tool tips show all names.
        """
        metrics, area = QFontMetricsF(self._font), self.view.sceneBoundingRect()
        line = metrics.height()
        spots = [self.view.mapViewToScene(place) for _name, place in self._names]
        taken = [QRectF(spot.x() - _MARK / 2, spot.y() - _MARK / 2, _MARK, _MARK) for spot in spots]
        panel = self.panel
        for number in sorted(range(len(spots)), key=lambda n: panel is None or not panel.series[n].is_ours):
            (name, _place), spot = self._names[number], spots[number]
            width = metrics.horizontalAdvance(name.toPlainText())
            # Names are placed diagonally from the mark, where they do not cover its intervals.
            boxes = [
                QRectF(spot.x() + x, spot.y() + y, width, line)
                for x in (_NAME_GAP, -_NAME_GAP - width)
                for y in (-_NAME_GAP - line, _NAME_GAP)
            ]
            free = (b for b in boxes if area.contains(b) and not any(b.intersects(other) for other in taken))
            box = next(free, None)
            name.setVisible(box is not None)
            if box is not None:
                taken.append(box)
                # The margin of the text item must not shift the text.
                name.setPos(self.view.mapSceneToView(box.center() - name.boundingRect().center()))

    def _draw_box(self, panel: Panel, number: int, point: int) -> None:
        box, series = panel.box(number, point), panel.series[number]
        if box is None:
            return
        colour = self._colour(series)
        pen = make_pen(colour.name(), width=1.3)
        left, right, cap = box.middle - box.width / 2, box.middle + box.width / 2, box.width / 4
        body = QGraphicsRectItem(QRectF(left, box.q1, box.width, box.q3 - box.q1))
        body.setPen(pen)
        body.setBrush(self._colour(series, _BOX_ALPHA))
        self._add(body)
        strong = make_pen(self._tokens.text, width=2.0)
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
        values = [float(series.values[point][place]) for place, _x in box.dots]
        are_beyond = [not box.low <= value <= box.high for value in values]
        dots = pg.ScatterPlotItem(
            x=[x for _place, x in box.dots],
            y=values,
            size=[_OUTLIER if is_beyond else _DOT for is_beyond in are_beyond],
            symbol=["d" if is_beyond else "o" for is_beyond in are_beyond],
            pen=make_pen(self._tokens.text),
            brush=QColor(self._tokens.base),
        )
        self._add(dots)

    # ---- colours of cells and marks ----

    def _draw_bar(self, scale: ColourScale | None) -> None:
        if self._bar is None and scale is not None:
            self._bar = pg.ColorBarItem(interactive=False, width=_BAR_WIDTH)
            # pyqtgraph places a colour bar only beside the plot of an image, so the bar belongs to an empty image.
            self._bar.setImageItem(pg.ImageItem(), insert_in=self.item)
            self._bar.axis.setTickFont(self._font)
        if self._bar is None:
            return
        self._bar.setVisible(scale is not None)
        if scale is None:
            return
        self._bar.setColorMap(scale_colours(scale, self._tokens))
        self._bar.setLevels((scale.low, scale.high))
        axis, metrics = self._bar.axis, QFontMetricsF(self._font)
        axis.setLabel(scale.title, **label_style(self._font))
        colour_axis(axis, self._tokens)
        axis.setTicks([list(scale.ticks)] if scale.ticks else None)
        texts = [text for _value, text in scale.ticks]
        texts = texts or spread_texts((scale.low, (scale.low + scale.high) / 2, scale.high))
        axis.setWidth(max(map(metrics.horizontalAdvance, texts)) + metrics.height() + 30)

    def _draw_cells(self, panel: Panel) -> None:
        scale = panel.scale
        assert scale is not None
        colours, values = scale_colours(scale, self._tokens), np.stack(panel.cells)
        # NaN is transparent.
        image = pg.ImageItem(values, axisOrder="row-major", colorMap=colours, levels=(scale.low, scale.high))
        image.setZValue(-20)
        image.setRect(self._area(panel))
        self._add(image)
        for series in panel.series:
            colour, rim = QColor(self._tokens.text), QColor(self._tokens.base)
            colour.setAlpha(_CROSS_ALPHA)
            rim.setAlpha(_CROSS_ALPHA)
            pen = make_pen(rim.name(QColor.NameFormat.HexArgb))
            self._add(pg.ScatterPlotItem(series.x, series.means, size=_SPOT, brush=colour, pen=pen), counts=False)
        for (row, column), share in np.ndenumerate(scale.shares(values)):
            if not panel.cell_texts or values.size > _MOST_NUMBERS or math.isnan(share):
                continue
            text, fill = panel.cell_texts[row][column], colours.map(float(share), mode="qcolor")
            number = pg.TextItem(text, color=_readable_on(fill), anchor=(0.5, 0.5))
            number.setFont(self._font)
            number.setPos(column, row)
            self._numbers.append((number, text))
            self._add(number, counts=False)

    @staticmethod
    def _area(panel: Panel) -> QRectF:
        left, right, low, high = panel.extent
        return QRectF(left, low, right - left, high - low)

    def _choose_numbers(self) -> None:
        """Shows the numbers of the cells if all fit, with their intervals if these fit too."""
        width, height = self.view.viewPixelSize()
        metrics = QFontMetricsF(self._font)

        def fits(texts: Iterable[str]) -> bool:
            widest = max(map(metrics.horizontalAdvance, texts), default=0.0)
            return bool((widest + 6) * width <= 1.0 and metrics.height() * height <= 1.0)

        whole = [text for _number, text in self._numbers]
        means = [text.partition(" ± ")[0] for text in whole]
        shown = whole if fits(whole) else means
        for (number, _text), text in zip(self._numbers, shown, strict=True):
            number.setText(text)
            number.setVisible(shown is whole or fits(means))

    def bar_title(self) -> str:
        """Title of the colour bar."""
        return str(self._bar.axis.labelText)

    def bar_ticks(self) -> list[str]:
        """Texts beside the colour bar; empty if it shows numbers."""
        levels = self._bar.axis._tickLevels
        return [text for _value, text in levels[0]] if levels else []

    def levels(self) -> tuple[float, float]:
        """Values at the ends of the colour scale."""
        low, high = self._bar.levels()
        return float(low), float(high)

    def numbers(self) -> list[Any]:
        """Items of the visible numbers in cells."""
        return [number for number, _text in self._numbers if number.isVisible()]

    def _draw_legend(self, panel: Panel) -> None:
        """Fills the legend with the series of the panel."""
        if not panel.legend:
            self.strip.show_entries("", (), self._tokens.text)
            return
        entries = [
            StripEntry(
                series.name,
                self._colour(series).name(),
                SYMBOLS[series.shape % len(SYMBOLS)] if panel.form != "box" else "",
            )
            for series in panel.series
        ]
        self.strip.show_entries(f"{panel.legend}:", entries, self._tokens.text)

    @property
    def has_better_corner(self) -> bool:
        """True if the corner of the best values is marked."""
        return bool(self._better.isVisible())

    def _place_corner(self) -> None:
        area = self.view.boundingRect()
        words = self._better.boundingRect()
        self._arrow.setPos(area.right() - _MARGIN, area.top() + _MARGIN)
        self._better.setPos(area.right() - _MARGIN - _ARROW - words.width(), area.top() + _MARGIN)
        self._empty.setPos(self.ci.boundingRect().center() - self._empty.boundingRect().center())

    # ---- reading and choosing ----

    def words(self, hit: Hit) -> str:
        """Description of a hit."""
        return hit.text if self._words is None else self._words(hit)

    def number_at(self, position: QPointF) -> int | None:
        """Number of the hit at a position of the widget: a cell, or the nearest mark within reach; None elsewhere."""
        at = self.view.mapSceneToView(self.mapToScene(position.toPoint()))
        width, height = self.view.viewPixelSize()
        if width <= 0 or height <= 0 or not self._hits or self.panel is None:
            return None
        gaps = np.abs(self._places - (at.x(), at.y()))
        if self.panel.cells:
            inside = np.flatnonzero((gaps <= 0.5).all(axis=1)).tolist() if self._area(self.panel).contains(at) else []
            return inside[0] if inside else None
        distances = np.hypot(gaps[:, 0] / width, gaps[:, 1] / height)
        nearest = int(np.argmin(distances))
        return nearest if distances[nearest] <= _REACH_PX else None

    def position_of(self, hit: Hit) -> QPointF:
        """Position of a hit in the widget."""
        x, y = self._places[self._hits.index(hit)]
        return QPointF(self.mapFromScene(self.view.mapViewToScene(QPointF(x, y))))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Stores the position, to distinguish a click from a drag."""
        self._pressed = event.position() if event.button() == Qt.MouseButton.LeftButton else None
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Selects the clicked hit."""
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        if pressed is None or (event.position() - pressed).manhattanLength() > _CLICK_PX:
            return
        number, name = self.number_at(event.position()), self._name_at(event.position())
        if number is not None:
            self._go_to(number)
        elif name is not None:
            self.name_clicked.emit(name)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Opens the hit under the mouse; elsewhere, shows the whole panel."""
        number = self.number_at(event.position())
        if number is not None and event.button() == Qt.MouseButton.LeftButton:
            self.opened.emit(self._hits[number])
        else:
            super().mouseDoubleClickEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Shows the description of the hit under the mouse."""
        super().mouseMoveEvent(event)
        if event.buttons() == Qt.MouseButton.NoButton:
            number = self.number_at(event.position())
            text = "" if number is None else self.words(self._hits[number])
            QToolTip.showText(event.globalPosition().toPoint(), as_written(text), self)
            self.hovered.emit(text)
            self.pointed.emit(None if number is None else self._hits[number])
            is_on_name = self._name_at(event.position()) is not None
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if is_on_name else Qt.CursorShape.ArrowCursor)

    def leaveEvent(self, event: QEvent) -> None:
        """Points at nothing."""
        super().leaveEvent(event)
        self.pointed.emit(None)

    def set_name_count(self, count: int) -> None:
        """Sets the number of names along the value axis that can be clicked; 0 for none."""
        self._name_count = count

    def _name_at(self, position: QPointF) -> int | None:
        """The place of the name at a position of the widget, from the top; None beside the names."""
        area = self.mapFromScene(self.view.sceneBoundingRect()).boundingRect()
        is_beside = position.x() < area.left() and area.top() <= position.y() <= area.bottom()
        if not self._name_count or not is_beside or area.height() <= 0:
            return None
        return min(int((position.y() - area.top()) / area.height() * self._name_count), self._name_count - 1)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Moves between hits with the arrow keys, and opens the current one with Enter."""
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
        self.hovered.emit(self.words(hit))
        self.chosen.emit(hit)

    def _mark(self) -> None:
        number = len(self._hits) if self._current is None else self._current
        has_cells = self.panel is not None and bool(self.panel.cells)
        places = self._places[number : number + 1]
        self._ring.setPen(make_pen(self._tokens.accent, width=2.0))
        self._ring.setData(*(np.empty((2, 0)) if has_cells else places.T))
        self._outline.setVisible(len(places) > 0 and has_cells)
        for x, y in places:
            self._outline.setRect(QRectF(x - 0.5, y - 0.5, 1.0, 1.0))
            self._outline.setPen(make_pen(self._tokens.accent, width=3.0))


def _points(panel: Panel, series: PanelSeries) -> tuple[FloatArray, FloatArray]:
    """Places of the marks of a series in the coordinates of the view."""
    x, known = series.x if len(series.x) else panel.positions, np.isfinite(series.means)
    return (np.log10(x[known]) if panel.is_log_x else x[known]), series.means[known]


def _columns(pairs: Sequence[tuple[float, float]]) -> FloatArray:
    return np.array(pairs, dtype=np.float64).reshape(-1, 2).T


def _readable_on(fill: QColor) -> str:
    """Black or white, whichever contrasts more with the fill colour."""
    name = fill.name()
    return max(("#000000", "#ffffff"), key=lambda colour: contrast_ratio(colour, name))

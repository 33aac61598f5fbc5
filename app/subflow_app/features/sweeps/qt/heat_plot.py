"""A figure over two parameters: a coloured cell with its mean for each pair of values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QFont, QFontMetricsF
from PySide6.QtWidgets import QGraphicsRectItem, QWidget

from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.plots.qt.stacked_plot import colour_axis, label_style
from subflow_app.features.sweeps.core.views.pictures import spread_texts
from subflow_app.features.sweeps.core.views.view import Cells, Hit, Picture, SweepView
from subflow_app.features.sweeps.qt.study_plot import StudyPlot
from subflow_app.toolkit.theme import Tokens, contrast_ratio

# Uniform to the eye, safe for the colour-blind, and from dark to light in print.
_COLOURS = "viridis"
_BAR_WIDTH = 14
# More cells than this have no numbers in them: nobody reads them.
_MOST_NUMBERS = 240


class HeatPlot(StudyPlot):
    """The map with its colour bar."""

    zooms = False

    def __init__(
        self, shown: SweepView, tokens: Tokens, font: QFont | None = None, parent: QWidget | None = None
    ) -> None:
        """An empty map."""
        super().__init__(shown, tokens, font, parent)
        self._image: Any = pg.ImageItem(axisOrder="row-major")
        self._image.setZValue(-20)
        self.item.addItem(self._image)
        self._bar: Any = pg.ColorBarItem(
            values=(0.0, 1.0), colorMap=pg.colormap.get(_COLOURS), interactive=False, width=_BAR_WIDTH
        )
        self._bar.setImageItem(self._image, insert_in=self.item)
        self._bar.axis.setTickFont(self._font)
        self._numbers: list[tuple[Any, str]] = []  # each with all that it could say
        self._outline = QGraphicsRectItem()
        self._outline.setZValue(40)
        self.item.addItem(self._outline, ignoreBounds=True)
        self._ring.hide()

    def redraw(self) -> None:
        """Draws everything anew; cells need no grid."""
        super().redraw()
        for side in ("left", "bottom"):
            self.item.getAxis(side).setGrid(False)

    def fit(self) -> None:
        """Shows all cells, without a margin."""
        if self.content is not None:
            self.view.setRange(self._area(), padding=0.0)
            self._choose_numbers()

    def hit_at(self, position: QPointF) -> Hit | None:
        """The cell at a place of the widget."""
        at = self.view.mapSceneToView(self.mapToScene(position.toPoint()))
        inside = self.content is not None and self._area().contains(at)
        return (
            next((h for h in self._hits if abs(h.x - at.x()) <= 0.5 and abs(h.y - at.y()) <= 0.5), None)
            if inside
            else None
        )

    def bar_title(self) -> str:
        """What stands beside the colour bar."""
        return str(self._bar.axis.labelText)

    def levels(self) -> tuple[float, float]:
        """What the colours reach over."""
        low, high = self._bar.levels()
        return float(low), float(high)

    def numbers(self) -> list[Any]:
        """What stands in the cells, if there is room."""
        return [number for number, _text in self._numbers if number.isVisible()]

    def _area(self) -> QRectF:
        assert self.content is not None
        return QRectF(-0.5, -0.5, len(self.content.x.names), len(self.content.y.names))

    def _draw(self, content: Picture) -> None:
        super()._draw(content)
        cells = content.cells
        assert cells is not None
        low, high = cells.span
        self._bar.setColorMap(pg.colormap.get(_COLOURS))
        # NaN is see-through.
        self._image.setImage(cells.values, autoLevels=False)
        self._bar.setLevels((low, high))
        self._image.setRect(self._area())
        metrics = QFontMetricsF(self._font)
        widest = max(map(metrics.horizontalAdvance, content.y.names))
        self.item.getAxis("left").setWidth(widest + metrics.height() + 18)
        bar = self._bar.axis
        bar.setLabel(cells.title, **label_style(self._font))
        colour_axis(bar, self._tokens)
        ends = spread_texts((low, (low + high) / 2, high))
        bar.setWidth(max(map(metrics.horizontalAdvance, ends)) + metrics.height() + 30)
        self._write_numbers(cells)

    def _write_numbers(self, cells: Cells) -> None:
        colours = pg.colormap.get(_COLOURS)
        low, high = cells.span
        self._numbers = []
        for (row, column), value in np.ndenumerate(cells.values):
            if cells.values.size > _MOST_NUMBERS or not math.isfinite(value):
                continue
            fill = colours.map(float((value - low) / (high - low)), mode="qcolor")
            number = pg.TextItem(cells.texts[row][column], color=_readable_on(fill), anchor=(0.5, 0.5))
            number.setFont(self._font)
            number.setPos(column, row)
            self._numbers.append((number, cells.texts[row][column]))
            self._add(number, counts=False)

    def _choose_numbers(self) -> None:
        """Shows the numbers of the cells if they all fit, with their intervals if those do, too."""
        width, height = self.view.viewPixelSize()
        metrics = QFontMetricsF(self._font)

        def fits(texts: Iterable[str]) -> bool:
            widest = max(map(metrics.horizontalAdvance, texts), default=0.0)
            return bool(width > 0 and widest + 6 <= 1.0 / width and metrics.height() <= 1.0 / height)

        whole = [text for _number, text in self._numbers]
        means = [text.partition(" ± ")[0] for text in whole]
        shown = whole if fits(whole) else means
        for (number, _text), text in zip(self._numbers, shown, strict=True):
            number.setText(text)
            number.setVisible(shown is whole or fits(means))

    def _mark(self) -> None:
        hit = None if self._current is None or self._current >= len(self._hits) else self._hits[self._current]
        self._outline.setVisible(hit is not None)
        if hit is not None:
            self._outline.setRect(QRectF(hit.x - 0.5, hit.y - 0.5, 1.0, 1.0))
            self._outline.setPen(make_pen(self._tokens.accent, width=3.0 * self.line_width))


def _readable_on(fill: QColor) -> str:
    """Black or white, whichever is read better on a colour."""
    name = fill.name()
    return max(("#000000", "#ffffff"), key=lambda colour: contrast_ratio(colour, name))

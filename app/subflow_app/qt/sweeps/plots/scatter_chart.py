"""Throughput against delay: a mark per point of the sweep with its intervals, and the corner everybody wants."""

from __future__ import annotations

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from numpy.typing import NDArray
from PySide6.QtGui import QColor, QFont, QFontInfo
from PySide6.QtWidgets import QWidget

from subflow_app.core.language import tr, trn
from subflow_app.core.sweeps.views.scatter import ScatterContent, ScatterMark
from subflow_app.qt.plotting.curve_item import make_pen
from subflow_app.qt.sweeps.plots.study_plot import SYMBOLS, Hit, StudyPlot
from subflow_app.qt.theme import Tokens

_MARK = 11
_ARROW = 26
_MARGIN = 10
_CROSS_ALPHA = 150


class ScatterChart(StudyPlot):
    """Marks of one shape and colour per series."""

    content: ScatterContent | None = None

    def __init__(self, tokens: Tokens, font: QFont | None = None, parent: QWidget | None = None) -> None:
        """No marks yet."""
        super().__init__(tokens, font, parent)
        self.setObjectName("sweep_scatter")
        self.setAccessibleName(tr("Scatter of two figures, a mark per point of the sweep"))
        # It stands in the corner of the view, whatever that shows.
        self._arrow = pg.ArrowItem(headLen=12, headWidth=10, tailLen=14, tailWidth=3, pxMode=True)
        self._better = pg.LabelItem(tr("better"))
        self._arrow.setParentItem(self.view)
        self._better.setParentItem(self.view)
        self.view.sigResized.connect(lambda _view: self._place_corner())

    @property
    def has_better_corner(self) -> bool:
        """Whether the corner is marked."""
        return bool(self._better.isVisible())

    def _draw(self) -> None:
        content = self.content
        assert content is not None
        self._label("bottom", content.x.axis_title)
        self._label("left", content.y.axis_title)
        # Less delay stands further right, and less loss higher up: the better corner is always the same one.
        self.view.invertX(content.is_x_reversed)
        self.view.invertY(content.is_y_reversed)
        used = sorted({mark.series for mark in content.marks})
        for series in used:
            self._draw_crosses(content, [mark for mark in content.marks if mark.series == series])
        for series in used:
            self._draw_marks(content, [mark for mark in content.marks if mark.series == series])
        for mark in content.marks:
            self._hits.append(self._hit(content, mark))
        self._series(content.series, used, has_symbols=True)
        self._better.setVisible(content.has_better_corner)
        self._arrow.setVisible(content.has_better_corner)
        self._better.setText(
            tr("better"), color=self._tokens.ok, bold=True, size=f"{QFontInfo(self._font).pixelSize()}px"
        )
        self._arrow.setStyle(
            angle=135, brush=QColor(self._tokens.ok), pen=make_pen(self._tokens.ok, width=self.line_width)
        )
        self._place_corner()

    def _draw_crosses(self, content: ScatterContent, marks: list[ScatterMark]) -> None:
        """The intervals of a series, in one item: a mark each would be slow with thousands."""
        colour = self._colour(marks[0].series)
        colour.setAlpha(_CROSS_ALPHA)
        across = np.nan_to_num([mark.x.ci95 for mark in marks]) * content.x.scale
        up = np.nan_to_num([mark.y.ci95 for mark in marks]) * content.y.scale
        x, y = self._places(content, marks)
        pen = make_pen(colour.name(QColor.NameFormat.HexArgb), width=1.2 * self.line_width)
        self._add(pg.ErrorBarItem(x=x, y=y, left=across, right=across, top=up, bottom=up, pen=pen))

    def _draw_marks(self, content: ScatterContent, marks: list[ScatterMark]) -> None:
        series = marks[0].series
        x, y = self._places(content, marks)
        symbol = SYMBOLS[series % len(SYMBOLS)]
        rim = make_pen(self._tokens.base, width=self.line_width)
        self._add(pg.ScatterPlotItem(x, y, size=_MARK, symbol=symbol, brush=self._colour(series), pen=rim))

    @staticmethod
    def _places(content: ScatterContent, marks: list[ScatterMark]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        x = np.array([mark.x.mean for mark in marks]) * content.x.scale
        y = np.array([mark.y.mean for mark in marks]) * content.y.scale
        return x, y

    @staticmethod
    def _hit(content: ScatterContent, mark: ScatterMark) -> Hit:
        series = content.series
        parts = [f"{series.key}: {series.levels[mark.series].text}"] if series is not None else []
        parts += [mark.label] if mark.label else []
        parts += [f"{f.name}: {f.interval_text(v)}" for f, v in ((content.y, mark.y), (content.x, mark.x))]
        parts.append(trn("{count} run", "{count} runs", mark.x.n))
        return Hit(mark.x.mean * content.x.scale, mark.y.mean * content.y.scale, "\n".join(parts), (mark.point,))

    def _place_corner(self) -> None:
        area = self.view.boundingRect()
        words = self._better.boundingRect()
        self._arrow.setPos(area.right() - _MARGIN, area.top() + _MARGIN)
        self._better.setPos(area.right() - _MARGIN - _ARROW - words.width(), area.top() + _MARGIN)

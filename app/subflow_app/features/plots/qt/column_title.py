"""The name of a run above its column of plots: whole if it fits, else what tells it from the other columns."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QGraphicsWidget, QStyleOptionGraphicsItem, QWidget

from subflow_app.features.history.core.run_names import PlotColumn
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.widgets.shorthand import sized

_MARGIN = 4.0


class ColumnTitle(QGraphicsWidget):
    """One line of text; the whole name is its tool tip."""

    def __init__(self, column: PlotColumn, font: QFont, indent: float) -> None:
        """The title of ``column``, which begins ``indent`` px from the left, where the plots below do."""
        super().__init__()
        self._column = column
        self._indent = indent
        self._font = sized(font, is_bold=True)
        self._colour = QColor("#000000")
        self.setToolTip(as_written(column.title))
        height = QFontMetricsF(self._font).height() + 2 * _MARGIN
        self.setMinimumHeight(height)
        self.setMaximumHeight(height)

    def set_colour(self, colour: str) -> None:
        """Writes in this colour, ``#RRGGBB``."""
        self._colour = QColor(colour)
        self.update()

    def shown_text(self) -> str:
        """What of the name there is room for."""
        metrics = QFontMetricsF(self._font)
        room = self.size().width() - self._indent - _MARGIN
        for text in (self._column.title, self._column.short_title):
            if metrics.horizontalAdvance(text) <= room:
                return text
        # Names differ at their ends: in the controller, or a number.
        return metrics.elidedText(self._column.short_title, Qt.TextElideMode.ElideMiddle, room)

    def paint(self, painter: QPainter, _option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        """Writes the name."""
        metrics = QFontMetricsF(self._font)
        painter.setFont(self._font)
        painter.setPen(self._colour)
        painter.drawText(QPointF(self._indent, _MARGIN + metrics.ascent()), self.shown_text())

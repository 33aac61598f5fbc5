"""Maps of a space: the networks that were tried over two of the values that were chosen, coloured by the margin."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QHelpEvent, QLinearGradient, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from subflow_app.features.breaking.core.search_map import SearchMap
from subflow_app.features.plots.qt.figure_file import FigureSize
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.theme import LIGHT, Tokens, current_tokens, mixed
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

FILE_SIZE = FigureSize(211.7, 148.2, 192)
"""Of a file: 800 by 560 at the resolution of the layout, and twice that as a bitmap."""
_MARK = 3.0
_REACH = 7.0
_BAR = 12.0
_FADED = 0.65


def margin_colour(shade: float, tokens: Tokens) -> QColor:
    """From where the claim fails clearly, 0, over where it just holds to where it holds clearly, 1."""
    side = tokens.error if shade < 0.5 else tokens.accent
    # Nothing fades into the ground: what just fails is told from what just holds, too.
    return QColor(mixed(side, tokens.base, _FADED * (1 - abs(2 * shade - 1))))


class MapChart(QWidget):
    """A mark per network over two axes, those in which the claim fails most on top."""

    def __init__(self, name: str, text: str, parent: QWidget | None = None) -> None:
        """Nothing in it yet."""
        super().__init__(parent)
        named(self, name, text)
        self.setMinimumSize(280, 220)
        self.content: SearchMap | None = None
        self.chosen = (0, 1)
        self._field = QRectF()

    def show_map(self, content: SearchMap | None, chosen: tuple[int, int]) -> None:
        """Shows the networks over these axes, along and up; None: no search is shown that knows any."""
        self.content, self.chosen = content, chosen
        told = ""
        if content is not None:
            told = tr("The claim fails in {failed} of {all}", failed=content.failed, all=content.told)
        self.setAccessibleDescription(told)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws it in the colours of the window."""
        painter = QPainter(self)
        self.draw(painter, QRectF(self.rect()), current_tokens())
        painter.end()

    def draw_on(self, painter: QPainter, target: QRectF) -> None:
        """Draws it into a file, in light colours."""
        layout = FILE_SIZE.layout_size()
        area = QRectF(0, 0, layout.width(), layout.height())
        painter.scale(target.width() / area.width(), target.height() / area.height())
        self.draw(painter, area, LIGHT)

    def set_line_width(self, width: float) -> None:
        """Nothing: lines are scaled with the rest."""

    def draw(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Axes, marks and the scale of colours."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(area, QColor(tokens.base))
        painter.setFont(self.font())
        content = self.content
        if content is None or not len(content.margins):
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("No network has been tried yet."))
            return
        metrics = QFontMetricsF(self.font())
        line = metrics.height()
        field = self._field = area.adjusted(11 * metrics.averageCharWidth() + 1.6 * line, line, -7 * line, -2.8 * line)
        self._draw_axes(painter, field, tokens)
        along, up = self.chosen
        shades = content.shades
        painter.setPen(Qt.PenStyle.NoPen)
        for number in reversed(content.margins.argsort().tolist()):
            painter.setBrush(margin_colour(float(shades[number]), tokens))
            painter.drawEllipse(self._spot(number, along, up), _MARK, _MARK)
        self._draw_scale(painter, field, tokens)

    def network_at(self, position: QPointF) -> int | None:
        """The network whose mark is nearest to a place of the widget; None: none is near."""
        content = self.content
        if content is None or not len(content.margins):
            return None
        spots = [self._spot(number, *self.chosen) for number in range(len(content.margins))]
        near = min(range(len(spots)), key=lambda number: (spots[number] - position).manhattanLength())
        return near if (spots[near] - position).manhattanLength() <= _REACH else None

    def event(self, event: QEvent) -> bool:
        """Says what the network is that somebody points at."""
        if isinstance(event, QHelpEvent) and self.content is not None:
            number = self.network_at(QPointF(event.pos()))
            text = "" if number is None else as_written(self.content.words(number))
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _spot(self, number: int, along: int, up: int) -> QPointF:
        assert self.content is not None
        x, y = self.content.places[number, along], self.content.places[number, up]
        field = self._field
        return QPointF(field.left() + x * field.width(), field.bottom() - y * field.height())

    def _draw_axes(self, painter: QPainter, field: QRectF, tokens: Tokens) -> None:
        assert self.content is not None
        line = QFontMetricsF(self.font()).height()
        along, up = (self.content.axes[each] for each in self.chosen)
        for place, text in along.ticks:
            x = field.left() + place * field.width()
            painter.setPen(QColor(tokens.grid))
            painter.drawLine(QPointF(x, field.top()), QPointF(x, field.bottom()))
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(QRectF(x - 60, field.bottom() + 3, 120, line), Qt.AlignmentFlag.AlignHCenter, text)
        for place, text in up.ticks:
            y = field.bottom() - place * field.height()
            painter.setPen(QColor(tokens.grid))
            painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y))
            painter.setPen(QColor(tokens.muted_text))
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(QRectF(field.left() - 126, y - line / 2, 120, line), int(flags), text)
        painter.setPen(QPen(QColor(tokens.border)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(field)
        painter.setPen(QColor(tokens.text))
        below = QRectF(field.left(), field.bottom() + 1.4 * line, field.width(), 1.2 * line)
        painter.drawText(below, Qt.AlignmentFlag.AlignCenter, along.key)
        painter.save()
        painter.translate(line * 0.7, field.center().y())
        painter.rotate(-90)
        beside = QRectF(-field.height() / 2, -line / 2, field.height(), 1.2 * line)
        painter.drawText(beside, Qt.AlignmentFlag.AlignCenter, up.key)
        painter.restore()

    def _draw_scale(self, painter: QPainter, field: QRectF, tokens: Tokens) -> None:
        assert self.content is not None
        line = QFontMetricsF(self.font()).height()
        bar = QRectF(field.right() + line, field.top() + 1.5 * line, _BAR, max(20.0, field.height() - 3 * line))
        colours = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        for step in range(11):
            colours.setColorAt(step / 10, margin_colour(step / 10, tokens))
        painter.fillRect(bar, colours)
        painter.setPen(QColor(tokens.text))
        low, high = self.content.span
        for y, value in ((bar.bottom(), low), (bar.center().y(), 0.0), (bar.top(), high)):
            painter.drawText(QPointF(bar.right() + 5, y + line / 3), f"{value:.1f}")
        painter.drawText(QPointF(bar.left(), bar.top() - 0.6 * line), tr("holds"))
        painter.drawText(QPointF(bar.left(), bar.bottom() + 1.3 * line), tr("fails"))

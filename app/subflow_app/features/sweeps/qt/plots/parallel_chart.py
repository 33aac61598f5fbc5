"""Parallel coordinates: brushes on axes filter the lines, axes are dragged by their titles into another order."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
)
from PySide6.QtWidgets import QToolTip, QWidget

from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.features.sweeps.core.views.parallel import ParallelLines
from subflow_app.features.sweeps.core.views.picture import Hit
from subflow_app.features.sweeps.core.views.span import spread_texts
from subflow_app.features.sweeps.core.views.view import SweepView
from subflow_app.toolkit.theme import Tokens
from subflow_app.toolkit.widgets.shorthand import named
from subflow_app.vocabulary.language import tr

_COLOURS = "viridis"
_AXIS_REACH = 12.0
_LINE_REACH = 7.0
_CLICK_PX = 4.0
_BRUSH_WIDTH = 14.0
_BAR_WIDTH = 14.0
_SMALLEST_BRUSH = 0.01  # less than this is a click
_KEY_STEP = 0.05
_FADED_ALPHA = 26
_ALPHA = 190


class ParallelChart(QWidget):
    """The axes with their lines. It draws itself: pyqtgraph has nothing for many axes beside each other."""

    hovered = Signal(str)
    chosen = Signal(object)  # Hit
    opened = Signal(object)  # Hit
    order_changed = Signal(object)  # tuple of keys, from left to right
    brushes_changed = Signal()

    def __init__(
        self, shown: SweepView, tokens: Tokens, font: QFont | None = None, parent: QWidget | None = None
    ) -> None:
        """No axes yet."""
        super().__init__(parent)
        self._shown = shown
        named(self, f"sweep_{shown.key}", tr(shown.words))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        if font is not None:
            self.setFont(font)
        self._tokens = tokens
        self.line_width = 1.0
        self.content: ParallelLines | None = None
        self.brushes: dict[str, tuple[float, float]] = {}
        self._axis = 0  # that the keys act on
        self._current: int | None = None  # point that is chosen
        self._hovered: int | None = None
        self._pressed: QPointF | None = None
        self._brushing: tuple[str, float] | None = None
        self._moving: str | None = None
        self._moved_to = 0.0
        self._layer: QPixmap | None = None
        self._layer_state: object = None

    # ---- content ----

    def show_content(self, content: ParallelLines) -> None:
        """Shows this; brushes of axes that are still there stay."""
        self.content = content
        keys = [axis.key for axis in content.axes]
        self.brushes = {key: brush for key, brush in self.brushes.items() if key in keys}
        self._axis = min(self._axis, max(0, len(keys) - 1))
        self._current = self._hovered = None
        self.update()

    def set_brushes(self, brushes: Mapping[str, tuple[float, float]]) -> None:
        """Lets only lines through that pass these stretches of axes, 0 to 1."""
        self.brushes = {key: (min(ends), max(ends)) for key, ends in brushes.items()}
        self.brushes_changed.emit()
        self.hovered.emit(self._passing_words())
        self.update()

    def passing(self) -> list[int]:
        """Points whose lines pass all brushes."""
        return [] if self.content is None else np.flatnonzero(self.content.passing(self.brushes)).tolist()

    def hits(self) -> list[Hit]:
        """The lines that pass all brushes, in the order of the keys."""
        return [self._hit(point) for point in self.passing()]

    def recolour(self, tokens: Tokens) -> None:
        """Recolours everything."""
        self._tokens = tokens
        self.update()

    def set_line_width(self, width: float) -> None:
        """Draws wider lines, for a picture of more pixels."""
        self.line_width = width

    def minimumSizeHint(self) -> QSize:
        """Room for an axis or two."""
        return QSize(240, 160)

    def copy_for(self, tokens: Tokens, font: QFont) -> ParallelChart:
        """Another one in other colours, empty."""
        return ParallelChart(self._shown, tokens, font)

    def show_like(self, shown: ParallelChart) -> None:
        """Shows what another one shows, with its brushes."""
        if shown.content is not None:
            self.brushes = dict(shown.brushes)
            self.show_content(shown.content)

    # ---- drawing ----

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws all of it."""
        # Thousands of lines take a while, and most of the time only what is pointed at has changed.
        state = (id(self.content), tuple(self.brushes.items()), self._moving, self._moved_to, self._tokens, self.size())
        if self._layer is None or state != self._layer_state:
            self._layer = QPixmap(self.size() * self.devicePixelRatioF())
            self._layer.setDevicePixelRatio(self.devicePixelRatioF())
            self._layer_state = state
            layer = QPainter(self._layer)
            self._draw_ground(layer, QRectF(self.rect()))
            layer.end()
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._layer)
        self._draw_front(painter)
        painter.end()

    def draw_on(self, painter: QPainter, target: QRectF) -> None:
        """Draws all of it into an area."""
        painter.save()
        painter.translate(target.topLeft())
        painter.scale(target.width() / self.width(), target.height() / self.height())
        self._draw_ground(painter, QRectF(self.rect()))
        self._draw_front(painter)
        painter.restore()

    def _draw_ground(self, painter: QPainter, area: QRectF) -> None:
        painter.fillRect(area, QColor(self._tokens.base))
        content = self.content
        if content is None or not content.axes:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        passes = content.passing(self.brushes)
        # What is filtered away lies below.
        for point in sorted(range(len(content.places)), key=lambda point: bool(passes[point])):
            painter.setPen(self._pen(content, point, is_passing=bool(passes[point]), is_marked=False))
            painter.drawPolyline(self._line(content, point))

    def _draw_front(self, painter: QPainter) -> None:
        content = self.content
        if content is None or not content.axes:
            return
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.setFont(self.font())
        for point in dict.fromkeys(point for point in (self._current, self._hovered) if point is not None):
            painter.setPen(self._pen(content, point, is_passing=True, is_marked=True))
            painter.drawPolyline(self._line(content, point))
        for number in range(len(content.axes)):
            self._draw_axis(painter, content, number)
        self._draw_bar(painter, content)

    def _pen(self, content: ParallelLines, point: int, *, is_passing: bool, is_marked: bool) -> QPen:
        shade = content.shades[point]
        colour = QColor(self._tokens.muted_text)
        if math.isfinite(shade):
            colour = pg.colormap.get(_COLOURS).map(self._visible(float(shade)), mode="qcolor")
        if not is_passing and not is_marked:
            colour = QColor(self._tokens.muted_text)
            colour.setAlpha(_FADED_ALPHA)
        elif not is_marked:
            colour.setAlpha(_ALPHA)
        width = 3.0 if is_marked else 1.4
        return make_pen(colour.name(QColor.NameFormat.HexArgb), width=width * self.line_width)

    def _visible(self, shade: float) -> float:
        """The part of the colours that is seen on the ground: neither yellow on white nor violet on black."""
        return 0.15 + 0.85 * shade if self._tokens.is_dark else 0.88 * shade

    def _draw_axis(self, painter: QPainter, content: ParallelLines, number: int) -> None:
        axis = content.axes[number]
        metrics = QFontMetricsF(self.font())
        area = self._plot_area()
        x = self._moved_to if axis.key == self._moving else self._x(number)
        has_focus = self.hasFocus() and number == self._axis
        painter.setPen(make_pen(self._tokens.accent if has_focus else self._tokens.muted_text, width=self.line_width))
        painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
        if axis.key in self.brushes:
            low, high = self.brushes[axis.key]
            brush = QRectF(
                QPointF(x - _BRUSH_WIDTH / 2, self._y(min(1.0, high))),
                QPointF(x + _BRUSH_WIDTH / 2, self._y(max(0.0, low))),
            )
            fill = QColor(self._tokens.accent)
            fill.setAlpha(70)
            painter.setPen(make_pen(self._tokens.accent, width=1.5 * self.line_width))
            painter.fillRect(brush, fill)
            painter.drawRect(brush)
        last = number == len(content.axes) - 1
        room = self._spacing() - 2 * _BRUSH_WIDTH
        for place, text in axis.ticks:
            y = self._y(place)
            painter.setPen(make_pen(self._tokens.muted_text, width=self.line_width))
            painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(20.0, min(room, 160.0)))
            width = metrics.horizontalAdvance(shown)
            at = QPointF(x - 8 - width if last else x + 8, y + (metrics.ascent() - metrics.descent()) / 2)
            ground = QColor(self._tokens.base)
            ground.setAlpha(190)
            painter.fillRect(QRectF(at.x() - 2, at.y() - metrics.ascent(), width + 4, metrics.height()), ground)
            painter.setPen(QColor(self._tokens.text))
            painter.drawText(at, shown)
        painter.setPen(QColor(self._tokens.accent if has_focus else self._tokens.text))
        lines = self._title(number)
        room_of_title = self._title_area(number, x)
        where = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignBottom
        painter.drawText(room_of_title, int(where), "\n".join(lines))

    def _title(self, number: int) -> list[str]:
        """The title of an axis in one line, or in two where it has no room in one."""
        assert self.content is not None
        metrics = QFontMetricsF(self.font())
        axis, room = self.content.axes[number], max(30.0, self._spacing() - 8)
        lines = _in_two_lines(axis.title, room, metrics)
        if max(map(metrics.horizontalAdvance, lines)) > room:
            lines = _in_two_lines(axis.short, room, metrics)
        return [metrics.elidedText(line, Qt.TextElideMode.ElideMiddle, room) for line in lines]

    def _draw_bar(self, painter: QPainter, content: ParallelLines) -> None:
        metrics = QFontMetricsF(self.font())
        area = self._plot_area()
        x = self.width() - self._bar_room() + 14
        bar = QRectF(x, area.top(), _BAR_WIDTH, area.height())
        colours = pg.colormap.get(_COLOURS)
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        for step in range(11):
            gradient.setColorAt(step / 10, colours.map(self._visible(step / 10), mode="qcolor"))
        painter.fillRect(bar, gradient)
        painter.setPen(make_pen(self._tokens.border, width=self.line_width))
        painter.drawRect(bar)
        painter.setPen(QColor(self._tokens.text))
        for y, text in zip((area.bottom(), area.center().y(), area.top()), self._bar_texts(content), strict=True):
            painter.drawText(QPointF(bar.right() + 5, y + (metrics.ascent() - metrics.descent()) / 2), text)
        painter.save()
        painter.translate(self.width() - 4 - metrics.height(), area.center().y())
        painter.rotate(-90)
        rect = QRectF(-area.height() / 2, 0, area.height(), metrics.height())
        title = metrics.elidedText(content.colour_title, Qt.TextElideMode.ElideMiddle, area.height())
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, title)
        painter.restore()

    # ---- places ----

    def _plot_area(self) -> QRectF:
        metrics = QFontMetricsF(self.font())
        left = metrics.averageCharWidth() * 8 + 12
        top = 2 * metrics.height() + 14
        return QRectF(
            left, top, max(20.0, self.width() - 2 * left - self._bar_room()), max(20.0, self.height() - top - 14)
        )

    def _bar_room(self) -> float:
        metrics = QFontMetricsF(self.font())
        texts = ["0.000"] if self.content is None else self._bar_texts(self.content)
        return _BAR_WIDTH + 28 + max(map(metrics.horizontalAdvance, texts)) + metrics.height()

    @staticmethod
    def _bar_texts(content: ParallelLines) -> list[str]:
        low, high = content.span
        return spread_texts((low, (low + high) / 2, high))

    def _spacing(self) -> float:
        count = len(self.content.axes) if self.content is not None else 1
        return self._plot_area().width() / max(1, count - 1)

    def _x(self, number: int) -> float:
        return self._plot_area().left() + number * self._spacing()

    def _y(self, place: float) -> float:
        area = self._plot_area()
        return area.bottom() - place * area.height()

    def _place(self, y: float) -> float:
        area = self._plot_area()
        return (area.bottom() - y) / area.height()

    def _title_area(self, number: int, x: float | None = None) -> QRectF:
        metrics = QFontMetricsF(self.font())
        middle = self._x(number) if x is None else x
        # At the ends a title may reach to the edge, not beyond it.
        lines = self._title(number)
        width = max(map(metrics.horizontalAdvance, lines)) + 6
        left = min(max(2.0, middle - width / 2), self.width() - width - 2)
        height = len(lines) * metrics.height() + 2
        return QRectF(left, self._plot_area().top() - 6 - height, width, height)

    def _line(self, content: ParallelLines, point: int) -> QPolygonF:
        line = QPolygonF()
        for number, axis in enumerate(content.axes):
            place = content.places[point, number]
            if math.isfinite(place):
                x = self._moved_to if axis.key == self._moving else self._x(number)
                line.append(QPointF(x, self._y(float(place))))
        return line

    def axis_point(self, key: str, place: float) -> QPointF:
        """Where a place of an axis, 0 (bottom) to 1, is in the widget."""
        assert self.content is not None
        number = [axis.key for axis in self.content.axes].index(key)
        return QPointF(self._x(number), self._y(place))

    def title_point(self, key: str) -> QPointF:
        """Where the title of an axis is in the widget."""
        assert self.content is not None
        number = [axis.key for axis in self.content.axes].index(key)
        return self._title_area(number).center()

    def _axis_at(self, position: QPointF) -> int | None:
        if self.content is None or not self.content.axes:
            return None
        number = min(range(len(self.content.axes)), key=lambda each: abs(self._x(each) - position.x()))
        area = self._plot_area().adjusted(0, -6, 0, 6)
        is_near = abs(self._x(number) - position.x()) <= _AXIS_REACH
        return number if is_near and area.top() <= position.y() <= area.bottom() else None

    def _title_at(self, position: QPointF) -> int | None:
        count = 0 if self.content is None else len(self.content.axes)
        return next((number for number in range(count) if self._title_area(number).contains(position)), None)

    def _line_at(self, position: QPointF) -> int | None:
        content = self.content
        if content is None or len(content.axes) < 2:
            return None
        # Between two axes every line is straight: its height there is all that has to be compared.
        left = int((position.x() - self._plot_area().left()) // self._spacing())
        if not 0 <= left < len(content.axes) - 1:
            return None
        share = (position.x() - self._x(left)) / self._spacing()
        heights = content.places[:, left] * (1 - share) + content.places[:, left + 1] * share
        distances = np.abs(heights - self._place(position.y())) * self._plot_area().height()
        distances[~content.passing(self.brushes)] = np.inf
        distances[~np.isfinite(distances)] = np.inf
        nearest = int(distances.argmin()) if len(distances) else 0
        return nearest if len(distances) and distances[nearest] <= _LINE_REACH else None

    # ---- words ----

    def _hit(self, point: int) -> Hit:
        return Hit(0.0, 0.0, self._words(point), (point,))

    def _words(self, point: int) -> str:
        return "" if self.content is None else self.content.words(point)

    def _passing_words(self) -> str:
        if self.content is None or not self.brushes:
            return ""
        return tr("{passing} of {all} lines pass", passing=len(self.passing()), all=len(self.content.places))

    # ---- mouse ----

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begins a brush on an axis, or moves an axis by its title."""
        if event.button() != Qt.MouseButton.LeftButton or self.content is None:
            return
        self._pressed = event.position()
        title, axis = self._title_at(event.position()), self._axis_at(event.position())
        if title is not None:
            self._moving, self._moved_to = self.content.axes[title].key, self._x(title)
            self._axis = title
        elif axis is not None:
            self._axis = axis
            self._brushing = (self.content.axes[axis].key, self._place(event.position().y()))
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Draws a brush, moves an axis, or tells what is pointed at."""
        if self._brushing is not None:
            key, start = self._brushing
            end = self._place(event.position().y())
            if abs(end - start) > _SMALLEST_BRUSH:
                self.set_brushes({**self.brushes, key: _within(start, end)})
            return
        if self._moving is not None:
            self._moved_to = event.position().x()
            self.update()
            return
        self._show_pointer(event.position())
        line = None if self._axis_at(event.position()) is not None else self._line_at(event.position())
        if line != self._hovered:
            self._hovered = line
            words = self._passing_words() if line is None else self._words(line)
            self.hovered.emit(words)
            QToolTip.showText(event.globalPosition().toPoint(), "" if line is None else words, self)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ends a brush (a click takes it away), puts an axis to its new place, or chooses a line."""
        pressed, brushing, moving = self._pressed, self._brushing, self._moving
        self._pressed = self._brushing = self._moving = None
        if pressed is None:
            return
        is_click = (event.position() - pressed).manhattanLength() <= _CLICK_PX
        if brushing is not None and is_click:
            self.set_brushes({key: ends for key, ends in self.brushes.items() if key != brushing[0]})
        elif moving is not None and not is_click:
            self._put(moving, event.position().x())
        elif brushing is None and moving is None and is_click:
            line = self._line_at(event.position())
            if line is not None:
                self._choose(line)
        self.update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Opens a line; beside all of them, takes all brushes away."""
        line = self._line_at(event.position())
        if self._axis_at(event.position()) is None and line is not None:
            self.opened.emit(self._hit(line))
        elif self._title_at(event.position()) is None:
            self.set_brushes({})

    def leaveEvent(self, event: object) -> None:
        """Nothing is pointed at any more."""
        super().leaveEvent(event)  # type: ignore[arg-type] # the stub knows QEvent alone
        self._hovered = None
        self.update()

    def _show_pointer(self, position: QPointF) -> None:
        if self._title_at(position) is not None:
            self.setCursor(Qt.CursorShape.SizeHorCursor)
        elif self._axis_at(position) is not None:
            self.setCursor(Qt.CursorShape.SizeVerCursor)
        else:
            self.unsetCursor()

    def _put(self, key: str, x: float) -> None:
        assert self.content is not None
        places = {axis.key: self._x(number) for number, axis in enumerate(self.content.axes)}
        places[key] = x
        order = sorted(places, key=places.__getitem__)
        if order != [axis.key for axis in self.content.axes]:
            self._axis = order.index(key)
            self.order_changed.emit(tuple(order))

    def _choose(self, point: int) -> None:
        self._current = point
        hit = self._hit(point)
        self.hovered.emit(hit.text)
        self.chosen.emit(hit)
        self.update()

    # ---- keys ----

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and right: axis (with Ctrl: moves it); up and down: line (with Shift: the brush); Delete: no brush."""
        content = self.content
        key, modifiers = Qt.Key(event.key()), event.modifiers()
        if content is None or not content.axes:
            super().keyPressEvent(event)
            return
        keys = [axis.key for axis in content.axes]
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(key)
        up = {Qt.Key.Key_Up: 1, Qt.Key.Key_Down: -1}.get(key)
        if step is not None and modifiers & Qt.KeyboardModifier.ControlModifier:
            other = min(max(0, self._axis + step), len(keys) - 1)
            keys.insert(other, keys.pop(self._axis))
            self._axis = other
            self.order_changed.emit(tuple(keys))
        elif step is not None:
            self._axis = (self._axis + step) % len(keys)
        elif up is not None and modifiers & Qt.KeyboardModifier.ShiftModifier:
            low, high = self.brushes.get(keys[self._axis], (0.0, 1.0))
            # Up takes from below, down takes from above.
            ends = (min(low + _KEY_STEP, high), high) if up > 0 else (low, max(high - _KEY_STEP, low))
            self.set_brushes({**self.brushes, keys[self._axis]: ends})
        elif up is not None and (passing := self.passing()):
            rank = passing.index(self._current) if self._current in passing else (-1 if up < 0 else 0)
            self._choose(passing[(rank - up) % len(passing)])
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.set_brushes({other: ends for other, ends in self.brushes.items() if other != keys[self._axis]})
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._current is not None:
            self.opened.emit(self._hit(self._current))
        else:
            super().keyPressEvent(event)
            return
        self.update()


def _in_two_lines(title: str, room: float, metrics: QFontMetricsF) -> list[str]:
    """A title as it is if it fits, else parted where its halves are most alike: at spaces, and after dots of keys."""
    places = [number for number, letter in enumerate(title) if letter == " " or (letter == "." and number > 0)]
    if metrics.horizontalAdvance(title) <= room or not places:
        return [title]

    def parts(place: int) -> list[str]:
        end = place + 1 if title[place] == "." else place
        return [title[:end], title[end:].lstrip()]

    return min(map(parts, places), key=lambda lines: max(map(metrics.horizontalAdvance, lines)))


def _within(start: float, end: float) -> tuple[float, float]:
    """A brush; one that reaches an end of the axis takes what stands exactly there, rounding or not."""
    low, high = sorted((start, end))
    return (-1e-9 if low <= 0.0 else low), (1.0 + 1e-9 if high >= 1.0 else high)

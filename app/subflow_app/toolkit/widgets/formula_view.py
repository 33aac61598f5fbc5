"""Lines of words and formulas with fractions, indices and Greek letters, drawn with QPainter.

Formulas are thus crisp at every scale, use the colours of the theme, and load no library. Their text remains available
for screen readers, the clipboard and tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QFont, QFontMetricsF, QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from subflow_app.vocabulary.formula_text import Fraction, Node, Root, Row, Script, Word, parse_formula
from subflow_app.vocabulary.language import tr

_SCRIPT_SCALE, _LEAST_SCALE = 0.75, 0.6
_FRACTION_SCALE = 0.92
_LINE_GAP = 4.0  # between lines, px
_BAR_GAP = 1.5  # above and below the line of a fraction, px


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a line.

    Attributes:
        text: the text, in the form that screen readers receive.
        colour: colour of the text; empty for the colour of the widget.
        is_bold: whether the text is bold.
        is_formula: whether the text is typeset as a formula instead of plain words.
    """

    text: str
    colour: str = ""
    is_bold: bool = False
    is_formula: bool = False


@dataclass(frozen=True, slots=True)
class _Box:
    """A drawable element: its size, and a function that draws it from the left end of its baseline."""

    width: float
    ascent: float
    descent: float
    draw: Callable[[QPainter, QPointF], None]
    gap: float = 0.0  # space before the element, unless it begins a line
    can_break: bool = False


class FormulaView(QWidget):
    """Shows lines of words and formulas; long lines wrap."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        """Start without lines, with this object name."""
        super().__init__(parent)
        self.setObjectName(name)
        self._lines: tuple[tuple[Span, ...], ...] = ()
        self._boxes: list[list[_Box]] | None = None
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def set_lines(self, lines: Sequence[Sequence[Span]]) -> None:
        """Show these lines."""
        self._lines = tuple(map(tuple, lines))
        self.setAccessibleName(self.text())
        self._boxes = None
        self.updateGeometry()
        self.update()

    def text(self) -> str:
        """The lines as text."""
        return "\n".join("".join(span.text for span in line) for line in self._lines)

    # ---- Qt ----

    def changeEvent(self, event: QEvent) -> None:
        """Recompute sizes after a change of the font or palette."""
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self._boxes = None
            self.updateGeometry()
        super().changeEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show a menu with a command to copy the text."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Copy formula"), lambda: QGuiApplication.clipboard().setText(self.text()))
        menu.popup(event.globalPos())

    def hasHeightForWidth(self) -> bool:
        """True, because lines wrap."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all lines at a width."""
        return round(sum(ascent + descent + _LINE_GAP for _boxes, ascent, descent in self._rows(width)) + 0.5)

    def sizeHint(self) -> QSize:
        """The width of the longest line, up to a limit."""
        width = round(min(480.0, max((sum(b.gap + b.width for b in line) for line in self._made()), default=0.0) + 1))
        return QSize(width, self.heightForWidth(max(width, 1)))

    def minimumSizeHint(self) -> QSize:
        """The width of the widest unbreakable element, up to a limit."""
        widest = max((box.width for line in self._made() for box in line), default=0.0)
        return QSize(round(min(widest, 200.0)), self.fontMetrics().height() if self._lines else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = 0.0
        for boxes, ascent, descent in self._rows(self.width()):
            x, base = 0.0, top + ascent
            for number, box in enumerate(boxes):
                x += box.gap if number else 0.0
                box.draw(painter, QPointF(x, base))
                x += box.width
            top += ascent + descent + _LINE_GAP
        painter.end()

    # ---- layout ----

    def _rows(self, width: float) -> Iterator[tuple[list[_Box], float, float]]:
        """Elements of each wrapped line, with its ascent and descent."""
        metrics = QFontMetricsF(self.font())
        for line in self._made():
            rows: list[list[_Box]] = [[]]
            x = 0.0
            for box in line:
                if rows[-1] and box.can_break and x + box.gap + box.width > width:
                    rows.append([])
                    x = 0.0
                x += (box.gap if rows[-1] else 0.0) + box.width
                rows[-1].append(box)
            for row in rows:
                ascent = max([metrics.ascent(), *(box.ascent for box in row)])
                yield row, ascent, max([metrics.descent(), *(box.descent for box in row)])

    def _made(self) -> list[list[_Box]]:
        if self._boxes is None:
            self._boxes = [[box for span in line for box in self._of_span(span)] for line in self._lines]
        return self._boxes

    def _of_span(self, span: Span) -> list[_Box]:
        font = QFont(self.font())
        font.setBold(span.is_bold)
        colour = QColor(span.colour) if span.colour else self.palette().text().color()
        setter = _Setter(font, colour)
        if span.is_formula:
            boxes = [setter.box(part, 1.0) for part in parse_formula(span.text).parts]
        else:
            boxes = [setter.box(Word(word, gap=bool(number)), 1.0) for number, word in enumerate(span.text.split(" "))]
        return boxes


class _Setter:
    """Builds boxes for one font and colour."""

    def __init__(self, font: QFont, colour: QColor) -> None:
        self._font, self._colour = font, colour

    def box(self, node: Node, scale: float) -> _Box:
        if isinstance(node, Word):
            return self._word(node, scale)
        if isinstance(node, Row):
            return self._row(node, scale)
        if isinstance(node, Fraction):
            return self._fraction(node, scale)
        if isinstance(node, Script):
            return self._script(node, scale)
        return self._root(node, scale)

    def _scaled(self, scale: float, *, is_italic: bool = False) -> QFont:
        font = QFont(self._font)
        font.setPointSizeF(max(font.pointSizeF() * max(scale, _LEAST_SCALE), 1.0))
        font.setItalic(is_italic)
        return font

    def _gap(self, node: Node, scale: float) -> float:
        return QFontMetricsF(self._scaled(scale)).horizontalAdvance(" ") if node.gap else 0.0

    def _word(self, node: Word, scale: float) -> _Box:
        font = self._scaled(scale, is_italic=node.is_italic)
        metrics, colour = QFontMetricsF(font), self._colour

        def draw(painter: QPainter, at: QPointF) -> None:
            painter.setFont(font)
            painter.setPen(colour)
            painter.drawText(at, node.text)

        width = metrics.horizontalAdvance(node.text)
        return _Box(width, metrics.ascent(), metrics.descent(), draw, self._gap(node, scale), node.gap)

    def _row(self, node: Row, scale: float) -> _Box:
        boxes = [self.box(part, scale) for part in node.parts]

        def draw(painter: QPainter, at: QPointF) -> None:
            x = at.x()
            for number, box in enumerate(boxes):
                x += box.gap if number else 0.0
                box.draw(painter, QPointF(x, at.y()))
                x += box.width

        width = sum(box.width for box in boxes) + sum(box.gap for box in boxes[1:])
        ascent = max((box.ascent for box in boxes), default=0.0)
        descent = max((box.descent for box in boxes), default=0.0)
        return _Box(width, ascent, descent, draw, self._gap(node, scale), node.gap)

    def _fraction(self, node: Fraction, scale: float) -> _Box:
        above, below = (self.box(part, scale * _FRACTION_SCALE) for part in (node.above, node.below))
        metrics = QFontMetricsF(self._scaled(scale))
        axis = metrics.strikeOutPos()  # height of the fraction line above the baseline
        width = max(above.width, below.width) + 4
        pen = QPen(self._colour, max(1.0, metrics.lineWidth()))

        def draw(painter: QPainter, at: QPointF) -> None:
            y = at.y() - axis
            above.draw(painter, QPointF(at.x() + (width - above.width) / 2, y - _BAR_GAP - above.descent))
            below.draw(painter, QPointF(at.x() + (width - below.width) / 2, y + _BAR_GAP + below.ascent))
            painter.setPen(pen)
            painter.drawLine(QPointF(at.x() + 1, y), QPointF(at.x() + width - 1, y))

        ascent = axis + _BAR_GAP + above.ascent + above.descent
        descent = _BAR_GAP + below.ascent + below.descent - axis
        return _Box(width, ascent, descent, draw, self._gap(node, scale), node.gap)

    def _script(self, node: Script, scale: float) -> _Box:
        base = self.box(node.base, scale)
        small = scale * _SCRIPT_SCALE
        index = None if node.index is None else self.box(node.index, small)
        power = None if node.power is None else self.box(node.power, small)
        drop = 0.0 if index is None else index.ascent * 0.45
        rise = 0.0 if power is None else max(base.ascent - power.ascent * 0.55, power.descent)

        def draw(painter: QPainter, at: QPointF) -> None:
            base.draw(painter, at)
            if index is not None:
                index.draw(painter, QPointF(at.x() + base.width, at.y() + drop))
            if power is not None:
                power.draw(painter, QPointF(at.x() + base.width, at.y() - rise))

        width = base.width + max(0.0 if box is None else box.width for box in (index, power))
        ascent = max(base.ascent, 0.0 if power is None else rise + power.ascent)
        descent = max(base.descent, 0.0 if index is None else drop + index.descent)
        return _Box(width, ascent, descent, draw, self._gap(node, scale), node.gap)

    def _root(self, node: Root, scale: float) -> _Box:
        inside = self.box(node.inside, scale)
        hook = QFontMetricsF(self._scaled(scale)).horizontalAdvance("x") + 2
        pen = QPen(self._colour, 1.0)

        def draw(painter: QPainter, at: QPointF) -> None:
            area = QRectF(at.x(), at.y() - inside.ascent - 2, hook + inside.width + 2, 0)
            low = at.y() + inside.descent
            painter.setPen(pen)
            corners = [(0.0, (area.y() + low) / 2), (hook / 2, low), (hook - 2, area.y()), (area.width(), area.y())]
            painter.drawPolyline([QPointF(area.x() + x, y) for x, y in corners])
            inside.draw(painter, QPointF(at.x() + hook, at.y()))

        width = hook + inside.width + 2
        return _Box(width, inside.ascent + 3, inside.descent, draw, self._gap(node, scale), node.gap)

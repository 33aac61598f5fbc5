"""Forms of a lab step: predictions and questions, with the given answers and their feedback.

Options are radio buttons that wrap their text in narrow panels. A predicted curve is drawn on a small canvas with the
mouse or keys; the canvas later also shows the curve of the run.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionFocusRect,
    QStylePainter,
    QWidget,
)

from subflow_app.features.labs.core.lab import NUMBER, SKETCH, Prediction, Question, Step
from subflow_app.features.labs.core.progress import Answered, Predicted, PredictionValue
from subflow_app.features.labs.core.session import answer_text, prediction_text, quantity
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import UNIT_WORTH, numbers_text
from subflow_app.toolkit.theme import Tokens, current_tokens
from subflow_app.toolkit.widgets.shorthand import Label, h_box, heading, named, v_box
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import typeset

_LEAST_WIDTH = 160
_WIDE = 260
_ALIGNMENT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextWordWrap)
_TEXT_WIDTH = 300  # px; of the field of a free text


class OptionButton(QRadioButton):
    """Radio button that wraps its text, because Qt's own buttons would make the page wider than its panel."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def hasHeightForWidth(self) -> bool:
        """True, because narrow buttons need more lines."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all lines, px."""
        contents = self._part(QStyle.SubElement.SE_RadioButtonContents, QSize(width, self.height()))
        room = QRect(0, 0, max(1, contents.width()), 10_000)
        lines = self.fontMetrics().boundingRect(room, _ALIGNMENT, self._shown()).height()
        return max(super().sizeHint().height(), lines + 6)

    def sizeHint(self) -> QSize:
        """Width of the text on one line, up to a limit, and the height of the text wrapped to this width."""
        width = min(super().sizeHint().width(), _WIDE)
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        """A narrow width, and the height of a single line; `heightForWidth` gives the height of wrapped text."""
        return QSize(min(super().sizeHint().width(), _LEAST_WIDTH), super().sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the indicator of the style and the wrapped text."""
        painter = QStylePainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.rect = self._part(QStyle.SubElement.SE_RadioButtonIndicator, self.size())
        painter.drawPrimitive(QStyle.PrimitiveElement.PE_IndicatorRadioButton, option)
        contents = self._part(QStyle.SubElement.SE_RadioButtonContents, self.size())
        painter.drawItemText(
            contents, _ALIGNMENT, self.palette(), self.isEnabled(), self._shown(), QPalette.ColorRole.WindowText
        )
        if self.hasFocus():
            focus = QStyleOptionFocusRect()
            focus.initFrom(self)
            focus.rect = contents
            painter.drawPrimitive(QStyle.PrimitiveElement.PE_FrameFocusRect, focus)

    def _shown(self) -> str:
        return self.text().replace("&&", "&")

    def _part(self, element: QStyle.SubElement, size: QSize) -> QRect:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.rect = QRect(0, 0, size.width(), size.height())
        return self.style().subElementRect(element, option, self)


COLUMNS = 61
"""Number of columns of a sketch, equally spaced in time."""

_DEFAULT_UNTIL_S = 60.0
_DEFAULT_TOP = 100.0  # in the unit of the sketch
_KEY_STEPS = 20  # presses of an arrow key from bottom to top
_LEFT, _RIGHT, _ABOVE, _BELOW = 46, 10, 8, 24
_HEIGHT = 190


def round_ticks(top: float) -> list[float]:
    """Ticks of an axis from 0 to `top`: at most five steps of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(top))
    step = next(step for step in (0.2 * power, 0.5 * power, power, 2.0 * power) if top / step < 6)
    return [round(number * step, 12) for number in range(math.floor(top / step + 1e-9) + 1)]


class SketchCanvas(QWidget):
    """Canvas on which to draw a curve over time. Arrow keys move the pen, and Delete clears the curve."""

    def __init__(self, prediction: Prediction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "lab_sketch", tr("Sketch of {what}", what=prediction.sketch))
        self.setAccessibleDescription(
            tr("Draw with the mouse, or move the pen with the arrow keys: left and right in time, up and down.")
        )
        self.setToolTip(self.accessibleDescription())
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._unit = prediction.unit
        self._worth = UNIT_WORTH.get(prediction.unit, 1.0)
        self._until_s = prediction.until_s or _DEFAULT_UNTIL_S
        self._top = prediction.top or _DEFAULT_TOP * self._worth
        self._heights: NDArray[np.float64] = np.full(COLUMNS, np.nan)
        self._pen = 0  # column of the pen
        self._last: int | None = None  # column of the mouse at its previous event
        self._is_closed = False
        # times (s) and values of the run; None before show_curve()
        self.curve: tuple[NDArray[np.float64], NDArray[np.float32]] | None = None

    def points(self) -> tuple[tuple[float, float], ...]:
        """Drawn points, (s, SI)."""
        times = np.linspace(0.0, self._until_s, COLUMNS)
        drawn = np.isfinite(self._heights)
        return tuple(zip(times[drawn].tolist(), self._heights[drawn].tolist(), strict=True))

    def show_points(self, points: tuple[tuple[float, float], ...]) -> None:
        """Replaces the drawing with an earlier prediction, interpolated at the columns."""
        times, heights = np.array(points, np.float64).T
        columns = np.linspace(0.0, self._until_s, COLUMNS)
        inside = (columns >= times[0] - 1e-9) & (columns <= times[-1] + 1e-9)
        self._heights = np.where(inside, np.interp(columns, times, heights), np.nan)
        self.update()

    def show_curve(self, times: NDArray[np.float64], values: NDArray[np.float32]) -> None:
        """Shows the curve of a run, and extends the value axis as needed."""
        self.curve = (times, values)
        seen = values[(times <= self._until_s) & np.isfinite(values)]
        if len(seen):
            self._top = max(self._top, float(np.max(seen)) * 1.05)
        self.update()

    def set_closed(self) -> None:
        """Prevents further changes."""
        self._is_closed = True
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(320, _HEIGHT)

    # ---- drawing with mouse and keys ----

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and not self._is_closed:
            self._last = None
            self._draw_to(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and not self._is_closed:
            self._draw_to(event.position())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Moves the pen, or clears the curve."""
        moves = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, 1),
            Qt.Key.Key_Down: (0, -1),
        }
        key = Qt.Key(event.key())
        if self._is_closed or (key not in moves and key not in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace)):
            super().keyPressEvent(event)
            return
        if key in moves:
            across, up = moves[key]
            before = self._heights[self._pen]
            height = 0.0 if math.isnan(before) else float(before)
            self._pen = min(COLUMNS - 1, max(0, self._pen + across))
            height = min(self._top, max(0.0, height + up * self._top / _KEY_STEPS))
            if up or math.isnan(self._heights[self._pen]):
                self._heights[self._pen] = height
        else:
            self._heights[:] = np.nan
            self._pen = 0
        self.update()

    def _draw_to(self, position: QPointF) -> None:
        area = self._area()
        across = (position.x() - area.left()) / max(1.0, area.width())
        column = min(COLUMNS - 1, max(0, round(across * (COLUMNS - 1))))
        height = min(1.0, max(0.0, (area.bottom() - position.y()) / max(1.0, area.height()))) * self._top
        if self._last is None:
            self._heights[column] = height
        else:
            # A quick stroke skips columns; interpolation fills them.
            first, last = sorted((self._last, column))
            ends = np.array([self._heights[self._last], height])
            if column < self._last:
                ends = ends[::-1]
            self._heights[first : last + 1] = (
                np.linspace(ends[0], ends[1], last - first + 1) if last > first else height
            )
        self._last = self._pen = column
        self.update()

    # ---- painting ----

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draws the axes, the drawn curve, and the curve of the run."""
        tokens, area = current_tokens(), self._area()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QColor(tokens.base))
        small = self.font()
        small.setPointSizeF(max(7.0, small.pointSizeF() - 1.5))
        painter.setFont(small)
        for height in round_ticks(self._top / self._worth):
            y = area.bottom() - height * self._worth / self._top * area.height()
            painter.setPen(QColor(tokens.grid))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
            painter.setPen(QColor(tokens.muted_text))
            place = QRectF(0, y - 8, _LEFT - 5, 16)
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, typeset(f"{height:g}"))
        for time_s in round_ticks(self._until_s):
            x = area.left() + time_s / self._until_s * area.width()
            # The last label must not extend beyond the canvas.
            place = QRectF(min(x - 40, self.width() - 80), area.bottom() + 3, 80, 18)
            where = Qt.AlignmentFlag.AlignHCenter if x + 40 <= self.width() else Qt.AlignmentFlag.AlignRight
            painter.drawText(place, where, f"{time_s:g} s")
        painter.drawText(QRectF(area.left() + 4, area.top(), 80, 16), Qt.AlignmentFlag.AlignLeft, self._unit)
        if self.curve is not None:
            times, values = self.curve
            shown = times <= self._until_s
            self._line(painter, times[shown], values[shown].astype(np.float64), QPen(QColor(tokens.accent), 1.5))
        pen = QPen(QColor(tokens.warning), 2.5)
        pen.setStyle(Qt.PenStyle.DashLine if self.curve is not None else Qt.PenStyle.SolidLine)
        self._line(painter, np.linspace(0.0, self._until_s, COLUMNS), self._heights, pen)
        if not self._is_closed:
            self._paint_state(painter, area)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))

    def _paint_state(self, painter: QPainter, area: QRectF) -> None:
        tokens = current_tokens()
        height = self._heights[self._pen]
        if math.isnan(height):
            painter.setPen(QColor(tokens.muted_text))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, tr("draw here"))
        elif self.hasFocus():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.warning))
            painter.drawEllipse(self._place(self._pen * self._until_s / (COLUMNS - 1), float(height)), 4, 4)

    def _line(self, painter: QPainter, times: NDArray[np.float64], values: NDArray[np.float64], pen: QPen) -> None:
        painter.setPen(pen)
        known = np.isfinite(values)
        polygon = QPolygonF(
            [self._place(float(time), float(value)) for time, value in zip(times[known], values[known], strict=True)]
        )
        painter.drawPolyline(polygon)

    def _place(self, time_s: float, value: float) -> QPointF:
        area = self._area()
        share = min(1.0, max(0.0, value / self._top))
        return QPointF(area.left() + time_s / self._until_s * area.width(), area.bottom() - share * area.height())

    def _area(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_LEFT, _ABOVE, -_RIGHT, -_BELOW)


class AskForm(QFrame):
    """Form with a question, options or a number field, a button, and feedback."""

    def __init__(
        self, name: str, title: str, ask: str, options: tuple[str, ...], button: str, number_unit: str | None
    ) -> None:
        """Create an unanswered form. It has no number field if `number_unit` is None, and no unit if it is empty."""
        super().__init__()
        self.setObjectName(name)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.title = heading(Label(title, self))
        self.ask = Label(ask, self, wordWrap=True, textFormat=Qt.TextFormat.MarkdownText)
        self.choices = QButtonGroup(self)
        self.number: QLineEdit | None = None
        for index, option in enumerate(options):
            radio = named(OptionButton(option, self), f"{name}_{index}")
            self.choices.addButton(radio, index)
        number: list[QWidget] = []
        if number_unit is not None:
            self.number = named(QLineEdit(self), f"{name}_number", ask)
            self.number.setMaximumWidth(160)
            number = [self.number, *([Label(number_unit, self)] if number_unit else ())]
        self.button = named(QPushButton(button, self), f"{name}_button")
        self.outcome = named(Label(self, wordWrap=True, textFormat=Qt.TextFormat.MarkdownText), f"{name}_outcome")
        self.outcome.hide()
        row = h_box(None, *number, self.button, None)
        radios = self.choices.buttons()
        self._layout = v_box(self, self.title, self.ask, *radios, row, self.outcome, margins=(10, 8, 10, 8))
        self.button.clicked.connect(self._on_button)
        if self.number is not None:
            self.number.returnPressed.connect(self._on_button)

    @property
    def said(self) -> str:
        """The checked option, or the text of the number field; empty if nothing was entered."""
        if self.number is not None:
            return self.number.text().strip()
        checked = self.choices.checkedButton()
        return "" if checked is None else checked.text().replace("&&", "&")

    def close_answer(self, said: str) -> None:
        """Shows the final answer, and prevents changes."""
        for radio in self.choices.buttons():
            radio.setChecked(radio.text() == said)
            radio.setEnabled(False)
        if self.number is not None:
            self.number.setText(said)
            self.number.setEnabled(False)
        self.button.hide()

    def say(self, text: str, colour: str = "") -> None:
        """Shows feedback; an empty text hides it."""
        self.outcome.setText(text)
        self.outcome.setVisible(bool(text))
        self.outcome.setStyleSheet(f"color: {colour};" if colour else "")

    def _on_button(self) -> None:
        raise NotImplementedError


class QuestionForm(AskForm):
    """Form of a question."""

    answered = Signal(str, str)  # id of the question, the answer

    def __init__(self, question: Question, options: tuple[str, ...]) -> None:
        """Create an unanswered form with the options in this student's order."""
        name = f"lab_question_{question.id}"
        unit = None if question.options else question.unit
        super().__init__(name, tr("Question"), question.ask, options, tr("Answer"), unit)
        self.question = question
        if question.is_text and self.number is not None:
            self.number.setFixedWidth(_TEXT_WIDTH)

    def show_answers(self, given: tuple[Answered, ...], *, is_done: bool) -> None:
        """Shows feedback on the last answer, and prevents changes once the question is answered."""
        tokens, question = current_tokens(), self.question
        if not given:
            return
        last = given[-1]
        if is_done:
            self.close_answer(_said_text(last.value, question.unit))
        colour = tokens.ok if is_done else tokens.warning
        self.say(answer_text(question, given, is_done=is_done), colour)

    def _on_button(self) -> None:
        if self.said:
            self.answered.emit(self.question.id, self.said)
        else:
            self.say(tr("Choose or write an answer first."), current_tokens().warning)


class PredictionForm(AskForm):
    """Form of a prediction."""

    predicted = Signal(object)  # PredictionValue

    def __init__(self, step: Step, options: tuple[str, ...]) -> None:
        """Create an empty form with the options in this student's order."""
        assert step.prediction is not None
        self.step = step
        self.prediction = prediction = step.prediction
        title = tr("Before you run: what do you expect?")
        unit = prediction.unit if prediction.kind == NUMBER else None
        name, button = "lab_prediction", tr("That is my prediction")
        super().__init__(name, title, prediction.ask, options, button, unit)
        self.canvas: SketchCanvas | None = None
        if prediction.kind == SKETCH:
            self.canvas = SketchCanvas(prediction, self)
            self._layout.insertWidget(2, self.canvas)

    def show_prediction(self, made: Predicted | None) -> None:
        """Shows a prediction with its outcome, and prevents changes. None has no effect."""
        if made is None:
            return
        tokens, prediction = current_tokens(), self.prediction
        if self.canvas is not None and isinstance(made.value, tuple):
            self.canvas.show_points(made.value)
            self.canvas.set_closed()
            self.button.hide()
        else:
            assert not isinstance(made.value, tuple)
            self.close_answer(_said_text(made.value, prediction.unit))
        colour = tokens.muted_text if made.came is None else self._colour(made, tokens)
        self.say(prediction_text(self.step, made), colour)

    def _colour(self, made: Predicted, tokens: Tokens) -> str:
        return {True: tokens.ok, False: tokens.warning, None: tokens.text}[made.is_right]

    def _on_button(self) -> None:
        tokens = current_tokens()
        value: PredictionValue
        if self.canvas is not None:
            points = self.canvas.points()
            if len(points) < 2:
                self.say(tr("Draw the curve first: with the mouse, or with the arrow keys."), tokens.warning)
                return
            value = points
        elif self.number is not None:
            try:
                value = quantity(self.said, self.prediction.unit)
            except InputError as error:
                self.say(str(error), tokens.warning)
                return
        elif self.said:
            value = self.said
        else:
            self.say(tr("Choose an answer first."), tokens.warning)
            return
        self.predicted.emit(value)


def _said_text(value: str | float, unit: str) -> str:
    """Text of a value for the number field, without its unit."""
    return value if isinstance(value, str) else numbers_text(value, unit).removesuffix(f" {unit}")

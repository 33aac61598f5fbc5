"""What a step asks: predictions and questions, with what was said and what came of it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QLineEdit,
    QPushButton,
    QWidget,
)

from subflow_app.features.labs.core.lab import NUMBER, SKETCH, Question, Step
from subflow_app.features.labs.core.outcomes import answer_text, prediction_text
from subflow_app.features.labs.core.progress import Answered, Predicted, PredictionValue
from subflow_app.features.labs.core.session import quantity
from subflow_app.features.labs.qt.option_button import OptionButton
from subflow_app.features.labs.qt.sketch import SketchCanvas
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import numbers_text
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import Tokens, current_tokens
from subflow_app.toolkit.widgets.shorthand import h_box, heading, named, v_box
from subflow_app.vocabulary.language import tr


class AskForm(QFrame):
    """A question with options or a field for a number, a button, and what is said to the answer."""

    def __init__(
        self, name: str, title: str, ask: str, options: tuple[str, ...], button: str, number_unit: str | None
    ) -> None:
        """Not answered yet; without a unit, not even an empty one, no number is asked for."""
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
        """What is chosen, or stands in the field."""
        if self.number is not None:
            return self.number.text().strip()
        checked = self.choices.checkedButton()
        return "" if checked is None else checked.text().replace("&&", "&")

    def close_answer(self, said: str) -> None:
        """Shows what was said; it cannot be changed any more."""
        for radio in self.choices.buttons():
            radio.setChecked(radio.text() == said)
            radio.setEnabled(False)
        if self.number is not None:
            self.number.setText(said)
            self.number.setEnabled(False)
        self.button.hide()

    def say(self, text: str, colour: str = "") -> None:
        """Tells what came of it; empty: nothing."""
        self.outcome.setText(text)
        self.outcome.setVisible(bool(text))
        self.outcome.setStyleSheet(f"color: {colour};" if colour else "")

    def _on_button(self) -> None:
        raise NotImplementedError


class QuestionForm(AskForm):
    """A question of a step."""

    answered = Signal(str, str)  # its id, what is said

    def __init__(self, question: Question, options: tuple[str, ...]) -> None:
        """Not answered yet; the options in the order in which this student has them."""
        name = f"lab_question_{question.id}"
        unit = None if question.options else question.unit
        super().__init__(name, tr("Question"), question.ask, options, tr("Answer"), unit)
        self.question = question

    def show_answers(self, given: tuple[Answered, ...], *, is_done: bool) -> None:
        """Shows what was answered so far."""
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
    """What is expected of a run before it is made."""

    predicted = Signal(object)  # PredictionValue

    def __init__(self, step: Step, options: tuple[str, ...]) -> None:
        """Not said yet; the options in the order in which this student has them."""
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
        """Shows what was predicted, and what came of it."""
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
    """What stands in the field again."""
    return value if isinstance(value, str) else numbers_text(value, unit).removesuffix(f" {unit}")

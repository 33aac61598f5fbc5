"""Page of one lab step: its text, its forms, feedback on missing parts, and navigation buttons.

The text consists of Markdown paragraphs with typeset formulas between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)

from subflow_app.features.labs.core.lab import Step
from subflow_app.features.labs.core.session import LabSession, StepState
from subflow_app.features.labs.qt.forms import PredictionForm, QuestionForm
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import current_tokens, muted, set_style
from subflow_app.toolkit.widgets.formula_view import FormulaView, Span
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.shorthand import Label, h_box, heading, named, v_box
from subflow_app.vocabulary.formula_text import block_formulas, split_blocks
from subflow_app.vocabulary.language import tr

if TYPE_CHECKING:
    from subflow_app.features.labs.qt.explorable_view import ExplorableView


_INDENT = 24


class StepText(QWidget):
    """Shows Markdown text with typeset formulas."""

    link_clicked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lab_text")
        self._text = ""
        self._body = QWidget(self)
        self._outside = v_box(self, self._body, margins=0)

    def text(self) -> str:
        """The shown text as Markdown."""
        return self._text

    def show_text(self, text: str) -> None:
        self._text = text
        old, self._body = self._body, QWidget(self)
        inside = v_box(self._body, margins=0, spacing=10)
        for is_block, part in split_blocks(text):
            if is_block:
                inside.addLayout(h_box(None, _INDENT, (_formulas(part), 1)))
            else:
                inside.addWidget(self._words(part))
        self._outside.replaceWidget(old, self._body)
        old.hide()
        old.deleteLater()

    def _words(self, text: str) -> QLabel:
        label = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop, textFormat=Qt.TextFormat.MarkdownText)
        flags = Qt.TextInteractionFlag
        label.setTextInteractionFlags(
            flags.TextSelectableByMouse | flags.LinksAccessibleByMouse | flags.LinksAccessibleByKeyboard
        )
        label.linkActivated.connect(self.link_clicked)
        label.setText(text)
        return label


def _formulas(block: str) -> FormulaView:
    view = FormulaView("lab_formula")
    view.set_lines([(Span(formula, is_formula=True),) for formula in block_formulas(block)])
    return view


class StepPage(QWidget):
    """Shows one step of a lab in progress."""

    list_wanted = Signal()
    back_wanted = Signal()
    next_wanted = Signal()
    hint_wanted = Signal()
    result_wanted = Signal()
    document_wanted = Signal()
    link_clicked = Signal(str)
    predicted = Signal(object)  # PredictionValue
    answered = Signal(str, str)  # id of the question, the answer

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("lab_step_page")
        self.to_list = named(QToolButton(self, autoRaise=True), "lab_to_list")
        self.to_list.setIcon(icon("example"))
        self.to_list.setText(tr("All labs"))
        self.to_list.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.to_list.setToolTip(tr("Back to the list of labs; you can continue this one later"))
        self.to_list.clicked.connect(self.list_wanted)
        self.lab_title = named(muted(ElidedLabel(self, Qt.TextElideMode.ElideRight)), "lab_title")
        self.place = named(muted(Label(self)), "lab_place")
        self.place.setContentsMargins(0, 0, 10, 0)
        self.bar = named(QProgressBar(self, textVisible=False), "lab_progress", tr("Steps that are passed"))
        self.bar.setFixedHeight(5)
        self.content = named(QWidget(self), "lab_content")
        self.step_title = heading(_label("lab_step_title", self.content), 1.3)
        self.text = StepText(self.content)
        self.text.link_clicked.connect(self.link_clicked)
        self._forms = v_box(None, spacing=8)
        self.hints = _label("lab_hints", self.content)
        self.hints.setTextFormat(Qt.TextFormat.MarkdownText)
        parts = (self.step_title, self.text, self._forms, self.hints, None)
        self._inside = v_box(self.content, *parts, margins=(12, 8, 12, 8), spacing=10)
        self.scrolled = named(QScrollArea(self, widgetResizable=True), "lab_scroll", tr("The step"))
        self.scrolled.setFrameShape(QFrame.Shape.NoFrame)
        self.scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scrolled.setWidget(self.content)
        self.verdict = _label("lab_verdict", self)
        self.reopen = named(QPushButton(tr("Open the lab's scenario again"), self), "lab_reopen")
        self.hint = QPushButton(tr("Hint"), self)
        self.back = QPushButton(tr("Back"), self)
        self.next = QPushButton(tr("Next"), self)
        self.result = QPushButton(tr("Write result…"), self)
        buttons = QHBoxLayout()
        for name, button, signal in (
            ("lab_hint", self.hint, self.hint_wanted),
            ("lab_result", self.result, self.result_wanted),
            ("lab_back", self.back, self.back_wanted),
            ("lab_next", self.next, self.next_wanted),
        ):
            button.setObjectName(name)
            button.clicked.connect(signal)
            buttons.addWidget(button)
            if button is self.result:
                buttons.addStretch(1)
        self.reopen.clicked.connect(self.document_wanted)
        head = h_box(None, self.to_list, (self.lab_title, 1), self.place)
        below = v_box(None, self.verdict, self.reopen, buttons, margins=(12, 0, 12, 8))
        v_box(self, head, self.bar, (self.scrolled, 1), below, margins=(0, 4, 0, 0), spacing=4)
        self.setFocusProxy(self.next)
        self.explorable: ExplorableView | None = None
        self.prediction: PredictionForm | None = None
        self.questions: tuple[QuestionForm, ...] = ()
        self.shown: Step | None = None  # None before the first step
        self._session: LabSession | None = None  # session of the lab to which the shown step belongs
        self.say_reopen(is_wanted=False)
        self._style()

    def show_step(self, session: LabSession, step: Step, *, has_following: bool = False) -> None:
        """Shows the current state of a step. The forms are rebuilt only when the step changes.

        Args:
            session: session of the lab.
            step: the step.
            has_following: whether another lab follows.
        """
        lab, steps = session.lab, session.lab.steps
        number = steps.index(step)
        passed = session.progress.passed(lab)
        title = {"number": lab.number, "title": lab.title}
        code = session.progress.code
        self.lab_title.setText(
            tr("Lab {number} for {code}: {title}", code=code, **title) if code else tr("Lab {number}: {title}", **title)
        )
        self.place.setText(tr("Step {number} of {count}", number=number + 1, count=len(steps)))
        self.bar.setRange(0, len(steps))
        self.bar.setValue(passed)
        if step is not self.shown or session is not self._session:
            self.shown, self._session = step, session
            self.step_title.setText(step.title)
            introduction = f"{lab.introduction}\n\n---\n\n" if number == 0 and lab.introduction else ""
            self.text.show_text(introduction + step.text)
            self._make_forms(session, step)
            self.scrolled.verticalScrollBar().setValue(0)
            # With the focus here, the keys scroll the text, and Tab moves to the first form.
            self.scrolled.setFocus()
            self.say("")
        made, state = session.step_progress(step), session.state(step)
        if self.prediction is not None:
            self.prediction.show_prediction(made.prediction)
        for form in self.questions:
            # Questions appear only after the prediction has been made.
            form.setVisible(self.prediction is None or made.prediction is not None)
            given = made.answers.get(form.question.id, ())
            form.show_answers(given, is_done=session.is_answered(step, form.question))
        shown = session.hints(step)
        self.hints.setText("\n\n".join(f"**{tr('Hint')}:** {hint}" for hint in shown))
        self.hints.setVisible(bool(shown))
        left = len(step.hints) - len(shown)
        self.hint.setVisible(bool(step.hints))
        self.hint.setEnabled(left > 0 and state is not StepState.PASSED)
        self.hint.setText(tr("Hint ({count} left)", count=left) if left else tr("Hint"))
        self.back.setEnabled(number > 0)
        is_last = number + 1 == len(steps)
        is_passed = state is StepState.PASSED
        is_over = session.is_finished and is_last
        self.next.setText(tr("Next lab") if is_over and has_following else tr("All labs") if is_over else tr("Next"))
        self.next.setEnabled(
            (is_passed and not is_last) or is_over or (state is StepState.ACTIVE and step.is_read_only)
        )
        self.result.setVisible(session.is_finished)
        if is_passed:
            done = tr("The lab is done.") if is_over else tr("Done.")
            self.say(f"✓ {done}", current_tokens().ok)

    def say(self, text: str, colour: str = "") -> None:
        """Shows a message below the step, e.g. the missing parts; an empty text hides the message."""
        self.verdict.setText(text)
        self.verdict.setVisible(bool(text))
        self.verdict.setStyleSheet(f"color: {colour or current_tokens().text};")

    def show_outcome(self, question_id: str) -> None:
        """Scrolls to the feedback on an answer after the layout has placed it."""
        form = next((form for form in self.questions if form.question.id == question_id), None)
        if form is not None:
            self._inside.activate()
            QTimer.singleShot(0, form.outcome, lambda: self.scrolled.ensureWidgetVisible(form.outcome, 0, 12))

    def show_prediction_form(self) -> None:
        """Scrolls to the form of the prediction."""
        if self.prediction is not None:
            self.scrolled.ensureWidgetVisible(self.prediction)

    def say_reopen(self, *, is_wanted: bool) -> None:
        """Shows or hides the button that reopens the lab's scenario."""
        self.reopen.setVisible(is_wanted)

    def _style(self) -> None:
        set_style(
            self.bar,
            lambda t: (
                f"QProgressBar {{ border: none; background: {t.grid}; }}"
                f"QProgressBar::chunk {{ background: {t.accent}; }}"
            ),
        )
        set_style(
            self.content,
            lambda t: (
                f"#lab_content {{ background: {t.base}; }}"
                f"PredictionForm, QuestionForm, ExplorableView {{ border: 1px solid {t.border}; border-radius: 5px; }}"
            ),
        )
        set_style(self.hints, lambda t: f"background: {t.info_fill}; padding: 6px;")

    def _make_forms(self, session: LabSession, step: Step) -> None:
        shown = (self.explorable, self.prediction, *self.questions)
        old: Sequence[QWidget] = [form for form in shown if form is not None]
        for form in old:
            self._forms.removeWidget(form)
            form.hide()
            form.deleteLater()
        self.explorable = None
        if step.exploration is not None:
            from subflow_app.features.labs.qt.explorable_view import ExplorableView

            self.explorable = ExplorableView(step.exploration.explorable)
            self._forms.addWidget(self.explorable)
        asked = step.prediction
        self.prediction = None if asked is None else PredictionForm(step, session.options(step, asked))
        self.questions = tuple(QuestionForm(each, session.options(step, each)) for each in step.questions)
        if self.prediction is not None:
            self.prediction.predicted.connect(self.predicted)
            self._forms.addWidget(self.prediction)
        for form in self.questions:
            form.answered.connect(self.answered)
            self._forms.addWidget(form)


def _label(name: str, parent: QWidget) -> QLabel:
    label = named(Label(parent, wordWrap=True, alignment=Qt.AlignmentFlag.AlignTop), name)
    return label

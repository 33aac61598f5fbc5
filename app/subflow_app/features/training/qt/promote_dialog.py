"""Dialog that asks for the name of a policy in the library, and for a note."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from subflow_app.features.training.core.training_progress import Training
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.shorthand import Label, accept_buttons, named, v_box
from subflow_app.vocabulary.language import tr
from subflow_sim.parameter import MAX_NAME_LENGTH
from subflow_sim.policy_library import NEUTRAL, RANDOM, is_policy_name


class Promotion(NamedTuple):
    """Name and note entered in `PromoteDialog`."""

    name: str
    note: str


def suggestion(training: Training, taken: Collection[str]) -> Promotion:
    """A free name for the policy of a training run, and a note on its newest evaluation."""
    newest = training.comparison
    note = ""
    if newest is not None and newest.best_classic:
        note = tr(
            "{gain} times the goodput of {classic} on {scenario}, held-out seeds.",
            gain=f"{newest.gain:.2f}",
            classic=newest.best_classic,
            scenario=training.scenario,
        )
    return Promotion(_free_name(training.agent, taken), note)


class PromoteDialog(QDialog):
    """Asks for the name and a note for one policy. Reports an invalid name while it is being typed."""

    def __init__(self, training: Training, taken: Collection[str], parent: QWidget | None = None) -> None:
        """Asks for the name of the policy of ``training``; ``taken`` are the names of existing policies."""
        super().__init__(parent)
        self.setObjectName("promote_dialog")
        self.setWindowTitle(tr("Promote to library"))
        self._taken = frozenset((*taken, NEUTRAL, RANDOM))
        suggested = suggestion(training, self._taken)
        about = Label(
            tr(
                "The best policy of {training} so far goes into your library. Every scenario can then name it: {how}.",
                training=training.name,
                how=f'controller = {{ name = "{training.controller}", policy = "…" }}',
            ),
            self,
        )
        about.setWordWrap(True)
        self.name = named(QLineEdit(suggested.name, self), "promote_name")
        self.name.setMaxLength(MAX_NAME_LENGTH)
        self.note = named(QPlainTextEdit(self, tabChangesFocus=True), "promote_note")
        self.note.setPlaceholderText(tr("Strengths and weaknesses"))
        self.note.setPlainText(suggested.note)
        self.note.setMinimumHeight(4 * self.fontMetrics().height())
        self.problem = named(Label(self, wordWrap=True), "promote_problem")
        self.problem.setStyleSheet(f"color: {current_tokens().error};")
        # Reserves space, so that the height of the dialog does not change during typing.
        self.problem.setMinimumHeight(self.fontMetrics().height())
        form = QFormLayout()
        form.addRow(tr("&Name:"), self.name)
        form.addRow("", self.problem)
        form.addRow(tr("N&ote:"), self.note)
        buttons, self.promote = accept_buttons(self, tr("Promote"))
        v_box(self, about, form, buttons)
        self.resize(460, self.sizeHint().height())
        self.name.textChanged.connect(self._check)
        self._check(self.name.text())
        self.name.selectAll()

    @property
    def answer(self) -> Promotion:
        """The entered name and note."""
        return Promotion(self.name.text().strip(), self.note.toPlainText().strip())

    def _check(self, text: str) -> None:
        name, problem = text.strip(), ""
        if not name:
            problem = tr("A policy needs a name.")
        elif name in self._taken:
            problem = tr("A policy called {name} exists already.", name=name)
        elif not is_policy_name(name):
            problem = tr("Letters, digits, dots, dashes and underscores only, a letter or digit first.")
        self.problem.setText(problem)
        self.promote.setEnabled(not problem)


def _free_name(agent: str, taken: Collection[str]) -> str:
    return next(name for number in range(1, len(taken) + 2) if (name := f"my-{agent}-{number}") not in taken)

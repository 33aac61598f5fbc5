"""Asks what a new script is called, and which flow is to have it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtWidgets import QDialog, QFormLayout, QLineEdit, QWidget

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import current_tokens
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.shorthand import accept_buttons, named, v_box
from subflow_app.vocabulary.language import tr
from subflow_sim.parameter import MAX_NAME_LENGTH
from subflow_sim.scenario_model import ScriptKind


class NewScript(NamedTuple):
    """What was answered.

    Attributes:
        name: by which flows choose it.
        flows: that have it from now on.
    """

    name: str
    flows: tuple[str, ...]


class NewScriptDialog(QDialog):
    """A name that is taken or impossible is said at once."""

    def __init__(
        self,
        kind: ScriptKind,
        name: str,
        flows: Sequence[str],
        check: Callable[[str], object],
        parent: QWidget | None = None,
    ) -> None:
        """Asks about a new script.

        Args:
            kind: of it.
            name: that is suggested.
            flows: that could have it.
            check: raises InputError for a name that it cannot have.
            parent: its owner.
        """
        super().__init__(parent)
        self.setObjectName("new_script_dialog")
        is_controller = kind == "controller"
        self.setWindowTitle(tr("New controller") if is_controller else tr("New scheduler"))
        self._check_name = check
        self.name = named(QLineEdit(name, self), "new_script_name")
        self.name.setMaxLength(MAX_NAME_LENGTH)
        self.name.selectAll()
        choices: list[tuple[object, str]] = [((flow,), flow) for flow in flows]
        if len(flows) > 1:
            choices.append((tuple(flows), tr("all flows")))
        choices.append(((), tr("none for now")))
        self.flows = Choice("new_script_flows", choices, self)
        self.problem = named(Label(self, wordWrap=True), "new_script_problem")
        self.problem.setStyleSheet(f"color: {current_tokens().error};")
        # Keeps its room, so that the dialog does not jump while one types.
        self.problem.setMinimumHeight(2 * self.fontMetrics().height())
        form = QFormLayout()
        form.addRow(tr("&Name:"), self.name)
        form.addRow("", self.problem)
        form.addRow(tr("&For the flow:"), self.flows)
        buttons, self.add = accept_buttons(self, tr("Add"))
        v_box(self, form, buttons)
        self.resize(420, self.sizeHint().height())
        self.name.textChanged.connect(self._check)
        self._check(name)

    @property
    def answer(self) -> NewScript:
        """What is filled in."""
        return NewScript(self.name.text().strip(), tuple(self.flows.currentData()))

    def _check(self, text: str) -> None:
        problem = ""
        try:
            self._check_name(text.strip())
        except InputError as error:
            problem = problem_text(str(error))
        self.problem.setText(problem)
        self.add.setEnabled(not problem)

"""What to learn, on what and for how long: the parameter form over a draft, and the button that starts it."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton, QWidget

from subflow_app.features.editor.qt.inspector.param_form import ParamForm
from subflow_app.features.training.core.training_draft import FROM_FILE, TrainingDraft
from subflow_app.toolkit.theme import call_style, set_style
from subflow_app.toolkit.widgets.shorthand import heading, named, v_box
from subflow_app.vocabulary.language import tr


class StartForm(QWidget):
    """Fills in a draft; what it comes to is the draft's own business."""

    changed = Signal()  # a value was typed or chosen
    file_wanted = Signal()  # a scenario file shall be asked for

    def __init__(self, draft: TrainingDraft, start: QAction, parent: QWidget | None = None) -> None:
        """Shows ``draft``; ``start`` is what the button does."""
        super().__init__(parent)
        named(self, "start_form", tr("New training"))
        self.draft = draft  # what is filled in
        self._document = ""
        self._draws = False
        self.form = named(ParamForm(self), "training_form")
        self.form.committed.connect(self._on_committed)
        self.button = named(QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextOnly), "start_training")
        self.button.setDefaultAction(start)
        self.button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        heading(self.button, is_demi=True)
        set_style(self.button, call_style)
        self.button.setSizePolicy(self.button.sizePolicy().Policy.Expanding, self.button.sizePolicy().Policy.Fixed)
        layout = v_box(self, (self.form, 1), margins=0, spacing=0)
        layout.addLayout(v_box(None, self.button, margins=(14, 8, 12, 10)))
        self.setFocusProxy(self.form)
        self.show_draft()

    def set_document(self, title: str) -> None:
        """Says what the scenario in the window is called."""
        if title != self._document:
            self._document = title
            self.show_draft()

    def set_draws(self, draws: bool) -> None:
        """Says whether the chosen scenario is a distribution."""
        if draws != self._draws:
            self._draws = draws
            self.show_draft()

    def set_scenario(self, path: str) -> None:
        """Takes a scenario file that was asked for."""
        self.draft.set_value("scenario", path)
        self.show_draft()
        self.changed.emit()

    def commit_pending(self) -> None:
        """Makes everything count that is typed but not entered yet."""
        self.form.commit_pending()

    def show_problem(self) -> bool:
        """Goes to the first field with a problem, which says there what it is; returns whether there is one."""
        problems = self.draft.problems()
        row = self.form.row(problems[0].key) if problems else None
        if row is not None:
            row.set_focus()
        return bool(problems)

    def show_draft(self) -> None:
        """Shows the draft as it is now."""
        self.form.show_form(self.draft, self.draft.form(self._document, draws=self._draws))

    def _on_committed(self, key: str, value: object, _session: int) -> None:
        if key.endswith(".scenario") and value == FROM_FILE:
            # Back to what was chosen until a file is.
            self.show_draft()
            self.file_wanted.emit()
            return
        self.draft.set_value(key, value)  # type: ignore[arg-type] # editors give values of a file
        self.show_draft()
        self.changed.emit()

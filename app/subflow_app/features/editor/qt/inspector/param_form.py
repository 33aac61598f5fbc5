"""A form: the fields of one part of the scenario under their headings, kept in step with the document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QToolButton, QVBoxLayout, QWidget

from subflow_app.features.editor.core.form import Form, FormGroup
from subflow_app.features.editor.core.form_text import Previewer
from subflow_app.features.editor.qt.inspector.field_row import FieldRow
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.problem_label import ProblemLabel
from subflow_app.toolkit.widgets.shorthand import h_box, heading, named, v_box
from subflow_app.vocabulary.language import tr


class ParamForm(QScrollArea):
    """Shows a `Form`; reports what is committed and what the header's button asks for, and changes nothing itself."""

    committed = Signal(str, object, int)  # key, TOML value or None, session
    focused = Signal(str)  # key of the field that has the focus now
    add_event_wanted = Signal()
    remove_event_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.form: Form | None = None  # what is shown
        self._rows: list[FieldRow] = []
        self._hints: list[QLabel] = []
        self._is_read_only = False
        self._before: QWidget | None = None
        named(self, "paramForm", tr("Properties"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def rows(self) -> Iterator[FieldRow]:
        """Yield the rows from top to bottom."""
        yield from self._rows

    def row(self, key: str) -> FieldRow | None:
        """Return the row of a key; None if the form has none."""
        return next((row for row in self._rows if row.key == key), None)

    def show_form(self, doc: Previewer, form: Form | None) -> None:
        """Show a form. Widgets stay where the fields are the same, so that cursor and focus do too."""
        fields = list(form.fields()) if form else []
        is_same = (
            self.form is not None
            and form is not None
            and form.key == self.form.key
            and len(fields) == len(self._rows)
            and _outline(form) == _outline(self.form)
            and all(row.fits(field) for row, field in zip(self._rows, fields, strict=True))
        )
        self.form = form
        if form is None or not is_same:
            self._build(doc, form)
            return
        for row, field in zip(self._rows, fields, strict=True):
            row.show_field(field)
        for label, hint in zip(self._hints, (group.hint for group in form.groups if group.hint), strict=True):
            label.setText(hint)
        self._show_header()

    def set_read_only(self, read_only: bool) -> None:
        """Allow looking only."""
        self._is_read_only = read_only
        for row in self._rows:
            row.set_read_only(read_only)
        for button in self.findChildren(QToolButton, "headerAction"):
            button.setEnabled(not read_only)

    def set_tab_before(self, widget: QWidget) -> None:
        """Let Tab come to the fields of all further forms from this widget; else they come last in the window."""
        self._before = widget

    def commit_pending(self) -> None:
        """Make everything count that is typed but not entered yet."""
        for row in list(self._rows):
            row.commit()

    # --- inside -----------------------------------------------------------------------------------------------------

    def _build(self, doc: Previewer, form: Form | None) -> None:
        had_focus = self.focusWidget() is not None and self.isAncestorOf(self.focusWidget())
        focused_key = next((row.key for row in self._rows if row.editor.hasFocus()), "")
        for row in self._rows:
            # Going away takes the focus from an editor, which must not commit to the document we change over to.
            row.blockSignals(True)
        self._rows, self._hints = [], []
        content = named(QWidget(), "paramFormContent")
        layout = v_box(content, margins=(14, 10, 12, 14), spacing=0)
        self._add_header(layout)
        for group in form.groups if form else ():
            self._add_group(doc, layout, group)
        layout.addStretch(1)
        for row in self._rows:
            row.setParent(content)  # it goes with its widgets: what still waits to be shown in them is not
        # The old content may hold the editor that is telling us of its commit: Qt deletes it when that is over.
        old = self.takeWidget()
        if old is not None:
            old.hide()
            old.deleteLater()
        self.setWidget(content)
        self._order_fields()
        self._show_header()
        if self._is_read_only:
            self.set_read_only(True)
        again = self.row(focused_key)
        if had_focus and again is not None:
            again.set_focus()

    def _order_fields(self) -> None:
        if self._before is not None:
            stops = (stop for row in self._rows for stop in row.tab_stops)
            for first, second in pairwise((self._before, self._action, *stops)):
                QWidget.setTabOrder(first, second)

    def _add_header(self, layout: QVBoxLayout) -> None:
        self._title = named(Label(wordWrap=True), "formTitle")
        heading(self._title, 1.25, is_demi=True)
        self._action = named(QToolButton(autoRaise=True), "headerAction")
        self._action.setIconSize(QSize(16, 16))
        self._action.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._action.clicked.connect(self._on_action)
        line = h_box(None, (self._title, 1), (self._action, 0, Qt.AlignmentFlag.AlignTop), spacing=4)
        self._subtitle = named(muted(Label(wordWrap=True)), "formSubtitle")
        self._own_problem = ProblemLabel("formProblem")
        layout.addLayout(v_box(None, line, self._subtitle, 6, self._own_problem, spacing=0))

    def _add_group(self, doc: Previewer, layout: QVBoxLayout, group: FormGroup) -> None:
        if group.title:
            title = heading(Label(group.title, indent=0), is_demi=True)
            layout.addSpacing(16)
            layout.addWidget(title)
        if group.hint:
            hint = muted(Label(group.hint, wordWrap=True))
            self._hints.append(hint)
            layout.addWidget(hint)
        grid = QGridLayout()
        grid.setContentsMargins(0, 6, 0, 0)
        grid.setHorizontalSpacing(6)
        grid.setVerticalSpacing(5)
        grid.setColumnMinimumWidth(0, self._label_width())
        grid.setColumnStretch(2, 1)
        next_row = 0
        for field in group.fields:
            row = FieldRow(doc, field, self.viewport())
            row.committed.connect(self.committed)
            row.focused.connect(self._on_focused)
            next_row = row.add_to(grid, next_row)
            self._rows.append(row)
        layout.addLayout(grid)

    def _label_width(self) -> int:
        """One width for all forms, so that editors do not shift when another part is selected."""
        return self.fontMetrics().horizontalAdvance(tr("Receive buffer")) + 6

    def _show_header(self) -> None:
        form = self.form
        self._title.setText(form.title if form else "")
        subtitle = " · ".join(filter(None, (form.kind, form.subtitle))) if form else ""
        self._subtitle.setText(subtitle)
        self._subtitle.setVisible(bool(subtitle))
        problems = form.problems if form else ()
        lines = [f"{p.key}: {problem_text(p.message)}" if p.key else problem_text(p.message) for p in problems]
        self._own_problem.say("\n".join(lines))
        key = form.key if form else ""
        self._action.setVisible(key == "events" or key.startswith("events."))
        self._action.setText(tr("Add event") if key == "events" else tr("Remove"))
        self._action.setIcon(icon("add" if key == "events" else "delete"))
        self._action.setToolTip(tr("Add a timed change of a link") if key == "events" else tr("Remove this event"))

    def _on_focused(self, key: str) -> None:
        row = self.row(key)
        if row is not None:
            self.ensureWidgetVisible(row.editor, 0, 24)
            if row.message.isVisible():
                # What is wrong with the value stands below it; the value itself stays in view.
                self.ensureWidgetVisible(row.message, 0, 6)
        self.focused.emit(key)

    def _on_action(self) -> None:
        key = self.form.key if self.form else ""
        if key == "events":
            self.add_event_wanted.emit()
        elif key.startswith("events."):
            self.remove_event_wanted.emit(int(key.partition(".")[2]))


def _outline(form: Form) -> list[tuple[str, bool]]:
    """What the labels beside the rows depend on: titles of groups, and which of them have a hint."""
    return [(group.title, bool(group.hint)) for group in form.groups]

"""A form with the fields of one part of the scenario, in groups and kept in sync with the document.

Each row has a label, an editor and a reset button; the problem of the value appears below them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from subflow_app.features.editor.core.form import FieldOption, Form, FormField, FormGroup, default_text
from subflow_app.features.editor.core.form_text import Previewer, TextCheck, check_text, read_text
from subflow_app.features.editor.qt.inspector.editors import (
    ChoiceEditor,
    FlagEditor,
    PairEditor,
    PathsEditor,
    TextEditor,
)
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.labels import IconLabel, ProblemLabel, when_released
from subflow_app.toolkit.widgets.shorthand import Label, as_written, h_box, heading, named, v_box
from subflow_app.toolkit.workspaces import FIELD_HEIGHT
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.plain_text import capitalised
from subflow_sim.params import Dimension

_IN_WORDS = {
    Dimension.RATE: fmt.rate,
    Dimension.TIME: fmt.time,
    Dimension.SIZE: fmt.size,
    Dimension.QUEUE: fmt.packets,
    Dimension.RATIO: fmt.ratio,
}
_BARE_EXAMPLE = re.compile(r" or [0-9.]+\Z")

_ROW_GAP = 2  # px between two rows
_MOST_LABEL = 78  # px

_Editor: TypeAlias = TextEditor | ChoiceEditor | FlagEditor | PairEditor | PathsEditor


class FieldRow(QObject):
    """The widgets of one field, which a form places in its grid."""

    committed = Signal(str, object, int)  # key, TOML value or None, session
    focused = Signal(str)  # key
    choosing = Signal(str)  # key; the value is chosen elsewhere

    def __init__(self, doc: Previewer, field: FormField, parent: QWidget) -> None:
        super().__init__(parent)
        self._doc = doc
        self.field = field
        self.label = muted(Label(field.label, parent, wordWrap=True))
        self.label.setMinimumWidth(1)  # in a narrow panel, long words are cut off rather than the editor
        self.editor = self._make_editor(field, parent)
        self.reset = QToolButton(parent)
        self.message = Label(parent)
        self._message_icon = IconLabel("error", "error", 14, parent)
        self._set_up()
        self.show_field(field)

    @property
    def key(self) -> str:
        """Dotted key of the value."""
        return self.field.key

    def add_to(self, grid: QGridLayout, row: int) -> int:
        """Place the widgets in a grid of four columns; returns the next free row."""
        # The label is aligned only vertically, because a word-wrapped label would otherwise not fill its column.
        grid.addWidget(self.label, row, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.editor, row, 1, 1, 2)
        grid.addWidget(self.reset, row, 3)
        grid.addWidget(self._message_icon, row + 1, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.message, row + 1, 2, 1, 2)
        return row + 2

    def fits(self, field: FormField) -> bool:
        """True if this row can show a field with its existing widgets."""
        return field.key == self.field.key and self._kind(field) is type(self.editor)

    def show_field(self, field: FormField) -> None:
        """Show the value in the file, unless the user is typing a new one."""
        self.field = field
        if isinstance(self.editor, TextEditor):
            self.editor.setPlaceholderText(field.placeholder)
            self.editor.show_value(field.text)
            if self.editor.is_changed:
                self._check(self.editor.text())
                return
            self._show_suffix(read_text(field.param, field.text), None)
        elif isinstance(self.editor, ChoiceEditor):
            default = FieldOption(None, field.placeholder and tr("{value} (default)", value=field.placeholder), "")
            options = field.options if field.param.required else (default, *field.options)
            self.editor.show_options(options, field.text if field.is_set else None, field.placeholder)
        elif isinstance(self.editor, PathsEditor):
            self.editor.show_paths(_paths(field), tr("{value} (default)", value=field.placeholder))
        elif isinstance(self.editor, PairEditor):
            self.editor.show_pair(field.options, _pair(field) or ("", ""))
        else:
            value = {"true": True, "false": False}.get(field.text)
            self.editor.show_flag(value, default=field.param.default is True)
        self.reset.setEnabled(field.is_set and not field.param.required)
        self._show_reset()
        problem = field.problems[0] if field.problems else None
        self._say(problem.message if problem else "", problem.allowed if problem else "")

    def set_read_only(self, is_read_only: bool) -> None:
        """Show the value without letting anybody change it."""
        if isinstance(self.editor, TextEditor):
            self.editor.setReadOnly(is_read_only)
        else:
            self.editor.setEnabled(not is_read_only)
        self.reset.setVisible(not is_read_only)

    def commit(self) -> None:
        """Commit the typed text, as on loss of focus."""
        if isinstance(self.editor, TextEditor):
            self.editor.commit()

    @property
    def tab_stops(self) -> tuple[QWidget, ...]:
        """Widgets that receive the keyboard focus, in order."""
        return self.editor.choices if isinstance(self.editor, PairEditor) else (self.editor,)

    def set_focus(self) -> None:
        """Put the cursor into the editor."""
        self.tab_stops[0].setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(self.editor, TextEditor):
            self.editor.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Emit `focused` when an editor gains the focus."""
        if event.type() == QEvent.Type.FocusIn and watched in self.tab_stops:
            self.focused.emit(self.key)
        return super().eventFilter(watched, event)

    # --- internals --------------------------------------------------------------------------------------------------

    @staticmethod
    def _kind(field: FormField) -> type[QWidget]:
        if _pair(field):
            return PairEditor
        if _are_paths(field):
            return PathsEditor
        is_list = field.param.dimension is Dimension.LIST
        if (field.options and not is_list) or field.param.dimension is Dimension.CHOICE:
            return ChoiceEditor
        return FlagEditor if field.param.dimension is Dimension.FLAG else TextEditor

    def _make_editor(self, field: FormField, parent: QWidget) -> _Editor:
        editor: _Editor
        if self._kind(field) is ChoiceEditor:
            editor = ChoiceEditor(parent)
            editor.committed.connect(self._on_chosen)
        elif self._kind(field) is FlagEditor:
            editor = FlagEditor(parent)
            editor.committed.connect(self._on_chosen)
        elif self._kind(field) is PairEditor:
            editor = PairEditor(parent)
            editor.committed.connect(self._on_chosen)
        elif self._kind(field) is PathsEditor:
            editor = PathsEditor(parent)
            editor.clicked.connect(lambda: self.choosing.emit(self.key))
        else:
            editor = TextEditor(parent)
            editor.edited.connect(self._check)
            editor.committed.connect(self._on_typed)
        return editor

    def _set_up(self) -> None:
        field = self.field
        name = field.key.replace(".", "_") or "scenario"
        self.editor.setObjectName(f"field_{name}")
        owner = field.key.rpartition(".")[0]
        if owner:
            self.editor.setAccessibleName(tr("{field} of {part}", field=field.label, part=owner))
        else:
            self.editor.setAccessibleName(tr("{field} of the scenario", field=field.label))
        self.editor.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        # Rows of equal height, so that eight of them fit above the plots on a small screen.
        self.editor.setFixedHeight(max(FIELD_HEIGHT - _ROW_GAP, self.editor.fontMetrics().height() + 6))
        self.reset.setFixedSize(QSize(18, FIELD_HEIGHT - _ROW_GAP))
        allowed = self._in_field(field.param.allowed_text())
        tip = f"{tr(field.param.help)}\n{tr('Allowed: {what}.', what=problem_text(allowed))}"
        if field.placeholder:
            tip += "\n" + tr("Default: {value}.", value=field.placeholder)
        if field.key.rpartition(".")[2] in ("controller", "scheduler"):
            tip += "\n" + tr("Shift+F1 opens its page in the user guide.")
        for widget in (self.label, self.editor):
            widget.setToolTip(as_written(tip))  # escaped: the help of a script's option may contain markup
        self.label.setBuddy(self.tab_stops[0])
        for stop in self.tab_stops:
            stop.installEventFilter(self)
        self.message.setObjectName(f"message_{name}")
        self.message.setWordWrap(True)
        self.message.setForegroundRole(QPalette.ColorRole.BrightText)
        self.message.hide()
        self._message_icon.hide()
        self.reset.setObjectName(f"reset_{name}")
        self.reset.setAutoRaise(True)
        self.reset.setIconSize(QSize(14, 14))
        self.reset.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.reset.setToolTip(tr("Back to the default"))
        self.reset.setAccessibleName(tr("Reset {field}", field=field.label))
        self.reset.clicked.connect(self._on_reset)
        self._show_reset()

    def _check(self, text: str) -> None:
        """Check the text while the user types."""
        completed = self.field.completed(text)
        check = check_text(self._doc, self.key, self.field.param, completed)
        self._say(check.message, check.allowed)
        self._show_suffix(check.value, check)
        if completed != text and isinstance(self.editor, TextEditor):
            self.editor.set_suffix(self.field.unit)

    def _show_suffix(self, value: TomlValue | None, check: TextCheck | None) -> None:
        """Show the suffix: the unit or "default" if the field is empty, or a bare number written out with its unit."""
        if not isinstance(self.editor, TextEditor):
            return
        param = self.field.param
        suffix = ""
        if value is None and not self.field.placeholder:
            suffix = self.field.unit or param.unit
        elif value is None and self.field.placeholder == default_text(param):
            suffix = tr("default")
        elif isinstance(value, (int, float)) and not isinstance(value, bool) and param.dimension in _IN_WORDS:
            is_wrong = bool(check.message if check else self.field.problems)
            suffix = param.unit if is_wrong else f"= {_IN_WORDS[param.dimension](float(value), 6)}"
        self.editor.set_suffix(suffix)

    def _in_field(self, allowed: str) -> str:
        """Return the allowed values without the bare number, which this field would read in a different unit."""
        return _BARE_EXAMPLE.sub("", allowed) if self.field.unit else allowed

    def _say(self, message: str, allowed: str) -> None:
        text = problem_text(message)
        text = capitalised(text)
        if text and allowed:
            text += "" if text.endswith((".", "?", "!")) else "."
            text += "\n" + tr("Allowed: {what}", what=problem_text(self._in_field(allowed)))
        self.editor.setAccessibleDescription(text)
        self.editor.set_wrong(bool(text))
        when_released(self, self._show_message)

    def _show_message(self) -> None:
        """Show or hide the current problem or, without one, the note; both move the rows below."""
        problem = self.editor.accessibleDescription()
        self.message.setText(problem or self.field.note)
        role = QPalette.ColorRole.BrightText if problem else QPalette.ColorRole.PlaceholderText
        self.message.setForegroundRole(role)
        self.message.setVisible(bool(self.message.text()))
        self._message_icon.setVisible(bool(problem))

    def _show_reset(self) -> None:
        # A disabled button loses its icon but keeps its space, so that editors line up.
        self.reset.setIcon(icon("reset_value", "muted_text") if self.reset.isEnabled() else QIcon())

    def _on_typed(self, text: str) -> None:
        completed = self.field.completed(text)
        if completed != text and isinstance(self.editor, TextEditor):
            self.editor.show_value(completed)  # even if the file already has this value
        self.committed.emit(self.key, read_text(self.field.param, completed), self.editor.session)

    def _on_chosen(self, value: object) -> None:
        self.committed.emit(self.key, value, 0)

    def _on_reset(self) -> None:
        self.committed.emit(self.key, None, 0)


def _are_paths(field: FormField) -> bool:
    """True for the paths of a flow; paths with a problem are edited as text, because the canvas cannot show them."""
    return field.key.startswith("flows.") and field.param.key == "paths" and not field.problems


def _paths(field: FormField) -> list[list[str]]:
    value = read_text(field.param, field.text)
    if not isinstance(value, list):
        return []
    return [[str(link) for link in path] for path in value if isinstance(path, list)]


def _pair(field: FormField) -> list[str] | None:
    """Return the two names in a field for a pair of names, such as the ends of a link; None for other fields."""
    if field.param.dimension is not Dimension.LIST or not field.options:
        return None
    value = read_text(field.param, field.text)
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        return None
    return [str(each) for each in value]


class ParamForm(QScrollArea):
    """Shows a `Form`; emits committed values, and requests to add or remove an event."""

    committed = Signal(str, object, int)  # key, TOML value or None, session
    focused = Signal(str)  # key of the focused field
    choosing = Signal(str)  # key of a value that is chosen elsewhere: the paths of a flow
    add_event_wanted = Signal()
    remove_event_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.form: Form | None = None  # the shown form
        self._rows: list[FieldRow] = []
        self._hints: list[QLabel] = []
        self._before: QWidget | None = None
        self._is_read_only = False
        self._action = QToolButton(self)
        self._action.hide()
        named(self, "paramForm", tr("Properties"))
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def rows(self) -> Iterator[FieldRow]:
        """Yield the rows from top to bottom."""
        yield from self._rows

    def row(self, key: str) -> FieldRow | None:
        """Return the row of a key; None for a key without a row."""
        return next((row for row in self._rows if row.key == key), None)

    def show_form(self, doc: Previewer, form: Form | None) -> None:
        """Show a form; None clears it. If only values have changed, the widgets keep their cursor and focus."""
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

    def set_tab_before(self, widget: QWidget) -> None:
        """Put the fields of forms shown from now on after this widget in the Tab order; by default they come last."""
        self._before = widget

    def set_read_only(self, is_read_only: bool) -> None:
        """Show the values without letting anybody change them."""
        self._is_read_only = is_read_only
        for row in self._rows:
            row.set_read_only(is_read_only)
        self._action.setEnabled(not is_read_only)

    def commit_pending(self) -> None:
        """Commit all typed text."""
        for row in list(self._rows):
            row.commit()

    # --- internals --------------------------------------------------------------------------------------------------

    def _build(self, doc: Previewer, form: Form | None) -> None:
        had_focus = self.focusWidget() is not None and self.isAncestorOf(self.focusWidget())
        focused_key = next((row.key for row in self._rows if row.editor.hasFocus()), "")
        for row in self._rows:
            # A deleted editor loses the focus, and must not commit to the new document.
            row.blockSignals(True)
        self._rows, self._hints = [], []
        content = named(QWidget(), "paramFormContent")
        layout = v_box(content, margins=(12, 2, 6, 6), spacing=0)
        self._add_header(layout)
        for group in form.groups if form else ():
            self._add_group(doc, layout, group)
        layout.addStretch(1)
        for row in self._rows:
            row.setParent(content)  # deleted with its widgets, so that none of their pending updates runs
        # The old content may contain the editor whose signal is being handled, so Qt deletes the content later.
        old = self.takeWidget()
        if old is not None:
            old.hide()
            old.deleteLater()
        self.setWidget(content)
        self._order_fields()
        self._show_header()
        self.set_read_only(self._is_read_only)
        again = self.row(focused_key)
        if had_focus and again is not None:
            again.set_focus()

    def _order_fields(self) -> None:
        if self._before is not None:
            stops = (stop for row in self._rows for stop in row.tab_stops)
            for first, second in pairwise((self._before, self._action, *stops)):
                QWidget.setTabOrder(first, second)

    def _add_header(self, layout: QVBoxLayout) -> None:
        self._action = named(QToolButton(autoRaise=True), "headerAction")
        self._action.setIconSize(QSize(16, 16))
        self._action.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._action.clicked.connect(self._on_action)
        self._subtitle = named(muted(Label(wordWrap=True)), "formSubtitle")
        line = h_box(None, (self._subtitle, 1), (self._action, 0, Qt.AlignmentFlag.AlignTop), spacing=4)
        self._own_problem = ProblemLabel("formProblem")
        layout.addLayout(v_box(None, line, self._own_problem, spacing=0))

    def _add_group(self, doc: Previewer, layout: QVBoxLayout, group: FormGroup) -> None:
        if group.title and self._rows:  # the head of the inspector is title enough for the first group
            title = heading(Label(group.title, indent=0, wordWrap=True), is_demi=True)
            title.setMinimumWidth(1)
            layout.addSpacing(8)
            layout.addWidget(title)
        if group.hint:
            hint = muted(Label(group.hint, wordWrap=True))
            self._hints.append(hint)
            layout.addWidget(hint)
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        grid.setVerticalSpacing(_ROW_GAP)
        grid.setColumnMinimumWidth(0, self._label_width())
        grid.setColumnStretch(2, 1)
        next_row = 0
        for field in group.fields:
            row = FieldRow(doc, field, self.viewport())
            row.committed.connect(self.committed)
            row.focused.connect(self._on_focused)
            row.choosing.connect(self.choosing)
            next_row = row.add_to(grid, next_row)
            self._rows.append(row)
        layout.addLayout(grid)

    def _label_width(self) -> int:
        """Return the same width for all forms, so that editors do not shift when a different part is selected."""
        return min(self.fontMetrics().horizontalAdvance(tr("Receive buffer")), _MOST_LABEL) + 4

    def _show_header(self) -> None:
        form = self.form
        # The head of the inspector names the part; only an event needs more words.
        subtitle = form.subtitle if form and form.key.startswith("events") else ""
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
                # Scroll to the message below the value as well; the value remains visible.
                self.ensureWidgetVisible(row.message, 0, 6)
        self.focused.emit(key)

    def _on_action(self) -> None:
        key = self.form.key if self.form else ""
        if key == "events":
            self.add_event_wanted.emit()
        elif key.startswith("events."):
            self.remove_event_wanted.emit(int(key.partition(".")[2]))


def _outline(form: Form) -> list[tuple[str, bool]]:
    """Return the titles of the groups, each with True if the group shows a hint."""
    return [(group.title, bool(group.hint)) for group in form.groups]

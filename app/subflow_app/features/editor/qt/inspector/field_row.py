"""One row of a form: label, editor, a button back to the default, and below it what is wrong."""

from __future__ import annotations

import re
from typing import TypeAlias

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QPalette
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QToolButton, QWidget

from subflow_app.features.editor.core.form import FieldOption, FormField, default_text
from subflow_app.features.editor.core.form_text import Previewer, TextCheck, check_text, read_text
from subflow_app.features.editor.qt.inspector.editors import ChoiceEditor, FlagEditor, PairEditor, TextEditor
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.plain_text import Label, as_written
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.icon_label import IconLabel
from subflow_app.toolkit.widgets.steady import when_released
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

_Editor: TypeAlias = TextEditor | ChoiceEditor | FlagEditor | PairEditor


class FieldRow(QObject):
    """The widgets of one field, which a form puts into its grid."""

    committed = Signal(str, object, int)  # key, TOML value or None, session
    focused = Signal(str)  # key

    def __init__(self, doc: Previewer, field: FormField, parent: QWidget) -> None:
        super().__init__(parent)
        self._doc = doc
        self.field = field  # what is shown
        self._is_read_only = False
        self.label = muted(Label(field.label, parent, wordWrap=True))
        self.label.setMinimumWidth(1)  # a long word is cut rather than the editor beside it, in a narrow panel
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
        """Put the widgets into a grid of four columns; returns the next free row."""
        # As wide as its column: by itself, a label that wraps would take less.
        grid.addWidget(self.label, row, 0, Qt.AlignmentFlag.AlignVCenter)
        grid.addWidget(self.editor, row, 1, 1, 2)
        grid.addWidget(self.reset, row, 3)
        grid.addWidget(self._message_icon, row + 1, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.message, row + 1, 2, 1, 2)
        return row + 2

    def fits(self, field: FormField) -> bool:
        """Whether this row can show a field as it now is, without other widgets."""
        return field.key == self.field.key and self._kind(field) is type(self.editor)

    def show_field(self, field: FormField) -> None:
        """Show what the file says now."""
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
            self.editor.show_options(options, field.text if field.is_set else None)
        elif isinstance(self.editor, PairEditor):
            self.editor.show_pair(field.options, _pair(field) or ("", ""))
        else:
            value = {"true": True, "false": False}.get(field.text)
            self.editor.show_flag(value, default=field.param.default is True)
        self.reset.setEnabled(field.is_set and not self._is_read_only and not field.param.required)
        self._show_reset()
        problem = field.problems[0] if field.problems else None
        self._say(problem.message if problem else "", problem.allowed if problem else "")

    def set_read_only(self, read_only: bool) -> None:
        """Allow looking only."""
        self._is_read_only = read_only
        if isinstance(self.editor, TextEditor):
            # Still enabled: what is running can be read well, selected and copied.
            self.editor.setReadOnly(read_only)
        else:
            self.editor.setEnabled(not read_only)
        self.show_field(self.field)

    def commit(self) -> None:
        """Make what is typed count, as if the focus had left."""
        if isinstance(self.editor, TextEditor):
            self.editor.commit()

    @property
    def tab_stops(self) -> tuple[QWidget, ...]:
        """What takes the keyboard, in order."""
        return self.editor.choices if isinstance(self.editor, PairEditor) else (self.editor,)

    def set_focus(self) -> None:
        """Put the cursor here."""
        self.tab_stops[0].setFocus(Qt.FocusReason.OtherFocusReason)
        if isinstance(self.editor, TextEditor):
            self.editor.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Tell when the focus comes here."""
        if event.type() == QEvent.Type.FocusIn and watched in self.tab_stops:
            self.focused.emit(self.key)
        return super().eventFilter(watched, event)

    # --- inside -----------------------------------------------------------------------------------------------------

    @staticmethod
    def _kind(field: FormField) -> type[QWidget]:
        if _pair(field):
            return PairEditor
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
        allowed = self._in_field(field.param.allowed_text())
        tip = f"{tr(field.param.help)}\n{tr('Allowed: {what}.', what=problem_text(allowed))}"
        if field.placeholder:
            tip += "\n" + tr("Default: {value}.", value=field.placeholder)
        if field.key.rpartition(".")[2] in ("controller", "scheduler"):
            tip += "\n" + tr("Shift+F1 opens its page in the user guide.")
        for widget in (self.label, self.editor):
            widget.setToolTip(as_written(tip))  # an option may be of a script
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
        """Say while it is typed whether the text will do."""
        completed = self.field.completed(text)
        check = check_text(self._doc, self.key, self.field.param, completed)
        self._say(check.message, check.allowed)
        self._show_suffix(check.value, check)
        if completed != text and isinstance(self.editor, TextEditor):
            self.editor.set_suffix(self.field.unit)

    def _show_suffix(self, value: TomlValue | None, check: TextCheck | None) -> None:
        """Show the unit in an empty field, and what a bare number amounts to."""
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
        """What is allowed, without the bare number as files may have it: here that would be another value."""
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
        """Shows what is wrong now, or nothing; either moves the rows below."""
        text = self.editor.accessibleDescription()
        self.message.setText(text)
        self.message.setVisible(bool(text))
        self._message_icon.setVisible(bool(text))

    def _show_reset(self) -> None:
        # The button keeps its room when there is nothing to reset, so that editors line up.
        self.reset.setIcon(icon("reset_value", "muted_text") if self.reset.isEnabled() else QIcon())

    def _on_typed(self, text: str) -> None:
        completed = self.field.completed(text)
        if completed != text and isinstance(self.editor, TextEditor):
            self.editor.show_value(completed)  # also where that is what the file says already
        self.committed.emit(self.key, read_text(self.field.param, completed), self.editor.session)

    def _on_chosen(self, value: object) -> None:
        self.committed.emit(self.key, value, 0)

    def _on_reset(self) -> None:
        self.committed.emit(self.key, None, 0)


def _pair(field: FormField) -> list[str] | None:
    """Return the two names that a field holds, if it is one that offers names and holds two."""
    if field.param.dimension is not Dimension.LIST or not field.options:
        return None
    value = read_text(field.param, field.text)
    if not isinstance(value, list) or len(value) != 2 or not all(isinstance(each, str) for each in value):
        return None
    return [str(each) for each in value]

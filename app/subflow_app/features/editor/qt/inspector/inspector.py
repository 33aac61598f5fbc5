"""The inspector: the form of the selected part or the text of the file, below a head, and all problems.

The head names the part; its menu is the tree of the scenario's parts. Clicking a problem moves to its field.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QResizeEvent, QUndoStack
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHeaderView,
    QListView,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QToolButton,
    QTreeView,
    QWidget,
    QWidgetAction,
)

from subflow_app.features.editor.core.form import OutlineEntry, form_for, outline, tables
from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc, split_key
from subflow_app.features.editor.core.scenario_edits import rename_part
from subflow_app.features.editor.core.scenario_parts import NAME_KEY
from subflow_app.features.editor.core.sketch import next_step_text
from subflow_app.features.editor.qt import documents
from subflow_app.features.editor.qt.inspector.param_form import ParamForm
from subflow_app.features.editor.qt.inspector.source_editor import SourceEditor
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.foundation.toml_edit import TomlEditError, TomlValue
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, set_style
from subflow_app.toolkit.widgets.labels import IconLabel
from subflow_app.toolkit.widgets.shorthand import Label, as_written, h_box, heading, named, sized, v_box
from subflow_app.toolkit.widgets.tables import Index, ListModel, TreeModel
from subflow_app.toolkit.workspaces import HEAD_HEIGHT
from subflow_app.vocabulary.language import tr, trn
from subflow_sim.errors import Problem
from subflow_sim.params import AlgorithmCatalog

KEY_ROLE = Qt.ItemDataRole.UserRole


class OutlineModel(TreeModel):
    """Tree model of the parts with two columns, name and short description; `KEY_ROLE` gives the dotted key."""

    def __init__(self, doc: ScenarioDoc, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: Sequence[OutlineEntry] = ()
        self.show(doc)

    def show(self, doc: ScenarioDoc) -> bool:
        """Update the rows from the document; return True if this resets the model, which collapses the tree."""
        entries = outline(doc)
        if self._shape(entries) == self._shape(self._entries):
            self._entries = entries
            for number, entry in enumerate(entries):
                if entry.children:
                    parent = self.index(number, 0)
                    self.dataChanged.emit(self.index(0, 0, parent), self.index(len(entry.children) - 1, 1, parent))
            self.dataChanged.emit(self.index(0, 0), self.index(len(entries) - 1, 1))
            return False
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()
        return True

    def index_of(self, key: str) -> QModelIndex:
        """Return the index of a key; an invalid index for an unknown key."""
        for row, entry in enumerate(self._entries):
            if entry.key == key:
                return self.index(row, 0)
            for place, child in enumerate(entry.children):
                if child.key == key:
                    return self.index(place, 0, self.index(row, 0))
        return QModelIndex()

    def count(self, above: int | None) -> int:
        """Return the number of rows below a top-level row; None counts the top-level rows."""
        return len(self._entries if above is None else self._entries[above].children)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return 2: name and description."""
        return 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the text, font, colour, icon or tooltip of a cell."""
        if not index.isValid():
            return None
        above = index.internalId()
        entry = self._entries[above - 1].children[index.row()] if above else self._entries[index.row()]
        if role == KEY_ROLE:
            return entry.key
        if index.column() == 1:
            return self._detail(entry, role)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.title
            case Qt.ItemDataRole.FontRole if not above:
                font = QFont()
                font.setWeight(QFont.Weight.DemiBold)
                return font
            case Qt.ItemDataRole.AccessibleTextRole:
                problems = f", {_problems(entry)}" if entry.problem_count else ""
                return f"{entry.title} {entry.detail}{problems}"
        return None

    def _detail(self, entry: OutlineEntry, role: int) -> Any:
        match role:
            case Qt.ItemDataRole.DisplayRole:
                if entry.problem_count:
                    return _problems(entry)
                return entry.detail or (
                    str(len(entry.children)) if entry.key in ("nodes", "links", "flows", "events") else ""
                )
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(current_tokens().error if entry.problem_count else current_tokens().muted_text)
            case Qt.ItemDataRole.DecorationRole if entry.problem_count:
                return icon("error", "error")
            case Qt.ItemDataRole.ToolTipRole:
                return as_written(entry.detail) or None
        return None

    @staticmethod
    def _shape(entries: Any) -> list[tuple[str, tuple[str, ...]]]:
        return [(entry.key, tuple(child.key for child in entry.children)) for entry in entries]


def _problems(entry: OutlineEntry) -> str:
    return trn("{count} problem", "{count} problems", entry.problem_count)


_MOST_ROWS = 4
_MOST_SHARE = 0.12  # share of the panel's height for the rows


def _text(problem: Problem) -> str:
    """Return the location and the message of a problem."""
    where = problem.key or (tr("line {number}", number=problem.line) if problem.line else "")
    return f"{where}: {problem_text(problem.message)}" if where else problem_text(problem.message)


class ProblemModel(ListModel[Problem]):
    """One row per problem, in file order."""

    def other_data(self, row: Problem, column: int, role: int) -> str | None:
        """Give screen readers the full text of the problem."""
        return str(row) if role == Qt.ItemDataRole.AccessibleTextRole else None


class ProblemList(QFrame):
    """Panel with the number and list of problems, or the next step of an incomplete drawing; otherwise hidden."""

    activated = Signal(object)  # Problem

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("problemPanel")
        self.model = ProblemModel(_text, self, tip=str)
        self._most_rows = _MOST_ROWS
        self._icon = IconLabel("error", "error", 15, self)
        self._title = heading(named(Label(self, wordWrap=True), "problemCount"), is_demi=True)
        self._is_hint = False
        self.view = named(QListView(self), "problemList", tr("Problems"))
        self.view.setModel(self.model)
        self.view.setFrameShape(QFrame.Shape.NoFrame)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.view.clicked.connect(self._on_activated)
        self.view.activated.connect(self._on_activated)
        line = h_box(None, self._icon, (self._title, 1), spacing=6)
        v_box(self, line, self.view, margins=(14, 7, 8, 6), spacing=3)
        follow_theme(self._recolour)
        self.hide()

    def show_problems(self, problems: Sequence[Problem], next_step: str = "") -> None:
        """List the problems, or show `next_step` in their place; an empty list of problems hides the panel."""
        if tuple(problems) != self.model.rows:
            self.model.show_rows(tuple(problems))
        count = len(problems)
        self._title.setText(next_step or trn("{count} problem", "{count} problems", count))
        if bool(next_step) != self._is_hint:
            self._is_hint = bool(next_step)
            self.view.setVisible(not next_step)
            self._icon.setVisible(not next_step)
            self._recolour(current_tokens())
        self._take_height()
        self.setVisible(count > 0)

    def set_room(self, height: int) -> None:
        """Limit the list to a share of the given height in px; the list scrolls if it is longer."""
        row = self.fontMetrics().height() + 2
        most = max(1, min(_MOST_ROWS, int(height * _MOST_SHARE / row)))
        if most != self._most_rows:
            self._most_rows = most
            self._take_height()

    def _take_height(self) -> None:
        count = self.model.rowCount()
        rows = min(max(count, 1), self._most_rows)
        height = self.view.sizeHintForRow(0) if count else 0
        self.view.setFixedHeight(rows * max(height, self.fontMetrics().height() + 2) + 4)

    def _recolour(self, tokens: Tokens) -> None:
        fill, edge, text = (
            (tokens.base, tokens.border, tokens.text)
            if self._is_hint
            else (tokens.error_fill, tokens.error, tokens.error)
        )
        self.setStyleSheet(
            f"#problemPanel {{ background: {fill}; border: none; border-top: 1px solid {edge}; }}"
            f"#problemCount {{ color: {text}; }}"
            f"QListView {{ background: transparent; border: none; color: {tokens.text}; }}"
        )

    def _on_activated(self, index: QModelIndex) -> None:
        self.activated.emit(self.model.rows[index.row()])


_FORM, _TEXT = 0, 1
_MOST_OPEN = 8
_LIST_PADDING = 12
_LIST_WIDTH, _MOST_LISTED = 300, 16  # px, and rows of the open list of parts
# Icon of the head by the section of the part.
_ICONS = {"nodes": "tool_host", "links": "tool_link", "flows": "tool_flow", "events": "timeline"}


class Inspector(QWidget):
    """Edits every value of a scenario, in forms or as text; each edit is an undo step.

    Args:
        doc: document to edit.
        undo_stack: undo stack that receives the edits.
        catalog: controllers and schedulers to choose from.
    """

    key_changed = Signal(str)  # dotted key of the shown part: "links.wifi", "" for the scenario
    refused = Signal(str)  # the reason why an edit was refused
    paths_wanted = Signal(str)  # name of the flow whose paths are to be chosen on the canvas

    def __init__(
        self,
        doc: ScenarioDoc,
        undo_stack: QUndoStack,
        catalog: AlgorithmCatalog,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._doc = doc
        self._undo_stack = undo_stack
        self._catalog = catalog
        self.key = ""  # dotted key of the shown part; empty for the whole scenario
        self._is_following = False
        self._title = ""
        self._is_read_only = False
        named(self, "inspector", tr("Inspector"))
        self._head = named(QFrame(self), "inspectorHead")
        self.outline_button = QToolButton(self._head)  # names the part, and opens the list of parts
        self.problems_button = QToolButton(self._head)
        self.text_button = QToolButton(self._head)
        self._pages = QStackedWidget(self)
        self.outline_view = QTreeView()
        self._outline_menu = QMenu(self.outline_button)
        self._outline = OutlineModel(doc, self)
        self.form = ParamForm(self)  # the form of the selected part
        self.source = SourceEditor(self)  # the text of the file
        self.problem_list = ProblemList(self)
        self._set_up()
        self._unsubscribe: Callable[[], None] = doc.subscribe(self._on_document_changed)
        # A lambda, because `_unsubscribe` changes with the document.
        self.destroyed.connect(lambda: self._unsubscribe())
        self._show_document()
        self._expand()

    # --- interface of the window ------------------------------------------------------------------------------------

    def set_document(self, doc: ScenarioDoc, *, is_read_only: bool = False) -> None:
        """Switch to a different document; that of a stored run is read-only."""
        self._unsubscribe()
        self._is_read_only = is_read_only
        self._doc = doc
        self._unsubscribe = doc.subscribe(self._on_document_changed)
        self.key = ""
        self.form.show_form(doc, None)
        self._show_document()
        self._expand()
        self.key_changed.emit("")

    def show_key(self, key: str) -> None:
        """Show the part with a dotted key; the key of a value (`links.wifi.loss`) moves the cursor to its field."""
        path = split_key(key)
        part = key if len(path) <= 1 and (not path or path[0] in ("nodes", "links", "flows", "events")) else ""
        if len(path) >= 2:
            part = f"{path[0]}.{path[1]}"
        if form_for(self._doc, part, self._catalog) is None:
            return
        self._set_key(part)
        if key and ".".join(str(step) for step in path) != part:
            self._show_page(_FORM)
            self._focus_field(key)

    def focus_problem(self, problem: Problem) -> None:
        """Move to the field of a problem, or to its line in the text if the form lacks this field."""
        path = split_key(problem.key)
        self.show_key(".".join(str(step) for step in path[:2]) if len(path) >= 2 else "")
        self._show_page(_FORM)
        if not (problem.key and self._doc.is_toml and self._focus_field(problem.key)):
            self._show_page(_TEXT)
            self.source.show_line(problem.line or 1)

    def show_text(self) -> None:
        """Show the text of the file."""
        self._show_page(_TEXT)
        self.source.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_form(self) -> None:
        """Show the form of the selected part."""
        self._show_page(_FORM)

    def start_editing(self) -> None:
        """Put the cursor into the first field of the selected part, or onto its name if the form is empty."""
        # A focus proxy would make Tab skip the head and everything else before the form.
        first = next(self.form.rows(), None)
        if first is not None:
            first.set_focus()
        else:
            self.outline_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_outline(self) -> None:
        """Open the list of parts below the head."""
        self.outline_button.showMenu()

    def edit_name(self) -> None:
        """Put the cursor into the name of the shown part."""
        self._show_page(_FORM)
        row = self.form.row(f"{self.key}.{NAME_KEY}")
        if row is not None:
            row.set_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Edit the name of the shown part on F2, and open the list of parts on Alt+Down."""
        if event.key() == Qt.Key.Key_F2:
            self.edit_name()
            return
        if event.key() == Qt.Key.Key_Down and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.open_outline()
            return
        super().keyPressEvent(event)

    def commit_pending(self) -> None:
        """Commit all typed text; call it before saving or running."""
        self.form.commit_pending()
        self.source.commit()

    # --- set up -----------------------------------------------------------------------------------------------------

    def _set_up(self) -> None:
        set_style(
            self.outline_view,
            lambda t: (
                f"QTreeView {{ border: none; background: {t.base}; padding: 4px 0; }}"
                "QTreeView::item { padding: 3px 8px 3px 0; }"
            ),
        )
        set_style(self._head, _head_style)
        tree = self.outline_view
        named(tree, "outline", tr("Parts of the scenario"))
        tree.setModel(self._outline)
        tree.setHeaderHidden(True)
        tree.setFrameShape(QFrame.Shape.NoFrame)
        tree.setUniformRowHeights(True)
        tree.setRootIsDecorated(True)
        tree.setIndentation(16)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        tree.header().setStretchLastSection(True)
        tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        tree.selectionModel().currentChanged.connect(self._on_current_changed)
        tree.clicked.connect(lambda _index: self._outline_menu.close())
        tree.doubleClicked.connect(lambda _index: self.edit_name())
        tree.activated.connect(lambda _index: self._outline_menu.close())
        self._set_up_head()
        self.form.set_tab_before(self.text_button)
        self.form.committed.connect(self._on_value_committed)
        self.form.choosing.connect(lambda key: self.paths_wanted.emit(key.split(".")[1]))
        self.form.add_event_wanted.connect(self._add_event)
        self.form.remove_event_wanted.connect(self._remove_event)
        self.source.committed.connect(self._on_text_committed)
        self.problem_list.activated.connect(self.focus_problem)
        self._pages.addWidget(self.form)
        self._pages.addWidget(self.source)
        v_box(self, self._head, (self._pages, 1), self.problem_list, margins=0, spacing=0)

    def _set_up_head(self) -> None:
        part, problems, text = self.outline_button, self.problems_button, self.text_button
        named(part, "outlineButton", tr("Part of the scenario"), tr("Choose another part of the scenario (Alt+↓)"))
        part.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        part.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        part.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        part.setFont(sized(self.font(), 1.0, is_bold=True))
        part.setMenu(self._outline_menu)
        part.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        listed = QWidgetAction(self._outline_menu)
        listed.setDefaultWidget(self.outline_view)
        self._outline_menu.addAction(listed)
        self._outline_menu.aboutToShow.connect(self._fit_outline)
        named(problems, "problems_button")
        problems.setToolTip(tr("Go to the first problem of the scenario"))
        problems.setIcon(icon("error", "error"))
        problems.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        problems.clicked.connect(self._go_to_first_problem)
        problems.hide()
        named(text, "inspectorText")
        text.setCheckable(True)
        text.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        text.toggled.connect(self._on_text_toggled)
        for button in (part, problems, text):
            button.setAutoRaise(True)
            button.setIconSize(QSize(14, 14))
        self._head.setFixedHeight(max(HEAD_HEIGHT, self.fontMetrics().height() + 10))
        h_box(self._head, (part, 1), problems, text, margins=(4, 0, 4, 0), spacing=2)
        self._say_page(_FORM)

    def _fit_outline(self) -> None:
        """Give the list of parts the height of its rows, up to a maximum."""
        rows = sum(
            1 + (self._outline.rowCount(index) if self.outline_view.isExpanded(index) else 0)
            for index in (self._outline.index(row, 0) for row in range(self._outline.rowCount()))
        )
        row = max(self.outline_view.sizeHintForRow(0), 1)
        self.outline_view.setFixedSize(
            max(_LIST_WIDTH, self.width() - 8), min(rows, _MOST_LISTED) * row + _LIST_PADDING
        )
        self.outline_view.setFocus()

    def _go_to_first_problem(self) -> None:
        if self._doc.problems:
            self.focus_problem(self._doc.problems[0])

    def _fit_title(self) -> None:
        """Cut the name of the part to the room that the other buttons leave."""
        others = sum(
            button.sizeHint().width() for button in (self.problems_button, self.text_button) if not button.isHidden()
        )
        room = self.width() - others - 52
        metrics = self.outline_button.fontMetrics()
        self.outline_button.setText(metrics.elidedText(self._title, Qt.TextElideMode.ElideRight, room) + " ▾")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limit the name and the problems to their room."""
        super().resizeEvent(event)
        self._fit_title()
        self.problem_list.set_room(self.height())

    # --- document -> widgets ----------------------------------------------------------------------------------------

    def _on_document_changed(self, change: Change) -> None:
        if change.kind in ("events", "parts") and self.key.startswith("events."):
            # Event numbers have shifted. Keep showing the same number, but limit it to existing events.
            count = len(self._doc.data.get("events", []))
            number = min(int(self.key.partition(".")[2]), count - 1)
            self.key = f"events.{number}" if number >= 0 else "events"
        self._show_document()

    def _show_document(self) -> None:
        expanded = {
            self._outline.index(row, 0).data(KEY_ROLE)
            for row in range(self._outline.rowCount())
            if self.outline_view.isExpanded(self._outline.index(row, 0))
        }
        if self._outline.show(self._doc):
            for row in range(self._outline.rowCount()):
                index = self._outline.index(row, 0)
                self.outline_view.setExpanded(index, index.data(KEY_ROLE) in expanded)
        if self._doc.is_toml and form_for(self._doc, self.key, self._catalog) is None:
            self._set_key("")
        self._follow_key()
        # While the text is not TOML, the current values are unknown. The form keeps its last state and is disabled.
        if self._doc.is_toml:
            self._show_form_of_key()
        self.form.setEnabled(self._doc.is_toml)
        self.form.set_read_only(self._is_read_only)
        self.source.setReadOnly(self._is_read_only)
        self._say_page(self._pages.currentIndex())
        self.source.show_document(self._doc)
        self._show_head()
        self.problem_list.show_problems(self._doc.problems, next_step_text(self._doc.missing_part))

    def _set_key(self, key: str) -> None:
        if key == self.key and self.form.form is not None:
            return
        self.form.commit_pending()
        self.key = key
        self._follow_key()
        self._show_head()
        if self._doc.is_toml:
            self._show_form_of_key()
            self.form.verticalScrollBar().setValue(0)
        self.key_changed.emit(key)

    def _show_form_of_key(self) -> None:
        self.form.show_form(self._doc, form_for(self._doc, self.key, self._catalog))

    def _follow_key(self) -> None:
        """In the list, select the part that the form shows."""
        index = self._outline.index_of(self.key)
        if index.isValid() and index != self.outline_view.currentIndex():
            self._is_following = True
            flags = QItemSelectionModel.SelectionFlag
            self.outline_view.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
            self.outline_view.scrollTo(index)
            self._is_following = False

    def _expand(self) -> None:
        """Expand the lists that are short enough to fit."""
        for row in range(self._outline.rowCount()):
            index = self._outline.index(row, 0)
            self.outline_view.setExpanded(index, self._outline.rowCount(index) <= _MOST_OPEN)

    def _focus_field(self, key: str) -> bool:
        """Put the cursor into the field of a key, or of its closest ancestor with a field; False if no field exists."""
        wanted = [str(step) for step in split_key(key)]
        while wanted:
            row = self.form.row(".".join(wanted))
            if row is not None:
                row.set_focus()
                return True
            wanted.pop()
        return False

    # --- widgets -> document ----------------------------------------------------------------------------------------

    def _on_current_changed(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if not self._is_following and current.isValid():
            self._set_key(current.data(KEY_ROLE))

    def _show_page(self, index: int) -> None:
        self.text_button.setChecked(index == _TEXT)

    def _on_text_toggled(self, is_text: bool) -> None:
        self.commit_pending()
        self._pages.setCurrentIndex(_TEXT if is_text else _FORM)
        self._say_page(self._pages.currentIndex())

    def _say_page(self, index: int) -> None:
        words = tr("As text") if index == _FORM else tr("As a form")
        self.text_button.setText(f"{tr('read only')} · {words}" if self._is_read_only else words)
        self.text_button.setToolTip(
            tr("Edit the text of the file") if index == _FORM else tr("Edit the values of this part")
        )

    def _show_head(self) -> None:
        """Name the part, and count the problems of the scenario."""
        form = form_for(self._doc, self.key, self._catalog) if self._doc.is_toml else self.form.form
        section = self.key.partition(".")[0]
        title = tr("Scenario")
        if form is not None and self.key:
            title = form.title if not form.kind or "." not in self.key else f"{form.kind} {form.title}"
        self._title = title
        self.outline_button.setIcon(icon(_ICONS.get(section, "topology"), "text"))
        self.outline_button.setAccessibleDescription(title)
        # An incomplete drawing, such as an empty canvas, counts as free of problems.
        count = 0 if self._doc.missing_part else len(self._doc.problems)
        self.problems_button.setVisible(count > 0)
        self.problems_button.setText(trn("{count} problem", "{count} problems", count))
        self._fit_title()

    def _on_value_committed(self, key: str, value: object, session: int) -> None:
        if key.endswith(f".{NAME_KEY}"):
            self._rename(key.removesuffix(f".{NAME_KEY}"), str(value or ""))
            return
        self._try(lambda: documents.set_value(self._undo_stack, self._doc, key, value, session))  # type: ignore[arg-type]

    def _rename(self, key: str, name: str) -> None:
        """Rename a part, and show it under its new name; a refused name is shown with the reason until it changes."""
        has_focus = self.form.focusWidget() is not None
        old = key.partition(".")[2]
        if not name or name == old:
            self._show_document()
            return
        keys: list[str] = []

        def edit() -> None:
            what = tr("Rename {name}", name=old)
            self.key = f"{key.partition('.')[0]}.{name}"  # so that the change below finds the part
            keys.extend(
                documents.edit_parts(self._undo_stack, self._doc, what, lambda text: rename_part(text, key, name))
            )

        if not self._try(edit):
            self.key = key
            self._show_document()
            return
        self._set_key(keys[0])
        self.key_changed.emit(keys[0])
        if has_focus:
            self.edit_name()

    def _on_text_committed(self, text: str, session: int) -> None:
        documents.set_text(self._undo_stack, self._doc, text, session)

    def _add_event(self) -> None:
        links = list(tables(self._doc, "links"))
        scenario = self._doc.last_valid
        middle = scenario.duration_s / 2 if scenario else 1.0
        values: dict[str, TomlValue] = {"at": f"{middle:g}s", "link": links[0] if links else "", "up": False}
        if self._try(lambda: documents.add_event(self._undo_stack, self._doc, values)):
            self.show_key(f"events.{len(self._doc.data['events']) - 1}.at")

    def _remove_event(self, index: int) -> None:
        self._try(lambda: documents.remove_event(self._undo_stack, self._doc, index))

    def _try(self, edit: Callable[[], None]) -> bool:
        """Make an edit. If it is refused, emit the reason, restore the fields and return False."""
        try:
            edit()
        except (TomlEditError, InputError) as error:
            self.refused.emit(str(error))
            self._show_document()
            return False
        return True


def _head_style(t: Tokens) -> str:
    return (
        f"#inspectorHead {{ background: {t.window}; border: none; border-bottom: 1px solid {t.border}; }}"
        f"QToolButton {{ border: 1px solid transparent; border-radius: 4px; padding: 1px 6px; color: {t.muted_text}; }}"
        f"QToolButton:hover, QToolButton:checked {{ background: {t.button_hover}; color: {t.text}; }}"
        f"QToolButton:focus {{ border-color: {t.accent}; }}"
        f"#outlineButton {{ color: {t.text}; text-align: left; }}"
        "#outlineButton::menu-indicator { image: none; }"
        f"#problems_button {{ color: {t.error}; }}"
    )

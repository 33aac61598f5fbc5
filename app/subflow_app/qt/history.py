"""The history: a searchable list of stored runs, and what can be done with them; every change can be undone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPoint, QSize, QSortFilterProxyModel, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QKeyEvent, QUndoCommand, QUndoStack
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from subflow_app.qt.dialogs import Dialogs
from subflow_app.qt.icons import icon
from subflow_app.qt.models.run_table import COLUMNS, NAME_COLUMN, RUN_ROLE, SORT_ROLE, STARTED_COLUMN, RunTable
from subflow_app.qt.theme import Tokens, current_tokens, table_style
from subflow_app.qt.widgets.empty_state import EmptyState
from subflow_app.qt.widgets.tables import select_rows, set_up_table, set_widths
from subflow_store import RunRow, StoreError

if TYPE_CHECKING:
    from subflow_store import Store

# A search goes to the database when the person stops typing for this long.
_SEARCH_DELAY_MS = 150


class History(QWidget):
    """The panel."""

    open_requested = Signal()  # the selected runs
    selection_changed = Signal()
    menu_requested = Signal(QPoint)  # global position
    failed = Signal(object)  # StoreError
    deleted = Signal(str, object)  # what, and the HistoryCommand that can be undone

    def __init__(self, undo_stack: QUndoStack, dialogs: Dialogs, parent: QWidget | None = None) -> None:
        """A history without a database."""
        super().__init__(parent)
        self.setObjectName("history_view")
        self._undo_stack = undo_stack
        self.dialogs = dialogs
        self._store: Store | None = None
        self._model = RunTable(self)
        self._sorted = QSortFilterProxyModel(self)
        self._sorted.setSourceModel(self._model)
        self._sorted.setSortRole(SORT_ROLE)
        self.search = QLineEdit(self)
        self.search.setObjectName("history_search")
        self.search.setAccessibleName("Search runs")
        self.search.setPlaceholderText("Search name, scenario, controller, tag, note…  (Ctrl+F)")
        self.search.setClearButtonEnabled(True)
        self._magnifier = QAction(self)
        self.search.addAction(self._magnifier, QLineEdit.ActionPosition.LeadingPosition)
        self._count = QLabel(self)
        self._count.setObjectName("history_count")
        self.table = _RunView(self)
        self._set_up_table()
        self._empty = EmptyState("history", "Opening the database…", "")
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.table)
        self._pages.addWidget(self._empty)
        bar = QHBoxLayout()
        bar.setContentsMargins(6, 5, 10, 5)
        bar.setSpacing(12)
        bar.addWidget(self.search, 1)
        bar.addWidget(self._count)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        layout.addWidget(self._pages, 1)
        self.setFocusProxy(self.table)
        self._search_timer = QTimer(self)
        self._search_timer.setSingleShot(True)
        self._search_timer.setInterval(_SEARCH_DELAY_MS)
        self._search_timer.timeout.connect(self.reload)
        self.search.textChanged.connect(lambda _text: self._search_timer.start())
        self.search.returnPressed.connect(self._on_search_confirmed)
        self._show_page()
        self.apply_tokens(current_tokens())

    # ---- what the window uses ----

    def set_store(self, store: Store | None, why_none: str = "") -> None:
        """Shows the runs of this store from now on.

        Args:
            store: an open store; None for none.
            why_none: what the panel says without a store.
        """
        # Commands of the old database must not touch runs of the same number in the new one.
        self._undo_stack.clear()
        self._store = store
        self._empty.set_text("No database" if store is None else "", why_none)
        self.reload()

    def reload(self) -> None:
        """Reads the list again; the selection stays."""
        self._search_timer.stop()
        selected = {row.id for row in self.selected()}
        rows: list[RunRow] = []
        if self._store is not None:
            try:
                rows = self._store.runs(search=self.search.text())
            except StoreError as error:
                self.failed.emit(error)
        self._model.set_rows(rows)
        self._select(selected)
        self._count.setText("" if self._store is None else f"{len(rows)} run{'' if len(rows) == 1 else 's'}")
        self._show_page()
        self.selection_changed.emit()

    def selected(self) -> list[RunRow]:
        """The selected runs, from top to bottom."""
        indexes = sorted(self.table.selectionModel().selectedRows(), key=lambda index: index.row())
        return [index.data(RUN_ROLE) for index in indexes]

    def select(self, run_ids: Sequence[int]) -> None:
        """Selects these runs, as far as the list shows them."""
        self._select(set(run_ids))

    def runs(self) -> list[RunRow]:
        """The runs listed, in the order of the rows."""
        count = self._sorted.rowCount()
        return [self._sorted.index(row, NAME_COLUMN).data(RUN_ROLE) for row in range(count)]

    def set_shown(self, run_ids: frozenset[int]) -> None:
        """Marks the runs that the plots show."""
        self._model.set_shown(run_ids)

    def start_search(self) -> None:
        """Puts the cursor into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours icons and labels."""
        self._empty.apply_tokens(tokens)
        self._count.setStyleSheet(f"color: {tokens.muted_text};")
        self.search.setStyleSheet(
            f"#history_search {{ border: 1px solid {tokens.border}; border-radius: 5px; padding: 3px 4px;"
            f" background: {tokens.base}; }} #history_search:focus {{ border-color: {tokens.accent}; }}"
        )
        self.table.setStyleSheet(table_style(tokens))
        self._magnifier.setIcon(icon("search", tokens.muted_text))
        self._model.refresh_icons()

    # ---- changes ----

    def rename_selected(self) -> None:
        """Asks for another name of the selected run."""
        row = self._one_selected()
        if row is None:
            return
        name = self.dialogs.line("Rename run", "Name:", row.name)
        if name and name != row.name:
            self._do(
                f'rename "{row.name}"',
                lambda store: store.rename(row.id, name),
                lambda store: store.rename(row.id, row.name),
            )

    def note_selected(self) -> None:
        """Asks for the note on the selected run."""
        row = self._one_selected()
        if row is None:
            return
        note = self.dialogs.paragraph("Note", f'Note on "{row.name}":', row.note)
        if note is not None and note != row.note:
            self._do(
                f'note on "{row.name}"',
                lambda store: store.set_note(row.id, note),
                lambda store: store.set_note(row.id, row.note),
            )

    def tag_selected(self) -> None:
        """Asks for the tags of the selected runs; tags that only some of them have are left alone."""
        rows = self.selected()
        if not rows:
            return
        common = set(rows[0].tags).intersection(*(row.tags for row in rows))
        what = f'"{rows[0].name}"' if len(rows) == 1 else f"{len(rows)} runs"
        answer = self.dialogs.line("Tags", f"Tags of {what}, separated by commas:", ", ".join(sorted(common)))
        if answer is None:
            return
        wanted = {" ".join(tag.split()) for tag in answer.split(",")} - {""}
        added = [(row.id, tag) for row in rows for tag in sorted(wanted - set(row.tags))]
        removed = [(row.id, tag) for row in rows for tag in sorted(common - wanted)]
        if added or removed:
            self._do(
                f"tags of {what}",
                lambda store: _change_tags(store, added, removed),
                lambda store: _change_tags(store, removed, added),
            )

    def delete_selected(self) -> None:
        """Deletes the selected runs; no question, because it can be undone."""
        rows = self.selected()
        if not rows:
            return
        ids = [row.id for row in rows]
        what = f'"{rows[0].name}"' if len(rows) == 1 else f"{len(rows)} runs"
        # The row that moves into the gap is selected next, so that Del can be pressed again.
        following = self._row_after(ids)
        command = self._do(f"delete {what}", lambda store: store.delete(ids), lambda store: store.undelete(ids))
        if command is not None:
            self._select({following} if following is not None else set())
            self.deleted.emit(what, command)

    def undo(self, command: HistoryCommand) -> None:
        """Takes one command back, also when others came after it."""
        stack = self._undo_stack
        if stack.index() > 0 and stack.command(stack.index() - 1) is command:
            stack.undo()
        else:
            command.undo()

    # ---- inside ----

    def _do(self, text: str, do: Callable[[Store], object], undo: Callable[[Store], object]) -> HistoryCommand | None:
        """Makes a change and puts it on the undo stack; None if the database refused it."""
        store = self._store
        if store is None:
            return None
        command = HistoryCommand(text, lambda: self._change(store, do), lambda: self._change(store, undo))
        if not command.is_done:
            return None
        self._undo_stack.push(command)
        return command

    def _change(self, store: Store, change: Callable[[Store], object]) -> bool:
        try:
            change(store)
        except StoreError as error:
            self.failed.emit(error)
            return False
        finally:
            self.reload()
        return True

    def _one_selected(self) -> RunRow | None:
        rows = self.selected()
        return rows[0] if len(rows) == 1 else None

    def _row_after(self, ids: Sequence[int]) -> int | None:
        listed = [row.id for row in self.runs()]
        last = max((listed.index(run_id) for run_id in ids), default=-1)
        rest = [run_id for run_id in listed[last + 1 :] + listed[:last][::-1] if run_id not in ids]
        return rest[0] if rest else None

    def _select(self, run_ids: set[int]) -> None:
        if {row.id for row in self.selected()} != run_ids:
            select_rows(self.table, lambda index: index.data(RUN_ROLE).id in run_ids)

    def _show_page(self) -> None:
        if self._store is not None and not self._model.rows:
            if self.search.text():
                self._empty.set_text("No run found", "No stored run matches the search. Every word has to match.")
            else:
                self._empty.set_text("No stored runs yet", "Every run is kept here, to be opened and compared again.")
        self._pages.setCurrentIndex(0 if self._model.rows else 1)

    def _on_search_confirmed(self) -> None:
        self.reload()
        if self._model.rows:
            self.table.setFocus()
            self.table.selectRow(0)

    def _set_up_table(self) -> None:
        table = self.table
        set_up_table(table, "history_table", "Stored runs")
        table.setModel(self._sorted)
        table.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        table.setFrameShape(QTableView.Shape.NoFrame)
        table.setIconSize(QSize(14, 14))
        table.horizontalHeader().setSectionsMovable(True)
        set_widths(table, ((column.title, column.widest) for column in COLUMNS))
        table.setSortingEnabled(True)
        table.sortByColumn(STARTED_COLUMN, Qt.SortOrder.DescendingOrder)
        table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        table.customContextMenuRequested.connect(self._on_menu_wanted)
        table.doubleClicked.connect(self._on_double_clicked)
        table.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        assert table.model().columnCount() == len(COLUMNS)

    def _on_double_clicked(self, _index: QModelIndex) -> None:
        self.open_requested.emit()

    def _on_menu_wanted(self, position: QPoint) -> None:
        self.menu_requested.emit(self.table.viewport().mapToGlobal(position))


class HistoryCommand(QUndoCommand):
    """A change of stored runs, made when the command is; a database that refuses leaves it as it is."""

    def __init__(self, text: str, do: Callable[[], bool], undo: Callable[[], bool]) -> None:
        """Makes the change; ``do`` and ``undo`` tell whether they succeeded."""
        super().__init__(text)
        self._do = do
        self._undo = undo
        self.is_done = do()
        self._is_first = True

    def redo(self) -> None:
        """Makes the change again."""
        if self._is_first:
            self._is_first = False
        elif not self.is_done:
            self.is_done = self._do()

    def undo(self) -> None:
        """Takes the change back."""
        if self.is_done:
            self.is_done = not self._undo()


class _RunView(QTableView):
    """A table that leaves its keys to the actions of the window."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keeps typing from jumping to rows: the search field is for that, and letters may be shortcuts."""
        if event.text().isprintable() and event.text() and not event.modifiers():
            event.ignore()
            return
        super().keyPressEvent(event)


def _change_tags(store: Store, added: Sequence[tuple[int, str]], removed: Sequence[tuple[int, str]]) -> None:
    for run_id, tag in added:
        store.add_tag(run_id, tag)
    for run_id, tag in removed:
        store.remove_tag(run_id, tag)

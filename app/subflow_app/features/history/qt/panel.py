"""The History panel: a searchable list of stored runs, and changes to runs that can be undone."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QShowEvent, QUndoStack
from PySide6.QtWidgets import QWidget

from subflow_app.features.history.core.run_columns import GROUPINGS, SWEEP, TRANSFERS, column
from subflow_app.features.history.core.run_query import Vocabulary
from subflow_app.features.history.qt.changes import HistoryCommand, RunChanges, change_tags
from subflow_app.features.history.qt.list_bar import ListBar
from subflow_app.features.history.qt.run_reader import Listing, RunReader
from subflow_app.features.history.qt.run_table import DEFAULT_COLUMNS, RunTable, RunView
from subflow_app.toolkit.dialogs import Dialogs
from subflow_app.toolkit.preferences import Preferences
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import pages, v_box
from subflow_app.toolkit.workers import Workers
from subflow_app.vocabulary.language import ENGLISH, current_language, tr, trn
from subflow_sim.gate import json_tree
from subflow_store import RunRow, StoreError

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.damage import Damage

_log = logging.getLogger(__name__)


class History(QWidget):
    """Panel that lists, searches and changes the stored runs."""

    open_requested = Signal()  # the selected runs
    selection_changed = Signal()
    seen_changed = Signal()  # the panel was shown or hidden
    menu_requested = Signal(QPoint)  # global position
    failed = Signal(object)  # StoreError
    damaged = Signal(object, object)  # the file, and the Damage of runs that are not listed
    told = Signal(str)
    summarised = Signal(str)  # number of runs and the newest run, in one line
    deleted = Signal(str, object)  # description of the runs, and the HistoryCommand

    def __init__(
        self,
        undo_stack: QUndoStack,
        dialogs: Dialogs,
        workers: Workers,
        preferences: Preferences,
        parent: QWidget | None = None,
    ) -> None:
        """Create a history without a database."""
        super().__init__(parent)
        self.setObjectName("history_view")
        self._undo_stack = undo_stack
        self.dialogs = dialogs
        self._store: Store | None = None
        self._told_damage: Sequence[Damage] = ()
        self._listed: tuple[Listing, bool] | None = None  # the listing shown, and True if it is the result of a search
        self._kept: set[int] | None = None  # runs to select after the next read
        self.model = RunTable(self)
        self.reader = RunReader(workers, self)
        self.changes = RunChanges(undo_stack, workers, self)
        self.bar = ListBar(dialogs, preferences, self)
        self._field = self.bar.search
        self.search = self._field.line
        self._count = self.bar.count
        self.table = RunView(self.model, self)
        self._empty = EmptyState("history", tr("Opening the database…"), "")
        self._pages = pages(self, self.table, self._empty)
        v_box(self, self.bar, (self._pages, 1), margins=0, spacing=0)
        self._connect()
        self._show_page()

    def _connect(self) -> None:
        self._field.asked.connect(self._ask)
        self._field.confirmed.connect(self._go_to_list)
        self._field.left_downwards.connect(self._go_to_list)
        self.bar.grouping_chosen.connect(self.set_grouping)
        self.bar.columns_chosen.connect(self.set_columns)
        self.reader.read.connect(self._on_read)
        self.reader.failed.connect(self._on_read_failed)
        self.reader.waiting.connect(lambda: self._count.setText(tr("Reading…")))
        self.changes.changed.connect(self.reload)
        self.changes.failed.connect(self.failed)
        self.changes.waiting.connect(lambda: self._count.setText(tr("Saving…")))
        self.table.opened.connect(self.open_requested)
        self.table.note_wanted.connect(self.note_selected)
        self.table.customContextMenuRequested.connect(self._on_menu_wanted)
        self.table.horizontalHeader().customContextMenuRequested.connect(self._on_header_menu_wanted)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self.selection_changed.emit())
        self.model.note_written.connect(self._set_note)
        # A new order of the rows resets the model, and Qt clears the selection at every reset.
        self.model.modelAboutToBeReset.connect(self._keep_selection)
        self.model.modelReset.connect(self._restore_selection)

    # ---- interface for the window ----

    def set_store(self, store: Store | None, why_none: str = "") -> None:
        """Show the runs of a store.

        Args:
            store: an open store; None if no database is open.
            why_none: text shown in the panel if no store is open.
        """
        self.changes.set_store(store)
        self._store = store
        self._field.vocabulary = None
        self._told_damage = ()
        self.reader.set_store(store)
        self.model.set_writable(store is not None and not store.is_read_only)
        self._empty.set_text(tr("No database") if store is None else "", why_none)
        self.model.set_rows([], {})
        self._listed = None
        self.reload()

    def reload(self) -> None:
        """Read the list again and keep the selection."""
        # If the query is invalid, the previous conditions are used again.
        self._field.parse()
        self._ask()

    def refresh(self) -> None:
        """Read the list again in the background, except while a cell is edited; unchanged rows remain as they are."""
        if self._store is not None and not self.table.is_editing:
            self.reader.ask(self._field.conditions, self._read_keys(), is_quiet=True)

    def selected(self) -> list[RunRow]:
        """The selected runs, from top to bottom."""
        return self.table.selected()

    def select(self, run_ids: Sequence[int]) -> None:
        """Select those of the runs that match the search, unfold their groups, and scroll to the first run."""
        wanted = set(run_ids)
        self.model.unfold_runs(wanted)
        self._select(wanted)
        if run_ids:
            self.table.reveal(run_ids[0])

    def reveal(self, run_ids: Sequence[int]) -> None:
        """Select runs and scroll to the first; clear the search if it hides one of them."""
        if self._field.text and not set(run_ids) <= {row.id for row in self.model.rows}:
            self._field.set_text("")
            self.told.emit(tr("The search was cleared, because it hid the selected runs."))
        self.select(run_ids)

    def runs(self) -> list[RunRow]:
        """The runs that match the search in the order of the rows, including runs in folded groups."""
        return self.model.in_order

    def set_shown(self, run_ids: frozenset[int]) -> None:
        """Mark the runs that the plots show."""
        self.model.set_shown(run_ids)

    def start_search(self) -> None:
        """Focus the search field."""
        self._field.start()

    def set_grouping(self, by: str) -> None:
        """Group the runs by one of `GROUPINGS`."""
        self.bar.show_grouping(by)
        self.model.set_grouping(by)

    def set_columns(self, keys: Sequence[str]) -> None:
        """Show columns after the name, and read their recorded values."""
        widths = self.table.widths()
        self.model.set_columns(keys, {})
        self._listed = None
        self.bar.show_columns([each.key for each in self.model.columns])
        self.table.set_default_widths()
        self.table.set_widths(widths)
        self._show_order()
        if any(each.is_read for each in self.model.columns):
            self._ask()

    def state(self) -> str:
        """Columns with widths, order and groups as JSON, to be kept between sessions."""
        header = self.table.horizontalHeader()
        shown = sorted(range(len(self.model.columns)), key=header.visualIndex)
        return json.dumps(
            {
                "columns": [self.model.columns[number].key for number in shown],
                "widths": self.table.widths(),
                "language": current_language(),
                "order": self.model.order,
                "groups": self.model.grouping,
                "opened": self.model.opened,
            }
        )

    def restore(self, state: str) -> None:
        """Restore a `state`; invalid parts are ignored."""
        try:
            kept = json_tree(state) if state else {}
            self.set_columns([str(key) for key in kept.get("columns", DEFAULT_COLUMNS)])
            # The widths fit the titles of one language and would cut off titles of another.
            if kept.get("language", ENGLISH) == current_language():
                self.table.set_widths({str(key): int(width) for key, width in kept.get("widths", {}).items()})
            key, is_descending = kept.get("order", self.model.order)
            by = kept.get("groups", SWEEP)
            opened = [str(key) for key in kept.get("opened", ())]
        except (ValueError, TypeError, AttributeError) as error:
            _log.warning("the list of runs uses default settings, because its saved state is invalid: %s", error)
            return
        keys = [each.key for each in self.model.columns]
        if key in keys:
            falling = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
            self.table.sortByColumn(keys.index(key), falling)
        if by in GROUPINGS:
            self.set_grouping(by)
        self.model.set_opened(opened)

    def showEvent(self, event: QShowEvent) -> None:
        """Report that the selected runs can be seen."""
        super().showEvent(event)
        self.seen_changed.emit()

    def hideEvent(self, event: QHideEvent) -> None:
        """Report that the selected runs cannot be seen."""
        super().hideEvent(event)
        self.seen_changed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the search on Escape, wherever the focus is in the panel."""
        if event.key() == Qt.Key.Key_Escape and self._field.text:
            self._field.set_text("")
            return
        super().keyPressEvent(event)

    # ---- changes ----

    def rename_selected(self) -> None:
        """Ask for a new name for the selected run."""
        row = self._one_selected()
        if row is None:
            return
        name = self.dialogs.line(tr("Rename run"), tr("Name:"), row.name)
        if name and name != row.name:
            self.changes.make(
                tr('rename "{run}"', run=row.name),
                lambda store: store.rename(row.id, name),
                lambda store: store.rename(row.id, row.name),
            )

    def note_selected(self) -> None:
        """Ask for a note on the selected run."""
        row = self._one_selected()
        if row is None:
            return
        note = self.dialogs.paragraph(tr("Note"), tr('Note on "{run}":', run=row.name), row.note)
        if note is not None:
            self._set_note(row, note)

    def tag_selected(self) -> None:
        """Let the user edit the tags that all selected runs share; tags of only some of them are kept."""
        rows = self.selected()
        if not rows:
            return
        common = set(rows[0].tags).intersection(*(row.tags for row in rows))
        what = _name_of(rows)
        answer = self.dialogs.tags(
            tr("Tags"), tr("Tags of {what}, separated by commas:", what=what), ", ".join(sorted(common)), self._tags()
        )
        if answer is None:
            return
        wanted = {" ".join(tag.split()) for tag in answer.split(",")} - {""}
        added = [(row.id, tag) for row in rows for tag in sorted(wanted - set(row.tags))]
        removed = [(row.id, tag) for row in rows for tag in sorted(common - wanted)]
        if added or removed:
            self.changes.make(
                tr("tags of {what}", what=what),
                lambda store: change_tags(store, added, removed),
                lambda store: change_tags(store, removed, added),
            )

    def delete_selected(self) -> None:
        """Delete the selected runs without confirmation, because the deletion can be undone."""
        rows = self.selected()
        if not rows:
            return
        ids = [row.id for row in rows]
        what = _name_of(rows)
        # Select the row that moves into the gap, so that Del can be pressed again.
        following = self._row_after(ids)

        def then(command: HistoryCommand) -> None:
            self._select({following} if following is not None else set())
            self.deleted.emit(what, command)

        self.changes.make(
            tr("delete {what}", what=what), lambda store: store.delete(ids), lambda store: store.undelete(ids), then
        )

    def undo(self, command: HistoryCommand) -> None:
        """Undo one command, even if later commands exist."""
        stack = self._undo_stack
        if stack.index() > 0 and stack.command(stack.index() - 1) is command:
            stack.undo()
        else:
            command.undo()

    # ---- internals ----

    def _one_selected(self) -> RunRow | None:
        rows = self.selected()
        return rows[0] if len(rows) == 1 else None

    def _row_after(self, ids: Sequence[int]) -> int | None:
        numbers = self.model.row_numbers(set(ids))
        first, last = (numbers[0], numbers[-1]) if numbers else (0, -1)
        around = (*range(last + 1, self.model.rowCount()), *range(first - 1, -1, -1))
        rows = (self.model.row_at(number) for number in around)
        return next((row.id for row in rows if isinstance(row, RunRow)), None)

    def _set_note(self, row: RunRow, note: str) -> None:
        if note != row.note:
            self.changes.make(
                tr('note on "{run}"', run=row.name),
                lambda store: store.set_note(row.id, note),
                lambda store: store.set_note(row.id, row.note),
            )

    def _tags(self) -> Sequence[str]:
        return self._field.vocabulary.tags if self._field.vocabulary is not None else ()

    def _ask(self) -> None:
        if self._store is None:
            self._on_read(Listing())
            return
        self.reader.ask(self._field.conditions, self._read_keys())

    def _read_keys(self) -> Collection[str]:
        keys = [each.key for each in self.model.columns if each.is_read]
        return dict.fromkeys((*keys, *TRANSFERS))

    def _on_read(self, listing: Listing) -> None:
        self._field.vocabulary = listing.vocabulary(self._field.vocabulary or Vocabulary())
        is_search = bool(self._field.conditions)
        before, self._listed = self._listed, (listing, is_search)
        if before == self._listed and self._store is not None:
            self._count.setText(_counted(listing))
            return
        self.model.set_rows(listing.rows, listing.recorded, listing.sweeps, is_search=is_search)
        self._count.setText("" if self._store is None else _counted(listing))
        self._show_page()
        self.selection_changed.emit()
        self.summarised.emit(self._summary(listing))
        if listing.damaged and self._store is not None and listing.damaged != self._told_damage:
            self._told_damage = listing.damaged
            self.damaged.emit(self._store.path, listing.damaged)

    def _summary(self, listing: Listing) -> str:
        """The number of runs, the newest run and its first measures in one line; for an empty list, only the number."""
        if not listing.rows:
            return self._count.text()
        newest = listing.rows[0]
        has_transfers = column(TRANSFERS[0]).value(newest, listing.recorded) is not None
        shown = [column(key) for key in (TRANSFERS if has_transfers else ("goodput_bps",))]
        told = [(each, each.value(newest, listing.recorded)) for each in shown]
        figures = [f"{tr(each.title)} {each.text(value)} {each.unit}" for each, value in told if value is not None]
        return "   ".join([self._count.text(), tr("Newest: {run}", run=newest.name), *figures])

    def _on_read_failed(self, error: StoreError) -> None:
        # The previous list remains, because its runs are still known and those in memory can still be opened.
        self._count.setText(tr("Not read"))
        self.failed.emit(error)

    def _keep_selection(self) -> None:
        self._kept = {row.id for row in self.selected()}

    def _restore_selection(self) -> None:
        kept, self._kept = self._kept, None
        if kept:
            self._select(kept)

    def _select(self, run_ids: set[int]) -> None:
        if {row.id for row in self.selected()} != run_ids:
            self.table.select(run_ids)

    def _show_page(self) -> None:
        if self._store is not None and not self.model.rows:
            if self._field.text:
                self._empty.set_text(
                    tr("No run found"),
                    tr(
                        "No stored run matches the search: all words and conditions must hold. Esc in the field "
                        "clears it."
                    ),
                )
            else:
                self._empty.set_text(
                    tr("No stored runs yet"), tr("Every run is kept here, to be opened and compared again.")
                )
        self._pages.setCurrentIndex(0 if self.model.rows else 1)
        # The focus proxy must never be hidden, because Tab would get stuck before the panel.
        self.setFocusProxy(self.table if self.model.rows else self._field)

    def _go_to_list(self) -> None:
        if self.model.rows:
            self.table.setFocus()
            listed = self.model.listed
            if listed and not self.selected():
                self._select({listed[0].id})

    def _show_order(self) -> None:
        key, is_descending = self.model.order
        keys = [each.key for each in self.model.columns]
        if key in keys:
            falling = Qt.SortOrder.DescendingOrder if is_descending else Qt.SortOrder.AscendingOrder
            self.table.horizontalHeader().setSortIndicator(keys.index(key), falling)

    def _on_menu_wanted(self, position: QPoint) -> None:
        self.menu_requested.emit(self.table.viewport().mapToGlobal(position))

    def _on_header_menu_wanted(self, position: QPoint) -> None:
        self.bar.columns_menu.popup(self.table.horizontalHeader().mapToGlobal(position))


def _counted(listing: Listing) -> str:
    """The number of runs, and how many others the search hides."""
    count = trn("{count} run", "{count} runs", len(listing.rows))
    hidden = trn("the search hides {count} (Esc)", "the search hides {count} (Esc)", listing.hidden)
    return f"{count}, {hidden}" if listing.hidden else count


def _name_of(rows: Sequence[RunRow]) -> str:
    return f'"{rows[0].name}"' if len(rows) == 1 else trn("{count} run", "{count} runs", len(rows))

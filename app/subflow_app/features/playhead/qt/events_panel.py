"""List of the events of the playhead's run; choosing an event moves the playhead, and the list follows the playhead.

Only the rows in view are formatted as text.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QObject, QSignalBlocker, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QTableView,
    QWidget,
)

from subflow_app.features.explain.core.run_events import DEFAULT_KINDS, GROUPS, KINDS, RunEvent, RunEvents
from subflow_app.features.playhead.qt.playhead import Playhead
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, named, pages, v_box
from subflow_app.toolkit.widgets.tables import FittedColumns, LazyRows, TableModel, set_up_table
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.tables import Column, NumberColumn

COLUMNS: tuple[Column[RunEvent], ...] = (
    NumberColumn(translatable("Time"), lambda event: f"{event.time_s:.6f} s", widest="1200.000000 s"),
    Column(translatable("Event"), lambda event: event.what, widest="Retransmission timeout__"),
    Column(translatable("Flow or link"), lambda event: event.who, widest="download · backhaul→lte"),
    Column(translatable("Value"), lambda event: event.value, widest="ssthresh 888.8 pkt"),
)


class EventList(TableModel[RunEvent]):
    """Table model for the filtered events of one run."""

    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(
            COLUMNS, parent, tip=lambda event: " · ".join(filter(None, (each.text(event) for each in COLUMNS)))
        )
        self._events: RunEvents | None = None
        self._numbers: NDArray[np.int64] = np.empty(0, np.int64)

    def show_events(self, events: RunEvents | None, numbers: NDArray[np.int64]) -> None:
        """Shows the events with these row numbers."""
        before, is_same = self._numbers, events is self._events
        self._events, self._numbers = events, numbers
        rows = LazyRows(len(numbers), self._read)
        # If a running simulation only appends events, existing rows are kept; any other change rebuilds the rows.
        if is_same and len(numbers) > len(before) and np.array_equal(numbers[: len(before)], before):
            self.add_rows(rows)
        else:
            self.show_rows(rows)

    def row_of(self, time_s: float) -> int:
        """The last row at or before a time; -1 if all events come later."""
        return -1 if self._events is None else self._events.row_at(self._numbers, time_s)

    def _read(self, row: int) -> RunEvent:
        assert self._events is not None
        return self._events.row(int(self._numbers[row]))


_KIND_LETTERS, _OWNER_LETTERS = 18, 6
_MOST_OWNERS = 500  # a longer list would be unusable


class EventsPanel(QWidget):
    """Panel with filters and the list of events; follows the playhead while visible."""

    event_chosen = Signal(float)  # time of the event, s

    def __init__(self, playhead: Playhead, parent: QWidget | None = None) -> None:
        """Leaves the panel empty until it is visible."""
        super().__init__(parent)
        self.setObjectName("events_content")
        self._playhead = playhead
        self._is_following = False
        self._stale = True
        self.model = EventList(self)
        self.kinds = _combo("event_kinds", tr("Kinds of events"), _KIND_LETTERS)
        self.kinds.addItem(tr("All but decisions"), sorted(DEFAULT_KINDS))
        for title, kinds in GROUPS.values():
            self.kinds.addItem(tr(title), list(kinds))
        self.kinds.addItem(tr("All events"), list(KINDS))
        self.kinds.activated.connect(self._on_filtered)
        self.owners = _combo("event_owners", tr("Flow or link of the events"), _OWNER_LETTERS)
        self.owners.activated.connect(self._on_filtered)
        self._count = named(muted(Label(self)), "event_count")
        self.table = set_up_table(QTableView(self), "event_table", tr("Events of the run"), self.model, is_single=True)
        FittedColumns(self.table)
        self.table.clicked.connect(self._on_chosen)
        self.table.activated.connect(self._on_chosen)
        self.table.selectionModel().currentRowChanged.connect(self._on_row)
        self._empty = EmptyState("events", tr("No events"), "")
        content = QWidget(self)
        row = h_box(None, self.kinds, (self.owners, 1), spacing=6)
        v_box(content, row, self._count, (self.table, 1), margins=6, spacing=4)
        self._pages = pages(self, self._empty, content)
        v_box(self, self._pages, margins=0)
        playhead.events_changed.connect(self._on_events_changed)
        playhead.moved.connect(lambda _time_s: self._follow())
        playhead.left.connect(self._follow)

    def showEvent(self, event: QShowEvent) -> None:
        """Loads the events that arrived while the panel was hidden."""
        super().showEvent(event)
        if self._stale:
            self._fill()

    # ---- following ----

    def _on_events_changed(self) -> None:
        self._stale = True
        if self.isVisible():
            self._fill()

    def _fill(self) -> None:
        self._stale = False
        events = self._playhead.events
        self._list_owners()
        self._is_following = True
        self.model.show_events(events, self._playhead.event_rows)
        self._is_following = False
        count = self.model.rowCount()
        self._count.setText(trn("{count} event", "{count} events", count))
        has_any = events is not None and len(events) > 0
        self._pages.setCurrentIndex(1 if has_any else 0)
        self.setFocusProxy(self.table if has_any else None)  # type: ignore[arg-type] # the stubs do not allow None
        if self._playhead.run is None:
            self._empty.set_text(
                tr("No run shown"),
                tr(
                    "Run the scenario, or open a run from the history: losses, timeouts, changes of links and all "
                    "other events are listed here. Click an event to go to its time."
                ),
            )
        else:
            self._empty.set_text(tr("No events"), tr("Nothing has happened in this run so far."))
        self._follow()

    def _list_owners(self) -> None:
        events, chosen = self._playhead.events, self._playhead.event_owner
        owners = sorted(events.owners)[:_MOST_OWNERS] if events is not None else []
        # The name of a flow or link selects the events of all its parts.
        whole = sorted({owner.partition("/")[0] for owner in owners})
        labels = self._playhead.run.traces.labels if self._playhead.run is not None else {}
        entries = [(tr("Everyone"), "")]
        for name in whole:
            entries.append((labels.get(name, name), name))
            entries += [(f"    {labels.get(each, each)}", each) for each in owners if each.startswith(f"{name}/")]
        if [self.owners.itemData(row) for row in range(self.owners.count())] == [data for _, data in entries]:
            return
        with QSignalBlocker(self.owners):
            self.owners.clear()
            for text, data in entries:
                self.owners.addItem(text, data)
            self.owners.choose(chosen)

    def _follow(self) -> None:
        """Selects the last event at or before the time of the playhead, or clears the selection if all come later."""
        if not self.isVisible():
            return
        time_s = self._playhead.looked_s
        row = self.model.row_of(time_s) if time_s is not None else -1
        self._is_following = True
        if row < 0:
            self.table.clearSelection()
            self.table.setCurrentIndex(QModelIndex())
        elif row != self.table.currentIndex().row() or not self.table.selectionModel().hasSelection():
            self.table.selectRow(row)
            self.table.scrollTo(self.model.index(row, 0))
        self._is_following = False

    def _on_filtered(self) -> None:
        self._playhead.set_event_filter(self.kinds.currentData(), self.owners.currentData() or "")

    def _on_row(self, current: QModelIndex) -> None:
        # Arrow keys in the list move the playhead.
        if not self._is_following and current.isValid() and self.table.hasFocus():
            self._on_chosen(current)

    def _on_chosen(self, index: QModelIndex) -> None:
        if index.isValid():
            self.event_chosen.emit(self.model.row_at(index.row()).time_s)


def _combo(name: str, text: str, letters: int) -> Choice:
    combo = Choice(name, text=text, letters=letters)
    combo.setToolTip(text)
    return combo

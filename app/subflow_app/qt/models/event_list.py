"""The events of a run as a table: only the rows that are looked at become words."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from subflow_app.core.language import tr, translatable
from subflow_app.core.replay.run_events import RunEvent, RunEvents

Index = QModelIndex | QPersistentModelIndex

COLUMNS = (translatable("Time"), translatable("What"), translatable("Who"), translatable("Value"))
TIME, WHAT, WHO, VALUE = range(4)
_CACHED = 2048


class EventList(QAbstractTableModel):
    """Some rows of the events of one run."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Without a run."""
        super().__init__(parent)
        self._events: RunEvents | None = None
        self._rows: NDArray[np.int64] = np.empty(0, np.int64)
        self._event_at = lru_cache(_CACHED)(self._read)

    def show_rows(self, events: RunEvents | None, rows: NDArray[np.int64]) -> None:
        """Shows these rows of these events."""
        grown = len(rows) - len(self._rows)
        if events is self._events and grown > 0 and np.array_equal(rows[: len(self._rows)], self._rows):
            # A run that goes on: what was there stays where it is. Planned events to come make all others anew.
            self.beginInsertRows(QModelIndex(), len(self._rows), len(rows) - 1)
            self._rows = rows
            self._event_at.cache_clear()
            self.endInsertRows()
            return
        self.beginResetModel()
        self._events, self._rows = events, rows
        self._event_at.cache_clear()
        self.endResetModel()

    def event_at(self, row: int) -> RunEvent:
        """The event of a row."""
        return self._event_at(row)

    def row_at(self, time_s: float) -> int:
        """The last row at or before a time; -1 if all come later."""
        return -1 if self._events is None else self._events.row_at(self._rows, time_s)

    def _read(self, row: int) -> RunEvent:
        assert self._events is not None
        return self._events.row(int(self._rows[row]))

    # ---- QAbstractTableModel ----

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of events."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Time, what, who, value."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Title of a column."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return tr(COLUMNS[section])
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() == TIME:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        event = self._event_at(index.row())
        cells = (f"{event.time_s:.6f} s", event.what, event.who, event.value)
        return cells[index.column()] if role == Qt.ItemDataRole.DisplayRole else " · ".join(filter(None, cells))

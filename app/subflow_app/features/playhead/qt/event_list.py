"""The events of a run as a table: only the rows that are looked at become words."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QModelIndex, QObject

from subflow_app.features.explain.core.run_events import RunEvent, RunEvents
from subflow_app.toolkit.models.table_model import Index, TableModel
from subflow_app.vocabulary.language import translatable
from subflow_app.vocabulary.tables import Column, NumberColumn

COLUMNS: tuple[Column[RunEvent], ...] = (
    NumberColumn(translatable("Time"), lambda event: f"{event.time_s:.6f} s", widest="1200.000000 s"),
    Column(translatable("Event"), lambda event: event.what, widest="Retransmission timeout__"),
    Column(translatable("Flow or link"), lambda event: event.who, widest="download · backhaul→lte"),
    Column(translatable("Value"), lambda event: event.value),
)
_CACHED = 2048


class EventList(TableModel[RunEvent]):
    """Some rows of the events of one run."""

    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        """Without a run."""
        super().__init__(
            COLUMNS, parent, tip=lambda event: " · ".join(filter(None, (each.text(event) for each in COLUMNS)))
        )
        self._events: RunEvents | None = None
        self._numbers: NDArray[np.int64] = np.empty(0, np.int64)
        self._event_at = lru_cache(_CACHED)(self._read)

    def show_events(self, events: RunEvents | None, numbers: NDArray[np.int64]) -> None:
        """Shows these of these events."""
        before = self._numbers
        grown = len(numbers) - len(before)
        if events is self._events and grown > 0 and np.array_equal(numbers[: len(before)], before):
            # A run that goes on: what was there stays where it is. Planned events to come make all others anew.
            self.beginInsertRows(QModelIndex(), len(before), len(numbers) - 1)
            self._numbers = numbers
            self._event_at.cache_clear()
            self.endInsertRows()
            return
        self.beginResetModel()
        self._events, self._numbers = events, numbers
        self._event_at.cache_clear()
        self.endResetModel()

    def row_at(self, number: int) -> RunEvent:
        """The event of a row."""
        return self._event_at(number)

    def row_of(self, time_s: float) -> int:
        """The last row at or before a time; -1 if all come later."""
        return -1 if self._events is None else self._events.row_at(self._numbers, time_s)

    def _read(self, row: int) -> RunEvent:
        assert self._events is not None
        return self._events.row(int(self._numbers[row]))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of events."""
        return 0 if parent.isValid() else len(self._numbers)

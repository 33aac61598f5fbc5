"""The queued runs as a table: where each stands, and why it failed."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QIcon

from subflow_app.core.jobs.progress import JobState
from subflow_app.core.language import tr, translatable
from subflow_app.core.running.run_queue import QueueEntry
from subflow_app.core.tables import Column, NumberColumn
from subflow_app.qt import format as fmt
from subflow_app.qt.icons import icon
from subflow_app.qt.models.table_model import FollowedTable

_ICONS = {
    JobState.WAITING: "recent",
    JobState.RUNNING: "run",
    JobState.FINISHED: "ok",
    JobState.FAILED: "error",
    JobState.CANCELLED: "stop",
}


def _kept(entry: QueueEntry) -> str:
    kept = "" if entry.run_id is None else tr("run {number}", number=entry.run_id)
    return ", ".join(text for text in (kept, entry.note) if text)


COLUMNS: tuple[Column[QueueEntry], ...] = (
    Column(translatable("Run"), lambda e: e.name, widest="Two disjoint paths, balia"),
    NumberColumn(translatable("Seed"), lambda e: e.seed, widest="12345"),
    Column(translatable("State"), lambda e: tr(e.state), widest="      cancelled"),
    NumberColumn(translatable("Done"), lambda e: fmt.ratio(e.fraction, 2), widest="100 %"),
    NumberColumn(
        translatable("Time left"),
        lambda e: fmt.duration(e.eta_s) if e.state is JobState.RUNNING else "",
        widest="00 min 00 s",
    ),
    Column(translatable("Tag"), lambda e: e.tag, widest="batch of 12"),
    Column(translatable("Kept as"), _kept, widest="run 12345"),
)
_STATE_COLUMN = 2


class QueueTable(FollowedTable[QueueEntry]):
    """Rows are runs in the order in which they start."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(COLUMNS, lambda entry: entry.number, parent, tip=lambda entry: entry.note or None)

    def other_data(self, row: QueueEntry, column: int, role: int) -> QIcon | None:
        """The sign of where it stands."""
        is_sign = role == Qt.ItemDataRole.DecorationRole and column == _STATE_COLUMN
        return icon(_ICONS[row.state]) if is_sign else None

"""The queued runs as a table: where each stands, and why it failed."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QIcon

from subflow_app.core.jobs.progress import JobState
from subflow_app.core.language import tr, translatable
from subflow_app.core.running.run_queue import QueueEntry
from subflow_app.qt import format as fmt
from subflow_app.qt.icons import icon
from subflow_app.qt.models.followed_table import Column, FollowedTable

_STATES = {
    JobState.WAITING: (translatable("waiting"), "recent"),
    JobState.RUNNING: (translatable("running"), "run"),
    JobState.FINISHED: (translatable("finished"), "ok"),
    JobState.FAILED: (translatable("failed"), "error"),
    JobState.CANCELLED: (translatable("cancelled"), "stop"),
}


def _kept(entry: QueueEntry) -> str:
    kept = "" if entry.run_id is None else tr("run {number}", number=entry.run_id)
    return ", ".join(text for text in (kept, entry.note) if text)


COLUMNS: tuple[Column[QueueEntry], ...] = (
    Column(translatable("Run"), lambda e: e.name, "Two disjoint paths, balia"),
    Column(translatable("Seed"), lambda e: str(e.seed), "12345", is_number=True),
    Column(translatable("State"), lambda e: tr(_STATES[e.state][0]), "      cancelled"),
    Column(translatable("Done"), lambda e: fmt.ratio(e.fraction, 2), "100 %", is_number=True),
    Column(
        translatable("Time left"),
        lambda e: fmt.duration(e.eta_s) if e.state is JobState.RUNNING else "",
        "00 min 00 s",
        is_number=True,
    ),
    Column(translatable("Tag"), lambda e: e.tag, "batch of 12"),
    Column(translatable("Kept as"), _kept, "run 12345"),
)
_STATE_COLUMN = 2


class QueueTable(FollowedTable[QueueEntry]):
    """Rows are runs in the order in which they start."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(COLUMNS, lambda entry: entry.number, parent)

    def tip_of(self, row: QueueEntry) -> str | None:
        """Why it failed, say."""
        return row.note or None

    def icon_of(self, row: QueueEntry, column: int) -> QIcon | None:
        """Where it stands."""
        return icon(_STATES[row.state][1]) if column == _STATE_COLUMN else None

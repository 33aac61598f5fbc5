"""The sweeps of the window as a table: where each stands, and how many of its runs are there."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QIcon

from subflow_app.core.language import tr, translatable
from subflow_app.core.sweeps.sweep_list import STATE_TEXTS, SweepEntry
from subflow_app.qt import format as fmt
from subflow_app.qt.icons import icon
from subflow_app.qt.models.followed_table import Column, FollowedTable

_ICONS = {
    "waiting": "recent",
    "checking": "recent",
    "running": "run",
    "paused": "pause",
    "finished": "ok",
    "stopped": "stop",
    "failed": "error",
    "interrupted": "warning",
}


def done_text(entry: SweepEntry) -> str:
    """Runs that are there of all, and how many failed."""
    if entry.state == "checking":
        return tr("{count} points read", count=fmt.count(entry.checked))
    done = tr("{done} of {total}", done=fmt.count(entry.finished), total=fmt.count(entry.runs))
    return tr("{done}, {failed} failed", done=done, failed=fmt.count(entry.failed)) if entry.failed else done


COLUMNS: tuple[Column[SweepEntry], ...] = (
    Column(translatable("Sweep"), lambda e: e.name, "Two disjoint paths"),
    Column(translatable("Runs"), done_text, "100 of 100", is_number=True),
    Column(translatable("State"), lambda e: tr(STATE_TEXTS[e.state]), "      interrupted"),
    Column(
        translatable("Time left"), lambda e: fmt.duration(e.eta_s) if e.goes_on else "", "00 min 00 s", is_number=True
    ),
    Column(translatable("Started"), lambda e: fmt.moment(e.created_at), "28 Nov 2026 09:12"),
)
_STATE_COLUMN = 2


class SweepTableModel(FollowedTable[SweepEntry]):
    """Rows are sweeps, newest first."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(COLUMNS, lambda entry: entry.key, parent)

    def tip_of(self, row: SweepEntry) -> str | None:
        """Why it failed, or that it can be taken up again."""
        if row.message:
            return row.message
        if row.is_elsewhere:
            return tr("Another program is at it")
        return tr("Can be taken up again: the runs that are missing are made") if row.can_resume else None

    def icon_of(self, row: SweepEntry, column: int) -> QIcon | None:
        """Where it stands."""
        return icon(_ICONS[row.state]) if column == _STATE_COLUMN else None

"""The queued runs as a table: where each stands, and why it failed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from subflow_app.core.language import tr, translatable
from subflow_app.core.running.run_queue import QueueEntry, QueueState
from subflow_app.qt import format as fmt
from subflow_app.qt.icons import icon

Index = QModelIndex | QPersistentModelIndex

ENTRY_ROLE = Qt.ItemDataRole.UserRole + 1  # QueueEntry

_STATES = {
    QueueState.WAITING: (translatable("waiting"), "recent"),
    QueueState.RUNNING: (translatable("running"), "run"),
    QueueState.FINISHED: (translatable("finished"), "ok"),
    QueueState.FAILED: (translatable("failed"), "error"),
    QueueState.CANCELLED: (translatable("cancelled"), "stop"),
}


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    text: Callable[[QueueEntry], str]
    widest: str  # what it holds at most as a rule, for its first width
    is_number: bool = False


def _kept(entry: QueueEntry) -> str:
    kept = "" if entry.run_id is None else tr("run {number}", number=entry.run_id)
    return ", ".join(text for text in (kept, entry.note) if text)


COLUMNS: tuple[_Column, ...] = (
    _Column(translatable("Run"), lambda e: e.name, "Two disjoint paths, balia"),
    _Column(translatable("Seed"), lambda e: str(e.seed), "12345", is_number=True),
    _Column(translatable("State"), lambda e: tr(_STATES[e.state][0]), "      cancelled"),
    _Column(translatable("Done"), lambda e: fmt.ratio(e.fraction, 2), "100 %", is_number=True),
    _Column(
        translatable("Time left"),
        lambda e: fmt.duration(e.eta_s) if e.state is QueueState.RUNNING else "",
        "00 min 00 s",
        is_number=True,
    ),
    _Column(translatable("Tag"), lambda e: e.tag, "batch of 12"),
    _Column(translatable("Kept as"), _kept, "run 12345"),
)
_STATE_COLUMN = 2


class QueueTable(QAbstractTableModel):
    """Rows are runs in the order in which they start; :meth:`update_rows` is all it takes to follow them."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(parent)
        self._rows: list[QueueEntry] = []
        self._shown: list[tuple[str, ...]] = []

    @property
    def rows(self) -> Sequence[QueueEntry]:
        """The runs."""
        return self._rows

    def update_rows(self, entries: Sequence[QueueEntry]) -> None:
        """Shows these runs; where they are the same as before, only cells that changed are drawn again."""
        texts = [tuple(column.text(entry) for column in COLUMNS) for entry in entries]
        if [entry.number for entry in entries] != [row.number for row in self._rows]:
            self.beginResetModel()
            self._rows, self._shown = list(entries), texts
            self.endResetModel()
            return
        self._rows = list(entries)
        before, self._shown = self._shown, texts
        for row, (old, new) in enumerate(zip(before, texts, strict=True)):
            changed = [column for column in range(len(COLUMNS)) if old[column] != new[column]]
            if changed:
                self.dataChanged.emit(self.index(row, changed[0]), self.index(row, changed[-1]))

    def refresh_icons(self) -> None:
        """Has the icons drawn again, in the colours of another theme."""
        if self._rows:
            last = self.index(len(self._rows) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.DecorationRole])

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of runs."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Title of a column."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(COLUMNS):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(COLUMNS[section].title)
        if role == Qt.ItemDataRole.TextAlignmentRole and COLUMNS[section].is_number:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text, icon and tool tip of a cell."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        entry, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == ENTRY_ROLE:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown[index.row()][index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            return entry.note or None
        if role == Qt.ItemDataRole.TextAlignmentRole and column.is_number:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.DecorationRole and index.column() == _STATE_COLUMN:
            return icon(_STATES[entry.state][1])
        return None

"""The stored runs as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from subflow_app.qt import format as fmt
from subflow_app.qt.icons import icon
from subflow_app.qt.theme import current_tokens
from subflow_store import RunRow

Index = QModelIndex | QPersistentModelIndex

RUN_ROLE = Qt.ItemDataRole.UserRole + 1  # RunRow
SORT_ROLE = Qt.ItemDataRole.UserRole + 2  # number or text that sorts as a person expects

_STATUS_ICONS = {"finished": "ok", "running": "run", "stopped": "stop", "failed": "error", "interrupted": "warning"}


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    text: Callable[[RunRow], str]
    sort: Callable[[RunRow], float | str]
    widest: str  # what it holds at most as a rule, for its first width
    is_number: bool = False
    tip: str = ""


def _or_least(value: float | None) -> float:
    """Runs without a figure come last in descending order."""
    return float("-inf") if value is None else value


COLUMNS: tuple[_Column, ...] = (
    _Column("Name", lambda r: r.name, lambda r: r.name.lower(), "Two disjoint paths, lossy"),
    _Column("Scenario", lambda r: r.scenario_name, lambda r: r.scenario_name.lower(), "Two disjoint path"),
    _Column("Controllers", lambda r: r.controllers, lambda r: r.controllers.lower(), "uncoupled"),
    _Column("Seed", lambda r: str(r.seed), lambda r: float(r.seed), "1234", is_number=True),
    _Column("Status", lambda r: r.status, lambda r: r.status, "    interrupted"),
    _Column(
        "Goodput",
        lambda r: fmt.rate(r.goodput_bps),
        lambda r: _or_least(r.goodput_bps),
        "12.3 Mbit/s",
        is_number=True,
        tip="Sum over all flows, after warm-up",
    ),
    _Column(
        "Mean RTT",
        lambda r: fmt.time(r.mean_rtt_s),
        lambda r: _or_least(r.mean_rtt_s),
        "91.2 ms",
        is_number=True,
        tip="Mean round-trip time over all flows, after warm-up",
    ),
    _Column(
        "Jain",
        lambda r: fmt.index(r.jain),
        lambda r: _or_least(r.jain),
        "1.000",
        is_number=True,
        tip="Jain's fairness index of the flows: 1 is equal shares",
    ),
    _Column("Started", lambda r: fmt.moment(r.started_at), lambda r: r.started_at.timestamp(), "yesterday 09:12"),
    _Column("Tags", lambda r: ", ".join(r.tags), lambda r: ", ".join(r.tags).lower(), "baseline"),
)
NAME_COLUMN = 0
STARTED_COLUMN = next(i for i, column in enumerate(COLUMNS) if column.title == "Started")


class RunTable(QAbstractTableModel):
    """Rows are runs, newest first as the store gives them."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(parent)
        self._rows: list[RunRow] = []
        self._shown: frozenset[int] = frozenset()

    @property
    def rows(self) -> Sequence[RunRow]:
        """The runs."""
        return self._rows

    def set_rows(self, rows: Sequence[RunRow]) -> None:
        """Replaces the runs; rows that stay keep their place, so that selection and scroll position survive."""
        if [row.id for row in rows] == [row.id for row in self._rows]:
            self._rows = list(rows)
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self._rows = list(rows)
        self.endResetModel()

    def set_shown(self, run_ids: frozenset[int]) -> None:
        """Marks the runs that the plots show."""
        if run_ids != self._shown:
            self._shown = run_ids
            if self._rows:
                self.dataChanged.emit(self.index(0, NAME_COLUMN), self.index(len(self._rows) - 1, NAME_COLUMN))

    def refresh_icons(self) -> None:
        """Has the icons drawn again, in the colours of another theme."""
        if self._rows:
            roles = [Qt.ItemDataRole.DecorationRole]
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(COLUMNS) - 1), roles)

    # ---- QAbstractTableModel ----

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
        column = COLUMNS[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return column.tip or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text, icon, tool tip and sort key of a cell."""
        if not index.isValid():
            return None
        row, column = self._rows[index.row()], COLUMNS[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == RUN_ROLE:
            return row
        if role == SORT_ROLE:
            return column.sort(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(column)
        if role == Qt.ItemDataRole.ToolTipRole:
            return _tip(row)
        if role == Qt.ItemDataRole.DecorationRole:
            return self._icon(row, column)
        if role == Qt.ItemDataRole.FontRole and index.column() == NAME_COLUMN and row.id in self._shown:
            font = QFont()
            font.setBold(True)
            return font
        return None

    def _icon(self, row: RunRow, column: _Column) -> object | None:
        tokens = current_tokens()
        if column.title == "Status":
            colours = {"finished": tokens.ok, "running": tokens.accent, "failed": tokens.error}
            return icon(_STATUS_ICONS[row.status], colours.get(row.status, tokens.muted_text))
        if column.title == "Name":
            return icon("plots", tokens.accent if row.id in self._shown else tokens.border)
        return None


def _alignment(column: _Column) -> Qt.AlignmentFlag:
    side = Qt.AlignmentFlag.AlignRight if column.is_number else Qt.AlignmentFlag.AlignLeft
    return side | Qt.AlignmentFlag.AlignVCenter


def _tip(row: RunRow) -> str:
    lines = [f"Run {row.id}: {row.name}", f"{row.simulated_s:g} of {row.duration_s:g} s simulated"]
    if row.packets is not None:
        lines.append(f"{fmt.count(row.packets)} packets in {fmt.duration(row.wall_s)}")
    if row.note:
        lines.append(f"Note: {row.note}")
    return "\n".join(lines)

"""A table of things that go on: told what they are again and again, it draws only the cells that changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from subflow_app.core.language import tr

Index = QModelIndex | QPersistentModelIndex

ROW_ROLE = Qt.ItemDataRole.UserRole + 1  # the thing that a row shows

RowT = TypeVar("RowT")


@dataclass(frozen=True, slots=True)
class Column(Generic[RowT]):
    """A column: its title, what it says of a row, and what it holds at most as a rule, for its first width."""

    title: str
    text: Callable[[RowT], str]
    widest: str
    is_number: bool = False
    tip: str = ""


class FollowedTable(QAbstractTableModel, Generic[RowT]):
    """Shows rows in the order in which it is given them; :meth:`update_rows` is all it takes to follow them."""

    def __init__(
        self, columns: Sequence[Column[RowT]], key: Callable[[RowT], Hashable], parent: QObject | None = None
    ) -> None:
        """An empty table; rows with the same ``key`` are the same."""
        super().__init__(parent)
        self._columns = columns
        self._key = key
        self._rows: list[RowT] = []
        self._shown: list[tuple[str, ...]] = []

    @property
    def rows(self) -> Sequence[RowT]:
        """What is shown."""
        return self._rows

    def update_rows(self, rows: Sequence[RowT]) -> None:
        """Shows these; where they are the same as before, only cells that changed are drawn again."""
        texts = [tuple(column.text(row) for column in self._columns) for row in rows]
        if [self._key(row) for row in rows] != [self._key(row) for row in self._rows]:
            self.beginResetModel()
            self._rows, self._shown = list(rows), texts
            self.on_others()
            self.endResetModel()
            return
        self._rows = list(rows)
        before, self._shown = self._shown, texts
        for number, (old, new) in enumerate(zip(before, texts, strict=True)):
            changed = [column for column in range(len(self._columns)) if old[column] != new[column]]
            if changed:
                self.dataChanged.emit(self.index(number, changed[0]), self.index(number, changed[-1]))

    def on_others(self) -> None:
        """Hears that other rows are shown than before, while the model is being reset."""

    def refresh_icons(self) -> None:
        """Has the icons drawn again, in the colours of another theme."""
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self._columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last, [Qt.ItemDataRole.DecorationRole])

    # ---- QAbstractTableModel ----

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Title and tool tip of a column."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        column = self._columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(column.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr(column.tip) if column.tip else None
        if role == Qt.ItemDataRole.TextAlignmentRole and column.is_number:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text, icon and tool tip of a cell."""
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return self._shown[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and self._columns[index.column()].is_number:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return self.tip_of(row)
        if role == Qt.ItemDataRole.DecorationRole:
            return self.icon_of(row, index.column())
        return None

    def tip_of(self, row: RowT) -> str | None:
        """The tool tip of a row."""

    def icon_of(self, row: RowT, column: int) -> object | None:
        """The icon of a cell."""

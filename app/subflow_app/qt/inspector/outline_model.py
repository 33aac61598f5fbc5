"""The list of a scenario's parts as a Qt tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont

from subflow_app.core.language import trn
from subflow_app.core.scenarios.outline import OutlineEntry, outline
from subflow_app.core.scenarios.scenario_doc import ScenarioDoc
from subflow_app.qt.icons import icon
from subflow_app.qt.theme import current_tokens

KEY_ROLE = Qt.ItemDataRole.UserRole
_Index = QModelIndex | QPersistentModelIndex


@dataclass(slots=True)
class _Row:
    entry: OutlineEntry
    number: int
    parent: _Row | None = None
    children: list[_Row] = field(default_factory=list)


class OutlineModel(QAbstractItemModel):
    """Two columns: what a part is called, and a few words about it. Roles: `KEY_ROLE` is the dotted key."""

    def __init__(self, doc: ScenarioDoc, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[_Row] = []
        self.show(doc)

    def show(self, doc: ScenarioDoc) -> bool:
        """Follow the document; returns whether rows came or went, which forgets what is expanded and current."""
        entries = outline(doc)
        if self._shape(entries) == self._shape([row.entry for row in self._rows]):
            for row, entry in zip(self._rows, entries, strict=True):
                row.entry = entry
                for child, child_entry in zip(row.children, entry.children, strict=True):
                    child.entry = child_entry
                if row.children:
                    parent = self.createIndex(row.number, 0, row)
                    last = self.index(len(row.children) - 1, 1, parent)
                    self.dataChanged.emit(self.index(0, 0, parent), last)
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, 1))
            return False
        self.beginResetModel()
        self._rows = []
        for number, entry in enumerate(entries):
            row = _Row(entry, number)
            row.children = [_Row(child, index, row) for index, child in enumerate(entry.children)]
            self._rows.append(row)
        self.endResetModel()
        return True

    def index_of(self, key: str) -> QModelIndex:
        """Return where a key stands; an invalid index if nowhere."""
        for row in self._rows:
            if row.entry.key == key:
                return self.createIndex(row.number, 0, row)
            for child in row.children:
                if child.entry.key == key:
                    return self.createIndex(child.number, 0, child)
        return QModelIndex()

    def index(self, row: int, column: int, parent: _Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        """Return the index of a cell."""
        siblings = parent.internalPointer().children if parent.isValid() else self._rows
        if not (0 <= row < len(siblings) and 0 <= column < 2):
            return QModelIndex()
        return self.createIndex(row, column, siblings[row])

    def parent(self, index: _Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        """Return the section that a part belongs to."""
        row = index.internalPointer() if index.isValid() else None
        if row is None or row.parent is None:
            return QModelIndex()
        return self.createIndex(row.parent.number, 0, row.parent)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Return how many parts there are."""
        if parent.column() > 0:
            return 0
        return len(parent.internalPointer().children) if parent.isValid() else len(self._rows)

    def columnCount(self, _parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """Return two: name and detail."""
        return 2

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a cell says and how it looks."""
        if not index.isValid():
            return None
        row: _Row = index.internalPointer()
        entry = row.entry
        if role == KEY_ROLE:
            return entry.key
        if index.column() == 1:
            return self._detail(entry, role)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.title
            case Qt.ItemDataRole.FontRole if row.parent is None:
                font = QFont()
                font.setWeight(QFont.Weight.DemiBold)
                return font
            case Qt.ItemDataRole.AccessibleTextRole:
                problems = f", {_problems(entry)}" if entry.problem_count else ""
                return f"{entry.title} {entry.detail}{problems}"
        return None

    def _detail(self, entry: OutlineEntry, role: int) -> Any:
        match role:
            case Qt.ItemDataRole.DisplayRole:
                if entry.problem_count:
                    return _problems(entry)
                return entry.detail or (
                    str(len(entry.children)) if entry.key in ("nodes", "links", "flows", "events") else ""
                )
            case Qt.ItemDataRole.ForegroundRole:
                return QColor(current_tokens().error if entry.problem_count else current_tokens().muted_text)
            case Qt.ItemDataRole.DecorationRole if entry.problem_count:
                return icon("error", "error")
            case Qt.ItemDataRole.ToolTipRole:
                return entry.detail or None
        return None

    @staticmethod
    def _shape(entries: Any) -> list[tuple[str, tuple[str, ...]]]:
        return [(entry.key, tuple(child.key for child in entry.children)) for entry in entries]


def _problems(entry: OutlineEntry) -> str:
    return trn("{count} problem", "{count} problems", entry.problem_count)

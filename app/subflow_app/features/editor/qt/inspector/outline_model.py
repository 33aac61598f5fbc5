"""The list of a scenario's parts as a Qt tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QColor, QFont

from subflow_app.features.editor.core.outline import OutlineEntry, outline
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.models.table_model import Index
from subflow_app.toolkit.models.tree_model import TreeModel
from subflow_app.toolkit.plain_text import as_written
from subflow_app.toolkit.theme import current_tokens
from subflow_app.vocabulary.language import trn

KEY_ROLE = Qt.ItemDataRole.UserRole


class OutlineModel(TreeModel):
    """Two columns: what a part is called, and a few words about it. Roles: `KEY_ROLE` is the dotted key."""

    def __init__(self, doc: ScenarioDoc, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: Sequence[OutlineEntry] = ()
        self.show(doc)

    def show(self, doc: ScenarioDoc) -> bool:
        """Follow the document; returns whether rows came or went, which forgets what is expanded and current."""
        entries = outline(doc)
        if self._shape(entries) == self._shape(self._entries):
            self._entries = entries
            for number, entry in enumerate(entries):
                if entry.children:
                    parent = self.index(number, 0)
                    self.dataChanged.emit(self.index(0, 0, parent), self.index(len(entry.children) - 1, 1, parent))
            self.dataChanged.emit(self.index(0, 0), self.index(len(entries) - 1, 1))
            return False
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()
        return True

    def index_of(self, key: str) -> QModelIndex:
        """Return where a key stands; an invalid index if nowhere."""
        for row, entry in enumerate(self._entries):
            if entry.key == key:
                return self.index(row, 0)
            for place, child in enumerate(entry.children):
                if child.key == key:
                    return self.index(place, 0, self.index(row, 0))
        return QModelIndex()

    def count(self, above: int | None) -> int:
        """Return how many parts there are."""
        return len(self._entries if above is None else self._entries[above].children)

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Return two: name and detail."""
        return 2

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return what a cell says and how it looks."""
        if not index.isValid():
            return None
        above = index.internalId()
        entry = self._entries[above - 1].children[index.row()] if above else self._entries[index.row()]
        if role == KEY_ROLE:
            return entry.key
        if index.column() == 1:
            return self._detail(entry, role)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return entry.title
            case Qt.ItemDataRole.FontRole if not above:
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
                return as_written(entry.detail) or None
        return None

    @staticmethod
    def _shape(entries: Any) -> list[tuple[str, tuple[str, ...]]]:
        return [(entry.key, tuple(child.key for child in entry.children)) for entry in entries]


def _problems(entry: OutlineEntry) -> str:
    return trn("{count} problem", "{count} problems", entry.problem_count)

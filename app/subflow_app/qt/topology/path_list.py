"""The paths that a flow can take, as a list with check boxes in the colours that they have on the canvas."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QColor

from subflow_app.core.language import tr, trn
from subflow_app.core.palette import ColourKey, hex_colour
from subflow_app.core.scenarios.flow_draft import DraftPath, FlowDraft
from subflow_app.qt import format as fmt

_Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


def path_colour(position: int, *, is_dark: bool) -> str:
    """Return the colour of a path by its position in the list, in the panel and on the canvas."""
    return hex_colour(ColourKey(position, 0), dark=is_dark)


def path_words(path: DraftPath) -> str:
    """Write what a path is like: `5 Mbit/s · 60 ms · 3 links · shares no link`."""
    facts = path.facts
    words = [
        fmt.rate(facts.rate_bps) if facts.rate_bps != float("inf") else fmt.UNLIMITED,
        fmt.time(facts.delay_s),
        tr("loss {ratio}", ratio=fmt.ratio(facts.loss)) if facts.loss else "",
        trn("{count} link", "{count} links", len(path.links)),
        tr("disjoint") if path.is_disjoint else "",
    ]
    return "  ·  ".join(filter(None, words))


class PathList(QAbstractListModel):
    """The paths of a draft; checking one chooses it."""

    chosen_changed = Signal()

    def __init__(self, draft: FlowDraft, parent: QObject, *, is_dark: bool) -> None:
        super().__init__(parent)
        self._draft = draft
        self._is_dark = is_dark

    def refresh(self) -> None:
        """Show what the draft has now."""
        self.beginResetModel()
        self.endResetModel()

    def rowCount(self, parent: _Index = _NO_INDEX) -> int:
        """Count the paths."""
        return 0 if parent.isValid() else len(self._draft.paths)

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """Every path can be checked."""
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a path's links and words, its colour and whether it is chosen."""
        if not index.isValid():
            return None
        path = self._draft.paths[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{' → '.join(path.links)}\n{path_words(path)}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return tr("Path over {links}: {words}", links=", ".join(path.links), words=path_words(path))
        if role == Qt.ItemDataRole.DecorationRole:
            return QColor(path_colour(index.row(), is_dark=self._is_dark))
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if path.is_wanted else Qt.CheckState.Unchecked
        return None

    def setData(self, index: _Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Choose a path or not."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self._draft.set_wanted(index.row(), Qt.CheckState(value) == Qt.CheckState.Checked)
        self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))
        self.chosen_changed.emit()
        return True

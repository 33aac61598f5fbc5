"""The paths that a flow can take, as a list with check boxes in the colours that they have on the canvas."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor

from subflow_app.features.editor.core.flow_draft import DraftPath, FlowDraft
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.models.table_model import Index, ListModel
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.palette import ColourKey, hex_colour


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


class PathList(ListModel[DraftPath]):
    """The paths of a draft; checking one chooses it."""

    chosen_changed = Signal()

    def __init__(self, draft: FlowDraft, parent: QObject, *, is_dark: bool) -> None:
        super().__init__(lambda path: f"{' → '.join(path.links)}\n{path_words(path)}", parent)
        self._draft = draft
        self._is_dark = is_dark
        self.rows = draft.paths

    def refresh(self) -> None:
        """Show what the draft has now."""
        self.show_rows(self._draft.paths)

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Every path can be checked."""
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a path's links and words, its colour and whether it is chosen."""
        if role == Qt.ItemDataRole.DecorationRole:
            return QColor(path_colour(index.row(), is_dark=self._is_dark))
        return super().data(index, role)

    def other_data(self, row: DraftPath, column: int, role: int) -> object | None:
        """Return what a screen reader says, and whether the path is chosen."""
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return tr("Path over {links}: {words}", links=", ".join(row.links), words=path_words(row))
        if role == Qt.ItemDataRole.CheckStateRole:
            return Qt.CheckState.Checked if row.is_wanted else Qt.CheckState.Unchecked
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Choose a path or not."""
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        self._draft.set_wanted(index.row(), Qt.CheckState(value) == Qt.CheckState.Checked)
        self.rows = self._draft.paths
        self.say_changed()
        self.chosen_changed.emit()
        return True

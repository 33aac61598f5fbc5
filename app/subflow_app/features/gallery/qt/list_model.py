"""The experiments of the gallery as a tree: papers, and below each what they show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QPixmap

from subflow_app.features.gallery.core.exhibits import Exhibit, paper_order, summed_counts
from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.features.gallery.core.reproduction_queue import QueuedState
from subflow_app.features.gallery.qt.texts import counts_text, spoken, takes_text
from subflow_app.toolkit.models.table_model import Index
from subflow_app.toolkit.models.tree_model import TreeModel
from subflow_app.toolkit.plain_text import as_written
from subflow_app.vocabulary.language import tr, trn

EXHIBIT_ROLE = Qt.ItemDataRole.UserRole + 1
"""The experiment of a row; None for a paper."""
QUEUED_ROLE = Qt.ItemDataRole.UserRole + 2
"""Where it stands in the queue; None: it is not there."""
PICTURE_ROLE = Qt.ItemDataRole.UserRole + 3
"""Its figure, small; None: there is none."""
COUNTS_ROLE = Qt.ItemDataRole.UserRole + 4
"""How often each verdict came out, of an experiment or a paper."""


class ExperimentModel(TreeModel):
    """Papers are rows, experiments their children; an experiment that changes is drawn again, and nothing else."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Empty."""
        super().__init__(parent)
        self._papers: list[str] = []
        self._members: list[list[Exhibit]] = []
        self._queued: Mapping[str, QueuedState] = {}
        self._pictures: dict[str, QPixmap] = {}

    # ---- what its owner says ----

    def show_exhibits(self, exhibits: Sequence[Exhibit]) -> None:
        """Shows these."""
        self.beginResetModel()
        ordered = paper_order(exhibits)
        self._papers, self._members = list(ordered), list(ordered.values())
        self.endResetModel()

    def replace(self, exhibit: Exhibit) -> None:
        """Shows another state of one of them."""
        index = self.index_of(exhibit.name)
        if index.isValid():
            self._members[index.parent().row()][index.row()] = exhibit
            self.dataChanged.emit(index, index)
            self.dataChanged.emit(index.parent(), index.parent())

    def show_queue(self, states: Mapping[str, QueuedState]) -> None:
        """Shows what waits and goes on."""
        before, self._queued = self._queued, dict(states)
        for name in {*before, *states}:
            if before.get(name) != states.get(name):
                index = self.index_of(name)
                if index.isValid():
                    self.dataChanged.emit(index, index)

    def set_picture(self, name: str, picture: QPixmap | None) -> None:
        """Shows a figure, small; None takes it away."""
        if picture is None:
            self._pictures.pop(name, None)
        else:
            self._pictures[name] = picture
        index = self.index_of(name)
        if index.isValid():
            self.dataChanged.emit(index, index)

    def forget_pictures(self) -> None:
        """They have the colours of another theme."""
        self._pictures.clear()

    def exhibits(self) -> list[Exhibit]:
        """All of them, in order."""
        return [exhibit for members in self._members for exhibit in members]

    def index_of(self, name: str) -> QModelIndex:
        """Where an experiment stands; invalid if it does not."""
        for row, members in enumerate(self._members):
            for place, exhibit in enumerate(members):
                if exhibit.name == name:
                    return self.index(place, 0, self.index(row, 0))
        return QModelIndex()

    def under(self, index: Index) -> list[Exhibit]:
        """The experiment of a row, or all of a paper."""
        if not index.isValid():
            return []
        if not index.internalId():
            return list(self._members[index.row()])
        return [self._members[index.internalId() - 1][index.row()]]

    # ---- QAbstractItemModel ----

    def count(self, above: int | None) -> int:
        """Papers, or the experiments of one."""
        return len(self._papers) if above is None else len(self._members[above])

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """One."""
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Titles, and what the delegate draws beside them."""
        if not index.isValid():
            return None
        if not index.internalId():
            return self._paper_data(index.row(), role)
        exhibit = self._members[index.internalId() - 1][index.row()]
        queued = self._queued.get(exhibit.name)
        if role == Qt.ItemDataRole.DisplayRole:
            return exhibit.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return spoken(exhibit, queued)
        if role == Qt.ItemDataRole.ToolTipRole:
            lines = [exhibit.recipe.claim if exhibit.recipe else exhibit.problem, counts_text(exhibit.counts)]
            return as_written("\n".join(line for line in (*lines, takes_text(exhibit)) if line))
        found: Mapping[int, object | None] = {
            EXHIBIT_ROLE: exhibit,
            QUEUED_ROLE: queued,
            PICTURE_ROLE: self._pictures.get(exhibit.name),
            COUNTS_ROLE: exhibit.counts,
        }
        return found.get(role)

    def _paper_data(self, row: int, role: int) -> object | None:
        members = self._members[row]
        counts = summed_counts(members)
        title = PAPERS.get(self._papers[row]) or tr("Recipes that cannot be read")
        if role == Qt.ItemDataRole.DisplayRole:
            return title
        if role == COUNTS_ROLE:
            return counts
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            number = trn("{count} experiment", "{count} experiments", len(members))
            return ", ".join(part for part in (title, number, counts_text(counts)) if part)
        return None

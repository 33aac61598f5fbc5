"""Connections and their shares as a tree: a row per flow, and below it one per copy if it has several."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from PySide6.QtCore import QModelIndex, QObject, Qt

from subflow_app.features.fairness.core.analysis import ConnectionShare, FairnessAnalysis
from subflow_app.features.fairness.core.analysis_view import ShareGroup, grouped
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.models.table_model import RIGHT, Index
from subflow_app.toolkit.models.tree_model import TreeModel
from subflow_app.toolkit.plain_text import as_written
from subflow_app.vocabulary.language import tr, translatable, trn

BAR_ROLE = Qt.ItemDataRole.UserRole + 1  # ShareBar, of the column with the bars
SORT_ROLE = Qt.ItemDataRole.UserRole + 2  # what rows are ordered by

NAME, BAR, GOODPUT, MAX_MIN, PROPORTIONAL, ONE_PATH, POOLING, LIMITED = range(8)


class _Column(NamedTuple):
    title: str
    tip: str


COLUMNS: tuple[_Column, ...] = (
    _Column(translatable("Connection"), translatable("The connections, copies of a flow below it")),
    _Column(
        translatable("Of its fair share"),
        translatable(
            "Goodput while active as a bar, in % of the max-min fair share; the line is that share, the dot the "
            "proportionally fair one"
        ),
    ),
    _Column(
        translatable("Goodput while active"),
        translatable("Payload that arrived in order, per second in which the connection sends"),
    ),
    _Column(
        translatable("Max-min fair"),
        translatable("No connection could get more without taking from one that has no more than it"),
    ),
    _Column(
        translatable("Proportionally fair"),
        translatable("The sum of the logarithms is largest: long paths, which use more of the network, get less"),
    ),
    _Column(
        translatable("One path"),
        translatable("Its share if every connection used only one path, the best for it"),
    ),
    _Column(
        translatable("Pooling"),
        translatable("Goodput while active divided by what one path would give; for connections with several paths"),
    ),
    _Column(translatable("Limited by"), translatable("The links that limit it in the max-min fair split")),
)


@dataclass(frozen=True, slots=True)
class ShareBar:
    """A bar to draw, bit/s; NaN and infinite values are not drawn.

    Attributes:
        goodput_bps: its length.
        max_min_bps: where the line is.
        proportional_bps: where the dot is.
        full_bps: what the whole width stands for.
    """

    goodput_bps: float
    max_min_bps: float
    proportional_bps: float
    full_bps: float


_FIGURES: dict[int, Callable[[ConnectionShare], float]] = {
    BAR: lambda share: share.of_max_min,
    GOODPUT: lambda share: share.goodput_bps,
    MAX_MIN: lambda share: share.max_min_bps,
    PROPORTIONAL: lambda share: share.proportional_bps,
    ONE_PATH: lambda share: share.single_path_bps,
    POOLING: lambda share: share.pooling.gain if share.pooling is not None else math.nan,
}


class ShareModel(TreeModel):
    """The tree; sorted by one of its columns, or as the scenario has it."""

    def __init__(self, parent: QObject | None = None) -> None:
        """No rows."""
        super().__init__(parent)
        self._given: list[ShareGroup] = []  # in the order of the scenario
        self._groups: list[ShareGroup] = []
        self._full_bps = 1.0
        self._sorted_by: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)

    def set_analysis(self, analysis: FairnessAnalysis | None) -> bool:
        """Shows these connections; returns whether there are other rows than before."""
        self._given = [] if analysis is None else grouped(analysis)
        groups = self._ordered(self._given)
        shares = [] if analysis is None else analysis.connections
        rates = [rate for share in shares for rate in (share.goodput_bps, share.max_min_bps, share.proportional_bps)]
        self._full_bps = max((rate for rate in rates if math.isfinite(rate)), default=1.0) or 1.0
        if sorted(_names(groups)) == sorted(_names(self._groups)):
            # What is folded, selected and scrolled to stays, also where the order follows figures that change.
            self._rearrange(groups)
            self._tell_all()
            return False
        self.beginResetModel()
        self._groups = groups
        self.endResetModel()
        return True

    def _tell_all(self) -> None:
        last = len(COLUMNS) - 1
        if self._groups:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._groups) - 1, last))
        for row, group in enumerate(self._groups):
            if group.has_copies:
                parent = self.index(row, 0)
                self.dataChanged.emit(self.index(0, 0, parent), self.index(len(group.shares) - 1, last, parent))

    # ---- Qt ----

    def count(self, above: int | None) -> int:
        """Flows, or the copies of one that has several."""
        if above is None:
            return len(self._groups)
        return len(self._groups[above].shares) if self._groups[above].has_copies else 0

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008
        """The same for all rows."""
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Titles, and what the figures mean."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(COLUMNS[section].title)
        return tr(COLUMNS[section].tip) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts, bars and what a screen reader says."""
        if not index.isValid():
            return None
        group, share = self._at(index)
        column = index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(group, share, column)
        if role == BAR_ROLE and column == BAR:
            rates = [_figure(group, share, _FIGURES[each]) for each in (GOODPUT, MAX_MIN, PROPORTIONAL)]
            return ShareBar(rates[0], rates[1], rates[2], self._full_bps)
        if role == Qt.ItemDataRole.ToolTipRole:
            return as_written(self._sentence(group, share))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._sentence(group, share) if column == BAR else self._text(group, share, column)
        if role == Qt.ItemDataRole.TextAlignmentRole and GOODPUT <= column <= POOLING:
            return RIGHT
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Orders flows and copies by a column; -1: as the scenario has it."""
        self._sorted_by = (column, order)
        self._rearrange(self._ordered(self._given))

    def _rearrange(self, groups: list[ShareGroup]) -> None:
        """Puts the same rows into another order."""
        self.layoutAboutToBeChanged.emit()
        before, self._groups = self._groups, groups
        places = {group.name: row for row, group in enumerate(self._groups)}
        for index in self.persistentIndexList():
            flow = before[index.internalId() - 1 if index.internalId() else index.row()]
            row, of = places[flow.name], 0
            if index.internalId():
                names = [share.name for share in self._groups[row].shares]
                row, of = names.index(flow.shares[index.row()].name), row + 1
            self.changePersistentIndex(index, self.createIndex(row, index.column(), of))
        self.layoutChanged.emit()

    # ---- inside ----

    def _at(self, index: Index) -> tuple[ShareGroup, ConnectionShare | None]:
        """The flow, and its connection unless the row stands for several."""
        of = index.internalId()
        if of:
            return self._groups[of - 1], self._groups[of - 1].shares[index.row()]
        group = self._groups[index.row()]
        return group, None if group.has_copies else group.shares[0]

    def _text(self, group: ShareGroup, share: ConnectionShare | None, column: int) -> str:
        if column == NAME:
            if share is not None:
                return share.name
            return trn("{name}: mean of {count}", "{name}: mean of {count}", len(group.shares), name=group.name)
        if column == LIMITED:
            return ", ".join(_limits(group, share)) or fmt.MISSING
        value = _figure(group, share, _FIGURES[column])
        if column == BAR:
            return fmt.ratio(value, 3)
        if column == POOLING:
            return fmt.MISSING if math.isnan(value) else f"{value:.2f}×"
        return fmt.rate(value)

    def _sentence(self, group: ShareGroup, share: ConnectionShare | None) -> str:
        goodput, fair, proportional = (
            _figure(group, share, _FIGURES[column]) for column in (GOODPUT, MAX_MIN, PROPORTIONAL)
        )
        return tr(
            "{name}: goodput while active {goodput}, max-min fair {fair}, proportionally fair {proportional}",
            name=self._text(group, share, NAME),
            goodput=fmt.rate(goodput),
            fair=fmt.rate(fair),
            proportional=fmt.rate(proportional),
        )

    def _ordered(self, groups: Sequence[ShareGroup]) -> list[ShareGroup]:
        column, order = self._sorted_by
        if column < 0:
            return list(groups)
        is_falling = order is Qt.SortOrder.DescendingOrder

        def key(group: ShareGroup, share: ConnectionShare | None) -> tuple[int, Any]:
            if column in (NAME, LIMITED):
                return (0, _natural(self._text(group, share, column)))
            value = _figure(group, share, _FIGURES[column])
            # What is not known comes last in either order.
            return (-1 if is_falling else 1, 0.0) if math.isnan(value) else (0, value)

        inner = [
            ShareGroup(group.name, tuple(sorted(group.shares, key=lambda s: key(group, s), reverse=is_falling)))
            for group in groups
        ]
        return sorted(inner, key=lambda g: key(g, None if g.has_copies else g.shares[0]), reverse=is_falling)


def _figure(group: ShareGroup, share: ConnectionShare | None, figure: Callable[[ConnectionShare], float]) -> float:
    return group.mean(figure) if share is None else figure(share)


def _limits(group: ShareGroup, share: ConnectionShare | None) -> Sequence[str]:
    shares = group.shares if share is None else (share,)
    return list(dict.fromkeys(name for each in shares for name in each.bottlenecks))


def _names(groups: Sequence[ShareGroup]) -> list[tuple[str, ...]]:
    return [(group.name, *sorted(share.name for share in group.shares)) for group in groups]


def _natural(text: str) -> list[tuple[int, int, str]]:
    """download.2 before download.10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in text.replace(".", "/").split("/")]

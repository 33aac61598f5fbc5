"""The table of the arena: a row per entrant, with its score, its worst tenth and what the score is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from subflow_app.features.arena.core.arena_text import harm_text, interval_text, score_text
from subflow_app.features.arena.core.columns import COLUMNS, ArenaColumn
from subflow_app.features.arena.core.standings import Standing
from subflow_app.toolkit.models.table_model import Index, TableModel
from subflow_app.toolkit.theme import current_tokens
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.arena.utility import WORST

BAR_ROLE = Qt.ItemDataRole.UserRole + 2

NAME, SCORE = 1, 2  # columns


class BoardModel(TableModel[Standing]):
    """How entrants stand."""

    translates = False
    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        """No rows."""
        super().__init__((), parent)
        self._summaries: dict[str, str] = {}

    def show_board(self, rows: Sequence[Standing], summaries: dict[str, str]) -> None:
        """Shows these, with what entrants are as tool tips."""
        self._summaries = summaries
        told = [each for each in COLUMNS.values() if any(each.id in row.columns for row in rows)]
        columns: list[Column[Standing]] = [
            NumberColumn("#", lambda row: row.rank),
            Column(tr("Entrant"), lambda row: row.name),
            NumberColumn(
                tr("Score"),
                lambda row: row.score,
                interval_text,
                sort=lambda row: row.score.mean,
                tip=tr(COLUMNS["utility"].help),
            ),
            NumberColumn(
                tr("Worst tenth"), lambda row: row.worst_decile, score_text, tip=tr("Mean of its lowest utilities")
            ),
            *map(_column, told),
            Column(tr("Worst for"), harm_text, tip=tr("Networks with the lowest utility, for harm or failure")),
            NumberColumn(tr("Networks"), lambda row: row.n),
        ]
        self.show_rows(tuple(rows), columns)

    def other_data(self, row: Standing, column: int, role: int) -> object | None:
        """How long the bar is, and what it means."""
        if role == BAR_ROLE and column == SCORE:
            return None if math.isnan(row.score.mean) else 1 - row.score.mean / WORST
        if role == Qt.ItemDataRole.ToolTipRole and column == NAME:
            reasons = (f"{reason} ({count})" for reason, count in row.reasons.items())
            return "\n".join((self._summaries.get(row.name, ""), *reasons))
        if role == Qt.ItemDataRole.ToolTipRole and column == SCORE and row.lead is not None:
            return tr("Lead over the next: {lead}", lead=interval_text(row.lead))
        return None


def _column(column: ArenaColumn) -> Column[Standing]:
    def value(row: Standing) -> float:
        return row.columns.get(column.id, math.nan)

    def sort(row: Standing) -> float:
        found = value(row)
        return math.inf if math.isnan(found) else found

    return NumberColumn(column.axis_title, value, column.text, sort=sort, tip=tr(column.help))


class BarDelegate(QStyledItemDelegate):
    """Draws the bar of a score below the text of its cell."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """For one table."""
        super().__init__(parent)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The cell as usual, and a line along its bottom: longer is better."""
        super().paint(painter, option, index)
        share = index.data(BAR_ROLE)
        if not isinstance(share, float):
            return
        area: QRect = option.rect.adjusted(4, 0, -4, -2)
        width = round(area.width() * min(max(share, 0.0), 1.0))
        painter.fillRect(QRect(area.right() - width, area.bottom() - 2, width, 3), QColor(current_tokens().accent))

"""The table of the leaderboard: a row per controller, a column per metric, with a bar for the score in each cell."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from subflow_app.core.language import tr
from subflow_app.core.leaderboard.board import Board
from subflow_app.core.leaderboard.board_text import score_text, value_text
from subflow_app.core.leaderboard.metrics import BOARD_METRICS
from subflow_app.core.leaderboard.table import Standing
from subflow_app.qt.theme import current_tokens
from subflow_sim.stats import Estimate

Index = QModelIndex | QPersistentModelIndex

SORT_ROLE = Qt.ItemDataRole.UserRole
BAR_ROLE = Qt.ItemDataRole.UserRole + 1

RANK, NAME, OVERALL, FIRST_METRIC = range(4)


class BoardModel(QAbstractTableModel):
    """Scores over all contests, or the values of one."""

    def __init__(self, parent: QObject | None = None) -> None:
        """No rows."""
        super().__init__(parent)
        self.rows: tuple[Standing, ...] = ()
        self.metrics: tuple[str, ...] = ()
        self._board: Board | None = None
        self._contest = ""

    def show_rows(self, board: Board, rows: Sequence[Standing], contest: str) -> None:
        """Shows these; of that contest the values, without one the scores."""
        self.beginResetModel()
        self._board, self.rows, self._contest = board, tuple(rows), contest
        self.metrics = tuple(name for name in BOARD_METRICS if any(name in row.scores for row in rows))
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """One per controller."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Rank, controller, overall score, metrics, and the number of contests."""
        return 0 if parent.isValid() else FIRST_METRIC + len(self.metrics) + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Titles, of values with their units."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        metric = self._metric(section)
        if role == Qt.ItemDataRole.ToolTipRole and metric:
            return tr(BOARD_METRICS[metric].help)
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if metric:
            unit = BOARD_METRICS[metric].unit if self._contest else ""
            return f"{tr(BOARD_METRICS[metric].title)} ({unit})" if unit else tr(BOARD_METRICS[metric].title)
        return {RANK: "#", NAME: tr("Controller"), OVERALL: tr("Overall")}.get(section, tr("Contests"))

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Texts, what they are sorted by, and how long their bar is."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        row, column = self.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, column)
        if role == SORT_ROLE:
            return self._sort_key(row, column)
        if role == BAR_ROLE:
            score = self._score(row, column)
            return None if score is None or math.isnan(score.mean) else score.mean
        if role == Qt.ItemDataRole.TextAlignmentRole and column != NAME:
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(row, column)
        return None

    def _metric(self, column: int) -> str:
        place = column - FIRST_METRIC
        return self.metrics[place] if 0 <= place < len(self.metrics) else ""

    def _score(self, row: Standing, column: int) -> Estimate | None:
        if column == OVERALL:
            return row.overall
        return row.scores.get(self._metric(column))

    def _text(self, row: Standing, column: int) -> str:
        metric = self._metric(column)
        if metric and self._contest and self._board is not None:
            return value_text(BOARD_METRICS[metric], self._board.cell(self._contest, metric, row.name))
        if metric or column == OVERALL:
            return score_text(self._score(row, column))
        return {RANK: str(row.rank), NAME: row.name}.get(column, str(row.overall.n))

    def _sort_key(self, row: Standing, column: int) -> float | str:
        metric = self._metric(column)
        if metric and self._contest and self._board is not None:
            cell = self._board.cell(self._contest, metric, row.name)
            return math.inf if cell is None else cell.mean
        score = self._score(row, column)
        if score is not None:
            return -1.0 if math.isnan(score.mean) else score.mean
        if metric:
            return -1.0
        return row.name if column == NAME else float(row.rank if column == RANK else row.overall.n)

    def _tip(self, row: Standing, column: int) -> str | None:
        score = self._score(row, column)
        if score is None:
            return None
        return tr("Score {score}, over {count} contests", score=score_text(score), count=score.n)


class BarDelegate(QStyledItemDelegate):
    """Draws the bar of a score below the text of its cell."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """For one table."""
        super().__init__(parent)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The cell as usual, and a line along its bottom as long as the score."""
        super().paint(painter, option, index)
        share = index.data(BAR_ROLE)
        if not isinstance(share, float):
            return
        area: QRect = option.rect.adjusted(4, 0, -4, -2)
        width = round(area.width() * min(max(share, 0.0), 1.0))
        painter.fillRect(QRect(area.right() - width, area.bottom() - 2, width, 3), QColor(current_tokens().accent))

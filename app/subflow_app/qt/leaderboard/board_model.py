"""The table of the leaderboard: a row per controller, a column per metric, with a bar for the score in each cell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from subflow_app.core.language import tr
from subflow_app.core.leaderboard.board import Board
from subflow_app.core.leaderboard.board_text import score_text, value_text
from subflow_app.core.leaderboard.metrics import BOARD_METRICS
from subflow_app.core.leaderboard.table import Standing
from subflow_app.core.tables import Column, NumberColumn
from subflow_app.qt.models.table_model import Index, TableModel
from subflow_app.qt.theme import current_tokens
from subflow_sim.stats import Estimate

BAR_ROLE = Qt.ItemDataRole.UserRole + 2

NAME = 1  # its column


class BoardModel(TableModel[Standing]):
    """Scores over all contests, or the values of one."""

    translates = False
    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        """No rows."""
        super().__init__((), parent)
        self.metrics: tuple[str, ...] = ()
        self._scores: list[Callable[[Standing], Estimate | None]] = []  # by column

    def show_board(self, board: Board, rows: Sequence[Standing], contest: str) -> None:
        """Shows these; of that contest the values, without one the scores."""
        self.metrics = tuple(name for name in BOARD_METRICS if any(name in row.scores for row in rows))
        columns: list[Column[Standing]] = [
            NumberColumn("#", lambda row: row.rank),
            Column(tr("Controller"), lambda row: row.name),
            _score_column(tr("Overall"), lambda row: row.overall),
        ]
        for name in self.metrics:
            columns.append(_value_column(board, contest, name) if contest else _metric_column(name))
        columns.append(NumberColumn(tr("Contests"), lambda row: row.overall.n))
        self._scores = [_no_score, _no_score, lambda row: row.overall, *map(_score_of, self.metrics), _no_score]
        self.show_rows(tuple(rows), columns)

    def other_data(self, row: Standing, column: int, role: int) -> object | None:
        """How long the bar is, and what it means."""
        score = self._scores[column](row)
        if score is None:
            return None
        if role == BAR_ROLE:
            return None if math.isnan(score.mean) else score.mean
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr("Score {score}, over {count} contests", score=score_text(score), count=score.n)
        return None


def _no_score(_row: Standing) -> None:
    return None


def _score_of(metric: str) -> Callable[[Standing], Estimate | None]:
    return lambda row: row.scores.get(metric)


def _score_column(title: str, score: Callable[[Standing], Estimate | None], tip: str = "") -> Column[Standing]:
    def sort(row: Standing) -> float:
        found = score(row)
        return -1.0 if found is None or math.isnan(found.mean) else found.mean

    return NumberColumn(title, score, score_text, sort=sort, tip=tip)


def _metric_column(name: str) -> Column[Standing]:
    return _score_column(tr(BOARD_METRICS[name].title), _score_of(name), tr(BOARD_METRICS[name].help))


def _value_column(board: Board, contest: str, name: str) -> Column[Standing]:
    metric = BOARD_METRICS[name]

    def cell(row: Standing) -> Estimate | None:
        return board.cell(contest, name, row.name)

    def sort(row: Standing) -> float:
        found = cell(row)
        return math.inf if found is None else found.mean

    return NumberColumn(
        metric.axis_title, cell, lambda found: value_text(metric, found), sort=sort, tip=tr(metric.help)
    )


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

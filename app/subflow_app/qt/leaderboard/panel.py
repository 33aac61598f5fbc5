"""The panel of the leaderboard: which contest, a table, a radar and a scatter of it, and how far the runs are."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QCheckBox,
    QProgressBar,
    QStackedWidget,
    QTableView,
    QTabWidget,
    QWidget,
)

from subflow_app.core.language import tr
from subflow_app.core.leaderboard.board import Board
from subflow_app.core.leaderboard.contest import Contest
from subflow_app.core.leaderboard.metrics import BOARD_METRICS, default_weights
from subflow_app.core.leaderboard.table import Standing, standings
from subflow_app.qt.leaderboard.board_model import NAME, BarDelegate, BoardModel
from subflow_app.qt.leaderboard.charts import MOST_SHOWN, BoardChart, Mark, RadarChart, ScatterChart, Shape
from subflow_app.qt.plain_text import Label
from subflow_app.qt.theme import muted, set_style, tab_style
from subflow_app.qt.widgets.action_buttons import action_buttons
from subflow_app.qt.widgets.choice import Choice
from subflow_app.qt.widgets.empty_state import EmptyState
from subflow_app.qt.widgets.shorthand import captioned, h_box, named, v_box
from subflow_app.qt.widgets.tables import set_up_table, set_widths, sorting

_SHOWN_AT_FIRST = 4


class LeaderboardPanel(QWidget):
    """Shows what is known; who reads and runs it is its owner's business."""

    choice_changed = Signal()  # quick or full

    def __init__(self, actions: Sequence[QAction], run: QAction, parent: QWidget | None = None) -> None:
        """An empty board with a button for each action; the empty state offers ``run``."""
        super().__init__(parent)
        self.setObjectName("leaderboard")
        self.board: Board | None = None
        self.rows: tuple[Standing, ...] = ()
        every = [("", tr("All contests"))]
        self.contests = Choice("leaderboard_contest", every, self, text=tr("Contest"), letters=24)
        self.contests.setToolTip(tr("All contests together, as scores, or the values of one"))
        self.quick = named(QCheckBox(tr("Quick runs"), self), "leaderboard_quick")
        self.quick.setToolTip(tr("Show what quick runs have found; without it, what full ones have"))
        self.quick.setChecked(True)
        top = h_box(None, (self.contests, 1), self.quick, *action_buttons(actions), margins=(6, 4, 6, 0))
        self.bar = named(QProgressBar(self), "leaderboard_progress", tr("Progress of the leaderboard"))
        self.bar.setRange(0, 1000)
        self.bar.hide()
        self.words = named(muted(Label(self, wordWrap=True)), "leaderboard_words")
        self.words.setContentsMargins(8, 0, 8, 4)

        self.model = BoardModel(self)
        self._sorted = sorting(self.model, self)
        words = tr("Controllers with their scores or values")
        self.table = set_up_table(QTableView(self, sortingEnabled=True), "leaderboard_table", words, self._sorted)
        self.table.setItemDelegate(BarDelegate(self.table))
        self.table.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        self.table.horizontalHeader().setStretchLastSection(False)
        self.radar = RadarChart(self)
        self.scatter = ScatterChart(self)
        self.along, self.up = self._axis(tr("Along"), "rtt"), self._axis(tr("Up"), "goodput")
        axes = h_box(None, *captioned(tr("Along"), self.along), *captioned(tr("Up"), self.up), None)
        scatter_page = QWidget(self)
        v_box(scatter_page, axes, (self.scatter, 1), margins=4)
        self.tabs = named(QTabWidget(self, documentMode=True), "leaderboard_tabs", tr("Views of the leaderboard"))
        set_style(self.tabs, tab_style)
        self.tabs.addTab(self.table, tr("Table"))
        self.tabs.addTab(self.radar, tr("Radar"))
        self.tabs.addTab(scatter_page, tr("Scatter"))
        self.empty = EmptyState(
            "leaderboard",
            tr("No contest has been run"),
            tr(
                "Every controller plays every scenario of the papers: goodput, RTT, loss, fairness, friendliness to "
                "Reno, convergence and CPU time. A quick run takes minutes, and can be stopped and gone on with."
            ),
            run,
            self,
        )
        # Until it has been read, nobody knows whether anything was run.
        waiting = Label(tr("Reading contests …"), self, alignment=Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget(self)
        for page in (waiting, self.empty, self.tabs):
            self._stack.addWidget(page)
        v_box(self, top, self.bar, (self._stack, 1), self.words, margins=0)
        self.setFocusProxy(self.contests)
        self.contests.currentIndexChanged.connect(lambda _: self.redraw())
        self.quick.toggled.connect(lambda _: self.choice_changed.emit())
        self.table.selectionModel().selectionChanged.connect(lambda _new, _old: self._draw_radar())
        for box in (self.along, self.up):
            box.currentIndexChanged.connect(lambda _: self._draw_scatter())

    @property
    def contest(self) -> str:
        """The id of the contest that is shown; empty: all."""
        return str(self.contests.currentData() or "")

    @property
    def chart(self) -> BoardChart | None:
        """The picture in front; None: the table is."""
        charts: tuple[BoardChart | None, ...] = (None, self.radar, self.scatter)
        return charts[self.tabs.currentIndex()]

    def set_contests(self, contests: Sequence[Contest]) -> None:
        """Offers these."""
        if [self.contests.itemData(place) for place in range(1, self.contests.count())] == [
            each.id for each in contests
        ]:
            return
        with QSignalBlocker(self.contests):
            while self.contests.count() > 1:
                self.contests.removeItem(1)
            for contest in contests:
                self.contests.addItem(f"{contest.id}: {contest.title}", contest.id)

    def show_board(self, board: Board) -> None:
        """Shows what is known now."""
        self.board = board
        self.set_contests(board.entry.contests)
        self.redraw()

    def redraw(self) -> None:
        """Shows the chosen contest in every view; who is selected stays so."""
        board = self.board
        if board is None:
            return
        selected = self.selected
        contest = self.contest
        self.rows = standings(board, default_weights(), [contest] if contest else None)
        self.model.show_board(board, self.rows, contest)
        self._stack.setCurrentWidget(self.tabs if self.rows else self.empty)
        header = self.table.horizontalHeader()
        titles = [str(self.model.headerData(n, Qt.Orientation.Horizontal)) for n in range(self.model.columnCount())]
        widest = "0000.00 ± 000.00" if contest else "0.00 ± 0.00"
        name = max((row.name for row in self.rows), key=self.table.fontMetrics().horizontalAdvance, default="")
        texts = ["", name, *[widest] * len(titles)]
        set_widths(self.table, list(zip(titles, texts, strict=False)))
        self._sorted.sort(header.sortIndicatorSection(), header.sortIndicatorOrder())
        self._select(selected)
        self._draw_radar()
        self._draw_scatter()
        self._say()

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the selected controllers, from top to bottom."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return tuple(str(self._sorted.index(row, NAME).data()) for row in rows)

    def show_progress(self, fraction: float, text: str) -> None:
        """How far the runs are."""
        self.bar.setValue(round(1000 * fraction))
        self.bar.setFormat(text)
        self.bar.show()

    def hide_progress(self) -> None:
        """Nothing goes on."""
        self.bar.hide()

    def _axis(self, text: str, first: str) -> Choice:
        metrics = ((metric.id, tr(metric.title)) for metric in BOARD_METRICS.values())
        box = Choice(f"leaderboard_axis_{first}", metrics, self, text=text)
        box.choose(first)
        return box

    def _select(self, names: Sequence[str]) -> None:
        selection = self.table.selectionModel()
        flags = selection.SelectionFlag.Select | selection.SelectionFlag.Rows
        for row in range(self._sorted.rowCount()):
            index = self._sorted.index(row, NAME)
            if index.data() in names:
                selection.select(index, flags)

    def _colour(self, name: str) -> int:
        """The same for a controller in every contest: its place in the catalogue."""
        assert self.board is not None
        return [each.name for each in self.board.entry.competitors].index(name)

    def _draw_radar(self) -> None:
        names = self.selected[:MOST_SHOWN] or tuple(row.name for row in self.rows[:_SHOWN_AT_FIRST])
        metrics = self.model.metrics
        # A few controllers: the first colours, which are the easiest to tell apart.
        shapes = [
            Shape(
                row.name,
                colour,
                tuple(row.scores[metric].mean if metric in row.scores else math.nan for metric in metrics),
            )
            for colour, row in enumerate(row for row in self.rows if row.name in names)
        ]
        self.radar.show_shapes([tr(BOARD_METRICS[metric].title) for metric in metrics], shapes)

    def _draw_scatter(self) -> None:
        x, y = (BOARD_METRICS[str(box.currentData())] for box in (self.along, self.up))
        found = [(row.name, self._point(row, x.id), self._point(row, y.id)) for row in self.rows]
        marks = [
            Mark(name, self._colour(name), *at_x, *at_y)
            for name, at_x, at_y in found
            if at_x is not None and at_y is not None
        ]
        if not self.contest:
            titles = tuple(tr("{metric}, score", metric=tr(metric.title)) for metric in (x, y))
            self.scatter.show_marks(marks, (titles[0], titles[1]), (False, False))
            return
        self.scatter.show_marks(marks, (x.axis_title, y.axis_title), (x.better < 0, y.better < 0))

    def _point(self, row: Standing, metric: str) -> tuple[float, float] | None:
        """Mean and half of the interval: of a contest the value in its unit, of all the score; None: there is none."""
        if not self.contest:
            score = row.scores.get(metric)
            return None if score is None else (score.mean, score.ci95)
        assert self.board is not None
        cell = self.board.cell(self.contest, metric, row.name)
        scale = BOARD_METRICS[metric].scale
        return None if cell is None else (cell.mean * scale, cell.ci95 * scale)

    def _how_sure(self) -> str:
        """On how much the intervals rest, and what that means for the ranks."""
        board = self.board
        assert board is not None
        if self.contest:
            cells = (board.cell(self.contest, metric, row.name) for row in self.rows for metric in row.scores)
            counts = [cell.n for cell in cells if cell is not None]
            rests = tr("They rest on {count} seeds each (Student's t).", count=_range_text(counts))
        else:
            counts = [score.n for row in self.rows for score in row.scores.values()]
            rests = tr("They rest on {count} contests each (Student's t).", count=_range_text(counts))
        return rests + " " + tr("Few make them wide: ranks whose intervals overlap are not settled.")

    def _say(self) -> None:
        board = self.board
        assert board is not None
        told = []
        if board.shipped is not None:
            made = board.shipped
            told.append(
                tr(
                    "Quick runs that ship with Subflow, made {date} by version {version}.",
                    date=made.date,
                    version=made.version,
                )
            )
        told.append(tr("{done} of {all} runs.", done=board.n_finished, all=board.n_wanted))
        if self.rows:
            told.append(
                tr("Values with 95 % intervals over the seeds.")
                if self.contest
                else tr(
                    "Scores with 95 % intervals over the contests: 1 is the best of each. All metrics count the same."
                )
            )
            told.append(self._how_sure())
        told += [f"{problem}." for problem in board.entry.problems]
        self.words.setText(" ".join(told))


def _range_text(counts: Sequence[int]) -> str:
    """From the least to the most, or the one there is."""
    least, most = min(counts, default=0), max(counts, default=0)
    return str(least) if least == most else f"{least}–{most}"

"""The panel of the arena: the standings in one family or in all families, as tables or as scatter plots.

The first table shows the score of each entrant, the mean of its lowest tenth, and the components of the score. Another
table shows the differences from one entrant, paired by network.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QRect, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QColor, QPainter
from PySide6.QtWidgets import (
    QCheckBox,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QTabWidget,
    QWidget,
)

from subflow_app.features.arena.core.arena_text import (
    METHOD,
    harm_text,
    interval_text,
    paired_text,
    pairs_csv,
    score_text,
    settled_text,
    told_of,
    values_csv,
)
from subflow_app.features.arena.core.results import Board, family_titles
from subflow_app.features.arena.core.standings import (
    COLUMNS,
    ArenaColumn,
    Pair,
    Standing,
    best_name,
    paired,
    scatter,
    standings,
)
from subflow_app.features.plots.qt.panel_plot import PanelPlot
from subflow_app.toolkit.theme import current_tokens, muted, set_style, tab_style
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.list_beside import ToldBar, action_buttons
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, named, v_box
from subflow_app.toolkit.widgets.tables import Index, TableModel, set_up_table, set_widths, sorting
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.arena.utility import WORST

BAR_ROLE = Qt.ItemDataRole.UserRole + 2

NAME, SCORE = 1, 2  # columns


class BoardModel(TableModel[Standing]):
    """Table model with a row for the standing of each entrant."""

    translates = False
    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), parent)
        self._summaries: dict[str, str] = {}

    def show_board(self, rows: Sequence[Standing], summaries: dict[str, str]) -> None:
        """Shows these rows, with the summaries of the entrants as tool tips."""
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
                tr("Lowest tenth"), lambda row: row.worst_decile, score_text, tip=tr("Mean of its lowest utilities")
            ),
            *map(_column, told),
            Column(tr("Worst for"), harm_text, tip=tr("Networks with the lowest utility, for harm or failure")),
            NumberColumn(tr("Networks"), lambda row: row.n),
        ]
        self.show_rows(tuple(rows), columns)

    def other_data(self, row: Standing, column: int, role: int) -> object | None:
        """Relative length of the score bar, 0 to 1, and tool tips for names and scores; None for other cells."""
        if role == BAR_ROLE and column == SCORE:
            return None if math.isnan(row.score.mean) else 1 - row.score.mean / WORST
        if role == Qt.ItemDataRole.ToolTipRole and column == NAME:
            reasons = (f"{reason} ({count})" for reason, count in row.reasons.items())
            return "\n".join((self._summaries.get(row.name, ""), *reasons))
        if role == Qt.ItemDataRole.ToolTipRole and column == SCORE and row.lead is not None:
            return tr("Lead over the next: {lead}", lead=interval_text(row.lead))
        return None


class PairsModel(TableModel[Pair]):
    """Table model with a row for the differences of each entrant from a chosen one."""

    translates = False
    aligns_headings = False

    def show_pairs(self, pairs: Sequence[Pair]) -> None:
        """Shows these rows."""
        papers = tr("Mean difference in the papers' experiments, which repeat with other seeds; it has no interval")
        columns: list[Column[Pair]] = [
            Column(tr("Entrant"), lambda pair: pair.name),
            NumberColumn(
                tr("Difference"),
                lambda pair: pair.difference,
                interval_text,
                sort=lambda pair: pair.difference.mean,
                tip=tr("Mean difference of the utility in the same networks, with its 95 % interval"),
            ),
            Column(tr("Settled"), settled_text, tip=tr("The interval excludes zero")),
            NumberColumn(tr("Better in"), lambda pair: pair.n_better),
            NumberColumn(tr("Worse in"), lambda pair: pair.n_worse),
            NumberColumn(tr("Networks"), lambda pair: pair.n),
            NumberColumn(tr("Papers"), lambda pair: pair.papers, score_text, tip=papers),
        ]
        self.show_rows(tuple(pairs), columns)


def _column(column: ArenaColumn) -> Column[Standing]:
    def value(row: Standing) -> float:
        return row.columns.get(column.id, math.nan)

    def sort(row: Standing) -> float:
        found = value(row)
        return math.inf if math.isnan(found) else found

    return NumberColumn(column.axis_title, value, column.text, sort=sort, tip=tr(column.help))


class BarDelegate(QStyledItemDelegate):
    """Draws a bar for the score along the bottom of its cell."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draws the cell as usual and the bar over it; longer is better."""
        super().paint(painter, option, index)
        share = index.data(BAR_ROLE)
        if not isinstance(share, float):
            return
        area: QRect = option.rect.adjusted(4, 0, -4, -2)
        width = round(area.width() * min(max(share, 0.0), 1.0))
        painter.fillRect(QRect(area.right() - width, area.bottom() - 2, width, 3), QColor(current_tokens().accent))


_UP = "throughput"
_DIFFERENCES = 3  # tab


class ArenaPanel(QWidget):
    """Shows the board, which :class:`ArenaFeature` reads from the database."""

    choice_changed = Signal()  # the quick or the full form was chosen

    def __init__(self, actions: Sequence[QAction], run: QAction, parent: QWidget | None = None) -> None:
        """Create an empty board with a button for each action. The message for an empty board offers ``run``."""
        super().__init__(parent)
        self.setObjectName("arena")
        self.board: Board | None = None
        self.rows: tuple[Standing, ...] = ()
        every = [("", tr("All families"))]
        self.families = Choice("arena_family", every, self, text=tr("Family"), letters=24)
        self.families.setToolTip(tr("All families of networks together, or one of them"))
        self.quick = named(QCheckBox(tr("Quick form"), self), "arena_quick")
        self.quick.setToolTip(tr("Ten networks of each family instead of twenty"))
        self.estimate = named(muted(Label(self)), "arena_estimate")
        self.estimate.setToolTip(tr("Time of a run of the arena on this machine as it is now"))
        buttons = action_buttons(actions)
        top = h_box(None, (self.families, 1), self.quick, self.estimate, *buttons, margins=(6, 4, 6, 0))
        self.bar = named(ToldBar(self), "arena_progress", tr("Progress of the arena"))
        self.words = named(muted(Label(self, wordWrap=True)), "arena_words")
        self.words.setContentsMargins(8, 0, 8, 4)

        self.model = BoardModel(self)
        self._sorted = sorting(self.model, self)
        words = tr("Entrants with their scores and the parts of these")
        self.table = set_up_table(QTableView(self, sortingEnabled=True), "arena_table", words, self._sorted)
        self.table.setItemDelegate(BarDelegate(self.table))
        self.table.horizontalHeader().setSortIndicator(0, Qt.SortOrder.AscendingOrder)
        self.table.horizontalHeader().setStretchLastSection(False)
        empty = tr("No entrant has both of these values.")
        words = tr("Throughput against queueing delay, a mark per entrant")
        self.delay = PanelPlot("arena_delay", words, empty, self)
        words = tr("Throughput against friendliness, a mark per entrant")
        self.harm = PanelPlot("arena_friendliness", words, empty, self)
        self.tabs = named(QTabWidget(self, documentMode=True), "arena_tabs", tr("Views of the arena"))
        set_style(self.tabs, tab_style)
        self.tabs.addTab(self.table, tr("Table"))
        self.tabs.addTab(self.delay, tr("Delay"))
        self.tabs.addTab(self.harm, tr("Friendliness"))
        self.against = Choice("arena_against", [("", tr("The best"))], self, text=tr("Compare with"), letters=24)
        self.against.setToolTip(tr("The entrant with which the others are compared, network by network"))
        self.pairs = PairsModel((), self)
        words = tr("Differences from one entrant, paired by network")
        self._sorted_pairs = sorting(self.pairs, self)
        self.pairs_table = set_up_table(
            QTableView(self, sortingEnabled=True), "arena_pairs_table", words, self._sorted_pairs
        )
        self.pairs_words = named(muted(Label(self, wordWrap=True)), "arena_pairs_words")
        differences = named(QWidget(self), "arena_pairs")
        v_box(differences, self.against, (self.pairs_table, 1), self.pairs_words, margins=(6, 4, 6, 0))
        self.tabs.addTab(differences, tr("Differences"))
        self.empty = EmptyState(
            "arena",
            tr("Nothing has been entered"),
            tr(
                "Every controller and agent sends in families of networks that it was not designed for, and is judged "
                "by one utility: throughput, delay and loss relative to what the network offers. This takes minutes; "
                "you can stop it and continue later."
            ),
            run,
            self,
        )
        # Before the first read, it is unknown whether the database has outcomes.
        waiting = Label(tr("Reading the arena …"), self, alignment=Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedWidget(self)
        for page in (waiting, self.empty, self.tabs):
            self._stack.addWidget(page)
        v_box(self, top, self.bar, (self._stack, 1), self.words, margins=0)
        self.setFocusProxy(self.families)
        self.families.currentIndexChanged.connect(lambda _: self.redraw())
        self.against.currentIndexChanged.connect(lambda _: self._show_pairs())
        self.quick.toggled.connect(lambda _: self.choice_changed.emit())

    @property
    def family(self) -> str:
        """Name of the selected family; empty for all."""
        return str(self.families.currentData() or "")

    @property
    def chart(self) -> PanelPlot | None:
        """The plot in the visible tab; None for a table."""
        charts: tuple[PanelPlot | None, ...] = (None, self.delay, self.harm, None)
        return charts[self.tabs.currentIndex()]

    def csv(self) -> str:
        """The differences as CSV if their tab is visible; otherwise every value of the board; empty without a board."""
        if self.board is None:
            return ""
        if self.tabs.currentIndex() == _DIFFERENCES:
            against = self._compared_with
            return pairs_csv(paired(self.board, self.rows, against), against)
        return values_csv(self.board)

    @property
    def _compared_with(self) -> str:
        """Name of the entrant with which the others are compared; the best one if the chosen one has no results."""
        chosen = str(self.against.currentData() or "")
        return chosen if chosen in {row.name for row in self.rows} else best_name(self.rows)

    def show_board(self, board: Board) -> None:
        """Shows a board and lists its families."""
        self.board = board
        titles = family_titles()
        _set_items(self.families, {name: f"{name}: {titles[name]}" for name in board.entry.families})
        _set_items(self.against, {each.name: each.name for each in board.entry.taking_part})
        self.redraw()

    def redraw(self) -> None:
        """Shows the chosen family in every view and keeps the selection."""
        board = self.board
        if board is None:
            return
        selected = self.selected
        self.rows = standings(board, [self.family] if self.family else None)
        self.model.show_board(self.rows, {each.name: each.summary for each in board.entry.entrants})
        self._stack.setCurrentWidget(self.tabs if self.rows else self.empty)
        header = self.table.horizontalHeader()
        titles = [str(self.model.headerData(n, Qt.Orientation.Horizontal)) for n in range(self.model.columnCount())]
        name = max((row.name for row in self.rows), key=self.table.fontMetrics().horizontalAdvance, default="")
        texts = ["", name, "-0.00 (-0.00 to -0.00)", *["-0.00"] * (len(titles) - 3)]
        texts[-2] = max(map(harm_text, self.rows), key=self.table.fontMetrics().horizontalAdvance, default="")
        set_widths(self.table, list(zip(titles, texts, strict=False)))
        self._sorted.sort(header.sortIndicatorSection(), header.sortIndicatorOrder())
        self._select(selected)
        # Colours follow the list of entrants, so that an entrant has the same colour in every family.
        order = [each.name for each in board.entry.entrants]
        self.delay.show_panel(scatter(self.rows, "queueing", _UP, order))
        self.harm.show_panel(scatter(self.rows, "friendliness", _UP, order))
        self._show_pairs()
        self._say()

    def _show_pairs(self) -> None:
        if self.board is None:
            return
        against = self._compared_with
        self.pairs.show_pairs(paired(self.board, self.rows, against))
        self.pairs_words.setText(paired_text(against) if against else "")
        titles = [str(self.pairs.headerData(n, Qt.Orientation.Horizontal)) for n in range(self.pairs.columnCount())]
        name = max((row.name for row in self.rows), key=self.table.fontMetrics().horizontalAdvance, default="")
        texts = [name, "-0.00 (-0.00 to -0.00)", *["-0.00"] * len(titles)]
        set_widths(self.pairs_table, list(zip(titles, texts, strict=False)))

    @property
    def selected(self) -> tuple[str, ...]:
        """Names of the selected entrants, from top to bottom."""
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return tuple(str(self._sorted.index(row, NAME).data()) for row in rows)

    def _select(self, names: Sequence[str]) -> None:
        selection = self.table.selectionModel()
        flags = selection.SelectionFlag.Select | selection.SelectionFlag.Rows
        for row in range(self._sorted.rowCount()):
            index = self._sorted.index(row, NAME)
            if index.data() in names:
                selection.select(index, flags)

    def _say(self) -> None:
        board = self.board
        assert board is not None
        lines = [*told_of(board), *(f"{problem}." for problem in board.entry.problems)]
        self.words.setText(" ".join(lines))
        self.words.setToolTip(tr(METHOD))


def _set_items(choice: Choice, texts: Mapping[str, str]) -> None:
    """Lists these texts by their data after the first item, and keeps the current item if nothing changes."""
    if [choice.itemData(place) for place in range(1, choice.count())] == list(texts):
        return
    with QSignalBlocker(choice):
        while choice.count() > 1:
            choice.removeItem(1)
        for data, text in texts.items():
            choice.addItem(text, data)

"""The page of shares, which compares each connection's goodput with its fair shares in bars, numbers and sentences.

Marks in the bars show the fair shares. A small curve shows Jain's index over time. The tree has one row for each flow
and, below it, a row for each of its copies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from subflow_app.features.fairness.core.analysis import ConnectionShare, FairnessAnalysis
from subflow_app.features.fairness.core.analysis_view import (
    WINDOW_TEXTS,
    AnalysisView,
    ShareGroup,
    WindowChoice,
    grouped,
    meaning,
    window_text,
)
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, muted, set_style, table_style
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import Choice, Label, as_written, h_box, named, pages, v_box
from subflow_app.toolkit.widgets.tables import RIGHT, Index, TreeModel
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.palette import OKABE_ITO

BAR_ROLE = Qt.ItemDataRole.UserRole + 1  # `ShareBar` for the column with the bars
SORT_ROLE = Qt.ItemDataRole.UserRole + 2  # unformatted value of the cell

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
    """Values of a bar, bit/s; NaN and infinite values are not drawn.

    Attributes:
        goodput_bps: length of the bar.
        max_min_bps: position of the line.
        proportional_bps: position of the dot.
        full_bps: value at the full width.
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
    """Tree model of flows and copies, sorted by a column or in the order of the scenario."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Create a model without rows."""
        super().__init__(parent)
        self._given: list[ShareGroup] = []  # in the order of the scenario
        self._groups: list[ShareGroup] = []
        self._full_bps = 1.0
        self._sorted_by: tuple[int, Qt.SortOrder] = (-1, Qt.SortOrder.AscendingOrder)

    def set_analysis(self, analysis: FairnessAnalysis | None) -> bool:
        """Show the connections of an analysis, or no rows if it is None. Returns True if the set of rows changed."""
        self._given = [] if analysis is None else grouped(analysis)
        groups = self._ordered(self._given)
        shares = [] if analysis is None else analysis.connections
        rates = [rate for share in shares for rate in (share.goodput_bps, share.max_min_bps, share.proportional_bps)]
        self._full_bps = max((rate for rate in rates if math.isfinite(rate)), default=1.0) or 1.0
        if sorted(_names(groups)) == sorted(_names(self._groups)):
            # Keep folded rows, the selection and the scroll position, even if new values change the order.
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
        """Number of flows, or the number of copies below a flow; 0 for a flow with one connection."""
        if above is None:
            return len(self._groups)
        return len(self._groups[above].shares) if self._groups[above].has_copies else 0

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008
        """Number of columns, equal for all rows."""
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Titles of the columns, and their explanations as tooltips."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(COLUMNS[section].title)
        return tr(COLUMNS[section].tip) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Texts, bars, and descriptions for screen readers."""
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
        """Sort flows and copies by a column; -1 restores the order of the scenario."""
        self._sorted_by = (column, order)
        self._rearrange(self._ordered(self._given))

    def _rearrange(self, groups: list[ShareGroup]) -> None:
        """Change the order of the existing rows."""
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

    # ---- internals ----

    def _at(self, index: Index) -> tuple[ShareGroup, ConnectionShare | None]:
        """The flow and the connection of a row; the connection is None in the row of a flow with several."""
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
            # Unknown values are last in either order.
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
    """Sort key that puts download.2 before download.10."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in text.replace(".", "/").split("/")]


_BAR_WIDTH, _TEXT = 170, "1000 %"
_NEAR_SHARE = 0.1  # maximum deviation from the fair share at which a bar has the colour of a good value


class ShareDelegate(QStyledItemDelegate):
    """Makes the rows of the tree as high as the rows of tables."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Size of the text with a margin."""
        size = super().sizeHint(option, index)
        return QSize(size.width() + 12, option.fontMetrics.height() + 8)


class ShareBarDelegate(ShareDelegate):
    """Draws the goodput as a bar, the max-min fair share as a line, and the proportionally fair share as a dot."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Size of a bar with its percentage."""
        size = super().sizeHint(option, index)
        return QSize(_BAR_WIDTH + option.fontMetrics.horizontalAdvance(_TEXT), size.height())

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw the standard background, then bar, marks and percentage."""
        own = QStyleOptionViewItem(option)
        self.initStyleOption(own, index)
        text, own.text = own.text, ""
        style = own.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, own, painter, own.widget)
        bar = index.data(BAR_ROLE)
        if not isinstance(bar, ShareBar):
            return
        tokens = current_tokens()
        is_selected = bool(own.state & QStyle.StateFlag.State_Selected)
        ink = QColor(tokens.highlighted_text if is_selected else tokens.text)
        painter.save()
        painter.setPen(ink)
        room = own.fontMetrics.horizontalAdvance(_TEXT)
        rect: QRect = own.rect
        painter.drawText(
            rect.adjusted(0, 0, -6, 0), int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), text
        )
        draw_bar(painter, QRectF(rect).adjusted(6, 4, -room - 10, -4), bar, tokens, ink)
        painter.restore()


def draw_bar(painter: QPainter, rect: QRectF, bar: ShareBar, tokens: Tokens, ink: QColor) -> None:
    """Draw the bar, the line and the dot if their values are finite; ``ink`` colours the line and the dot's outline."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    scale = rect.width() / bar.full_bps
    if math.isfinite(bar.goodput_bps):
        painter.fillRect(
            QRectF(rect.left(), rect.top() + 2, max(1.0, bar.goodput_bps * scale), rect.height() - 4),
            bar_colour(bar, tokens),
        )
    if math.isfinite(bar.max_min_bps):
        x = rect.left() + bar.max_min_bps * scale
        painter.setPen(QPen(ink, 2.0))
        painter.drawLine(QPointF(x, rect.top() - 1), QPointF(x, rect.bottom() + 1))
    if math.isfinite(bar.proportional_bps):
        centre = QPointF(rect.left() + bar.proportional_bps * scale, rect.center().y())
        painter.setPen(QPen(ink, 1.2))
        painter.setBrush(QColor(tokens.base))
        painter.drawEllipse(centre, 3.2, 3.2)


def bar_colour(bar: ShareBar, tokens: Tokens) -> QColor:
    """Green near the max-min fair share, or if it is zero or unlimited; orange above it, blue below it.

    The colours are distinguishable with red-green blindness.
    """
    share = bar.goodput_bps / bar.max_min_bps if 0 < bar.max_min_bps < math.inf else 1.0
    name = "green" if abs(share - 1) <= _NEAR_SHARE else "orange" if share > 1 else "sky"
    colour = QColor(OKABE_ITO[name])
    return colour.lighter(115) if tokens.is_dark else colour


class JainCurve(QWidget):
    """Small plot of Jain's index, 0 to 1, over the whole run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create an empty curve."""
        super().__init__(parent)
        self.setObjectName("fairness_jain_curve")
        self._points: list[tuple[float, float]] = []
        self._duration_s = 1.0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(120)

    def sizeHint(self) -> QSize:
        """Height of three lines of text."""
        return QSize(220, self.fontMetrics().height() * 3 + 6)

    def show_curve(self, time_s: NDArray[np.float64], values: NDArray[np.float32], duration_s: float) -> None:
        """Show the samples of a run whose duration is ``duration_s``."""
        count = min(len(time_s), len(values))
        step = max(1, count // 400)
        known = np.isfinite(values[:count:step])
        self._points = list(
            zip(time_s[:count:step][known].tolist(), values[:count:step][known].astype(float).tolist(), strict=True)
        )
        self._duration_s = duration_s or 1.0
        text = tr("Jain index over time, last 5 s of each instant, from 0 to 1 over {end} s", end=f"{duration_s:g}")
        self.setToolTip(as_written(text))
        self.setAccessibleName(text)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the axes with their limits, and the curve."""
        tokens = current_tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = painter.font()
        font.setPointSizeF(font.pointSizeF() * 0.82)
        painter.setFont(font)
        metrics = painter.fontMetrics()
        left, below = metrics.horizontalAdvance("0") + 6, metrics.height()
        area = QRectF(left, 3, self.width() - left - 4, self.height() - below - 5)
        painter.setPen(QColor(tokens.muted_text))
        painter.drawText(QPointF(0, area.top() + metrics.ascent() - 3), "1")
        painter.drawText(QPointF(0, area.bottom()), "0")
        painter.drawText(QPointF(left, self.height() - metrics.descent()), "0 s")
        end = f"{self._duration_s:g} s"
        painter.drawText(
            QPointF(self.width() - metrics.horizontalAdvance(end) - 4, self.height() - metrics.descent()), end
        )
        painter.fillRect(area, QColor(tokens.alternate_base))
        painter.setPen(QColor(tokens.grid))
        painter.drawLine(area.topLeft(), area.topRight())
        painter.setPen(QColor(tokens.border))
        painter.drawLine(area.bottomLeft(), area.bottomRight())
        painter.setPen(QPen(QColor(tokens.accent), 1.6))
        points = [
            QPointF(area.left() + time_s / self._duration_s * area.width(), area.bottom() - value * area.height())
            for time_s, value in self._points
        ]
        painter.drawPolyline(QPolygonF(points))
        painter.end()


SCENARIO = -1
"""Value of `SharesPage.run` for the scenario of the window, which has only fair shares."""

_FEW = 24  # maximum number of rows for which copies are initially visible
_MOST_LINKS = 8
_EMPTY_TITLE = translatable("No shares to compare")
_EMPTY_TEXT = translatable(
    "Run a scenario with tcp or mptcp flows, or open a run from the history: this panel compares what its "
    "connections get with the fair shares of the network."
)


class SharesPage(QWidget):
    """Shows results of the analysis, which `FairnessFeature` computes."""

    choice_changed = Signal()  # a different run or window is requested
    link_chosen = Signal(str)  # name of a link

    def __init__(self, parent: QWidget | None = None) -> None:
        """Create an empty page."""
        super().__init__(parent)
        self.setObjectName("fairness_shares")
        self.run_choice = _combo("fairness_run", tr("Run"))
        self.window_choice = _combo("fairness_window", tr("Part of the run"))
        for choice, text in WINDOW_TEXTS.items():
            self.window_choice.addItem(tr(text), choice)
        for combo in (self.run_choice, self.window_choice):
            combo.activated.connect(lambda _: self.choice_changed.emit())
        self.jain = named(Label(self, textFormat=Qt.TextFormat.RichText), "fairness_jain")
        self.curve = JainCurve(self)
        self.words = _label("fairness_meaning", self)
        self.links = _label("fairness_links", self)
        self.links.setTextFormat(Qt.TextFormat.RichText)
        self.links.setTextInteractionFlags(
            Qt.TextInteractionFlag.LinksAccessibleByMouse | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )
        self.links.linkActivated.connect(self.link_chosen)
        self.notices = _label("fairness_notices", self)
        self.model = ShareModel(self)
        self.tree = QTreeView(self)
        self._set_up_tree()
        self.empty = EmptyState("fairness", tr(_EMPTY_TITLE), tr(_EMPTY_TEXT))
        self._pages = pages(self, self.empty, self._content())
        v_box(self, self._choices(), (self._pages, 1), margins=0)
        self._analysis: FairnessAnalysis | None = None
        self._has_runs = False
        muted(self.notices)
        follow_theme(self._recolour)

    def _choices(self) -> QHBoxLayout:
        return h_box(None, (self.run_choice, 3), (self.window_choice, 2), margins=(6, 6, 6, 0))

    def _content(self) -> QWidget:
        content = QWidget(self)
        top = h_box(None, self.jain, (self.curve, 1), spacing=12)
        v_box(content, top, self.words, (self.tree, 1), self.links, self.notices, margins=(6, 4, 6, 6), spacing=6)
        # If the panel is not high enough, it scrolls instead of letting its parts overlap.
        area = named(QScrollArea(self, widgetResizable=True), "fairness_scroll", tr("Shares"))
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setWidget(content)
        return area

    def _set_up_tree(self) -> None:
        tree = self.tree
        set_style(tree, table_style)
        named(tree, "fairness_table", tr("Shares of the connections"))
        tree.setModel(self.model)
        tree.setItemDelegate(ShareDelegate(tree))
        tree.setItemDelegateForColumn(BAR, ShareBarDelegate(tree))
        tree.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        tree.setAlternatingRowColors(True)
        tree.setUniformRowHeights(True)
        tree.setSortingEnabled(True)
        header = tree.header()
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        header.setStretchLastSection(True)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        tree.setMinimumHeight(tree.fontMetrics().height() * 6)
        self.setFocusProxy(tree)

    # ---- interface for the owner ----

    @property
    def run(self) -> int:
        """Position of the chosen run among the shown runs, or `SCENARIO`."""
        data = self.run_choice.currentData()
        return SCENARIO if data is None else int(data)

    @property
    def window_part(self) -> WindowChoice:
        """The chosen part of the run."""
        return WindowChoice(self.window_choice.currentData())

    def set_runs(self, names: Sequence[str], *, has_scenario: bool) -> None:
        """Offer the shown runs and the scenario of the window; keep the current choice if it is still offered."""
        # If no runs were offered before, the user had no real choice, so the first run is selected.
        before = self.run_choice.currentText() if self._has_runs else ""
        self._has_runs = bool(names)
        with QSignalBlocker(self.run_choice):
            self.run_choice.clear()
            for run, name in enumerate(names):
                self.run_choice.addItem(name, run)
            if has_scenario:
                self.run_choice.addItem(tr("The scenario: what would be fair"), SCENARIO)
            self.run_choice.setCurrentIndex(max(0, self.run_choice.findText(before)))
        self.run_choice.setEnabled(self.run_choice.count() > 1)
        self.window_choice.setEnabled(bool(names))

    def show_view(self, view: AnalysisView) -> None:
        """Show the results of an analysis, or a hint if no connection sends in the window."""
        analysis = self._analysis = view.analysis
        if not analysis.connections:
            self.show_nothing(tr(_EMPTY_TITLE), meaning(analysis) if analysis.is_run else tr(_EMPTY_TEXT))
            return
        self._pages.setCurrentIndex(1)
        self.window_choice.setEnabled(analysis.is_run)
        self._show_jain(view)
        self.words.setText(f"{window_text(analysis)}. {meaning(analysis)}")
        if self.model.set_analysis(analysis):
            if len(analysis.connections) <= _FEW:
                self.tree.expandAll()
            self._fit_columns()
        self.links.setText(self._links_text(analysis))
        self.notices.setText(" ".join(analysis.notices))
        self.notices.setVisible(bool(analysis.notices))

    def show_nothing(self, title: str = "", text: str = "") -> None:
        """Show a text, or by default a hint on how to get results."""
        self._analysis = None
        self.model.set_analysis(None)
        self.empty.set_text(title or tr(_EMPTY_TITLE), text or tr(_EMPTY_TEXT))
        self._pages.setCurrentIndex(0)

    # ---- internals ----

    def _recolour(self, _tokens: Tokens) -> None:
        if self._analysis is not None:
            self.links.setText(self._links_text(self._analysis))

    def _show_jain(self, view: AnalysisView) -> None:
        analysis = view.analysis
        has_several = analysis.is_run and len(analysis.connections) > 1
        self.jain.setVisible(has_several)
        self.curve.setVisible(has_several)
        if not has_several:
            return
        distance = tr("distance {distance}", distance=fmt.ratio(analysis.to_max_min, 2))
        size = self.font().pointSizeF() * 1.6
        small = f"<span style='color:{current_tokens().muted_text}'>"
        self.jain.setText(
            f"{small}{escape(tr('Jain index'))}</span><br><span style='font-size:{size:.0f}pt; font-weight:600'>"
            f"{fmt.index(analysis.jain)}</span><br>{small}{escape(distance)}</span>"
        )
        self.jain.setToolTip(
            tr(
                "Jain index of the goodputs while active: 1 when all are equal, 1/n when one has everything. Distance: "
                "the sum of all deviations from the max-min fair shares, divided by the sum of these shares "
                "({proportional} from the proportionally fair split). Jain index of goodput divided by fair share: "
                "{normalised}",
                proportional=fmt.ratio(analysis.to_proportional, 2),
                normalised=fmt.index(analysis.jain_of_shares),
            )
        )
        self.curve.show_curve(view.jain_time_s, view.jain, view.duration_s)

    def _links_text(self, analysis: FairnessAnalysis) -> str:
        if not analysis.bottlenecks:
            return ""
        colour = current_tokens().link
        named = []
        for each in analysis.bottlenecks[:_MOST_LINKS]:
            link = each.name.partition("/")[0]
            limits = trn("limits {count} connection", "limits {count} connections", each.connections)
            if each.time_share < 0.999:
                limits += ", " + tr("{share} of the time", share=fmt.ratio(each.time_share, 2))
            named.append(f"<a href='{escape(link)}' style='color:{colour}'>{escape(each.name)}</a> ({escape(limits)})")
        if len(analysis.bottlenecks) > _MOST_LINKS:
            more = len(analysis.bottlenecks) - _MOST_LINKS
            named.append(escape(trn("and {count} more", "and {count} more", more)))
        return f"{escape(tr('Bottlenecks:'))} {', '.join(named)}"

    def _fit_columns(self) -> None:
        for column in range(len(COLUMNS) - 1):
            self.tree.resizeColumnToContents(column)
        self.tree.setColumnWidth(NAME, min(240, self.tree.columnWidth(NAME) + 8))


def _combo(name: str, text: str) -> Choice:
    combo = Choice(name, text=text, letters=10)
    combo.setToolTip(text)
    return combo


def _label(name: str, parent: QWidget) -> QLabel:
    label = named(Label(parent, wordWrap=True), name)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    return label

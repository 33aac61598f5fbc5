"""The fairness panel: one page for shares and one for trade-offs.

The page of trade-offs shows the points in a plot and in a table next to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import (
    QSplitter,
    QTableView,
    QTabWidget,
    QToolButton,
    QWidget,
)

from subflow_app.features.fairness.core.trade_offs import (
    TRADE_OFF_TEXTS,
    TRADE_OFFS,
    Point,
    TradeOffKind,
    interval_text,
    point_text,
    short_titles,
    trade_off_panel,
)
from subflow_app.features.fairness.qt.shares import SharesPage
from subflow_app.features.plots.qt.panel_plot import PanelPlot
from subflow_app.toolkit.theme import set_style, tab_style
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, named, pages, split, v_box
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table
from subflow_app.vocabulary.language import tr, translatable, trn
from subflow_app.vocabulary.picture import Hit
from subflow_app.vocabulary.tables import Column

_EMPTY_TITLE = translatable("No runs to compare")
_EMPTY_TEXT = translatable(
    "Overlay runs from the history, such as one scenario with several controllers and seeds: each experiment becomes "
    "a point here. This view needs {what}."
)


def _columns(points: Sequence[Point], kind: TradeOffKind) -> tuple[Column[Point], ...]:
    """Columns of the table: experiment, runs, both quantities, and Pareto front."""
    spec = TRADE_OFFS[kind]
    titles = [point.title for point in points]
    names = dict(zip(titles, short_titles(titles), strict=True))
    return (
        Column(tr("Experiment"), lambda point: names[point.title]),
        Column(tr("Runs"), lambda point: len(point.runs)),
        Column(spec.y.metric.axis_title, lambda point: interval_text(point.y, spec.y.metric)),
        Column(spec.x.metric.axis_title, lambda point: interval_text(point.x, spec.x.metric)),
        Column(tr("Pareto front"), lambda point: tr("on it") if point.is_best else tr("dominated")),
    )


class TradeOffPage(QWidget):
    """Shows points in a plot and a table; `FairnessFeature` computes the points."""

    kind_changed = Signal()
    point_chosen = Signal(object)  # Point

    def __init__(self, export: QAction, parent: QWidget | None = None) -> None:
        """Create an empty page with a button for ``export``."""
        super().__init__(parent)
        self.setObjectName("fairness_trade_offs")
        kinds = ((kind, tr(text)) for kind, text in TRADE_OFF_TEXTS.items())
        self.kinds = Choice("trade_off_kind", kinds, self, text=tr("Quantities of the plot"))
        self.kinds.activated.connect(self._on_kind_chosen)
        self.is_kind_chosen = False
        button = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon, autoRaise=True)
        button.setDefaultAction(export)
        self.plot = PanelPlot("trade_off_plot", tr("Plot of trade-offs"), parent=self)
        self.plot.chosen.connect(self._on_point_chosen)
        self.model: TableModel[Point] = TableModel(
            _columns((), TradeOffKind.DELAY), self, tip=lambda point: point_text(point, self.kind)
        )
        self.model.translates = False
        self.table = QTableView(self)
        set_up_table(self.table, "trade_off_table", tr("Experiments and their measures"), self.model, is_single=True)
        self.table.selectionModel().currentRowChanged.connect(self._on_row_chosen)
        self.words = named(Label(self, wordWrap=True), "trade_off_meaning")
        self.empty = EmptyState("fairness", tr(_EMPTY_TITLE), "")
        self._pages = pages(self, self.empty, self._content())
        row = h_box(None, (self.kinds, 1), button, margins=(6, 6, 6, 0))
        v_box(self, row, (self._pages, 1), margins=0)
        self.setFocusProxy(self.table)
        self.show_nothing()

    def _content(self) -> QWidget:
        content = QWidget(self)
        border = QSplitter(Qt.Orientation.Horizontal, content, childrenCollapsible=False)
        parts = split(border, self.plot, self.table, shares=(3, 2))
        v_box(content, self.words, (parts, 1), margins=(6, 4, 6, 6))
        return content

    # ---- interface for the owner ----

    @property
    def kind(self) -> TradeOffKind:
        """The chosen kind of trade-off."""
        return TradeOffKind(self.kinds.currentData())

    def propose_kind(self, kind: TradeOffKind) -> None:
        """Preselect a kind, unless the user has chosen one."""
        if not self.is_kind_chosen:
            self.kinds.setCurrentIndex(self.kinds.findData(kind))

    @property
    def points(self) -> Sequence[Point]:
        """The displayed points."""
        return self.model.rows

    def show_points(self, points: Sequence[Point], kind: TradeOffKind) -> None:
        """Show points or, if the list is empty, the requirement on runs."""
        with QSignalBlocker(self.table.selectionModel()):
            self.model.show_rows(tuple(points), _columns(points, kind))
        self.plot.show_panel(trade_off_panel(points, kind))
        if not points:
            self.show_nothing()
            return
        names = short_titles([point.title for point in points])
        best = [name for name, point in zip(names, points, strict=True) if point.is_best]
        self.words.setText(
            trn(
                "On the Pareto front: {names}. Nothing else is at least as good in both measures.",
                "On the Pareto front: {names}. For each of them nothing else is at least as good in both measures.",
                len(best),
                names=", ".join(best),
            )
        )
        self.table.resizeColumnsToContents()
        self._pages.setCurrentIndex(1)

    def show_nothing(self, text: str = "") -> None:
        """Show a text, or by default the requirement on the runs."""
        self.empty.set_text(tr(_EMPTY_TITLE), text or tr(_EMPTY_TEXT, what=tr(TRADE_OFFS[self.kind].needs)))
        self._pages.setCurrentIndex(0)

    # ---- internals ----

    def _on_kind_chosen(self) -> None:
        self.is_kind_chosen = True
        self.kind_changed.emit()

    def _on_point_chosen(self, hit: Hit) -> None:
        self.table.selectRow(hit.points[0])

    def _on_row_chosen(self) -> None:
        row = self.table.currentIndex().row()
        self.plot.set_current(row)
        if 0 <= row < len(self.points):
            self.point_chosen.emit(self.points[row])


class FairnessPanel(QWidget):
    """The pages for shares and trade-offs as tabs."""

    seen = Signal()

    def __init__(self, export: QAction, parent: QWidget | None = None) -> None:
        """Create a panel without results.

        Args:
            export: action that writes the trade-offs.
            parent: Qt parent.
        """
        super().__init__(parent)
        self.shares = SharesPage()
        self.trade_offs = TradeOffPage(export)
        self.tabs = named(QTabWidget(self, documentMode=True), "fairness_tabs", tr("Pages of the fairness panel"))
        self.tabs.addTab(self.shares, tr("Shares"))
        self.tabs.addTab(self.trade_offs, tr("Trade-offs"))
        v_box(self, self.tabs, margins=0)
        self.setFocusProxy(self.tabs)
        set_style(self.tabs, tab_style)

    @property
    def weighs(self) -> bool:
        """True while the tab for trade-offs is selected."""
        return self.tabs.currentWidget() is self.trade_offs

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `seen`, so that the feature computes the page."""
        super().showEvent(event)
        self.seen.emit()

"""The page of shares: what each connection got of what would be fair, in bars, numbers and words."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QScrollArea,
    QTreeView,
    QWidget,
)

from subflow_app.features.fairness.core.analysis import FairnessAnalysis
from subflow_app.features.fairness.core.analysis_text import meaning, window_text
from subflow_app.features.fairness.core.analysis_view import WINDOW_TEXTS, AnalysisView, WindowChoice
from subflow_app.features.fairness.qt.drawing import JainCurve, ShareBarDelegate, ShareDelegate
from subflow_app.features.fairness.qt.share_model import BAR, COLUMNS, NAME, ShareModel
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import Tokens, current_tokens, follow_theme, muted, set_style, table_style
from subflow_app.toolkit.widgets.choice import Choice
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.shorthand import h_box, named, pages, v_box
from subflow_app.vocabulary.language import tr, translatable, trn

SCENARIO = -1
"""In place of the position of a run: the scenario of the window, of which there is the ideal alone."""

_FEW = 24  # rows up to which copies are shown at first
_MOST_LINKS = 8
_EMPTY_TITLE = translatable("Nothing to share")
_EMPTY_TEXT = translatable(
    "Run a scenario with tcp or mptcp flows, or open a run from the history: this panel compares what its "
    "connections get with the fair shares of the network."
)


class SharesPage(QWidget):
    """Shows a view of the analysis; what is computed, and when, its owner knows."""

    choice_changed = Signal()  # another run or window is wanted
    link_chosen = Signal(str)  # name of a link

    def __init__(self, parent: QWidget | None = None) -> None:
        """An empty page."""
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
        # In a low panel it is scrolled: nothing covers anything else.
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

    # ---- what its owner uses ----

    @property
    def run(self) -> int:
        """Position of the chosen run among those shown, or `SCENARIO`."""
        data = self.run_choice.currentData()
        return SCENARIO if data is None else int(data)

    @property
    def window_part(self) -> WindowChoice:
        """The chosen part of the run."""
        return WindowChoice(self.window_choice.currentData())

    def set_runs(self, names: Sequence[str], *, has_scenario: bool) -> None:
        """Offers these runs, and the scenario of the window; a choice that is still there stays."""
        # Without runs nobody has chosen: the first that comes is shown.
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
        """Shows what was computed."""
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
        """Says why there is nothing to show; left out: how to get something."""
        self._analysis = None
        self.model.set_analysis(None)
        self.empty.set_text(title or tr(_EMPTY_TITLE), text or tr(_EMPTY_TEXT))
        self._pages.setCurrentIndex(0)

    # ---- inside ----

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

"""The views of one sweep: tabs, choosers, the view itself, and a line about what is pointed at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QStackedWidget,
    QTabBar,
    QWidget,
)

from subflow_app.features.sweeps.core.views.choice import VIEWS, Shown, show
from subflow_app.features.sweeps.core.views.picture import Hit
from subflow_app.features.sweeps.core.views.study import Study
from subflow_app.features.sweeps.core.views.view import MAP, PLOT, TABLE, SweepView, ViewChoice
from subflow_app.features.sweeps.qt.choosers import Choosers
from subflow_app.features.sweeps.qt.study_table import StudyTable
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import current_tokens, follow_theme, muted
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.list_beside import action_buttons
from subflow_app.toolkit.widgets.shorthand import h_box, named, v_box
from subflow_app.toolkit.workers import LatestReader, Workers
from subflow_app.vocabulary.language import tr, trn

_PATIENCE_MS = 60
_TOP_MARGINS = 24
_NARROWEST = 240


class StudyPage(QWidget):
    """What they show is worked out in a worker thread; at most one question at a time, the latest wish wins."""

    selection_changed = Signal()
    opened = Signal()  # the selected runs are to be shown

    def __init__(self, workers: Workers, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Nothing to show yet; ``actions`` become buttons."""
        super().__init__(parent)
        self.setObjectName("study_page")
        self._reader = LatestReader(workers, self, "view of a sweep")
        self._reader.read.connect(self._on_made)
        self._reader.failed.connect(self._on_failed)
        self.study: Study | None = None  # the sweep that is shown
        self.choice = ViewChoice()
        self.shown: Shown | None = None
        self._run_ids: list[int] = []
        self.patience_ms = _PATIENCE_MS
        self.tabs = named(QTabBar(self, drawBase=False, expanding=False), "sweep_views", tr("Views of the sweep"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setMinimumWidth(1)  # they do not keep the page from becoming narrower: see resizeEvent
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        # What tabs have no room for, a combo box has.
        self.views = named(QComboBox(self), "sweep_views_combo", tr("Views of the sweep"))
        self.views.hide()
        for view in VIEWS.values():
            self.tabs.addTab(tr(view.title))
            self.views.addItem(tr(view.title))
        self.choosers = Choosers(self)
        self.table = StudyTable(self)
        self.pages = QStackedWidget(self)
        self.pages.setMinimumWidth(_NARROWEST)  # pages that are not shown do not widen the panel
        self._empty = EmptyState("sweeps", tr("No result yet"), tr("Figures show here as soon as a run has ended."))
        self.pages.addWidget(self._empty)
        self.pages.addWidget(self.table)
        self._charts: dict[str, Any] = {}
        self.note = named(muted(Label(self)), "sweep_note")
        self.words = named(muted(Label(self)), "sweep_words")
        for label in (self.note, self.words):
            label.setWordWrap(True)
            label.setContentsMargins(8, 1, 8, 1)
        self._buttons = action_buttons(actions)
        top = h_box(None, self.tabs, self.views, None, *self._buttons, margins=(4, 2, 6, 0))
        v_box(self, top, self.choosers, self.note, (self.pages, 1), self.words, margins=0, spacing=0)
        self.tabs.currentChanged.connect(lambda index: self._choose(replace(self.choice, view=list(VIEWS)[index])))
        self.tabs.currentChanged.connect(self.views.setCurrentIndex)
        self.views.activated.connect(self.tabs.setCurrentIndex)
        self.choosers.changed.connect(self._choose)
        self.table.chosen.connect(self._on_points)
        self.table.opened.connect(self._on_points_opened)
        self.show_study(None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Chooses between tabs and combo box."""
        super().resizeEvent(event)
        buttons = sum(button.sizeHint().width() for button in self._buttons)
        is_narrow = self.width() < self.tabs.sizeHint().width() + buttons + _TOP_MARGINS
        self.tabs.setVisible(not is_narrow)
        self.views.setVisible(is_narrow)

    # ---- what the owner uses ----

    def show_study(self, study: Study | None) -> None:
        """Shows a sweep, or a later state of the same; None for none."""
        is_other = self.study is None or study is None or self.study.name != study.name
        self.study = study
        if is_other:
            self._set_runs([])
        self._ask()

    def set_view(self, view: str) -> None:
        """Shows one of VIEWS."""
        self.tabs.setCurrentIndex(list(VIEWS).index(view))

    def choose(self, **changes: Any) -> None:
        """Changes what the view shows; see :class:`ViewChoice`."""
        self._choose(replace(self.choice, **changes))

    def run_ids(self) -> list[int]:
        """Numbers of the stored runs of what was clicked, or of the selected rows."""
        return list(self._run_ids)

    @property
    def is_drawn(self) -> bool:
        """Whether something is shown that can be exported."""
        return self.shown is not None and self.shown.content is not None

    def chart(self, view: str) -> Any:
        """The picture of a view, made when it is first asked for; the table is none."""
        if view not in self._charts:
            chart = self._charts[view] = _make_chart(VIEWS[view], self)
            follow_theme(chart.recolour)
            chart.hovered.connect(self._show_words)
            chart.chosen.connect(self._on_hit)
            chart.opened.connect(self._on_hit_opened)
            self.pages.addWidget(chart)
        return self._charts[view]

    # ---- inside ----

    def _choose(self, choice: ViewChoice) -> None:
        if choice != self.choice:
            self.choice = choice
            self._ask()

    def _ask(self) -> None:
        study, choice = self.study, self.choice
        if study is None:
            self._reader.forget()
            self._show_nothing()
            return
        self._reader.patience_ms = self.patience_ms
        self._reader.ask(lambda _is_given_up: show(choice, study), is_other=True)

    def _on_made(self, shown: Shown) -> None:
        self.shown = shown
        self.choosers.show_choice(shown.choice, shown.study)
        content = shown.content
        self.choosers.setVisible(content is not None)
        self.note.setText(shown.note)
        self.note.setVisible(bool(shown.note))
        if content is None:
            self._show_nothing()
        else:
            view = shown.choice.view
            page = self.table if VIEWS[view].form == TABLE else self.chart(view)
            page.show_content(content)
            self.pages.setCurrentWidget(page)
        self.selection_changed.emit()

    def _on_failed(self, error: Exception) -> None:
        raise error

    def _show_nothing(self) -> None:
        self.shown = None
        self.pages.setCurrentWidget(self._empty)
        self.choosers.hide()
        self.note.hide()
        self.words.clear()
        self.selection_changed.emit()

    def _on_hit(self, hit: Hit) -> None:
        study = self.study
        if study is not None:
            self._set_runs(list(hit.run_ids) or study.run_ids(hit.points))
            self._show_words(hit.text)

    def _on_hit_opened(self, hit: Hit) -> None:
        self._on_hit(hit)
        self.opened.emit()

    def _on_points(self, points: Sequence[int]) -> None:
        if self.study is not None:
            self._set_runs(self.study.run_ids(points))

    def _on_points_opened(self, points: Sequence[int]) -> None:
        self._on_points(points)
        self.opened.emit()

    def _set_runs(self, run_ids: list[int]) -> None:
        self._run_ids = run_ids
        self._show_words("")
        self.selection_changed.emit()

    def _show_words(self, text: str) -> None:
        """One line: what is pointed at, else how many runs are selected."""
        line = " · ".join(text.splitlines())
        if not line and self._run_ids:
            line = trn("{count} run is selected", "{count} runs are selected", len(self._run_ids))
        self.words.setText(line or " ")


def _make_chart(view: SweepView, parent: QWidget) -> Any:
    # Each loads pyqtgraph, which takes a second when it is the first.
    from subflow_app.features.sweeps.qt.plots.heat_plot import HeatPlot
    from subflow_app.features.sweeps.qt.plots.study_plot import StudyPlot

    forms: dict[str, Any] = {PLOT: StudyPlot, MAP: HeatPlot}
    return forms[view.form](view, current_tokens(), parent=parent)

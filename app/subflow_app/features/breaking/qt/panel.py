"""Panel of searches for failing networks: the form, earlier searches, and the networks found by the selected search.

A map of the space shows the tried networks over two chosen values, coloured by the margin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHeaderView, QSplitter, QTableView, QTabWidget, QWidget

from subflow_app.features.breaking.core.break_text import METHOD, failure_words, listed_words, margin_text
from subflow_app.features.breaking.core.claim_file import OWN_NAME
from subflow_app.features.breaking.core.counterexample import PROFILES, Counterexample
from subflow_app.features.breaking.core.search_map import SearchMap
from subflow_app.features.breaking.qt.form import BreakForm
from subflow_app.features.plots.qt.panel_plot import PanelPlot
from subflow_app.toolkit.theme import muted, set_style, tab_style
from subflow_app.toolkit.widgets.list_beside import ToldBar, action_buttons
from subflow_app.toolkit.widgets.shorthand import Choice, Label, captioned, h_box, named, split, v_box
from subflow_app.toolkit.widgets.tables import TableModel, select_rows, set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.number_text import duration_text
from subflow_app.vocabulary.picture import Hit, Panel
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_store.searches import SearchRecord

_MOST_MARKS = 4000


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of the list.

    Attributes:
        record: search of the store; None for the shipped counterexamples.
    """

    record: SearchRecord | None

    @property
    def title(self) -> str:
        """Claim, controller and space of the search."""
        if self.record is None:
            return tr("Shipped with Subflow")
        claim = self.record.claim
        if claim == OWN_NAME:  # a placeholder that describes nothing
            claim = str(self.record.document.get("title", claim))
        return f"{claim}: {self.record.entrant}, {self.record.space}"

    @property
    def time(self) -> str:
        """Total time of the search; empty for the shipped counterexamples."""
        return "" if self.record is None else duration_text(self.record.elapsed_s)


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Data of a row of the list.

    Attributes:
        listed: row of the list of searches.
        found: counterexamples, the clearest failure first.
        tried: map of the networks tried; None for the shipped counterexamples.
        problem: error message if the data could not be read; otherwise empty.
    """

    listed: Listed
    found: tuple[Counterexample, ...] = ()
    tried: SearchMap | None = None
    problem: str = ""


class BreakPanel(QWidget):
    """Shows searches and their results; :class:`BreakFeature` reads and runs them."""

    chosen = Signal(object)  # Listed
    taken_up = Signal()  # the chosen search should fill the form
    selection_changed = Signal()

    def __init__(
        self, asking: Sequence[QAction], found: Sequence[QAction], export: QAction, parent: QWidget | None = None
    ) -> None:
        """Creates an empty panel.

        Args:
            asking: actions for buttons of the form.
            found: actions for buttons below the list of networks.
            export: action that writes the visible tab.
            parent: Qt parent.
        """
        super().__init__(parent)
        self.setObjectName("break")
        self.shown: Shown | None = None
        self.form = BreakForm(asking, self)
        self.bar = named(ToldBar(self), "break_progress", tr("Progress of the search"))
        self.words = named(muted(Label(self, wordWrap=True)), "break_words")
        self.words.setContentsMargins(8, 2, 8, 4)

        self.searches: TableModel[Listed] = TableModel(
            (
                Column(translatable("Search"), lambda row: row.title, widest="improve: olia, two-links"),
                NumberColumn(translatable("Time"), lambda row: row.time, widest="10 min 30 s"),
            ),
            self,
            tip=lambda row: row.title,
        )
        self.list = set_up_table(
            QTableView(self), "break_searches", tr("Earlier searches"), self.searches, style=None, is_single=True
        )
        self.list.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.horizontalHeader().setStretchLastSection(False)

        self.model: TableModel[Counterexample] = TableModel(_found_columns(), self, tip=lambda row: row.says)
        self.table = set_up_table(
            QTableView(self), "break_found", tr("Networks in which the claim fails"), self.model, is_single=True
        )
        header = self.table.horizontalHeader()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.told = named(Label(self, wordWrap=True), "break_told")
        self.told.setContentsMargins(8, 2, 8, 2)
        found_page = QWidget(self)
        buttons = action_buttons(found)
        for button in buttons:
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        row = h_box(None, *buttons, None, margins=(6, 2, 6, 4))
        v_box(found_page, (self.table, 1), self.told, row, margins=0, spacing=2)

        text = tr("Networks that were tried, over two values, coloured by margin")
        self.chart = PanelPlot("break_map", text, tr("No network has been tried yet."), self)
        self.along = Choice("break_along", (), self, letters=18)
        self.up = Choice("break_up", (), self, letters=18)
        map_page = QWidget(self)
        axes = (*captioned(tr("Alon&g:"), self.along), *captioned(tr("U&p:"), self.up))
        v_box(map_page, h_box(None, *axes, None, margins=(6, 4, 6, 0)), (self.chart, 1), margins=0)

        self.tabs = named(QTabWidget(self, documentMode=True), "break_tabs", tr("Views of the search"))
        set_style(self.tabs, tab_style)
        for page, title in ((found_page, tr("Found")), (map_page, tr("Map"))):
            self.tabs.addTab(page, title)
        corner = action_buttons([export])[0]
        self.tabs.setCornerWidget(corner)
        both = split(QSplitter(self), self.list, self.tabs, sizes=(300, 900))
        v_box(self, self.form, self.bar, (both, 1), self.words, margins=0, spacing=2)
        self.setFocusProxy(self.form)
        self.list.activated.connect(lambda _: self.taken_up.emit())
        self.list.selectionModel().currentRowChanged.connect(lambda *_: self._on_chosen())
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._on_selected())
        self.tabs.currentChanged.connect(lambda _: self.selection_changed.emit())
        for choice in (self.along, self.up):
            choice.currentIndexChanged.connect(lambda _: self._draw_map())

    @property
    def row(self) -> Listed | None:
        """The selected row of the list of searches; None if no row is selected."""
        number = self.list.currentIndex().row()
        return self.searches.rows[number] if 0 <= number < len(self.searches.rows) else None

    @property
    def selected(self) -> Counterexample | None:
        """The selected counterexample; None if no row is selected."""
        rows = self.table.selectionModel().selectedRows()
        return self.model.row_at(rows[0].row()) if rows else None

    @property
    def tried(self) -> SearchMap | None:
        """The map of the selected search; None if it contains no network."""
        tried = self.shown.tried if self.shown is not None else None
        return tried if tried is not None and len(tried.margins) else None

    def show_searches(self, records: Sequence[SearchRecord], wanted: int | None = None) -> None:
        """Lists the searches and selects one by its number; None keeps the selection, or selects the first."""
        before = self.row
        rows = [Listed(None), *map(Listed, records)]
        with QSignalBlocker(self.list.selectionModel()):
            self.searches.show_rows(rows)
        ids = [-1 if row.record is None else row.record.id for row in rows]
        kept = wanted if wanted is not None else -1 if before is None or before.record is None else before.record.id
        if before is None and wanted is None and len(ids) > 1:
            kept = ids[1]
        number = ids.index(kept) if kept in ids else 0
        with QSignalBlocker(self.list.selectionModel()):
            self.list.setCurrentIndex(self.searches.index(number, 0))
        self._on_chosen()

    def show_search(self, shown: Shown) -> None:
        """Shows the data of a search and keeps the selection."""
        selected = self.selected
        self.shown = shown
        self.model.show_rows(shown.found)
        if shown.found:
            texts = [each.text for each in shown.found]
            place = texts.index(selected.text) if selected is not None and selected.text in texts else 0
            select_rows(self.table, lambda index: index.row() == place)
        self._on_selected()
        self._offer_axes(shown.tried)
        self._draw_map()
        self._say(shown)

    def _on_chosen(self) -> None:
        row = self.row
        if row is not None:
            self.chosen.emit(row)

    def _on_selected(self) -> None:
        each = self.selected
        if each is not None:
            source = f" ({each.claim.source})" if each.claim.source else ""
            self.told.setText(f"{each.says}.\n{each.claim.title}{source}. {' '.join(failure_words(each))}")
        else:
            self.told.setText("")
        self.selection_changed.emit()

    def _offer_axes(self, tried: SearchMap | None) -> None:
        keys = [] if tried is None else [axis.key for axis in tried.axes]
        if [self.along.itemData(number) for number in range(self.along.count())] == keys:
            return
        for choice, first in ((self.along, 0), (self.up, _other_rate(keys))):
            with QSignalBlocker(choice):
                choice.clear()
                for key in keys:
                    choice.addItem(key, key)
                choice.setCurrentIndex(min(first, len(keys) - 1))

    def _draw_map(self) -> None:
        if self.tried is None:
            self.chart.show_panel(Panel("scatter", "", "", "", (), np.empty(0), ()))
            return
        tried = self.tried.with_at_most(_MOST_MARKS)
        along, up = max(self.along.currentIndex(), 0), max(self.up.currentIndex(), 0)
        hits = [
            Hit(float(x), float(y), "", (number,))
            for number, (x, y) in enumerate(tried.places[:, (along, up)].tolist())
        ]
        self.chart.show_panel(tried.panel(along, up), hits, lambda hit: tried.words(hit.points[0]))

    def _say(self, shown: Shown) -> None:
        problems = [shown.problem] if shown.problem else []
        if shown.tried is not None:
            problems.append(
                tr(
                    "{tried} networks were tried; the claim failed in {failed} of them, which are of {kinds} kinds.",
                    tried=shown.tried.tried,
                    failed=shown.tried.failed,
                    kinds=shown.tried.kinds,
                )
            )
            if shown.found:
                problems.append(listed_words(len(shown.found)))
            if shown.tried.told > _MOST_MARKS:
                problems.append(tr("The map draws {marks} of the networks.", marks=_MOST_MARKS))
            if not shown.found:
                problems.append(tr("None has been simplified and confirmed yet: that happens when a search ends."))
        elif not shown.found:
            problems.append(tr("This installation has no counterexamples."))
        self.words.setText(" ".join(problems))
        self.words.setToolTip(tr(METHOD))


def _found_columns() -> list[Column[Counterexample]]:
    tip = METHOD
    linux, textbook = PROFILES
    return [
        Column(translatable("Failure"), lambda each: each.says),
        NumberColumn(translatable("Margin, linux"), lambda each: _margin(each, linux), tip=tip),
        NumberColumn(translatable("Margin, textbook"), lambda each: _margin(each, textbook), tip=tip),
        Column(translatable("Confirmed"), lambda each: tr("yes") if each.is_confirmed else tr("not in both profiles")),
    ]


def _margin(each: Counterexample, profile: str) -> str:
    return margin_text(each, profile) if profile in each.confirmed else "–"


def _other_rate(keys: Sequence[str]) -> int:
    """Index of the second rate among the keys; 1 if fewer than two keys are rates."""
    rates = [number for number, key in enumerate(keys) if key.endswith(".rate")]
    return rates[1] if len(rates) > 1 else 1

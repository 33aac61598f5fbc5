"""The page with the views of one sweep: tabs, combo boxes, a view, and a line about the item under the pointer.

The table of a sweep has a row for each point and can be sorted by any column. The combo boxes above a view select the
figure, the parameters, and the values of fixed parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QMenu,
    QStackedWidget,
    QTabBar,
    QTableView,
    QToolButton,
    QWidget,
)

from subflow_app.features.sweeps.core.views.choice import VIEWS, Shown, held_parameters, show, varying
from subflow_app.features.sweeps.core.views.pictures import TABLE_VIEW as VIEW
from subflow_app.features.sweeps.core.views.pictures import StudyRow, TableContent, study_columns
from subflow_app.features.sweeps.core.views.study import SweepStudy, short_key
from subflow_app.features.sweeps.core.views.view import ViewChoice
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.empty_state import EmptyState
from subflow_app.toolkit.widgets.list_beside import action_buttons
from subflow_app.toolkit.widgets.shorthand import Choice, Label, WrapLayout, as_written, h_box, named, v_box
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table, set_widths
from subflow_app.toolkit.workers import LatestReader, Workers
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.picture import Hit
from subflow_app.vocabulary.tables import TextTable

_WIDEST = "00.00 ± 00.00"
_MOST_MEASURED = 200


_MOST_IN_MENU = 14  # measures in one menu


class StudyTableModel(TableModel[StudyRow]):
    """Table model that can be sorted by any column."""

    translates = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), parent)
        self.content: TableContent | None = None
        self._sorted_by = (-1, Qt.SortOrder.AscendingOrder)

    def show_content(self, content: TableContent) -> None:
        """Replaces the rows. If the columns are the same, the table remains sorted as before.

        If the last part of a parameter's key is unique, it serves as a short title, to leave space for the figures.
        """
        study = content.study
        columns = study_columns(study, content.figures)
        for place, parameter in enumerate(study.parameters):
            columns[place] = replace(columns[place], title=short_key(parameter.key, study))
        if [each.tip for each in columns] != [each.tip for each in self.columns]:
            self._sorted_by = (-1, Qt.SortOrder.AscendingOrder)
        self.content, self.columns = content, columns
        self.sort(*self._sorted_by)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts by a column; -1 restores the order of the sweep."""
        self._sorted_by = (column, order)
        rows = [] if self.content is None else list(self.content.rows)
        if 0 <= column < len(self.columns):
            rows.sort(key=self.columns[column].sort_key, reverse=order == Qt.SortOrder.DescendingOrder)
        self.show_rows(rows)

    def other_data(self, row: StudyRow, column: int, role: int) -> str | None:
        """The tooltip of a figure, with its values for the first 20 seeds."""
        if role != Qt.ItemDataRole.ToolTipRole or self.content is None:
            return None
        column -= len(self.content.study.parameters)
        if not 0 <= column < len(self.content.figures):
            return None
        figure, found = self.content.figures[column], row.figures[column]
        if not math.isfinite(found.mean):
            return tr("no run yet")
        single = ", ".join(figure.text(value, with_unit=False) for value in found.values[:20])
        return tr("{title} by seed: {values} {unit}", title=figure.name, values=single, unit=figure.unit).rstrip()


class StudyTable(QTableView):
    """The table of points, with their parameters and figures."""

    chosen = Signal(object)  # points of the selected rows
    opened = Signal(object)  # points of the selected rows, after Enter or a double click

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.study_model = StudyTableModel(self)
        set_up_table(self, "sweep_table", tr(VIEW.words), self.study_model)
        self.setSortingEnabled(True)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.horizontalHeader().setSortIndicatorClearable(True)
        self.horizontalHeader().setStretchLastSection(False)
        self.selectionModel().selectionChanged.connect(lambda _new, _old: self.chosen.emit(self.selected_points()))
        self.doubleClicked.connect(lambda _index: self.opened.emit(self.selected_points()))
        self._titles: list[str] = []
        self._needed: list[int] = []  # column widths that the cells require

    def show_content(self, content: TableContent) -> None:
        """Replaces the rows and keeps the selection."""
        selected = set(self.selected_points())
        self.study_model.show_content(content)
        titles = [column.tip for column in self.study_model.columns]
        is_other = titles != self._titles
        self._titles = titles
        parameters, last = len(content.study.parameters), len(titles) - 1
        rows = self.study_model.rows[:_MOST_MEASURED]
        columns = []
        for place, column in enumerate(self.study_model.columns):
            # Future runs may add intervals to cells that lack them.
            usual = _WIDEST if parameters <= place < last else ""
            columns.append((column.title, max((usual, *map(column.text, rows)), key=len)))
        before = [self.columnWidth(column) for column in range(len(titles))]
        set_widths(self, columns)
        needed = [self.columnWidth(column) for column in range(len(titles))]
        for place, width in enumerate([] if is_other else before):
            # A width set by the person is kept, unless a cell now needs more space.
            if needed[place] <= self._needed[place]:
                self.setColumnWidth(place, width)
        self._needed = needed
        for row, shown in enumerate(self.study_model.rows):
            if shown.point in selected:
                self.selectionModel().select(
                    self.study_model.index(row, 0),
                    self.selectionModel().SelectionFlag.Select | self.selectionModel().SelectionFlag.Rows,
                )

    def selected_points(self) -> list[int]:
        """Points of the selected rows, from top to bottom."""
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        return [self.study_model.rows[row].point for row in rows if row < len(self.study_model.rows)]

    def text(self) -> str:
        """Text of the selected rows, or else of all rows, for the clipboard."""
        content = self.study_model.content
        if content is None:
            return ""
        selected = set(self.selected_points())
        rows: Sequence[StudyRow] = [row for row in self.study_model.rows if not selected or row.point in selected]
        return TextTable.of(rows, study_columns(content.study, content.figures)).tab_separated

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emits `opened` for Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(self.selected_points())
            return
        super().keyPressEvent(event)


_NARROWEST_CHOICE = 12  # characters
_WIDEST_CHOICE = 24  # characters of the combo box; its list is as wide as its entries


class Choosers(QWidget):
    """Combo boxes for the choices of a view. `changed` is emitted only for changes that a person makes."""

    changed = Signal(object)  # ViewChoice

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sweep_choosers")
        self._choice = ViewChoice()
        self._study: SweepStudy | None = None
        self._layout = WrapLayout(self, spacing=8)
        self._layout.setContentsMargins(8, 4, 8, 4)
        self._fields: dict[str, _Field] = {}
        for name in ("figure", "other", "x", "y", "series"):
            self._add(name, f"sweep_{name}")
        self.figures = named(QToolButton(self, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup), "sweep_figures")
        self.figures.setText(tr("Mea&sures"))
        self.figures.setToolTip(tr("Measures that have a column in the table"))
        self._menu = QMenu(self.figures)
        self._actions: list[QAction] = []  # of all figures, also of those in submenus
        self.figures.setMenu(self._menu)
        self._layout.addWidget(self.figures)
        self._held: dict[str, _Field] = {}

    def combo(self, name: str) -> QComboBox:
        """The combo box of a field, or of a fixed parameter."""
        return (self._fields.get(name) or self._held[name]).combo

    def show_choice(self, choice: ViewChoice, study: SweepStudy) -> None:
        """Shows a complete choice and its alternatives."""
        self._choice = choice
        is_other = self._study is None or _shape(self._study) != _shape(study)
        self._study = study
        wanted = VIEWS[choice.view].fields
        figures = [(figure.key, figure.name) for figure in study.figures]
        parameters = [(key, short_key(key, study)) for key in varying(study)]
        none = [("", tr("nothing"))]
        entries = {
            "figure": figures,
            "other": figures,
            "x": parameters,
            "y": [*parameters, *none],
            # The parameter on the horizontal axis cannot also distinguish the lines.
            "series": [each for each in parameters if "x" not in wanted or each[0] != choice.x] + none,
        }
        for name, field in self._fields.items():
            field.setVisible(name in wanted)
            if name in wanted:
                field.set_title(tr(wanted[name]))
            chosen = str(getattr(choice, name) or "")
            field.fill(entries[name], chosen if chosen in dict(entries[name]) else "")
        self.figures.setVisible("figures" in wanted)
        if is_other or not self._actions:
            self._fill_menu(study)
        for action in self._actions:
            action.setChecked(action.data() in choice.figures)
        self._show_held(choice, study)
        self.updateGeometry()

    # ---- internals ----

    def _add(self, name: str, object_name: str) -> None:
        field = self._fields[name] = _Field(object_name, self)
        field.combo.activated.connect(lambda _index: self._on_field(name))
        self._layout.addWidget(field)

    def _on_field(self, name: str) -> None:
        changes: dict[str, Any] = {name: str(self._fields[name].combo.currentData())}
        self.changed.emit(replace(self._choice, **changes))

    def _fill_menu(self, study: SweepStudy) -> None:
        """Fills the menu; measures of flows and links have a submenu each if all of them would not fit a screen."""
        for submenu in self._menu.findChildren(QMenu):
            submenu.deleteLater()
        self._menu.clear()
        self._actions = []
        has_submenus = len(study.figures) > _MOST_IN_MENU
        places: dict[str, QMenu] = {}
        for figure in study.figures:
            if figure.owner not in places:
                is_below = has_submenus and bool(figure.owner)
                if self._actions and not is_below:
                    self._menu.addSeparator()
                places[figure.owner] = self._menu.addMenu(figure.owner.replace("&", "&&")) if is_below else self._menu
            place = places[figure.owner]
            action = QAction(figure.name, place)
            action.setCheckable(True)
            action.setData(figure.key)
            action.triggered.connect(self._on_figures)
            place.addAction(action)
            self._actions.append(action)

    def _on_figures(self) -> None:
        chosen = tuple(str(action.data()) for action in self._actions if action.isChecked())
        self.changed.emit(replace(self._choice, figures=chosen))

    def _show_held(self, choice: ViewChoice, study: SweepStudy) -> None:
        """Shows a combo box for each varying parameter that is not part of the picture."""
        wanted = held_parameters(choice, study)
        for key in [key for key in self._held if key not in wanted]:
            field = self._held.pop(key)
            self._layout.removeWidget(field)
            field.hide()
            field.deleteLater()
        for key in wanted:
            if key not in self._held:
                field = self._held[key] = _Field(f"sweep_held:{key}", self)
                field.combo.activated.connect(lambda _index, key=key: self._on_held(key))
                self._layout.addWidget(field)
                field.show()
            all_of_them = tr("mean of all") if VIEWS[choice.view].is_mean_of_held else tr("all")
            levels = study.parameter(key).levels
            self._held[key].set_title(short_key(key, study))
            self._held[key].fill(
                [(-1, all_of_them), *((place, level.text) for place, level in enumerate(levels))],
                choice.fixed.get(key, -1),
            )

    def _on_held(self, key: str) -> None:
        level = int(self._held[key].combo.currentData())
        fixed = {other: place for other, place in self._choice.fixed.items() if other != key}
        if level >= 0:
            fixed[key] = level
        self.changed.emit(replace(self._choice, fixed=fixed))


class _Field(QWidget):
    """A combo box with its label."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._label = Label(self)
        self.combo = Choice(name, parent=self, letters=_NARROWEST_CHOICE)
        self._label.setBuddy(self.combo)
        h_box(self, self._label, self.combo, margins=0, spacing=4)

    def set_title(self, title: str) -> None:
        self._label.setText(f"{title}:")
        self.combo.setAccessibleName(title.replace("&", ""))

    def fill(self, entries: Sequence[tuple[str | int, str]], chosen: str | int) -> None:
        shown = [(self.combo.itemData(row), self.combo.itemText(row)) for row in range(self.combo.count())]
        if shown != list(entries):
            self.combo.clear()
            for data, text in entries:
                self.combo.addItem(text, data)
                self.combo.setItemData(self.combo.count() - 1, as_written(str(data)), Qt.ItemDataRole.ToolTipRole)
            widest = max((len(text) for _data, text in entries), default=0)
            self.combo.setMinimumContentsLength(min(max(widest, _NARROWEST_CHOICE), _WIDEST_CHOICE))
            popup = self.combo.view()
            popup.setMinimumWidth(popup.sizeHintForColumn(0) + 2 * popup.verticalScrollBar().sizeHint().width())
        self.combo.choose(chosen)


def _shape(study: SweepStudy) -> tuple[Iterable[str], ...]:
    return tuple(p.key for p in study.parameters), tuple(figure.key for figure in study.figures)


_PATIENCE_MS = 60
_TOP_MARGINS = 24
_NARROWEST = 240


class StudyPage(QWidget):
    """The views of one sweep. A worker thread computes one view at a time, and only the latest request waits for it."""

    selection_changed = Signal()
    opened = Signal()  # request to show the selected runs

    def __init__(self, workers: Workers, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """Starts with an empty page; ``actions`` are shown as buttons."""
        super().__init__(parent)
        self.setObjectName("study_page")
        self._reader = LatestReader(workers, self, "view of a sweep")
        self._reader.read.connect(self._on_made)
        self._reader.failed.connect(self._on_failed)
        self.study: SweepStudy | None = None
        self.choice = ViewChoice()
        self.shown: Shown | None = None
        self._run_ids: list[int] = []
        self.patience_ms = _PATIENCE_MS
        self.tabs = named(QTabBar(self, drawBase=False, expanding=False), "sweep_views", tr("Views of the sweep"))
        self.tabs.setUsesScrollButtons(False)
        self.tabs.setMinimumWidth(1)  # lets the page become narrower than the tabs, see resizeEvent
        self.tabs.setElideMode(Qt.TextElideMode.ElideNone)
        # The combo box replaces the tabs if they do not fit.
        self.views = named(QComboBox(self), "sweep_views_combo", tr("Views of the sweep"))
        self.views.hide()
        for view in VIEWS.values():
            self.tabs.addTab(tr(view.title))
            self.views.addItem(tr(view.title))
        self.choosers = Choosers(self)
        self.table = StudyTable(self)
        self.pages = QStackedWidget(self)
        self.pages.setMinimumWidth(_NARROWEST)  # hidden pages do not widen the panel
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
        """Shows either the tabs or the combo box, depending on the width."""
        super().resizeEvent(event)
        buttons = sum(button.sizeHint().width() for button in self._buttons)
        is_narrow = self.width() < self.tabs.sizeHint().width() + buttons + _TOP_MARGINS
        self.tabs.setVisible(not is_narrow)
        self.views.setVisible(is_narrow)

    # ---- used by the owner ----

    def show_study(self, study: SweepStudy | None) -> None:
        """Shows a sweep, or a later state of the same sweep; None shows an empty page."""
        is_other = self.study is None or study is None or self.study.name != study.name
        self.study = study
        if is_other:
            self._set_runs([])
        self._ask()

    def set_view(self, view: str) -> None:
        """Shows the view with this key in VIEWS."""
        self.tabs.setCurrentIndex(list(VIEWS).index(view))

    def choose(self, **changes: Any) -> None:
        """Changes fields of the :class:`ViewChoice`, and redraws the view if anything changed."""
        self._choose(replace(self.choice, **changes))

    def run_ids(self) -> list[int]:
        """Numbers of the stored runs of the clicked mark or of the selected rows."""
        return list(self._run_ids)

    @property
    def is_drawn(self) -> bool:
        """True if the page shows results that can be exported."""
        return self.shown is not None and self.shown.content is not None

    def chart(self, view: str) -> Any:
        """The chart of a view other than the table, created on first use."""
        if view not in self._charts:
            # This import loads pyqtgraph, which takes a second.
            from subflow_app.features.plots.qt.panel_plot import PanelPlot

            chart = self._charts[view] = PanelPlot(f"sweep_{view}", tr(VIEWS[view].words), parent=self)
            chart.hovered.connect(self._show_words)
            chart.chosen.connect(self._on_hit)
            chart.opened.connect(self._on_hit_opened)
            self.pages.addWidget(chart)
        return self._charts[view]

    # ---- internals ----

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
            if isinstance(content, TableContent):
                self.table.show_content(content)
                self.pages.setCurrentWidget(self.table)
            else:
                chart = self.chart(shown.choice.view)
                chart.show_panel(content.panel, content.hits)
                self.pages.setCurrentWidget(chart)
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
        """Shows the text about the item under the pointer in one line; if it is empty, the number of selected runs."""
        line = " · ".join(text.splitlines())
        if not line and self._run_ids:
            line = trn("{count} run is selected", "{count} runs are selected", len(self._run_ids))
        self.words.setText(line or " ")

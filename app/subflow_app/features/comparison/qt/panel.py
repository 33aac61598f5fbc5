"""Content of the comparison panel: figures and tables of groups, two aligned runs, and progress of a kernel run.

The tables show the settings of the runs, the figures of their groups with the significance of differences, and the
errors of traces on a common time axis. A line above the tables reports the progress of a run in the kernel, and
contains a button that stops the run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QLineEdit,
    QPushButton,
    QTableView,
    QTabWidget,
    QWidget,
)

from subflow_app.features.comparison.core.alignment import CORRELATION, ERROR_COLUMNS, FIRST_DATA, MANUAL, Method
from subflow_app.features.comparison.core.compared_runs import Choices, ComparedRuns, ComparedTraces
from subflow_app.features.comparison.core.conditions import WAYS
from subflow_app.features.comparison.core.group_table import FigureRow, GroupTable, figure_columns, table_csv
from subflow_app.features.comparison.qt.figures_page import FiguresPage
from subflow_app.features.editor.qt.scenario_fields import TimeBox
from subflow_app.features.history.core.run_comparison import ComparedSetting, settings_text
from subflow_app.features.history.qt.run_table import heading
from subflow_app.features.kernel.core.study import KernelStudy
from subflow_app.features.traces.core.measured import measured_tag
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.study import Study
from subflow_app.toolkit.widgets.list_beside import ShareBar
from subflow_app.toolkit.widgets.shorthand import Choice, Label, WrapLayout, captioned, h_box, named, v_box
from subflow_app.toolkit.widgets.tables import RIGHT, Index, TableModel, bold, set_up_table, sorting
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.tables import Column
from subflow_store.values import RunRow

FILTER_ROLE = Qt.ItemDataRole.UserRole + 2

_MEAN = 0  # first column of a group


class FigureModel(TableModel[FigureRow]):
    """A row per figure: name with unit, the mean of each group, and differences from the reference with p-values."""

    translates = False
    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), parent)
        self.table: GroupTable | None = None
        self._places: list[tuple[int, int]] = []  # group, and index of the column within the group

    def show_table(self, table: GroupTable) -> None:
        """Replaces rows and columns by those of this table."""
        self.table = table
        columns: list[Column[FigureRow]] = [
            Column(tr("Measure"), lambda row: heading(row.column), sort=lambda row: row.column.key)
        ]
        self._places = []
        for place in range(len(table.groups)):
            told = figure_columns(table, place)
            columns += told
            self._places += [(place, what) for what in range(len(told))]
        self.show_rows(table.rows, columns)

    def other_data(self, row: FigureRow, column: int, role: int) -> object | None:
        """Font, tool tip or filter text of a cell; significant differences are bold."""
        if role == FILTER_ROLE:
            return f"{heading(row.column)} {row.column.key}"
        if column == 0:
            return row.column.key if role == Qt.ItemDataRole.ToolTipRole else None
        place, what = self._places[column - 1]
        if role == Qt.ItemDataRole.FontRole and what != _MEAN and row.differences[place].p_holm < 0.05:
            return bold()
        return self._details(row, place, what) if role == Qt.ItemDataRole.ToolTipRole else None

    def _details(self, row: FigureRow, place: int, what: int) -> str:
        estimate, difference, shown = row.estimates[place], row.differences[place], row.column
        if what == _MEAN or not difference.is_tested:
            return f"{shown.key}, n = {estimate.n}"
        return tr(
            "95 % interval {low} to {high} {unit}; t = {t}, {freedom} degrees of freedom, Hedges' g = {effect}",
            low=shown.text(difference.low),
            high=shown.text(difference.high),
            unit=shown.unit,
            t=f"{difference.t:.3g}",
            freedom=f"{difference.freedom:.3g}",
            effect=f"{difference.effect:.2f}",
        )


class SettingModel(TableModel[ComparedSetting]):
    """A row per setting of the runs: its name, then the value in each run."""

    translates = False
    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__((), parent)
        self.runs: tuple[RunRow, ...] = ()
        self._all: tuple[ComparedSetting, ...] = ()
        self._has_equal = False

    def show_settings(self, runs: tuple[RunRow, ...], settings: tuple[ComparedSetting, ...]) -> None:
        """Shows the settings of these runs."""
        self.runs, self._all = runs, settings
        self.show_equal(self._has_equal)

    def show_equal(self, has_equal: bool) -> None:
        """Shows all settings, or only those that differ."""
        self._has_equal = has_equal
        name: Column[ComparedSetting] = Column(tr("Setting"), lambda line: heading(line.column))
        told = [_told_column(run, number) for number, run in enumerate(self.runs)]
        self.show_rows([line for line in self._all if has_equal or line.differs], [name, *told])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Aligns numbers to the right and shows differences from the first run in bold."""
        if index.isValid() and index.column() > 0:
            line, number = self.rows[index.row()], index.column() - 1
            if role == Qt.ItemDataRole.TextAlignmentRole and not isinstance(line.values[number], str):
                return RIGHT
            if role == Qt.ItemDataRole.FontRole and line.is_different[number]:
                return bold()
        return super().data(index, role)


def _told_column(run: RunRow, number: int) -> Column[ComparedSetting]:
    """Column with the settings of a run."""
    title = tr("Run {number}: {name}", number=run.id, name=run.name)
    return Column(title, lambda line: line.text(number), tip=title)


_WIDEST = 240  # largest initial width of a column, px
_FARTHEST_S = 1e6


def _scenarios_text(table: GroupTable) -> str:
    """Text with the scenario that all groups share, or with the scenarios of each group."""
    names = [dict.fromkeys(run.scenario_name for run in group.runs) for group in table.groups]
    if len({name for each in names for name in each}) == 1:
        return tr("Scenario: {name}", name=next(iter(names[0])))
    told = (f"{group.letter}: {', '.join(each)}" for group, each in zip(table.groups, names, strict=True))
    return tr("Scenarios: {names}", names="; ".join(told))


class ComparisonView(QWidget):
    """Content of the panel once runs have been compared: tabs for figures, table, settings and traces."""

    choices_changed = Signal(object)  # Choices
    align_requested = Signal(int, int, str, bool, float)  # reference, other, method, with skew, offset in s
    csv_wanted = Signal()  # the visible figures are to be written as CSV
    shown_requested = Signal(object)  # ComparedTraces: show both runs in the plots, on the clock of the reference

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("comparison_view")
        self.choices = Choices()  # options of the comparison
        self._compared: ComparedRuns | None = None
        self.traces: ComparedTraces | None = None
        self.tabs = named(QTabWidget(self), "comparison_tabs", tr("Kinds of comparison"))
        self.page = FiguresPage(self)
        self.page.copy_button.clicked.connect(self.copy)
        self.page.reference_chosen.connect(lambda place: self._choose(reference=place))
        self.tabs.addTab(self.page, tr("Figures"))
        self.tabs.addTab(self._table_page(), tr("Table"))
        self.tabs.addTab(self._settings_page(), tr("Settings"))
        self.tabs.addTab(self._traces_page(), tr("Traces on one time"))
        v_box(self, self.tabs, margins=0)

    # ---- figures ----

    def _table_page(self) -> QWidget:
        page = QWidget(self)
        self.by = _combo("comparison_by", tr("Group runs by"), ((way, tr(text)) for way, text in WAYS.items()))
        self.reference = _combo("comparison_reference", tr("Reference group"))
        self.paired = named(QCheckBox(tr("&Paired by seed"), page), "comparison_paired")
        self.corrected = named(QCheckBox(tr("&Holm's correction"), page), "comparison_holm")
        self.corrected.setToolTip(tr("Multiplies p so that all tests of the table together keep an error rate of 5 %"))
        self.everything = named(QCheckBox(tr("All fi&gures"), page), "comparison_all")
        self.everything.setToolTip(tr("Also those of subflows, links and transport"))
        self.filter = named(QLineEdit(page), "comparison_filter", tr("Figures with these words"))
        self.filter.setPlaceholderText(tr("Filter measures…"))
        self.filter.setClearButtonEnabled(True)
        groups, reference = captioned(tr("&Groups:"), self.by, 1), captioned(tr("&Reference:"), self.reference, 1)
        first = h_box(None, *groups, *reference, (self.filter, 1))
        second = WrapLayout()
        for box in (self.paired, self.corrected, self.everything):
            second.addWidget(box)
        for name, text, then in (
            ("comparison_copy", tr("&Copy table"), self.copy),
            ("comparison_save", tr("Save as CS&V…"), self.csv_wanted.emit),
        ):
            button = named(QPushButton(text, page), name)
            button.clicked.connect(then)
            second.addWidget(button)
        self.model = FigureModel(self)
        self.sorted = sorting(self.model, self, FILTER_ROLE)
        self.table = QTableView(page, sortingEnabled=True)
        words = tr("Figures of the groups with their differences")
        set_up_table(self.table, "comparison_figures", words, self.sorted, copy=self.copy)
        self.table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.scenario = named(Label(page, wordWrap=True), "comparison_scenario")
        self.told = named(Label(page, wordWrap=True), "comparison_method")
        v_box(page, self.scenario, first, second, (self.table, 1), self.told, margins=(6, 6, 6, 4))
        self.by.activated.connect(lambda _: self._choose(by=self.by.currentData(), reference=0))
        self.reference.activated.connect(lambda place: self._choose(reference=place))
        self.paired.toggled.connect(lambda on: self._choose(is_paired=on))
        self.corrected.toggled.connect(lambda on: self._choose(is_corrected=on))
        self.everything.toggled.connect(lambda on: self._choose(has_all=on))
        self.filter.textChanged.connect(self.sorted.setFilterFixedString)
        return page

    def show_compared(self, compared: ComparedRuns, *, title: str = "", wanted: int = 0) -> None:
        """Shows the result of a comparison.

        Args:
            compared: the comparison.
            title: its title; empty: the names of the groups.
            wanted: number of runs that were asked for; 0: no run is missing.
        """
        self.page.show_figures(compared, title=title, wanted=wanted)
        known = self._compared.runs if self._compared is not None else ()
        self._compared = compared
        table = compared.table
        self.model.show_table(table)
        self.reference.clear()
        for group in table.groups:
            count = trn("{count} run", "{count} runs", len(group.runs))
            self.reference.addItem(f"{group.letter}: {group.label} ({count})", group.letter)
        self.reference.setCurrentIndex(table.reference)
        self.paired.setEnabled(compared.can_pair)
        self.paired.setToolTip(
            tr("Compares runs with the same seed: randomness that they share does not count as spread")
            if compared.can_pair
            else tr("Only groups of the same seeds, each once, can be compared in pairs")
        )
        self.scenario.setText(_scenarios_text(table))
        self.told.setText("\n".join((table.method_text + ".", *table.notices)))
        _fit_columns(self.table)
        self.settings.show_settings(compared.runs, compared.settings)
        if [run.id for run in known] != [run.id for run in compared.runs]:
            self._offer_runs(compared.runs)

    def copy(self) -> None:
        """Copies the visible figures as tab-separated text."""
        if self.model.table is not None:
            QGuiApplication.clipboard().setText(table_csv(self.model.table, self._rows(), "\t"))
            self.told.setText(tr("Copied."))

    def csv(self) -> str:
        """The visible figures as CSV; empty before the first comparison."""
        return "" if self.model.table is None else table_csv(self.model.table, self._rows())

    def _rows(self) -> list[FigureRow]:
        assert self.model.table is not None
        places = [self.sorted.mapToSource(self.sorted.index(row, 0)).row() for row in range(self.sorted.rowCount())]
        return [self.model.table.rows[place] for place in places]

    def _choose(self, **changes: object) -> None:
        self.choices = replace(self.choices, **changes)  # type: ignore[arg-type] # fields of any kind
        self.choices_changed.emit(self.choices)

    # ---- settings ----

    def _settings_page(self) -> QWidget:
        page = QWidget(self)
        self.settings = SettingModel(self)
        self.setting_table = QTableView(page)
        words = tr("Settings of the runs, those that differ first")
        set_up_table(self.setting_table, "comparison_settings", words, self.settings, copy=self.copy_settings)
        self.equal = named(QCheckBox(tr("Also &equal settings"), page), "comparison_equal")
        self.settings_told = named(Label(page), "comparison_settings_told")
        copy = named(QPushButton(tr("&Copy table"), page), "comparison_copy_settings")
        line = h_box(None, self.equal, (self.settings_told, 1), copy)
        v_box(page, line, (self.setting_table, 1), margins=(6, 6, 6, 4))
        self.equal.toggled.connect(self.settings.show_equal)
        self.settings.modelReset.connect(self._on_settings_shown)
        copy.clicked.connect(self.copy_settings)
        return page

    def copy_settings(self) -> None:
        """Copies the visible settings as tab-separated text."""
        QGuiApplication.clipboard().setText(settings_text(self.settings.rows, self.settings.runs, "\t"))
        self.settings_told.setText(tr("Copied."))

    def _on_settings_shown(self) -> None:
        count = sum(line.differs for line in self.settings.rows)
        self.settings_told.setText(
            trn("{count} setting differs from the first run.", "{count} settings differ from the first run.", count)
            if count
            else tr("Nothing differs.")
        )
        _fit_columns(self.setting_table)

    # ---- traces ----

    def _traces_page(self) -> QWidget:
        page = QWidget(self)
        self.ours = _combo("comparison_ours", tr("Run whose time counts"))
        self.theirs = _combo("comparison_theirs", tr("Run that is overlaid on it"))
        self.way = _combo(
            "comparison_way",
            tr("Alignment"),
            [
                (CORRELATION, tr("Best agreement of the curves")),
                (FIRST_DATA, tr("By the first data")),
                (MANUAL, tr("By hand")),
            ],
        )
        self.way.setMinimumContentsLength(26)
        self.skew = named(QCheckBox(tr("Clocks may &differ in speed"), page), "comparison_skew")
        self.offset = named(TimeBox(page), "comparison_offset", tr("Offset by hand"))
        self.offset.setRange(-_FARTHEST_S, _FARTHEST_S)
        self.offset.setEnabled(False)
        self.align_button = named(QPushButton(tr("&Align"), page), "comparison_align")
        self.show_button = named(QPushButton(tr("&Show in the plots"), page), "comparison_show")
        self.show_button.setEnabled(False)
        first = h_box(None, *captioned(tr("&Time of:"), self.ours, 1), *captioned(tr("&Other run:"), self.theirs, 1))
        second = WrapLayout()
        for each in (self.way, self.skew, self.offset, self.align_button, self.show_button):
            second.addWidget(each)
        self.errors = TableModel(ERROR_COLUMNS, self)
        self.errors.aligns_headings = False
        self.sorted_errors = sorting(self.errors, self)
        self.error_table = QTableView(page, sortingEnabled=True)
        words = tr("Errors of the traces that both runs have")
        set_up_table(self.error_table, "comparison_errors", words, self.sorted_errors)
        self.error_table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.aligned = Label(tr("Choose two runs and align them: the errors of their traces appear here."), page)
        self.aligned.setObjectName("comparison_aligned")
        self.aligned.setWordWrap(True)
        v_box(page, first, second, (self.error_table, 1), self.aligned, margins=(6, 6, 6, 4))
        self.way.activated.connect(lambda _: self._follow_way())
        self.align_button.clicked.connect(self.align)
        self.show_button.clicked.connect(lambda: self.shown_requested.emit(self.traces))
        return page

    def align(self) -> None:
        """Requests an alignment with the chosen options."""
        ours, theirs = self.ours.currentData(), self.theirs.currentData()
        if ours is None or theirs is None:
            return
        if ours == theirs:
            self.say(tr("Choose two different runs."))
            return
        self.say(tr("Aligning…"))
        method: Method = self.way.currentData()
        self.align_requested.emit(ours, theirs, method, self.skew.isChecked(), self.offset.value())

    def show_aligned(self, traces: ComparedTraces) -> None:
        """Shows the errors of two aligned runs."""
        self.traces = traces
        self.errors.show_rows(traces.errors)
        self.error_table.resizeColumnsToContents()
        self.show_button.setEnabled(True)
        self.offset.setValue(traces.alignment.offset_s)
        said = [
            tr(
                "Run {other} on the time of run {reference}: {alignment}.",
                other=traces.other,
                reference=traces.reference,
                alignment=traces.alignment.text,
            )
        ]
        if traces.is_by_order:
            said.append(tr("Their flows have different names, so they are matched in order."))
        if not traces.errors:
            said.append(tr("No trace of both overlaps in time."))
        self.say(" ".join(said))

    def choose_pair(self, reference: int, other: int) -> None:
        """Chooses two runs on the page of traces, and shows that page."""
        for combo, number in ((self.ours, reference), (self.theirs, other)):
            combo.choose(number)
        self.tabs.setCurrentIndex(self.tabs.count() - 1)

    def choose_offset(self, offset_s: float) -> None:
        """Chooses manual alignment with this offset, e.g. for runs on the same clock."""
        self.way.choose(MANUAL)
        self.offset.setValue(offset_s)
        self._follow_way()

    def say(self, text: str) -> None:
        """Shows a text below the errors."""
        self.aligned.setText(text)

    def _offer_runs(self, runs: Sequence[RunRow]) -> None:
        for combo in (self.ours, self.theirs):
            combo.clear()
            for run in runs:
                combo.addItem(tr("Run {number}: {name}", number=run.id, name=run.name), run.id)
        outside = [place for place, run in enumerate(runs) if measured_tag(run.tags)]
        self.ours.setCurrentIndex(next((place for place in range(len(runs)) if place not in outside), 0))
        self.theirs.setCurrentIndex(outside[0] if outside else min(1, len(runs) - 1))
        self.traces = None
        self.errors.show_rows(())
        self.show_button.setEnabled(False)

    def _follow_way(self) -> None:
        self.offset.setEnabled(self.way.currentData() == MANUAL)
        self.skew.setEnabled(self.way.currentData() == CORRELATION)


def _fit_columns(table: QTableView) -> None:
    """Fits the width of each column to its cells, up to a limit."""
    table.resizeColumnsToContents()
    for number in range(table.model().columnCount()):
        table.setColumnWidth(number, min(table.columnWidth(number) + 12, _WIDEST))


def _combo(name: str, text: str, choices: Iterable[tuple[object, str]] = ()) -> Choice:
    return Choice(name, choices, text=text, letters=12)


class KernelStrip(QWidget):
    """Progress of a run in the kernel; hidden at all other times."""

    def __init__(self, study: Study[KernelStudy], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("kernel_strip")
        self._study = study
        self.text = named(Label(self), "kernel_text")
        self.bar = named(ShareBar(self), "kernel_progress", tr("Progress of the kernel's run"))
        self.stop = named(QPushButton(tr("S&top"), self), "kernel_stop")
        self.stop.clicked.connect(study.stop)
        h_box(self, self.text, (self.bar, 1), self.stop, margins=(8, 4, 8, 4))
        study.ticked.connect(self._draw)
        study.changed.connect(self._draw)
        self.hide()

    def _draw(self) -> None:
        job = self._study.job
        self.setVisible(job is not None)
        if job is None:
            return
        progress = job.progress
        self.bar.show_share(progress.fraction)
        has_begun = math.isfinite(progress.eta_s)
        left = tr("{time} to go", time=fmt.duration(progress.eta_s)) if has_begun else tr("starting")
        self.text.setText(tr("{scenario} on the kernel, in real time: {left}", scenario=job.name, left=left))

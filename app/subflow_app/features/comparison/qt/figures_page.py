"""The first page of a comparison: a row for each measure with its figure and its numbers, and the runs beside them.

A click in the list of runs opens a run. The dots of the run under the mouse, or else of the selected run, are ringed
in all figures. A click on the name of a group makes it the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QItemSelection, QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QScrollArea,
    QSplitter,
    QTableView,
    QToolButton,
    QWidget,
)

from subflow_app.features.comparison.core.compared_runs import ComparedRuns
from subflow_app.features.comparison.core.conditions import ConditionGroup
from subflow_app.features.comparison.core.measure_figures import (
    FigureLine,
    MeasureFigure,
    group_colours,
    lead_text,
    measure_figures,
    run_label,
)
from subflow_app.features.history.core.run_comparison import run_figures
from subflow_app.features.plots.qt.panel_plot import PanelPlot
from subflow_app.toolkit.icons import icon
from subflow_app.toolkit.theme import CELL_PADDING, current_tokens, muted, set_style
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.shorthand import Choice, Label, h_box, heading, named, sized, split, v_box
from subflow_app.toolkit.widgets.tables import TableModel, set_up_table
from subflow_app.vocabulary.language import tr, trn
from subflow_app.vocabulary.palette import ColourKey, hex_colour
from subflow_app.vocabulary.picture import Hit
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_store.values import RunRow

_LINE, _AXIS = 28, 44  # heights of a group, and of the axis of a figure with its margins, px
_NAME, _FIGURE = 150, 260  # width of the name of a measure, and least width of its figure, px
_MEAN, _DIFFERENCE, _RESULT = 124, 200, 76  # widths of the numbers, px
_RUNS, _VALUE = 250, 76  # widths of the list of runs and of its numbers, px


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """A run in the list.

    Attributes:
        run: the run with its documents.
        group: its group.
        colour: colour of the group.
        value: value of the first measure, as text.
    """

    run: RunRow
    group: ConditionGroup
    colour: ColourKey
    value: str


class RunModel(TableModel[ComparedRun]):
    """A line for each run: its group and seed, and its value of the first measure."""

    translates = False

    def other_data(self, row: ComparedRun, column: int, role: int) -> object | None:
        """The colour of the group before its name, and what a click does."""
        if role == Qt.ItemDataRole.DecorationRole and column == 0:
            return QColor(hex_colour(row.colour, dark=current_tokens().is_dark))
        if role == Qt.ItemDataRole.ToolTipRole:
            return tr("Open run {number}: {name}", number=row.run.id, name=row.run.name)
        return None


class FiguresPage(QWidget):
    """Figures, numbers and runs of a comparison."""

    runs_wanted = Signal(object, str)  # numbers of runs to open in the plots, and a text about them
    reference_chosen = Signal(int)
    change_wanted = Signal()  # the controllers, seeds or variations of this comparison are to be changed

    def __init__(self, parent: QWidget | None = None) -> None:
        """Starts without a comparison."""
        super().__init__(parent)
        self.setObjectName("comparison_page")
        self._runs: list[ComparedRun] = []
        self.figures: list[MeasureFigure] = []
        self.rows: list[FigureRowView] = []
        self.back = named(QToolButton(self, autoRaise=True), "comparison_back", tr("Back"))
        self.back.setText(tr("Back"))
        self.back.setIcon(icon("back"))
        self.back.setToolTip(tr("Return to the panels that were shown before (Esc)"))
        self.back.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.title = heading(named(ElidedLabel(self, Qt.TextElideMode.ElideRight), "comparison_title"), 1.2)
        self.subtitle = muted(named(ElidedLabel(self, Qt.TextElideMode.ElideRight), "comparison_subtitle"))
        self.export_button = named(QToolButton(self, autoRaise=True), "comparison_export")
        self.export_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.export_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.change = named(QPushButton(tr("C&hange…"), self), "comparison_change")
        self.change.setToolTip(tr("Choose other controllers, seeds or variations, and compare again"))
        self.change.hide()
        self.copy_button = named(QPushButton(tr("&Copy table"), self), "comparison_copy_figures")
        self.lead = named(Label(self, wordWrap=True), "comparison_lead")
        self.lead.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.reference = Choice("comparison_difference_from", text=tr("Difference from"), letters=10)
        self._body = QWidget()
        self.note = muted(named(Label(self._body, wordWrap=True), "comparison_note"))
        self._rows_layout = v_box(None, margins=0, spacing=0)
        self._scroll = named(QScrollArea(self), "comparison_measures", tr("Measures of the comparison"))
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setWidget(self._body)
        self._body.setBackgroundRole(QPalette.ColorRole.Base)
        self._body.setAutoFillBackground(True)
        self.model = RunModel((), self)
        self.list = set_up_table(_OpeningTable(self), "comparison_runs", tr("Runs of the comparison"), self.model,
                                 is_single=True)  # fmt: skip
        self.all = named(QPushButton(icon("overlay"), "", self), "comparison_overlay")
        self._place_parts()
        self.list.selectionModel().selectionChanged.connect(self._on_selected)
        self.list.opened.connect(self._open_current)
        self.all.clicked.connect(self._open_all)
        self.change.clicked.connect(self.change_wanted)
        self.reference.activated.connect(self.reference_chosen)
        self.reference.currentTextChanged.connect(self.reference.setToolTip)  # the column may be too narrow for it

    def show_figures(self, compared: ComparedRuns, *, title: str, wanted: int) -> None:
        """Shows a comparison.

        Args:
            compared: the comparison.
            title: its title; empty: the names of the groups.
            wanted: number of runs that were asked for; 0: no run is missing.
        """
        table = compared.table
        labels = [group.label for group in table.groups]
        title = title or (tr("{first} against {second}", first=labels[0], second=labels[1]) if len(labels) == 2 else "")
        self.title.setText(title or ", ".join(labels))
        self.subtitle.setText(_subtitle(compared, wanted))
        self.lead.setText(lead_text(table))
        self.note.setText(
            "\n".join((tr("Dots are runs, bars are 95 % intervals of the mean. {method}.", method=table.method_text),
                       *table.notices))
        )  # fmt: skip
        self.reference.clear()
        for label in labels:
            self.reference.addItem(label)
        self.reference.setCurrentIndex(table.reference)
        self.figures = measure_figures(table)
        self._show_rows()
        self._show_runs(compared)

    # ---- internals ----

    def _place_parts(self) -> None:
        names = v_box(None, self.title, self.subtitle, margins=0, spacing=2)
        head = h_box(
            None, self.back, 8, (names, 1), self.change, self.export_button, self.copy_button, margins=(8, 8, 12, 4)
        )
        columns = QWidget(self._body)
        h_box(columns, _head(tr("Measure"), _NAME), (_head(tr("Runs and 95 % interval of the mean"), _FIGURE), 1),
              _head(tr("Mean"), _MEAN, is_number=True), self._difference_head(), _head(tr("Result"), _RESULT),
              margins=(12, 2, 12, 2), spacing=8)  # fmt: skip
        # Headings and note scroll with the rows, so that the page fits narrow and low places.
        body = v_box(self._body, columns, self._rows_layout, self.note, None, margins=0, spacing=0)
        body.setContentsMargins(0, 0, 0, 4)
        self.note.setContentsMargins(12, 4, 12, 4)
        left = QWidget(self)
        v_box(left, self.lead, (self._scroll, 1), margins=(12, 0, 0, 6), spacing=4)
        right = QWidget(self)
        v_box(right, (self.list, 1), self.all, margins=(8, 0, 12, 8), spacing=8)
        splitter = named(split(QSplitter(self), left, right, shares=(1, 0), sizes=[900, _RUNS]), "comparison_splitter")
        splitter.setChildrenCollapsible(False)
        v_box(self, head, (splitter, 1), margins=0, spacing=4)

    def _difference_head(self) -> QWidget:
        part = QWidget(self._body)
        part.setFixedWidth(_DIFFERENCE)
        label = muted(Label(tr("Difference from"), part))
        label.setBuddy(self.reference)
        h_box(part, None, label, self.reference, margins=0, spacing=4)
        return part

    def _show_rows(self) -> None:
        """Shows the figures, in the rows that exist already where possible, because new plots are slow."""
        while len(self.rows) > len(self.figures):
            row = self.rows.pop()
            self._rows_layout.removeWidget(row)
            row.deleteLater()
        while len(self.rows) < len(self.figures):
            row = FigureRowView(len(self.rows), self._body)
            row.plot.chosen.connect(lambda hit: self._select(hit.run_ids))
            row.plot.opened.connect(lambda hit: self._open(hit.run_ids))
            row.plot.pointed.connect(self._on_pointed)
            row.plot.name_clicked.connect(self._on_name_clicked)
            self._rows_layout.insertWidget(len(self.rows), row)
            self.rows.append(row)
        for row, figure in zip(self.rows, self.figures, strict=True):
            row.show_figure(figure)

    def _show_runs(self, compared: ComparedRuns) -> None:
        groups, rows = compared.table.groups, compared.table.rows
        column = rows[0].column if rows else None
        self._runs = []
        for group, colour in zip(groups, group_colours(groups), strict=True):
            for run in group.runs:
                value = None if column is None else run_figures(run).get(column.key)
                text = "" if column is None or not isinstance(value, int | float) else column.text(value)
                self._runs.append(ComparedRun(run, group, colour, text))
        title = "" if column is None else tr(column.title)
        tip = "" if column is None else f"{title}, {column.unit}"
        self.model.show_rows(
            self._runs,
            (
                Column(tr("Run"), lambda row: run_label(row.group, row.run)),
                NumberColumn(title, lambda row: row.value, tip=tip),
            ),
        )
        header = self.list.horizontalHeader()
        header.setStretchLastSection(False)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        # As wide as the numbers: the heading is cut rather than the names.
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Fixed)
        header.resizeSection(1, max(_VALUE, self.list.sizeHintForColumn(1) + 2 * CELL_PADDING))
        count = len(self._runs)
        self.all.setText(tr("All {count} over each other", count=count))
        self.all.setEnabled(count > 1)

    def _on_pointed(self, hit: Hit | None) -> None:
        """Rings the dots of the run under the mouse in all figures, or again those of the selected run."""
        if hit is None:
            self._ring_selected()
            return
        for row in self.rows:
            row.ring(hit.run_ids[0] if hit.run_ids else None)

    def _on_name_clicked(self, place: int) -> None:
        """Compares with the clicked group."""
        if place != self.reference.currentIndex():
            self.reference.setCurrentIndex(place)
            self.reference_chosen.emit(place)

    def _select(self, run_ids: Sequence[int]) -> None:
        place = next((place for place, each in enumerate(self._runs) if each.run.id in run_ids), None)
        if place is not None:
            self.list.selectRow(place)

    def _on_selected(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        self._ring_selected()

    def _ring_selected(self) -> None:
        """Rings the dots of the selected run in all figures."""
        run = self._current
        for row in self.rows:
            row.ring(None if run is None else run.run.id)

    @property
    def _current(self) -> ComparedRun | None:
        selected = self.list.selectionModel().selectedRows()
        return self._runs[selected[0].row()] if selected else None

    def _open_current(self) -> None:
        run = self._current
        if run is not None:
            self._open((run.run.id,))

    def _open(self, run_ids: Sequence[int]) -> None:
        run = next((each for each in self._runs if each.run.id in run_ids), None)
        if run is not None:
            name = tr("Run {number}: {name}", number=run.run.id, name=run_label(run.group, run.run))
            self.runs_wanted.emit([run.run.id], name)

    def _open_all(self) -> None:
        ids = [each.run.id for each in self._runs]
        self.runs_wanted.emit(ids, tr("{title}: {count} runs over each other", title=self.title.text(), count=len(ids)))


class FigureRowView(QFrame):
    """A measure: its name, its figure, and a line of numbers for each group, at the height of its dots."""

    def __init__(self, number: int, parent: QWidget) -> None:
        """Starts without a figure; `number` is the place of the row."""
        super().__init__(parent)
        self.setObjectName(f"comparison_row_{number}")
        set_style(self, lambda t: f"#comparison_row_{number} {{ border: none; border-bottom: 1px solid {t.grid}; }}")
        self.figure: MeasureFigure | None = None
        self.name = heading(Label(self, wordWrap=True))
        self.hint = muted(Label(self, wordWrap=True))
        self.plot = PanelPlot(f"comparison_plot_{number}", "", parent=self)
        self.plot.hold_still()
        self._numbers = QWidget(self)
        self._grid = QGridLayout(self._numbers)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(0)
        self._labels: list[QLabel] = []
        names = QWidget(self)
        names.setFixedWidth(_NAME)
        v_box(names, self.name, self.hint, None, margins=(0, 8, 0, 0), spacing=2)
        h_box(self, names, (self.plot, 1), self._numbers, margins=(12, 0, 12, 0), spacing=8)
        self.plot.view.sigResized.connect(lambda _view: self._align())

    def show_figure(self, figure: MeasureFigure) -> None:
        """Shows a measure."""
        self.figure = figure
        self.name.setText(figure.title)
        self.hint.setText(figure.hint)
        count = len(figure.lines)
        self.plot.setMinimumSize(_FIGURE, count * _LINE + _AXIS)
        self.plot.setMaximumHeight(count * _LINE + _AXIS)
        self.plot.setAccessibleName(tr("Runs by {measure}", measure=figure.title))
        self.plot.show_panel(figure.panel, figure.hits)
        self.plot.set_name_count(count)
        for label in self._labels:
            self._grid.removeWidget(label)
            label.deleteLater()
        self._labels = []
        for place, line in enumerate(figure.lines):
            self._grid.setRowStretch(place, 1)
            for column, label in enumerate(self._line(line)):
                self._grid.addWidget(label, place, column)
                self._labels.append(label)
        self._align()

    def ring(self, run_id: int | None) -> None:
        """Rings the dot of a run; None rings nothing."""
        hits = self.plot.hits()
        self.plot.set_current(next((place for place, hit in enumerate(hits) if run_id in hit.run_ids), -1))

    def _line(self, line: FigureLine) -> tuple[QLabel, QLabel, QLabel]:
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        mean = Label(line.mean, self._numbers, alignment=right)
        mean.setFixedWidth(_MEAN)
        mean.setAccessibleName(f"{line.label}: {line.mean}")
        difference = Label(line.difference or "–", self._numbers, alignment=right)
        difference.setFixedWidth(_DIFFERENCE)
        result = Label("\n".join(filter(None, (line.result, line.p))), self._numbers)
        result.setFixedWidth(_RESULT)
        result.setFont(sized(QFont(self.font()), 0.88))
        if line.verdict:
            difference.setFont(sized(QFont(self.font()), is_bold=True))
            is_better = line.verdict > 0
            set_style(result, lambda t: f"QLabel {{ color: {t.ok if is_better else t.error}; }}")
        else:
            muted(difference)
            muted(result)
        return mean, difference, result

    def _align(self) -> None:
        """Places the numbers at the height of the dots."""
        area = self.plot.mapFromScene(self.plot.view.sceneBoundingRect()).boundingRect()
        if area.height() > 0:
            below = max(0, self.plot.height() - area.bottom() - 1)
            self._grid.setContentsMargins(0, max(0, area.top()), 0, below)


class _OpeningTable(QTableView):
    """A table in which a click or Enter opens a row, and the arrow keys only select."""

    opened = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)  # type: ignore[arg-type] # a widget
        self.clicked.connect(lambda _index: self.opened.emit())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Opens the selected row with Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit()
            return
        super().keyPressEvent(event)


def _head(text: str, width: int, *, is_number: bool = False) -> QLabel:
    label = muted(Label(text))
    label.setMinimumWidth(width)
    if width != _FIGURE:
        label.setMaximumWidth(width)
    if is_number:
        label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return label


def _subtitle(compared: ComparedRuns, wanted: int) -> str:
    """The scenario, the number of seeds, and the number of runs."""
    groups = compared.table.groups
    names = dict.fromkeys(run.scenario_name for run in compared.runs)
    seeds = {len(set(group.seeds)) for group in groups}
    parts = [", ".join(names)]
    if len(seeds) == 1:
        parts.append(trn("{count} seed each", "{count} seeds each", next(iter(seeds))))
    count = len(compared.runs)
    counted = tr("{done} of {total} runs", done=count, total=wanted)
    parts.append(counted if wanted > count else trn("{count} run", "{count} runs", count))
    return " · ".join(parts)

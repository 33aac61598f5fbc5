"""The table of a sweep: a row per point, sorted by any column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QTableView, QWidget

from subflow_app.features.sweeps.core.views.study import short_key
from subflow_app.features.sweeps.core.views.table import VIEW, StudyRow, TableContent, study_columns
from subflow_app.toolkit.models import TableModel
from subflow_app.toolkit.widgets.tables import set_up_table, set_widths
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.tables import TextTable

_WIDEST = "00.00 ± 00.00"
_MOST_MEASURED = 200


class StudyTableModel(TableModel[StudyRow]):
    """Rows in the order that a person has chosen."""

    translates = False

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__((), parent)
        self.content: TableContent | None = None
        self._sorted_by = (-1, Qt.SortOrder.AscendingOrder)

    def show_content(self, content: TableContent) -> None:
        """Shows other rows, in the same order as before if the columns are the same.

        Parameters go by the last part of their keys, so that there is room for figures.
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
        """Sorts by a column; -1 is the order of the sweep."""
        self._sorted_by = (column, order)
        rows = [] if self.content is None else list(self.content.rows)
        if 0 <= column < len(self.columns):
            rows.sort(key=self.columns[column].sort_key, reverse=order == Qt.SortOrder.DescendingOrder)
        self.show_rows(rows)

    def other_data(self, row: StudyRow, column: int, role: int) -> str | None:
        """A figure of each seed."""
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
    """The table with its model."""

    chosen = Signal(object)  # points of the selected rows
    opened = Signal(object)  # likewise

    def __init__(self, parent: QWidget | None = None) -> None:
        """An empty table."""
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
        self._needed: list[int] = []  # widths of the columns that their texts ask for

    def show_content(self, content: TableContent) -> None:
        """Shows other rows; what is selected stays selected."""
        selected = set(self.selected_points())
        self.study_model.show_content(content)
        titles = [column.tip for column in self.study_model.columns]
        is_other = titles != self._titles
        self._titles = titles
        parameters, last = len(content.study.parameters), len(titles) - 1
        rows = self.study_model.rows[:_MOST_MEASURED]
        columns = []
        for place, column in enumerate(self.study_model.columns):
            # Runs that are still to come have longer intervals than none.
            usual = _WIDEST if parameters <= place < last else ""
            columns.append((column.title, max((usual, *map(column.text, rows)), key=len)))
        before = [self.columnWidth(column) for column in range(len(titles))]
        set_widths(self, columns)
        needed = [self.columnWidth(column) for column in range(len(titles))]
        for place, width in enumerate([] if is_other else before):
            # What a person has dragged stays, unless more has to fit now.
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
        """The selected rows, or all if none is, for the clipboard."""
        content = self.study_model.content
        if content is None:
            return ""
        selected = set(self.selected_points())
        rows: Sequence[StudyRow] = [row for row in self.study_model.rows if not selected or row.point in selected]
        return TextTable.of(rows, study_columns(content.study, content.figures)).tab_separated

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(self.selected_points())
            return
        super().keyPressEvent(event)

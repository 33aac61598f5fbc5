"""The table of a sweep: a row per point, sorted by any column."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QTableView, QWidget

from subflow_app.core.language import tr
from subflow_app.core.sweeps.views.study import short_key
from subflow_app.core.sweeps.views.table import VIEW, StudyRow, TableContent, headings, row_texts, tab_separated
from subflow_app.qt.theme import Tokens, current_tokens, table_style
from subflow_app.qt.widgets.tables import set_up_table, set_widths

Index = QModelIndex | QPersistentModelIndex

_WIDEST = "00.00 ± 00.00"
_MOST_MEASURED = 200


class StudyTableModel(QAbstractTableModel):
    """Rows in the order that a person has chosen."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(parent)
        self._content: TableContent | None = None
        self.rows: list[StudyRow] = []
        self._texts: list[list[str]] = []
        self._titles: list[str] = []
        self._sorted_by = (-1, Qt.SortOrder.AscendingOrder)

    def show_content(self, content: TableContent) -> None:
        """Shows other rows, in the same order as before if the columns are the same."""
        self.beginResetModel()
        titles = headings(content.study, content.figures)
        if titles != self._titles:
            self._sorted_by = (-1, Qt.SortOrder.AscendingOrder)
        self._content, self._titles = content, titles
        self._order()
        self.endResetModel()

    @property
    def short_titles(self) -> list[str]:
        """The titles of the columns; parameters by the last part of their keys, so that there is room for figures."""
        if self._content is None:
            return []
        study = self._content.study
        parameters = [short_key(parameter.key, study) for parameter in study.parameters]
        return parameters + self._titles[len(parameters) :]

    @property
    def content(self) -> TableContent | None:
        """What is shown."""
        return self._content

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of points."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Parameters, figures, and the number of runs."""
        return 0 if parent.isValid() else len(self._titles)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Titles with units."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._titles):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.short_titles[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._titles[section]
        if role == Qt.ItemDataRole.TextAlignmentRole and self._is_number(section):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Texts; numbers are right-aligned."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._texts[index.row()][index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole and self._is_number(index.column()):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(index.row(), index.column())
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts by a column; -1 is the order of the sweep."""
        self.beginResetModel()
        self._sorted_by = (column, order)
        self._order()
        self.endResetModel()

    def texts(self, most: int) -> list[list[str]]:
        """The cells of the first rows."""
        return self._texts[:most]

    def _order(self) -> None:
        if self._content is None:
            return
        self.rows = list(self._content.rows)
        column, order = self._sorted_by
        if column >= 0:
            self.rows.sort(key=lambda row: row.sort_key(column), reverse=order == Qt.SortOrder.DescendingOrder)
        self._texts = [row_texts(self._content.study, row, self._content.figures) for row in self.rows]

    def _is_number(self, column: int) -> bool:
        if self._content is None:
            return False
        parameters = self._content.study.parameters
        return column >= len(parameters) or parameters[column].is_numeric

    def _tip(self, row: int, column: int) -> str | None:
        if self._content is None:
            return None
        column -= len(self._content.study.parameters)
        if not 0 <= column < len(self._content.figures):
            return None
        figure, found = self._content.figures[column], self.rows[row].figures[column]
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
        self.setModel(self.study_model)
        set_up_table(self, "sweep_table", tr(VIEW.words))
        self.setSortingEnabled(True)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.horizontalHeader().setSortIndicatorClearable(True)
        self.horizontalHeader().setStretchLastSection(False)
        self.selectionModel().selectionChanged.connect(lambda _new, _old: self.chosen.emit(self.selected_points()))
        self.doubleClicked.connect(lambda _index: self.opened.emit(self.selected_points()))
        self._titles: list[str] = []
        self._needed: list[int] = []  # widths of the columns that their texts ask for
        self.apply_tokens(current_tokens())

    def show_content(self, content: TableContent) -> None:
        """Shows other rows; what is selected stays selected."""
        selected = set(self.selected_points())
        self.study_model.show_content(content)
        titles = headings(content.study, content.figures)
        is_other = titles != self._titles
        self._titles = titles
        parameters, last = len(content.study.parameters), len(titles) - 1
        texts = self.study_model.texts(_MOST_MEASURED)
        columns = []
        for column, title in enumerate(self.study_model.short_titles):
            # Runs that are still to come have longer intervals than none.
            usual = _WIDEST if parameters <= column < last else ""
            columns.append((title, max((usual, *(row[column] for row in texts)), key=len)))
        before = [self.columnWidth(column) for column in range(len(titles))]
        set_widths(self, columns)
        needed = [self.columnWidth(column) for column in range(len(titles))]
        for column, width in enumerate([] if is_other else before):
            # What a person has dragged stays, unless more has to fit now.
            if needed[column] <= self._needed[column]:
                self.setColumnWidth(column, width)
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
        return tab_separated(content.study, rows, content.figures)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(self.selected_points())
            return
        super().keyPressEvent(event)

    def apply_tokens(self, tokens: Tokens) -> None:
        """Recolours the header."""
        self.setStyleSheet(table_style(tokens))

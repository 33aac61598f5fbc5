"""What runs were told, the figures of their groups, and the errors of aligned traces, as tables."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Qt

from subflow_app.features.comparison.core.group_table import FigureRow, GroupTable, figure_columns
from subflow_app.features.history.core.run_comparison import ComparedSetting
from subflow_app.features.history.qt.run_table import heading
from subflow_app.toolkit.models.table_model import RIGHT, Index, TableModel, bold
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.tables import Column
from subflow_store.values import RunRow

FILTER_ROLE = Qt.ItemDataRole.UserRole + 2

_MEAN = 0  # what comes first of a group


class FigureModel(TableModel[FigureRow]):
    """A line per figure: name with unit, the mean of each group, and of each but the reference difference and p."""

    translates = False
    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing yet."""
        super().__init__((), parent)
        self.table: GroupTable | None = None
        self._places: list[tuple[int, int]] = []  # group and what of it

    def show_table(self, table: GroupTable) -> None:
        """Shows this table."""
        self.table = table
        columns: list[Column[FigureRow]] = [
            Column(tr("Figure"), lambda row: heading(row.column), sort=lambda row: row.column.key)
        ]
        self._places = []
        for place in range(len(table.groups)):
            told = figure_columns(table, place)
            columns += told
            self._places += [(place, what) for what in range(len(told))]
        self.show_rows(table.rows, columns)

    def other_data(self, row: FigureRow, column: int, role: int) -> object | None:
        """A difference that is significant is bold and says so."""
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
    """A line per setting of the runs: its name, then what each run was told."""

    translates = False
    aligns_headings = False

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing yet."""
        super().__init__((), parent)
        self.runs: tuple[RunRow, ...] = ()
        self._all: tuple[ComparedSetting, ...] = ()
        self._has_equal = False

    def show_settings(self, runs: tuple[RunRow, ...], settings: tuple[ComparedSetting, ...]) -> None:
        """Shows what these runs were told."""
        self.runs, self._all = runs, settings
        self.show_equal(self._has_equal)

    def show_equal(self, has_equal: bool) -> None:
        """Shows what is equal, too, or only what differs."""
        self._has_equal = has_equal
        name: Column[ComparedSetting] = Column(tr("Setting"), lambda line: heading(line.column))
        told = [_told_column(run, number) for number, run in enumerate(self.runs)]
        self.show_rows([line for line in self._all if has_equal or line.differs], [name, *told])

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Numbers stand at the right, and what differs from the first run is bold."""
        if index.isValid() and index.column() > 0:
            line, number = self.rows[index.row()], index.column() - 1
            if role == Qt.ItemDataRole.TextAlignmentRole and not isinstance(line.values[number], str):
                return RIGHT
            if role == Qt.ItemDataRole.FontRole and line.is_different[number]:
                return bold()
        return super().data(index, role)


def _told_column(run: RunRow, number: int) -> Column[ComparedSetting]:
    """What a run was told."""
    title = tr("Run {number}: {name}", number=run.id, name=run.name)
    return Column(title, lambda line: line.text(number), tip=title)

"""What runs were told, the figures of their groups, and the errors of aligned traces, as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from subflow_app.core.comparison.alignment import SeriesError, error_cells
from subflow_app.core.comparison.group_table import (
    FigureRow,
    GroupTable,
    difference_text,
    significance_text,
    spread_text,
)
from subflow_app.core.history.run_comparison import ComparedSetting
from subflow_app.core.language import tr, translatable
from subflow_app.qt.models.run_table import heading
from subflow_store.values import RunRow

Index = QModelIndex | QPersistentModelIndex
SORT_ROLE = Qt.ItemDataRole.UserRole
FILTER_ROLE = Qt.ItemDataRole.UserRole + 1
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter

_MEAN, _DIFFERENCE, _SIGNIFICANCE = range(3)


class FigureModel(QAbstractTableModel):
    """A line per figure: name with unit, the mean of each group, and of each but the reference difference and p."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing yet."""
        super().__init__(parent)
        self.table: GroupTable | None = None
        self._columns: list[tuple[int, int]] = []  # group and what of it

    def show_table(self, table: GroupTable | None) -> None:
        """Shows this table."""
        self.beginResetModel()
        self.table = table
        self._columns = []
        for place in range(len(table.groups) if table is not None else 0):
            assert table is not None
            self._columns.append((place, _MEAN))
            if place != table.reference:
                self._columns += [(place, _DIFFERENCE), (place, _SIGNIFICANCE)]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of figures."""
        return 0 if parent.isValid() or self.table is None else len(self.table.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Name and those of the groups."""
        return 0 if parent.isValid() else 1 + len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """What a column is."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < self.columnCount():
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._heading(section)
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._tip(section)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell; a difference that is significant is bold and says so."""
        if not index.isValid() or self.table is None:
            return None
        row, section = self.table.rows[index.row()], index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._text(row, section)
        if role == SORT_ROLE:
            return self._sort_value(row, section)
        if role == FILTER_ROLE:
            return f"{heading(row.column)} {row.column.key}"
        if section == 0:
            return row.column.key if role == Qt.ItemDataRole.ToolTipRole else None
        place, what = self._columns[section - 1]
        if role == Qt.ItemDataRole.TextAlignmentRole and what != _SIGNIFICANCE:
            return _RIGHT
        if role == Qt.ItemDataRole.FontRole and what != _MEAN and row.differences[place].p_holm < 0.05:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.ToolTipRole:
            return self._details(row, place, what)
        return None

    def _heading(self, section: int) -> str:
        if section == 0 or self.table is None:
            return tr("Figure")
        place, what = self._columns[section - 1]
        letter, reference = self.table.groups[place].letter, self.table.groups[self.table.reference].letter
        if what == _MEAN:
            return f"{letter}: {self.table.groups[place].label}"
        return f"{letter} − {reference}" if what == _DIFFERENCE else tr("{letter}: significance", letter=letter)

    def _tip(self, section: int) -> str | None:
        if section == 0 or self.table is None:
            return None
        place, what = self._columns[section - 1]
        group = self.table.groups[place]
        if what == _MEAN:
            runs = ", ".join(str(run.id) for run in group.runs)
            return tr("{label}: mean ± half of its 95 % interval, of runs {runs}", label=group.label, runs=runs)
        if what == _DIFFERENCE:
            return tr("Difference of the means, and as a share of the reference")
        return tr("Chance of a difference at least as great if there were none: *** below 0.1 %, ** 1 %, * 5 %")

    def _text(self, row: FigureRow, section: int) -> str:
        assert self.table is not None
        if section == 0:
            return heading(row.column)
        place, what = self._columns[section - 1]
        if what == _MEAN:
            return spread_text(row, place)
        if what == _DIFFERENCE:
            return difference_text(row, place, self.table.reference)
        return significance_text(row.differences[place])

    def _sort_value(self, row: FigureRow, section: int) -> float | str:
        if section == 0:
            return row.column.key
        place, what = self._columns[section - 1]
        assert self.table is not None
        number = {
            _MEAN: row.estimates[place].mean,
            # Figures of all units side by side: by how much of the reference they differ.
            _DIFFERENCE: row.relative(place, self.table.reference),
            _SIGNIFICANCE: row.differences[place].p_holm,
        }[what]
        return math.inf if math.isnan(number) else number

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


class SettingModel(QAbstractTableModel):
    """A line per setting of the runs: its name, then what each run was told."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing yet."""
        super().__init__(parent)
        self.runs: tuple[RunRow, ...] = ()
        self.lines: list[ComparedSetting] = []
        self._all: tuple[ComparedSetting, ...] = ()
        self._has_equal = False

    def show_settings(self, runs: tuple[RunRow, ...], settings: tuple[ComparedSetting, ...]) -> None:
        """Shows what these runs were told."""
        self.runs, self._all = runs, settings
        self.show_equal(self._has_equal)

    def show_equal(self, has_equal: bool) -> None:
        """Shows what is equal, too, or only what differs."""
        self._has_equal = has_equal
        self.beginResetModel()
        self.lines = [line for line in self._all if has_equal or line.differs]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of settings."""
        return 0 if parent.isValid() else len(self.lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Name, and the runs."""
        return 0 if parent.isValid() else 1 + len(self.runs)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Which run a column is."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section <= len(self.runs):
            return None
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            if section == 0:
                return tr("Setting")
            run = self.runs[section - 1]
            return tr("Run {number}: {name}", number=run.id, name=run.name)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell; what differs from the first run is bold, and says so."""
        if not index.isValid():
            return None
        line, number = self.lines[index.row()], index.column() - 1
        if role == Qt.ItemDataRole.DisplayRole:
            return heading(line.column) if number < 0 else line.text(number)
        if role == Qt.ItemDataRole.FontRole and number >= 0 and line.is_different[number]:
            font = QFont()
            font.setBold(True)
            return font
        if role == Qt.ItemDataRole.TextAlignmentRole and number >= 0 and not isinstance(line.values[number], str):
            return _RIGHT
        return None


ERROR_TITLES = (
    (translatable("Of"), translatable("Flow, subflow or link of the reference")),
    (translatable("Trace"), ""),
    (translatable("Unit"), ""),
    (translatable("Samples"), translatable("Samples of the reference after its warm-up where both are known")),
    ("RMSE", translatable("Root of the mean squared error")),
    ("MAE", translatable("Mean absolute error")),
    (translatable("Relative error, %"), translatable("Mean absolute error as a share of the reference")),
    (translatable("Correlation"), translatable("1: the curves rise and fall together")),
    (translatable("Difference of means"), translatable("Mean of the other run less that of the reference")),
    (translatable("Difference of 95 %"), translatable("The same of the 95th percentiles")),
)


class ErrorModel(QAbstractTableModel):
    """A line per matched trace."""

    def __init__(self, parent: QObject | None = None) -> None:
        """Nothing yet."""
        super().__init__(parent)
        self.errors: tuple[SeriesError, ...] = ()

    def show_errors(self, errors: Sequence[SeriesError]) -> None:
        """Shows these."""
        self.beginResetModel()
        self.errors = tuple(errors)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of traces."""
        return 0 if parent.isValid() else len(self.errors)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """As `error_cells` has them."""
        return 0 if parent.isValid() else len(ERROR_TITLES)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """What a column is."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(ERROR_TITLES):
            return None
        title, tip = ERROR_TITLES[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(title) if title not in ("RMSE", "MAE") else title
        return tr(tip) if role == Qt.ItemDataRole.ToolTipRole and tip else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell."""
        if not index.isValid():
            return None
        text = error_cells(self.errors[index.row()])[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column() > 2:
            return _RIGHT
        if role == SORT_ROLE:
            return _number_or_text(text) if index.column() > 2 else text
        return None


def _number_or_text(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf

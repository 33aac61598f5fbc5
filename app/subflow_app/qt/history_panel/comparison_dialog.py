"""Runs side by side in a window of its own: a column per run, what differs first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont, QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QLabel, QPushButton, QTableView, QVBoxLayout, QWidget

from subflow_app.core.history.run_comparison import PARAMETER, ComparedValue, compare_runs, comparison_text
from subflow_app.core.language import tr, trn
from subflow_app.qt.dialogs import CSV_FILTER, Dialogs
from subflow_app.qt.models.run_table import heading
from subflow_app.qt.theme import current_tokens, table_style
from subflow_app.qt.widgets.tables import set_up_table
from subflow_store.values import RunRow

Index = QModelIndex | QPersistentModelIndex
_WIDEST = 260  # px at 100 %


class ComparisonModel(QAbstractTableModel):
    """Lines are parameters and figures; the first column names them, each further one is a run."""

    def __init__(self, runs: Sequence[RunRow], parent: QObject | None = None) -> None:
        """Compares ``runs``, which have their documents, with the first of them."""
        super().__init__(parent)
        self.runs = runs
        self._all = compare_runs(runs)
        self.lines: list[ComparedValue] = []
        self.show_equal(False)

    def show_equal(self, shows: bool) -> None:
        """Shows what is equal, too, or only what differs."""
        self.beginResetModel()
        self.lines = [line for line in self._all if shows or line.differs]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of lines."""
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
                return tr("Parameter or figure")
            run = self.runs[section - 1]
            return tr("Run {number}: {name}", number=run.id, name=run.name)
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Text of a cell; what differs is bold, and says so."""
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
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            kind = tr("Parameter") if line.kind == PARAMETER else tr("Figure")
            return f"{kind}: {line.column.key}"
        return None


class ComparisonDialog(QDialog):
    """The comparison, with what can be done with it."""

    def __init__(self, runs: Sequence[RunRow], dialogs: Dialogs, parent: QWidget | None = None) -> None:
        """Compares ``runs``, which have their documents."""
        super().__init__(parent)
        self.setObjectName("comparison")
        self.setWindowTitle(trn("Comparison of {count} run", "Comparison of {count} runs", len(runs)))
        self.resize(min(1200, 320 + 200 * len(runs)), 620)
        self._dialogs = dialogs
        self.model = ComparisonModel(runs, self)
        self.table = QTableView(self)
        set_up_table(self.table, "comparison_table", self.windowTitle())
        self.table.setModel(self.model)
        self.table.setStyleSheet(table_style(current_tokens()))
        self.equal = QCheckBox(tr("Also what is e&qual"), self)
        self.equal.setObjectName("comparison_equal")
        self.equal.toggled.connect(self._show_equal)
        self.told = QLabel(self)
        self.told.setObjectName("comparison_told")
        buttons = QHBoxLayout()
        buttons.addWidget(self.equal)
        buttons.addWidget(self.told, 1)
        for text, then in (
            (tr("&Copy table"), self.copy),
            (tr("Save as CS&V…"), self.export),
            (tr("C&lose"), self.accept),
        ):
            button = QPushButton(text, self)
            button.setAutoDefault(False)
            button.clicked.connect(then)
            buttons.addWidget(button)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self, self.copy)
        layout = QVBoxLayout(self)
        layout.addWidget(self.table, 1)
        layout.addLayout(buttons)
        self._show_equal(False)

    def copy(self) -> None:
        """Copies what is shown, for a spreadsheet."""
        QGuiApplication.clipboard().setText(comparison_text(self.model.lines, self.model.runs, "\t"))
        self.told.setText(tr("Copied."))

    def export(self) -> None:
        """Asks for a file and writes what is shown as CSV."""
        numbers = "-".join(str(run.id) for run in self.model.runs[:4])
        path = self._dialogs.save_path(tr("Save the comparison"), tr(CSV_FILTER), Path(f"comparison-{numbers}.csv"))
        if path is None:
            return
        try:
            path.write_text(comparison_text(self.model.lines, self.model.runs, ","), encoding="utf-8")
        except OSError as error:
            self.told.setText(
                tr("Not written: {path}: {reason}. Choose another place.", path=path, reason=error.strerror)
            )
        else:
            self.told.setText(tr("Written: {path}", path=path))

    def _show_equal(self, shows: bool) -> None:
        self.model.show_equal(shows)
        self.table.resizeColumnsToContents()
        for number in range(self.model.columnCount()):
            self.table.setColumnWidth(number, min(self.table.columnWidth(number) + 16, _WIDEST))
        count = sum(line.differs for line in self.model.lines)
        self.told.setText(
            trn("{count} value differs from the first run.", "{count} values differ from the first run.", count)
            if count
            else tr("Nothing differs.")
        )

"""The list of what a sweep can vary: searched by typing, taken by Enter or a double click."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QTableView, QVBoxLayout, QWidget

from subflow_app.core.language import tr
from subflow_app.core.scenarios.problem_texts import problem_text
from subflow_app.core.sweeps.sweep_parameters import SweepParameter
from subflow_app.qt.widgets.tables import set_up_table, set_widths

Index = QModelIndex | QPersistentModelIndex


class ParameterModel(QAbstractTableModel):
    """Key and present value of each parameter that is found."""

    def __init__(self, parameters: Sequence[SweepParameter], parent: QObject | None = None) -> None:
        """All of them."""
        super().__init__(parent)
        self._all = list(parameters)
        self.rows = list(parameters)

    def search(self, words: str) -> None:
        """Keeps those in which all these words are found."""
        self.beginResetModel()
        self.rows = [parameter for parameter in self._all if parameter.matches(words)]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of parameters found."""
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Key and value."""
        return 0 if parent.isValid() else 2

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object | None:
        """Titles."""
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return (tr("Parameter"), tr("Now"))[section]
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object | None:
        """Key, value, and what may be written there."""
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        parameter = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return (parameter.key, parameter.present)[index.column()]
        if role == Qt.ItemDataRole.ToolTipRole:
            allowed = tr("Allowed: {allowed}", allowed=problem_text(parameter.allowed)) if parameter.allowed else ""
            help_text = tr(parameter.help) if parameter.help else ""
            return "\n".join(filter(None, (parameter.label, help_text, allowed)))
        return None


class ParameterList(QWidget):
    """The search field and the list below it."""

    taken = Signal(object)  # SweepParameter

    def __init__(self, parameters: Sequence[SweepParameter], parent: QWidget | None = None) -> None:
        """All of them are listed."""
        super().__init__(parent)
        self.model = ParameterModel(parameters, self)
        self.search = QLineEdit(self)
        self.search.setObjectName("sweep_search")
        self.search.setAccessibleName(tr("Search parameters"))
        self.search.setPlaceholderText(tr("Search, e.g. wifi loss"))
        self.search.setClearButtonEnabled(True)
        self.table = _TakingTable(self)
        self.table.setModel(self.model)
        set_up_table(self.table, "sweep_parameters", tr("Parameters of the scenario"))
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        set_widths(self.table, [(tr("Parameter"), "flows.download.controller"), (tr("Now"), "unlimited (default)")])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.search)
        layout.addWidget(self.table, 1)
        self.search.textChanged.connect(self._on_searched)
        self.search.returnPressed.connect(self.take)
        self.table.doubleClicked.connect(lambda _index: self.take())
        self.table.taken.connect(self.take)

    def take(self) -> None:
        """Gives out the selected parameter, or the first one found."""
        row = self.table.currentIndex().row()
        row = 0 if row < 0 else row
        if row < len(self.model.rows):
            self.taken.emit(self.model.rows[row])

    def _on_searched(self, words: str) -> None:
        self.model.search(words)
        if self.model.rows:
            self.table.setCurrentIndex(self.model.index(0, 0))


class _TakingTable(QTableView):
    """A table whose current row Enter takes, instead of the dialog's default button."""

    taken = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter takes."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.taken.emit()
            return
        super().keyPressEvent(event)

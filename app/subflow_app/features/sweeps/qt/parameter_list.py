"""The list of what a sweep can vary: searched by typing, taken by Enter or a double click."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QTableView, QWidget

from subflow_app.features.sweeps.core.sweep_parameters import SweepParameter
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.toolkit.models import TableModel
from subflow_app.toolkit.widgets.shorthand import named, v_box
from subflow_app.toolkit.widgets.tables import set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column

COLUMNS: tuple[Column[SweepParameter], ...] = (
    Column(translatable("Parameter"), lambda parameter: parameter.key, widest="flows.download.controller"),
    Column(translatable("Now"), lambda parameter: parameter.present, widest="unlimited (default)"),
)


def _tip(parameter: SweepParameter) -> str:
    """What may be written there."""
    allowed = tr("Allowed: {allowed}", allowed=problem_text(parameter.allowed)) if parameter.allowed else ""
    help_text = tr(parameter.help) if parameter.help else ""
    return "\n".join(filter(None, (parameter.label, help_text, allowed)))


class ParameterList(QWidget):
    """The search field and the list below it."""

    taken = Signal(object)  # SweepParameter

    def __init__(self, parameters: Sequence[SweepParameter], parent: QWidget | None = None) -> None:
        """All of them are listed."""
        super().__init__(parent)
        self._all = parameters
        self.model: TableModel[SweepParameter] = TableModel(COLUMNS, self, tip=_tip)
        self.model.show_rows(parameters)
        self.search = named(QLineEdit(self, clearButtonEnabled=True), "sweep_search", tr("Search parameters"))
        self.search.setPlaceholderText(tr("Search, e.g. wifi loss"))
        words = tr("Parameters of the scenario")
        self.table = set_up_table(_TakingTable(self), "sweep_parameters", words, self.model, style=None, is_single=True)
        v_box(self, self.search, (self.table, 1), margins=0)
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
        self.model.show_rows([parameter for parameter in self._all if parameter.matches(words)])
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

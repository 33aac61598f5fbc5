"""The lines of a script that a decision executed, with their numbers filled in; one of them is that of the moment."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Signal
from PySide6.QtGui import QAction, QFontDatabase, QResizeEvent
from PySide6.QtWidgets import QTableView, QWidget

from subflow_app.toolkit.models.table_model import TableModel
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.action_buttons import action_buttons
from subflow_app.toolkit.widgets.elided_label import ElidedLabel
from subflow_app.toolkit.widgets.shorthand import h_box, named, v_box
from subflow_app.toolkit.widgets.tables import set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.decisions import Explanation
from subflow_sim.script_steps import ExecutedLine

_MARGIN = 8  # px
_LEAST_WIDTH = 120  # px; of the column that tells what was executed


def _with_numbers(line: ExecutedLine) -> str:
    result = {"yes": tr("yes"), "no": tr("no")}.get(line.result, line.result)
    says_more = line.filled not in (line.source, line.result.removeprefix("= "))
    return f"{line.filled} {result}".rstrip() if says_more else result


_COLUMNS: tuple[Column[ExecutedLine], ...] = (
    NumberColumn(translatable("Line"), lambda line: line.line),
    Column(translatable("Executed"), lambda line: line.source),
    Column(translatable("With its numbers"), _with_numbers),
)


class ScriptLines(QWidget):
    """Shows the lines of one decision."""

    moved = Signal()  # another line is the one of the moment
    opened = Signal()  # the script is wanted where that line is

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        """No lines yet; ``actions`` go from line to line."""
        super().__init__(parent)
        self.told: Explanation | None = None  # the decision
        self.lines: Sequence[ExecutedLine] = ()
        self.title = named(muted(ElidedLabel(self)), "explain_script")
        self._model: TableModel[ExecutedLine] = TableModel(_COLUMNS, self, tip=lambda line: line.text)
        self._model.aligns_headings = False
        words = tr("Lines of the script that were executed")
        self.table = set_up_table(QTableView(self), "explain_lines", words, self._model, is_single=True)
        self.table.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.table.selectionModel().currentRowChanged.connect(self._on_row)
        self.table.doubleClicked.connect(lambda _index: self.opened.emit())
        head = h_box(None, (self.title, 1), *action_buttons(actions), spacing=2)
        v_box(self, head, (self.table, 1), margins=0, spacing=2)

    def show_lines(self, told: Explanation | None) -> None:
        """Shows those of a decision from the first on; None: no script decided."""
        self.told = told
        self.lines = told.lines if told is not None else ()
        self._model.show_rows(self.lines)
        self.table.resizeColumnsToContents()
        self.setVisible(bool(self.lines))
        self._share_width()
        if self.lines:
            self.table.selectRow(0)

    @property
    def position(self) -> int:
        """Which of the lines is that of the moment, from 0; -1: there is none."""
        return self.table.currentIndex().row() if self.lines else -1

    @property
    def line(self) -> ExecutedLine | None:
        """The line of the moment."""
        return self.lines[self.position] if self.position >= 0 else None

    def step(self, by: int) -> None:
        """Makes the line before (-1) or after (1) that of the moment."""
        wanted = self.position + by
        if 0 <= wanted < len(self.lines):
            self.table.selectRow(wanted)
            self.table.scrollTo(self._model.index(wanted, 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leaves half of the width to the numbers."""
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        self.table.setColumnWidth(
            1, min(self.table.sizeHintForColumn(1) + _MARGIN, max(_LEAST_WIDTH, self.width() // 2))
        )

    def _on_row(self, _row: QModelIndex, _before: QModelIndex) -> None:
        self.moved.emit()

"""The results of the shown runs above their plots: a sentence, and a table that can be folded."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHeaderView, QTableView, QToolButton, QWidget

from subflow_app.toolkit.theme import Tokens, table_style
from subflow_app.toolkit.widgets.labels import ElidedLabel
from subflow_app.toolkit.widgets.shorthand import h_box, named, v_box
from subflow_app.toolkit.widgets.tables import TextTableModel, set_up_table
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.tables import TextTable

_MOST_ROWS = 5  # further rows are reached by scrolling


class ResultsStrip(QWidget):
    """Strip above the plots: one line until results exist, then also a table; hidden while the line is empty."""

    folded = Signal(bool)  # the user folded (true) or unfolded the table
    cancelled = Signal()  # the user cancelled the work that the note names

    def __init__(self, parent: QWidget | None = None) -> None:
        """Start without results."""
        super().__init__(parent)
        self.setObjectName("results_strip")
        self.model = TextTableModel(self)
        self._fold = named(QToolButton(self, autoRaise=True), "results_fold")
        self._fold.setCheckable(True)
        self._fold.setText(tr("Results"))
        self._fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._fold.clicked.connect(self._on_clicked)
        self._line = named(ElidedLabel(self, Qt.TextElideMode.ElideRight), "results_line")
        self._cancel = named(QToolButton(self, autoRaise=True), "results_cancel")
        self._cancel.setText(tr("Cancel"))
        self._cancel.clicked.connect(self.cancelled)
        self._cancel.hide()
        words = tr("Results of the runs shown")
        self.table = set_up_table(QTableView(self), "results_table", words, self.model, style=_style, copy=self.copy)
        self.table.setFrameShape(QTableView.Shape.NoFrame)
        self.table.setAlternatingRowColors(False)
        self.table.verticalHeader().setMinimumSectionSize(1)
        self.table.verticalHeader().setDefaultSectionSize(self.table.fontMetrics().height() + 3)
        self.table.horizontalHeader().setStretchLastSection(False)
        bar = h_box(None, self._fold, (self._line, 1), self._cancel, margins=(4, 1, 8, 1), spacing=10)
        v_box(self, bar, self.table, margins=0, spacing=0)
        self.setAutoFillBackground(True)
        self._note = self._sentence = ""
        self._fold.setEnabled(False)
        self.set_folded(True)
        self.hide()

    def show_results(self, results: TextTable | None, why_none: str = "") -> None:
        """Show a table of results; if it is None, show only ``why_none``."""
        self.model.show_table(results)
        self._sentence = why_none if results is None else results.title
        self._fold.setEnabled(results is not None)
        self._fit()
        self._say()
        self.set_folded(self.is_folded)

    def say(self, note: str, *, can_cancel: bool = False) -> None:
        """Set a note about the runs, shown before the sentence; may be empty.

        Args:
            note: the note.
            can_cancel: whether a button cancels the work that the note names.
        """
        self._note = note
        self._cancel.setVisible(can_cancel)
        self._say()

    @property
    def text(self) -> str:
        """The whole line: the note and the sentence."""
        return self._line.text()

    @property
    def is_folded(self) -> bool:
        """True if only the sentence is shown."""
        return not self._fold.isChecked()

    def set_folded(self, is_folded: bool) -> None:
        """Hide the table below the sentence, or show it."""
        self._fold.setChecked(not is_folded)
        self._fold.setArrowType(Qt.ArrowType.RightArrow if is_folded else Qt.ArrowType.DownArrow)
        self._fold.setToolTip(tr("Show the table of results") if is_folded else tr("Fold the table of results"))
        self.table.setVisible(not is_folded and self._fold.isEnabled())

    def copy(self) -> None:
        """Copy the table to the clipboard."""
        QGuiApplication.clipboard().setText(self.model.table.tab_separated)

    def _say(self) -> None:
        self._line.setText(" · ".join(filter(None, (self._note, self._sentence))))
        self.setVisible(bool(self.text))

    def _on_clicked(self, is_shown: bool) -> None:
        self.set_folded(not is_shown)
        self.folded.emit(not is_shown)

    def _fit(self) -> None:
        """Adapt the height to the rows, up to a limit; the column of names takes the remaining width."""
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setMinimumSectionSize(40)
        if self.model.columnCount():
            header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        rows = min(self.model.rowCount(), _MOST_ROWS)
        height = header.sizeHint().height() + rows * self.table.verticalHeader().defaultSectionSize() + 2
        self.table.setFixedHeight(height)

    def minimumSizeHint(self) -> QSize:
        """Any width, because the table scrolls and the sentence is elided."""
        return QSize(0, super().minimumSizeHint().height())


def _style(tokens: Tokens) -> str:
    return table_style(tokens).replace("padding: 4px 8px", "padding: 1px 6px")

"""The readout of the cursors A and B: times, and a table of what each curve did between them; it can be copied."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QTableView, QWidget

from subflow_app.features.plots.qt.span_model import SpanModel, SpanRow
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.plain_text import Label
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import h_box, named, v_box
from subflow_app.toolkit.widgets.tables import set_up_table
from subflow_app.vocabulary.language import tr


class SpanPanel(QWidget):
    """Hidden until both cursors are set."""

    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        """Without rows."""
        super().__init__(parent)
        self.setObjectName("span_panel")
        self.model = SpanModel(self)
        self._about = named(muted(Label(self)), "span_about")
        words = tr("Curves between the cursors A and B")
        self.table = set_up_table(QTableView(self), "span_table", words, self.model, copy=self.copy)
        self.table.setFrameShape(QTableView.Shape.NoFrame)
        copy = named(QPushButton(tr("&Copy table"), self), "span_copy")
        copy.setToolTip(tr("Copy the table with tabs between its cells, for a spreadsheet"))
        copy.clicked.connect(self.copy)
        clear = named(QPushButton(tr("Remove cursors"), self), "span_clear")
        clear.clicked.connect(self.cleared)
        bar = h_box(None, (self._about, 1), copy, clear, margins=(8, 4, 8, 4))
        v_box(self, bar, (self.table, 1), margins=0, spacing=0)
        self.hide()

    def show_span(self, from_s: float, to_s: float, rows: Sequence[SpanRow]) -> None:
        """Shows what is between two times, s."""
        self._about.setText(
            tr(
                "A at {first} s, B at {last} s, {between} s between them",
                first=fmt.number(from_s, 5),
                last=fmt.number(to_s, 5),
                between=fmt.number(abs(to_s - from_s), 5),
            )
        )
        self.model.update_rows(rows)
        self.show()

    def sizeHint(self) -> QSize:
        """A few rows: the plots keep most of the room, and a person can drag the border."""
        return QSize(600, 9 * self.table.verticalHeader().defaultSectionSize())

    def copy(self) -> None:
        """Puts the table on the clipboard."""
        QGuiApplication.clipboard().setText(self.model.text())

"""Readout of the cursors A and B: their times, and a table with statistics of each curve between them.

Users can copy the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QTableView, QWidget

from subflow_app.features.plots.core import Curve
from subflow_app.features.plots.core.reading import Stretch, stretch
from subflow_app.features.plots.qt.curve_id import CurveId, run_names
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.theme import muted
from subflow_app.toolkit.widgets.shorthand import Label, h_box, named, v_box
from subflow_app.toolkit.widgets.tables import FollowedTable, set_up_table
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable

if TYPE_CHECKING:
    from subflow_app.features.plots.qt.time_plot import TimePlot


class SpanRow(NamedTuple):
    """Statistics of one curve of a plot."""

    plot: str
    unit: str
    line: str
    values: Stretch


_NUMBERS = (
    translatable("At A"),
    translatable("At B"),
    translatable("Difference"),
    translatable("Per second"),
    translatable("Mean"),
    translatable("Lowest"),
    translatable("Highest"),
)


def _number_column(title: str, place: int) -> Column[SpanRow]:
    return NumberColumn(title, lambda row: row.values[place], lambda value: fmt.number(value, 4), widest="0,000.0")


COLUMNS: tuple[Column[SpanRow], ...] = (
    Column(translatable("Plot"), lambda row: row.plot, widest="Congestion window"),
    Column(translatable("Unit"), lambda row: row.unit, widest="packets"),
    Column(translatable("Line"), lambda row: row.line, widest="download · backhaul→lte"),
    *(_number_column(title, place) for place, title in enumerate(_NUMBERS)),
)


class SpanModel(FollowedTable[SpanRow]):
    """Table of the visible curves of plots over time; keeps its selection as long as the lines are the same."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(COLUMNS, lambda row: row[:3], parent)

    def other_data(self, row: SpanRow, column: int, role: int) -> object | None:
        """Tool tips of names, which may be truncated in the table."""
        is_name = role == Qt.ItemDataRole.ToolTipRole and not COLUMNS[column].is_number
        return COLUMNS[column].text(row) if is_name else None

    def text(self) -> str:
        """The whole table as tab-separated text, for spreadsheets."""
        exact = [replace(each, title=tr(each.title), show=_exact if each.is_number else each.show) for each in COLUMNS]
        return TextTable.of(self.rows, exact).tab_separated


def _exact(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.9g}"


class SpanPanel(QWidget):
    """Panel below the plots; hidden until both cursors are set."""

    cleared = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
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
        """Shows the statistics between two times, s."""
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
        """A few rows high, because the plots need the space; users can drag the border."""
        return QSize(600, 9 * self.table.verticalHeader().defaultSectionSize())

    def copy(self) -> None:
        """Copies the table to the clipboard."""
        QGuiApplication.clipboard().setText(self.model.text())


def span_rows(
    plots: Sequence[TimePlot],
    curves: Mapping[CurveId, Curve],
    hidden: frozenset[CurveId],
    span_s: tuple[float, float],
) -> list[SpanRow]:
    """Statistics of each visible curve over time between two times, s."""
    names = run_names(curves.values())
    rows = []
    for plot in plots:
        for key, item in plot.curves.items():
            if key not in hidden:
                label = curves[key].label
                line = f"{label} ({names[key.run]})" if len(names) > 1 else label
                values = stretch(item.time_s, item.shown_values, *span_s)
                rows.append(SpanRow(tr(plot.spec.title), plot.spec.unit, line, values))
    return rows

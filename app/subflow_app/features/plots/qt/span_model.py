"""What each curve did between the cursors A and B, as a table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt

from subflow_app.features.plots.core.reading import Stretch
from subflow_app.toolkit import format as fmt
from subflow_app.toolkit.models.table_model import FollowedTable
from subflow_app.vocabulary.language import tr, translatable
from subflow_app.vocabulary.tables import Column, NumberColumn, TextTable


class SpanRow(NamedTuple):
    """One curve of one plot."""

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
    """A row per visible curve of the plots over time; the selection stays where the lines are the same."""

    def __init__(self, parent: QObject | None = None) -> None:
        """An empty table."""
        super().__init__(COLUMNS, lambda row: row[:3], parent)

    def other_data(self, row: SpanRow, column: int, role: int) -> object | None:
        """A name is its tool tip, too: there may be no room for all of it."""
        is_name = role == Qt.ItemDataRole.ToolTipRole and not COLUMNS[column].is_number
        return COLUMNS[column].text(row) if is_name else None

    def text(self) -> str:
        """The whole table with tabs between its cells, as spreadsheets take it."""
        exact = [replace(each, title=tr(each.title), show=_exact if each.is_number else each.show) for each in COLUMNS]
        return TextTable.of(self.rows, exact).tab_separated


def _exact(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.9g}"

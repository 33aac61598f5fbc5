"""Tables for the terminal, files, reports and the window: columns that read rows, and conversion to text, CSV and HTML.

A column is declared once for all forms. HTML elements carry the CSS classes that their layout needs.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Generic, TypeVar

from subflow_app.vocabulary.number_text import with_hyphens
from subflow_app.vocabulary.plain_text import readable

RowT = TypeVar("RowT")

_BEGIN_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
# A signed number with its surroundings, such as "-3.5", "-12 345 ± 6 %" or "+0.5 Mbit/s".
_NUMBER = re.compile(r"[-+]([\d\s.,±%∞][^=@|!()*]*|inf|nan)")


@dataclass(frozen=True, slots=True)
class Column(Generic[RowT]):
    """A column of a table whose rows are objects of one kind.

    Attributes:
        title: heading without the unit, in English unless the table is made for one language.
        value: returns the value of a row.
        show: converts the value to text.
        unit: unit of all its cells; empty for none.
        is_number: whether its cells are right-aligned.
        is_mark: as in `TextColumn`.
        sort: returns the sort key of a row; default: the value.
        widest: longest usual text of a cell, for the initial width.
        tip: tool tip of the heading, in the language of `title`.
    """

    title: str
    value: Callable[[RowT], Any]
    show: Callable[[Any], str] = str
    unit: str = ""
    is_number: bool = False
    is_mark: bool = False
    sort: Callable[[RowT], Any] | None = None
    widest: str = ""
    tip: str = ""

    def text(self, row: RowT) -> str:
        """Text of the cell in a row."""
        return readable(self.show(self.value(row)))

    def sort_key(self, row: RowT) -> Any:
        """Sort key of a row; NaN sorts like infinity."""
        key = (self.sort or self.value)(row)
        return math.inf if isinstance(key, float) and math.isnan(key) else key


@dataclass(frozen=True, slots=True)
class NumberColumn(Column[RowT]):
    """A column of numbers, which are right-aligned."""

    is_number: bool = True


@dataclass(frozen=True, slots=True)
class TextColumn:
    """A column of text.

    Attributes:
        title: heading without the unit.
        unit: unit of all its cells; empty for none.
        is_number: whether its cells are numbers, and so right-aligned.
        is_mark: whether its cells begin with a sign of success or failure: ✓, ✗ or –.
    """

    title: str
    unit: str = ""
    is_number: bool = True
    is_mark: bool = False


def text_columns(*titles: str) -> tuple[TextColumn, ...]:
    """Left-aligned columns with these titles."""
    return tuple(TextColumn(title, is_number=False) for title in titles)


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text with one cell per column in every row."""

    title: str
    columns: tuple[TextColumn, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def readers(self) -> tuple[Column[tuple[str, ...]], ...]:
        """Columns that read the rows of this table."""
        return tuple(
            Column(each.title, itemgetter(place), unit=each.unit, is_number=each.is_number, is_mark=each.is_mark)
            for place, each in enumerate(self.columns)
        )

    @classmethod
    def of(cls, rows: Iterable[RowT], columns: Sequence[Column[RowT]], title: str = "") -> TextTable:
        """Build a table from rows, with the text of each column."""
        headings = tuple(TextColumn(each.title, each.unit, each.is_number, each.is_mark) for each in columns)
        return cls(title, headings, tuple(tuple(column.text(row) for column in columns) for row in rows))

    @property
    def tab_separated(self) -> str:
        """Text for the clipboard, accepted by spreadsheets and text editors."""
        heads = [f"{each.title}, {each.unit}" if each.unit else each.title for each in self.columns]
        rows = (map(str, map(_no_formula, row)) for row in (heads, *self.rows))
        return "\n".join("\t".join(" ".join(cell.split()) for cell in row) for row in rows) + "\n"


def csv_text(headings: Iterable[str], rows: Iterable[Iterable[object]], separator: str = ",") -> str:
    """A table as CSV, with quotes only where needed, and lines that end with a line feed.

    A spreadsheet would evaluate a name that begins like a formula, so such a cell gets an apostrophe in front. Control
    characters are escaped.
    """
    file = io.StringIO()
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerow(map(_no_formula, headings))
    writer.writerows(map(_no_formula, row) for row in rows)
    return file.getvalue()


def _no_formula(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    cell = with_hyphens(readable(cell))
    if cell[:1] in _BEGIN_FORMULAS and len(cell) > 1 and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def csv_flag(value: bool) -> str:
    """A truth value as "true" or "false"."""
    return "true" if value else "false"


def csv_number(value: float) -> str:
    """A number with all its digits; empty if it is not finite."""
    return repr(float(value)) if math.isfinite(value) else ""


_MARK_CLASSES = {"✓": "good", "✗": "bad"}


def html_text(text: str) -> str:
    """A text escaped for HTML, with control characters escaped as well."""
    from html import escape  # late: its list of characters would take a hundredth of the time of `subflow --help`

    return escape(readable(text))


def table_html(table: TextTable) -> str:
    """A `table` element with the CSS classes "number" and "unit", "good" for ✓, and "bad" for ✗."""
    caption = f"<caption>{html_text(table.title)}</caption>" if table.title else ""
    head = "".join(f'<th scope="col"{_class(column)}>{_heading(column)}</th>' for column in table.columns)
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{_class(column, cell)}>{html_text(cell)}</td>" for column, cell in zip(table.columns, row, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _heading(column: TextColumn) -> str:
    unit = f' <span class="unit">{html_text(column.unit)}</span>' if column.unit else ""
    return html_text(column.title) + unit


def _class(column: TextColumn, cell: str = "") -> str:
    if column.is_mark and cell[:1] in _MARK_CLASSES:
        return f' class="{_MARK_CLASSES[cell[:1]]}"'
    return ' class="number"' if column.is_number else ""

"""A table of text as HTML, with what is needed to lay it out."""

from __future__ import annotations

from html import escape

from subflow_app.vocabulary.plain_text import readable
from subflow_app.vocabulary.tables import TextColumn, TextTable

_MARK_CLASSES = {"✓": "good", "✗": "bad"}


def html_text(text: str) -> str:
    """A text as it stands in a page, with controls spelled out."""
    return escape(readable(text))


def table_html(table: TextTable) -> str:
    """A `table` element; numbers, units and marks that say how something went have classes of these names."""
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

"""Output: tables and messages for people, JSON for programs, and a progress bar on stderr."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from subflow_app.core.json_document import json_text
from subflow_app.core.tables import Column, RowT, TextTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import Console

# A pipe has no width; wide enough that no cell of ours is cut.
_PIPE_WIDTH = 300
_LEAST_TEXT_WIDTH = 10


def print_json(document: object) -> None:
    """The one document of a command on stdout."""
    sys.stdout.write(json_text(document))


def print_line(text: str = "") -> None:
    """A line of text on stdout, as it is: no markup, no wrapping."""
    _write(sys.stdout, text)


def print_note(text: str) -> None:
    """A message on stderr."""
    _write(sys.stderr, text)


def print_error(text: str) -> None:
    """An error on stderr, with the name of the program as usual."""
    _write(sys.stderr, f"subflow: {text}")


def _write(stream: TextIO, text: str) -> None:
    stream.write(f"{text}\n")
    stream.flush()


def print_tables(*tables: TextTable) -> None:
    """Tables on stdout, numbers right-aligned, units below the headings, titles above."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = _console()
    for number, table in enumerate(tables):
        if number:
            console.print()
        drawn = Table(
            title=table.title or None,
            title_justify="left",
            title_style="bold",
            box=box.SIMPLE_HEAD,
            show_edge=False,
            padding=(0, 1, 0, 0),
        )
        has_units = any(column.unit for column in table.columns)
        for index, column in enumerate(table.columns):
            heading = Text(f"{column.title}\n{column.unit}" if has_units else column.title)
            if column.is_number:
                drawn.add_column(heading, justify="right", no_wrap=True)
            else:
                # On a narrow terminal text wraps, but never to nothing; a number on two lines would be two numbers.
                longest = max((len(row[index]) for row in table.rows), default=0)
                drawn.add_column(heading, overflow="fold", min_width=min(longest, _LEAST_TEXT_WIDTH))
        for row in table.rows:
            drawn.add_row(*(Text(cell) for cell in row))
        console.print(drawn)


def print_rows(rows: Iterable[RowT], columns: Sequence[Column[RowT]], title: str = "") -> None:
    """What columns say of rows, as a table on stdout."""
    print_tables(TextTable.of(rows, columns, title))


def print_list(
    rows: Sequence[RowT],
    columns: Sequence[Column[RowT]],
    document: Callable[[RowT], object],
    *,
    as_json: bool,
    nothing: str = "",
) -> None:
    """Rows on stdout: the document of each for programs, a table for people, or what to say where there are none."""
    if as_json:
        print_json([document(row) for row in rows])
    elif rows or not nothing:
        print_rows(rows, columns)
    else:
        print_line(nothing)


def stderr_console() -> Console:
    """A rich console on stderr."""
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def _console() -> Console:
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)

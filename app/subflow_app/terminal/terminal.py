"""Output: tables and messages for people, JSON for programs, and a console on stderr."""

from __future__ import annotations

import sys
from functools import cache
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, TextIO
from unicodedata import combining, east_asian_width

from subflow_app.foundation.json_document import json_text
from subflow_app.vocabulary.plain_text import readable
from subflow_app.vocabulary.tables import Column, RowT, TextTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rich.console import Console

# A pipe has no width; this value is large enough for all cells.
_PIPE_WIDTH = 300
_LEAST_TEXT_WIDTH = 10
_GAP = "  "


def print_json(document: object) -> None:
    """Print the JSON document of a command on stdout."""
    sys.stdout.write(json_text(document))


def print_line(text: str = "") -> None:
    """Print a line of text on stdout, without markup or wrapping."""
    _write(sys.stdout, text)


def print_note(text: str) -> None:
    """Print a message on stderr."""
    _write(sys.stderr, text)


def print_error(text: str) -> None:
    """Print an error on stderr, preceded by the name of the program."""
    _write(sys.stderr, f"subflow: {text}")


def _write(stream: TextIO, text: str) -> None:
    stream.write(f"{readable(text)}\n")
    stream.flush()


def output_width() -> int:
    """Width of stdout in characters; `_PIPE_WIDTH` if it is not a terminal."""
    return get_terminal_size().columns if sys.stdout.isatty() else _PIPE_WIDTH


def print_tables(*tables: TextTable) -> None:
    """Print tables on stdout, with right-aligned numbers, units below the headings, and titles above."""
    width = output_width()
    texts = ("".join(f"{line.rstrip()}\n" for line in _table_lines(table, width)) for table in tables)
    sys.stdout.write("\n".join(texts))
    sys.stdout.flush()


def _table_lines(table: TextTable, width: int) -> Iterator[str]:
    """The lines of a table, at most `width` characters wide unless numbers or minimum widths need more."""
    if table.title:
        yield readable(table.title)
    headings = [tuple(readable(column.title) for column in table.columns)]
    if any(column.unit for column in table.columns):
        headings.append(tuple(column.unit for column in table.columns))
    rows = [tuple(map(readable, row)) for row in table.rows]
    widths = [max(map(_widest_line, cells)) for cells in zip(*headings, *rows, strict=True)]
    # On a narrow terminal, text columns shrink to a minimum width and wrap; a number never wraps, because it would look
    # like two numbers.
    texts = [place for place, column in enumerate(table.columns) if not column.is_number]
    while sum(widths) + len(_GAP) * len(widths) > width:
        widest = max(texts, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= _LEAST_TEXT_WIDTH:
            break
        widths[widest] -= 1
    aligned = [str.rjust if column.is_number else str.ljust for column in table.columns]
    for heading in headings:
        yield from _row_lines(heading, widths, aligned)
    yield "─" * (sum(widths) + len(_GAP) * len(widths) - 1)
    for row in rows:
        yield from _row_lines(row, widths, aligned)


def _row_lines(
    row: Sequence[str], widths: Sequence[int], aligned: Sequence[Callable[[str, int], str]]
) -> Iterator[str]:
    cells = [
        [text] if _widest_line(text) <= width and "\n" not in text else _folded(text, width)
        for text, width in zip(row, widths, strict=True)
    ]
    for parts in zip_longest(*cells, fillvalue=""):
        yield _GAP.join(
            # The padding counts characters, but East Asian characters are two columns wide.
            align(part, width - _columns(part) + len(part))
            for part, width, align in zip(parts, widths, aligned, strict=True)
        )


def _folded(text: str, width: int) -> list[str]:
    return [part for line in text.split("\n") for part in wrap(line, width) or [""]]


def _widest_line(text: str) -> int:
    return _columns(text) if "\n" not in text else max(map(_columns, text.split("\n")))


def _columns(text: str) -> int:
    """Number of terminal columns that a text needs."""
    return len(text) if text.isascii() else sum(_columns_of(char) for char in text)


@cache
def _columns_of(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def print_rows(rows: Iterable[RowT], columns: Sequence[Column[RowT]], title: str = "") -> None:
    """Print columns of rows as a table on stdout."""
    print_tables(TextTable.of(rows, columns, title))


def print_list(
    rows: Sequence[RowT],
    columns: Sequence[Column[RowT]],
    document: Callable[[RowT], object],
    *,
    as_json: bool,
    nothing: str = "",
) -> None:
    """Print a list on stdout: one JSON array of documents, or a table; `nothing` replaces an empty table."""
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

"""Reads text tables with any common separator, a decimal point or comma, and optional headings and units.

The CSV files that Subflow exports can be read back completely.
"""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.measured.core.bins import FlowNames
from subflow_app.features.measured.core.measured_table import (
    COUNTERS,
    METRIC_NAMES,
    MOST_CELLS,
    OWNER_NAMES,
    TIME_NAMES,
    Heading,
    MeasuredTable,
    RawColumn,
    ReadingOptions,
    Target,
    distinct_targets,
    guess_target,
    read_heading,
    unit_named,
)
from subflow_app.features.measured.core.text_lines import TIME_UNITS, Steps, guess_time_unit, text_lines, time_of
from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.number_text import count_text
from subflow_sim.gate import open_file

_SEPARATORS = (";", "\t", ",", "|", " ")
_NOTHING = frozenset({"", "-", "–", "nan", "na", "n/a", "null", "none", "inf", "-inf", "?"})
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?\Z")
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,.]\d{3})+(?:[.,]\d+)?\Z")
_HEAD_BYTES = 65536
_HEAD_LINES = 60


class Shape(NamedTuple):
    """Layout of a text table: `is_comma` marks decimal commas; `first_row` is the line number of the headings, or 0."""

    separator: str
    is_comma: bool
    headings: tuple[str, ...]
    first_row: int


def read_csv(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a text table.

    Raises:
        InputError: if the file is empty, is not a table, is too long, or its times cannot be used.
        OSError: if the file cannot be read.
    """
    encoding, shape = table_shape(path)
    known = _known_table(shape.headings)
    _refuse_too_long(path, len(shape.headings))
    lines: list[int] = []
    columns: list[list[str]] = [[] for _ in shape.headings]
    notices: list[str] = []
    ragged, first_ragged = 0, 0
    for number, row in rows_of(path, encoding, shape.separator, options.watch):
        if number <= shape.first_row:
            continue
        if len(row) != len(columns):
            ragged += 1
            first_ragged = first_ragged or number
            if len(row) > len(columns):
                # With more cells than headings, the cells cannot be assigned to columns.
                continue
            row = [*row, *[""] * (len(columns) - len(row))]
        lines.append(number)
        for cells, cell in zip(columns, row, strict=True):
            cells.append(cell)
    if not lines:
        raise InputError(f"{path.name}: no samples, only {'headings' if shape.first_row else 'nothing'}")
    if ragged:
        notices.append(
            f"{ragged} line{'s have' if ragged > 1 else ' has'} another number of cells than the headings, first line"
            f" {first_ragged}: missing cells are not samples, and longer lines are left out."
        )
    place = _time_place(shape.headings, options)
    heading = read_heading(shape.headings[place])
    raw_s = _times(columns[place], shape, heading, options, path.name, known, notices)
    is_known = np.isfinite(raw_s)
    if not np.all(is_known):
        first = lines[int(np.flatnonzero(~is_known)[0])]
        notices.append(f"{np.count_nonzero(~is_known)} lines without a time are left out, first line {first}.")
    if not np.any(is_known):
        raise InputError(f'{path.name}: column "{shape.headings[place]}" has no times; choose another with --time')
    rows = np.flatnonzero(is_known)
    long = _long_form(shape.headings, columns, place, shape) if known is None else known.long_form(shape.headings)
    if long is None:
        found = _wide(shape, columns, place, raw_s, rows, lines, options, notices)
    else:
        found = _long(shape, columns, place, raw_s, rows, lines, options, notices, *long)
    if not found:
        raise InputError(f"{path.name}: no column of numbers beside the times")
    if known is not None:
        names = FlowNames(options.flow)
        paths: dict[str, str] = {}
        found = [known.column(each, names, paths) for each in found]
        notices.append(f"a table of {known.tool}: times are in microseconds, windows in bytes.")
    return MeasuredTable(
        "csv",
        tuple(distinct_targets(found)),
        tuple(notices),
        transport="QUIC" if known is not None else "",
        tool=known.tool if known is not None else "",
    )


def table_shape(path: Path) -> tuple[str, Shape]:
    """Encoding and layout of a text table.

    Raises:
        InputError: if the file is empty or not a table.
        OSError: if the file cannot be read.
    """
    encoding = _encoding(path)
    return encoding, _shape_of(_head(path, encoding), path.name)


def _wide(
    shape: Shape,
    columns: Sequence[Sequence[str]],
    place: int,
    raw_s: NDArray[np.float64],
    rows: NDArray[np.intp],
    lines: Sequence[int],
    options: ReadingOptions,
    notices: list[str],
) -> list[RawColumn]:
    """The columns of a wide table, in which each column is a trace."""
    steps = Steps(raw_s[rows], options.clock, [lines[row] for row in rows.tolist()])
    notices += steps.notices
    kept = rows[steps.kept]
    found = []
    for number, (title, cells) in enumerate(zip(shape.headings, columns, strict=True)):
        if number == place:
            continue
        values = _numbers(cells, shape, title, lines, notices)
        if values is not None:
            found.append(_column(title, steps.time_s, values[kept], options))
    return found


def _long(
    shape: Shape,
    columns: Sequence[Sequence[str]],
    place: int,
    raw_s: NDArray[np.float64],
    rows: NDArray[np.intp],
    lines: Sequence[int],
    options: ReadingOptions,
    notices: list[str],
    owners: int | None,
    metrics: int | None,
) -> list[RawColumn]:
    """The columns of a long table, in which each row names its owner, its trace, or both."""
    keys = [
        (
            columns[owners][row].strip() if owners is not None else "",
            columns[metrics][row].strip() if metrics is not None else "",
        )
        for row in rows.tolist()
    ]
    members: dict[tuple[str, str], list[int]] = {}
    for row, key in zip(rows.tolist(), keys, strict=True):
        members.setdefault(key, []).append(row)
    values = {
        number: _numbers(cells, shape, shape.headings[number], lines, notices)
        for number, cells in enumerate(columns)
        if number not in (place, owners, metrics)
    }
    found = []
    said: Counter[str] = Counter()
    for (owner, metric), chosen in members.items():
        at = np.array(chosen)
        steps = Steps(raw_s[at], options.clock, [lines[row] for row in chosen])
        said.update(steps.notices)
        for number, column in values.items():
            if column is None:
                continue
            name = metric or shape.headings[number]
            title = f"{owner}:{name}" if owner else name
            found.append(_column(title, steps.time_s, column[at][steps.kept], options))
    notices += list(said)
    return found


def _column(title: str, time_s: NDArray[np.float64], values: NDArray[np.float64], options: ReadingOptions) -> RawColumn:
    heading = read_heading(title)
    return RawColumn(title, time_s, values, heading.unit, guess_target(heading, options.flow), heading.name in COUNTERS)


# ---- tables of known programs ----


class KnownTable(NamedTuple):
    """A table whose headings have no units, because one program writes it.

    Attributes:
        tool: the program.
        marks: headings that identify the table, in lower case: all of the first set, and one of the second.
        columns: trace, unit, and whether the values count from the start, by heading in lower case; no other column of
            the table has a meaning.
        owners: headings of the column that names the path.
        has_whole_microseconds: whether times without fraction are microseconds.
    """

    tool: str
    marks: tuple[frozenset[str], frozenset[str]]
    columns: Mapping[str, tuple[str, str, bool]]
    owners: tuple[str, ...]
    has_whole_microseconds: bool

    def long_form(self, headings: Sequence[str]) -> tuple[int | None, int | None] | None:
        """Position of the column that names the path, in the form of `_long_form`."""
        names = [title.strip().lower() for title in headings]
        owner = next((names.index(each) for each in self.owners if each in names), None)
        return None if owner is None else (owner, None)

    def column(self, column: RawColumn, names: FlowNames, paths: dict[str, str]) -> RawColumn:
        """The column with the meaning and unit that the program gives it."""
        path, _, heading = column.title.rpartition(":")
        meaning = self.columns.get(heading.strip().lower())
        if path not in paths:
            paths[path] = names.subflow_of(self.tool)
        if meaning is None:
            return replace(column, target=None)
        trace, unit, is_counter = meaning
        title = f"path {path}: {heading}" if path else heading
        return replace(
            column, title=title, unit=unit, target=Target(SUBFLOW, paths[path], trace), is_counter=is_counter
        )


_KNOWN_TABLES = (
    KnownTable(
        "picoquic",
        (frozenset({"cwin"}), frozenset({"bwe_max", "highest ack", "cwin blkd", "bandwidth (b/s)"})),
        {
            "cwin": ("cwnd_pkts", "B", False),
            "rtt": ("srtt_s", "us", False),
            "srtt": ("srtt_s", "us", False),
            "rtt min": ("min_rtt_s", "us", False),
            "one-way-delay": ("one_way_delay_s", "us", False),
            "inflight": ("inflight_pkts", "B", False),
            "transit": ("inflight_pkts", "B", False),
            "lost": ("losses_pkts", "pkt", True),
            "nb retrans": ("losses_pkts", "pkt", True),
            "receive rate (b/s)": ("goodput_bps", "B/s", False),
        },
        ("path", "path_id", "path id"),
        has_whole_microseconds=True,
    ),
)


def _known_table(headings: Sequence[str]) -> KnownTable | None:
    names = {title.strip().lower() for title in headings}
    return next((each for each in _KNOWN_TABLES if each.marks[0] <= names and each.marks[1] & names), None)


# ---- layout of the text ----


def _encoding(path: Path) -> str:
    with open_file(path) as file:
        start = file.read(_HEAD_BYTES)
    if not start.strip():
        raise InputError(f"{path.name} is empty")
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in start:
        raise InputError(f"{path.name} is not text: allowed: CSV, ss, iperf3, tshark, qlog, and captures")
    try:
        start[:-4].decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1"
    return "utf-8-sig"


def _head(path: Path, encoding: str) -> list[tuple[int, str]]:
    """The first rows, each with the number of its last line, because a quoted cell may span several lines."""
    lines = list(itertools.islice(text_lines(path, encoding), _HEAD_LINES))
    rows, at = [], 0
    while at < len(lines):
        end, row = at + 1, lines[at]
        while row.count('"') % 2 and end < len(lines):
            row += lines[end]
            end += 1
        if row.count('"') % 2:  # an unmatched quote is an ordinary character
            end, row = at + 1, lines[at]
        rows.append((end, row.rstrip("\r\n")))
        at = end
    return rows


def rows_of(
    path: Path, encoding: str, separator: str, watch: Callable[[float], None]
) -> Iterator[tuple[int, list[str]]]:
    """Rows with their line numbers from 1, without comments and empty lines."""
    lines = text_lines(path, encoding, watch)
    if separator == " ":
        for number, line in enumerate(lines, start=1):
            if line.strip() and not line.lstrip().startswith("#"):
                yield number, line.split()
        return
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    try:
        for row in reader:
            if row and any(cell.strip() for cell in row) and not row[0].lstrip().startswith("#"):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path.name}: line {reader.line_num}: {error}") from error


def _shape_of(head: Sequence[tuple[int, str]], name: str) -> Shape:
    """Find the layout, with the separator that splits the largest part of the lines into the same number of cells.

    The first line becomes the headings if one of its cells is not a value.
    """
    lines = [(number, line) for number, line in head if line.strip() and not line.lstrip().startswith("#")]
    if not lines:
        raise InputError(f"{name} is empty")
    texts = [line for _, line in lines]
    best: tuple[float, str] | None = None
    for separator in _SEPARATORS:
        widths = [len(_split(line, separator)) for line in texts]
        usual, how_many = Counter(widths).most_common(1)[0]
        if usual < 2:
            continue
        # The number of decimal commas varies between lines, so a comma that is not a separator scores less. Blanks
        # score less, because they often follow other separators.
        score = how_many / len(widths) * (0.2 if separator == " " else 1.0)
        if best is None or score > best[0] + 1e-9:
            best = (score, separator)
    if best is None:
        raise InputError(
            f'{name}: line {lines[0][0]}: "{lines[0][1][:60]}" has one cell only; a table has times and values,'
            " separated by comma, semicolon, tab, bar or blanks"
        )
    separator = best[1]
    first_number, first = lines[0]
    cells = [cell.strip().strip('"') for cell in _split(first, separator)]
    body = [cell.strip() for line in texts[1:] or texts for cell in _split(line, separator)]
    is_comma = separator != "," and any(_DECIMAL_COMMA.match(cell) for cell in body)
    has_headings = any(not _is_value(cell) for cell in cells)
    if not has_headings:
        return Shape(separator, is_comma, tuple(f"column {place}" for place in range(1, len(cells) + 1)), 0)
    return Shape(separator, is_comma, _distinct(cells), first_number)


def _split(line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:  # the cell is too long; another separator may fit, and otherwise `rows_of` reports the line
        return []


def _distinct(titles: Sequence[str]) -> tuple[str, ...]:
    seen: Counter[str] = Counter()
    distinct = []
    for place, title in enumerate(titles, start=1):
        named = title or f"column {place}"
        seen[named] += 1
        distinct.append(named if seen[named] == 1 else f"{named} #{seen[named]}")
    return tuple(distinct)


def _is_value(cell: str) -> bool:
    return cell.lower() in _NOTHING or _number(cell, is_comma="," in cell) is not None or time_of(cell) is not None


def _number(cell: str, *, is_comma: bool) -> float | None:
    text = cell.strip()
    if _GROUPED.match(text) and text.count(",") + text.count(".") > 1:
        # In 1,234,567.8 and 1.234.567,8, both marks occur, and the last is the decimal mark. If only one kind of mark
        # occurs, as in 1,234,567, it groups digits.
        last = max(text.rfind(","), text.rfind("."))
        other = "." if text[last] == "," else ","
        text = text.replace(other, "").replace(text[last], "." if other in cell else "")
    elif is_comma:
        text = text.replace(",", ".")
    try:
        # float() accepts "1_000", which no measuring tool writes.
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _numbers(
    cells: Sequence[str], shape: Shape, title: str, lines: Sequence[int], notices: list[str]
) -> NDArray[np.float64] | None:
    """A column as float64 with NaN for missing values.

    None if most cells are text, or if the column has no numbers and an unknown heading.
    """
    values = np.full(len(cells), np.nan)
    wrong: list[int] = []
    known = 0
    for place, cell in enumerate(cells):
        number = _number(cell, is_comma=shape.is_comma)
        if number is None:
            if cell.strip().lower() not in _NOTHING:
                wrong.append(place)
        else:
            known += 1
            values[place] = number if math.isfinite(number) else np.nan
    if len(wrong) > known or (known == 0 and guess_target(read_heading(title), "") is None):
        return None
    if wrong:
        notices.append(
            f'"{title}": {len(wrong)} cell{"s are" if len(wrong) > 1 else " is"} not a number and left out, first'
            f' "{cells[wrong[0]].strip()[:40]}" in line {lines[wrong[0]]}.'
        )
    return values


# ---- meanings of the columns ----


def _time_place(headings: Sequence[str], options: ReadingOptions) -> int:
    if options.time_column:
        if options.time_column not in headings:
            raise InputError(f'--time "{options.time_column}": unknown column; allowed: {", ".join(headings[:20])}')
        return headings.index(options.time_column)
    names = [read_heading(title).name for title in headings]
    return next((names.index(name) for name in TIME_NAMES if name in names), 0)


def _times(
    cells: Sequence[str],
    shape: Shape,
    heading: Heading,
    options: ReadingOptions,
    name: str,
    known: KnownTable | None,
    notices: list[str],
) -> NDArray[np.float64]:
    """Times in seconds; NaN in rows without a time."""
    raw = np.full(len(cells), np.nan)
    is_date = False
    for place, cell in enumerate(cells):
        number = _number(cell, is_comma=shape.is_comma)
        if number is None and cell.strip().lower() not in _NOTHING:
            number = time_of(cell)
            is_date = is_date or number is not None
        if number is not None and math.isfinite(number):
            raw[place] = number
    if is_date:
        return raw
    unit = options.time_unit or (heading.unit if heading.unit in TIME_UNITS else "")
    if options.time_unit and unit_named(options.time_unit) not in TIME_UNITS:
        raise InputError(f'{name}: "{options.time_unit}" is not a unit of time; allowed: {", ".join(TIME_UNITS)}')
    finite = raw[np.isfinite(raw)]
    if not unit and known is not None and known.has_whole_microseconds and len(finite) and np.all(finite % 1 == 0):
        unit = "us"
        notices.append(f"the times are whole numbers: {known.tool} writes them in microseconds.")
    if not unit and len(finite):
        unit = guess_time_unit(float(finite[0]))
        if unit != "s":
            notices.append(f"the times are read as {unit} since 1970; --unit time=UNIT changes it.")
    with np.errstate(over="ignore"):
        return raw * TIME_UNITS[unit_named(unit or "s") or "s"]


def _long_form(
    headings: Sequence[str], columns: Sequence[Sequence[str]], place: int, shape: Shape
) -> tuple[int | None, int | None] | None:
    """Positions of the columns with owners and trace names; None unless the table has the long form."""
    owners = metrics = None
    times = columns[place]
    repeats = len(set(times)) < len(times)
    for number, title in enumerate(headings):
        if number == place:
            continue
        name = read_heading(title).name
        is_text = any(
            cell.strip() and _number(cell, is_comma=shape.is_comma) is None for cell in columns[number][:1000]
        )
        if owners is None and name in OWNER_NAMES and (is_text or repeats):
            owners = number
        elif metrics is None and name in METRIC_NAMES and is_text:
            metrics = number
    return None if owners is None and metrics is None else (owners, metrics)


def _refuse_too_long(path: Path, columns: int) -> None:
    """Estimates the number of values from the size of the file, and refuses a file that would take minutes to read."""
    size = path.stat().st_size
    with open_file(path) as file:
        start = file.read(_HEAD_BYTES)
    lines = max(1, start.count(b"\n"))
    estimate = size / (len(start) / lines)
    if estimate * columns > MOST_CELLS:
        most = MOST_CELLS // columns
        every = math.ceil(estimate / most)
        raise InputError(
            f"{path.name} has about {estimate:.3g} lines; at most {count_text(most)} of {columns} columns are read: "
            f"take a part (head -n {most}), or every {every}th line (awk 'NR % {every} == 1')"
        )


def _is_text(head: bytes) -> bool:
    return head.startswith((b"\xff\xfe", b"\xfe\xff")) or (b"\0" not in head and not head.startswith(b"\x1f\x8b"))


FORMATS = (TraceFormat("csv", "table", (".csv", ".tsv", ".dat", ".txt"), _is_text, read_csv),)

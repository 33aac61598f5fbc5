"""Reads a measured file of any format, and applies what a person told about its columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from subflow_app.features.measured.core.csv_reader import read_csv
from subflow_app.features.measured.core.measured_table import (
    BY_NAME,
    MeasuredTable,
    RawColumn,
    ReadingOptions,
    parse_target,
    unit_named,
    units_of,
)
from subflow_app.features.measured.core.pcap_reader import looks_like_pcap, read_pcap
from subflow_app.features.measured.core.ss_reader import looks_like_ss, read_ss
from subflow_app.foundation.errors import InputError
from subflow_sim.gate import open_file

FORMATS = ("auto", "csv", "ss", "pcap")
_HEAD_BYTES = 16384
_CAPTURES = (".pcap", ".pcapng")


def read_trace(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Reads a file as a table of columns, with what a person told about them.

    Raises:
        InputError: if it cannot be read as what it is said to be, with the reason and the way on.
        AppError: if a package is missing.
    """
    if options.format not in FORMATS:
        raise InputError(f'--format = "{options.format}": must be one of {", ".join(FORMATS)}')
    try:
        kind = options.format if options.format != "auto" else _format_of(path)
        read = {"csv": read_csv, "ss": read_ss, "pcap": read_pcap}[kind]
        table = read(path, options)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    return told(table, options.maps, options.units)


def told(table: MeasuredTable, maps: Mapping[str, str], units: Mapping[str, str]) -> MeasuredTable:
    """The table with other meanings and units of some columns.

    Args:
        table: as read.
        maps: trace by title of the column, as ``cwnd_pkts:download/1``; empty or "-": the column is left out.
        units: unit by title.

    Raises:
        InputError: if there is no such column, trace or unit.
    """
    titles = [column.title for column in table.columns]
    for title in (*maps, *units):
        if title not in titles:
            raise InputError(f'unknown column "{title}"; allowed: {", ".join(titles[:20])}')
    columns = [_told(column, maps.get(column.title), units.get(column.title)) for column in table.columns]
    mapped = {column.target for column in columns if column.title in maps and column.target is not None}
    # What is told goes before what was guessed.
    columns = [
        replace(column, target=None) if column.target in mapped and column.title not in maps else column
        for column in columns
    ]
    seen: dict[object, str] = {}
    for column in columns:
        if column.target is None:
            continue
        if column.target in seen:
            raise InputError(f'"{column.title}" and "{seen[column.target]}" are both mapped to {column.target.text}')
        seen[column.target] = column.title
    return replace(table, columns=tuple(columns))


def _told(column: RawColumn, target: str | None, unit: str | None) -> RawColumn:
    if target is not None:
        column = replace(column, target=parse_target(target) if target not in ("", "-") else None)
    if unit is not None:
        named = unit_named(unit) if unit else ""
        quantity = BY_NAME[column.target.name] if column.target is not None else None
        allowed = units_of(quantity.unit) if quantity is not None else None
        # "MB" of a rate is a slip for MB/s that nobody should guess about.
        if named is None or (allowed is not None and named and named not in allowed and not column.is_counter):
            what = f" for {quantity.name}" if quantity is not None else ""
            known = ", ".join(allowed) if allowed is not None else "bit/s, s, pkt, B and their multiples"
            raise InputError(f'"{column.title}": "{unit}" is not a unit{what}; allowed: {known}')
        column = replace(column, unit=named)
    return column


def _format_of(path: Path) -> str:
    with open_file(path) as file:
        start = file.read(_HEAD_BYTES)
    if not start.strip():
        raise InputError(f"{path.name} is empty")
    # One that ends inside its first bytes is told as what it is.
    if looks_like_pcap(start) or path.suffix.lower() in _CAPTURES:
        return "pcap"
    if start[:2] == b"\x1f\x8b":
        raise InputError(f"{path.name} is compressed: unpack it first (gunzip)")
    return "ss" if looks_like_ss(start.decode("utf-8", errors="replace")) else "csv"

"""The samples of a run as tables for other programs: long CSV, and Parquet, wide or long.

Wide tables have one column for each trace, as in ``subflows.csv``, ``flows.csv`` and ``links.csv`` (see `exports`).
Long tables have one row for each sample: ``time_s, scope, owner, quantity, unit, value``, as data frames and grammars
of graphics expect. All values are SI. The name of a quantity ends in its unit. In addition, long tables contain a
column of units, and Parquet files contain metadata: the key ``subflow`` is a JSON document with title, seed, signature
and so on, and in wide files also with the unit of each column.

Flat tables are written as Apache Parquet: columns of floats and strings, in row groups, compressed with zstd. This
module implements only the part of the format (https://parquet.apache.org/docs/file-format/) that tables of samples
need, which avoids a dependency of 75 MB. Floats are split into streams of their first, second, … bytes, because the
values of a trace differ in few bytes; this halves the size. Strings are stored in a dictionary. The tests read the
files with Apache Arrow.

Metadata in Parquet files uses the compact protocol of Apache Thrift, of which this module implements the necessary
part: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from numpy.typing import NDArray

from subflow_app import __version__
from subflow_app.features.exporting.core.exports import TABLE_FILES, number_texts, time_texts
from subflow_app.features.traces.core.traces import NANOSECONDS, SeriesKey, Traces, select_keys
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.palette import written
from subflow_app.vocabulary.tables import csv_text


@dataclass(frozen=True, slots=True)
class I32:
    """Thrift integer of 32 bits."""

    number: int
    KIND = 5


@dataclass(frozen=True, slots=True)
class I64:
    """Thrift integer of 64 bits."""

    number: int
    KIND = 6


@dataclass(frozen=True, slots=True)
class Text:
    """Thrift string."""

    text: str
    KIND = 8


class List:
    """Thrift list: values of one kind."""

    KIND = 9

    def __init__(self, kind: type[Value], values: Sequence[Value]) -> None:
        self.element_kind = kind.KIND
        self.values = values


class Struct:
    """Thrift struct: fields in ascending order of their numbers; the difference between neighbours is at most 15."""

    KIND = 12

    def __init__(self, *fields: Field) -> None:
        self.fields = fields


Value = I32 | I64 | Text | List | Struct


@dataclass(frozen=True, slots=True)
class Field:
    """A value with its number in a struct."""

    number: int
    value: Value


def encoded(value: Value) -> bytes:
    """Encode a value in the compact protocol."""
    out = bytearray()
    _write(out, value)
    return bytes(out)


def _write(out: bytearray, value: Value) -> None:
    if isinstance(value, I32 | I64):
        out += varint(value.number << 1 ^ value.number >> 63)  # zigzag encoding: small numbers of either sign are short
    elif isinstance(value, Text):
        raw = value.text.encode()
        out += varint(len(raw)) + raw
    elif isinstance(value, List):
        count = len(value.values)
        if count < 15:
            out.append(count << 4 | value.element_kind)
        else:  # the count does not fit into the byte of the kind
            out += bytes([0xF0 | value.element_kind]) + varint(count)
        for each in value.values:
            _write(out, each)
    else:
        last = 0
        for field in value.fields:
            out.append(field.number - last << 4 | field.value.KIND)
            last = field.number
            _write(out, field.value)
        out.append(0)


def varint(number: int) -> bytes:
    """Encode a non-negative number in groups of seven bits, the lowest first."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


_MAGIC = b"PAR1"
_FORMAT_VERSION = 2
_LEVEL = 3

# Enumerations of the Parquet format.
_FLOAT, _DOUBLE, _BYTE_ARRAY = 4, 5, 6
_REQUIRED, _OPTIONAL = 0, 1
_PLAIN, _RLE, _RLE_DICTIONARY, _BYTE_STREAM_SPLIT = 0, 3, 8, 9
_DATA_PAGE, _DICTIONARY_PAGE = 0, 2
_ZSTD = 6
_UTF8 = 0

ROWS_PER_GROUP = 1 << 20
"""Rows in a row group; readers hold one group in memory at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of numbers.

    Attributes:
        name: name of the column.
        values: float32 or float64, shape (rows,); NaN is written as null if the column may have nulls.
        has_nulls: whether the column may have nulls.
    """

    name: str
    values: NDArray[np.floating[Any]]
    has_nulls: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """A column of strings with few distinct values.

    Attributes:
        name: name of the column.
        texts: the distinct strings.
        runs: pairs of (index of the string, number of consecutive rows), from the first row.
    """

    name: str
    texts: Sequence[str]
    runs: Sequence[tuple[int, int]]


Column = Numbers | Names


def parquet_bytes(columns: Sequence[Column], metadata: Mapping[str, str], created_by: str) -> bytes:
    """The content of a Parquet file.

    Args:
        columns: the columns, of equal length.
        metadata: strings in the footer, by key.
        created_by: program that wrote the file: "NAME version 1.2.3".
    """
    n_rows = _count(columns[0])
    out = bytearray(_MAGIC)
    groups = [
        _group(out, [_part(column, first, min(first + ROWS_PER_GROUP, n_rows)) for column in columns])
        for first in range(0, n_rows, ROWS_PER_GROUP)
    ]
    root = Struct(Field(4, Text("schema")), Field(5, I32(len(columns))))
    footer = encoded(
        Struct(
            Field(1, I32(_FORMAT_VERSION)),
            Field(2, List(Struct, [root, *map(_schema_element, columns)])),
            Field(3, I64(n_rows)),
            Field(4, List(Struct, groups)),
            Field(5, List(Struct, [_key_value(key, value) for key, value in metadata.items()])),
            Field(6, Text(created_by)),
        )
    )
    return bytes(out) + footer + len(footer).to_bytes(4, "little") + _MAGIC


def _count(column: Column) -> int:
    return len(column.values) if isinstance(column, Numbers) else sum(count for _, count in column.runs)


def _part(column: Column, first: int, end: int) -> Column:
    """Rows of a column from ``first`` up to, but excluding, ``end``."""
    if isinstance(column, Numbers):
        return Numbers(column.name, column.values[first:end], column.has_nulls)
    ends = list(accumulate(count for _, count in column.runs))
    kept = [
        (which, min(stop, end) - max(stop - count, first))
        for (which, count), stop in zip(column.runs, ends, strict=True)
    ]
    return Names(column.name, column.texts, [(which, count) for which, count in kept if count > 0])


def _schema_element(column: Column) -> Struct:
    if isinstance(column, Names):
        string = Struct(Field(1, Struct()))  # member of the union of logical types
        kind, repetition = _BYTE_ARRAY, _REQUIRED
        marks = [Field(6, I32(_UTF8)), Field(10, string)]
    else:
        kind, repetition, marks = _physical(column), _OPTIONAL if column.has_nulls else _REQUIRED, []
    return Struct(Field(1, I32(kind)), Field(3, I32(repetition)), Field(4, Text(column.name)), *marks)


def _physical(column: Numbers) -> int:
    return _DOUBLE if column.values.dtype == np.float64 else _FLOAT


def _key_value(key: str, value: str) -> Struct:
    return Struct(Field(1, Text(key)), Field(2, Text(value)))


def _group(out: bytearray, columns: Sequence[Column]) -> Struct:
    """Append the chunks of a row group and return its metadata."""
    begin = len(out)
    chunks = [_names_chunk(out, each) if isinstance(each, Names) else _numbers_chunk(out, each) for each in columns]
    return Struct(Field(1, List(Struct, chunks)), Field(2, I64(len(out) - begin)), Field(3, I64(_count(columns[0]))))


def _numbers_chunk(out: bytearray, column: Numbers) -> Struct:
    levels, values, n_nulls = b"", column.values, 0
    if column.has_nulls:
        known = ~np.isnan(values)
        packed = _run_lengths(known)
        levels = len(packed).to_bytes(4, "little") + packed
        values, n_nulls = values[known], int(len(known) - known.sum())
    little = np.ascontiguousarray(values, values.dtype.newbyteorder("<"))
    streams = little.view(np.uint8).reshape(len(little), little.itemsize).T.tobytes()
    begin = len(out)
    sizes = _data_page(out, levels + streams, len(column.values), _BYTE_STREAM_SPLIT)
    kinds = [_RLE, _BYTE_STREAM_SPLIT]
    return _chunk(column, _physical(column), kinds, begin, sizes, n_nulls=n_nulls)


def _names_chunk(out: bytearray, column: Names) -> Struct:
    begin = len(out)
    raw = [text.encode() for text in column.texts]
    page = b"".join(len(text).to_bytes(4, "little") + text for text in raw)
    header = Field(7, Struct(Field(1, I32(len(raw))), Field(2, I32(_PLAIN))))
    dictionary = _page(out, _DICTIONARY_PAGE, page, header)
    data_begin = len(out)
    width = max(1, (len(raw) - 1).bit_length())
    size = (width + 7) // 8
    runs = b"".join(varint(count << 1) + which.to_bytes(size, "little") for which, count in column.runs)
    data = _data_page(out, bytes([width]) + runs, _count(column), _RLE_DICTIONARY)
    sizes = (dictionary[0] + data[0], dictionary[1] + data[1])
    kinds = [_PLAIN, _RLE, _RLE_DICTIONARY]
    return _chunk(column, _BYTE_ARRAY, kinds, data_begin, sizes, dictionary_begin=begin)


def _chunk(
    column: Column,
    kind: int,
    encodings: Sequence[int],
    data_begin: int,
    sizes: tuple[int, int],
    *,
    dictionary_begin: int | None = None,
    n_nulls: int = 0,
) -> Struct:
    told = [
        Field(1, I32(kind)),
        Field(2, List(I32, [I32(encoding) for encoding in encodings])),
        Field(3, List(Text, [Text(column.name)])),
        Field(4, I32(_ZSTD)),
        Field(5, I64(_count(column))),
        Field(6, I64(sizes[0])),
        Field(7, I64(sizes[1])),
        Field(9, I64(data_begin)),
        *([] if dictionary_begin is None else [Field(11, I64(dictionary_begin))]),
        Field(12, Struct(Field(3, I64(n_nulls)))),
    ]
    # Offset of the chunk's metadata outside the footer; 0, because only the footer contains this metadata.
    return Struct(Field(2, I64(0)), Field(3, Struct(*told)))


def _data_page(out: bytearray, body: bytes, n_values: int, encoding: int) -> tuple[int, int]:
    levels = (Field(3, I32(_RLE)), Field(4, I32(_RLE)))
    return _page(out, _DATA_PAGE, body, Field(5, Struct(Field(1, I32(n_values)), Field(2, I32(encoding)), *levels)))


def _page(out: bytearray, kind: int, body: bytes, header: Field) -> tuple[int, int]:
    """Append a page; return its size before and after compression, both including the header."""
    packed = zstandard.ZstdCompressor(level=_LEVEL).compress(body)
    head = encoded(Struct(Field(1, I32(kind)), Field(2, I32(len(body))), Field(3, I32(len(packed))), header))
    out += head + packed
    return len(head) + len(body), len(head) + len(packed)


def _run_lengths(flags: NDArray[np.bool_]) -> bytes:
    """Encode flags of one bit as runs of equal values: the run-length encoding of Parquet's hybrid encoding."""
    edges = np.flatnonzero(flags[1:] != flags[:-1]) + 1
    begins = np.concatenate(([0], edges))
    counts = np.diff(np.concatenate((begins, [len(flags)])))
    return b"".join(
        varint(int(count) << 1) + bytes([int(flags[begin])])
        for begin, count in zip(begins, counts, strict=True)
        if count
    )


_TIME = "time_s"
LONG_COLUMNS = (_TIME, "scope", "owner", "quantity", "unit", "value")
_LONG_FILE = "samples"


def write_long_csv(
    traces: Traces, keys: Sequence[SeriesKey], folder: Path, _described: Mapping[str, Any]
) -> list[Path]:
    """Write `samples.csv`, a row per sample; see `table_formats.TableFormat` for the arguments."""
    lines = [",".join(LONG_COLUMNS)]
    times: dict[int, list[str]] = {}
    for key in keys:
        time_s, values = traces.read(key)
        if len(time_s) not in times:  # the traces of a run nearly always have common sample times
            times[len(time_s)] = time_texts((time_s * NANOSECONDS).round().astype(np.int64))
        middle = csv_text(_texts(key), ()).removesuffix("\n")
        rows = zip(times[len(time_s)], number_texts(values), strict=False)
        lines += [f"{time},{middle},{value}" for time, value in rows]
    return [write_file(folder / f"{_LONG_FILE}.csv", "\n".join(lines) + "\n")]


def write_long_parquet(
    traces: Traces, keys: Sequence[SeriesKey], folder: Path, described: Mapping[str, Any]
) -> list[Path]:
    """Write `samples.parquet`, a row per sample; see `table_formats.TableFormat` for the arguments."""
    return [_write_parquet(_long_columns(traces, keys), folder / f"{_LONG_FILE}.parquet", traces, described)]


def write_wide_parquet(
    traces: Traces, _keys: Sequence[SeriesKey], folder: Path, described: Mapping[str, Any]
) -> list[Path]:
    """Write a file for each scope, a column per trace; see `table_formats.TableFormat` for the arguments."""
    return [
        _write_parquet(
            _wide_columns(traces, chosen),
            (folder / file).with_suffix(".parquet"),
            traces,
            {"units": {_TIME: "s"} | {_column(key): key.unit for key in chosen}, **described},
        )
        for scope, file in TABLE_FILES.items()
        if (chosen := select_keys(traces, scope))
    ]


def _wide_columns(traces: Traces, keys: Sequence[SeriesKey]) -> list[Column]:
    read = [traces.read(key) for key in keys]
    count = min(len(values) for _, values in read)
    time_s = read[0][0][:count]
    columns = (
        Numbers(_column(key), values[:count], has_nulls=True) for key, (_, values) in zip(keys, read, strict=True)
    )
    return [Numbers(_TIME, _rounded(time_s)), *columns]


def _long_columns(traces: Traces, keys: Sequence[SeriesKey]) -> list[Column]:
    read = [traces.read(key) for key in keys]
    counts = [min(len(time_s), len(values)) for time_s, values in read]
    times = np.concatenate([time_s[:count] for (time_s, _), count in zip(read, counts, strict=True)])
    values = np.concatenate([values[:count] for (_, values), count in zip(read, counts, strict=True)])
    names = []
    for place, name in enumerate(LONG_COLUMNS[1:-1]):
        texts = [_texts(key)[place] for key in keys]
        different = {text: index for index, text in enumerate(dict.fromkeys(texts))}
        runs = [(different[text], count) for text, count in zip(texts, counts, strict=True)]
        names.append(Names(name, tuple(different), runs))
    return [Numbers(_TIME, _rounded(times)), *names, Numbers(LONG_COLUMNS[-1], values, has_nulls=True)]


def _column(key: SeriesKey) -> str:
    return f"{written(key.owner)}:{key.name}"


def _texts(key: SeriesKey) -> tuple[str, str, str, str]:
    return key.scope, written(key.owner), key.name, key.unit


def _rounded(time_s: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Round times to nine decimals, which removes the rounding of binary fractions."""
    return np.round(time_s, 9)


def _write_parquet(columns: Sequence[Column], path: Path, traces: Traces, described: Mapping[str, Any]) -> Path:
    facts = {"title": traces.title, "duration_s": traces.duration_s, "warmup_s": traces.warmup_s, **described}
    metadata = {"subflow": json.dumps(facts, ensure_ascii=False)}
    return write_file(path, parquet_bytes(columns, metadata, f"subflow version {__version__}"))

"""Files of recorded numbers, one per line or in named columns with units, and their form in stored runs.

A stored run and a bundle contain the recording itself instead of its path: as text if short, otherwise packed. Packing
takes the differences between successive numbers, groups their bytes by significance and compresses them: a regular
recording of 64 MB shrinks below 1 MB, and noise to half its size. A database stores each recording once; the texts
of its runs refer to the recording by hash, ``packed#...``. Reading a run restores the recording; the hash remains only
if the recording is lost.
"""

from __future__ import annotations

import base64
import binascii
import re
import warnings
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from subflow_sim.beside import read_beside, shown
from subflow_sim.errors import ParamError
from subflow_sim.gate import MOST_OWN_BYTES, MOST_SECONDS

MAX_NUMBERS = 32_000_000
"""Maximum number of values in a file of the maximum size."""

FloatArray = npt.NDArray[np.float64]
CountArray = npt.NDArray[np.uint32]

_PACKED = "packed:"
_NAMED = "packed#"
_AT_ONCE = 1 << 18
_MOST_AS_TEXT = 2000
_HOLE_FACTOR = 10
_HOLE_S = 1.0
_TIMES: Mapping[str, float] = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
_COLUMN = re.compile(r"([a-z]+)_([a-z]+)")
_UNITS: Mapping[str, Mapping[str, float]] = {
    "time": _TIMES,
    "delay": _TIMES,
    "rtt": _TIMES,
    "rate": {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9},
    "loss": {"percent": 0.01, "ratio": 1.0},
}
_COLUMNS_ALLOWED = (
    "a first line with names and units, e.g. time_s,rate_mbps,delay_ms; a column time_s or time_ms is needed"
)


def read_recording(name: str, folder: Path | None, example: str) -> str:
    """Reads a recording that belongs to a scenario; see `read_beside`.

    Raises:
        ParamError: if the file cannot be read, is too large or is not text.
    """
    content = read_beside(name, folder, MOST_OWN_BYTES, example)
    try:
        return content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParamError(f"{shown(name)} line {line}: not a text of numbers", "a text of numbers") from error


def numbers_of(text: str, allowed: str) -> FloatArray | None:
    """All numbers of a text; None if the text contains anything else.

    Args:
        text: numbers separated by white space.
        allowed: characters allowed in a number besides digits.
    """
    if text.translate(dict.fromkeys(map(ord, "0123456789 \t\r\n" + allowed))):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, dtype=np.float64, sep=" ")
        except (DeprecationWarning, ValueError):
            return None


# ---- columns ----


def has_columns(text: str) -> bool:
    """True if the text begins with a letter, i.e. with a line of column names."""
    return text.lstrip()[:1].isalpha()


def column_of(text: str, *wanted: str) -> tuple[FloatArray, FloatArray, str]:
    """The times of a table and one of its columns.

    Args:
        text: rows with commas between columns; the first row contains the names.
        wanted: names without unit, in order of preference; the first that the table contains is used.

    Returns:
        Times in s from 0, values in SI units, and the name without unit.

    Raises:
        ParamError: if a column is missing, a line is not usable, fewer than two rows follow the names, times do not
            ascend, or a gap is too long.
    """
    header, _, rows = text.lstrip().partition("\n")
    names = [name.strip() for name in header.split(",")]
    if not all(map(_is_ours, names)):
        from subflow_sim.rate_tables import foreign_column  # imported here, because it is seldom needed

        times_s, values, found = foreign_column(text, wanted)
        _check_times(times_s, "the time")
        return times_s - times_s[0], values, found
    scales = [_scale_of(name) for name in names]
    known = [name.partition("_")[0] for name in names]
    chosen = next((each for each in wanted if each in known), None)
    if "time" not in known or chosen is None:
        missing = "time" if "time" not in known else " or ".join(wanted)
        raise ParamError(f"line 1: no column for {missing}", _COLUMNS_ALLOWED)
    table = numbers_of(rows.replace(",", " "), ".+-eE")
    lines = rows.rstrip().count("\n") + 1 if rows.strip() else 0
    if table is None or table.size != lines * len(names) or not np.isfinite(table).all() or rows.count("\n\n"):
        _refuse_row(rows, names)
    if table is None or lines < 2:
        raise ParamError("fewer than two lines of numbers in it", _COLUMNS_ALLOWED)
    table = table.reshape(lines, len(names))
    with np.errstate(over="ignore"):
        scaled = table * scales
    at_time = known.index("time")
    too_large = ~np.isfinite(scaled)
    too_large[:, at_time] |= np.abs(scaled[:, at_time]) > MOST_SECONDS
    if too_large.any():
        line, column = np.argwhere(too_large)[0]
        raise ParamError(f"line {line + 2}: {names[column]} is {table[line, column]:g}", "a number of such a quantity")
    times_s = scaled[:, at_time]
    _check_times(times_s, names[known.index("time")])
    at = known.index(chosen)
    values = table[:, at]
    if (values < 0).any():
        line = int(np.argmax(values < 0))
        raise ParamError(f"line {line + 2}: {names[at]} is {values[line]:g}", "0 or more")
    return times_s - times_s[0], scaled[:, at], chosen


def _is_ours(name: str) -> bool:
    found = _COLUMN.fullmatch(name)
    return found is not None and found[2] in _UNITS.get(found[1], {})


def _scale_of(name: str) -> float:
    found = _COLUMN.fullmatch(name)
    units = _UNITS.get(found[1], {}) if found else {}
    if found is None or found[2] not in units:
        raise ParamError(f"line 1: {shown(name)} is not a column with a unit", _COLUMNS_ALLOWED)
    return units[found[2]]


def _refuse_row(rows: str, names: list[str]) -> None:
    for number, line in enumerate(rows.rstrip().split("\n"), start=2):
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(names):
            what = "a hole: the line is empty" if not line.strip() else f"{len(cells)} values"
            raise ParamError(f"line {number}: {what}", f"{len(names)} values: {','.join(names)}")
        for name, cell in zip(names, cells, strict=True):
            found = numbers_of(cell, ".+-eE")
            if found is None or found.size != 1 or not np.isfinite(found).all():
                what = f"a hole: {name} has no value" if not cell else f"{name} is {shown(cell)}, which is not a number"
                raise ParamError(f"line {number}: {what}", "a number in each column")


def _check_times(times_s: FloatArray, name: str) -> None:
    gaps = np.diff(times_s)
    if (gaps <= 0).any():
        line = int(np.argmax(gaps <= 0)) + 3
        before, here = times_s[line - 3], times_s[line - 2]
        raise ParamError(f"line {line}: {name}: {here:g} s comes after {before:g} s", "times in ascending order")
    usual = float(np.median(gaps))
    limit = max(_HOLE_FACTOR * usual, _HOLE_S)
    if (gaps > limit).any():
        line = int(np.argmax(gaps > limit)) + 3
        message = (
            f"line {line}: a hole: it is {gaps[line - 3]:g} s later than the line before, lines are {usual:g} s apart"
        )
        raise ParamError(message, f"lines at most {limit:g} s apart")


# ---- recordings in stored runs ----


def packed_text(numbers: CountArray) -> str:
    """Numbers as text: a short sequence as decimal numbers, a longer one packed for `unpacked`."""
    if numbers.size <= _MOST_AS_TEXT:
        return " ".join(map(str, numbers.tolist()))
    # Differences without sign wrap to the bytes of signed ones, and need half the memory of longer numbers.
    steps = np.diff(numbers.astype("<u4", copy=False), prepend=np.zeros(1, "<u4"))
    columns = np.ascontiguousarray(steps.view(np.uint8).reshape(-1, 4).T)
    return _PACKED + base64.b85encode(zlib.compress(columns.data, 6)).decode("ascii")


def is_packed(text: str) -> bool:
    """True for a packed sequence and for the hash of one; False for decimal numbers."""
    return text.startswith((_PACKED, _NAMED))


def unpacked(text: str) -> CountArray:
    """The numbers of a packed text.

    Raises:
        ParamError: if the text is damaged, or is only the hash of a lost recording.
    """
    if text.startswith(_NAMED):
        raise ParamError(
            "the database refers to a recording that it has lost, or that is damaged",
            'content = "packed:..." from another copy of the run, or the file of the recording and no content',
        )
    try:
        reader = zlib.decompressobj()
        raw = reader.decompress(base64.b85decode(text.removeprefix(_PACKED)), 4 * MAX_NUMBERS)
    except (ValueError, binascii.Error, zlib.error) as error:
        raise ParamError("its content is damaged", "the content as it was stored") from error
    if not reader.eof or not raw or len(raw) % 4:
        raise ParamError("its content is damaged", "the content as it was stored")
    steps = np.frombuffer(raw, dtype=np.uint8).reshape(4, -1).T.copy().view("<i4").ravel()
    numbers = np.empty(steps.size, np.uint32)
    last = 0
    for first in range(0, steps.size, _AT_ONCE):  # all at once would take several times the memory
        sums = np.cumsum(steps[first : first + _AT_ONCE], dtype=np.int64) + last
        if sums.min() < 0 or sums.max() > np.iinfo(np.uint32).max:
            raise ParamError("its content is damaged", "the content as it was stored")
        numbers[first : first + _AT_ONCE] = sums
        last = int(sums[-1])
    return numbers

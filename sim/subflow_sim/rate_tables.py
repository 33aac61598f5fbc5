"""Tables of other programs as recordings, with columns by their headings, for example of 5G and LTE data sets.

A table needs a column of times and one of the wanted quantity, each with its unit in the heading (``rate_kbps``,
``Throughput (Mbit/s)``) or known from a data set: DL_bitrate and UL_bitrate are in kbit/s (Raca et al. 2018, "Beyond
Throughput: a 4G LTE dataset"; Raca et al. 2020, "Beyond Throughput, the next generation: a 5G dataset").
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt

from subflow_sim.beside import shown
from subflow_sim.errors import ParamError

FloatArray = npt.NDArray[np.float64]

_SEPARATORS = ",;\t|"
_TIMES = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "min": 60.0}
_RATES = {
    "bps": 1.0, "bit/s": 1.0, "kbps": 1e3, "kbit/s": 1e3, "kb/s": 1e3, "mbps": 1e6, "mbit/s": 1e6, "mb/s": 1e6,
    "gbps": 1e9, "gbit/s": 1e9,
}  # fmt: skip
_SHARES = {"%": 0.01, "percent": 0.01, "pct": 0.01, "ratio": 1.0, "share": 1.0}
# By quantity: names in lower case, units, and the units of data sets whose headings omit them.
_NAMES: Mapping[str, tuple[Sequence[str], Mapping[str, float], Mapping[str, float]]] = {
    "time": (("time", "timestamp", "t", "elapsed", "date", "datetime", "epoch"), _TIMES, {}),
    "rate": (
        ("rate", "throughput", "bandwidth", "bitrate", "bw", "capacity", "thpt", "tput", "goodput",
         "dlbitrate", "ulbitrate", "downlink", "uplink", "speed"),
        _RATES,
        {"dlbitrate": 1e3, "ulbitrate": 1e3},
    ),
    "delay": (("delay", "owd", "onewaydelay", "latency"), _TIMES, {}),
    "rtt": (("rtt", "ping", "roundtriptime", "rttavg"), _TIMES, {}),
    "loss": (("loss", "plr", "packetloss", "lossrate", "lossratio"), _SHARES, {}),
}  # fmt: skip
_BRACKETS = re.compile(r"\s*[(\[]\s*([^)\]]*?)\s*[)\]]\s*\Z")
_DATES = ("%Y.%m.%d_%H.%M.%S", "%Y-%m-%d_%H-%M-%S", "%d/%m/%Y %H:%M:%S", "%Y/%m/%d %H:%M:%S")
_NOTHING = frozenset({"", "-", "nan", "na", "n/a", "null", "none"})
_MOST_TIME_S = 1e11  # since 1970: three thousand years
_EPOCHS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))  # times since 1970 in ns, us and ms begin at these numbers


def foreign_column(text: str, wanted: Sequence[str]) -> tuple[FloatArray, FloatArray, str]:
    """The times of a table of another program and one of its columns; lines without a value are left out.

    Args:
        text: rows; the first contains the headings.
        wanted: "rate", "delay", "rtt" or "loss", in order of preference; the first that the table contains is used.

    Returns:
        Times in s, ascending, values in SI units, and the name of the quantity.

    Raises:
        ParamError: if a column or a unit is missing, a cell is not usable, or times go back.
    """
    lines = text.lstrip("\ufeff \t\r\n").splitlines()
    separator = max(_SEPARATORS, key=lines[0].count)
    rows = _rows(lines, separator)
    headings = [_heading(cell) for cell in rows[0]]
    at_time = _place(headings, "time")
    if at_time is None:
        raise ParamError(
            f"line 1: no column of times among {_listed(rows[0])}", "a heading such as time_s or Timestamp"
        )
    chosen = next(((name, at) for name in wanted if (at := _place(headings, name)) is not None), None)
    if chosen is None:
        raise ParamError(f"line 1: no column for {' or '.join(wanted)} among {_listed(rows[0])}", _example(wanted[0]))
    name, at = chosen
    scale = _scale(headings[at], name)
    if scale is None:
        raise ParamError(f"line 1: {shown(rows[0][at])} names no unit of a {name}", _example(name))
    time_scale = _scale(headings[at_time], "time")
    times, values = [], []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) <= max(at, at_time) or row[at].strip().lower() in _NOTHING:
            continue
        times.append(_time(row[at_time].strip(), time_scale, number))
        values.append(_number(row[at].strip(), rows[0][at], number, scale))
    if len(times) < 2:
        raise ParamError("fewer than two lines with values in it", "a table with a line for each sample")
    time_s, value = np.array(times), np.array(values)
    # Clocks of whole seconds repeat: the last sample of a time counts.
    is_last = np.append(np.diff(time_s) != 0, True)
    if is_last.sum() < 2:
        raise ParamError(f"all lines have the same time, {rows[-1][at_time].strip()}", "times in ascending order")
    return time_s[is_last], value[is_last], name


def _rows(lines: Sequence[str], separator: str) -> list[list[str]]:
    """The cells of each line.

    Raises:
        ParamError: if a cell is too long, as after a quotation mark without its counterpart.
    """
    reader = csv.reader(lines, delimiter=separator)
    try:
        return list(reader)
    except csv.Error as error:
        most = csv.field_size_limit()
        raise ParamError(f"line {reader.line_num}: {error}", f"cells of at most {most} characters") from error


def _heading(cell: str) -> tuple[str, str]:
    """Name and unit of a heading, in lower case; the unit may be empty."""
    text = cell.strip().strip('"')
    bracket = _BRACKETS.search(text)
    if bracket is not None:
        return _plain(text[: bracket.start()]), bracket[1].replace(" ", "").lower()
    words = re.split(r"[\s_]+", text.lower())
    known = {*_TIMES, *_RATES, *_SHARES}
    if len(words) > 1 and words[-1] in known:
        return _plain("".join(words[:-1])), words[-1]
    return _plain(text), ""


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _place(headings: Sequence[tuple[str, str]], quantity: str) -> int | None:
    """Index of the first column of a quantity, in the order of its names; one with a unit precedes one without."""
    names = [name for name, _ in headings]
    found = [names.index(each) for each in _NAMES[quantity][0] if each in names]
    with_unit = [at for at in found if quantity == "time" or _scale(headings[at], quantity) is not None]
    return next(iter([*with_unit, *found]), None)


def _scale(heading: tuple[str, str], quantity: str) -> float | None:
    """Factor to the SI unit; None if the unit is not stated and no data set defines it."""
    name, unit = heading
    _, units, known = _NAMES[quantity]
    return units.get(unit) if unit else known.get(name)


def _time(text: str, scale: float | None, line: int) -> float:
    try:
        value = float(_with_point(text))
    except ValueError:
        return _moment(text, line)
    if scale is None:
        scale = next((factor for least, factor in _EPOCHS if value >= least), 1.0)
    if not abs(value * scale) <= _MOST_TIME_S:
        raise ParamError(f"line {line}: the time is {shown(text)}", "a time of a clock or a recording")
    return value * scale


def _moment(text: str, line: int) -> float:
    for form in _DATES:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise ParamError(f"line {line}: {shown(text)} is not a time", "a number or a date") from None


def _number(text: str, heading: str, line: int, scale: float) -> float:
    try:
        value = float(_with_point(text)) * scale
    except ValueError:
        value = np.nan
    if not np.isfinite(value) or value < 0:
        raise ParamError(f"line {line}: {heading.strip()} is {shown(text)}", "0 or more")
    return value


def _with_point(text: str) -> str:
    """A number with a decimal point in place of a decimal comma."""
    return text.replace(",", ".") if text.count(",") == 1 and "." not in text else text


def _listed(cells: Sequence[str]) -> str:
    return ", ".join(shown(cell.strip()) for cell in cells[:12])


def _example(quantity: str) -> str:
    units = {"rate": "rate_kbps or rate_mbps", "delay": "delay_ms", "rtt": "rtt_ms", "loss": "loss_percent"}
    return f"a heading with its unit, such as {units[quantity]}"

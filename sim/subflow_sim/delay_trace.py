"""Delay traces: recordings of the one-way delay of a link.

The text has one number per line: the delay during an interval, in the unit given by the scenario. After the last line,
the recording repeats. The format is that of LeoReplayer, with milliseconds and intervals of 10 ms. Source: Lai et al.
2025, "LeoCC: Making Internet Congestion Control Robust to LEO Satellite Dynamics" (SIGCOMM).

The alternative is a table whose first line names its columns, for example `time_s,rate_mbps,delay_ms`. A column
`rtt_ms` holds round-trip times; each direction of the link uses half of them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from subflow_sim.beside import shown
from subflow_sim.errors import ParamError
from subflow_sim.recording import (
    MAX_NUMBERS,
    CountArray,
    FloatArray,
    column_of,
    has_columns,
    is_packed,
    numbers_of,
    unpacked,
)

UNITS = ("ms", "us", "s")
"""Units in which a file may give delays."""

_SCALES = {"ms": 1e-3, "us": 1e-6, "s": 1.0}
_MAX_S = 10.0
_MIXED_FACTOR = 1000
_ALLOWED = "one delay per line"


@lru_cache(maxsize=8)
def parse_delays(text: str, unit: str, interval_s: float) -> tuple[bytes, float]:
    """Reads the delays of a trace.

    Args:
        text: content of the file.
        unit: one of `UNITS`; empty: milliseconds, but values that are all below 1 are refused as ambiguous.
        interval_s: duration of each value, s; ignored for a table, which contains its times.

    Returns:
        Delays in microseconds as packed uint32, and the interval in s.

    Raises:
        ParamError: if a line is unusable; the message names the line and the value.
    """
    if is_packed(text):
        delays = unpacked(text)
        if delays.max() > _MAX_S * 1e6:
            raise ParamError("its content is damaged", "the content as it was stored")
        return delays.tobytes(), interval_s
    with np.errstate(over="ignore", invalid="ignore"):
        if has_columns(text):
            values_s, interval_s = _resampled(text)
        else:
            values_s = _values_of(text, unit)
    too_long = ~(values_s <= _MAX_S)
    if too_long.any():
        line = int(np.argmax(too_long)) + 1
        message = f"line {line}: a delay of {values_s[line - 1]:g} s; are the numbers in another unit?"
        raise ParamError(message, f'at most {_MAX_S:g} s, or unit = "us"')
    delays = np.round(values_s * 1e6).astype(np.uint32)
    return delays.tobytes(), interval_s


def _values_of(text: str, unit: str) -> FloatArray:
    numbers = numbers_of(text, ".")
    stripped = text.strip().replace("\r", "")
    if numbers is None or "\n\n" in stripped:
        _refuse(stripped)
    if numbers is None or not numbers.size:
        raise ParamError("no delay in it", _ALLOWED)
    if not unit and 0 < numbers.max() < 1:
        message = f"all delays are below 1, the longest is {numbers.max():g}: in which unit are they?"
        raise ParamError(message, 'unit = "s" or unit = "ms" beside the name of the trace')
    mixed = numbers > _MIXED_FACTOR * max(float(np.median(numbers)), 1e-6)
    if mixed.any():
        line = int(np.argmax(mixed)) + 1
        message = f"line {line}: {numbers[line - 1]:g} where half of the lines have {np.median(numbers):g} or less"
        raise ParamError(f"{message}: are units mixed up?", "all delays in one unit")
    return numbers * _SCALES[unit or "ms"]


def _refuse(text: str) -> None:
    """Raises an error that names the first line without a valid delay."""
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.split()
        if not words:
            raise ParamError(f"line {number}: a hole: no value", _ALLOWED)
        for word in words:
            found = numbers_of(word, ".")
            if found is None or found.size != 1:
                negative = numbers_of(word.removeprefix("-"), ".")
                is_negative = word.startswith("-") and negative is not None and negative.size == 1
                what = "is negative" if is_negative else "is not a delay"
                raise ParamError(f"line {number}: {shown(word)} {what}", "a number of 0 or more on each line")


def _resampled(text: str) -> tuple[FloatArray, float]:
    """The delays of a table, resampled at the median interval of its lines."""
    times_s, delays_s, column = column_of(text, "delay", "rtt")
    if column == "rtt":
        delays_s = delays_s / 2
    interval_s = max(round(float(np.median(np.diff(times_s))), 6), 1e-6)
    count = round((times_s[-1] + interval_s) / interval_s)
    if count > MAX_NUMBERS:
        raise ParamError(
            f"it lasts {count} times as long as the interval between its lines", f"at most {MAX_NUMBERS} times"
        )
    # half an interval of offset keeps rounding errors from selecting the previous line
    at = np.searchsorted(times_s, (np.arange(count) + 0.5) * interval_s, side="right") - 1
    return delays_s[at], interval_s


def delays_of(packed: bytes) -> CountArray:
    """The delays returned by `parse_delays`, as an array of microseconds."""
    return np.frombuffer(packed, dtype=np.uint32)

"""Packet-delivery traces: recordings of when a link could send, in the format of mahimahi.

A text of whole numbers, one per line: milliseconds since the start at which 1500 bytes can be delivered, in ascending
order; a millisecond that stands there three times delivers three packets. After the last one the recording starts over.
Source: Netravali et al. 2015, "Mahimahi: accurate record-and-replay for HTTP"; Winstein et al. 2013 (Sprout).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from subflow_sim.beside import read_beside, shown
from subflow_sim.errors import ParamError

MAX_TRACE_BYTES = 2_000_000
"""Larger files are refused: with their content in it, a scenario would be too large to be read again."""

OPPORTUNITY_BYTES = 1500
"""What one line delivers."""

_MAX_MS = 10**9
_ALLOWED = "whole milliseconds in ascending order, one per line"


@lru_cache(maxsize=16)
def parse_trace(text: str) -> tuple[int, ...]:
    """Read the delivery opportunities of a trace.

    Args:
        text: of the file; the numbers may also stand on one line.

    Returns:
        Milliseconds since the start, ascending, the last greater than 0.

    Raises:
        ParamError: naming the line and the value.
    """
    times: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.split():
            if not (word.isascii() and word.isdigit() and len(word) <= 10):
                raise ParamError(f"line {number}: {shown(word)} is no whole number of milliseconds", _ALLOWED)
            time = int(word)
            if time > _MAX_MS:
                raise ParamError(f"line {number}: {time} ms is later than any run lasts", _ALLOWED)
            if times and time < times[-1]:
                raise ParamError(f"line {number}: {time} comes after {times[-1]}", _ALLOWED)
            times.append(time)
    if not times:
        raise ParamError("there is no delivery opportunity in it", _ALLOWED)
    if times[-1] == 0:
        raise ParamError("it lasts 0 ms, so it cannot be repeated", "a last line greater than 0")
    return tuple(times)


def read_trace_file(name: str, folder: Path | None) -> str:
    """Read a trace file that belongs to a scenario; see `read_beside`.

    Raises:
        ParamError: if the file cannot be read, is too large or no text.
    """
    content = read_beside(name, folder, MAX_TRACE_BYTES, "lte.up")
    try:
        return content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParamError(f"{shown(name)} line {line}: not a text of numbers", _ALLOWED) from error


def trace_content(times_ms: tuple[int, ...]) -> str:
    """The opportunities as text on one line, which `parse_trace` reads back."""
    return " ".join(map(str, times_ms))

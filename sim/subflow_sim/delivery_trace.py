"""Packet-delivery traces: recordings of when a link could send, in the format of mahimahi.

A text of whole numbers, one per line: milliseconds since the start at which 1500 bytes can be delivered, in ascending
order; a millisecond that stands there three times delivers three packets. After the last one the recording starts over.
Source: Netravali et al. 2015, "Mahimahi: accurate record-and-replay for HTTP"; Winstein et al. 2013 (Sprout).
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath

from subflow_sim.errors import ParamError
from subflow_sim.gate import TooLargeFileError, read_file
from subflow_sim.plain_text import on_one_line

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
                raise ParamError(f"line {number}: {_shown(word)} is no whole number of milliseconds", _ALLOWED)
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
    """Read a trace file that belongs to a scenario.

    Args:
        name: path as the scenario has it, with "/", relative to the scenario's folder and within it. A scenario from
            someone else can thus read nothing but what came with it.
        folder: the scenario's; None: the scenario is no file.

    Raises:
        ParamError: if the file cannot be read, is too large or no text.
    """
    allowed = 'a file beside the scenario or in a folder below, e.g. "lte.up"'
    path = PurePosixPath(name)
    is_outside = path.is_absolute() or PureWindowsPath(name).anchor or ".." in path.parts or "\\" in name
    if not name or is_outside or not name.isprintable():
        raise ParamError("not within the folder of the scenario", allowed)
    if folder is None:
        raise ParamError(
            f"{_shown(name)} cannot be found, because this scenario has no folder", "a scenario that is saved as a file"
        )
    file = folder / path
    try:
        content = read_file(file, MAX_TRACE_BYTES)
    except TooLargeFileError as error:
        raise ParamError(f"{_shown(name)} is too large", f"at most {MAX_TRACE_BYTES // 1_000_000} MB") from error
    except OSError as error:
        raise ParamError(f"{_shown(name)} cannot be read: {error.strerror or error}", allowed) from error
    try:
        return content.decode("ascii")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ParamError(f"{_shown(name)} line {line}: not a text of numbers", _ALLOWED) from error


def trace_content(times_ms: tuple[int, ...]) -> str:
    """The opportunities as text on one line, which `parse_trace` reads back."""
    return " ".join(map(str, times_ms))


def _shown(word: str) -> str:
    harmless = on_one_line(word[:40])
    return f'"{harmless}…"' if len(word) > 40 else f'"{harmless}"'

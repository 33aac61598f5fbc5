"""Packet-delivery traces: recorded delivery times of a link in the format of mahimahi, or tables of rates.

The text has one whole number per line: the millisecond since the start at which 1500 bytes can be delivered, in
ascending order. A millisecond listed three times delivers three packets. After the last line, the recording repeats.
Source: Netravali et al. 2015, "Mahimahi: accurate record-and-replay for HTTP"; Winstein et al. 2013 (Sprout).

The alternative is a table whose first line names its columns, for example `time_s,rate_mbps,delay_ms`: each rate holds
until the next line.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from subflow_sim.beside import shown
from subflow_sim.errors import ParamError
from subflow_sim.recording import (
    MAX_NUMBERS,
    CountArray,
    column_of,
    has_columns,
    is_packed,
    numbers_of,
    unpacked,
)

OPPORTUNITY_BYTES = 1500
"""Bytes delivered per line."""

_MAX_MS = 10**9
_AT_ONCE = 1 << 18
_MAX_RATE_BPS = 1e12
_ALLOWED = "whole milliseconds in ascending order, one per line"


@lru_cache(maxsize=8)
def parse_trace(text: str) -> bytes:
    """Reads the delivery opportunities of a trace.

    Args:
        text: content of the file; several numbers may share a line.

    Returns:
        Milliseconds since the start as packed uint32, ascending; the last is greater than 0.

    Raises:
        ParamError: if a line is unusable; the message names the line and the value.
    """
    if is_packed(text):
        times = unpacked(text)
        _check(times)
    elif has_columns(text):
        times = _opportunities(text)
    else:
        times = _times_of(text)
    return times.tobytes()


def _times_of(text: str) -> CountArray:
    numbers = numbers_of(text, "") if text.strip() else None
    if numbers is None or (numbers.size and (numbers.max() > _MAX_MS or (np.diff(numbers) < 0).any())):
        _refuse(text)
    if numbers is None or not numbers.size:
        raise ParamError("no delivery opportunity in it", _ALLOWED)
    times = numbers.astype(np.uint32)
    _check(times)
    return times


def _check(times: CountArray) -> None:
    if (times[1:] < times[:-1]).any() or times[-1] > _MAX_MS:
        raise ParamError("its content is damaged", _ALLOWED)
    if times[-1] == 0:
        raise ParamError("it lasts 0 ms, so it cannot be repeated", "a last line greater than 0")


def _refuse(text: str) -> None:
    """Raises an error that names the first invalid number."""
    last = 0
    for number, line in enumerate(text.splitlines(), start=1):
        for word in line.split():
            if not (word.isascii() and word.isdigit() and len(word) <= 10):
                raise ParamError(f"line {number}: {shown(word)} is not a whole number of milliseconds", _ALLOWED)
            time = int(word)
            if time > _MAX_MS:
                raise ParamError(f"line {number}: {time} ms is later than any run lasts", _ALLOWED)
            if time < last:
                raise ParamError(f"line {number}: {time} comes after {last}", _ALLOWED)
            last = time


def _opportunities(text: str) -> CountArray:
    """Times at which a link with the rates of a table completes its packets, ms."""
    times_s, rates_bps, _ = column_of(text, "rate")
    if (rates_bps > _MAX_RATE_BPS).any():
        line = int(np.argmax(rates_bps > _MAX_RATE_BPS))
        message = f"line {line + 2}: a rate of {rates_bps[line]:g} bit/s; is its unit another one?"
        raise ParamError(message, "at most 1e12 bit/s")
    ends_s = np.append(times_s[1:], times_s[-1] + np.median(np.diff(times_s)))
    bits = np.concatenate(([0.0], np.cumsum(rates_bps * (ends_s - times_s))))
    whole_ms = int(np.ceil(ends_s[-1] * 1e3))
    count = int(bits[-1] / (8 * OPPORTUNITY_BYTES))
    if max(whole_ms, count) > MAX_NUMBERS:
        raise ParamError(
            f"it lasts {ends_s[-1]:g} s and delivers {count} packets", f"at most {MAX_NUMBERS} ms and as many packets"
        )
    if count == 0:
        raise ParamError("no delivery opportunity in it", "rates that carry at least one packet")
    # a packet is delivered in the millisecond of its last bit
    all_s = np.concatenate((times_s, ends_s[-1:]))
    times = np.empty(count, np.uint32)
    for first in range(0, count, _AT_ONCE):  # all at once would take several times the memory
        numbers = np.arange(first + 1, min(first + _AT_ONCE, count) + 1)
        done_s = np.interp(numbers * (8.0 * OPPORTUNITY_BYTES), bits, all_s)
        times[first : first + _AT_ONCE] = np.ceil(np.round(done_s * 1e3, 6))
    # the last number is the period of the recording, so a delivery is added at the end of the table if none falls there
    return np.maximum(times, 1) if times[-1] >= whole_ms else np.append(times, np.uint32(whole_ms))

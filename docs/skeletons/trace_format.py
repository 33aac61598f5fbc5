"""Output of ``ping -D``. Save as app/subflow_app/features/measured/core/ping_reader.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from subflow_app.features.measured.core.measured_table import MeasuredTable, RawColumn, ReadingOptions, Target
from subflow_app.features.measured.core.text_lines import text_lines
from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.features.traces.core.traces import SUBFLOW
from subflow_app.foundation.errors import InputError

_REPLY = re.compile(r"\[(\d+\.\d+)\] .* time=([\d.]+) ms")


def looks_like_ping(head: bytes) -> bool:
    """True if a file that begins with these bytes is the output of ping."""
    return head.startswith(b"PING ")


def read_ping(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Read the round-trip time of each reply.

    Raises:
        InputError: if no reply has a time.
        OSError: if the file cannot be read.
    """
    replies = [found.groups() for line in text_lines(path, "utf-8", options.watch) if (found := _REPLY.match(line))]
    if not replies:
        raise InputError(f"{path.name}: no reply with a time; record it with ping -D")
    times, rtts = np.array(replies, dtype=np.float64).T
    target = Target(SUBFLOW, f"{options.flow}/1", "srtt_s")
    return MeasuredTable("ping", (RawColumn("time", times, rtts, "ms", target),), tool="ping")


FORMATS = (TraceFormat("ping", "output of ping", (".txt",), looks_like_ping, read_ping),)

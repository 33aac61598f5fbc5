"""Intervals of iperf3 --json. Save as app/subflow_app/features/measured/core/iperf_reader.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from subflow_app.features.measured.core.measured_table import MeasuredTable, RawColumn, ReadingOptions, Target
from subflow_app.features.traces.core.traces import FLOW
from subflow_app.foundation.errors import InputError
from subflow_sim.gate import json_tree, read_file

_MOST_BYTES = 64_000_000


def looks_like_iperf(head: bytes) -> bool:
    """True if a file that begins with these bytes is the JSON of iperf3."""
    return head.lstrip().startswith(b"{") and b'"test_start"' in head


def read_iperf(path: Path, options: ReadingOptions) -> MeasuredTable:
    """Read the throughput of each interval.

    Raises:
        InputError: if the file has no intervals.
        OSError: if it cannot be read.
    """
    try:
        document: Any = json_tree(read_file(path, _MOST_BYTES))
        sums = [interval["sum"] for interval in document["intervals"]]
        times = np.array([float(each["end"]) for each in sums])
        rates = np.array([float(each["bits_per_second"]) for each in sums])
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(f"{path.name}: this is not the JSON of iperf3: {error}") from error
    if not len(times):
        raise InputError(f"{path.name}: iperf3 reported no interval")
    target = Target(FLOW, options.flow, "throughput_bps")
    return MeasuredTable("iperf", (RawColumn("bits_per_second", times, rates, "bit/s", target),))

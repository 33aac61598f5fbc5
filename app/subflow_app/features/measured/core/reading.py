"""Reads a file of measurements with progress; another thread may stop the reading."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from subflow_app.features.measured.core.measured_run import read_trace
from subflow_app.features.measured.core.measured_table import MeasuredTable, ReadingOptions


class _StoppedError(Exception):
    """Leaves the reader after `Reading.stop`."""


class ReadingProgress(NamedTuple):
    """The fraction of the file that is read, from 0 to 1."""

    fraction: float


class Reading:
    """Reads one file. `run` blocks; any thread may call the other methods."""

    def __init__(self, path: Path, options: ReadingOptions) -> None:
        self._path = path
        self._options = replace(options, watch=self._watch)
        self._stop = threading.Event()
        self.progress = ReadingProgress(0.0)

    def stop(self) -> None:
        """End the reading soon."""
        self._stop.set()

    def run(self) -> MeasuredTable | None:
        """Read the file as a table; None after `stop`.

        Raises:
            InputError: if the file cannot be read in the chosen format.
            AppError: if a required package is missing.
        """
        try:
            return read_trace(self._path, self._options)
        except _StoppedError:
            return None

    def _watch(self, fraction: float) -> None:
        self.progress = ReadingProgress(fraction)
        if self._stop.is_set():
            raise _StoppedError

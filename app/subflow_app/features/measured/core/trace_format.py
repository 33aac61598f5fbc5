"""A file format of measurements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from subflow_app.features.measured.core.measured_table import MeasuredTable, ReadingOptions


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A file format of measurements.

    Attributes:
        name: value of `--format`.
        title: name in messages, such as "ss log".
        suffixes: suffixes of file names, in lower case.
        looks_like: returns True if a file with these first bytes has this format.
        read: reads a file as a table. Raises `InputError` with the reason, and `OSError` if the file cannot be opened.
        is_binary: whether files of this format are binary. The suffix then suffices to identify the format, because
            text readers cannot read such files.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    looks_like: Callable[[bytes], bool]
    read: Callable[[Path, ReadingOptions], MeasuredTable]
    is_binary: bool = False

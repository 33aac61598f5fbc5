"""The file formats of measurements.

A new format needs a module with a reader, and a row in `TRACE_FORMATS`. The command line, dialogs and drag and drop
then accept its files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from subflow_app.features.measured.core.csv_reader import read_csv
from subflow_app.features.measured.core.measured_table import MeasuredTable, ReadingOptions
from subflow_app.features.measured.core.pcap_reader import looks_like_pcap, read_pcap
from subflow_app.features.measured.core.ss_reader import looks_like_ss, read_ss
from subflow_app.foundation.errors import InputError
from subflow_sim.gate import open_file

_HEAD_BYTES = 16384
_GZIP_MARK = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class TraceFormat:
    """A file format of measurements.

    Attributes:
        name: value of `--format`.
        suffixes: suffixes of file names, in lower case.
        looks_like: returns True if a file with these first bytes has this format.
        read: reads a file as a table. Raises `InputError` with the reason, and `OSError` if the file cannot be opened.
        is_binary: whether files of this format are binary. The suffix then suffices to identify the format, because
            text readers cannot read such files.
    """

    name: str
    suffixes: tuple[str, ...]
    looks_like: Callable[[bytes], bool]
    read: Callable[[Path, ReadingOptions], MeasuredTable]
    is_binary: bool = False


TRACE_FORMATS: tuple[TraceFormat, ...] = (
    TraceFormat("pcap", (".pcap", ".pcapng", ".cap"), looks_like_pcap, read_pcap, is_binary=True),
    TraceFormat("ss", (".ss", ".log"), lambda head: looks_like_ss(head.decode("utf-8", "replace")), read_ss),
    TraceFormat("csv", (".csv", ".tsv", ".dat", ".txt"), lambda _head: True, read_csv),
)
"""The formats in the order in which they are tried; the last one accepts any text."""

TRACE_SUFFIXES = tuple(suffix for kind in TRACE_FORMATS for suffix in kind.suffixes)

AUTO = "auto"


def format_names() -> tuple[str, ...]:
    """The values of `--format`."""
    return (*sorted(kind.name for kind in TRACE_FORMATS), AUTO)


def trace_format(name: str, path: Path) -> TraceFormat:
    """The format of a file.

    Args:
        name: one of `format_names`; "auto" detects the format from the beginning of the file.
        path: path of the file.

    Raises:
        InputError: if the format is unknown, or the file is empty or compressed.
        OSError: if the file cannot be opened.
    """
    if name not in format_names():
        raise InputError(f'--format = "{name}": must be one of {", ".join(format_names())}')
    return _format_of(path) if name == AUTO else next(kind for kind in TRACE_FORMATS if kind.name == name)


def _format_of(path: Path) -> TraceFormat:
    with open_file(path) as file:
        head = file.read(_HEAD_BYTES)
    if not head.strip():
        raise InputError(f"{path.name} is empty")
    suffix = path.suffix.lower()
    kind = next(each for each in TRACE_FORMATS if each.looks_like(head) or (each.is_binary and suffix in each.suffixes))
    if head.startswith(_GZIP_MARK) and not kind.is_binary:
        raise InputError(f"{path.name} is compressed: unpack it first (gunzip)")
    return kind

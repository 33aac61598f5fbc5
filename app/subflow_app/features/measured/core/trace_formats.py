"""The file formats of measurements.

A new format needs a module with `FORMATS`, and its name in `_READERS`. The command line, dialogs and drag and drop
then accept its files.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from subflow_app.features.measured.core.trace_format import TraceFormat
from subflow_app.foundation.errors import InputError
from subflow_sim.gate import open_file

# The modules of readers beside this one, in the order in which their formats are tried. The last one takes any text.
_READERS = (
    "pcap_reader",
    "qlog_reader",
    "iperf3_reader",
    "ss_reader",
    "tshark_reader",
    "csv_reader",
)

HEAD_BYTES = 16384
"""Number of bytes at the beginning of a file from which its format is recognised."""

# Files that people mistake for measurements, by their first bytes.
_OTHERS = (
    (b"\x1f\x8b", "compressed: unpack it first (gunzip)"),
    (b"\xfd7zXZ", "compressed: unpack it first (unxz)"),
    (b"BZh", "compressed: unpack it first (bunzip2)"),
    (b"\x28\xb5\x2f\xfd", "compressed: unpack it first (unzstd)"),
    (b"PK\x03\x04", "an archive or a spreadsheet: unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a spreadsheet of an old version: save it as CSV"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\x7fELF", "a program"),
)

AUTO = "auto"


@cache
def trace_formats() -> tuple[TraceFormat, ...]:
    """All formats in the order in which they are tried."""
    package = __name__.rpartition(".")[0]
    return tuple(each for name in _READERS for each in import_module(f"{package}.{name}").FORMATS)


def trace_suffixes() -> tuple[str, ...]:
    """The suffixes of file names of all formats."""
    return tuple(dict.fromkeys(suffix for kind in trace_formats() for suffix in kind.suffixes))


def format_names() -> tuple[str, ...]:
    """The values of `--format`."""
    return (*sorted(kind.name for kind in trace_formats()), AUTO)


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
    return _format_of(path) if name == AUTO else next(kind for kind in trace_formats() if kind.name == name)


def _format_of(path: Path) -> TraceFormat:
    with open_file(path) as file:
        head = file.read(HEAD_BYTES)
    if not head.strip():
        raise InputError(f"{path.name} is empty")
    suffix = path.suffix.lower()
    for kind in trace_formats():
        if kind.looks_like(head) or (kind.is_binary and suffix in kind.suffixes):
            return kind
    seems = next((name for mark, name in _OTHERS if head.startswith(mark)), "a binary file of an unknown format")
    raise InputError(f"{path.name} is {seems}; allowed: {', '.join(kind.title for kind in trace_formats())}")

"""The lines of a text that may have any size and any bytes."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from subflow_app.features.measured.core.measured_table import MOST_LINE_BYTES
from subflow_app.foundation.errors import InputError
from subflow_sim.gate import open_file


def text_lines(path: Path, encoding: str) -> Iterator[str]:
    """The lines with their ends; bytes that are not text are replaced.

    Raises:
        InputError: if a line is too long to be one.
        OSError: if the file cannot be read.
    """
    with open_file(path) as file, io.TextIOWrapper(file, encoding, errors="replace", newline="") as text:
        number = 0
        while line := text.readline(MOST_LINE_BYTES + 1):
            number += 1
            if len(line) > MOST_LINE_BYTES:
                raise InputError(f"{path.name}: line {number} is longer than {MOST_LINE_BYTES / 1e6:g} MB")
            yield line

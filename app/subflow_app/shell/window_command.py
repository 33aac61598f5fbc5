"""Opens the window without reading the commands first, which takes a quarter of a second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.file_kinds import OPENED_SUFFIXES, is_database_file
from subflow_app.terminal import failures
from subflow_sim.gate import is_file


def is_for_window(words: Sequence[str]) -> bool:
    """Whether a command line, without the name of the program, only opens the window: no word, or that of a file."""
    return not words or (len(words) == 1 and words[0].endswith(OPENED_SUFFIXES))


def window_of(words: Sequence[str]) -> int:
    """Opens it for such a command line; returns the exit code. What can go wrong outside our own code is told."""
    try:
        with failures.reporting_bugs("the window"):
            return open_window(Path(words[0]) if words else None)
    except KeyboardInterrupt:
        return failures.INTERRUPTED
    except Exception as error:
        code = failures.exit_code_of(error)
        if code is None:
            raise
        failures.tell(error)
        return code


def open_window(file: Path | None) -> int:
    """Opens it on a scenario or a database, on the shipped demo if left out; returns the exit code.

    Raises:
        InputError: if the database is not there, or there is no screen to open a window on.
    """
    # A scenario that is not there is told by the window, where another can be chosen; a database would be made anew.
    if file is not None and is_database_file(file) and not is_file(file):
        raise InputError(f"{file}: no such database file; `subflow` opens your own, `subflow runs` lists its runs")
    from subflow_app.shell.app import main as window_main

    return window_main(None if file is None else str(file))

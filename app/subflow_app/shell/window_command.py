"""Opens the window without importing the commands, which would take a quarter of a second."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.file_kinds import OPENED_SUFFIXES, is_database_file
from subflow_app.terminal import failures
from subflow_sim.gate import is_file


def is_for_window(words: Sequence[str]) -> bool:
    """True if a command line, without the program's name, only opens the window.

    Such a command line has no argument, or one file name with a suffix in `OPENED_SUFFIXES`.
    """
    return not words or (len(words) == 1 and words[0].endswith(OPENED_SUFFIXES))


def window_of(words: Sequence[str]) -> int:
    """Open the window for a command line that `is_for_window` accepts; returns the exit code.

    An expected error is reported in one sentence.
    """
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
    """Open the window on a scenario or a database, and return the exit code.

    None opens the latest file if enabled in the settings, else the shipped demo. Without a display, the process ends
    with a message.

    Raises:
        InputError: if the database does not exist.
    """
    # A missing database is refused here, because the window would create it. A missing scenario is reported in the
    # window, where the user can choose another one.
    if file is not None and is_database_file(file) and not is_file(file):
        raise InputError(f"{file}: no such database file; `subflow` opens your own, `subflow runs` lists its runs")
    from subflow_app.shell.app import main as window_main

    return window_main(None if file is None else str(file))

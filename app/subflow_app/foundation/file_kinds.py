"""Which files are ours: databases, scenarios, web pages, as file manager, command line and drops tell them apart."""

from __future__ import annotations

from pathlib import Path

DATABASE_SUFFIXES = (".subflow", ".db")
"""Databases of runs; the first is what new ones get, since only that one opens Subflow by a double click."""
SCENARIO_FILE_SUFFIX = ".subflow.toml"
"""What new scenario files get: any ``.toml`` can be a scenario, but this one opens Subflow by a double click."""
PAGE_SUFFIX = ".html"
"""Web pages of runs."""
# Also of files that are not there: a typing error in one is not an unknown command.
OPENED_SUFFIXES = (".toml", *DATABASE_SUFFIXES)
"""Files that open the window."""

_SQLITE_MARK = b"SQLite format 3\0"


def is_database_file(path: Path) -> bool:
    """Whether a file is a database rather than a scenario: by its name, or by what it begins with."""
    if path.suffix.lower() in DATABASE_SUFFIXES:
        return True
    from subflow_sim.gate import open_file  # late: `subflow --help` needs nothing of the simulator

    try:
        with open_file(path) as file:
            return file.read(len(_SQLITE_MARK)) == _SQLITE_MARK
    except OSError:
        return False

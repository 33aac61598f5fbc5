"""Suffixes of Subflow's files (databases, scenarios, web pages) for file managers, command line and drag and drop."""

from __future__ import annotations

from pathlib import Path

DATABASE_SUFFIXES = (".subflow", ".db")
"""Suffixes of databases of runs. New databases get the first suffix, the only one that a double click opens in Subflow.
"""
SCENARIO_FILE_SUFFIX = ".subflow.toml"
"""Suffix of new scenario files. A scenario may be any ``.toml`` file, but a double click opens only this suffix in
Subflow.
"""
PAGE_SUFFIX = ".html"
"""Suffix of web pages of runs."""
# An argument with such a suffix counts as a file even if the file is missing, so that a mistyped file name is not
# reported as an unknown command.
OPENED_SUFFIXES = (".toml", *DATABASE_SUFFIXES)
"""Suffixes of files that ``subflow FILE`` opens in the window."""

_SQLITE_MARK = b"SQLite format 3\0"


def is_database_file(path: Path) -> bool:
    """True if a file is a database rather than a scenario, by its name or its first bytes."""
    if path.suffix.lower() in DATABASE_SUFFIXES:
        return True
    from subflow_sim.gate import open_file  # late: `subflow --help` does not need it

    try:
        with open_file(path) as file:
            return file.read(len(_SQLITE_MARK)) == _SQLITE_MARK
    except OSError:
        return False

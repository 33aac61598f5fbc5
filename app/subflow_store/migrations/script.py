"""Functions for migrations. Existing files were created by them, so their results must not change."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection, complete_statement

OF_FINISHED_RUN = "EXISTS (SELECT 1 FROM run WHERE id = {row}.run_id AND status <> 'running')"
"""SQL condition that a row, NEW or OLD, belongs to an ended run."""


def run_script(connection: Connection, script: str) -> None:
    """Execute the statements of a script, each of which must end at the end of a line.

    `Connection.executescript` is unsuitable, because it commits the open transaction first.

    Comments after ``--`` are for readers of the script: the file stores the statements without them.
    """
    statement = ""
    for line in script.splitlines():
        statement += line.partition("--")[0].rstrip() + "\n"
        if complete_statement(statement):
            connection.execute(statement)
            statement = ""
    assert not statement.strip(), f"a statement without its end: {statement}"


def make_immutable(connection: Connection, tables: Iterable[str], is_finished: str = OF_FINISHED_RUN) -> None:
    """Refuse all changes to rows of finished runs in these tables.

    Purging a run remains possible: it deletes the row of the run first, so the triggers find no finished run when the
    cascade deletes the other rows.
    """
    for table in tables:
        for verb, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")):
            connection.execute(
                f"CREATE TRIGGER {table}_fixed_{verb.lower()} BEFORE {verb} ON {table}"
                f" WHEN {is_finished.format(row=row)} BEGIN SELECT RAISE(ABORT, 'finished runs are immutable'); END"
            )

"""Version 4: an index of all parameters and figures of runs, for searching and listing runs by any of them."""

from __future__ import annotations

import json
from sqlite3 import Connection

from subflow_store.migrations.script import make_immutable, run_script
from subflow_store.run_values import figure_values, parameter_values


def upgrade(connection: Connection) -> None:
    """Create the tables and fill them from the documents of all runs, before finished runs accept no more values."""
    run_script(connection, _TABLES)
    _fill(connection)
    make_immutable(connection, ("run_value",))


# Parameters and figures by key (run_values.py). Rows of a key are adjacent, so a filter or a column of the list reads
# one contiguous range. So searches over a few hundred keys need no further index.
_TABLES = """
CREATE TABLE value_key (
    id INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    PRIMARY KEY (id),
    UNIQUE ("key")
) STRICT;
CREATE TABLE run_value (
    key_id INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    number REAL,
    text TEXT COLLATE "NOCASE", -- as it was written, where it was text
    PRIMARY KEY (key_id, run_id),
    FOREIGN KEY(key_id) REFERENCES value_key (id),
    FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
) WITHOUT ROWID, STRICT;
CREATE INDEX run_value_by_run ON run_value (run_id);
"""


def _fill(connection: Connection) -> None:
    documents = connection.execute(
        # The scenario comes first, so that a value of the summary, which the run really used, replaces it.
        "SELECT run_id, kind, text FROM run_document WHERE kind IN ('scenario', 'summary') ORDER BY run_id, kind"
    )
    for run_id, kind, text in documents.fetchall():
        values = parameter_values(text) if kind == "scenario" else figure_values(_summary(text))
        connection.executemany(
            "INSERT INTO value_key (key) VALUES (?) ON CONFLICT (key) DO NOTHING", [(value.key,) for value in values]
        )
        connection.executemany(
            "INSERT INTO run_value (key_id, run_id, number, text) SELECT id, ?, ?, ? FROM value_key WHERE key = ?"
            " ON CONFLICT (key_id, run_id) DO UPDATE SET number = excluded.number, text = excluded.text",
            [(run_id, value.number, value.text, value.key) for value in values],
        )


def _summary(text: str) -> dict[str, object]:
    summary = json.loads(text)
    return summary if isinstance(summary, dict) else {}

"""Version 4: an index of every parameter and figure of a run, so that runs are found and listed by any of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import sqlalchemy as sa

from subflow_store.run_values import RunValue, figure_values, parameter_values

if TYPE_CHECKING:
    from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Create the tables and fill them of the documents of all runs, before finished runs take no more values."""
    op.create_table(
        "value_key",
        sa.Column("id", sa.INTEGER, primary_key=True),
        sa.Column("key", sa.TEXT, nullable=False, unique=True),
        sqlite_strict=True,
    )
    op.create_table(
        "run_value",
        sa.Column("key_id", sa.INTEGER, sa.ForeignKey("value_key.id"), primary_key=True, nullable=False),
        sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True, nullable=False),
        sa.Column("number", sa.REAL),
        sa.Column("text", sa.TEXT(collation="NOCASE")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("run_value_by_run", "run_value", ["run_id"])
    _fill(op.get_bind())
    is_finished = "EXISTS (SELECT 1 FROM run WHERE id = {row}.run_id AND status <> 'running')"
    for verb, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")):
        op.execute(
            f"CREATE TRIGGER run_value_fixed_{verb.lower()} BEFORE {verb} ON run_value"
            f" WHEN {is_finished.format(row=row)} BEGIN SELECT RAISE(ABORT, 'finished runs are immutable'); END"
        )


def _fill(connection: sa.Connection) -> None:
    key_ids: dict[str, int] = {}
    documents = connection.exec_driver_sql(
        # The scenario first: where both have a value, the summary says what was in force.
        "SELECT run_id, kind, text FROM run_document WHERE kind IN ('scenario', 'summary') ORDER BY run_id, kind"
    )
    for run_id, kind, text in documents.fetchall():
        values = parameter_values(text) if kind == "scenario" else figure_values(_summary(text))
        if values:
            connection.exec_driver_sql(
                "INSERT INTO run_value (key_id, run_id, number, text) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (key_id, run_id) DO UPDATE SET number = excluded.number, text = excluded.text",
                [(_key_id(connection, key_ids, value), run_id, value.number, value.text) for value in values],
            )


def _key_id(connection: sa.Connection, known: dict[str, int], value: RunValue) -> int:
    if value.key not in known:
        inserted = connection.exec_driver_sql("INSERT INTO value_key (key) VALUES (?)", (value.key,)).lastrowid
        assert inserted is not None
        known[value.key] = inserted
    return known[value.key]


def _summary(text: str) -> dict[str, object]:
    summary = json.loads(text)
    return summary if isinstance(summary, dict) else {}

"""Version 2: an index of event chunks by owner and time, so that a window of a stream is read without the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Create the index; marks of older runs have no rows in it, and are read whole as before."""
    op.create_table(
        "event_span",
        sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True, nullable=False),
        sa.Column("stream", sa.TEXT, primary_key=True),
        sa.Column("owner", sa.INTEGER, primary_key=True),
        sa.Column("idx", sa.INTEGER, primary_key=True),
        sa.Column("n", sa.INTEGER, nullable=False),
        sa.Column("t_first_ns", sa.INTEGER, nullable=False),
        sa.Column("t_last_ns", sa.INTEGER, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    is_finished = "EXISTS (SELECT 1 FROM run WHERE id = {row}.run_id AND status <> 'running')"
    for verb, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")):
        op.execute(
            f"CREATE TRIGGER event_span_fixed_{verb.lower()} BEFORE {verb} ON event_span"
            f" WHEN {is_finished.format(row=row)} BEGIN SELECT RAISE(ABORT, 'finished runs are immutable'); END"
        )

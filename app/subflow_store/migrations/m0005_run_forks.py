"""Version 5: where a run branched off another, and what was changed there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Create the table; runs of older versions are no forks.

    A fork outlives the run that it branched off: its row changes after its end, when that run is removed for good.
    """
    op.create_table(
        "run_fork",
        sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("parent_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="SET NULL")),
        sa.Column("parent_name", sa.TEXT, nullable=False),
        sa.Column("forked_at_s", sa.REAL, nullable=False),
        sa.Column("difference", sa.TEXT, nullable=False),
        sa.Column("changes", sa.TEXT, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("run_fork_by_parent", "run_fork", ["parent_id"])

"""Version 6: sweeps, the runs that belong to them, and keys by which a run that was made is found again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Create the tables; runs of older versions have no key and belong to no sweep.

    A sweep and its runs live apart from one another: deleting one leaves the other.
    """
    op.create_table(
        "sweep",
        sa.Column("id", sa.INTEGER, primary_key=True),
        sa.Column("name", sa.TEXT, nullable=False),
        sa.Column("plan", sa.TEXT, nullable=False),
        sa.Column("version", sa.TEXT, nullable=False),
        sa.Column("state", sa.TEXT, nullable=False),
        sa.Column("message", sa.TEXT, nullable=False),
        sa.Column("created_at", sa.TEXT, nullable=False),
        sa.Column("updated_at", sa.TEXT, nullable=False),
        sa.Column("ended_at", sa.TEXT),
        sa.Column("process_host", sa.TEXT, nullable=False),
        sa.Column("process_boot", sa.TEXT, nullable=False),
        sa.Column("process_pid", sa.INTEGER, nullable=False),
        sa.Column("process_started", sa.TEXT, nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'paused', 'finished', 'stopped', 'failed', 'interrupted')", "sweep_state"
        ),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_table(
        "sweep_point",
        _sweep_id(),
        sa.Column("idx", sa.INTEGER, primary_key=True, nullable=False),
        sa.Column("parameters", sa.TEXT, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sweep_run",
        _sweep_id(),
        sa.Column("point", sa.INTEGER, primary_key=True, nullable=False),
        sa.Column("seed", sa.INTEGER, primary_key=True, nullable=False),
        sa.Column("key", sa.TEXT, nullable=False),
        sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="SET NULL")),
        sa.Column("message", sa.TEXT, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("sweep_run_by_run", "sweep_run", ["run_id"])
    op.create_table(
        "run_key",
        sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("key", sa.TEXT, nullable=False),
        sa.Column("has_traces", sa.INTEGER, nullable=False),
        sqlite_strict=True,
    )
    op.create_index("run_key_by_key", "run_key", ["key"])


def _sweep_id() -> sa.Column[int]:
    return sa.Column(
        "sweep_id", sa.INTEGER, sa.ForeignKey("sweep.id", ondelete="CASCADE"), primary_key=True, nullable=False
    )

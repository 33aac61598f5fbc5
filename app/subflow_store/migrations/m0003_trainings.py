"""Version 3: trainings of agents, with their metrics in chunks and their evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.operations import Operations


def upgrade(op: Operations) -> None:
    """Create the tables. A training may be taken up again, so nothing here is made immutable as finished runs are."""
    op.create_table(
        "training",
        sa.Column("id", sa.INTEGER, primary_key=True),
        sa.Column("name", sa.TEXT, nullable=False),
        sa.Column("agent", sa.TEXT, nullable=False),
        sa.Column("scenario_name", sa.TEXT, nullable=False),
        sa.Column("seed", sa.INTEGER, nullable=False),
        sa.Column("state", sa.TEXT, nullable=False),
        sa.Column("message", sa.TEXT, nullable=False),
        sa.Column("folder", sa.TEXT, nullable=False),
        sa.Column("version", sa.TEXT, nullable=False),
        sa.Column("note", sa.TEXT, nullable=False),
        sa.Column("started_at", sa.TEXT, nullable=False),
        sa.Column("updated_at", sa.TEXT, nullable=False),
        sa.Column("ended_at", sa.TEXT),
        sa.Column("elapsed_s", sa.REAL, nullable=False),
        sa.Column("steps", sa.INTEGER, nullable=False),
        sa.Column("best_step", sa.INTEGER),
        sa.Column("best_score", sa.REAL),
        sa.Column("best_goodput_bps", sa.REAL),
        sa.Column("policy_hash", sa.TEXT, nullable=False),
        sa.Column("parent_id", sa.INTEGER, sa.ForeignKey("training.id", ondelete="SET NULL")),
        sa.Column("reports_read", sa.INTEGER, nullable=False),
        sa.Column("process_host", sa.TEXT, nullable=False),
        sa.Column("process_boot", sa.TEXT, nullable=False),
        sa.Column("process_pid", sa.INTEGER, nullable=False),
        sa.Column("process_started", sa.TEXT, nullable=False),
        sa.CheckConstraint(
            "state IN ('waiting', 'running', 'paused', 'finished', 'stopped', 'failed', 'interrupted')",
            "training_state",
        ),
        sqlite_autoincrement=True,
        sqlite_strict=True,
    )
    op.create_index("training_by_parent", "training", ["parent_id"])
    op.create_table(
        "training_document",
        _training_id(),
        sa.Column("kind", sa.TEXT, primary_key=True),
        sa.Column("text", sa.TEXT, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "training_metric",
        _training_id(),
        sa.Column("name", sa.TEXT, primary_key=True),
        sa.Column("idx", sa.INTEGER, primary_key=True),
        sa.Column("n", sa.INTEGER, nullable=False),
        sa.Column("codec", sa.TEXT, nullable=False),
        sa.Column("data", sa.BLOB, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "training_evaluation",
        _training_id(),
        sa.Column("step", sa.INTEGER, primary_key=True),
        sa.Column("controller", sa.TEXT, primary_key=True),
        sa.Column("metric", sa.TEXT, primary_key=True),
        sa.Column("mean", sa.REAL),
        sa.Column("ci95", sa.REAL),
        sa.Column("n", sa.INTEGER, nullable=False),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


def _training_id() -> sa.Column[int]:
    return sa.Column(
        "training_id", sa.INTEGER, sa.ForeignKey("training.id", ondelete="CASCADE"), primary_key=True, nullable=False
    )

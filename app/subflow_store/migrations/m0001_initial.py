"""Version 1: runs, their tags and documents, sampled series in chunks with pyramids, event streams, search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlalchemy as sa

if TYPE_CHECKING:
    from alembic.operations import Operations

# What stays open to change once a run is not running any more: name, note and deleted_at.
_FIXED_RUN_COLUMNS = (
    "id, scenario_name, controllers, seed, duration_s, warmup_s, sample_interval_s, mss_bytes, profile, version,"
    " status, signature, started_at, ended_at, wall_s, simulated_s, packets, goodput_bps, mean_rtt_s, jain,"
    " writer_host, writer_boot, writer_pid, writer_started, heartbeat_at"
)

_REFUSE = "BEGIN SELECT RAISE(ABORT, 'finished runs are immutable'); END"


def upgrade(op: Operations) -> None:
    """Create everything."""
    _create_run_tables(op)
    _create_series_tables(op)
    _create_event_tables(op)
    _create_search(op)
    _create_immutability(op)


def _run_id(*, primary_key: bool = True) -> sa.Column[int]:
    return sa.Column(
        "run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=primary_key, nullable=False
    )


def _series_id() -> sa.Column[int]:
    return sa.Column("series_id", sa.INTEGER, sa.ForeignKey("series.id", ondelete="CASCADE"), primary_key=True)


def _create_run_tables(op: Operations) -> None:
    op.create_table(
        "run",
        sa.Column("id", sa.INTEGER, primary_key=True),
        sa.Column("name", sa.TEXT, nullable=False),
        sa.Column("scenario_name", sa.TEXT, nullable=False),
        sa.Column("controllers", sa.TEXT, nullable=False),
        sa.Column("seed", sa.INTEGER, nullable=False),
        sa.Column("duration_s", sa.REAL, nullable=False),
        sa.Column("warmup_s", sa.REAL, nullable=False),
        sa.Column("sample_interval_s", sa.REAL, nullable=False),
        sa.Column("mss_bytes", sa.INTEGER, nullable=False),
        sa.Column("profile", sa.TEXT, nullable=False),
        sa.Column("version", sa.TEXT, nullable=False),
        sa.Column("status", sa.TEXT, nullable=False),
        sa.Column("signature", sa.TEXT, nullable=False),
        sa.Column("started_at", sa.TEXT, nullable=False),
        sa.Column("ended_at", sa.TEXT),
        sa.Column("wall_s", sa.REAL),
        sa.Column("simulated_s", sa.REAL, nullable=False),
        sa.Column("packets", sa.INTEGER),
        sa.Column("goodput_bps", sa.REAL),
        sa.Column("mean_rtt_s", sa.REAL),
        sa.Column("jain", sa.REAL),
        sa.Column("note", sa.TEXT, nullable=False),
        sa.Column("deleted_at", sa.TEXT),
        sa.Column("writer_host", sa.TEXT, nullable=False),
        sa.Column("writer_boot", sa.TEXT, nullable=False),
        sa.Column("writer_pid", sa.INTEGER, nullable=False),
        sa.Column("writer_started", sa.TEXT, nullable=False),
        sa.Column("heartbeat_at", sa.TEXT, nullable=False),
        sa.CheckConstraint("status IN ('running', 'finished', 'stopped', 'failed', 'interrupted')", "run_status"),
        sqlite_autoincrement=True,
    )
    # Opening a store looks for running runs: a partial index holds nothing else, mostly nothing at all.
    op.create_index("run_running", "run", ["id"], sqlite_where=sa.text("status = 'running'"))
    op.create_table(
        "run_document",
        _run_id(),
        sa.Column("kind", sa.TEXT, primary_key=True),
        sa.Column("text", sa.TEXT, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "run_tag",
        _run_id(),
        sa.Column("tag", sa.TEXT(collation="NOCASE"), primary_key=True),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index("run_tag_by_tag", "run_tag", ["tag"])


def _create_series_tables(op: Operations) -> None:
    op.create_table(
        "series",
        sa.Column("id", sa.INTEGER, primary_key=True),
        _run_id(primary_key=False),
        sa.Column("scope", sa.TEXT, nullable=False),
        sa.Column("owner", sa.TEXT, nullable=False),
        sa.Column("name", sa.TEXT, nullable=False),
        sa.Column("unit", sa.TEXT, nullable=False),
        sa.Column("t0_s", sa.REAL, nullable=False),
        sa.Column("dt_s", sa.REAL, nullable=False),
        sa.Column("n", sa.INTEGER, nullable=False),
        sa.Column("dtype", sa.TEXT, nullable=False),
        sa.Column("codec", sa.TEXT, nullable=False),
        sa.Column("chunk_samples", sa.INTEGER, nullable=False),
        sa.Column("vmin", sa.REAL),
        sa.Column("vmax", sa.REAL),
        sa.Column("mean", sa.REAL),
        sa.UniqueConstraint("run_id", "scope", "owner", "name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "chunk",
        _series_id(),
        sa.Column("idx", sa.INTEGER, primary_key=True),
        sa.Column("n", sa.INTEGER, nullable=False),
        sa.Column("data", sa.BLOB, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "pyramid",
        _series_id(),
        sa.Column("level", sa.INTEGER, primary_key=True),
        sa.Column("n", sa.INTEGER, nullable=False),
        sa.Column("codec", sa.TEXT, nullable=False),
        sa.Column("data", sa.BLOB, nullable=False),
        sqlite_strict=True,
    )


def _create_event_tables(op: Operations) -> None:
    op.create_table(
        "event_chunk",
        _run_id(),
        sa.Column("stream", sa.TEXT, primary_key=True),
        sa.Column("idx", sa.INTEGER, primary_key=True),
        sa.Column("field", sa.TEXT, primary_key=True),
        sa.Column("n", sa.INTEGER, nullable=False),
        sa.Column("codec", sa.TEXT, nullable=False),
        sa.Column("data", sa.BLOB, nullable=False),
        sqlite_strict=True,
    )
    op.create_table(
        "event_name",
        _run_id(),
        sa.Column("stream", sa.TEXT, primary_key=True),
        sa.Column("field", sa.TEXT, primary_key=True),
        sa.Column("idx", sa.INTEGER, primary_key=True),
        sa.Column("name", sa.TEXT, nullable=False),
        sqlite_strict=True,
    )


def _create_search(op: Operations) -> None:
    """Full-text index over what a user remembers of a run, kept up to date by triggers."""
    op.execute(
        "CREATE VIRTUAL TABLE run_search USING fts5(name, scenario_name, controllers, note, tags,"
        " tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    )
    op.execute(
        "CREATE TRIGGER run_search_insert AFTER INSERT ON run BEGIN"
        " INSERT INTO run_search (rowid, name, scenario_name, controllers, note, tags)"
        " VALUES (NEW.id, NEW.name, NEW.scenario_name, NEW.controllers, NEW.note, ''); END"
    )
    op.execute(
        "CREATE TRIGGER run_search_update AFTER UPDATE OF name, note ON run BEGIN"
        " UPDATE run_search SET name = NEW.name, note = NEW.note WHERE rowid = NEW.id; END"
    )
    op.execute(
        "CREATE TRIGGER run_search_delete AFTER DELETE ON run BEGIN DELETE FROM run_search WHERE rowid = OLD.id; END"
    )
    for when, row in (("INSERT", "NEW"), ("DELETE", "OLD")):
        op.execute(
            f"CREATE TRIGGER run_search_tag_{when.lower()} AFTER {when} ON run_tag BEGIN"
            f" UPDATE run_search SET tags = coalesce((SELECT group_concat(tag, ' ') FROM run_tag"
            f" WHERE run_id = {row}.run_id), '') WHERE rowid = {row}.run_id; END"
        )


def _create_immutability(op: Operations) -> None:
    """A run that is not running any more changes only in name, note, tags and deletion mark, whoever asks.

    Purging deletes the run's row first and the rest by cascade, so that by then no finished run is found.
    """
    op.execute(
        f"CREATE TRIGGER run_fixed BEFORE UPDATE OF {_FIXED_RUN_COLUMNS} ON run WHEN OLD.status <> 'running' {_REFUSE}"
    )
    op.execute(
        "CREATE TRIGGER run_kept BEFORE DELETE ON run WHEN OLD.deleted_at IS NULL OR OLD.status = 'running'"
        " BEGIN SELECT RAISE(ABORT, 'only deleted runs can be purged'); END"
    )
    finished_run = "EXISTS (SELECT 1 FROM run WHERE id = {row}.run_id AND status <> 'running')"
    finished_series = (
        "EXISTS (SELECT 1 FROM series JOIN run ON run.id = series.run_id"
        " WHERE series.id = {row}.series_id AND run.status <> 'running')"
    )
    tables = {
        "run_document": finished_run,
        "series": finished_run,
        "event_chunk": finished_run,
        "event_name": finished_run,
        "chunk": finished_series,
        "pyramid": finished_series,
    }
    for table, is_finished in tables.items():
        for verb, row in (("INSERT", "NEW"), ("UPDATE", "OLD"), ("DELETE", "OLD")):
            op.execute(
                f"CREATE TRIGGER {table}_fixed_{verb.lower()} BEFORE {verb} ON {table}"
                f" WHEN {is_finished.format(row=row)} {_REFUSE}"
            )

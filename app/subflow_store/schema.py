"""The tables as this version knows them, for queries. They are made by the migrations; a test compares the two.

Blobs and long texts live in tables of their own (`chunk`, `pyramid`, `event_chunk`, `run_document`), so that listing
runs or series, and looking up in `event_span` which chunks of events to read, touches only small rows.

WORKAROUND(SQLite 3.37, that of Ubuntu 22.04): a STRICT table with a BEFORE UPDATE trigger refuses whole numbers in its
REAL columns, so `run` and `series`, which have both, are not STRICT.
"""

from __future__ import annotations

import sqlalchemy as sa

APPLICATION_ID = 0x53464C57
"""PRAGMA application_id of our files: "SFLW". `file(1)` and we tell by it a Subflow database from any other."""

CHUNK_SAMPLES = 4096
"""Samples in a chunk: 41 s at 100 Hz. Against one blob a series this costs 9 % in size and buys live append, reading a
window without the rest, and that a crash loses only what was not yet committed."""

PYRAMID_STEPS = {1: 64, 2: 4096}
"""Samples that one group of each pyramid level covers. Both divide CHUNK_SAMPLES or equal it."""

metadata = sa.MetaData()

run = sa.Table(
    "run",
    metadata,
    sa.Column("id", sa.INTEGER, primary_key=True),
    sa.Column("name", sa.TEXT, nullable=False),
    sa.Column("scenario_name", sa.TEXT, nullable=False),
    sa.Column("controllers", sa.TEXT, nullable=False),
    sa.Column("seed", sa.INTEGER, nullable=False),  # unsigned 64 bit, stored as the signed number of the same bits
    sa.Column("duration_s", sa.REAL, nullable=False),
    sa.Column("warmup_s", sa.REAL, nullable=False),
    sa.Column("sample_interval_s", sa.REAL, nullable=False),
    sa.Column("mss_bytes", sa.INTEGER, nullable=False),
    sa.Column("profile", sa.TEXT, nullable=False),
    sa.Column("version", sa.TEXT, nullable=False),
    sa.Column("status", sa.TEXT, nullable=False),
    sa.Column("signature", sa.TEXT, nullable=False),
    sa.Column("started_at", sa.TEXT, nullable=False),  # ISO 8601, UTC, like all times of day here
    sa.Column("ended_at", sa.TEXT),
    sa.Column("wall_s", sa.REAL),
    sa.Column("simulated_s", sa.REAL, nullable=False),
    sa.Column("packets", sa.INTEGER),
    sa.Column("goodput_bps", sa.REAL),
    sa.Column("mean_rtt_s", sa.REAL),
    sa.Column("jain", sa.REAL),
    sa.Column("note", sa.TEXT, nullable=False),
    sa.Column("deleted_at", sa.TEXT),
    sa.Column("writer_host", sa.TEXT, nullable=False),  # who writes it: see liveness.py
    sa.Column("writer_boot", sa.TEXT, nullable=False),
    sa.Column("writer_pid", sa.INTEGER, nullable=False),
    sa.Column("writer_started", sa.TEXT, nullable=False),
    sa.Column("heartbeat_at", sa.TEXT, nullable=False),
    sqlite_autoincrement=True,  # the id of a purged run is never given to another
)

run_document = sa.Table(
    "run_document",
    metadata,
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("kind", sa.TEXT, primary_key=True),  # scenario (TOML), summary (JSON), machine (JSON)
    sa.Column("text", sa.TEXT, nullable=False),
    sqlite_strict=True,
)

run_tag = sa.Table(
    "run_tag",
    metadata,
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("tag", sa.TEXT(collation="NOCASE"), primary_key=True),
    sa.Index("run_tag_by_tag", "tag"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

run_fork = sa.Table(
    "run_fork",
    metadata,
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("parent_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="SET NULL")),  # unknown once that is purged
    sa.Column("parent_name", sa.TEXT, nullable=False),
    sa.Column("forked_at_s", sa.REAL, nullable=False),
    sa.Column("difference", sa.TEXT, nullable=False),  # in English words
    sa.Column("changes", sa.TEXT, nullable=False),  # JSON
    sa.Index("run_fork_by_parent", "parent_id"),
    sqlite_strict=True,
)

value_key = sa.Table(
    "value_key",
    metadata,
    sa.Column("id", sa.INTEGER, primary_key=True),
    sa.Column("key", sa.TEXT, nullable=False, unique=True),
    sqlite_strict=True,
)

# Parameters and figures by key (run_values.py). A key's rows lie together, so that a filter or a column of the list
# reads one stretch; by that, a search for any of some hundred keys needs no further index.
run_value = sa.Table(
    "run_value",
    metadata,
    sa.Column("key_id", sa.INTEGER, sa.ForeignKey("value_key.id"), primary_key=True),
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.REAL),  # SI units
    sa.Column("text", sa.TEXT(collation="NOCASE")),  # as it was written, where it was text
    sa.Index("run_value_by_run", "run_id"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

series = sa.Table(
    "series",
    metadata,
    sa.Column("id", sa.INTEGER, primary_key=True),
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), nullable=False),
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

chunk = sa.Table(
    "chunk",
    metadata,
    sa.Column("series_id", sa.INTEGER, sa.ForeignKey("series.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("idx", sa.INTEGER, primary_key=True),
    sa.Column("n", sa.INTEGER, nullable=False),
    sa.Column("data", sa.BLOB, nullable=False),
    sqlite_strict=True,
)

pyramid = sa.Table(
    "pyramid",
    metadata,
    sa.Column("series_id", sa.INTEGER, sa.ForeignKey("series.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("level", sa.INTEGER, primary_key=True),
    sa.Column("n", sa.INTEGER, nullable=False),  # groups; the blob holds their n minima, then their n maxima
    sa.Column("codec", sa.TEXT, nullable=False),
    sa.Column("data", sa.BLOB, nullable=False),
    sqlite_strict=True,
)

event_chunk = sa.Table(
    "event_chunk",
    metadata,
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("stream", sa.TEXT, primary_key=True),  # one of streams.STREAMS
    sa.Column("idx", sa.INTEGER, primary_key=True),
    sa.Column("field", sa.TEXT, primary_key=True),  # one row for each column of the stream
    sa.Column("n", sa.INTEGER, nullable=False),
    sa.Column("codec", sa.TEXT, nullable=False),
    sa.Column("data", sa.BLOB, nullable=False),
    sqlite_strict=True,
)

event_name = sa.Table(
    "event_name",
    metadata,
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("stream", sa.TEXT, primary_key=True),
    sa.Column("field", sa.TEXT, primary_key=True),
    sa.Column("idx", sa.INTEGER, primary_key=True),  # what the field's numbers stand for
    sa.Column("name", sa.TEXT, nullable=False),
    sqlite_strict=True,
)

event_span = sa.Table(
    "event_span",
    metadata,
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("stream", sa.TEXT, primary_key=True),
    sa.Column("owner", sa.INTEGER, primary_key=True),  # its number in event_name
    sa.Column("idx", sa.INTEGER, primary_key=True),  # the chunk
    sa.Column("n", sa.INTEGER, nullable=False),  # rows of this owner in it
    sa.Column("t_first_ns", sa.INTEGER, nullable=False),
    sa.Column("t_last_ns", sa.INTEGER, nullable=False),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

training = sa.Table(
    "training",
    metadata,
    sa.Column("id", sa.INTEGER, primary_key=True),
    sa.Column("name", sa.TEXT, nullable=False),
    sa.Column("agent", sa.TEXT, nullable=False),
    sa.Column("scenario_name", sa.TEXT, nullable=False),
    sa.Column("seed", sa.INTEGER, nullable=False),  # as in `run`
    sa.Column("state", sa.TEXT, nullable=False),
    sa.Column("message", sa.TEXT, nullable=False),  # why it failed
    sa.Column("folder", sa.TEXT, nullable=False),  # its checkpoints and policies
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
    sa.Column("policy_hash", sa.TEXT, nullable=False),  # of the best policy file
    sa.Column("parent_id", sa.INTEGER, sa.ForeignKey("training.id", ondelete="SET NULL")),
    sa.Column("reports_read", sa.INTEGER, nullable=False),  # bytes of the folder's reports that are in here
    sa.Column("process_host", sa.TEXT, nullable=False),  # who trains: see liveness.py
    sa.Column("process_boot", sa.TEXT, nullable=False),
    sa.Column("process_pid", sa.INTEGER, nullable=False),
    sa.Column("process_started", sa.TEXT, nullable=False),
    sa.Index("training_by_parent", "parent_id"),
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

training_document = sa.Table(
    "training_document",
    metadata,
    sa.Column("training_id", sa.INTEGER, sa.ForeignKey("training.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("kind", sa.TEXT, primary_key=True),  # scenario (TOML), config (JSON)
    sa.Column("text", sa.TEXT, nullable=False),
    sqlite_strict=True,
)

training_metric = sa.Table(
    "training_metric",
    metadata,
    sa.Column("training_id", sa.INTEGER, sa.ForeignKey("training.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("name", sa.TEXT, primary_key=True),  # `step` and `elapsed_s` are in every chunk
    sa.Column("idx", sa.INTEGER, primary_key=True),  # the chunk: the same for all metrics that were reported together
    sa.Column("n", sa.INTEGER, nullable=False),
    sa.Column("codec", sa.TEXT, nullable=False),
    sa.Column("data", sa.BLOB, nullable=False),
    sqlite_strict=True,
)

training_evaluation = sa.Table(
    "training_evaluation",
    metadata,
    sa.Column("training_id", sa.INTEGER, sa.ForeignKey("training.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("step", sa.INTEGER, primary_key=True),
    sa.Column("controller", sa.TEXT, primary_key=True),
    sa.Column("metric", sa.TEXT, primary_key=True),
    sa.Column("mean", sa.REAL),
    sa.Column("ci95", sa.REAL),  # half width of the 95 % confidence interval of the mean
    sa.Column("n", sa.INTEGER, nullable=False),  # seeds
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

sweep = sa.Table(
    "sweep",
    metadata,
    sa.Column("id", sa.INTEGER, primary_key=True),
    sa.Column("name", sa.TEXT, nullable=False),
    sa.Column("plan", sa.TEXT, nullable=False),  # TOML, with its scenario in it
    sa.Column("version", sa.TEXT, nullable=False),
    sa.Column("state", sa.TEXT, nullable=False),
    sa.Column("message", sa.TEXT, nullable=False),  # why it failed
    sa.Column("created_at", sa.TEXT, nullable=False),
    sa.Column("updated_at", sa.TEXT, nullable=False),
    sa.Column("ended_at", sa.TEXT),
    sa.Column("process_host", sa.TEXT, nullable=False),  # who carries it out: see liveness.py
    sa.Column("process_boot", sa.TEXT, nullable=False),
    sa.Column("process_pid", sa.INTEGER, nullable=False),
    sa.Column("process_started", sa.TEXT, nullable=False),
    sqlite_autoincrement=True,
    sqlite_strict=True,
)

sweep_point = sa.Table(
    "sweep_point",
    metadata,
    sa.Column("sweep_id", sa.INTEGER, sa.ForeignKey("sweep.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("idx", sa.INTEGER, primary_key=True),
    sa.Column("parameters", sa.TEXT, nullable=False),  # JSON: key -> text as the scenario has it
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

sweep_run = sa.Table(
    "sweep_run",
    metadata,
    sa.Column("sweep_id", sa.INTEGER, sa.ForeignKey("sweep.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("point", sa.INTEGER, primary_key=True),
    sa.Column("seed", sa.INTEGER, primary_key=True),  # as in `run`
    sa.Column("key", sa.TEXT, nullable=False),
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="SET NULL")),
    sa.Column("message", sa.TEXT, nullable=False),  # why there is no run
    sa.Index("sweep_run_by_run", "run_id"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)

run_key = sa.Table(
    "run_key",
    metadata,
    sa.Column("run_id", sa.INTEGER, sa.ForeignKey("run.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("key", sa.TEXT, nullable=False),  # runs of the same key are the same, bit for bit
    sa.Column("has_traces", sa.INTEGER, nullable=False),
    sa.Index("run_key_by_key", "key"),
    sqlite_strict=True,
)

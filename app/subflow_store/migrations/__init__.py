"""THE list of schema migrations. The n-th takes a database from version n - 1 to n; version 0 is an empty file.

Together they are the schema, which is written nowhere else. Times of day are ISO 8601 text of UTC; seeds are unsigned
64 bit, stored as the signed number of the same bits; quantities are in SI units. Blobs and long texts live in tables of
their own (`chunk`, `pyramid`, `event_chunk`, `run_document`, `recording`), so that listing runs or series, and looking
up in `event_span` which chunks of events to read, touches only small rows.
"""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection

from subflow_store.migrations import (
    m0001_initial,
    m0002_event_spans,
    m0003_trainings,
    m0004_run_values,
    m0005_run_forks,
    m0006_sweeps,
    m0007_arena,
    m0008_searches,
    m0009_recordings,
)

Migration = Callable[[Connection], None]
"""One step: it makes the change inside the upgrade's transaction."""

MIGRATIONS: tuple[Migration, ...] = (
    m0001_initial.upgrade,
    m0002_event_spans.upgrade,
    m0003_trainings.upgrade,
    m0004_run_values.upgrade,
    m0005_run_forks.upgrade,
    m0006_sweeps.upgrade,
    m0007_arena.upgrade,
    m0008_searches.upgrade,
    m0009_recordings.upgrade,
)

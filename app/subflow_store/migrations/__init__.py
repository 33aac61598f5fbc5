"""The list of schema migrations. The n-th converts a database from version n - 1 to n; version 0 is an empty file.

The migrations together are the only definition of the schema. Points in time are ISO 8601 texts in UTC; seeds are
unsigned 64 bit, stored as the signed number with the same bits; quantities are in SI units. Blobs and long texts have
separate tables (`chunk`, `pyramid`, `event_chunk`, `run_document`, `document_pack`, `recording`). So listing runs or
series, and finding chunks of events in `event_span`, reads only small rows.
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
    m0010_light_runs,
)

Migration = Callable[[Connection], None]
"""One step: makes its change inside the upgrade's transaction."""

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
    m0010_light_runs.upgrade,
)

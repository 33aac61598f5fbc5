"""THE list of schema migrations. The n-th takes a database from version n - 1 to n; version 0 is an empty file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from subflow_store.migrations import (
    m0001_initial,
    m0002_event_spans,
    m0003_trainings,
    m0004_run_values,
    m0005_run_forks,
    m0006_sweeps,
)

if TYPE_CHECKING:
    from alembic.operations import Operations

Migration = Callable[["Operations"], None]
"""One step: given Alembic's operations inside the upgrade's transaction, it makes the change."""

MIGRATIONS: tuple[Migration, ...] = (
    m0001_initial.upgrade,
    m0002_event_spans.upgrade,
    m0003_trainings.upgrade,
    m0004_run_values.upgrade,
    m0005_run_forks.upgrade,
    m0006_sweeps.upgrade,
)

"""Runs and their traces in one SQLite file. The package uses plain values, and imports neither simulator nor app.

    with open_store("subflow.db") as store:
        with store.start_run(RunStart(...), [ColumnSpec("subflow", "download/1", "cwnd_pkts", "pkt")]) as run:
            run.append(0, block)
            run.finish("finished", summary, signature)
        newest = store.runs(limit=1)[0]
        cwnd = store.read(store.series(newest.id)[0].id)

Importing the package loads only value classes; `open_store` loads the modules that open a file.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from subflow_store.conditions import Condition
from subflow_store.errors import (
    RunBusy,
    RunClosed,
    RunNotFound,
    StoreClosed,
    StoreCorrupt,
    StoreError,
    StoreForeign,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreNewer,
    StoreOlder,
    StoreReadOnly,
)
from subflow_store.values import (
    TRAINING_STATES,
    BestPolicy,
    ColumnSpec,
    EvaluationFigure,
    EventExtent,
    EventTable,
    MarkRow,
    RunFork,
    RunRow,
    RunStart,
    SweepRecord,
    SweepRunPlace,
    SweepStart,
    TrainingMoment,
    TrainingRow,
    TrainingStart,
)

if TYPE_CHECKING:
    from subflow_store.again import Simulator
    from subflow_store.run_writer import RunWriter
    from subflow_store.store import Store

__all__ = [
    "TRAINING_STATES",
    "BestPolicy",
    "ColumnSpec",
    "Condition",
    "EvaluationFigure",
    "EventExtent",
    "EventTable",
    "MarkRow",
    "RunBusy",
    "RunClosed",
    "RunFork",
    "RunNotFound",
    "RunRow",
    "RunStart",
    "RunWriter",
    "Store",
    "StoreClosed",
    "StoreCorrupt",
    "StoreError",
    "StoreForeign",
    "StoreFull",
    "StoreLocked",
    "StoreMissing",
    "StoreNewer",
    "StoreOlder",
    "StoreReadOnly",
    "SweepRecord",
    "SweepRunPlace",
    "SweepStart",
    "TrainingMoment",
    "TrainingRow",
    "TrainingStart",
    "open_store",
]


def open_store(
    path: str | os.PathLike[str],
    *,
    read_only: bool = False,
    busy_timeout_s: float = 5.0,
    simulator: Simulator | None = None,
) -> Store:
    """Open a database of runs; a missing file is created, with its folder, and an older one is upgraded.

    Runs marked as running whose process has ended are marked as interrupted.

    Args:
        path: the file; ":memory:" for a database that lasts as long as the store.
        read_only: change nothing; the file must exist, and may be in a folder without write permission.
        busy_timeout_s: longest wait for a lock of another process.
        simulator: simulates the traces of light runs again when they are read; None if this program cannot.

    Raises:
        StoreError: if the file cannot be used; its subclass gives the reason, and its text a remedy.
    """
    from subflow_store.store import Store

    return Store(path, read_only=read_only, busy_timeout_s=busy_timeout_s, simulator=simulator)


def __getattr__(name: str) -> Any:
    """Load the classes of an open store at their first use."""
    if name == "Store":
        from subflow_store.store import Store

        return Store
    if name == "RunWriter":
        from subflow_store.run_writer import RunWriter

        return RunWriter
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

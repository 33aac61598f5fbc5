"""The database: a run goes in, comes out as it was, is described, deleted, brought back, and copied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.shell.selftest.check import Check, Place, require

if TYPE_CHECKING:
    from subflow_app.features.traces.core.traces import Traces
    from subflow_store import Store

_NOTE = "Grüße, 世界"


def check(place: Place) -> str:
    """Takes a run through it."""
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.running.core.runs import RunJob
    from subflow_store import open_store

    source = open_scenario("demo", use=Use.SELF_TEST)
    database, copy = place.folder / "runs.subflow", place.folder / "copy.subflow"
    with open_store(database) as store:
        job = RunJob(source.scenario, source.text, store=store)
        result = job.run()
        require(result.run_id is not None, f"the run is not kept: {result.store_error or result.error}")
        assert result.run_id is not None
        store.set_note(result.run_id, _NOTE)
        store.delete([result.run_id])
        require(not store.runs(), "a deleted run is listed")
        store.undelete([result.run_id])
        store.save_copy(copy)
    count = 0
    for path in (database, copy):
        with open_store(path, read_only=True) as store:
            count = _compare(path, store, result.run_id, job.traces, result.summary["signature"], source.text)
    return f"signature {result.summary['signature']}, {count} traces as they were, also in a copy"


def _compare(path: Path, store: Store, run_id: int, made: Traces, signature: str, scenario_text: str) -> int:
    """How many traces are the same; what is not is told."""
    import numpy as np

    from subflow_app.features.traces.core.traces import StoredTraces

    run, traces = store.run(run_id), StoredTraces(store, run_id)
    require(run.signature == signature, f"{path.name} has the signature {run.signature}, the run had {signature}")
    require(run.note == _NOTE, f"{path.name} has the note {run.note}")
    require(run.scenario_text == scenario_text, f"{path.name} has another scenario text")
    require(set(traces.keys()) == set(made.keys()), f"{path.name} has other traces")
    for key in traces.keys():  # noqa: SIM118 # a method of ours, not a dictionary's
        (times, values), (made_times, made_values) = traces.read(key), made.read(key)
        is_same = np.array_equal(times, made_times) and np.array_equal(values, made_values, equal_nan=True)
        require(is_same, f"{path.name} has other samples of {key}")
    return len(traces.keys())


CHECK = Check("store", check)

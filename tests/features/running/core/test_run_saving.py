"""A run that its database could not store is saved completely from memory to another place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.fake_runs import RICH
from tests.helpers.fake_simulation import FakeSimulation

from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_sim.decisions import DecisionLimits
from subflow_store import StoreClosed, open_store


def finished_job(**more) -> RunJob:
    job = RunJob(RICH, "text", simulation_maker=lambda s, seed, dt: FakeSimulation(s), **more)
    return job


def test_whole_run_goes_to_another_database(tmp_path: Path) -> None:
    broken = open_store(tmp_path / "broken.db")
    broken.close()
    job = finished_job(store=broken, decisions=DecisionLimits())
    result = job.run()
    assert isinstance(result.store_error, StoreClosed)

    with open_store(tmp_path / "other.db") as other:
        run_id = job.save_to(other)

        row = other.run(run_id)
        assert (row.status, row.signature, row.scenario_text) == ("finished", result.signature, "text")
        stored = StoredTraces(other, run_id)
        assert stored.keys() == job.traces.keys()
        for key in stored.keys():  # noqa: SIM118 - Traces is not a mapping
            np.testing.assert_array_equal(stored.read(key)[1], job.traces.read(key)[1])
        # The fake marks one loss per second of its 10 s.
        assert len(stored.marks()) == 10
        assert stored.marks() == job.traces.marks()
        for stream, count in (("interval", 20), ("decision", 30)):
            saved, kept = stored.events(stream), job.traces.events(stream)
            assert len(saved) == count
            assert saved.texts("owner") == kept.texts("owner")
            np.testing.assert_array_equal(saved["time_ns"], kept["time_ns"])


def test_saving_again_says_why_it_fails(tmp_path: Path) -> None:
    closed = open_store(tmp_path / "closed.db")
    closed.close()
    job = finished_job()
    job.run()

    with pytest.raises(StoreClosed):
        job.save_to(closed)


def test_run_that_goes_on_cannot_be_saved_yet() -> None:
    with pytest.raises(RuntimeError, match="not over"):
        finished_job().save_to(None)  # type: ignore[arg-type]

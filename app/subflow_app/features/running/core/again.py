"""Simulates a stored run again, with all its traces. The store calls it for runs that it keeps without traces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import subflow_app
from subflow_app.features.catalog.core.uses import Use, open_stored
from subflow_app.features.running.core.run_recorder import RunnableSimulation
from subflow_app.features.running.core.runs import RunJob, decision_limits, make_simulation
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.errors import ScenarioError, SimError
from subflow_store.errors import StoreError

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_store import RunRow, Store


def simulate_again(
    run: RunRow,
    into: Store,
    *,
    has_decisions: bool,
    on_progress: Callable[[float], object],
    is_cancelled: Callable[[], bool],
) -> int:
    """Simulate a run again, and store it with its traces; see `subflow_store.again.Simulator`.

    Raises:
        InterruptedError: after a cancellation.
        StoreError: if this version cannot simulate the run, or it cannot be written.
    """
    try:
        scenario, _renamed = open_stored(Use.REPLAY, run.scenario_text or "", run.summary, file=f"run {run.id}")
        decisions = decision_limits(scenario) if has_decisions else None

        def check() -> None:
            if is_cancelled():
                job.stop()

        watched = _Watched(on_progress, check)
        job = RunJob(
            scenario,
            run.scenario_text or "",
            seed=run.seed,
            store=into,
            sample_interval_s=run.sample_interval_s,
            name=run.name,
            simulation_maker=watched.made,
            decisions=decisions,
        )
    except (ScenarioError, SimError) as error:
        raise _cannot(run, error) from error
    result = job.run()
    if result.store_error is not None:
        raise result.store_error
    assert result.run_id is not None
    if result.status != JobState.FINISHED:
        into.delete([result.run_id])
        into.purge_deleted()
        if result.error is None:
            raise InterruptedError
        raise _cannot(run, result.error)
    return result.run_id


def _cannot(run: RunRow, error: Exception) -> StoreError:
    made_by = f"version {run.version}" if run.version else "an unknown version"
    return StoreError(
        f"the traces of run {run.id} are not stored, and version {subflow_app.__version__} cannot simulate it again"
        f" ({made_by} recorded it): {error}"
    )


class _Watched:
    """A simulation that reports its progress after each step."""

    def __init__(self, on_progress: Callable[[float], object], check: Callable[[], object]) -> None:
        self._on_progress = on_progress
        self._check = check
        self._simulation: RunnableSimulation | None = None

    def made(self, scenario: Scenario, seed: int | None, sample_interval_s: float) -> RunnableSimulation:
        """Make the simulation; a `SimulationMaker`."""
        self._simulation = make_simulation(scenario, seed, sample_interval_s)
        return cast("RunnableSimulation", self)

    def run_until(self, t_s: float) -> bool:
        """As `RunnableSimulation.run_until`."""
        assert self._simulation is not None
        was_whole = self._simulation.run_until(t_s)
        self._on_progress(min(1.0, self._simulation.now_s / self._simulation.duration_s))
        self._check()
        return was_whole

    def __getattr__(self, name: str) -> Any:
        """All other attributes of the simulation."""
        return getattr(self._simulation, name)

"""A run that can be carried out in this process, in another process or on another machine.

The task contains the parsed scenario with the content of its policies, so that the other machine needs no files. The
outcome contains everything that is to be stored, because only the requesting process writes to the store.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.running.core.run_recorder import run_start
from subflow_app.features.running.core.runs import RunJob, decision_limits
from subflow_app.features.traces.core.events import AGENT, DECISION, INTERVAL
from subflow_app.features.traces.core.scenario_hash import simulator_version
from subflow_app.features.traces.core.traces import NANOSECONDS
from subflow_app.foundation.errors import ClusterError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_store.values import ColumnSpec, EventTable

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_store import Store


@dataclass(frozen=True, slots=True)
class RunTask:
    """A run to be simulated, possibly on another machine.

    Attributes:
        scenario: scenario to simulate.
        seed: seed of the run.
        sample_interval_s: simulated time between two samples of the traces, s.
        keeps_traces: whether the outcome contains traces in addition to the summary.
        records_decisions: whether to record decisions; the outcome contains them if it contains traces.
    """

    scenario: Scenario
    seed: int
    sample_interval_s: float
    keeps_traces: bool = True
    records_decisions: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class RunOutcome:
    """Result of a run.

    Attributes:
        version: version of the simulator that carried out the run.
        status: "finished", "stopped" or "failed".
        summary: summary document of the run; empty if the run could not start.
        signature: signature of the run; empty if the run could not start.
        problem: reason for a failure; otherwise empty.
        n_samples: number of samples of the traces, even if they are not kept.
        columns: columns of the traces; empty if they are not kept.
        samples: float32 [n_samples, n_columns]; empty if the traces are not kept.
        marks: (time in ns, owner, kind, value) of each mark; empty if the traces are not kept.
        events: rows of events by stream; empty if the traces are not kept.
    """

    version: str
    status: str
    summary: Mapping[str, Any]
    signature: str
    problem: str
    n_samples: int = 0
    columns: tuple[ColumnSpec, ...] = ()
    samples: NDArray[np.float32] = field(default_factory=lambda: np.empty((0, 0), np.float32))
    marks: tuple[tuple[int, str, str, float], ...] = ()
    events: Mapping[str, EventTable] = field(default_factory=dict)

    @property
    def failure(self) -> str:
        """Reason why the run did not finish; empty for a finished run.

        Raises:
            ClusterError: if the run was carried out by a worker with a different version of the simulator.
        """
        if self.version != simulator_version():
            raise ClusterError(
                f"a worker has another version of Subflow ({self.version}) than this machine "
                f"({simulator_version()}): install the same one on all machines of the cluster"
            )
        return "" if self.status == "finished" else self.problem or f"the run was {self.status}"


def make_run(task: RunTask, on_start: OnStart) -> RunOutcome:
    """Simulate a run to its end. Failures are reported in the outcome and raise no exception.

    Args:
        task: the run to carry out.
        on_start: called with the job, so that another thread can stop it.
    """
    try:
        decisions = decision_limits(task.scenario) if task.records_decisions else None
        job = RunJob(
            task.scenario,
            "",
            seed=task.seed,
            sample_interval_s=task.sample_interval_s,
            decisions=decisions,
        )
    except Exception as error:
        # The error affects only this run, so that the caller can report it and continue with other runs.
        return RunOutcome(simulator_version(), JobState.FAILED.value, {}, "", str(error) or type(error).__name__)
    on_start(job)
    result = job.run()
    traces = job.traces
    keys = traces.keys()
    columns = [traces.read(key)[1] for key in keys]
    n_samples = min(map(len, columns), default=0)
    problem = "" if result.error is None else str(result.error) or type(result.error).__name__
    outcome = (simulator_version(), result.status.value, result.summary, result.signature, problem, n_samples)
    if not task.keeps_traces:
        return RunOutcome(*outcome)
    return RunOutcome(
        *outcome,
        columns=tuple(ColumnSpec(key.scope, key.owner, key.name, key.unit) for key in keys),
        samples=np.column_stack([column[:n_samples] for column in columns]) if columns else np.empty((0, 0), "f4"),
        marks=tuple((round(mark.time_s * NANOSECONDS), mark.owner, mark.kind, mark.value) for mark in traces.marks()),
        events={spec.name: table for spec in (DECISION, INTERVAL, AGENT) if len(table := traces.events(spec.name))},
    )


def keep_run(
    store: Store,
    outcome: RunOutcome,
    scenario: Scenario,
    scenario_text: str,
    *,
    name: str,
    seed: int,
    sample_interval_s: float,
    on_start: Callable[[int], None],
) -> int:
    """Store an ended run.

    Args:
        store: destination.
        outcome: result of the run.
        scenario: simulated scenario.
        scenario_text: text of the scenario, from which the run can be repeated.
        name: name of the run.
        seed: seed of the run.
        sample_interval_s: simulated time between two samples of the traces, s.
        on_start: called with the number of the run as soon as the store has begun recording it.

    Returns:
        Number of the run in the store.

    Raises:
        StoreError: if the run cannot be written.
    """
    start = run_start(scenario, scenario_text, name=name, seed=seed, sample_interval_s=sample_interval_s)
    with store.start_run(start, outcome.columns) as writer:
        on_start(writer.run_id)
        # A block without columns still records the number of samples.
        samples = outcome.samples if outcome.columns else np.empty((outcome.n_samples, 0), np.float32)
        writer.append(0, samples)
        writer.add_marks(outcome.marks)
        for stream, table in outcome.events.items():
            writer.add_events(stream, table)
        summary = dict(outcome.summary) | {"run_id": writer.run_id}
        writer.finish(outcome.status, summary, outcome.signature)
        return writer.run_id

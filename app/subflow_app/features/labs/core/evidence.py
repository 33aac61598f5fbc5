"""Work of a student in a lab: the current document, and the runs, sweeps and trainings since the lab was begun.

The evidence comes from the store, never from clicks. A finished run does not change, so it is read only once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.traces.core.traces import StoredTraces, TraceMark
from subflow_store.conditions import Condition

if TYPE_CHECKING:
    from subflow_store import RunFork, Store
    from subflow_store.values import RunRow, TrainingRow

FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Begin:
    """Highest record numbers in the store when a lab was begun; records with higher numbers belong to the lab."""

    run: int = 0
    sweep: int = 0
    training: int = 0

    @classmethod
    def of(cls, store: Store) -> Begin:
        """The highest record numbers in a store at this moment; 0 for an empty table.

        Raises:
            StoreError: if the store cannot be read.
        """
        runs = store.runs(limit=1, include_deleted=True)
        sweeps, trainings = store.sweeps.rows(limit=1), store.trainings.rows(limit=1)
        return cls(
            run=runs[0].id if runs else 0,
            sweep=sweeps[0].id if sweeps else 0,
            training=trainings[0].id if trainings else 0,
        )


class LabRun:
    """A finished simulation run.

    Attributes:
        row: row of the store, with scenario text and summary.
        id: number of the run.
        fork: origin of the run; None for a run that starts at time 0.
    """

    def __init__(self, store: Store, row: RunRow, *, told_as: int | None = None, fork: RunFork | None = None) -> None:
        """Wrap a run of a store, which must stay open while curves are read.

        Args:
            store: store of the run.
            row: row of the run.
            told_as: number of the run in the lab; None for its number in the store.
            fork: origin of a fork if the store lacks it.
        """
        self.row = row
        self._store = store
        self.id = row.id if told_as is None else told_as
        self.fork = fork or row.fork
        self._curves: dict[tuple[str, str], tuple[NDArray[np.float64], NDArray[np.float32]] | None] = {}

    @property
    def seed(self) -> int:
        """Seed of the random numbers."""
        return self.row.seed

    @property
    def summary(self) -> Mapping[str, Any]:
        """Stored results of the run; empty if the store lacks them."""
        return self.row.summary or {}

    @cached_property
    def doc(self) -> ScenarioDoc:
        """Scenario that was simulated."""
        return ScenarioDoc(self.row.scenario_text or "")

    @cached_property
    def marks(self) -> Sequence[TraceMark]:
        """Marks of the traces, such as losses and retransmission timeouts, in order of time."""
        return tuple(self._traces.marks())

    @cached_property
    def _traces(self) -> StoredTraces:
        return StoredTraces(self._store, self.row.id)

    def curve(self, column: str, owner: str) -> tuple[NDArray[np.float64], NDArray[np.float32]] | None:
        """Times (s) and values (SI) of a column of the traces; None if the traces lack it."""
        wanted = (column, owner)
        if wanted not in self._curves:
            keys = self._traces.keys()
            found = next((key for key in keys if (key.name, key.owner) == wanted), None)
            self._curves[wanted] = None if found is None else self._traces.read(found)
        return self._curves[wanted]

    def columns(self) -> list[tuple[str, str]]:
        """Pairs (column, owner) of all traces."""
        return [(key.name, key.owner) for key in self._traces.keys()]  # noqa: SIM118 - a sequence


@dataclass(frozen=True)
class Evidence:
    """Snapshot of the work of a student.

    Attributes:
        doc: the scenario in the editor.
        runs: finished runs since the lab was begun, and older runs that its last sweep reuses, in the order of their
            numbers.
        step_runs: number of the latest run at the time when each step was passed, by id of the step.
        trainings: finished trainings, in the order in which they were begun.
        sweep: runs of the last finished sweep; None if no sweep has finished.
        sweep_points: number of points of the last finished sweep.
        since: number of a run; only later runs count in `last` and `run`.
        store: store with the curves of trainings; None if they are unavailable.
    """

    doc: ScenarioDoc
    runs: tuple[LabRun, ...] = ()
    step_runs: Mapping[str, int] = field(default_factory=dict)
    trainings: tuple[TrainingRow, ...] = ()
    sweep: tuple[int, ...] | None = None
    sweep_points: int = 0
    since: int = 0
    store: Store | None = None

    @property
    def counted(self) -> list[LabRun]:
        """Runs after `since`, which count for the step."""
        return [run for run in self.runs if run.id > self.since]

    def run(self, run_id: int) -> LabRun | None:
        """The run with this number; None if the lab contains no such run."""
        return next((run for run in self.runs if run.id == run_id), None)

    def after(self, since: int) -> Evidence:
        """The same evidence in which only runs after `since` count."""
        return replace(self, since=since)


class EvidenceReader:
    """Reads the evidence repeatedly from a store, but each run only once. Only one thread may use it at a time."""

    def __init__(self, store: Store, begin: Begin) -> None:
        """Create a reader of the records that were added since the lab was begun."""
        self._store = store
        self._begin = begin
        self._known: dict[int, LabRun] = {}

    def read(self, text: str, step_runs: Mapping[str, int]) -> Evidence:
        """Read the current evidence.

        Args:
            text: text of the document.
            step_runs: number of the latest run at the time when each step was passed, by id of the step.

        Raises:
            StoreError: if the store cannot be read.
        """
        store = self._store

        rows = store.runs([Condition("id", ">", self._begin.run)], status=FINISHED)
        ids = {row.id for row in rows}
        sweeps = [row for row in store.sweeps.rows() if row.id > self._begin.sweep and row.state == FINISHED]
        sweep = None
        if sweeps:
            sweep = tuple(row.run_id for row in store.sweeps.runs(sweeps[0].id) if row.run_id is not None)
            # A sweep may reuse equal runs from before the lab instead of repeating them.
            ids |= {run_id for run_id in sweep if run_id not in ids}
        trainings = [row for row in store.trainings.rows() if row.id > self._begin.training and row.state == FINISHED]
        runs = [run for run in map(self._run, sorted(ids)) if run.row.status == FINISHED and run.row.signature]
        return Evidence(
            doc=ScenarioDoc(text),
            runs=tuple(runs),
            step_runs=step_runs,
            trainings=tuple(reversed(trainings)),
            sweep=sweep,
            sweep_points=sweeps[0].points if sweeps else 0,
            store=store,
        )

    def _run(self, run_id: int) -> LabRun:
        known = self._known.get(run_id)
        if known is None:
            known = self._known[run_id] = LabRun(self._store, self._store.run(run_id))
        return known

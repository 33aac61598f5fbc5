"""What a student has done since a lab was begun: the document as it is, and finished runs, sweeps and trainings.

Read from the store, never from what was clicked. A run that is finished does not change, so it is read once.
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
    """The last numbers in the store when a lab was begun: what has a higher one was made in it."""

    run: int = 0
    sweep: int = 0
    training: int = 0

    @classmethod
    def of(cls, store: Store) -> Begin:
        """As the store is now.

        Raises:
            StoreError: if it cannot be read.
        """
        runs = store.runs(limit=1, include_deleted=True)
        sweeps, trainings = store.sweeps.rows(limit=1), store.trainings.rows(limit=1)
        return cls(
            run=runs[0].id if runs else 0,
            sweep=sweeps[0].id if sweeps else 0,
            training=trainings[0].id if trainings else 0,
        )


class LabRun:
    """A finished run that was simulated.

    Attributes:
        row: as the store has it, with scenario text and summary.
        id: the number by which it is known.
        fork: where it branched off; None: it has a beginning of its own.
    """

    def __init__(self, store: Store, row: RunRow, *, told_as: int | None = None, fork: RunFork | None = None) -> None:
        """A run of a store, which must stay open while curves are read.

        Args:
            store: that it is in.
            row: of it.
            told_as: the number by which it is known; None: that of the store.
            fork: where it branched off, if the store does not know.
        """
        self.row = row
        self._store = store
        self.id = row.id if told_as is None else told_as
        self.fork = fork or row.fork
        self._curves: dict[tuple[str, str], tuple[NDArray[np.float64], NDArray[np.float32]] | None] = {}

    @property
    def seed(self) -> int:
        """Its seed."""
        return self.row.seed

    @property
    def summary(self) -> Mapping[str, Any]:
        """Its figures."""
        return self.row.summary or {}

    @cached_property
    def doc(self) -> ScenarioDoc:
        """Its scenario."""
        return ScenarioDoc(self.row.scenario_text or "")

    @cached_property
    def marks(self) -> Sequence[TraceMark]:
        """Its marks in order of time."""
        return tuple(self._traces.marks())

    @cached_property
    def _traces(self) -> StoredTraces:
        return StoredTraces(self._store, self.row.id)

    def curve(self, column: str, owner: str) -> tuple[NDArray[np.float64], NDArray[np.float32]] | None:
        """Times (s) and values (SI) of a column of its traces; None if it has none such."""
        wanted = (column, owner)
        if wanted not in self._curves:
            keys = self._traces.keys()
            found = next((key for key in keys if (key.name, key.owner) == wanted), None)
            self._curves[wanted] = None if found is None else self._traces.read(found)
        return self._curves[wanted]

    def columns(self) -> list[tuple[str, str]]:
        """(column, owner) of all its traces."""
        return [(key.name, key.owner) for key in self._traces.keys()]  # noqa: SIM118 - a sequence


@dataclass(frozen=True)
class Evidence:
    """All of it at one time.

    Attributes:
        doc: the scenario that is being edited.
        runs: finished runs since the lab was begun, in the order in which they were made.
        step_runs: number of the last run when a step was passed, by step.
        trainings: that are finished, in the order in which they were begun.
        sweep: runs of the last finished sweep; None: there is none.
        sweep_points: how many points that has.
        since: number of a run; only later ones count for `last` and `run`.
        scratch: the place for what functions work out once.
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
        """Those that count for the step."""
        return [run for run in self.runs if run.id > self.since]

    def run(self, run_id: int) -> LabRun | None:
        """The run of that number."""
        return next((run for run in self.runs if run.id == run_id), None)

    def after(self, since: int) -> Evidence:
        """The same, of which only later runs count."""
        return replace(self, since=since)


class EvidenceReader:
    """Reads it from a store, again and again while the student works. For one thread at a time."""

    def __init__(self, store: Store, begin: Begin) -> None:
        """What was made after the beginning."""
        self._store = store
        self._begin = begin
        self._known: dict[int, LabRun] = {}

    def read(self, text: str, step_runs: Mapping[str, int]) -> Evidence:
        """What there is now.

        Args:
            text: of the document.
            step_runs: as `Evidence.step_runs`.

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
            # Runs that a sweep found ready were made before the lab; they are what it would have made, bit for bit.
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

"""Traces of light runs: simulated again at the first reading, and kept in memory.

A light run is stored without samples and events, because its scenario and seed determine them. The store imports
no simulator, so `open_store` takes a function that simulates. The result is stored in a second store, in memory, whose
data the methods of `Store` return like those of any other run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from subflow_store.database import Database
from subflow_store.errors import StoreError
from subflow_store.values import RunRow, SeriesInfo

S = TypeVar("S", bound=Any)
"""A `subflow_store.store.Store`, whose module imports this one."""

_MOST_RUNS = 40  # kept in memory, the latest ones
_FIRST_SERIES = 1 << 40  # numbers of series of light runs begin here; stored series have smaller numbers
_MOST_SERIES = 1 << 20  # of a run


class Simulator(Protocol):
    """Simulates a run again."""

    def __call__(
        self,
        run: RunRow,
        into: Any,
        *,
        has_decisions: bool,
        on_progress: Callable[[float], object],
        is_cancelled: Callable[[], bool],
    ) -> int:
        """Simulate a run again, and store it with its traces.

        Args:
            run: the run with its documents.
            into: the store that receives it, a `Store`.
            has_decisions: whether to record the decisions of controllers and schedulers.
            on_progress: called with the simulated share, 0 to 1.
            is_cancelled: returns True to cancel.

        Returns:
            Number of the run in `into`.

        Raises:
            InterruptedError: after a cancellation.
            StoreError: if the run cannot be simulated here, or not be written.
        """


class SimulatedAgain(NamedTuple):
    """A light run whose traces were simulated again.

    Attributes:
        run_id: number of the run.
        name: name of the run.
        recorded: signature that was recorded with the run.
        made: signature of the simulation.
        made_by: version of Subflow that recorded the run.
        version: version of Subflow that simulated it again.
    """

    run_id: int
    name: str
    recorded: str
    made: str
    made_by: str
    version: str

    @property
    def is_identical(self) -> bool:
        """True if both simulations are the same, bit for bit."""
        return self.recorded == self.made


@dataclass(frozen=True, slots=True)
class _Place(Generic[S]):
    """A light run in memory: its number there, and its signals in order."""

    memory: S
    number: int
    series: tuple[SeriesInfo, ...]


class LightRuns(Generic[S]):
    """The light runs of a database; all methods may be called from any thread."""

    def __init__(
        self,
        database: Database,
        simulator: Simulator | None,
        load: Callable[[int], RunRow],
        open_memory: Callable[[], S],
    ) -> None:
        """Read from a database.

        Args:
            database: the database with the light runs.
            simulator: simulates the runs; None if this program cannot.
            load: loads a run with its documents.
            open_memory: opens an empty store in memory.
        """
        self._database = database
        self._simulator = simulator
        self._load = load
        self._open_memory = open_memory
        self._lock = threading.RLock()
        self._memory: S | None = None
        self._places: dict[int, _Place[S]] = {}  # by number here, the latest last
        self._told: Mapping[int, SimulatedAgain] = {}  # replaced as a whole, so that reading it needs no lock

    def is_light(self, run_id: int) -> bool:
        """True if the traces of a run are simulated again.

        Raises:
            StoreError: if the file cannot be read.
        """
        with self._lock:
            return run_id in self._places or self._has_decisions(run_id) is not None

    def simulated(self) -> tuple[SimulatedAgain, ...]:
        """The runs that were simulated again so far, in order; never waits for a simulation."""
        return tuple(self._told.values())

    def place(
        self,
        run_id: int,
        on_progress: Callable[[float], object] = lambda _share: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> tuple[S, int] | None:
        """The store in memory with the traces of a light run, and the run's number there; None for other runs.

        Raises:
            InterruptedError: after a cancellation.
            RunNotFound: if the run does not exist.
            StoreError: if the file cannot be read, or the run cannot be simulated here.
        """
        found = self._place(run_id, on_progress, is_cancelled)
        return None if found is None else (found.memory, found.number)

    def series(self, run_id: int) -> list[SeriesInfo] | None:
        """The signals of a light run, with numbers for `place_of_series`; None for other runs.

        Raises:
            StoreError: as `place`.
        """
        found = self._place(run_id)
        first = _FIRST_SERIES + run_id * _MOST_SERIES
        return (
            None
            if found is None
            else [info._replace(id=first + index, run_id=run_id) for index, info in enumerate(found.series)]
        )

    def place_of_series(self, series_id: int) -> tuple[S, int] | None:
        """The store in memory with a signal of a light run, and the signal's number there; None for other signals.

        Raises:
            StoreError: as `place`.
        """
        run_id, index = divmod(series_id - _FIRST_SERIES, _MOST_SERIES)
        found = self._place(run_id) if run_id > 0 else None
        return None if found is None or index >= len(found.series) else (found.memory, found.series[index].id)

    def close(self) -> None:
        """Free the memory."""
        with self._lock:
            memory, self._memory, self._places = self._memory, None, {}
        if memory is not None:
            memory.close()

    def _place(
        self,
        run_id: int,
        on_progress: Callable[[float], object] = lambda _share: None,
        is_cancelled: Callable[[], bool] = lambda: False,
    ) -> _Place[S] | None:
        with self._lock:
            found = self._places.pop(run_id, None)
            if found is None:
                has_decisions = self._has_decisions(run_id)
                if has_decisions is None:
                    return None
                found = self._simulate(run_id, has_decisions, on_progress, is_cancelled)
            self._places[run_id] = found
            return found

    def _has_decisions(self, run_id: int) -> bool | None:
        with self._database.reading() as reader:
            row = reader.execute("SELECT has_decisions FROM light_run WHERE run_id = ?", (run_id,)).fetchone()
        return None if row is None else bool(row[0])

    def _simulate(
        self,
        run_id: int,
        has_decisions: bool,
        on_progress: Callable[[float], object],
        is_cancelled: Callable[[], bool],
    ) -> _Place[S]:
        if self._simulator is None:
            raise StoreError(
                f"the traces of run {run_id} are not stored, and only Subflow can simulate them again",
                path=self._database.label,
                way_on=f"`subflow export {run_id}` writes them to files.",
            )
        if self._memory is None:
            self._memory = self._open_memory()
        run = self._load(run_id)
        number = self._simulator(
            run, self._memory, has_decisions=has_decisions, on_progress=on_progress, is_cancelled=is_cancelled
        )
        again = self._memory.run(number)
        compared = SimulatedAgain(run_id, run.name, run.signature, again.signature, run.version, again.version)
        self._told = {**self._told, run_id: compared}
        if len(self._places) >= _MOST_RUNS:
            self._memory.delete([self._places.pop(next(iter(self._places))).number])
            self._memory.purge_deleted()
        return _Place(self._memory, number, tuple(self._memory.series(number)))

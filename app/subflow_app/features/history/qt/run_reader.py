"""Reads the list of runs off the GUI thread: a file may lie on a drive that answers slowly, or not any more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QDeadlineTimer, QObject, Signal

from subflow_app.features.history.core.run_columns import Value, column, read_totals
from subflow_app.features.history.core.run_query import Vocabulary
from subflow_app.toolkit.workers import Task, Workers
from subflow_store import StoreCorrupt, StoreError
from subflow_store.conditions import Condition
from subflow_store.values import RunRow

if TYPE_CHECKING:
    from subflow_store import Store
    from subflow_store.damage import Damage


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listing:
    """What was read.

    Attributes:
        rows: the runs, newest first.
        recorded: values of the columns that are read, by key and run.
        keys: of all recorded values.
        tags: all that are in use.
        sweeps: names of the sweeps, by the tag of their runs.
        damaged: what is missing, as it cannot be read.
    """

    rows: list[RunRow] = field(default_factory=list)
    recorded: Mapping[str, Mapping[int, Value]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sweeps: Mapping[str, str] = field(default_factory=dict)
    damaged: tuple[Damage, ...] = ()

    def vocabulary(self, before: Vocabulary) -> Vocabulary:
        """What queries may name: of scenarios and controllers all that were ever listed."""
        scenarios = {*before.scenarios, *(row.scenario_name for row in self.rows)}
        controllers = {*before.controllers, *(name for row in self.rows for name in row.controllers.split(", "))}
        return Vocabulary(self.keys, self.tags, tuple(sorted(scenarios)), tuple(sorted(controllers - {""})))


class RunReader(QObject):
    """Answers the latest question; answers to earlier ones are dropped.

    A store on a local disk answers within milliseconds. That long the GUI thread waits, so that a change and the list
    that shows it come in one go; longer than `patience_ms` it never does.
    """

    read = Signal(object)  # Listing
    failed = Signal(object)  # StoreError
    waiting = Signal()  # the answer takes longer

    def __init__(self, workers: Workers, parent: QObject) -> None:
        """Reads nothing yet."""
        super().__init__(parent)
        self.patience_ms = 60
        self._workers = workers
        self._store: Store | None = None
        self._question: tuple[Sequence[Condition], Collection[str]] = ((), ())
        self._generation = 0  # of the latest question
        self._asked = 0  # of the question that is being answered, or was last
        self._answered = 0
        self._task: Task | None = None  # that answers, and what takes its answer up
        self._take_up: Callable[[], None] = lambda: None
        self._is_quiet = False  # True while the GUI thread has not waited for that answer

    def set_store(self, store: Store | None) -> None:
        """Reads from this store; answers from the one before are dropped."""
        self._store = store
        self._generation += 1

    def ask(self, conditions: Sequence[Condition], keys: Collection[str], *, is_quiet: bool = False) -> None:
        """Reads the runs that meet the conditions, and the values of the columns of these keys.

        Args:
            conditions: all of which a run has to meet.
            keys: of columns.
            is_quiet: no person has asked, so the GUI thread does not wait for the answer.
        """
        self._question = (conditions, keys)
        self._generation += 1
        if self._task is None:
            self._start()
        elif is_quiet or not self._is_quiet:
            return  # this question follows the one that is being answered
        self._is_quiet = is_quiet
        if not is_quiet:
            self._wait()

    def _wait(self) -> None:
        """Waits for the answer, and first for one that was on its way before, for `patience_ms` at most."""
        patience = QDeadlineTimer(self.patience_ms)
        while self._task is not None and self._task.wait(max(0, patience.remainingTime())):
            self._take_up()
        if self._task is not None:
            self.waiting.emit()

    def _start(self) -> None:
        store = self._store
        if store is None:
            return
        conditions, keys = self._question
        generation = self._asked = self._generation
        answer: list[Listing] = []
        error: list[Exception] = []

        def work() -> None:
            try:
                answer.append(_read(store, conditions, keys))
            except Exception as failure:
                error.append(failure)

        def on_end(_nothing: object = None) -> None:
            if self._answered < generation:
                self._answered = generation
                self._on_answer(generation, answer, error)

        self._task = self._workers.start("list runs", work, succeeded=on_end, failed=on_end)
        self._take_up = on_end

    def _on_answer(self, generation: int, answer: list[Listing], error: list[Exception]) -> None:
        self._task = None
        if generation != self._generation:
            self._start()
        elif answer:
            self.read.emit(answer[0])
        elif isinstance(error[0], StoreError):
            self.failed.emit(error[0])
        else:
            raise error[0]


def _read(store: Store, conditions: Sequence[Condition], keys: Collection[str]) -> Listing:
    rows = store.runs(conditions)
    damaged = list(store.damaged)

    def sound(read: Callable[[], T], nothing: T) -> T:
        """What stands beside the runs must not cost them."""
        try:
            return read()
        except StoreCorrupt as error:
            from subflow_store.damage import Damage  # with sqlite3, which the first paint does not wait for

            damaged.append(Damage("", "", 0, error.problem))
            return nothing

    totals = [key for key in keys if column(key).is_of_flows]
    values: dict[str, dict[int, float | str | None]] = sound(partial(read_totals, store, totals), {})
    nothing: dict[int, float | str] = {}
    values |= {key: {**sound(partial(store.values, key), nothing)} for key in keys if key not in totals}
    return Listing(
        rows,
        values,
        tuple(sound(store.value_keys, [])),
        tuple(sound(store.tags, [])),
        sound(store.sweeps.names, {}),
        tuple(damaged),
    )

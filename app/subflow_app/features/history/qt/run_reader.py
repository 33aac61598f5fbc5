"""Reads the list of runs in a separate thread, because the file may be on a slow or disconnected drive."""

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
    """The content of the list of runs.

    Attributes:
        rows: the runs, newest first.
        recorded: values of the columns with `is_read`, by key and run.
        keys: keys of all recorded values.
        tags: all tags in use.
        sweeps: names of the sweeps, by the tag of their runs.
        damaged: unreadable parts of the database.
        hidden: number of runs that do not meet the conditions.
    """

    rows: list[RunRow] = field(default_factory=list)
    recorded: Mapping[str, Mapping[int, Value]] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sweeps: Mapping[str, str] = field(default_factory=dict)
    damaged: tuple[Damage, ...] = ()
    hidden: int = 0

    def vocabulary(self, before: Vocabulary) -> Vocabulary:
        """Names that queries can use; scenarios and controllers accumulate over all listings."""
        scenarios = {*before.scenarios, *(row.scenario_name for row in self.rows)}
        controllers = {*before.controllers, *(name for row in self.rows for name in row.controllers.split(", "))}
        return Vocabulary(self.keys, self.tags, tuple(sorted(scenarios)), tuple(sorted(controllers - {""})))


class RunReader(QObject):
    """Answers the latest request and drops answers to earlier requests.

    A store on a local disk answers within milliseconds. The GUI thread waits up to `patience_ms`, so that a change and
    the new list appear together.
    """

    read = Signal(object)  # Listing
    failed = Signal(object)  # StoreError
    waiting = Signal()  # the answer takes longer than `patience_ms`

    def __init__(self, workers: Workers, parent: QObject) -> None:
        """Start without a request."""
        super().__init__(parent)
        self.patience_ms = 60
        self._workers = workers
        self._store: Store | None = None
        self._question: tuple[Sequence[Condition], Collection[str]] = ((), ())
        self._generation = 0  # number of the latest request
        self._asked = 0  # number of the current or last request
        self._answered = 0
        self._task: Task | None = None  # the current task; `_take_up` processes its answer
        self._take_up: Callable[[], None] = lambda: None
        self._is_quiet = False  # True if the GUI thread has not waited for the current answer

    def set_store(self, store: Store | None) -> None:
        """Read from a different store, and drop answers from the previous one."""
        self._store = store
        self._generation += 1

    def ask(self, conditions: Sequence[Condition], keys: Collection[str], *, is_quiet: bool = False) -> None:
        """Read the runs that meet the conditions, and the values of the columns.

        Args:
            conditions: conditions that must all hold.
            keys: keys of the columns.
            is_quiet: whether to return without waiting, because the request was not made by the user.
        """
        self._question = (conditions, keys)
        self._generation += 1
        if self._task is None:
            self._start()
        elif is_quiet or not self._is_quiet:
            return  # this request starts when the current one ends
        self._is_quiet = is_quiet
        if not is_quiet:
            self._wait()

    def _wait(self) -> None:
        """Wait up to `patience_ms` for earlier answers and for the answer to this request."""
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
        """Read a part of the database, or return `nothing` if it is damaged, so that the runs can still be listed."""
        try:
            return read()
        except StoreCorrupt as error:
            from subflow_store.damage import Damage  # imports sqlite3, which must not delay the first paint

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
        max(0, sound(store.count, 0) - len(rows)) if conditions else 0,
    )

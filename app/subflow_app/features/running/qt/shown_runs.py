"""Chooses the runs that the plots show, finds the run of a curve, and opens stored runs.

The plots show the current or latest run, stored runs, or several runs overlaid. A click near a curve selects its run
in the history. Runs that are selected in the history can be opened in the plots, and the scenario of one run in the
editor.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from subflow_app.features.traces.core.measured import emulation_of, lateness_text
from subflow_app.features.traces.core.scenario_hash import scenario_hash
from subflow_app.features.traces.core.traces import LiveTraces, StoredTraces, Traces
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.toolkit.widgets.shorthand import timer
from subflow_app.vocabulary.language import tr, trn
from subflow_store import RunNotFound, StoreError

if TYPE_CHECKING:
    from subflow_app.features.comparison.core.alignment import Alignment
    from subflow_app.features.editor.qt.documents import Documents
    from subflow_app.features.history.qt import History
    from subflow_app.features.plots.qt.curve_id import CurveId
    from subflow_app.features.plots.qt.plot_view import PlotView
    from subflow_app.features.running.core.runs import RunJob
    from subflow_app.toolkit.database import DatabaseControl
    from subflow_app.toolkit.docks import Docks
    from subflow_app.toolkit.workers import Workers
    from subflow_sim.scenario import Scenario
    from subflow_store import RunRow, Store
    from subflow_store.again import SimulatedAgain


T = TypeVar("T")

_TICK_MS = 100  # time between two readings of the progress
_PATIENCE_MS = 40  # a message is shown only if reading takes longer
_KEPT_BYTES = 1 << 28  # limit for all runs that are opened together


class ShownRuns(QObject):
    """Chooses the runs that a plot view shows, and keeps track of their numbers in the store.

    Stored runs are read in a worker thread and shown afterwards, unless different runs have been chosen by then.
    """

    changed = Signal()
    missed = Signal()  # a run to be shown no longer exists
    wanted = Signal()  # a person chose different runs for the plots, which may not have been read yet

    def __init__(
        self, plots: PlotView, workers: Workers, tell_failure: Callable[[Exception], object], parent: QObject
    ) -> None:
        super().__init__(parent)
        self.patience_ms = _PATIENCE_MS
        self._workers = workers
        self._tell_failure = tell_failure
        self._is_given_up = threading.Event()  # set when a newer request replaces the read in progress
        self._plots = plots
        self._runs: list[tuple[Traces, int | None]] = []
        self.is_chosen = False  # the runs were chosen in the history
        self._own: list[tuple[Traces, int | None]] = []  # runs shown before those were chosen
        self._is_foreign = False  # the runs belong to a different scenario from the open one
        self._simulated: dict[int, SimulatedAgain] = {}  # by number, for the runs of the open database
        self._simulating: tuple[int, float] | None = None  # run that is simulated again, and the share that is done
        self._tick = timer(self, self._show_progress, _TICK_MS)
        plots.cancelled.connect(self._give_up)

    @property
    def count(self) -> int:
        """Number of shown runs."""
        return len(self._runs)

    @property
    def ids(self) -> frozenset[int]:
        """Numbers of the shown runs that are stored."""
        return frozenset(run_id for _, run_id in self._runs if run_id is not None)

    def id_of(self, run: int) -> int | None:
        """Number of the run at this position among the shown runs; None if it is not stored (yet) or not shown."""
        return self._runs[run][1] if run < len(self._runs) else None

    def show_job(self, job: RunJob) -> None:
        """Shows only a run that starts now."""
        self._show([(job.traces, None)])
        self.wanted.emit()

    def show_after(self, job: RunJob) -> None:
        """Shows a run that starts now after a change to its scenario, and the previous run as a ghost."""
        # The curves of different scenarios are not comparable.
        before = [run for run in self._runs[:1] if run[0].labels.keys() == job.traces.labels.keys()]
        for traces, _ in before:
            # Otherwise, each run would keep all its predecessors in memory.
            if isinstance(traces, LiveTraces):
                traces.before = None
            job.traces.before = traces
        self._show([(job.traces, None), *before])
        self.wanted.emit()

    def add_job(self, job: RunJob) -> None:
        """Adds a run that starts now to the shown runs."""
        self._show([*self._runs, (job.traces, None)])
        self.wanted.emit()

    def show_fork(self, job: RunJob) -> None:
        """Shows a fork that starts now, overlaid on its original run, and no other runs."""
        self.show_over_original(job, None)
        self.wanted.emit()

    def show_over_original(self, job: RunJob, run_id: int | None) -> None:
        """Shows a fork overlaid on its original run; ``run_id`` is None if the fork is not stored (yet)."""
        assert job.past is not None
        origin = job.past.origin
        known = [
            (traces, number)
            for traces, number in self._runs
            if traces is origin or (number is not None and number == job.past.fork.parent_id)
        ]
        self._show([(job.traces, run_id), *(known[:1] or [(origin, job.past.fork.parent_id)])])

    def job_stored(self, job: RunJob, run_id: int | None) -> None:
        """Sets the number under which a shown run is stored, so that the history can mark the run."""
        self._runs, self._own = (
            [(traces, run_id if traces is job.traces else known) for traces, known in runs]
            for runs in (self._runs, self._own)
        )
        self._say_foreign(self._is_foreign)
        self._say_again()
        self.changed.emit()

    def show_stored(self, store: Store, run_ids: Sequence[int]) -> None:
        """Shows stored runs overlaid, the first of them with solid lines."""
        self._open(store, run_ids, lambda runs: self._show(runs, is_chosen=True))

    def show_aligned(self, store: Store, reference: int, other: int, alignment: Alignment) -> None:
        """Shows two stored runs overlaid, with the times of the second run aligned to those of the first."""
        from subflow_app.features.comparison.core.alignment import AlignedTraces

        def show(runs: list[tuple[Traces, int | None]]) -> None:
            (first, _), (second, _) = runs
            self._show([(first, reference), (AlignedTraces(second, alignment), other)], is_chosen=True)

        self._open(store, (reference, other), show)

    def overlay(self, store: Store, run_ids: Sequence[int]) -> None:
        """Adds stored runs to the shown runs, unless they are shown already."""
        new = [run_id for run_id in run_ids if run_id not in self.ids]
        if new:
            self._open(store, new, lambda runs: self._show([*self._runs, *runs], is_chosen=True))

    def read_run(self, store: Store, run_id: int, then: Callable[[RunRow], None]) -> None:
        """Reads one run with its documents, and passes it to ``then``. Cancels any read in progress."""
        self._read(lambda _is_given_up: store.run(run_id), then, 1)

    def meet_scenario(self, scenario: Scenario | None, *, is_running: bool) -> None:
        """Removes all runs after a scenario was opened, unless a shown run belongs to this scenario.

        If the runs were chosen in the history, or if a run is in progress, they are kept, and the plots mark them as
        foreign.

        Args:
            scenario: the opened scenario; None if it has problems.
            is_running: whether a run is in progress.
        """
        if not self._runs:
            return
        condition = None if scenario is None else scenario_hash(scenario)
        if any(traces.condition == condition for traces, _ in self._runs):
            self._say_foreign(False)
        elif self.is_chosen or is_running:
            self._say_foreign(True)
        else:
            self.clear()

    def _say_foreign(self, is_foreign: bool) -> None:
        self._is_foreign = is_foreign
        names = dict.fromkeys(
            traces.title if run_id is None else tr("Run {number}, {name}", number=run_id, name=traces.title)
            for traces, run_id in self._runs
        )
        text = tr("{runs}: not of the open scenario", runs="; ".join(names))
        self._plots.say_foreign(text if is_foreign else "")

    def clear(self) -> None:
        """Removes all runs from the plots."""
        self._show([])

    def keep_first(self) -> None:
        """Keeps only the first run."""
        self._show(self._runs[:1], is_chosen=self.is_chosen)

    def return_to_own(self, condition: str | None) -> None:
        """Shows the runs before those chosen in the history, as far as they are of a scenario with this condition."""
        self._show([run for run in self._own if run[0].condition == condition])

    def drop_stored(self) -> None:
        """Removes the runs that were read from a database, before the database is closed."""
        self._give_up()
        self._simulated = {}
        self._own = []
        kept: list[tuple[Traces, int | None]] = [
            (traces, None) for traces, _ in self._runs if isinstance(traces, LiveTraces)
        ]
        if len(kept) != len(self._runs):
            self._show(kept)
        else:
            self._runs = kept
            self.changed.emit()

    def _open(
        self, store: Store, run_ids: Sequence[int], show: Callable[[list[tuple[Traces, int | None]]], None]
    ) -> None:
        specs = self._plots.wanted
        self.wanted.emit()

        def read(is_given_up: Callable[[], bool]) -> list[tuple[Traces, int | None]]:
            runs: list[tuple[Traces, int | None]] = []
            for run_id in run_ids:
                if is_given_up():
                    break

                def on_progress(share: float, run_id: int = run_id) -> None:
                    self._simulating = (run_id, share)

                store.simulate_again(run_id, on_progress=on_progress, is_cancelled=is_given_up)
                traces = StoredTraces(store, run_id)
                first = [key for spec in specs for key in spec.series(traces)]
                traces.keep(first, most_bytes=_KEPT_BYTES // len(run_ids), is_cancelled=is_given_up)
                runs.append((traces, run_id))
            _name_versions(store, [traces for traces, _number in runs])
            return runs

        def show_read(runs: list[tuple[Traces, int | None]]) -> None:
            self._simulated = {each.run_id: each for each in store.simulated_again()}
            show(runs)

        self._simulating = None
        self._read(read, show_read, len(run_ids))

    def _read(self, read: Callable[[Callable[[], bool]], T], then: Callable[[T], None], count: int) -> None:
        self._give_up()
        given_up = self._is_given_up = threading.Event()

        is_waiting = True

        def on_read(result: T) -> None:
            nonlocal is_waiting
            is_waiting = False
            if not given_up.is_set():
                self._tick.stop()
                self._plots.set_waiting("")
                try:
                    then(result)
                except (StoreError, AppError) as error:
                    self._tell_failure(error)

        def on_failed(error: Exception) -> None:
            nonlocal is_waiting
            is_waiting = False
            if given_up.is_set():
                return
            self._tick.stop()
            self._plots.set_waiting("")
            self._tell_failure(error)
            if isinstance(error, RunNotFound):
                self.missed.emit()

        self._workers.start(
            "open runs",
            lambda: read(given_up.is_set),
            succeeded=on_read,
            failed=on_failed,
            cancel=given_up.set,
            patience_ms=self.patience_ms,
        )
        if is_waiting:
            self._plots.set_waiting(trn("Opening {count} stored run…", "Opening {count} stored runs…", count))
            self._tick.start()

    def _show_progress(self) -> None:
        if self._simulating is not None:
            number, share = self._simulating
            text = tr("Run {number} is simulated again: {percent} %", number=number, percent=round(100 * share))
            self._plots.set_waiting(text, can_cancel=True)

    def _say_again(self) -> None:
        simulated = [self._simulated[number] for number in sorted(self.ids & self._simulated.keys())]
        different = [str(each.run_id) for each in simulated if not each.is_identical]
        text = tr("simulated again, identical") if simulated else ""
        if different:
            text = trn(
                "Run {numbers} was recorded by another version of the simulator: the plots show what was simulated "
                "now, its summary is as recorded",
                "Runs {numbers} were recorded by another version of the simulator: the plots show what was simulated "
                "now, their summaries are as recorded",
                len(different),
                numbers=", ".join(different),
            )
        self._plots.say_again(" · ".join(filter(None, (text, *self._accuracies()))))

    def _accuracies(self) -> Iterator[str]:
        """The accuracy of each shown run over an emulated network."""
        for traces, run_id in self._runs:
            emulation = None if traces.row is None else emulation_of(traces.row)
            if emulation is not None:
                number = "" if run_id is None else str(run_id)
                lateness = lateness_text(emulation)
                yield tr("Run {number} on this computer: {lateness}", number=number, lateness=lateness)

    def _give_up(self) -> None:
        self._is_given_up.set()
        self._tick.stop()
        self._plots.set_waiting("")

    def _show(self, runs: list[tuple[Traces, int | None]], *, is_chosen: bool = False) -> None:
        from subflow_app.features.forking.core.words import forks_first

        self._give_up()
        runs = [runs[position] for position in forks_first([traces for traces, _ in runs])]
        self._plots.show_runs([traces for traces, _ in runs])
        if is_chosen and not self.is_chosen:
            self._own = self._runs
        self._runs, self.is_chosen = runs, is_chosen
        self._say_again()
        self._say_foreign(False)
        self.changed.emit()


def _name_versions(store: Store, runs: Sequence[Traces]) -> None:
    """Names the versions of scripts whose texts differ between runs, e.g. "my-aimd, version 3"."""
    from subflow_app.features.history.core.script_versions import version_names

    rows = [traces.row for traces in runs if traces.row is not None]
    if len(rows) < 2:
        return
    names = version_names(store, rows)
    for traces in runs:
        if isinstance(traces, StoredTraces):
            of_run = {key: name for (key, run_id), name in names.items() if run_id == traces.run_id}
            traces.versions = {key.split(".", 1)[1].removesuffix(".content"): name for key, name in of_run.items()}


class CurveFinder:
    """When a curve is clicked, selects its run in the history."""

    def __init__(
        self, plots: PlotView, shown: ShownRuns, history: History, docks: Docks, tell: Callable[[str], object]
    ) -> None:
        self._plots = plots
        self._shown = shown
        self._history = history
        self._docks = docks
        self._tell = tell
        plots.curve_clicked.connect(self._select)
        plots.told.connect(tell)

    def find_run(self) -> None:
        """Opens the history at the run of the curve that was last clicked or chosen in the legend.

        If the search in the history hides the run, it is cleared.
        """
        curve = self._plots.current_curve
        if curve is None:
            self._tell(tr("Click a curve first, or choose its line in the legend."))
            return
        run_id = self._select(curve)
        if run_id is None:
            return
        self._history.reveal([run_id])
        self._docks.set_open("history", True)
        self._history.table.setFocus()

    def _select(self, curve: CurveId) -> int | None:
        """Selects the run of a curve in the history; returns its number, or None if it is not stored."""
        run_id = self._shown.id_of(curve.run)
        label, title = self._plots.names_of(curve)
        if run_id is None:
            self._tell(tr("{curve} belongs to a run that is not in the history: {run}", curve=label, run=title))
            return None
        self._history.select([run_id])
        self._tell(tr("{curve} belongs to run {number}: {run}", curve=label, number=run_id, run=title))
        return run_id


class RunOpening:
    """Opens runs that are selected in the history, and reads them in the background."""

    def __init__(self, history: History, database: DatabaseControl, shown: ShownRuns, documents: Documents) -> None:
        self._history = history
        self._database = database
        self._shown = shown
        self._documents = documents

    def show(self) -> None:
        """Shows the selected runs in the plots."""
        if self._database.store is not None:
            # The oldest run comes first, however the list is sorted, and becomes A, the reference of the comparison.
            self._shown.show_stored(self._database.store, sorted(row.id for row in self._history.selected()))

    def overlay(self) -> None:
        """Adds the selected runs to the shown runs."""
        if self._database.store is not None:
            self._shown.overlay(self._database.store, sorted(row.id for row in self._history.selected()))

    def complete(self, complete: Callable[[RunRow], None]) -> None:
        """Reads the selected run, and calls `complete` with it."""
        rows, store = self._history.selected(), self._database.store
        if len(rows) == 1 and store is not None:
            self._shown.read_run(store, rows[0].id, complete)

    def open_scenario(self) -> None:
        """Opens the scenario of the selected run."""
        rows, store = self._history.selected(), self._database.store
        if len(rows) == 1 and store is not None:
            self._shown.read_run(store, rows[0].id, self._open_scenario_of)

    def open_scenario_of(self, run_id: int) -> None:
        """Opens the scenario of a stored run."""
        if self._database.store is not None:
            self._shown.read_run(self._database.store, run_id, self._open_scenario_of)

    def _open_scenario_of(self, run: RunRow) -> None:
        if not run.scenario_text:
            raise InputError(tr("Run {number} was measured, not simulated: it has no scenario.", number=run.id))
        self._documents.open_text(run.scenario_text, f"{run.scenario_name} (run {run.id})")

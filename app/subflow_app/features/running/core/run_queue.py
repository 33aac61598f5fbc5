"""A queue that carries out several runs simultaneously in threads. Runs can be paused, cancelled and retried.

If a store is open when a run starts, the run is stored there with the tag of its batch. Neither a failed run nor a
failure of the store stops the queue.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.scenario_source import ScenarioSource
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.features.running.core.runs_estimate import estimate_runs, spread_numbers
from subflow_app.foundation.jobs.progress import JobProgress, JobState
from subflow_store.errors import StoreError

if TYPE_CHECKING:
    from subflow_store import Store

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class QueuedRun:
    """A run to add to the queue.

    Attributes:
        source: the scenario to simulate, with its text.
        name: name of the run.
        maker: creates the job in the thread that simulates it; None: the scenario runs from its beginning.
    """

    source: ScenarioSource
    name: str
    maker: Callable[[Store | None], RunJob] | None = None


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """State of a queued run, for display.

    Attributes:
        number: identifies the run; runs are numbered in the order in which they are added.
        name: name of the run.
        seed: seed of the run.
        tag: tag of the batch; empty if it has no tag.
        state: waiting, running, paused or a final state.
        fraction: simulated share of the duration, 0 to 1.
        eta_s: remaining wall time, s; NaN while unknown.
        note: why the run failed, is not completely stored, or lacks its tag; otherwise empty.
        run_id: number of the run in the store; None if the run is not stored (yet).
    """

    number: int
    name: str
    seed: int
    tag: str
    state: JobState = JobState.WAITING
    fraction: float = 0.0
    eta_s: float = math.nan
    note: str = ""
    run_id: int | None = None


class _Item:
    """A queued run with its job and state; guarded by the lock of the queue."""

    def __init__(self, entry: QueueEntry, run: QueuedRun) -> None:
        self.entry = entry
        self.run = run
        self.job: RunJob | None = None
        self.is_cancelled = False
        self.wall_s = 0.0


class RunQueue:
    """The queue of one window. All methods may be called from any thread; the window polls for changes.

    Args:
        store: returns the store for new runs, or None to keep them in memory.
        sample_interval_s: returns the simulated time between two samples, s.
        parallel: maximum number of simultaneous runs; None: one less than the cores of this machine.
    """

    def __init__(
        self,
        store: Callable[[], Store | None],
        sample_interval_s: Callable[[], float],
        parallel: int | None = None,
    ) -> None:
        self._store = store
        self._sample_interval_s = sample_interval_s
        self._parallel = parallel or default_parallel()
        self._lock = threading.RLock()
        self._items: list[_Item] = []
        self._begun: list[RunJob] = []
        self._ended: list[tuple[RunJob, RunResult]] = []
        self._threads: set[threading.Thread] = set()
        self._next_number = 1
        self._expected_per_s = math.nan
        self.is_paused = False
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """True if any run is running or waiting."""
        with self._lock:
            return any(not item.entry.state.is_over for item in self._items)

    def entries(self) -> list[QueueEntry]:
        """All runs, in the order of the queue."""
        with self._lock:
            return [self._shown(item) for item in self._items]

    def estimate(self) -> None:
        """Estimate the time that unfinished runs will take, for `progress` to use until it has measured a run.

        Blocks while the beginnings of some runs are simulated.
        """
        with self._lock:
            scenarios = [item.run.source.scenario for item in self._items if not item.entry.state.is_over]
        simulated_s = sum(scenario.duration_s for scenario in scenarios)
        if simulated_s <= 0:
            return
        estimate = estimate_runs(
            [scenarios[number] for number in spread_numbers(len(scenarios))],
            len(scenarios),
            sample_interval_s=self._sample_interval_s(),
            keeps_traces=self._store() is not None,
        )
        threads = min(self._parallel, len(scenarios))
        with self._lock:
            self._expected_per_s = estimate.threads_s(threads) * threads / simulated_s

    def progress(self) -> JobProgress:
        """Progress of the whole queue, weighted by simulated time; cancelled runs do not count."""
        with self._lock:
            items = [item for item in self._items if item.entry.state is not JobState.CANCELLED]
            entries = [self._shown(item) for item in items]
            durations = [item.run.source.scenario.duration_s for item in items]
            whole_s = sum(durations)
            done_s = sum(
                duration if entry.state.is_over else duration * entry.fraction
                for entry, duration in zip(entries, durations, strict=True)
            )
            measured = [(item.wall_s, duration) for item, duration in zip(items, durations, strict=True) if item.wall_s]
            for item, entry, duration in zip(items, entries, durations, strict=True):
                if entry.state is JobState.RUNNING and item.job is not None and entry.fraction > 0:
                    measured.append((item.job.progress.wall_s, duration * entry.fraction))
            eta_s = math.nan
            if whole_s - done_s <= 0:
                eta_s = 0.0
            else:
                measured_s = sum(simulated for _wall, simulated in measured)
                per_s = sum(wall for wall, _simulated in measured) / measured_s if measured_s else self._expected_per_s
                left = sum(not entry.state.is_over for entry in entries)
                eta_s = (whole_s - done_s) * per_s / max(1, min(self._parallel, left))
            done = sum(entry.state.is_over for entry in entries)
            state = JobState.PAUSED if self.is_paused else JobState.RUNNING
            share = done_s / whole_s if whole_s > 0 else 1.0
            return JobProgress(len(items), done, eta_s=eta_s, state=state, share=share)

    def take_begun(self) -> list[RunJob]:
        """The runs that have begun since the last call. Some may have ended already."""
        with self._lock:
            begun, self._begun = self._begun, []
            return begun

    def take_ended(self) -> list[tuple[RunJob, RunResult]]:
        """The runs that have ended since the last call, except those that never started to simulate."""
        with self._lock:
            ended, self._ended = self._ended, []
            return ended

    def add(self, runs: Sequence[QueuedRun], tag: str = "") -> list[int]:
        """Queue runs, and start as many as `parallel` permits.

        Args:
            runs: the runs, in the order in which to start them.
            tag: tag for each stored run; empty for no tag.

        Returns:
            Numbers of the queued runs.
        """
        with self._lock:
            numbers = []
            for run in runs:
                entry = QueueEntry(self._next_number, run.name, run.source.scenario.seed, tag)
                self._items.append(_Item(entry, run))
                numbers.append(entry.number)
                self._next_number += 1
            self._start_next()
            return numbers

    def set_parallel(self, parallel: int) -> None:
        """Set the maximum number of simultaneous runs. Runs in progress are not stopped if they exceed it."""
        with self._lock:
            self._parallel = max(1, parallel)
            self._start_next()

    def pause(self) -> None:
        """Pause the runs in progress, and start no waiting runs until `unpause`."""
        with self._lock:
            self.is_paused = True
            for item in self._items:
                if item.job is not None and item.entry.state is JobState.RUNNING:
                    item.job.pause()

    def unpause(self) -> None:
        """Resume the paused runs, and start as many waiting runs as `parallel` permits."""
        with self._lock:
            self.is_paused = False
            for item in self._items:
                if item.job is not None and item.entry.state is JobState.RUNNING:
                    item.job.unpause()
            self._start_next()

    def cancel(self, numbers: Collection[int]) -> None:
        """Cancel waiting runs, and stop runs in progress, whose simulated part is kept."""
        with self._lock:
            for item in self._chosen(numbers):
                if item.entry.state is JobState.WAITING:
                    item.entry = replace(item.entry, state=JobState.CANCELLED)
                elif item.entry.state is JobState.RUNNING:
                    item.is_cancelled = True
                    if item.job is not None:
                        item.job.stop()

    def retry(self, numbers: Collection[int]) -> None:
        """Queue failed and cancelled runs again."""
        with self._lock:
            for item in self._chosen(numbers):
                if item.entry.state in (JobState.FAILED, JobState.CANCELLED):
                    entry = item.entry
                    item.entry = QueueEntry(entry.number, entry.name, entry.seed, entry.tag)
                    item.job, item.is_cancelled, item.wall_s = None, False, 0.0
            self._start_next()

    def move(self, numbers: Collection[int], by: int) -> None:
        """Move runs up (-1) or down (1) by one place, keeping their order; runs at the end of the list do not move."""
        with self._lock:
            chosen = set(numbers)
            items = self._items if by < 0 else self._items[::-1]
            for place in range(1, len(items)):
                if items[place].entry.number in chosen and items[place - 1].entry.number not in chosen:
                    items[place - 1], items[place] = items[place], items[place - 1]
            self._items = items if by < 0 else items[::-1]

    def remove(self, numbers: Collection[int]) -> None:
        """Remove runs from the list, unless they are running."""
        with self._lock:
            gone = [item for item in self._chosen(numbers) if item.entry.state is not JobState.RUNNING]
            self._items = [item for item in self._items if item not in gone]

    def clear_finished(self) -> None:
        """Remove the finished runs from the list."""
        with self._lock:
            self._items = [item for item in self._items if item.entry.state is not JobState.FINISHED]

    def close(self) -> None:
        """Cancel all runs and wait for their threads to end. The simulated parts of the runs are kept."""
        with self._lock:
            self._is_closed = True
            self.cancel([item.entry.number for item in self._items])
            threads = set(self._threads)
        for thread in threads:
            thread.join()

    # ---- internals ----

    def _chosen(self, numbers: Collection[int]) -> list[_Item]:
        return [item for item in self._items if item.entry.number in numbers]

    @staticmethod
    def _shown(item: _Item) -> QueueEntry:
        job = item.job
        if job is None or item.entry.state is not JobState.RUNNING:
            return item.entry
        progress = job.progress
        return replace(item.entry, fraction=progress.fraction, eta_s=progress.eta_s)

    def _start_next(self) -> None:
        if self.is_paused or self._is_closed:
            return
        running = sum(item.entry.state is JobState.RUNNING for item in self._items)
        for item in self._items:
            if running >= self._parallel:
                return
            if item.entry.state is JobState.WAITING:
                running += 1
                item.entry = replace(item.entry, state=JobState.RUNNING)
                thread = threading.Thread(target=self._carry_out, args=(item,), name=f"queue-{item.entry.number}")
                self._threads.add(thread)
                thread.start()

    def _carry_out(self, item: _Item) -> None:
        """Carry out one run in its thread, and start the next waiting runs afterwards."""
        try:
            entry = self._run(item)
        except Exception as error:
            # Any error ends only this run; the other runs continue.
            _log.exception('queued run "%s" failed', item.run.name)
            entry = replace(item.entry, state=JobState.FAILED, note=str(error) or type(error).__name__)
        with self._lock:
            item.entry = entry
            item.job = None
            self._threads.discard(threading.current_thread())
            self._start_next()

    def _run(self, item: _Item) -> QueueEntry:
        store = self._store()
        maker = item.run.maker or partial(self._job_of, item.run)
        job = maker(store)
        with self._lock:
            item.job = job
            self._begun.append(job)
            if item.is_cancelled:
                job.stop()
            elif self.is_paused:
                job.pause()
        result = job.run()
        note = self._tag(store, result.run_id, item.entry.tag) if store is not None else ""
        if result.store_error is not None:
            note = f"in memory only: {result.store_error}"
        if result.error is not None:
            note = str(result.error)
        states = {JobState.FINISHED: JobState.FINISHED, JobState.STOPPED: JobState.CANCELLED}
        with self._lock:
            item.wall_s = job.progress.wall_s
            self._ended.append((job, result))
        return replace(
            item.entry,
            state=states.get(result.status, JobState.FAILED),
            fraction=job.progress.fraction,
            eta_s=0.0,
            note=note,
            run_id=result.run_id,
        )

    def _job_of(self, run: QueuedRun, store: Store | None) -> RunJob:
        return RunJob(
            run.source.scenario,
            run.source.text,
            store=store,
            sample_interval_s=self._sample_interval_s(),
            name=run.name,
        )

    @staticmethod
    def _tag(store: Store, run_id: int | None, tag: str) -> str:

        if run_id is None or not tag:
            return ""
        try:
            store.add_tag(run_id, tag)
        except StoreError as error:
            _log.warning("run %d has no tag: %s", run_id, error)
            return f"without its tag: {error}"
        return ""


def default_parallel() -> int:
    """Number of cores, minus one that is left for the window; at least 1."""
    return max(1, (os.cpu_count() or 2) - 1)

"""Carries out training runs, a limited number of them simultaneously, and records them in the store with their curves.

    with TrainingService(store) as service:
        number = service.submit(config)
        service.job(number).tell(Command.PAUSE)

A thread of the service starts waiting training runs and updates the store. An error of the store does not stop a
training run: its folder contains all data, and the store is updated at the next opportunity.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from subflow_agents import TrainingConfig
from subflow_app.features.training.core.training import TrainingJob
from subflow_app.features.training.core.training_folder import has_checkpoint, living_process, read_config
from subflow_app.features.training.core.training_record import TrainingRecorder, list_training
from subflow_app.features.training.core.training_worker import TRAINER
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_store.errors import StoreError

if TYPE_CHECKING:
    from subflow_store import Store

_log = logging.getLogger(__name__)

TICK_S = 0.1
SYNC_S = 1.0


def default_limit() -> int:
    """Default number of simultaneous training runs. Each uses one core for learning and one for simulating."""
    return max(1, (os.cpu_count() or 2) // 2)


@dataclass(slots=True)
class ServedTraining:
    """A training run managed by the service.

    Attributes:
        number: id of the training run in the store; without a store, a number that the service assigns.
        name: displayed name.
        job: process of the training run.
        store_error: error of the last update of the store; None if the store is up to date.
        recorder: updates the store; None if the service has no store, or after the last update.
    """

    number: int
    name: str
    job: TrainingJob
    store_error: StoreError | TrainingError | None = None
    recorder: TrainingRecorder | None = field(default=None, repr=False)


class TrainingService:
    """Starts and manages training runs. All methods may be called from any thread."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        limit: int | None = None,
        trainer: str = TRAINER,
    ) -> None:
        """Starts with an empty list.

        Args:
            store: store for the records of the training runs; None: they are kept only in their folders.
            limit: maximum number of simultaneous training runs; None: `default_limit`.
            trainer: module whose `run_training` trains.
        """
        self.limit = default_limit() if limit is None else limit
        self._store = store
        self._trainer = trainer
        self._lock = threading.RLock()
        self._served: dict[int, ServedTraining] = {}
        self._next_number = 1
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="subflow-trainings", daemon=True)
        self._thread.start()

    # Training runs

    def served(self) -> list[ServedTraining]:
        """All training runs of the service, in the order of submission."""
        with self._lock:
            return list(self._served.values())

    def job(self, number: int) -> TrainingJob:
        """The process of a training run.

        Raises:
            TrainingError: if the service has no training run with that number.
        """
        with self._lock:
            if number not in self._served:
                raise TrainingError(f"unknown training {number}")
            return self._served[number].job

    def submit(self, config: TrainingConfig, *, name: str = "") -> int:
        """Queue a training run, which starts as soon as the limit permits; returns its number.

        Raises:
            StoreError: if the training run cannot be added to the store; it is not started then.
            TrainingError: if the service is closed, or if an unfinished training run uses the folder.
        """
        return self._submit(config, name, goes_on=config.resume)

    def go_on_in(self, folder: str | Path, *, steps: int | None = None, minutes: float | None = None) -> int:
        """Resume the training run in a folder, or attach to it if its process is active; returns its number.

        A training run that was killed before its first checkpoint starts over.

        Args:
            folder: folder of the training run.
            steps: new budget of transitions, counted from the beginning.
            minutes: new time budget, counted from the beginning.

        Raises:
            TrainingError: if the folder contains no training run, or if the service already manages it.
            StoreError: if the training run cannot be added to the store; it is not started then.
        """
        config = replace(read_config(Path(folder)), resume=has_checkpoint(Path(folder)))
        if steps is not None or minutes is not None:
            config = replace(config, steps=steps, minutes=minutes)
        if living_process(Path(folder)) is None:
            return self._submit(config, "", goes_on=True)
        with self._lock:
            self._check_folder(config.folder)
            number = self._number(config, "", goes_on=True)
            self._add(number, "", TrainingJob.attach(folder))
            return number

    def close(self, *, keep: bool = False, timeout_s: float = 30.0) -> list[ServedTraining]:
        """End the service. Training runs of other programs continue.

        Args:
            keep: whether active training runs continue without this program, instead of writing a checkpoint and
                stopping. Waiting training runs end in either case.
            timeout_s: maximum time for stopping, s; afterwards the processes are killed.

        Returns:
            The training runs whose processes were killed.
        """
        self._closing.set()
        self._thread.join()
        killed = []
        trainings = [training for training in self.served() if not training.job.is_attached]
        for training in trainings:
            if training.job.state is JobState.WAITING or not keep:
                training.job.stop()
            elif not training.job.state.is_over:
                training.job.detach()
        if not keep:
            deadline = time.monotonic() + timeout_s
            for training in trainings:
                if not training.job.wait(max(0.0, deadline - time.monotonic())):
                    training.job.kill()
                    training.job.wait(timeout_s)
                    killed.append(training)
        for training in self.served():
            self._sync(training)
        return killed

    def __enter__(self) -> TrainingService:
        """Return this service."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop all training runs with a checkpoint."""
        self.close()

    # Internals

    def _submit(self, config: TrainingConfig, name: str, *, goes_on: bool) -> int:
        with self._lock:
            self._check_folder(config.folder)
            number = self._number(config, name, goes_on=goes_on)
            self._served.pop(number, None)  # a resumed training run keeps its number
            job = TrainingJob(config, trainer=self._trainer)
            self._add(number, name, job)
            return number

    def _check_folder(self, folder: str) -> None:
        if self._closing.is_set():
            raise TrainingError("the program is closing: no training can be started")
        for training in self._served.values():
            if training.job.folder == Path(folder) and not training.job.state.is_over:
                raise TrainingError(f"training {training.number} is in {folder} already")

    def _number(self, config: TrainingConfig, name: str, *, goes_on: bool) -> int:
        if self._store is not None:
            return list_training(self._store, config, name=name, goes_on=goes_on)
        self._next_number += 1
        return self._next_number - 1

    def _add(self, number: int, name: str, job: TrainingJob) -> None:
        recorder = None if self._store is None else TrainingRecorder(self._store, number, job.folder)
        self._served[number] = ServedTraining(number, name or job.folder.name, job, recorder=recorder)

    def _work(self) -> None:
        synced = time.monotonic()
        while not self._closing.wait(TICK_S):
            self._start_waiting()
            if time.monotonic() - synced >= SYNC_S:
                for training in self.served():
                    self._sync(training)
                synced = time.monotonic()

    def _start_waiting(self) -> None:
        with self._lock:
            trainings = self.served()
            open_now = [t for t in trainings if not t.job.state.is_over and t.job.state is not JobState.WAITING]
            waiting = [training for training in trainings if training.job.state is JobState.WAITING]
            for training in waiting[: max(0, self.limit - len(open_now))]:
                try:
                    training.job.start()
                except TrainingError as error:
                    training.job.fail(str(error))

    def _sync(self, training: ServedTraining) -> None:
        """Update the record of a training run in the store, for the last time when the training run has ended."""
        recorder, job = training.recorder, training.job
        if recorder is None or self._store is None:
            return
        is_over = job.state.is_over  # read before the reports: once training is over, all reports have been sent
        try:
            recorder.sync()
            row = self._store.trainings.get(training.number)
            if is_over and (row.state, row.message) != (job.state.value, job.message):
                # The process could not report its end, because it was killed or never started.
                self._store.trainings.set_state(training.number, job.state.value, message=job.message)
            training.store_error = None
            if is_over:
                training.recorder = None
        except (StoreError, TrainingError) as error:
            if training.store_error is None:
                _log.warning("training %d: %s", training.number, error)
            training.store_error = error

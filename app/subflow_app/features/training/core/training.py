"""One training, as whoever started it or looks at it sees it: a child process that reports and is told what to do.

    job = TrainingJob(config)
    job.start()
    ...
    job.tell(Command.PAUSE)
    job.wait(until=lambda: job.state is JobState.PAUSED)

`TrainingJob.attach(folder)` gives the same for a training that another program has started: reports are then read in
its folder, and commands are left there.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from subflow_agents import Command, ReportKind, TrainingConfig, TrainingState
from subflow_app.features.training.core.training_folder import (
    LOG,
    has_checkpoint,
    living_process,
    log_tail,
    read_config,
    read_reports,
    send_command,
)
from subflow_app.features.training.core.training_worker import DETACH, TRAINER
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.paths import own_command

WORKER_COMMAND = "train-worker"

_log = logging.getLogger(__name__)

_TAIL_S = 0.05  # how often an attached job looks for reports
_KEPT_REPORTS = 200_000  # for whoever calls `take_reports` late


class TrainingJob:
    """A training in a process of its own. All methods may be called from any thread.

    Attributes:
        config: what is trained.
        folder: where it writes.
    """

    def __init__(
        self,
        config: TrainingConfig,
        *,
        detached: bool = False,
        trainer: str = TRAINER,
    ) -> None:
        """A training that has not started.

        Args:
            config: what to train, and where.
            detached: it goes on when this program ends, whatever becomes of it.
            trainer: module whose `run_training` trains.
        """
        self.config = config
        self.folder = Path(config.folder)
        self._trainer = trainer
        self._detached = detached
        self._changed = threading.Condition()
        self.state = JobState.WAITING
        self.message = ""  # cause of a failure or an interruption, and the remedy
        self._final: tuple[JobState, str] | None = None  # as told; it is so once the process has ended
        self._latest: dict[str, Any] = {}
        self._last_of_kind: dict[str, dict[str, Any]] = {}
        self._reports: list[Mapping[str, Any]] = []
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._pid = 0
        self._reader: threading.Thread | None = None
        self._send_lock = threading.Lock()

    @classmethod
    def attach(cls, folder: str | Path) -> TrainingJob:
        """The training of a folder, whoever started it: running, or over.

        Raises:
            TrainingError: if there is none.
        """
        job = cls(read_config(Path(folder)), detached=True)
        job._begin_tail()
        return job

    # What is known

    @property
    def pid(self) -> int:
        """Its process; 0 before it has started and after it has ended."""
        return 0 if self.state.is_over else self._pid

    @property
    def exit_code(self) -> int | None:
        """Of its process; None while that lives, and of one that another program has started."""
        return None if self._process is None else self._process.returncode

    @property
    def is_attached(self) -> bool:
        """Whether another program has started it."""
        return self._process is None and self.state is not JobState.WAITING

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The latest value of each metric that was reported."""
        with self._changed:
            return dict(self._latest)

    def last(self, kind: ReportKind) -> Mapping[str, Any] | None:
        """Values of the latest report of a kind; None before the first."""
        with self._changed:
            return self._last_of_kind.get(kind.value)

    def take_reports(self) -> list[Mapping[str, Any]]:
        """The reports since the last call, as they came: {"kind": ..., "values": {...}}."""
        with self._changed:
            taken, self._reports = self._reports, []
            return taken

    def resume_hint(self) -> str:
        """What to type to go on."""
        return f"subflow train --resume {self.folder}"

    def wait(self, timeout_s: float | None = None, *, until: Callable[[], bool] | None = None) -> bool:
        """Wait until the training is over, or something is the case; whether it is.

        Args:
            timeout_s: how long at most; None: for ever.
            until: asked after each report; left out: whether it is over.
        """
        if until is None:
            until = lambda: self.state.is_over  # noqa: E731 - a name of its own would say no more
        with self._changed:
            # Over is over: nothing that is not the case by then will ever be.
            self._changed.wait_for(lambda: until() or self.state.is_over, timeout_s)
            return until()

    # What it can be told

    def start(self) -> None:
        """Start the process; returns at once, long before anything is learned.

        Raises:
            TrainingError: if it was started before, if somebody else trains in the folder, or if it cannot be written.
        """
        with self._changed:
            if self.state is not JobState.WAITING:
                raise TrainingError(f"the training in {self.folder} was started before")
            other = living_process(self.folder)
            if other is not None:
                raise TrainingError(f"process {other.pid} is training in {self.folder} already")
            if has_checkpoint(self.folder) and not self.config.resume:
                raise TrainingError(
                    f"{self.folder} holds a training already: continue it with `{self.resume_hint()}`, "
                    "or train in another folder"
                )
            self.state = JobState.STARTING
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / LOG).open("ab") as log:
                self._process = _start_worker(log)
        except OSError as error:
            self._end(JobState.FAILED, f"{self.folder} cannot be used: {error.strerror or error}")
            raise TrainingError(self.message) from error
        self._pid = self._process.pid
        job = {"config": self.config.to_json(), "trainer": self._trainer, "detached": self._detached}
        self._write(json.dumps(job))
        self._reader = threading.Thread(target=self._read_pipe, name=f"subflow-training-{self._pid}", daemon=True)
        self._reader.start()

    def tell(self, command: Command) -> None:
        """Have it pause or go on after a pause, write a checkpoint, or evaluate its policy; reports say when.

        Raises:
            TrainingError: if it has not started.
        """
        if command is Command.STOP:
            self.stop()
            return
        with self._changed:
            if self.state is JobState.WAITING:
                raise TrainingError("the training has not started")
            if self.state.is_over:
                return
        self._send(command.value)

    def stop(self) -> None:
        """End with a checkpoint; its state says when. Before it has started, it ends at once."""
        with self._changed:
            if self.state is JobState.WAITING:
                self._end(JobState.STOPPED, "")
                return
            if self.state.is_over:
                return
            self.state = JobState.STOPPING
            self._changed.notify_all()
        self._send(Command.STOP.value)

    def detach(self) -> None:
        """Let it go on after this program has ended. Reports go on coming."""
        self._detached = True
        if self._process is not None:
            self._send(DETACH)

    def fail(self, message: str) -> None:
        """It cannot be started: that is its end."""
        self._end(JobState.FAILED, message)

    def kill(self) -> None:
        """End its process at once; what came after the last checkpoint is lost. For one that does not obey."""
        if self._process is not None:
            self._process.kill()
        elif (process := living_process(self.folder)) is not None:
            with contextlib.suppress(OSError):
                os.kill(process.pid, signal.SIGKILL)

    # Inside

    def _send(self, command: str) -> None:
        if self._process is not None:
            self._write(json.dumps({"command": command}))
        else:
            send_command(self.folder, command)

    def _write(self, line: str) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        with self._send_lock, contextlib.suppress(OSError, ValueError):  # it has ended: the reader notices
            process.stdin.write(line.encode() + b"\n")
            process.stdin.flush()

    def _read_pipe(self) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):
                self._take(json.loads(line))
        code = process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()
        self._ended(code)

    def _begin_tail(self) -> None:
        """Take what the folder has by now, and go on reading while its process lives."""
        # Asked first: a process that ends while its reports are read is then seen as living, and read once more.
        process = living_process(self.folder)
        self.state = JobState.STARTING
        if process is not None:
            self._pid = process.pid
        end = self._take_file(0)
        if process is None:
            self._ended(None)
            return
        self._reader = threading.Thread(target=self._tail, args=(end,), name="subflow-training-tail", daemon=True)
        self._reader.start()

    def _tail(self, end: int) -> None:
        while living_process(self.folder) is not None:
            time.sleep(_TAIL_S)
            end = self._take_file(end)
        self._take_file(end)
        self._ended(None)

    def _take_file(self, begin: int) -> int:
        try:
            read = read_reports(self.folder, begin)
        except TrainingError as error:
            _log.warning("%s", error)
            return begin
        for report in read.reports:
            self._take(report)
        return read.end

    def _take(self, report: Mapping[str, Any]) -> None:
        kind, values = str(report.get("kind")), dict(report.get("values") or {})
        with self._changed:
            self._count += 1
            if len(self._reports) < _KEPT_REPORTS:
                self._reports.append(report)
            self._last_of_kind[kind] = values
            if kind == ReportKind.METRICS:
                self._latest |= {name: value for name, value in values.items() if value is not None}
            elif kind == ReportKind.STATE:
                self._take_state(values)
            elif kind == ReportKind.FAILED:
                self._final = JobState.FAILED, str(values.get("message", ""))
            self._changed.notify_all()

    def _take_state(self, values: Mapping[str, Any]) -> None:
        with contextlib.suppress(ValueError):
            state = JobState(TrainingState(str(values.get("state"))).value)
            # Over it is when the process has let go of the folder; and a failure stays one, whatever follows.
            if state.is_over:
                self._final = self._final or (state, str(values.get("why") or ""))
            else:
                self._final = None
                # It may still report from before it has heard that it is to stop.
                if self.state is not JobState.STOPPING:
                    self.state = state

    def _ended(self, code: int | None) -> None:
        """The process is gone: see whether it has said why."""
        if self._final is not None:
            self._end(*self._final)
        elif code is not None and code > 0:
            tail = log_tail(self.folder)
            self._end(JobState.FAILED, f"its process failed with exit code {code}{': ' if tail else ''}{tail}")
        else:
            how = f"was killed ({_signal_name(-code)})" if code else "is gone"
            message = f"its process {how}; continue from its last checkpoint with `{self.resume_hint()}`"
            self._end(JobState.INTERRUPTED, message)

    def _end(self, state: JobState, message: str) -> None:
        with self._changed:
            self.state, self.message = state, message
            self._changed.notify_all()


def worker_words() -> list[str]:
    """The command that starts a process that trains: this very program, frozen or not."""
    return own_command(WORKER_COMMAND)


def _start_worker(log: IO[bytes]) -> subprocess.Popen[bytes]:
    # A session of its own: Ctrl-C in the terminal reaches this program alone, which then stops the training in its
    # own way, and a terminal that closes does not take the training with it.
    return subprocess.Popen(
        worker_words(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        start_new_session=True,
    )


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

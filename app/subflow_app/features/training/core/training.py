"""A training run as a child process that sends reports and receives commands.

    job = TrainingJob(config)
    job.start()
    ...
    job.tell(Command.PAUSE)
    job.wait(until=lambda: job.state is JobState.PAUSED)

`TrainingJob.attach(folder)` does the same for a training run that another program started. It reads the reports in the
folder of the training run, and writes commands there.
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

_TAIL_S = 0.05  # interval between reads of an attached job, s
_KEPT_REPORTS = 200_000  # maximum number of reports kept until the next call of `take_reports`


class TrainingJob:
    """A training run in a child process. All methods may be called from any thread.

    Attributes:
        config: config of the training run.
        folder: folder for its output.
    """

    def __init__(
        self,
        config: TrainingConfig,
        *,
        detached: bool = False,
        trainer: str = TRAINER,
    ) -> None:
        """Prepares a training run without starting it.

        Args:
            config: config of the training run, with its folder.
            detached: whether training continues after this program has ended for any reason.
            trainer: module whose `run_training` trains.
        """
        self.config = config
        self.folder = Path(config.folder)
        self._trainer = trainer
        self._detached = detached
        self._changed = threading.Condition()
        self.state = JobState.WAITING
        self.message = ""  # cause of a failure or an interruption, and the remedy
        # final state and message as reported; valid after the end of the process
        self._final: tuple[JobState, str] | None = None
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
        """The training run in a folder, even if it has ended or another program started it.

        Raises:
            TrainingError: if the folder does not contain a training run.
        """
        job = cls(read_config(Path(folder)), detached=True)
        job._begin_tail()
        return job

    # State

    @property
    def pid(self) -> int:
        """Process id; 0 before the start and after the end."""
        return 0 if self.state.is_over else self._pid

    @property
    def exit_code(self) -> int | None:
        """Exit code of the process; None until it has ended, and for the process of another program."""
        return None if self._process is None else self._process.returncode

    @property
    def is_attached(self) -> bool:
        """True if another program started the training run."""
        return self._process is None and self.state is not JobState.WAITING

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The latest value of each reported metric."""
        with self._changed:
            return dict(self._latest)

    def last(self, kind: ReportKind) -> Mapping[str, Any] | None:
        """Values of the latest report of a kind; None before the first."""
        with self._changed:
            return self._last_of_kind.get(kind.value)

    def take_reports(self) -> list[Mapping[str, Any]]:
        """The reports since the last call: {"kind": ..., "values": {...}}."""
        with self._changed:
            taken, self._reports = self._reports, []
            return taken

    def resume_hint(self) -> str:
        """The command with which to resume the training run."""
        return f"subflow train --resume {self.folder}"

    def wait(self, timeout_s: float | None = None, *, until: Callable[[], bool] | None = None) -> bool:
        """Wait until the training has ended, or until a condition holds; returns whether the condition holds.

        Args:
            timeout_s: maximum time to wait, s; None: no limit.
            until: condition, evaluated after each report; default: the training has ended.
        """
        if until is None:
            until = lambda: self.state.is_over  # noqa: E731 - a named function would add nothing
        with self._changed:
            # After the end of the training, the condition can no longer change.
            self._changed.wait_for(lambda: until() or self.state.is_over, timeout_s)
            return until()

    # Commands

    def start(self) -> None:
        """Start the process; returns immediately, before the training begins.

        Raises:
            TrainingError: if training was already started, if another process is training in the folder, or if the
                folder is not writable.
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
        """Send a command to the training process. A report confirms that it has taken effect.

        Raises:
            TrainingError: if the training has not started.
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
        """Stop after writing a checkpoint, as a state report confirms. A job that has not started ends immediately."""
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
        """Let the training continue after this program has ended. Until then, reports continue to arrive."""
        self._detached = True
        if self._process is not None:
            self._send(DETACH)

    def fail(self, message: str) -> None:
        """Set the state of a training run that cannot be started to "failed"."""
        self._end(JobState.FAILED, message)

    def kill(self) -> None:
        """Kill an unresponsive process; progress since the last checkpoint is lost."""
        if self._process is not None:
            self._process.kill()
        elif (process := living_process(self.folder)) is not None:
            with contextlib.suppress(OSError):
                os.kill(process.pid, signal.SIGKILL)

    # Internals

    def _send(self, command: str) -> None:
        if self._process is not None:
            self._write(json.dumps({"command": command}))
        else:
            send_command(self.folder, command)

    def _write(self, line: str) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        # Writing fails only after the process has ended, which the reader thread detects.
        with self._send_lock, contextlib.suppress(OSError, ValueError):
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
        """Read the existing reports in the folder, and then new reports while the training process is running."""
        # Checked first: if the process ends during this read, `_tail` reads its last reports.
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
            elif kind == ReportKind.PROGRESS:
                self._latest["eta_s"] = values.get("eta_s")
            elif kind == ReportKind.STATE:
                self._take_state(values)
            elif kind == ReportKind.FAILED:
                self._final = JobState.FAILED, str(values.get("message", ""))
            self._changed.notify_all()

    def _take_state(self, values: Mapping[str, Any]) -> None:
        with contextlib.suppress(ValueError):
            state = JobState(TrainingState(str(values.get("state"))).value)
            # The state becomes final only when the process has released the folder. A failure remains a failure.
            if state.is_over:
                self._final = self._final or (state, str(values.get("why") or ""))
            else:
                self._final = None
                # The process may still report a different state before it receives the stop command.
                if self.state is not JobState.STOPPING:
                    self.state = state

    def _ended(self, code: int | None) -> None:
        """Set the final state after the end of the process, from its reports or its exit code."""
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
    """Command line that starts this program, frozen or not, as a worker process."""
    return own_command(WORKER_COMMAND)


def _start_worker(log: IO[bytes]) -> subprocess.Popen[bytes]:
    # A new session: Ctrl-C in the terminal only reaches this program, which then stops the training with a checkpoint.
    # Closing the terminal does not end the training either.
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

"""The worker process of a training run: reads one job, then commands, and writes reports, all as lines of JSON.

The worker is started as `subflow train-worker`. Its pipes carry only JSON in both directions, so that neither process
executes data from the other. Each report is also written to the folder of the training run. Other programs can read
the reports there, and a detached training run outlives the program that started it.

If the command pipe closes, the parent has died. Unless it is detached, the training run then stops with a checkpoint.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from subflow_agents import AgentError, Command, Report, ReportKind, TrainingConfig
from subflow_app.features.training.core.training_folder import (
    CommandFile,
    add_report,
    claim,
    command_of,
    mend_reports,
    release,
    renew,
    write_config,
)
from subflow_app.foundation.crash_reports import report_error
from subflow_app.foundation.errors import AppError
from subflow_app.foundation.json_document import plain
from subflow_app.foundation.surroundings import take_stdout
from subflow_sim.errors import SimError
from subflow_store.liveness import HEARTBEAT_S, this_process

DETACH = "detach"
"""Command to continue without the parent. The worker process handles it itself, and passes all others on."""

TRAINER = "subflow_agents.training"
"""The module whose `run_training(config, control, report)` trains."""

_FILE_CHECK_S = 0.02  # stat() takes about a microsecond, and commands must take effect within 100 ms
_MOST_WAITING = 10_000  # maximum number of queued reports for a parent that does not read
_PARENT_PATIENCE_S = 5.0


def main() -> int:
    """Run the job from stdin; returns the exit code.

    A job is ``{"config": {...}, "trainer": module, "detached": flag}``.
    """
    pipe = take_stdout()
    lines = stdin_lines()
    job = json.loads(next(lines))
    outbox = Outbox(pipe)
    try:
        config = TrainingConfig.from_json(job["config"])
        folder = Path(config.folder)
        folder.mkdir(parents=True, exist_ok=True)
        claim(folder, this_process())
        mend_reports(folder)
        if not config.resume:
            # Written immediately, so that a training run killed before its first checkpoint can start over.
            write_config(folder, config)
    except (AgentError, AppError, OSError) as error:
        outbox.send(_failure(error))
        outbox.close()
        return 2
    control = PipeControl(folder, lines, detached=bool(job.get("detached")))
    try:
        return _train(config, str(job.get("trainer", TRAINER)), control, outbox)
    finally:
        release(folder)
        outbox.close()


def _train(config: TrainingConfig, trainer: str, control: PipeControl, outbox: Outbox) -> int:
    with control.stopping_on_signals():
        try:
            import_module(trainer).run_training(config, control, outbox.send)
        except Exception as error:
            # Any error is reported to the parent and in the folder. Unexpected types are bugs, so their traceback is
            # logged.
            if not isinstance(error, AgentError | SimError | OSError):
                traceback.print_exc()
                report_error(error, "training")
            failure = _failure(error)
            add_report(Path(config.folder), failure.to_json())
            outbox.send(failure)
    return 1 if outbox.has_failed else 0


def _failure(error: Exception) -> Report:
    text = str(error) or type(error).__name__
    return Report(ReportKind.FAILED, {"error": type(error).__name__, "message": text})


def stdin_lines() -> Iterator[bytes]:
    """The lines of stdin, read without `sys.stdin`: a thread that waits in it would keep Python from exiting."""
    rest = b""
    while content := os.read(0, 1 << 16):
        *whole, rest = (rest + content).split(b"\n")
        yield from whole


class Outbox:
    """Sends reports to the parent. A parent that hangs does not delay the training.

    Attributes:
        has_failed: whether a failure was reported.
    """

    def __init__(self, pipe: BinaryIO) -> None:
        self.has_failed = False
        self._pipe = pipe
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._write, name="subflow-reports", daemon=True)
        self._thread.start()

    def send(self, report: Report) -> None:
        """Queue a report without waiting. Metrics are dropped while the queue holds `_MOST_WAITING` reports."""
        self.has_failed |= report.kind is ReportKind.FAILED
        line = json.dumps(plain(report.to_json()), allow_nan=False, separators=(",", ":")).encode() + b"\n"
        if report.kind is not ReportKind.METRICS or self._waiting.qsize() < _MOST_WAITING:
            self._waiting.put(line)

    def close(self) -> None:
        """Wait until the parent has read all reports, up to a timeout."""
        self._waiting.put(None)
        self._thread.join(_PARENT_PATIENCE_S)

    def _write(self) -> None:
        while (line := self._waiting.get()) is not None:
            try:
                self._pipe.write(line)
                self._pipe.flush()
            except OSError:
                return  # the parent has stopped reading, but the folder contains all reports


class PipeControl:
    """A `subflow_agents.Control` that receives commands from the parent's pipe, the folder and signals."""

    def __init__(self, folder: Path, lines: Iterator[bytes], *, detached: bool = False) -> None:
        """Starts listening for commands.

        Args:
            folder: folder of the training run.
            lines: lines of the parent's pipe.
            detached: whether to continue after the parent has ended.
        """
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._folder = folder
        self._file = CommandFile(folder)
        self._next_check = self._next_sign_of_life = 0.0
        self._detached = detached
        threading.Thread(target=self._listen, args=(lines,), name="subflow-commands", daemon=True).start()

    def poll(self) -> Command:
        """The next command; `Command.NONE` if no command is waiting."""
        now = time.monotonic()
        if now >= self._next_check:
            self._next_check = now + _FILE_CHECK_S
            for command in self._file.take():
                self._put(command)
        if now >= self._next_sign_of_life:
            self._next_sign_of_life = now + HEARTBEAT_S
            renew(self._folder)
        try:
            return self._commands.get_nowait()
        except queue.Empty:
            return Command.NONE

    @contextlib.contextmanager
    def stopping_on_signals(self) -> Any:
        """On SIGTERM or SIGINT, stop the training with a checkpoint; a second signal ends the process immediately."""
        before: Mapping[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

        def on_signal(number: int, _frame: FrameType | None) -> None:
            for each in before:
                signal.signal(each, signal.SIG_DFL)
            self._commands.put(Command.STOP)

        for number in before:
            signal.signal(number, on_signal)
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _listen(self, lines: Iterator[bytes]) -> None:
        for line in lines:
            self._put(command_of(line))
        if not self._detached:
            self._commands.put(Command.STOP)

    def _put(self, text: str) -> None:
        if text == DETACH:
            self._detached = True
            return
        with contextlib.suppress(ValueError):  # ignores unknown commands, e.g. from a newer parent
            self._commands.put(Command(text))

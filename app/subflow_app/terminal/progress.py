"""Runs a job from the terminal with a progress bar on stderr; signals stop the job and keep its results."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from subflow_app.foundation.interruption import stopping_signals
from subflow_app.foundation.jobs.tasks import Stoppable
from subflow_app.terminal.terminal import stderr_console
from subflow_app.vocabulary.number_text import count_text, duration_text

if TYPE_CHECKING:
    from rich.progress import Progress

    from subflow_app.foundation.jobs.progress import JobProgress

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

# Ten updates per second look smooth and are cheap.
_UPDATE_S = 0.1


class SignalStop:
    """Holds the number of the signal that stopped the job; 0 until then."""

    def __init__(self) -> None:
        self.signal_number = 0


class Runnable(Stoppable, Protocol[T_co]):
    """A job that can run and be stopped."""

    @property
    def progress(self) -> Any:
        """Current progress, an object with a `fraction`."""

    def run(self) -> T_co:
        """Run to the end, or until `stop`."""


def in_background(job: Runnable[T], name: str, text: Callable[[], str] | None = None) -> tuple[T, int]:
    """Run a job in a separate thread and show its progress, until it ends or a signal stops it.

    The main thread stays free for signals: Python handles signals only there, and a simulation would delay them by a
    whole chunk.

    Args:
        job: the job to run.
        name: text before the bar.
        text: returns the text after the bar; None: the result of `progress_text`.

    Returns:
        The result of the job, and the number of the signal that stopped it, or 0. Exceptions of the job are raised
        here.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(job.run())
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=run, name="subflow-work", daemon=True)
    with stopping_on_signals(job) as stop, progress_bar(name) as bar:
        worker.start()
        while worker.is_alive():
            worker.join(_UPDATE_S)
            if bar is not None:
                line = progress_text(job.progress) if text is None else text()
                bar.update(bar.task_ids[0], completed=job.progress.fraction, text=line, refresh=True)
    if errors:
        raise errors[0]
    return results[0], stop.signal_number


def progress_text(progress: JobProgress) -> str:
    """Text after the bar: the current part of the job, its finished runs, and the remaining time."""
    if progress.state == "checking":
        return f"reading point {count_text(progress.checked)}"
    part = progress.part or progress
    parts = [progress.doing] if progress.part is not None else []
    if part.runs:
        parts.append(f"{count_text(part.finished + part.failed)} of {count_text(part.runs)} runs")
    if part.doing:
        parts.append(part.doing)
    if part.reused:
        parts.append(f"{count_text(part.reused)} existed")
    if part.failed:
        parts.append(f"{count_text(part.failed)} failed")
    return f"{' · '.join(parts)} · {duration_text(progress.eta_s)} to go"


@contextmanager
def stopping_on_signals(job: Stoppable) -> Iterator[SignalStop]:
    """Context in which a signal stops the job, and a second signal ends the program, in case stopping hangs.

    The signals are `stopping_signals`. A second SIGHUP is ignored, because closing a terminal may cause two: one from
    its shell and one from the system.
    """
    stop = SignalStop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread may handle signals
        return
    before = {number: signal.getsignal(number) for number in stopping_signals()}

    def on_signal(number: int, _frame: FrameType | None) -> None:
        stop.signal_number = number
        if number not in (signal.SIGINT, signal.SIGTERM):
            before[signal.Signals(number)] = signal.SIG_IGN
        for each, handler in before.items():
            signal.signal(each, handler)
        job.stop()

    for number in before:
        signal.signal(number, on_signal)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def step_bar(name: str, steps: int) -> Iterator[Callable[[], None]]:
    """A progress bar with the remaining time, for work in the main thread that consists of equal steps.

    Args:
        name: text before the bar.
        steps: number of steps.

    Yields:
        A function to call after each step.
    """
    begun, done = time.monotonic(), 0
    with progress_bar(name) as bar:

        def step() -> None:
            nonlocal done
            done += 1
            if bar is not None:
                left_s = (time.monotonic() - begun) / done * (steps - done)
                bar.update(bar.task_ids[0], completed=done / steps, text=f"{duration_text(left_s)} to go", refresh=True)

        yield step


@contextmanager
def progress_bar(name: str) -> Iterator[Progress | None]:
    """A progress bar followed by a `text`, drawn only on updates; None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.text import Text

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[text]}", markup=False),
    )
    with Progress(*columns, console=stderr_console(), transient=True, auto_refresh=False) as bar:
        title = Text(name)
        title.truncate(40, overflow="ellipsis")
        bar.add_task(title.plain, total=1.0, text="")
        yield bar

"""Ctrl-C where no job is there to be stopped by it: while programs start and end, and while they start others."""

from __future__ import annotations

import _thread
import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

_AGAIN_S = 0.05
_TIDYING_S = 10.0

INTERRUPTED = 130
"""The exit code: 128 + SIGINT, as shells have it."""

_OF_A_TERMINAL = tuple(getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name))
"""Signals that a terminal sends to all its processes: Ctrl-C, and its own end."""


def stopping_signals() -> tuple[signal.Signals, ...]:
    """The signals that stop work and keep it: Ctrl-C, SIGTERM, and a terminal that is closed, but for `nohup`."""
    found = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return tuple(found)


def end_interrupted() -> NoReturn:
    """End this program with `INTERRUPTED`, what has to be tidied up done.

    Not by way of the interpreter's own end: threads that simulate would be taken down in the middle of the core, which
    ends the program by a signal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What it was interrupted in may hold what tidying up waits for.
    late = threading.Timer(_TIDYING_S, os._exit, (INTERRUPTED,))
    late.daemon = True
    late.start()
    # There is no public name for what `sys.exit` has the interpreter do.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


def notice_interrupts() -> None:
    """Has no Ctrl-C lost, and none end the program in a way that is not told by its exit code."""
    signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _not_lost
    # First to be registered, so last to be called: after that the interpreter only tidies up.
    if hasattr(signal, "pthread_sigmask"):
        atexit.register(signal.pthread_sigmask, signal.SIG_BLOCK, (signal.SIGINT,))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    core = sys.modules.get("subflow_sim._core")
    if core is not None and getattr(core.__spec__, "_initializing", False):
        # What is raised while the core makes its classes known ends the program by an abort: ask a little later.
        _ask_again()
        return
    raise KeyboardInterrupt


def _ask_again() -> None:
    again = threading.Timer(_AGAIN_S, _thread.interrupt_main)
    again.daemon = True
    again.start()


def _not_lost(unraisable: sys.UnraisableHookArgs) -> None:
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        # It came while Python was in something that raises nothing, such as a callback of the import system, and at
        # once it would be lost again: this is called there, too.
        _ask_again()
    else:
        sys.__unraisablehook__(unraisable)


def end_on_interrupt() -> None:
    """From here on the work is done, and Ctrl-C ends what is left to wait for."""

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, on_interrupt)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Signals of a terminal wait until this is over; a process that starts meanwhile ignores them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_A_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """For a process that somebody else ends: what goes to all processes of a terminal is not meant for it."""
    for number in _OF_A_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_A_TERMINAL)

"""Handling of Ctrl-C outside jobs: while the program starts, exits, or starts other processes."""

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
"""The exit code 128 + SIGINT, as in shells."""

_OF_A_TERMINAL = tuple(getattr(signal, name) for name in ("SIGINT", "SIGHUP") if hasattr(signal, name))
"""Signals that a terminal sends to all its processes: Ctrl-C and hang-up."""


def stopping_signals() -> tuple[signal.Signals, ...]:
    """The signals that stop work but keep its results: SIGINT, SIGTERM, and except under `nohup` also SIGHUP."""
    found = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        found.append(signal.SIGHUP)
    return tuple(found)


def end_interrupted() -> NoReturn:
    """Run the exit handlers, then end this program with `INTERRUPTED`.

    The interpreter's normal exit would stop threads inside the simulation core, and a signal would then kill the
    program.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An exit handler may wait for a lock that the interrupted code holds, so a timer ends the program in any case.
    late = threading.Timer(_TIDYING_S, os._exit, (INTERRUPTED,))
    late.daemon = True
    late.start()
    # Python has no public name for the exit handlers that `sys.exit` runs.
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(INTERRUPTED)


def notice_interrupts() -> None:
    """Make sure that no Ctrl-C is lost, and that the exit code always shows an interruption."""
    signal.signal(signal.SIGINT, _interrupt)
    sys.unraisablehook = _not_lost
    # Block Ctrl-C once the interpreter only has its memory left to free. This exit handler is registered first, and
    # therefore called last.
    if hasattr(signal, "pthread_sigmask"):
        atexit.register(signal.pthread_sigmask, signal.SIG_BLOCK, (signal.SIGINT,))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    core = sys.modules.get("subflow_sim._core")
    if core is not None and getattr(core.__spec__, "_initializing", False):
        # An exception while the core registers its classes aborts the program, so repeat the interrupt a little later.
        _ask_again()
        return
    raise KeyboardInterrupt


def _ask_again() -> None:
    again = threading.Timer(_AGAIN_S, _interrupt_main)
    again.daemon = True
    again.start()


def _interrupt_main() -> None:
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        # `interrupt_main` sets a flag, which a call that blocks does not see; a signal ends the call.
        signal.pthread_kill(main, signal.SIGINT)
    else:
        # Windows has no signals between threads: a call that blocks ends first.
        _thread.interrupt_main()


def _not_lost(unraisable: sys.UnraisableHookArgs) -> None:
    if isinstance(unraisable.exc_value, KeyboardInterrupt):
        # The interrupt came in code that cannot raise, such as a callback of the import system. An immediate retry
        # would fail in the same place.
        _ask_again()
    else:
        sys.__unraisablehook__(unraisable)


def end_on_interrupt() -> None:
    """Let Ctrl-C end the program immediately; for use when only the interpreter's exit remains."""

    def on_interrupt(_number: int, _frame: FrameType | None) -> None:
        os._exit(INTERRUPTED)

    signal.signal(signal.SIGINT, on_interrupt)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Context in which the signals of a terminal are blocked; processes started in it inherit the block."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_A_TERMINAL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ignore_interrupts() -> None:
    """Ignore the signals of a terminal; for a process that its parent will end."""
    for number in _OF_A_TERMINAL:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _OF_A_TERMINAL)

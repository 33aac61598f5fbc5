"""What the exit code of ``subflow`` says; part of the contract with scripts."""

from __future__ import annotations

from collections.abc import Iterable

from subflow_app.foundation.confirmation import Confirmation
from subflow_app.foundation.interruption import INTERRUPTED as INTERRUPTED

OK = 0
FAILED = 1
"""The work was begun and failed: the simulation, the store, or a file that could not be written."""
BAD_INPUT = 2
"""What was asked for cannot be: a scenario with problems, an unknown run, a wrong option. Nothing was done."""
NOT_CONFIRMED = 3
"""A result that was to be made again: nothing contradicts it, and not all of it could be made again or compared."""
HANGUP = 129
"""SIGHUP (128 + 1), of a terminal that was closed: the run was stopped, and kept with what it had."""
# INTERRUPTED, 130: Ctrl-C (128 + SIGINT); the run was stopped, and kept with what it had.
TERMINATED = 143
"""SIGTERM (128 + 15): the run was stopped, and kept with what it had."""
BROKEN_PIPE = 141
"""The reader of stdout went away (128 + SIGPIPE), e.g. ``subflow runs | head -3``."""


def worst_of(outcomes: Iterable[Confirmation]) -> int:
    """The exit code for what came of making results again: that of the worst of them."""
    found = set(outcomes)
    if Confirmation.CONTRADICTED in found:
        return FAILED
    return NOT_CONFIRMED if Confirmation.NOT_CONFIRMED in found else OK


def stopped_by(signal_number: int) -> int:
    """The exit code of work that a signal has stopped."""
    return 128 + signal_number

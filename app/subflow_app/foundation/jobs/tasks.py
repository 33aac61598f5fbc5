"""A task as it goes to whoever carries it out, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


class Stoppable(Protocol):
    """What can be ended."""

    def stop(self) -> None:
        """End soon, and keep what there is. Any thread may call this."""


OnStart = Callable[[Stoppable], None]
"""Is handed what ends the work that has just begun."""


class Task(NamedTuple):
    """A task.

    Attributes:
        number: by which whoever gave it knows it.
        work: that is to be done; it can be sent to another process, and so can what it returns. It does not raise.
    """

    number: int
    work: Callable[[OnStart], Any]


class Answer(NamedTuple):
    """What became of a task.

    Attributes:
        number: of the task.
        outcome: that its work returned; None if whoever had it is gone.
        loss: how that is known; empty if there is an outcome.
    """

    number: int
    outcome: Any
    loss: str = ""


def carry_out(work: Callable[[OnStart], Any]) -> Any:
    """Do the work where nothing but the end of the process stops it."""
    return work(lambda _stoppable: None)

"""Tasks for an executor, and their answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


class Stoppable(Protocol):
    """Work that can be ended early."""

    def stop(self) -> None:
        """End soon and keep existing results. Any thread may call this."""


OnStart = Callable[[Stoppable], None]
"""Called when work begins, with the object that can stop it."""


class Task(NamedTuple):
    """A task for an executor.

    Attributes:
        number: identifies the task for its sender.
        work: the function to call. The function and its result can be pickled, and it does not raise.
    """

    number: int
    work: Callable[[OnStart], Any]


class Answer(NamedTuple):
    """The answer to a task.

    Attributes:
        number: number of the task.
        outcome: result of its work; None if the worker was lost.
        loss: how the worker was lost, as part of a sentence; empty if the task has an outcome.
    """

    number: int
    outcome: Any
    loss: str = ""


def carry_out(work: Callable[[OnStart], Any]) -> Any:
    """Do the work of a task. It cannot be stopped except by ending the process."""
    return work(lambda _stoppable: None)

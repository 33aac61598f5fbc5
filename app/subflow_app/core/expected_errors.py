"""Which errors are to be expected, and told in a sentence; every other is a bug of ours."""

from __future__ import annotations

from subflow_app.core.errors import AppError


def is_expected(error: BaseException) -> bool:
    """Whether an error is not a fault of the program: of the input, the machine or a file."""
    # Late: `subflow --help` needs none of them.
    from subflow_agents.errors import AgentError
    from subflow_sim.errors import SimError
    from subflow_store.errors import StoreError

    return isinstance(error, AppError | AgentError | SimError | StoreError | MemoryError)


def message_of(error: BaseException) -> str:
    """What an error to be expected says; one that the system raises says next to nothing by itself."""
    if isinstance(error, MemoryError):
        return "there is not enough memory: close other programs, or ask for less"
    return str(error)

"""Which errors people are told, and which are bugs."""

from __future__ import annotations

from subflow_app.core.errors import AppError


def is_told(error: BaseException) -> bool:
    """Whether an error is one that people are told: not a fault of the program."""
    # Late: `subflow --help` needs none of them.
    from subflow_agents.errors import AgentError
    from subflow_sim.errors import SimError
    from subflow_store.errors import StoreError

    return isinstance(error, AppError | AgentError | SimError | StoreError)

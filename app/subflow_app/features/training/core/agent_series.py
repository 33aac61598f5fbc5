"""What learning agents saw and did, subflow by subflow over time: the curves of plots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.traces.core.events import AGENT, agent_steps_of
from subflow_app.features.traces.core.traces import FLOW, SUBFLOW, Traces, select_keys

if TYPE_CHECKING:
    from subflow_sim.agent_steps import AgentSteps, RunAgent

REWARD = "reward"
"""Column of flows, or of their subflows, that learn: what the agent earned in the latest epoch."""

Numbers = Literal["observation", "action"]


def learning_subflows(traces: Traces) -> list[str]:
    """The subflows that an agent decides for, in the order of the scenario; known before it has decided."""
    rewarded = {key.owner for scope in (FLOW, SUBFLOW) for key in select_keys(traces, scope, REWARD)}
    subflows = dict.fromkeys(key.owner for key in select_keys(traces, SUBFLOW))
    return [owner for owner in subflows if owner in rewarded or owner.partition("/")[0] in rewarded]


def steps_of(traces: Traces) -> AgentSteps:
    """All steps of the agents of a run so far.

    Raises:
        StoreError: if the traces are stored and cannot be read.
    """
    return agent_steps_of(traces.events(AGENT.name))


def number_names(agent: RunAgent, numbers: Numbers) -> tuple[str, ...]:
    """The numbers of one record of an agent's observation, or of its action."""
    return agent.action_names if numbers == "action" else tuple(each.name for each in agent.features)


def number_series(
    steps: AgentSteps, numbers: Numbers, name: str | None = None
) -> dict[str, tuple[NDArray[np.float64], NDArray[np.float32]]]:
    """One number of the decisions for each subflow that was ever decided for: time (s) and value.

    Args:
        steps: the decisions.
        numbers: of what was seen (the latest record), or of what was done.
        name: which; None: the first that the agent has. Subflows whose agent has no such number are left out.
    """
    series: dict[str, tuple[NDArray[np.float64], NDArray[np.float32]]] = {}
    for agent in steps.agents:
        names = number_names(agent, numbers)
        wanted = names[0] if name is None else name
        if wanted not in names:
            continue
        column = (steps.action if numbers == "action" else steps.observation)[:, names.index(wanted)]
        for subflow in steps.subflows:
            rows = steps.acting_rows(agent.name, subflow)
            if len(rows):
                series[subflow] = (steps.time_ns[rows] / 1e9, column[rows])
    return series

"""Which algorithm of a scenario a decision is one of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from subflow_sim.decisions import Explanation
    from subflow_sim.scenario_model import Event, Scenario


def deciding_algorithm(scenario: Scenario, changes: Sequence[Event], told: Explanation) -> str:
    """The topic of the guide on the algorithm that decided: ``"controller/lia"``, ``"scheduler/blest"``.

    Of ``uncoupled`` it is the controller that each subflow has. A controller that took over during the run counts from
    then on.

    Args:
        scenario: of the run.
        changes: that were made while the run went on.
        told: the decision.
    """
    copy = told.owner.partition("/")[0]
    name = copy if copy in scenario.flows else copy.rpartition(".")[0]
    flow = scenario.flows[name]
    if told.scope == "flow":
        return f"scheduler/{flow.scheduler.name}"
    choice = flow.controller
    for event in sorted((*scenario.events, *changes), key=lambda event: event.at_s):
        if event.at_s <= told.time_s and event.controller is not None and event.flow in (name, copy):
            choice = event.controller
    decides = str(choice.options.get("base", "newreno")) if choice.name == "uncoupled" else choice.name
    return f"controller/{decides}"

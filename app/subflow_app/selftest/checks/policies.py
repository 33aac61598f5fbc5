"""The trained policies that ship: each is found by its name, is whole, and controls a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from subflow_app.selftest.check import Check, Place, require

if TYPE_CHECKING:
    from subflow_app.core.learning.policies import PolicyRecord

# The flow of one, where agents of single paths are at home, and that of the other are the only ones.
_SCENARIOS = {"rl-explore": ("rlx-fixed", "download")}
_USUAL = ("t-2link", "mptcp")


def check(_place: Place) -> str:
    """Runs a scenario with each of them."""
    from subflow_app.core.learning.policies import policy_records

    records = policy_records()
    require(records, "no policy is there")
    for record in records:
        require(not record.problem, f"{record.path}: {record.problem}")
        require(_steps(record) > 0, f"{record.name} decided nothing in its run")
    return f"{len(records)} control a run: {', '.join(record.name for record in records)}"


def _steps(record: PolicyRecord) -> int:
    """How many decisions the policy took in ten seconds."""
    from subflow_app.core.scenarios.scenario_source import open_scenario
    from subflow_sim import Simulation

    name, flow = _SCENARIOS.get(record.controller, _USUAL)
    controller = f"flows.{flow}.controller"
    changes = (f"{controller}={record.controller}", f"{controller}.policy={record.name}")
    simulation = Simulation(open_scenario(name, overrides=changes).scenario, sample_interval_s=1.0)
    simulation.run_until(10.0)
    steps = simulation.take_agent_steps()
    return 0 if steps is None else len(steps.time_ns)


CHECK = Check("policies", check)

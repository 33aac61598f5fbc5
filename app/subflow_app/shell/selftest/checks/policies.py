"""The trained policies that ship: each is found by its name, is whole, and controls a run."""

from __future__ import annotations

from subflow_app.shell.selftest.check import Check, Place, require

# The flow of one, where agents of single paths are at home, and that of the other are the only ones.
_SCENARIOS = {"rl-explore": ("rlx-fixed", "download")}
_USUAL = ("t-2link", "mptcp")


def check(_place: Place) -> str:
    """Runs a scenario with each of them."""
    from subflow_app.features.policies.core import policy_records

    records = policy_records()
    require(records, "no policy was found")
    for record in records:
        require(not record.problem, f"{record.path}: {record.problem}")
        scenario, flow = _SCENARIOS.get(record.controller, _USUAL)
        require(decisions(scenario, flow, record.controller, record.name) > 0, f"{record.name} decided nothing")
    return f"{len(records)} control a run: {', '.join(record.name for record in records)}"


def decisions(scenario: str, flow: str, controller: str, policy: str) -> int:
    """How many decisions a policy takes in ten seconds.

    Args:
        scenario: name of a shipped one.
        flow: whose controller it is.
        controller: name of the agent.
        policy: its name or file.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_sim import Simulation

    changes = (f"flows.{flow}.controller={controller}", f"flows.{flow}.controller.policy={policy}")
    simulation = Simulation(
        open_scenario(scenario, use=Use.SELF_TEST, overrides=changes).scenario, sample_interval_s=1.0
    )
    simulation.run_until(10.0)
    steps = simulation.take_agent_steps()
    return 0 if steps is None else len(steps.time_ns)


CHECK = Check("policies", check)

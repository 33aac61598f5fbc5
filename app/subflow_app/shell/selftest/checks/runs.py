"""Checks of runs: the compiled simulator, scripts, policies, a training, a sweep and a guided lab.

Simulator: shipped scenarios have the recorded signatures.

Scripts and policies: each shipped controller and scheduler script, and a new script of each kind, compiles and controls
a run. Each shipped policy is found by its name, is intact, and controls a run.

Training: an agent learns for some steps in a separate process on the CPU, and its policy controls a run.

Sweep: a sweep in two processes gives the same runs as simulation in this process.

Lab: a guided lab is worked through from the first to the last step with its own solutions, graded like a student's.
"""

from __future__ import annotations

import json

from subflow_app.shell.selftest.check import Check, CheckError, Place, require, skip_without

# Variants of t-ddpg-b on the same network, which take longer than all other scenarios together.
_LEFT_OUT = ("t-ddpg-a", "t-ddpg-bed", "t-ddpg-c")


def _check_core_signature(_place: Place) -> str:
    """Simulate nearly all shipped scenarios."""
    from subflow_app.features.catalog.core.uses import Use, scenario_at
    from subflow_app.foundation.resources import DEMO_SCENARIO, resource_path, scenario_names
    from subflow_sim import Simulation

    kept: dict[str, str] = json.loads(resource_path("signatures.json").read_text(encoding="utf-8"))
    found = {}
    for name in scenario_names():
        if name in _LEFT_OUT:
            kept.pop(name, None)
            continue
        simulation = Simulation(
            scenario_at(Use.SELF_TEST, resource_path(f"scenarios/{name}.toml")), sample_interval_s=1.0
        )
        simulation.run_until(simulation.duration_s)
        found[name] = simulation.signature()
    wrong = [name for name in {**kept, **found} if kept.get(name) != found.get(name)]
    if wrong:
        name = wrong[0]
        more = f", and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise CheckError(f"{name} has {found.get(name, 'no run')}, kept is {kept.get(name, 'none')}{more}")
    return f"{len(found)} scenarios as kept, {DEMO_SCENARIO} {found[DEMO_SCENARIO]}"


CORE_SIGNATURE = Check("core signature", _check_core_signature)


_SCRIPTED, _FLOW = "t-2link", "mptcp"


def _check_scripts(_place: Place) -> str:
    """Run a scenario with each script."""
    from subflow_sim.script import SKELETONS
    from subflow_sim.script_reader import shipped_algorithms

    names: list[str] = []
    for kind, skeleton in SKELETONS.items():
        ship = shipped_algorithms(kind)
        require(ship, f"no {kind} was found as text")
        texts = {each.name: each.script.text for each in ship if each.script is not None}
        for name, text in {**texts, f"new {kind}": skeleton}.items():
            require(_goodput_bps(kind, text) > 1e6, f"{name} hardly sends")
            names.append(name)
    return f"{len(names)} control a run: {', '.join(names)}"


def _goodput_bps(kind: str, text: str) -> float:
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.foundation.toml_edit import render
    from subflow_sim import Simulation

    changes = (
        f'{kind}s.own={{ script = "own.py", content = {render(text)} }}',
        f'flows.{_FLOW}.{kind}="own"',
        'duration="5s"',
        'warmup="1s"',
    )
    simulation = Simulation(
        open_scenario(_SCRIPTED, use=Use.SELF_TEST, overrides=changes).scenario, sample_interval_s=1.0
    )
    simulation.run_until(5.0)
    return float(next(flow["goodput_bps"] for flow in simulation.summary()["flows"] if flow["name"] == _FLOW))


SCRIPTS = Check("scripts", _check_scripts)


# Scenario and flow for agents that control single-path flows, and for all other agents.
_SCENARIOS = {"rl-explore": ("rlx-fixed", "download")}
_USUAL = ("t-2link", "mptcp")


def _check_policies(_place: Place) -> str:
    """Run a scenario with each policy."""
    from subflow_app.features.policies.core import policy_records

    records = policy_records()
    require(records, "no policy was found")
    for record in records:
        require(not record.problem, f"{record.path}: {record.problem}")
        scenario, flow = _SCENARIOS.get(record.controller, _USUAL)
        require(decisions(scenario, flow, record.controller, record.name) > 0, f"{record.name} decided nothing")
    return f"{len(records)} control a run: {', '.join(record.name for record in records)}"


def decisions(scenario: str, flow: str, controller: str, policy: str) -> int:
    """Number of decisions that a policy makes in ten seconds.

    Args:
        scenario: name of a shipped scenario.
        flow: flow that the agent controls.
        controller: name of the agent.
        policy: name or file of the policy.
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


POLICIES = Check("policies", _check_policies)


_AGENT, _TRAINED, _STEPS = "drl-cc", "t-2link", 10


def _check_training(place: Place) -> str:
    """Train an agent, then run its policy."""
    skip_without("torch", "train")
    words = ("train", _AGENT, "--scenario", _TRAINED, "--steps", _STEPS, "--eval-every", 0, "--episode", "10s")
    told = place.subflow(*words, "--no-store", "--out", "training", "--deterministic", "--json-lines").out
    result = json.loads(told.splitlines()[-1])["values"]
    require(result["state"] == "finished", f"the training ended as {result['state']}: {result['message']}")
    require(result["step"] >= _STEPS, f"it ended at step {result['step']}")
    require(decisions(_TRAINED, "mptcp", _AGENT, result["policy"]) > 0, "its policy decides nothing in a run")
    return f"{_AGENT} made {result['step']} steps in a child process without a graphics card; its policy controls a run"


TRAINING = Check("training", _check_training)


_SWEPT, _KEY, _CONTROLLERS, _SEEDS = "t-2link", "flows.mptcp.controller", ("lia", "olia"), (1, 2)


def _check_sweep(place: Place) -> str:
    """Run a sweep, repeat each of its runs in this process, and compare the signatures."""
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_sim import Simulation
    from subflow_store import open_store

    axis = ("--axis", f"{_KEY}={','.join(_CONTROLLERS)}", "--seeds", ",".join(map(str, _SEEDS)))
    place.subflow("sweep", _SWEPT, *axis, "--jobs", 2, "--db", "runs.subflow", may_speak=True)
    with open_store(place.folder / "runs.subflow", read_only=True) as store:
        made = sorted(run.signature or "" for run in store.runs())
    again = []
    for controller in _CONTROLLERS:
        for seed in _SEEDS:
            scenario = open_scenario(_SWEPT, use=Use.SELF_TEST, overrides=[f"{_KEY}={controller}"], seed=seed).scenario
            simulation = Simulation(scenario, sample_interval_s=1.0)
            simulation.run_until(simulation.duration_s)
            again.append(simulation.signature())
    require(made == sorted(again), f"the runs are {', '.join(made)}, made again {', '.join(sorted(again))}")
    return f"{len(made)} runs on two processes, the same as in one"


SWEEP = Check("sweep", _check_sweep)


_LAB = "03-two-paths"


def _check_lab(place: Place) -> str:
    """Carry out `_LAB` with its solutions; a problem or a notice fails the check."""
    (done,) = place.subflow("labs", "check", _LAB, "--run", "--json").document
    require(not done["problems"], f"{_LAB}: {'; '.join(done['problems'])}")
    require(not done["notices"], f"{_LAB}: {'; '.join(done['notices'])}")
    require(done["runs"] > 0, f"{_LAB} made no run")
    return f"{_LAB}: {done['steps']} steps passed with {done['runs']} runs"


LAB = Check("lab", _check_lab)

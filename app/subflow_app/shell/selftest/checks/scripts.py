"""The controllers and schedulers that ship as text, and a new one: each is compiled, and controls a run."""

from __future__ import annotations

from subflow_app.shell.selftest.check import Check, Place, require

_SCENARIO, _FLOW = "t-2link", "mptcp"


def check(_place: Place) -> str:
    """Runs a scenario with each of them."""
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
        open_scenario(_SCENARIO, use=Use.SELF_TEST, overrides=changes).scenario, sample_interval_s=1.0
    )
    simulation.run_until(5.0)
    return float(next(flow["goodput_bps"] for flow in simulation.summary()["flows"] if flow["name"] == _FLOW))


CHECK = Check("scripts", check)

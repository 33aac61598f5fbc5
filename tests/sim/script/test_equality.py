"""The shipped scripts equal the built-in controllers and schedulers of the same name, to the bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from subflow_sim import _core
from subflow_sim.lowering import lower
from subflow_sim.scenario import Scenario, load_scenario
from subflow_sim.scenario_model import Choice, ScriptFile
from subflow_sim.script import kind_of

_ASSETS = Path(__file__).parents[3] / "assets"
_SCENARIOS = sorted((_ASSETS / "scenarios").glob("*.toml"))
_SINGLE_PATH, _COUPLED = ("newreno", "vegas", "cubic"), ("lia", "olia", "balia")
_SCHEDULERS = ("minrtt", "roundrobin")
_LONGEST_S = 3.0
# The script of CUBIC follows the specification; Linux's CUBIC computes in whole packets and clock ticks.
_OPTIONS: Mapping[str, Mapping[str, str]] = {"cubic": {"arithmetic": "rfc9438", "hystart": "off"}}


def _shipped(name: str) -> ScriptFile:
    text = (_ASSETS / "controllers" / f"{name}.py").read_text()
    return ScriptFile(f"{name}-text", kind_of(text), text)


def _signature(scenario: Scenario, key: str, name: str, *, as_script: bool) -> int | None:
    """Signature of a run in which every suitable flow uses the algorithm; None without a suitable flow."""
    chosen = Choice(name, _OPTIONS.get(name, {}))
    if as_script:
        chosen = Choice(f"{name}-text", script=_shipped(name))
    flows = {}
    chosen_by: list[str] = []
    for flow_name, flow in scenario.flows.items():
        fits = flow.kind == "mptcp" or (flow.kind == "tcp" and name in _SINGLE_PATH)
        chosen_by += [flow_name] if fits else []
        by = replace(flow, controller=chosen) if key == "controller" else replace(flow, scheduler=chosen)
        flows[flow_name] = by if fits else flow
    lowered = lower(replace(scenario, flows=flows), 1)
    if not any(flow.name in chosen_by for _, flow in lowered.flows):
        return None
    simulation = _core.Simulation(lowered.core, 1, 10_000_000)
    simulation.run_until(round(scenario.duration_s * 1e9))
    return simulation.signature()


@pytest.mark.parametrize("profile", ["linux", "textbook"])
@pytest.mark.parametrize("name", [*_SINGLE_PATH, *_COUPLED, *_SCHEDULERS])
def test_a_script_has_the_signature_of_the_built_in(name: str, profile: str) -> None:
    key = "scheduler" if name in _SCHEDULERS else "controller"
    compared = 0
    for path in _SCENARIOS:
        whole = load_scenario(path, overrides=[f'profile="{profile}"'])
        events = tuple(event for event in whole.events if event.controller is None)
        scenario = replace(whole, duration_s=min(whole.duration_s, _LONGEST_S), warmup_s=0.0, events=events)
        built_in = _signature(scenario, key, name, as_script=False)
        if built_in is None:
            continue
        compared += 1
        assert _signature(scenario, key, name, as_script=True) == built_in, path.stem
    assert compared >= 25

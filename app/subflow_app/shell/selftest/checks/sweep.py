"""A sweep on two processes: they start, share the work, and make the very runs that this process makes alone."""

from __future__ import annotations

from subflow_app.shell.selftest.check import Check, Place, require

_SCENARIO, _KEY, _CONTROLLERS, _SEEDS = "t-2link", "flows.mptcp.controller", ("lia", "olia"), (1, 2)


def check(place: Place) -> str:
    """Makes it, and each of its runs once more."""
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_sim import Simulation
    from subflow_store import open_store

    axis = ("--axis", f"{_KEY}={','.join(_CONTROLLERS)}", "--seeds", ",".join(map(str, _SEEDS)))
    place.subflow("sweep", _SCENARIO, *axis, "--jobs", 2, "--db", "runs.subflow", may_speak=True)
    with open_store(place.folder / "runs.subflow", read_only=True) as store:
        made = sorted(run.signature or "" for run in store.runs())
    again = []
    for controller in _CONTROLLERS:
        for seed in _SEEDS:
            scenario = open_scenario(
                _SCENARIO, use=Use.SELF_TEST, overrides=[f"{_KEY}={controller}"], seed=seed
            ).scenario
            simulation = Simulation(scenario, sample_interval_s=1.0)
            simulation.run_until(simulation.duration_s)
            again.append(simulation.signature())
    require(made == sorted(again), f"the runs are {', '.join(made)}, made again {', '.join(sorted(again))}")
    return f"{len(made)} runs on two processes, the same as in one"


CHECK = Check("sweep", check)

"""The compiled simulator does what it did at home: shipped scenarios have the signatures that were kept of them."""

from __future__ import annotations

import json

from subflow_app.features.catalog.core.uses import Use, scenario_at
from subflow_app.shell.selftest.check import Check, CheckError, Place

# Siblings of t-ddpg-b on the same network, which take longer than all others together.
_LEFT_OUT = ("t-ddpg-a", "t-ddpg-bed", "t-ddpg-c")


def check(_place: Place) -> str:
    """Simulates nearly all of them."""
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


CHECK = Check("core signature", check)

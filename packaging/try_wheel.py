"""Test an installed simulator: it requires only numpy, and shipped scenarios have the stored signatures.

try_wheel.py SIGNATURES.json
"""

from __future__ import annotations

import json
import sys
from importlib import metadata
from pathlib import Path

from subflow_sim import Simulation, load_scenario, shipped_scenarios

# Scenarios that take some seconds: two networks with every feature of a run, and one with a shipped policy.
_TRIED = ("demo", "late-path", "lab-learning")


def main(kept_in: Path) -> int:
    """Returns the exit code: 1 if a signature differs."""
    kept = json.loads(kept_in.read_text(encoding="utf-8"))
    missing = set(kept) - set(shipped_scenarios())
    for name in _TRIED:
        simulation = Simulation(load_scenario(name))
        simulation.run_until(simulation.duration_s)
        if simulation.signature() != kept[name]:
            missing.add(f"{name}: {simulation.signature()} instead of {kept[name]}")
    loaded = {name.partition(".")[0] for name in sys.modules} & {"PySide6", "highspy", "matplotlib", "torch", "typer"}
    problems = [*sorted(missing), *sorted(loaded)]
    version = metadata.version("subflow-simulator")
    sys.stdout.write("\n".join(problems) or f"subflow-simulator {version}: {len(_TRIED)} runs as kept\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

"""Print the run signature of each shipped scenario; with --update also write them down.

A change of behaviour updates `signatures.json` in its own commit and says why there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from subflow_sim import Simulation, load_scenario

SIGNATURES = Path(__file__).with_name("signatures.json")
SCENARIOS = Path(__file__).parents[2] / "assets" / "scenarios"


def signature_of(path: Path) -> str:
    """Signature of the scenario file's run with its own seed."""
    simulation = Simulation(load_scenario(path), sample_interval_s=1.0)
    simulation.run_until(simulation.duration_s)
    return simulation.signature()


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 if a signature differs from the one kept and is not to be updated."""
    parser = argparse.ArgumentParser(prog="dev.py golden", description=__doc__)
    parser.add_argument("--update", action="store_true", help="write signatures.json")
    update = parser.parse_args(arguments).update
    kept = json.loads(SIGNATURES.read_text()) if SIGNATURES.exists() else {}
    found = {path.stem: signature_of(path) for path in sorted(SCENARIOS.glob("*.toml"))}
    for name, signature in found.items():
        note = "" if kept.get(name) == signature else f"  was {kept.get(name, 'not kept')}"
        sys.stdout.write(f"{signature}  {name}{note}\n")
    if update:
        SIGNATURES.write_text(json.dumps(found, indent=2) + "\n")
    return 0 if update or kept == found else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

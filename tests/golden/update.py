"""Print the run signatures of each shipped scenario and of each combination of the lists; --update writes them down.

A combination is a controller with a scheduler in one of the small networks of tests/helpers/combinations.py. A change
of behaviour updates `assets/signatures.json`, which ships for the self-test, or `combinations.json` in its own commit
with the reason in its message. Runs from the root of the checkout: python -m tests.golden.update.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.helpers.combinations import SMALL_NETWORKS, multipath_choices, scheduler_choices, single_path_choices
from tests.helpers.networks import MINRTT

from subflow_sim import Simulation, load_scenario
from subflow_sim.whole_scenario import Scenario

ASSETS = Path(__file__).parents[2] / "assets"
SIGNATURES = ASSETS / "signatures.json"
COMBINATIONS = Path(__file__).with_name("combinations.json")
SCENARIOS = ASSETS / "scenarios"


def signature_of(scenario: Scenario) -> str:
    """Signature of the scenario's run with its own seed."""
    simulation = Simulation(scenario, sample_interval_s=1.0)
    simulation.run_until(simulation.duration_s)
    return simulation.signature()


@functools.cache
def shipped() -> Mapping[str, Scenario]:
    """The shipped scenarios, by name."""
    return {path.stem: load_scenario(path) for path in sorted(SCENARIOS.glob("*.toml"))}


def combined() -> dict[str, Scenario]:
    """Each network with each combination: "storm: lia, minrtt"; TCP, which has no scheduler: "storm: newreno"."""
    return {name: scenario for network in SMALL_NETWORKS for name, scenario in _combined_in(network)}


def _combined_in(network: str) -> Iterator[tuple[str, Scenario]]:
    build = SMALL_NETWORKS[network]
    for controller, choice in single_path_choices().items():
        yield f"{network}: {controller}", build(choice, MINRTT)
    for controller, choice in multipath_choices().items():
        for scheduler, rule in scheduler_choices().items():
            yield f"{network}: {controller}, {scheduler}", build(choice, rule)


def kept_in(file: Path) -> dict[str, str]:
    """The stored signatures."""
    kept: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return kept


def _compare(file: Path, scenarios: Mapping[str, Scenario], *, update: bool, shows_all: bool) -> bool:
    """Prints the signatures, all or only those that differ; returns True if all equal the stored ones."""
    kept = kept_in(file) if file.exists() else {}
    found = {name: signature_of(scenario) for name, scenario in scenarios.items()}
    for name in {**kept, **found}:
        was, now = kept.get(name), found.get(name)
        if shows_all or was != now:
            note = "" if was == now else f"  was {was or 'not kept'}"
            sys.stdout.write(f"{now or 'none any more':16}  {name}{note}\n")
    if update:
        file.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    changed = sum(kept.get(name) != found.get(name) for name in {**kept, **found})
    sys.stdout.write(f"{file.name}: {len(found)} signatures, {changed} other than those kept\n")
    return changed == 0


def main(arguments: list[str]) -> int:
    """Returns the exit code: 1 if a signature differs from the stored one and --update is not given."""
    parser = argparse.ArgumentParser(prog="dev.py golden", description=__doc__)
    parser.add_argument("--update", action="store_true", help="write signatures.json and combinations.json")
    parser.add_argument("--all", action="store_true", help="print each combination, not only those that differ")
    options = parser.parse_args(arguments)
    are_equal = [
        _compare(SIGNATURES, shipped(), update=options.update, shows_all=True),
        _compare(COMBINATIONS, combined(), update=options.update, shows_all=options.all),
    ]
    return 0 if options.update or all(are_equal) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

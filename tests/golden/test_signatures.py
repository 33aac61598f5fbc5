"""Regression test: every shipped scenario and every combination of the lists has its stored signature."""

from __future__ import annotations

import pytest
from tests.golden.update import COMBINATIONS, SIGNATURES, combined, kept_in, shipped, signature_of
from tests.helpers.combinations import SMALL_NETWORKS
from tests.helpers.members import for_each
from tests.helpers.networks import goodputs, run

KEPT = kept_in(SIGNATURES)


def test_a_signature_is_kept_for_every_shipped_scenario() -> None:
    assert set(KEPT) == set(shipped())


@for_each("name", sorted(KEPT))
def test_the_run_is_the_one_kept_and_conserves_packets(name: str) -> None:
    scenario = shipped()[name]
    done = run(scenario, seed=scenario.seed)  # checks in = out + dropped + in flight for each link direction
    assert done.signature() == KEPT[name], "python3 dev.py golden shows what changed"
    assert done.packets > 0
    assert all(goodput_bps > 0 for goodput_bps in goodputs(done).values())


@pytest.mark.parametrize("network", SMALL_NETWORKS)
def test_every_combination_of_the_lists_runs_as_kept(network: str) -> None:
    kept = {name: signature for name, signature in kept_in(COMBINATIONS).items() if name.startswith(f"{network}: ")}
    scenarios = {name: scenario for name, scenario in combined().items() if name.startswith(f"{network}: ")}
    # A new or removed algorithm shows as a name that only one of the two has.
    found = {name: signature_of(scenario) for name, scenario in scenarios.items()}
    assert found == kept, "python3 dev.py golden shows what changed"

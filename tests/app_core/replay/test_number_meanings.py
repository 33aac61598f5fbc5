"""What the numbers of rules are: every number that a rule of the simulator records is explained."""

from __future__ import annotations

from subflow_app.core.replay.number_meanings import meaning
from subflow_sim.decisions import rules

# Longest first, as `Number` takes them off a name.
UNIT_ENDINGS = ("pkts_per_s2", "mask", "pkts", "mbps", "pps", "bps", "bytes", "ms", "s")


def test_every_number_of_every_rule_has_a_meaning() -> None:
    names = {number for rule in rules() for number in rule.numbers}
    assert len(names) > 100
    plain = {_without_unit(name) for name in names}
    assert sorted(name for name in plain if not meaning(name)) == []


def test_a_claim_is_explained_by_its_name_without_is() -> None:
    assert meaning("is_app_limited") == "whether there was too little to send"
    assert meaning("unheard_of") == ""


def _without_unit(name: str) -> str:
    ending = next((ending for ending in UNIT_ENDINGS if name.endswith(f"_{ending}")), "")
    return name.removesuffix(f"_{ending}") if ending else name

"""Every shipped scenario does what it did: the same signature as the one kept."""

from __future__ import annotations

import json

import pytest
from tests.golden.update import SCENARIOS, SIGNATURES, signature_of

KEPT = json.loads(SIGNATURES.read_text())


def test_a_signature_is_kept_for_every_shipped_scenario() -> None:
    assert set(KEPT) == {path.stem for path in SCENARIOS.glob("*.toml")}


@pytest.mark.parametrize("name", sorted(KEPT))
def test_the_run_is_the_one_kept(name: str) -> None:
    assert signature_of(SCENARIOS / f"{name}.toml") == KEPT[name], "python3 dev.py golden shows what changed"

"""The beginning of a printed agent's training repeats exactly: transitions and returns bit for bit, networks nearly."""

from __future__ import annotations

import pytest
from tests.features.training.core.first_steps import STEPS, first_steps, kept, machine_kind

pytest.importorskip("torch")


def test_the_recipe_repeats_the_first_steps_of_its_training() -> None:
    before = kept()
    if before.machine != machine_kind():
        pytest.skip(f"the figures are from another kind of machine: {before.machine}")
    now = first_steps()

    assert [each["step"] for each in now.exact][-1] >= STEPS
    assert now.exact[-1]["updates"] > 0
    assert now.exact == before.exact
    if now.processor == before.processor:
        assert now.transitions == before.transitions, (
            "python -m tests.features.training.core.first_steps shows the figures"
        )
    assert len(now.learned) == len(before.learned)
    for told, expected in zip(now.learned, before.learned, strict=True):
        assert told == pytest.approx(expected, rel=1e-4, abs=1e-7)

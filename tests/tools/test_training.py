"""Response time of a training and duration of recipes, measured with a trainer that learns nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.measure import training
from tools.measure.training import measure_answer, recipe_on_card

from subflow_app.foundation.errors import TrainingError


@pytest.mark.parametrize(("name", "target_ms"), [("pause", 100.0), ("checkpoint", 200.0)])
def test_answers_are_timed_beside_their_targets(name: str, target_ms: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "_LEARNED", 20)
    figure = measure_answer(name, trainer="tests.helpers.fake_training")
    assert (figure.name, figure.unit, figure.target, figure.is_limit) == (name, "ms", target_ms, True)
    assert 0 < figure.value < 10_000


def test_a_training_that_does_not_come_about_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TrainingError, match="does not answer"):
        measure_answer("pause", trainer="tests.helpers.no_such_module")


def test_a_recipe_without_a_shipped_policy_has_no_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tools.measure.training.shipped_policies", lambda: tmp_path)
    assert recipe_on_card("drl-cc") is None
    (tmp_path / "drl-cc.safetensors").write_bytes(b"no policy")
    assert recipe_on_card("drl-cc") is None

"""Promoting a policy changes its name and card, keeps its behaviour, and leaves no partial file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.policies import make_plan, write_random_policy
from tests.helpers.raising import raising

from subflow_app.features.training.core.promotion import policy_names, promote
from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.paths import policy_folder
from subflow_sim.errors import PolicyError
from subflow_sim.policy import Policy


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "policy.safetensors"
    write_random_policy(path, make_plan("drl-cc", encoder="lstm", critic="action"), card={"steps": 5})
    return path


def test_a_promoted_policy_has_its_name_and_note_and_acts_as_before(source: Path) -> None:
    path = promote(source, "mine", {"note": "Good on lossy paths – really"})

    assert path == policy_folder() / "mine.safetensors"
    assert "mine" in policy_names()
    before, after = Policy.load(source), Policy.load(path)
    assert after.name == "mine"
    assert after.card == {"steps": 5, "note": "Good on lossy paths – really"}
    rows = np.random.default_rng(1).random((3, 2, before.width), np.float32)
    acting = np.ones((3, 2), bool)
    for old, new in zip(before.act_many(rows, acting), after.act_many(rows, acting), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_name_that_is_taken_is_refused_and_the_first_one_stays(source: Path) -> None:
    path = promote(source, "mine", {})
    content = path.read_bytes()
    with pytest.raises(InputError, match="mine exists already"):
        promote(source, "mine", {"note": "another"})
    assert path.read_bytes() == content


@for_each("name", ["", "../out", "neutral", "random", "a b", "x" * 65, "a.safetensors"])
def test_an_impossible_name_is_refused(source: Path, name: str) -> None:
    with pytest.raises(InputError, match="not a name for a policy"):
        promote(source, name, {})


def test_what_is_no_policy_never_gets_into_the_library(tmp_path: Path) -> None:
    wrong = tmp_path / "policy.safetensors"
    wrong.write_bytes(b"PK\x03\x04 torch.save in disguise")
    with pytest.raises(PolicyError):
        promote(wrong, "mine", {})
    with pytest.raises(PolicyError, match="no such file"):
        promote(tmp_path / "gone.safetensors", "mine", {})
    assert "mine" not in policy_names()


def test_a_full_disk_leaves_nothing_half_written(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", raising(OSError(28, "No space left on device")))
    with pytest.raises(TrainingError, match="No space left"):
        promote(source, "mine", {})
    assert list(policy_folder().iterdir()) == []

"""The command ``subflow agents promote``: a policy moves from a training into the library, under a name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.policies import make_plan, plan_document, random_tensors

from subflow_agents import TrainingConfig
from subflow_app.features.training.core.training_folder import write_config
from subflow_app.features.training.core.training_record import list_training
from subflow_app.foundation.paths import policy_folder
from subflow_sim.policy import Policy, write_policy
from subflow_store import open_store


@pytest.fixture
def library() -> Path:
    return policy_folder()


@pytest.fixture
def make_policy() -> Callable[..., Path]:
    """Writes a policy with a constant action, given by the number."""

    def make(path: Path, bias: float, **card: object) -> Path:
        document = plan_document(make_plan("drl-cc", slots=1)) | {"name": "trained", "card": {"seed": 7, **card}}
        weights = {name: np.zeros_like(tensor) for name, tensor in random_tensors(document, seed=1).items()}
        weights["actor.layers.2.bias"][:] = bias
        write_policy(path, document, weights)
        return path

    return make


@pytest.fixture
def training(tmp_path: Path, database: Path, make_policy: Callable[..., Path]) -> Path:
    """The folder of training 1, called "My DRL", with a latest and a best policy."""
    folder = tmp_path / "run"
    folder.mkdir()
    config = TrainingConfig(agent="drl-cc", scenario="format = 1", steps=5, folder=str(folder))
    write_config(folder, config)
    make_policy(folder / "policy.safetensors", 0.1)
    make_policy(folder / "best.safetensors", 0.2)
    with open_store(database) as store:
        list_training(store, config, name="My DRL")
    return folder


def bias_of(path: Path) -> float:
    policy = Policy.load(path)
    action, _ = policy.act(np.zeros((1, policy.width), np.float32), np.ones(1, np.bool_))
    return float(np.arctanh(action[0, 0]))


@pytest.mark.parametrize("what", ["1", "last", "FOLDER"])
def test_best_policy_gets_a_name(subflow: Subflow, database: Path, training: Path, library: Path, what: str) -> None:
    words = ("--name", "mine", "--note", "for the paper", "--db", database)
    answer = subflow("agents", "promote", training if what == "FOLDER" else what, *words).check()
    path = library / "mine.safetensors"
    assert f"wrote {path}" in answer.out
    assert 'controller = { name = "drl-cc", policy = "mine" }' in answer.out
    policy = Policy.load(path)
    assert (policy.name, policy.document["card"]["seed"]) == ("mine", 7)
    assert policy.document["card"]["note"] == "for the paper"
    assert bias_of(path) == pytest.approx(0.2, abs=1e-5)


def test_a_policy_is_called_like_its_training(subflow: Subflow, database: Path, training: Path, library: Path) -> None:
    (training / "best.safetensors").unlink()
    assert subflow("agents", "promote", 1, "--db", database).code == 0
    # the latest policy, because no evaluation exists
    assert bias_of(library / "my-drl.safetensors") == pytest.approx(0.1, abs=1e-5)


def test_other_file_is_kept(subflow: Subflow, tmp_path: Path, library: Path, make_policy: Callable[..., Path]) -> None:
    given = make_policy(tmp_path / "theirs.safetensors", 0.3)
    assert subflow("agents", "promote", given).code == 0
    assert bias_of(library / "theirs.safetensors") == pytest.approx(0.3, abs=1e-5)


def test_no_other_file_is_kept(subflow: Subflow, database: Path, training: Path, library: Path, tmp_path: Path) -> None:
    def refused(problem: str, *words: object) -> None:
        subflow("agents", "promote", *words, "--db", database).check_refusal(problem)

    refused("is not a name for a policy", 1, "--name", "a/b")
    refused("unknown training 99", 99)
    refused('"x" is not a training', "x")
    pickle = tmp_path / "evil.safetensors"
    pickle.write_bytes(b"\x80\x04cos\nsystem\n.")
    refused(f"{pickle}: not a safetensors file", pickle)
    for file in training.glob("*.safetensors"):
        file.unlink()
    refused("has no policy yet", 1)
    assert not library.exists() or not list(library.iterdir())


def test_of_several_seeds_the_best_is_kept(
    subflow: Subflow, tmp_path: Path, library: Path, make_policy: Callable[..., Path]
) -> None:
    scores = {1: -0.9, 2: -0.4, 3: -1.2}
    files = [
        make_policy(tmp_path / f"s{seed}.safetensors", seed / 10, seed=seed, evaluation={"score": score})
        for seed, score in scores.items()
    ]

    assert subflow("agents", "promote", *files, "--name", "best").code == 0

    assert bias_of(library / "best.safetensors") == pytest.approx(0.2, abs=1e-5)
    card = Policy.load(library / "best.safetensors").card
    assert card["seed"] == 2
    assert card["tried"] == [{"seed": seed, "score": score} for seed, score in scores.items()]
    shown = subflow("agents", "show", library / "best.safetensors").out
    assert "Seeds tried, with their scores in validation: 1 (-0.900), 2 (-0.400), 3 (-1.200)" in shown
    assert "Median -0.900, worst -1.200" in shown


def test_unlike_ones_are_told(
    subflow: Subflow, tmp_path: Path, library: Path, make_policy: Callable[..., Path]
) -> None:
    def refused(problem: str, *cards: dict[str, object]) -> None:
        files = [make_policy(tmp_path / f"{place}.safetensors", 0.1, **card) for place, card in enumerate(cards)]
        subflow("agents", "promote", *files, "--name", "best").check_refusal(problem)

    told = {"seed": 1, "evaluation": {"score": -1.0}}
    refused("1.safetensors has no evaluation score", told, {"seed": 2})
    refused("their cards differ in options", told, {**told, "seed": 2, "options": {"gamma": 0.5}})
    refused("two of these trainings have the same seed: 1, 1", told, told)
    assert not library.exists()

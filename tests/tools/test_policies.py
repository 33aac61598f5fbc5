"""Trainings of shipped policies: several seeds, the rule of choice, and ablations with one change each."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import pytest
from tests.helpers.fake_agent import TRAINER
from tests.helpers.members import for_each
from tests.helpers.policies import make_plan, write_random_policy
from tools.policies import __main__ as policies
from tools.policies.ablations import load_ablations
from tools.policies.seeds import read_seeds, train, wanted
from tools.policies.tables import ablations_table, markdown, seeds_table

from subflow_agents import ReportKind, agent
from subflow_app.features.training.core.training_folder import read_config, read_reports
from subflow_app.features.training.core.training_setup import load_recipe, prepare, read_recipe, request_of
from subflow_app.foundation.errors import RecipeError
from subflow_sim.policy import Policy

RECIPE = 'format = 1\nagent = "rl-explore"\nscenario = "rlx-fixed"\nsteps = {}\n'
WIDE = ("drl-cc", "dql-mptcp", "ddpg-mpcc", "mplibra", "rl-explore", "clean-slate")


def told_of(folder: Path, seed: int, score: float | None, *, is_finished: bool = True) -> Path:
    """A folder as a training with this seed and score leaves it."""
    at = folder / f"seed-{seed}"
    at.mkdir(parents=True)
    figures = {"goodput_bps": 3e6 + seed * 1e5, "loss_ratio": 0.02 * seed, "jain": 0.9}
    own = {"is_baseline": False, **{name: {"mean": mean} for name, mean in figures.items()}}
    evaluation = {"score": score, "seeds": [1_000_000], "controllers": [{"is_baseline": True}, own]}
    reports = [
        (ReportKind.METRICS, {"step": 100, "elapsed_s": 60.0}),
        (ReportKind.EVALUATION, {"is_best": True, "step": 100, **evaluation}),
        (ReportKind.METRICS, {"step": 12_000, "elapsed_s": 150.0}),
        (ReportKind.STATE, {"state": "finished" if is_finished else "running"}),
    ]
    lines = [json.dumps({"kind": kind.value, "values": values}) + "\n" for kind, values in reports]
    (at / "metrics.jsonl").write_text("".join(lines))
    card = {"agent": "drl-cc", "seed": seed, "evaluation": evaluation}
    write_random_policy(at / "best.safetensors", make_plan("drl-cc", encoder="lstm"), card=card)
    return at


def steps_of(folder: Path) -> list[int]:
    found = read_reports(folder).reports
    return sorted({each["values"]["step"] for each in found if each.get("kind") == ReportKind.METRICS})


def test_each_seed_is_trained_once_in_a_folder_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = read_recipe(RECIPE.format(40), tmp_path / "mine.toml")
    lines: list[str] = []
    for was_there in (False, True):
        made, signal_number = train(wanted(recipe, (1, 2), tmp_path), jobs=2, say=lines.append, trainer=TRAINER)
        assert signal_number == 0
        assert [(each.problem, each.was_there) for each in made] == [("", was_there)] * 2
    assert [read_config(tmp_path / f"seed-{seed}").seed for seed in (1, 2)] == [1, 2]
    assert sorted(lines) == [f"mine, seed {n}: 40 steps, 0.0 min, score nan" for n in (1, 1, 2, 2)]
    assert [(each.seed, each.is_finished) for each in read_seeds(tmp_path, "mine")] == [(1, True), (2, True)]


def test_a_stopped_training_continues(tmp_path: Path) -> None:
    recipe = read_recipe(RECIPE.format(1500), tmp_path / "mine.toml")
    lines: list[str] = []

    def interrupt() -> None:
        while not list(tmp_path.glob("seed-1/checkpoint-*")):
            threading.Event().wait(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    made, signal_number = train(wanted(recipe, (1,), tmp_path), jobs=1, say=lines.append, trainer=TRAINER)
    assert signal_number == signal.SIGINT
    assert "stopped" in made[0].problem
    assert len(steps_of(tmp_path / "seed-1")) < 1500

    made, signal_number = train(wanted(recipe, (1,), tmp_path), jobs=1, say=lines.append, trainer=TRAINER)
    assert (made[0].problem, signal_number) == ("", 0)
    assert steps_of(tmp_path / "seed-1") == list(range(1, 1501))


def test_a_folder_with_another_training_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe = read_recipe(RECIPE.format(40), tmp_path / "mine.toml")
    lines: list[str] = []
    train(wanted(recipe, (1,), tmp_path / "rl-pure"), jobs=1, say=lines.append, trainer=TRAINER)
    words = ["train", "rl-pure", "--seeds", "1", "--folder", str(tmp_path)]
    assert policies.main(words, trainer=TRAINER) == 2
    assert "holds a training with other settings (agent, scenario" in capsys.readouterr().err


@for_each(
    ("scores", "chosen"),
    [((-1.2, -0.9, -1.0), 2), ((-1.0, -1.0, -1.5), 1), ((-1.5, -1.0, -1.0), 2)],
)
def test_the_highest_score_ships_and_then_the_smallest_seed(
    scores: tuple[float, ...], chosen: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("policies")
    for seed in (3, 1, 2):
        told_of(folder / "drl-cc", seed, scores[seed - 1])
    policies.ship(["drl-cc"], (3, 2, 1), folder, folder)

    policy = Policy.load(folder / "drl-cc.safetensors")
    assert (policy.name, policy.card["recipe"], policy.card["seed"]) == ("drl-cc", "drl-cc", chosen)
    assert policy.card["tried"] == [{"seed": seed, "score": score} for seed, score in enumerate(scores, start=1)]
    marks = {row[1]: row[-1] for row in seeds_table(read_seeds(folder / "drl-cc", "drl-cc")).rows}
    assert [seed for seed, mark in marks.items() if mark == "ships"] == [str(chosen)]


def test_nothing_ships_before_all_seeds_are_trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told_of(tmp_path / "drl-cc", 1, -1.0)
    told_of(tmp_path / "drl-cc", 2, -0.5, is_finished=False)
    assert policies.main(["ship", "drl-cc", "--seeds", "1-3", "--folder", str(tmp_path)]) == 2
    assert "drl-cc: the training with seed 2, 3 is not finished" in capsys.readouterr().err
    assert not (tmp_path / "drl-cc.safetensors").exists()


def test_tables_show_seeds_and_the_range_of_ablations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for seed in (1, 2, 3):
        told_of(tmp_path / "drl-cc", seed, -seed)
    for seed in (1, 2):
        told_of(tmp_path / "ablations" / "rl-explore" / "gamma", seed, -0.5)
        told_of(tmp_path / "ablations" / "drl-cc" / "as-printed", seed, -0.75)
        told_of(tmp_path / "ablations" / "drl-cc" / "td3", seed, -0.5)
    told_of(tmp_path / "rl-explore", 1, -1.0)
    assert policies.main(["table", "drl-cc", "--folder", str(tmp_path), "--markdown"]) == 0
    assert "| drl-cc | 2 | -2.000 | 3.20 | 4.00 | 0.900 | 2.5 |  |" in capsys.readouterr().out
    assert policies.main(["table", "drl-cc", "--ablations", "--folder", str(tmp_path), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[4] == (
        "| as printed | 2 | -0.750 (-0.750 to -0.750) | 3.15 (3.10 to 3.20) | 3.00 (2.00 to 4.00) | "
        "0.900 (0.900 to 0.900) |"
    )
    assert lines[5].startswith("| TD3 in place of DDPG | 2 | -0.500 (-0.500 to -0.500) |")
    assert lines[6].endswith("| 0 | – | – | – | – |")
    # The ablations of rl-explore have the recipe's own budget, so the recipe's own trainings stand beside them.
    assert policies.main(["table", "rl-explore", "--ablations", "--folder", str(tmp_path), "--markdown"]) == 0
    assert capsys.readouterr().out.splitlines()[4].startswith("| as printed | 1 | -1.000 |")


def test_a_single_seed_has_no_range(tmp_path: Path) -> None:
    told_of(tmp_path, 1, None)
    text = markdown(ablations_table("drl-cc", read_seeds(tmp_path, "drl-cc"), {}, ()))
    assert text.splitlines()[2] == "| as printed | 1 | – | 3.10 | 2.00 | 0.900 |"


def test_an_unknown_recipe_or_one_without_ablations_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert policies.main(["train", "drl"]) == 2
    assert "drl: no shipped recipe of that name; allowed: clean-slate, " in capsys.readouterr().err
    assert policies.main(["ablate", "confluence"]) == 2
    assert "confluence: no ablations of this recipe are listed; allowed: clean-slate, " in capsys.readouterr().err


@for_each(
    ("text", "problem"),
    [
        ("format = 2\nablation = []", r"allowed: format = 1, a table"),
        ("format = 1\nablation = 3", r"allowed: format = 1, a table"),
        ('format = 1\n[[ablation]]\nrecipe = "drl-cc"\nname = "a"', r"ablation 1: says = None; allowed: a text"),
        ('format = 1\n[[ablation]]\nrecipe = "drl-cc"\nname = "A b"\nsays = "x"', r'name = "A b"; allowed: up to 32'),
        ('format = 1\n[[ablation]]\nrecipe = "drl-cc"\nname = "a"\nsays = "x"', r"a of drl-cc changes nothing"),
        (
            'format = 1\n[[ablation]]\nrecipe = "no"\nname = "a"\nsays = "x"\nsteps = 3',
            r"no shipped recipe of that name",
        ),
        (
            "format = 1\n" + '[[ablation]]\nrecipe = "drl-cc"\nname = "a"\nsays = "x"\nsteps = 3\n' * 2,
            r"the ablation a of drl-cc occurs twice",
        ),
    ],
)
def test_a_wrong_list_of_ablations_is_refused(
    text: str, problem: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("list") / "ablations.toml"
    path.write_text(text)
    with pytest.raises(RecipeError, match=problem):
        load_ablations(path)


def test_each_shipped_ablation_is_a_valid_change(tmp_path: Path) -> None:
    for each in load_ablations():
        base = prepare(request_of(load_recipe(each.base)), tmp_path)
        changed = prepare(request_of(each.recipe), tmp_path)
        assert changed != base, each
        assert changed.seed == base.seed
        assert changed.evaluation_seeds == base.evaluation_seeds


@for_each("name", WIDE)
def test_all_ablations_together_lead_to_our_variant(name: str) -> None:
    """Each option in which our variant differs from the printed agent is changed by an ablation, to the same value."""
    info = agent(name)
    wide = info.config(load_recipe(f"{name}-wide").options)
    printed = load_recipe(name).options
    together = dict(printed)
    for each in load_ablations():
        if each.base == name:
            together |= {key: value for key, value in each.recipe.options.items() if printed.get(key) != value}
    # Room for the subflows of the arena's families, which pooled networks need not state.
    together.pop("slots", None)
    assert info.config(together) == wide

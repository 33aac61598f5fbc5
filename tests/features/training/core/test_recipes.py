"""Recipes: their content, and their errors with file and line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.helpers.members import for_each

from subflow_app.features.training.core import training_setup
from subflow_app.features.training.core.training_setup import load_recipe, parse_seeds, recipe_names, with_training
from subflow_app.foundation.errors import InputError, RecipeError
from subflow_app.foundation.resources import find_scenario

WHOLE = """\
format = 1
agent = "drl-cc"
title = "Five flows on two lossy paths"
scenario = "drlcc-sc1"
steps = 50000
minutes = 4
seed = 3
num_envs = 8
threads = 2
episode = "30s"
deterministic = true
checkpoint_every = "30s"
expected = "4min"

[options]
gamma = 0.9

[set]
"links.path1.loss" = "1%"
"flows.x.count" = 3

[training]
episode = "20s"

[evaluation]
every = 5000
seeds = "1000000-1000004"
baselines = ["lia", "olia"]
scenario = "drlcc-sc5"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(WHOLE, encoding="utf-8")
    return path


def test_a_recipe_says_what_a_training_needs(recipe: Path) -> None:
    read = load_recipe(str(recipe))
    assert (read.name, read.agent, read.title) == ("mine", "drl-cc", "Five flows on two lossy paths")
    assert (read.scenario, read.evaluation_scenario) == (find_scenario("drlcc-sc1"), find_scenario("drlcc-sc5"))
    assert read.overrides == ("links.path1.loss=1%", "flows.x.count=3")
    assert (read.options, read.training, read.expected_s) == ({"gamma": 0.9}, {"episode": "20s"}, 240.0)
    assert read.settings == {
        "steps": 50_000,
        "minutes": 4.0,
        "seed": 3,
        "num_envs": 8,
        "threads": 2,
        "episode_s": 30.0,
        "deterministic": True,
        "checkpoint_minutes": 0.5,
        "evaluation_every": 5000,
        "evaluation_seeds": (1_000_000, 1_000_001, 1_000_002, 1_000_003, 1_000_004),
        "baselines": ("lia", "olia"),
    }


def test_what_a_recipe_leaves_out_is_left_to_the_training(recipe: Path) -> None:
    recipe.write_text('format = 1\nagent = "drl-cc"\nscenario = "drlcc-sc1"\nminutes = 0.5\n')
    read = load_recipe(str(recipe))
    assert read.settings == {"minutes": 0.5, "seed": 1}
    assert (read.training, read.evaluation_scenario, read.expected_s, read.overrides) == (None, None, None, ())


VARIANT = """\
format = 1
like = "drl-cc-wide"
title = "With a longer memory"
steps = 500
options.gamma = 0.8
options.encoder = "lstm"
set."links.path1.rate" = "2Mbit/s"
evaluation.seeds = "1000007"
"""


def test_a_variant_takes_what_it_does_not_state(recipe: Path) -> None:
    recipe.write_text(VARIANT)
    read, base = load_recipe(str(recipe)), load_recipe("drl-cc-wide")

    assert (read.name, read.like, read.title) == ("mine", "drl-cc-wide", "With a longer memory")
    assert (read.agent, read.scenario, read.training) == (base.agent, base.scenario, base.training)
    assert (read.evaluation_scenario, read.expected_s) == (base.evaluation_scenario, base.expected_s)
    assert read.options == {**base.options, "gamma": 0.8, "encoder": "lstm"}
    assert read.overrides == (*base.overrides, "links.path1.rate=2Mbit/s")
    assert read.settings == {**base.settings, "steps": 500, "evaluation_seeds": (1_000_007,)}


def test_a_variant_replaces_whole_what_does_not_merge(recipe: Path) -> None:
    steps, other = "steps = 500\n", 'minutes = 2\nscenario = "demo"\nagent = "dql-mptcp"\nseed = 4\n'
    tables = 'training.episode = "5s"\nevaluation.scenario = "t-dql"\n'
    recipe.write_text(VARIANT.replace('title = "With a longer memory"\n', "").replace(steps, other) + tables)
    read, base = load_recipe(str(recipe)), load_recipe("drl-cc-wide")

    assert base.training is not None
    assert read.training == {"episode": "5s"}
    assert (read.title, read.agent, read.settings["seed"]) == ("", "dql-mptcp", 4)
    assert (read.scenario, read.evaluation_scenario) == (find_scenario("demo"), find_scenario("t-dql"))
    assert read.settings["minutes"] == 2.0
    assert "steps" not in read.settings


def test_a_value_of_the_scenario_is_set_once(recipe: Path) -> None:
    recipe.write_text(VARIANT.replace("drl-cc-wide", "mplibra-wide") + 'set.warmup = "3s"\n')
    assert load_recipe("mplibra-wide").overrides == ("warmup=0s",)
    assert load_recipe(str(recipe)).overrides == ("links.path1.rate=2Mbit/s", "warmup=3s")


@for_each(
    ("like", "problem"),
    [
        ("drl-c", r'mine.toml:2: like = "drl-c": no shipped recipe of that name; did you mean "drl-cc"'),
        ("nothing", r"mine.toml:2: .* no shipped recipe of that name; .*clean-slate"),
        ("./mine", r"mine.toml:2: like"),
    ],
)
def test_a_variant_is_like_a_shipped_recipe(recipe: Path, like: str, problem: str) -> None:
    recipe.write_text(VARIANT.replace("drl-cc-wide", like))
    with pytest.raises(RecipeError, match=problem):
        load_recipe(str(recipe))


def test_a_variant_of_a_variant_is_refused(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_setup, "recipe_names", lambda: ("mine",))
    monkeypatch.setattr(training_setup, "resource_path", lambda _file: recipe)
    recipe.write_text(VARIANT.replace("drl-cc-wide", "mine"))
    with pytest.raises(RecipeError, match=r"mine.toml:2: like = \"mine\": this recipe is itself like mine"):
        load_recipe(str(recipe))


def test_what_is_wrong_with_a_variant_is_told_with_its_place(recipe: Path) -> None:
    recipe.write_text(VARIANT.replace("steps = 500", "steps = 0"))
    with pytest.raises(RecipeError, match=r"mine.toml:4: steps = 0: must not be zero"):
        load_recipe(str(recipe))


def test_a_recipe_answers_to_its_former_name() -> None:
    assert load_recipe("ddpg-mpcc-offline").name == "ddpg-mpcc"


def test_a_scenario_beside_the_recipe_comes_before_a_shipped_one(recipe: Path) -> None:
    own = recipe.parent / "own.toml"
    own.write_text(find_scenario("demo").read_text())
    recipe.write_text(WHOLE.replace('"drlcc-sc1"', '"own.toml"'))
    assert load_recipe(str(recipe)).scenario == own


@for_each(
    ("before", "after", "problem"),
    [
        ('agent = "drl-cc"\n', "", r"mine.toml: agent: missing"),
        ("format = 1", "format = 2", r"mine.toml:1: format = 2: too large"),
        ("steps = 50000\nminutes = 4\n", "", r"steps: missing; allowed: a budget: steps = 50000, minutes = 4, or both"),
        ("steps = 50000", "steps = 0", r"mine.toml:5: steps = 0: must not be zero"),
        ("seed = 3", "seed = 1000000", r"mine.toml:7: seed = 1000000: too large"),
        ('"30s"\ndeter', '"30"\ndeter', r"mine.toml:10: episode = \"30\""),
        ("num_envs = 8", "num_env = 8", r"mine.toml:8: num_env = 8: unknown key, did you mean \"num_envs\""),
        ('"drlcc-sc1"', '"drlcc-sc9"', r"mine.toml:4: scenario = \"drlcc-sc9\": .* did you mean \"drlcc-sc"),
        ('scenario = "drlcc-sc5"', 'scenario = "no"', r"mine.toml:29: evaluation.scenario = \"no\""),
        ("every = 5000", "evry = 5000", r"mine.toml:26: evaluation.evry = 5000: unknown key, did you mean \"every\""),
        ("1000000-1000004", "5-3", r"mine.toml:27: evaluation.seeds = \"5-3\": \"5-3\" are not seeds"),
        ("gamma = 0.9\n", "", None),
        ('"1%"', "[1]", r"mine.toml:19: set.\"links.path1.loss\" = \[1\]: this is a list"),
        ("[options]\ngamma = 0.9", "options = 3", r"options = 3: this is a whole number, not a table"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(recipe: Path, before: str, after: str, problem: str | None) -> None:
    assert before in WHOLE
    recipe.write_text(WHOLE.replace(before, after, 1))
    if problem is None:
        load_recipe(str(recipe))
        return
    with pytest.raises(RecipeError, match=problem):
        load_recipe(str(recipe))


def test_all_problems_are_told_at_once(recipe: Path) -> None:
    recipe.write_text(WHOLE.replace("seed = 3", "seed = -1").replace("every = 5000", "every = -1"))
    with pytest.raises(RecipeError) as told:
        load_recipe(str(recipe))
    assert len(str(told.value).splitlines()) == 2


@for_each(
    ("content", "problem"),
    [
        (b"format = = 1", "not valid TOML"),
        (b"\xff\xfe\x00", "not UTF-8 text"),
        (b"#" * 1_000_001, "too large for a recipe"),
        (b"a = " + b"[" * 100_000, "not valid TOML"),
        (b"", "agent: missing"),
    ],
)
def test_what_is_no_recipe_is_refused(recipe: Path, content: bytes, problem: str) -> None:
    recipe.write_bytes(content)
    with pytest.raises(RecipeError, match=problem):
        load_recipe(str(recipe))


def test_an_unknown_name_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such recipe file and no shipped recipe"):
        load_recipe("nothing-like-it")
    path = tmp_path / "unreadable.toml"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(RecipeError, match="cannot be read"):
        load_recipe(str(path))


@for_each("name", recipe_names())
def test_every_shipped_recipe_is_sound(name: str) -> None:
    read = load_recipe(name)
    assert read.title
    assert read.expected_s is not None


@for_each(
    ("text", "seeds"),
    [
        ("3", (3,)),
        ("1-3", (1, 2, 3)),
        ("1,4, 7-9", (1, 4, 7, 8, 9)),
        ("2,1-3", (2, 1, 3)),
        ("0-999", tuple(range(1000))),
    ],
)
def test_seeds_are_read_as_people_write_them(text: str, seeds: tuple[int, ...]) -> None:
    assert parse_seeds(text) == seeds


@for_each("text", ["", "x", "-1", "1-", "3-1", "1,,2", "0-1000", "0-900,1000-1200", "1" * 30, "1.5"])
def test_what_are_no_seeds_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=re.escape(f'"{text}" are ')):
        parse_seeds(text)


def test_a_recipes_training_block_takes_the_place_of_the_scenarios() -> None:
    text = 'format = 1\n[training]\nepisode = "5s"\n[training.draws]\n"links.a.rate" = 3\n[nodes.a]\n'
    block = {"episode": "20s", "events": [{"link": "a", "at": 3}]}
    tree = tomllib.loads(with_training(text, block))
    assert tree == {"format": 1, "nodes": {"a": {}}, "training": block}
    assert with_training(text, None) == text

"""Recipes of experiments: their content, and the errors in recipes that cannot be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.features.gallery.core.tiny import RECIPE, read_text, write_tiny
from tests.helpers.members import for_each

from subflow_app.features.gallery.core.planning import plan_experiment
from subflow_app.features.gallery.core.recipe import PAPERS
from subflow_app.features.gallery.core.recipe_reader import chosen_recipes, load_recipe, recipe_names
from subflow_app.foundation.errors import InputError, RecipeError


def test_a_recipe_says_what_is_run_measured_and_claimed(tmp_path: Path) -> None:
    recipe = read_text(tmp_path, RECIPE)
    assert (recipe.name, recipe.paper, recipe.figure, list(recipe.seeds)) == ("tiny", "mplibra", "9a", [1, 2])
    assert recipe.prose == "What the paper did.\n\nWhat is done here."
    assert (recipe.axis.label, recipe.axis.labels) == ("Loss", ("0%", "1%", "5%"))
    assert [point.number for point in recipe.axis.points] == [0.0, 1.0, 5.0]
    assert [each.name for each in recipe.series_of(is_quick=True)] == ["LIA", "Ours"]
    assert [point.label for point in recipe.points(is_quick=True)] == ["0%", "5%"]
    assert list(recipe.seeds_of(is_quick=True)) == [1]
    assert recipe.series["Ours"].is_ours
    assert recipe.published[0].value == 9.5e6
    assert (recipe.published[1].over, recipe.published[1].improvement) == ("LIA", 0.4)
    assert [check.claim.is_band for check in recipe.checks] == [False, True, True, False, False, False]
    assert recipe.measures["late"].needs_traces


@for_each(
    ("old", "new", "told"),
    [
        ('title = "Thr', 'titel = "Thr', 'titel = "Throughput against loss": unknown key, did you mean "title"?'),
        ('paper = "mplibra"', 'paper = "mplib"', 'paper = "mplib"'),
        ('rulings = ["M1"]', 'rulings = ["M77"]', 'unknown ruling "M77"'),
        ('scenario = "t-2link"', 'scenario = "t-2lnk"', 'did you mean "t-2link"'),
        ('points = ["0%", "5%"]', 'points = ["0%", "7%"]', 'unknown point "7%"'),
        ("[series.LIA]\n", '[series.LIA]\nat = { "7%" = { seed = 2 } }\n', ': unknown point "7%"; allowed: "0%"'),
        ("[series.LIA]\n", '[series.LIA]\nat = "5%"\n', 'series.LIA.at = "5%"'),
        ('series = ["LIA", "Ours"]', 'series = ["Lia"]', 'unknown series "Lia"'),
        ('of = "throughput"', 'of = "thruput"', 'unknown measure, did you mean "throughput"?'),
        ("wire = true", 'links = "top"', 'links = "top": unknown key'),
        ('label = "Throughput"', 'unti = "1s"', 'unknown key, did you mean "until"?'),
        ('of = "goodput"\nunit = "Mbit/s"', 'of = "goodput"\nunit = "ms"', "not a unit of goodput"),
        ("traces = true", "traces = false", "is computed from time series, which are not kept; allowed: traces = true"),
        ('measures = ["goodput", "late"]', 'measures = ["good"]', 'unknown measure "good"'),
        ('form = "lines"', 'form = "pie"', 'form = "pie"'),
        ('value = "9.5Mbit/s"', 'value = "9.5ms"', '"ms" is not a unit of rate'),
        ('over = "LIA"\npoint', 'over = "BALIA"\npoint', 'unknown series "BALIA"'),
        ('point = "0%"\nvalue', "value", "published[0].point: missing"),
        ("goodput('LIA', '5%')\"", "goodput('LIA', '6%')\"", 'column 39: unknown point "6%"'),
        ("goodput('Ours') > goodput('LIA')", "godput('Ours') > 1", 'did you mean "goodput"?'),
        ("goodput('Ours') > goodput('LIA')", "goodput('Ours') > 1", "1 has no unit, but is combined with Mbit/s"),
        ('seeds = "1..2"', 'seeds = "two"', '"two" is not a seed'),
        ('values = ["0%", "1%", "5%"]', "", "has no points"),
        ('values = ["0%", "1%", "5%"]', 'values = ["0%", "0%"]', 'two points are called "0%"'),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    assert old in RECIPE
    path = write_tiny(tmp_path, RECIPE.replace(old, new, 1))
    with pytest.raises(RecipeError) as error:
        load_recipe(str(path))
    assert told in str(error.value)
    assert all(line.startswith(f"{path}:") for line in str(error.value).splitlines())


def test_what_is_no_toml_and_no_name_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="not valid TOML"):
        read_text(tmp_path, "format = ")
    with pytest.raises(InputError, match='did you mean "mplibra'):
        load_recipe("mplibrra")
    with pytest.raises(InputError, match="no such recipe file"):
        load_recipe("gone.toml")


def _renamed(text: str, *names: str) -> str:
    """The recipe with renamed points: each old name is followed by its new name."""
    for old, new in zip(names[::2], names[1::2], strict=True):
        text = re.sub(rf"(['\"]){re.escape(old)}\1", rf"\g<1>{new}\1", text)
    return text


def test_points_can_be_listed_or_drawn(tmp_path: Path) -> None:
    listed = RECIPE[: RECIPE.index("[axis]")].replace('points = ["0%", "5%"]\n', "") + (
        '[axis]\nlabel = "Case"\n[[axis.points]]\nlabel = "even"\n[[axis.points]]\nlabel = "skewed"\n'
        'set = { "links.top.rate" = "2Mbit/s" }\n' + RECIPE[RECIPE.index("[series.LIA]") :]
    )
    listed = _renamed(listed, "0%", "even", "5%", "skewed")
    recipe = read_text(tmp_path, listed)
    assert recipe.axis.labels == ("even", "skewed")
    assert recipe.axis.points[1].values == {"links.top.rate": "2Mbit/s"}

    drawn = _renamed(listed, "even", "1", "skewed", "2")
    start, end = drawn.index("[[axis.points]]"), drawn.index("[series.LIA]")
    draws = (
        "[axis.draws]\ncount = 4\nquick = 2\n[axis.draws.keys]\n"
        '"links.top.queue & links.bottom.queue" = { integer = [10, 100] }\n'
        '"links.top.loss" = { every = "500ms", uniform = ["0%", "1%"] }\n'
        '"links.top.rate" = { every = "500ms", uniform = ["4Mbit/s", "8Mbit/s"] }\n'
    )
    recipe = read_text(tmp_path, drawn[:start] + draws + drawn[end:])
    assert recipe.axis.labels == ("1", "2", "3", "4")
    assert recipe.points(is_quick=True) == recipe.points(is_quick=False)[:2]
    values = recipe.axis.points[2].values or {}
    assert values["links.top.queue"] == values["links.bottom.queue"]
    (part,) = plan_experiment(recipe, is_quick=False, seeds=(1,)).parts
    tables = part.plan.written["points"]
    assert isinstance(tables, list)
    assert tables[4] == tables[0] | {"flows.mptcp.controller": "uncoupled"}
    events = tables[0]["events"]
    # Loss applies only to the forward direction, as the reverse has its own value; rates change both directions.
    assert [(event["at"], event["direction"]) for event in events[:2]] == [(0.5, "both"), (0.5, "forward")]
    assert len(events) == 6


def test_runs_are_planned_for_each_series_and_point(tmp_path: Path) -> None:
    plan = plan_experiment(read_text(tmp_path, RECIPE), is_quick=True, seeds=(1,))
    assert plan.problems == {("Ours", point): 'no policy of that name ("gone")' for point in ("0%", "5%")}
    (part,) = plan.parts
    assert part.places == (("LIA", "0%"), ("LIA", "5%"))
    assert (part.plan.name, plan.n_runs) == ("experiment tiny (quick)", 2)


def test_a_series_may_differ_at_a_point(tmp_path: Path) -> None:
    own = '[series.LIA.at."5%"]\n"flows.mptcp.scheduler" = "roundrobin"\n'
    recipe = read_text(tmp_path, RECIPE.replace("[series.Reno]\n", f"{own}[series.Reno]\n"))
    (part,) = plan_experiment(recipe, is_quick=True, seeds=(1,)).parts
    tables = part.plan.written["points"]
    assert isinstance(tables, list)
    assert tables[1] == tables[0] | {"links.top.loss": "5%", "links.bottom.loss": "5%"} | recipe.series["LIA"].at["5%"]
    assert "flows.mptcp.scheduler" not in tables[0]


def test_what_a_scenario_does_not_have_is_told_by_series_and_point(tmp_path: Path) -> None:
    for right, wrong, told in (
        ('"links.bottom.loss"', '"links.botom.loss"', r'tiny.toml: series LIA, point 0%: .*unknown link "botom"'),
        ('warmup = "500ms"', 'warmup = "500"', "the unit is missing"),
    ):
        recipe = read_text(tmp_path, RECIPE.replace(right, wrong))
        with pytest.raises(RecipeError, match=told):
            plan_experiment(recipe, is_quick=True, seeds=(1,))


SHIPPED = recipe_names()


@for_each("name", SHIPPED)
def test_shipped_recipes_can_be_read_and_their_quick_runs_planned(name: str) -> None:
    recipe = load_recipe(name)
    assert name.startswith(recipe.paper)
    assert recipe.expected_s, "it says what it takes"
    assert recipe.prose, "it begins with what the paper did and what is done here"
    if recipe.kind == "runs":
        plan = plan_experiment(recipe, is_quick=True, seeds=recipe.seeds_of(is_quick=True))
        assert plan.parts
        assert not plan.problems


def test_names_of_papers_stand_for_their_experiments() -> None:
    assert {recipe.name for recipe in chosen_recipes(["all"])} == set(SHIPPED)
    for paper in PAPERS:
        assert all(recipe.paper == paper for recipe in chosen_recipes([paper]))

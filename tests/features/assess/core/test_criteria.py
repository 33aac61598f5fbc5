"""The criteria of RFC 9743: each runs with any candidate, and the dossier names the parts that cannot be assessed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from subflow_app.features.arena.core.entrants import chosen_entrants
from subflow_app.features.assess.core.criteria import (
    criterion_names,
    load_dossier,
    section,
    shown_name,
    written_criteria,
)
from subflow_app.features.gallery.core.planning import plan_experiment
from subflow_app.foundation.errors import ArenaError


def test_criteria_are_in_the_order_of_the_rfc() -> None:
    names = criterion_names()
    assert names.index("collapse") < names.index("existing") < names.index("aqm") < names.index("goal-1")
    assert "dossier" not in names


@pytest.mark.parametrize("entry", ["olia", "cubic", "drl-cc:policy=neutral"])
def test_each_can_be_run(entry: str, tmp_path: Path) -> None:
    entrant = chosen_entrants([entry])[0]
    for recipe in written_criteria(entrant, tmp_path):
        plan = plan_experiment(recipe, is_quick=False, seeds=(1,))
        assert not plan.problems
        assert shown_name(entrant) in recipe.series
        assert len(recipe.seeds) == 10
        assert len(recipe.seeds_of(is_quick=True)) == 5


def test_a_policy_file_goes_along(tmp_path: Path) -> None:
    policy = Path(__file__).resolve().parents[4] / "assets" / "agents" / "drl-cc.safetensors"
    (tmp_path / "mine.safetensors").write_bytes(policy.read_bytes())
    entrant = chosen_entrants([str(tmp_path / "mine.safetensors")])[0]
    recipe = next(each for each in written_criteria(entrant, tmp_path / "out") if each.name == "collapse")
    assert not plan_experiment(recipe, is_quick=True, seeds=(1,)).problems
    assert (tmp_path / "out" / "scenarios" / "mine.safetensors").is_file()


def test_sections_are_those_of_the_rfc(tmp_path: Path) -> None:
    recipes = {each.name: each for each in written_criteria(chosen_entrants(["lia"])[0], tmp_path)}
    assert section(recipes["bufferbloat"]) == "5.1.2"
    tried = {section(each) for each in recipes.values()}
    assert not tried & {each.section for each in load_dossier().untried}


def test_names_do_not_end_texts(tmp_path: Path) -> None:
    entrant = replace(chosen_entrants(["lia"])[0], name='my "own" {1}\'\\')
    recipes = written_criteria(entrant, tmp_path)
    assert all("my -own- -1---" in recipe.series for recipe in recipes)


def test_who_heeds_nothing_is_not_assessed(tmp_path: Path) -> None:
    with pytest.raises(ArenaError, match="not a congestion controller"):
        written_criteria(chosen_entrants(["constant"])[0], tmp_path)

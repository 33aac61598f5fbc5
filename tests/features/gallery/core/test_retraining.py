from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.gallery.core.tiny import carried_out, read_text

from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.retraining import Retraining, policies_of, with_policies
from subflow_app.features.training.core import kept_trainings
from subflow_app.foundation.errors import TrainingError
from subflow_app.foundation.resources import resource_path
from subflow_store import Store

RECIPE = """
format = 1
paper = "rl-explore"
figure = "6"
title = "With and without a policy"
claim = "It is faster."
scenario = "rlx-fixed"
seeds = "1"
panels = [{ form = "lines", measure = "goodput" }]
checks = [{ says = "It is faster", holds = "goodput('Named', '20ms') > goodput('CUBIC', '20ms')" }]
set = { duration = "3s" }
axis = { label = "Delay", unit = "ms", keys = ["links.data.delay"], values = ["10ms", "20ms"] }
measures = { goodput = { of = "goodput", unit = "Mbit/s" } }
[series]
Scenario = {}
Named = { set = { "flows.download.controller" = "rl-explore" } }
Other = { set = { "flows.download.controller" = { name = "rl-explore", policy = "rl-pure", probe_bw = false } } }
CUBIC = { set = { "flows.download.controller" = "cubic" } }
"""

AT_A_POINT = """
[series.Two]
set = { "flows.download.controller" = "rl-explore" }
at = { 20ms = { "flows.download.controller" = { name = "rl-explore", policy = "rl-pure" } } }
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    return read_text(tmp_path, RECIPE)


def test_new_policies_take_the_place_of_those_of_their_names_and_of_no_others(recipe: Recipe) -> None:
    use = policies_of(recipe, is_quick=False)
    named = {"Scenario": "rl-explore", "Named": "rl-explore", "Other": "rl-pure"}
    assert use == {(series, "download"): {policy} for series, policy in named.items()}

    changed = with_policies(recipe, use, {"rl-explore": Path("/new/best.safetensors")})

    assert dict(changed.series["Scenario"].values) == {"flows.download.controller.policy": "/new/best.safetensors"}
    chosen = {"name": "rl-explore", "policy": "/new/best.safetensors"}
    assert dict(changed.series["Named"].values) == {"flows.download.controller": chosen}
    assert changed.series["Other"] == recipe.series["Other"]
    assert changed.series["CUBIC"] == recipe.series["CUBIC"]


def test_each_point_may_have_a_policy_of_its_own(tmp_path: Path) -> None:
    recipe = read_text(tmp_path, RECIPE + AT_A_POINT)
    use = policies_of(recipe, is_quick=False)
    assert use["Two", "download"] == {"rl-explore", "rl-pure"}
    changed = with_policies(recipe, use, {"rl-explore": "one", "rl-pure": "other"})
    (named,) = changed.series["Two"].values.values()
    (at_20ms,) = changed.series["Two"].at["20ms"].values()
    assert (named, at_20ms) == tuple({"name": "rl-explore", "policy": policy} for policy in ("one", "other"))
    assert with_policies(recipe, use, {"rl-pure": "other"}).series["Two"].values == recipe.series["Two"].values


def test_an_experiment_runs_with_policies_trained_anew_and_the_shipped_ones_stay(tmp_path: Path) -> None:
    recipe = read_text(tmp_path, RECIPE.replace('policy = "rl-pure", ', "").replace('"10ms", ', ""))
    shipped = resource_path("agents/rl-explore.safetensors")
    before = shipped.read_bytes()
    settings = {"steps": 200, "num_envs": 2, "baselines": (), "evaluation_seeds": (1_000_000,)}
    with Store(tmp_path / "one.db") as store:
        retraining = Retraining((recipe,), store, is_quick=False, settings=settings)
        assert retraining.names == ("rl-explore",)
        retraining.run()
        assert retraining.problems == ()
        assert retraining.progress.fraction == 1.0
        results = [carried_out(each, store)[1] for each in (recipe, retraining.changed(recipe))]
        old, new = (each.cell("goodput", "Named", "20ms").mean for each in results)
        assert new != old
        assert results[0].cell("goodput", "CUBIC", "20ms") == results[1].cell("goodput", "CUBIC", "20ms")

        assert shipped.read_bytes() == before
        table = retraining.table()
        assert [row[0] for row in table.rows if row[0]] == ["rl-explore"]
        assert [row[1] for row in table.rows][:2] == ["Goodput while active", "RTT per flow"]
        documents = retraining.document()
        assert documents[0]["shipped"]["goodput_bps"] > 20e6
        assert 0 < documents[0]["anew"]["goodput_bps"] != documents[0]["shipped"]["goodput_bps"]

        again = Retraining((recipe,), store, is_quick=False, settings=settings)
        again.run()
        assert [each.training.was_there for each in again.policies] == [True]


def test_what_training_needs_is_told_before_anything_runs(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise TrainingError("training needs torch, which is not installed")

    monkeypatch.setattr(kept_trainings, "check_torch", missing)
    with pytest.raises(TrainingError, match="needs torch"):
        Retraining((recipe,), None, is_quick=True).run().check()
    # Experiments without policies need no training.
    without = Retraining((), None, is_quick=True)
    without.run().check()
    assert without.policies == ()
    assert with_policies(recipe, {}, {}).series == recipe.series

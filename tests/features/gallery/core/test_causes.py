"""Causes of failed checks and the variants that show them: read, made and reported."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.features.gallery.core.tiny import RECIPE, read_text
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.gallery.core.recipe import CauseKind, Recipe
from subflow_app.features.gallery.core.report import by_paper
from subflow_app.features.gallery.core.report_tables import settlement_table, trial_table
from subflow_app.features.gallery.core.reproduction import Reproduction
from subflow_app.features.gallery.core.results import Results, Settlement, settlement_counts, stored_results
from subflow_app.features.library.core.contents import of_experiment
from subflow_app.foundation.errors import RecipeError
from subflow_store import Store

_VARIANTS = """
[variants.slow]
says = "Links of 1 Mbit/s."
set = { "links.top.rate" = "1Mbit/s", "links.bottom.rate" = "1Mbit/s" }
[variants.fast]
says = "Links of 40 Mbit/s."
seeds = "1..3"
quick = { seeds = "1..2" }
series.LIA.set = { "links.top.rate" = "40Mbit/s", "links.bottom.rate" = "40Mbit/s", "flows.mptcp.recv_buffer" = "4MB" }
"""
_READING = """
[checks.cause]
kind = "reading"
says = "The links may have been others."
variants = ["slow", "fast"]
"""
_BAND = 'why = "a band that no run is in"\n'


def _recipe(folder: Path, cause: str, variants: str = _VARIANTS, band: str = "5 Mbit/s .. 60 Mbit/s") -> Recipe:
    text = RECIPE.replace(_BAND, _BAND + cause).replace("50 Mbit/s .. 60 Mbit/s", band)
    return read_text(folder, text + variants)


def _made(recipe: Recipe, store: Store) -> Results:
    outcome = Reproduction(recipe, store, is_quick=True).run()
    assert (outcome.state, outcome.problems) == ("finished", ())
    return stored_results(recipe, store, is_quick=True)


def test_a_variant_is_the_recipe_with_what_it_says_in_place(tmp_path: Path) -> None:
    recipe = _recipe(tmp_path, _READING)
    slow, fast = recipe.variants["slow"].recipe, recipe.variants["fast"].recipe
    assert slow.name == "tiny (slow)"
    assert slow.values == {**recipe.values, "links.top.rate": "1Mbit/s", "links.bottom.rate": "1Mbit/s"}
    assert list(fast.seeds) == [1, 2, 3]
    assert (slow.checks, slow.panels, slow.variants) == ((), (), {})
    assert set(fast.series["LIA"].values) == {"links.top.rate", "links.bottom.rate", "flows.mptcp.recv_buffer"}
    assert fast.series["Reno"] == recipe.series["Reno"]
    assert fast.quick.points == recipe.quick.points
    assert list(recipe.variant_seeds("fast", [7], is_quick=True)) == [1, 2]
    assert list(recipe.variant_seeds("slow", [7], is_quick=True)) == [7]


def test_axes_and_controllers_are_replaced_as_a_whole(tmp_path: Path) -> None:
    variants = """[variants.axis]\nsays = "x"\naxis = { keys = ["links.top.loss"] }
[variants.controller]\nsays = "x"\nseries.Ours.set = { "flows.mptcp.controller" = { name = "lia" } }
"""
    made = _recipe(tmp_path, _READING.replace('"slow", "fast"', '"axis", "controller"'), variants).variants
    first = made["axis"].recipe.axis.points[1]
    assert (first.label, first.changes({}, 1.0)) == ("1%", {"links.top.loss": "1%"})
    ours = made["controller"].recipe.series["Ours"]
    assert (ours.values, ours.is_ours) == ({"flows.mptcp.controller": {"name": "lia"}}, True)


def test_a_cause_is_shown_by_a_variant_that_meets_the_check(tmp_path: Path, store: Store) -> None:
    recipe = _recipe(tmp_path, _READING, band="15 Mbit/s .. 90 Mbit/s")
    verdict = _made(recipe, store).verdicts()[1]
    assert not verdict.kind.is_met
    assert verdict.settlement is CauseKind.READING
    trials = present(verdict.explanation).trials
    assert [(present(trial.variant).name, trial.outcome.holds) for trial in trials] == [("slow", False), ("fast", True)]
    assert trials[1].n_met == 3
    assert len(of_experiment(store, recipe, is_quick=True).sweeps) == 3
    again = Reproduction(recipe, store, is_quick=True).run()
    assert again.progress.reused == again.progress.runs == 2 + 2 + 4


def test_a_cause_that_its_experiment_does_not_bear_out_is_not_shown(tmp_path: Path, store: Store) -> None:
    slow = _VARIANTS.partition("[variants.fast]")[0]
    recipe = _recipe(tmp_path, _READING.replace('"slow", "fast"', '"slow"'), slow, "15 Mbit/s .. 90 Mbit/s")
    verdict = _made(recipe, store).verdicts()[1]
    assert verdict.settlement is Settlement.OPEN
    assert present(verdict.explanation).is_shown is False


def test_a_variant_that_was_not_run_shows_nothing(tmp_path: Path, store: Store) -> None:
    recipe = _recipe(tmp_path, _READING, band="15 Mbit/s .. 90 Mbit/s")
    _made(recipe, store)
    (tmp_path / "other").mkdir()
    slower = _VARIANTS.replace("40Mbit/s", "39Mbit/s")
    other = _recipe(tmp_path / "other", _READING, slower, "15 Mbit/s .. 90 Mbit/s")
    verdict = stored_results(other, store, is_quick=True).verdicts()[1]
    assert verdict.settlement is Settlement.OPEN
    assert present(verdict.explanation).is_shown is None


def test_a_contradiction_is_told_by_the_results_themselves(tmp_path: Path, store: Store) -> None:
    shown = _READING.replace("reading", "contradiction").replace("The links may have been others.", "Too much.")
    shown = shown.replace('variants = ["slow", "fast"]', "holds = \"goodput('LIA', '0%') < 10 Mbit/s\"")
    results = _made(_recipe(tmp_path, shown, "", "50 Mbit/s .. 60 Mbit/s"), store)
    assert results.verdicts()[1].settlement is CauseKind.CONTRADICTION
    counts = settlement_counts(results.verdicts())
    assert (counts[Settlement.MET], counts[CauseKind.CONTRADICTION], sum(counts.values())) == (2, 1, 6)
    (row,) = trial_table(results).rows
    assert (row[1], row[2], row[4]) == ("contradiction: Too much.", "These results", "2 of 6")
    assert row[3].startswith("✓ ")
    (total,) = settlement_table(by_paper([results])).rows
    assert (*total[:3], total[6]) == ("MPLibra", "6", "2", "1")


@for_each(
    ("cause", "variants", "told"),
    [
        (_READING.replace('"fast"', '"fats"'), _VARIANTS, 'unknown variant "fats", did you mean "fast"?'),
        (_READING + "holds = \"goodput('LIA', '0%') > 1\"\n", _VARIANTS, "reading is shown by the check itself alone"),
        (_READING.replace('variants = ["slow", "fast"]', ""), "", "nothing shows it"),
        (_READING.replace('"reading"', '"weather"'), _VARIANTS, "allowed"),
        ("", _VARIANTS, "no cause names it"),
        (_READING, _VARIANTS.replace('top.rate" = "1Mbit/s"', 'top.rate" = 1979-05-27'), "variants.slow.set"),
        (_READING, _VARIANTS.replace("series.LIA", "series.Lia"), 'unknown series "Lia"'),
        (_READING, _VARIANTS.replace('seeds = "1..3"', "panels = []"), "variants.fast.panels"),
        (_READING, _VARIANTS.replace('says = "Links of 40 Mbit/s."', ""), "variants.fast.says"),
        (_READING, "variants = 3\n", "variants"),
        (
            _READING,
            _VARIANTS.replace('seeds = "1..3"', 'axis = { values = ["0%", "2%", "5%"] }'),
            'checks would not find their points; allowed: "0%", "1%" or "5%"',
        ),
        ("cause = 3\n", "", "checks[1].cause"),
    ],
)
def test_what_is_wrong_is_told_where_it_is_written(tmp_path: Path, cause: str, variants: str, told: str) -> None:
    with pytest.raises(RecipeError, match=re.escape(told)):
        _recipe(tmp_path, cause, variants)

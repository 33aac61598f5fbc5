"""Comparisons that simulate their runs: title, plan, estimate, and the runs that seeds would only repeat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.features.sweeps.core.plans import CONTROLLER, LOSS, SCENARIO
from tests.helpers.present import present

from subflow_app.features.comparison.core.batch import (
    MOST_RUNS,
    ComparisonDraft,
    ComparisonEstimate,
    compared_ids,
    comparison_job,
    estimate_comparison,
    points_of,
)
from subflow_app.features.sweeps.core.sweep_draft import ALL, SEEDS
from subflow_store import Store, open_store

STEADY = SCENARIO.replace('loss = "1%"\n', "")
"""The scenario without its random losses."""


def estimate(
    *controllers: str, text: str = SCENARIO, store: Store | None = None, **more: object
) -> tuple[ComparisonDraft, ComparisonEstimate]:
    draft = ComparisonDraft("download", controllers, **more)  # type: ignore[arg-type]
    return draft, estimate_comparison(draft, text, None, sample_interval_s=0.1, store=store)


def test_titles_name_what_is_compared() -> None:
    assert ComparisonDraft("f", ("lia", "olia")).title == "lia against olia"
    assert ComparisonDraft("f", ("lia",)).title == "lia"
    assert ComparisonDraft("f", ("lia", {"name": "uncoupled", "base": "bbr"}, "balia")).title == (
        "lia, uncoupled, base = bbr, balia"
    )
    assert ComparisonDraft("f", ("a", "b"), varied=(("links.wifi.loss", "1%, 2%"),)).title == "a against b by loss"


def test_each_controller_runs_with_each_seed() -> None:
    draft, found = estimate("lia", "olia", seeds="3..7")
    plan = present(found.plan)
    assert (plan.name, plan.keys, plan.n_runs) == ("lia against olia", (CONTROLLER,), 10)
    assert tuple(plan.seeds) == (3, 4, 5, 6, 7)
    assert found.luck_text == ""
    assert found.cost_text(2).startswith("10 to simulate: about ")
    assert "on 2 cores" in found.cost_text(2)
    assert draft.key == CONTROLLER


def test_seeds_that_only_repeat_a_run_are_told_and_left_out() -> None:
    _, found = estimate("lia", "olia", text=STEADY)
    assert found.luck_text == "Nothing in this scenario is random: 5 seeds are one run."
    assert found.is_one_run
    assert found.runs == 2
    # Flows that start apart are a variation of the comparison: the text of the scenario stays as it is.
    _, apart = estimate("lia", "olia", text=STEADY, starts_apart_s=0.1)
    assert apart.luck_text == ""
    assert apart.runs == 10
    assert 'start_jitter = "0.1s"' in present(apart.plan).scenario_text
    assert "start_jitter" not in STEADY


def test_a_controller_that_alone_draws_nothing_is_named() -> None:
    _, found = estimate("lia", "bbr3", text=STEADY)
    assert found.luck_text == "Nothing is random with lia: its 5 seeds are one run."
    assert found.runs == 10


def test_one_more_parameter_varies() -> None:
    _, found = estimate("lia", "olia", text=STEADY, varied=((LOSS, "0%, 2%"),), seeds="1..2")
    plan = present(found.plan)
    assert plan.keys == (CONTROLLER, LOSS)
    assert found.runs == 8
    assert list(points_of(plan, 1)) == [2, 3]
    assert [plan.point(number).values[0] for number in points_of(plan, 1)] == ["olia", "olia"]


@pytest.mark.parametrize(
    ("controllers", "more", "field", "told"),
    [
        ((), {}, ALL, "Choose controllers"),
        (("lia",), {"seeds": "1"}, ALL, "two runs or more"),
        (("lia", "nobody"), {}, CONTROLLER, "nobody"),
        (("lia", "olia"), {"seeds": "one"}, SEEDS, "not a seed"),
        (("lia", "olia"), {"seeds": f"1..{MOST_RUNS}"}, ALL, "too many for a comparison"),
        (("lia", "olia"), {"varied": ((LOSS, "many"),)}, LOSS, "many"),
        (("lia", "olia"), {"varied": ((CONTROLLER, "balia"),)}, CONTROLLER, "swept twice"),
    ],
)
def test_what_cannot_be_compared_is_told(
    controllers: tuple[str, ...], more: dict[str, Any], field: str, told: str
) -> None:
    _, found = estimate(*controllers, **more)
    assert found.plan is None
    assert told in found.problems[field]


def test_runs_that_exist_are_counted_and_reused(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        _, first = estimate("lia", "olia", seeds="1..2", store=store)
        job = comparison_job(present(first.plan), store, 2)
        job.run()
        assert job.ended_at(points_of(job.plan, 0)) == (2, 0)
        sweep_id = present(job.sweep_id)
        assert [run.controllers for run in map(store.run, compared_ids(store, sweep_id))] == ["lia"] * 2 + ["olia"] * 2
        _, again = estimate("olia", "balia", seeds="1..3", store=store)
        assert again.stored == 2
        assert again.cost_text(1).startswith("2 are stored already, 4 to simulate: about ")
        _, whole = estimate("olia", "lia", seeds="1..2", store=store)
        assert whole.cost_text(1) == "4 are stored already"

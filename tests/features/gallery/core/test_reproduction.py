"""Reproduced experiments: the runs made and reused, the results, and the verdicts of the checks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.features.gallery.core.tiny import RECIPE, read_text
from tests.helpers.present import present

from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.reproduction import Reproduction, Reproductions, expected_s
from subflow_app.features.gallery.core.results import Results, VerdictKind, stored_results
from subflow_app.features.gallery.core.runs_kind import RunsKind, RunValues
from subflow_app.foundation.jobs.job import Job
from subflow_store import Store, open_store


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> Recipe:
    return read_text(tmp_path_factory.mktemp("recipe"), RECIPE)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("store") / "runs.db") as store:
        yield store


@pytest.fixture(scope="module")
def quick(recipe: Recipe, store: Store) -> Results:
    reproduction = Reproduction(recipe, store, is_quick=True)
    outcome = reproduction.run()
    assert (outcome.state, outcome.progress.finished, outcome.problems) == ("finished", 2, ())
    return reproduction.results()


def test_checks_are_told_by_what_came_out(quick: Results) -> None:
    verdicts = quick.verdicts()
    first = [VerdictKind.HOLDS, VerdictKind.OUTSIDE, VerdictKind.INSIDE]
    assert [verdict.kind for verdict in verdicts] == [*first, *[VerdictKind.NOT_MEASURED] * 3]
    assert verdicts[1].outcome.right == "50 Mbit/s .. 60 Mbit/s"
    assert [verdict.reason for verdict in verdicts[3:]] == [
        "Reno is not in a quick run",
        'Ours at 0%: no policy of that name ("gone")',
        "a quick run is too short for this check",
    ]
    assert [verdict.kind.is_met for verdict in verdicts[:3]] == [True, False, True]


def test_cells_and_traces_are_those_of_the_runs(quick: Results) -> None:
    cell = quick.cell("goodput", "LIA", "0%")
    assert cell.values == (cell.mean,)
    assert cell.mean > 1e6
    assert math.isnan(quick.cell("goodput", "Ours", "0%").mean)
    assert quick.cell("goodput", "Reno", "0%").n == 0
    assert quick.improvement("goodput", "LIA", "LIA", "0%") == 0
    times, values = present(quick.trace("goodput", "LIA", "5%"))
    assert (times[-1], len(times), len(values)) == (1.0, 10, 10)
    running = present(quick.trace("goodput", "LIA", "5%", is_running_mean=True))
    smooth = present(quick.trace("goodput", "LIA", "5%", window_s=0.2))
    assert running[1][-1] == pytest.approx(np.nanmean(values))
    assert smooth[1][5] == pytest.approx((values[4] + values[5]) / 2)
    assert quick.trace("goodput", "Ours", "5%") is None
    assert isinstance(quick.values, RunValues)
    assert set(present(quick.values.capacity("top,bottom", "LIA", "0%", 1))[1]) == {10e6}


def test_nothing_is_made_twice(recipe: Recipe, store: Store, quick: Results) -> None:
    before = len(store.runs())
    again = Reproduction(recipe, store, is_quick=True).run()
    assert (again.state, again.progress.finished, again.progress.reused) == ("finished", 2, 2)
    more = Reproduction(recipe, store, is_quick=True, seeds=(1, 2)).run()
    assert (more.progress.finished, more.progress.reused) == (4, 2)
    assert len(store.runs()) == before + 2
    assert len(stored_results(recipe, store, is_quick=True, seeds=(1, 2)).cell("goodput", "LIA", "0%").values) == 2
    with open_store(present(store.path), read_only=True) as other:
        results = stored_results(recipe, other, is_quick=True)
        assert results.cell("goodput", "LIA", "5%") == quick.cell("goodput", "LIA", "5%")
        assert not stored_results(recipe, other, is_quick=False).is_there


def test_what_was_stopped_goes_on(recipe: Recipe) -> None:
    with open_store(":memory:") as store:
        stopped = Reproduction(recipe, store)
        stopped.stop()
        assert stopped.run().state == "stopped"
        experiments = Reproductions([recipe], store)
        (reproduction,) = experiments.each
        add_run = store.start_run
        made: list[int] = []

        def counted(*arguments: object, **named: object) -> object:
            made.append(1)
            if len(made) == 3:
                experiments.stop()
            return add_run(*arguments, **named)  # type: ignore[arg-type]

        store.start_run = counted  # type: ignore[method-assign, assignment]
        experiments.run()
        (outcome,) = experiments.outcomes
        assert outcome.state == "stopped"
        assert 0 < outcome.progress.finished < 12
        results = reproduction.results()
        assert results.verdicts()[4].kind is VerdictKind.NOT_MEASURED
        assert "not all of its runs" in results.problem("Reno", "5%")
        ended = Reproduction(recipe, store).run()
        assert ended.state == "finished"
        assert ended.progress.reused == outcome.progress.finished
        assert len(made) == 12
        assert len(store.sweeps.rows()) == 1
        kinds = [each.kind for each in stored_results(recipe, store, is_quick=False).verdicts()]
        assert kinds[3:] == [VerdictKind.FAILS, VerdictKind.NOT_MEASURED, VerdictKind.HOLDS]


def test_how_far_many_are_and_how_long_they_take(recipe: Recipe, quick: Results, store: Store, tmp_path: Path) -> None:
    assert expected_s(recipe, is_quick=False) == 3
    assert expected_s(recipe, is_quick=True) == pytest.approx(3 * 4 / 18)
    silent = read_text(tmp_path, RECIPE.replace('expected = "3s"\n', ""))
    assert math.isnan(expected_s(silent, is_quick=False))
    experiments = Reproductions([recipe, recipe], store, is_quick=True)
    before = experiments.progress
    assert (before.doing, before.runs, before.finished, before.fraction) == (f"1 of 2 · {recipe.name}", 4, 0, 0.0)
    assert experiments.expected_s == pytest.approx(2 * expected_s(recipe, is_quick=True))
    experiments.run()
    after = experiments.progress
    assert (after.doing, after.finished, after.fraction, after.eta_s) == (f"2 of 2 · {recipe.name}", 4, 1.0, 0.0)


class _Silent(Job):
    """A job with a failed run that gives no reason."""

    def _work(self) -> None:
        self._tell(finished=1, failed=1)


def test_a_failed_experiment_says_why(recipe: Recipe, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunsKind, "job", lambda *_, **__: _Silent(2))
    outcome = Reproduction(recipe, store, is_quick=True, seeds=[901]).run()
    assert outcome.state == "failed"
    assert all(outcome.problems)
    assert outcome.problems

"""A stored sweep counts as a result of a recipe only if its policies are the present ones, by content."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.gallery.core.test_retraining import RECIPE
from tests.features.gallery.core.tiny import carried_out, read_text
from tests.helpers.present import present
from tests.helpers.shipped_policies import former_hash, use_former, use_printed

from subflow_app.features.gallery.core.exhibits import read_exhibit
from subflow_app.features.gallery.core.results import n_finished, stored_results
from subflow_store import Store

SHORT = RECIPE.replace('"10ms", ', "").replace('duration = "3s"', 'duration = "1s"')


def test_a_stored_sweep_of_another_policy_of_the_same_name_is_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = read_text(tmp_path, SHORT)
    with Store(tmp_path / "runs.db") as store:
        with monkeypatch.context() as patch:
            use_former(patch, tmp_path / "before")
            _, former = carried_out(recipe, store)
            assert n_finished(former) == 4
        use_printed(monkeypatch, tmp_path / "after")
        results = stored_results(recipe, store, is_quick=False)
        counts = {series: results.cell("goodput", series, "20ms").n for series in results.series}
        assert counts == {"Scenario": 0, "Named": 0, "Other": 1, "CUBIC": 1}
        told = results.problem("Named", "20ms")
        assert told.startswith(f'its runs used another policy "rl-explore" ({former_hash("rl-explore")[:12]})')
        assert results.verdicts()[0].reason == f"Named at 20ms: {told}"
        assert len(present(results.values).records().runs) == 2
        exhibit = read_exhibit(store, recipe.name, recipe=recipe)
        assert (exhibit.is_begun, exhibit.finished, exhibit.wanted) == (True, 2, 4)
        # Only the runs of the changed policy are repeated.
        progress, again = carried_out(recipe, store)
        assert (progress.finished, progress.reused) == (4, 2)
        assert again.cell("goodput", "Named", "20ms").mean != former.cell("goodput", "Named", "20ms").mean
        assert again.problem("Named", "20ms") == ""

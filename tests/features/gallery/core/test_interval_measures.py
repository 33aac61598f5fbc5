from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.results import Results
from subflow_app.foundation.jobs.executors import executor_maker
from subflow_store import Store

RECIPE = """
format = 1
paper = "ddpg-mpcc"
figure = "7"
title = "By interval"
claim = "It rises."
scenario = "t-ddpg-c"
seeds = "1"
traces = true
sample_interval = "1s"
[set]
duration = "5s"
warmup = "0s"
"flows.second.start" = "0s"
[series.MPCC]
[series.Reno]
set = { "flows.first.controller" = "lia", "flows.second.controller" = "lia" }
[measures.rate]
of = "interval_rate"
last = 20
unit = "Mbit/s"
[measures.first]
of = "interval_rate"
flows = "first"
last = 1
unit = "Mbit/s"
[measures.utility]
of = "interval_utility"
last = 20
[measures.reward]
of = "interval_reward"
last = 20
[measures.beyond]
of = "interval_reward"
first = 2000
last = 2010
[[panels]]
form = "trace"
measure = "reward"
[[checks]]
says = "MPCC begins with 4 Mbit/s"
holds = "first('MPCC') == 4 Mbit/s"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    folder: Path = tmp_path_factory.mktemp("intervals")
    path = folder / "ddpg-mpcc-fig7.toml"
    path.write_text(RECIPE)
    recipe = load_recipe(str(path))
    kind = KINDS["runs"]()
    with Store(folder / "one.db") as store:
        kind.job(recipe, store, is_quick=False, seeds=(1,), executor=executor_maker(1, None)).run()
        yield Results(recipe, kind.stored(recipe, store, is_quick=False, seeds=(1,)), is_quick=False, seeds=(1,))


def test_intervals_are_told_by_their_numbers_whenever_they_were(results: Results) -> None:
    trace = results.trace("rate", "MPCC", "", 1)
    assert trace is not None
    numbers, rates = trace

    assert numbers.tolist() == list(range(1, 21))
    # MPCC's slow start: 4 Mbit/s, doubled while the utility rises.
    assert rates[0] == pytest.approx(4e6)
    assert np.nanmax(rates) >= 64e6
    assert results.cell("rate", "MPCC", "").mean == pytest.approx(float(np.mean(rates)))
    assert results.verdicts()[0].kind.is_met


def test_the_reward_is_the_utility_over_the_largest_and_within_0_and_1(results: Results) -> None:
    utility, reward = results.trace("utility", "MPCC", "", 1), results.trace("reward", "MPCC", "", 1)
    assert utility is not None
    assert reward is not None

    assert 0 <= reward[1].min() <= reward[1].max() <= 1
    best = int(np.argmax(utility[1]))
    assert reward[1][best] == pytest.approx(float(reward[1].max()))


def test_who_has_no_intervals_has_no_such_measure(results: Results) -> None:
    assert results.cell("rate", "Reno", "").n == 0
    assert results.cell("beyond", "MPCC", "").n == 0

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.features.gallery.core.tiny import carried_out, read_text
from tests.helpers.present import present

from subflow_app.features.gallery.core.results import Results
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
panels = [{ form = "trace", measure = "reward" }]
checks = [{ says = "MPCC begins with 4 Mbit/s", holds = "first('MPCC') == 4 Mbit/s" }]
set = { duration = "5s", warmup = "0s", "flows.second.start" = "0s" }
[series]
MPCC = {}
Reno = { set = { "flows.first.controller" = "lia", "flows.second.controller" = "lia" } }
[measures]
rate = { of = "interval_rate", last = 20, unit = "Mbit/s" }
first = { of = "interval_rate", flows = "first", last = 1, unit = "Mbit/s" }
utility = { of = "interval_utility", last = 20 }
reward = { of = "interval_reward", last = 20 }
beyond = { of = "interval_reward", first = 2000, last = 2010 }
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    folder: Path = tmp_path_factory.mktemp("intervals")
    with Store(folder / "one.db") as store:
        yield carried_out(read_text(folder, RECIPE), store)[1]


def test_intervals_are_told_by_their_numbers_whenever_they_were(results: Results) -> None:
    numbers, rates = present(results.trace("rate", "MPCC", "", 1))
    assert numbers.tolist() == list(range(1, 21))
    # MPCC's slow start: 4 Mbit/s, doubled while the utility rises.
    assert rates[0] == pytest.approx(4e6)
    assert np.nanmax(rates) >= 64e6
    assert results.cell("rate", "MPCC", "").mean == pytest.approx(float(np.mean(rates)))
    assert results.verdicts()[0].kind.is_met


def test_the_reward_is_the_utility_over_the_largest_and_within_0_and_1(results: Results) -> None:
    utility, reward = (present(results.trace(name, "MPCC", "", 1))[1] for name in ("utility", "reward"))
    assert 0 <= reward.min() <= reward.max() <= 1
    assert reward[int(np.argmax(utility))] == pytest.approx(float(reward.max()))


def test_who_has_no_intervals_has_no_such_measure(results: Results) -> None:
    assert results.cell("rate", "Reno", "").n == 0
    assert results.cell("beyond", "MPCC", "").n == 0

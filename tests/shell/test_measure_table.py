"""One number for each measure in every place: legend, results, history, compare, CSV, JSON, report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.measure_table import PLACES, markdown, printed, stored_run
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_store import Store, open_store

NUMBERS = (Path(__file__).parents[1] / "helpers" / "numbers.toml").read_text(encoding="utf-8")
ENDLESS = TWO_PATHS.replace('duration = "60s"', 'duration = "12s"\nwarmup = "3s"', 1)
# One transfer ends in time, and one does not.
FINISHED = ENDLESS.replace("[flows.download]", '[flows.download]\nsize = "3MB"', 1)
INTERRUPTED = ENDLESS.replace("[flows.download]", '[flows.download]\nsize = "900MB"', 1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("measures") / "runs.db") as opened:
        yield opened


@pytest.mark.parametrize("text", [NUMBERS, ENDLESS, FINISHED, INTERRUPTED], ids=["numbers", "endless", "done", "open"])
def test_every_place_prints_the_same_number(store: Store, text: str) -> None:
    rows = printed(store, stored_run(store, text))
    assert [row.key for row in rows if not row.is_equal] == [], markdown({"": rows})
    # Each place shows some measures, except the page, which has its own tests.
    assert {place for row in rows for place in row.texts} == set(PLACES) - {"page"}


def test_the_right_numbers(store: Store) -> None:
    """A late flow is stopped, a short transfer starts at 20 s and takes 8.555 s, a long flow has no end."""
    rows = {row.key: row.texts for row in printed(store, stored_run(store, NUMBERS))}
    everywhere = set(PLACES) - {"page"}
    for key, expected in {
        "flows.short.completion_s": "8.555",
        "flows.short.active_goodput_bps": "0.842",  # 900 kB in 8.555 s, all after the warm-up
        "flows.late.goodput_bps": "3.086",
        "flows.m.goodput_bps": "6.878",
    }.items():
        assert rows[key] == dict.fromkeys(PLACES[:-1], expected), key
        assert set(rows[key]) == everywhere
    assert rows["mean_completion_s"]["history"] == "8.555"
    assert "flows.short.goodput_bps" not in rows  # 0.220 Mbit/s over the run is no actual rate of the flow

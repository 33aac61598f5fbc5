"""The figures of a comparison: one for each measure, with a dot for each run, and verdicts on clear differences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from tests.features.sweeps.core.plans import SCENARIO
from tests.helpers.present import present

from subflow_app.features.comparison.core.batch import (
    ComparisonDraft,
    compared_ids,
    comparison_job,
    estimate_comparison,
)
from subflow_app.features.comparison.core.compared_runs import Choices, compare, read_runs
from subflow_app.features.comparison.core.group_table import GroupTable
from subflow_app.features.comparison.core.measure_figures import group_colours, lead_text, measure_figures
from subflow_app.vocabulary.palette import CONTROLLER_COLOURS
from subflow_store import Store, open_store


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store(":memory:") as made:
        yield made


def table_of(store: Store, text: str, *controllers: str, seeds: str = "1..4") -> GroupTable:
    draft = ComparisonDraft("download", controllers, seeds)
    job = comparison_job(present(estimate_comparison(draft, text, None, sample_interval_s=0.1).plan), store, 2)
    job.run()
    return compare(read_runs(store, compared_ids(store, present(job.sweep_id))), Choices()).table


def test_each_measure_has_one_figure_with_all_runs(store: Store) -> None:
    table = table_of(store, SCENARIO, "lia", "uncoupled")
    figures = measure_figures(table)
    titles = [figure.title for figure in figures]
    # The goodput of the only flow is that of the run: it is shown once, without the name of the flow.
    assert titles[0] == "Goodput"
    assert len(set(titles)) == len(titles)
    assert not any(":" in title for title in titles)
    figure = figures[0]
    assert figure.hint == "Mbit/s, more is better"
    assert {hit.run_ids for hit in figure.hits} == {(run.id,) for group in table.groups for run in group.runs}
    # The first group is on top, and everything is in view.
    assert {hit.y for hit in figure.hits if hit.points == (0,)} == {1.0}
    left, right, low, high = present(figure.panel.view)
    assert all(left < hit.x < right and low < hit.y < high for hit in figure.hits)
    assert [name for _place, name in figure.panel.y_ticks] == ["uncoupled", "lia"]
    assert group_colours(table.groups) == [CONTROLLER_COLOURS["lia"], CONTROLLER_COLOURS["uncoupled"]]
    for each in figures:
        reference, other = each.lines
        assert (reference.difference, reference.verdict) == ("", None)
        assert other.verdict in (-1, 0, 1)


def test_verdicts_follow_from_what_is_better(store: Store) -> None:
    # Twenty times the losses cost goodput, which is worse, and losses, of which less is better.
    table = table_of(store, SCENARIO, "lia", "uncoupled")
    lossy = table_of(store, SCENARIO.replace('loss = "1%"', 'loss = "20%"'), "lia", "uncoupled")
    runs = [run for each in (table, lossy) for run in each.groups[0].runs]
    both = compare(runs, Choices()).table
    verdicts = {figure.title: figure.lines[1].verdict for figure in measure_figures(both)}
    assert (verdicts["Goodput"], verdicts["Loss"]) == (-1, -1)
    assert "Goodput −" in lead_text(both)
    assert "worse" in lead_text(both)


def test_with_several_flows_the_sentence_is_on_whole_runs(store: Store) -> None:
    table = table_of(store, SCENARIO.replace('controller = "lia"', 'controller = "lia"\ncount = 2'), "lia", "uncoupled")
    titles = [figure.title for figure in measure_figures(table)]
    assert any(title.startswith("download.1: ") for title in titles)
    assert "download.1" not in lead_text(table)


def test_one_run_each_gives_no_verdict(store: Store) -> None:
    table = table_of(store, SCENARIO, "lia", "uncoupled", seeds="1")
    assert lead_text(table) == "One run each: no interval, and no verdict."
    for figure in measure_figures(table):
        assert [line.verdict for line in figure.lines] == [None, None]
        assert all(np.isnan(series.x_halves).all() for series in figure.panel.series)

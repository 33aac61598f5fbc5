"""Columns and groups of the list of runs: texts with units, order by value, means with intervals."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.history.core import run_columns
from subflow_app.features.history.core.run_columns import RunGroup, column, grouped, sorted_runs, with_sweeps
from subflow_store import RunFork, RunRow, RunStart, open_store


def run(number: int, **changes: Any) -> RunRow:
    """A finished run; later numbers are newer by an hour."""
    started = datetime(2026, 11, 1, 12, tzinfo=UTC) + timedelta(hours=number)
    values: dict[str, Any] = dict.fromkeys(RunRow._fields)
    values |= {"id": number, "name": f"run {number}", "scenario_name": "Demo", "controllers": "lia", "seed": number}
    values |= {"status": "finished", "started_at": started, "note": "", "tags": ()}
    return RunRow(**(values | changes))


@for_each(
    ("key", "value", "unit", "text"),
    [
        ("goodput_bps", 5.2e6, "Mbit/s", "5.200"),
        ("mean_rtt_s", 0.0912, "ms", "91.2"),
        ("jain", None, "", "–"),
        ("seed", 12, "", "12"),
        ("note", None, "", ""),
        ("flows.download.goodput_bps", 1e6, "Mbit/s", "1.000"),
        ("flows.download.p95_rtt_s", 0.2, "ms", "200.0"),
        ("flows.download.completion_s", 3.5, "s", "3.500"),
        ("flows.download.loss_ratio", 0.0125, "%", "1.25"),
        ("links.wifi.loss", 0.02, "%", "2.00"),
        ("links.wifi.rate", 8e6, "Mbit/s", "8.000"),
        ("flows.download.max_reorder_queue_bytes", 1500, "kB", "1.5"),
        ("flows.download.controller", "olia", "", "olia"),
        ("transport.initial_window", 10.0, "", "10"),
        ("fairness.jain", 0.5, "", "0.500"),
    ],
)
def test_cells_show_values_in_the_unit_of_the_heading(key: str, value: Any, unit: str, text: str) -> None:
    shown = column(key)
    assert (shown.unit, shown.text(value)) == (unit, text)


def test_runs_are_sorted_by_several_columns_and_what_is_missing_comes_last_when_falling() -> None:
    rows = [run(3, jain=0.5, name="B"), run(2, jain=None, name="a"), run(1, jain=0.5, name="a")]
    order = [(column("jain"), True), (column("name"), False)]
    assert [row.id for row in sorted_runs(rows, order, {})] == [1, 3, 2]
    assert [row.id for row in sorted_runs(rows, [], {})] == [3, 2, 1]
    # Recorded values may be numbers or texts.
    recorded: dict[str, dict[int, float | str | None]] = {"links.wifi.loss": {1: 0.02, 2: 0.1, 3: "bursts"}}
    rows = [run(number) for number in (4, 3, 2, 1)]
    assert [row.id for row in sorted_runs(rows, [(column("links.wifi.loss"), False)], recorded)] == [4, 1, 2, 3]


@for_each(
    ("by", "expected"),
    [
        ("scenario", {"Demo": [3, 2], "T-10b": [1]}),
        ("controllers", {"lia": [3, 1], "olia": [2]}),
        ("tag", {"a": [3, 1], "b": [3], "": [2]}),
        ("status", {"finished": [3, 2], "failed": [1]}),
        ("seed", {"7": [3, 2, 1]}),
    ],
)
def test_groups_are_in_the_order_of_their_first_runs(by: str, expected: dict[str, list[int]]) -> None:
    first = run(1, seed=7, scenario_name="T-10b", tags=("a",), status="failed")
    rows = [run(3, seed=7, tags=("a", "b")), run(2, seed=7, controllers="olia"), first]
    found = {group.label: [row.id for row in group.rows] for group in grouped(rows, by)}
    assert found == expected
    assert list(found) == list(expected)
    assert {by, "day"} <= set(run_columns.GROUPINGS)
    days = grouped([run(40), run(16), run(15)], "day")
    assert sum(len(group.rows) for group in days) == 3
    assert all(len(group.label) == len("2026-11-01") for group in days)


def test_groups_know_runs_that_no_mean_is_of() -> None:
    lia, again, olia = run(1, signature="a"), run(2, signature="a"), run(3, controllers="olia", signature="b")
    groups = [*grouped([lia, again, olia], "controllers"), *grouped([lia, again, olia], "scenario")]
    told = [(group.is_mixed, group.is_one_run) for group in groups]
    assert told == [(False, True), (False, False), (True, False)]


def test_runs_of_a_sweep_take_the_place_of_its_first() -> None:
    rows = [
        run(6),
        run(5, name="rates: rate = 8Mbit/s", tags=("paper", "sweep 2")),
        run(4),
        run(3, name="rates: rate = 4Mbit/s", tags=("sweep 2",)),
        run(2, name="alone: rate = 4Mbit/s", tags=("sweep 1",)),
        run(1, tags=("sweeping 1", "sweep of mine")),
    ]
    found = with_sweeps(rows, {"sweep 2": "All rates"})
    group = found[1]
    assert isinstance(group, RunGroup)
    assert (group.key, group.label, [row.id for row in group.rows]) == ("sweep 2", "All rates", [5, 3])
    assert [each.id for each in found if isinstance(each, RunRow)] == [6, 4, 2, 1]
    assert not group.is_mixed
    # Runs of a deleted sweep keep its name within their own.
    group = with_sweeps(rows, {})[1]
    assert isinstance(group, RunGroup)
    assert group.label == "rates"


@for_each(
    ("name", "others", "shared"),
    [
        ("rates: rate = 4Mbit/s, seed 3", ["rates: rate = 4Mbit/s, seed 4"], "rates: rate = 4Mbit/s, seed "),
        ("rates: rate = 14Mbit/s", ["rates: rate = 16Mbit/s"], "rates: rate = "),
        ("rates: rate = 14Mbit/s", ["other", "rates: loss = 1%"], "rates: "),
        ("rates: 4Mbit/s (fork)", ["rates: 4Mbit/s"], "rates: "),
        ("same", ["same"], ""),
        ("other", [], ""),
    ],
)
def test_what_names_share_ends_where_a_word_begins(name: str, others: list[str], shared: str) -> None:
    assert name[: run_columns.shared_beginning(name, others)] == shared


def test_mean_comes_with_its_interval() -> None:
    found = present(run_columns.mean_interval([1.0, 2.0, 3.0, None, "text", math.nan]))
    # Student's t of 2 degrees is 4.303; the standard error of three values one apart is 1 / sqrt(3).
    assert found.mean == 2.0
    assert found.ci95 == pytest.approx(4.303 / math.sqrt(3), rel=1e-3)
    assert run_columns.mean_interval([None, "text"]) is None
    single = present(run_columns.mean_interval([5.0]))
    assert (single.mean, math.isnan(single.ci95)) == (5.0, True)


def test_a_fork_tells_its_origin_its_time_and_what_differs() -> None:
    changes = [{"link": "wifi", "loss": "5%", "before": {"loss": "2%"}}]
    shown = column("fork")
    of = present(shown.of)
    assert shown.text(of(run(1))) == ""
    forked = run(2, fork=RunFork(1, "Demo", 12.5, "in English", changes))
    assert of(forked) == "run 1 at 12.5 s: wifi loss 2 % → 5 %"
    assert of(run(3, fork=RunFork(None, "Demo", 2.0, "", changes))) == '"Demo" at 2 s: wifi loss 2 % → 5 %'


def test_measures_of_all_flows_are_read_for_lists_and_follow_from_the_summary_of_a_run() -> None:
    """The list reads no documents: its columns must equal those of a single run."""
    flows = [
        {"name": "get", "size_bytes": 9e5, "completion_s": 8.0, "start_s": 2.0, "active_goodput_bps": 9e5},
        {"name": "put", "size_bytes": 8e5, "completion_s": 4.0, "start_s": 1.0, "active_goodput_bps": 16e5},
    ]
    for flow, rtt_s, acked in zip(flows, (0.1, 0.04), (100, 300), strict=True):
        flow |= {"mean_rtt_s": rtt_s, "packets_acked": acked, "packets_lost": 10, "packets_sent": 2 * acked}
    expected = {
        "mean_completion_s": 6.0,
        "makespan_s": 9.0,
        "active_goodput_per_flow_bps": 12.5e5,
        "weighted_rtt_s": 0.055,
        "total_loss_ratio": 20 / 800,
    }
    listed = run(1)
    with open_store(":memory:") as store:
        written = store.start_run(RunStart("Demo", "Demo", "", 1, 10.0), [])
        written.finish("finished", {"flows": flows}, "0")
        read = run_columns.read_totals(store, list(expected))
    for key, value in expected.items():
        assert column(key).is_read
        assert column(key).value(listed, read) == pytest.approx(value), key
        assert present(column(key).of)(run(1, summary={"flows": flows})) == pytest.approx(value), key
    order = [(column("mean_completion_s"), True)]
    assert [row.id for row in sorted_runs([run(2), run(1)], order, read)] == [1, 2]

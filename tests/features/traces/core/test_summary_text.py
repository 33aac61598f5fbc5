"""The summary as text: aligned, with units, and a dash for missing values."""

from __future__ import annotations

import math
from typing import Any

from tests.helpers.members import for_each
from tests.helpers.window import TWO_PATHS

from subflow_app.features.traces.core.summary_text import (
    connection_table,
    delay_table,
    flow_table,
    link_table,
    summary_line,
    summary_tables,
)
from subflow_app.vocabulary.number_text import NOTHING, count_text, duration_text, mbit_text, speed_text
from subflow_sim import parse_scenario

SUMMARY: dict[str, Any] = {
    "scenario": "Two paths",
    "seed": 7,
    "duration_s": 60.0,
    "simulated_s": 30.0,
    "warmup_s": 5.0,
    "wall_s": 0.412,
    "packets": 123456,
    "flows": [
        {
            "name": "download",
            "controller": "lia",
            "goodput_bps": 3.1e6,
            "completion_s": None,
            "mean_rtt_s": 0.11,
            "p95_rtt_s": math.nan,
            "loss_ratio": 0.02,
            "retransmits": 1510,
            "subflows": [
                {"path": ["wifi"], "goodput_bps": 1.5e6, "mean_cwnd_pkts": 12.54, "mean_rtt_s": 0.1, "loss_ratio": 0.0},
                {"path": ["a", "b"], "goodput_bps": 1.6e6, "mean_cwnd_pkts": 3, "mean_rtt_s": 0.2, "loss_ratio": 0.01},
            ],
        },
        {"name": "cross", "controller": "newreno", "goodput_bps": 2e6, "subflows": [{"mean_cwnd_pkts": 20.0}]},
        {"name": "noise", "kind": "cbr", "controller": "", "goodput_bps": 1e6, "subflows": []},
    ],
    "links": [{"name": "wifi", "direction": "forward", "utilisation": 0.97, "drops_queue": 12, "drops_random": 1498}],
    "fairness": {"jain": 0.99},
}


def test_every_row_has_a_cell_for_each_column() -> None:
    for table in summary_tables(SUMMARY):
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_flow_shows_its_subflows_below_and_a_single_subflow_in_its_own_row() -> None:
    rows = flow_table(SUMMARY).rows

    assert [row[0] for row in rows] == ["download", "  · wifi", "  · a→b", "cross", "noise"]
    assert rows[0][:7] == ("download", "lia", "3.100", NOTHING, "110.0", NOTHING, "2.00")
    assert rows[1][2:4] == ("1.500", "12.5")
    assert rows[3][3] == "20.0"
    assert rows[4][1] == "cbr"


def test_what_several_subflows_cost_has_a_table_of_its_own() -> None:
    figures = {"reinjections": 12, "duplicates": 3, "mean_hol_blocking_s": 0.0215, "max_reorder_queue_bytes": 123456}
    download = SUMMARY["flows"][0] | figures
    download["subflows"] = [
        each | {"schedule_share": share} for each, share in zip(download["subflows"], (0.724, None), strict=True)
    ]
    summary = SUMMARY | {"flows": [download, *SUMMARY["flows"][1:]]}

    table = connection_table(summary)
    assert table.rows == (
        ("download", "", "12", "3", "21.5", "123.5"),
        ("  · wifi", "72.40", "", "", "", ""),
        ("  · a→b", NOTHING, "", "", "", ""),
    )
    assert [each.title for each in summary_tables(summary)][:2] == ["Flows", "Connections"]
    # A run of a version without these counters lacks the values.
    assert [each.title for each in summary_tables(SUMMARY)] == ["Flows", "Links"]


def test_delays_have_a_table_of_the_flows_that_measure_them() -> None:
    told = {
        "mean_one_way_delay_s": 0.0312, "p95_one_way_delay_s": 0.04, "max_one_way_delay_s": 0.05,
        "mean_jitter_s": 0.0012, "reordered_packets": 5, "reordered_ratio": 0.025, "max_reorder_extent_pkts": 7,
        "mean_ack_delay_s": 0.02, "p95_ack_delay_s": 0.021, "max_ack_delay_s": None,
    }  # fmt: skip
    download = SUMMARY["flows"][0] | told
    download["subflows"] = [each | told for each in download["subflows"]]
    summary = SUMMARY | {"flows": [download, *SUMMARY["flows"][1:]]}

    table = delay_table(summary)
    assert [row[0] for row in table.rows] == ["download", "  · wifi", "  · a→b"]
    assert table.rows[0][1:] == ("31.2", "40.0", "50.0", "1.2", "2.50", "7", "20.0", NOTHING)
    assert [each.title for each in summary_tables(summary)] == ["Flows", "Delays", "Links"]


def test_drops_while_a_link_is_down_are_shown_only_where_there_are_any() -> None:
    assert "down pkt" not in [column.unit for column in link_table(SUMMARY).columns]

    down = {"links": [SUMMARY["links"][0] | {"drops_down": 5}]}
    table = link_table(down)
    assert table.columns[-1].unit == "down pkt"
    assert table.rows[0][-1] == "5"


def test_idle_link_directions_are_counted_not_listed() -> None:
    busy = {"name": "core", "direction": "forward", "utilisation": 0.9}
    idle = {"name": "access", "direction": "reverse", "utilisation": 0.009, "drops_queue": 0}
    lossy = {"name": "access", "direction": "forward", "utilisation": 0.001, "drops_random": 1}

    table = link_table({"links": [busy, idle, lossy, idle]})
    assert [row[:2] for row in table.rows] == [("core", "forward"), ("access", "forward")]
    assert table.title == "Links (left out: 2 directions without drops, used less than 1 %)"
    assert "1 direction without" in link_table({"links": [busy, idle]}).title

    assert len(link_table({"links": [idle, idle]}).rows) == 2


def test_line_says_what_was_simulated_in_what_time() -> None:
    assert summary_line(SUMMARY) == (
        "30 s simulated in 412 ms, 123 456 packets, seed 7, the first 5 s not counted, Jain index 0.990"
    )


def test_summary_of_a_failed_run_can_be_shown() -> None:
    assert summary_line({"scenario": "x"}) == f"{NOTHING} simulated in {NOTHING}, seed {NOTHING}"
    assert [table.rows for table in summary_tables({})] == [(), ()]


@for_each(
    ("time_s", "text"),
    [
        (0.0, "0 s"),
        (0.00123, "1.23 ms"),
        (0.41, "410 ms"),
        (8.25, "8.25 s"),
        (99.96, "100 s"),
        (200.0, "3 min 20 s"),
        (240.0, "4 min"),
        (7380.0, "2 h 03 min"),
        (math.nan, NOTHING),
        (None, NOTHING),
    ],
)
def test_durations_read_naturally(time_s: float | None, text: str) -> None:
    assert duration_text(time_s) == text


def test_numbers_that_are_none_show_as_a_dash() -> None:
    assert mbit_text(None) == mbit_text(math.inf) == mbit_text("3") == mbit_text(True) == count_text(None) == NOTHING
    assert speed_text(0.0) == speed_text(math.nan) == NOTHING
    assert speed_text(146.4) == "146×"
    assert speed_text(1.26) == "1.3×"


SHORT: dict[str, Any] = {
    "name": "short",
    "kind": "mptcp",
    "controller": "bbr",
    "size_bytes": 900_000,
    "goodput_bps": 220_183.0,
    "active_goodput_bps": 910_932.0,
    "active_s": 7.904,
    "start_s": 20.0,
    "completion_s": 7.904,
    "loss_ratio": 0.2448,
    "subflows": [
        {"path": ["a"], "goodput_bps": 55_045.75, "mean_cwnd_pkts": 68.2, "active_mean_cwnd_pkts": 41.6},
        {"path": ["b"], "goodput_bps": 165_137.25, "mean_cwnd_pkts": 68.2},
    ],
}


def test_a_transfer_shows_its_time_its_rate_while_active_and_when_it_was_done() -> None:
    """900 kB from 20 s on, in a run of 40 s with a warm-up of 7.3 s: done at 27.904 s, after 7.904 s."""
    table = flow_table({"simulated_s": 40.0, "warmup_s": 7.3, "flows": [SHORT]})
    heads = [(column.title, column.unit) for column in table.columns]
    assert heads[2:4] == [("Took", "s"), ("Goodput", "active Mbit/s")]
    assert heads[-1] == ("Done at", "s")
    assert ("Loss", "% of sent") in heads
    assert ("Goodput", "Mbit/s") not in heads
    whole, first, second = table.rows
    assert (*whole[2:4], whole[-1]) == ("7.904", "0.911", "27.904")
    # One quarter and three quarters of the transfer; neither subflow has its own completion time.
    assert (first[2:5], second[2:5]) == (("", "0.228", "41.6"), ("", "0.683", "68.2"))

    open_one = SHORT | {"completion_s": None}
    (row, *_), endless = flow_table({"flows": [open_one]}).rows, SUMMARY["flows"][1]
    assert (row[2], row[-1]) == (NOTHING, NOTHING)
    mixed = flow_table({"flows": [SHORT, endless]})
    heads = [(column.title, column.unit) for column in mixed.columns]
    assert heads[2:5] == [("Took", "s"), ("Goodput", "active Mbit/s"), ("Goodput", "Mbit/s")]
    assert [column.title for column in flow_table({"flows": [endless]}).columns][-1] == "Retransmissions"


def test_numbers_that_cannot_be_are_named() -> None:
    assert [table.title for table in summary_tables({"flows": [SHORT]})][-1] != "Impossible numbers"
    link = {"name": "a", "direction": "forward", "utilisation": 1.25}
    flow = SHORT | {"loss_ratio": 1.5, "goodput_bps": -4.0, "retransmits": 3}
    table = summary_tables({"flows": [flow], "links": [link], "fairness": {"jain": 0.5}})[-1]
    assert table.title == "Impossible numbers"
    assert table.rows == (
        ("flows.short.goodput_bps", "-4", "at least 0"),
        ("flows.short.loss_ratio", "1.5", "0 to 1"),
        ("links.a/forward.utilisation", "1.25", "0 to 1"),
    )


def test_the_directions_of_links_are_those_of_data_and_acks() -> None:
    links = [{"name": "wifi", "direction": direction, "utilisation": 0.5} for direction in ("forward", "reverse")]
    assert [row[1] for row in link_table({"links": links}, parse_scenario(TWO_PATHS)).rows] == ["ACKs", "data"]
    assert [row[1] for row in link_table({"links": links}).rows] == ["forward", "reverse"]

"""The table of a sweep and its files: means, intervals, order and units."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping

import pytest

from subflow_app.features.sweeps.core.axes import SweptValue, swept
from subflow_app.features.sweeps.core.sweep_results import (
    SweepTable,
    is_figure,
    is_read,
    long_csv,
    run_figures,
    shown_figures,
    sweep_table,
    table_document,
    text_table,
    wide_csv,
)
from subflow_app.foundation.json_document import json_text

RECORDED = {
    "flows.download.1.goodput_bps": 3e6,
    "flows.download.2.goodput_bps": 1e6,
    "flows.download.1.p95_rtt_s": 0.1,
    "flows.download.2.p95_rtt_s": 0.3,
    "flows.download.1.retransmits": 5.0,
    "flows.download.2.retransmits": 7.0,
    "flows.download.2.completion_s": 4.0,
    "flows.download.1.completion_s": 9.0,
    "fairness.jain": 0.8,
    "links.wifi/forward.utilisation": 0.9,
}


def table(runs: int = 6, signatures: Mapping[tuple[int, int], str] | None = None) -> SweepTable:
    """Two points and three seeds; goodput is ten times the point's number plus the seed, in Mbit/s."""
    places = [(point, seed) for point in (0, 1) for seed in (1, 2, 3)][:runs]
    recorded = {
        (point, seed): (
            100 + point * 10 + seed,
            {"flows.f.goodput_bps": (10 * point + seed) * 1e6, "fairness.jain": 1.0},
        )
        for point, seed in places
    }
    points = [(0, (swept("1%"), swept("lia"))), (1, (swept("2%"), swept("olia")))]
    return sweep_table("Loss", ["links.wifi.loss", "flows.f.controller"], [1, 2, 3], points, recorded, signatures)


def test_figures_of_whole_runs_follow_from_those_of_the_flows() -> None:
    figures = run_figures(RECORDED | {"links.wifi.loss": 0.01, "flows.download.1/1.goodput_bps": 1.0})
    assert figures["goodput_bps"] == 4e6
    assert figures["p95_rtt_s"] == pytest.approx(0.2)
    assert figures["retransmits"] == 12
    assert figures["completion_s"] == 9.0  # the last to end
    assert figures["mean_completion_s"] == 6.5
    assert figures["goodput_per_flow_bps"] == 2e6
    assert figures["fairness.jain"] == 0.8
    assert "mean_rtt_s" not in figures  # no flow has an RTT
    assert not {"links.wifi.loss", "flows.download.1/1.goodput_bps"} & figures.keys()


def test_delays_are_figures_of_flows_and_of_whole_runs() -> None:
    told = {
        "live": {"mean_one_way_delay_s": 0.02, "max_one_way_delay_s": 0.1, "mean_jitter_s": 0.001},
        "video": {"mean_one_way_delay_s": 0.06, "max_one_way_delay_s": 0.08, "mean_jitter_s": 0.005},
        "bulk": {},
    }
    counts = {"live": 300.0, "video": 100.0, "bulk": 1e6}
    recorded = {
        f"flows.{name}.{key}": value
        for name, flow in told.items()
        for key, value in (flow | {"packets_delivered": counts[name], "goodput_bps": 1e6}).items()
    }
    assert all(map(is_read, recorded))
    figures = run_figures(recorded)
    assert figures["mean_one_way_delay_s"] == pytest.approx((0.02 * 300 + 0.06 * 100) / 400)
    assert figures["mean_jitter_s"] == pytest.approx(0.002)
    assert figures["max_one_way_delay_s"] == 0.1
    assert figures["flows.video.mean_jitter_s"] == 0.005
    assert not {"mean_ack_delay_s", "flows.bulk.mean_jitter_s"} & figures.keys()


def test_measures_of_whole_runs_weigh_and_count_as_the_table_of_measures_says() -> None:
    """A short transfer and a long one: 10 of 100 and 10 of 900 packets lost, RTTs of 50 and 100 ms."""
    told = {
        "short": {"completion_s": 4.0, "start_s": 10.0, "size_bytes": 1e6, "mean_rtt_s": 0.05, "loss_ratio": 0.1},
        "long": {"completion_s": 30.0, "start_s": 1.0, "size_bytes": 9e6, "mean_rtt_s": 0.1, "loss_ratio": 1 / 90},
    }
    packets = {"short": (10.0, 100.0, 90.0), "long": (10.0, 900.0, 810.0)}
    for name, (lost, sent, acked) in packets.items():
        told[name] |= {"packets_lost": lost, "packets_sent": sent, "packets_acked": acked, "active_goodput_bps": 2e6}
    recorded = {f"flows.{name}.{key}": value for name, flow in told.items() for key, value in flow.items()}
    assert all(map(is_read, recorded))
    figures = run_figures(recorded)
    assert figures["total_loss_ratio"] == pytest.approx(20 / 1000)
    assert figures["loss_ratio"] == pytest.approx((0.1 + 1 / 90) / 2)
    assert figures["weighted_rtt_s"] == pytest.approx((0.05 * 90 + 0.1 * 810) / 900)
    assert figures["mean_rtt_s"] == pytest.approx(0.075)
    assert figures["makespan_s"] == 30.0  # from 1 s to 31 s
    assert (figures["mean_completion_s"], figures["active_goodput_per_flow_bps"]) == (17.0, 2e6)
    assert not [key for key in figures if key.endswith(("packets_lost", "packets_acked", "size_bytes", "start_s"))]
    # Measures of transfers come first; a flow without a size adds its goodput.
    transfers = ["mean_completion_s", "active_goodput_per_flow_bps"]
    assert shown_figures(figures) == [*transfers, "weighted_rtt_s", "total_loss_ratio"]
    mixed = run_figures(recorded | {"flows.short.goodput_bps": 1e6, "flows.back.goodput_bps": 3e6})
    assert shown_figures(mixed)[:3] == [*transfers, "goodput_bps"]


def test_sums_do_not_depend_on_the_order_of_flows() -> None:
    flows = {f"flows.f.{number}.goodput_bps": 0.1 * number for number in range(1, 40)}
    assert run_figures(flows)["goodput_bps"] == run_figures(dict(reversed(flows.items())))["goodput_bps"]


def test_a_cell_has_mean_and_interval_by_students_t() -> None:
    cell = table().rows[0].cells["goodput_bps"]
    # Values 1, 2, 3: mean 2, standard deviation 1; Student's t for two degrees of freedom is 4.3027 at 97.5 %.
    assert (cell.mean, cell.n, cell.values) == (2e6, 3, (1e6, 2e6, 3e6))
    assert cell.ci95 == pytest.approx(4.3027 / math.sqrt(3) * 1e6, rel=1e-4)


def test_points_without_runs_are_rows_without_cells() -> None:
    half = table(4)
    assert [row.cells["goodput_bps"].n for row in half.rows] == [3, 1]
    assert math.isnan(half.rows[1].cells["goodput_bps"].ci95)
    assert math.isnan(half.rows[1].cells["goodput_bps"].values[2])
    assert half.rows[1].run_ids == (111, None, None)
    empty = table(0)
    assert [row.cells for row in empty.rows] == [{}, {}]
    assert (empty.figures, [cell.n for cell in empty.column("goodput_bps")]) == ((), [0, 0])


def test_figures_are_in_an_order_that_people_expect() -> None:
    keys = ["links.lte/forward.utilisation", "fairness.jain", *(f"flows.f.{n}.goodput_bps" for n in (10, 9, 1))]
    made = sweep_table("x", [], [1], [(0, ())], {(0, 1): (1, dict.fromkeys(keys, 1.0))})
    assert made.figures == (
        "goodput_bps",
        "goodput_per_flow_bps",
        "fairness.jain",
        "flows.f.1.goodput_bps",
        "flows.f.9.goodput_bps",
        "flows.f.10.goodput_bps",
        "links.lte/forward.utilisation",
    )


def test_steps_of_a_key_are_in_order() -> None:
    points = [(0, (swept("10ms"),)), (1, (swept("2ms"),)), (2, (swept("10ms"),)), (3, (SweptValue("", None),))]
    made = sweep_table("x", ["links.wifi.delay"], [1], points, {})
    assert [value.text for value in made.steps("links.wifi.delay")] == ["2ms", "10ms", ""]


def test_figures_are_told_from_parameters() -> None:
    assert is_figure("flows.a.b.goodput_bps")
    assert not is_figure("flows.f.recv_buffer")


def test_the_wide_file_has_a_line_for_each_point_with_units_in_its_headings() -> None:
    first, second, *rest = list(csv.reader(io.StringIO(wide_csv(table(4)))))
    assert first[:6] == [
        "point",
        "links.wifi.loss [ratio]",
        "flows.f.controller",
        "goodput_bps mean [bit/s]",
        "goodput_bps ci95 [bit/s]",
        "goodput_bps n",
    ]
    assert second[:4] == ["1", "0.01", "lia", "2000000"]
    assert rest[0][:6] == ["2", "0.02", "olia", "11000000", "", "1"]
    assert len(rest) == 1


def test_the_long_file_has_a_line_for_each_point_seed_and_figure() -> None:
    rows = list(csv.DictReader(io.StringIO(long_csv(table(4)))))
    assert len(rows) == 4 * 3  # goodput of the run and of its flow, and fairness
    assert rows[0] == {
        "point": "1",
        "links.wifi.loss [ratio]": "0.01",
        "flows.f.controller": "lia",
        "seed": "1",
        "figure": "goodput_bps",
        "unit": "bit/s",
        "value": "1000000",
    }


def test_the_document_has_everything_and_no_nan() -> None:
    document = json.loads(json_text(table_document(table(4))))
    assert document["seeds"] == [1, 2, 3]
    assert document["points"][1]["values"] == {"links.wifi.loss": "2%", "flows.f.controller": "olia"}
    assert document["points"][1]["numbers"] == {"links.wifi.loss": 0.02, "flows.f.controller": None}
    assert document["points"][1]["figures"]["goodput_bps"] == {
        "mean": 11e6,
        "ci95": None,
        "n": 1,
        "values": [11e6, None, None],
    }


def test_people_see_means_with_intervals_and_what_is_missing() -> None:
    told = text_table(table(4))
    assert [column.title for column in told.columns] == [
        "links.wifi.loss",
        "flows.f.controller",
        "Runs",
        "Goodput",
        "Jain index",
    ]
    assert told.rows[0] == ("1%", "lia", "3", "2.000 ± 2.484", "1.000 ± 0.000")
    assert told.rows[1] == ("2%", "olia", "1 of 3", "11.000", "1.000")


def test_seeds_that_gave_one_run_have_no_interval_for_people() -> None:
    """All seeds of the first point have one signature; the document keeps its keys and formulas."""
    same = table(6, {(point, seed): "a" if point == 0 else f"b{seed}" for point in (0, 1) for seed in (1, 2, 3)})
    told = text_table(same)
    assert told.rows[0] == ("1%", "lia", "1", "2.000", "1.000")
    assert told.rows[1] == ("2%", "olia", "3", "12.000 ± 2.484", "1.000 ± 0.000")
    assert same.note.startswith("At 1 of 2 points, all 3 seeds gave the same run")
    assert table_document(same) == table_document(table())
    assert wide_csv(same) == wide_csv(table())
    everywhere = table(6, {(point, seed): f"{point}" for point in (0, 1) for seed in (1, 2, 3)})
    assert everywhere.note.startswith("All 3 seeds gave the same run: nothing in this scenario is random.")
    # A single run is no repetition, and unknown signatures allow no conclusion.
    assert table(1, {(0, 1): "a"}).note == table().note == ""

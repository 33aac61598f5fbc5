"""The table of measures: each has one formula, and one way to combine several flows into a number."""

import ast
import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.helpers.members import for_each

import subflow_app
from subflow_app.features.plots.core import PLOTS
from subflow_app.vocabulary.measure import HOWS, PERIODS, NotMeasuredError
from subflow_app.vocabulary.measure_document import as_document
from subflow_app.vocabulary.measures import (
    MEASURES,
    NAMED,
    RUN_MEASURES,
    default_measures,
    headline_measures,
    measure,
    measure_title,
    rate_measure,
    run_measure,
    run_values,
)
from subflow_sim.notebook import MEASURES as NOTEBOOK
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation

APP = Path(subflow_app.__file__).parent

FLOWS = """\
format = 1
name = "Finished, late and endless"
duration = "10s"
warmup = "2s"
[nodes.a]
[nodes.b]
[links.l]
ends = ["a", "b"]
rate = "20Mbit/s"
delay = "10ms"
queue = "40pkt"
[flows.early]
kind = "tcp"
from = "a"
to = "b"
controller = "newreno"
paths = [["l"]]
start = "1s"
size = "5MB"
[flows.late]
kind = "tcp"
from = "a"
to = "b"
controller = "newreno"
paths = [["l"]]
start = "6s"
size = "500kB"
[flows.endless]
kind = "tcp"
from = "a"
to = "b"
controller = "newreno"
paths = [["l"]]
"""

SHORT = {
    "name": "short", "size_bytes": 1_000_000, "start_s": 2.0, "completion_s": 4.0, "goodput_bps": 1e6, "active_s": 4.0,
    "active_goodput_bps": 2e6, "mean_rtt_s": 0.1, "p95_rtt_s": 0.2, "loss_ratio": 0.1, "packets_sent": 1000,
    "packets_lost": 100, "packets_acked": 900, "retransmits": 5, "subflows": [{"mean_cwnd_pkts": 10.0}],
}  # fmt: skip
LATE = {
    **SHORT, "name": "late", "start_s": 5.0, "completion_s": 2.0, "goodput_bps": 1e6, "active_goodput_bps": 4e6,
    "mean_rtt_s": 0.3, "loss_ratio": 0.5, "packets_sent": 200, "packets_lost": 100, "packets_acked": 100,
}  # fmt: skip
ENDLESS = {**SHORT, "name": "endless", "size_bytes": None, "completion_s": None, "goodput_bps": 5e6}


@for_each(
    ("name", "value"),
    [
        ("goodput", 2e6),
        ("goodput_per_flow", 1e6),
        ("active_goodput", 3e6),
        ("completion", 3.0),
        ("makespan", 5.0),  # from 2 s to 7 s
        ("rtt", (0.1 * 900 + 0.3 * 100) / 1000),
        ("loss_ratio", 200 / 1200),
        ("retransmits", 10),
        ("mean_cwnd", 20.0),
        ("p95_rtt", 0.2),
        ("jain", 36 / (2 * 20)),
    ],
)
def test_several_flows_become_one_number_in_one_way(name: str, value: float) -> None:
    assert NAMED[name].of_flows([SHORT, LATE]) == pytest.approx(value)


def test_a_run_has_the_same_numbers_under_keys_of_their_own() -> None:
    found = run_values([SHORT, LATE])
    assert found == pytest.approx(
        {
            "goodput_bps": 2e6, "goodput_per_flow_bps": 1e6, "active_goodput_per_flow_bps": 3e6, "retransmits": 10,
            "packets_sent": 1200, "mean_completion_s": 3.0, "completion_s": 4.0, "makespan_s": 5.0,
            "weighted_rtt_s": 0.12, "mean_rtt_s": 0.2, "p95_rtt_s": 0.2, "total_loss_ratio": 200 / 1200,
            "loss_ratio": 0.3, "jain": 0.9,
        }
    )  # fmt: skip


def test_summaries_of_older_versions_are_read_without_weights_and_counts() -> None:
    old = [{key: value for key, value in each.items() if not key.startswith("packets_")} for each in (SHORT, LATE)]
    assert NAMED["rtt"].of_flows(old) == pytest.approx(0.2)
    assert NAMED["loss_ratio"].of_flows(old) == pytest.approx(0.3)
    older = [{**each, "packets_delivered": weight} for each, weight in zip(old, (2700, 300), strict=True)]
    assert NAMED["rtt"].of_flows(older) == pytest.approx(0.12)
    del old[0]["size_bytes"]
    assert [each.key for each in default_measures(old[0])] == ["completion_s", "active_goodput_bps"]


def test_a_number_that_no_flow_has_is_named() -> None:
    with pytest.raises(NotMeasuredError, match="completion of endless is not known"):
        NAMED["completion"].of_flows([ENDLESS])
    with pytest.raises(NotMeasuredError, match="makespan"):
        NAMED["makespan"].of_flows([SHORT, ENDLESS])
    with pytest.raises(NotMeasuredError, match="short has 1 subflows, not 2"):
        NAMED["rtt"].of_flows([SHORT], 2)
    assert "makespan_s" in run_values([SHORT, ENDLESS])  # of flows with a size


def test_a_flow_with_a_size_shows_its_time_and_its_rate_while_active_first() -> None:
    assert [each.key for each in default_measures(SHORT)] == ["completion_s", "active_goodput_bps"]
    assert [each.key for each in default_measures(ENDLESS)] == ["goodput_bps"]
    assert [each.key for each in default_measures(SimpleNamespace(size_bytes=10))] == [
        "completion_s",
        "active_goodput_bps",
    ]
    assert [each.key for each in headline_measures([ENDLESS, SHORT])] == [
        "completion_s",
        "active_goodput_bps",
        "goodput_bps",
    ]
    assert [each.key for each in headline_measures([])] == ["goodput_bps"]
    assert (rate_measure(SHORT).key, rate_measure(ENDLESS).key) == ("active_goodput_bps", "goodput_bps")


def test_the_table_is_whole_and_other_languages_can_read_it() -> None:
    document = json.loads(json.dumps(as_document(str.upper)))
    assert document["measures"]["mean_rtt_s"]["title"] == "MEAN RTT"
    assert document["measures"]["mean_rtt_s"]["combine"]["keys"] == ["packets_acked", "packets_delivered"]
    assert document["run_measures"]["mean_rtt_s"]["combine"]["how"] == "mean"
    for table in (MEASURES, RUN_MEASURES):
        for key, each in table.items():
            assert each.over in PERIODS or not each.definition, key
            assert each.combine is None or each.combine.how in HOWS, key
            assert not each.of_run or each.of_run in RUN_MEASURES, key
            if each.of in ("flow", "subflow", "link"):
                assert each.definition.endswith("."), key


def test_a_key_tells_its_measure_and_its_owner() -> None:
    assert measure("flows.download/1.mean_rtt_s").text(0.0123) == "12.3"
    assert measure("flows.a.mean_rtt_s").of_parts([SHORT]) == 0.1
    assert (run_measure("mean_rtt_s").title, measure("mean_rtt_s").title) == ("RTT per flow", "Mean RTT")
    assert measure_title("flows.download.loss_ratio") == "download: Loss"
    assert measure_title("loss_ratio") == "Loss per flow"
    assert measure_title("links.wifi.loss") == "links.wifi.loss"
    assert measure("links.wifi.rate").unit == "Mbit/s"
    assert math.isclose(measure("links.wifi/forward.utilisation").scale, 100)


def test_notebooks_show_the_measures_of_the_table() -> None:
    for key, (heading, scale, decimals, of_sized) in NOTEBOOK.items():
        shown = MEASURES[key]
        assert (heading, scale, decimals) == (f"{shown.title}, {shown.unit}", shown.scale, shown.decimals)
        assert shown.default_for == {None: (), True: ("sized",), False: ("endless",)}[of_sized]


def test_a_key_of_the_summary_keeps_its_formula() -> None:
    """The core's numbers follow from bytes, packets and times, for a finished, a late and an endless flow."""
    simulation = Simulation(parse_scenario(FLOWS), sample_interval_s=0.01)
    simulation.run_until(10)
    delivered: dict[str, float] = {}
    before: dict[str, float] = {}
    for place, column in enumerate(simulation.columns):
        if (column.scope, column.name) == ("flow", "goodput_bps"):
            bytes_in_time = simulation.values(place).astype(float) * 0.01 / 8
            delivered[column.owner] = bytes_in_time[200:].sum()
            before[column.owner] = bytes_in_time[:200].sum()
    flows = {flow["name"]: flow for flow in simulation.summary()["flows"]}
    done = {mark.owner: mark.time_s for mark in simulation.take_marks() if mark.kind == "completed"}
    assert flows.keys() == {"early", "late", "endless"}
    assert done.keys() == {"early", "late"}
    for name, flow in flows.items():
        # Bytes divided by the whole measured interval, even if the flow was active in only a part of it.
        assert flow["goodput_bps"] == pytest.approx(8 * delivered[name] / 8.0, rel=1e-4)
        end_s = done.get(name, 10.0)
        assert flow["active_s"] == pytest.approx(end_s - max(2.0, flow["start_s"]))
        assert flow["active_goodput_bps"] == pytest.approx(flow["goodput_bps"] * 8.0 / flow["active_s"])
        assert flow["loss_ratio"] == flow["packets_lost"] / flow["packets_sent"]
        assert 0.9 * flow["packets_delivered"] < flow["packets_acked"] <= flow["packets_delivered"] + 50
    for name in done:
        assert flows[name]["completion_s"] == pytest.approx(done[name] - flows[name]["start_s"])
        assert delivered[name] + before[name] == pytest.approx(flows[name]["size_bytes"], rel=1e-4)
    assert flows["endless"]["completion_s"] is flows["endless"]["size_bytes"] is None
    found = run_values(list(flows.values()))
    assert found["jain"] == pytest.approx(simulation.summary()["fairness"]["jain"])
    assert found["makespan_s"] == pytest.approx(max(done.values()) - 1.0)
    rtts = [(flow["mean_rtt_s"], flow["packets_acked"]) for flow in flows.values()]
    weighted = sum(rtt * count for rtt, count in rtts) / sum(count for _, count in rtts)
    assert found["weighted_rtt_s"] == pytest.approx(weighted)
    assert min(rtt for rtt, _ in rtts) <= weighted <= max(rtt for rtt, _ in rtts)


def test_a_subflow_that_was_opened_again_keeps_its_acknowledged_packets() -> None:
    text = (
        FLOWS
        + """
[[events]]
at = "4s"
flow = "endless"
open = false
[[events]]
at = "5s"
flow = "endless"
open = true
"""
    )
    simulation = Simulation(parse_scenario(text))
    simulation.run_until(10)
    flow = simulation.summary()["flows"][2]
    assert flow["packets_acked"] == flow["subflows"][0]["packets_acked"]
    assert flow["packets_acked"] == pytest.approx(flow["packets_delivered"], abs=60)


def _retyped(tree: ast.AST) -> list[str]:
    """Columns of tables that repeat the title and the unit of a measure."""
    names = {
        text for each in (*MEASURES.values(), *RUN_MEASURES.values()) for text in (each.title, each.symbol) if text
    }
    units = {each.unit for each in MEASURES.values() if each.unit}
    found = []
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "").endswith("Column"):
            texts = [_text(each) for each in (*call.args, *(word.value for word in call.keywords))]
            if names.intersection(texts) and units.intersection(texts):
                found.append(f"{call.lineno}: {texts[0]}")
    return found


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("tr", "translatable") and node.args:
        node = node.args[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_no_table_types_the_title_and_unit_of_a_measure_again() -> None:
    again = {
        str(path.relative_to(APP)): found
        for path in sorted(APP.rglob("*.py"))
        if "vocabulary" not in path.parts and (found := _retyped(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert again == {}
    assert _retyped(ast.parse('NumberColumn(tr("Goodput"), value, show, "Mbit/s")')) == ["1: Goodput"]


def test_plots_have_the_units_of_the_table() -> None:
    for plot in PLOTS:
        for scope, key in plot.figures:
            known = RUN_MEASURES[key] if scope == "all" else MEASURES.get(key)
            if known is not None:
                unit = {"packets": "pkt"}.get(plot.unit, plot.unit)  # axes have room for the word
                assert (unit, plot.scale) == (known.unit, known.scale), plot.id


def test_the_guide_lists_the_measures_of_every_kind_from_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "measures.md").read_text(encoding="utf-8")
    listed = re.findall(r"^```{generated} definitions (\w+)$", page, re.MULTILINE)
    assert set(listed) == {each.of for each in (*MEASURES.values(), *RUN_MEASURES.values())}

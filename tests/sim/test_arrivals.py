"""Flows that arrive during a run: their number, times, lifetimes and names."""

from __future__ import annotations

from typing import Any

import pytest
from tests.helpers.networks import run

from subflow_sim import parse_scenario
from subflow_sim.lowering import lower
from subflow_sim.scenario import Scenario

TEXT = """
format = 1
duration = "150s"
nodes = { a = {}, b = {} }
[links]
l = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms", queue = "40pkt" }
m = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms", queue = "40pkt" }
[flows.download]
kind = "mptcp"
from = "a"
to = "b"
arrivals = { gap = "10s", lifetime = "30s" }
"""


def read(*overrides: str, text: str = TEXT) -> Scenario:
    return parse_scenario(text, overrides=overrides)


def summary_of(scenario: Scenario) -> dict[str, Any]:
    return run(scenario).summary()


def test_flows_come_one_after_the_other_and_live_as_long_as_they_are_said_to():
    flows = summary_of(read())["flows"]
    assert [flow["name"] for flow in flows] == [f"download.{n}" for n in range(1, len(flows) + 1)]
    starts = [flow["start_s"] for flow in flows]
    assert starts == sorted(starts)
    assert 0 < starts[0] < starts[-1] < 150
    for flow in flows:
        # Packets in flight at the stop arrive within some round trips of 40 ms and 60 ms of queue.
        assert flow["active_s"] == pytest.approx(min(30.0, 150.0 - flow["start_s"]), abs=0.5)
        assert flow["goodput_bps"] * 150 == pytest.approx(flow["active_goodput_bps"] * flow["active_s"])
        assert len(flow["subflows"]) == 2


def test_how_many_come_is_up_to_the_seed_of_the_run():
    scenario = read()
    counts = [len(lower(scenario, seed).flows) for seed in range(200)]
    # Poisson with mean 150 / 10 = 15: deviation of the mean sqrt(15 / 200) = 0.27, of the variance 1.5.
    mean = sum(counts) / len(counts)
    assert mean == pytest.approx(15, abs=1.1)
    assert sum((count - mean) ** 2 for count in counts) / len(counts) == pytest.approx(15, abs=6)
    assert len(lower(scenario).flows) == counts[1]  # the scenario's own seed
    assert len(lower(read("seed=2"), 1).flows) == counts[1]


def test_the_same_seed_brings_the_same_flows_and_another_one_others():
    scenario = read("duration=40s")
    assert run(scenario).signature() == run(scenario, seed=1).signature() != run(scenario, seed=2).signature()


def test_a_limit_keeps_the_first_ones():
    unlimited = summary_of(read())["flows"]
    limited = summary_of(read("flows.download.arrivals.limit=3"))["flows"]
    assert [flow["start_s"] for flow in limited] == [flow["start_s"] for flow in unlimited[:3]]


def test_a_size_ends_flows_as_well_as_a_lifetime():
    text = TEXT.replace('arrivals = { gap = "10s", lifetime = "30s" }', 'size = "1MB"\narrivals = { gap = "10s" }')
    flows = summary_of(read(text=text))["flows"]
    complete = [flow for flow in flows if flow["completion_s"] is not None]
    assert len(complete) >= len(flows) - 1
    for flow in complete:
        assert flow["active_s"] == pytest.approx(flow["completion_s"])
        assert flow["active_goodput_bps"] == pytest.approx(8e6 / flow["completion_s"])


def test_start_and_stop_bound_the_arrivals_and_what_they_send():
    flows = summary_of(read("flows.download.start=50s", "flows.download.stop=100s"))["flows"]
    assert flows
    for flow in flows:
        assert 50 < flow["start_s"] < 100
        assert flow["start_s"] + flow["active_s"] < 100.5


def test_a_run_to_which_nobody_comes_has_figures_all_the_same():
    summary = summary_of(read("flows.download.arrivals.gap=1e6s", "duration=10s"))
    assert summary["flows"] == []
    assert summary["packets"] == 0
    assert summary["fairness"] == {"jain": None}
    assert summary["links"][0]["utilisation"] == 0


def test_fairness_compares_flows_by_what_they_got_while_they_were_there():
    """Each of two flows without competition gets the full path; a lifetime three times as long is not unfair."""
    # The tiny transfer ends within the warm-up, and the constant rate does not share capacity: neither counts.
    text = f"""{TEXT.partition("[flows")[0]}
[flows]
long = {{ kind = "tcp", from = "a", to = "b", paths = [["l"]] }}
short = {{ kind = "tcp", from = "a", to = "b", paths = [["m"]], stop = "30s" }}
never = {{ kind = "tcp", from = "a", to = "b", size = "1kB" }}
noise = {{ kind = "cbr", from = "a", to = "b", rate = "1kbit/s" }}
"""
    assert summary_of(read("warmup=5s", "duration=100s", text=text))["fairness"]["jain"] == pytest.approx(1, abs=0.01)


def test_an_event_can_name_one_of_several_copies():
    event = '[[events]]\nat = "10s"\nflow = "{}"\nsubflow = 2\nopen = false\n'
    text = TEXT.replace('arrivals = { gap = "10s", lifetime = "30s" }', "count = 3")

    def closed(flow: str) -> list[tuple[float, str]]:
        marks = run(read("duration=20s", text=text + event.format(flow))).take_marks()
        return [(mark.time_s, mark.owner) for mark in marks if mark.kind == "closed"]

    assert closed("download.2") == [(10.0, "download.2/2")]
    assert closed("download") == [(10.0, f"download.{n}/2") for n in (1, 2, 3)]


def test_an_event_of_a_flow_that_did_not_arrive_does_nothing():
    event = '[[events]]\nat = "20s"\nflow = "download.{}"\nopen = false\n'
    scenario = read("duration=30s", text=TEXT + event.format(9999))
    assert not any(mark.kind == "closed" for mark in run(scenario).take_marks())

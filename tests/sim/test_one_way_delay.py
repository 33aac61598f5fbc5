"""One-way delay, jitter and reordering from the key of a flow to the summary and the traces of a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import column

from subflow_sim import ScenarioError, Simulation, parse_scenario

LIVE = """
format = 1
duration = "6s"
warmup = "1s"
profile = "textbook"
nodes = { server = {}, client = {} }
[links.wifi]
ends = ["server", "client"]
rate = "10Mbit/s"
delay = "20ms"
[links.wifi.reverse]
delay = "5ms"
[links.lte]
ends = ["server", "client"]
rate = "10Mbit/s"
delay = "50ms"
[flows.voice]
kind = "cbr"
from = "server"
to = "client"
rate = "100kbit/s"
packet = "250B"
paths = [["wifi"]]
[flows.live]
kind = "mptcp"
from = "server"
to = "client"
paths = [["wifi"], ["lte"]]
start = "5s"
stop = "5.5s"
"""
KEYS = {
    *("mean_one_way_delay_s", "p95_one_way_delay_s", "max_one_way_delay_s", "mean_jitter_s"),
    *("reordered_packets", "reordered_ratio", "max_reorder_extent_pkts"),
    *("mean_ack_delay_s", "p95_ack_delay_s", "max_ack_delay_s"),
}
COLUMNS = {"one_way_delay_s", "jitter_s", "reordered_pkts", "ack_delay_s"}


def finished(*overrides: str, until_s: float = 6.0) -> Simulation:
    simulation = Simulation(parse_scenario(LIVE, overrides=overrides))
    simulation.run_until(until_s)
    simulation.check_invariants()
    return simulation


def flows_of(simulation: Simulation) -> dict[str, Any]:
    return {flow["name"]: flow for flow in simulation.summary()["flows"]}


def test_a_lone_voice_flow_has_the_delay_of_its_path() -> None:
    simulation = finished("flows.voice.one_way_delay=true", until_s=5.0)
    voice = flows_of(simulation)["voice"]
    # 250 bytes at 10 Mbit/s and 20 ms
    for key in ("mean_one_way_delay_s", "p95_one_way_delay_s", "max_one_way_delay_s"):
        assert voice[key] == pytest.approx(0.0202, abs=1e-12)
    assert voice["mean_jitter_s"] == voice["reordered_packets"] == voice["reordered_ratio"] == 0
    assert voice["max_reorder_extent_pkts"] == 0
    assert voice["mean_ack_delay_s"] is voice["p95_ack_delay_s"] is voice["max_ack_delay_s"] is None
    np.testing.assert_allclose(column(simulation, "one_way_delay_s", "voice"), 0.0202, rtol=1e-6)
    assert {each.name for each in simulation.columns if each.owner == "voice"} & COLUMNS == COLUMNS - {"ack_delay_s"}


def test_each_path_of_a_connection_has_delays_of_both_directions() -> None:
    simulation = finished("flows.live.one_way_delay=true")
    live = flows_of(simulation)["live"]
    wifi, lte = live["subflows"]
    assert 0.0212 <= wifi["mean_one_way_delay_s"] < wifi["p95_one_way_delay_s"] <= wifi["max_one_way_delay_s"] < 0.4
    assert lte["mean_one_way_delay_s"] >= 0.0512
    # The way back carries only ACKs of 52 bytes, which never wait for each other.
    assert wifi["mean_ack_delay_s"] == pytest.approx(0.005 + 52 * 8 / 10e6, abs=1e-12)
    assert lte["max_ack_delay_s"] == pytest.approx(0.05 + 52 * 8 / 10e6, abs=1e-12)
    delivered = [each["packets_delivered"] for each in (wifi, lte)]
    means = [each["mean_one_way_delay_s"] for each in (wifi, lte)]
    assert live["mean_one_way_delay_s"] == pytest.approx(np.average(means, weights=delivered))
    delays = column(simulation, "one_way_delay_s", "live/1")
    # Samples before the start and after the last arrival have no delays.
    assert np.isnan(delays[:50]).all()
    assert np.isfinite(delays[50:55]).all()
    assert np.isnan(delays[-1])


def test_without_the_key_a_run_tells_nothing_about_delays() -> None:
    simulation = finished()
    assert not {each.name for each in simulation.columns} & COLUMNS
    for flow in flows_of(simulation).values():
        assert not flow.keys() & KEYS
        assert not any(each.keys() & KEYS for each in flow["subflows"])
    measured = finished("flows.voice.one_way_delay=true", "flows.live.one_way_delay=true")
    assert measured.signature() == simulation.signature()
    assert all(flow.keys() >= KEYS for flow in flows_of(measured).values())


def test_a_fork_measures_on_from_its_snapshot() -> None:
    simulation = finished("flows.live.one_way_delay=true", until_s=5.2)
    fork = simulation.fork()
    for each in (simulation, fork):
        each.run_until(6.0)
    assert fork.summary() == simulation.summary()
    for place in range(len(simulation.columns)):
        np.testing.assert_array_equal(fork.values(place), simulation.values(place))


@for_each("value", ["1", "yes", "20ms"])
def test_the_key_is_true_or_false(value: str) -> None:
    with pytest.raises(ScenarioError, match=r"one_way_delay.*true or false"):
        finished(f"flows.voice.one_way_delay={value}")

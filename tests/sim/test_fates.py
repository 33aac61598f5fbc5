"""Fates of packets: each drop and each mark is recorded once, and recording does not change the run."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_sim.errors import ParamError
from subflow_sim.fates import FATES, SIGNS
from subflow_sim.scenario import Scenario, parse_scenario
from subflow_sim.shipped import shipped_scenarios
from subflow_sim.simulation import Simulation

# Counters in the summary of a link, by fate.
COUNTERS = {
    "queue_full": "drops_queue",
    "queue_law": "drops_queue",
    "random": "drops_random",
    "collision": "drops_random",
    "down": "drops_down",
    "scripted": "drops_scripted",
    "marked": "marks",
}
HIDDEN = """
format = 1
duration = "6s"
[nodes]
a = {}
b = {}
[links.radio]
ends = ["a", "b"]
rate = "20Mbit/s"
delay = "1ms"
queue = "100pkt"
access = { medium = "hall", group = "west" }
[links.other]
ends = ["a", "b"]
rate = "20Mbit/s"
delay = "1ms"
queue = "100pkt"
access = { medium = "hall", group = "east" }
[flows.download]
kind = "mptcp"
from = "a"
to = "b"
paths = [["radio"], ["other"]]
"""
QUIET = TWO_PATHS.replace('loss = "2%"', "")
CODEL = QUIET.replace('queue = "67pkt"', 'queue = { discipline = "codel", limit = "300pkt" }')
DUALPI = QUIET.replace('queue = "67pkt"', 'queue = { discipline = "dualpi2", limit = "300pkt" }').replace(
    'kind = "mptcp"', 'kind = "mptcp"\ncontroller = { name = "uncoupled", base = "dctcp" }'
)
OUTAGE = (
    TWO_PATHS + '[[events]]\nat = "3s"\nlink = "wifi"\nup = false\n[[events]]\nat = "5s"\nlink = "wifi"\nup = true\n'
)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (TWO_PATHS, {"queue_full", "random"}),
        (CODEL, {"queue_law"}),
        (DUALPI, {"marked"}),
        (OUTAGE, {"queue_full", "random", "down"}),
        (HIDDEN, {"collision"}),
        (TWO_PATHS.replace('loss = "2%"', 'drops = ["download/1:40", "download/1:80"]'), {"scripted", "queue_full"}),
    ],
    ids=["plain", "codel", "dualpi2", "outage", "hidden stations", "scripted"],
)
def test_each_drop_of_the_only_flow_is_recorded(text: str, kinds: set[str]) -> None:
    scenario = parse_scenario(text, overrides=["warmup=0s"])
    simulation = recorded(scenario, 6.0)

    counted: Counter[tuple[str, str]] = Counter()
    for each in simulation.fates():
        counted[each.link, COUNTERS[each.fate]] += 1
    for link in simulation.summary()["links"]:
        owner = f"{link['name']}/{link['direction']}"
        for counter in {*COUNTERS.values()}:
            # A few packets of handshakes may be dropped, too, and are not recorded.
            assert 0 <= link[counter] - counted[owner, counter] <= 5, (owner, counter)
    assert kinds <= {each.fate for each in simulation.fates()}
    assert simulation.fates_lost == 0


@pytest.mark.parametrize("name", ["demo", "lte-walk", "aqm-fq-codel", "why-dualpi2", "wifi-conference", "rlx-training"])
def test_recording_does_not_change_a_run(name: str) -> None:
    from subflow_sim.scenario import load_scenario

    scenario = load_scenario(shipped_scenarios()[name])
    plain = Simulation(scenario)
    plain.run_until(5.0)
    assert recorded(scenario, 5.0).signature() == plain.signature()


def test_each_loss_of_a_reliable_path_is_a_drop_and_is_noticed_later() -> None:
    simulation = recorded(parse_scenario(TWO_PATHS), 20.0)
    losses = simulation.losses()

    assert len(losses) > 50
    for each in losses:
        assert each.sign in SIGNS
        assert each.fate in FATES
        assert each.is_dropped
        assert each.fate_s is not None
        assert each.sent_s <= each.fate_s < each.time_s
    assert [each.time_s for each in losses] == sorted(each.time_s for each in losses)


def test_beyond_the_capacity_packets_are_counted() -> None:
    simulation = Simulation(parse_scenario(TWO_PATHS))
    simulation.record_fates("download", capacity=10)
    simulation.run_until(5.0)
    assert len(simulation.fates()) <= 10
    assert simulation.fates_lost > 100


def test_an_unknown_flow_and_a_capacity_of_zero_are_refused() -> None:
    simulation = Simulation(parse_scenario(TWO_PATHS))
    with pytest.raises(ParamError, match='unknown flow "upload"'):
        simulation.record_fates("upload")
    with pytest.raises(ParamError, match="capacity of fates is 0"):
        simulation.record_fates("download", capacity=0)


def recorded(scenario: Scenario, until_s: float) -> Simulation:
    simulation = Simulation(scenario)
    simulation.record_fates(next(iter(scenario.flows.values())).instances[0])
    simulation.run_until(until_s)
    return simulation

"""The list of the random parts of a scenario: it is never too short, so that "deterministic" is true."""

from __future__ import annotations

import pytest
from tests.helpers.networks import run

from subflow_sim import parse_scenario
from subflow_sim.catalog import catalog_with
from subflow_sim.luck import random_parts
from subflow_sim.policy_library import PolicyLibrary, shipped_policies
from subflow_sim.whole_scenario import Scenario

TWO_PATHS = """
format = 1
duration = "8s"
nodes = { a = {}, b = {} }
links.wifi = { ends = ["a", "b"], rate = "8Mbit/s", delay = "20ms", queue = "30pkt" }
links.lte = { ends = ["a", "b"], rate = "4Mbit/s", delay = "40ms", queue = "30pkt" }

[flows.f]
kind = "mptcp"
from = "a"
to = "b"
paths = [["wifi"], ["lte"]]
controller = "lia"
"""
"""Two paths, on which nothing is random."""
CATALOG = catalog_with(PolicyLibrary((shipped_policies(),)))
NAMES = CATALOG.controllers_for(is_multipath=True)


def scenario(*overrides: str, text: str = TWO_PATHS) -> Scenario:
    return parse_scenario(text, overrides=overrides, algorithms=CATALOG)


def signatures(made: Scenario) -> set[str]:
    """Signatures of the runs with two seeds."""
    return {run(made, seed=seed).signature() for seed in (1, 2)}


@pytest.mark.parametrize("name", NAMES)
def test_a_controller_said_to_draw_nothing_gives_one_run_for_all_seeds(name: str) -> None:
    made = scenario(f"flows.f.controller={name}")
    if not random_parts(made):
        assert len(signatures(made)) == 1


def test_the_classic_controllers_draw_nothing_and_those_that_probe_at_random_do() -> None:
    drawing = {name for name in NAMES if random_parts(scenario(f"flows.f.controller={name}"))}
    assert drawing.isdisjoint({"newreno", "cubic", "lia", "olia", "balia", "wvegas"})
    assert {"bbr", "bbr3", "vivace", "mpcc-loss"} <= drawing
    assert random_parts(scenario('flows.f.controller={ name = "uncoupled", base = "bbr" }')) == ("flows.f.controller",)


CHANGES = {
    "start_jitter=100ms": "start_jitter",
    "links.wifi.loss=1%": "links.wifi.loss",
    'links.wifi.queue={ discipline = "red", limit = "30pkt", min = "5pkt", max = "20pkt" }': "links.wifi.queue",
    'links.lte.jitter={ spread = "5ms" }': "links.lte.jitter",
    'links.lte.outages={ up = "2s", down = "500ms" }': "links.lte.outages",
    'links.lte.retransmission={ loss = "5%", delay = "8ms" }': "links.lte.retransmission",
    'events=[{ at = "2s", link = "wifi", loss = "2%" }]': "events[0].loss",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_draws_is_named_and_makes_seeds_count(change: str) -> None:
    made = scenario(change)
    assert random_parts(made) == (CHANGES[change],)
    assert len(signatures(made)) == 2


TRAFFIC = """
[flows.g]
kind = "onoff"
from = "a"
to = "b"
paths = [["lte"]]
rate = "2Mbit/s"
on = "1s"
off = "1s"
"""


def test_random_traffic_is_named() -> None:
    assert random_parts(scenario(text=TWO_PATHS + TRAFFIC)) == ("flows.g.on",)
    poisson = TRAFFIC.replace("onoff", "cbr").replace('on = "1s"\noff = "1s"', 'spacing = "poisson"')
    assert random_parts(scenario(text=TWO_PATHS + poisson)) == ("flows.g.spacing",)

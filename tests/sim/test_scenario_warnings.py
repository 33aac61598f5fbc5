"""Warnings are computed from the values of a scenario, and the predicted effects occur."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.networks import link, mptcp, run, scenario

from subflow_sim.scenario_model import Choice, Event
from subflow_sim.scenario_warnings import scenario_warnings
from subflow_sim.whole_scenario import Scenario

MPCC_RATE = Choice("mpcc-rate")


def many_paths(count: int, controller: str | Choice = "mpcc-loss", rate_bps: float = 5e6) -> Scenario:
    links = [link(f"p{i}", rate_bps=rate_bps, delay_s=0.02, queue_pkts=50) for i in range(count)]
    flow = mptcp("d", [each.name for each in links], controller, scheduler=MPCC_RATE)
    return scenario(links, [flow], duration_s=30, warmup_s=15, profile="linux")


def test_probes_that_are_wider_than_a_path_are_warned_of_with_the_way_out() -> None:
    (told,) = scenario_warnings(many_paths(24))
    assert told == (
        'flow "d": mpcc-loss tries rates 6Mbit/s above its own, 5% of the total of its paths, where path p0 carries '
        "5Mbit/s: its trials overload that; a probe of 2.1% suits these paths, and the usual one fewer of them"
    )


@pytest.mark.parametrize("controller", ["mpcc-loss", "mpcc-latency"])
def test_it_is_a_matter_of_rates_and_not_of_a_number_of_paths(controller: str) -> None:
    # 5 % of 17 equal paths are 0.85 of one path, of 18 paths 0.9.
    assert not scenario_warnings(many_paths(17, controller))
    assert scenario_warnings(many_paths(18, controller, rate_bps=1e8))
    assert not scenario_warnings(many_paths(24, Choice(controller, {"probe": 0.021})))
    assert scenario_warnings(many_paths(11, Choice(controller, {"probe": 0.1})))
    # Two paths suffice if one has a twentieth of both rates.
    uneven = [link("a", rate_bps=1e8), link("b", rate_bps=4e6)]
    unlike = scenario(uneven, [mptcp("d", ["a", "b"], controller, scheduler=MPCC_RATE)], duration_s=9)
    assert "path b carries 4Mbit/s" in scenario_warnings(unlike)[0]
    # Subflows over one link share it, with or without other flows.
    shared = scenario([link("a")], [mptcp("d", ["a"] * 24, controller, scheduler=MPCC_RATE)], duration_s=9)
    assert "tries rates 500kbit/s above its own" in scenario_warnings(shared)[0]


def test_others_are_not_warned_of_unless_an_event_brings_mpcc() -> None:
    for controller in ("lia", "bbr", "vivace"):
        assert not scenario_warnings(many_paths(24, controller if controller == "lia" else "uncoupled"))
    later = many_paths(24, "lia")
    change = Event(3.0, flow="d", controller=Choice("mpcc-loss"))
    assert len(scenario_warnings(replace(later, events=(change,)))) == 1


@pytest.mark.parametrize(
    ("controller", "scheduler", "told"),
    [
        ("dql-mptcp", "minrtt", "dql-mptcp was designed for the scheduler goodput but runs with minrtt"),
        ("dql-mptcp", "goodput", ""),
        ("mpcc-latency", "roundrobin", "designed for the scheduler mpcc-rate but runs with roundrobin"),
        ("lia", "roundrobin", ""),
    ],
)
def test_a_controller_without_the_scheduler_that_it_was_made_for_is_warned_of(
    controller: str, scheduler: str, told: str
) -> None:
    def warned(*paths: str) -> str:
        flow = mptcp("d", paths, controller, scheduler=Choice(scheduler))
        return "".join(scenario_warnings(scenario([link(path) for path in paths], [flow], duration_s=9)))

    assert bool(warned("a", "b")) is bool(told)
    assert told in warned("a", "b")
    # On one path the scheduler has no choice.
    assert not warned("a")


def test_what_is_warned_of_happens_and_the_way_out_helps() -> None:
    def loss(controller: str | Choice) -> float:
        ratio: float = run(many_paths(24, controller)).summary()["flows"][0]["loss_ratio"]
        return ratio

    # Measured: 24 % and 0.0 %.
    assert loss("mpcc-loss") > 0.15
    assert loss(Choice("mpcc-loss", {"probe": 0.021})) < 0.02

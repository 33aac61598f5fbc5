"""Outages, hand-overs, grants, repetition and shared airtime, from the file to the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import goodputs, run

from subflow_sim import _core
from subflow_sim.errors import ScenarioError
from subflow_sim.lowering import lower
from subflow_sim.scenario import Access, Grants, Handover, Outages, Retransmission, load_scenario, parse_scenario

LINK = """format = 1
duration = "20s"
profile = "textbook"
nodes = { a = {}, b = {} }
links.l = { ends = ["a", "b"], rate = "10Mbit/s", delay = "20ms", queue = "100pkt" }
flows.f = { kind = "cbr", from = "a", to = "b", rate = "8Mbit/s" }
"""


def summary(*overrides: str, text: str = LINK) -> dict[str, Any]:
    return run(parse_scenario(text, overrides=overrides)).summary()


def two_links(rate: str, *tables: str, more: Sequence[str] = ()) -> dict[str, Any]:
    """A summary of two links with a flow each; these tables configure their stations, and `more` overrides the rest."""
    text = LINK.replace('rate = "8Mbit/s"', f'rate = "{rate}", paths = [["l"]]')
    copies = [line.replace("s.l", "s.m").replace("s.f", "s.g").replace('"l"', '"m"') for line in text.splitlines()[-2:]]
    overrides = [f"links.{name}.access={{ {table} }}" for name, table in zip("lm", tables, strict=True)]
    return summary(*overrides, *more, text="\n".join((text, *copies)))


@for_each(("airtime", "overhead"), [("1ms", "0s"), ("5ms", "0s"), ("5ms", "100us")])
def test_terminals_of_a_cell_share_its_time_by_default(airtime: str, overhead: str) -> None:
    table = f"medium = 'm', kind = 'cell', airtime = '{airtime}', overhead = '{overhead}'"
    rates = ("links.l.rate=40Mbit/s", "links.m.rate=10Mbit/s", "links.l.queue=400pkt", "links.m.queue=400pkt")
    fast, slow = (flow["goodput_bps"] for flow in two_links("45Mbit/s", table, table, more=rates)["flows"])
    # Half of 40 and 10 Mbit/s without the headers: a packet that exceeds an airtime shortens the next one.
    assert fast / slow == pytest.approx(4, rel=0.02)
    used = 5 / 5.1 if overhead == "100us" else 1
    assert fast / 40e6 + slow / 10e6 == pytest.approx(1472 / 1500 * used, rel=0.02)


def test_a_direction_has_what_its_tables_say():
    overrides = (
        *("links.l.retransmission.loss=10%", "links.l.grants.period=10ms"),
        "links.l.outages={ up = '2s', down = '100ms', queue = 'kept' }",
        "links.l.handover={ period = '15s', offset = '12s', gap = '80ms', delay = '10ms', rate = '50%' }",
    )
    side = parse_scenario(LINK, overrides=overrides).links["l"].forward
    assert side.retransmission == Retransmission(0.1, 0.008, 4)
    assert side.outages == Outages(2.0, 0.1, "kept")
    assert side.handover == Handover(15.0, 12.0, 0.08, 0.01, 0.5)
    assert side.grants == Grants(0.01, 0.0)
    access = parse_scenario(LINK, overrides=["links.l.access.medium=air"]).links["l"].reverse.access
    assert access == Access("air", "wifi", 1, 0.005, 1e-4, 15, 1023)


def test_an_outage_loses_or_keeps_what_waits_as_it_says():
    """A fifth of the time without service: the outages are the same with and without the queue."""
    down = "links.l.outages={ up = '800ms', down = '200ms' }"
    lost = summary(down)["links"][0]
    kept = summary(down, "links.l.outages.queue=kept", "links.l.queue=unlimited")["links"][0]
    assert lost["drops_down"] > 0.1 * 20 * 8e6 / 12_000
    assert kept["drops_down"] == kept["drops_queue"] == 0
    spans = _core.random_outages("l", 1, 800_000_000, 200_000_000, 20_000_000_000)
    inside = sum(min(end, 20_000_000_000) - start for start, end in spans) * 1e-9
    # packets in an outage are lost, and the queue at its begin: almost no packets at 8 of 10 Mbit/s
    assert lost["drops_down"] == pytest.approx(inside * 8e6 / 12_000, abs=3 * len(spans))


def test_another_seed_has_other_outages():
    down = "links.l.outages={ up = '800ms', down = '200ms' }"
    assert summary(down)["links"][0]["drops_down"] == summary(down)["links"][0]["drops_down"]
    assert summary(down, "seed=2")["links"][0]["drops_down"] != summary(down)["links"][0]["drops_down"]


def test_a_hand_over_is_a_gap_every_period():
    """Every 5 s no service for 500 ms: the queue grows to 8 Mbit/s x 0.5 s and drains at 2 Mbit/s, for two seconds."""
    gaps = summary("links.l.handover={ period = '5s', offset = '5s', gap = '500ms' }", "links.l.queue=unlimited")
    # 4e6 bits in packets of 12000 bits, plus the packet in service
    assert gaps["links"][0]["max_queue_pkts"] == pytest.approx(4e6 / 12_000, abs=3)
    # three triangles of 2.5 s and a mean of half the peak, in 20 s
    assert gaps["links"][0]["mean_queue_pkts"] == pytest.approx(3 * 2.5 * 333 / 2 / 20 + 0.8, rel=0.05)


def test_rate_and_delay_after_a_hand_over_are_within_what_it_says():
    handover = "links.l.handover={ period = '1s', delay = '30ms', rate = '40%' }"
    simulation = run(parse_scenario(LINK, overrides=[handover, "flows.f.rate=1Mbit/s"]))
    marks = [mark for mark in simulation.take_marks() if mark.kind == "link_change"]
    assert len(marks) == 2 * 20  # both directions
    draws = [_core.draw("handover rate l", 1, number) for number in range(20)]
    assert min(draws) < 0.2
    assert max(draws) > 0.8


def test_repetition_makes_a_link_late_instead_of_lossy():
    repeated = summary("links.l.retransmission={ loss = '20%', attempts = 2 }", "flows.f.rate=1Mbit/s")["links"][0]
    packets = 20 * 1e6 / 12_000
    # 0.2^2 of the packets; three standard errors
    assert repeated["drops_random"] == pytest.approx(0.04 * packets, abs=3 * (packets * 0.04 * 0.96) ** 0.5)


def test_links_that_name_a_medium_share_it():
    """Two directions with two stations each would have 10 Mbit/s; at one shared medium each has half."""

    def rates(*media: str) -> list[float]:
        tables = [f"medium = '{name}', kind = 'cell', airtime = '0s', overhead = '0s'" for name in media]
        return [flow["goodput_bps"] * 1500 / 1472 for flow in two_links("9Mbit/s", *tables)["flows"]]

    assert rates("here", "there") == pytest.approx([9e6, 9e6], rel=0.01)
    assert rates("here", "here") == pytest.approx([5e6, 5e6], rel=0.02)


@for_each(
    ("overrides", "message"),
    [
        (["links.l.outages.up=1s"], "links.l.outages.down: missing"),
        (["links.l.outages={ up = '0s', down = '1s' }"], "links.l.outages.up"),
        (["links.l.outages={ up = '1ms', down = '1ms' }", "duration=1000s"], "about 500000 outages in the run"),
        (["links.l.handover={ period = '1s', gap = '1s' }"], "links.l.handover.gap: not shorter than the period"),
        (["links.l.handover.rate=50%", "links.l.rate=unlimited"], "no rate that is always the same"),
        (["links.l.grants={ period = '1ms', jitter = '2ms' }"], "links.l.grants.jitter: longer than a period"),
        (["links.l.grants.period=1ms", "links.l.rate=unlimited"], "links.l.grants: the link has no rate"),
        (["links.l.grants.period=1ms", "links.l.bucket.burst=9kB"], "links.l.grants: the link has a token bucket"),
        (["links.l.retransmission={ loss = 0.5, delay = '0.1s', attempts = 100 }"], "links.l.retransmission.attempts"),
        (["links.l.access.kind=wifi"], "links.l.access.medium: missing"),
        (["links.l.access={ medium = 'x', kind = 'token' }"], "unknown"),
        (["links.l.access={ medium = 'x', window_min = 2000 }"], "larger than window_max"),
        (["links.l.access.medium=x", "links.l.bucket.burst=9kB"], "its medium sets when it sends"),
        (["links.l.access.medium=x", "links.l.queue={ discipline = 'red' }"], "the queue is red"),
        (["links.l.access.medium=x", "links.l.outages={ up = '1s', down = '1s', queue = 'kept' }"], 'allowed: "lost"'),
        (["links.l.access.medium=x", "links.l.handover.gap=1ms"], "which has no gaps"),
        (["links.l.access.medium=x y"], "not a name"),
        (["links.l.access={ medium = 'x', kind = 'cell', group = 'a' }"], "need not hear each other"),
        (["links.l.access={ medium = 'x', group = 'a b' }"], "not a name"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_key_and_what_is_allowed(overrides, message):
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(LINK, overrides=overrides)
    [problem] = caught.value.problems
    assert message in f"{problem.key}: {problem.message}; allowed: {problem.allowed}"


def test_what_is_wrong_with_the_way_back_alone_is_told_there():
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(LINK, overrides=["links.l.bucket.burst=9kB", "links.l.reverse.bucket.burst=1kB"])
    assert [problem.key for problem in caught.value.problems] == ["links.l.reverse.bucket.burst"]


def test_both_directions_fail_together_and_a_run_is_that_of_its_seed():
    scenario = parse_scenario(LINK, overrides=["links.l.outages={ up = '1s', down = '1s' }"])
    assert lower(scenario, 5).links == ("l/forward", "l/reverse")
    downs = [mark.time_s for mark in run(scenario).take_marks() if mark.kind == "link_down"]
    assert len(downs) > 4
    assert downs[::2] == downs[1::2]


def test_a_hand_over_to_a_longer_delay_makes_bbr_drop_packets_as_the_scenario_says():
    def starlink(*overrides: str) -> dict[str, Any]:
        return run(load_scenario("starlink", overrides=["flows.download.controller=bbr", *overrides])).summary()

    changing, alike = starlink(), starlink("links.starlink.handover.delay=0s")
    assert changing["links"][0]["drops_queue"] == pytest.approx(1572, rel=0.05)
    assert alike["links"][0]["drops_queue"] == 0
    cubic = starlink("flows.download.controller=cubic")
    assert cubic["flows"][0]["goodput_bps"] < changing["flows"][0]["goodput_bps"] / 2


def test_stations_of_different_groups_do_not_hear_each_other():
    """With constant windows, a frame of time T is heard with probability E[(I - T)+] / E[I + T] of idle times I."""

    def packets_per_s(*groups: str) -> list[float]:
        windows = "overhead = '100us', window_min = 1023, window_max = 1023"
        tables = [f"medium = 'hall', group = '{group}', {windows}" for group in groups]
        return [flow["goodput_bps"] / 8 / 1472 for flow in two_links("12Mbit/s", *tables)["flows"]]

    frame_s = 100e-6 + 12_000 / 10e6
    idle_s = [34e-6 + slots * 9e-6 for slots in range(1024)]
    cycle_s = sum(idle_s) / 1024 + frame_s
    heard = sum(max(idle - frame_s, 0.0) for idle in idle_s) / 1024 / cycle_s
    assert packets_per_s("east", "west") == pytest.approx([heard / cycle_s] * 2, rel=0.05)
    assert min(packets_per_s("east", "east")) > 1.2 * heard / cycle_s


def test_who_sends_for_as_long_as_others_is_not_slowed_down_by_them():
    """Høiland-Jørgensen et al. 2017: equal airtime gives the fast station several times its rate under the anomaly."""

    def home(*overrides: str) -> list[float]:
        return list(goodputs(run(load_scenario("wifi-home", overrides=overrides))).values())

    laptop, phone = home()
    single, slow = home("links.wifi-laptop.access.aggregation=1", "links.wifi-phone.access.aggregation=1")
    assert single == pytest.approx(slow, rel=0.35)  # a packet each
    assert laptop > 4 * phone  # 5.5 ms each

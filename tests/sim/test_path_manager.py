"""Late addresses, refused subflows, limits: RFC 8684 section 3.4, Linux's path manager."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.helpers.networks import link, mptcp, run, scenario

from subflow_sim import Simulation
from subflow_sim.packets import HANDSHAKE, RECEIVER, SENDER
from subflow_sim.scenario_model import Choice, Event, Link
from subflow_sim.trace import Mark

ADD_ADDR, ECHO, REMOVE_ADDR, RESET = 5, 4, 7, 9
SMALL = 52 * 8
"""Bits of a packet without payload."""

# Reverse directions are pure delays: an announcement takes 20 ms by the first path, with any queue.
FIRST = link("first", rate_bps=10e6, delay_s=0.02, queue_pkts=50)
SECOND = link("second", rate_bps=10e6, delay_s=0.05, queue_pkts=100)
THIRD = link("third", rate_bps=10e6, delay_s=0.01, queue_pkts=50)


def started(
    events: Sequence[Event],
    *,
    links: Sequence[Link] = (FIRST, SECOND),
    duration_s: float = 6,
    transport: dict[str, Any] | None = None,
    profile: Any = "linux",
    late: tuple[int, ...] = (2,),
    **values: Any,
) -> Simulation:
    """A connection over these links whose second path is unknown at the start, with all its packets captured."""
    flow = mptcp("flow", [each.name for each in links], "uncoupled", late=late, **values)
    given = scenario(links, [flow], duration_s=duration_s, profile=profile, events=events, transport=transport)
    simulation = Simulation(given)
    simulation.capture_packets("flow")
    simulation.run_until(duration_s)
    return simulation


def announced(at_s: float, is_there: bool = True, subflow: int = 2) -> Event:
    return Event(at_s, flow="flow", subflow=subflow, announce=is_there)


def marks_of(simulation: Simulation, kind: str) -> list[Mark]:
    return [mark for mark in simulation.take_marks() if mark.kind == kind]


def signals(simulation: Simulation, step: int, station: int) -> list[float]:
    """Times in s at which packets of that step passed the interface of a host."""
    packets = simulation.take_packets()
    rows = (packets.kind == HANDSHAKE) & (packets.seq == step) & (packets.station == station)
    return [float(time_ns) / 1e9 for time_ns in packets.time_ns[rows]]


def test_a_late_path_joins_when_its_address_has_arrived() -> None:
    simulation = started([Event(2.0, flow="flow", subflow=2, announce=True)])
    marks = simulation.take_marks()
    packets = simulation.take_packets()
    assert [(mark.owner, mark.time_s) for mark in marks if mark.kind == "announced"] == [("flow/2", 2.0)]
    by_step = {}
    for step, station in ((ADD_ADDR, RECEIVER), (ADD_ADDR, SENDER), (ECHO, SENDER), (ECHO, RECEIVER)):
        rows = (packets.kind == HANDSHAKE) & (packets.seq == step) & (packets.station == station)
        assert set(packets.subflow[rows]) == {0}  # by the first subflow
        assert set(packets.data_seq[rows]) == {1}  # the number of the address
        (by_step[step, station],) = (packets.time_ns[rows] / 1e9).tolist()
    # 20 ms to the sender, which echoes and opens at once. The subflow joins two round trips of 100 ms and two
    # transmission times later: SYN and the following ACK leave over 10 Mbit/s.
    assert by_step[ADD_ADDR, SENDER] == pytest.approx(2.02, abs=1e-9)
    assert by_step[ECHO, SENDER] == by_step[ADD_ADDR, SENDER]
    assert by_step[ECHO, RECEIVER] > 2.04
    (there,) = [mark.time_s for mark in marks if mark.kind == "established" and mark.owner == "flow/2"]
    assert there == pytest.approx(2.02 + 2 * (0.1 + SMALL / 10e6), abs=1e-9)
    rates = [subflow["throughput_bps"] for subflow in simulation.summary()["flows"][0]["subflows"]]
    assert rates[1] > 2e6


def test_an_announcement_that_is_lost_is_repeated_three_times_and_then_given_up() -> None:
    # The first path no longer carries anything back.
    dead = [Event(2.0, link="first", direction="reverse", up=False)]
    announced = [Event(2.5, flow="flow", subflow=2, announce=True)]
    simulation = started([*dead, *announced], duration_s=300)
    marks = [mark for mark in simulation.take_marks() if mark.owner == "flow/2"]
    assert [(mark.kind, mark.value) for mark in marks] == [("announced", n) for n in range(4)]
    times = [mark.time_s for mark in marks]
    # Each interval is twice as long as the previous one, and the first is the subflow's RTO at that time.
    assert 0.2 < times[1] - times[0] < 1.5
    assert times[2] - times[1] > 1.9 * (times[1] - times[0])
    # If the reverse direction returns in time, the announcement arrives and the subflow joins.
    back = Event(3.0, link="first", direction="reverse", up=True)
    simulation = started([dead[0], announced[0], back], duration_s=10)
    marks = simulation.take_marks()
    assert 2 <= len([mark for mark in marks if mark.kind == "announced"]) <= 4
    assert len([mark for mark in marks if mark.kind == "established" and mark.owner == "flow/2"]) == 1


def test_an_address_that_is_taken_back_closes_its_subflow() -> None:
    events = [announced(1.0), announced(3.0, False)]
    simulation = started(events)
    marks = simulation.take_marks()
    (closed,) = [mark.time_s for mark in marks if mark.kind == "closed"]
    # REMOVE_ADDR takes 20 ms by the first path, the reset 50 ms by the removed one.
    assert closed == pytest.approx(3.02, abs=1e-9)
    assert signals(simulation, REMOVE_ADDR, SENDER) == [pytest.approx(3.02)]
    # After another announcement it joins again.
    again = started([*events, Event(4.0, flow="flow", subflow=2, announce=True)])
    assert len([m for m in again.take_marks() if m.kind == "established" and m.owner == "flow/2"]) == 2


@pytest.mark.parametrize("profile", ["linux", "textbook"])
def test_a_subflow_that_is_refused_is_not_there_until_it_is_opened_again(profile: str) -> None:
    events = [
        Event(0.0, flow="flow", subflow=2, refuse=True),
        Event(1.0, flow="flow", subflow=2, open=True),
        Event(2.0, flow="flow", subflow=2, refuse=False),
        Event(3.0, flow="flow", subflow=2, open=True),
    ]
    simulation = started(events, profile=profile)
    marks = [mark for mark in simulation.take_marks() if mark.owner == "flow/2"]
    (refused,) = [mark.time_s for mark in marks if mark.kind == "refused"]
    assert refused == pytest.approx(1.1, abs=0.001)
    (there,) = [mark.time_s for mark in marks if mark.kind == "established"]
    assert there > 3.09
    assert bool(signals(simulation, RESET, RECEIVER)) == (profile == "linux")


def test_a_connection_that_is_refused_is_over() -> None:
    simulation = started([Event(0.0, flow="flow", refuse=True)], late=())
    assert simulation.summary()["flows"][0]["goodput_bps"] == 0
    assert [mark.owner for mark in marks_of(simulation, "refused")] == ["flow/1"]


def test_limits_keep_subflows_and_addresses_out() -> None:
    links = (FIRST, SECOND, THIRD)

    def joined(**limits: Any) -> set[str]:
        events = [announced(1.0), announced(2.0, subflow=3)]
        simulation = started(events, links=links, late=(2, 3), **limits)
        return {mark.owner for mark in simulation.take_marks() if mark.kind == "established"}

    assert joined() == {"flow/1", "flow/2", "flow/3"}
    assert joined(subflow_limit=1) == {"flow/1", "flow/2"}
    assert joined(address_limit=1) == {"flow/1", "flow/2"}
    assert joined(address_limit=0) == {"flow/1"}
    # Subflows from the start count as well, in their order.
    early = started([], links=links, late=(), subflow_limit=1)
    assert {m.owner for m in early.take_marks() if m.kind == "established"} == {"flow/1", "flow/2"}


def test_syns_that_nobody_answers_are_given_up_after_as_many_as_asked_for() -> None:
    down = Event(0.5, link="second", up=False)
    opened = Event(1.0, flow="flow", subflow=2, open=True)
    for retries, seconds in ((0, 5), (1, 7), (2, 11)):
        simulation = started([down, opened], duration_s=20, transport={"syn_retries": retries})
        # Four SYNs at intervals of one second, then each interval doubles: 1, 2, 3, 4 and, with one more, 6 s after the
        # first. The last wait is twice the previous interval, or one second within the first four.
        (closed,) = [mark.time_s for mark in marks_of(simulation, "closed")]
        assert closed == pytest.approx(1.0 + seconds, abs=1e-6)


def test_a_backup_takes_over_when_the_last_regular_subflow_is_stale_or_taken_back() -> None:
    down = [Event(4.0, link="first", up=False)]
    simulation = started(down, late=(), backup=(2,), duration_s=12.0, scheduler=Choice("linux-mptcp"))
    rates = [subflow["throughput_bps"] for subflow in simulation.summary()["flows"][0]["subflows"]]
    assert 2e6 < rates[0] < 3.5e6  # 4 of 12 s
    # The backup idles: the connection's timer selects it after two periods without progress, and repeats the blocking
    # data there; it gets all data when the first path is stale.
    assert rates[1] > 3e6
    (stale,) = [mark.time_s for mark in marks_of(simulation, "stale")]
    assert 4.2 < stale < 8


def test_a_run_with_announcements_is_the_same_however_it_is_cut() -> None:
    events = [
        announced(1.0),
        Event(2.0, flow="flow", subflow=2, announce=False),
        Event(2.1, link="first", direction="reverse", up=False),
        Event(2.2, flow="flow", subflow=2, announce=True),
        Event(2.9, link="first", direction="reverse", up=True),
    ]
    whole = started(events)
    pieces = Simulation(whole.scenario)
    step_s = 0.0377
    for n in range(1, int(6 / step_s)):
        pieces.run_until(n * step_s)
    pieces.run_until(6.0)
    assert pieces.signature() == whole.signature()
    lossy = replace(FIRST, forward=replace(FIRST.forward, loss=0.02))
    assert run(scenario([lossy, SECOND], list(whole.scenario.flows.values()), duration_s=6, events=events)).signature()

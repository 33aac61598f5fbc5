"""State of a simulation at one point in time: every packet at its place, and no effect on the run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.networks import link, mptcp, outage, scenario, tcp

from subflow_sim import Simulation
from subflow_sim.instant import ACK, DATA, DATAGRAM, Instant
from subflow_sim.scenario_model import Choice, Event, Flow, QueueSpec
from subflow_sim.trace import Scope
from subflow_sim.whole_scenario import Scenario

CODEL = {"target": 0.005, "interval": 0.1}
RED: dict[str, Any] = {"mode": "instantaneous", "min": 5.0, "max": 15.0, "max_p": 0.1, "gentle": True, "weight": 0.002}
QUEUES = {
    "droptail": QueueSpec("droptail", 20),
    "red": QueueSpec("red", 40, options=RED),
    "codel": QueueSpec("codel", 60, None, CODEL),
    "fq_codel": QueueSpec("fq_codel", 60, None, {**CODEL, "quantum": 1514, "flows": 1024}),
}


def busy_network(duration_s: float = 10.0) -> Scenario:
    """Each discipline, a link with reordering, outages, closed subflows and datagrams."""
    links = {name: link(name, rate_bps=4e6, delay_s=0.03, queue=queue, loss=0.002) for name, queue in QUEUES.items()}
    jumpy = link("jumpy", rate_bps=4e6, delay_s=0.08, queue_pkts=30)
    links["jumpy"] = replace(jumpy, forward=replace(jumpy.forward, reorder=True))
    cross = [
        Flow(f"cbr-{name}", "cbr", "server", "client", Choice("newreno"), Choice("minrtt"), ((name,),), rate_bps=1e6)
        for name in links
    ]
    flows = [mptcp("all", list(links), start_s=0.3), tcp("short", "codel", size_bytes=200_000), *cross]
    events = [
        Event(2.05, link="jumpy", delay_s=0.01),
        *outage("droptail", 3.0, 5.0),
        Event(4.0, flow="all", subflow=3, open=False),
        Event(4.5, link="codel", delay_s=0.09),
        Event(6.0, flow="all", subflow=3, open=True),
        *outage("fq_codel", 6.5, 7.0),
    ]
    events.sort(key=lambda event: event.at_s)
    return scenario(list(links.values()), flows, duration_s=duration_s, events=events, profile="linux")


def columns(instant: Instant) -> Iterator[tuple[str, object]]:
    for part_name in ("packets", "links", "subflows", "flows"):
        part = getattr(instant, part_name)
        for field in fields(part):
            yield f"{part_name}.{field.name}", getattr(part, field.name)


def assert_equal(a: Instant, b: Instant) -> None:
    assert a.now_s == b.now_s
    for (name, ours), (_, theirs) in zip(columns(a), columns(b), strict=True):
        assert type(ours) is type(theirs), name
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


def sampled(simulation: Simulation, scope: Scope, name: str) -> dict[str, float]:
    """The latest sample of a quantity by owner."""
    chosen = [(i, c.owner) for i, c in enumerate(simulation.columns) if (c.scope, c.name) == (scope, name)]
    return {owner: float(simulation.values(i)[-1]) for i, owner in chosen}


def test_a_lone_packet_is_sent_and_crosses_the_wire() -> None:
    # 1500 bytes at 10 Mbit/s take 1.2 ms to send, and then 50 ms; the ACK's way back is a pure delay of 50 ms.
    simulation = Simulation(scenario([link("path")], [tcp("t", "path", size_bytes=1448)], duration_s=1))
    simulation.run_until(0.0006)
    packets = simulation.inspect().packets
    assert (len(packets), packets.kind[0], packets.seq[0], packets.size_bytes[0]) == (1, DATA, 0, 1500)
    assert (packets.queue_position[0], packets.progress[0]) == (0, 0.0)
    simulation.run_until(0.0012 + 0.0125)
    packets = simulation.inspect().packets
    assert packets.queue_position[0] == -1
    assert packets.progress[0] == pytest.approx(0.25)
    simulation.run_until(0.0012 + 0.05 + 0.03)
    instant = simulation.inspect()
    assert (len(instant.packets), instant.packets.kind[0]) == (1, ACK)
    assert instant.links.names[instant.packets.link[0]] == "path/reverse"
    assert instant.packets.progress[0] == pytest.approx(0.6)
    assert instant.flows.delivered_bytes.tolist() == [1448]
    simulation.run_until(0.5)
    assert len(simulation.inspect().packets) == 0


def test_every_packet_is_at_one_place_and_queues_are_those_of_the_samples() -> None:
    simulation = Simulation(busy_network(), sample_interval_s=0.1)
    most_queued = Counter[str]()
    for tick in range(1, 101):
        simulation.run_until(tick / 10)
        instant = simulation.inspect()
        packets, links = instant.packets, instant.links
        # Sent = delivered + dropped + in flight, over all links
        assert simulation.link_crossings == links.delivered_pkts.sum() + links.dropped_pkts.sum() + len(packets)
        queued = packets.queue_position >= 0
        counts = np.bincount(packets.link[queued], minlength=len(links.names))
        assert counts.tolist() == links.queue_pkts.tolist()
        sizes = np.bincount(packets.link[queued], packets.size_bytes[queued], len(links.names))
        assert sizes.tolist() == links.queue_bytes.tolist()
        assert dict(zip(links.names, counts.tolist(), strict=True)) == sampled(simulation, "link", "queue_pkts")
        for index, name in enumerate(links.names):
            here = packets.link == index
            position = packets.queue_position[here]
            wire = position == -1
            assert position[~wire].tolist() == list(range(int((~wire).sum())))
            assert not wire[1:][~wire[:-1]].any(), "the queue comes last"
            assert (np.diff(packets.progress[here][wire]) <= 0).all(), "the next to arrive comes first"
            assert (packets.progress[here][~wire] == 0).all()
            most_queued[name] = max(most_queued[name], len(position[~wire]))
        assert set(packets.kind.tolist()) <= {DATA, ACK, DATAGRAM}
    assert all(most_queued[f"{name}/forward"] > 5 for name in (*QUEUES, "jumpy"))
    assert (simulation.inspect().packets.kind == DATAGRAM).any()


def test_windows_and_deliveries_are_those_of_the_samples() -> None:
    simulation = Simulation(busy_network(), sample_interval_s=0.05)
    for tick in range(1, 200):
        simulation.run_until(tick / 20)
        s = simulation.inspect().subflows
        for name in ("cwnd_pkts", "ssthresh_pkts", "srtt_s", "min_rtt_s", "inflight_pkts", "pacing_rate_bps"):
            told = sampled(simulation, "subflow", name)
            for i, owner in enumerate(s.names):
                value = getattr(s, name)[i]
                # A sample keeps an RTT until the end of the interval in which its timeout expires.
                if s.is_established[i] and not (name == "srtt_s" and math.isnan(value)):
                    np.testing.assert_equal(np.float32(value), np.float32(told[owner]), err_msg=f"{owner} {name}")
                else:
                    assert math.isnan(value)
    final = simulation.inspect()
    assert dict(zip(final.flows.names, final.flows.is_active.tolist(), strict=True)) == {
        "all": True,
        "short": False,
        **{f"cbr-{name}": True for name in (*QUEUES, "jumpy")},
    }
    assert final.flows.delivered_bytes[1] == 200_000


def test_states_of_subflows_and_links_are_told() -> None:
    simulation = Simulation(busy_network())
    seen: dict[str, set[str]] = {}
    for tick in range(1, 800):
        simulation.run_until(tick / 100)
        subflows = simulation.inspect().subflows
        for name, state, established in zip(subflows.names, subflows.state, subflows.is_established, strict=True):
            seen.setdefault(name, set()).add(state)
            assert established == (state in ("open", "recovery", "loss"))
    assert seen["all/1"] >= {"closed", "open", "recovery", "loss"}
    assert seen["all/3"] >= {"closed", "joining", "open"}
    assert seen["cbr-codel/1"] == {"datagrams"}
    simulation = Simulation(busy_network())
    simulation.run_until(3.5)
    links = simulation.inspect().links
    assert [name for name, is_up in zip(links.names, links.is_up, strict=True) if not is_up] == ["droptail/forward"]


def test_looking_changes_nothing() -> None:
    alone = Simulation(busy_network())
    alone.run_until(10)
    watched = Simulation(busy_network())
    for tick in range(1, 501):
        watched.run_until(tick / 50)
        watched.inspect()
    assert watched.signature() == alone.signature()
    watched.check_invariants()


@for_each("t_s", [0.0, 0.0317, 2.051, 3.0, 4.0, 6.5, 9.9991])
def test_what_is_seen_does_not_depend_on_how_one_got_there(t_s: float) -> None:
    at_once = Simulation(busy_network())
    at_once.run_until(t_s)
    in_steps = Simulation(busy_network())
    for step in range(1, 38):
        in_steps.run_until(t_s * step / 37)
    in_steps.run_until(t_s)
    assert_equal(at_once.inspect(), in_steps.inspect())
    snapshot = in_steps.snapshot()
    in_steps.run_until(10)
    in_steps.restore(snapshot)
    assert_equal(at_once.inspect(), in_steps.inspect())


def test_packets_move_forwards_and_as_fast_as_the_wire_is() -> None:
    simulation = Simulation(busy_network(2.0))
    delays = {"droptail": 0.03, "red": 0.03, "codel": 0.03, "fq_codel": 0.03, "jumpy": 0.08}
    simulation.run_until(1.5)
    before = simulation.inspect()
    for milliseconds in range(1, 100):
        simulation.run_until(1.5 + milliseconds / 1000)
        after = simulation.inspect()
        earlier, later = (
            {
                key: (position, progress)
                for key, position, progress in zip(
                    zip(*(getattr(i.packets, c).tolist() for c in ("link", "subflow", "kind", "seq")), strict=True),
                    i.packets.queue_position.tolist(),
                    i.packets.progress.tolist(),
                    strict=True,
                )
            }
            for i in (before, after)
        )
        still_there = earlier.keys() & later.keys()
        assert len(still_there) > 20
        for key in still_there:
            (old_position, old_progress), (new_position, new_progress) = earlier[key], later[key]
            if old_position == -1 and key[2] != DATA:
                continue  # several ACKs may have the same number, and datagrams have no number
            if old_position == -1 and new_position == -1 and new_progress >= old_progress:
                delay_s = delays[before.links.names[key[0]].split("/")[0]]
                assert new_progress - old_progress == pytest.approx(0.001 / delay_s, abs=1e-5)
            # In fq_codel the packets of a newly queued flow may pass those of others.
            elif old_position != -1 and key[2] == DATA and before.links.names[key[0]] != "fq_codel/forward":
                assert new_position <= old_position
        before = after


@pytest.mark.parametrize("quantum", [300, 1514, 4000])
def test_waiting_packets_of_fq_codel_come_in_the_order_of_service(quantum: int) -> None:
    # Three floods share a slow link whose CoDel has thresholds too high for drops: their queues are served in turn.
    options = {"target": 1.0, "interval": 10.0, "quantum": quantum, "flows": 64}
    slow = link("slow", rate_bps=1e6, queue=QueueSpec("fq_codel", 100, None, options))
    simulation = Simulation(scenario([slow], [tcp(name, "slow") for name in "abc"], duration_s=10))
    simulation.run_until(0.002)  # ten packets each
    told = simulation.inspect().packets
    order = [(int(s), int(q)) for s, q in zip(told.subflow, told.seq, strict=True)]
    assert len(order) == 30
    # One packet takes 12 ms to send: in the middle of that time it is at the head of the queue. ACKs, and therefore the
    # next packets, arrive from the eighth on; until then the order of the flows does not change.
    for position, packet in enumerate(order[:8]):
        simulation.run_until((position + 0.5) * 0.012)
        packets = simulation.inspect().packets
        head = int(np.flatnonzero(packets.queue_position == 0)[0])
        assert (int(packets.subflow[head]), int(packets.seq[head])) == packet
    assert len({subflow for subflow, _ in order[:8]}) == 3


def test_what_was_seen_stays_as_it_was() -> None:
    simulation = Simulation(busy_network())
    simulation.run_until(3.3)
    instant = simulation.inspect()
    copies = {name: np.array(value) for name, value in columns(instant)}
    simulation.run_until(10)
    del simulation
    for name, value in columns(instant):
        np.testing.assert_array_equal(value, copies[name], err_msg=name)
    assert not instant.packets.link.flags.writeable

"""Packets that a scenario drops: from the file to the reaction of the transport."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from subflow_sim import ScenarioError, Simulation, parse_scenario

TRANSFER = """
format = 1
duration = "20s"
profile = "{profile}"
nodes = {{ server = {{}}, client = {{}} }}
links.wifi = {{ ends = ["client", "server"], rate = "10Mbit/s", delay = "50ms", queue = "2000pkt", drops = {drops} }}
links.lte = {{ ends = ["client", "server"], rate = "5Mbit/s", delay = "20ms" }}
[flows.d]
kind = "tcp"
from = "server"
to = "client"
controller = "newreno"
paths = [["wifi"]]
size = {size}
"""
PACKETS = 400


def simulation(drops: Sequence[str], profile: str, *overrides: str, packets: int = PACKETS) -> Simulation:
    text = TRANSFER.format(profile=profile, drops=json.dumps(list(drops)), size=packets * 1448)
    return Simulation(parse_scenario(text, overrides=overrides))


def finished(drops: Sequence[str], profile: str, *overrides: str, packets: int = PACKETS) -> Simulation:
    made = simulation(drops, profile, *overrides, packets=packets)
    made.run_until(20)
    made.check_invariants()
    assert made.summary()["flows"][0]["completion_s"] is not None
    return made


def kinds(of: Simulation) -> Counter[str]:
    return Counter(mark.kind for mark in of.take_marks())


def nth_of_retransmission(drops: Sequence[str], profile: str) -> int:
    """Number of the first retransmission among all packets of the server."""
    made = simulation(drops, profile)
    made.capture_packets("d")
    made.run_until(20)
    packets = made.take_packets()
    left = packets.seq[(packets.station == 0) & (packets.kind == 0)]
    seen = np.zeros(PACKETS, dtype=bool)
    for number, seq in enumerate(left, start=1):
        if seen[seq]:
            return number
        seen[seq] = True
    raise AssertionError("nothing left twice")


@pytest.mark.parametrize("profile", ["textbook", "linux"])
def test_one_packet_lost_is_one_fast_retransmit(profile: str) -> None:
    made = finished(["d/1:100"], profile)
    summary = made.summary()
    flow, (wifi, *_) = summary["flows"][0], summary["links"]
    # The client receives over the reverse direction of a link that was drawn from it to the server.
    assert [link["drops_scripted"] for link in summary["links"]] == [0, 1, 0, 0]
    assert wifi["name"] == "wifi"
    assert (flow["packets_sent"], flow["packets_dropped"], flow["retransmits"]) == (PACKETS + 1, 1, 1)
    assert flow["subflows"][0]["timeouts"] == 0
    dropped, lost = (mark for mark in made.take_marks() if mark.kind in ("scripted_drop", "loss"))
    assert (dropped.owner, dropped.kind, dropped.value, lost.kind) == ("d/1", "scripted_drop", 99, "loss")


@pytest.mark.parametrize("profile", ["textbook", "linux"])
def test_a_retransmission_that_is_lost_as_well_is_found_without_a_timeout_while_packets_follow(profile: str) -> None:
    # Retransmissions count as packets. Both profiles detect their loss by later packets: a third copy is sent without a
    # timeout and without a second reduction of the window.
    again = nth_of_retransmission(["d/1:100"], profile)
    made = finished(["d/1:100", f"d/1:{again}"], profile)
    flow = made.summary()["flows"][0]
    assert (flow["packets_dropped"], flow["retransmits"], flow["subflows"][0]["timeouts"]) == (2, 2, 0)
    dropped = [mark.value for mark in made.take_marks() if mark.kind == "scripted_drop"]
    assert dropped == [99, 99]


def test_the_last_packet_is_found_by_the_timeout_or_by_a_probe_as_the_profile_says() -> None:
    last = f"d/1:{PACKETS}"
    assert kinds(finished([last], "textbook"))["rto"] == 1
    # RACK-TLP: the probe repeats the packet, and its ACK shows that no data is missing.
    probed = finished([last], "linux")
    assert kinds(probed)["rto"] == 0
    assert probed.summary()["flows"][0]["retransmits"] == 1
    assert kinds(finished([last, f"d/1:{PACKETS + 1}"], "linux"))["rto"] == 1  # and the probe is lost, too


def test_the_nth_packet_from_a_time_on() -> None:
    made = finished(["d/1:1@150ms", "d/1:3@150ms"], "textbook")
    marks = [mark for mark in made.take_marks() if mark.kind == "scripted_drop"]
    # 150 ms lies in the second flight, whose packets come in pairs: the first and the third from then on.
    assert [mark.time_s >= 0.15 for mark in marks] == [True, True]
    assert marks[1].value - marks[0].value == 2
    # no packet is sent so late
    assert finished(["d/1:1@19s"], "textbook").summary()["flows"][0]["packets_dropped"] == 0


def test_a_script_is_exact_however_the_run_is_cut_and_in_forks() -> None:
    drops = ["d/1:20", "d/1:21", "d/1:5@200ms"]
    whole = finished(drops, "linux")
    pieces = simulation(drops, "linux")
    pieces.run_until(0.1)
    snapshot = pieces.snapshot()
    fork = pieces.fork(snapshot)
    for t_ms in range(100, 20_001, 50):
        pieces.run_until(t_ms / 1000)
    fork.run_until(20)
    assert pieces.signature() == fork.signature() == whole.signature()
    assert simulation([], "linux").signature() != whole.signature()
    pieces.restore(snapshot)
    pieces.run_until(20)
    assert pieces.signature() == whole.signature()


def test_names_of_subflows_may_be_left_out_where_one_crosses_and_copies_have_their_own() -> None:
    def drops(text: str, *overrides: str) -> list[tuple[str, int, int, float]]:
        scenario = simulation([text], "linux", *overrides).scenario
        return [(drop.flow, drop.subflow, drop.number, drop.after_s) for drop in scenario.links["wifi"].drops]

    both = ("flows.d.kind=mptcp", 'flows.d.paths=[["lte"], ["wifi"]]', "flows.d.controller=lia")
    assert drops("d:17") == drops("d/1:17") == drops("d.1:17") == [("d", 1, 17, 0.0)]
    assert drops("d:17", *both) == drops("d/2:17", *both) == drops("d.2:17", *both) == [("d", 2, 17, 0.0)]
    assert drops("d.3/1:2@1.5s", "flows.d.count=3") == [("d.3", 1, 2, 1.5)]
    twice = ("flows.d.kind=mptcp", 'flows.d.paths=[["wifi"], ["wifi"]]', "flows.d.controller=lia")
    for overrides, message in (
        (("flows.d.count=3",), r'"d" has copies, .* allowed: "d\.1/1:17"'),
        (twice, 'several subflows of "d" cross "wifi"; allowed: "d/1" or "d/2"'),
        (('flows.d.paths=[["lte"]]',), 'no subflow of "d" crosses "wifi"'),
    ):
        with pytest.raises(ScenarioError, match=message):
            drops("d:17", *overrides)


def test_datagrams_are_counted_as_well_and_copies_that_never_come_are_nobodys() -> None:
    blind = ("flows.d.kind=cbr", "flows.d.rate=1Mbit/s")
    text = "\n".join(line for line in TRANSFER.splitlines() if not line.startswith(("controller", "size")))
    made = Simulation(parse_scenario(text.format(profile="linux", drops='["d:7", "d:9"]'), overrides=blind))
    made.run_until(20)
    flow = made.summary()["flows"][0]
    assert (flow["packets_dropped"], flow["packets_lost"]) == (2, 2)
    arriving = simulation(["d.500/1:1"], "linux", 'flows.d.arrivals={ gap = "5s" }')
    arriving.run_until(20)
    assert sum(link["drops_scripted"] for link in arriving.summary()["links"]) == 0

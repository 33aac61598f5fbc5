"""Bursts of paced packets against Linux's tcp_tso_autosize for a rate, and their effect on a queue."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from subflow_sim import Simulation, parse_scenario
from subflow_sim.instant import DATA
from subflow_sim.packets import SENDER

FIXED_RATE = '''\
"""A fixed rate, with a window that never bounds it."""
pace = option(1000, min=1, max=1e6, help="Packets per second.")


def on_start(w):
    w.cwnd = 10000
    w.rate = pace


def on_ack(w, ack):
    w.rate = pace
'''
MSS = 1448


def tso_segs(rate_bytes: float, min_rtt_us: int) -> int:
    """tcp_tso_autosize and tcp_tso_segs with the lower bound of BBR, in integers like the kernel."""
    gso_max_size = 65536 - 320 - 1
    size = int(rate_bytes) >> 10
    if min_rtt_us >> 9 < 32:
        size += gso_max_size >> (min_rtt_us >> 9)
    return max(min(size, gso_max_size) // MSS, 1 if rate_bytes < 1_200_000 / 8 else 2)


def paced(
    controller: str = '"bbr"', *, rate: str, tso: bool, delay: str = "25ms", duration: str = "1.5s", cwnd: int = 10_000
) -> Simulation:
    """A run of one TCP flow with captured packets."""
    text = f"""
format = 1
duration = "{duration}"
profile = "textbook"
transport.tso = {str(tso).lower()}
nodes = {{ a = {{}}, b = {{}} }}
links.bottleneck = {{ ends = ["a", "b"], rate = "{rate}", delay = "{delay}" }}
controllers.fixed = {{ script = "fixed.py", content = {json.dumps(FIXED_RATE.replace("10000", str(cwnd)))} }}
flows.paced = {{ kind = "tcp", from = "a", to = "b", controller = {controller} }}
"""
    simulation = Simulation(parse_scenario(text))
    simulation.capture_packets("paced")
    simulation.run_until(simulation.duration_s)
    return simulation


def fixed_rate(pace: float, **values: Any) -> Simulation:
    return paced(f'{{ name = "fixed", pace = {pace} }}', **values)


def bursts_of(simulation: Simulation) -> tuple[list[int], list[int]]:
    """Send times of data, and the number of packets at each time."""
    packets = simulation.take_packets()
    left = packets.time_ns[(packets.kind == DATA) & (packets.station == SENDER)]
    times, counts = np.unique(left, return_counts=True)
    return times.tolist(), counts.tolist()


@pytest.mark.parametrize(
    ("pace", "delay", "min_rtt_us", "size"),
    [
        (90, "25ms", 50_000, 1),  # 1.04 Mbit/s: below 1.2 Mbit/s
        (1000, "25ms", 50_000, 2),  # 11.6 Mbit/s: 1414 bytes in 1/1024 s, and at least two packets
        (10_000, "25ms", 50_000, 9),  # 116 Mbit/s: 14 140 bytes
        (10_000, "0.5ms", 1000, 32),  # and 65 215 / 2 of a round trip of 1 to 1.5 times 512 us
        (60_000, "25ms", 50_000, 45),  # 695 Mbit/s: 65 215 bytes at most
    ],
)
def test_bursts_are_those_of_the_formula_and_the_mean_rate_stays(
    pace: float, delay: str, min_rtt_us: int, size: int
) -> None:
    assert size == tso_segs(pace * MSS, min_rtt_us)
    simulation = fixed_rate(pace, rate="1Gbit/s", delay=delay, tso=True)
    times, counts = bursts_of(simulation)
    # After the first round trip, whose bursts have no RTT yet, and before the last burst, which may be cut.
    settled = [i for i, t in enumerate(times) if t > 0.1e9][:-1]
    assert {counts[i] for i in settled} == {size}
    # The next burst leaves at the time of the last packet without bursts: rounding errs by at most a nanosecond.
    gaps = {times[b] - times[a] for a, b in pairwise(settled)}
    assert all(abs(gap - size * 1e9 / pace) <= 1 for gap in gaps)
    sent = sum(counts[i] for i in settled[:-1])
    assert sent / ((times[settled[-1]] - times[settled[0]]) / 1e9) == pytest.approx(pace, rel=1e-9)
    # Without bursts the rate is the same, packet by packet.
    alone, ones = bursts_of(fixed_rate(pace, rate="1Gbit/s", delay=delay, tso=False))
    assert set(ones) == {1}
    assert len(alone) == pytest.approx(sum(counts), abs=size)


def test_a_burst_is_a_queue_of_its_size_at_a_bottleneck_above_its_rate() -> None:
    # 116 Mbit/s over 150 Mbit/s: each burst of nine leaves before the next one arrives, so its packets queue together,
    # including the one in service. Without bursts, only the packet in service is in the queue.
    for tso, most in ((True, 9), (False, 1)):
        simulation = fixed_rate(10_000, rate="150Mbit/s", tso=tso)
        forward = next(row for row in simulation.summary()["links"] if row["direction"] == "forward")
        assert forward["max_queue_pkts"] == most


def test_a_window_of_few_packets_leaves_in_two_bursts_at_least() -> None:
    # Linux tcp_cwnd_test: half a window at most. Here the window is 6, and the rate would permit bursts of 45.
    simulation = fixed_rate(60_000, rate="1Gbit/s", tso=True, duration="1s", cwnd=6)
    # Then each acknowledgement permits one packet.
    assert bursts_of(simulation)[1][:2] == [3, 3]


def test_bbr_carries_as_much_in_bursts_and_its_queue_is_a_burst_longer_at_most() -> None:
    figures = {}
    for tso in (False, True):
        simulation = paced(rate="100Mbit/s", delay="10ms", tso=tso, duration="8s")
        figures[tso] = (simulation.summary()["flows"][0]["goodput_bps"], max(bursts_of(simulation)[1]))
    assert figures[True][0] == pytest.approx(figures[False][0], rel=0.02)
    assert figures[False][1] == 1
    # In startup it sends at up to 2.89 times the rate of the link: 2.89 * 12 207 / 1448 packets.
    assert 8 <= figures[True][1] <= 25

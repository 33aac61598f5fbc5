"""DCTCP against its closed forms, and DualPI2 against what RFC 9332 promises."""

from __future__ import annotations

import numpy as np
import pytest

from subflow_sim import Simulation, parse_scenario
from subflow_sim.decisions import CAUSES

LINK = """
format = 1
duration = "{duration}s"
warmup = "5s"
profile = "{profile}"
[nodes.server]
[nodes.client]
[links.l]
ends = ["server", "client"]
rate = "40Mbit/s"
delay = "10ms"
queue = {queue}
[links.l.reverse]
queue = "unlimited"
"""
FLOW = """
[flows.{name}]
kind = "tcp"
from = "server"
to = "client"
controller = "{name}"
count = {count}
"""
STEP = '{ discipline = "red", min = "20pkt", max = "20pkt", gentle = false, ecn = true }'
BDP_PKTS = 40e6 * 0.02 / 12_000


def finished(queue: str, *flows: tuple[str, int], duration: int = 25, profile: str = "textbook") -> Simulation:
    text = LINK.format(queue=queue, duration=duration, profile=profile)
    text += "".join(FLOW.format(name=name, count=count) for name, count in flows)
    simulation = Simulation(parse_scenario(text))
    simulation.record_decisions()
    simulation.run_until(duration)
    return simulation


def test_dctcp_finds_the_share_of_marks_of_its_closed_form() -> None:
    """Alizadeh et al., SIGCOMM 2010: alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2 at the threshold W."""
    simulation = finished(STEP, ("dctcp", 1))
    flow, link = simulation.summary()["flows"][0], simulation.summary()["links"][0]
    assert flow["packets_dropped"] == 0
    assert link["utilisation"] > 0.99
    # At the step, less a tooth, and the last of it comes a round trip later
    assert 5 < link["mean_queue_pkts"] < 25

    decisions = simulation.take_decisions()
    rows = np.flatnonzero(decisions.cause == CAUSES.index("mark"))
    told = [decisions.explain(row) for row in rows[len(rows) // 2 :]]
    for each in told:
        cwnd, share, ssthresh = (each.value(name) for name in ("cwnd", "marked_share", "ssthresh"))
        if share is not None and cwnd is not None:
            assert ssthresh == pytest.approx(max(cwnd * (1 - share / 2), 2))
    shares = [share for each in told if (share := each.value("marked_share")) is not None]
    window = BDP_PKTS + 20
    roots = np.roots([-0.25, 1, 0, -(2 * window + 1) / (window + 1) ** 2])
    (alpha,) = (root.real for root in roots if abs(root.imag) < 1e-9 and 0 < root.real < 1)
    assert np.mean(shares) == pytest.approx(alpha, rel=0.25)


def test_dctcp_without_ecn_is_newreno() -> None:
    made = []
    for name in ("dctcp", "newreno"):
        text = LINK.format(queue='"40pkt"', duration=10, profile="textbook") + FLOW.format(name=name, count=1)
        simulation = Simulation(parse_scenario(text, overrides=("flows." + name + ".ecn=off",)))
        simulation.run_until(10)
        made.append(simulation.signature())
    assert made[0] == made[1]


@pytest.mark.parametrize("classic", ["newreno", "cubic"])
def test_dualpi2_shares_between_prague_and_classic_flows(classic: str) -> None:
    """RFC 9332 section 2.1: about the same rate for each, and the L queue holds what the step lets it."""
    summary = finished(
        '{ discipline = "dualpi2" }', ("prague", 1), (classic, 1), duration=35, profile="linux"
    ).summary()
    prague, other = summary["flows"]
    assert 0.5 < prague["goodput_bps"] / other["goodput_bps"] < 2
    assert summary["links"][0]["utilisation"] > 0.9
    # 20 ms of the path, a packet's time, the step of 1 ms and what comes before the answer to it
    assert prague["mean_rtt_s"] < 0.020 + 0.004
    assert 0.005 < other["mean_rtt_s"] - 0.020 < 0.025  # the target of 15 ms
    assert prague["packets_dropped"] == 0

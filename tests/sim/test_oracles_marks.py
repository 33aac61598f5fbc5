"""DCTCP against its closed forms, and DualPI2 against the goals of RFC 9332."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from subflow_sim import Simulation, parse_scenario
from subflow_sim.decisions import CAUSES

LINK = """
format = 1
duration = "{duration}s"
warmup = "5s"
profile = "{profile}"
nodes = {{ server = {{}}, client = {{}} }}
[links.l]
ends = ["server", "client"]
rate = "40Mbit/s"
delay = "10ms"
queue = {queue}
reverse.queue = "unlimited"
[flows]
"""
FLOW = '{name} = {{ kind = "tcp", from = "server", to = "client", controller = "{name}" }}\n'
STEP = '{ discipline = "red", min = "20pkt", max = "20pkt", gentle = false, ecn = true }'
BDP_PKTS = 40e6 * 0.02 / 12_000


def finished(
    queue: str, *flows: str, duration: int = 25, profile: str = "textbook", overrides: Sequence[str] = ()
) -> Simulation:
    text = LINK.format(queue=queue, duration=duration, profile=profile)
    text += "".join(FLOW.format(name=name) for name in flows)
    simulation = Simulation(parse_scenario(text, overrides=overrides))
    simulation.record_decisions()
    simulation.run_until(duration)
    return simulation


def test_dctcp_finds_the_share_of_marks_of_its_closed_form() -> None:
    """Alizadeh et al., SIGCOMM 2010: alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2 at the threshold W."""
    simulation = finished(STEP, "dctcp")
    flow, link = simulation.summary()["flows"][0], simulation.summary()["links"][0]
    assert flow["packets_dropped"] == 0
    assert link["utilisation"] > 0.99
    # At the step, minus the amplitude of the saw-tooth; the effect of the last mark comes a round trip later
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
    dctcp, newreno = (
        finished('"40pkt"', name, duration=10, overrides=(f"flows.{name}.ecn=off",)).signature()
        for name in ("dctcp", "newreno")
    )
    assert dctcp == newreno


@pytest.mark.parametrize("classic", ["newreno", "cubic"])
def test_dualpi2_shares_between_prague_and_classic_flows(classic: str) -> None:
    """RFC 9332 section 2.1: about the same rate for each, and the step bounds the L queue."""
    queue = '{ discipline = "dualpi2" }'
    summary = finished(queue, "prague", classic, duration=35, profile="linux").summary()
    prague, other = summary["flows"]
    assert 0.5 < prague["goodput_bps"] / other["goodput_bps"] < 2
    assert summary["links"][0]["utilisation"] > 0.9
    # 20 ms of the path, a packet's transmission time, the step of 1 ms and the packets before the response to marks
    assert prague["mean_rtt_s"] < 0.020 + 0.004
    assert 0.005 < other["mean_rtt_s"] - 0.020 < 0.025  # the target of 15 ms
    assert prague["packets_dropped"] == 0


def utilisation_of_reno(buffer_bdp: float) -> float:
    """Utilisation of a link with a queue of so many bandwidth-delay products, by the closed form of NewReno's page."""
    b = buffer_bdp
    return ((1 - b) * (3 + b) / 8 + b + b * b / 2) / ((1 - b) / 2 + b + b * b / 2)


def test_a_gentler_answer_to_marks_keeps_a_short_queue_busy() -> None:
    """RFC 8511 section 3: a reduction to 0.8 of the window suffices for queues of at least a fourth of a product."""
    used = {}
    for abe in (False, True):
        overrides = (f"flows.newreno.controller.abe={str(abe).lower()}", "flows.newreno.ecn=rfc3168")
        summary = finished(STEP, "newreno", duration=60, overrides=overrides).summary()
        assert summary["flows"][0]["packets_dropped"] == 0
        used[abe] = summary["links"][0]["utilisation"]
    assert used[False] == pytest.approx(utilisation_of_reno(20 / BDP_PKTS), abs=0.015)
    assert used[True] > 0.995


def test_prague_leaves_a_classic_flow_its_share_where_it_finds_a_classic_queue() -> None:
    queue = '{ discipline = "codel", ecn = true }'
    ratios = []
    for fallback in ("false", "true"):
        overrides = (f"flows.prague.controller.classic_fallback={fallback}", "flows.cubic.ecn=rfc3168")
        done = finished(queue, "prague", "cubic", duration=35, profile="linux", overrides=overrides)
        prague, cubic = done.summary()["flows"]
        ratios.append(prague["goodput_bps"] / cubic["goodput_bps"])
    assert ratios[0] > 8
    assert ratios[1] < 4

"""Traffic without congestion control: constant and on-off sources, from the file to the figures."""

from __future__ import annotations

import numpy as np
import pytest
from tests.helpers import networks

from subflow_sim import Simulation, parse_scenario

LINK = """
format = 1
duration = "200s"
nodes = { a = {}, b = {} }
links.l = { ends = ["a", "b"], rate = "5Mbit/s", delay = "60ms", queue = "50pkt" }
"""
BURSTS = """
[flows.bursts]
kind = "onoff"
from = "a"
to = "b"
rate = "5Mbit/s"
on = "1s"
off = "10s"
"""


def run(text: str, *overrides: str) -> Simulation:
    return networks.run(parse_scenario(LINK + text, overrides=overrides), sample_interval_s=0.1)


def goodput(simulation: Simulation, flow: str) -> np.ndarray:
    return networks.column(simulation, "goodput_bps", flow)


def test_bursts_are_at_the_rate_and_between_them_is_silence():
    bursts = goodput(run(BURSTS), "bursts")
    # 5 Mbit/s with headers is 4.907 Mbit/s of payload: 41 or 42 packets per sample of 0.1 s. Samples at the ends of a
    # burst have a part of that.
    at_rate = np.abs(bursts - 5e6 * 1472 / 1500) < 1.5 * 1472 * 80
    silent = bursts == 0
    assert bursts[1:3] == pytest.approx(4.9e6, rel=0.05)  # it is on at its start; the first packet takes 62.4 ms
    assert np.count_nonzero(at_rate) > 20
    assert np.count_nonzero(silent) > 1000
    changes = np.count_nonzero(np.diff(silent.astype(int)))
    assert np.count_nonzero(~at_rate & ~silent) <= changes + 1


def test_the_mean_rate_is_that_of_its_times():
    # 200 s of 30 ms cycles: on for a third of the time, with a deviation of 0.8 % (renewal theory).
    simulation = run(BURSTS, "flows.bursts.on=10ms", "flows.bursts.off=20ms")
    flow = simulation.summary()["flows"][0]
    assert flow["goodput_bps"] == pytest.approx(5e6 / 3 * 1472 / 1500, rel=0.03)
    assert (flow["kind"], flow["controller"], flow["subflows"]) == ("onoff", "", [])
    assert flow["completion_s"] is None


def test_copies_have_luck_of_their_own_and_do_not_change_that_of_others():
    alone, beside = run(BURSTS), run(BURSTS, "flows.bursts.count=2", "links.l.rate=10Mbit/s")
    first, second = goodput(beside, "bursts.1"), goodput(beside, "bursts.2")
    assert not np.array_equal(first, second)
    other = BURSTS.replace("flows.bursts", "flows.also").replace('rate = "5Mbit/s"', 'rate = "1Mbit/s"')
    both = run(BURSTS + other, "links.l.rate=10Mbit/s")
    without = run(BURSTS, "links.l.rate=10Mbit/s")
    # A packet of the other flow may delay one by 1.2 ms and move it across the end of a sample.
    assert np.abs(goodput(both, "bursts") - goodput(without, "bursts")).max() <= 1472 * 80 * 1.01
    assert alone.signature() != run(BURSTS, "seed=2").signature()


def test_poisson_packets_queue_where_constant_ones_do_not():
    cbr = BURSTS.replace("onoff", "cbr").replace('on = "1s"\noff = "10s"\n', "")
    constant = run(cbr, "flows.bursts.rate=4Mbit/s").summary()["links"][0]
    poisson = run(cbr, "flows.bursts.rate=4Mbit/s", "flows.bursts.spacing=poisson").summary()["links"][0]
    assert constant["utilisation"] == pytest.approx(0.8, rel=0.002)
    assert poisson["utilisation"] == pytest.approx(0.8, rel=0.02)
    assert constant["max_queue_pkts"] == 1
    # M/D/1 at 0.8: 0.8 + 0.64 / 0.4 = 2.4 packets; 66 667 arrivals leave an error of about 5 %
    assert poisson["mean_queue_pkts"] == pytest.approx(2.4, rel=0.2)

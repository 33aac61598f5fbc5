"""Shared resources at a time: capacities in payload, usable paths, and active connections."""

from __future__ import annotations

import json
import math

import pytest
from tests.helpers.networks import goodputs, run

from subflow_sim.fairness.ideal import ideal_shares
from subflow_sim.fairness.network import Connection, Lifetime, SharedNetwork, stretches
from subflow_sim.fairness.single_path import single_path_totals
from subflow_sim.fairness.splits import max_min_split
from subflow_sim.scenario import parse_scenario

PAYLOAD = 1448 / 1500

TWO_LINKS = """
format = 1
name = "Two links"
duration = "10s"
nodes = { a = {}, b = {} }
[links]
wifi = { ends = ["a", "b"], rate = "6Mbit/s", delay = "5ms", queue = "50pkt" }
lte = { ends = ["b", "a"], rate = "3Mbit/s", delay = "5ms", queue = "50pkt" }
[flows.m]
kind = "mptcp"
from = "a"
to = "b"
controller = "lia"
paths = [["wifi"], ["lte"]]
"""


def at(text: str, time_s: float = 0.0) -> SharedNetwork:
    (stretch,) = stretches(parse_scenario(text), time_s, time_s)
    return stretch.network


def paths_at(text: str, time_s: float = 0.0) -> list[list[str]]:
    """The paths that each connection can use."""
    return [[path.owner for path in each.paths] for each in at(text, time_s).connections]


def event(at_s: float, **values: object) -> str:
    lines = [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    return "\n".join(["", "[[events]]", f'at = "{at_s}s"', *lines, ""])


def test_capacities_are_payload_of_the_direction_that_is_crossed() -> None:
    network = at(TWO_LINKS)
    assert network.capacities_bps == pytest.approx({"wifi/forward": 6e6 * PAYLOAD, "lte/reverse": 3e6 * PAYLOAD})
    assert paths_at(TWO_LINKS) == [["m/1", "m/2"]]


def test_events_change_the_network_from_their_time_on() -> None:
    text = TWO_LINKS + event(2, link="wifi", rate="1Mbit/s") + event(4, link="lte", up=False)
    text += event(6, flow="m", subflow=1, open=False)
    for time_s, rate_bps in ((1.9, 6e6), (2.0, 1e6)):
        assert at(text, time_s).capacities_bps["wifi/forward"] == pytest.approx(rate_bps * PAYLOAD)
    assert [paths_at(text, time_s) for time_s in (4.0, 6.0)] == [[["m/1"]], [[]]]


def test_an_event_of_a_copy_leaves_the_others_alone() -> None:
    text = TWO_LINKS + "count = 2\n" + event(1, flow="m.2", subflow=2, open=False)
    assert paths_at(text, 1.0) == [["m.1/1", "m.1/2"], ["m.2/1"]]


def test_a_backup_path_counts_only_while_no_other_can_be_used() -> None:
    text = TWO_LINKS + "backup = [2]\n" + event(5, link="wifi", up=False)
    assert [paths_at(text, time_s) for time_s in (0.0, 5.0)] == [[["m/1"]], [["m/2"]]]


def test_datagrams_are_taken_off_first() -> None:
    """onoff: 4 Mbit/s, on 1 s of 4: a mean of 1; cbr: 2 from 5 s on; of 6 Mbit/s, 5 and then 3 remain."""
    noise = '\nfrom = "a"\nto = "b"\npaths = [["wifi"]]\n'
    text = TWO_LINKS + f'[flows.bursts]\nkind = "onoff"\nrate = "4Mbit/s"\non = "1s"\noff = "3s"{noise}'
    text += f'[flows.steady]\nkind = "cbr"\nrate = "2Mbit/s"\nstart = "5s"{noise}'
    assert at(text, 4.0).capacities_bps["wifi/forward"] == pytest.approx(5e6 * PAYLOAD)
    assert at(text, 5.0).capacities_bps["wifi/forward"] == pytest.approx(3e6 * PAYLOAD)


def test_datagrams_that_fill_a_link_close_it() -> None:
    noise = '[flows.flood]\nkind = "cbr"\nrate = "60Mbit/s"\nfrom = "a"\nto = "b"\npaths = [["wifi"]]\n'
    assert paths_at(TWO_LINKS + noise) == [["m/2"]]


CHAIN = """
format = 1
name = "Chain"
duration = "20s"
nodes = { a = {}, r = { kind = "router" }, b = {} }
[links]
one = { ends = ["a", "r"], rate = "10Mbit/s", delay = "1ms", queue = "10pkt", loss = "10%" }
two = { ends = ["r", "b"], rate = "9.5Mbit/s", delay = "1ms", queue = "10pkt", loss = "10%" }
"""


def test_loss_thins_behind_the_link_before_it_as_in_the_simulator() -> None:
    """A link of 10 Mbit/s, full in spite of its own loss, feeds a link with 10 % loss: 9 of its 9.5 Mbit/s arrive.

    A flood of datagrams of 1500 bytes, 1472 of them payload, carries as much through the simulated chain.
    """
    tcp = '[flows.t]\nkind = "tcp"\nfrom = "a"\nto = "b"\ncontroller = "newreno"\n'
    assert max_min_split(at(CHAIN + tcp)).totals_bps["t"] == pytest.approx(9e6 * PAYLOAD)
    flood = parse_scenario(CHAIN + '[flows.f]\nkind = "cbr"\nfrom = "a"\nto = "b"\nrate = "20Mbit/s"\n')
    assert goodputs(run(flood))["f"] * 1500 / 1472 == pytest.approx(9e6, rel=0.01)


def test_a_window_is_cut_where_the_network_changes_and_shares_are_means() -> None:
    """6 + 3 Mbit/s for 4 s, then 3 alone for 6 s: 0.4 x 9 + 0.6 x 3 = 5.4 on average."""
    ideal = ideal_shares(parse_scenario(TWO_LINKS + event(4, link="wifi", up=False)), 0.0, 10.0)
    assert ideal.stretches == 2
    assert ideal.max_min.totals_bps["m"] == pytest.approx(5.4e6 * PAYLOAD)
    assert ideal.proportional.totals_bps["m"] == pytest.approx(5.4e6 * PAYLOAD)
    assert ideal.max_min.subflows_bps == pytest.approx({"m/1": 2.4e6 * PAYLOAD, "m/2": 3e6 * PAYLOAD})
    assert ideal.limiting == pytest.approx({"lte/reverse": 1.0, "wifi/forward": 0.4})


def test_a_connection_counts_for_the_time_that_it_sends() -> None:
    """One connection for 5 s, then two: the first has 6 and 3 Mbit/s, 4.5 on average; the second has 3 from then on."""
    text = TWO_LINKS.replace('paths = [["wifi"], ["lte"]]', 'paths = [["wifi"]]')
    alive = {"m": Lifetime(0.0, math.inf), "n": Lifetime(5.0, math.inf)}
    text += '[flows.n]\nkind = "tcp"\nfrom = "a"\nto = "b"\ncontroller = "newreno"\npaths = [["wifi"]]\nstart = "5s"\n'
    for lives in (alive, None):
        totals = ideal_shares(parse_scenario(text), 0.0, 10.0, lives).max_min.totals_bps
        assert totals == pytest.approx({"m": 4.5e6 * PAYLOAD, "n": 3e6 * PAYLOAD})


def test_a_link_that_changes_very_often_has_its_mean_rate() -> None:
    """Every 10 ms between 2 and 6 Mbit/s: 1000 changes, whereas at most 60 stretches are computed; the mean is 4."""
    steps = ", ".join(f'["{n * 10}ms", "{(2, 6)[n % 2]}Mbit/s"]' for n in range(1000))
    text = TWO_LINKS.replace('rate = "6Mbit/s"', f"rate = {{ steps = [{steps}] }}")
    ideal = ideal_shares(parse_scenario(text), 0.0, 10.0)
    assert ideal.stretches <= 60
    assert ideal.max_min.totals_bps["m"] == pytest.approx(7e6 * PAYLOAD, rel=0.01)


def test_nothing_of_a_cancelled_ideal_is_computed() -> None:
    with pytest.raises(InterruptedError):
        ideal_shares(parse_scenario(TWO_LINKS), 0.0, 10.0, is_cancelled=lambda: True)


def test_with_one_path_each_nobody_gains_by_another() -> None:
    """Two connections over links of 6 and 3 Mbit/s: one on each. Chance assigns the links, so both expect 4.5."""
    two = at(TWO_LINKS + "count = 2\n")
    assert single_path_totals(two) == pytest.approx({"m.1": 4.5e6 * PAYLOAD, "m.2": 4.5e6 * PAYLOAD})
    # A third connection makes it 3, 3 and 3: two on the larger link.
    three = at(TWO_LINKS + "count = 3\n")
    assert list(single_path_totals(three).values()) == pytest.approx([3e6 * PAYLOAD] * 3)


def test_single_paths_of_unlimited_and_cut_off_connections() -> None:
    (connection,) = at(TWO_LINKS).connections
    free = SharedNetwork({"wifi/forward": 1.0, "lte/reverse": math.inf}, (connection,))
    assert single_path_totals(free) == {"m": math.inf}
    assert single_path_totals(SharedNetwork({}, (Connection("m", ()),))) == {"m": 0.0}

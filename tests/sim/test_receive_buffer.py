"""Receive buffers by the rule: sizes computed by hand, what counts, refusals, draws, and the networks of the arena."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.members import for_each
from tests.helpers.scenario_texts import TWO_PATHS, problem_of, read

from subflow_sim import load_scenario
from subflow_sim.arena.families import FAMILIES, network_text
from subflow_sim.errors import ParamError
from subflow_sim.receive_buffer import LEAST_BYTES, Share, buffer_bytes, connection_buffer_bytes, size_text
from subflow_sim.scenario import Scenario, parse_scenario
from subflow_sim.shipped import shipped_scenarios
from subflow_sim.training import Distribution

# 8 and 16 Mbit/s, both 100 ms and a queue of 100 ms
PATHS = TWO_PATHS.replace('rate = "16Mbit/s"', 'rate = "16Mbit/s"\ndelay = "50ms"\nqueue = "133pkt"')
TCP = '[flows.tcp]\nkind = "tcp"\nfrom = "server"\nto = "client"\npaths = [["wifi"]]\n'


def size(text: str, flow: str = "download") -> int:
    return connection_buffer_bytes(read(text), flow)


def test_a_buffer_holds_two_bandwidth_delay_products_of_all_paths():
    # 24 Mbit/s x 200.5 ms = 4.8 Mbit = 602 kB, of which 1448 of 1500 bytes are payload; twice that is 1.16 MB
    assert size(PATHS) == 1_200_000
    assert connection_buffer_bytes(read(PATHS), "download", times=1) == 590_000


@for_each(
    ("change", "flow", "expected"),
    [
        ("count = 5\n", "download", 240_000),  # each has a fifth
        (TCP, "download", 1_200_000),  # not shared with a flow of another kind
        (TCP, "tcp", 390_000),
        (TCP.replace("[flows.tcp]", "[flows.tcp]\ncount = 3"), "tcp", 130_000),
        (TCP.replace('"tcp"', '"mptcp"'), "download", 970_000),  # half of the first path, the whole second one
        (TCP.replace('"tcp"', '"mptcp"'), "tcp", 200_000),
        ('paths = [["wifi"], ["wifi"]]\n', "download", 780_000),  # two subflows on one bottleneck: twice its rate
        ('count = 4\npaths = [["wifi"], ["wifi"]]\n', "download", 200_000),  # four connections, not eight
        ('arrivals = { gap = "10s", lifetime = "30s" }\n', "download", 390_000),  # three at a time
        ('size = "1MB"\narrivals = { gap = "10s" }\n', "download", 1_200_000),  # at least one
        ("count = 100\n", "download", LEAST_BYTES),
        (
            '[flows.calls]\nkind = "cbr"\nfrom = "server"\nto = "client"\nrate = "1Mbit/s"\npaths = [["lte"]]\n',
            "download",
            1_200_000,  # no connection
        ),
        ('[[events]]\nat = "5s"\nlink = "lte"\nrate = "32Mbit/s"\n', "download", 2_000_000),  # queue of 50 ms there
        ('[[events]]\nat = "5s"\nlink = "lte"\nrate = "1Mbit/s"\n', "download", 1_200_000),
        ('[[events]]\nat = "5s"\nlink = "wifi"\ndelay = "150ms"\n', "download", 2_400_000),
    ],
)
def test_who_shares_and_what_changes_counts(change, flow, expected):
    assert size(PATHS + change, flow) == expected


def test_the_bottleneck_is_the_link_with_the_smallest_share():
    text = """\
format = 1
name = "Two links in a row"
duration = "10s"
[nodes]
a = {}
b = {}
r = { kind = "router" }
[links.wide]
ends = ["a", "r"]
rate = "20Mbit/s"
delay = "10ms"
queue = "500pkt"
[links.narrow]
ends = ["r", "b"]
rate = "12Mbit/s"
delay = "15ms"
queue = "50pkt"
[flows.one]
kind = "tcp"
from = "a"
to = "b"
"""
    # 12 Mbit/s x (50 + 50 ms) x 1448/1500 / 8 x 2; the queue of the wide link never fills
    assert size(text, "one") == 290_000
    many = text + '[nodes.c]\n[links.last]\nends = ["r", "c"]\nrate = "1Gbit/s"\n'
    many += '[flows.many]\nkind = "tcp"\nfrom = "a"\nto = "c"\ncount = 4\n'
    # 20 Mbit/s by 5; its queue of 500 packets takes 300 ms
    assert size(many, "one") == 340_000


@for_each(
    ("old", "new", "message"),
    [
        ('rate = "8Mbit/s"', 'rate = { trace = "x.down", content = "1 2 3" }', '"wifi", whose rate is a recording'),
        ('queue = "67pkt"', 'queue = "unlimited"', '"wifi", whose queue is unlimited'),
    ],
)
def test_a_path_without_a_known_size_is_refused(old, new, message):
    scenario = read(PATHS.replace(old, new))
    with pytest.raises(ParamError) as refused:
        connection_buffer_bytes(scenario, "download")
    assert refused.value.message == f"no buffer follows from the link {message}"
    assert refused.value.allowed


def test_a_path_of_links_without_rates_is_refused():
    """No file has such a path, but a scenario that is built in Python may."""
    scenario = read(PATHS)
    wifi = scenario.links["wifi"]
    endless = replace(wifi, forward=replace(wifi.forward, rate_bps=None), reverse=replace(wifi.reverse, rate_bps=None))
    with pytest.raises(ParamError, match='"wifi", which is unlimited'):
        connection_buffer_bytes(replace(scenario, links={**scenario.links, "wifi": endless}), "download")


def test_the_mean_of_a_recorded_rate_counts_if_asked_for():
    # A packet of 1500 bytes each millisecond: 12 Mbit/s
    recorded = PATHS.replace('rate = "16Mbit/s"', 'rate = { trace = "x.down", content = "1 2 3" }')
    steady = PATHS.replace('rate = "16Mbit/s"', 'rate = "12Mbit/s"')
    assert connection_buffer_bytes(read(recorded), "download", takes_means=True) == size(steady)


@for_each(
    ("rate_bps", "expected"),
    [
        (1.0e6, "64kB"),
        (4.0e6, "97kB"),
        (4.2e6, "110kB"),
        (40e6, "970kB"),
        (41.5e6, "1.1MB"),
        (1e9, "25MB"),
        (1e18, "1000GB"),
    ],
)
def test_sizes_are_rounded_up_to_two_digits(rate_bps, expected):
    assert size_text(buffer_bytes([Share(rate_bps, 0.1)], 1448)) == expected


def test_the_example_of_the_guide():
    scenario = load_scenario(shipped_scenarios()["drlcc-sc1"])
    assert connection_buffer_bytes(scenario, "download") == 160_000


# --- draws


def drawn(*lines: str, base: str = PATHS) -> Scenario:
    return Distribution.from_scenario(read("\n".join((base, "[training.draws]", *lines, "")))).draw(1, 0, 0)


def test_a_drawn_buffer_follows_the_rates_queues_and_flows_of_the_episode():
    lines = (
        "links.wifi.rate = { uniform = ['2Mbit/s', '90Mbit/s'] }",
        "links.wifi.queue = { bdp = 3 }",
        "flows.download.count = { integer = [1, 4] }",
        "flows.download.recv_buffer = { bdp = 2 }",
        "flows.download.send_buffer = { bdp = { uniform = [4, 8] } }",
    )
    sizes = set()
    episodes = Distribution.from_scenario(read("\n".join((PATHS, "[training.draws]", *lines, ""))))
    for episode in range(20):
        scenario = episodes.draw(1, 0, episode)
        flow = scenario.flows["download"]
        assert flow.recv_buffer_bytes == connection_buffer_bytes(scenario, "download")
        assert (flow.send_buffer_bytes or 0) >= 1.9 * (flow.recv_buffer_bytes or 1)
        sizes.add(flow.recv_buffer_bytes)
    assert len(sizes) > 10
    assert episodes.values(1, 0, 0)["flows.download.recv_buffer"] == 2


def test_a_drawn_buffer_has_at_least_the_first_window_of_linux():
    assert drawn("flows.download.recv_buffer = { bdp = 0.001 }").flows["download"].recv_buffer_bytes == LEAST_BYTES


def test_the_buffer_of_a_flow_that_is_left_out_is_left_out():
    scenario = drawn("flows.tcp.count = 0", "flows.tcp.recv_buffer = { bdp = 2 }", base=PATHS + TCP)
    assert list(scenario.flows) == ["download"]


@for_each(
    ("base", "line", "message"),
    [
        (PATHS, "flows.other.recv_buffer = { bdp = 2 }", 'unknown flow "other"'),
        (
            PATHS.replace('queue = "67pkt"', 'queue = "unlimited"'),
            "flows.download.recv_buffer = { bdp = 2 }",
            "no buffer follows",
        ),
        (
            PATHS + TCP.replace('"tcp"\n', '"cbr"\nrate = "1Mbit/s"\n'),
            "flows.tcp.recv_buffer = { bdp = 2 }",
            "recv_buffer does not apply to cbr",
        ),
        (PATHS, "flows.download.size = { bdp = 2 }", "only a queue or a buffer is measured"),
        (PATHS, "flows.download.recv_buffer = { bdp = 0 }", "not a factor"),
    ],
)
def test_a_buffer_that_cannot_be_computed_is_refused_when_the_file_is_read(base, line, message):
    problem = problem_of(f"{base}[training.draws]\n{line}\n")
    assert message in problem.message
    assert problem.key.startswith("training.draws.flows")


# --- networks


@for_each("family", FAMILIES, ids=str)
def test_every_connection_of_the_arena_has_a_buffer_by_the_rule(family):
    for number in range(1, 6):
        scenario = parse_scenario(network_text(FAMILIES[family], "test", number))
        for name, flow in scenario.flows.items():
            assert flow.recv_buffer_bytes == connection_buffer_bytes(scenario, name, takes_means=True)

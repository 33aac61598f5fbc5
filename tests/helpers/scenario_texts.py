"""Scenario texts for tests of the reader, and a list of algorithms that does not change with the core."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from subflow_sim.errors import Problem, ScenarioError
from subflow_sim.params import Algorithm, AlgorithmCatalog, Dimension, Param
from subflow_sim.scenario import Scenario, parse_scenario

CATALOG = AlgorithmCatalog(
    controllers=(
        Algorithm("newreno", "One path, halves on loss.", "RFC 5681"),
        Algorithm("lia", "Coupled.", "RFC 6356", is_coupled=True),
        Algorithm(
            "uncoupled",
            "One controller per subflow.",
            "NSDI 2011",
            (
                Param("base", Dimension.CHOICE, "What each runs.", default="newreno", choices=("newreno", "brisk")),
                Param("pace", Dimension.NUMBER, "A number.", default=1.0, minimum=0.0, applies_to=("brisk",)),
                Param("leap", Dimension.FLAG, "A flag.", default=True, textbook_default=False, applies_to=("brisk",)),
            ),
            is_coupled=True,
        ),
        Algorithm(
            "tunable",
            "Has options of each kind.",
            "nowhere",
            (
                Param("gain", Dimension.NUMBER, "A number.", default=0.5, minimum=0.0, maximum=2.0),
                Param("window", Dimension.TIME, "A time.", default=0.1, minimum=0.0, maximum=10.0),
                Param("paced", Dimension.FLAG, "A flag.", default=True),
            ),
        ),
    ),
    schedulers=(Algorithm("minrtt", "Fastest first.", "Linux"),),
)

TWO_PATHS = """\
format = 1
name = "Two paths"
duration = "60s"

[nodes.client]
[nodes.server]
at = [600, 0]

[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
delay = "50ms"
queue = "67pkt"
loss = "2%"

[links.lte]
ends = ["client", "server"]
rate = "16Mbit/s"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
"""
"""The smallest scenario that most tests need. Both links join client and server directly."""

ROUTED = """\
format = 1
duration = "60s"
nodes = { a = {}, b = {}, c = {}, r = { kind = "router" }, s = { kind = "router" } }

[links.ar]
ends = ["a", "r"]
rate = 1e6
[links.rs]
ends = ["r", "s"]
rate = 1e6
[links.sb]
ends = ["s", "b"]
rate = 1e6
[links.rb]
ends = ["r", "b"]
rate = 1e6
[links.bc]
ends = ["b", "c"]
rate = 1e6
[links.cs]
ends = ["c", "s"]
rate = 1e6

[flows.f]
kind = "mptcp"
from = "a"
to = "b"
"""
"""Hosts a, b, c and routers r, s: a-r, r-s, s-b, r-b, b-c, c-s."""

FULL = """\
format = 1
name = "Everything"
duration = "60s"
warmup = "5s"
seed = 7
mss = 1000
profile = "textbook"
start_jitter = "10ms"

[nodes.client]
at = [0, 10.5]
[nodes.server]
kind = "host"

[links.wifi]
ends = ["server", "client"]
rate = "8Mbit/s"
delay = "50ms"
queue = { discipline = "droptail", limit = "100kB" }
loss = "2%"
[links.wifi.reverse]
rate = "unlimited"
loss = 0

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = { name = "tunable", gain = 2, window = "20ms" }
scheduler = "minrtt"
paths = [["wifi"], ["wifi"]]
count = 3
start = "1s"
stop = "30s"
size = "8MB"
recv_buffer = "64kB"
send_buffer = "128kB"
backup = [2]

[flows.noise]
kind = "cbr"
from = "client"
to = "server"
rate = "1Mbit/s"
packet = "500B"

[flows.bursts]
kind = "onoff"
from = "client"
to = "server"
rate = "2Mbit/s"
spacing = "poisson"
on = "1s"
off = "10s"
arrivals = { gap = "9s", lifetime = "4s", lifetime_distribution = "exponential", limit = 7 }

[[events]]
at = "20s"
link = "wifi"
direction = "forward"
rate = "16Mbit/s"
delay = "10ms"
loss = "1%"
queue = "5pkt"
up = false

[[events]]
at = "10s"
flow = "download"
subflow = 2
open = false
backup = true
"""
"""Every key of the format, none at its default."""


def read(text: str, *overrides: str) -> Scenario:
    """Parses a text with the list of algorithms above."""
    return parse_scenario(text, file="test.toml", overrides=overrides, algorithms=CATALOG)


def problems_of(text: str, *overrides: str) -> Sequence[Problem]:
    """The problems reported by the parser; empty if it succeeds."""
    try:
        read(text, *overrides)
    except ScenarioError as error:
        return error.problems
    return ()


def problem_of(text: str, *overrides: str) -> Problem:
    """The only problem reported by the parser."""
    problems = problems_of(text, *overrides)
    assert len(problems) == 1, [str(problem) for problem in problems]
    return problems[0]


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """Dotted keys and values of everything in a file except tables."""
    if isinstance(value, Mapping):
        return [leaf for key, item in value.items() for leaf in leaves(item, f"{path}.{key}" if path else key)]
    if path == "events":
        return [leaf for index, item in enumerate(value) for leaf in leaves(item, f"events.{index}")]
    return [(path, value)]

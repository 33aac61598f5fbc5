"""Scenarios with learning agents, small enough for episodes of milliseconds."""

from __future__ import annotations

_NETWORK = """\
format = 1
duration = "4s"
[nodes.a]
[nodes.b]
[links.one]
ends = ["a", "b"]
rate = "8Mbit/s"
delay = "20ms"
queue = "40pkt"
loss = "0.5%"
[links.two]
ends = ["a", "b"]
rate = "4Mbit/s"
delay = "30ms"
queue = "40pkt"
"""

SHORT = f"""{_NETWORK}
[flows.download]
kind = "mptcp"
from = "a"
to = "b"
paths = [["one"], ["two"]]
count = 2
[flows.reno]
kind = "tcp"
from = "a"
to = "b"
paths = [["one"]]
"""
"""Two connections with two subflows each, and a TCP flow on one of their two paths, for four seconds."""

COMING_AND_GOING = f"""{_NETWORK}
[flows.early]
kind = "mptcp"
from = "a"
to = "b"
paths = [["one"], ["two"]]
size = "400kB"
[flows.late]
kind = "mptcp"
from = "a"
to = "b"
paths = [["one"], ["two"]]
start = "1s"
[[events]]
at = "2s"
flow = "late"
subflow = 2
open = false
[[events]]
at = "3s"
flow = "late"
subflow = 2
open = true
"""
"""A transfer that completes within a second, and a connection that starts then, whose subflow closes and opens."""

VARYING = f"""{_NETWORK}
[flows.download]
kind = "mptcp"
from = "a"
to = "b"
paths = [["one"], ["two"]]
[training]
episode = "2s"
[training.draws]
links.one.rate = {{ log_uniform = ["2Mbit/s", "16Mbit/s"] }}
links.two.queue = {{ bdp = {{ uniform = [0.5, 2.0] }} }}
flows.download.count = {{ integer = [1, 3] }}
"""
"""One to three connections over randomly drawn links."""

SINGLE_PATH = f"""{_NETWORK}
[flows.download]
kind = "tcp"
from = "a"
to = "b"
paths = [["one"]]
"""
"""A single TCP flow."""

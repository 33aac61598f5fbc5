"""The text of the small scenarios that run in the kernel: links between a sender and a receiver, and their flows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from subflow_app.foundation.toml_edit import render_text

ENDS = ("sender", "receiver")
"""The nodes that every case has, in the direction of data."""

_CASE = """\
format = 1
name = {name}
duration = "{duration_s}s"
warmup = "{warmup_s}s"

[nodes.sender]
[nodes.receiver]
{nodes}{links}{flows}"""

_LINK = """
[links.{name}]
ends = {ends}
rate = "{rate}"
delay = "{delay_ms:g}ms"
queue = {queue}
loss = "{loss_percent:g}%"
reverse = {{ queue = "1000pkt", loss = 0 }}
"""

_FLOW = """
[flows.{name}]
kind = "{kind}"
from = "sender"
to = "receiver"
controller = {controller}
paths = {paths}
{scheduler}"""


def case_text(name: str, duration_s: float, warmup_s: float, links: str, flows: str, *, nodes: str = "") -> str:
    """A scenario file.

    Args:
        name: name of the scenario.
        duration_s: its duration, s.
        warmup_s: time before measuring begins, s.
        links: results of `link_text`.
        flows: results of `flow_text`.
        nodes: sections of further nodes.
    """
    return _CASE.format(
        name=render_text(name), duration_s=duration_s, warmup_s=warmup_s, nodes=nodes, links=links, flows=flows
    )


def link_text(
    name: str, *, rate: str, delay_ms: float, queue: str, loss_percent: float, ends: Iterable[str] = ENDS
) -> str:
    """The section of a link, whose way back loses nothing.

    Args:
        name: name of the link.
        rate: its rate with the unit.
        delay_ms: one-way delay, ms.
        queue: its queue as a TOML value.
        loss_percent: random loss, %.
        ends: the nodes that it joins.
    """
    return _LINK.format(
        name=name, ends=_texts(ends), rate=rate, delay_ms=delay_ms, queue=queue, loss_percent=loss_percent
    )


def flow_text(name: str, controller: str, paths: Sequence[Sequence[str]], *, is_mptcp: bool) -> str:
    """The section of a flow from the sender to the receiver; that of MPTCP has the scheduler of Linux.

    Args:
        name: name of the flow.
        controller: its controller as a TOML value.
        paths: the links of each path.
        is_mptcp: whether the flow is an MPTCP connection.
    """
    return _FLOW.format(
        name=name,
        kind="mptcp" if is_mptcp else "tcp",
        controller=controller,
        paths=f"[{', '.join(map(_texts, paths))}]",
        scheduler='scheduler = "linux-mptcp"\n' if is_mptcp else "",
    )


def _texts(names: Iterable[str]) -> str:
    return f"[{', '.join(map(render_text, names))}]"

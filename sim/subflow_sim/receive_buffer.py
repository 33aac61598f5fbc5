"""Receive buffers by the rule of RFC 6182, section 5.3: twice the bandwidth of all paths times the longest round trip.

Without a limit a connection never waits for lost packets, however many they are. A controller that overloads its paths
is then paid for packets that the application cannot read yet. Shipped scenarios, the arena and the draws of
`[training.draws]` therefore size the buffers of compared connections by this rule.

The bandwidth of a path is its bottleneck's rate, divided among the connections of the same kind. Connections of the
other kind do not count, because a buffer should limit nothing that a connection could win from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from subflow_sim.errors import ParamError
from subflow_sim.fairness.network import directions
from subflow_sim.link_state import LiveLink, changed_link
from subflow_sim.params import HEADER_BYTES
from subflow_sim.scenario_model import Flow
from subflow_sim.whole_scenario import Scenario

LEAST_BYTES = 64_000
"""The smallest buffer: the first window of Linux, half of the 131072 bytes of tcp_rmem."""

MOST_BYTES = 10**12
"""The largest buffer that a scenario file allows."""

TIMES = 2.0
"""Bandwidth-delay products that a buffer holds: one for the data in flight, one while a lost packet is sent again."""


class Share(NamedTuple):
    """A connection's share of a path.

    Attributes:
        rate_bps: wire rate of the path's bottleneck divided by the number of connections of the same kind that cross
            it, bit/s.
        rtt_s: round-trip time of the path while the queue of the bottleneck is full, s.
    """

    rate_bps: float
    rtt_s: float


def buffer_bytes(shares: Iterable[Share], mss_bytes: int, times: float = TIMES) -> int:
    """The receive buffer of a connection, rounded up to two digits, at least `LEAST_BYTES`.

    Args:
        shares: shares of its paths, one for each, at least one; also paths with the same bottleneck all count.
        mss_bytes: payload of a packet; the buffer holds payload.
        times: bandwidth-delay products that it holds.
    """
    shares = list(shares)
    rate_bps = math.fsum(share.rate_bps for share in shares)
    payload = mss_bytes / (mss_bytes + HEADER_BYTES)
    held = times * rate_bps * payload * max(share.rtt_s for share in shares) / 8
    digit = int(10 ** max(math.floor(math.log10(max(held, 1.0))) - 1, 0))
    # The tolerance prevents that a rounding error adds a digit
    return min(max(math.ceil(held / digit - 1e-9) * digit, LEAST_BYTES), MOST_BYTES)


def size_text(size_bytes: int) -> str:
    """A size in the notation of a scenario file, with the largest unit that keeps it short: "64kB", "2.4MB"."""
    worth, unit = next(
        (each for each in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")) if size_bytes >= each[0]), (1, "B")
    )
    return f"{size_bytes / worth:.12g}{unit}"


def connection_buffer_bytes(scenario: Scenario, flow: str, times: float = TIMES, *, takes_means: bool = False) -> int:
    """The receive buffer of each connection of a flow by the rule, bytes of payload.

    Each path counts with the rate of its bottleneck per connection of the flow's kind that crosses it. The bottleneck
    is the link with the lowest such rate. A connection counts once for a link, however many of its subflows cross it.
    Rates, delays and queues that events change count with their largest value. Of copies that arrive at random, the
    mean number of simultaneous ones counts, at least one.

    Args:
        scenario: the scenario with all events.
        flow: name of a flow of kind tcp or mptcp.
        times: bandwidth-delay products that the buffer holds.
        takes_means: whether a recorded rate counts with its mean; otherwise it is refused.

    Raises:
        ParamError: if the rate of a link of a path follows a recording, a path has no link with a rate, or the queue of
            its bottleneck is unlimited.
    """
    own = scenario.flows[flow]
    sides = {
        key: _largest(scenario, key, takes_means=takes_means)
        for path in own.paths
        for key in (*directions(scenario, own.source, path), *_opposite(directions(scenario, own.source, path)))
    }
    crowds = _crowds(scenario, own.kind)
    shares = [_share(scenario, directions(scenario, own.source, path), sides, crowds) for path in own.paths]
    return buffer_bytes(shares, scenario.mss_bytes, times)


class _Side(NamedTuple):
    """The largest values of a link direction during a run.

    Attributes:
        rate_bps: wire rate, bit/s; infinite: unlimited.
        delay_s: one-way delay, s.
        queue_s: time in which a full queue leaves at that rate, s; infinite without a limit.
        is_recorded: whether the rate is unknown because it follows a recording.
    """

    rate_bps: float
    delay_s: float
    queue_s: float
    is_recorded: bool


def _largest(scenario: Scenario, key: str, *, takes_means: bool) -> _Side:
    name, _, way = key.partition("/")
    link = scenario.links[name]
    live = LiveLink(link.reverse if way == "reverse" else link.forward, True)
    states = [live.side]
    for event in scenario.events:
        if event.link == name and event.direction in ("both", way):
            live = changed_link(live, event)
            states.append(live.side)
    packet_bits = 8 * (scenario.mss_bytes + HEADER_BYTES)
    rate_bps = max(math.inf if side.rate_bps is None else side.rate_bps for side in states)
    limits = [math.inf if side.queue.limit_pkts is None else side.queue.limit_pkts * packet_bits for side in states]
    in_bytes = [math.inf if side.queue.limit_bytes is None else side.queue.limit_bytes * 8 for side in states]
    held_bits = max(min(pair) for pair in zip(limits, in_bytes, strict=True))
    queue_s = 0.0 if math.isinf(rate_bps) else held_bits / rate_bps
    is_recorded = not takes_means and any(side.trace is not None for side in states)
    return _Side(rate_bps, max(side.delay_s for side in states), queue_s, is_recorded)


def _opposite(keys: Iterable[str]) -> list[str]:
    ends = {"forward": "reverse", "reverse": "forward"}
    return [f"{name}/{ends[way]}" for name, _, way in (key.partition("/") for key in keys)]


def _crowds(scenario: Scenario, kind: str) -> dict[str, float]:
    """Number of connections of a kind, "tcp" or "mptcp", that cross each link direction."""
    crowds: dict[str, float] = {}
    for flow in scenario.flows.values():
        if flow.kind != kind:
            continue
        for key in {key for path in flow.paths for key in directions(scenario, flow.source, path)}:
            crowds[key] = crowds.get(key, 0.0) + _copies(flow)
    return crowds


def _copies(flow: Flow) -> float:
    arrivals = flow.arrivals
    if arrivals is None:
        return float(flow.count)
    mean = 1.0 if arrivals.lifetime_s is None else arrivals.lifetime_s / arrivals.mean_gap_s
    return max(min(mean, flow.most_copies), 1.0)


def _share(scenario: Scenario, keys: tuple[str, ...], sides: Mapping[str, _Side], crowds: Mapping[str, float]) -> Share:
    bottleneck = next((key for key in keys if sides[key].is_recorded), None) or min(
        keys, key=lambda key: sides[key].rate_bps / crowds[key]
    )
    side, name = sides[bottleneck], bottleneck.partition("/")[0]
    for is_wrong, reason, allowed in (
        (side.is_recorded, "whose rate is a recording", "a size of the buffer, or a link with a rate"),
        (math.isinf(side.rate_bps), "which is unlimited", "a link with a rate"),
        (math.isinf(side.queue_s), "whose queue is unlimited", "a queue with a limit"),
    ):
        if is_wrong:
            raise ParamError(f'no buffer follows from the link "{name}", {reason}', allowed)
    delay_s = math.fsum(sides[key].delay_s for key in (*keys, *_opposite(keys)))
    return Share(side.rate_bps / crowds[bottleneck], delay_s + side.queue_s)

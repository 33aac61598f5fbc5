"""The families of networks of the arena: the distributions of their parameters, and their topologies.

Each family varies one property of networks that challenges controllers. Its networks are numbered, and each is drawn
from a hash of family, split and number, independently of the others. Training, validation and test use different
topologies: an agent is tested on paths that overlap in ways absent from its training.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from subflow_sim.arena.topologies import TOPOLOGIES, Topology
from subflow_sim.buffered_text import with_buffers
from subflow_sim.draws import Independent, Pick, Range, uniform
from subflow_sim.params import HEADER_BYTES
from subflow_sim.units import Dimension

Split = Literal["train", "validation", "test"]

SPLITS: tuple[Split, ...] = ("train", "validation", "test")

_MSS = 1448
_PACKET_BITS = 8 * (_MSS + HEADER_BYTES)
_FEWEST_QUEUED = 3
_ACCESS_RATE = "2Gbit/s"
_TRACE_S, _TRACE_STEP_S = 10, 0.2


def _log(low: float, high: float) -> Range:
    return Range(low, high, is_log=True)


def _choice(*options: float, weights: tuple[float, ...] = ()) -> Pick:
    shares = weights or (1.0,) * len(options)
    total = math.fsum(shares)
    return Pick(options, tuple(math.fsum(shares[: end + 1]) / total for end in range(len(options))))


_TOPOLOGIES: Mapping[Split, tuple[str, ...]] = MappingProxyType(
    {
        "train": ("one", "two", "three", "shared"),
        "validation": ("four", "pair", "fork"),
        "test": ("tandem", "crossed", "ring", "offload", "five"),
    }
)
_FEW_LINKS: Mapping[Split, tuple[str, ...]] = MappingProxyType(
    {
        "train": ("one", "two", "shared"),
        "validation": ("pair", "fork"),
        "test": ("tandem", "ring", "offload", "trunk"),
    }
)
"""Topologies with few links, because a simulation of many fast links takes too long."""

_SEVERAL_LINKS: Mapping[Split, tuple[str, ...]] = MappingProxyType(
    {"train": ("two", "three"), "validation": _TOPOLOGIES["validation"], "test": _TOPOLOGIES["test"]}
)

_SINGLE_PATHS: Mapping[Split, tuple[str, ...]] = MappingProxyType(
    {"train": ("one",), "validation": ("row",), "test": ("chain",)}
)
_ONE_LOSS: Mapping[Split, tuple[str, ...]] = MappingProxyType(
    {"train": ("one",), "validation": ("exit",), "test": ("entry",)}
)
"""Topologies with one path over one bottleneck, where a connection with several subflows would hide slow recovery."""

_EQUALS: Mapping[Split, tuple[str, ...]] = MappingProxyType(
    {"train": ("quartet",), "validation": ("quartet-two",), "test": ("quartet-row", "quartet-ways", "quartet-three")}
)
_BESIDE_FIRST: Mapping[Split, tuple[str, ...]] = MappingProxyType(
    {**_TOPOLOGIES, "test": ("trunk", "tandem", "crossed", "ring", "offload")}
)

Happening = Literal["", "failure", "step", "walk", "alternate"]

EDITION = 2
"""Edition of the families; it grows when families are added. Families of earlier editions never change."""


@dataclass(frozen=True, slots=True)
class Family:
    """The distributions and settings that all networks of a family share.

    Attributes:
        name: "lossy".
        title: one line for display.
        rate: rate of each bottleneck, bit/s.
        rtt: round-trip time of each link, s.
        buffer: buffer of each bottleneck, as a multiple of the bandwidth-delay product of its longest path.
        buffer_pkts: buffer of each bottleneck, packets, instead of `buffer`; None: by `buffer`.
        loss: random loss of each bottleneck, 0..1.
        slow_rate: rate of the second, fourth, ... bottleneck, bit/s; None: distributed as `rate`.
        slow_rtt: round-trip time of the second, fourth, ... bottleneck, s; None: distributed as `rtt`.
        burst: mean length of a loss burst on the first, third, ... bottleneck, packets; None: independent losses.
        has_traces: whether the second, fourth, ... bottleneck follows a randomly drawn rate trace.
        beside: controller of the background TCP connections; empty: no background connections.
        beside_each: whether each bottleneck carries a TCP connection, instead of only the first.
        happening: change of the links during the run: one link fails for a while ("failure"), all rates change once at
            the end of the warm-up ("step"), change repeatedly ("walk"), or alternate between two values ("alternate");
            empty: no change.
        warmup_s: time before the measured time, s.
        measured_s: measured time, s.
        topologies: names of the topologies of each split.
        edition: the first edition of the families that includes this one.
    """

    name: str
    title: str
    rate: Independent = field(default_factory=lambda: _log(4e6, 40e6))
    rtt: Independent = field(default_factory=lambda: _log(0.02, 0.12))
    buffer: Independent = field(default_factory=lambda: _log(0.5, 2.0))
    buffer_pkts: Independent | None = None
    loss: Independent = field(default_factory=lambda: _choice(0.0, 1e-4, 1e-3, weights=(3, 1, 1)))
    slow_rate: Independent | None = None
    slow_rtt: Independent | None = None
    burst: Independent | None = None
    has_traces: bool = False
    beside: Literal["", "newreno", "cubic"] = ""
    beside_each: bool = False
    happening: Happening = ""
    warmup_s: float = 8.0
    measured_s: float = 16.0
    topologies: Mapping[Split, tuple[str, ...]] = field(default_factory=lambda: _TOPOLOGIES)
    edition: int = 1

    def topology(self, split: Split, number: int) -> Topology:
        """The topology of a network; consecutive numbers rotate through the topologies."""
        names = self.topologies[split]
        return TOPOLOGIES[names[(number - 1) % len(names)]]


FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("slow", "Slow links", rate=_log(1e6, 4e6), rtt=_log(0.03, 0.15), measured_s=24.0),
        Family(
            "fast",
            "Fast links",
            rate=_log(100e6, 300e6),
            rtt=_log(0.01, 0.04),
            buffer=_log(0.3, 1.0),
            warmup_s=5.0,
            measured_s=6.0,
            topologies=_FEW_LINKS,
        ),
        Family(
            "shallow",
            "Hardly any buffer",
            rate=_log(20e6, 100e6),
            rtt=_log(0.005, 0.04),
            buffer=_log(0.1, 0.4),
            warmup_s=5.0,
            measured_s=8.0,
            topologies=_FEW_LINKS,
        ),
        Family("deep", "Buffers of several round trips", buffer=_log(2.0, 6.0), rate=_log(4e6, 25e6)),
        Family(
            "long",
            "Long round trips",
            rate=_log(5e6, 30e6),
            rtt=_log(0.2, 0.4),
            warmup_s=15.0,
            measured_s=25.0,
        ),
        Family("lossy", "Random loss", rate=_log(4e6, 40e6), loss=_log(5e-3, 5e-2)),
        Family(
            "unlike",
            "A fast and short path beside a slow and long one",
            rate=_log(30e6, 80e6),
            rtt=_log(0.01, 0.03),
            slow_rate=_log(1e6, 8e6),
            slow_rtt=_log(0.1, 0.3),
            measured_s=12.0,
            topologies=_SEVERAL_LINKS,
        ),
        Family(
            "many",
            "Many paths",
            rate=_log(2e6, 15e6),
            topologies=MappingProxyType(
                {"train": ("one", "two", "three"), "validation": ("four",), "test": ("trunk", "five", "eight")}
            ),
        ),
        Family(
            "failure", "A link fails and comes back", happening="failure", measured_s=24.0, topologies=_SEVERAL_LINKS
        ),
        Family("step", "The capacity changes, once", happening="step", warmup_s=12.0, measured_s=16.0),
        Family("walk", "The capacity changes again and again", happening="walk", measured_s=24.0),
        Family(
            "wireless",
            "Wi-Fi that loses in bursts, beside LTE that follows a recording",
            loss=_log(1e-3, 1.5e-2),
            rate=_log(5e6, 40e6),
            burst=_log(2.0, 8.0),
            has_traces=True,
            topologies=_SEVERAL_LINKS,
        ),
        Family(
            "beside-newreno",
            "Beside a NewReno",
            rate=_log(6e6, 40e6),
            beside="newreno",
            measured_s=24.0,
            topologies=_BESIDE_FIRST,
        ),
        Family(
            "beside-cubic",
            "Beside a CUBIC on each link",
            rate=_log(6e6, 40e6),
            beside="cubic",
            beside_each=True,
            measured_s=24.0,
        ),
        Family(
            "alone",
            "One connection on one path",
            rate=_log(2e6, 200e6),
            rtt=_log(0.01, 0.1),
            buffer=_log(0.2, 4.0),
            topologies=_SINGLE_PATHS,
            edition=2,
        ),
        Family(
            "stray-loss",
            "Random loss on fast links, whose queues stay empty",
            rate=_log(30e6, 300e6),
            rtt=_log(0.01, 0.08),
            loss=_log(3e-3, 3e-2),
            topologies=_ONE_LOSS,
            edition=2,
        ),
        Family(
            "equals",
            "Four equal connections",
            rate=_log(8e6, 80e6),
            warmup_s=12.0,
            measured_s=24.0,
            topologies=_EQUALS,
            edition=2,
        ),
        Family(
            "equals-lossy",
            "Four equal connections under random loss",
            rate=_log(100e6, 400e6),
            rtt=_log(0.01, 0.08),
            loss=_log(3e-3, 3e-2),
            topologies=_EQUALS,
            edition=2,
        ),
        Family(
            "tight-newreno",
            "Beside a NewReno, behind a buffer of a few packets",
            rate=_log(4e6, 40e6),
            rtt=_log(0.01, 0.08),
            buffer_pkts=Range(_FEWEST_QUEUED, 11, Dimension.COUNT),
            beside="newreno",
            measured_s=24.0,
            topologies=_BESIDE_FIRST,
            edition=2,
        ),
        Family(
            "alternating",
            "The capacity alternates between two values",
            rate=_log(6e6, 30e6),
            happening="alternate",
            measured_s=24.0,
            edition=2,
        ),
    )
}
"""All families by name, in display order."""


def network_text(family: Family, split: Split, number: int) -> str:
    """The scenario file of a network of a family; receive buffers follow the rule of `receive_buffer`.

    Args:
        family: distributions of the network's parameters.
        split: "train", "validation" or "test".
        number: number of the network, from 1.
    """
    return with_buffers(_Writer(family, split, number).text(), f"{family.name}/{split}/{number}")


class _Writer:
    """Draws a network and writes its scenario file."""

    def __init__(self, family: Family, split: Split, number: int) -> None:
        self._family = family
        self._topology = family.topology(split, number)
        self._title = f"{family.title}: {split} {number}"
        self._number = number
        self._key = f"{family.name}/{split}"

    def text(self) -> str:
        family, topology = self._family, self._topology
        bottlenecks = topology.bottlenecks
        rtt = {name: self._rtt_s(name) for name in topology.spans}
        rate = {name: self._rate_bps(name) for name in bottlenecks}
        lines = [
            f"# {topology.title}.",
            "format = 1",
            f'name = "{self._title}"',
            f'duration = "{family.warmup_s + family.measured_s:g}s"',
            f'warmup = "{family.warmup_s:g}s"',
            'start_jitter = "300ms"',
            f"seed = {self._number}",
        ]
        if self._drawn("delayed-ack", _choice(1, 0, weights=(3, 1))) == 0:
            lines += ["", "[transport]", 'delayed_ack = "off"']
        lines += ["", *self._nodes()]
        for name, span in topology.spans.items():
            lines += ["", f"[links.{name}]", f'ends = ["{span.ends[0]}", "{span.ends[1]}"]']
            lines.append(f'delay = "{1e3 * rtt[name] * span.share / 2:.4g}ms"')
            if span.is_access:
                lines += [f'rate = "{_ACCESS_RATE}"', 'queue = "10000pkt"']
                continue
            lines += self._bottleneck(name, rate[name], rtt)
        lines += ["", *self._flows()]
        for event in self._events(rate):
            lines += ["", "[[events]]", *event]
        return "\n".join(lines) + "\n"

    def _drawn(self, what: str, draw: Independent) -> float:
        value = draw.value(uniform(self._number, 0, 0, f"{self._key}/{what}"))
        assert isinstance(value, int | float)
        return value

    def _is_other(self, link: str) -> bool:
        """True for the second, fourth, ... bottleneck."""
        bottlenecks = self._topology.bottlenecks
        return link in bottlenecks and bottlenecks.index(link) % 2 == 1

    def _rtt_s(self, link: str) -> float:
        family = self._family
        draw = family.slow_rtt if family.slow_rtt is not None and self._is_other(link) else family.rtt
        return self._drawn(f"{link}/rtt", draw)

    def _rate_bps(self, link: str) -> float:
        family = self._family
        draw = family.slow_rate if family.slow_rate is not None and self._is_other(link) else family.rate
        return self._drawn(f"{link}/rate", draw)

    def _nodes(self) -> list[str]:
        ends = [end for span in self._topology.spans.values() for end in span.ends]
        # Sources left, destinations right
        places = {"server": (0, 0), "hub": (300, 0), "hub2": (450, 0), "client": (600, 0)}
        lines = []
        for name, (x, y) in places.items():
            if name in ends:
                kind = 'kind = "router"\n' if name.startswith("hub") else ""
                lines.append(f"[nodes.{name}]\n{kind}at = [{x}, {y}]")
        return lines

    def _bottleneck(self, name: str, rate_bps: float, rtt: Mapping[str, float]) -> list[str]:
        family, spans = self._family, self._topology.spans
        lines = []
        if family.has_traces and self._is_other(name):
            times, rate_bps = self._recording(name)
            lines.append(f'rate = {{ trace = "{name}.down", content = "{" ".join(map(str, times))}" }}')
        else:
            lines.append(f'rate = "{rate_bps / 1e6:.4g}Mbit/s"')
        paths = [path for user in self._topology.users for path in user if name in path]
        longest_s = max(math.fsum(rtt[link] * spans[link].share for link in path) for path in paths)
        held = rate_bps * longest_s / _PACKET_BITS
        if family.buffer_pkts is not None:
            queue = round(self._drawn(f"{name}/buffer", family.buffer_pkts))
        else:
            queue = max(round(self._drawn(f"{name}/buffer", family.buffer) * held), _FEWEST_QUEUED)
        lines.append(f'queue = "{queue}pkt"')
        loss = self._drawn(f"{name}/loss", family.loss)
        if family.burst is not None and not self._is_other(name):
            # The stationary probability of the bad state, p / (p + r), equals the loss
            leave = 1 / self._drawn(f"{name}/burst", family.burst)
            enter = leave * loss / (1 - loss)
            lines.append(f'loss = {{ model = "gilbert", p = "{100 * enter:.3g}%", r = "{100 * leave:.3g}%" }}')
        elif loss > 0 and not (family.has_traces and self._is_other(name)):
            lines.append(f'loss = "{100 * loss:.3g}%"')
        reverse = ["loss = 0"] if lines[-1].startswith("loss") else []
        if lines[0].startswith("rate = {"):
            reverse.append('rate = "20Mbit/s"')
        if reverse:
            lines += [f"[links.{name}.reverse]", *reverse]
        return lines

    def _recording(self, name: str) -> tuple[list[int], float]:
        """Delivery times of a link, ms, and their mean rate, bit/s; the rate follows a random walk."""
        rate_bps = self._drawn(f"{name}/rate", _log(2e6, 12e6))
        times, owed = [], 0.0
        for step in range(round(_TRACE_S / _TRACE_STEP_S)):
            factor = self._drawn(f"{name}/walk/{step}", _log(0.7, 1 / 0.7))
            rate_bps = min(max(rate_bps * factor, 0.5e6), 15e6)
            for millisecond in range(round(_TRACE_STEP_S * 1e3)):
                owed += rate_bps * 1e-3 / 12_000
                while owed >= 1:
                    times.append(round(step * _TRACE_STEP_S * 1e3) + millisecond + 1)
                    owed -= 1
        return times, len(times) * 12_000 / (times[-1] * 1e-3)

    def _flows(self) -> list[str]:
        lines = []
        users = self._topology.users
        for number, paths in enumerate(users, start=1):
            shown = ", ".join(f"[{_names(path)}]" for path in paths)
            lines += [
                f"[flows.{_user(number, len(users))}]",
                'kind = "mptcp"',
                'from = "server"',
                'to = "client"',
                'controller = "lia"',
                f"paths = [{shown}]",
                "",
            ]
        if self._family.beside:
            beside = self._topology.bottlenecks if self._family.beside_each else self._topology.bottlenecks[:1]
            for link in beside:
                lines += [
                    f"[flows.tcp-{link}]",
                    'kind = "tcp"',
                    'from = "server"',
                    'to = "client"',
                    f'controller = "{self._family.beside}"',
                    f"paths = [[{_names(self._topology.path_over(link))}]]",
                    "",
                ]
        return lines[:-1]

    def _events(self, rate: Mapping[str, float]) -> list[list[str]]:
        make: Mapping[Happening, Callable[[Mapping[str, float]], list[list[str]]]] = {
            "": lambda _: [],
            "failure": self._failure,
            "step": self._step,
            "walk": self._walk,
            "alternate": self._alternate,
        }
        return make[self._family.happening](rate)

    def _failure(self, rate: Mapping[str, float]) -> list[list[str]]:
        family = self._family
        links = list(rate)
        link = links[int(self._drawn("fails", Range(0, 1)) * len(links)) % len(links)]
        at_s = family.warmup_s + family.measured_s * self._drawn("fails/at", Range(0.1, 0.4))
        back_s = at_s + self._drawn("fails/lasts", _log(3.0, 8.0))
        return [
            [f'at = "{at_s:.3f}s"', f'link = "{link}"', "up = false"],
            [f'at = "{back_s:.3f}s"', f'link = "{link}"', "up = true"],
        ]

    def _step(self, rate: Mapping[str, float]) -> list[list[str]]:
        events = []
        for link, rate_bps in rate.items():
            is_up = self._drawn(f"{link}/step/up", _choice(1, 0)) == 1
            factor = self._drawn(f"{link}/step", _log(2.0, 4.0))
            new_bps = rate_bps * factor if is_up else rate_bps / factor
            events.append(_change(self._family.warmup_s, link, new_bps))
        return events

    def _walk(self, rate: Mapping[str, float]) -> list[list[str]]:
        family = self._family
        events = []
        for link, rate_bps in rate.items():
            at_s, number = 0.0, 0
            while True:
                at_s += self._drawn(f"{link}/walk/{number}/every", _log(2.0, 6.0))
                if at_s >= family.warmup_s + family.measured_s:
                    break
                factor = self._drawn(f"{link}/walk/{number}", _log(0.4, 2.0))
                events.append((at_s, _change(at_s, link, rate_bps * factor)))
                number += 1
        return [event for _, event in sorted(events, key=lambda each: each[0])]

    def _alternate(self, rate: Mapping[str, float]) -> list[list[str]]:
        family = self._family
        events = []
        for link, rate_bps in rate.items():
            half_s = self._drawn(f"{link}/alternate/every", _log(1.0, 5.0))
            is_up = self._drawn(f"{link}/alternate/up", _choice(1, 0)) == 1
            factor = self._drawn(f"{link}/alternate", _log(2.0, 4.0))
            other_bps = rate_bps * factor if is_up else rate_bps / factor
            for number in range(1, math.ceil((family.warmup_s + family.measured_s) / half_s)):
                at_s = number * half_s
                events.append((at_s, _change(at_s, link, other_bps if number % 2 else rate_bps)))
        return [event for _, event in sorted(events, key=lambda each: each[0])]


def _names(links: tuple[str, ...]) -> str:
    return ", ".join(f'"{link}"' for link in links)


def _user(number: int, count: int) -> str:
    return "user" if count == 1 else f"user{number}"


def _change(at_s: float, link: str, rate_bps: float) -> list[str]:
    return [f'at = "{at_s:.3f}s"', f'link = "{link}"', f'rate = "{rate_bps / 1e6:.4g}Mbit/s"']

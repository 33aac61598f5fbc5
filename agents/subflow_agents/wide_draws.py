"""Widely drawn networks, for an agent that must generalise to unforeseen networks.

Most ranges of the kind "wide" exceed those of the arena's families. The networks also contain elements absent from the
arena's training split: two to four subflows of a connection in one bottleneck, competing BBR, MPCC and connections of
the same kind, flows that start late, varying delays, and marking queues. Key, number and kind determine a network.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from subflow_sim.buffered_text import with_buffers
from subflow_sim.draws import Range, uniform
from subflow_sim.params import HEADER_BYTES

_PACKET_BITS = 8 * (1448 + HEADER_BYTES)
_FEWEST_QUEUED = 3
_BDPS, _NARROW_BDPS = (0.1, 5.0), (0.5, 2.0)  # buffers in bandwidth-delay products
# For the kind "cramped": buffers as in counterexamples to the claim that competing flows are not harmed, and the share
# of networks with such buffers
_CRAMPED_BDPS, _CRAMPED_SHARE = (0.01, 0.15), 0.3
_MOST_PACKETS = 150_000  # approximate limit per episode: fast links have short episodes

KINDS = ("wide", "alone", "narrow", "cramped")
"""Kinds of draws. "wide": all ranges. "alone": without competing flows. "narrow": the networks of a typical paper, one
or two paths of 4 to 20 Mbit/s and 20 to 80 ms without random loss. "cramped": wide, but three in ten resemble the
counterexamples found: a competing NewReno behind buffers of at most 0.15 bandwidth-delay products.
"""

T = TypeVar("T")
Chance = Callable[[str], float]
"""Function from the name of a draw to a number in [0, 1)."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A topology: number of a connection's paths through each bottleneck, and relative frequency of the topology."""

    ways: tuple[int, ...]
    weight: float


_SHAPES = (
    _Shape((1,), 2.5),
    _Shape((1, 1), 4),
    _Shape((1, 1, 1), 2),
    _Shape((2,), 2.5),
    _Shape((3,), 1.5),
    _Shape((4,), 1.5),
    _Shape((2, 1), 2.5),
)
_NARROW_SHAPES = (_Shape((1,), 1), _Shape((1, 1), 1))
_BESIDE = (
    ("", 8.0),
    ("newreno", 6.0),
    ("cubic", 5.0),
    ("bbr", 0.7),
    ("mpcc-loss", 0.5),
    ("self", 4.0),
)


def wide_text(key: str, number: int, *, kind: str = "wide") -> str:
    """The scenario file of a network; flows with the prefix "user" learn.

    Receive buffers follow the rule of `receive_buffer`.

    Args:
        key: key of the draws.
        number: number of the network.
        kind: one of `KINDS`.
    """
    text = _Writer(lambda what: uniform(number, 0, 0, f"{key}/{what}"), kind).text()
    return with_buffers(text, f"{kind}/{key}/{number}")


class _Writer:
    def __init__(self, chance: Chance, kind: str) -> None:
        self._chance = chance
        self._narrow = kind == "narrow"
        self._alone = kind == "alone"
        self._cramped = kind == "cramped" and self._is("cramped", _CRAMPED_SHARE)

    def text(self) -> str:
        shape = self._pick("shape", [(s, s.weight) for s in (_NARROW_SHAPES if self._narrow else _SHAPES)])
        rates, rtts = [], []
        for place in range(len(shape.ways)):
            rates.append(self._log(f"{place}/rate", 4e6, 20e6) if self._narrow else self._rate(place))
            rtts.append(self._log(f"{place}/rtt", 0.02, 0.08) if self._narrow else self._rtt(place))
        duration_s = min(max(150 * max(rtts), 8.0), 40.0)
        duration_s = max(min(duration_s, _MOST_PACKETS * _PACKET_BITS / sum(rates)), 3.0)
        lines = ["format = 1", 'name = "Drawn widely"', f'duration = "{duration_s:.3f}s"', 'start_jitter = "200ms"']
        marks = not (self._narrow or self._cramped) and self._is("marks", 0.06)
        transport = ['delayed_ack = "off"'] if self._is("no delayed ack", 0.25) else []
        if marks:
            transport.append('ecn = "accecn"')
        if transport:
            lines += ["", "[transport]", *transport]
        lines += ["", "[nodes.server]", "[nodes.client]"]
        paths: list[str] = []
        tcp_paths = []
        for place, (ways, rate, rtt) in enumerate(zip(shape.ways, rates, rtts, strict=True)):
            link = f"b{place}"
            begin = "server" if ways == 1 else f"hub{place}"
            if ways > 1:
                lines += [f"[nodes.{begin}]", 'kind = "router"']
            of_access = 0.0 if ways == 1 else 0.8
            lines += ["", f"[links.{link}]", f'ends = ["{begin}", "client"]']
            lines += self._bottleneck(place, rate, rtt, 1 - of_access, marks=marks)
            for way in range(ways if ways > 1 else 0):
                # Ways of equal or different length
                longer = 1.0 if self._is(f"{place}/even", 0.5) else self._log(f"{place}/{way}/longer", 0.5, 2.0)
                lines += ["", f"[links.w{place}-{way}]", f'ends = ["server", "{begin}"]', 'rate = "2Gbit/s"']
                lines += [f'delay = "{1e3 * rtt * of_access * longer / 2:.4g}ms"', 'queue = "10000pkt"']
                paths.append(f'["w{place}-{way}", "{link}"]')
            if ways == 1:
                paths.append(f'["{link}"]')
            tcp_paths.append(f'["{link}"]' if ways == 1 else f'["w{place}-0", "{link}"]')
        users = 1
        beside = "" if self._narrow or self._alone else self._pick("beside", list(_BESIDE))
        if self._cramped:
            beside = "newreno"
        if beside == "self":
            users += 1 + int(self._chance("users") * 2)
        for number in range(users):
            lines += ["", f"[flows.user{number}]", 'kind = "mptcp"', 'from = "server"', 'to = "client"']
            lines += [f"paths = [{', '.join(paths)}]"]
            if number and self._is(f"{number}/late", 0.6):
                lines.append(f'start = "{duration_s * 0.5 * self._chance(f"{number}/start"):.3f}s"')
        if beside not in ("", "self"):
            lines += self._companions(beside, tcp_paths, paths, duration_s)
        for event in self._events(rates, duration_s):
            lines += ["", "[[events]]", *event]
        return "\n".join(lines) + "\n"

    def _rate(self, place: int) -> float:
        return (
            self._log(f"{place}/rate", 100e6, 400e6)
            if self._is("fast", 0.06)
            else self._log(f"{place}/rate", 1e6, 100e6)
        )

    def _rtt(self, place: int) -> float:
        if self._is("extreme", 0.12):
            return (
                self._log(f"{place}/rtt", 0.001, 0.004)
                if self._is("short", 0.4)
                else self._log(f"{place}/rtt", 0.3, 0.8)
            )
        return self._log(f"{place}/rtt", 0.005, 0.3)

    def _bottleneck(self, place: int, rate: float, rtt: float, share: float, *, marks: bool) -> list[str]:
        lines = [f'delay = "{1e3 * rtt * share / 2:.4g}ms"', f'rate = "{rate / 1e6:.4g}Mbit/s"']
        bdps = self._log(
            f"{place}/queue", *(_NARROW_BDPS if self._narrow else _CRAMPED_BDPS if self._cramped else _BDPS)
        )
        queue = max(round(bdps * rate * rtt / _PACKET_BITS), _FEWEST_QUEUED)
        if marks:
            lines.append(f'queue = {{ discipline = "codel", ecn = true, limit = "{max(queue, 20)}pkt" }}')
        else:
            lines.append(f'queue = "{queue}pkt"')
        kind = self._chance(f"{place}/loss kind")
        loss = self._log(f"{place}/loss", 1e-4, 6e-2)
        reverse = []
        if not self._narrow and kind < 0.3:
            lines.append(f'loss = "{100 * loss:.3g}%"')
            reverse.append("loss = 0")
        elif not self._narrow and kind < 0.42:
            leave = 1 / self._log(f"{place}/burst", 2, 8)
            enter = 100 * leave * loss / (1 - loss)
            lines.append(f'loss = {{ model = "gilbert", p = "{enter:.3g}%", r = "{100 * leave:.3g}%" }}')
            reverse.append("loss = 0")
        if not self._narrow and self._is(f"{place}/jitter", 0.1):
            spread_ms = 1e3 * rtt * self._log(f"{place}/spread", 0.01, 0.1)
            lines.append(f'jitter = {{ distribution = "normal", spread = "{spread_ms:.4g}ms" }}')
        return lines if not reverse else [*lines, f"[links.b{place}.reverse]", *reverse]

    def _companions(self, name: str, tcp_paths: list[str], paths: list[str], duration_s: float) -> list[str]:
        lines = []
        if name.startswith("mpcc"):
            chosen = [("mptcp", ", ".join(paths))]
        else:
            everywhere = self._is("beside each", 0.4)
            chosen = [("tcp", path) for path in (tcp_paths if everywhere else tcp_paths[:1])]
        for number, (kind, way) in enumerate(chosen):
            lines += ["", f"[flows.beside{number}]", f'kind = "{kind}"', 'from = "server"', 'to = "client"']
            lines += [f'controller = "{name}"', f"paths = [{way}]"]
            if self._is(f"beside{number}/late", 0.4):
                lines.append(f'start = "{duration_s * 0.5 * self._chance(f"beside{number}/start"):.3f}s"')
        return lines

    def _events(self, rates: list[float], duration_s: float) -> list[list[str]]:
        if self._narrow:
            return []
        what = self._chance("happens")
        place = int(self._chance("happens to") * len(rates))
        at_s = duration_s * (0.3 + 0.4 * self._chance("happens at"))
        if what < 0.15:
            factor = self._log("step", 0.25, 4.0)
            return [[f'at = "{at_s:.3f}s"', f'link = "b{place}"', f'rate = "{rates[place] * factor / 1e6:.4g}Mbit/s"']]
        if what < 0.22 and len(rates) > 1:
            back_s = min(at_s + self._log("outage", 0.5, 5.0), duration_s)
            return [
                [f'at = "{at_s:.3f}s"', f'link = "b{place}"', "up = false"],
                [f'at = "{back_s:.3f}s"', f'link = "b{place}"', "up = true"],
            ]
        return []

    def _log(self, what: str, low: float, high: float) -> float:
        return float(Range(low, high, is_log=True).value(self._chance(what)))

    def _is(self, what: str, share: float) -> bool:
        return self._chance(what) < share

    def _pick(self, what: str, options: Sequence[tuple[T, float]]) -> T:
        left = self._chance(what) * sum(weight for _, weight in options)
        for option, weight in options:
            if left < weight:
                return option
            left -= weight
        return options[-1][0]

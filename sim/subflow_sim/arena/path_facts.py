"""Properties of the paths of a scenario that are known before the run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from subflow_sim.fairness.network import directions
from subflow_sim.link_state import LiveLink, changed_link
from subflow_sim.params import HEADER_BYTES
from subflow_sim.whole_scenario import Scenario

_OPPOSITE = {"forward": "reverse", "reverse": "forward"}


@dataclass(frozen=True, slots=True)
class PathFacts:
    """Properties of a path over the measured time.

    Attributes:
        base_rtt_s: round-trip time without queueing: delays both ways plus the transmission time on each link of the
            forward path, s.
        loss: configured loss ratio of data packets on its links while they are up, 0..1.
        capacity_bps: payload rate of its slowest link, bit/s.
        newreno_bps: goodput of NewReno limited by this loss only, bit/s; infinite without loss.
        packet_s: transmission time of a packet on each of its links, s, by link direction.
    """

    base_rtt_s: float
    loss: float
    capacity_bps: float
    newreno_bps: float
    packet_s: Mapping[str, float]


def path_facts(scenario: Scenario) -> dict[tuple[str, int], PathFacts]:
    """Properties of the paths of all tcp and mptcp flows, by flow and ordinal from 1.

    Values that events change are averaged over the measured time.
    """
    sides = _link_sides(scenario)
    facts = {}
    for flow in scenario.flows.values():
        for ordinal, path in enumerate(flow.paths, start=1):
            keys = [] if flow.sends_datagrams else directions(scenario, flow.source, path)
            if keys:
                facts[flow.name, ordinal] = _facts(scenario, {key: sides[key] for key in keys}, _back(keys, sides))
    return facts


@dataclass(frozen=True, slots=True)
class _Side:
    """Means of a link direction over the measured time.

    Outages count as a rate of 0; the means of delay, transmission time and loss exclude them.
    """

    delay_s: float
    packet_s: float
    loss: float
    rate_bps: float


def _back(keys: Sequence[str], sides: dict[str, _Side]) -> list[_Side]:
    split = (key.partition("/") for key in keys)
    return [sides[f"{name}/{_OPPOSITE[way]}"] for name, _, way in split]


def _facts(scenario: Scenario, forth: Mapping[str, _Side], back: list[_Side]) -> PathFacts:
    way = forth.values()
    base_s = math.fsum(side.delay_s + side.packet_s for side in way) + math.fsum(side.delay_s for side in back)
    loss = 1 - math.prod(1 - side.loss for side in way)
    payload = scenario.mss_bytes / (scenario.mss_bytes + HEADER_BYTES)
    # Mathis, Semke, Mahdavi, Ott 1997: sqrt(3/2) / sqrt(p) packets per round trip
    newreno_bps = 8 * scenario.mss_bytes * math.sqrt(1.5 / loss) / base_s if loss > 0 and base_s > 0 else math.inf
    packet_s = {key: side.packet_s for key, side in forth.items()}
    return PathFacts(base_s, loss, min(side.rate_bps for side in way) * payload, newreno_bps, packet_s)


def _link_sides(scenario: Scenario) -> dict[str, _Side]:
    bits = 8 * (scenario.mss_bytes + HEADER_BYTES)

    def rate(link: LiveLink) -> float:
        return math.inf if link.side.rate_bps is None else link.side.rate_bps

    sides = {}
    for name, link in scenario.links.items():
        for way, start in (("forward", link.forward), ("reverse", link.reverse)):
            spells = _spells(scenario, name, way, LiveLink(start, True))

            def mean(
                value: Callable[[LiveLink], float],
                spells: list[tuple[float, LiveLink]] = spells,
                *,
                if_up: bool = True,
            ) -> float:
                chosen = [spell for spell in spells if spell[1].is_up or not if_up] or spells
                total = math.fsum(length for length, _ in chosen)
                return math.fsum(length * value(live) for length, live in chosen) / total

            sides[f"{name}/{way}"] = _Side(
                mean(lambda live: live.side.delay_s),
                mean(lambda live: bits / rate(live)),
                mean(lambda live: live.side.loss),
                mean(lambda live: rate(live) if live.is_up else 0.0, if_up=False),
            )
    return sides


def _spells(scenario: Scenario, name: str, way: str, live: LiveLink) -> list[tuple[float, LiveLink]]:
    """Successive states of a link direction in the measured time, each with its length in s."""
    spells = []
    since_s = scenario.warmup_s
    for event in scenario.events:
        if event.link != name or event.direction not in ("both", way) or event.at_s >= scenario.duration_s:
            continue
        if event.at_s > since_s:
            spells.append((event.at_s - since_s, live))
            since_s = event.at_s
        live = changed_link(live, event)
    return [*spells, (scenario.duration_s - since_s, live)]

"""The networks of the arena: scenarios in which some connections compete, and what they are set against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from subflow_sim.arena.families import FAMILIES, SPLITS, Split, network_text
from subflow_sim.arena.path_facts import PathFacts, path_facts
from subflow_sim.errors import ParamError
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.scenario import Choice, Scenario, parse_scenario

FROZEN_NUMBERS = range(1, 21)
"""Networks of the test split of each family that stay as they are; a test holds the hash of their texts."""


@dataclass(frozen=True, slots=True)
class Network:
    """A network that controllers are tried on.

    Attributes:
        family: it belongs to.
        name: "lossy/test/3".
        scenario: with any controller on the connections that compete; its seed is a part of it.
        competes: the flows that get the controller that is tried.
        beside: TCP flows that should not suffer from them.
        has_documents: the connections that compete have a size, and what counts is when the last one is through.
        text: the scenario file.
        has_step: the capacity changes as the measured time begins: how long it takes to fill the new one is measured.
    """

    family: str
    name: str
    scenario: Scenario
    competes: tuple[str, ...]
    beside: tuple[str, ...] = ()
    has_documents: bool = False
    text: str = field(default="", repr=False)
    has_step: bool = False

    @property
    def connections(self) -> tuple[str, ...]:
        """Names of the connections that compete: copies of their flows."""
        return tuple(name for flow in self.competes for name in self.scenario.flows[flow].instances)

    def reference(self) -> Scenario:
        """The scenario with one NewReno in place of each connection that competes, on the best of its paths.

        What the flows beside get there is what they can expect of company.
        """
        flows = dict(self.scenario.flows)
        facts = path_facts(self.scenario)
        for name in self.competes:
            flow = flows[name]
            rates = [self._newreno_bps(path, facts[name, place]) for place, path in enumerate(flow.paths, start=1)]
            best = rates.index(max(rates))
            flows[name] = replace(
                flow,
                kind="tcp",
                controller=Choice("newreno"),
                scheduler=Choice("minrtt"),
                paths=(flow.paths[best],),
                backup=(),
            )
        return replace(self.scenario, flows=flows)

    def _newreno_bps(self, path: Sequence[str], there: PathFacts) -> float:
        """About what a NewReno would get on a path: its share among the flows beside, or what its losses leave it."""
        crowd = sum(
            flow.count
            for other in self.beside
            for flow in (self.scenario.flows[other],)
            if set(path) & set(flow.paths[0])
        )
        return min(there.capacity_bps / (1 + crowd), there.newreno_bps)


@lru_cache(maxsize=512)
def network(family: str, split: Split, number: int) -> Network:
    """A network of a family.

    Args:
        family: its name.
        split: "train", "validation" or "test".
        number: from 1; the same number is the same network.

    Raises:
        ParamError: if there is no such family, split or number.
    """
    if family not in FAMILIES:
        raise ParamError(
            f'unknown family of networks "{family}"{did_you_mean(family, list(FAMILIES))}', either(list(FAMILIES))
        )
    if split not in SPLITS:
        raise ParamError(f'unknown split "{split}"', either(SPLITS))
    if number < 1:
        raise ParamError(f"the number of a network is {number}", "1 or more")
    text = network_text(FAMILIES[family], split, number)
    scenario = parse_scenario(text, file=f"{family}/{split}/{number}")
    competes = tuple(name for name, flow in scenario.flows.items() if flow.kind == "mptcp")
    beside = tuple(name for name, flow in scenario.flows.items() if flow.kind == "tcp")
    has_step = FAMILIES[family].happening == "step"
    return Network(family, f"{family}/{split}/{number}", scenario, competes, beside, has_step=has_step, text=text)


def networks(split: Split, numbers: Sequence[int], families: Sequence[str] = ()) -> list[Network]:
    """Networks of several families, of each those with these numbers; without names, of all.

    Raises:
        ParamError: if there is no such family, split or number.
    """
    return [network(family, split, number) for family in families or FAMILIES for number in numbers]

"""The networks of the arena: scenarios with competing connections, and the scenarios of their reference runs."""

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
"""Numbers of the test networks of each family that never change; a test checks the hash of their scenario files."""

FINAL_NUMBERS = range(101, 121)
"""Numbers of the test networks for the final comparison, frozen like `FROZEN_NUMBERS` before any training saw a score.

They are evaluated once, at the end. Nothing is chosen, tuned or trained by their results.
"""


@dataclass(frozen=True, slots=True)
class Network:
    """A network on which the arena runs controllers.

    Attributes:
        family: name of the family.
        name: "lossy/test/3".
        scenario: the scenario, with an arbitrary controller on the competing connections and a fixed seed.
        competes: names of the flows that run the controller under test.
        beside: names of the TCP flows that the competing connections should not harm.
        has_documents: whether the competing connections transfer a given number of bytes; the makespan then replaces
            the goodput in their utility.
        text: the scenario file.
        has_step: whether the capacity changes at the end of the warm-up; the convergence time is then measured.
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
        """Names of the competing connections; a flow with a count contributes several."""
        return tuple(name for flow in self.competes for name in self.scenario.flows[flow].instances)

    def reference(self) -> Scenario:
        """The scenario with one NewReno in place of each competing connection, on the best of its paths.

        The goodput of the background TCP flows in this run is the reference of the gate in `outcome`.
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
        """Approximate goodput of NewReno on a path: an equal share with the background flows, limited by loss."""
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
        family: name of the family.
        split: "train", "validation" or "test".
        number: number of the network, from 1; the same number always yields the same network.

    Raises:
        ParamError: if the family, split or number is unknown.
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
    """The networks with these numbers in each of the families; if `families` is empty, in all families.

    Raises:
        ParamError: if a family, split or number is unknown.
    """
    return [network(family, split, number) for family in families or FAMILIES for number in numbers]

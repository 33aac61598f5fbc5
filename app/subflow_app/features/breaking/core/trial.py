"""Tests a claim about a controller in a network: performs the runs and measures by how much the claim holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias

from subflow_app.features.arena.core.entrants import Entrant, chosen_entrants
from subflow_app.features.breaking.core.claim_file import (
    ENTRANT,
    Case,
    ClaimFile,
    goodput_bps,
    is_of_case,
    makespan_s,
    measure,
    measure_network,
)
from subflow_app.foundation.claims import LARGEST_MARGIN
from subflow_app.foundation.errors import ArenaError
from subflow_app.foundation.expressions import Missing, Value
from subflow_sim.arena.networks import Network
from subflow_sim.arena.utility import finished
from subflow_sim.errors import SimError
from subflow_sim.luck import random_parts
from subflow_sim.scenario import Choice, Scenario

Runner: TypeAlias = Callable[[Scenario], Mapping[str, Any]]
"""Runs a scenario and returns its summary, like that of `Simulation.summary`. Raises `SimError` if the run fails."""

_NOT_CLAIMED = LARGEST_MARGIN

SEEDS = (1, 2, 3)
"""Seeds with which a search runs each network."""

START_JITTER_S = 0.1


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of testing a claim in a network. `told` is the claim with the measured numbers filled in.

    Attributes:
        margin: margin of the claim, see `Claim.margin`; NaN if it could not be measured. Larger than `LARGEST_MARGIN`
            if the condition of the claim excludes the network.
        ratio: severity of a failure, see `ClaimFile.ratio`; NaN if unknown.
        reason: reason why the claim could not be measured, or why the run of the entrant failed; else empty.
    """

    margin: float
    told: str = ""
    ratio: float = math.nan
    reason: str = ""

    @property
    def fails(self) -> bool:
        """True if the claim was measured and does not hold."""
        return self.margin < 0


@dataclass(frozen=True, slots=True)
class Trial:
    """A claim paired with a controller.

    Attributes:
        claim: claim to test.
        entrant: controller to test.
    """

    claim: ClaimFile
    entrant: Entrant

    def verdict(self, net: Network, runner: Runner | None = None) -> Verdict:
        """Test the claim in a network, with the seed of the network's scenario.

        Args:
            net: network to run.
            runner: performs the runs; None for the simulator.
        """
        return _Runs(self, net, runner or run).verdict()

    def margin(self, net: Network) -> float:
        """Margin of the claim in a network; NaN if it cannot be measured."""
        margin = _Runs(self, net, run).margin()
        return math.nan if isinstance(margin, Missing) else margin

    def steady_margin(self, net: Network, below: float = 0.0) -> float:
        """Largest margin over `SEEDS`, or the first margin that is at least `below`; NaN if a margin is unknown."""
        worst = -math.inf
        for each in repetitions(net, SEEDS):
            margin = self.margin(each)
            worst = margin if math.isnan(margin) else max(worst, margin)
            if not worst < below:
                break
        return worst

    def scenario(self, net: Network, name: str = ENTRANT) -> Scenario:
        """The scenario of a case. If the case uses the best path, runs determine which path is best.

        Raises:
            ArenaError: if the controller, its options or its policy are not valid in a scenario.
            SimError: if a run that determines the best path fails.
        """
        runs = _Runs(self, net, run)
        case = runs.case(name)
        return runs.variant(case, runs.best_path(case) if case.path == "best" else case.path)


class _Runs:
    """The runs of a trial in a network, each performed on first use."""

    def __init__(self, trial: Trial, net: Network, runner: Runner) -> None:
        self._trial = trial
        self._run = runner
        self._net = net
        self._summaries: dict[str, Mapping[str, Any] | Missing] = {}
        self._problem = ""

    def margin(self) -> float | Missing:
        claim = self._trial.claim
        outside = 0.0 if claim.condition is None else claim.condition.margin(self._resolve)
        if isinstance(outside, float) and outside < 0:
            # The margin grows with the distance from the condition, so the search moves towards networks that meet it.
            return _NOT_CLAIMED - outside
        margin = outside if isinstance(outside, Missing) else claim.claim.margin(self._resolve)
        return -LARGEST_MARGIN if self._problem else margin

    def verdict(self) -> Verdict:
        claim, margin = self._trial.claim, self.margin()
        is_claimed = isinstance(margin, Missing) or margin <= LARGEST_MARGIN
        said = claim.claim if is_claimed or claim.condition is None else claim.condition
        told = said.evaluate(self._resolve).told
        if isinstance(margin, Missing):
            return Verdict(math.nan, told, reason=margin.reason)
        if self._problem or not is_claimed:
            return Verdict(margin, told, reason=self._problem)
        ratio = math.exp(margin) if claim.how_bad is None else claim.how_bad.value(self._resolve)
        return Verdict(margin, told, ratio if isinstance(ratio, float) else math.nan)

    def case(self, name: str) -> Case:
        return Case(ENTRANT) if name in (ENTRANT, "entrant") else self._trial.claim.cases[name]

    def best_path(self, case: Case) -> int:
        return self._best(case)[0]

    def variant(self, case: Case, path: int | None) -> Scenario:
        """The network with the controller of a case, on one path or on all."""
        net = self._net
        if case.is_alone:
            flows = {name: flow for name, flow in net.scenario.flows.items() if name not in net.beside}
            events = tuple(event for event in net.scenario.events if event.flow is None or event.flow in flows)
            net = replace(net, scenario=replace(net.scenario, flows=flows, events=events), beside=())
        entrant = _entry(case.controller) if case.controller else self._trial.entrant
        if path is None:
            return entrant.scenario(net)
        flows = dict(net.scenario.flows)
        for name in net.competes:
            flow = flows[name]
            only = flow.paths[min(path, len(flow.paths)) - 1]
            flows[name] = replace(flow, paths=(only,), backup=())
        single = replace(net, scenario=replace(net.scenario, flows=flows))
        if not _is_plain_tcp(entrant):
            return entrant.scenario(single)
        # Runs as a single-path TCP flow, without the MPTCP options that reduce the payload
        for name in net.competes:
            choice = entrant.single_path_choice()
            flows[name] = replace(flows[name], kind="tcp", controller=choice, scheduler=Choice("minrtt"))
        return replace(net.scenario, flows=flows)

    def _resolve(self, name: str, arguments: tuple[Value, ...]) -> Value:
        if not is_of_case(name):
            return measure_network(self._net, name, arguments)
        summary = self._summary(str(arguments[0]) if arguments else ENTRANT)
        return summary if isinstance(summary, Missing) else measure(self._net, name, summary, *arguments[1:])

    def _summary(self, name: str) -> Mapping[str, Any] | Missing:
        case = self.case(name)
        if case.name not in self._summaries:
            self._summaries[case.name] = self._made(case)
        return self._summaries[case.name]

    def _made(self, case: Case) -> Mapping[str, Any] | Missing:
        try:
            if case.path == "best":
                return self._best(case)[1]
            return self._run(self.variant(case, case.path))
        except (SimError, ArenaError) as error:
            if case.name == ENTRANT:
                self._problem = str(error)
            return Missing(str(error))

    def _best(self, case: Case) -> tuple[int, Mapping[str, Any]]:
        """The path with the highest goodput (for flows with a size: the earliest completion), and its run's summary."""
        net = self._net
        count = max(len(net.scenario.flows[name].paths) for name in net.competes)
        made = [(path, self._run(self.variant(case, path))) for path in range(1, count + 1)]
        has_documents = all(net.scenario.flows[name].size_bytes is not None for name in net.competes)
        if has_documents:
            return min(made, key=lambda each: makespan_s(net, each[1]))
        return max(made, key=lambda each: goodput_bps(net, each[1]))


def repetitions(net: Network, seeds: Sequence[int]) -> list[Network]:
    """Copies of a network with different seeds, and with a start jitter if the network is deterministic.

    Without the jitter of up to `START_JITTER_S`, a claim could fail only because of a phase effect between two senders
    and a queue that occurs at one exact start time, which is no evidence against a controller.
    """
    jitter_s = net.scenario.start_jitter_s if has_luck(net) else START_JITTER_S
    return [replace(net, scenario=replace(net.scenario, seed=seed, start_jitter_s=jitter_s)) for seed in seeds]


def has_luck(net: Network) -> bool:
    """True if different seeds give different runs, whatever the controllers draw."""
    return any(not part.endswith(".controller") for part in random_parts(net.scenario))


def network_of(scenario: Scenario) -> Network:
    """Turn a scenario into a network for claims, in which mptcp flows are tested and tcp flows compete with them.

    Flows with random arrivals belong to neither group.

    Raises:
        ArenaError: if the scenario has no mptcp flow.
    """
    tried = tuple(name for name, flow in scenario.flows.items() if flow.kind == "mptcp" and flow.arrivals is None)
    if not tried:
        raise ArenaError(f"{scenario.name}: no flow of kind mptcp; claims are about such flows")
    beside = tuple(name for name, flow in scenario.flows.items() if flow.kind == "tcp" and flow.arrivals is None)
    return Network("", scenario.name, scenario, tried, beside)


def run(scenario: Scenario) -> Mapping[str, Any]:
    """Simulate a scenario and return the summary.

    Raises:
        SimError: if the run fails.
    """
    return finished(scenario).summary()


@cache
def _entry(name: str) -> Entrant:
    return chosen_entrants([name])[0]


def _is_plain_tcp(entrant: Entrant) -> bool:
    """True if an ordinary TCP flow can use the controller."""
    return not (entrant.is_blind or entrant.is_coupled or entrant.learns or entrant.script is not None)

"""Who takes part in the leaderboard: every controller of the catalogue, so that a new one enters by existing.

A coupled controller runs over the subflows of a connection as it is. A single-path one runs on each subflow by itself
(`uncoupled` with it as base) where flows have several paths, and as it is where they have one. On single-path flows
coupled controllers are left out: with one path they are NewReno. Nobody is tuned to a contest: all have the options
that the catalogue gives them, and a learned one the policy that ships or that the data folder has under its name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from subflow_app.core.catalog import app_catalog
from subflow_app.core.errors import InputError
from subflow_app.core.leaderboard.contest import Contest
from subflow_app.core.resources import way_on
from subflow_app.core.scenarios.toml_edit import TomlValue
from subflow_sim.errors import ParamError
from subflow_sim.params import Algorithm, AlgorithmCatalog
from subflow_sim.policy_choice import choose_policy
from subflow_sim.policy_library import NEUTRAL

UNCOUPLED = "uncoupled"
REFERENCE = "newreno"
"""Whose CPU time that of the others is measured by."""


@dataclass(frozen=True, slots=True)
class Competitor:
    """A controller of the leaderboard.

    Attributes:
        name: of the controller.
        summary: what it is, in a line.
        is_coupled: whether it takes part on several paths only, as it is.
        learns: whether a policy decides.
        scheduler: that it runs with on several paths.
        problem: why it cannot take part: its policy is missing; empty if it can.
    """

    name: str
    summary: str
    is_coupled: bool
    learns: bool
    scheduler: str
    problem: str = ""

    def takes_part(self, contest: Contest) -> bool:
        """Whether it has a place in a contest."""
        return not self.problem and (contest.is_multipath or not self.is_coupled)

    def values(self, contest: Contest) -> Mapping[str, TomlValue]:
        """The dotted scenario keys that make the flows that compete its own."""
        values: dict[str, TomlValue] = {}
        for flow in contest.competes:
            if not contest.is_multipath:
                values[f"flows.{flow}.controller"] = self.name
                continue
            values[f"flows.{flow}.scheduler"] = self.scheduler
            if self.is_coupled:
                values[f"flows.{flow}.controller"] = self.name
            else:
                values[f"flows.{flow}.controller"] = {"name": UNCOUPLED, "base": self.name}
        return values


def competitors(catalog: AlgorithmCatalog | None = None) -> tuple[Competitor, ...]:
    """All of them, in the order of the catalogue; those that cannot take part say why.

    Args:
        catalog: of controllers, schedulers and policies; None: that of the app.
    """
    catalog = catalog or app_catalog()
    return tuple(_competitor(each, catalog) for each in catalog.controllers if each.name != UNCOUPLED)


def chosen_competitors(names: Sequence[str], catalog: AlgorithmCatalog | None = None) -> tuple[Competitor, ...]:
    """Those of these names, each once and in the order of the catalogue; without names, all.

    Raises:
        InputError: if there is none of a name.
    """
    every = competitors(catalog)
    known = [each.name for each in every]
    for name in names:
        if name not in known:
            listed = f"allowed are {', '.join(known)}"
            raise InputError(f'there is no controller "{name}" in the leaderboard; {way_on(name, known, listed)}')
    return tuple(each for each in every if not names or each.name in names)


def _competitor(algorithm: Algorithm, catalog: AlgorithmCatalog) -> Competitor:
    learns = algorithm.name in catalog.learners
    return Competitor(
        algorithm.name,
        algorithm.summary,
        algorithm.is_coupled,
        learns,
        algorithm.scheduler or catalog.schedulers[0].name,
        _problem(algorithm, catalog) if learns else "",
    )


def _problem(algorithm: Algorithm, catalog: AlgorithmCatalog) -> str:
    """Why a learner cannot take part; empty if it has a policy."""
    try:
        choice = choose_policy(algorithm, {}, "linux", catalog.policies)
    except ParamError as error:
        return error.message
    if choice.options.get("policy") == NEUTRAL:
        return f"there is no trained policy for {algorithm.name}: `subflow train {algorithm.name}` makes one"
    return ""

"""A contest as recipes of experiments, so that what carries those out carries it out, too: one of runs, one of cost.

Each competitor is a series. Runs are kept as sweeps and found again by what they are; a competitor that is new adds
its own and no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from subflow_app.core.errors import LeaderboardError
from subflow_app.core.experiments.axis import ExperimentAxis
from subflow_app.core.experiments.cost_kind import MEASURES as COST_MEASURES
from subflow_app.core.experiments.measure_kind import Measure, MeasureKind
from subflow_app.core.experiments.measures import MEASURES
from subflow_app.core.experiments.recipe import Quick, Recipe, Series
from subflow_app.core.leaderboard.competitors import REFERENCE, Competitor, chosen_competitors
from subflow_app.core.leaderboard.contest import Contest
from subflow_app.core.scenarios.toml_edit import TomlValue
from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import Scenario

_SAMPLE_INTERVAL_S = 0.1

RECIPE_PREFIX = "leaderboard "

RENO = "reno"
"""The measure of the flows beside those that compete; their share of what is fair is the friendliness."""


def runs_recipe(
    contest: Contest, competitors: Sequence[Competitor], *, is_quick: bool, seeds: Sequence[int] | None = None
) -> Recipe | None:
    """What a contest runs; None if none of the competitors takes part.

    Args:
        contest: the contest.
        competitors: those that take part are taken.
        is_quick: with what `[quick]` says.
        seeds: of the runs; None: those of the contest.

    Raises:
        LeaderboardError: if the scenario is not usable.
    """
    there = [each for each in competitors if each.takes_part(contest)]
    if not there:
        return None
    scenario = _simulated(contest, is_quick=is_quick)
    return _recipe(
        contest,
        f"{RECIPE_PREFIX}{contest.id}",
        "runs",
        there,
        contest.changes(is_quick=is_quick),
        {measure.name: measure for measure in _measures(contest, scenario)},
        seeds or contest.seeds_of(is_quick=is_quick),
    )


def cost_recipe(
    contest: Contest, competitors: Sequence[Competitor], *, is_quick: bool, seeds: Sequence[int] | None = None
) -> Recipe | None:
    """What a contest measures of CPU time, NewReno always included; None if it measures none.

    Args:
        contest: the contest.
        competitors: those that take part are taken.
        is_quick: with what `[quick]` says.
        seeds: one for each repetition; None: those of the contest.
    """
    there = [each for each in competitors if each.takes_part(contest)]
    if contest.cost_s is None or not there:
        return None
    if REFERENCE not in [each.name for each in there]:
        there = [*chosen_competitors([REFERENCE]), *there]
    return _recipe(
        contest,
        f"{RECIPE_PREFIX}cost {contest.id}",
        "cost",
        there,
        contest.cost_changes(is_quick=is_quick),
        {"cpu": _measure("cpu", COST_MEASURES["cpu_second_ratio"])},
        seeds or contest.seeds_of(is_quick=is_quick),
        {"over": REFERENCE},
    )


def _recipe(
    contest: Contest,
    name: str,
    kind: str,
    competitors: Sequence[Competitor],
    changes: Mapping[str, TomlValue],
    measures: Mapping[str, Measure],
    seeds: Sequence[int],
    extra: Mapping[str, Any] | None = None,
) -> Recipe:
    series = {each.name: Series(each.name, contest.scenario, each.values(contest)) for each in competitors}
    return Recipe(
        name=name,
        path=contest.path,
        paper=contest.paper,
        figure=contest.figure,
        title=contest.title,
        claim="",
        prose=contest.prose,
        rulings=(),
        disagrees="",
        kind=kind,
        seeds=seeds,
        expected_s=None,
        keeps_traces=contest.convergence is not None,
        sample_interval_s=_SAMPLE_INTERVAL_S,
        values=changes,
        quick=Quick(),
        axis=ExperimentAxis(),
        series=series,
        measures=measures,
        panels=(),
        published=(),
        checks=(),
        extra=extra or {},
    )


def _measures(contest: Contest, scenario: Scenario) -> list[Measure]:
    flows = ",".join(contest.competes)
    goodput = MEASURES["active_goodput" if contest.has_documents else "goodput"]
    found = [
        _measure("goodput", goodput, flows=flows, reduce="sum"),
        _measure("rtt", MEASURES["rtt"], flows=flows, reduce="mean"),
        _measure("loss", MEASURES["loss_ratio"], flows=flows, reduce="mean"),
    ]
    senders = [flow for flow in scenario.flows.values() if not flow.sends_datagrams]
    # Flows that come and go have been there for unlike times, and what one flow has is no distribution.
    if not any(flow.arrivals for flow in senders) and sum(flow.count for flow in senders) > 1:
        found.append(_measure("jain", MEASURES["jain"], active=contest.has_documents))
    if contest.beside:
        found.append(_measure(RENO, MEASURES["goodput"], flows=",".join(contest.beside), reduce="sum"))
    if contest.convergence is not None:
        # The first time near, averaged over subflows: rates of classic controllers never stay anywhere.
        options = {**contest.convergence, "flows": flows, "first": True, "reduce": "mean"}
        found.append(_measure("convergence", MEASURES["convergence_time"], **options))
    return found


def _measure(name: str, kind: MeasureKind, **options: Any) -> Measure:
    defaults = {param.key: param.default for param in kind.options}
    return Measure(name, kind, name, kind.units[0], defaults | options)


def _simulated(contest: Contest, *, is_quick: bool) -> Scenario:
    try:
        return contest.simulated(is_quick=is_quick)
    except ScenarioError as error:
        raise LeaderboardError(f"{contest.path}: {error}") from error

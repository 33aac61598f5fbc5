"""The two columns of the gallery: agents as the papers print them, and the same agents with wider training.

A recipe names policies by the names of the papers' agents, which is the column of the printed agents. In the other
column, the policy NAME-wide replaces the policy NAME if it ships. If a paper trains its agent for each network, the
policy of wide training replaces all of these policies. Only claims about an agent count there, because all other
results are the same in both columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from subflow_app.features.catalog.core.catalog import app_catalog, policy_library
from subflow_app.features.catalog.core.former_policies import wide_name
from subflow_app.features.gallery.core.recipe import AgentColumn, Check, Recipe
from subflow_app.features.gallery.core.retraining import policies_in, scenarios_of, with_policies
from subflow_app.features.policies.core import AS_PRINTED, find_policy, kind_of_policy
from subflow_sim.scenario import Scenario

Scenarios: TypeAlias = Sequence[tuple[str, Scenario | None]]
"""Scenarios of an experiment, from `scenarios_of`."""


def in_column(recipe: Recipe, column: AgentColumn) -> Recipe:
    """The experiment with the agents of a column.

    A policy that a recipe names by a path, and a policy without a wide one, such as `mplibra-even`, stays. An
    experiment without any policy to replace is returned unchanged, with `Recipe.column` printed: it uses no agent, or
    trains one. The same holds for variants, so that both columns share their runs.

    Args:
        recipe: the experiment as in its file.
        column: the column.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    if column is AgentColumn.PRINTED:
        return recipe
    scenarios = scenarios_of(recipe, is_quick=False)
    changed = _wide(recipe, scenarios)
    if changed is recipe:
        return recipe
    variants = {
        name: replace(each, recipe=_wide(each.recipe, scenarios_of(each.recipe, is_quick=False)))
        for name, each in recipe.variants.items()
    }
    agents = _agents(scenarios)
    checks = tuple(check for check in recipe.checks if uses_agent(check, recipe, agents))
    return replace(changed, checks=checks, variants=variants)


def in_columns(recipes: Iterable[Recipe], columns: Sequence[AgentColumn]) -> list[Recipe]:
    """The experiments in these columns, column by column; each column contains only experiments that it changes.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    listed = list(recipes)
    return [made for column in columns for recipe in listed if (made := in_column(recipe, column)).column is column]


def _wide(recipe: Recipe, scenarios: Scenarios) -> Recipe:
    use = policies_in(scenarios)
    names = {name for each in use.values() for name in each}
    others = {name: wide for name in names if (wide := wide_name(name) or _shared_wide_name(name))}
    return replace(with_policies(recipe, use, others), column=AgentColumn.WIDE) if others else recipe


def _shared_wide_name(name: str) -> str:
    """Name of the policy of wide training that replaces a policy for a single network; empty without one.

    DRL-CC's paper trains an agent for each of its networks: `drl-cc-sc2-2mbit` and others. One policy of wide training
    serves all of them.
    """
    path = policy_library().paths().get(name)
    if path is None or kind_of_policy(path) != AS_PRINTED:
        return ""
    return wide_name(find_policy(name).controller)


def agent_series(recipe: Recipe) -> frozenset[str]:
    """Names of the series in which a flow has a learning agent, or which train one; a missing agent counts.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    if recipe.kind == "training":
        return frozenset(recipe.series)
    return _agents(scenarios_of(recipe, is_quick=False))


def _agents(scenarios: Scenarios) -> frozenset[str]:
    learns = app_catalog().learns
    return frozenset(
        series
        for series, scenario in scenarios
        if scenario is None or any(learns(flow.controller) for flow in scenario.flows.values())
    )


def uses_agent(check: Check, recipe: Recipe, agents: frozenset[str] | None = None) -> bool:
    """True if the expression of a check names a series with a learning agent.

    Args:
        check: the check.
        recipe: the experiment of the check.
        agents: `agent_series` of the recipe, for callers with several checks; None to find them.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    found = agent_series(recipe) if agents is None else agents
    return any(call.texts[0] in found for call in check.claim.calls() if call.texts)

"""Retraining of the policies that experiments use, with their original training recipes.

    retraining = Retraining(recipes, store, is_quick=True)
    retraining.run()
    recipes = [retraining.changed(recipe) for recipe in recipes]

Shipped policies are never overwritten. A retrained policy is kept in the folder of its training, and experiments refer
to it by its path. Finished trainings are reused, and interrupted trainings resume.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_agents import AgentError
from subflow_app.features.gallery.core.cost_kind import cost_scenarios
from subflow_app.features.gallery.core.planning import part_scenarios, plan_experiment
from subflow_app.features.gallery.core.recipe import Recipe, Series
from subflow_app.features.policies.core import card_of
from subflow_app.features.training.core.kept_trainings import KeptTraining, KeptTrainings, WantedTraining
from subflow_app.features.training.core.training_folder import best_policy
from subflow_app.features.training.core.training_setup import TrainingRequest, load_recipe, recipe_names, request_of
from subflow_app.features.training.core.training_worker import TRAINER
from subflow_app.foundation.errors import RecipeError, TrainingError
from subflow_app.foundation.json_document import number
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.vocabulary.number_text import NOTHING, typeset
from subflow_app.vocabulary.tables import TextColumn, TextTable, text_columns
from subflow_app.vocabulary.trace_measures import EVALUATION_MEASURES
from subflow_sim.policy_library import PolicyLibrary, shipped_policies

if TYPE_CHECKING:
    from subflow_sim.scenario import Scenario
    from subflow_store import Store

PolicyUse = Mapping[tuple[str, str], frozenset[str]]
"""Names of policies by series and flow, over all points."""

_SHOWN = ("goodput_bps", "rtt_s", "loss_ratio", "jain", "score")
"""Measures in the table of evaluations; the goodput is per flow."""


@dataclass(frozen=True, slots=True)
class RetrainedPolicy:
    """A policy that was trained again.

    Attributes:
        name: name of the shipped policy.
        training: the training of the new policy.
        path: path of the new policy; None if the training failed, for the reason in `training`.
    """

    name: str
    training: KeptTraining
    path: Path | None


class Retraining(KeptTrainings):
    """Retrains the policies that some experiments use.

    Args:
        recipes: recipes of the experiments.
        store: store for the trainings.
        is_quick: whether the experiments run in their quick form.
        settings: fields of `TrainingConfig` that replace those of the training recipes, e.g. a smaller budget.
        jobs: number of parallel trainings.
        trainer: module with the function `run_training`.

    Attributes:
        names: names of the policies with a training recipe, sorted.
        without_recipe: policies of the experiments that lack a training recipe; they remain unchanged.
        policies: the retrained policies, after `run`.

    Raises:
        RecipeError: if a scenario of an experiment cannot be read.
    """

    def __init__(
        self,
        recipes: Sequence[Recipe],
        store: Store | None,
        *,
        is_quick: bool,
        settings: Mapping[str, Any] | None = None,
        jobs: int = 1,
        trainer: str = TRAINER,
    ) -> None:
        every = [each for recipe in recipes for each in (recipe, *(v.recipe for v in recipe.variants.values()))]
        self._uses = {recipe.label: policies_of(recipe, is_quick=is_quick) for recipe in every}
        used = sorted({name for use in self._uses.values() for names in use.values() for name in names})
        known = recipe_names()
        self.names = tuple(name for name in used if name in known)
        self.without_recipe = tuple(name for name in used if name not in known)
        wanted = [WantedTraining(f"retrained {name}", _request(name, settings or {})) for name in self.names]
        super().__init__(wanted, store, jobs=jobs, trainer=trainer)
        self.policies: tuple[RetrainedPolicy, ...] = ()

    def _work(self) -> None:
        if not self.names:
            return
        try:
            super()._work()
        except AgentError as error:
            raise TrainingError(str(error)) from error
        self.policies = tuple(
            RetrainedPolicy(name, training, None if training.problem else best_policy(training.folder))
            for name, training in zip(self.names, self.made, strict=True)
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """Failed trainings, one line each; experiments keep their shipped policies."""
        return tuple(f"{each.name}: {each.training.problem}" for each in self.policies if each.path is None)

    def changed(self, recipe: Recipe) -> Recipe:
        """The experiment with the new policies in place of the shipped ones."""
        paths = {each.name: each.path for each in self.policies if each.path is not None}
        changed = with_policies(recipe, self._uses[recipe.label], paths)
        variants = {name: replace(each, recipe=self.changed(each.recipe)) for name, each in recipe.variants.items()}
        return replace(changed, variants=variants)

    def table(self) -> TextTable:
        """Table that compares the evaluations of the shipped and of the new policies."""
        numbers = map(TextColumn, ("Shipped", "Trained anew", "Change"))
        columns = (*text_columns("Policy", "On held-out seeds"), *numbers)
        library = PolicyLibrary((shipped_policies(),))
        rows = []
        for each in self.policies:
            shipped = _figures(card_of(library, each.name).get("evaluation"))
            anew = _figures(each.training.evaluation() if each.path is not None else None)
            name = each.name
            for key in _SHOWN:
                shown = EVALUATION_MEASURES[key]
                if key in shipped or key in anew:
                    before, after = shipped.get(key), anew.get(key)
                    change = NOTHING
                    if before and after is not None and key != "score":
                        change = typeset(f"{after / before - 1:+.1%}")
                    texts = [NOTHING if x is None else f"{shown.text(x)} {shown.unit}".strip() for x in (before, after)]
                    rows.append((name, shown.title, *texts, change))
                    name = ""
        return TextTable("Policies trained anew", columns, tuple(rows))

    def document(self) -> list[dict[str, Any]]:
        """The content of the table as JSON values, in SI units."""
        library = PolicyLibrary((shipped_policies(),))
        return [
            {
                "policy": each.name,
                "path": None if each.path is None else str(each.path),
                "folder": str(each.training.folder),
                "was_there": each.training.was_there,
                "problem": each.training.problem or None,
                "shipped": _figures(card_of(library, each.name).get("evaluation")),
                "anew": _figures(each.training.evaluation() if each.path is not None else None),
            }
            for each in self.policies
        ]


def policies_of(recipe: Recipe, *, is_quick: bool) -> PolicyUse:
    """Names of the library policies that flows use at any point, by series and flow; empty for the kind training.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    return policies_in(scenarios_of(recipe, is_quick=is_quick))


def policies_in(scenarios: Iterable[tuple[str, Scenario | None]]) -> PolicyUse:
    """As `policies_of`, for scenarios from `scenarios_of`."""
    found: dict[tuple[str, str], frozenset[str]] = {}
    for series, scenario in scenarios:
        for name, flow in scenario.flows.items() if scenario is not None else ():
            policy = flow.controller.policy
            if policy is not None and "/" not in policy.name:
                found[series, name] = found.get((series, name), frozenset()) | {policy.name}
    return found


def with_policies(recipe: Recipe, use: PolicyUse, others: Mapping[str, str | Path]) -> Recipe:
    """A copy of a recipe in which other policies replace those in `use`, also those at individual points.

    Args:
        recipe: the recipe.
        use: names of the policies by series and flow, from `policies_of`.
        others: name or path of the new policy, by the name of the former one; all other policies stay.
    """
    return replace(recipe, series={name: _with_policies(each, use, others) for name, each in recipe.series.items()})


def _with_policies(series: Series, use: PolicyUse, others: Mapping[str, str | Path]) -> Series:
    values = dict(series.values)
    at = {label: dict(each) for label, each in series.at.items()}
    for (owner, flow), names in use.items():
        if owner != series.name:
            continue
        key = f"flows.{flow}.controller"
        for stated in (values, *at.values()):
            if key in stated:
                stated[key] = _with_policy(stated[key], others)
        replaced = sorted(names & others.keys())
        if key not in values and len(names) == len(replaced) == 1:  # the scenario states the controller
            values[f"{key}.policy"] = str(others[replaced[0]])
    return replace(series, values=values, at=at)


def _with_policy(controller: TomlValue, others: Mapping[str, str | Path]) -> TomlValue:
    """The value of a controller with another policy; without `policy`, an agent has the policy of its own name."""
    stated = controller if isinstance(controller, Mapping) else {"name": controller}
    name = str(stated.get("policy", stated.get("name")))
    return {**stated, "policy": str(others[name])} if name in others else controller


def scenarios_of(recipe: Recipe, *, is_quick: bool) -> list[tuple[str, Scenario | None]]:
    """Scenario of each series at each point, with the name of the series; empty for the kind training.

    The scenario is None if its agent is missing.

    Raises:
        RecipeError: if a scenario cannot be read.
    """
    if recipe.kind == "training":
        return []
    if recipe.kind == "cost":
        return [*cost_scenarios(recipe, is_quick=is_quick)]
    plan = plan_experiment(recipe, is_quick=is_quick, seeds=(1,), is_checked=False)
    found: list[tuple[str, Scenario | None]] = [(series, None) for series, _point in plan.problems]
    for part in plan.parts:
        found += [(place[0], scenario) for place, scenario in part_scenarios(recipe, part)]
    return found


def _request(name: str, settings: Mapping[str, Any]) -> TrainingRequest:
    """Training request of a policy's recipe, limited only by steps, so that the training repeats exactly."""
    request = request_of(load_recipe(name))
    merged = {**request.settings, **settings, "minutes": None}
    if merged.get("steps") is None:
        raise RecipeError(f"the recipe of the policy {name} has no budget of steps")
    return replace(request, settings=merged)


def _figures(evaluation: object) -> dict[str, float]:
    """Means of the agent's measures in an evaluation, SI; empty if the value is not an evaluation."""
    if not isinstance(evaluation, Mapping):
        return {}
    listed = evaluation.get("controllers")
    controllers = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    own = next((each for each in controllers if not each.get("is_baseline")), {})
    means = {key: number((own.get(key) or {}).get("mean")) for key in _SHOWN if isinstance(own.get(key), Mapping)}
    return {key: value for key, value in means.items() if math.isfinite(value)}

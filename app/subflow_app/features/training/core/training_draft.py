"""The form for a new training run: its fields, their default values, and the order that the fields describe."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subflow_app.features.editor.core.form import FieldOption, Form, FormField, FormGroup, default_text
from subflow_app.features.editor.core.form_text import text_of
from subflow_app.features.training.core.training_grounds import TrainingGrounds, grounds_lines
from subflow_app.features.training.core.training_setup import with_training
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.problem_texts import problem_text
from subflow_app.foundation.toml_edit import TomlValue
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError, Problem
from subflow_sim.params import Dimension, Param

DOCUMENT = "current"
"""Value of the scenario field that selects the scenario open in the window."""

FROM_FILE = "file"
"""Value of the scenario field that opens a file dialog."""

NO_RECIPE = "none"
"""Value of the recipe field that selects the agent's own defaults."""

_DEFAULT_MINUTES = 5.0
_MOST_DRAWS = 6  # lines of draws in the form, of which the page of a small screen still shows the fields below
_MOST_SEEDS = 1_000_000  # larger seeds are reserved for evaluations
_PREFIX = "options."
_OWN = "training."  # prefix of the keys of all other fields, which makes the keys unambiguous

_AGENT = Param("agent", Dimension.CHOICE, "The agent to train.", required=True)
_RECIPE = Param(
    "recipe",
    Dimension.CHOICE,
    "A training that is known to work: it fills in everything below; what you type below overrides it.",
    required=True,
)
_SCENARIO = Param(
    "scenario",
    Dimension.CHOICE,
    "Scenario to learn on. One with a [training] table is a distribution: each episode draws another one from it.",
    required=True,
)
_BUDGET = (
    Param(
        "time",
        Dimension.TIME,
        "Ends the training after this much time; pauses do not count.",
        minimum=0.0,
        exclusive_minimum=True,
        maximum=6e7,
    ),
    Param("steps", Dimension.COUNT, "Ends the training after this many decisions.", minimum=1, maximum=10**12),
)
_RUN = (
    Param(
        "seed",
        Dimension.COUNT,
        "Determines everything random.",
        default=1,
        minimum=0,
        maximum=_MOST_SEEDS - 1,
    ),
    Param("num_envs", Dimension.COUNT, "Simulations that run side by side.", default=4, minimum=1, maximum=4096),
    Param(
        "evaluation_every",
        Dimension.COUNT,
        "Decisions between two evaluations on held-out seeds; 0 for none.",
        default=10_000,
        minimum=0,
        maximum=10**12,
    ),
    Param(
        "deterministic",
        Dimension.FLAG,
        "Nothing depends on the clock: the same seed gives the same policy, bit for bit, but learning and simulation "
        "wait for each other.",
        default=False,
    ),
)
_LABELS = {
    "num_envs": "Simulations",
    "evaluation_every": "Evaluate every",
    "steps": "Decisions",
}

PARAMS = (_AGENT, _RECIPE, _SCENARIO, *_BUDGET, *_RUN)
"""Parameters of every training run; agents add their own options."""


def training_label(key: str) -> str:
    """English label of the parameter with this key."""
    return _LABELS.get(key, key.replace("_", " ").capitalize())


@dataclass(frozen=True, slots=True)
class AgentChoice:
    """An agent that can be trained.

    Attributes:
        name: name in the registry.
        title: displayed title.
        summary: one-line summary.
        source: paper that describes the agent; may be empty.
        controller: controller that runs its policies.
        default_recipe: recipe that the form selects with this agent; may be empty.
        options: options of the agent.
    """

    name: str
    title: str
    summary: str
    source: str
    controller: str
    default_recipe: str = ""
    options: tuple[Param, ...] = ()


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """A recipe in the form.

    Attributes:
        name: name of its file.
        agent: name of the agent in the registry.
        summary: one-line summary.
        scenario: name of its shipped scenario.
        values: SI values of the fields that it fills in, by key: "minutes", "steps", "seed", "options.gamma" and so on.
        families: arena families whose networks are used in some episodes; "all" means every family.
        families_share: share of these episodes, 0 to 1.
        training: `[training]` table that replaces the table of its scenario; None: no replacement.
    """

    name: str
    agent: str
    summary: str = ""
    scenario: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    families: tuple[str, ...] = ()
    families_share: float = 0.0
    training: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class TrainingChoices:
    """Everything that can be chosen in the form.

    Attributes:
        agents: trainable agents, at least one.
        recipes: recipes of all agents.
        scenarios: names of the shipped scenarios and distributions.
    """

    agents: tuple[AgentChoice, ...]
    recipes: tuple[RecipeChoice, ...]
    scenarios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The scenario in the window.

    Attributes:
        title: title of the scenario.
        text: TOML of the scenario.
        folder: base of the relative paths in the scenario; None before the first save.
    """

    title: str
    text: str
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class TrainingOrder:
    """Settings with which to start a training run.

    Attributes:
        agent: name of the agent in the registry.
        recipe: name of the recipe that supplies the remaining settings; empty for none.
        scenario: `DOCUMENT`, or the name or path of a scenario file; empty: the recipe's.
        minutes: time budget; None: no limit.
        steps: maximum number of decisions; None: no limit.
        seed: seed of all random numbers.
        num_envs: number of parallel simulations.
        evaluation_every: number of decisions between two evaluations; 0: no evaluations.
        deterministic: whether the result is independent of timing.
        options: SI values of those options of the agent that the form or the recipe sets.
    """

    agent: str
    recipe: str
    scenario: str
    minutes: float | None
    steps: int | None
    seed: int
    num_envs: int
    evaluation_every: int
    deterministic: bool
    options: Mapping[str, Any]


class TrainingDraft:
    """Content of the form. Only chosen and typed values are stored; all other values follow from agent and recipe.

    Args:
        agents: agents to choose from, at least one.
        recipes: recipes to choose from.
        scenarios: names of the shipped scenarios.
    """

    def __init__(
        self, agents: Sequence[AgentChoice], recipes: Sequence[RecipeChoice], scenarios: Sequence[str]
    ) -> None:
        self._agents = {agent.name: agent for agent in agents}
        self._recipes = {recipe.name: recipe for recipe in recipes}
        self._scenarios = tuple(scenarios)
        self._values: dict[str, TomlValue] = {"agent": next(iter(self._agents))}
        self._take_recipe_of_agent()

    @property
    def agent(self) -> AgentChoice:
        """The chosen agent."""
        return self._agents[str(self._values["agent"])]

    @property
    def recipe(self) -> RecipeChoice | None:
        """The chosen recipe; None if no recipe is chosen."""
        return self._recipes.get(str(self._values["recipe"]))

    @property
    def scenario(self) -> str:
        """The chosen scenario: `DOCUMENT`, or the name or path of a file."""
        return str(self._values["scenario"])

    def value(self, key: str) -> TomlValue | None:
        """The value typed or chosen in a field; None if the default applies."""
        return self._values.get(key.removeprefix(_OWN))

    def set_value(self, key: str, value: TomlValue | None) -> None:
        """Set the value of the field with this key; None restores the default."""
        key = key.removeprefix(_OWN)
        if key == "agent" and value not in self._agents:
            return
        if value is None:
            self._values.pop(key, None)
        else:
            self._values[key] = value
        if key == "agent":
            self._drop_options()
            self._take_recipe_of_agent()
        elif key == "recipe":
            self._drop_options()
            self._values["scenario"] = (self.recipe.scenario if self.recipe else "") or DOCUMENT

    def preview(self, _key: str, _value: TomlValue) -> tuple[Problem, ...]:
        """Always empty, because no value is limited by other fields."""
        return ()

    def grounds(self, document: str, text: str) -> TrainingGrounds:
        """The networks on which the training will take place.

        Args:
            document: title of the scenario in the window.
            text: TOML of the chosen scenario.
        """
        recipe = self.recipe
        title = (document or tr("the scenario")) if self.scenario == DOCUMENT else self.scenario.rpartition("/")[2]
        if recipe is not None and recipe.training is not None and self.scenario == recipe.scenario:
            text = with_training(text, recipe.training)
        defaults = {option.key: option.default for option in self.agent.options}
        typed = {key.removeprefix(_PREFIX): value for key, value in self._values.items() if key.startswith(_PREFIX)}
        return TrainingGrounds(
            title,
            text,
            recipe.families if recipe is not None else (),
            recipe.families_share if recipe is not None else 0.0,
            {**defaults, **self._recipe_values(_PREFIX), **typed},
        )

    def form(self, document: str = "", *, text: str = "") -> Form:
        """The form with its current fields and values.

        Args:
            document: title of the scenario in the window.
            text: TOML of the chosen scenario; empty if it cannot be read.
        """
        agent = self.agent
        hint = "\n".join(grounds_lines(self.grounds(document, text), _MOST_DRAWS))
        groups = [
            FormGroup(
                "",
                (self._choice(_AGENT, self._agent_options()),),
                f"{tr(agent.summary)} ({agent.source})" if agent.source else tr(agent.summary),
            ),
            FormGroup(
                tr("Learn on"),
                (
                    self._choice(_RECIPE, self._recipe_options()),
                    self._choice(_SCENARIO, self._scenario_options(document)),
                ),
                hint,
            ),
            FormGroup(tr("Budget"), tuple(self._field(param) for param in _BUDGET)),
            FormGroup(tr("Run"), tuple(self._field(param) for param in _RUN)),
        ]
        if agent.options:
            options = tuple(self._field(option, prefix=_PREFIX) for option in agent.options)
            groups.append(
                FormGroup(
                    tr("Options of {agent}", agent=agent.title), options, tr("Only where they differ from the default.")
                )
            )
        return Form("training", "", tr("New training"), "", tuple(groups))

    def problems(self) -> tuple[Problem, ...]:
        """Problems of the typed values."""
        return tuple(problem for form_field in self.form().fields() for problem in form_field.problems)

    def order(self) -> TrainingOrder:
        """The order for the training run that the fields describe.

        Raises:
            InputError: if a value is invalid; the message describes the first problem.
        """
        problems = self.problems()
        if problems:
            first = problems[0]
            raise InputError(
                tr(
                    "{problem}; allowed: {what}",
                    problem=f"{first.key}: {problem_text(first.message)}",
                    what=problem_text(first.allowed),
                )
            )
        options = {
            option.key: option.read(self._values[_PREFIX + option.key])
            for option in self.agent.options
            if _PREFIX + option.key in self._values
        }
        time_s, steps = self._applying("time"), self._applying("steps")
        return TrainingOrder(
            agent=self.agent.name,
            recipe=self.recipe.name if self.recipe else "",
            scenario=self.scenario,
            minutes=None if time_s is None else float(time_s) / 60,
            steps=None if steps is None else int(steps),
            seed=int(self._applying("seed")),
            num_envs=int(self._applying("num_envs")),
            evaluation_every=int(self._applying("evaluation_every")),
            deterministic=bool(self._applying("deterministic")),
            options={**self._recipe_values(_PREFIX), **options},
        )

    # --- defaults ---

    def _take_recipe_of_agent(self) -> None:
        known = self._recipes.get(self.agent.default_recipe)
        self._values["recipe"] = known.name if known else NO_RECIPE
        self._values["scenario"] = (known.scenario if known else "") or DOCUMENT

    def _drop_options(self) -> None:
        for key in [key for key in self._values if key.startswith(_PREFIX)]:
            del self._values[key]

    def _recipe_values(self, prefix: str = "") -> dict[str, Any]:
        values = self.recipe.values if self.recipe else {}
        return {key.removeprefix(prefix): value for key, value in values.items() if key.startswith(prefix)}

    def _default(self, param: Param, key: str) -> Any:
        """The default of a field: from the recipe, or else from its declaration; None if neither gives a value."""
        given = self._recipe_values()
        if key == "time":
            minutes = given.get("minutes")
            if minutes is None and self._values.get("steps") is None and "steps" not in given:
                minutes = _DEFAULT_MINUTES  # every training run needs a limit
            return None if minutes is None else minutes * 60
        return given.get(key, param.default)

    def _applying(self, key: str) -> Any:
        param = next(each for each in (*_BUDGET, *_RUN) if each.key == key)
        typed = self._values.get(key)
        return param.read(typed) if typed is not None else self._default(param, key)

    # --- fields ---

    def _field(self, param: Param, *, prefix: str = "") -> FormField:
        key = prefix + param.key
        shown_key = key if prefix else _OWN + key
        value = self._values.get(key)
        default = self._default(param, key)
        if default is None:
            placeholder = tr("no limit") if param in _BUDGET else default_text(param)
        elif isinstance(default, float) and not math.isfinite(default):
            placeholder = str(default)
        elif param.key == "time":
            placeholder = f"{default / 60:g}min"  # minutes are the usual unit for training
        else:
            placeholder = param.format(default)
        problems: tuple[Problem, ...] = ()
        if value is not None:
            try:
                param.read(value)
            except ParamError as error:
                problems = (Problem("", None, shown_key, text_of(value), error.message, error.allowed),)
        label = tr(training_label(param.key))
        options = tuple(FieldOption(each, each) for each in param.choices)
        # Without a default value, "1min" makes minutes the unit of a bare number, as is usual for training.
        applies = "1min" if param.key == "time" and default is None else ""
        is_set = value is not None
        return FormField(shown_key, label, param, text_of(value), is_set, placeholder, options, problems, applies)

    def _choice(self, param: Param, options: tuple[FieldOption, ...]) -> FormField:
        text = str(self._values[param.key])
        return FormField(_OWN + param.key, tr(training_label(param.key)), param, text, True, "", options, ())

    def _agent_options(self) -> tuple[FieldOption, ...]:
        return tuple(FieldOption(agent.name, agent.title, tr(agent.summary)) for agent in self._agents.values())

    def _recipe_options(self) -> tuple[FieldOption, ...]:
        own = [recipe for recipe in self._recipes.values() if recipe.agent == self.agent.name]
        listed = [FieldOption(recipe.name, recipe.name, tr(recipe.summary)) for recipe in own]
        return (*listed, FieldOption(NO_RECIPE, tr("none"), tr("The agent's own defaults")))

    def _scenario_options(self, document: str) -> tuple[FieldOption, ...]:
        title = tr("{scenario} (in the window)", scenario=document or tr("the scenario"))
        listed = [FieldOption(DOCUMENT, title, tr("As it is when you start"))]
        if self.scenario not in (DOCUMENT, *self._scenarios):
            listed.append(FieldOption(self.scenario, self.scenario.rpartition("/")[2], self.scenario))
        listed += [FieldOption(name, name) for name in self._scenarios]
        return (*listed, FieldOption(FROM_FILE, tr("Choose a file…")))

"""The content of the start form: defaults of agent and recipe, precedence of typed values, and the resulting order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.helpers.fake_trainings import AGENTS, RECIPES

from subflow_app.features.editor.core.form import FormField
from subflow_app.features.training.core.training_draft import (
    DOCUMENT,
    FROM_FILE,
    NO_RECIPE,
    TrainingDraft,
)
from subflow_app.features.training.core.training_grounds import draw_lines, grounds_text
from subflow_app.features.training.core.training_setup import load_recipe, recipe_names
from subflow_app.features.training.core.trainings import _recipe_choice
from subflow_app.foundation.errors import InputError


@pytest.fixture
def draft() -> TrainingDraft:
    return TrainingDraft(AGENTS, RECIPES, ("drlcc-sc1", "t-2link"))


def field(draft: TrainingDraft, key: str) -> FormField:
    return next(each for each in draft.form().fields() if each.key == key)


def test_the_recipe_of_an_agent_fills_everything_in(draft: TrainingDraft) -> None:
    assert draft.agent.name == "drl-cc"
    assert draft.scenario == "drlcc-sc1"
    assert field(draft, "training.steps").placeholder == "50000"
    assert field(draft, "training.time").placeholder == "no limit"
    assert field(draft, "training.seed").placeholder == "3"
    assert field(draft, "options.gamma").placeholder == "0.8"
    assert field(draft, "options.batch").placeholder == "64"

    order = draft.order()

    assert (order.agent, order.recipe, order.scenario) == ("drl-cc", "drl-cc", "drlcc-sc1")
    assert (order.steps, order.minutes, order.seed) == (50_000, None, 3)
    assert order.options == {"gamma": 0.8}


def test_the_form_says_which_networks_the_episodes_are_on() -> None:
    recipe = replace(RECIPES[0], families=("all",), families_share=0.4)
    draft = TrainingDraft(AGENTS, (recipe,), ("drlcc-sc1",))
    assert any(group.hint.startswith("40 % of the episodes are on networks of all 20") for group in draft.form().groups)
    # The table of the recipe replaces the table of its own scenario alone.
    own = {"draws": {"links.wifi.rate": {"uniform": ["1Mbit/s", "2Mbit/s"]}}}
    draft = TrainingDraft(AGENTS, (replace(recipe, training=own),), ("drlcc-sc1",))
    text = '[training.draws]\nlinks.lte.delay = { choice = ["5ms", "50ms"] }\n'
    assert draw_lines(draft.grounds("", text).text) == ["links.wifi.rate: 1Mbit/s to 2Mbit/s"]
    draft.set_value("scenario", DOCUMENT)
    assert draw_lines(draft.grounds("Mine", text).text) == ["links.lte.delay: 5ms or 50ms"]
    assert grounds_text(draft.grounds("Mine", text)) == (
        "40 % of the episodes are on networks of all 20 families of the arena, 60 % on “Mine” with these draws. "
        "Goodput, RTT and loss of the training are means over all of them."
    )


def test_the_shipped_recipes_say_their_families() -> None:
    found = {name: _recipe_choice(load_recipe(name)) for name in recipe_names()}
    assert (found["confluence"].families, found["confluence"].families_share) == (("all",), 0.4)
    for name, choice in found.items():
        settings = load_recipe(name).settings
        assert choice.families == tuple(settings.get("families") or ()), name
        assert choice.families_share == (settings.get("families_share", 0.5) if choice.families else 0.0), name


def test_what_is_typed_goes_before_the_recipe(draft: TrainingDraft) -> None:
    draft.set_value("training.seed", 9)
    draft.set_value("training.time", "2min")
    draft.set_value("options.gamma", 0.5)
    draft.set_value("options.encoder", "pool")
    draft.set_value("training.scenario", "t-2link")

    order = draft.order()

    assert (order.seed, order.minutes, order.steps, order.scenario) == (9, 2.0, 50_000, "t-2link")
    assert order.options == {"gamma": 0.5, "encoder": "pool"}
    draft.set_value("options.gamma", None)
    assert draft.order().options == {"gamma": 0.8, "encoder": "pool"}


def test_without_a_recipe_the_scenario_is_the_one_in_the_window_for_five_minutes(draft: TrainingDraft) -> None:
    draft.set_value("training.recipe", NO_RECIPE)

    order = draft.order()

    assert (order.recipe, order.scenario, order.minutes, order.steps) == ("", DOCUMENT, 5.0, None)
    assert field(draft, "training.time").placeholder == "5min"
    draft.set_value("training.steps", 1000)
    assert (draft.order().minutes, draft.order().steps) == (None, 1000)


def test_another_agent_has_other_options_and_those_of_before_are_gone(draft: TrainingDraft) -> None:
    draft.set_value("options.gamma", 0.5)
    draft.set_value("training.agent", "rl-explore")

    assert draft.recipe is None
    assert not [each for each in draft.form().fields() if each.key.startswith("options.")]
    assert draft.order().options == {}
    draft.set_value("training.agent", "drl-cc")
    assert draft.value("options.gamma") is None


def test_an_agent_that_does_not_exist_is_not_taken(draft: TrainingDraft) -> None:
    draft.set_value("training.agent", "nobody")
    assert draft.agent.name == "drl-cc"


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("training.time", 0, "time"),
        ("training.steps", "many", "steps"),
        ("training.seed", 1_000_000, "seed"),  # larger seeds belong to evaluations
        ("training.num_envs", 0, "num_envs"),
        ("options.gamma", 1.5, "gamma"),
        ("options.batch", 0.5, "batch"),
    ],
)
def test_an_impossible_value_is_shown_at_its_field(draft: TrainingDraft, key: str, value: object, says: str) -> None:
    draft.set_value(key, value)  # type: ignore[arg-type] # values that a person may type

    assert field(draft, key).problems
    assert [problem.key for problem in draft.problems()] == [key]
    with pytest.raises(InputError, match=says):
        draft.order()


def test_scenarios_offer_the_window_the_shipped_ones_a_file_and_one_that_was_chosen(draft: TrainingDraft) -> None:
    draft.set_value("training.scenario", "/somewhere/own.toml")

    options = next(each for each in draft.form("My net").fields() if each.key == "training.scenario").options

    assert [each.value for each in options] == [DOCUMENT, "/somewhere/own.toml", "drlcc-sc1", "t-2link", FROM_FILE]
    assert options[0].text == "My net (in the window)"
    assert options[1].text == "own.toml"


def test_the_time_of_a_training_is_in_minutes_where_no_unit_is_typed(draft: TrainingDraft) -> None:
    assert (field(draft, "training.time").placeholder, field(draft, "training.time").unit) == ("no limit", "min")
    draft.set_value("training.recipe", NO_RECIPE)
    assert (field(draft, "training.time").placeholder, field(draft, "training.time").unit) == ("5min", "min")
    for typed, minutes in (("2min", 2.0), ("1.5min", 1.5), ("30s", 0.5)):
        draft.set_value("training.time", typed)
        assert draft.order().minutes == minutes
    assert field(draft, "training.time").unit == "s"

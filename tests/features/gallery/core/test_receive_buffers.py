"""Receive buffers of all shipped scenarios, recipes, contests and criteria on which agents are trained or compared.

With an unlimited receive buffer, overload is rewarded; `subflow_sim.receive_buffer` has the rule. Each connection there
states a buffer of at least the size by the rule, and at most twice that size.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from subflow_agents import agent_names
from subflow_app.features.arena.core.entrants import chosen_entrants, load_contests
from subflow_app.features.assess.core.criteria import written_criteria
from subflow_app.features.gallery.core.planning import plan_experiment
from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.recipe_reader import load_recipe, recipe_names
from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.sweeps.core.sweep_plan import PointReader
from subflow_app.foundation.resources import resource_path
from subflow_sim.receive_buffer import connection_buffer_bytes, size_text
from subflow_sim.scenario import Scenario, load_scenario
from subflow_sim.shipped import shipped_scenarios

EXCEPTIONS: Mapping[tuple[str, str], str] = {
    ("mplibra-fig2a", "mptcp"): "One buffer for all draws: by the rule for the longest queue that may be drawn.",
    ("mplibra-fig9c", "mptcp"): "A variant shows the effect of the buffer, which a change of the delays can fill.",
    (
        "goal-1",
        "tried",
    ): "NewReno runs on the first path alone, with the buffer of the connection that it is compared to.",
}
"""Connections whose buffer is not by the rule, by file and flow, with the reason."""

LEFT_OUT: Mapping[str, str] = {
    "lab-learning": "Vivace learns online and has no policy; the lab derives its utility for an unlimited buffer.",
    "vivace-cubic": "As lab-learning.",
    "mpcc-pooling": "As lab-learning, for MPCC.",
}
"""Scenarios of learning controllers without a policy, with the reason for their unlimited buffers."""


class Found(NamedTuple):
    """A connection in a run: the file that describes the run, the flow, its buffer, and the buffer by the rule."""

    file: str
    flow: str
    stated: int | None
    by_rule: int

    @property
    def is_wrong(self) -> bool:
        if self.stated is None:
            return True
        return (self.file, self.flow) not in EXCEPTIONS and not self.by_rule <= self.stated <= 2 * self.by_rule

    def __str__(self) -> str:
        stated = "unlimited" if self.stated is None else size_text(self.stated)
        return f"{self.file}: {self.flow} has {stated}, by the rule {size_text(self.by_rule)}"


def connections(file: str, scenario: Scenario) -> Iterator[Found]:
    for name, flow in scenario.flows.items():
        if not flow.sends_datagrams:
            by_rule = connection_buffer_bytes(scenario, name, takes_means=True)
            yield Found(file, name, flow.recv_buffer_bytes, by_rule)


def runs_of(recipe: Recipe) -> Iterator[Found]:
    """The connections in all full runs of a recipe and of its variants."""
    for each in (recipe, *(variant.recipe for variant in recipe.variants.values())):
        for part in plan_experiment(each, is_quick=False, seeds=[1], is_checked=False).parts:
            reader = PointReader(part.plan)
            for point in part.plan.points():
                yield from connections(recipe.path.stem, reader.scenario(point))


def wrong(found: Iterator[Found]) -> list[str]:
    """The connections with a wrong buffer; a message if the list is empty, because such a test could not fail."""
    seen = set(found)
    return sorted(str(each) for each in seen if each.is_wrong) if seen else ["no connection"]


def scenarios_with_agents() -> set[str]:
    """Names of the shipped scenarios that training recipes and labs with agents use, or that name an agent."""
    names = set()
    for path in resource_path("agents").glob("recipes/*.toml"):
        recipe = tomllib.loads(path.read_text(encoding="utf-8"))
        if "like" in recipe:
            like = tomllib.loads(path.with_name(f"{recipe['like']}.toml").read_text(encoding="utf-8"))
            recipe = {**like, **recipe}
        names |= {recipe["scenario"], recipe["evaluation"].get("scenario", recipe["scenario"])}
    for lab in lab_names():
        text = Path(load_lab(lab, language="en").path).read_text(encoding="utf-8")
        if any(f"controller={agent}" in text for agent in agent_names()):
            names.add(load_lab(lab, language="en").scenario.stem)
    for name, path in shipped_scenarios().items():
        if any(flow.controller.name in agent_names() for flow in load_scenario(path).flows.values()):
            names.add(name)
    return names | {name for name in shipped_scenarios() if name.startswith(("train-", "rlx-", "drlcc-", "t-"))}


def test_scenarios_on_which_agents_are_trained_and_compared_have_buffers_by_the_rule() -> None:
    names = scenarios_with_agents()
    assert {"t-2link", "train-host", "rlx-training", "drlcc-hosts", "lab-joint"} <= names
    assert not names & LEFT_OUT.keys()
    shipped = shipped_scenarios()
    found = (each for name in sorted(names) for each in connections(name, load_scenario(shipped[name])))
    assert wrong(found) == []


def test_draws_of_the_training_scenarios_and_recipes_size_the_buffers() -> None:
    """If rates are drawn, so are buffers, of every flow."""
    shipped = shipped_scenarios()
    files = [*shipped.values(), *resource_path("agents").glob("recipes/*.toml")]
    without, n_files = [], 0
    for path in files:
        tree = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        draws = tree.get("training", {}).get("draws")
        if draws is None:
            continue
        n_files += 1
        for flow in load_scenario(shipped[tree["scenario"]] if "scenario" in tree else path).flows:
            if draws.get("flows", {}).get(flow, {}).get("recv_buffer") != {"bdp": 2}:
                without.append(f"{Path(path).name}: {flow}")
    assert without == []
    assert n_files > 10


def test_all_runs_of_experiments_have_buffers_by_the_rule() -> None:
    assert wrong(each for name in recipe_names() for each in runs_of(load_recipe(name))) == []


def test_contests_of_the_arena_have_buffers_by_the_rule() -> None:
    assert wrong(each for one in load_contests() for each in connections(one.id, one.network(1).scenario)) == []


def test_criteria_of_an_assessment_have_buffers_by_the_rule(tmp_path: Path) -> None:
    (entrant,) = chosen_entrants(["lia"])
    assert wrong(each for recipe in written_criteria(entrant, tmp_path) for each in runs_of(recipe)) == []


def test_every_exception_is_needed_and_explained(tmp_path: Path) -> None:
    (entrant,) = chosen_entrants(["lia"])
    recipes = [*map(load_recipe, ("mplibra-fig2a", "mplibra-fig9c")), *written_criteria(entrant, tmp_path)]
    found = {each for recipe in recipes for each in runs_of(recipe)}
    off = {(each.file, each.flow) for each in found if not each.by_rule <= (each.stated or 0) <= 2 * each.by_rule}
    assert off == EXCEPTIONS.keys()
    assert all(EXCEPTIONS.values())
    assert all(load_scenario(shipped_scenarios()[name]) for name in LEFT_OUT)

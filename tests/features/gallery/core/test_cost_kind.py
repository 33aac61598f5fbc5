from __future__ import annotations

import gc
import math
from pathlib import Path

import pytest

from subflow_app.features.gallery.core import cost_kind
from subflow_app.features.gallery.core.cost_kind import CostKind, decisions, heap_bytes, measure_cost, network_bytes
from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.results import Results
from subflow_app.foundation.errors import RecipeError
from subflow_app.foundation.jobs.executors import executor_maker
from subflow_app.foundation.jobs.progress import JobProgress
from subflow_app.foundation.resources import find_scenario
from subflow_sim import Simulation
from subflow_sim.policy import Policy
from subflow_sim.policy_library import shipped_policies
from subflow_sim.scenario import Scenario, load_scenario
from subflow_store import Store

RECIPE = """
format = 1
paper = "mplibra"
figure = "Table I"
title = "What they take"
claim = "Learned controllers take more."
kind = "cost"
scenario = "rlx-fixed"
seeds = "1..2"
[cost]
over = "NewReno"
[set]
duration = "2s"
[series.NewReno]
set = { "flows.download.controller" = "newreno" }
[series.Learned]
set = { "flows.download.controller" = "rl-explore" }
[measures.cpu]
of = "cpu_per_second"
unit = "%"
[measures.ratio]
of = "cpu_ratio"
[measures.memory]
of = "memory"
unit = "kB"
[measures.decisions]
of = "decisions_per_second"
[measures.network]
of = "network_memory"
unit = "kB"
[[panels]]
form = "table"
measures = ["cpu", "ratio", "memory"]
[[checks]]
says = "NewReno is as NewReno"
holds = "ratio('NewReno') == 1"
"""


@pytest.fixture(scope="module", autouse=True)
def _little_to_look_through() -> None:
    """Each measurement collects garbage first, which takes long with all that earlier tests have left."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _one_run_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """A measurement is as good as one run allows: these tests look at no number closely."""
    monkeypatch.setattr(cost_kind, "LEAST_CPU_S", 0.0)


def written(folder: Path, text: str = RECIPE) -> Recipe:
    path = folder / "mplibra-tab1.toml"
    path.write_text(text)
    return load_recipe(str(path))


def carried_out(recipe: Recipe, store: Store) -> tuple[JobProgress, Results]:
    kind = CostKind()
    job = kind.job(recipe, store, is_quick=False, seeds=recipe.seeds, executor=executor_maker(1, None))
    job.run().check()
    values = kind.stored(recipe, store, is_quick=False, seeds=recipe.seeds)
    return job.progress, Results(recipe, values, is_quick=False, seeds=recipe.seeds)


def test_costs_are_runs_of_the_store_with_their_machine_and_are_not_measured_twice_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = written(tmp_path)
    with Store(tmp_path / "one.db") as store:
        progress, results = carried_out(recipe, store)
        assert (progress.finished, progress.reused, progress.fraction) == (4, 0, 1.0)
        assert results.cell("ratio", "NewReno", "").values == (1.0, 1.0)
        assert results.cell("cpu", "Learned", "").mean > 0
        assert results.cell("decisions", "NewReno", "").values == (0.0, 0.0)
        assert results.cell("decisions", "Learned", "").mean > 5
        assert results.cell("network", "Learned", "").mean > 1000
        assert [verdict.kind.is_met for verdict in results.verdicts()] == [True]
        assert results.values is not None
        assert cost_kind.machine_text() in results.values.note
        runs = store.runs(tag="cost")
        assert len(runs) == 4
        assert {run.name.partition(",")[0] for run in runs} == {"mplibra-tab1: NewReno", "mplibra-tab1: Learned"}

        assert carried_out(recipe, store)[0].reused == 4
        # Elsewhere everything is measured anew, and what this machine has said stays.
        monkeypatch.setattr(cost_kind, "machine_text", lambda: "another machine")
        progress, elsewhere = carried_out(recipe, store)
        assert progress.reused == 0
        assert elsewhere.values is not None
        assert "another machine" in elsewhere.values.note


def test_measurements_of_another_simulator_are_shown_and_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those in the library that ships are of the build that made it."""
    recipe = written(tmp_path)
    with Store(tmp_path / "one.db") as store:
        made = carried_out(recipe, store)[1].values
        monkeypatch.setattr(cost_kind, "simulator_version", lambda: "0.2.0+other")

        shown = CostKind().stored(recipe, store, is_quick=False, seeds=recipe.seeds)

        assert made is not None
        assert shown is not None
        assert shown.values("cpu", "Learned", "") == made.values("cpu", "Learned", "")
        assert carried_out(recipe, store)[0].reused == 0


def test_a_session_that_was_cut_off_is_made_again_as_a_whole(tmp_path: Path) -> None:
    recipe = written(tmp_path)
    with Store(tmp_path / "one.db") as store:
        carried_out(recipe, store)
        store.delete([store.runs(tag="cost")[0].id])

        progress, results = carried_out(recipe, store)

        assert progress.reused == 0
        assert results.cell("cpu", "Learned", "").n == 2


def test_measuring_changes_nothing_of_a_run() -> None:
    scenario = load_scenario(find_scenario("rlx-fixed"), overrides=("duration=2s",))

    first, second = measure_cost(scenario, 1), measure_cost(scenario, 1)

    assert first.signature == second.signature
    assert first.cost.packets == second.cost.packets > 0
    assert first.cost.cpu_per_second == pytest.approx(first.cost.cpu_s / 2.0)


@pytest.mark.skipif(math.isnan(heap_bytes()), reason="this C library does not tell what is on the heap")
def test_memory_grows_with_what_is_simulated() -> None:
    def memory(*overrides: str) -> float:
        scenario = load_scenario(find_scenario("rlx-fixed"), overrides=("duration=1s", *overrides))
        return measure_cost(scenario, 1).cost.memory_bytes

    assert memory("flows.download.count=20") > memory()


def test_decisions_are_those_of_agents_or_monitor_intervals() -> None:
    def counted(controller: str, duration_s: int = 2) -> int:
        overrides = (f"duration={duration_s}s", f'flows.download.controller="{controller}"')
        return decisions(load_scenario(find_scenario("rlx-fixed"), overrides=overrides), 1)

    def of_run(controller: str, take: str, column: str) -> int:
        overrides = ("duration=2s", f'flows.download.controller="{controller}"')
        simulation = Simulation(load_scenario(find_scenario("rlx-fixed"), overrides=overrides), seed=1)
        simulation.run_until(2.0)
        return len(getattr(getattr(simulation, take)(), column))

    assert counted("newreno") == 0
    assert counted("vivace") == of_run("vivace", "take_intervals", "owner") > 10
    assert counted("rl-explore") == of_run("rl-explore", "take_agent_steps", "number") > 10
    # Of what has both, the agent alone.
    assert 0 < decisions(two_paths("mplibra"), 1) < 0.9 * intervals_of(two_paths("mplibra"))


def two_paths(controller: str) -> Scenario:
    return load_scenario(find_scenario("t-2link"), overrides=("duration=12s", f'flows.mptcp.controller="{controller}"'))


def intervals_of(scenario: Scenario) -> int:
    simulation = Simulation(scenario, seed=1)
    simulation.run_until(scenario.duration_s)
    return len(simulation.take_intervals().owner)


def test_what_networks_take_is_four_bytes_a_number_and_each_policy_counts_once() -> None:
    scenario = two_paths("mplibra")
    layers = Policy.load(shipped_policies() / "mplibra.safetensors").document["actor"]["layers"]
    linear = [(layer["in"], layer["out"]) for layer in layers if layer["type"] == "linear"]
    assert (linear[1], network_bytes(scenario)) == ((256, 256), 4 * sum((n + 1) * out for n, out in linear))
    assert network_bytes(two_paths("olia")) == 0


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('[cost]\nover = "NewReno"', "", "cost"),
        ('over = "NewReno"', 'over = "Reno"', 'unknown series "Reno"'),
        ("[set]", '[axis]\nkeys = ["duration"]\nvalues = ["5s"]\n[set]', "has no axis"),
    ],
)
def test_what_cannot_be_measured_is_told_by_key(tmp_path: Path, before: str, after: str, told: str) -> None:
    with pytest.raises(RecipeError, match=told):
        written(tmp_path, RECIPE.replace(before, after))


def test_a_scenario_that_does_not_read_is_told_with_its_series(tmp_path: Path) -> None:
    recipe = written(tmp_path, RECIPE.replace('"rl-explore"', '"no-such-thing"'))
    with Store(tmp_path / "one.db") as store, pytest.raises(RecipeError, match=r"Learned.*no-such-thing"):
        carried_out(recipe, store)

from __future__ import annotations

import gc
import math
from pathlib import Path

import pytest
from tests.features.gallery.core.tiny import carried_out, read_text
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.gallery.core import cost_kind
from subflow_app.features.gallery.core.cost_kind import CostKind, decisions, heap_bytes, measure_cost, network_bytes
from subflow_app.foundation.errors import RecipeError
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
panels = [{ form = "table", measures = ["cpu", "ratio", "memory"] }]
checks = [{ says = "NewReno is as NewReno", holds = "ratio('NewReno') == 1" }]
cost = { over = "NewReno" }
set = { duration = "2s" }
[series]
NewReno = { set = { "flows.download.controller" = "newreno" } }
Learned = { set = { "flows.download.controller" = "rl-explore" } }
[measures]
cpu = { of = "cpu_per_second", unit = "%" }
ratio = { of = "cpu_ratio" }
memory = { of = "memory", unit = "kB" }
decisions = { of = "decisions_per_second" }
network = { of = "network_memory", unit = "kB" }
"""


@pytest.fixture(scope="module", autouse=True)
def _little_to_look_through() -> None:
    """Freezes the objects of earlier tests, because each measurement collects garbage first."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _one_run_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps each measurement to one run: these tests check no number closely."""
    monkeypatch.setattr(cost_kind, "LEAST_CPU_S", 0.0)


def test_costs_are_stored_and_measured_once_on_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = read_text(tmp_path, RECIPE, "mplibra-tab1")
    with Store(tmp_path / "one.db") as store:
        progress, results = carried_out(recipe, store)
        assert (progress.finished, progress.reused, progress.fraction) == (4, 0, 1.0)
        for measure in ("ratio", "decisions"):
            assert results.cell(measure, "NewReno", "").values == (float(measure == "ratio"),) * 2
        for measure, least in (("cpu", 0), ("decisions", 5), ("network", 1000)):
            assert results.cell(measure, "Learned", "").mean > least
        assert [verdict.kind.is_met for verdict in results.verdicts()] == [True]
        assert cost_kind.machine_text() in present(results.values).note
        runs = store.runs(tag="cost")
        assert len(runs) == 4
        assert {run.name.partition(",")[0] for run in runs} == {"mplibra-tab1: NewReno", "mplibra-tab1: Learned"}

        assert carried_out(recipe, store)[0].reused == 4
        # Another machine measures everything anew, and the values of this machine stay.
        monkeypatch.setattr(cost_kind, "machine_text", lambda: "another machine")
        progress, elsewhere = carried_out(recipe, store)
        assert progress.reused == 0
        assert "another machine" in present(elsewhere.values).note


def test_what_is_old_or_incomplete_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = read_text(tmp_path, RECIPE)
    with Store(tmp_path / "one.db") as store:
        carried_out(recipe, store)
        # Measurements of an interrupted session are not reused.
        store.delete([store.runs(tag="cost")[0].id])
        progress, made = carried_out(recipe, store)
        assert (progress.reused, made.cell("cpu", "Learned", "").n) == (0, 2)
        # Measurements of another build, such as those of the shipped library, are shown until then.
        monkeypatch.setattr(cost_kind, "simulator_version", lambda: "0.2.0+other")
        shown = present(CostKind().stored(recipe, store, is_quick=False, seeds=recipe.seeds))
        assert shown.values("cpu", "Learned", "") == list(made.cell("cpu", "Learned", "").values)
        assert carried_out(recipe, store)[0].reused == 0


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


def one_path(controller: str) -> Scenario:
    overrides = ("duration=2s", f'flows.download.controller="{controller}"')
    return load_scenario(find_scenario("rlx-fixed"), overrides=overrides)


def two_paths(controller: str) -> Scenario:
    return load_scenario(find_scenario("t-2link"), overrides=("duration=12s", f'flows.mptcp.controller="{controller}"'))


def finished(scenario: Scenario) -> Simulation:
    simulation = Simulation(scenario, seed=1)
    simulation.run_until(scenario.duration_s)
    return simulation


def test_decisions_are_those_of_agents_or_monitor_intervals() -> None:
    assert decisions(one_path("newreno"), 1) == 0
    vivace, learned, both = one_path("vivace"), one_path("rl-explore"), two_paths("mplibra")
    assert decisions(vivace, 1) == len(finished(vivace).take_intervals().owner) > 10
    assert decisions(learned, 1) == len(present(finished(learned).take_agent_steps()).number) > 10
    # With agent and monitor intervals, only decisions of the agent count.
    assert 0 < decisions(both, 1) < 0.9 * len(finished(both).take_intervals().owner)


def test_what_networks_take_is_four_bytes_a_number_and_each_policy_counts_once() -> None:
    scenario = two_paths("mplibra")
    layers = Policy.load(shipped_policies() / "mplibra.safetensors").document["actor"]["layers"]
    linear = [(layer["in"], layer["out"]) for layer in layers if layer["type"] == "linear"]
    assert (linear[1], network_bytes(scenario)) == ((256, 256), 4 * sum((n + 1) * out for n, out in linear))
    assert network_bytes(two_paths("olia")) == 0


@for_each(
    ("before", "after", "told"),
    [
        ('cost = { over = "NewReno" }', "", "cost"),
        ('over = "NewReno"', 'over = "Reno"', 'unknown series "Reno"'),
        ("set = { dur", 'axis = { keys = ["duration"], values = ["5s"] }\nset = { dur', "has no axis"),
        ('"rl-explore"', '"no-such-thing"', "Learned.*no-such-thing"),
    ],
)
def test_what_cannot_be_measured_is_told_by_key(tmp_path: Path, before: str, after: str, told: str) -> None:
    with Store(tmp_path / "one.db") as store, pytest.raises(RecipeError, match=told):
        carried_out(read_text(tmp_path, RECIPE.replace(before, after)), store)

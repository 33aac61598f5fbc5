"""Experiments with agents as printed and with wider training: their policies, checks, stored results and counts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.features.gallery.core.tiny import carried_out, read_text
from tests.helpers.shipped_policies import use_printed

from subflow_app.features.gallery.core.columns import agent_series, in_column, in_columns, uses_agent
from subflow_app.features.gallery.core.exhibits import announce_exhibit, paper_order
from subflow_app.features.gallery.core.recipe import AgentColumn, Recipe
from subflow_app.features.gallery.core.recipe_reader import load_recipe, recipe_names
from subflow_app.features.gallery.core.report import by_paper, experiment_report, run_again_text
from subflow_app.features.gallery.core.report_tables import (
    agent_table,
    count_table,
    settlement_table,
    side_by_side_table,
    verdicts_csv,
)
from subflow_app.features.gallery.core.reproduction import Reproduction, ReproductionQueue
from subflow_app.features.gallery.core.results import check_counts, n_finished, stored_results
from subflow_app.features.gallery.core.retraining import Retraining, policies_of
from subflow_app.features.paper.core.panel_forms import number_text
from subflow_app.features.paper.core.report import Heading, Paragraph
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.vocabulary.number_text import NOTHING
from subflow_app.vocabulary.tables import TextTable
from subflow_store import Store

WIDE = AgentColumn.WIDE

RECIPE = """
format = 1
paper = "rl-explore"
figure = "6"
title = "With and without a policy"
claim = "It is faster."
scenario = "rlx-fixed"
seeds = "1"
panels = [{ form = "bars", measure = "goodput" }]
set = { duration = "1s" }
measures = { goodput = { of = "goodput", unit = "Mbit/s" } }
[[checks]]
says = "It is faster"
holds = "goodput('Named') > goodput('CUBIC')"
cause = { kind = "agent", says = "Without it.", variants = ["neutral", "other"] }
[[checks]]
says = "CUBIC carries something"
holds = "goodput('CUBIC') > 1 kbit/s"
[[checks]]
says = "A policy carries something"
holds = "goodput('Even') > 1 kbit/s"
[series]
Scenario = {}
Named = { set = { "flows.download.controller" = "rl-explore" } }
Even = { set = { "flows.download.controller" = { name = "rl-explore", policy = "rl-explore-wide" } } }
CUBIC = { set = { "flows.download.controller" = "cubic" } }
[variants.neutral]
says = "Nothing learned has an effect."
[variants.neutral.series]
Scenario = { set = { "flows.download.controller.policy" = "neutral" } }
Named = { set = { "flows.download.controller" = { name = "rl-explore", policy = "neutral" } } }
[variants.other]
says = "A longer run."
set = { duration = "2s" }
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    return read_text(tmp_path, RECIPE)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "runs.db") as store:
        yield store


def test_the_wide_column_has_the_wide_policies_and_only_claims_about_agents(recipe: Recipe) -> None:
    assert in_column(recipe, AgentColumn.PRINTED) is recipe
    wide = in_column(recipe, WIDE)
    assert policies_of(wide, is_quick=False) == {
        (series, "download"): {"rl-explore-wide"} for series in ("Scenario", "Named", "Even")
    }
    assert wide.series["Even"] == recipe.series["Even"]
    assert wide.series["CUBIC"] == recipe.series["CUBIC"]
    assert [check.says for check in wide.checks] == ["It is faster", "A policy carries something"]
    assert (wide.label, wide.name, wide.column, wide.file_name) == ("tiny (wide)", "tiny", WIDE, "tiny-wide")
    other = policies_of(wide.variants["other"].recipe, is_quick=False)
    assert other["Named", "download"] == {"rl-explore-wide"}


def test_checks_of_the_papers_rest_on_agents() -> None:
    recipes = [load_recipe(name) for name in recipe_names()]
    agents = {recipe.name: agent_series(recipe) for recipe in recipes}
    resting = [check for each in recipes for check in each.checks if uses_agent(check, each, agents[each.name])]
    assert (sum(len(each.checks) for each in recipes), len(resting)) == (204, 154)
    wide = in_columns(recipes, [WIDE])
    # Trainings are the same in both columns, as are experiments without an agent.
    assert {each.name for each in recipes} - {each.name for each in wide} == {
        *("mplibra-fig3", "mplibra-fig4b", "ddpg-mpcc-fig4", "ddpg-mpcc-fig5"),
        *("rl-explore-fig1", "rl-explore-fig2", "rl-explore-fig4"),
    }
    assert sum(len(each.checks) for each in wide) == 154 - 7
    used = {name for each in wide for names in policies_of(each, is_quick=True).values() for name in names}
    assert {name for name in used if not name.endswith("-wide")} <= {"mplibra-even"}


def test_an_agent_of_each_network_is_printed_and_one_wide_policy_replaces_all() -> None:
    recipe = load_recipe("drl-cc-sc2")
    printed = {f"drl-cc-sc2-{rate}mbit" for rate in (2, 4, 16)} | {"drl-cc"}
    assert policies_of(recipe, is_quick=False) == {("DRL-CC", "download"): printed}
    wide = in_column(recipe, WIDE)
    assert policies_of(wide, is_quick=False) == {("DRL-CC", "download"): {"drl-cc-wide"}}


def test_a_missing_agent_is_an_agent(tmp_path: Path) -> None:
    text = RECIPE.replace('policy = "rl-explore-wide"', 'policy = "gone"')
    recipe = read_text(tmp_path, text)
    assert agent_series(recipe) == {"Scenario", "Named", "Even"}


def test_columns_share_runs_without_agents_and_keep_results_apart(
    recipe: Recipe, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_printed(monkeypatch, tmp_path / "shipped")
    wide = in_column(recipe, WIDE)
    _, printed_results = carried_out(recipe, store)
    assert not stored_results(wide, store, is_quick=False).is_there
    progress, wide_results = carried_out(wide, store)
    # The runs of CUBIC exist already, and those of the wide policy, because one series of the recipe names it.
    assert (progress.finished, progress.reused) == (4, 4)
    one, other = (each.cell("goodput", "Named").mean for each in (printed_results, wide_results))
    assert one != other
    assert wide_results.cell("goodput", "Even").mean == other
    beside = side_by_side_table([printed_results], [wide_results])
    assert [row[3] for row in beside.rows] == ["Scenario", "Named", "Even"]
    classic = number_text(printed_results.cell("goodput", "CUBIC").mean / 1e6)
    shown = [number_text(value / 1e6) for value in (one, other)]
    assert beside.rows[1] == ("6", NOTHING, "goodput (Mbit/s)", "Named", *shown, f"CUBIC {classic}")
    assert [row[5] for row in side_by_side_table([printed_results], []).rows] == [NOTHING] * 3
    texts = [block.title for block in experiment_report([printed_results]).blocks if isinstance(block, TextTable)]
    assert beside.title not in texts
    both = experiment_report([printed_results, wide_results]).blocks
    assert [block.rows for block in both if isinstance(block, TextTable) and block.title == beside.title] == [
        beside.rows
    ]
    assert [row.name for row in store.sweeps.rows()] == ["experiment tiny (wide)", "experiment tiny"]


def test_a_cost_is_measured_for_each_column(tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subflow_app.features.gallery.core.cost_kind.LEAST_CPU_S", 0.0)
    text = RECIPE.replace('of = "goodput", unit = "Mbit/s"', 'of = "cpu_ratio"').split("[[checks]]")[0]
    text += """
[[checks]]
says = "It costs"
holds = "goodput('Named') > 0.001"
[cost]
over = "CUBIC"
[series]
Named = { set = { "flows.download.controller" = "rl-explore" } }
CUBIC = { set = { "flows.download.controller" = "cubic" } }
"""
    recipe = read_text(tmp_path, text.replace("format = 1", 'format = 1\nkind = "cost"', 1))
    wide = in_column(recipe, WIDE)
    assert wide.column is WIDE
    carried_out(recipe, store)
    assert not stored_results(wide, store, is_quick=False).is_there
    _, results = carried_out(wide, store)
    assert n_finished(results) == 2


def test_counts_never_mix_the_columns(recipe: Recipe, store: Store) -> None:
    wide = in_column(recipe, WIDE)
    other = replace(recipe, paper="mplibra")
    every = [carried_out(each, store)[1] for each in (recipe, wide, other)]
    assert check_counts(every[:1])[::2] == (3, 2)
    ordered = by_paper(every)
    titles = ["MPLibra", "RL-explore", "RL-explore, agents with wider training", "All"]
    assert [row[0] for row in count_table(ordered).rows] == titles
    assert [row[1] for row in settlement_table(ordered).rows] == ["3", "3", "2", "6"]
    assert [(row[1], row[3]) for row in agent_table(ordered).rows] == [("3", "2"), ("3", "2"), ("2", "2"), ("6", "4")]
    assert run_again_text(every[0]) == "subflow reproduce tiny"
    assert run_again_text(every[1]) == "subflow reproduce tiny --agents wide"
    rows = list(csv.DictReader(io.StringIO(verdicts_csv(every[:2]))))
    assert [(row["agents"], row["uses_agent"]) for row in rows] == [
        *(("printed", "true"), ("printed", "false"), ("printed", "true")),
        *(("wide", "true"), ("wide", "true")),
    ]
    blocks = experiment_report(every).blocks
    assert [block.text for block in blocks if isinstance(block, Heading) and block.level == 1][:4] == [
        "Summary",
        *titles[:3],
    ]
    texts = " ".join(block.text for block in blocks if isinstance(block, Paragraph))
    assert "of 2 checks that rest on an agent are met" in texts


def test_exhibits_of_the_columns_are_apart() -> None:
    printed, wide = (announce_exhibit("rl-explore-fig6", column) for column in AgentColumn)
    assert announce_exhibit("rl-explore-fig1", WIDE) is None
    unknown = announce_exhibit("unknown", WIDE)
    assert unknown is not None
    assert (unknown.name, unknown.recipe) == ("unknown (wide)", None)
    assert "unknown" in unknown.problem
    assert printed is not None
    assert wide is not None
    assert [each.name for each in (printed, wide)] == ["rl-explore-fig6", "rl-explore-fig6 (wide)"]
    assert [(group.column, len(members)) for group, members in paper_order([wide, printed]).items()] == [
        (AgentColumn.PRINTED, 1),
        (WIDE, 1),
    ]


def test_a_queue_has_both_columns_of_an_experiment(recipe: Recipe, store: Store) -> None:
    queue = ReproductionQueue(store, jobs=1)
    both = in_columns([recipe], list(AgentColumn))
    assert queue.add(both, is_quick=False) == ["tiny", "tiny (wide)"]
    assert queue.add(both, is_quick=False) == []
    queue.run().check()
    assert [job.problems for job in queue.each] == [(), ()]
    assert {name: state.state for name, state in queue.states().items()} == {
        "tiny": JobState.FINISHED,
        "tiny (wide)": JobState.FINISHED,
    }
    assert Reproduction(both[1], store).results().cell("goodput", "Named").n == 1


def test_wide_policies_are_retrained_by_their_own_recipes(recipe: Recipe) -> None:
    retraining = Retraining(in_columns([recipe], list(AgentColumn)), None, is_quick=False)
    assert retraining.names == ("rl-explore", "rl-explore-wide")

"""Short names of runs in narrow places, and the columns of runs side by side."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tests.helpers.members import for_each

from subflow_app.features.history.core.run_names import plot_columns, run_names, told_apart


def run(controller: str, seed: int | None, title: str = "Demo", *tags: str) -> Any:
    """A run of one flow; without a seed, it is in progress."""
    row = None if seed is None else SimpleNamespace(seed=seed, tags=tags, summary=None)
    return SimpleNamespace(title=title, controllers={"download": controller}, versions={}, row=row)


def test_runs_of_one_name_are_told_apart_by_controllers_then_seeds_then_numbers() -> None:
    assert run_names([run("lia", 1), run("lia", 2, "Other")]) == ["Demo", "Other"]
    assert run_names([run("lia", 1), run("olia", 1)]) == ["Demo: lia", "Demo: olia"]
    assert run_names([run("lia", 1), run("lia", 2), run("olia", 1)]) == [
        "Demo: lia, seed 1",
        "Demo: lia, seed 2",
        "Demo: olia",
    ]
    # Versions of a script are different controllers.
    versions = [run("mine", 1), run("mine", 2)]
    for number, each in enumerate(versions, start=2):
        each.versions = {"mine": f"mine, version {number}"}
    assert run_names(versions) == ["Demo: mine, version 2", "Demo: mine, version 3"]
    # Real programs and the simulation of their scenario.
    assert run_names([run("lia", 1, "Demo", "emulated"), run("lia", 1)]) == ["Demo: programs", "Demo: simulated"]
    # A seed that several runs have, or that is unknown, distinguishes nothing.
    assert run_names([run("lia", 1), run("lia", 1), run("lia", 3), run("lia", None)]) == [
        "Demo (1)",
        "Demo (2)",
        "Demo, seed 3",
        "Demo (3)",
    ]


@for_each(
    ("names", "short"),
    [
        (["Demo", "Another"], ["Demo", "Another"]),
        (["Two paths: lia", "Two paths: olia", "Two paths: lia (2)"], ["… lia", "… olia", "… lia (2)"]),
        # Every column keeps a name.
        (["Demo", "Demo again"], ["Demo", "Demo again"]),
        (["Two paths"], ["Two paths"]),
    ],
)
def test_each_run_has_a_column_named_after_what_differs(names: list[str], short: list[str]) -> None:
    columns = plot_columns(names, {})
    assert [(set(each.runs), each.title) for each in columns] == [({run}, name) for run, name in enumerate(names)]
    assert [each.short_title for each in columns] == short


def test_originals_stand_with_the_last_of_their_forks() -> None:
    # Run 2 is the original of 0, which is the original of 3.
    columns = plot_columns(["fork", "other", "original", "fork of the fork"], {2: 0, 0: 3})
    assert [(set(column.runs), column.title) for column in columns] == [({0, 2, 3}, "fork of the fork"), ({1}, "other")]
    # Runs that name each other as originals end the search.
    assert {run for column in plot_columns(["a", "b"], {0: 1, 1: 0}) for run in column.runs} == {0, 1}


@for_each(
    ("names", "common", "rests"),
    [
        (["Two paths: lia", "Two paths: olia"], "Two paths", ["lia", "olia"]),
        (["Demo: a phone: lia (1)", "Demo: a phone: lia (2)"], "Demo: a phone", ["lia (1)", "lia (2)"]),
        (["Demo by queue: queue = 8pkt", "Demo by queue: queue = 17pkt"], "Demo by queue: queue", ["8pkt", "17pkt"]),
        (
            ["Phone: lia, seed 1", "Phone: lia, seed 2"],
            "Phone: lia",
            ["seed 1", "seed 2"],
        ),
        (["Two paths", "Two pairs"], "", ["Two paths", "Two pairs"]),
        (["Demo: x", "Demo: "], "", ["Demo: x", "Demo: "]),
        (["Demo: x"], "", ["Demo: x"]),
        ([], "", []),
    ],
)
def test_names_lose_what_they_have_in_common(names: list[str], common: str, rests: list[str]) -> None:
    assert told_apart(names) == (common, rests)

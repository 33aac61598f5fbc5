"""The command ``subflow library``: libraries are made, listed, checked and copied, including the shipped library."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.experiments import tiny_recipe
from tests.helpers.present import present

from subflow_app.features.gallery.core.recipe_reader import load_recipe, recipe_names
from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.library.core import contents
from subflow_app.features.library.core.building import MOST_BYTES
from subflow_app.features.library.core.checking import check, sample
from subflow_app.features.library.core.contents import entries_of
from subflow_app.features.library.core.shipped import (
    open_library,
    schema_version,
    shipped_library,
    shipped_thumbnail,
)
from subflow_store import Store

# Short enough to simulate again in a test: a fraction of a second each.
SHORT_PACKETS = 40_000
RUNS_WITHOUT_TRACES = 10  # schema of the first library of such runs


def test_a_library_is_made_and_used(
    subflow: Subflow, tmp_path: Path, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_recipe(tmp_path)
    recipe, file = tmp_path / "tiny.toml", tmp_path / "library.db"
    made = subflow("library", "build", recipe, "--out", file, "--jobs", 1)
    assert made.code == 0, made.err
    assert f"{file}: 1 experiments, 0 labs" in made.err
    assert f"wrote {file}: 4 runs, 0." in made.out
    information = subflow("library", "info", "--file", file, "--json").document
    assert (information["runs"], information["sweeps"], information["trainings"]) == (4, 1, 0)
    assert f"signature {information['signature']}" in subflow("library", "info", "--file", file).out
    monkeypatch.setattr(contents, "recipe_names", lambda: (str(recipe),))
    monkeypatch.setattr(contents, "shipped_labs", list)
    entry, standing = subflow("library", "list", "--file", file, "--json").document
    assert (standing["name"], standing["runs"]) == ("arena", [])
    assert (entry["name"], len(entry["runs"]), entry["is_complete"]) == ("tiny", 4, True)
    assert "1 of 2 experiments, labs and the arena are in the library" in subflow("library", "list", "--file", file).out
    checked = subflow("library", "check", "--file", file, "--sample", 2)
    assert (checked.code, "2 of 2 runs equal the stored ones" in checked.out) == (0, True)
    with present(open_library(file)) as store:
        check_signatures(store, [row.id for row in store.runs()])
    copied = subflow("library", "copy", recipe, "--file", file, "--db", database)
    assert copied.out == "tiny: 4 runs, 1 to 4\n"
    assert subflow("library", "copy", recipe, "--file", file, "--db", database).out == copied.out
    assert len(subflow("runs", "--db", database, "--json").document) == 4


def test_a_library_that_is_not_there_is_told(subflow: Subflow, tmp_path: Path) -> None:
    answer = subflow("library", "info", "--file", tmp_path / "none.db")
    assert (answer.code, "unknown library of results" in answer.err) == (2, True)
    assert subflow("library", "build", "no-such-experiment", "--out", tmp_path / "x.db").code == 2
    assert list(tmp_path.glob("x*")) == []


def test_every_experiment_lab_and_the_arena_are_in_the_shipped_library_and_come_out_again() -> None:
    path = shipped_library()
    if path is None:
        pytest.skip("the library has not been made: subflow library build")
    with present(open_library()) as store:
        # In English, regardless of the language of this system.
        labs = [load_lab(name, language="en") for name in lab_names()]
        found = list(entries_of(store, map(load_recipe, recipe_names()), labs))
        # Their figures appear at once.
        pictures = {name for name in recipe_names() if (shipped_thumbnail(name) or b"")[:4] == b"\x89PNG"}
        assert pictures == set(recipe_names())
        assert {row.version for row in store.sweeps.rows()}
        if schema_version(path) < RUNS_WITHOUT_TRACES:
            pytest.skip(f"{path.name} was built before runs lost their traces: `subflow library build` makes it anew")
        assert path.stat().st_size <= MOST_BYTES
        assert contents.arena_entry(store).is_complete
        assert [entry.name for entry in found if not entry.records] == []
        numbers = sample(store, 3, seed=1, most_packets=SHORT_PACKETS)
        assert all(store.is_light(row.id) for row in store.runs())
        check_signatures(store, numbers)


def check_signatures(store: Store, numbers: list[int]) -> None:
    """Runs of a library have the stored signatures, both in a check and when they are opened."""
    assert [(run.name, run.made, run.problem) for run in check(store, numbers)] == [
        (store.run(number).name, store.run(number).signature, "") for number in numbers
    ]
    for number in numbers:
        assert store.series(number)
    assert [each.is_identical for each in store.simulated_again()] == [True] * len(numbers)

"""A small library of one experiment and one lab: made, opened in a read-only folder, and copied from."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import zstandard
from tests.helpers.changed_rows import changing_rows
from tests.helpers.experiments import tiny_recipe
from tests.helpers.labs import small_lab
from tests.helpers.present import present

from subflow_app.features.arena.core.results import entry, known_board
from subflow_app.features.gallery.core.exhibits import read_exhibit, with_figure
from subflow_app.features.gallery.core.recipe import Recipe
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.reproduction import Reproduction
from subflow_app.features.gallery.core.results import stored_results
from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.library.core import building, contents, copying, shipped
from subflow_app.features.library.core.building import LibraryBuild
from subflow_app.features.library.core.checking import check, sample
from subflow_app.features.library.core.contents import entries_of, of_experiment, of_lab, versions
from subflow_app.features.library.core.copying import SHIPPED_TAG, copy_experiment, copy_to_go_on
from subflow_app.features.library.core.shipped import open_library, shipped_outcomes
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.errors import LibraryError
from subflow_app.foundation.run_databases import open_database
from subflow_sim import Simulation, parse_scenario
from subflow_store import RunRow, Store, StoreCorrupt, StoreError, open_store
from subflow_store.again import SimulatedAgain
from subflow_store.liveness import this_process
from subflow_store.rows import strict_json
from subflow_store.values import Records


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recipe, Lab]:
    folder = tmp_path_factory.mktemp("parts")
    (folder / "labs").mkdir()
    return tiny_recipe(folder), small_lab(folder / "labs")


@pytest.fixture(scope="module")
def file(parts: tuple[Recipe, Lab], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library as a read-only file in a read-only folder."""
    folder = tmp_path_factory.mktemp("shipped")
    path = folder / "experiments.db"
    build = LibraryBuild(path, recipes=parts[:1], labs=parts[1:])
    outcome = build.run()
    assert (outcome.state, outcome.problems) == ("finished", ())
    assert build.progress.fraction == 1.0
    assert not build.work_file.exists()
    path.chmod(0o444)
    folder.chmod(0o555)
    return path


def library_uri(file: Path) -> str:
    """Address for reading the file without creating files beside it."""
    return f"{file.as_uri()}?mode=ro&immutable=1"


@pytest.fixture
def library(file: Path) -> Iterator[Store]:
    with present(open_library(file)) as store:
        yield store


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Store]:
    with open_database(tmp_path / "own.db") as store:
        yield store


def test_it_has_what_figures_need_and_no_machine(library: Store, file: Path, parts: tuple[Recipe, Lab]) -> None:
    recipe, lab = parts
    experiment, reference = entries_of(library, [recipe], [lab])
    assert (experiment.kind, len(experiment.records.runs), experiment.is_complete) == ("experiment", 4, True)
    assert (reference.name, reference.is_complete) == (lab.name, True)
    assert {row.name.partition(":")[0] for row in library.runs(tag="lab 1")} == {"Lab 1"}
    assert sum(versions(library).values()) == len(library.runs())
    runs = (*experiment.records.runs, *reference.records.runs)
    assert all(library.is_light(number) for number in runs)
    with closing(sqlite3.connect(library_uri(file), uri=True)) as reader:
        for table in ("series", "chunk", "pyramid", "event_chunk", "event_name", "run_document"):
            assert reader.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
    assert all("host" not in (library.run(row.id).machine or {}) for row in library.runs())
    content = file.read_bytes()
    assert this_process().boot.encode() not in content
    assert str(file.parent).encode() not in content
    assert content[18:20] == b"\x01\x01"  # no write-ahead log: no file is made beside it
    # The only other files are the thumbnails of its figures.
    assert sorted(path.name for path in file.parent.iterdir()) == ["experiments.db", "gallery"]
    (picture,) = (file.parent / "gallery").iterdir()
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_its_results_are_shown_where_there_are_no_others(library: Store, own: Store, parts: tuple[Recipe, Lab]) -> None:
    recipe = parts[0]
    exhibit = read_exhibit(own, recipe.name, recipe=recipe, library=library)
    assert exhibit.is_shipped
    assert None not in (exhibit.figure, exhibit.results)
    assert read_exhibit(own, recipe.name, recipe=recipe).results is None
    Reproduction(recipe, own, is_quick=True).run()
    assert not read_exhibit(own, recipe.name, recipe=recipe, library=library).is_shipped


def test_verdicts_need_no_simulation_and_figures_do(tmp_path: Path) -> None:
    tiny_recipe(tmp_path)
    file = tmp_path / "tiny.toml"
    file.write_text(file.read_text().replace("[measures.rtt]", LATE + "[measures.rtt]"))
    recipe, out = load_recipe(str(file)), tmp_path / "late.db"
    assert recipe.measures["late"].needs_traces
    assert LibraryBuild(out, recipes=[recipe], labs=[]).run().problems == ()
    with open_database(tmp_path / "own.db") as own, present(open_library(out)) as library:
        exhibit = read_exhibit(None, recipe.name, recipe=recipe, library=library, draws_shipped=False)
        late = [present(exhibit.results).cell("late", series, "5%").mean for series in recipe.series]
        assert (exhibit.figure, exhibit.is_drawn, exhibit.finished) == (None, False, 4)
        assert library.simulated_again() == ()
        drawn = with_figure(exhibit)
        assert (drawn.figure is not None, drawn.is_drawn) == (True, True)
        assert library.simulated_again()
        # In a database of one's own, the same values come from the simulation.
        copy_experiment(library, recipe, own)
        results = stored_results(recipe, own, is_quick=True)
        assert [results.cell("late", series, "5%").mean for series in recipe.series] == late
        assert own.simulated_again()


LATE = """\
[measures.late]
of = "goodput"
flows = "download"
since = "0.5s"
unit = "Mbit/s"
label = "Late goodput"

[measures.filling]
of = "time_to_reach"
flows = "download"
level = "10%"
links = "wifi"
since = "0s"
window = "0.2s"
unit = "s"
label = "Time to reach a tenth of the rate"
"""


def test_copied_results_are_like_own_and_twice_is_once(library: Store, own: Store, parts: tuple[Recipe, Lab]) -> None:
    recipe, lab = parts
    assert [copy_experiment(library, recipe, own).n_new for _ in range(2)] == [5, 0]
    copied = stored_results(recipe, own, is_quick=True)
    shipped_results = stored_results(recipe, library, is_quick=True)
    assert copied.cell("goodput", "LIA", "5%") == shipped_results.cell("goodput", "LIA", "5%")
    assert [verdict.kind for verdict in copied.verdicts()] == [verdict.kind for verdict in shipped_results.verdicts()]
    assert len(own.runs(tag=SHIPPED_TAG)) == 4
    summary = own.run(own.runs()[0].id).summary or {}
    assert [flow["name"] for flow in summary["flows"]] == ["download"]
    assert own.values("flows.download.goodput_bps").keys() == {row.id for row in own.runs()}
    runs = copying.copy_lab(library, lab, own).runs
    assert set(of_lab(own, lab).runs) == set(runs.values())
    # This simulator made the runs, so that continuing the experiment makes no new ones.
    before = len(own.runs())
    outcome = Reproduction(recipe, own, is_quick=True).run()
    assert outcome.progress.reused == 4
    assert len(own.runs()) == before
    # Copied runs can be simulated again like any run, for explaining, replaying and forking.
    assert all(run.is_same for run in check(own, [next(iter(runs.values()))]))


def test_every_run_is_simulated_again_when_it_is_opened(library: Store, own: Store) -> None:
    for row in library.runs():
        traces = StoredTraces(library, row.id)
        assert len(traces.read(traces.keys()[0])[1]) == round(row.duration_s / row.sample_interval_s)
    assert [each.is_identical for each in library.simulated_again()] == [True] * len(library.runs())
    number = library.runs()[0].id
    taken = copying.copy(library, Records(runs=(number,)), own).runs[number]
    assert {key.name for key in StoredTraces(own, taken).keys()} >= {"cwnd_pkts", "queue_pkts"}  # noqa: SIM118
    (told,) = own.simulated_again()
    assert (told.run_id, told.is_identical) == (taken, True)


def test_summaries_share_text_and_come_back_whole(library: Store, own: Store, file: Path) -> None:
    with closing(sqlite3.connect(library_uri(file), uri=True)) as reader:
        (packed,) = reader.execute("SELECT sum(length(data)) FROM document_pack").fetchone()
    rows = [library.run(row.id) for row in library.runs()]
    assert packed < 0.15 * sum(len(json.dumps(row.summary)) + len(row.scenario_text or "") for row in rows)
    number = rows[0].id
    taken = copying.copy(library, Records(runs=(number,)), own).runs[number]
    again = Simulation(parse_scenario(own.run(taken).scenario_text or ""), seed=own.run(taken).seed)
    again.run_until(own.run(taken).duration_s)
    summary = own.run(taken).summary or {}
    assert (summary["run_id"], summary["signature"]) == (taken, again.signature())
    assert summary["flows"] == json.loads(strict_json(again.summary()))["flows"]


def test_a_summary_that_is_damaged_is_told(file: Path, own: Store, tmp_path: Path, parts: tuple[Recipe, Lab]) -> None:
    damaged = tmp_path / "damaged.db"
    shutil.copyfile(file, damaged)
    with changing_rows(damaged) as writer:
        writer.execute("UPDATE document_pack SET data = substr(data, 1, 100)")
    with (
        present(open_library(damaged)) as store,
        pytest.raises(StoreCorrupt, match=r"damaged\.db: .*run_document: the pack of its documents is damaged"),
    ):
        copy_experiment(store, parts[0], own)
    assert own.runs() == []


def test_going_on_copies_own_runs(
    library: Store, own: Store, parts: tuple[Recipe, Lab], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = parts[0]
    monkeypatch.setattr("subflow_app.features.library.core.copying.simulator_version", lambda: "another")
    assert not copy_to_go_on(library, recipe, own)
    monkeypatch.undo()
    assert copy_to_go_on(library, recipe, own)
    assert not copy_to_go_on(library, recipe, own)
    assert of_experiment(own, recipe, is_quick=True).runs


def test_a_run_that_comes_out_otherwise_is_told(library: Store, file: Path, tmp_path: Path) -> None:
    chosen = sample(library, 3, seed=1)
    assert chosen == sample(library, 3, seed=1)
    assert len(sample(library, 1000, seed=1)) == len(library.runs())
    assert all(run.is_same for run in check(library, chosen[:1]))
    changed = tmp_path / "changed.db"
    shutil.copyfile(file, changed)
    changed.chmod(0o600)
    with changing_rows(changed) as connection:
        connection.execute("UPDATE run SET signature = 'forged'")
        connection.execute("DELETE FROM packed_run WHERE run_id = 2")
        for kind, text in (("scenario", "broken"), ("machine", "{}")):
            connection.execute("INSERT INTO run_document (run_id, kind, text) VALUES (2, ?, ?)", (kind, text))
    with present(open_library(changed)) as other:
        forged, broken = check(other, [1, 2])
    assert (forged.is_same, forged.problem) == (False, "")
    assert "cannot be replayed" in broken.problem
    with present(open_library(changed)) as other:
        number = other.runs()[0].id
        assert other.series(number)
        (told,) = other.simulated_again()
        assert (told.recorded, told.is_identical) == ("forged", False)
        assert other.run(number).signature == "forged", "what was recorded stays"
        with pytest.raises(StoreError, match=r"the traces of run 2 are not stored, and version .* cannot simulate it"):
            other.series(2)


def test_an_interrupted_build_goes_on(
    parts: tuple[Recipe, Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, lab = parts
    out = tmp_path / "experiments.db"
    stopped = LibraryBuild(out, recipes=[recipe], labs=[])
    stopped.stop()
    assert stopped.run().state == "stopped"
    assert not out.exists()
    with open_store(stopped.work_file) as work:
        Reproduction(recipe, work, is_quick=True).run()
        made = {row.started_at for row in work.runs()}
    monkeypatch.setattr(building, "make_lab", lambda work, lab: [f"lab {lab.number}: a step is wrong"])
    build = LibraryBuild(out, recipes=[recipe], labs=[lab])
    outcome = build.run()
    # The entry that cannot be made is reported and missing.
    assert (outcome.state, outcome.problems, build.runs) == ("failed", ("lab 1: a step is wrong",), 4)
    with present(open_library(out)) as store:
        assert {row.started_at for row in store.runs()} == made
        assert [entry.is_complete for entry in entries_of(store, [recipe], [lab])] == [True, False]
    monkeypatch.setattr(building, "MOST_BYTES", 1000)
    with pytest.raises(LibraryError, match="allowed: 1000"):
        LibraryBuild(out, recipes=[recipe], labs=[]).run().check()


def test_parts_are_made_anew_and_the_others_kept(
    file: Path, parts: tuple[Recipe, Lab], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, lab = parts
    monkeypatch.setattr(building, "recipe_names", lambda: (recipe.name,))
    monkeypatch.setattr(building, "load_recipe", lambda name: recipe)
    monkeypatch.setattr(building, "shipped_labs", lambda: [lab])
    out = tmp_path / "experiments.db"
    shutil.copyfile(file, out)
    with present(open_library(out)) as store:
        before = entries_of(store, [recipe], [lab])
        experiment, reference = ([store.run(number).started_at for number in each.records.runs] for each in before)
    build = LibraryBuild(out, recipes=[], labs=[lab], keeps_others=True)
    assert build.run().problems == ()
    with present(open_library(out)) as store:
        assert store.values("flows.download.goodput_bps"), "values that figures read stay indexed"
        again = list(entries_of(store, [recipe], [lab]))
        assert [each.is_complete for each in again] == [True, True]
        assert [store.run(number).started_at for number in again[0].records.runs] == experiment
        assert min(store.run(number).started_at for number in again[1].records.runs) > max(reference)
        assert {each.is_identical for each in map(partial(simulated, store), store.runs())} == {True}
    # Without the others, only the part is in the file.
    assert LibraryBuild(out, recipes=[], labs=[lab]).run().problems == ()
    with present(open_library(out)) as store:
        assert [bool(each.records) for each in entries_of(store, [recipe], [lab])] == [False, True]


def simulated(store: Store, row: RunRow) -> SimulatedAgain:
    """The comparison of a run that is simulated again."""
    store.simulate_again(row.id)
    return store.simulated_again()[-1]


def test_a_file_of_another_schema_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setattr(shipped, "library_cache", lambda: cache)
    old = tmp_path / "old.db"
    packed = (Path(__file__).resolve().parents[3] / "store" / "versions" / "v4.db.zst").read_bytes()
    old.write_bytes(zstandard.ZstdDecompressor().stream_reader(packed).read())
    before = old.read_bytes()
    old.chmod(0o444)
    used = set()
    for _ in range(2):
        with present(open_library(old)) as store:
            assert store.is_read_only
            assert store.sweeps.rows() == []
            used.add(store.path)
    assert old.read_bytes() == before
    assert used == {path for path in cache.iterdir() if path.suffix == ".db"}
    newer = tmp_path / "newer.db"
    shutil.copyfile(file, newer)
    newer.chmod(0o600)
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    (tmp_path / "torn.db").write_bytes(b"no database")
    for name, told in (("newer", "made by a newer Subflow"), ("none", "unknown library"), ("torn", "cannot be used")):
        with pytest.raises(LibraryError, match=told):
            open_library(tmp_path / f"{name}.db")


def test_the_arena_is_in_it(tmp_path: Path, own: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    few = entry(["newreno", "lia"], families=["slow"], numbers=[1, 2], split="validation")
    monkeypatch.setattr(building, "entry", lambda: few)
    out = tmp_path / "experiments.db"
    build = LibraryBuild(out, recipes=[], labs=[], has_arena=True)
    assert build.run().problems == ()
    assert build.progress.fraction == 1.0
    monkeypatch.setattr("subflow_app.features.arena.core.results.entry", lambda: few)
    with present(open_library(out)) as store:
        told = contents.arena_entry(store)
        assert (told.is_complete, told.is_there, told.outcomes) == (True, True, 4)
        assert copying.copy_arena(store, own) == 4
        assert own.arena.outcomes() == store.arena.outcomes()
    # Without own outcomes, the board shows the library's and labels them as shipped.
    monkeypatch.setattr(shipped, "shipped_library", lambda: out)
    with open_store(":memory:") as empty:
        shown = known_board(few, empty, shipped_outcomes())
        assert (shown.n_finished, shown.n_shipped) == (4, 4)
    assert known_board(few, own, shipped_outcomes()).n_shipped == 0
    out.write_bytes(b"torn")
    assert shipped_outcomes() == []

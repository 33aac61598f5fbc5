"""``subflow library``: shows, checks, copies and builds the library of results that ships with the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.features.sweeps.cli import Cluster, Jobs, job_count
from subflow_app.foundation.errors import LibraryError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_note, print_rows
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_app.features.labs.core.lab import Lab
    from subflow_app.features.library.core.checking import CheckedRun
    from subflow_app.features.library.core.contents import LibraryEntry
    from subflow_store import Store

LibraryFile = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="A library; default: the shipped one.")
]

library_app = typer.Typer(no_args_is_help=True, help="List, check, copy or make the results that ship.")


@library_app.command()
def build(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Only these experiments, papers and labs, or arena; default: all."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The file; replaced when everything is made.")
    ] = Path("assets/experiments.db"),
    jobs: Jobs = "all",
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Make the library anew.

    Contains the quick run of every experiment, the reference runs of every lab, and the arena. With NAME..., only these
    parts are made anew, and a library that exists at FILE keeps all others. Runs are stored without traces: opening a
    run simulates it again.

    Finished parts are kept in FILE's `.building.db` until the library is complete, so the same command continues an
    interrupted build. Run it at the top of the source tree. Exit code: 0 when it is complete,
    1 when a part failed and is missing, 2 for a wrong name, 130 after Ctrl-C, 143 after
    SIGTERM.
    """
    from subflow_app.features.library.core.building import LibraryBuild
    from subflow_app.terminal.progress import in_background

    recipes, labs, has_arena = _chosen(names or ())
    parts: dict[str, Any] = {"recipes": recipes, "labs": labs, "has_arena": has_arena}
    job = LibraryBuild(out, **parts, keeps_others=bool(names), jobs=job_count(jobs), cluster=cluster)
    if not as_json:
        text = ", the arena" if has_arena else ""
        print_note(f"{out}: {len(recipes)} experiments, {len(labs)} labs{text}")
    outcome, signal_number = in_background(job, "library")
    outcome.check()
    if as_json:
        print_json({"file": str(out), **fields(outcome, "state", "problems"), **fields(job, "runs", "bytes", "wall_s")})
    for problem in outcome.problems:
        print_error(problem)
    if outcome.state == "stopped":
        print_note(f"stopped: what was made is kept in {job.work_file}; the same command continues there")
        raise typer.Exit(failures.stopped_by(signal_number))
    if not as_json:
        print_line(f"wrote {out}: {job.runs} runs, {job.bytes / 1e6:.1f} MB, in {job.wall_s:.0f} s")
    raise typer.Exit(failures.FAILED if outcome.problems else failures.OK)


@library_app.command()
def info(file: LibraryFile = None, as_json: Json = False) -> None:
    """Show the library's size, contents and version."""
    from subflow_app.features.library.core.contents import run_signatures, signature, versions
    from subflow_app.features.library.core.shipped import schema_version
    from subflow_store.values import Records

    with _opened(file) as store:
        path = store.path
        assert path is not None
        runs = run_signatures(store)
        sweeps, trainings = store.sweeps.rows(), store.trainings.rows()
        document: dict[str, Any] = {
            "file": str(path),
            "bytes": path.stat().st_size,
            "schema": schema_version(path),
            "runs": len(runs),
            "sweeps": len(sweeps),
            "trainings": len(trainings),
            "versions": dict(versions(store)),
            "simulators": sorted({row.version for row in sweeps}),
            "signature": signature(store, Records(tuple(runs), (), tuple(row.id for row in trainings)), runs),
        }
    if as_json:
        print_json(document)
        return
    made_by = ", ".join(f"{version} ({count})" for version, count in document["versions"].items())
    print_line(f"{document['file']}: {document['bytes'] / 1e6:.1f} MB, schema {document['schema']}")
    print_line(f"{document['runs']} runs, {document['sweeps']} sweeps, {document['trainings']} trainings")
    print_line(f"made by Subflow {made_by or '-'}; simulator {', '.join(document['simulators']) or '-'}")
    print_line(f"signature {document['signature']}")


@library_app.command("list")
def list_entries(file: LibraryFile = None, as_json: Json = False) -> None:
    """List the contents of the library.

    Lists the experiments, the labs and the arena, each with its runs and signature.
    """
    from subflow_app.features.library.core.contents import entries, run_signatures

    with _opened(file) as store:
        found = list(entries(store))
        signatures = run_signatures(store)
    if as_json:
        print_json([_document(entry, signatures) for entry in found])
        return

    columns: tuple[Column[LibraryEntry], ...] = (
        Column("Name", lambda entry: entry.name),
        Column("Title", lambda entry: entry.title),
        NumberColumn("Runs", lambda entry: len(entry.records.runs)),
        NumberColumn("Trainings", lambda entry: len(entry.records.trainings)),
        Column("State", _there),
        Column("Signature", lambda entry: entry.signature if entry.is_there else ""),
    )
    print_rows(found, columns)
    missing = sum(not entry.is_there for entry in found)
    print_line(f"{len(found) - missing} of {len(found)} experiments, labs and the arena are in the library")


@library_app.command()
def check(
    file: LibraryFile = None,
    count: Annotated[int, typer.Option("--sample", metavar="N", min=1, help="Number of its runs to simulate.")] = 10,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the random choice.")] = 1,
    as_json: Json = False,
) -> None:
    """Simulate some of its runs again and compare.

    Runs are chosen at random, and their signatures compared. The shipped counterexamples are also tried again, and
    their margins compared. Exit code: 0 when all results are as stored, 1 when one differs.
    """
    from subflow_app.features.library.core.checking import check as checked
    from subflow_app.features.library.core.checking import check_counterexamples, sample

    runs, tried = [], []
    with _opened(file) as store:
        for run in checked(store, sample(store, count, seed)):
            runs.append(run)
            if not as_json:
                _print_checked(run)
    for run in check_counterexamples():
        tried.append(run)
        if not as_json and not run.is_same:
            _print_checked(run)
    if as_json:
        names = ("run_id", "name", "seed", "stored", "made", "is_same", "problem")
        print_json([fields(run, *names) for run in (*runs, *tried)])
    else:
        same = [sum(run.is_same for run in each) for each in (runs, tried)]
        print_line(f"{same[0]} of {len(runs)} runs equal the stored ones")
        print_line(f"{same[1]} of {len(tried)} counterexamples have the stored margins")
    raise typer.Exit(failures.OK if all(run.is_same for run in (*runs, *tried)) else failures.FAILED)


@library_app.command()
def copy(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Experiments, papers and labs, or arena: see `library list`."),
    ],
    file: LibraryFile = None,
    database: Database = None,
) -> None:
    """Copy results into your own database.

    There you can plot, compare, explain and export them. Copying them again changes nothing.
    """
    from subflow_app.features.library.core.copying import copy_arena, copy_experiment, copy_lab

    recipes, labs, has_arena = _chosen(names)
    with _opened(file) as store, opened_store(database) as own:
        for recipe in recipes:
            _tell_copied(recipe.name, copy_experiment(store, recipe, own).runs)
        for lab in labs:
            _tell_copied(lab.name, copy_lab(store, lab, own).runs)
        if has_arena:
            print_line(f"arena: {copy_arena(store, own)} outcomes")


def _chosen(names: Sequence[str]) -> tuple[Sequence[Recipe], Sequence[Lab], bool]:
    """The experiments and labs with these names, and True if the arena is among them; everything without names.

    Raises:
        InputError: if a name belongs to no experiment, paper or lab.
    """
    from subflow_app.features.gallery.core.recipe_reader import chosen_recipes
    from subflow_app.features.labs.core.lab_file import LAB_SUFFIX, lab_names, load_lab
    from subflow_app.features.library.core.contents import ARENA_NAMES
    from subflow_app.vocabulary.language import ENGLISH

    in_labs = [name for name in names if name in lab_names() or name.endswith(LAB_SUFFIX)]
    others = [name for name in names if name not in in_labs and name not in ARENA_NAMES]
    recipes = chosen_recipes(others or ["all"]) if others or not names else ()
    # In English, because the library is the same for all languages.
    labs = [load_lab(name, language=ENGLISH) for name in (in_labs if names else lab_names())]
    return recipes, labs, not names or bool(set(ARENA_NAMES) & set(names))


@contextmanager
def _opened(file: Path | None) -> Iterator[Store]:
    """Yield the library, and close it when the block ends.

    Raises:
        LibraryError: if the library cannot be used, or is missing from this installation.
    """
    from subflow_app.features.library.core.shipped import open_library

    store = open_library(file)
    if store is None:
        raise LibraryError(
            "no library of results was shipped with this installation; `subflow library build` makes one"
        )
    with store:
        yield store


def _there(entry: LibraryEntry) -> str:
    if not entry.is_there:
        return "missing"
    return "complete" if entry.is_complete else "partial"


def _document(entry: LibraryEntry, signatures: dict[int, str]) -> dict[str, Any]:
    return {
        **fields(entry, "kind", "name", "title", "is_complete"),
        "signature": entry.signature if entry.is_there else "",
        "runs": [{"run_id": number, "signature": signatures.get(number, "")} for number in entry.records.runs],
        **fields(entry.records, "trainings"),
    }


def _print_checked(run: CheckedRun) -> None:
    told = f"run {run.run_id}, {run.name}, seed {run.seed}" if run.run_id else run.name
    if run.is_same:
        print_line(f"{told}: {run.stored}")
    elif run.problem:
        print_error(f"{told}: {run.problem}")
    else:
        print_error(f"{told}: stored {run.stored}, now {run.made}")


def _tell_copied(name: str, runs: Any) -> None:
    numbers = sorted(runs.values())
    if numbers:
        print_line(f"{name}: {len(numbers)} runs, {numbers[0]} to {numbers[-1]}")
    else:
        print_line(f"{name}: no runs in the library")

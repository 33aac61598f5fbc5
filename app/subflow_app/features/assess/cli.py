"""``subflow assess``: tests a controller by the criteria of RFC 9743 (BCP 133) and writes a dossier of the results."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.features.gallery.cli import seeds_option
from subflow_app.features.sweeps.cli import Cluster, Jobs, job_count
from subflow_app.foundation.errors import InputError
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_note, print_tables
from subflow_app.vocabulary.number_text import counted, duration_text
from subflow_sim.gate import is_folder, is_there

if TYPE_CHECKING:
    from subflow_app.features.assess.core.job import Assessment

_MOST_MINUTES = 24 * 60


def assess(
    controller: Annotated[
        str | None,
        typer.Argument(
            metavar="CONTROLLER",
            help="NAME or NAME:KEY=VALUE,KEY=VALUE, where NAME may be a script's file, or a policy file.",
        ),
    ] = None,
    is_quick: Annotated[
        bool, typer.Option("--quick", help="Five seeds instead of ten, fewer points, seconds of search per claim.")
    ] = False,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Search time for each claim; 0: no search; default: 5.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N", help="Number of seeds per point, at least 5, or the seeds: 1..10.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="Only this criterion or claim (`--list`). Repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Also write the dossier there: HTML, PDF, numbers, RO-Crate."),
    ] = None,
    jobs: Jobs = "all",
    cluster: Cluster = None,
    list_only: Annotated[bool, typer.Option("--list", help="Only list criteria and claims.")] = False,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the runs and searches.")] = False,
    as_json: Json = False,
) -> None:
    """Judge a controller by the criteria of BCP 133.

    Runs the criteria of RFC 9743, which is BCP 133, as experiments, each with a verdict: met, not met or not tried.
    Then searches for networks in which claims about the controller fail, among them the goals of RFC 6356.

    Everything is kept: after a stop or a crash, the same command continues where it was.

    Exit code: 0 when everything ran, whatever the verdicts; 1 when some runs failed, 2 for a wrong name or
    option, 130 after Ctrl-C, 143 after SIGTERM.
    """
    from subflow_app.features.arena.core.entrants import chosen_entrants
    from subflow_app.features.assess.core.dossier import (
        assessment_document,
        criteria_list,
        summary_tables,
        write_dossier,
    )
    from subflow_app.features.assess.core.job import Assessment, Extent
    from subflow_store import open_store

    if list_only:
        document, table = criteria_list()
        if as_json:
            print_json(document)
        else:
            print_tables(table)
        return
    if controller is None:
        raise InputError(
            "a controller is missing: `subflow arena --list` lists them; the file of a script or policy also works"
        )
    if minutes is not None and not 0 <= minutes <= _MOST_MINUTES:
        raise InputError(f"--minutes {minutes:g}: must be 0 (no search) to {_MOST_MINUTES}")
    if out is not None and is_there(out) and not is_folder(out):
        raise InputError(f"--out {out}: this is a file, not a folder")
    chosen_seeds = None if seeds is None else seeds_option(seeds)
    if chosen_seeds is not None and len(chosen_seeds) < 5:
        raise InputError(f"--seeds {seeds}: a verdict needs at least 5")
    n_jobs = job_count(jobs)
    extent = Extent(is_quick, chosen_seeds, minutes, tuple(only or ()))
    entrant = chosen_entrants([controller])[0]
    with ExitStack() as stack:
        folder = (
            Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="subflow-assess-"))) if out is None else out
        )
        store = stack.enter_context(open_store(":memory:") if no_store else opened_store(database))
        assessment = Assessment(entrant, store, folder / "criteria", extent=extent, jobs=n_jobs, cluster=cluster)
        code = _run(assessment, is_quiet=as_json, is_kept=not no_store)
        results = assessment.results()
        if out is not None:
            print_note(f"written: {', '.join(map(str, write_dossier(assessment, results, out, controller)))}")
        if as_json:
            print_json(assessment_document(assessment, results))
        else:
            for number, table in enumerate(summary_tables(assessment, results)):
                if number:
                    print_line()
                print_tables(table)
    for problem in assessment.problems:
        print_error(problem)
    raise typer.Exit(code)


def _run(assessment: Assessment, *, is_quiet: bool, is_kept: bool) -> int:
    """Run the assessment and return the exit code."""
    from subflow_app.terminal.progress import in_background

    if not is_quiet:
        runs = counted(sum(each.progress.runs for each in assessment.criteria), "run")
        print_note(
            f"{assessment.entrant.name}: {runs} for criteria, {counted(len(assessment.searches), 'claim')} to search; "
            f"about {duration_text(assessment.expected_s)} on two cores"
        )
    outcome, signal_number = in_background(assessment, "assess")
    outcome.check()
    if assessment.is_stopped:
        print_note(f"stopped: {'the same command continues it' if is_kept else 'nothing is kept'}")
        return failures.stopped_by(signal_number)
    return failures.FAILED if assessment.problems else failures.OK

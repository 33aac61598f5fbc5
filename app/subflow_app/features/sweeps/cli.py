"""``subflow sweep`` runs a sweep; ``subflow sweeps`` shows, resumes and manages earlier sweeps.

A sweep runs a scenario over values of its parameters and seeds, on all cores or on a cluster.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.foundation.errors import ClusterError, ExportError, InputError
from subflow_app.foundation.json_document import fields, json_text
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, listed_number, opened_store, positive_time_option
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_list, print_note, print_tables
from subflow_app.vocabulary.number_text import count_text, duration_text
from subflow_app.vocabulary.tables import Column, NumberColumn
from subflow_sim.gate import is_folder

if TYPE_CHECKING:
    from subflow_app.features.sweeps.core.sweep_job import SweepJob
    from subflow_app.features.sweeps.core.sweep_plan import SweepPlan
    from subflow_app.features.sweeps.core.sweep_results import SweepTable
    from subflow_app.foundation.jobs.job import JobOutcome
    from subflow_store import Store, SweepRecord


Jobs = Annotated[str, typer.Option(metavar="N|all", help="Number of parallel runs; 1: in this process.")]


def _cluster_address(text: str | None) -> str | None:
    from subflow_app.foundation.jobs.cluster_address import ClusterAddress

    return None if text is None else ClusterAddress.parse(text).text


Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a Ray cluster instead: HOST:PORT such as 10.0.0.1:6379, ray://HOST:PORT or auto.",
        callback=_cluster_address,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Also write the results there: .csv or .json."),
]
Long = Annotated[bool, typer.Option("--long", help="Write CSV with a line for each point, seed and figure.")]


def sweep(
    plan: Annotated[
        str,
        typer.Argument(
            metavar="PLAN|SCENARIO", help="Plan (a file, or one of `subflow sweeps plans`), or a scenario with --axis."
        ),
    ],
    axes: Annotated[
        list[str] | None,
        typer.Option(
            "--axis",
            metavar="KEY=VALUES",
            help="Values of a key: 0%,1%,2% or a range 1%..5%/5 or 1ms..1s/4 log; KEY=.. & KEY=.. vary together.",
        ),
    ] = None,
    random: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="N random points: KEY=1%..5%, KEY=1ms..1s log, KEY=a,b,c.")
    ] = None,
    sweep_seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Seed of the random points; default: 1.")
    ] = None,
    points: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Points from a CSV file with keys in its first line.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(metavar="SEEDS", help="Seeds of each point: 1..5 or 1,2,5.")] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario for all runs. Repeatable."),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Name of the sweep; default: the plan's.")] = None,
    jobs: Jobs = "all",
    cluster: Cluster = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the newest unfinished sweep of this plan.")
    ] = False,
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Only estimate the sweep: time, disk, events.")
    ] = False,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the sweep or its runs.")] = False,
    no_traces: Annotated[bool, typer.Option("--no-traces", help="Keep the figures of runs, not their traces.")] = False,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Also keep the reasons of controllers and schedulers.")
    ] = False,
    sample_interval: Annotated[
        str | None, typer.Option(metavar="TIME", help="Simulated time between two samples; default: the plan's.")
    ] = None,
    max_runs: Annotated[
        str | None, typer.Option(metavar="N", help="Refuse sweeps of more runs; default: 100000.")
    ] = None,
    max_events: Annotated[
        str | None,
        typer.Option(metavar="N", help="Refuse sweeps in which more packets would cross a link; default: 1e13."),
    ] = None,
    out: Out = None,
    long: Long = False,
    as_json: Json = False,
) -> None:
    """Run a scenario over parameters and seeds.

    Shows means over the seeds with 95 % confidence intervals. Every run is kept, and a run that is already in the
    database is not repeated: a sweep that was stopped or killed, or that gained seeds, simulates only what is
    missing. Results do not depend on how many processes or machines share the work. Exit code: 0 when all runs are
    complete, 1 when some failed, 2 for bad input, 130 after Ctrl-C, 143 after SIGTERM. The environment variables
    SUBFLOW_MAX_SWEEP_RUNS and SUBFLOW_MAX_SWEEP_EVENTS set the two limits when the options are not given.

    A plan is a TOML file: axes, points or draws, seeds and a scenario; `--cluster` needs `pip install
    "subflow-workbench[cluster]"`.
    """
    from subflow_app.features.sweeps.core.plan_file import SweepOptions, open_plan
    from subflow_app.features.sweeps.core.sweep_estimate import SweepLimits, estimate_sweep

    n_jobs = job_count(jobs)
    check_out(out)
    options = SweepOptions(
        axes=axes or (),
        seeds=seeds,
        draws=random,
        sweep_seed=sweep_seed,
        overrides=overrides or (),
        name=name,
        sample_interval_s=None
        if sample_interval is None
        else positive_time_option("--sample-interval", sample_interval, "100ms"),
        keeps_traces=False if no_traces or no_store else None,
        records_decisions=True if decisions else None,
        points_file=points,
    )
    asked = open_plan(plan, options)
    for line in () if estimate_only else asked.replaced():
        print_note(line)
    limits = SweepLimits.parse(max_runs, max_events)
    if estimate_only:
        estimate = estimate_sweep(asked)
        if as_json:
            print_json(asdict(estimate) | {"cpu_s": estimate.cpu_s, "jobs": n_jobs, "wall_s": estimate.wall_s(n_jobs)})
        else:
            for line in estimate.lines(n_jobs):
                print_line(line)
        return
    from subflow_app.features.sweeps.core.sweep_job import SweepJob
    from subflow_store import open_store

    with ExitStack() as stack:
        store = stack.enter_context(open_store(":memory:") if no_store else opened_store(database))
        sweep_id = _unfinished(store, asked) if resume else None
        if sweep_id is None:
            job = SweepJob(asked, store, jobs=n_jobs, cluster=cluster, limits=limits)
        else:
            job = SweepJob.resumed(store, sweep_id, jobs=n_jobs, cluster=cluster, limits=limits)
        code = carry_out(job, out, is_long=long, as_json=as_json)
    raise typer.Exit(code)


def carry_out(job: SweepJob, out: Path | None, *, is_long: bool, as_json: bool) -> int:
    """Run a sweep and print its results; returns the exit code."""
    from subflow_app.terminal.progress import in_background

    result, signal_number = in_background(job, job.plan.name)
    table = job.table()
    if table is None:
        result.check()  # the store may have refused it
        print_note("stopped before anything was begun")
        return failures.stopped_by(signal_number)
    if out is not None:
        write_out(table, out, is_long=is_long)
    if as_json:
        print_json(_document(job, result, table))
    else:
        from subflow_app.features.sweeps.core.sweep_results import text_table

        print_tables(text_table(table))
        if table.note:
            print_line(table.note)
        print_line(_line(job, result))
    for problem in result.problems:
        print_error(problem)
    way_on = f"`subflow sweeps resume {job.sweep_id}` makes the runs that are missing"
    if result.state == "stopped":
        print_note(f"stopped; {way_on}" if job.is_kept else "stopped")
        return failures.stopped_by(signal_number)
    if isinstance(result.error, ClusterError) and job.is_kept:
        print_note(f"{way_on}, with --cluster or without")
    return failures.OK if result.state == "finished" else failures.FAILED


def job_count(text: str) -> int:
    """Parse a number of simultaneous runs; ``all`` is the number of cores.

    Raises:
        InputError: if the text is neither a number from 1 to 1024 nor ``all``.
    """
    from subflow_app.foundation.jobs.executors import core_count

    if text == "all":
        return core_count()
    if text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= 1024:
        return int(text)
    raise InputError(f'--jobs = "{text}": must be a number from 1 to 1024, or all')


def check_out(out: Path | None) -> None:
    """Check the name of the output file before the sweep runs.

    Raises:
        InputError: if the suffix is neither .csv nor .json, or if the folder does not exist.
    """
    if out is None:
        return
    if out.suffix.lower() not in (".csv", ".json"):
        raise InputError(f"--out {out}: must end in .csv or .json")
    if not is_folder(out.absolute().parent):
        raise InputError(f"--out {out}: its folder does not exist")


def write_out(table: SweepTable, out: Path, *, is_long: bool) -> None:
    """Write the results as JSON if the suffix is .json, else as CSV with a line for each point.

    If `is_long` is true, the CSV has a line for each point, seed and figure. JSON always contains all values.

    Raises:
        ExportError: if the file cannot be written.
    """
    from subflow_app.features.sweeps.core.sweep_results import long_csv, table_document, wide_csv

    is_json = out.suffix.lower() == ".json"
    text = json_text(table_document(table)) if is_json else long_csv(table) if is_long else wide_csv(table)
    try:
        out.write_bytes(text.encode())  # identical bytes on all systems
    except OSError as error:
        raise ExportError(f"{out}: cannot be written: {error.strerror}") from error


def _unfinished(store: Store, asked: SweepPlan) -> int | None:
    """Find the latest unfinished sweep of this plan. If the store contains none, print a note and return None."""
    from subflow_app.features.sweeps.core.plan_file import plan_text

    found = store.sweeps.of_plan(plan_text(asked))
    if found is None:
        print_note("no unfinished sweep of this plan: a new one begins")
    return None if found is None else found.id


def _document(job: SweepJob, result: JobOutcome, table: SweepTable) -> dict[str, Any]:
    from subflow_app.features.sweeps.core.sweep_results import table_document

    return {
        "sweep_id": job.sweep_id,
        "state": result.state.value,
        **fields(result.progress, "runs", "finished", "reused", "failed"),
        "problems": list(result.problems),
        **table_document(table),
    }


def _line(job: SweepJob, result: JobOutcome) -> str:
    progress = result.progress
    made = progress.finished - progress.reused
    parts = [f"sweep {job.sweep_id}", f"{count_text(progress.finished)} of {count_text(progress.runs)} runs"]
    if progress.reused:
        parts.append(f"{count_text(progress.reused)} of them existed already")
    if made:
        parts.append(f"{count_text(made)} made in {duration_text(progress.elapsed_s)}")
    if progress.failed:
        parts.append(f"{count_text(progress.failed)} could not be made")
    return ", ".join(parts)


Number = Annotated[str, typer.Argument(metavar="SWEEP", help="Number of a sweep, or `last`.")]
Numbers = Annotated[list[str], typer.Argument(metavar="SWEEP...", help="Numbers of sweeps, or `last`.")]

sweeps_app = typer.Typer(
    invoke_without_command=True, no_args_is_help=False, help="List the sweeps, show their results, or continue one."
)


@sweeps_app.callback()
def sweeps(
    context: typer.Context,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="At most this many, the newest first.")] = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List the sweeps, newest first; the commands below show, resume or manage them."""
    if context.invoked_subcommand is not None:
        context.obj = database
        return
    with opened_store(database, read_only=True) as store:
        rows = store.sweeps.rows(limit=limit)
    nothing = "no sweeps yet: `subflow sweep demo --axis links.wifi.loss=1%,2%,5% --seeds 1..5` makes one"
    print_list(rows, _COLUMNS, _list_document, as_json=as_json, nothing=nothing)


@sweeps_app.command()
def show(
    context: typer.Context,
    sweep: Number,
    figures: Annotated[
        list[str] | None,
        typer.Option("--figure", metavar="KEY", help="Show this figure, e.g. flows.download.goodput_bps. Repeatable."),
    ] = None,
    csv: Annotated[bool, typer.Option("--csv", help="Print the results as CSV.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Print the plan, with its scenario, as TOML.")] = False,
    out: Out = None,
    long: Long = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Show the results of a sweep.

    Shows means over the seeds with 95 % confidence intervals.
    """
    from subflow_app.features.sweeps.core.sweep_results import (
        long_csv,
        stored_table,
        table_document,
        text_table,
        wide_csv,
    )

    if csv + plan + as_json > 1:
        raise InputError("--csv, --plan and --json exclude one another")
    check_out(out)
    with opened_store(database or context.obj, read_only=True) as store:
        row = store.sweeps.get(sweep_number(store, sweep))
        table = stored_table(store, row.id)
    unknown = [figure for figure in figures or () if figure not in table.figures]
    if unknown:
        known = ", ".join(table.figures) or "none, because no run has finished"
        raise InputError(f'sweep {row.id} has no figure "{unknown[0]}"; allowed: {known}')
    if out is not None:
        write_out(table, out, is_long=long)
    if plan:
        typer.echo(row.plan, nl=False)
    elif csv:
        typer.echo(long_csv(table) if long else wide_csv(table), nl=False)
    elif as_json:
        print_json(_list_document(row) | table_document(table))
    else:
        print_tables(text_table(table, figures or ()))
        if table.note:
            print_line(table.note)
        print_line(f"sweep {row.id}, {row.state}, {row.finished} of {row.runs} runs, version {row.version}")
        if row.message:
            print_line(row.message)


@sweeps_app.command()
def resume(
    context: typer.Context,
    sweep: Number,
    jobs: Jobs = "all",
    cluster: Cluster = None,
    out: Out = None,
    long: Long = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Make the missing runs of a sweep.

    Runs are missing if the sweep was stopped or killed, or if it crashed.
    """
    from subflow_app.features.sweeps.core.sweep_job import SweepJob

    n_jobs = job_count(jobs)
    check_out(out)
    with opened_store(database or context.obj) as store:
        job = SweepJob.resumed(store, sweep_number(store, sweep), jobs=n_jobs, cluster=cluster)
        code = carry_out(job, out, is_long=long, as_json=as_json)
    raise typer.Exit(code)


@sweeps_app.command()
def plans(as_json: Json = False) -> None:
    """List the shipped plans; `subflow sweep NAME` runs one."""
    from subflow_app.features.sweeps.core.plan_file import open_plan
    from subflow_app.foundation.resources import shipped_sweep, sweep_names

    found = [(name, open_plan(name)) for name in sweep_names()]
    if as_json:
        print_json(
            [
                {"name": name, "title": plan.name, "runs": plan.n_runs, "path": str(shipped_sweep(name))}
                for name, plan in found
            ]
        )
        return
    for name, plan in found:
        print_line(f"{name}: {plan.name} ({plan.n_runs} runs)")


@sweeps_app.command()
def rename(context: typer.Context, sweep: Number, name: str, database: Database = None) -> None:
    """Give a sweep another name."""
    with opened_store(database or context.obj) as store:
        store.sweeps.rename(sweep_number(store, sweep), name)


@sweeps_app.command()
def delete(
    context: typer.Context,
    sweeps: Numbers,
    with_runs: Annotated[
        bool, typer.Option("--runs", help="Also delete their runs; `subflow runs restore` brings them back.")
    ] = False,
    database: Database = None,
) -> None:
    """Remove sweeps from the list. Their runs stay, unless --runs is given."""
    with opened_store(database or context.obj) as store:
        ids = [sweep_number(store, sweep) for sweep in sweeps]
        runs = {row.run_id for sweep_id in ids for row in store.sweeps.runs(sweep_id) if row.run_id is not None}
        if with_runs:
            store.delete(runs)  # first, because it refuses a run that is still being recorded
        store.sweeps.delete(ids)
    print_note(f"deleted: {', '.join(f'sweep {sweep_id}' for sweep_id in ids)}" + _runs_text(len(runs), with_runs))


def sweep_number(store: Store, text: str) -> int:
    """Number of the sweep that the user specified.

    Raises:
        InputError: if the text is neither a number nor ``last``.
        RunNotFound: if the store has no such sweep.
    """
    newest = store.sweeps.rows(limit=1) if text == "last" else []
    number = listed_number(text, "sweep", "subflow sweeps", newest[0].id if newest else None, "subflow sweep")
    return store.sweeps.get(number).id


def _runs_text(count: int, is_deleted: bool) -> str:
    return f", and {count} runs" if is_deleted else f"; {count} runs stay"


_COLUMNS: tuple[Column[SweepRecord], ...] = (
    NumberColumn("Sweep", lambda row: row.id),
    Column("Name", lambda row: row.name),
    Column("State", lambda row: row.state),
    NumberColumn("Points", lambda row: row.points, count_text),
    NumberColumn("Runs", lambda row: row.runs, count_text),
    NumberColumn("Finished", lambda row: row.finished, count_text),
    NumberColumn("Failed", lambda row: row.failed, count_text),
    Column("Begun", lambda row: f"{row.created_at.astimezone():%Y-%m-%d %H:%M}"),
)


def _list_document(row: SweepRecord) -> dict[str, Any]:
    return fields(row, *(name for name in row._fields if name != "plan"))

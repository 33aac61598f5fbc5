"""``subflow sweeps``: the sweeps that were made, their results, and going on with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.features.sweeps.cli.sweep import Cluster, Jobs, Long, Out, carry_out, check_out, job_count, write_out
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal.options import Database, Json, listed_number, opened_store
from subflow_app.terminal.terminal import print_json, print_line, print_list, print_note, print_tables
from subflow_app.vocabulary.number_text import count_text
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_store import Store, SweepRecord

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
    """List the sweeps, newest first; the commands below show one or go on with it."""
    if context.invoked_subcommand is not None:
        context.obj = database
        return
    with opened_store(database, read_only=True) as store:
        rows = store.sweeps.rows(limit=limit)
    nothing = "no sweeps yet: `subflow sweep demo --axis links.wifi.loss=1%,2%,5% --seeds 1..5` makes one"
    print_list(rows, _COLUMNS, _document, as_json=as_json, nothing=nothing)


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
        print_json(_document(row) | table_document(table))
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
            store.delete(runs)  # first: a run that is still being recorded is refused
        store.sweeps.delete(ids)
    print_note(f"deleted: {', '.join(f'sweep {sweep_id}' for sweep_id in ids)}" + _runs_text(len(runs), with_runs))


def sweep_number(store: Store, text: str) -> int:
    """The sweep that the user means.

    Raises:
        InputError: if it is neither a number nor ``last``.
        RunNotFound: if there is no such sweep.
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
    NumberColumn("There", lambda row: row.finished, count_text),
    NumberColumn("Failed", lambda row: row.failed, count_text),
    Column("Begun", lambda row: f"{row.created_at.astimezone():%Y-%m-%d %H:%M}"),
)


def _document(row: SweepRecord) -> dict[str, Any]:
    return fields(row, *(name for name in row._fields if name != "plan"))

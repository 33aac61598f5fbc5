"""``subflow runs`` and ``subflow show``: list, search, show, rename, tag, delete and restore stored runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.features.forking.cli import fork_document
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal import failures
from subflow_app.terminal.group import ListingGroup
from subflow_app.terminal.options import Database, Json, RunId, RunIds, opened_store, run_number, tag_text
from subflow_app.terminal.terminal import (
    output_width,
    print_error,
    print_json,
    print_line,
    print_list,
    print_note,
    print_tables,
)
from subflow_app.vocabulary.measures import RUN_MEASURES
from subflow_app.vocabulary.number_text import counted, finite, fixed, mbit_text, short_time_text
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.features.history.core.run_columns import Value
    from subflow_store import RunRow

    Totals = Mapping[str, Mapping[int, Value]]

Tag = Annotated[str, typer.Argument(metavar="TAG")]


_LISTING = "QUERY"
MOST_LISTED = 50
_WIDE = 110  # minimum width of a terminal, in characters, to show all columns and names of several words
_TOTALS = ("mean_completion_s", "active_goodput_per_flow_bps", "weighted_rtt_s")

runs_app = typer.Typer(
    cls=ListingGroup,
    invoke_without_command=True,
    no_args_is_help=False,
    subcommand_metavar='["QUERY" | COMMAND [ARGS]...]',
    help="List the stored runs, or manage them.",
    epilog="A QUERY consists of words and conditions, all of which must hold: lia tag:paper -status:failed "
    "goodput>5Mbit/s links.wifi.loss>0 started:today. The search field of the window takes the same. Put a space "
    "before a query that begins with a minus.",
)

Search = Annotated[
    str, typer.Option(metavar="TEXT", help="Only runs with these words in their name, scenario, tags or note.")
]
OfTag = Annotated[str | None, typer.Option("--tag", metavar="TAG", help="Only runs with this tag.")]
OfStatus = Annotated[
    str | None,
    typer.Option("--status", metavar="STATUS", help="Only running, finished, stopped, failed or interrupted ones."),
]
Limit = Annotated[
    int | None,
    typer.Option(
        min=0,
        metavar="N",
        help=f"At most this many, the newest first; 0 for all. Default: {MOST_LISTED} in a table, all in JSON.",
    ),
]
Deleted = Annotated[bool, typer.Option("--deleted", help="Also deleted runs that were not purged.")]


@runs_app.callback()
def runs(
    context: typer.Context,
    search: Search = "",
    tag: OfTag = None,
    status: OfStatus = None,
    limit: Limit = None,
    deleted: Deleted = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List the stored runs, newest first, or manage them with one of the commands below."""
    if context.invoked_subcommand is not None:
        # The subcommand in `subflow runs --db FILE delete 3` uses the same file.
        context.obj = database
        return
    _list_runs("", search, tag, status, limit, deleted, database, as_json)


@runs_app.command(_LISTING, hidden=True)
def matching(
    context: typer.Context,
    query: Annotated[list[str], typer.Argument(metavar="QUERY")],
    search: Search = "",
    tag: OfTag = None,
    status: OfStatus = None,
    limit: Limit = None,
    deleted: Deleted = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List the stored runs that match a query."""
    # Options before the query are accepted as well.
    before = context.parent.params if context.parent is not None else {}
    _list_runs(
        " ".join(query),
        search or before["search"],
        tag or before["tag"],
        status or before["status"],
        before["limit"] if limit is None else limit,
        deleted or before["deleted"],
        database or before["database"],
        as_json or before["as_json"],
    )


def _list_runs(
    query: str,
    search: str,
    tag: str | None,
    status: str | None,
    limit: int | None,
    deleted: bool,
    database: Path | None,
    as_json: bool,
) -> None:
    from subflow_app.features.history.core.run_columns import read_totals
    from subflow_app.features.history.core.run_query import parse_query

    _check_status(status)
    with opened_store(database, read_only=True) as store:
        conditions = parse_query(query, store.value_keys()) if query else []
        # Reading one run more than the limit shows whether the list is complete.
        most = (None if as_json else MOST_LISTED) if limit is None else limit
        least = most + 1 if most else None
        found = store.runs(conditions, search=search, tag=tag, status=status, include_deleted=deleted, limit=least)
        damaged, path = store.damaged, store.path
        totals = read_totals(store, _TOTALS)
    rows = found[:most] if most else found
    nothing = "no runs" if query or search or tag or status else "no runs yet: `subflow run demo` makes one"
    document = partial(run_document, totals=totals)
    print_list(rows, _columns(rows, totals), document, as_json=as_json, nothing=nothing)
    if limit is None and len(rows) < len(found):
        print_note(f"These are the newest {len(rows)} runs; --limit 0 lists all of them.")
    for damage in damaged:
        print_error(f"{damage}; this run is not listed")
    if damaged:
        print_note(f"`subflow check {path}` shows what is lost, `subflow salvage {path} -o NEW` copies the rest")
        raise typer.Exit(failures.FAILED)


@runs_app.command()
def rename(context: typer.Context, run: RunId, name: str, database: Database = None) -> None:
    """Give a run another name."""
    with opened_store(database or context.obj) as store:
        store.rename(run_number(store, run), name)


@runs_app.command()
def tag(context: typer.Context, run: RunId, tag: Tag, database: Database = None) -> None:
    """Add a tag to a run."""
    text = tag_text(tag)
    with opened_store(database or context.obj) as store:
        store.add_tag(run_number(store, run), text)


@runs_app.command()
def untag(context: typer.Context, run: RunId, tag: Tag, database: Database = None) -> None:
    """Remove a tag from a run."""
    text = tag_text(tag)
    with opened_store(database or context.obj) as store:
        store.remove_tag(run_number(store, run), text)


@runs_app.command()
def note(context: typer.Context, run: RunId, text: str, database: Database = None) -> None:
    """Set the note of a run; an empty text removes it."""
    with opened_store(database or context.obj) as store:
        store.set_note(run_number(store, run), text)


@runs_app.command()
def delete(context: typer.Context, runs: RunIds, database: Database = None) -> None:
    """Delete runs; `restore` restores them until `purge`."""
    with opened_store(database or context.obj) as store:
        numbers = [run_number(store, run) for run in runs]
        store.delete(numbers)
    restoring = f"subflow runs restore {' '.join(map(str, numbers))}"
    print_line(f"deleted; `{restoring}` restores until `subflow runs purge`")


@runs_app.command()
def restore(context: typer.Context, runs: RunIds, database: Database = None) -> None:
    """Restore deleted runs."""
    with opened_store(database or context.obj) as store:
        store.undelete([run_number(store, run) for run in runs])


@runs_app.command()
def purge(context: typer.Context, database: Database = None) -> None:
    """Remove deleted runs permanently.

    This frees their disk space.
    """
    with opened_store(database or context.obj) as store:
        count = store.purge_deleted()
    print_line(f"{counted(count, 'run')} removed permanently")


def show(
    run: RunId,
    agent_steps: Annotated[
        bool, typer.Option("--agent-steps", help="Also show inputs, actions and rewards of its learning agents.")
    ] = False,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Show the results of a stored run."""
    from subflow_app.features.explain.core.explained import decisions_line, extents_document
    from subflow_app.features.explain.core.origin import readable_scenario
    from subflow_app.features.traces.core.events import AGENT, DECISION
    from subflow_app.features.traces.core.summary_text import summary_line, summary_tables
    from subflow_app.features.training.core.agent_explanations import (
        agents_document,
        agents_line,
        agents_table,
        stored_agent_steps,
    )

    with opened_store(database, read_only=True) as store:
        row = store.run(run_number(store, run))
        origin, forks = store.forks.origin_of(row.id), store.forks.of(row.id)
        extents = store.event_extents(row.id, DECISION.name)
        agents = store.event_extents(row.id, AGENT.name)
        steps = stored_agent_steps(store, row.id) if agent_steps else None
    document = shown_document(row)
    if as_json:
        decided = {"decisions": extents_document(extents)} if extents else {}
        branched: dict[str, Any] = {"fork": fork_document(origin)} if origin is not None else {}
        branched |= {"forks": list(forks)} if forks else {}
        print_json(document | branched | decided | ({"agents": agents_document(steps)} if steps is not None else {}))
        return

    print_line(f"run {row.id}: {row.name}" + (f" ({row.scenario_name})" if row.name != row.scenario_name else ""))
    print_line(f"{row.status}, {_local_time(row)}, version {row.version}")
    if row.tags:
        print_line(f"tags: {', '.join(row.tags)}")
    if row.note:
        print_line(row.note)
    if origin is not None:
        parent = f"run {origin.parent_id}" if origin.parent_id is not None else "a run that is not stored"
        at = f"{origin.forked_at_s:.10g} s"
        print_line(f"fork of {parent} ({origin.parent_name}) from {at}: {origin.difference}")
    for number, forked in forks.items():
        print_line(f"forked as run {number} from {forked.forked_at_s:.10g} s: {forked.difference}")
    print_line(summary_line(document))
    print_line()
    print_tables(*summary_tables(document, readable_scenario(row)))
    if steps is not None and agents:
        print_line()
        print_tables(agents_table(steps))
    if agents:
        print_line(f"{agents_line(agents)}: `subflow explain {row.id} AGENT --agent --at TIME`")
    if extents:
        print_line(f"{decisions_line(extents)}: `subflow explain {row.id} OWNER --at TIME`")
    print_line(f"signature {row.signature or 'unknown'}")


def run_document(row: RunRow, totals: Totals) -> dict[str, Any]:
    """A run in the output of ``subflow runs --json``: the listed values, without the summary.

    Args:
        row: row of the list.
        totals: measures of all flows together, by key and run.
    """
    figures = ("signature", "packets", "goodput_bps", "mean_rtt_s", "jain", "controllers", "version", "tags", "note")
    return {
        "run_id": row.id,
        "name": row.name,
        "scenario": row.scenario_name,
        **fields(row, "status", "seed", "duration_s", "warmup_s", "simulated_s", "wall_s", "started_at", *figures),
        **{key: values.get(row.id) for key, values in totals.items()},
    }


def shown_document(row: RunRow) -> dict[str, Any]:
    """The summary document of a stored run, with its current name, tags and note."""
    return {
        # A run without a summary, e.g. after a power failure, has only the values of its row.
        "scenario": row.scenario_name,
        **fields(row, "seed", "duration_s", "warmup_s", "signature", "wall_s", "packets"),
        **(row.summary or {}),
        "run_id": row.id,
        **fields(row, "name", "status", "started_at", "version", "tags", "note"),
    }


def _columns(rows: list[RunRow], totals: Totals) -> list[Column[RunRow]]:
    """Columns of the list of runs; `show` and --json print the other values.

    On a narrow terminal, the simulated time is omitted to leave room for names, as is the status if all runs have
    finished. Runs whose flows have a given size show completion time and goodput while active; other runs show goodput.
    """
    took, active, rtt = (totals[key] for key in _TOTALS)
    simulated = RUN_MEASURES["simulated_s"]
    is_narrow = output_width() < _WIDE
    columns: list[Column[RunRow]] = [NumberColumn("Run", lambda row: row.id), Column("Name", lambda row: row.name)]
    if not is_narrow or any(row.status != "finished" for row in rows):
        columns.append(Column("Status", lambda row: row.status))
    columns += [
        Column("Controllers", lambda row: row.controllers or ""),
        NumberColumn("Seed", lambda row: row.seed),
    ]
    if not is_narrow:
        columns.append(NumberColumn(simulated.title, lambda row: f"{row.simulated_s:.5g}", unit=simulated.unit))
    if any(row.id in took for row in rows):
        columns += [
            NumberColumn("Took", lambda row: took.get(row.id), fixed(3), "s"),
            NumberColumn("Goodput", lambda row: active.get(row.id), mbit_text, "active Mbit/s"),
        ]
    if not rows or any(row.id not in took for row in rows):
        columns.append(RUN_MEASURES["goodput_bps"].column(lambda row: row.goodput_bps))
    columns += [
        RUN_MEASURES["weighted_rtt_s"].column(lambda row: finite(rtt.get(row.id, row.mean_rtt_s))),
        Column("Started", lambda row: short_time_text(row.started_at)),
    ]
    if any(row.tags for row in rows):
        columns.append(Column("Tags", lambda row: ", ".join(row.tags)))
    return columns


def _local_time(row: RunRow) -> str:
    return row.started_at.astimezone().strftime("%Y-%m-%d %H:%M")


def _check_status(status: str | None) -> None:
    from subflow_store.values import FINAL_STATUSES

    allowed = ("running", *FINAL_STATUSES)
    if status is not None and status not in allowed:
        raise InputError(f'--status = "{status}": must be one of {", ".join(allowed)}')

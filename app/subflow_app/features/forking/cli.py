"""``subflow fork``: repeats a stored run with changes from a chosen time on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.features.running.cli import carry_out_and_tell
from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, Json, RunId, opened_store, run_number, tag_text, time_option
from subflow_app.terminal.terminal import print_line, print_note, print_tables

if TYPE_CHECKING:
    from subflow_store.values import RunFork


def fork(
    run: RunId,
    at: Annotated[str, typer.Option("--at", metavar="TIME", help="Time at which the fork begins, e.g. 12.5s.")],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A change at that time, e.g. links.wifi.loss=5% or flows.download.controller=olia. Repeatable.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Name of the fork; default: that of the run, and what differs.")
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TEXT", help="Tag the fork. Repeatable.")] = None,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Keep the reasons of controllers and schedulers, for `explain`.")
    ] = False,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the fork.")] = False,
    as_json: Json = False,
) -> None:
    """Fork a stored run: change something from a time on.

    Shows the effect of the changes.

    Until that time the fork equals the run, bit for bit. One nanosecond later the changes apply, with the same random
    numbers. The fork is stored as a separate run, whose scenario contains the changes as events.

    A fork can change all values that events of a scenario can change: rate, delay, loss, queue and up of a link
    (links.wifi.loss=5%, or of one direction links.wifi.reverse.loss=5%), and open, backup and controller of a flow
    (flows.download/2.open=false is its second subflow). Exit codes are those of `run`.
    """
    from subflow_app.features.forking.core.draft import read_settings
    from subflow_app.features.forking.core.figures import figures_document, figures_table, fork_figures
    from subflow_app.features.forking.core.origin import ForkOrigin
    from subflow_app.features.forking.core.plan import ForkPlan, check_time
    from subflow_app.features.forking.core.words import fork_text
    from subflow_sim.errors import SimError

    at_s = time_option("--at", at)
    tag_texts = [tag_text(tag) for tag in tags or ()]
    with opened_store(database, read_only=no_store) as store:
        origin = ForkOrigin.stored(store, run_number(store, run))
        check_time(origin, at_s)
        plan = ForkPlan.of(origin, at_s, read_settings(origin, at_s, settings or ()))
        if origin.notice:
            print_note(origin.notice)
        try:
            state = plan.state(records_decisions=decisions)
            job = plan.job(state, store=None if no_store else store, name=name or "", records_decisions=decisions)
        except SimError as error:
            raise InputError(f"{origin.title} cannot be forked: {error}") from error
        if not state.is_same:
            print_note(f"the new simulation of {origin.title} differs from the stored run, also before the fork")

        def more() -> dict[str, Any]:
            figures, until_s = fork_figures(origin.traces, job.traces, plan.at_s)
            compared = figures_document(figures, plan.at_s, until_s)
            return {"fork": fork_document(plan.fork()) | {"past_is_same": state.is_same}, "compared": compared}

        def tell_more() -> None:
            figures, until_s = fork_figures(origin.traces, job.traces, plan.at_s)
            print_line()
            print_line(f"fork of {origin.title}, {fork_text(plan.at_s, plan.described)}; compared until {until_s:g} s:")
            print_tables(figures_table(figures, job.traces.labels))

        kept = None if no_store else store
        code = carry_out_and_tell(job, kept, tag_texts, None, as_json=as_json, more=more, tell_more=tell_more)
    raise typer.Exit(code)


def fork_document(fork: RunFork) -> dict[str, Any]:
    """JSON document of the origin of a fork: parent run, time and changes."""
    return {
        "parent_run_id": fork.parent_id,
        "parent_name": fork.parent_name,
        "at_s": fork.forked_at_s,
        "difference": fork.difference,
        "changes": list(fork.changes),
    }

"""``subflow arena``, also ``subflow leaderboard``: ranks controllers in networks that they were not designed for."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.features.gallery.cli import seeds_option
from subflow_app.features.sweeps.cli import Cluster, Jobs, job_count
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_note, print_tables
from subflow_app.vocabulary.number_text import count_text, counted
from subflow_sim.gate import is_folder, is_there

if TYPE_CHECKING:
    from subflow_app.features.arena.core.job import ArenaJob
    from subflow_app.features.arena.core.results import Board, Entry
    from subflow_app.features.arena.core.standings import Standing


def arena(
    entries: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ENTRY]...",
            help="Enter this: NAME or NAME:KEY=VALUE,KEY=VALUE, where NAME may be a script's file, or a policy file. "
            "All others are shown with their known results; default: all are entered.",
        ),
    ] = None,
    is_quick: Annotated[
        bool, typer.Option("--quick", help="Ten networks of each family instead of twenty; takes minutes.")
    ] = False,
    controllers: Annotated[
        str | None, typer.Option(metavar="LIST", help="Only these, comma-separated; default: all.")
    ] = None,
    family: Annotated[
        list[str] | None,
        typer.Option("--family", metavar="NAME", help="Only networks of this family (`--list`). Repeatable."),
    ] = None,
    contests: Annotated[
        list[str] | None,
        typer.Option("--contest", metavar="ID", help="Only this experiment of a paper, or a file. Repeatable."),
    ] = None,
    numbers: Annotated[
        str | None,
        typer.Option("--numbers", "--seeds", metavar="N", help="Networks per family, or their numbers: 1..5."),
    ] = None,
    split: Annotated[
        str,
        typer.Option(
            metavar="SPLIT",
            help="Split of networks: test; validation or train, for tuning; or final: once, at the end.",
        ),
    ] = "test",
    edition: Annotated[
        int | None,
        typer.Option(metavar="N", help="Only the families of this edition and of those before; default: all."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="ENTRY", help="Compare the others with this one, network by network; default: the best."),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="M", help="Show one value by family: utility, throughput, queueing ...")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="Also write arena.html, arena.pdf, standings.csv, pairs.csv and values.csv there.",
        ),
    ] = None,
    jobs: Jobs = "all",
    cluster: Cluster = None,
    only_stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing; show stored and shipped outcomes.")
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Only list families, contests and entrants.")] = False,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the outcomes.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every value as CSV, in SI units.")] = False,
    as_json: Json = False,
) -> None:
    """Rank controllers and agents in many networks.

    In each network an entrant has a utility: the logarithm of its goodput over its fair share, less the cost of its
    queues and losses. An entrant that fails, or that leaves competing TCP less than 80 % of what TCP gets next to
    NewReno, gets the lowest utility. The score is the mean over the families; the mean of the lowest tenth is shown
    next to it. Neither depends on the other entrants. A second table shows the differences from one entrant, paired
    by network. Every outcome is kept, and one that is already in the database is not computed again. The networks of
    `--split final` are for one evaluation, at the end: choose nothing by their results. Exit code: 0 when everything
    was tried, 1 when something failed, 2 for a wrong name or option, 130 after Ctrl-C, 143 after SIGTERM.
    """
    from subflow_app.features.arena.core.job import ArenaJob
    from subflow_app.features.arena.core.results import entry, known_board
    from subflow_app.features.arena.core.standings import COLUMNS, against_of, standings
    from subflow_app.features.library.core.shipped import shipped_outcomes
    from subflow_sim.arena.families import EDITION
    from subflow_store import open_store

    if as_csv and as_json:
        raise InputError("--csv and --json: choose one of them")
    if metric is not None and metric not in COLUMNS:
        raise InputError(f"--metric {metric}: unknown value; allowed: {', '.join(COLUMNS)}")
    if only_stored and no_store:
        raise InputError("--stored shows the outcomes in a database; it cannot be combined with --no-store")
    if contests and (family or split != "test" or edition is not None):
        raise InputError(
            "--contest names experiments of papers; it cannot be combined with --family, --split or --edition"
        )
    if out is not None and is_there(out) and not is_folder(out):
        raise InputError(f"--out {out}: this is a file, not a folder")
    n_jobs = job_count(jobs)
    names = [] if controllers is None else [name.strip() for name in controllers.split(",")]
    named = [*names, *(entries or ())]
    given = None if numbers is None else seeds_option(numbers)

    def asked(who: Sequence[str]) -> Entry:
        return entry(
            who,
            families=family or (),
            contests=contests or (),
            numbers=given,
            is_quick=is_quick,
            split=split,
            edition=EDITION if edition is None else edition,
        )

    chosen = asked(named)
    if list_only:
        _print_list(chosen, as_json=as_json)
        return
    # Entries named as arguments are shown among all known entrants.
    shown = asked([*(each.name for each in asked(()).entrants), *entries]) if entries and not names else chosen
    with ExitStack() as stack:
        if no_store:
            store = stack.enter_context(open_store(":memory:"))
        else:
            store = stack.enter_context(opened_store(database, read_only=only_stored))
        code = failures.OK
        problems: Sequence[str] = ()
        if not only_stored:
            job = ArenaJob(chosen, store, jobs=n_jobs, cluster=cluster)
            if not named:
                print_note("`subflow arena --stored` shows the shipped results without running anything")
            code = _run(job, is_quiet=as_json or as_csv, is_kept=not no_store, is_here=cluster is None)
            problems = job.problems
        board = known_board(shown, store, shipped_outcomes())
    rows = standings(board)
    chosen_against = against_of(rows, against)
    if out is not None:
        from subflow_app.features.arena.core.report import write_board

        if not rows:
            raise InputError(f"--out {out}: nothing to write, because the arena has no entrants yet")
        print_note(f"written: {', '.join(map(str, write_board(board, rows, out, chosen_against)))}")
    _print(board, rows, metric, chosen_against, as_csv=as_csv, as_json=as_json)
    for problem in problems:
        print_error(problem)
    raise typer.Exit(code)


def _run(job: ArenaJob, *, is_quiet: bool, is_kept: bool, is_here: bool) -> int:
    """Run the job and return the exit code."""
    from subflow_app.features.running.core.runs_estimate import long_text
    from subflow_app.terminal.progress import in_background

    if not is_quiet:
        asked = job.entry
        print_note(
            f"{counted(len(asked.taking_part), 'entrant')} in {counted(asked.n_networks, 'network')}: "
            f"{count_text(job.progress.runs)} runs"
        )
        missing = job.estimate()
        if missing is not None:
            time_text = f"about {missing.time_text(job.jobs)} with {job.jobs} at once, " if is_here else ""
            print_note(f"missing runs: {time_text}about {long_text(missing.cpu_s)} of processor time")
    outcome, signal_number = in_background(job, "arena")
    outcome.check()
    if outcome.state == "stopped":
        done = job.progress
        kept = f"{done.finished} of {done.runs} outcomes are kept; the same command computes the missing ones"
        print_note(f"stopped: {kept if is_kept else 'nothing is kept'}")
        return failures.stopped_by(signal_number)
    return failures.FAILED if job.problems else failures.OK


def _print(
    board: Board, rows: Sequence[Standing], metric: str | None, against: str, *, as_csv: bool, as_json: bool
) -> None:
    from subflow_app.features.arena.core.arena_text import (
        METHOD,
        board_document,
        families_table,
        metric_table,
        paired_text,
        pairs_table,
        reasons_table,
        standings_table,
        told_of,
        values_csv,
    )
    from subflow_app.features.arena.core.standings import paired

    if as_json:
        print_json(board_document(board, rows, against))
        return
    if as_csv:
        print_line(values_csv(board).removesuffix("\n"))
        return
    if board.is_empty:
        print_line("the arena has no entrants yet")
    elif metric is not None and metric != "utility":
        print_tables(metric_table(board, rows, metric))
    elif metric is not None:
        print_tables(families_table(board, rows))
    else:
        print_tables(standings_table(rows))
        print_line(METHOD)
        pairs = paired(board, rows, against)
        if pairs:
            print_tables(pairs_table(pairs, against))
            print_line(paired_text(against))
    failed = reasons_table(rows)
    if failed.rows:
        print_tables(failed)
    for told in told_of(board):
        print_line(told)
    for problem in board.entry.problems:
        print_line(problem)


def _print_list(chosen: Entry, *, as_json: bool) -> None:
    from subflow_app.features.arena.core.arena_text import entry_table
    from subflow_app.features.arena.core.results import family_edition, family_titles

    if as_json:
        titles = family_titles()
        print_json(
            {
                "families": [
                    {
                        "name": name,
                        "title": titles[name],
                        "edition": family_edition(name),
                        "networks": chosen.names(name),
                    }
                    for name in chosen.families
                ],
                "contests": [
                    {**fields(each, "id", "paper", "figure", "title", "competes", "beside")} for each in chosen.contests
                ],
                "entrants": [fields(each, "name", "summary", "problem") for each in chosen.entrants],
            }
        )
        return
    print_tables(entry_table(chosen))
    print_line(f"Contests of the papers: {', '.join(each.id for each in chosen.contests) or 'none'}")
    print_line(f"Entrants: {', '.join(each.name for each in chosen.entrants)}")

"""``subflow leaderboard``: every controller in every scenario of the papers, and how they stand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.cli import exit_codes
from subflow_app.cli.options import Database, Json, opened_store
from subflow_app.cli.reproduce import exit_code, seeds_option
from subflow_app.cli.sweep import Cluster, Jobs, job_count
from subflow_app.cli.terminal import print_error, print_json, print_line, print_note, print_rows, print_tables
from subflow_app.core.errors import InputError
from subflow_app.core.json_document import fields
from subflow_app.core.number_text import count_text, counted
from subflow_app.core.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.core.leaderboard.board import Board, Entry, LeaderboardJob
    from subflow_app.core.leaderboard.contest import Contest
    from subflow_app.core.leaderboard.table import Standing


def leaderboard(
    is_quick: Annotated[
        bool, typer.Option("--quick", help="Shortened: two seeds or one, shorter runs; all in 6 minutes.")
    ] = False,
    contests: Annotated[
        list[str] | None,
        typer.Option("--contest", metavar="ID", help="Only this one (`--list` lists them), or a file; several times."),
    ] = None,
    controllers: Annotated[
        str | None, typer.Option(metavar="LIST", help="Only these, by comma; left out: all that there are.")
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="N", help="So many seeds for each run, or which: 1..5 or 1,2,5.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="M", help="Show one metric in every contest: goodput, rtt, loss, cpu ...")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="M=W,...", help="What counts how much: goodput=2,rtt=1; left out: all the same."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also write standings.csv and values.csv there.")
    ] = None,
    jobs: Jobs = "all",
    cluster: Cluster = None,
    only_stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing; show what is in the database, or what ships.")
    ] = False,
    list_only: Annotated[bool, typer.Option("--list", help="Only list the contests.")] = False,
    database: Database = None,
    no_store: Annotated[bool, typer.Option("--no-store", help="Do not keep the runs.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print every value as CSV, in SI units.")] = False,
    as_json: Json = False,
) -> None:
    """Rank all controllers in all scenarios of the papers.

    In each contest a value is set against the best one there: 1 is as good, 0.5 half as good. Scores are means over the
    contests with 95 % intervals; the overall one weighs all metrics the same, or as --weights says. A single contest is
    shown with its values and their intervals over the seeds.

    Every run is kept, and none that is in the database already is made again. CPU time is measured on this machine and
    is part of no result that has to repeat.

    Exit code: 0 when all was run; 1 when some runs could not be made, 2 for a contest or a name that is wrong, 130
    after Ctrl-C, 143 after SIGTERM.
    """
    from subflow_app.core.leaderboard.board import LeaderboardJob, entry, stored_board
    from subflow_app.core.leaderboard.metrics import BOARD_METRICS, default_weights, read_weights
    from subflow_app.core.leaderboard.table import standings
    from subflow_app.core.library.shipped_board import known_board
    from subflow_store import open_store

    if as_csv and as_json:
        raise InputError("--csv and --json: choose one of them")
    if metric is not None and metric not in BOARD_METRICS:
        raise InputError(f"--metric {metric}: there is no such metric; allowed are {', '.join(BOARD_METRICS)}")
    if only_stored and no_store:
        raise InputError("--stored shows what is in a database; it does not go with --no-store")
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: this is a file, not a folder")
    weighs = default_weights() if weights is None else read_weights(weights)
    n_jobs = job_count(jobs)
    names = [] if controllers is None else [name.strip() for name in controllers.split(",")]
    chosen = entry(contests or (), names, is_quick=is_quick, seeds=None if seeds is None else seeds_option(seeds))
    if list_only:
        _print_list(chosen, as_json=as_json)
        return
    with ExitStack() as stack:
        if no_store:
            store = stack.enter_context(open_store(":memory:"))
        else:
            store = stack.enter_context(opened_store(database, read_only=only_stored))
        code = exit_codes.OK
        problems: Sequence[str] = ()
        if not only_stored:
            job = LeaderboardJob(chosen, store, jobs=n_jobs, cluster=cluster)
            if not contests:
                print_note("results that ship are there at once: subflow leaderboard --stored")
            code = _run(job, is_quiet=as_json or as_csv, is_kept=not no_store)
            problems = job.problems
        board = known_board(chosen, store) if only_stored else stored_board(chosen, store)
    rows = standings(board, weighs)
    if out is not None:
        from subflow_app.core.leaderboard.board_text import write_board

        print_note(f"written: {', '.join(map(str, write_board(board, rows, weighs, out)))}")
    _print(board, rows, weighs, metric, as_csv=as_csv, as_json=as_json)
    for problem in problems:
        print_error(problem)
    raise typer.Exit(code)


def _run(job: LeaderboardJob, *, is_quiet: bool, is_kept: bool) -> int:
    """Carry the contests out and return the exit code."""
    from subflow_app.cli.progress import in_background

    if not is_quiet:
        told = job.entry
        taking_part = sum(not each.problem for each in told.competitors)
        print_note(
            f"{counted(taking_part, 'controller')} in {counted(len(told.contests), 'contest')}: "
            f"{count_text(job.progress.runs)} runs and measurements"
        )
    _, signal_number = in_background(job, "leaderboard")
    return exit_code(job, signal_number, is_kept=is_kept)


def _print(
    board: Board,
    rows: Sequence[Standing],
    weights: dict[str, float],
    metric: str | None,
    *,
    as_csv: bool,
    as_json: bool,
) -> None:
    from subflow_app.core.leaderboard.board_text import (
        board_document,
        contest_table,
        metric_table,
        standings_table,
        values_csv,
    )
    from subflow_app.core.leaderboard.metrics import weights_text

    if as_json:
        print_json(board_document(board, rows, weights))
        return
    if as_csv:
        print_line(values_csv(board).removesuffix("\n"))
        return
    if board.is_empty:
        print_line("nothing has been run yet")
    elif metric is not None:
        print_tables(metric_table(board, metric))
    elif len(board.entry.contests) == 1:
        print_tables(contest_table(board, board.entry.contests[0].id, rows))
    else:
        print_tables(standings_table(rows, weights))
    if not board.is_empty and metric is None:
        print_line(f"Overall weighs {weights_text(weights)}.")
    if board.shipped is not None:
        print_line(
            f"Shipped with Subflow, not run here: {board.n_finished} of {board.n_wanted} quick runs, made "
            f"{board.shipped.date} by version {board.shipped.version}."
        )
    if board.note:
        print_line(f"CPU time: {board.note}")
    for problem in board.entry.problems:
        print_line(problem)


def _print_list(chosen: Entry, *, as_json: bool) -> None:
    from subflow_app.core.experiments.recipe import PAPERS

    if as_json:
        print_json(
            [
                {
                    **fields(contest, "id", "paper", "figure", "title"),
                    "multipath": contest.is_multipath,
                    **fields(contest, "competes", "beside"),
                    "controllers": [each.name for each in chosen.competitors if each.takes_part(contest)],
                }
                for contest in chosen.contests
            ]
        )
        return
    columns: tuple[Column[Contest], ...] = (
        Column("Contest", lambda contest: contest.id),
        Column("Paper", lambda contest: PAPERS[contest.paper]),
        Column("Figure", lambda contest: contest.figure),
        Column("What", lambda contest: contest.title),
        NumberColumn("Controllers", lambda contest: sum(each.takes_part(contest) for each in chosen.competitors)),
    )
    print_rows(chosen.contests, columns)
    print_line(counted(len(chosen.contests), "contest"))

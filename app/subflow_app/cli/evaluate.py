"""``subflow evaluate``: policies and controllers on the same scenario and seeds, with confidence intervals."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.cli import exit_codes
from subflow_app.cli.options import Json
from subflow_app.cli.terminal import print_json, print_line, print_note, print_tables, stderr_console

if TYPE_CHECKING:
    from subflow_app.core.learning.evaluations import EvaluationJob

DEFAULT_SEEDS = "1000000-1000004"
"""Five that no training uses."""

_UPDATE_S = 0.1


def evaluate(
    contenders: Annotated[
        list[str],
        typer.Argument(metavar="POLICY|AGENT|CONTROLLER...", help="Policy files, names of policies or of controllers."),
    ],
    scenario: Annotated[str, typer.Option(metavar="FILE|NAME", help="What they run on.")],
    seeds: Annotated[
        str, typer.Option(metavar="A-B", help="Seeds of the runs; from 1000000 on none is trained on.")
    ] = (DEFAULT_SEEDS),
    baselines: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help='Classics to compare with; left out: those that suit it; "": none.'),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario. Repeatable."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at once; left out: one on each core.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare policies and controllers on the same seeds.

    Each is put on the flows that are steered: those with a learning agent in the file, else all MPTCP flows, else all
    TCP flows. Told are the mean over the seeds and its 95 % confidence interval (Student's t) of goodput per flow, RTT,
    loss and Jain's index, and how many times the best classic's goodput it is. A policy of an agent decides in the core
    as in any run; a controller with options is { name = "mplibra", classic = "lia", policy = "random" }.
    """
    from subflow_app.core.learning.evaluations import EvaluationJob
    from subflow_app.core.learning.recipes import parse_seeds
    from subflow_app.core.learning.training_text import evaluation_table
    from subflow_app.core.resources import find_scenario
    from subflow_app.core.scenarios.scenario_source import open_scenario

    source = open_scenario(scenario, overrides=overrides or ())
    path = find_scenario(scenario)
    listed = None if baselines is None else tuple(name for name in baselines.split(",") if name)
    with _bar() as show:
        job = EvaluationJob(
            contenders,
            source,
            parse_seeds(seeds),
            baselines=listed,
            folder=path.parent,
            name=str(path),
            threads=threads,
            on_progress=show,
        )
        started = time.perf_counter()
        signal_number = _carry_out(job)
    if signal_number or job.result is None:
        print_note("stopped")
        raise typer.Exit(exit_codes.TERMINATED if signal_number == signal.SIGTERM else exit_codes.INTERRUPTED)
    document = job.result.to_json() | {"wall_s": time.perf_counter() - started}
    if as_json:
        print_json(document)
        return
    print_tables(evaluation_table(document))
    print_line(f"{job.runs} runs in {time.perf_counter() - started:.1f} s")


def _carry_out(job: EvaluationJob) -> int:
    """Run it in a thread, the main one stays free for signals; returns the one that stopped it, or 0."""
    from subflow_app.cli.progress import stopping_on_signals

    failures: list[BaseException] = []

    def work() -> None:
        try:
            job.run()
        except BaseException as error:  # it leaves on the main thread
            failures.append(error)

    worker = threading.Thread(target=work, name="subflow-evaluate", daemon=True)
    with stopping_on_signals(job) as stop:
        worker.start()
        while worker.is_alive():
            worker.join(_UPDATE_S)
    if failures and not stop.signal_number:
        raise failures[0]
    return stop.signal_number


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None] | None]:
    """A bar with the runs made; none if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(bar_width=30), MofNCompleteColumn(), "runs,", TimeRemainingColumn())
    with Progress(*columns, console=stderr_console(), transient=True) as bar:
        task = bar.add_task("")
        yield lambda done, total: bar.update(task, completed=done, total=total)

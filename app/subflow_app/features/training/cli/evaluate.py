"""``subflow evaluate``: policies and controllers on the same scenario and seeds, with confidence intervals."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from subflow_app.features.sweeps.cli.sweep import Cluster
from subflow_app.terminal import exit_codes
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_tables

DEFAULT_SEEDS = "1000000-1000004"
"""Five that no training uses."""


def evaluate(
    contenders: Annotated[
        list[str],
        typer.Argument(metavar="POLICY|AGENT|CONTROLLER...", help="Policy files, or names of policies or controllers."),
    ],
    scenario: Annotated[str, typer.Option(metavar="FILE|NAME", help="Scenario to run.")],
    seeds: Annotated[str, typer.Option(metavar="A-B", help="Seeds of the runs; no training uses 1000000 or above.")] = (
        DEFAULT_SEEDS
    ),
    baselines: Annotated[
        str | None,
        typer.Option(metavar="NAME,...", help='Classics to compare with; default: those that suit; "": none.'),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of the scenario. Repeatable."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at once; default: one per core.")
    ] = None,
    cluster: Cluster = None,
    as_json: Json = False,
) -> None:
    """Compare policies and controllers on the same seeds.

    Each contender controls the same flows: those with a learning agent in the file, else all MPTCP flows, else all
    TCP flows. Prints the mean over the seeds and its 95 % confidence interval (Student's t) of goodput per flow, RTT,
    loss and Jain's index, and the goodput as a multiple of the best classic's. A policy decides in the core
    as in any run; a controller with options is written { name = "mplibra", classic = "lia", policy = "random" }.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.training.core.evaluations import EvaluationJob
    from subflow_app.features.training.core.recipes import parse_seeds
    from subflow_app.features.training.core.training_text import evaluation_table
    from subflow_app.foundation.resources import find_scenario
    from subflow_app.terminal.progress import in_background

    source = open_scenario(scenario, use=Use.EVALUATE, overrides=overrides or ())
    for line in source.replaced:
        print_note(line)
    path = find_scenario(scenario)
    listed = None if baselines is None else tuple(name for name in baselines.split(",") if name)
    job = EvaluationJob(
        contenders,
        source,
        parse_seeds(seeds),
        baselines=listed,
        folder=path.parent,
        name=str(path),
        threads=threads,
        cluster=cluster,
    )
    for line in job.replaced:
        print_note(line)
    started = time.perf_counter()
    outcome, signal_number = in_background(job, "evaluate")
    if not signal_number:
        outcome.check()
    if signal_number or job.result is None:
        print_note("stopped")
        raise typer.Exit(exit_codes.stopped_by(signal_number))
    document = job.result.to_json() | {"wall_s": time.perf_counter() - started}
    if as_json:
        print_json(document)
        return
    print_tables(evaluation_table(document))
    print_line(f"{outcome.progress.runs} runs in {time.perf_counter() - started:.1f} s")

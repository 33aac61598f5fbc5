"""``subflow agents``, ``subflow agents promote`` and ``subflow evaluate``, which manage and compare trained policies.

``subflow agents`` lists the trained policies that scenarios can name, and prints the card of one policy. ``promote``
copies the best policy of a training run into the library, under a name that any scenario can use.

``subflow evaluate`` compares policies and controllers on the same scenario and seeds, with confidence intervals.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from subflow_app.features.sweeps.cli import Cluster
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.paths import file_stem
from subflow_app.terminal import failures
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.terminal import print_json, print_line, print_list, print_note, print_tables
from subflow_sim.gate import is_file, is_folder

agents_app = typer.Typer(invoke_without_command=True, no_args_is_help=False, help="List the trained policies.")


@agents_app.callback()
def agents(context: typer.Context, as_json: Json = False) -> None:
    """List the trained policies that scenarios can name, show one, or add one.

    `subflow run FILE --set flows.x.controller=CONTROLLER --set flows.x.controller.policy=NAME` runs flow x with one.
    """
    if context.invoked_subcommand is not None:
        return
    from subflow_app.features.policies.core import policy_columns, policy_document, policy_records

    records = policy_records()
    nothing = "no policies yet: `subflow train AGENT` makes one"
    print_list(records, policy_columns(records), policy_document, as_json=as_json, nothing=nothing)


@agents_app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME|FILE", help="Policy in the library, or the path of a policy file.")
    ],
    as_json: Json = False,
) -> None:
    """Show the card of a policy.

    The card describes the inputs and actions of the policy, its training and its performance.
    """
    from subflow_app.features.policies.core import find_policy, policy_document, policy_lines

    record = find_policy(name)
    if as_json:
        print_json(policy_document(record))
        return
    for line in policy_lines(record):
        print_line(line)


def promote(
    trainings: Annotated[
        list[str],
        typer.Argument(
            metavar="TRAINING|DIR|FILE...",
            help="Number of a training or `last`, its folder, or a policy file; several that differ in their seeds.",
        ),
    ],
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Its name in scenarios; default: the training's name.")
    ] = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="Note for its card.")] = "",
    database: Database = None,
) -> None:
    """Copy the best policy of a training into your library.

    This is the policy that was best in the evaluations, or the latest where nothing was evaluated. Scenarios then use
    it by name: controller = { name = "drl-cc", policy = "NAME" }. From several trainings that differ only in their
    seed, it copies the best policy, and the card lists all seeds: `subflow agents promote DIR1 DIR2 DIR3 --name NAME`.
    """
    from subflow_app.features.training.core.promotion import best_of
    from subflow_app.features.training.core.promotion import promote as copy_to_library
    from subflow_sim.errors import PolicyError
    from subflow_sim.policy import Policy

    sources = dict(_source(training, database) for training in trainings)
    try:
        source, values = best_of(tuple(sources))
        called = sources[source]
        controller = Policy.load(source).controller
    except PolicyError as error:
        raise InputError(str(error)) from error
    card = {"note": note} if note else {}
    path = copy_to_library(source, name or called, {**card, **values, "training": called})
    print_line(f"wrote {path}")
    print_line(f'scenarios use it by controller = {{ name = "{controller}", policy = "{path.stem}" }}')


def _source(training: str, database: Path | None) -> tuple[Path, str]:
    """Find the policy file for an argument, which is the number of a training run, a folder or a file.

    Returns:
        The policy file, and the name of the training run, folder or file as a file stem.

    Raises:
        InputError: if the training run or folder contains no policy.
        RunNotFound: if the store has no such training run.
    """
    from subflow_app.features.training.cli.trainings import training_number
    from subflow_app.features.training.core.training_folder import best_policy

    given = Path(training)
    if is_file(given):
        return given, file_stem(given.stem)
    if is_folder(given):
        folder, called = given, given.resolve().name
    else:
        with opened_store(database, read_only=True) as store:
            row = store.trainings.get(training_number(store, training))
        folder, called = Path(row.folder), row.name
    path = best_policy(folder)
    if path is None:
        raise InputError(f"{folder} has no policy yet")
    return path, file_stem(called)


DEFAULT_SEEDS = "1000000-1000004"
"""Five seeds that are never used for training."""


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
    from subflow_app.features.training.core.training_setup import parse_seeds
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
        raise typer.Exit(failures.stopped_by(signal_number))
    document = job.result.to_json() | {"wall_s": time.perf_counter() - started}
    if as_json:
        print_json(document)
        return
    print_tables(evaluation_table(document))
    print_line(f"{outcome.progress.runs} runs in {time.perf_counter() - started:.1f} s")

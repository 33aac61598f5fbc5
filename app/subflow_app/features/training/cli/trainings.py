"""``subflow trainings``, which lists and controls training runs, and the training part of ``subflow reproduce``.

The list contains active and past training runs. Only active training runs accept commands. With ``--retrain``,
``subflow reproduce`` retrains the policies of experiments before the experiments run.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.foundation.errors import InputError, TrainingError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal.options import Database, Json, listed_number, opened_store
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_list, print_note, print_tables
from subflow_app.vocabulary.number_text import duration_text

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_app.features.gallery.core.retraining import Retraining
    from subflow_store import Store, TrainingRow


Number = Annotated[str, typer.Argument(metavar="TRAINING", help="Number of a training, or `last`.")]
Numbers = Annotated[list[str], typer.Argument(metavar="TRAINING...", help="Numbers of trainings, or `last`.")]

ANSWER_S = 5.0
"""How long to wait for a command to take effect, s. Most commands need 0.1 s, but more during a long simulator step."""

trainings_app = typer.Typer(
    invoke_without_command=True, no_args_is_help=False, help="List the trainings, or manage them."
)


@trainings_app.callback()
def trainings(
    context: typer.Context,
    state: Annotated[
        str | None,
        typer.Option(metavar="STATE", help="Only running, paused, finished, stopped, failed or interrupted ones."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="At most this many, the newest first.")] = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """List the trainings, newest first, or steer one with the commands below."""
    if context.invoked_subcommand is not None:
        context.obj = database
        return
    from subflow_app.features.training.core.training_text import TRAINING_COLUMNS
    from subflow_store import TRAINING_STATES

    if state is not None and state not in TRAINING_STATES:
        raise InputError(f'--state = "{state}": must be one of {", ".join(TRAINING_STATES)}')
    with _synced_store(database) as store:
        rows = store.trainings.rows(state=state, limit=limit)
    nothing = "no trainings" if state else "no trainings yet: `subflow train AGENT --scenario FILE` makes one"
    print_list(rows, TRAINING_COLUMNS, training_document, as_json=as_json, nothing=nothing)


@trainings_app.command()
def show(context: typer.Context, training: Number, database: Database = None, as_json: Json = False) -> None:
    """Show a training and its last evaluation."""
    from subflow_app.features.training.core.training_folder import BEST_POLICY
    from subflow_app.features.training.core.training_text import metric_rows, stored_evaluation_table

    with _synced_store(database or context.obj) as store:
        row = store.trainings.get(training_number(store, training))
        names = store.trainings.metrics(row.id)
        curves = store.trainings.curves(row.id, names)
        figures = store.trainings.evaluations(row.id)
    latest = {name: _last_number(curve.values) for name, curve in curves.items()}
    latest = {name: value for name, value in latest.items() if value is not None}
    if as_json:
        print_json(
            training_document(row)
            | {
                "config": row.config,
                "metrics": latest,
                "evaluations": [figure._asdict() for figure in figures],
            }
        )
        return
    print_line(f"training {row.id}: {row.name}")
    print_line(f"{row.agent} on {row.scenario_name}, seed {row.seed}, version {row.version}")
    print_line(f"{row.state}, step {row.steps} after {duration_text(row.elapsed_s)}, in {row.folder}")
    for text in (row.message, row.note):
        if text:
            print_line(text)
    if latest:
        print_line(", ".join(f"{title} {value} {unit}".strip() for title, value, unit in metric_rows(latest)))
    table = stored_evaluation_table(figures)
    if table is not None:
        print_line()
        print_tables(table)
    if row.policy_hash:
        print_line(f"best policy: step {row.best_step}, {Path(row.folder) / BEST_POLICY}")


@trainings_app.command()
def pause(context: typer.Context, training: Number, database: Database = None) -> None:
    """Pause a training until `resume`."""
    _tell(database or context.obj, training, "pause", "paused")


@trainings_app.command()
def resume(context: typer.Context, training: Number, database: Database = None) -> None:
    """Continue a paused training.

    To continue one that has ended, use `subflow train --resume`.
    """
    _tell(database or context.obj, training, "resume", "running")


@trainings_app.command()
def stop(context: typer.Context, training: Number, database: Database = None) -> None:
    """End a training with a checkpoint."""
    _tell(database or context.obj, training, "stop", "stopped")


@trainings_app.command()
def checkpoint(context: typer.Context, training: Number, database: Database = None) -> None:
    """Have a training write a checkpoint now."""
    _tell(database or context.obj, training, "checkpoint", "")


@trainings_app.command()
def evaluate(context: typer.Context, training: Number, database: Database = None) -> None:
    """Have a training evaluate its policy now.

    `subflow trainings show` shows the result afterwards.
    """
    _tell(database or context.obj, training, "evaluate", "")


@trainings_app.command()
def rename(context: typer.Context, training: Number, name: str, database: Database = None) -> None:
    """Give a training another name."""
    with opened_store(database or context.obj) as store:
        store.trainings.rename(training_number(store, training), name)


@trainings_app.command()
def note(context: typer.Context, training: Number, text: str, database: Database = None) -> None:
    """Set the note of a training; an empty text removes it."""
    with opened_store(database or context.obj) as store:
        store.trainings.set_note(training_number(store, training), text)


@trainings_app.command()
def delete(
    context: typer.Context,
    trainings: Numbers,
    files: Annotated[bool, typer.Option("--files", help="Also their folders, with checkpoints and policies.")] = False,
    database: Database = None,
) -> None:
    """Remove trainings from the list permanently."""
    from subflow_app.features.training.core.training_folder import is_training_folder, living_process

    with opened_store(database or context.obj) as store:
        rows = [store.trainings.get(training_number(store, each)) for each in trainings]
        for row in rows:
            if row.folder and living_process(Path(row.folder)) is not None:
                raise InputError(f"training {row.id} is running: `subflow trainings stop {row.id}` first")
        store.trainings.delete(row.id for row in rows)
    for row in rows:
        # The list may be outdated, so a folder is removed only if it still contains a training run.
        if files and row.folder and is_training_folder(Path(row.folder)):
            try:
                shutil.rmtree(row.folder)
            except OSError as error:
                raise TrainingError(f"{row.folder} cannot be removed: {error.strerror}") from error


def training_number(store: Store, text: str) -> int:
    """Number of the training run that the user specified.

    Raises:
        InputError: if the text is neither a number nor ``last``.
        RunNotFound: if the store has no such training run.
    """
    newest = store.trainings.rows(limit=1) if text == "last" else []
    newest_id = newest[0].id if newest else None
    number = listed_number(text, "training", "subflow trainings", newest_id, "subflow train AGENT --scenario FILE")
    return store.trainings.get(number).id


def training_document(row: TrainingRow) -> dict[str, Any]:
    """The entry for a training run in the output of ``subflow trainings --json``."""
    best = ("best_step", "best_score", "best_goodput_bps", "policy_hash", "parent_id")
    return {
        "training_id": row.id,
        "name": row.name,
        "agent": row.agent,
        "scenario": row.scenario_name,
        **fields(row, "seed", "state", "message", "folder", "version", "note", "started_at", "ended_at"),
        **fields(row, "elapsed_s", "steps", *best),
        "process_id": row.process_pid or None,
    }


def _last_number(values: Any) -> float | None:
    """The last value that is not NaN; None if all values are NaN."""
    import numpy as np

    known = np.flatnonzero(~np.isnan(values))
    return float(values[known[-1]]) if len(known) else None


@contextmanager
def _synced_store(database: Path | None) -> Iterator[Store]:
    """Open the store and add new reports from the folders of training runs, unless the store is read-only."""
    from subflow_app.features.training.core.training_record import sync_all
    from subflow_store.errors import StoreReadOnly

    with ExitStack() as stack:
        try:
            store = stack.enter_context(opened_store(database))
            sync_all(store)
        except StoreReadOnly:
            store = stack.enter_context(opened_store(database, read_only=True))  # cannot be updated
        yield store


def _tell(database: Path | None, training: str, command: str, expected: str) -> None:
    """Send a command to a training run and wait until it takes effect, but not until an evaluation is complete."""
    from subflow_agents import Command, ReportKind
    from subflow_app.features.training.core.training import TrainingJob
    from subflow_app.features.training.core.training_folder import living_process

    with opened_store(database) as store:
        row = store.trainings.get(training_number(store, training))
    if not row.folder or living_process(Path(row.folder)) is None:
        raise InputError(f"training {row.id} is not running; `subflow train --resume {row.folder}` continues it")
    job = TrainingJob.attach(row.folder)
    kind = {"checkpoint": ReportKind.CHECKPOINT}.get(command)
    before = None if kind is None else job.last(kind)
    job.tell(Command(command))
    if expected or kind is not None:
        has_obeyed = job.wait(
            ANSWER_S,
            until=lambda: job.last(kind) != before if kind is not None else job.state.value == expected,
        )
        if not has_obeyed:
            raise TrainingError(f"training {row.id} has not answered for {ANSWER_S:g} s; it is {job.state.value}")
    print_note(f"training {row.id}: {expected or command}")


def retrain(
    recipes: Sequence[Recipe], store: Store, *, is_quick: bool, steps: int | None
) -> tuple[Retraining, Sequence[Recipe], int]:
    """Train the policies of the experiments, with a progress bar.

    Args:
        recipes: recipes of the experiments.
        store: store for the training runs.
        is_quick: whether the experiments run in their quick form.
        steps: budget of each training run; None: the budget in its recipe.

    Returns:
        The training runs, the experiments with the new policies, and the number of the signal that ended training or 0.

    Raises:
        TrainingError: if training is impossible here or does not finish.
    """
    from subflow_app.features.gallery.core.retraining import Retraining
    from subflow_app.features.training.core.training_service import default_limit
    from subflow_app.terminal.progress import in_background, progress_text

    settings = {} if steps is None else {"steps": steps}
    training = Retraining(recipes, store, is_quick=is_quick, settings=settings, jobs=default_limit())
    if training.without_recipe:
        print_note(f"no recipe makes {', '.join(training.without_recipe)}: used as they are")
    if not training.names:
        print_note("none of these experiments uses a policy that could be trained anew")
        return training, recipes, 0
    print_note(f"training anew: {', '.join(training.names)}")
    outcome, signal_number = in_background(
        training, "train", lambda: progress_text(training.progress).replace(" runs", " trainings", 1)
    )
    outcome.check()
    if signal_number:
        print_note("stopped while training; the same command continues from the last checkpoints")
        return training, recipes, signal_number
    if training.problems:
        for problem in training.problems:
            print_error(problem)
        raise TrainingError("not all policies could be retrained; the same command tries again")
    return training, [training.changed(recipe) for recipe in recipes], 0

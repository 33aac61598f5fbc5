"""``subflow agents promote``: what a training has learned gets a name that any scenario can use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, opened_store
from subflow_app.terminal.terminal import print_line
from subflow_sim.gate import is_file, is_folder


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
        source, told = best_of(tuple(sources))
        called = sources[source]
        controller = Policy.load(source).controller
    except PolicyError as error:
        raise InputError(str(error)) from error
    card = {"note": note} if note else {}
    path = copy_to_library(source, name or called, {**card, **told, "training": called})
    print_line(f"wrote {path}")
    print_line(f'scenarios use it by controller = {{ name = "{controller}", policy = "{path.stem}" }}')


def _source(training: str, database: Path | None) -> tuple[Path, str]:
    """The policy file that is meant, and the name of what it is from.

    Raises:
        InputError: if there is none.
        RunNotFound: if there is no such training.
    """
    from subflow_app.features.training.cli.trainings import training_number
    from subflow_app.features.training.core.training_folder import best_policy
    from subflow_app.foundation.paths import file_stem

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

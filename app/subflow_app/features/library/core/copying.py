"""Copies results of the library into a user's database, where they can be used like the user's own runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.gallery.core.results import stored_results
from subflow_app.features.library.core.contents import of_experiment, of_lab
from subflow_app.features.traces.core.scenario_hash import simulator_version
from subflow_app.foundation.paths import trainings_directory
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_app.features.labs.core.lab import Lab
    from subflow_store import Store
    from subflow_store.copies import Copied

SHIPPED_TAG = "shipped"
"""Tag of each run that was copied from the library."""


def copy_experiment(library: Store, recipe: Recipe, store: Store) -> Copied:
    """Copy the runs, sweeps and trainings of an experiment that the store does not have yet.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the library cannot be read or the store cannot be written; in both cases, nothing is copied.
    """
    return copy(library, of_experiment(library, recipe, is_quick=True), store)


def copy_lab(library: Store, lab: Lab, store: Store) -> Copied:
    """Copy the reference runs of a lab that the store does not have yet.

    Raises:
        StoreError: if the library cannot be read or the store cannot be written; in both cases, nothing is copied.
    """
    return copy(library, of_lab(library, lab), store)


def copy_arena(library: Store, store: Store) -> int:
    """Copy the outcomes of the arena, and return the number of outcomes in the library.

    Raises:
        StoreError: if the library cannot be read or the store cannot be written; in both cases, nothing is copied.
    """
    outcomes = library.arena.outcomes()
    store.arena.add(outcomes.values())
    return len(outcomes)


def copy(library: Store, records: Records, store: Store) -> Copied:
    """Copy records in one transaction, except those copied before.

    Raises:
        StoreError: if the library cannot be read or the store cannot be written; in both cases, nothing is copied.
    """
    from subflow_store.copies import Changes

    changes = Changes(tags=(SHIPPED_TAG,), folder=_own_folder)
    return store.copies.take(library.copies, records, changes)


def copy_to_go_on(library: Store, recipe: Recipe, store: Store) -> bool:
    """Copy the results that a new run of an experiment can reuse.

    Nothing is copied if they are from a different version of the simulator, or if the store already has results.

    Returns:
        True if records were copied.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the library cannot be read or the store cannot be written; in both cases, nothing is copied.
    """
    found = of_experiment(library, recipe, is_quick=True)
    made_by = {library.sweeps.get(number).version for number in found.sweeps}
    if made_by != {simulator_version()} or stored_results(recipe, store, is_quick=True).is_there:
        return False
    return copy(library, found, store).n_new > 0


def _own_folder(name: str) -> str:
    """Folder on this machine for a training copied from the library; empty if the training has no folder."""
    return str(trainings_directory() / Path(name).name) if name else ""


def as_shipped(kind: str, text: str) -> str:
    """The text of a document for the library, without names of the machine and its folders.

    Args:
        kind: "machine", "config" or another kind, whose text remains unchanged.
        text: the text.
    """
    if kind == "machine":
        return json.dumps({name: value for name, value in json.loads(text).items() if name != "host"})
    if kind == "config":
        config = json.loads(text)
        places = {"folder": Path(str(config.get("folder") or "")).name, "scenario_folder": ""}
        return json.dumps(config | {name: value for name, value in places.items() if name in config})
    return text

"""Takes results of the library over into a person's own database: there everything works, as with runs of one's own."""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.core.experiments.results import stored_results
from subflow_app.core.library.records import of_experiment, of_lab
from subflow_app.core.paths import trainings_directory
from subflow_app.core.running.run_key import simulator_version
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.core.experiments.recipe import Recipe
    from subflow_app.core.labs.lab import Lab
    from subflow_store import Store
    from subflow_store.copies import Copied

# The key of a summary that is compressed.
_PACKED = "packed"

SHIPPED_TAG = "shipped"
"""On every run that came from the library."""


def copy_experiment(library: Store, recipe: Recipe, store: Store) -> Copied:
    """Copy the results of an experiment, runs, sweeps and trainings, unless they are there already.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the library cannot be read or the store not be written; nothing was copied then.
    """
    return copy(library, of_experiment(library, recipe, is_quick=True), store)


def copy_lab(library: Store, lab: Lab, store: Store) -> Copied:
    """Copy the reference runs of a lab, unless they are there already.

    Raises:
        StoreError: if the library cannot be read or the store not be written; nothing was copied then.
    """
    return copy(library, of_lab(library, lab), store)


def copy_arena(library: Store, store: Store) -> int:
    """Copy the outcomes of the arena, unless they are there already; returns how many there are.

    Raises:
        StoreError: if the library cannot be read or the store not be written; nothing was copied then.
    """
    outcomes = library.arena.outcomes()
    store.arena.add(outcomes.values())
    return len(outcomes)


def copy(library: Store, records: Records, store: Store) -> Copied:
    """Copy these in one transaction; what was copied before is not copied again.

    Raises:
        StoreError: if the library cannot be read or the store not be written; nothing was copied then.
    """
    from subflow_store.copies import Changes

    changes = Changes(plain=_unpacked, tags=(SHIPPED_TAG,), folder=_own_folder)
    return store.copies.take(library.copies, records, changes)


def copy_to_go_on(library: Store, recipe: Recipe, store: Store) -> bool:
    """Copy what a new run of an experiment need not make again, because this very simulator made it.

    Returns:
        Whether anything was copied.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the library cannot be read or the store not be written; nothing was copied then.
    """
    found = of_experiment(library, recipe, is_quick=True)
    made_by = {library.sweeps.get(number).version for number in found.sweeps}
    if made_by != {simulator_version()} or stored_results(recipe, store, is_quick=True).is_there:
        return False
    return copy(library, found, store).n_new > 0


def _own_folder(name: str) -> str:
    """Where a training of the library would be here."""
    return str(trainings_directory() / Path(name).name) if name else ""


def as_shipped(kind: str, text: str) -> str:
    """A document as the library has it: without what says on whose machine it was made, and summaries compressed.

    Summaries are most of what there is, and are read only where they have been copied to.
    """
    if kind == "machine":
        return json.dumps({name: value for name, value in json.loads(text).items() if name != "host"})
    if kind == "config":
        config = json.loads(text)
        places = {"folder": Path(str(config.get("folder") or "")).name, "scenario_folder": ""}
        return json.dumps(config | {name: value for name, value in places.items() if name in config})
    if kind == "summary":
        # How far the run came is asked for where it is simulated again.
        kept = {name: value for name, value in json.loads(text).items() if name == "simulated_s"}
        return json.dumps(kept | {_PACKED: base64.b85encode(zlib.compress(text.encode(), 9)).decode("ascii")})
    return text


def _unpacked(kind: str, text: str) -> str:
    """What a document of the library stands for."""
    packed = json.loads(text).get(_PACKED) if kind == "summary" else None
    return text if packed is None else zlib.decompress(base64.b85decode(packed)).decode()

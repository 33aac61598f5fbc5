"""Contents of a library: the records of each shipped experiment and lab, and the outcomes of the arena.

Runs and trainings are listed by their numbers in the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from subflow_app.features.gallery.core.kinds import KINDS
from subflow_app.features.gallery.core.recipe_reader import load_recipe, recipe_names
from subflow_app.features.gallery.core.results import is_complete, stored_results
from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.lab_file import shipped_labs
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_store import Store


def of_experiment(store: Store, recipe: Recipe, *, is_quick: bool) -> Records:
    """Records of an experiment in a store; empty if it was not run there.

    Raises:
        RecipeError: if the recipe cannot be carried out.
        StoreError: if the store cannot be read.
    """
    seeds = recipe.seeds_of(is_quick=is_quick)
    every = [(recipe, seeds)]
    every += [
        (each.recipe, recipe.variant_seeds(name, seeds, is_quick=is_quick)) for name, each in recipe.variants.items()
    ]
    found = Records()
    for each, chosen in every:
        values = KINDS[each.kind]().stored(each, store, is_quick=is_quick, seeds=chosen)
        found += Records() if values is None else values.records()
    return found


def of_lab(store: Store, lab: Lab) -> Records:
    """Records of the reference runs of a lab in a store, for any version of the lab's text.

    Raises:
        StoreError: if the store cannot be read.
    """
    runs = tuple(sorted(row.id for row in store.runs(tag=lab_tag(lab), status="finished")))
    return Records(runs, sweeps_of(store, runs))


def lab_tag(lab: Lab) -> str:
    """Tag of the reference runs of a lab."""
    return f"lab {lab.number}"


def sweeps_of(store: Store, runs: Sequence[int]) -> tuple[int, ...]:
    """Sweeps that contain any of these runs.

    Raises:
        StoreError: if the store cannot be read.
    """
    wanted = set(runs)
    return tuple(
        sorted(
            row.id for row in store.sweeps.rows() if any(each.run_id in wanted for each in store.sweeps.runs(row.id))
        )
    )


def run_signatures(store: Store) -> dict[int, str]:
    """The signatures of all runs, by the number of the run.

    Raises:
        StoreError: if the store cannot be read.
    """
    return {row.id: row.signature for row in store.runs()}


def signature(store: Store, records: Records, by_run: Mapping[int, str]) -> str:
    """Signature of the records, 16 hex digits: a hash over the signatures of runs and the hashes of trained policies.

    Args:
        store: the store with the records.
        records: the runs and trainings.
        by_run: signatures by run, from `run_signatures`.

    Raises:
        StoreError: if the store cannot be read.
    """
    parts = [by_run[number] for number in records.runs if number in by_run]
    parts += [store.trainings.get(number).policy_hash for number in records.trainings]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]


ARENA = "arena"
"""Name of the arena among experiments and labs."""
ARENA_NAMES = (ARENA, "leaderboard")
"""Names that commands accept for the arena."""


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """An experiment, a lab or the arena, with its records in a library.

    Attributes:
        kind: kind of the entry.
        name: name in commands: "drl-cc-sc1", "01-first-sawtooth", "arena".
        title: one-line title.
        records: runs, sweeps and trainings in the library; empty if the library lacks them, and for the arena.
        is_complete: whether the library has all expected results.
        signature: signature of all records, or of the outcomes of the arena, 16 hex digits.
        outcomes: number of outcomes of the arena; 0 for other entries.
    """

    kind: Literal["experiment", "lab", "arena"]
    name: str
    title: str
    records: Records
    is_complete: bool
    signature: str
    outcomes: int = 0

    @property
    def is_there(self) -> bool:
        """True if the library has any record or outcome of this entry."""
        return bool(self.records) or self.outcomes > 0


def entries(store: Store) -> Iterator[LibraryEntry]:
    """Yield an entry for each shipped experiment and lab, and one for the arena.

    Raises:
        AppError: if a recipe, a lab or a contest cannot be used.
        StoreError: if the library cannot be read.
    """
    yield from entries_of(store, map(load_recipe, recipe_names()), shipped_labs())
    yield arena_entry(store)


def arena_entry(store: Store) -> LibraryEntry:
    """The entry of the arena, from the latest outcome of each contestant in each network.

    Raises:
        ArenaError: if a contest is not usable.
        StoreError: if the library cannot be read.
    """
    from subflow_app.features.arena.core.results import entry, known_board

    board = known_board(entry(), store)
    told = sorted((name, network, repr(result)) for (name, network), result in board.results.items())
    digest = hashlib.sha256("\n".join(map(repr, told)).encode()).hexdigest()[:16]
    title = "Every controller in every family of networks"
    whole = board.n_finished >= board.n_wanted
    return LibraryEntry("arena", ARENA, title, Records(), whole, digest, len(board.results))


def entries_of(store: Store, recipes: Iterable[Recipe], labs: Iterable[Lab]) -> Iterator[LibraryEntry]:
    """Yield an entry for each of these recipes and labs.

    Raises:
        RecipeError: if a recipe cannot be carried out.
        StoreError: if the library cannot be read.
    """
    by_run = run_signatures(store)
    for recipe in recipes:
        found = of_experiment(store, recipe, is_quick=True)
        whole = bool(found) and is_complete(stored_results(recipe, store, is_quick=True))
        yield LibraryEntry("experiment", recipe.name, recipe.title, found, whole, signature(store, found, by_run))
    for lab in labs:
        found = of_lab(store, lab)
        yield LibraryEntry("lab", lab.name, lab.title, found, bool(found), signature(store, found, by_run))


def versions(store: Store) -> Mapping[str, int]:
    """The number of runs from each version of Subflow, by version.

    Raises:
        StoreError: if the library cannot be read.
    """
    found: dict[str, int] = {}
    for row in store.runs():
        found[row.version] = found.get(row.version, 0) + 1
    return found

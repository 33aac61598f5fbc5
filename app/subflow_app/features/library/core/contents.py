"""Contents of a library: those of each experiment and lab that ships with the program, and of the arena.

Runs and trainings of an experiment or lab are listed by their numbers in the store.
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
    """What a store has of an experiment; nothing if it was not run there.

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
    """What a store has of the reference runs of a lab, whichever version of its text they are of.

    Raises:
        StoreError: if the store cannot be read.
    """
    runs = tuple(sorted(row.id for row in store.runs(tag=lab_tag(lab), status="finished")))
    return Records(runs, sweeps_of(store, runs))


def lab_tag(lab: Lab) -> str:
    """What the reference runs of a lab are tagged with."""
    return f"lab {lab.number}"


def sweeps_of(store: Store, runs: Sequence[int]) -> tuple[int, ...]:
    """Sweeps that have any of these runs.

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
    """The signature of each run.

    Raises:
        StoreError: if the store cannot be read.
    """
    return {row.id: row.signature for row in store.runs()}


def signature(store: Store, records: Records, by_run: Mapping[int, str]) -> str:
    """One signature for all of it, 16 hex digits: of those of its runs, and of what its trainings learned.

    Args:
        store: where it is.
        records: all of it.
        by_run: `run_signatures`.

    Raises:
        StoreError: if the store cannot be read.
    """
    parts = [by_run[number] for number in records.runs if number in by_run]
    parts += [store.trainings.get(number).policy_hash for number in records.trainings]
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]


ARENA = "arena"
"""Name of the arena among experiments and labs."""
ARENA_NAMES = (ARENA, "leaderboard")
"""What it may be called."""


@dataclass(frozen=True, slots=True)
class LibraryEntry:
    """An experiment, a lab or the arena, and what a library has of it.

    Attributes:
        kind: what it is.
        name: by which commands know it: "drl-cc-sc1", "01-first-sawtooth", "arena".
        title: in a line.
        records: numbers in the library; nothing if it is not there.
        is_complete: whether all that was wanted came to something; what needs a policy that is missing did not.
        signature: of all of it, 16 hex digits.
        outcomes: of the arena, how many.
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
        """Whether there is any of it."""
        return bool(self.records) or self.outcomes > 0


def entries(store: Store) -> Iterator[LibraryEntry]:
    """One for each experiment and lab that ships with the program, and one for the arena.

    Raises:
        AppError: if a recipe, a lab or a contest cannot be used.
        StoreError: if the library cannot be read.
    """
    yield from entries_of(store, map(load_recipe, recipe_names()), shipped_labs())
    yield arena_entry(store)


def arena_entry(store: Store) -> LibraryEntry:
    """That of the arena: of each entry and network the latest outcome.

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
    """One for each of these.

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
    """Versions of Subflow that made its runs, with how many each made.

    Raises:
        StoreError: if the library cannot be read.
    """
    found: dict[str, int] = {}
    for row in store.runs():
        found[row.version] = found.get(row.version, 0) + 1
    return found

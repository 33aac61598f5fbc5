"""What is in a library: of each experiment and lab that ships with the program, and of the arena."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from subflow_app.features.gallery.core.recipe_reader import load_recipe, recipe_names
from subflow_app.features.gallery.core.results import is_complete, stored_results
from subflow_app.features.labs.core.lab_file import shipped_labs
from subflow_app.features.library.core.records import of_experiment, of_lab, run_signatures, signature
from subflow_store.values import Records

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_app.features.labs.core.lab import Lab
    from subflow_store import Store

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

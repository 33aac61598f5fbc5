"""What is in a library: each experiment and lab that ships with the program, with what the file has of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from subflow_app.core.experiments.coverage import is_complete
from subflow_app.core.experiments.recipe import load_recipe, recipe_names
from subflow_app.core.experiments.results import stored_results
from subflow_app.core.labs.lab_file import shipped_labs
from subflow_app.core.library.belongings import Belongings, of_experiment, of_lab, signature

if TYPE_CHECKING:
    from subflow_app.core.experiments.recipe import Recipe
    from subflow_app.core.labs.lab import Lab
    from subflow_store import Store


@dataclass(frozen=True, slots=True)
class Entry:
    """An experiment or a lab, and what a library has of it.

    Attributes:
        kind: what it is.
        name: by which commands know it: "drl-cc-sc1", "01-first-sawtooth".
        title: in a line.
        belongings: numbers in the library; nothing if it is not there.
        is_complete: whether all that was wanted came to something; what needs a policy that is missing did not.
        signature: of all of it, 16 hex digits.
    """

    kind: Literal["experiment", "lab"]
    name: str
    title: str
    belongings: Belongings
    is_complete: bool
    signature: str


def entries(store: Store) -> Iterator[Entry]:
    """One for each experiment and lab that ships with the program.

    Raises:
        AppError: if a recipe or a lab cannot be used.
        StoreError: if the library cannot be read.
    """
    yield from entries_of(store, map(load_recipe, recipe_names()), shipped_labs())


def entries_of(store: Store, recipes: Iterable[Recipe], labs: Iterable[Lab]) -> Iterator[Entry]:
    """One for each of these.

    Raises:
        RecipeError: if a recipe cannot be carried out.
        StoreError: if the library cannot be read.
    """
    for recipe in recipes:
        found = of_experiment(store, recipe, is_quick=True)
        whole = bool(found) and is_complete(stored_results(recipe, store, is_quick=True))
        yield Entry("experiment", recipe.name, recipe.title, found, whole, signature(store, found))
    for lab in labs:
        found = of_lab(store, lab)
        yield Entry("lab", lab.name, lab.title, found, bool(found), signature(store, found))


def versions(store: Store) -> Mapping[str, int]:
    """Versions of Subflow that made its runs, with how many each made.

    Raises:
        StoreError: if the library cannot be read.
    """
    found: dict[str, int] = {}
    for row in store.runs():
        found[row.version] = found.get(row.version, 0) + 1
    return found

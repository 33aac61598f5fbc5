"""The recipes of experiments by name: those that ship, those of a paper, and files of the user."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from subflow_app.features.gallery.core.recipe import PAPERS, Recipe
from subflow_app.features.gallery.core.recipe_reader import read_recipe
from subflow_app.features.gallery.core.rulings import RULINGS_FILE, experiments_folder
from subflow_app.foundation.errors import InputError, RecipeError
from subflow_app.foundation.resources import is_to_read, way_on
from subflow_app.foundation.toml_files import read_text
from subflow_sim.gate import is_file

RECIPE_SUFFIX = ".toml"


def recipe_names() -> tuple[str, ...]:
    """Names of the shipped recipes, those of a paper together and in order; the folder is the list."""
    names = [path.stem for path in experiments_folder().glob(f"*{RECIPE_SUFFIX}") if path.name != RULINGS_FILE]
    return tuple(sorted(names, key=_order))


def load_recipe(name_or_path: str) -> Recipe:
    """Read a recipe file, or a shipped recipe by name.

    Raises:
        InputError: if there is no such file or name; `RecipeError` with all that is wrong with it.
    """
    path = _find(name_or_path)
    return read_recipe(path, read_text(path, RecipeError, "a recipe"))


def chosen_recipes(names: Sequence[str]) -> tuple[Recipe, ...]:
    """The recipes for what the user typed: ids, ids of papers, files, or "all"; each once, in the order of the list.

    Raises:
        InputError: if there is none of a name; `RecipeError` if one is not usable.
    """
    found: dict[str, None] = {}
    shipped = recipe_names()
    for name in names or ("all",):
        if name == "all":
            found.update(dict.fromkeys(shipped))
        elif name in PAPERS and not is_file(Path(name)):
            of_paper = [each for each in shipped if load_recipe(each).paper == name]
            found.update(dict.fromkeys(of_paper))
        else:
            found[name] = None
    return tuple(map(load_recipe, found))


def recipes_of(paper: str) -> tuple[Recipe, ...]:
    """The shipped recipes of a paper, in order."""
    return tuple(recipe for recipe in map(load_recipe, recipe_names()) if recipe.paper == paper)


def _find(name_or_path: str) -> Path:
    path = Path(name_or_path)
    if is_to_read(path):
        return path
    names = recipe_names()
    if name_or_path in names:
        return experiments_folder() / f"{name_or_path}{RECIPE_SUFFIX}"
    if path.suffix == RECIPE_SUFFIX or len(path.parts) > 1:
        raise InputError(f"{name_or_path}: no such recipe file")
    listed = f"papers: {', '.join(PAPERS)}; `subflow reproduce --list` lists the experiments"
    close = way_on(name_or_path, [*names, *PAPERS, "all"], listed)
    raise InputError(f"{name_or_path}: no such experiment or paper; {close}")


def _order(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    """By paper, then with numbers in words by size: fig9a before fig11a."""
    papers = list(PAPERS)
    paper = next((place for place, each in enumerate(papers) if name.startswith(each)), len(papers))
    parts = re.split(r"(\d+)", name)
    return paper, [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]

"""Makes the pictures of README and guide again: all pictures of the window, or the named ones.

    python -m tests.helpers.pictures [NAME ...]

This command is the only step after a change of the window. Figures of measurements change with the simulator and take
long, so they are made only by name: `scale` (a minute on an idle machine) and those of the reproduction, which come
with its page, e.g. `drl-cc-sc1`. `architecture` is made from the imports.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from subflow_app.features.gallery.core.columns import in_columns
from subflow_app.features.gallery.core.recipe import AgentColumn
from subflow_app.features.gallery.core.recipe_reader import load_recipe, recipe_names

ROOT = Path(__file__).resolve().parents[2]
SUFFIXES = {".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp"}

MAKERS = {
    "docs/images": ["tests.helpers.guide_pictures"],
    "docs/figures/architecture.svg": ["tools.architecture"],
    "docs/figures/scale.svg": ["subflow_app", "bench", "--scale", "--figure", "docs/figures/scale.svg"],
    "docs/reproduction/figures": [
        *("subflow_app", "reproduce", "all", "--quick", "--agents", "both", "--docs", "docs/reproduction")
    ],
}
"""Modules with arguments that make the pictures, by folder or file."""
WINDOW = "docs/images"
"""Folder of pictures of the window, which are taken by name."""


def made_in(place: str) -> set[str]:
    """The files written by the maker of a folder or of one file."""
    if place.endswith(".svg"):
        return {place}
    if place == "docs/reproduction/figures":
        recipes = [load_recipe(name) for name in recipe_names()]
        return {f"{place}/{each.file_name}.svg" for each in in_columns(recipes, list(AgentColumn))}
    from tests.helpers.guide_pictures import PICTURES

    return {f"{place}/{picture.name}.png" for picture in PICTURES}


def main(names: Sequence[str]) -> int:
    """Makes the pictures; returns the exit code."""
    known = {Path(file).stem: folder for folder in MAKERS for file in made_in(folder)}
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such picture: {', '.join(unknown)}; allowed: {', '.join(sorted(known))}\n")
        return 2
    for folder in dict.fromkeys([known[name] for name in names] or [WINDOW]):
        chosen = [name for name in names if known[name] == folder] if folder == WINDOW else []
        made = subprocess.run([sys.executable, "-m", *MAKERS[folder], *chosen], cwd=ROOT, check=False)
        if made.returncode:
            return made.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Opens the library of results that ships with the program, and reads thumbnails of its figures for the gallery.

The library is opened read-only, and its file is never changed. If the file has an older schema, it is copied into the
user's cache, where the copy is upgraded. Later calls reuse the copy.

Thumbnails of shipped results are also shipped, because drawing all of them takes half a minute.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.paper.core.figure_plan import FigurePlan, Ground
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH
from subflow_app.foundation.errors import AppError, LibraryError
from subflow_app.foundation.paths import library_cache
from subflow_app.foundation.resources import assets_folder
from subflow_app.foundation.run_databases import open_database
from subflow_sim.gate import is_file, is_there
from subflow_sim.whole_file import write_whole
from subflow_store.errors import StoreError

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_store import Store
    from subflow_store.arena import ArenaOutcome


_log = logging.getLogger(__name__)

LIBRARY = "experiments.db"
"""Name of the file among the assets."""

# Offset of PRAGMA user_version in an SQLite file, which holds the number of our schema: big-endian, 4 bytes.
_SCHEMA_VERSION_AT = 60


def shipped_library() -> Path | None:
    """Path of the shipped library; None if the file is missing."""
    path = assets_folder() / LIBRARY
    return path if is_file(path) else None


def open_library(path: Path | None = None) -> Store | None:
    """Open a library read-only.

    Args:
        path: the file; None for the shipped library.

    Returns:
        The store, which the caller closes; None if `path` is None and this installation has no library.

    Raises:
        LibraryError: if the library is missing, damaged, or from a newer version of Subflow.
    """
    from subflow_store import StoreError, StoreMissing, StoreNewer

    chosen = path or shipped_library()
    if chosen is None:
        return None
    try:
        return open_database(_of_this_schema(chosen), read_only=True)
    except StoreMissing:
        raise LibraryError(f"{chosen}: unknown library of results; `subflow library build` makes one") from None
    except StoreNewer as error:
        raise LibraryError(
            f"the library of results {chosen} was made by a newer Subflow: {error.problem}. Update Subflow, or make "
            "the library anew with `subflow library build`"
        ) from error
    except StoreError as error:
        raise LibraryError(f"the library of results cannot be used: {error}") from error


def shipped_outcomes() -> list[ArenaOutcome]:
    """Shipped outcomes of the arena; empty if the library is missing or unusable."""
    try:
        library = open_library()
        if library is None:
            return []
        with library:
            return list(library.arena.outcomes().values())
    except (AppError, StoreError) as error:
        _log.warning("the outcomes of the arena that ship cannot be read: %s", error)
        return []


def schema_version(path: Path) -> int:
    """Number of the schema of a database file; 0 if the file cannot be read."""
    try:
        with path.open("rb") as file:
            file.seek(_SCHEMA_VERSION_AT)
            return int.from_bytes(file.read(4), "big")
    except OSError:
        return 0


def _of_this_schema(path: Path) -> Path:
    """The file, or its upgraded copy in the cache if its schema is older."""
    from subflow_store.upgrade import head

    if not 0 < schema_version(path) < head():
        return path  # readable, or `open_store` raises an error with the reason
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    cached = library_cache() / f"{digest}-{head()}.db"
    if not is_there(cached):
        _bring_up_to_date(path, cached)
    return cached


def _bring_up_to_date(path: Path, cached: Path) -> None:
    from subflow_store import open_store

    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        # The upgrade leaves a backup of the old file next to the copy, which is removed with the temporary folder.
        with tempfile.TemporaryDirectory(dir=cached.parent) as folder:
            copy = Path(folder) / "library.db"
            shutil.copyfile(path, copy)
            copy.chmod(0o600)
            whole = Path(folder) / "whole.db"
            with open_store(copy) as store:
                store.save_copy(whole)
            whole.replace(cached)
    except OSError as error:
        raise LibraryError(
            f"the library of results {path} is of an older version of Subflow, and {cached.parent} cannot be written "
            f"to bring a copy up to date: {error.strerror or error}"
        ) from error


WIDTH_PX, HEIGHT_PX = 112, 66
"""Width and height of a thumbnail in logical px."""

_DPI = 96
_SHIPPED_RATIO = 2.0  # sharp on high-resolution screens
_LEAST_WIDTH_MM, _LEAST_HEIGHT_MM = 40.0, 20.0
# A transparent background, with axes that are visible on both light and dark backgrounds.
_ANY_GROUND = Ground("#00000000", "#808080", "#808080", "#80808060", is_dark=False)


def thumbnail(figure: FigurePlan, ground: Ground, ratio: float) -> FigurePlan:
    """A figure at thumbnail size, with `ratio` pixels for each logical pixel."""
    width, height = (side / _DPI * MM_PER_INCH for side in (WIDTH_PX, HEIGHT_PX))
    small = figure.as_thumbnail(max(width, _LEAST_WIDTH_MM), max(height, _LEAST_HEIGHT_MM))
    return replace(small, kind="png", dpi=round(_DPI * ratio), ground=ground)


def thumbnail_file(library: Path, name: str) -> Path:
    """Path of an experiment's picture, in the folder `gallery` next to the library."""
    return library.with_name("gallery") / f"{name}.png"


def shipped_thumbnail(name: str) -> bytes | None:
    """Picture of a shipped experiment as PNG; None if it cannot be read."""
    library = shipped_library()
    if library is None:
        return None
    try:
        return thumbnail_file(library, name).read_bytes()
    except OSError:
        return None


def write_thumbnails(
    library: Store, recipes: Iterable[Recipe], out: Path, draw: Callable[[FigurePlan], bytes]
) -> list[Path]:
    """Write the pictures of all experiments with results in a library, and return their paths.

    Args:
        library: the library with the results.
        recipes: the recipes of the experiments.
        out: path of the library file; the pictures are written to the folder `gallery` next to it.
        draw: draws a figure and returns the bytes of its file.

    Raises:
        OSError: if a picture cannot be written.
        StoreError: if the library cannot be read.
    """
    from subflow_app.features.gallery.core.exhibits import read_exhibit

    written = []
    for recipe in recipes:
        figure = read_exhibit(None, recipe.name, recipe=recipe, library=library).figure
        if figure is not None:
            path = thumbnail_file(out, recipe.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, draw(thumbnail(figure, _ANY_GROUND, _SHIPPED_RATIO)))
            written.append(path)
    return written

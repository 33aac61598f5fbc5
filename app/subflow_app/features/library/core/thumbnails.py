"""Small pictures of the figures of the gallery: drawn for whoever asks, and shipped for the results that ship.

Those that ship are there at once; drawing all of them takes half a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from subflow_app.features.library.core import shipped
from subflow_app.features.paper.core.panel_plan import Ground, PanelFigure
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH
from subflow_sim.whole_file import write_whole

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_store import Store

WIDTH_PX, HEIGHT_PX = 112, 66
"""Of a picture, logical px."""

_DPI = 96
_SHIPPED_RATIO = 2.0  # sharp on screens of fine pixels
_LEAST_WIDTH_MM, _LEAST_HEIGHT_MM = 40.0, 20.0
# See-through, with axes that are seen on light and on dark.
_ANY_GROUND = Ground("#00000000", "#808080", "#808080", "#80808060", is_dark=False)


def thumbnail(figure: PanelFigure, ground: Ground, ratio: float) -> PanelFigure:
    """A figure as it is drawn small, with so many pixels for each logical one."""
    width, height = (side / _DPI * MM_PER_INCH for side in (WIDTH_PX, HEIGHT_PX))
    small = figure.as_thumbnail(max(width, _LEAST_WIDTH_MM), max(height, _LEAST_HEIGHT_MM))
    return replace(small, kind="png", dpi=round(_DPI * ratio), ground=ground)


def thumbnail_file(library: Path, name: str) -> Path:
    """Where the picture of an experiment of a library is."""
    return library.with_name("gallery") / f"{name}.png"


def shipped_thumbnail(name: str) -> bytes | None:
    """The picture of an experiment whose results ship, as PNG; None if there is none."""
    library = shipped.shipped_library()
    if library is None:
        return None
    try:
        return thumbnail_file(library, name).read_bytes()
    except OSError:
        return None


def write_thumbnails(
    library: Store, recipes: Iterable[Recipe], out: Path, draw: Callable[[PanelFigure], bytes]
) -> list[Path]:
    """Write the pictures of all experiments that a library has results of.

    Args:
        library: that has the results.
        recipes: of the experiments.
        out: its file.
        draw: a figure as a file.

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

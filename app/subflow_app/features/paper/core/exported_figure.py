"""A figure that the window can export, with the files that belong to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from subflow_app.features.paper.core.figure_plan import FigurePlan

Write = Callable[[Path], object]
"""Writes a file; raises AppError or StoreError if this is impossible."""


@dataclass(frozen=True, slots=True, eq=False)
class ExportedFigure:
    """The content of a figure, and functions that write what belongs to it.

    Attributes:
        name: suggested name of the file, without its suffix.
        plan: the content for papers.
        as_shown: the content in the style "As shown"; None: the same content.
        write_data: writes the data as CSV; None: the figure has no table of data.
        write_page: writes a web page; None for a figure without one.
        no_page: reason why the figure has no web page, as a whole sentence.
    """

    name: str
    plan: FigurePlan
    as_shown: FigurePlan | None = None
    write_data: Write | None = None
    write_page: Write | None = None
    no_page: str = ""

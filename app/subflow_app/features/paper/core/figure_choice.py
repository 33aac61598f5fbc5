"""What a person chose in the dialog of figures, and how it is kept for the next time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from subflow_app.features.paper.core.figure_plan import FIGURE_KINDS, FigureKind, FigureLook
from subflow_app.features.paper.core.paper_styles import (
    DPI_RANGE,
    HEIGHT_RANGE_MM,
    LEGENDS,
    STYLES_BY_ID,
    WIDTH_RANGE_MM,
    Legend,
    PaperStyle,
)

AS_SHOWN = "shown"
"""The figure is drawn as the window shows it, not by a style for paper."""
CUSTOM = "custom"
"""A style for paper of another size than any publisher's."""
_CUSTOM_LIKE = "ieee"


@dataclass(frozen=True, slots=True)
class FigureChoice:
    """How figures are exported.

    Attributes:
        style: `AS_SHOWN`, `CUSTOM` or the id of a style.
        kind: format of the file.
        width_mm: of the figure; other styles than these two have their own.
        height_mm: of each plot; as shown: of the figure.
        dpi: px per inch of a PNG.
        legend: where it stands; as shown: above.
        is_stacked: whether all plots stand in one figure, or each has a file.
        has_data: whether the data shown is written as CSV beside it.
    """

    style: str = AS_SHOWN
    kind: FigureKind = "pdf"
    width_mm: float = 170.0
    height_mm: float = 150.0
    dpi: int = 300
    legend: Legend = "below"
    is_stacked: bool = True
    has_data: bool = False

    @property
    def paper_style(self) -> PaperStyle:
        """Size, fonts and lines; not of a figure as shown.

        Raises:
            InputError: if no figure is that large.
        """
        if self.style == CUSTOM:
            return STYLES_BY_ID[_CUSTOM_LIKE].sized(self.width_mm, self.height_mm)
        return STYLES_BY_ID[self.style].sized(None, self.height_mm)

    def look(self, title: str) -> FigureLook:
        """How the figures are to look.

        Raises:
            InputError: if no figure is that large.
        """
        return FigureLook(self.paper_style, self.legend, title, self.dpi, self.is_stacked)

    @classmethod
    def from_entries(cls, entries: Mapping[str, Any]) -> FigureChoice:
        """The choice that was kept; what is not usable in it is as it is the first time."""
        checks: dict[str, Callable[[Any], bool]] = {
            "style": lambda value: value in (AS_SHOWN, CUSTOM, *STYLES_BY_ID),
            "kind": lambda value: value in FIGURE_KINDS,
            "width_mm": lambda value: _is_within(value, WIDTH_RANGE_MM),
            "height_mm": lambda value: _is_within(value, HEIGHT_RANGE_MM),
            "dpi": lambda value: isinstance(value, int) and _is_within(value, DPI_RANGE),
            "legend": lambda value: value in tuple(LEGENDS),
            "is_stacked": lambda value: isinstance(value, bool),
            "has_data": lambda value: isinstance(value, bool),
        }
        return cls(**{name: entries[name] for name, is_good in checks.items() if is_good(entries.get(name))})


def _is_within(value: object, allowed: tuple[float, float]) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and allowed[0] <= value <= allowed[1]

"""Styles of figures for print: column widths of publishers, font sizes, and allowed sizes.

The alternative was the package SciencePlots. Subflow could have used only six numbers of its IEEE style, because
figures have the colours and dashes of the window, and because that style uses Times, a font that many computers lack.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from subflow_app.foundation.errors import InputError

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

Legend = Literal["below", "above", "inside", "none"]
LEGENDS: Mapping[Legend, str] = {
    "below": "Outside, below",
    "above": "Outside, above",
    "inside": "Inside the plots",
    "none": "None",
}

MM_PER_INCH = 25.4
WIDTH_RANGE_MM = (40.0, 600.0)
HEIGHT_RANGE_MM = (20.0, 400.0)
DPI_RANGE = (72, 1200)
MOST_MEGAPIXELS = 100
"""Maximum size of a PNG; a larger image would fill the memory of a small computer and exceed what printers resolve."""


@dataclass(frozen=True, slots=True)
class PaperStyle:
    """Size, fonts and lines of a figure.

    Attributes:
        id: name on the command line and in settings.
        title: title in the list of styles.
        width_mm: exact width of the figure.
        plot_height_mm: height of one plot without the legend; several plots are stacked.
        font: font family; matplotlib contains the fonts of all styles, so that figures are the same on every machine.
        font_pt: size of axis titles.
        small_pt: size of numbers at the axes and of the legend.
        line_pt: width of curves.
        text_in_svg: whether an SVG contains text, which can be searched and restyled but depends on the fonts of the
            reader; paths look the same everywhere.
        has_markers: whether curves also have markers, which distinguish them in print without colours.
    """

    id: str
    title: str
    width_mm: float
    plot_height_mm: float
    font: str
    font_pt: float
    small_pt: float
    line_pt: float
    text_in_svg: bool = False
    has_markers: bool = True

    def sized(self, width_mm: float | None = None, plot_height_mm: float | None = None) -> PaperStyle:
        """A copy of this style with a different size in mm; None keeps the current value.

        Raises:
            InputError: if the width or height is outside its range.
        """
        width = self.width_mm if width_mm is None else checked_width(width_mm)
        height = self.plot_height_mm if plot_height_mm is None else checked_height(plot_height_mm)
        return replace(self, width_mm=width, plot_height_mm=height)


_SERIF = "STIXGeneral"
_SANS = "DejaVu Sans"

# IEEE: one column is 3.5 in wide and two are 7.16 in, with text of 8 to 10 pt (IEEE Author Center, on graphics). ACM:
# columns of the class acmart with the option sigconf.
STYLES: tuple[PaperStyle, ...] = (
    PaperStyle("ieee", "IEEE column, 88.9 mm", 88.9, 46.0, _SERIF, 9.0, 8.0, 1.0),
    PaperStyle("ieee-double", "IEEE double column, 181 mm", 181.0, 55.0, _SERIF, 9.0, 8.0, 1.0),
    PaperStyle("acm", "ACM column, 84.5 mm", 84.5, 45.0, _SERIF, 9.0, 8.0, 1.0),
    PaperStyle("acm-double", "ACM double column, 178 mm", 178.0, 55.0, _SERIF, 9.0, 8.0, 1.0),
    PaperStyle("page", "Page, 160 mm", 160.0, 68.6, _SANS, 9.0, 8.0, 1.2, text_in_svg=True, has_markers=False),
    PaperStyle("slide", "Slide, 254 mm", 254.0, 118.0, _SANS, 18.0, 15.0, 2.4, has_markers=False),
)
STYLES_BY_ID: Mapping[str, PaperStyle] = {style.id: style for style in STYLES}
DEFAULT_STYLE = STYLES_BY_ID["page"]
SHOWN_STYLE = PaperStyle("shown", "As shown", 170.0, 21.0, _SANS, 8.0, 8.0, 0.9, text_in_svg=True, has_markers=False)
"""Style of a figure with the content of the window; its plot height is the minimum height of a plot."""


def style_named(name: str) -> PaperStyle:
    """The style with this id.

    Raises:
        InputError: if the id is unknown.
    """
    if name not in STYLES_BY_ID:
        raise InputError(f'figure style "{name}": must be one of {", ".join(STYLES_BY_ID)}')
    return STYLES_BY_ID[name]


def checked_width(width_mm: float) -> float:
    """Checks the width of a figure in mm, and returns it.

    Raises:
        InputError: if the width is outside `WIDTH_RANGE_MM`.
    """
    return _checked("width", width_mm, WIDTH_RANGE_MM)


def checked_height(height_mm: float) -> float:
    """Checks the height of a plot or a figure in mm, and returns it.

    Raises:
        InputError: if the height is outside `HEIGHT_RANGE_MM`.
    """
    return _checked("height", height_mm, HEIGHT_RANGE_MM)


def checked_dpi(dpi: int) -> int:
    """Checks the resolution of a PNG in px per inch, and returns it.

    Raises:
        InputError: if the resolution is outside `DPI_RANGE`.
    """
    low, high = DPI_RANGE
    if not low <= dpi <= high:
        raise InputError(f"the resolution of a figure is {low} to {high} px per inch, not {dpi}")
    return dpi


def rc_settings(style: PaperStyle) -> dict[RcKeyType, Any]:
    """The style as rc parameters of matplotlib."""
    thin = 0.5 * max(1.0, style.line_pt)
    return {
        "font.family": [style.font, _SANS],  # the second font provides glyphs that the first one lacks
        "text.parse_math": False,  # a dollar sign in the name of a run is not mathematics
        "mathtext.fontset": "stix" if style.font == _SERIF else "dejavusans",
        "font.size": style.font_pt,
        "axes.labelsize": style.font_pt,
        "axes.titlesize": style.font_pt,
        "axes.linewidth": 1.2 * thin,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.labelpad": 0.35 * style.font_pt,
        "grid.color": "#DDDDDD",
        "grid.linewidth": thin,
        "hatch.linewidth": thin,
        "legend.fontsize": style.small_pt,
        "legend.frameon": False,
        "legend.borderpad": 0.2,
        "legend.labelspacing": 0.3,
        "xtick.labelsize": style.small_pt,
        "ytick.labelsize": style.small_pt,
        "xtick.major.width": 1.2 * thin,
        "ytick.major.width": 1.2 * thin,
        "xtick.major.size": 0.35 * style.small_pt,
        "ytick.major.size": 0.35 * style.small_pt,
        "lines.linewidth": style.line_pt,
        "lines.solid_joinstyle": "round",
        "path.simplify_threshold": 0.2,
        "figure.dpi": 100.0,
        "figure.facecolor": "white",
        "axes.facecolor": "white",
        "savefig.facecolor": "white",
        "figure.constrained_layout.h_pad": 0.03,
        "figure.constrained_layout.w_pad": 0.03,
        "svg.fonttype": "none" if style.text_in_svg else "path",
        "svg.hashsalt": "subflow",  # makes the bytes of a figure reproducible
        "pdf.fonttype": 42,  # TrueType, embedded: some publishers refuse Type 3 fonts
    }


def _checked(what: str, value: float, allowed: tuple[float, float]) -> float:
    low, high = allowed
    if not (math.isfinite(value) and low <= value <= high):
        raise InputError(f"the {what} of a figure is {low:g} to {high:g} mm, not {value:g} mm")
    return value

"""Draws figures of panels with matplotlib: where panels stand, their axes and the legend; `panel_forms` fills them."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from subflow_app.features.paper.core.figures import POINTS_PER_INCH, drawn_file, name_entries
from subflow_app.features.paper.core.panel_forms import (
    FORMS,
    IMPLIED_HATCH,
    MARKERS,
    PAPER_HATCH,
    TABLE_LINE,
    dashes,
    names_lines,
    table_layout,
)
from subflow_app.features.paper.core.panel_plan import PanelFigure
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH
from subflow_app.vocabulary import palette
from subflow_app.vocabulary.picture import Panel, PanelSeries

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LETTER = 0.56
# Share of the height of a plot that its axis has: the rest goes to what stands below.
_AXIS_SHARE = 0.74
# Share of the width of a panel that titles have, which stand above the middle of its axes.
_TITLE_SHARE = 0.8
_LEGEND_ROW, _HEADING_ROW, _TITLE_ROW, _NOTE_ROW, _NAME_ROW = 1.75, 2.4, 1.5, 1.5, 1.2
_HANDLE_LETTERS = 7
_MOST_LEGEND_COLUMNS = 5
_LEGENDLESS = ("table",)
# Coordinates of a drawing, points: tenths are finer than a screen, and a third as long as what matplotlib writes.
_DECIMALS = 1


def render_panels(figure: PanelFigure) -> bytes:
    """The content of the file.

    Raises:
        InputError: if there is nothing to draw, or it is too large.
    """
    figure.checked()
    content = drawn_file(
        figure.style,
        figure.kind,
        figure.dpi,
        lambda: panels_size_in(figure),
        lambda drawn: fill_panels(drawn, figure),
        figure.ground.background,
    )
    return _shortened(content, figure.style.font) if figure.kind == "svg" else content


def panels_size_in(figure: PanelFigure) -> tuple[float, float]:
    """Width and height, inches."""
    style = figure.style
    width = style.width_mm / MM_PER_INCH
    height = sum(_row_heights_in(figure))
    if figure.is_thumbnail:
        return width, height
    handles, legend_columns = _legend(figure)
    legend_rows = -(-len(handles) // legend_columns) if handles else 0
    height += legend_rows * _LEGEND_ROW * style.small_pt / POINTS_PER_INCH
    height += _HEADING_ROW * style.font_pt / POINTS_PER_INCH if figure.title else 0.0
    return width, height


def fill_panels(part: Figure, figure: PanelFigure) -> None:
    """Draw into a figure of `panels_size_in`; call it within `drawing`."""
    rows = figure.rows
    columns = max(map(len, rows))
    grid = part.add_gridspec(len(rows), columns, height_ratios=_row_heights_in(figure))
    for number, row in enumerate(rows):
        for place, panel in enumerate(row):
            _draw_panel(part.add_subplot(grid[number, place if len(row) > 1 else slice(None)]), panel, figure)
    if figure.is_thumbnail:
        return
    ink = figure.ground.ink
    if figure.title:
        part.suptitle(figure.title, fontsize=figure.style.font_pt * 1.1, color=ink)
    handles, legend_columns = _legend(figure)
    if handles:
        legend = part.legend(
            handles=handles,
            labels=[str(handle.get_gid()) for handle in handles],
            loc="outside lower center",
            ncols=legend_columns,
            handlelength=2.2,
            columnspacing=1.3,
            labelcolor=ink,
        )
        name_entries(legend, handles)


def _draw_panel(axes: Axes, panel: Panel, figure: PanelFigure) -> None:
    style, ground = figure.style, figure.ground
    axes.set_facecolor(ground.background)
    for spine in axes.spines.values():
        spine.set_color(ground.muted)
    axes.tick_params(colors=ground.ink, which="both")
    axes.grid(visible=True, color=ground.grid)
    FORMS[panel.form](axes, panel, figure)
    if figure.is_thumbnail:
        axes.set_xticklabels([])
        axes.set_yticklabels([])
        axes.tick_params(length=0, which="both")
        return
    if panel.title:
        axes.set_title("\n".join(_title_lines(panel, figure)), color=ground.ink, fontsize=style.font_pt)
    if panel.form != "table":
        letters = int(_AXIS_SHARE * style.plot_height_mm / MM_PER_INCH * POINTS_PER_INCH / (_LETTER * style.font_pt))
        axes.set_ylabel(_in_lines(panel.y_text, letters), color=ground.ink)
        below = "\n".join(text for text in (panel.x_text, *_note_lines(panel, figure)) if text)
        axes.set_xlabel(below, color=ground.ink)
    elif panel.note:
        axes.set_xlabel("\n".join(_note_lines(panel, figure)), color=ground.muted, fontsize=style.small_pt)


def _row_heights_in(figure: PanelFigure) -> list[float]:
    return [max(_panel_height_in(figure, panel) for panel in row) for row in figure.rows]


def _panel_height_in(figure: PanelFigure, panel: Panel) -> float:
    style = figure.style
    height = style.plot_height_mm / MM_PER_INCH
    if figure.is_thumbnail:
        return height
    if panel.form == "table":
        # As many lines as it has; how it looks does not depend on the room.
        height = table_layout(panel, figure).lines * TABLE_LINE * style.small_pt / POINTS_PER_INCH
    else:
        height += (names_lines(panel, figure) - 1) * _NAME_ROW * style.small_pt / POINTS_PER_INCH
    height += len(_title_lines(panel, figure)) * _TITLE_ROW * style.font_pt / POINTS_PER_INCH
    height += len(_note_lines(panel, figure)) * _NOTE_ROW * style.font_pt / POINTS_PER_INCH
    return height


def _letters(figure: PanelFigure, panel: Panel) -> int:
    """How many letters fit into the width of a panel."""
    width = figure.width_in(panel) * POINTS_PER_INCH
    return max(12, int(_TITLE_SHARE * width / (_LETTER * figure.style.font_pt)))


def _title_lines(panel: Panel, figure: PanelFigure) -> list[str]:
    return wrap(panel.title, _letters(figure, panel))


def _note_lines(panel: Panel, figure: PanelFigure) -> list[str]:
    return wrap(panel.note, _letters(figure, panel))


def _in_lines(text: str, letters: int) -> str:
    """The text of a value axis, in lines where one is longer than the axis."""
    return "\n".join(wrap(text, letters, break_on_hyphens=False))


def _legend(figure: PanelFigure) -> tuple[list[Artist], int]:
    """Legend handles, each with its text as group id, and how many stand beside each other."""
    from matplotlib.patches import Patch

    handles: dict[str, Artist] = {}
    panels = [panel for panel in figure.panels if panel.form not in _LEGENDLESS]
    for panel in panels:
        if panel.form in ("bars", "box") and len(panel.points) == 1:
            continue  # their names stand at the axis
        for series in panel.series:
            handles.setdefault(series.name, _handle(series, panel, figure))
        if panel.area is not None:
            handles.setdefault(
                f"\0{panel.area.name}", Patch(facecolor=figure.ground.grid, edgecolor="none", gid=panel.area.name)
            )
    for is_implied, text in ((False, figure.reference_text), (True, figure.implied_text)):
        having = [
            panel
            for panel in panels
            if any(mark.is_implied == is_implied for series in panel.series for mark in series.references)
        ]
        if having:
            handles.setdefault(f"\0{text}", _reference_handle(having[0], is_implied, text, figure))
    found = list(handles.values())
    letters = int(figure.style.width_mm / MM_PER_INCH * POINTS_PER_INCH / (_LETTER * figure.style.small_pt))
    widths = [len(str(each.get_gid())) + _HANDLE_LETTERS for each in found]
    for columns in range(min(_MOST_LEGEND_COLUMNS, len(found)), 1, -1):
        # matplotlib fills column by column, and each is as wide as the longest of its entries.
        rows = -(-len(found) // columns)
        parts = [widths[first : first + rows] for first in range(0, len(found), rows)]
        if sum(map(max, parts)) <= letters:
            return found, len(parts)
    return found, 1


def _handle(series: PanelSeries, panel: Panel, figure: PanelFigure) -> Artist:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    colour = palette.hex_colour(series.colour, dark=figure.ground.is_dark)
    if panel.form in ("bars", "box"):
        return Patch(facecolor=colour, edgecolor=figure.ground.ink if series.is_ours else "none", gid=series.name)
    line = figure.style.line_pt * (1.8 if series.is_ours else 1.0)
    has_marker = panel.form != "trace"
    return Line2D(
        [],
        [],
        color=colour,
        linewidth=0.0 if panel.form == "scatter" else line,
        linestyle=dashes(series),
        marker=MARKERS[series.shape % len(MARKERS)] if has_marker else "none",
        markersize=4.0 * figure.style.line_pt,
        gid=series.name,
    )


def _reference_handle(panel: Panel, is_implied: bool, text: str, figure: PanelFigure) -> Artist:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    muted = figure.ground.muted
    if panel.form == "bars":
        return Patch(
            facecolor=figure.ground.background,
            edgecolor=muted,
            hatch=IMPLIED_HATCH if is_implied else PAPER_HATCH,
            linewidth=0.8,
            gid=text,
        )
    return Line2D(
        [],
        [],
        linestyle="none",
        marker="D" if is_implied else "s",
        markersize=5.5 * figure.style.line_pt,
        markerfacecolor="none",
        markeredgecolor=muted,
        markeredgewidth=1.1 * figure.style.line_pt,
        gid=text,
    )


def _generic(font: str) -> str:
    return "serif" if font.startswith("STIX") else "sans-serif"


def _shortened(svg: bytes, font: str) -> bytes:
    """The drawing with shorter numbers: a page with forty of them is loaded twice as fast."""

    def rounded(match: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.{_DECIMALS}f}", match[0])

    text = re.sub(r' (?:d|x|y)="[^"]*"|(?:translate|rotate)\([^)]*\)', rounded, svg.decode())
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r' transform="rotate\(-?0 [^"]*"', "", text)
    # Names of groups that nothing refers to.
    used = set(re.findall(r"#([\w.-]+)", text))
    text = re.sub(r' id="([^"]*)"', lambda name: name[0] if name[1] in used else "", text)
    text = re.sub(r"<g/>\s*", "", text)
    # Said once, and with what stands in where nobody has that font.
    text = text.replace(f"font-family: '{font}'; ", "")
    text = text.replace("</style>", f"text{{font-family: '{font}', {_generic(font)}}}</style>", 1)
    return re.sub(r"\n\s+", "\n", text).encode()

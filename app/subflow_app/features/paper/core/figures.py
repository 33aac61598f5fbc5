"""Figures drawn by matplotlib without a display: SVG, PDF and PNG of exactly the requested width.

Importing matplotlib takes more than a second and is delayed until the first figure. The command line draws in its own
process; the window uses `figure_process`, because the import would block it.

This module lays out plots, panels and the legend; `plot_forms` and `panel_forms` draw their content.
"""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from subflow_app.features.paper.core.figure_plan import (
    TITLE,
    FigureKind,
    FigurePlan,
    Ground,
    PlacedWord,
    PlotData,
    figure_kind,
)
from subflow_app.features.paper.core.panel_forms import FORMS, TABLE_LINE, names_lines, panel_entries, table_layout
from subflow_app.features.paper.core.paper_styles import MM_PER_INCH, PaperStyle, rc_settings
from subflow_app.features.paper.core.plot_forms import draw_plot, plot_entries
from subflow_app.features.paper.core.sketch_form import topology_height_in
from subflow_app.features.plots.core import TIME
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.picture import Panel
from subflow_app.vocabulary.plain_text import readable

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

POINTS_PER_INCH = 72.0

# Mean width of a character in multiples of the font size.
_LETTER = {"DejaVu Sans": 0.56}
_NARROW_LETTER = 0.47
_HANDLE_LETTERS, _GAP_LETTERS = 7, 3  # widths of a handle, and of the gap between columns of a legend
_MOST_LEGEND_COLUMNS = 5
_MOST_POINTS_TO_AVOID = 20_000
# Heights of one line in the legend, the heading, panel titles, panel notes and names below an axis, in multiples of the
# font size.
_LEGEND_ROW, _HEADING_ROW, _TITLE_ROW, _NOTE_ROW, _NAME_ROW = 1.75, 2.4, 1.5, 1.5, 1.2
# Share of a panel's height that its value axis takes; labels below the axis fill the rest.
_AXIS_SHARE = 0.74
# Share of a panel's width that is available to its title, which is centred above the axes.
_TITLE_SHARE = 0.8
# Decimals of coordinates in an SVG, which are in points. A tenth of a point is finer than a pixel, and the numbers that
# matplotlib writes are three times as long.
_DECIMALS = 1

# matplotlib's settings are global, so only one figure may be drawn at a time.
_drawing = threading.Lock()


def save_figure(plan: FigurePlan, path: str | Path) -> Path:
    """Draws a figure into a file; the suffix of the path (.svg, .pdf, .png) determines the format.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the suffix is unknown, the figure is empty, or its size is outside the limits.
    """
    target = Path(path)
    return write_file(target, render_figure(replace(plan, kind=figure_kind(target))))


def render_figure(plan: FigurePlan) -> bytes:
    """Draws a figure, and returns the content of its file.

    Raises:
        InputError: if the figure is empty, or its size is outside the limits.
    """
    plan.checked()
    content = drawn_file(
        plan.style,
        plan.kind,
        plan.dpi,
        lambda: figure_size_in(plan),
        lambda figure: fill_figure(figure, plan),
        plan.ground.background,
    )
    return _shortened_drawing(content, plan.style.font) if plan.kind == "svg" and not plan.plots else content


def render_preview(plan: FigurePlan) -> tuple[bytes, tuple[PlacedWord, ...]]:
    """Draws a figure as PNG; returns the content of the file, and the places of texts that can be replaced.

    Raises:
        InputError: if the figure is empty, or its size is outside the limits.
    """
    plan.checked()
    places: list[PlacedWord] = []
    content = drawn_file(
        plan.style,
        "png",
        plan.dpi,
        lambda: figure_size_in(plan),
        lambda figure: fill_figure(figure, plan),
        plan.ground.background,
        lambda figure: places.extend(_placed_words(figure)),
    )
    return content, tuple(places)


def _placed_words(figure: Figure) -> Iterator[PlacedWord]:
    from matplotlib.text import Text

    width, height = figure.bbox.width, figure.bbox.height
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        source = str(text.get_label() or "")
        if source and text.get_text():
            box = text.get_window_extent()
            yield source, box.x0 / width, 1.0 - box.y1 / height, box.x1 / width, 1.0 - box.y0 / height


def drawn_file(
    style: PaperStyle,
    kind: FigureKind,
    dpi: int,
    size_in: Callable[[], tuple[float, float]],
    fill: Callable[[Figure], None],
    background: str = "white",
    seen: Callable[[Figure], None] | None = None,
) -> bytes:
    """Content of the file of a figure that `fill` draws; `size_in` returns its width and height in inches.

    `seen` receives the drawn figure.
    """
    from matplotlib.figure import Figure

    # Without a date, files of the same figure are identical.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    content = io.BytesIO()
    with drawing(style):
        figure = Figure(figsize=size_in(), layout="constrained", facecolor=background)
        fill(figure)
        spell_controls(figure)
        figure.savefig(content, format=kind, dpi=dpi, metadata=metadata, facecolor=background)
        if seen is not None:
            seen(figure)
    if kind != "svg":
        return content.getvalue()
    # matplotlib derives the ids of clip areas from exact coordinates, whose last bits vary. They become numbers here.
    areas: dict[bytes, bytes] = {}
    return re.sub(
        rb'(?<=["#])p[0-9a-f]{10}(?=[")])',
        lambda name: areas.setdefault(name[0], b"area%d" % len(areas)),
        content.getvalue(),
    )


def spell_controls(figure: Figure) -> None:
    """Spells out control characters in all texts of a figure: XML cannot contain them, and some reverse the text."""
    from matplotlib.text import Text

    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text(readable(text.get_text()))


@contextmanager
def drawing(style: PaperStyle) -> Iterator[None]:
    """Context in which matplotlib draws with this style."""
    import matplotlib as mpl

    with _drawing, mpl.rc_context(rc_settings(style)), warnings.catch_warnings():
        # matplotlib draws a box in place of a missing glyph, and the figure remains usable.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def figure_size_in(plan: FigurePlan) -> tuple[float, float]:
    """Width and height of a figure, inches."""
    style, height = plan.style, sum(_row_heights_in(plan))
    if not plan.is_thumbnail:
        if plan.legend in ("above", "below"):
            handles, columns = legend_of(plan)
            rows = -(-len(handles) // columns) + bool(plan.legend_title)
            height += rows * _LEGEND_ROW * style.small_pt / POINTS_PER_INCH
        height += _HEADING_ROW * style.font_pt / POINTS_PER_INCH if plan.title else 0.0
    return style.width_mm / MM_PER_INCH, max(height, plan.height_mm / MM_PER_INCH)


def fill_figure(figure: Figure, plan: FigurePlan) -> None:
    """Draws a plan into a figure of the size that `figure_size_in` returns; must be called within `drawing`."""
    rows = plan.rows
    grid = figure.add_gridspec(len(rows), max(map(len, rows)), height_ratios=_row_heights_in(plan))
    for number, row in enumerate(rows):
        drawn = []
        for place, part in enumerate(row):
            axes = figure.add_subplot(grid[number, place if len(row) > 1 else slice(None)])
            drawn.append(axes)
            _colour(axes, plan.ground)
            if not isinstance(part, PlotData):
                _draw_panel(axes, part, plan)
                continue
            _draw_plot(axes, part, plan)
            if part.column and number == 0:
                name = "\n".join(_lines(part.column, part, plan))
                axes.set_title(name, color=plan.ground.ink, loc="left", fontweight="bold")
            below = rows[number + 1][0] if number + 1 < len(rows) else None
            if isinstance(below, PlotData) and below.kind == part.kind == TIME:
                # The plot below shows the same time axis.
                axes.set_xlabel("")
                axes.tick_params(labelbottom=False)
        if isinstance(row[0], PlotData):
            # Plots of one quantity in several columns share a value axis.
            lows, highs = zip(*(axes.get_ylim() for axes in drawn), strict=True)
            for axes in drawn:
                axes.set_ylim(min(lows), max(highs))
            for axes in drawn[1:]:
                axes.set_ylabel("")
                axes.tick_params(labelleft=False)
    if plan.is_thumbnail:
        return
    figure.align_ylabels()
    ink, heading_pt = plan.ground.ink, plan.style.font_pt * 1.1
    handles, columns = legend_of(plan) if plan.legend in ("above", "below") else ([], 1)
    has_head = bool(handles) and plan.legend == "above"
    if plan.title and not has_head:
        _mark_source(figure.suptitle(plan.title, fontsize=heading_pt, color=ink), TITLE)
    if handles:
        legend = figure.legend(
            handles=handles,
            loc="outside upper center" if has_head else "outside lower center",
            ncols=columns,
            handlelength=2.4,
            columnspacing=1.4,
            labelcolor=ink,
        )
        _name_entries(legend, handles)
        # A separate heading would overlap the legend, so the heading becomes the title of the legend.
        title = plan.title if has_head else plan.word(plan.legend_title)
        if title:
            legend.set_title(title)
            _mark_source(legend.get_title(), TITLE if has_head else plan.legend_title)
            legend.get_title().set(fontsize=heading_pt if has_head else plan.style.small_pt, color=ink)


def _colour(axes: Axes, ground: Ground) -> None:
    axes.set_facecolor(ground.background)
    for spine in axes.spines.values():
        spine.set_color(ground.muted)
    axes.tick_params(colors=ground.ink, which="both")
    axes.grid(visible=True, color=ground.grid)


def _draw_plot(axes: Axes, plot: PlotData, plan: FigurePlan) -> None:
    averaging = draw_plot(axes, plot, plan)
    height_mm = max(plan.style.plot_height_mm, plan.height_mm / len(plan.rows))
    axes.set_ylabel(_in_lines(plan.word(plot.axis_text), averaging, plan.style, height_mm), color=plan.ground.ink)
    _mark_source(axes.yaxis.label, plot.axis_text)
    x_text = axes.get_xlabel()
    axes.set_xlabel(plan.word(x_text), color=plan.ground.ink)
    _mark_source(axes.xaxis.label, x_text)
    handles = legend_of(replace(plan, plots=(plot,), panels=()))[0] if plan.legend == "inside" else []
    if handles:
        # matplotlib tests all points to find the best place, which is slow for many points.
        points = sum(len(np.atleast_1d(line.get_xdata())) for line in axes.get_lines())
        legend = axes.legend(
            handles=handles,
            loc="best" if points < _MOST_POINTS_TO_AVOID else "upper right",
            frameon=True,
            framealpha=0.85,
            edgecolor="none",
        )
        _name_entries(legend, handles)


def _draw_panel(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    style, ground = plan.style, plan.ground
    FORMS[panel.form](axes, panel, plan)
    if panel.view is not None:
        axes.set(xlim=panel.view[:2], ylim=panel.view[2:])
    for axis, better in zip((axes.xaxis, axes.yaxis), panel.better, strict=True):
        if better < 0:
            axis.set_inverted(True)
    if plan.is_thumbnail:
        axes.set_xticklabels([])
        axes.set_yticklabels([])
        axes.tick_params(length=0, which="both")
        return
    if panel.title:
        title = axes.set_title("\n".join(_lines(plan.word(panel.title), panel, plan)), color=ground.ink)
        title.set_fontsize(style.font_pt)
        _mark_source(title, panel.title)
    notes = _lines(panel.note, panel, plan)
    if panel.form != "table":
        y_text, x_text = plan.word(panel.y_text), plan.word(panel.x_text)
        axes.set_ylabel(_in_lines(y_text, "", style, _AXIS_SHARE * style.plot_height_mm), color=ground.ink)
        axes.set_xlabel("\n".join(text for text in (x_text, *notes) if text), color=ground.ink)
        _mark_source(axes.yaxis.label, panel.y_text)
        _mark_source(axes.xaxis.label, panel.x_text)
    elif panel.note:
        axes.set_xlabel("\n".join(notes), color=ground.muted, fontsize=style.small_pt)


def _row_heights_in(plan: FigurePlan) -> list[float]:
    return [max(_height_in(plan, part) for part in row) for row in plan.rows]


def _height_in(plan: FigurePlan, part: PlotData | Panel) -> float:
    style = plan.style
    height = style.plot_height_mm / MM_PER_INCH
    if plan.is_thumbnail:
        return height
    if isinstance(part, Panel) and part.form == "topology":
        return topology_height_in(part, plan)
    if isinstance(part, Panel) and part.form == "table":
        # The number of lines determines the height, independently of the style.
        height = table_layout(part, plan).lines * TABLE_LINE * style.small_pt / POINTS_PER_INCH
    else:
        height += (names_lines(part, plan) - 1) * _NAME_ROW * style.small_pt / POINTS_PER_INCH
    if isinstance(part, Panel):
        rows = (
            len(_lines(plan.word(part.title), part, plan)) * _TITLE_ROW + len(_lines(part.note, part, plan)) * _NOTE_ROW
        )
        height += rows * style.font_pt / POINTS_PER_INCH
    return height


def _lines(text: str, part: PlotData | Panel, plan: FigurePlan) -> list[str]:
    """A title or a note, broken into lines that fit into the width of a plot or panel."""
    width = _TITLE_SHARE * plan.width_in(part)
    return wrap(text, max(12, int(width / _letter_in(plan.style, plan.style.font_pt))))


def _in_lines(text: str, more: str, style: PaperStyle, room_mm: float) -> str:
    """The title of a value axis, broken into lines that fit into `room_mm`."""
    letters = int(room_mm / MM_PER_INCH / _letter_in(style, style.font_pt))
    if len(text + more) <= letters:
        return text + more
    return "\n".join((*wrap(text, letters, break_on_hyphens=False), *filter(None, (more.removeprefix(", "),))))


def legend_of(plan: FigurePlan) -> tuple[list[Artist], int]:
    """Legend handles with their texts as group ids, and the number of legend columns (at least 1)."""
    handles = []
    letters = int(plan.style.width_mm / MM_PER_INCH / _letter_in(plan.style, plan.style.small_pt))
    for source, make in (*plot_entries(plan), *panel_entries(plan)):
        text, most = plan.word(source), max(1, letters - _HANDLE_LETTERS)
        handle = make()
        handle.set_gid(text if len(text) <= most else f"{text[: most - 1]}…")
        handle.set_url(source)  # not drawn either; a label with an underscore would hide the entry
        handles.append(handle)
    widths = [len(str(each.get_gid())) + _HANDLE_LETTERS for each in handles]
    for columns in range(min(_MOST_LEGEND_COLUMNS, len(handles)), 1, -1):
        # matplotlib fills column by column, and each column is as wide as its longest entry.
        rows = -(-len(handles) // columns)
        parts = [widths[first : first + rows] for first in range(0, len(handles), rows)]
        if sum(map(max, parts)) + _GAP_LETTERS * (len(parts) - 1) <= letters:
            return handles, len(parts)
    return handles, 1


def _name_entries(legend: Legend, handles: list[Artist]) -> None:
    """Sets the texts of legend entries to the group ids of their handles."""
    # Texts are set on the finished legend, because matplotlib omits entries whose texts start with an underscore.
    for shown, handle in zip(legend.get_texts(), handles, strict=True):
        shown.set_text(str(handle.get_gid()))
        _mark_source(shown, str(handle.get_url()))


def _mark_source(text: Text, source: str) -> None:
    """Keeps the original of a text in its label, which matplotlib does not draw, for `placed_words`."""
    text.set_label(source)


def _letter_in(style: PaperStyle, size_pt: float) -> float:
    return _LETTER.get(style.font, _NARROW_LETTER) * size_pt / POINTS_PER_INCH


def _shortened_drawing(svg: bytes, font: str) -> bytes:
    """The SVG with shorter numbers, which halves the loading time of a page with forty figures."""

    def rounded(match: re.Match[str]) -> str:
        return re.sub(r"-?\d+\.\d{3,}", lambda number: f"{float(number[0]):.{_DECIMALS}f}", match[0])

    text = re.sub(r' (?:d|x|y)="[^"]*"|(?:translate|rotate)\([^)]*\)', rounded, svg.decode())
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r' transform="rotate\(-?0 [^"]*"', "", text)
    # Removes ids to which nothing refers.
    used = set(re.findall(r"#([\w.-]+)", text))
    text = re.sub(r' id="([^"]*)"', lambda name: name[0] if name[1] in used else "", text)
    text = re.sub(r"<g/>\s*", "", text)
    # The font is stated once, with a generic fallback.
    text = text.replace(f"font-family: '{font}'; ", "")
    generic = "serif" if font.startswith("STIX") else "sans-serif"
    text = text.replace("</style>", f"text{{font-family: '{font}', {generic}}}</style>", 1)
    return re.sub(r"\n\s+", "\n", text).encode()

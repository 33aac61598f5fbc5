"""Drawing of a topology for print: nodes, links with their values, and the coloured path of every subflow."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from subflow_app.features.editor.core.topology import PictureLink, picture_of
from subflow_app.features.paper.core.figure_plan import FigureKind
from subflow_app.features.paper.core.figures import drawn_file
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE, MM_PER_INCH, PaperStyle
from subflow_app.features.paper.core.report_tables import delay_text, rate_text
from subflow_app.vocabulary import palette
from subflow_sim.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Beyond the first limit, labels contain only the names of links; beyond the second limit, links have no labels. The
# values are also listed in a table.
_MOST_LINKS_WITH_VALUES = 12
_MOST_LINKS_WITH_NAMES = 40
_BOW = 0.16  # bend in multiples of the distance between the nodes, per step in a bundle of parallel links
_POINTS = 24  # segments of a curve
_INK = "#222222"
_WIRE = "#BBBBBB"
_MARGIN = 0.14
_LEGEND_COLUMNS = 3
_LEGEND_ROW_IN = 0.2
_MOST_WAYS = 18


@dataclass(frozen=True, slots=True)
class SketchNode:
    """A node; y points upwards."""

    name: str
    x: float
    y: float
    is_router: bool


@dataclass(frozen=True, slots=True)
class SketchLink:
    """A link from (x0, y0) to (x1, y1); ``bow`` bends it away from parallel links, ``lanes`` are subflow colours."""

    x0: float
    y0: float
    x1: float
    y1: float
    bow: float
    label: str
    lanes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopologySketch:
    """Content of the drawing; `ways` contains the label and the colour of each subflow."""

    nodes: tuple[SketchNode, ...]
    links: tuple[SketchLink, ...]
    ways: tuple[tuple[str, str], ...]

    @property
    def aspect(self) -> float:
        """Ratio of height to width, limited to values suitable for a page."""
        width, height = self._extent
        return min(0.75, max(0.28, (height + 0.18 * width) / (width * 1.2)))

    @property
    def _extent(self) -> tuple[float, float]:
        xs, ys = [node.x for node in self.nodes], [node.y for node in self.nodes]
        return max(max(xs) - min(xs), 1.0), max(ys) - min(ys)


def sketch_of(scenario: Scenario) -> TopologySketch:
    """The drawing of a scenario's topology, with the path of each subflow."""
    picture = picture_of(scenario)
    colours = {owner: palette.hex_colour(path.colour) for owner, path in picture.paths.items()}
    # On the canvas, y points downwards.
    places = {name: (x, -y) for name, (x, y) in picture.places.items()}
    count = len(picture.links)
    return TopologySketch(
        tuple(SketchNode(name, x, y, name in picture.routers) for name, (x, y) in places.items()),
        tuple(
            SketchLink(
                *places[link.link.ends[0]],
                *places[link.link.ends[1]],
                link.bow,
                _label(link, count),
                tuple(colours[owner] for owner in link.lanes),
            )
            for link in picture.links.values()
        ),
        tuple((_way(path.label, path.count), colours[owner]) for owner, path in picture.paths.items()),
    )


def render_sketch(sketch: TopologySketch, kind: FigureKind, dpi: int, style: PaperStyle = DEFAULT_STYLE) -> bytes:
    """Content of a file with the drawing; an SVG contains its text as paths."""
    return drawn_file(
        replace(style, text_in_svg=False),
        kind,
        dpi,
        lambda: sketch_size_in(sketch, style.width_mm / MM_PER_INCH),
        lambda figure: fill_sketch(figure, sketch, style),
    )


def sketch_size_in(sketch: TopologySketch, width_in: float) -> tuple[float, float]:
    """Width and height of the drawing with its legend, inches."""
    rows = -(-len(sketch.ways) // _LEGEND_COLUMNS) if len(sketch.ways) <= _MOST_WAYS else 0
    return width_in, width_in * sketch.aspect + rows * _LEGEND_ROW_IN


def fill_sketch(figure: Figure, sketch: TopologySketch, style: PaperStyle = DEFAULT_STYLE) -> None:
    """Draws the topology with a legend of the subflows into a figure; must be called within `drawing`."""
    from matplotlib.lines import Line2D

    _draw_sketch(figure.add_subplot(), sketch, style)
    if len(sketch.ways) <= _MOST_WAYS:
        handles = [Line2D([], [], color=colour, linewidth=2.0) for _, colour in sketch.ways]
        figure.legend(handles, [label for label, _ in sketch.ways], loc="outside lower center", ncols=_LEGEND_COLUMNS)


def _draw_sketch(axes: Axes, sketch: TopologySketch, style: PaperStyle) -> None:
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    for link in sketch.links:
        _draw_link(axes, link, style)
    for node in sketch.nodes:
        axes.plot(
            [node.x],
            [node.y],
            marker="s" if node.is_router else "o",
            markersize=1.1 * style.font_pt,
            markerfacecolor="white" if node.is_router else _INK,
            markeredgecolor=_INK,
            markeredgewidth=1.2,
            linestyle="none",
            zorder=4,
        )
        axes.annotate(
            node.name,
            (node.x, node.y),
            xytext=(0.0, -0.95 * style.font_pt),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=style.small_pt,
            bbox={"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8},
            zorder=3.5,
        )
    axes.margins(x=_MARGIN, y=_MARGIN)


def _draw_link(axes: Axes, link: SketchLink, style: PaperStyle) -> None:
    xs, ys = _curve(link)
    axes.plot(xs, ys, color=_WIRE, linewidth=2.0 + 2.0 * len(link.lanes), solid_capstyle="butt", zorder=1)
    from matplotlib.transforms import offset_copy

    figure = axes.get_figure(root=True)
    length = math.hypot(link.x1 - link.x0, link.y1 - link.y0) or 1.0
    across = (-(link.y1 - link.y0) / length, (link.x1 - link.x0) / length)
    for number, colour in enumerate(link.lanes):
        shift = 2.0 * (number - (len(link.lanes) - 1) / 2)
        beside = offset_copy(axes.transData, fig=figure, x=across[0] * shift, y=across[1] * shift, units="points")
        axes.plot(xs, ys, color=colour, linewidth=1.4, transform=beside, zorder=2)
    if link.label:
        middle = _POINTS // 2
        axes.annotate(
            link.label,
            (xs[middle], ys[middle]),
            ha="center",
            va="center",
            fontsize=style.small_pt * 0.9,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.9},
            zorder=3,
        )


def _curve(link: SketchLink) -> tuple[list[float], list[float]]:
    """Points of a quadratic Bézier curve that bends to the side, so that parallel links do not overlap."""
    dx, dy = link.x1 - link.x0, link.y1 - link.y0
    # The curve bends to the same side, whichever end is first.
    sign = 1.0 if (dx, dy) > (0.0, 0.0) else -1.0
    bend = 2.0 * _BOW * link.bow * sign
    cx, cy = (link.x0 + link.x1) / 2 - dy * bend, (link.y0 + link.y1) / 2 + dx * bend
    xs, ys = [], []
    for step in range(_POINTS + 1):
        t = step / _POINTS
        xs.append((1 - t) ** 2 * link.x0 + 2 * t * (1 - t) * cx + t * t * link.x1)
        ys.append((1 - t) ** 2 * link.y0 + 2 * t * (1 - t) * cy + t * t * link.y1)
    return xs, ys


def _label(link: PictureLink, count: int) -> str:
    if count > _MOST_LINKS_WITH_NAMES:
        return ""
    if count > _MOST_LINKS_WITH_VALUES:
        return link.link.name
    direction = link.link.forward
    return f"{link.link.name}: {rate_text(direction.rate_bps)}, {delay_text(direction.delay_s)}"


def _way(label: str, count: int) -> str:
    return f"{label} (× {count})" if count > 1 else label

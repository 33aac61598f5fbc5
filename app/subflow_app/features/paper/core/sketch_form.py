"""Drawing of a topology as a panel of a figure: nodes, links with their labels, and the paths of subflows."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from subflow_app.features.paper.core.figure_plan import FigurePlan
from subflow_app.vocabulary.picture import Panel, SketchLink

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

_BOW = 0.16  # bend in multiples of the distance between the nodes, per step in a bundle of parallel links
_POINTS = 24  # segments of a curve
_WIRE = "#BBBBBB"  # colour of links below the paths
_MARGIN = 0.14
_MOST_WAYS = 18  # the legend would be higher than the drawing with more


def draw_topology(axes: Axes, panel: Panel, plan: FigurePlan) -> None:
    """Draws the topology of a panel without axes."""
    sketch, style, ground = panel.sketch, plan.style, plan.ground
    assert sketch is not None
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    for link in sketch.links:
        _draw_link(axes, link, plan)
    for node in sketch.nodes:
        axes.plot(
            [node.x],
            [node.y],
            marker="s" if node.is_router else "o",
            markersize=1.1 * style.font_pt,
            markerfacecolor=ground.background if node.is_router else ground.ink,
            markeredgecolor=ground.ink,
            markeredgewidth=1.2,
            linestyle="none",
            zorder=4,
        )
        _write(
            axes,
            node.name,
            (node.x, node.y),
            plan,
            xytext=(0.0, -0.95 * style.font_pt),
            textcoords="offset points",
            va="top",
            zorder=3.5,
        )
    for text, x, y in sketch.notes:
        axes.plot([x], [y], linestyle="none")  # the limits of the drawing include the note
        _write(axes, text, (x, y), plan, ha="left", va="top", color=ground.muted)
    axes.margins(x=_MARGIN, y=_MARGIN)


def topology_height_in(panel: Panel, plan: FigurePlan) -> float:
    """Height of the drawing in the width of its figure, inches; the height of the style is meant for plots."""
    assert panel.sketch is not None
    return plan.width_in(panel) * panel.sketch.aspect


def topology_entries(panel: Panel) -> list[tuple[str, Callable[[], Artist]]]:
    """Legend entries of the subflows: texts, and functions that make their handles; empty for too many subflows."""
    assert panel.sketch is not None
    ways = panel.sketch.ways
    return [(text, partial(_handle, colour)) for text, colour in ways] if len(ways) <= _MOST_WAYS else []


def _handle(colour: str) -> Artist:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, linewidth=2.0)


def _write(axes: Axes, text: str, at: tuple[float, float], plan: FigurePlan, **look: Any) -> None:
    """Writes a text of the topology, which may be replaced, on a plain ground."""
    box = {"boxstyle": "round,pad=0.1", "facecolor": plan.ground.background, "edgecolor": "none", "alpha": 0.85}
    look = {"ha": "center", "fontsize": plan.style.small_pt, "color": plan.ground.ink, "zorder": 3.0, **look}
    axes.annotate(plan.word(text), at, bbox=box, **look).set_label(text)


def _draw_link(axes: Axes, link: SketchLink, plan: FigurePlan) -> None:
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
        _write(axes, link.label, (xs[middle], ys[middle]), plan, va="center", fontsize=plan.style.small_pt * 0.9)


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

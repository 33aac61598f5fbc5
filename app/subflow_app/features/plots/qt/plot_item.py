"""Plot items as all plots of the window have them: a frame on four sides, a grid, and every tick with its number."""

from __future__ import annotations

from typing import Any

import pyqtgraph as pg  # noqa: TID253 - this package is imported lazily as a whole
from PySide6.QtGui import QFont, QFontInfo, QFontMetricsF

from subflow_app.features.plots.qt.curve_item import make_pen
from subflow_app.toolkit.plotting.plot_parts import Axis
from subflow_app.toolkit.theme import Tokens

SIDES = ("left", "bottom", "top", "right")
PAPER_WIDTH = 1.2  # of lines, px at the resolution of the layout: 0.9 pt
INNER_AXIS_WIDTH = 20.0  # of a plot with another to its left: half of the last number there and of the first here, px
INNER_AXIS_HEIGHT = 6.0  # of a plot that has another one below, px
LEAST_HEIGHT = 110.0  # of a plot in the window, px: room for three numbers along its value axis
_GRID_ALPHA = {"light": 34, "dark": 40}  # of 255


def make_plot_item(view: pg.ViewBox, font: QFont, *, over_time: bool = True, axis: type[Axis] = Axis) -> Any:
    """A plot item without pyqtgraph's buttons, its ticks in this font; numbers stand at its left.

    Curves over time are thinned to what can be seen. That rests on their order: others are drawn whole.
    """
    item = pg.PlotItem(viewBox=view, axisItems={side: axis(side) for side in SIDES})
    item.hideButtons()
    # Of the plot too, not only of each curve: a plot item gives its own settings to every curve that is added.
    if over_time:
        item.setDownsampling(auto=True, mode="peak")
        item.setClipToView(True)
    for name in SIDES:
        made = item.getAxis(name)
        made.setTickFont(font)
        made.enableAutoSIPrefix(False)
        # Every tick has its number, also where it reaches past the end of the axis: an axis without its 0 misleads.
        made.setStyle(
            tickLength=4 if name in ("left", "bottom") else 0,
            maxTickLevel=1,
            hideOverlappingLabels=False,
            autoExpandTextSpace=False,
            tickTextHeight=round(QFontMetricsF(font).height()),
        )
    item.showAxes(True, showValues=(True, False, False, False))
    return item


def bottom_axis_height(font: QFont) -> float:
    """Room for the numbers and the title along the bottom, px."""
    return 2 * QFontMetricsF(font).height() + 12


def label_style(font: QFont) -> dict[str, str]:
    """What `setLabel` of an axis takes for a title in this font."""
    return {"font-size": f"{QFontInfo(font).pixelSize()}px"}


def show_bottom_axis(item: Any, title: str, font: QFont, *, keeps_room: bool = False) -> None:
    """Numbers and a title along the bottom; with an empty title neither, at most the room for them."""
    axis = item.getAxis("bottom")
    axis.setStyle(showValues=bool(title))
    axis.setHeight(bottom_axis_height(font) if title or keeps_room else INNER_AXIS_HEIGHT)
    if title:
        axis.setLabel(title, **label_style(font))
    else:
        axis.showLabel(False)


def colour_axes(item: Any, tokens: Tokens, *, line_width: float = 1.0, paper: bool = False) -> None:
    """Frame, ticks, numbers and grid in these colours; on paper all of them are as dark as the curves."""
    for name in SIDES:
        axis = item.getAxis(name)
        colour_axis(axis, tokens, line_width=line_width, paper=paper)
        if name in ("left", "bottom"):
            axis.setGrid(_GRID_ALPHA["dark" if tokens.is_dark else "light"])


def colour_axis(axis: Any, tokens: Tokens, *, line_width: float = 1.0, paper: bool = False) -> None:
    """Frame, ticks and numbers of one axis, as that of a colour bar."""
    frame_width = line_width / PAPER_WIDTH if paper else line_width
    axis.setPen(make_pen(tokens.muted_text if paper else tokens.border, width=frame_width))
    axis.setTickPen(make_pen(tokens.muted_text, width=line_width))
    axis.setTextPen(tokens.text if paper else tokens.muted_text)

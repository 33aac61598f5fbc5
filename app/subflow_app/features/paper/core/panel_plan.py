"""Figures of panels, in plain values: series over points with their intervals, and what others report beside them.

Where `figure_plan` shows the curves of runs, this shows what came out of many runs, as papers do: lines, bars, boxes,
clouds, traces and tables. `panel_figure` draws it wherever matplotlib is loaded; a plan can be sent there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from subflow_app.features.paper.core.figure_plan import FigureKind
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE, MM_PER_INCH, PaperStyle, checked_dpi
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.picture import Panel

# Narrower than this, panels stand above each other.
_TWO_COLUMNS_MM = 130.0
MOST_PANELS = 12
"""Of a figure; more fit on no page."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What a figure is drawn on.

    Attributes:
        background: behind everything, ``#rrggbb``.
        ink: of texts and axes.
        muted: of what is less important.
        grid: of the grid.
        is_dark: whether colours have to show on a dark ground.
    """

    background: str = "#ffffff"
    ink: str = "#1b1b1b"
    muted: str = "#555555"
    grid: str = "#dddddd"
    is_dark: bool = False


PAPER = Ground()


@dataclass(frozen=True, slots=True, eq=False)
class PanelFigure:
    """A figure.

    Attributes:
        panels: in reading order; several stand beside and below each other.
        style: size, fonts and lines; its height is that of a panel.
        kind: format of the file.
        dpi: px per inch of a PNG.
        title: heading; empty for none, as in papers, which have captions.
        ground: what it is drawn on.
        reference_text: legend of what others report.
        implied_text: legend of what follows from an improvement that they report.
        is_thumbnail: whether the first panel is drawn alone and without words.
    """

    panels: tuple[Panel, ...]
    style: PaperStyle = DEFAULT_STYLE
    kind: FigureKind = "pdf"
    dpi: int = 150
    title: str = ""
    ground: Ground = PAPER
    reference_text: str = "paper"
    implied_text: str = "paper, from its improvement"
    is_thumbnail: bool = False

    @property
    def rows(self) -> tuple[tuple[Panel, ...], ...]:
        """Panels that stand beside each other, row by row; tables, and one that is left over, take the whole width."""
        most = 2 if self.style.width_mm >= _TWO_COLUMNS_MM else 1
        rows: list[tuple[Panel, ...]] = []
        for panel in self.panels:
            can_join = rows and len(rows[-1]) < most and "table" not in (panel.form, rows[-1][-1].form)
            if can_join:
                rows[-1] = (*rows[-1], panel)
            else:
                rows.append((panel,))
        return tuple(rows)

    def width_in(self, panel: Panel) -> float:
        """The width of one of the panels with its texts, inches."""
        beside = next((len(row) for row in self.rows if any(each is panel for each in row)), 1)
        return self.style.width_mm / MM_PER_INCH / beside

    def checked(self) -> PanelFigure:
        """The figure, once it is known that it can be drawn.

        Raises:
            InputError: if it cannot.
        """
        self.style.sized(self.style.width_mm, self.style.plot_height_mm)
        if not any(panel.has_values for panel in self.panels):
            raise InputError("nothing to draw: no run of this experiment has ended yet")
        if len(self.panels) > MOST_PANELS:
            raise InputError(f"a figure has {MOST_PANELS} panels at most, not {len(self.panels)}")
        if self.kind == "png":
            checked_dpi(self.dpi)
        return self

    def as_thumbnail(self, width_mm: float, height_mm: float) -> PanelFigure:
        """Its first panel alone, small."""
        shown = next((panel for panel in self.panels if panel.form != "table" and panel.has_values), self.panels[0])
        style = replace(self.style, width_mm=width_mm, plot_height_mm=height_mm, font_pt=5.5, small_pt=5.0, line_pt=1.0)
        return replace(self, panels=(shown,), style=style, title="", is_thumbnail=True)

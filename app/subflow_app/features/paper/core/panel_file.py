"""One picture as a file of its own."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from subflow_app.features.paper.core.figure_plan import figure_kind
from subflow_app.features.paper.core.figure_process import FigureProcess
from subflow_app.features.paper.core.panel_plan import PanelFigure
from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE
from subflow_app.foundation.files import write_file
from subflow_app.vocabulary.picture import Panel

_DPI = 300


def write_panel(panel: Panel, path: Path) -> Path:
    """Writes it as SVG, PDF or PNG, by the suffix; blocks for a second, because a process of its own draws it.

    Raises:
        InputError: if the suffix is none of these, or there is nothing to draw.
        ExportError: if the file cannot be written.
    """
    style = DEFAULT_STYLE.sized(170.0, 115.0)
    figure = PanelFigure((panel,), style, figure_kind(path), _DPI).checked()
    with closing(FigureProcess()) as process:
        return write_file(path, process.draw(figure))

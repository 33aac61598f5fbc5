"""A view of a sweep as a file: the same picture, but light and in the font of figures, for print."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt

from subflow_app.features.paper.core.figure_plan import figure_kind
from subflow_app.features.plots.qt.figure_file import FigureSize, paper_font, picture_content
from subflow_app.features.sweeps.qt.study_plot import StudyPlot
from subflow_app.foundation.files import write_file
from subflow_app.toolkit.theme import LIGHT

CHART_SIZE = FigureSize(170.0, 105.0)


def save_chart(shown: StudyPlot, path: Path, size: FigureSize = CHART_SIZE) -> None:
    """Writes what a chart shows.

    Args:
        shown: the chart of the window; what is zoomed there is so in the file.
        path: its suffix says the format: .svg, .pdf or .png.
        size: of the figure.

    Raises:
        InputError: if the suffix is none of these.
        ExportError: if the file cannot be written.
    """
    kind = figure_kind(path)
    copy = shown.copy_for(LIGHT, paper_font())
    # Laid out like a widget on screen, without ever being one.
    copy.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    copy.resize(size.layout_size())
    copy.show()
    copy.show_like(shown)
    try:
        content = picture_content(copy, kind, size)
    finally:
        copy.close()
        copy.deleteLater()
    write_file(path, content)

"""The arena as a file: its values as CSV, or a picture of it, light for print."""

from __future__ import annotations

from pathlib import Path

from subflow_app.core.arena.arena_text import values_csv
from subflow_app.core.arena.results import Board
from subflow_app.core.errors import InputError
from subflow_app.core.files import write_file
from subflow_app.core.paper.figure_plan import figure_kind
from subflow_app.qt.arena.charts import FILE_SIZE, BoardChart
from subflow_app.qt.plotting.figure_file import picture_content


def save_board(board: Board, chart: BoardChart, path: Path) -> None:
    """Writes every value (.csv), or a chart (.svg, .png).

    Raises:
        InputError: if the suffix is none of these.
        ExportError: if the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix == ".csv":
        write_file(path, values_csv(board))
    elif suffix in (".svg", ".png"):
        write_file(path, picture_content(chart, figure_kind(path), FILE_SIZE))
    else:
        raise InputError(f"{path}: the ending sets the format; allowed: .csv, .svg, .png")

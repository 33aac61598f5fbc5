"""``subflow bench --scale``: how the simulator's cost grows with size, as a table, JSON document and figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from subflow_app.terminal.terminal import print_note, print_rows
from subflow_app.vocabulary.number_text import count_text, fixed
from subflow_app.vocabulary.tables import Column, NumberColumn

_FIGURE_WIDTH_MM = 168.0
_PANEL_HEIGHT_MM = 50.0
# Panels of the figure: title, label of the y axis, names of the series.
_PANELS = (
    ("Flows and subflows", "ns per packet", ("flows", "subflows")),
    ("Rate of one flow", "ns per packet", ("rate",)),
    ("Hops and a mesh", "ns per crossing", ("line", "mesh")),
    ("Environments", "thousand steps per CPU s", ("drl-cc", "50-packets", "2-packets")),
)


def measured_scale(*, instructions: bool) -> list[dict[str, Any]]:
    """Measures all series, and returns a document for each.

    Args:
        instructions: also count the instructions per crossing in the mesh.
    """
    from subflow_sim.bench_instructions import instructions_per_crossing
    from subflow_sim.bench_scale import SERIES

    documents = []
    for series in SERIES.values():
        print_note(f"measuring {series.name} ...")
        points = [
            {name: value for name, value in asdict(point).items() if value is not None} for point in series.points()
        ]
        if instructions and series.name == "mesh":
            print_note("counting the instructions of mesh ...")
            points[-1]["instructions_per_crossing"] = instructions_per_crossing()
        documents.append(
            {
                "name": series.name,
                "description": series.description,
                "size_unit": series.size_unit,
                "unit": series.unit,
                "points": points,
            }
        )
    return documents


def print_scale(documents: Sequence[dict[str, Any]]) -> None:
    """Prints the measurements as a table."""
    rows = [(document, point) for document in documents for point in document["points"]]
    columns: tuple[Column[tuple[dict[str, Any], dict[str, Any]]], ...] = (
        Column("Workload", lambda row: row[0]["name"]),
        Column("Description", lambda row: row[0]["description"] if row[1] is row[0]["points"][0] else ""),
        Column("Size", lambda row: f"{count_text(row[1]['size'])} {row[0]['size_unit']}"),
        NumberColumn("Cost", lambda row: None if _is_rate(row[0]) else row[1]["value"], fixed(1), "ns"),
        Column("", lambda row: "" if _is_rate(row[0]) else row[0]["unit"].removeprefix("ns ")),
        NumberColumn("Instructions", lambda row: row[1].get("instructions_per_crossing"), count_text, "per crossing"),
        NumberColumn("Steps", lambda row: row[1]["value"] if _is_rate(row[0]) else None, count_text, "per CPU s"),
        NumberColumn("Fresh", lambda row: _kibibytes(row[1].get("fresh_bytes")), fixed(1), "KiB per flow"),
        NumberColumn("Running", lambda row: _kibibytes(row[1].get("running_bytes")), fixed(1), "KiB per flow"),
        NumberColumn("Samples", lambda row: _kibibytes(row[1].get("sampled_bytes")), fixed(1), "KiB per flow"),
        NumberColumn(
            "Process, fresh", lambda row: _kibibytes(row[1].get("fresh_resident_bytes")), fixed(1), "KiB per flow"
        ),
        NumberColumn(
            "Process, running", lambda row: _kibibytes(row[1].get("running_resident_bytes")), fixed(1), "KiB per flow"
        ),
    )
    print_rows(rows, columns)


def save_scale(documents: Sequence[dict[str, Any]], path: Path) -> None:
    """Draws the figure in the format that the suffix of the file selects.

    Raises:
        InputError: if the suffix is not a figure format.
        ExportError: if the file cannot be written.
    """
    from dataclasses import replace

    from subflow_app.features.paper.core.figure_plan import FigurePlan
    from subflow_app.features.paper.core.figures import save_figure
    from subflow_app.features.paper.core.paper_styles import DEFAULT_STYLE
    from subflow_app.vocabulary.palette import ColourKey
    from subflow_app.vocabulary.picture import Panel, PanelSeries

    by_name = {document["name"]: document for document in documents}
    panels = []
    for title, y_text, names in _PANELS:
        sizes = sorted({point["size"] for name in names for point in by_name[name]["points"]})
        series = []
        for shape, name in enumerate(names):
            told = {point["size"]: point["value"] for point in by_name[name]["points"]}
            means = np.array([told.get(size, np.nan) for size in sizes])
            means = means / 1000 if _is_rate(by_name[name]) else means
            halves = np.full(len(sizes), np.nan)
            series.append(PanelSeries(name, ColourKey(shape, 0), shape, True, means, halves))
        units = list(dict.fromkeys(by_name[name]["size_unit"] for name in names))
        points = tuple(count_text(size) for size in sizes)
        panels.append(
            Panel("lines", title, ", ".join(units), y_text, points, np.array(sizes), tuple(series), is_log_x=True)
        )
    style = replace(DEFAULT_STYLE.sized(_FIGURE_WIDTH_MM, _PANEL_HEIGHT_MM), has_markers=True)
    save_figure(FigurePlan(panels=tuple(panels), style=style, dpi=150), path)


def _is_rate(document: dict[str, Any]) -> bool:
    return not document["unit"].startswith("ns ")


def _kibibytes(count: float | None) -> float | None:
    return None if count is None else count / 1024

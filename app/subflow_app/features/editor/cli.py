"""``subflow export-topology`` writes GraphML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line


def export_topology(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a shipped one.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="GraphML to write; default: ./NAME.graphml.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write nodes and links of a scenario as GraphML.

    `subflow import` reads it back.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.graph_files import export_graphml, left_out
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.editor.core.topology import picture_of
    from subflow_app.foundation.resources import find_scenario

    path = find_scenario(scenario)
    source = open_scenario(str(path), use=Use.GRAPH)
    target = out or Path(f"{path.stem}.graphml")
    export_graphml(source.scenario, picture_of(source.scenario).places, target)
    missing = left_out(source.scenario)
    if as_json:
        print_json({"file": str(target), "left_out": list(missing)})
        return
    print_line(f"wrote {target}")
    if missing:
        print_line(f"left out: {', '.join(missing)}")

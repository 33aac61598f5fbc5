"""``subflow export-topology`` writes the network of a scenario for other programs and for testbeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Json, ListedCommand
from subflow_app.terminal.terminal import print_json, print_line


def _format_names() -> str:
    from subflow_app.features.testbed.core.formats import FORMATS

    return ", ".join(FORMATS)


class ExportTopologyCommand(ListedCommand):
    """The command `export-topology`, whose help lists the formats."""

    lists: ClassVar = {"formats": _format_names}


def export_topology(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a shipped one.")],
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="Any of {formats}.")] = "graphml",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", metavar="FILE", help="File to write; default: ./NAME with the format's suffix."),
    ] = None,
    as_json: Json = False,
) -> None:
    r"""Write a scenario's network as GraphML or for a testbed.

    graphml has nodes and links. netns is a script that builds the network in network namespaces of this machine, with
    addresses, routes for each path, MPTCP endpoints, and events as timed commands; mininet and containerlab do the same
    for these programs. tc has the commands for the links alone. The parts that a format leaves out are
    printed, and stand at the beginning of each script. `subflow import` reads graphml, mininet, containerlab and tc.

    \b
    subflow export-topology demo --format netns
    sudo ./demo.sh ip netns exec sf-server bash
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.editor.core.topology import picture_of
    from subflow_app.features.testbed.core.formats import FORMATS
    from subflow_app.features.testbed.core.formats import export_topology as export
    from subflow_app.foundation.resources import find_scenario

    if format not in FORMATS:
        raise InputError(f'--format = "{format}": must be one of {", ".join(FORMATS)}')
    path = find_scenario(scenario)
    source = open_scenario(str(path), use=Use.GRAPH)
    target = out or Path(f"{path.stem}{FORMATS[format].suffix}")
    missing = export(source.scenario, picture_of(source.scenario).places, target, format)
    if as_json:
        print_json({"file": str(target), "format": format, "left_out": list(missing)})
        return
    print_line(f"wrote {target}")
    if missing and format == "graphml":
        print_line(f"left out: {', '.join(missing)}")
    elif missing:
        print_line("other than in the simulation:")
        for text in missing:
            print_line(f"  {text}")

"""``subflow import`` and ``subflow export-topology``: topologies from and to graph files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from subflow_app.cli.options import Json
from subflow_app.cli.terminal import print_json, print_line
from subflow_app.core.errors import InputError


def import_topology(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="GraphML or GML, such as those of the Topology Zoo.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Scenario to write; left out: beside FILE.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the scenario if it exists.")] = False,
    as_json: Json = False,
) -> None:
    """Make a scenario of a graph file.

    Rates are read from LinkSpeedRaw, LinkSpeed with its unit, or the label of a link; delays are guessed from the
    distance of coordinates at 2/3 of the speed of light. What is guessed is said, here and in the scenario. Flows are
    not invented: add one before you run it.
    """
    from subflow_app.core.scenarios.graph_import import import_graph
    from subflow_sim.whole_file import write_whole

    found = import_graph(file)
    target = out or file.with_suffix(".toml")
    if target.exists() and not force:
        raise InputError(f"{target} exists: name another file with --out, or replace it with --force")
    try:
        write_whole(target, found.text.encode("utf-8"))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error
    if as_json:
        document = {"scenario": str(target), "name": found.name, "nodes": found.node_count}
        print_json({**document, "notes": list(found.notes), "links": [asdict(link) for link in found.links]})
        return
    print_line(found.summary)
    print_line(found.details)
    print_line(f"wrote {target}")


def export_topology(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO", help="A scenario file, or the name of a shipped one.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="GraphML to write; left out: ./NAME.graphml.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write nodes and links of a scenario as GraphML.

    `subflow import` reads it back.
    """
    from subflow_app.core.resources import find_scenario
    from subflow_app.core.scenarios.graph_export import export_graphml, left_out
    from subflow_app.core.scenarios.scenario_source import open_scenario
    from subflow_app.core.scenarios.topology import picture_of

    path = find_scenario(scenario)
    source = open_scenario(str(path))
    target = out or Path(f"{path.stem}.graphml")
    export_graphml(source.scenario, picture_of(source.scenario).places, target)
    missing = left_out(source.scenario)
    if as_json:
        print_json({"file": str(target), "left_out": list(missing)})
        return
    print_line(f"wrote {target}")
    if missing:
        print_line(f"left out: {', '.join(missing)}")

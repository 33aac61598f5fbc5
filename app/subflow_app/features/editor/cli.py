"""``subflow import`` reads graph files and web pages; ``subflow export-topology`` writes GraphML."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.file_kinds import PAGE_SUFFIX
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line, print_note
from subflow_sim.gate import is_there


def import_topology(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="GraphML or GML (e.g. of the Topology Zoo), or a page of runs."),
    ],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="Scenario to write; default: next to FILE.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the scenario if it exists.")] = False,
    run: Annotated[int, typer.Option(min=1, metavar="N", help="Number of the run, if the page has several.")] = 1,
    as_json: Json = False,
) -> None:
    """Make a scenario from a graph file or a web page.

    Rates are read from LinkSpeedRaw, LinkSpeed with its unit, or the label of a link. Delays are guessed from the
    distance between coordinates at 2/3 of the speed of light. All guesses are listed, here and in the scenario.
    The scenario has no flows: add one before you run it. From a page that `subflow export RUN --page` wrote, or that
    was saved in a browser, it makes the scenario with the changes made there: as values if they apply from the
    start, otherwise as events. `subflow run` then repeats the page's run. Policies that this computer lacks are taken
    out of the page into the library of policies, each under a name that follows from its content.
    """
    from subflow_app.features.editor.core.graph_import import import_graph

    if file.suffix.lower() == PAGE_SUFFIX:
        _import_page(file, out, run, force=force, as_json=as_json)
        return
    found = import_graph(file)
    target = _written(file, out, found.text, force=force)
    if as_json:
        document = {"scenario": str(target), "name": found.name, "nodes": found.node_count}
        print_json({**document, "notes": list(found.notes), "links": [asdict(link) for link in found.links]})
        return
    print_line(found.summary)
    print_line(found.details)
    print_line(f"wrote {target}")


def _import_page(file: Path, out: Path | None, run: int, *, force: bool, as_json: bool) -> None:
    from subflow_app.features.exporting.core.page_import import read_page
    from subflow_app.features.policies.core import keep_policies
    from subflow_app.foundation.paths import policy_folder

    found = read_page(file).scenario(run)
    added = keep_policies(found.policies)
    for line in (*found.notices, *(f"policy {name}: added to the library, {policy_folder()}" for name in added)):
        print_note(line)
    target = _written(file, out, found.text, force=force)
    if as_json:
        document = {"scenario": str(target), "name": found.scenario.name, "signature": found.signature}
        print_json({**document, "policies_added": list(added)})
        return
    print_line(f"{found.scenario.name}: signature {found.signature or 'not known'}")
    print_line(f"wrote {target}")


def _written(file: Path, out: Path | None, text: str, *, force: bool) -> Path:
    """Write the scenario to `out`, by default next to the source file, and return the path of the file.

    Raises:
        InputError: if the file exists and `force` is False, or if it cannot be written.
    """
    from subflow_sim.whole_file import write_whole

    target = out or file.with_suffix(".toml")
    if is_there(target) and not force:
        raise InputError(f"{target} exists: name another file with --out, or replace it with --force")
    try:
        write_whole(target, text.encode("utf-8"))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror or error}") from error
    return target


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

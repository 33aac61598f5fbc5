"""The drawable part of a scenario with problems, such as an unfinished drawing.

The simulator's reader fills in placeholders for missing or impossible values. Consistent parts are kept; a link or
script with problems is shown in its last valid state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ScenarioError
from subflow_sim.params import SCRIPT_SECTIONS, AlgorithmCatalog
from subflow_sim.scenario import Flow, Link, Scenario
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.scenario_reader import read_tree
from subflow_sim.section_reader import Report


def next_step_text(part: str) -> str:
    """Return advice on the next step for a drawing that lacks this part; empty for any other part."""
    return {
        "nodes": tr("Nothing to run yet: add two hosts and a link between them, then a flow."),
        "links": tr("Nothing to run yet: connect the hosts by a link, then add a flow."),
        "flows": tr("Nothing to run yet: add a flow from one host to another."),
    }.get(part, "")


def sketch_of(
    data: Mapping[str, Any], last_valid: Scenario | None, algorithms: AlgorithmCatalog, folder: Path | None
) -> Scenario | None:
    """Read the drawable part of a scenario; None if nothing can be drawn.

    Args:
        data: the file as parsed TOML.
        last_valid: the most recent scenario without problems; None if none was valid yet.
        algorithms: the available controllers, schedulers and policies.
        folder: folder of the files that the scenario refers to; None for a scenario without a file.
    """
    report = Report("", dict, dict(data))
    try:
        read = read_tree(dict(data), "", report, algorithms, folder)
    except ScenarioError:
        return None
    troubled = {".".join(problem.key.split("[")[0].split(".")[:2]) for problem in report.problems}
    links: dict[str, Link] = {}
    for name, link in read.links.items():
        first, second = link.ends
        if first not in read.nodes or second not in read.nodes or first == second:
            continue
        before = last_valid.links.get(name) if last_valid and f"links.{name}" in troubled else None
        links[name] = replace(before, ends=link.ends) if before else link
    flows = {name: flow for name, flow in read.flows.items() if _is_drawable(read, links, flow)}
    events = tuple(
        event
        for event in read.events
        if event.link in links or (event.flow is not None and any(_names(flow, event.flow) for flow in flows.values()))
    )
    return replace(read, links=links, flows=flows, events=events, scripts=tuple(_scripts(data, read, last_valid)))


def _scripts(data: Mapping[str, Any], read: Scenario, last_valid: Scenario | None) -> Iterator[ScriptFile]:
    """Yield the valid scripts, then the last valid state of each other script that the file refers to."""
    yield from read.scripts
    usable = {(script.kind, script.name) for script in read.scripts}
    for script in last_valid.scripts if last_valid else ():
        named = data.get(SCRIPT_SECTIONS[script.kind])
        if (script.kind, script.name) not in usable and isinstance(named, dict) and script.name in named:
            yield script


def _is_drawable(scenario: Scenario, links: Mapping[str, Link], flow: Flow) -> bool:
    if flow.source not in scenario.nodes or flow.destination not in scenario.nodes:
        return False
    return all(name in links for path in flow.paths for name in path)


def _names(flow: Flow, name: str) -> bool:
    return name == flow.name or flow.has_copy(name)

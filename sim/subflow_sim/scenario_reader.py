"""From the tree of a scenario file to a `Scenario`: reads each section but `[training]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any

from subflow_sim.drop_reader import with_drops
from subflow_sim.errors import ScenarioError
from subflow_sim.event_reader import read_event
from subflow_sim.flow_reader import FlowReading, Links, read_flow
from subflow_sim.link_reader import LinkReading, read_link
from subflow_sim.parameter import MAX_TEXT_LENGTH, kind_name
from subflow_sim.params import SCRIPT_SECTIONS, SECTIONS, AlgorithmCatalog
from subflow_sim.routes import Topology, has_bottleneck
from subflow_sim.scenario_model import Event, Node, Note, OptionValue
from subflow_sim.script_reader import read_scripts
from subflow_sim.section_reader import Context, Report, named_tables, read_section
from subflow_sim.units import Dimension, format_quantity
from subflow_sim.whole_scenario import Scenario

_FORMAT = 1


def read_tree(
    tree: dict[str, Any], file: str, report: Report, algorithms: AlgorithmCatalog, folder: Path | None
) -> Scenario:
    """Read a parsed scenario file, all but `[training]`; problems go to the report.

    Raises:
        ScenarioError: if it is made for another version.
    """
    version = tree.get("format")
    if isinstance(version, int) and version > _FORMAT:
        # Everything else may mean something new, so it is not worth a word.
        message = "made for a newer version of Subflow"
        report.add(("format",), message, f"{_FORMAT}, the format that this version reads")
        raise ScenarioError(report.sorted_problems())
    sections = ("transport", "nodes", "links", "flows", *SCRIPT_SECTIONS.values(), "events", "notes", "training")
    values = read_section(report, (), tree, SECTIONS["scenario"], also_known=sections)
    _check_beginning(report, values)

    nodes, hosts = _read_nodes(report, tree)
    profile = values.get("profile", "linux")
    scripts = read_scripts(report, tree, algorithms, folder)
    context = Context(
        report,
        nodes,
        values.get("duration"),
        values.get("mss"),
        algorithms.with_scripts(scripts.algorithms),
        profile,
        folder,
        scripts.broken,
    )
    # Names whose tables are unusable count as known: one problem each is enough.
    links: dict[str, LinkReading | None] = dict.fromkeys(_names(tree, "links"))
    for name, table in named_tables(report, tree, "links"):
        links[name] = read_link(context, name, table)
    joined = {name: reading.link.ends for name, reading in links.items() if reading is not None and reading.is_joined}
    seen_by_flows = Links(Topology(joined, hosts), frozenset(links) - joined.keys())
    flows: dict[str, FlowReading | None] = dict.fromkeys(_names(tree, "flows"))
    for name, table in named_tables(report, tree, "flows"):
        flows[name] = read_flow(context, seen_by_flows, name, table)
    _check_bottlenecks(report, links, flows)
    links = {name: None if each is None else with_drops(context, each, flows) for name, each in links.items()}

    events = [event for reading in links.values() if reading is not None for event in reading.events]
    events += _read_events(context, tree.get("events", []), links, flows)
    return Scenario(
        name=values.get("name") or _name_of_file(file),
        duration_s=values.get("duration", 1.0),
        warmup_s=values.get("warmup", 0.0),
        seed=values.get("seed", 1),
        mss_bytes=values.get("mss", 1),
        profile=profile,
        start_jitter_s=values.get("start_jitter", 0.0),
        nodes=nodes,
        links={name: reading.link for name, reading in links.items() if reading is not None},
        flows={name: reading.flow for name, reading in flows.items() if reading is not None},
        # To the nanosecond, as the simulator counts: what happens in the same one keeps the order of the file.
        events=tuple(sorted(events, key=lambda event: round(event.at_s * 1e9))),
        transport=_read_transport(report, tree),
        notes=tuple(_read_notes(report, tree.get("notes", []))),
        scripts=scripts.files,
    )


def _check_beginning(report: Report, values: Mapping[str, Any]) -> None:
    duration = values.get("duration")
    for key, consequence in (
        ("warmup", "as long as the run or longer, so nothing would be left to measure"),
        ("start_jitter", "as long as the run or longer, so flows might never start"),
    ):
        if duration is not None and values.get(key, 0.0) >= duration:
            text = format_quantity(duration, Dimension.TIME)
            report.add((key,), consequence, f'less than the duration of "{text}"')


def _read_transport(report: Report, tree: Mapping[str, Any]) -> dict[str, OptionValue]:
    """The transport options that the file sets; the profile has the others."""
    table = report.expect_table(("transport",), tree.get("transport", {}), "a table [transport]")
    if table is None:
        return {}
    return read_section(report, ("transport",), table, SECTIONS["transport"], partial=True)


def _check_bottlenecks(
    report: Report, links: Mapping[str, LinkReading | None], flows: Mapping[str, FlowReading | None]
) -> None:
    """Nothing would ever stop the window of a flow whose path has no finite rate from growing."""
    for reading in flows.values():
        if reading is None or reading.flow.sends_datagrams:
            continue
        for index, path in enumerate(reading.flow.paths):
            readings = [links[name] for name in path]
            if not has_bottleneck(reading.flow.source, [None if link is None else link.link for link in readings]):
                place = ("flows", reading.flow.name, "paths", index)
                message = "no link of the path has a rate in the direction of the data, so nothing would limit the flow"
                report.add(place, message, 'a rate such as "8Mbit/s" on at least one of its links')


def _read_nodes(report: Report, tree: Mapping[str, Any]) -> tuple[dict[str, Node], frozenset[str]]:
    """The nodes, and the names of those that are hosts for sure.

    Where the file does not tell, a node may end flows and be on the way of others: nothing follows from what it lacks.
    """
    nodes = {name: Node(name) for name in _names(tree, "nodes")}
    hosts = set()
    for name, table in named_tables(report, tree, "nodes"):
        values = read_section(report, ("nodes", name), table, SECTIONS["node"])
        nodes[name] = Node(name, values.get("kind", "host"), values.get("at"))
        if values.get("kind") == "host":
            hosts.add(name)
    return nodes, frozenset(hosts)


def _names(tree: Mapping[str, Any], section: str) -> list[str]:
    tables = tree.get(section)
    return list(tables) if isinstance(tables, dict) else []


def _read_events(
    context: Context,
    tables: object,
    links: Mapping[str, LinkReading | None],
    flows: Mapping[str, FlowReading | None],
) -> Iterator[Event]:
    if not isinstance(tables, list):
        context.report.add(("events",), f"this is {kind_name(tables)}, not an array of tables", "[[events]]")
        return
    for index, table in enumerate(tables):
        checked = context.report.expect_table(("events", index), table, "[[events]]")
        if checked is not None:
            yield read_event(context, index, checked, links, flows)


def _read_notes(report: Report, tables: object) -> Iterator[Note]:
    if not isinstance(tables, list):
        report.add(("notes",), f"this is {kind_name(tables)}, not an array of tables", "[[notes]]")
        return
    for index, table in enumerate(tables):
        checked = report.expect_table(("notes", index), table, "[[notes]]")
        if checked is not None:
            values = read_section(report, ("notes", index), checked, SECTIONS["note"])
            if {"at", "text"} <= values.keys():
                yield Note(values["at"], values["text"])


def _name_of_file(file: str) -> str:
    stem = PurePath(file).stem
    shown = "".join(char for char in stem if char.isprintable())[:MAX_TEXT_LENGTH].strip()
    return shown if shown and not file.startswith("<") else "scenario"

"""Converts the tree of a scenario file to a `Scenario`, except for `[training]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from subflow_sim.errors import ScenarioError
from subflow_sim.flow_reader import FlowReading, Links, check_flow, read_choice, read_flow
from subflow_sim.link_reader import LinkReading, read_limit, read_link, read_loss, with_drops
from subflow_sim.parameter import MAX_TEXT_LENGTH, with_article
from subflow_sim.params import EVENT_CHANGES, SCRIPT_SECTIONS, SECTIONS, AlgorithmCatalog
from subflow_sim.plain_text import either
from subflow_sim.routes import Topology, has_bottleneck
from subflow_sim.scenario_model import Event, GilbertLoss, Node, Note, OptionValue
from subflow_sim.script_reader import read_scripts
from subflow_sim.section_reader import Context, Report, Special, model_values, named_tables, read_section
from subflow_sim.toml_map import Path
from subflow_sim.units import Dimension, format_quantity
from subflow_sim.whole_scenario import Scenario

if TYPE_CHECKING:
    pass

_FORMAT = 1
_CHANGES = {target: tuple(param.key for param in params) for target, params in EVENT_CHANGES.items()}


def read_tree(
    tree: dict[str, Any], file: str, report: Report, algorithms: AlgorithmCatalog, folder: FilePath | None
) -> Scenario:
    """Reads a parsed scenario file except for `[training]`; adds problems to the report.

    Raises:
        ScenarioError: if the file has the format of a newer version.
    """
    version = tree.get("format")
    if isinstance(version, int) and version > _FORMAT:
        # All other keys may have a new meaning, so their problems are not reported.
        message = "made for a newer version of Subflow"
        report.add(("format",), message, f"{_FORMAT}, the format that this version reads")
        raise ScenarioError(report.sorted_problems())
    sections = ("transport", "nodes", "links", "flows", *SCRIPT_SECTIONS.values(), "events", "notes", "training")
    values = read_section(report, (), tree, SECTIONS["scenario"], also_known=sections)
    _check_beginning(report, values)

    transport, notes = _read_transport(report, tree), tuple(_read_notes(report))
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
    # Names of unusable tables count as known, so that each causes one problem only.
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
    events += [read_event(context, path, table, links, flows) for path, table in report.tables("events")]
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
        # Sorted by nanosecond, the resolution of the simulator; simultaneous events keep the order of the file.
        events=tuple(sorted(events, key=lambda event: round(event.at_s * 1e9))),
        transport=transport,
        notes=notes,
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
    """The transport options set by the file, without the defaults of the profile."""
    table = report.expect_table(("transport",), tree.get("transport", {}), "a table [transport]")
    if table is None:
        return {}
    return read_section(report, ("transport",), table, SECTIONS["transport"], partial=True)


def _check_bottlenecks(
    report: Report, links: Mapping[str, LinkReading | None], flows: Mapping[str, FlowReading | None]
) -> None:
    """Reports paths without a finite rate, on which a window would grow without limit."""
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
    """The nodes, and the names of the nodes that are certainly hosts.

    A node of unknown kind counts as both a host and a router, so that its problem causes no further problems.
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


def _read_notes(report: Report) -> Iterator[Note]:
    for path, table in report.tables("notes"):
        values = read_section(report, path, table, SECTIONS["note"])
        if {"at", "text"} <= values.keys():
            yield Note(values["at"], values["text"])


def _name_of_file(file: str) -> str:
    stem = PurePath(file).stem
    shown = "".join(char for char in stem if char.isprintable())[:MAX_TEXT_LENGTH].strip()
    return shown if shown and not file.startswith("<") else "scenario"


def read_event(
    context: Context,
    path: Path,
    table: Mapping[str, Any],
    links: Mapping[str, LinkReading | None],
    flows: Mapping[str, FlowReading | None],
) -> Event:
    """Reads an event; adds problems to the context's report.

    Args:
        context: nodes, times and report for the checks.
        path: path of the event in the file.
        table: parsed table.
        links: links by name, including unusable ones as None.
        flows: flows by name; None for unusable flows.
    """
    report = context.report
    targets = [key for key in ("link", "flow") if key in table]
    target = targets[0] if len(targets) == 1 else None
    specials: dict[str, Special] = {
        "queue": lambda place, value: read_limit(context, place, value),
        "loss": lambda place, value: read_loss(context, place, value),
        "controller": lambda place, value: read_choice(context, place, value, "controller"),
    }
    values = read_section(report, path, table, SECTIONS["event"], kind=target, noun="event", specials=specials)
    context.check_time((*path, "at"), values.get("at"))
    if len(targets) != 1:
        message = "names both a link and a flow" if targets else "names neither a link nor a flow"
        report.add(path, message, 'one of link = "..." and flow = "..."')
    link, flow = values.get("link"), values.get("flow")
    if target == "link":
        if link is not None and context.check_name((*path, "link"), link, "link", links):
            _check_discipline(context, path, table, links[link])
        if not any(key in table for key in _CHANGES["link"]):
            report.add(path, "changes nothing", f"at least one of {either(_CHANGES['link'])}")
    elif target == "flow":
        if flow is not None and check_flow(context, (*path, "flow"), flow, flows):
            _check_subflow(context, path, values, flows[flow.partition(".")[0]])
            _check_controller(context, path, values, flows[flow.partition(".")[0]])
        if not any(key in table for key in _CHANGES["flow"]):
            switches = [param.key for param in EVENT_CHANGES["flow"] if param.states]
            told = ", ".join(f"{key} = {'false' if key == 'open' else 'true'}" for key in switches)
            report.add(path, "changes nothing", f"{told}, or their contraries, or a controller")
    loss = values.get("loss")
    model = loss if isinstance(loss, GilbertLoss) else None
    made = {"at_s": 0.0, **model_values(SECTIONS["event"], values), "loss": loss if model is None else model.mean}
    return Event(**made, loss_model=model)


def read_change(scenario: Scenario, table: Mapping[str, Any]) -> Event:
    """Reads a table in the form of an `[[events]]` entry, including `at`, as a change of a running scenario.

    Raises:
        ScenarioError: if the table has problems; the error contains all of them.
    """
    from subflow_sim.catalog import catalog_of

    report = Report("live change", dict, {"events": [table]})
    known = catalog_of(scenario)
    context = Context(report, scenario.nodes, scenario.duration_s, scenario.mss_bytes, known, scenario.profile, None)
    links = {name: LinkReading(link, is_joined=True, events=()) for name, link in scenario.links.items()}
    flows = {name: FlowReading(flow, len(flow.paths)) for name, flow in scenario.flows.items()}
    event = read_event(context, ("events", 0), table, links, flows)
    if report.problems:
        raise ScenarioError(report.sorted_problems())
    return event


def _check_discipline(context: Context, path: Path, table: Mapping[str, Any], reading: LinkReading | None) -> None:
    queue = table.get("queue")
    if reading is None or not isinstance(queue, dict) or "discipline" not in queue:
        return
    link = reading.link
    sides = {"forward": [link.forward], "reverse": [link.reverse]}
    for side in sides.get(table.get("direction", "both"), [link.forward, link.reverse]):
        if side.queue.discipline != queue["discipline"]:
            message = (
                f'the queue of "{link.name}" is {side.queue.discipline}, and an event changes nothing but its limit'
            )
            context.report.add((*path, "queue", "discipline"), message, "leave it out")
            return


def _check_subflow(context: Context, path: Path, values: Mapping[str, Any], reading: FlowReading | None) -> None:
    if reading is None or reading.subflows is None:
        return
    flow = reading.flow
    if flow.sends_datagrams:
        message = f"{with_article(flow.kind)} flow has no subflows to close"
        context.report.add((*path, "flow"), message, "its start and stop set when it sends")
        return
    if flow.kind != "mptcp" and values.get("backup") is not None:
        message = f"{with_article(flow.kind)} flow has one subflow, and nothing to back up"
        context.report.add((*path, "backup"), message, 'a flow of kind "mptcp"')
    for key in ("announce", "refuse"):
        if flow.kind != "mptcp" and values.get(key) is not None:
            message = f"{with_article(flow.kind)} flow has one subflow, and no other address"
            context.report.add((*path, key), message, 'a flow of kind "mptcp"')
        elif key == "announce" and values.get(key) and values.get("subflow") == 1:
            message = "the first subflow is opened with the address that the connection begins with"
            context.report.add((*path, "subflow"), message, "a subflow from 2 on")
    ordinal = values.get("subflow")
    if ordinal is not None and ordinal > reading.subflows:
        has = "1 subflow" if reading.subflows == 1 else f"{reading.subflows} subflows"
        context.report.add((*path, "subflow"), f'"{flow.name}" has {has}', f"1 to {reading.subflows}")


def _check_controller(context: Context, path: Path, values: Mapping[str, Any], reading: FlowReading | None) -> None:
    """Reports a controller that cannot take over, or cannot be replaced."""
    controller = values.get("controller")
    if controller is None or reading is None or reading.flow.sends_datagrams:
        return
    known = context.algorithms
    learners = known.learners
    others = either([each.name for each in known.controllers if each.name not in learners])
    if values.get("subflow") is not None:
        context.report.add((*path, "subflow"), "a controller is that of all subflows of a flow", "leave it out")
    if known.learns(controller):
        message = "it follows an agent from the start of a run and cannot take over from another"
        context.report.add((*path, "controller"), message, others)
    elif known.learns(reading.flow.controller):
        start = reading.flow.controller.name
        message = f'"{reading.flow.name}" has {start}, which follows an agent until the end of the run'
        context.report.add((*path, "controller"), message, f"a flow that starts with {others}")

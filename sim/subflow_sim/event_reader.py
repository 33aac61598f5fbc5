"""Reads `[[events]]`: what changes during a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from subflow_sim.errors import ScenarioError
from subflow_sim.flow_reader import FlowReading, read_choice
from subflow_sim.link_reader import LinkReading, read_limit, read_loss
from subflow_sim.parameter import with_article
from subflow_sim.params import SECTIONS
from subflow_sim.plain_text import either
from subflow_sim.scenario_model import Event, GilbertLoss
from subflow_sim.section_reader import Context, Report, Special, read_section
from subflow_sim.toml_map import Path
from subflow_sim.whole_scenario import Scenario

_LINK_CHANGES = ("rate", "delay", "loss", "queue", "up")
_FLOW_CHANGES = ("open", "backup", "announce", "refuse", "controller")


def read_event(
    context: Context,
    index: int,
    table: Mapping[str, Any],
    links: Mapping[str, LinkReading | None],
    flows: Mapping[str, FlowReading | None],
) -> Event:
    """Read an event; problems go to the report of the context.

    Args:
        context: what it is checked against.
        index: its position in the file, from 0.
        table: as parsed.
        links: by name, also those that are not usable.
        flows: by name; None where the flow is not usable.
    """
    report = context.report
    path: Path = ("events", index)
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
        if not any(key in table for key in _LINK_CHANGES):
            report.add(path, "changes nothing", f"at least one of {either(_LINK_CHANGES)}")
    elif target == "flow":
        if flow is not None and check_flow(context, (*path, "flow"), flow, flows):
            _check_subflow(context, path, values, flows[flow.partition(".")[0]])
            _check_controller(context, path, values, flows[flow.partition(".")[0]])
        if not any(key in table for key in _FLOW_CHANGES):
            allowed = (
                "open = false, backup = true, announce = true, refuse = true, or their contraries, or a controller"
            )
            report.add(path, "changes nothing", allowed)
    loss = values.get("loss")
    model = loss if isinstance(loss, GilbertLoss) else None
    return Event(
        at_s=values.get("at", 0.0),
        link=link,
        direction=values.get("direction", "both"),
        flow=flow,
        **{key: values.get(key) for key in ("subflow", "queue", "up", *_FLOW_CHANGES)},
        loss=loss if model is None else model.mean,
        loss_model=model,
        rate_bps=values.get("rate"),
        delay_s=values.get("delay"),
    )


def read_change(scenario: Scenario, table: Mapping[str, Any]) -> Event:
    """Read what an `[[events]]` entry would say, `at` included, as a change of a scenario that is running.

    Raises:
        ScenarioError: with all that the format does not allow in it.
    """
    from subflow_sim.catalog import catalog_of

    report = Report("live change", dict, {"events": [table]})
    known = catalog_of(scenario)
    context = Context(report, scenario.nodes, scenario.duration_s, scenario.mss_bytes, known, scenario.profile, None)
    links = {name: LinkReading(link, is_joined=True, events=()) for name, link in scenario.links.items()}
    flows = {name: FlowReading(flow, len(flow.paths)) for name, flow in scenario.flows.items()}
    event = read_event(context, 0, table, links, flows)
    if report.problems:
        raise ScenarioError(report.sorted_problems())
    return event


def check_flow(context: Context, path: Path, name: str, flows: Mapping[str, FlowReading | None]) -> bool:
    """Note a name that neither a flow nor a copy of one has; True if something has it."""
    base, dot, _ = name.partition(".")
    if not context.check_name(path, base, "flow", flows):
        return False
    reading = flows[base]
    if not dot or reading is None or reading.flow.has_copy(name):
        return True
    flow = reading.flow
    if flow.count == 1 and flow.arrivals is None:
        context.report.add(path, f'"{base}" has no copies: it is one flow', f'"{base}"')
    else:
        message = f'"{base}" has no copy of that number'
        context.report.add(path, message, f'"{base}" for all of them, or "{base}.1" to "{base}.{flow.most_copies}"')
    return False


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
    """Note a controller that cannot take over, or from which none can."""
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

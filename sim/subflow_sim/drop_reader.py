"""Reads `drops` of `[links.NAME]`: packets of flows that are lost there by a script."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from subflow_sim.errors import ParamError
from subflow_sim.event_reader import check_flow
from subflow_sim.flow_reader import FlowReading
from subflow_sim.link_params import DROP_PATTERN, MOST_DROPS
from subflow_sim.link_reader import LinkReading
from subflow_sim.params import params_by_key
from subflow_sim.plain_text import either
from subflow_sim.scenario_model import Drop, Flow
from subflow_sim.section_reader import Context
from subflow_sim.toml_map import Path

_FORM = re.compile(DROP_PATTERN)
_MOST_PACKETS = 2**31
_ALLOWED = (
    'FLOW/SUBFLOW:N for the N-th packet, e.g. "download/1:17", or FLOW/SUBFLOW:N@TIME for the N-th from that time on, '
    'e.g. "download/1:3@2s"'
)
_TIME = params_by_key("event")["at"]


def with_drops(context: Context, reading: LinkReading, flows: Mapping[str, FlowReading | None]) -> LinkReading:
    """Read what a link says of packets to be lost, now that flows are known; problems go to the report of the context.

    Args:
        context: what it is checked against.
        reading: of the link, with the texts.
        flows: by name; None where the flow is not usable.
    """
    link = reading.link
    path: Path = ("links", link.name, "drops")
    if len(reading.drops) > MOST_DROPS:
        context.report.add(path, f"this is a list of {len(reading.drops)}", f"at most {MOST_DROPS} packets")
        return reading
    drops = [_read_drop(context, (*path, index), text, link.name, flows) for index, text in enumerate(reading.drops)]
    return replace(reading, link=replace(link, drops=tuple(drop for drop in drops if drop is not None)))


def _read_drop(
    context: Context, path: Path, text: str, link: str, flows: Mapping[str, FlowReading | None]
) -> Drop | None:
    """A packet, or None after noting what is wrong with it."""
    report = context.report
    found = _FORM.fullmatch(text)
    if found is None:
        report.add(path, "this names no packet of a subflow", _ALLOWED)
        return None
    base, copy, subflow, number, time = found.groups()
    if not 1 <= int(number) <= _MOST_PACKETS:
        message = "too large" if int(number) else "packets are counted from 1"
        report.add(path, message, f"a number from 1 to {_MOST_PACKETS}")
        return None
    after_s = _read_time(context, path, time)
    reading = flows.get(base)
    name = base + (copy or "")
    if copy and subflow is None and reading is not None and _is_single(reading.flow):
        # Of a flow without copies only a subflow can have a number.
        name, subflow = base, f"/{copy[1:]}"
    if after_s is None or not check_flow(context, path, name, flows) or reading is None or reading.subflows is None:
        return None
    flow = reading.flow
    if name == flow.name and not _is_single(flow):
        report.add(path, f'"{name}" has copies, each with packets of its own', f'"{name}.1/1:17" for the first of them')
        return None
    ordinal = _read_subflow(context, path, subflow, flow, link)
    return None if ordinal is None else Drop(name, ordinal, int(number), after_s)


def _is_single(flow: Flow) -> bool:
    return flow.count == 1 and flow.arrivals is None


def _read_time(context: Context, path: Path, text: str | None) -> float | None:
    if text is None:
        return 0.0
    text = text.removeprefix("@")
    try:
        after_s = _TIME.read(text)
    except ParamError as error:
        context.report.add(path, f'"{text}": {error.message}', error.allowed)
        return None
    assert isinstance(after_s, float)
    context.check_time(path, after_s)
    return after_s


def _read_subflow(context: Context, path: Path, text: str | None, flow: Flow, link: str) -> int | None:
    """The ordinal of a subflow that crosses the link; left out it is the only one that does."""
    crossing = [ordinal for ordinal, links in enumerate(flow.paths, start=1) if link in links]
    allowed = either([f"{flow.name}/{ordinal}" for ordinal in crossing]) if crossing else "a flow that crosses it"
    if text is None:
        if len(crossing) == 1:
            return crossing[0]
        who = "several subflows" if crossing else "no subflow"
        message = f'{who} of "{flow.name}" cross{"" if crossing else "es"} "{link}"'
        context.report.add(path, message, allowed)
        return None
    ordinal = int(text.removeprefix("/"))
    if not 1 <= ordinal <= len(flow.paths):
        has = "1 subflow" if len(flow.paths) == 1 else f"{len(flow.paths)} subflows"
        context.report.add(path, f'"{flow.name}" has {has}', allowed)
        return None
    if ordinal not in crossing:
        context.report.add(path, f'subflow {ordinal} of "{flow.name}" does not cross "{link}"', allowed)
        return None
    return ordinal

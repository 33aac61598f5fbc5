"""Reads `[links.NAME]`: both directions of a link, and the rate steps that become events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from subflow_sim.parameter import Param, either, kind_name
from subflow_sim.params import HEADER_BYTES, QUEUE_TABLE, SECTIONS, params_by_key
from subflow_sim.scenario_model import Direction, Event, Link, LinkDirection, QueueSpec
from subflow_sim.section_reader import Context, Noted, read_section, read_value
from subflow_sim.toml_lines import Path

_PARAMS = params_by_key("link")
_DIRECTION_PARAMS = tuple(param for param in SECTIONS["link"] if param.key != "ends")
_STEP_TIME = params_by_key("event")["at"]
_LATER_RATE = params_by_key("event")["rate"]
_STEPS_FORM = '{ steps = [["0s", "4Mbit/s"], ["70s", "8Mbit/s"]] }, the first at 0s'


@dataclass(frozen=True, slots=True)
class LinkReading:
    """What a `[links.NAME]` table says.

    Attributes:
        link: with placeholders where the report has problems.
        is_joined: its ends are two different nodes that exist.
        events: the rate steps after the first.
    """

    link: Link
    is_joined: bool
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class _Rate:
    """A rate with the changes to come, as (time, rate)."""

    first_bps: float
    steps: tuple[tuple[float, float], ...] = ()


def read_link(context: Context, name: str, table: Mapping[str, Any]) -> LinkReading:
    """Read a link; problems go to the report of the context."""
    report = context.report
    path: Path = ("links", name)
    specials = {
        "rate": lambda place, value: _read_rate(context, place, value),
        "queue": lambda place, value: read_queue(context, place, value),
        "loss": lambda place, value: _read_loss(context, place, value),
    }
    forward = read_section(report, path, table, SECTIONS["link"], specials=specials, also_known=("reverse",))
    ends = forward.get("ends", ())
    is_joined = "ends" in forward and _check_ends(context, (*path, "ends"), ends)

    reverse_path = (*path, "reverse")
    given = report.expect_table(reverse_path, table.get("reverse", {}), f"[links.{name}.reverse]") or {}
    if "ends" in given:
        report.add((*reverse_path, "ends"), "both directions of a link have the same ends", "leave it out")
        given = {key: value for key, value in given.items() if key != "ends"}
    overrides = read_section(report, reverse_path, given, _DIRECTION_PARAMS, partial=True, specials=specials)
    forward_covers: Direction = "forward" if "rate" in given else "both"
    events = [*_step_events(name, forward_covers, forward), *_step_events(name, "reverse", overrides)]
    link = Link(
        name,
        (ends[0], ends[1]) if is_joined else ("", ""),
        _direction(forward),
        _direction({**forward, **overrides}),
    )
    return LinkReading(link, is_joined, tuple(events))


def read_queue(context: Context, path: Path, value: object) -> QueueSpec:
    """Read a queue, plain or as a table.

    Raises:
        Noted: if it is not usable.
    """
    report = context.report
    if isinstance(value, dict):
        values = read_section(report, path, value, QUEUE_TABLE)
        if "discipline" not in values or "limit" not in values:
            raise Noted
        spec: QueueSpec = values["limit"]
        path = (*path, "limit")
    else:
        spec = read_value(report, path, _PARAMS["queue"], value)
    if spec.limit_bytes is not None and context.mss_bytes is not None:
        packet = context.mss_bytes + HEADER_BYTES
        if spec.limit_bytes < packet:
            report.add(path, "not even one packet fits, so nothing would pass", f'at least "{packet}B" or "1pkt"')
            raise Noted
    return spec


def _read_rate(context: Context, path: Path, value: object) -> _Rate:
    report = context.report
    if not isinstance(value, dict):
        return _Rate(read_value(report, path, _PARAMS["rate"], value))
    if "trace" in value:
        report.add((*path, "trace"), "packet-delivery traces are not in this version", f'"8Mbit/s" or {_STEPS_FORM}')
        raise Noted
    for key in value:
        if key != "steps":
            report.unknown_key((*path, key), ["steps"])
    steps = value.get("steps")
    if not isinstance(steps, list) or not steps:
        message = "missing" if steps is None else "this is no list of steps" if steps != [] else "no step"
        report.add((*path, "steps"), message, _STEPS_FORM)
        raise Noted
    read = [
        _read_step(context, (*path, "steps", index), step, _LATER_RATE if index else _PARAMS["rate"])
        for index, step in enumerate(steps)
    ]
    usable = [step for step in read if step is not None]
    if len(usable) < len(read):
        raise Noted
    for index, (time_s, _) in enumerate(usable):
        place = (*path, "steps", index, 0)
        if index == 0 and time_s != 0:
            report.add(place, "the first step does not say the rate at the start", 'a first step at "0s"')
        elif index > 0 and time_s <= usable[index - 1][0]:
            report.add(place, "not later than the step before", "times in ascending order")
        elif index > 0:
            context.check_time(place, time_s)
    return _Rate(usable[0][1], tuple(usable[1:]))


def _read_step(context: Context, path: Path, step: object, rate: Param) -> tuple[float, float] | None:
    """A pair of time and rate, or None after noting what it is instead."""
    if not isinstance(step, list) or len(step) != 2:
        shape = f"a list of {len(step)}" if isinstance(step, list) else kind_name(step)
        context.report.add(path, f"this is {shape}, not a pair of time and rate", '["70s", "8Mbit/s"]')
        return None
    try:
        time_s = read_value(context.report, (*path, 0), _STEP_TIME, step[0])
    except Noted:
        time_s = None
    try:
        rate_bps = read_value(context.report, (*path, 1), rate, step[1])
    except Noted:
        return None
    return None if time_s is None else (time_s, rate_bps)


def _read_loss(context: Context, path: Path, value: object) -> float:
    if isinstance(value, dict):
        message = "loss models other than independent loss are not in this version"
        context.report.add(path, message, _PARAMS["loss"].allowed_text())
        raise Noted
    loss: float = read_value(context.report, path, _PARAMS["loss"], value)
    return loss


def _check_ends(context: Context, path: Path, ends: tuple[str, ...]) -> bool:
    if len(ends) != 2:
        context.report.add(path, f"this is a list of {len(ends)}, not of two nodes", either(list(context.nodes)))
        return False
    # every name is checked, also after the first that is unknown
    known = [context.check_name((*path, index), end, "node", context.nodes) for index, end in enumerate(ends)]
    if ends[0] == ends[1]:
        context.report.add(path, "both ends are the same node", "two different nodes")
        return False
    return all(known)


def _step_events(link: str, direction: Direction, values: Mapping[str, Any]) -> list[Event]:
    rate = values.get("rate")
    if not isinstance(rate, _Rate):
        return []
    return [Event(time_s, link=link, direction=direction, rate_bps=rate_bps) for time_s, rate_bps in rate.steps]


def _direction(values: Mapping[str, Any]) -> LinkDirection:
    rate = values.get("rate", _Rate(1.0))  # a placeholder that is noted already gives no second problem
    return LinkDirection(
        rate_bps=None if rate.first_bps == inf else rate.first_bps,
        delay_s=values.get("delay", 0.0),
        queue=values.get("queue", QueueSpec()),
        loss=values.get("loss", 0.0),
    )

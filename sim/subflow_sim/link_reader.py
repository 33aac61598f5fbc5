"""Reads `[links.NAME]`: both directions of a link, rate steps as events, and scripted drops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from math import ceil, inf, isinf
from pathlib import Path as FilePath
from typing import Any, TypeVar

from subflow_sim.errors import ParamError
from subflow_sim.flow_reader import FlowReading, check_flow
from subflow_sim.link_params import (
    DELAY_TRACE_TABLE,
    DIRECTION,
    DROP_PATTERN,
    LINK_TABLES,
    LOSS_TABLE,
    LOSS_TRACE_TABLE,
    MOST_DROPS,
    TRACE_TABLE,
)
from subflow_sim.parameter import Param, kind_name
from subflow_sim.params import HEADER_BYTES, SECTIONS, params_by_key
from subflow_sim.plain_text import either
from subflow_sim.queue_params import QUEUE_LIMITS, QUEUE_TABLE, RED_CLASSIC_WEIGHT
from subflow_sim.scenario_model import (
    DelayTrace,
    DeliveryTrace,
    Direction,
    Drop,
    Event,
    Flow,
    GilbertLoss,
    Link,
    LinkDirection,
    LossTrace,
    QueueSpec,
)
from subflow_sim.section_reader import Context, Noted, model_values, read_section, read_value
from subflow_sim.toml_map import Path
from subflow_sim.units import Dimension, format_quantity

_Parsed = TypeVar("_Parsed")

_PARAMS = params_by_key("link")
# Keys of the whole link, with the reason why an individual direction cannot set them.
_OF_BOTH = {
    "ends": "both directions of a link have the same ends",
    "drops": "a packet is lost in the direction in which its flow sends",
}
_EVENT_TIME = params_by_key("event")["at"]
_LATER_RATE = params_by_key("event")["rate"]
_DISCIPLINES = next(param.choices for param in QUEUE_TABLE if param.key == "discipline")
# RED's thresholds for 10 Mbit/s; they scale with the rate.
_RED_MIN_PKTS = 25.0
_RED_RATE_BPS = 10e6
_STEPS_FORM = '{ steps = [["0s", "4Mbit/s"], ["70s", "8Mbit/s"]] }, the first at 0s'
_MOST_OUTAGES = 100_000
_MOST_LATE_S = 2.0
# Packets per access where only the airtime limits an access; the core allows no more.
_MOST_PKTS = 1024

_Problem = tuple[tuple[str, ...], str, str]
_DROP = re.compile(DROP_PATTERN)
_MOST_DROPPED = 2**31
_DROP_FORM = (
    'FLOW/SUBFLOW:N for the N-th packet, e.g. "download/1:17", or FLOW/SUBFLOW:N@TIME for the N-th from that time on, '
    'e.g. "download/1:3@2s"'
)


@dataclass(frozen=True, slots=True)
class LinkReading:
    """Result of reading a `[links.NAME]` table.

    Attributes:
        link: the link, with placeholders for invalid values.
        is_joined: whether the ends are two different existing nodes.
        events: rate steps after the first.
        drops: scripted drops as text; see `with_drops`.
    """

    link: Link
    is_joined: bool
    events: tuple[Event, ...]
    drops: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Rate:
    """A rate and its later changes, as pairs of time in s and rate in bit/s; an infinite rate is unlimited."""

    first_bps: float
    steps: tuple[tuple[float, float], ...] = ()
    trace: DeliveryTrace | None = None


@dataclass(frozen=True, slots=True)
class _Losses:
    """Losses of a trace: the first one, and the later ones as pairs of time in s and probability."""

    first: float
    steps: tuple[tuple[float, float], ...]
    trace: LossTrace


@dataclass(frozen=True, slots=True)
class _Queue:
    """A queue from the file, before values that depend on the link's rate are computed.

    Attributes:
        limit: limit of the queue; None if omitted.
        options: given options, and defaults that are independent of the link.
    """

    discipline: str = "droptail"
    limit: QueueSpec | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def read_link(context: Context, name: str, table: Mapping[str, Any]) -> LinkReading:
    """Reads a link; adds problems to the context's report."""
    report = context.report
    path: Path = ("links", name)
    specials = {
        "rate": lambda place, value: _read_rate(context, place, value),
        "queue": lambda place, value: _read_queue(context, place, value),
        "loss": lambda place, value: _read_loss(context, place, value),
        "delay": lambda place, value: _read_delay(context, place, value),
    }
    also_known = (*LINK_TABLES, "reverse")
    forward = read_section(report, path, table, SECTIONS["link"], specials=specials, also_known=also_known)
    forward |= _read_tables(context, path, table)
    ends = forward.get("ends", ())
    is_joined = "ends" in forward and _check_ends(context, (*path, "ends"), ends)

    reverse_path = (*path, "reverse")
    given = report.expect_table(reverse_path, table.get("reverse", {}), f"[links.{name}.reverse]") or {}
    for key in _OF_BOTH.keys() & given.keys():
        report.add((*reverse_path, key), _OF_BOTH[key], "leave it out")
    given = {key: value for key, value in given.items() if key not in _OF_BOTH}
    overrides = read_section(
        report, reverse_path, given, DIRECTION, partial=True, specials=specials, also_known=tuple(LINK_TABLES)
    )
    overrides |= _read_tables(context, reverse_path, given)
    check_tables(context, path, forward)
    if overrides:
        check_tables(context, reverse_path, {**forward, **overrides}, overrides.keys())
    events = [
        event
        for key in ("rate", "loss")
        for event in (
            *_step_events(name, "forward" if key in given else "both", forward, key),
            *_step_events(name, "reverse", overrides, key),
        )
    ]
    link = Link(
        name,
        (ends[0], ends[1]) if is_joined else ("", ""),
        _direction(forward),
        _direction({**forward, **overrides}),
    )
    return LinkReading(link, is_joined, tuple(events), forward.get("drops") or ())


def read_limit(context: Context, path: Path, value: object) -> QueueSpec:
    """Reads an event's new queue limit, given as a plain value or as a table; the discipline cannot change.

    Raises:
        Noted: if the value is not usable; the context's report then contains the problem.
    """
    if isinstance(value, dict):
        report = context.report
        others = [key for key in value if key not in ("limit", "discipline")]
        for key in others:
            report.add((*path, key), "an event changes nothing of a queue but its limit", '"50pkt"')
        if not others and "limit" not in value:
            report.add((*path, "limit"), "missing", _PARAMS["queue"].allowed_text())
        if others or "limit" not in value:
            raise Noted
        path, value = (*path, "limit"), value["limit"]
    return _checked_limit(context, path, read_value(context.report, path, _PARAMS["queue"], value))


def _checked_limit(context: Context, path: Path, limit: QueueSpec) -> QueueSpec:
    if limit.limit_bytes is not None and context.mss_bytes is not None:
        packet = context.mss_bytes + HEADER_BYTES
        if limit.limit_bytes < packet:
            message = "not even one packet fits, so nothing would pass"
            context.report.add(path, message, f'at least "{packet}B" or "1pkt"')
            raise Noted
    return limit


def _read_queue(context: Context, path: Path, value: object) -> _Queue:
    report = context.report
    if not isinstance(value, dict):
        return _Queue(limit=_checked_limit(context, path, read_value(report, path, _PARAMS["queue"], value)))
    count = len(report.problems)
    given = value.get("discipline", "droptail")
    kind = given if isinstance(given, str) and given in _DISCIPLINES else None
    values = read_section(report, path, value, QUEUE_TABLE, kind=kind, noun="queue")
    for key in ("min", "max"):
        threshold = values.get(key)
        if isinstance(threshold, QueueSpec):
            values[key] = threshold.limit_pkts
            if threshold.limit_pkts is None:
                report.add((*path, key), "RED counts packets", '"25pkt"')
    low, high = values.get("min"), values.get("max")
    is_step = values.get("ecn") is True and low == high
    if low is not None and high is not None and low >= high and not is_step:
        report.add((*path, "max"), "not above min", f'more than "{low}pkt"')
    if kind == "red" and "weight" in value and values.get("mode") == "instantaneous":
        message = "the instantaneous mode has no average"
        report.add((*path, "weight"), message, 'mode = "classic", or leave it out')
    limit = values.pop("limit", None)
    if limit is not None:
        _checked_limit(context, (*path, "limit"), limit)
    if len(report.problems) > count:
        raise Noted
    del values["discipline"]
    return _Queue(given, limit, values)


def _resolved_queue(queue: _Queue, rate_bps: float) -> QueueSpec:
    """The queue of a link direction, with omitted thresholds and limits computed."""
    # Marking options are only included if set.
    options = {key: value for key, value in queue.options.items() if value or key not in ("ecn", "ce_threshold")}
    if queue.discipline == "red":
        low, high = options["min"], options["max"]
        if low is None:
            scaled = _RED_MIN_PKTS * rate_bps / _RED_RATE_BPS if rate_bps < inf else _RED_MIN_PKTS
            low = max(scaled, 1.0) if high is None else high / 2
        high = 2 * low if high is None else high
        is_classic = options["mode"] == "classic"
        weight = options["weight"] if options["weight"] is not None else RED_CLASSIC_WEIGHT if is_classic else 1.0
        options |= {"min": float(low), "max": float(high), "weight": weight}
        default_limit = ceil(4 * high)
    else:
        default_limit = QUEUE_LIMITS[queue.discipline]
    limit = queue.limit or QueueSpec(limit_pkts=default_limit)
    return QueueSpec(queue.discipline, limit.limit_pkts, limit.limit_bytes, options)


def _read_rate(context: Context, path: Path, value: object) -> _Rate:
    report = context.report
    if not isinstance(value, dict):
        return _Rate(read_value(report, path, _PARAMS["rate"], value))
    if "trace" in value or "content" in value:
        trace = _read_trace(context, path, value)
        return _Rate(trace.rate_bps, trace=trace)
    for key in value:
        if key != "steps":
            report.unknown_key((*path, key), ["steps", "trace"])
    steps = value.get("steps")
    if not isinstance(steps, list) or not steps:
        message = "missing" if steps is None else "this is not a list of steps" if steps != [] else "no step"
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
            report.add(place, "the first step does not set the rate at the start", 'a first step at "0s"')
        elif index > 0 and time_s <= usable[index - 1][0]:
            report.add(place, "not later than the step before", "times in ascending order")
        elif index > 0:
            context.check_time(place, time_s)
    return _Rate(usable[0][1], tuple(usable[1:]))


def _read_step(context: Context, path: Path, step: object, rate: Param) -> tuple[float, float] | None:
    """A pair of time and rate, or None after reporting a problem."""
    if not isinstance(step, list) or len(step) != 2:
        shape = f"a list of {len(step)}" if isinstance(step, list) else kind_name(step)
        context.report.add(path, f"this is {shape}, not a pair of time and rate", '["70s", "8Mbit/s"]')
        return None
    try:
        time_s = read_value(context.report, (*path, 0), _EVENT_TIME, step[0])
    except Noted:
        time_s = None
    try:
        rate_bps = read_value(context.report, (*path, 1), rate, step[1])
    except Noted:
        return None
    return None if time_s is None else (time_s, rate_bps)


def _read_trace(context: Context, path: Path, table: Mapping[str, Any]) -> DeliveryTrace:
    from subflow_sim.delivery_trace import parse_trace

    values = _read_trace_table(context, path, table, TRACE_TABLE)
    return DeliveryTrace(values["trace"], _parsed(context, path, values, "lte.up", parse_trace))


def _read_delay(context: Context, path: Path, value: object) -> float | DelayTrace:
    """Reads a delay or a delay trace.

    Raises:
        Noted: if the value is not usable; the context's report then contains the problem.
    """
    if not isinstance(value, dict):
        delay_s: float = read_value(context.report, path, _PARAMS["delay"], value)
        return delay_s
    from subflow_sim.delay_trace import parse_delays

    values = _read_trace_table(context, path, value, DELAY_TRACE_TABLE)
    unit, interval_s = values["unit"] or "", values["interval"]
    packed, interval_s = _parsed(context, path, values, "delays.txt", lambda text: parse_delays(text, unit, interval_s))
    return DelayTrace(values["trace"], packed, interval_s)


def _read_trace_table(
    context: Context, path: Path, table: Mapping[str, Any], params: Sequence[Param]
) -> dict[str, Any]:
    report = context.report
    count = len(report.problems)
    specials = {"content": lambda place, value: _read_content(context, place, value)}
    values = read_section(report, path, table, params, specials=specials)
    if len(report.problems) > count:
        raise Noted
    return values


def _parsed(
    context: Context, path: Path, values: Mapping[str, Any], example: str, parse: Callable[[str], _Parsed]
) -> _Parsed:
    """The parsed recording, from the text of the key `content` if given, otherwise from the file.

    Raises:
        Noted: if the recording is not usable; the context's report then contains the problem.
    """
    from subflow_sim.recording import read_recording

    name, content = values["trace"], values["content"]
    try:
        text = read_recording(name, context.folder, example) if content is None else content
    except ParamError as error:
        context.report.add((*path, "trace"), error.message, error.allowed)
        raise Noted from error
    try:
        return parse(text)
    except ParamError as error:
        if content is None:
            context.report.add((*path, "trace"), f'"{name}" {error.message}', error.allowed)
        else:
            context.report.add((*path, "content"), error.message, error.allowed)
        raise Noted from error


def _read_content(context: Context, path: Path, value: object) -> str:
    if not isinstance(value, str):
        context.report.add(path, f"this is {kind_name(value)}, not text", "the content of the recording file")
        raise Noted
    return value


def _read_tables(context: Context, path: Path, table: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a direction's tables declared in `LINK_TABLES`, by key; unusable tables are omitted."""
    report = context.report
    found: dict[str, Any] = {}
    for key, declared in LINK_TABLES.items():
        if key not in table:
            continue
        given = report.expect_table(
            (*path, key), table[key], f"a table with {either([p.key for p in declared.params])}"
        )
        count = len(report.problems)
        values = {} if given is None else read_section(report, (*path, key), given, declared.params)
        if given is not None and len(report.problems) == count:
            found[key] = values
    return found


def with_trace_contents(tree: Mapping[str, Any], folder: FilePath | None) -> dict[str, Any]:
    """A valid parsed scenario file with the content of its recordings embedded.

    Raises:
        ParamError: if a recording cannot be read.
    """
    links = {}
    for name, table in tree["links"].items():
        reverse = table.get("reverse")
        links[name] = _with_content(table, folder)
        if reverse is not None:
            links[name] = {**links[name], "reverse": _with_content(reverse, folder)}
    return {**tree, "links": links}


def _with_content(side: Mapping[str, Any], folder: FilePath | None) -> dict[str, Any]:
    from subflow_sim.recording import read_recording

    found = dict(side)
    for key in ("rate", "delay", "loss"):
        value = side.get(key)
        if isinstance(value, dict) and "trace" in value and "content" not in value:
            found[key] = {**value, "content": read_recording(value["trace"], folder, "lte.up")}
    return found


def _read_loss(context: Context, path: Path, value: object) -> float | GilbertLoss | _Losses:
    """Reads a loss probability, a loss model or a loss trace.

    Raises:
        Noted: if the value is not usable; the context's report then contains the problem.
    """
    if not isinstance(value, dict) or not {"trace", "content"} & value.keys():
        return read_loss(context, path, value)
    from subflow_sim.loss_trace import parse_losses

    values = _read_trace_table(context, path, value, LOSS_TRACE_TABLE)
    changes, table = _parsed(context, path, values, "losses.csv", lambda text: parse_losses(text, context.duration_s))
    return _Losses(changes[0][1], changes[1:], LossTrace(values["trace"], table))


def read_loss(context: Context, path: Path, value: object) -> float | GilbertLoss:
    """Reads a loss probability or a loss model.

    Raises:
        Noted: if the value is not usable; the context's report then contains the problem.
    """
    report = context.report
    if isinstance(value, dict):
        count = len(report.problems)
        values = read_section(report, path, value, LOSS_TABLE)
        if len(report.problems) > count:
            raise Noted
        return GilbertLoss(values["p"], values["r"], values["good"], values["bad"])
    loss: float = read_value(report, path, _PARAMS["loss"], value)
    return loss


def _check_ends(context: Context, path: Path, ends: tuple[str, ...]) -> bool:
    if len(ends) != 2:
        context.report.add(path, f"this is a list of {len(ends)}, not of two nodes", either(list(context.nodes)))
        return False
    # checks every name, even after an unknown name
    known = [context.check_name((*path, index), end, "node", context.nodes) for index, end in enumerate(ends)]
    if ends[0] == ends[1]:
        context.report.add(path, "both ends are the same node", "two different nodes")
        return False
    return all(known)


def _step_events(link: str, direction: Direction, values: Mapping[str, Any], key: str) -> list[Event]:
    """The later values of a rate with steps or of a loss trace, as events."""
    found = values.get(key)
    if isinstance(found, _Rate):
        return [Event(time_s, link=link, direction=direction, rate_bps=rate_bps) for time_s, rate_bps in found.steps]
    if isinstance(found, _Losses):
        return [Event(time_s, link=link, direction=direction, loss=loss) for time_s, loss in found.steps]
    return []


def _direction(values: Mapping[str, Any]) -> LinkDirection:
    rate = values.get("rate", _Rate(1.0))  # the placeholder for a refused rate causes no second problem
    queue = values.get("queue", QueueSpec())
    loss, delay = values.get("loss", 0.0), values.get("delay", 0.0)
    loss_trace = loss.trace if isinstance(loss, _Losses) else None
    loss = loss.first if isinstance(loss, _Losses) else loss
    model = loss if isinstance(loss, GilbertLoss) else None
    made = model_values(DIRECTION, values)
    for key, table in LINK_TABLES.items():
        if key in values:
            made[key] = table.kind(**model_values(table.params, values[key]))
    if "access" in values and values["access"].get("aggregation") is None:
        access = made["access"]
        made["access"] = replace(access, aggregation=1 if access.kind == "wifi" else _MOST_PKTS)
    made |= {
        "rate_bps": None if rate.first_bps == inf else rate.first_bps,
        "delay_s": delay.mean_s if isinstance(delay, DelayTrace) else delay,
        # a default queue needs no resolution
        "queue": _resolved_queue(queue, rate.first_bps) if isinstance(queue, _Queue) else queue,
        "loss": loss if model is None else model.mean,
    }
    delay_trace = delay if isinstance(delay, DelayTrace) else None
    return LinkDirection(**made, loss_model=model, trace=rate.trace, delay_trace=delay_trace, loss_trace=loss_trace)


def check_tables(context: Context, path: Path, values: Mapping[str, Any], changed: Set[str] | None = None) -> None:
    """Reports contradictions between the tables of a link direction.

    Args:
        context: receives the problems.
        path: path of the direction.
        values: all values of the direction, including those inherited from the other direction.
        changed: keys set by the direction itself; None: all. Problems of inherited keys were reported for the other
            direction.
    """
    for key in LINK_TABLES:
        if key not in values or "rate" not in values:
            continue
        for place, message, allowed in _problems_of(context, key, values[key], values):
            is_old = changed is not None and not changed & {key, "rate", "queue", "delay", place[0]}
            if not is_old:
                context.report.add((*path, *place), message, allowed)


def _problems_of(context: Context, key: str, table: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[_Problem]:
    rate = values["rate"]
    has_rate = rate.trace is None and rate.first_bps < inf
    what = "a recording" if rate.trace is not None else "no rate"
    match key:
        case "bucket":
            if not has_rate:
                yield ("bucket",), f"the link has {what}, at which no tokens come", "a link with a rate"
            elif table["peak"] < rate.first_bps:
                allowed = f'at least "{format_quantity(rate.first_bps, Dimension.RATE)}"'
                yield ("bucket", "peak"), "below the rate of the link", allowed
            if context.mss_bytes is not None and table["burst"] < context.mss_bytes + HEADER_BYTES:
                allowed = f'at least "{context.mss_bytes + HEADER_BYTES}B"'
                yield ("bucket", "burst"), "not even one packet fits", allowed
        case "retransmission":
            if table["delay"] * (table["attempts"] - 1) > _MOST_LATE_S:
                message = "the last attempt would come after more than 2 s"
                yield ("retransmission", "attempts"), message, "fewer attempts or a shorter delay"
        case "outages":
            expected = 0.0 if context.duration_s is None else context.duration_s / (table["up"] + table["down"])
            if expected > _MOST_OUTAGES:
                message = f"about {expected:.0f} outages in the run"
                yield ("outages", "up"), message, f"mean times with at most {_MOST_OUTAGES}"
        case "handover":
            yield from _problems_of_handover(table, values)
        case "grants":
            if not has_rate:
                yield ("grants",), f"the link has {what}, of which a grant is a part", "a link with a rate"
            if table["jitter"] > table["period"]:
                yield ("grants", "jitter"), "longer than a period", "at most the period"
            if "bucket" in values:
                yield ("grants",), "the link has a token bucket", "one of bucket and grants"
        case "access":
            yield from _problems_of_access(has_rate, what, table, values)


def _problems_of_handover(table: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[_Problem]:
    rate, delay = values["rate"], values.get("delay", 0.0)
    if table["gap"] >= table["period"]:
        yield ("handover", "gap"), "not shorter than the period", "a time below the period"
    if table["rate"] < 1 and (rate.trace is not None or rate.steps or isinf(rate.first_bps) or "bucket" in values):
        message = "the link has no rate that is always the same"
        yield ("handover", "rate"), message, "a link with a rate and no token bucket, or leave it out"
    if table["delay"] > 0 and not isinstance(delay, float | int):
        yield ("handover", "delay"), "the delay of the link is a recording", "a link with a delay, or leave it out"


def _problems_of_access(
    has_rate: bool, what: str, table: Mapping[str, Any], values: Mapping[str, Any]
) -> Iterator[_Problem]:
    if not has_rate:
        yield ("access",), f"the link has {what}, and a station has a rate", "a link with a rate"
    if table["window_min"] > table["window_max"]:
        yield ("access", "window_min"), "larger than window_max", "at most window_max"
    if table["kind"] == "cell" and table["group"] is not None:
        yield ("access", "group"), "stations that take turns need not hear each other", 'kind = "wifi"'
    for other in ("bucket", "grants"):
        if other in values:
            yield ("access",), f"the link has {other}, but its medium sets when it sends", f"one of access and {other}"
    if "outages" in values and values["outages"]["queue"] == "kept":
        yield ("outages", "queue"), "a link that shares a medium keeps no queue in an outage", '"lost"'
    if "handover" in values and values["handover"]["gap"] > 0:
        yield ("handover", "gap"), "the link shares a medium, which has no gaps", "0"
    queue = values.get("queue")
    if getattr(queue, "discipline", "droptail") == "red":
        yield ("access",), "the queue is red, which a link that shares a medium cannot have", "another discipline"


def with_drops(context: Context, reading: LinkReading, flows: Mapping[str, FlowReading | None]) -> LinkReading:
    """Reads the scripted drops of a link after the flows are known; adds problems to the context's report.

    Args:
        context: nodes, times and report for the checks.
        reading: the link with its drops as text.
        flows: flows by name; None for unusable flows.
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
    """A scripted drop, or None after reporting a problem."""
    report = context.report
    found = _DROP.fullmatch(text)
    if found is None:
        report.add(path, "this names no packet of a subflow", _DROP_FORM)
        return None
    base, copy, subflow, number, time = found.groups()
    if not 1 <= int(number) <= _MOST_DROPPED:
        message = "too large" if int(number) else "packets are counted from 1"
        report.add(path, message, f"a number from 1 to {_MOST_DROPPED}")
        return None
    after_s = _read_drop_time(context, path, time)
    reading = flows.get(base)
    name = base + (copy or "")
    if copy and subflow is None and reading is not None and _is_single(reading.flow):
        # In a flow without copies, the number can only mean a subflow.
        name, subflow = base, f"/{copy[1:]}"
    if after_s is None or not check_flow(context, path, name, flows) or reading is None or reading.subflows is None:
        return None
    flow = reading.flow
    if name == flow.name and not _is_single(flow):
        report.add(path, f'"{name}" has copies, each with packets of its own', f'"{name}.1/1:17" for the first of them')
        return None
    ordinal = _read_dropping_subflow(context, path, subflow, flow, link)
    return None if ordinal is None else Drop(name, ordinal, int(number), after_s)


def _is_single(flow: Flow) -> bool:
    return flow.count == 1 and flow.arrivals is None


def _read_drop_time(context: Context, path: Path, text: str | None) -> float | None:
    if text is None:
        return 0.0
    text = text.removeprefix("@")
    try:
        after_s = _EVENT_TIME.read(text)
    except ParamError as error:
        context.report.add(path, f'"{text}": {error.message}', error.allowed)
        return None
    assert isinstance(after_s, float)
    context.check_time(path, after_s)
    return after_s


def _read_dropping_subflow(context: Context, path: Path, text: str | None, flow: Flow, link: str) -> int | None:
    """The ordinal of the named subflow, which must cross the link; without text, of the only subflow that does.

    None after reporting a problem.
    """
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

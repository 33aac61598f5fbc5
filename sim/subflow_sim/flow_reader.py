"""Reads `[flows.NAME]`: hosts, algorithms and paths of a flow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any

from subflow_sim.errors import ParamError
from subflow_sim.parameter import kind_name, with_article
from subflow_sim.params import ARRIVALS_TABLE, MAX_PATHS, SECTIONS, Algorithm, params_by_key
from subflow_sim.plain_text import did_you_mean, either
from subflow_sim.policy_choice import choose_policy, policy_slots
from subflow_sim.routes import Topology, check_path, forwarding_host, shortest_paths
from subflow_sim.scenario_model import DATAGRAM_KINDS, MAX_COPIES, NO_CHOICE, Arrivals, Choice, Flow
from subflow_sim.section_reader import Context, Noted, model_values, read_section
from subflow_sim.toml_map import Path

_PARAMS = params_by_key("flow")
DEFAULT_CONTROLLERS: Mapping[str, str] = {"tcp": "newreno", "mptcp": "lia"}
"""Controller of a flow that names none, by kind of flow."""


@dataclass(frozen=True, slots=True)
class FlowReading:
    """Result of reading a `[flows.NAME]` table.

    Attributes:
        flow: the flow, with placeholders for invalid values.
        subflows: number of subflows; None if the paths are not usable.
    """

    flow: Flow
    subflows: int | None


@dataclass(frozen=True, slots=True)
class Links:
    """The links available to flows.

    Attributes:
        topology: links with valid ends.
        broken: names of the other links, whose problems are already reported.
    """

    topology: Topology
    broken: frozenset[str]


def read_flow(context: Context, links: Links, name: str, table: Mapping[str, Any]) -> FlowReading:
    """Reads a flow; adds problems to the context's report."""
    path: Path = ("flows", name)
    kind = table.get("kind")
    known_kind = kind if isinstance(kind, str) and kind in _PARAMS["kind"].choices else None
    specials = {
        "controller": lambda place, value: read_choice(context, place, value, "controller"),
        "scheduler": lambda place, value: read_choice(context, place, value, "scheduler"),
    }
    values = read_section(
        context.report,
        path,
        table,
        SECTIONS["flow"],
        kind=known_kind,
        noun="flow",
        specials=specials,
        also_known=("arrivals",),
    )
    _check_times(context, path, values)
    arrivals = _read_arrivals(context, path, table, values) if "arrivals" in table else None
    _check_buffer(context, path, values, "recv_buffer", "received")
    _check_buffer(context, path, values, "send_buffer", "sent")
    paths = _read_paths(context, links, path, values, known_kind)
    if paths is not None:
        for key in ("backup", "late"):
            _check_ordinals(context, path, key, values.get(key), len(paths))
    made = {"source": "", "destination": "", **model_values(SECTIONS["flow"], values)}
    made |= {
        "kind": known_kind or "tcp",
        "controller": _choice(context, values, "controller", DEFAULT_CONTROLLERS.get(known_kind or "")),
        # With one path the scheduler has no choice, but the transport of the flow requires a scheduler.
        "scheduler": _choice(context, values, "scheduler", None if known_kind in DATAGRAM_KINDS else "minrtt"),
        "paths": paths or (),
        "count": 1 if arrivals is not None else values.get("count", 1),
        "backup": tuple(sorted(set(values.get("backup") or ()))),
        "late": tuple(sorted(set(values.get("late") or ()))),
    }
    flow = Flow(name=name, arrivals=arrivals, **made)
    if paths is not None:
        _check_slots(context, path, flow.controller, len(paths))
    return FlowReading(flow, None if paths is None else len(paths))


def check_flow(context: Context, path: Path, name: str, flows: Mapping[str, FlowReading | None]) -> bool:
    """True if a flow, or a copy of a flow, has this name; reports other names as problems."""
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


def _check_times(context: Context, path: Path, values: Mapping[str, Any]) -> None:
    start, stop = values.get("start"), values.get("stop")
    duration = context.duration_s
    if start is not None and duration is not None and start >= duration:
        allowed = f'a time before the end at "{_PARAMS["start"].format(duration)}"'
        context.report.add((*path, "start"), "the run is over before the flow starts", allowed)
    if start is not None and stop is not None and stop <= start:
        allowed = f'a time after the start at "{_PARAMS["start"].format(start)}"'
        context.report.add((*path, "stop"), "the flow would stop before it starts", allowed)


def _read_arrivals(
    context: Context, path: Path, table: Mapping[str, Any], values: Mapping[str, Any]
) -> Arrivals | None:
    """The arrivals, or None after reporting problems."""
    report = context.report
    place: Path = (*path, "arrivals")
    given = report.expect_table(place, table["arrivals"], '{ gap = "10s", lifetime = "30s" }')
    if given is None:
        return None
    read = read_section(report, place, given, ARRIVALS_TABLE)
    if "count" in table:
        allowed = "limit = ... among the arrivals, or a count without arrivals"
        report.add((*path, "count"), "the arrivals decide the number of flows", allowed)
    if "lifetime_distribution" in given and "lifetime" not in given:
        report.add((*place, "lifetime_distribution"), "the lifetime is missing", "a lifetime beside it")
    if not {"gap", "lifetime", "limit", "lifetime_distribution"} <= read.keys():
        return None
    gap_s, limit = read["gap"], read["limit"]
    ends = [time_s for time_s in (values.get("stop"), context.duration_s) if time_s is not None]
    if limit is None and ends:
        span_s = min(ends) - values.get("start", 0.0)
        if span_s > MAX_COPIES * gap_s:
            gap = ARRIVALS_TABLE[0].format(ceil(span_s / MAX_COPIES * 1e6) / 1e6)
            message = f"about {span_s / gap_s:.0f} flows would arrive"
            report.add((*place, "gap"), message, f'a gap of at least "{gap}", or a limit of at most {MAX_COPIES}')
    return Arrivals(**model_values(ARRIVALS_TABLE, read))


def _check_buffer(context: Context, path: Path, values: Mapping[str, Any], key: str, done: str) -> None:
    buffer, mss = values.get(key), context.mss_bytes
    if buffer is not None and mss is not None and buffer < mss:
        allowed = f'at least the payload of a packet, "{mss}B", or "unlimited"'
        context.report.add((*path, key), f"not even one packet fits, so nothing could be {done}", allowed)


def _check_ordinals(context: Context, path: Path, key: str, ordinals: tuple[int, ...] | None, subflows: int) -> None:
    least = 2 if key == "late" else 1
    for index, ordinal in enumerate(ordinals or ()):
        if ordinal > subflows:
            allowed = f"a whole number from {least} to {subflows}" if subflows >= least else "a second path"
            context.report.add((*path, key, index), f"no subflow {ordinal}", allowed)
        elif ordinal < least:
            message = "without its first subflow, no connection exists for others to join"
            context.report.add((*path, key, index), message, f"a whole number from 2 to {subflows}")


def _read_paths(
    context: Context, links: Links, path: Path, values: Mapping[str, Any], kind: str | None
) -> tuple[tuple[str, ...], ...] | None:
    """The paths in the table, otherwise those found in the topology; None after reporting problems."""
    source, destination = _read_end(context, path, values, "from"), _read_end(context, path, values, "to")
    if "paths" not in values:
        return None
    given = values["paths"]
    if given is not None and not _check_path_names(context, links, (*path, "paths"), given, kind):
        return None
    if source is None or destination is None:
        return None
    if source == destination:
        context.report.add((*path, "to"), "the flow ends where it starts", "a host other than that of from")
        return None
    if given is None:
        return _find_paths(context, links, path, source, destination, kind)
    is_connected = True
    for index, names in enumerate(given):
        if links.broken.intersection(names):
            is_connected = False
            continue
        problem = check_path(links.topology, source, destination, names)
        if problem is not None:
            place = (*path, "paths", index) + (() if problem.position is None else (problem.position,))
            allowed = f'links that lead from "{source}" to "{destination}" by way of routers'
            context.report.add(place, f"the path {problem.message}", allowed)
            is_connected = False
    return given if is_connected else None


def _read_end(context: Context, path: Path, values: Mapping[str, Any], key: str) -> str | None:
    """The host at an end of the flow, or None after reporting a problem."""
    name: str | None = values.get(key)
    if name is None or not context.check_name((*path, key), name, "node", context.nodes):
        return None
    if context.nodes[name].kind == "router":
        hosts = [node.name for node in context.nodes.values() if node.kind == "host"]
        context.report.add((*path, key), "this is a router: flows start and end at hosts", either(hosts))
        return None
    return name


def _check_path_names(
    context: Context, links: Links, path: Path, given: tuple[tuple[str, ...], ...], kind: str | None
) -> bool:
    """True if the number of paths is right and all their links exist."""
    report = context.report
    allowed = _PARAMS["paths"].allowed_text()
    if not given:
        report.add(path, "no path", f"{allowed}; leave it out to take the shortest")
        return False
    if len(given) > MAX_PATHS:
        report.add(path, f"{len(given)} paths are too many", f"at most {MAX_PATHS}")
        return False
    is_right = kind in ("mptcp", None) or len(given) == 1
    if not is_right:
        report.add(
            path, f"{with_article(kind or '')} flow has one path, not {len(given)}", 'one path, or kind = "mptcp"'
        )
    known = {**links.topology.ends, **dict.fromkeys(links.broken)}
    for index, names in enumerate(given):
        if not names:
            report.add((*path, index), "a path without links", allowed)
            is_right = False
        for position, name in enumerate(names):
            is_right &= context.check_name((*path, index, position), name, "link", known)
    return is_right


def _find_paths(
    context: Context, links: Links, path: Path, source: str, destination: str, kind: str | None
) -> tuple[tuple[str, ...], ...] | None:
    wanted = MAX_PATHS + 1 if kind in ("mptcp", None) else 1
    paths = shortest_paths(links.topology, source, destination, wanted)
    if len(paths) > MAX_PATHS:
        message = f'more than {MAX_PATHS} shortest paths lead to "{destination}"'
        context.report.add((*path, "to"), message, f"name up to {MAX_PATHS} of them with paths")
    elif paths:
        return paths
    elif not links.broken:
        host = forwarding_host(links.topology, source, destination)
        reason = f': the way leads through "{host}", a host, and only routers forward' if host else ""
        message = f'"{destination}" cannot be reached from "{source}"{reason}'
        allowed = "a host that links and routers lead to"
        context.report.add((*path, "to"), message, allowed)
    return None


def _choice(context: Context, values: Mapping[str, Any], key: str, default: str | None) -> Choice:
    """The controller or scheduler of the table, otherwise the default with its default options, or `NO_CHOICE`."""
    value = values.get(key)
    if isinstance(value, Choice):
        return value
    algorithm = next((known for known in _algorithms(context, key) if known.name == default), None)
    return NO_CHOICE if algorithm is None else algorithm.with_defaults({}, context.profile)


def _check_slots(context: Context, path: Path, controller: Choice, subflows: int) -> None:
    """Reports a policy that cannot act on all subflows of the flow."""
    slots = None if controller.policy is None else policy_slots(controller.policy)
    if slots is not None and subflows > slots:
        message = f"its policy acts on at most {slots} subflows, and this flow has {subflows}"
        context.report.add((*path, "controller"), message, "a policy for as many, or fewer paths")


def _algorithms(context: Context, key: str) -> tuple[Algorithm, ...]:
    return context.algorithms.controllers if key == "controller" else context.algorithms.schedulers


def read_choice(context: Context, path: Path, value: object, key: str) -> Choice:
    """Reads a controller or scheduler, given by name or as a table with options.

    Raises:
        Noted: if the value is not usable; the context's report then contains the problem.
    """
    algorithms = _algorithms(context, key)
    names = [algorithm.name for algorithm in algorithms]
    report = context.report
    table = value if isinstance(value, dict) else {"name": value}
    name_path = (*path, "name") if isinstance(value, dict) else path
    if "name" not in table:
        report.add(name_path, "missing", either(names))
        raise Noted
    name = table["name"]
    if not isinstance(name, str):
        allowed = f'{either(names)}, or a table {{ name = "{names[0]}", option = value }}'
        report.add(name_path, f"this is {kind_name(name)}, not the name of a {key}", allowed)
        raise Noted
    if name in context.broken.get(key, ()):
        raise Noted
    if name not in names:
        is_reserved = name in _PARAMS[key].reserved
        message = "not in this version" if is_reserved else f"unknown {key}{did_you_mean(name, names)}"
        report.add(name_path, message, either(names))
        raise Noted
    algorithm = algorithms[names.index(name)]
    bases = next((option for option in algorithm.options if option.key == "base"), None)
    base = None if bases is None else table.get("base", bases.default)
    known_base = base if bases is not None and base in bases.choices else None
    if bases is not None and any(each.script is not None and each.name == base for each in algorithms):
        allowed = f'{key} = "{base}": a script without siblings runs on each subflow by itself anyway'
        report.add((*path, "base"), f"{name} has no scripts as bases", allowed)
        raise Noted
    given = read_section(
        report, path, table, algorithm.options, kind=known_base, noun="base", partial=True, also_known=("name",)
    )
    if len(given) < len(table.keys() - {"name"}):
        raise Noted
    try:
        return choose_policy(algorithm, given, context.profile, context.algorithms.policies, context.folder)
    except ParamError as error:
        report.add((*path, "policy") if "policy" in given else name_path, error.message, error.allowed)
        raise Noted from error

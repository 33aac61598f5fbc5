"""Maps a scenario to the plan of a kernel run, or lists all elements of the scenario that are not supported."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

from subflow_app.features.catalog.core.uses import option_texts, own_options
from subflow_app.features.kernel.core.network_plan import (
    CONGESTION_CONTROLS,
    ECN_MODES,
    HEADER_BYTES,
    MAX_MTU_BYTES,
    MIN_MTU_BYTES,
    SCHEDULERS,
    SCRIPT_MARK,
    FlowPlan,
    LinkPlan,
    NetworkPlan,
    PathChange,
    PathPlan,
)
from subflow_app.features.kernel.core.testbed_plan import MAX_ENDPOINTS, hops
from subflow_app.foundation.errors import InputError
from subflow_sim.portable import links_document
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.script_reader import compiled, read_script

if TYPE_CHECKING:
    from subflow_app.features.kernel.core.kernel_script import KernelScript
    from subflow_sim.scenario import Event, Flow, Link, LinkDirection, Scenario

COUPLED = ("lia", "olia", "balia")
"""Coupled controllers whose shipped script the kernel runs in their place, because Linux lacks coupled controllers."""

MAX_CONNECTIONS = 64
"""Limit of connections, because creating and removing two namespaces for each would take longer than the run."""
MAX_TOTAL_RATE_BPS = 200e6
"""Total traffic in all networks of a worker that one core can emulate in real time, bit/s."""

_FLOW_FIELDS = frozenset(
    {"name", "kind", "source", "destination", "controller", "scheduler", "paths", "count", "start_s", "stop_s"}
    | {"size_bytes", "recv_buffer_bytes", "late", "backup"}
)
_EVENT_FIELDS = frozenset(
    {"at_s", "link", "direction", "flow", "subflow", "up", "rate_bps", "delay_s", "loss", "loss_model", "queue"}
    | {"open", "backup"}
)


def plan_network(
    scenario: Scenario, *, seed: int, sample_interval_s: float = 0.1, socket_buffer_bytes: int = 32 << 20
) -> NetworkPlan:
    """Map a scenario to a plan for the kernel.

    Args:
        scenario: a checked scenario.
        seed: seed of the random losses.
        sample_interval_s: time between two samples, s.
        socket_buffer_bytes: upper bound of the kernel's buffer autotuning, bytes.

    Raises:
        InputError: with every unsupported element of the scenario and the supported alternatives, or if the traffic may
            exceed `MAX_TOTAL_RATE_BPS`.
    """
    problems = list(_problems(scenario))
    if problems:
        raise InputError("the kernel cannot run this scenario:\n" + "\n".join(f"  {problem}" for problem in problems))
    links: list[LinkPlan] = []
    for link in scenario.links.values():
        for direction, side in (("forward", link.forward), ("reverse", link.reverse)):
            links.append(
                LinkPlan(
                    f"{link.name}/{direction}", _most_bps(scenario, link.name, direction, side), side.delay_s, side.loss
                )
            )
    index_of = {link.name: index for index, link in enumerate(links)}
    flows = [
        FlowPlan(
            name=instance,
            controller=controller_text(flow),
            congestion_control=_congestion_control(flow),
            is_mptcp=flow.kind == "mptcp",
            paths=tuple(_path(scenario.links, index_of, flow.source, path) for path in flow.paths),
            start_s=flow.start_s,
            stop_s=flow.stop_s,
            size_bytes=flow.size_bytes,
            recv_buffer_bytes=flow.recv_buffer_bytes,
            late=tuple(ordinal - 1 for ordinal in flow.late),
            backup=tuple(ordinal - 1 for ordinal in flow.backup),
            changes=tuple(_changes(scenario, flow, instance)),
        )
        for flow in scenario.flows.values()
        for instance in flow.instances
    ]
    plan = NetworkPlan(
        links=tuple(links),
        document=links_document(scenario, seed),
        flows=tuple(flows),
        duration_s=scenario.duration_s,
        warmup_s=scenario.warmup_s,
        sample_interval_s=sample_interval_s,
        mtu_bytes=scenario.mss_bytes + HEADER_BYTES,
        seed=seed,
        socket_buffer_bytes=socket_buffer_bytes,
        ecn=ECN_MODES[_ecn(scenario)],
    )
    if plan.total_rate_bps > MAX_TOTAL_RATE_BPS:
        raise InputError(
            f"the kernel cannot run this scenario: its flows could carry {plan.total_rate_bps / 1e6:g} Mbit/s together;"
            f" the link emulator keeps time up to {MAX_TOTAL_RATE_BPS / 1e6:g} Mbit/s"
        )
    return plan


def kernel_scripts(scenario: Scenario) -> dict[str, KernelScript]:
    """Scripts that the kernel runs for the flows of a scenario, by the `congestion_control` of the flow's plan.

    Raises:
        InputError: if a script needs something that the kernel lacks, with the lines.
    """
    from subflow_app.features.kernel.core.kernel_script import kernel_script  # loads the core

    scripts = {}
    for flow in scenario.flows.values():
        script = _script(flow)
        if script is not None:
            options = flow.controller.options if flow.controller.script is not None else {}
            numbers = {key: value for key, value in options.items() if isinstance(value, bool | int | float)}
            scripts[_congestion_control(flow)] = kernel_script(compiled(script), numbers)
    return scripts


def _script(flow: Flow) -> ScriptFile | None:
    """The script that the kernel runs for a flow; None if Linux itself has the controller."""
    name = flow.controller.name
    if flow.controller.script is not None:
        return flow.controller.script
    if flow.kind == "mptcp" and name in COUPLED:
        return ScriptFile(name, "controller", read_script(name, None), name)
    return None


def _congestion_control(flow: Flow) -> str:
    """Name in the kernel; for a script, which gets its name when it is loaded, the mark of the flow."""
    return CONGESTION_CONTROLS[_base_controller(flow)] if _script(flow) is None else f"{SCRIPT_MARK}{flow.name}"


def controller_text(flow: Flow) -> str:
    """Name of the controller in tables: "cubic", "uncoupled cubic"."""
    base = flow.controller.options.get("base")
    return flow.controller.name if base is None else f"{flow.controller.name} {base}"


def _base_controller(flow: Flow) -> str:
    """Controller of each subflow; for `uncoupled`, its base controller."""
    if flow.controller.name == "uncoupled":
        return str(flow.controller.options.get("base", "newreno"))
    return flow.controller.name


def _path(links: Mapping[str, Link], index_of: Mapping[str, int], source: str, path: tuple[str, ...]) -> PathPlan:
    """Map a path from `source` to link directions, for data and for acknowledgements."""
    chain = hops(links, source, path)
    data = tuple(index_of[f"{hop.link}/{hop.direction}"] for hop in chain)
    acks = tuple(index_of[f"{hop.link}/{hop.back.direction}"] for hop in reversed(chain))
    return PathPlan(path, data, acks)


def _ecn(scenario: Scenario) -> str:
    return str(scenario.transport.get("ecn", "off"))  # "off" is the default of all profiles


def _in_order(scenario: Scenario) -> list[Event]:
    return sorted(scenario.events, key=lambda each: each.at_s)


def _changes_of(scenario: Scenario, link: str, direction: str) -> Iterator[Event]:
    """Events that change a direction of a link, in time order."""
    for event in _in_order(scenario):
        if event.link == link and event.direction in ("both", direction):
            yield event


def _most_bps(scenario: Scenario, link: str, direction: str, side: LinkDirection) -> float | None:
    """Largest rate of a direction during the run, bit/s; for a trace its mean; None if unlimited at some time."""
    rates = [side.rate_bps, *(each.rate_bps for each in _changes_of(scenario, link, direction) if each.rate_bps)]
    limited = [rate for rate in rates if rate is not None and math.isfinite(rate)]
    return max(limited) if len(limited) == len(rates) else None


def _changes(scenario: Scenario, flow: Flow, instance: str) -> Iterator[PathChange]:
    """Changes of a connection's paths in time order."""
    is_there = [ordinal not in flow.late for ordinal in range(1, len(flow.paths) + 1)]
    is_backup = [ordinal in flow.backup for ordinal in range(1, len(flow.paths) + 1)]
    for event in _in_order(scenario):
        if event.flow not in (flow.name, instance) or event.subflow is None:
            continue
        path = event.subflow - 1
        is_there[path] = is_there[path] if event.open is None else event.open
        is_backup[path] = is_backup[path] if event.backup is None else event.backup
        yield PathChange(event.at_s, path, is_there[path], is_backup[path])


def _event_problems(scenario: Scenario) -> Iterator[str]:
    for number, event in enumerate(scenario.events):
        if (extra := _extra(event, _EVENT_FIELDS)) is not None:
            owner = f"links.{event.link}" if event.link is not None else f"flows.{event.flow}"
            what = f"{extra} of {owner} at {event.at_s:g} s"
            yield f"events[{number}]: {what}; supported: changes of links, open and backup of a subflow"
        elif event.flow is not None and event.subflow in (None, 1):
            what = "all subflows" if event.subflow is None else "subflow 1"
            yield f"events[{number}]: {what}; supported: subflows from 2 on, as the connection is bound to the first"


def _problems(scenario: Scenario) -> Iterator[str]:
    """Unsupported elements of a scenario, one line each."""
    if _ecn(scenario) not in ECN_MODES:
        yield f'transport: ecn = "{_ecn(scenario)}"; supported: {", ".join(ECN_MODES)}'
    yield from _event_problems(scenario)
    if scenario.start_jitter_s > 0:
        yield f"start_jitter = {scenario.start_jitter_s:g} s: supported: 0, give each flow its start"
    mtu_bytes = scenario.mss_bytes + HEADER_BYTES
    if not MIN_MTU_BYTES <= mtu_bytes <= MAX_MTU_BYTES:
        yield (
            f"mss = {scenario.mss_bytes}: supported: {MIN_MTU_BYTES - HEADER_BYTES} to {MAX_MTU_BYTES - HEADER_BYTES}"
        )
    for flow in scenario.flows.values():
        yield from _flow_problems(flow, scenario)
    used = {name for flow in scenario.flows.values() for path in flow.paths for name in path}
    for link in scenario.links.values():
        if link.name in used:
            yield from _link_problems(link)
    connections = sum(flow.count for flow in scenario.flows.values())
    if connections > MAX_CONNECTIONS:
        yield f"{connections} flows in all: supported: up to {MAX_CONNECTIONS}"


def _flow_problems(flow: Flow, scenario: Scenario) -> Iterator[str]:
    where = f"flows.{flow.name}"
    if flow.kind not in ("tcp", "mptcp"):
        yield f'{where}: kind = "{flow.kind}"; supported: tcp, mptcp'
        return
    name = flow.controller.name
    if _script(flow) is not None:
        pass  # `kernel_scripts` reports the missing parts
    elif flow.kind == "mptcp" and name != "uncoupled":
        yield (
            f'{where}: controller = "{name}"; supported for mptcp: uncoupled with base '
            f"{', '.join(CONGESTION_CONTROLS)} (Linux has no other), {', '.join(COUPLED)} and scripts"
        )
    elif _base_controller(flow) not in CONGESTION_CONTROLS:
        supported = f"{', '.join(CONGESTION_CONTROLS)} and scripts"
        yield f'{where}: controller = "{_base_controller(flow)}"; supported: {supported}'
    if flow.kind == "mptcp" and flow.scheduler.name not in SCHEDULERS:
        yield (
            f'{where}: scheduler = "{flow.scheduler.name}"; supported: linux-mptcp (the kernel\'s own) and minrtt '
            "(which comes close)"
        )
    for key, choice in (("controller", flow.controller), ("scheduler", flow.scheduler)):
        if choice.script is not None and key == "controller":
            continue  # the kernel runs the same script with the same options
        options = {option: value for option, value in own_options(choice, scenario).items() if option != "base"}
        for text in option_texts(options):
            yield f"{where}: {key} {choice.name} with {text}; supported: the kernel's own options"
    if (extra := _extra(flow, _FLOW_FIELDS)) is not None:
        yield f"{where}: {extra}; supported: controller, paths, late, backup, count, start, stop, size and recv_buffer"
    if 1 in flow.backup:
        yield f"{where}: backup = 1; supported: subflows from 2 on, as the connection is bound to the first"
    if len(flow.paths) > MAX_ENDPOINTS:
        yield f"{where}: {len(flow.paths)} subflows; supported: up to {MAX_ENDPOINTS} (the kernel's path manager)"


def _link_problems(link: Link) -> Iterator[str]:
    if link.forward.access is not None or link.reverse.access is not None:
        yield f"links.{link.name}: access to a shared medium; supported: links of their own"
    if link.drops:
        yield f"links.{link.name}: drops by packet number; supported: random losses"


def _extra(value: Any, known: frozenset[str]) -> str | None:
    """The first field outside `known` whose value differs from its default, as "name = value"; None if all are equal.

    `plan_network` refuses scenarios with such a field, so that no setting is silently ignored.
    """
    for one in fields(value):
        if one.name in known:
            continue
        default = one.default if one.default_factory is MISSING else one.default_factory()
        if getattr(value, one.name) != default:
            return f"{one.name} = {getattr(value, one.name)}"
    return None

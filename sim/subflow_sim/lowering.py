"""Conversion of a scenario with names and seconds to the core's scenario with indices and nanoseconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from subflow_sim import _core
from subflow_sim.catalog import resolved
from subflow_sim.core_document import (
    Fields,
    choice_fields,
    core_fields,
    core_scenario,
    decider_fields,
    maybe_nanos,
    option_fields,
)
from subflow_sim.core_time import nanos
from subflow_sim.link_params import DIRECTION, LINK_TABLES
from subflow_sim.parameter import Param
from subflow_sim.params import EVENT_CHANGES, SECTIONS
from subflow_sim.queue_params import QUEUE_TABLE
from subflow_sim.radio import Radio
from subflow_sim.scenario import Event, Flow, GilbertLoss, Link, LinkDirection, QueueSpec, Scenario
from subflow_sim.scenario_model import OptionValue, Profile
from subflow_sim.transport_params import TRANSPORT, effective_transport


def _others(params: Iterable[Param], *keys: str) -> tuple[Param, ...]:
    return tuple(param for param in params if param.key not in keys)


# Parameters whose values `core_fields` passes to the core. The functions below convert the values of the excluded keys.
_DATAGRAMS = tuple(param for param in SECTIONS["flow"] if "onoff" in param.applies_to)
_FLOW = _others(
    SECTIONS["flow"],
    *("from", "to", "controller", "scheduler", "paths", "count", "start", "backup", "late"),
    *(param.key for param in _DATAGRAMS),
)
_DIRECTION = _others(DIRECTION, "queue")
_LINK_CHANGES = _others(EVENT_CHANGES["link"], "loss", "queue")
_FLOW_CHANGES = _others(EVENT_CHANGES["flow"], "controller")
_SEEDED_TABLES = ("outages", "handover", "access")  # written by `Radio`


@dataclass(frozen=True, slots=True)
class Lowered:
    """A scenario in the form of the core, with the names behind its indices.

    Attributes:
        core: scenario in the form of the core.
        flows: by flow index, instance name and the flow of the file with all options of its controller and scheduler.
        subflows: by subflow index, owner name ("download.1/2") and path (link names), also for cbr and onoff flows.
        links: by link-direction index, owner name ("wifi/forward").
        profile: transport profile, which supplies the options that controllers in events omit.
    """

    core: _core.Scenario
    flows: tuple[tuple[str, Flow], ...]
    subflows: tuple[tuple[str, tuple[str, ...]], ...]
    links: tuple[str, ...]
    profile: Profile


def transport_fields(profile: Profile, chosen: Mapping[str, OptionValue] | None = None) -> Fields:
    """Transport options as fields of the core.

    Args:
        profile: transport profile, which supplies the omitted options.
        chosen: values by key of the `[transport]` section.
    """
    return option_fields(TRANSPORT, effective_transport(profile, chosen or {}))


def lower(scenario: Scenario, seed: int | None = None) -> Lowered:
    """Builds the core's scenario for a run with this seed; None: the scenario's seed.

    Link directions are numbered forward, reverse, link by link in the order of the file. Flows and subflows are also
    numbered in the order of the file.

    Raises:
        SimulationError: if a number does not fit in the core.
        ParamError: if a trained policy given only by name is missing or does not fit its controller.
        ScriptError: if a script does not compile.
    """
    seed = scenario.seed if seed is None else seed
    radio = Radio(nanos(scenario.duration_s), seed)
    link_index: dict[str, int] = {}
    links: list[Fields] = []
    for link in scenario.links.values():
        for direction, side in (("forward", link.forward), ("reverse", link.reverse)):
            name = f"{link.name}/{direction}"
            link_index[name] = len(links)
            links.append(_link(name, side))
            radio.add_to(links[-1], link_index[name], link.name, side)

    hosts: dict[str, int] = {}
    flows: list[Fields] = []
    flow_names: list[tuple[str, Flow]] = []
    subflows: list[tuple[str, tuple[str, ...]]] = []
    for declared in scenario.flows.values():
        flow = replace(
            declared,
            controller=resolved(declared.controller, scenario.profile),
            scheduler=resolved(declared.scheduler, scenario.profile),
        )
        routes = [_route(scenario.links, link_index, flow.source, path) for path in flow.paths]
        common = _flow(flow, routes, hosts.setdefault(flow.source, len(hosts)))
        for own in _copies(scenario, flow, seed):
            flows.append(common | own)
            flow_names.append((own["name"], flow))
            subflows += [(f"{own['name']}/{ordinal}", path) for ordinal, path in enumerate(flow.paths, start=1)]

    _add_drops(links, scenario, link_index, {name: index for index, (name, _) in enumerate(subflows)})
    core = core_scenario(
        {
            "duration": nanos(scenario.duration_s),
            "warmup": nanos(scenario.warmup_s),
            "mss": scenario.mss_bytes,
            "start_jitter": nanos(scenario.start_jitter_s),
            "transport": transport_fields(scenario.profile, scenario.transport),
            "links": links,
            "flows": flows,
            "events": radio.events() + _events(scenario.events, link_index, flow_names, scenario.profile),
        }
    )
    return Lowered(core, tuple(flow_names), tuple(subflows), tuple(link_index), scenario.profile)


def lower_changes(lowered: Lowered, events: Iterable[Event]) -> _core.Scenario:
    """A scenario that contains only these events, with the indices of a lowered scenario."""
    link_index = {name: index for index, name in enumerate(lowered.links)}
    return core_scenario({"events": _events(events, link_index, lowered.flows, lowered.profile)})


def _events(
    events: Iterable[Event],
    link_index: Mapping[str, int],
    flows: Sequence[tuple[str, Flow]],
    profile: Profile,
) -> list[Fields]:
    made: list[Fields] = []
    for event in events:
        if event.link is not None:
            common = _link_event(event)
            directions = ("forward", "reverse") if event.direction == "both" else (event.direction,)
            made += [common | {"link": link_index[f"{event.link}/{direction}"]} for direction in directions]
            continue
        common = {
            **core_fields(_FLOW_CHANGES, event),
            "at": nanos(event.at_s),
            "subflow": None if event.subflow is None else event.subflow - 1,
            "controller": None if event.controller is None else choice_fields(resolved(event.controller, profile)),
        }
        made += [common | {"flow": i} for i, (name, flow) in enumerate(flows) if event.flow in (flow.name, name)]
    return made


def _link_event(event: Event) -> Fields:
    queue = event.queue or QueueSpec()
    return {
        **core_fields(_LINK_CHANGES, event),
        "at": nanos(event.at_s),
        "loss": event.loss if event.loss_model is None else None,
        "loss_model": _loss_model(event.loss_model),
        "sets_queue": event.queue is not None,
        "queue_limit_pkts": queue.limit_pkts,
        "queue_limit_bytes": queue.limit_bytes,
    }


def _add_drops(
    links: Sequence[Fields], scenario: Scenario, link_index: dict[str, int], subflows: Mapping[str, int]
) -> None:
    for link in scenario.links.values():
        for drop in link.drops:
            index = subflows.get(f"{drop.flow}/{drop.subflow}")
            if index is None:  # a copy that did not arrive with this seed
                continue
            flow = scenario.flows[drop.flow.partition(".")[0]]
            forward, _ = _route(scenario.links, link_index, flow.source, flow.paths[drop.subflow - 1])
            (side,) = {link_index[f"{link.name}/{direction}"] for direction in ("forward", "reverse")} & set(forward)
            fields = {"subflow": index, "number": drop.number, "after": nanos(drop.after_s)}
            links[side].setdefault("drops", []).append(fields)


def _link(name: str, side: LinkDirection) -> Fields:
    delays = side.delay_trace
    tables = {key: getattr(side, key) for key in LINK_TABLES if key not in _SEEDED_TABLES}
    return {
        **core_fields(_DIRECTION, side),
        **{key: core_fields(LINK_TABLES[key].params, part) for key, part in tables.items() if part is not None},
        "name": name,
        "queue_limit_pkts": side.queue.limit_pkts,
        "queue_limit_bytes": side.queue.limit_bytes,
        "loss_model": _loss_model(side.loss_model),
        "discipline": _discipline(side.queue),
        "opportunities_ms": None if side.trace is None else side.trace.packed,
        "delays_us": None if delays is None else delays.packed,
        "delay_interval": None if delays is None else nanos(delays.interval_s),
    }


def _discipline(queue: QueueSpec) -> Fields | None:
    if queue.discipline == "droptail":
        return None
    fields = option_fields(QUEUE_TABLE, queue.options)
    if queue.discipline == "red":
        fields["spreads"] = fields.pop("mode") == "classic"
    if queue.discipline == "fq_codel":
        own = {name: fields.pop(name) for name in ("quantum", "flows")}
        fields = {"codel": fields, **own}
    return {queue.discipline: fields}


def _loss_model(model: GilbertLoss | None) -> Fields | None:
    return None if model is None else {"p": model.p, "r": model.r, "good": model.good, "bad": model.bad}


def _route(
    links: Mapping[str, Link], link_index: dict[str, int], source: str, path: tuple[str, ...]
) -> tuple[list[int], list[int]]:
    """Link-direction indices of a path from `source`, and of its reverse."""
    forward: list[int] = []
    reverse: list[int] = []
    at = source
    for name in path:
        link = links[name]
        outward = at == link.ends[0]
        at = link.ends[1] if outward else link.ends[0]
        forward.append(link_index[f"{name}/{'forward' if outward else 'reverse'}"])
        reverse.append(link_index[f"{name}/{'reverse' if outward else 'forward'}"])
    return forward, reverse[::-1]


def _copies(scenario: Scenario, flow: Flow, seed: int) -> list[Fields]:
    """Name, start and lifetime of each copy of a flow, whether their number is fixed or they arrive at random."""
    start_ns, arrivals = nanos(flow.start_s), flow.arrivals
    if arrivals is None:
        return [{"name": name, "start": start_ns} for name in flow.instances]
    end_s = scenario.duration_s if flow.stop_s is None else min(flow.stop_s, scenario.duration_s)
    times = _core.poisson_arrivals(
        name=flow.name,
        seed=seed,
        mean_gap_ns=nanos(arrivals.mean_gap_s),
        from_ns=start_ns,
        until_ns=nanos(end_s),
        limit=arrivals.limit or 0,
        lifetime_ns=maybe_nanos(arrivals.lifetime_s),
        is_lifetime_exponential=arrivals.lifetime_distribution == "exponential",
    )
    return [
        {"name": f"{flow.name}.{ordinal}", "start": arrived_ns, "lifetime": lifetime_ns}
        for ordinal, (arrived_ns, lifetime_ns) in enumerate(times, start=1)
    ]


def _flow(flow: Flow, routes: list[tuple[list[int], list[int]]], host: int) -> Fields:
    """The fields that all copies of a flow share."""
    paths = [
        {"forward": forward, "reverse": reverse, "is_backup": ordinal in flow.backup, "is_late": ordinal in flow.late}
        for ordinal, (forward, reverse) in enumerate(routes, start=1)
    ]
    return {
        **core_fields(_FLOW, flow),
        "host": host,
        "controller": choice_fields(flow.controller),
        "decider": decider_fields(flow.controller),
        "scheduler": choice_fields(flow.scheduler),
        "paths": paths,
        "datagrams": core_fields(_DATAGRAMS, flow) if flow.sends_datagrams else None,
    }

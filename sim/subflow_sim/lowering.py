"""From a scenario of names and seconds to the core's one of indices and nanoseconds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from subflow_sim import _core
from subflow_sim.catalog import resolved
from subflow_sim.core_time import nanos
from subflow_sim.policy import Policy
from subflow_sim.policy_library import RANDOM
from subflow_sim.radio import Radio
from subflow_sim.scenario import Choice, Event, Flow, GilbertLoss, Link, LinkDirection, QueueSpec, Scenario
from subflow_sim.scenario_model import OptionValue, Profile
from subflow_sim.script_reader import compiled
from subflow_sim.transport_params import effective_transport

_LOSS_DETECTIONS = {"dupack": _core.LossDetection.DUPACK, "rack": _core.LossDetection.RACK}
_DELAYED_ACKS = {
    "off": _core.DelayedAck.OFF,
    "rfc": _core.DelayedAck.RFC,
    "linux": _core.DelayedAck.LINUX,
}
_RTO_RULES = {"rfc6298": _core.RtoRule.RFC6298, "linux": _core.RtoRule.LINUX}
_PRRS = {"off": _core.Prr.OFF, "rfc6937": _core.Prr.RFC6937, "linux": _core.Prr.LINUX}
_CWND_VALIDATIONS = {
    "off": _core.CwndValidation.OFF,
    "hold": _core.CwndValidation.HOLD,
    "decay": _core.CwndValidation.DECAY,
}
_IDLE_RESTARTS = {
    "off": _core.IdleRestart.OFF,
    "rfc5681": _core.IdleRestart.RFC5681,
    "linux": _core.IdleRestart.LINUX,
}
_ECN = {"off": _core.EcnMode.OFF, "rfc3168": _core.EcnMode.RFC3168, "accecn": _core.EcnMode.ACCECN}
_KINDS = {
    "tcp": _core.FlowKind.TCP,
    "mptcp": _core.FlowKind.MPTCP,
    "cbr": _core.FlowKind.CBR,
    "onoff": _core.FlowKind.ON_OFF,
}
_JITTERS = {
    "uniform": _core.JitterKind.UNIFORM,
    "normal": _core.JitterKind.NORMAL,
    "exponential": _core.JitterKind.EXPONENTIAL,
    "pareto": _core.JitterKind.PARETO,
}
_SPACINGS = {"constant": _core.Spacing.CONSTANT, "poisson": _core.Spacing.POISSON}


@dataclass(frozen=True, slots=True)
class Lowered:
    """A core scenario with the names of what its indices mean.

    Attributes:
        core: the scenario as the core takes it.
        flows: per flow index: instance name, flow of the file with all options of its controller and scheduler.
        subflows: per subflow index: owner name ("download.1/2"), path (link names); cbr and onoff flows have one too.
        links: per link-direction index: owner name ("wifi/forward").
        profile: chooses options of controllers that events leave out.
    """

    core: _core.Scenario
    flows: tuple[tuple[str, Flow], ...]
    subflows: tuple[tuple[str, tuple[str, ...]], ...]
    links: tuple[str, ...]
    profile: Profile


def transport_options(profile: Profile, given: Mapping[str, OptionValue] | None = None) -> _core.TransportOptions:
    """Transport options as the core takes them.

    Args:
        profile: chooses what is not given.
        given: values by key of the `[transport]` section.
    """
    chosen: dict[str, Any] = effective_transport(profile, given or {})
    options = _core.TransportOptions()
    options.initial_window_pkts = chosen["initial_window"]
    options.handshake = chosen["handshake"]
    options.loss_detection = _LOSS_DETECTIONS[chosen["loss_detection"]]
    options.dsack = chosen["dsack"]
    options.delayed_ack = _DELAYED_ACKS[chosen["delayed_ack"]]
    options.delayed_ack_timeout_ns = nanos(chosen["delayed_ack_timeout"])
    options.quick_acks = chosen["quick_acks"]
    options.dss_option_bytes = chosen["dss_option"]
    options.tso = chosen["tso"]
    options.syn_retries = chosen["syn_retries"]
    options.rto_rule = _RTO_RULES[chosen["rto"]]
    options.rto_min_ns = nanos(chosen["rto_min"])
    options.rto_max_ns = nanos(chosen["rto_max"])
    options.prr = _PRRS[chosen["prr"]]
    options.undo = chosen["undo"]
    options.cwnd_validation = _CWND_VALIDATIONS[chosen["cwnd_validation"]]
    options.idle_restart = _IDLE_RESTARTS[chosen["idle_restart"]]
    options.ecn = _ECN[chosen["ecn"]]
    return options


def lower(scenario: Scenario, seed: int | None = None) -> Lowered:
    """Build the core's scenario for a run with that seed; None: the scenario's own.

    Link directions are numbered forward, reverse, link by link in the order of the file; flows and subflows likewise.
    """
    core = _core.Scenario(
        duration_ns=nanos(scenario.duration_s),
        warmup_ns=nanos(scenario.warmup_s),
        mss_bytes=scenario.mss_bytes,
        start_jitter_ns=nanos(scenario.start_jitter_s),
        transport=transport_options(scenario.profile, scenario.transport),
    )
    link_names: list[str] = []
    radio = Radio(core, nanos(scenario.duration_s), scenario.seed if seed is None else seed)
    for link in scenario.links.values():
        for direction, side in (("forward", link.forward), ("reverse", link.reverse)):
            link_names.append(f"{link.name}/{direction}")
            radio.add(_add_link(core, link_names[-1], side), link.name, side)
    link_index = {name: index for index, name in enumerate(link_names)}

    hosts: dict[str, int] = {}
    flows: list[tuple[str, Flow]] = []
    subflows: list[tuple[str, tuple[str, ...]]] = []
    for declared in scenario.flows.values():
        flow = replace(
            declared,
            controller=resolved(declared.controller, scenario.profile),
            scheduler=resolved(declared.scheduler, scenario.profile),
        )
        routes = [_route(scenario.links, link_index, flow.source, path) for path in flow.paths]
        for instance in _instances(scenario, flow, scenario.seed if seed is None else seed):
            _add_flow(core, instance, flow, routes, hosts.setdefault(flow.source, len(hosts)))
            flows.append((instance.name, flow))
            subflows += [(f"{instance.name}/{ordinal}", path) for ordinal, path in enumerate(flow.paths, start=1)]

    radio.add_events()
    _add_drops(core, scenario, link_index, {name: index for index, (name, _) in enumerate(subflows)})
    _add_events(core, scenario.events, link_index, flows, scenario.profile)
    return Lowered(core, tuple(flows), tuple(subflows), tuple(link_names), scenario.profile)


def lower_changes(lowered: Lowered, events: Iterable[Event]) -> _core.Scenario:
    """A scenario of nothing but these events, of the links and flows of another one."""
    core = _core.Scenario(
        duration_ns=1, warmup_ns=0, mss_bytes=1, start_jitter_ns=0, transport=_core.TransportOptions()
    )
    link_index = {name: index for index, name in enumerate(lowered.links)}
    _add_events(core, events, link_index, lowered.flows, lowered.profile)
    return core


def _add_events(
    core: _core.Scenario,
    events: Iterable[Event],
    link_index: Mapping[str, int],
    flows: Sequence[tuple[str, Flow]],
    profile: Profile,
) -> None:
    for event in events:
        if event.link is not None:
            _add_link_event(core, event, link_index)
            continue
        ordinal = None if event.subflow is None else event.subflow - 1
        controller = None if event.controller is None else resolved(event.controller, profile)
        for index, (name, flow) in enumerate(flows):
            if event.flow in (flow.name, name):
                core.add_flow_event(
                    nanos(event.at_s),
                    index,
                    ordinal,
                    event.open,
                    event.backup,
                    controller=None if controller is None else controller.name,
                    controller_options={} if controller is None else core_options(controller.options),
                    controller_program=None if controller is None else _program(controller),
                    announce=event.announce,
                    refuse=event.refuse,
                )


def _add_drops(
    core: _core.Scenario, scenario: Scenario, link_index: dict[str, int], subflows: Mapping[str, int]
) -> None:
    for link in scenario.links.values():
        for drop in link.drops:
            index = subflows.get(f"{drop.flow}/{drop.subflow}")
            if index is None:  # a copy that did not arrive with this seed
                continue
            flow = scenario.flows[drop.flow.partition(".")[0]]
            forward, _ = _route(scenario.links, link_index, flow.source, flow.paths[drop.subflow - 1])
            (side,) = {link_index[f"{link.name}/{direction}"] for direction in ("forward", "reverse")} & set(forward)
            core.add_drop(side, subflow=index, number=drop.number, after_ns=nanos(drop.after_s))


def _add_link(core: _core.Scenario, name: str, side: LinkDirection) -> int:
    index = core.add_link(
        name=name,
        rate_bps=math.inf if side.rate_bps is None else side.rate_bps,
        delay_ns=nanos(side.delay_s),
        queue_limit_pkts=side.queue.limit_pkts,
        queue_limit_bytes=side.queue.limit_bytes,
        loss=side.loss,
        reorder=side.reorder,
    )
    if side.loss_model is not None:
        core.use_loss_model(index, _loss_model(side.loss_model))
    if side.trace is not None:
        core.use_trace(index, side.trace.packed)
    if side.delay_trace is not None:
        core.use_delay_trace(index, side.delay_trace.packed, nanos(side.delay_trace.interval_s))
    if side.jitter is not None:
        core.use_jitter(index, _JITTERS[side.jitter.distribution], nanos(side.jitter.spread_s))
    if side.bucket is not None:
        core.use_token_bucket(index, side.bucket.burst_bytes, side.bucket.peak_bps or math.inf)
    _use_discipline(core, index, side.queue)
    return index


def _use_discipline(core: _core.Scenario, link: int, queue: QueueSpec) -> None:
    options: Mapping[str, Any] = queue.options
    match queue.discipline:
        case "red":
            core.use_red(
                link,
                min_pkts=options["min"],
                max_pkts=options["max"],
                max_p=options["max_p"],
                gentle=options["gentle"],
                weight=options["weight"],
                spreads=options["mode"] == "classic",
                marks="ecn" in options,
            )
        case "codel":
            core.use_codel(
                link,
                nanos(options["target"]),
                nanos(options["interval"]),
                marks="ecn" in options,
                ce_threshold_ns=_maybe_nanos(options.get("ce_threshold")),
            )
        case "fq_codel":
            core.use_fq_codel(
                link,
                nanos(options["target"]),
                nanos(options["interval"]),
                options["quantum"],
                options["flows"],
                marks="ecn" in options,
                ce_threshold_ns=_maybe_nanos(options.get("ce_threshold")),
            )
        case "dualpi2":
            core.use_dual_pi2(
                link,
                target_ns=nanos(options["delay_target"]),
                update_ns=nanos(options["update"]),
                alpha_hz=options["alpha"],
                beta_hz=options["beta"],
                coupling=options["coupling"],
                step_ns=nanos(options["step"]),
                ramp_ns=nanos(options["ramp"]),
            )


def _maybe_nanos(seconds: float | None) -> int | None:
    return None if seconds is None else nanos(seconds)


def _loss_model(model: GilbertLoss) -> tuple[float, float, float, float]:
    return (model.p, model.r, model.good, model.bad)


def _route(
    links: Mapping[str, Link], link_index: dict[str, int], source: str, path: tuple[str, ...]
) -> tuple[list[int], list[int]]:
    """Link-direction indices of a path from `source`, and of the way back."""
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


@dataclass(frozen=True, slots=True)
class _Instance:
    """A copy of a flow as a run has it; `lifetime_ns` None: as long as the flow."""

    name: str
    start_ns: int
    lifetime_ns: int | None = None


def _instances(scenario: Scenario, flow: Flow, seed: int) -> list[_Instance]:
    """The copies of a flow: those that its count says, or those that arrive with this seed."""
    start_ns, arrivals = nanos(flow.start_s), flow.arrivals
    if arrivals is None:
        return [_Instance(name, start_ns) for name in flow.instances]
    end_s = scenario.duration_s if flow.stop_s is None else min(flow.stop_s, scenario.duration_s)
    times = _core.poisson_arrivals(
        name=flow.name,
        seed=seed,
        mean_gap_ns=nanos(arrivals.mean_gap_s),
        from_ns=start_ns,
        until_ns=nanos(end_s),
        limit=arrivals.limit or 0,
        lifetime_ns=None if arrivals.lifetime_s is None else nanos(arrivals.lifetime_s),
        is_lifetime_exponential=arrivals.lifetime_distribution == "exponential",
    )
    return [_Instance(f"{flow.name}.{ordinal}", *drawn) for ordinal, drawn in enumerate(times, start=1)]


def _add_flow(
    core: _core.Scenario, instance: _Instance, flow: Flow, routes: list[tuple[list[int], list[int]]], host: int
) -> None:
    index = core.add_flow(
        name=instance.name,
        kind=_KINDS[flow.kind],
        paths=routes,
        controller=flow.controller.name,
        controller_options=core_options(flow.controller.options),
        scheduler=flow.scheduler.name,
        scheduler_options=core_options(flow.scheduler.options),
        start_ns=instance.start_ns,
        stop_ns=None if flow.stop_s is None else nanos(flow.stop_s),
        size_bytes=flow.size_bytes,
        recv_buffer_bytes=flow.recv_buffer_bytes,
        send_buffer_bytes=flow.send_buffer_bytes,
        backups=[ordinal - 1 for ordinal in flow.backup],
        lifetime_ns=instance.lifetime_ns,
        rate_bps=flow.rate_bps or 0.0,
        packet_bytes=flow.packet_bytes,
        spacing=_SPACINGS[flow.spacing],
        mean_on_ns=nanos(flow.mean_on_s or 0.0),
        mean_off_ns=nanos(flow.mean_off_s or 0.0),
        host=host,
        ecn=None if flow.ecn is None else _ECN[flow.ecn],
    )
    if flow.late or flow.subflow_limit is not None or flow.address_limit is not None:
        late = [ordinal - 1 for ordinal in flow.late]
        core.use_path_manager(index, late, subflow_limit=flow.subflow_limit, address_limit=flow.address_limit)
    _use_decider(core, index, flow.controller)
    controller, scheduler = _program(flow.controller), _program(flow.scheduler)
    if controller is not None:
        core.use_controller_program(index, controller)
    if scheduler is not None:
        core.use_scheduler_program(index, scheduler)


def _program(choice: Choice) -> _core.ScriptProgram | None:
    """What the core runs in place of something built in; None: it is built in."""
    return None if choice.script is None else compiled(choice.script).program


def core_options(options: Mapping[str, Any]) -> dict[str, bool | float | str]:
    """Options of a controller or scheduler as the core takes them; whose policy decides it is told by itself."""
    return {
        key: value if isinstance(value, bool | str) else float(value)
        for key, value in options.items()
        if key != "policy"
    }


def _use_decider(core: _core.Scenario, flow: int, controller: Choice) -> None:
    """Say who decides for a flow whose controller does what an agent says."""
    if controller.policy is not None:
        core.use_decider(flow, _core.DeciderKind.TRAINED, Policy.from_bytes(controller.policy.content).core)
    elif controller.options.get("policy") == RANDOM:
        core.use_decider(flow, _core.DeciderKind.RANDOM, None)


def _add_link_event(core: _core.Scenario, event: Event, link_index: Mapping[str, int]) -> None:
    directions = ("forward", "reverse") if event.direction == "both" else (event.direction,)
    queue: QueueSpec = event.queue or QueueSpec()
    for direction in directions:
        core.add_link_event(
            at_ns=nanos(event.at_s),
            link=link_index[f"{event.link}/{direction}"],
            rate_bps=event.rate_bps,
            delay_ns=None if event.delay_s is None else nanos(event.delay_s),
            loss=event.loss if event.loss_model is None else None,
            loss_model=None if event.loss_model is None else _loss_model(event.loss_model),
            sets_queue=event.queue is not None,
            queue_limit_pkts=queue.limit_pkts,
            queue_limit_bytes=queue.limit_bytes,
            up=event.up,
        )

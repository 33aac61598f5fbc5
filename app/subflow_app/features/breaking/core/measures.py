"""What claims may ask of the runs of a network: functions of the case, each in SI units.

The case is the name of a run as the claim has it; left out, or "entrant": that of the controller which is tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from subflow_app.foundation.expressions import Function, Missing, Value
from subflow_app.vocabulary.measure import NotMeasuredError
from subflow_app.vocabulary.measures import NAMED as SHARED
from subflow_sim.arena.networks import Network
from subflow_sim.arena.path_facts import path_facts
from subflow_sim.arena.utility import fair_shares, queueing_of
from subflow_sim.errors import SimulationError

Summary: TypeAlias = Mapping[str, Any]

_NOTHING_SENT = Missing("nothing was sent")

_INCOMPLETE = " An incomplete transfer counts up to the end of the run."
_OF_CASE = {
    "goodput": (SHARED["goodput"].expression_unit, SHARED["goodput"].definition),
    "each": ("Mbit/s", "Goodput of each of their connections, bit/s."),
    "beside": ("Mbit/s", "Goodput of each connection that is beside them, bit/s."),
    "rtt": (SHARED["rtt"].expression_unit, SHARED["rtt"].definition),
    "queueing": ("", "Queueing delay over the round-trip time without queues, mean over their packets."),
    "loss": (SHARED["loss_ratio"].expression_unit, SHARED["loss_ratio"].definition),
    "jain": (SHARED["jain"].expression_unit, SHARED["jain"].definition),
    "utilisation": ("%", "Goodput of all flows over the sum of the fair shares of the network."),
    "completion": (SHARED["completion"].expression_unit, f"{SHARED['completion'].definition}{_INCOMPLETE}"),
    "makespan": (SHARED["makespan"].expression_unit, f"{SHARED['makespan'].definition}{_INCOMPLETE}"),
}
_OF_PATH = {
    "path_rate": ("Mbit/s", "Payload that the first, second … path of the first flow carries, bit/s."),
    "path_rtt": ("ms", "Round-trip time of that path without queues, s."),
    "path_loss": ("%", "Share of the packets that its links lose at random."),
}

MEASURES: Mapping[str, Function] = {
    **{name: Function(("text",), optional=1, unit=unit) for name, (unit, _) in _OF_CASE.items()},
    "carried": Function(("text", "number"), unit="Mbit/s"),
    "fair": Function((), unit="Mbit/s"),
    **{name: Function(("number",), unit=unit) for name, (unit, _) in _OF_PATH.items()},
}
"""What claims may call."""

ABOUT: Mapping[str, str] = {
    **{name: about for name, (_, about) in _OF_CASE.items()},
    "carried": "Throughput of the first, second … path of the flows that are tried: carried('entrant', 1), bit/s.",
    "fair": "Max-min fair share of the flows that are tried, together, bit/s.",
    **{name: about for name, (_, about) in _OF_PATH.items()},
}
"""What each of them is, for people."""


def measure(net: Network, name: str, summary: Summary, *rest: Value) -> Value:
    """What a run measured.

    Args:
        net: the network.
        name: of MEASURES, one that is asked of a case.
        summary: of the run, as `Simulation.summary`.
        rest: arguments besides the case.
    """
    return _CASE_BODIES[name](net, summary, *rest)


def measure_network(net: Network, name: str, arguments: Sequence[Value]) -> Value:
    """What is known of the network itself.

    Args:
        net: the network.
        name: of MEASURES, one that is asked of no case.
        arguments: of it.
    """
    if name == "fair":
        return _fair(net)
    number = arguments[0]
    facts = path_facts(net.scenario).get((net.competes[0], int(number)))  # type: ignore[arg-type]
    if facts is None or number != int(number):  # type: ignore[arg-type]
        return Missing(f"no path {number:g}")
    return {"path_rate": facts.capacity_bps, "path_rtt": facts.base_rtt_s, "path_loss": facts.loss}[name]


def is_of_case(name: str) -> bool:
    """Whether the first argument of a function is a case."""
    return name in _CASE_BODIES


def goodput_bps(net: Network, summary: Summary) -> float:
    """Goodput of the flows that are tried, together, bit/s."""
    return SHARED["goodput"].of_flows(_tried(net, summary))


def makespan_s(net: Network, summary: Summary) -> float:
    """Time from the first start of the flows that are tried to their last byte, or to the end of the run, s."""
    return SHARED["makespan"].of_flows(_ended(net, summary))


def completion_s(net: Network, summary: Summary) -> float:
    """Mean time from the start of the flows that are tried to their last byte, or to the end of the run, s."""
    return SHARED["completion"].of_flows(_ended(net, summary))


def _ended(net: Network, summary: Summary) -> list[Mapping[str, Any]]:
    """The flows that are tried, as if what is incomplete were complete when the run ends: the least it can take."""
    return [
        flow if flow["completion_s"] is not None else {**flow, "completion_s": summary["duration_s"] - flow["start_s"]}
        for flow in _tried(net, summary)
    ]


def _tried(net: Network, summary: Summary) -> list[Mapping[str, Any]]:
    names = set(net.connections)
    return [flow for flow in summary["flows"] if flow["name"] in names]


def _each(net: Network, summary: Summary) -> Value:
    return tuple(flow["goodput_bps"] for flow in _tried(net, summary))


def _beside(net: Network, summary: Summary) -> Value:
    names = {name for flow in net.beside for name in net.scenario.flows[flow].instances}
    found = tuple(flow["goodput_bps"] for flow in summary["flows"] if flow["name"] in names)
    return found or Missing("nothing is beside the flows that are tried")


def _rtt(net: Network, summary: Summary) -> Value:
    try:
        return SHARED["rtt"].of_flows(_tried(net, summary))
    except NotMeasuredError as error:
        return Missing(str(error))


def _queueing(net: Network, summary: Summary) -> Value:
    facts = path_facts(net.scenario)
    measured = []
    for flow in _tried(net, summary):
        base = flow["name"].partition(".")[0]
        paths = {path: facts[base, place] for place, path in enumerate(net.scenario.flows[base].paths, start=1)}
        measured += [(subflow, paths[tuple(subflow["path"])]) for subflow in flow["subflows"]]
    _, queueing = queueing_of(measured)
    return Missing("nothing arrived") if math.isnan(queueing) else queueing


def _loss(net: Network, summary: Summary) -> Value:
    flows = _tried(net, summary)
    return SHARED["loss_ratio"].of_flows(flows) if any(flow["packets_sent"] for flow in flows) else _NOTHING_SENT


def _jain(net: Network, summary: Summary) -> Value:
    index = SHARED["jain"].of_parts([flow for flow in _tried(net, summary) if flow["active_s"] > 0])
    return Missing("nothing arrived") if index is None else index


def _utilisation(net: Network, summary: Summary) -> Value:
    total = _total_bps(net)
    return total if isinstance(total, Missing) else math.fsum(f["goodput_bps"] for f in summary["flows"]) / total


def _carried(net: Network, summary: Summary, number: Value) -> Value:
    rates = []
    for flow in _tried(net, summary):
        subflows = flow["subflows"]
        if not isinstance(number, float) or number != int(number) or not 1 <= number <= len(subflows):
            return Missing(f"no path {number}")
        rates.append(subflows[int(number) - 1]["throughput_bps"])
    return math.fsum(rates)


def _fair(net: Network) -> Value:
    try:
        shares = fair_shares(net)
    except SimulationError as error:
        return Missing(str(error))
    return math.fsum(shares[name] for name in net.connections)


def _total_bps(net: Network) -> float | Missing:
    try:
        return math.fsum(fair_shares(net).values()) or Missing("the network carries nothing")
    except SimulationError as error:
        return Missing(str(error))


_CASE_BODIES: Mapping[str, Callable[..., Value]] = {
    "goodput": goodput_bps,
    "each": _each,
    "beside": _beside,
    "rtt": _rtt,
    "queueing": _queueing,
    "loss": _loss,
    "jain": _jain,
    "utilisation": _utilisation,
    "completion": completion_s,
    "makespan": makespan_s,
    "carried": _carried,
}

"""The parts of a scenario that draw random numbers: without any, runs with different seeds are equal bit for bit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subflow_sim.scenario_model import Choice, Event, Flow, LinkDirection
    from subflow_sim.whole_scenario import Scenario

# Controllers that draw nothing. All others count as random, so that a controller missing here is never called
# deterministic by mistake; a test runs each of these with two seeds.
_STEADY = frozenset(
    (
        *("newreno", "cubic", "vegas", "copa", "dctcp", "prague"),
        *("ewtcp", "lia", "olia", "balia", "coupled-cubic", "wvegas"),
    )
)
# Agents that draw nothing while a trained policy decides.
_STEADY_AGENTS = frozenset(("drl-cc", "dql-mptcp", "clean-slate", "rl-explore", "confluence"))
_DRAWS = re.compile(r"\brandom\b")


def random_parts(scenario: Scenario) -> tuple[str, ...]:
    """Dotted keys of the parts that may draw random numbers; empty if all seeds give the same run.

    The list may be too long, e.g. for a loss that no packet meets, but never too short.
    """
    return tuple(dict.fromkeys(_found(scenario)))


def _found(scenario: Scenario) -> Iterator[str]:
    if scenario.start_jitter_s > 0:
        yield "start_jitter"
    for name, link in scenario.links.items():
        yield from (f"links.{name}.{key}" for side in (link.forward, link.reverse) for key in _of_direction(side))
    for name, flow in scenario.flows.items():
        yield from (f"flows.{name}.{key}" for key in _of_flow(flow))
    yield from (f"events[{number}].{key}" for number, each in enumerate(scenario.events) for key in _of_event(each))


def _of_direction(side: LinkDirection) -> Iterator[str]:
    found = {
        "loss": side.loss > 0 or side.loss_model is not None,
        "queue": side.queue.discipline == "red",
        "jitter": side.jitter is not None,
        "retransmission": side.retransmission is not None and side.retransmission.loss > 0,
        "outages": side.outages is not None,
        "handover": side.handover is not None and (side.handover.delay_s > 0 or side.handover.rate < 1.0),
        "grants": side.grants is not None and side.grants.jitter_s > 0,
        "access": side.access is not None and side.access.kind == "wifi",
    }
    return (key for key, is_random in found.items() if is_random)


def _of_flow(flow: Flow) -> Iterator[str]:
    if flow.arrivals is not None:
        yield "arrivals"
    if flow.kind == "onoff":
        yield "on"
    if flow.spacing == "poisson":
        yield "spacing"
    if not flow.sends_datagrams and draws(flow.controller):
        yield "controller"


def _of_event(event: Event) -> Iterator[str]:
    if event.loss or event.loss_model is not None:
        yield "loss"
    if event.controller is not None and draws(event.controller):
        yield "controller"


def draws(controller: Choice) -> bool:
    """True if a controller may draw random numbers, as do those that probe in random order and some scripts."""
    if controller.script is not None:
        return _DRAWS.search(controller.script.text) is not None
    if controller.name == "uncoupled":
        return str(controller.options.get("base", "newreno")) not in _STEADY
    if controller.name in _STEADY_AGENTS:
        return controller.policy is None
    return controller.name not in _STEADY

"""Small networks for the simulator's tests, without files: links with pure-delay reverse paths, and their flows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from subflow_sim.decisions import DecisionLimits, Decisions
from subflow_sim.scenario_model import (
    Choice,
    Direction,
    Event,
    Flow,
    Link,
    LinkDirection,
    OptionValue,
    Profile,
    QueueSpec,
)
from subflow_sim.simulation import Simulation
from subflow_sim.whole_scenario import Scenario

MINRTT = Choice("minrtt")
RED = QueueSpec(
    "red",
    limit_pkts=200,
    options={"mode": "instantaneous", "min": 25.0, "max": 50.0, "max_p": 0.1, "gentle": True, "weight": 1.0},
)
"""Decides by the instantaneous queue, at the scale of 10 Mbit/s: no drop below 25 packets, 10 % at 50, all at 100."""


def link(
    name: str,
    *,
    rate_bps: float = 10e6,
    delay_s: float = 0.05,
    queue_pkts: int | None = 84,
    loss: float = 0.0,
    queue: QueueSpec | None = None,
) -> Link:
    """A link from "server" to "client" whose reverse is a pure delay without loss. `queue` replaces `queue_pkts`."""
    back = LinkDirection(None, delay_s, QueueSpec(), 0.0)
    forward = LinkDirection(rate_bps, delay_s, queue or QueueSpec("droptail", queue_pkts), loss)
    return Link(name, ("server", "client"), forward, back)


def lossy(name: str, loss: float, *, delay_s: float = 0.05) -> Link:
    """A path limited only by random loss."""
    return link(name, rate_bps=1e9, queue_pkts=None, loss=loss, delay_s=delay_s)


def tcp(name: str, path: str, controller: str | Choice = "newreno", **values: Any) -> Flow:
    """A flow over one link."""
    return Flow(name, "tcp", "server", "client", _choice(controller), MINRTT, ((path,),), **values)


def mptcp(name: str, paths: Sequence[str], controller: str | Choice = "lia", **values: Any) -> Flow:
    """An MPTCP flow with one subflow per link."""
    values = {"scheduler": MINRTT} | values
    return Flow(name, "mptcp", "server", "client", _choice(controller), paths=tuple((p,) for p in paths), **values)


def _choice(controller: str | Choice) -> Choice:
    return Choice(controller) if isinstance(controller, str) else controller


def scenario(
    links: Sequence[Link],
    flows: Sequence[Flow],
    *,
    duration_s: float,
    warmup_s: float = 0.0,
    profile: Profile = "textbook",
    events: Sequence[Event] = (),
    start_jitter_s: float = 0.0,
    transport: Mapping[str, OptionValue] | None = None,
) -> Scenario:
    """A scenario of these parts."""
    return Scenario(
        name="test",
        duration_s=duration_s,
        warmup_s=warmup_s,
        seed=1,
        mss_bytes=1448,
        profile=profile,
        start_jitter_s=start_jitter_s,
        nodes={},
        links={part.name: part for part in links},
        flows={part.name: part for part in flows},
        events=tuple(events),
        transport=transport or {},
    )


def outage(name: str, from_s: float, until_s: float, direction: Direction = "forward") -> tuple[Event, Event]:
    """A link goes down and comes back."""
    down = Event(from_s, link=name, direction=direction, up=False)
    return down, replace(down, at_s=until_s, up=True)


def run(a_scenario: Scenario, *, seed: int | None = None, sample_interval_s: float = 1.0) -> Simulation:
    """Runs the scenario to its end, with its own seed unless another is given, and checks the invariants."""
    simulation = Simulation(a_scenario, seed=seed, sample_interval_s=sample_interval_s)
    simulation.run_until(simulation.duration_s)
    simulation.check_invariants()
    return simulation


def goodputs(simulation: Simulation) -> Mapping[str, float]:
    """Goodput in bit/s by flow name."""
    return {flow["name"]: flow["goodput_bps"] for flow in simulation.summary()["flows"]}


def column(simulation: Simulation, name: str, owner: str = "") -> NDArray[np.float32]:
    """The samples of a quantity for this owner, or for the first owner with that quantity."""
    found = (i for i, each in enumerate(simulation.columns) if each.name == name and owner in ("", each.owner))
    return simulation.values(next(found))


def decisions_of(a_scenario: Scenario, *, seed: int = 1, capacity: int = 200_000) -> Decisions:
    """All decisions of a whole run."""
    simulation = Simulation(a_scenario, seed=seed, decisions=DecisionLimits(capacity=capacity))
    simulation.run_until(simulation.duration_s)
    assert simulation.decisions_lost == 0
    return simulation.take_decisions()

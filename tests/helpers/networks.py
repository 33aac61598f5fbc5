"""Small networks for the simulator's tests, without files: links with pure-delay ways back, flows over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from subflow_sim.scenario_model import Choice, Event, Flow, Link, LinkDirection, OptionValue, Profile, QueueSpec
from subflow_sim.simulation import Simulation
from subflow_sim.whole_scenario import Scenario

MINRTT = Choice("minrtt")


def link(
    name: str,
    *,
    rate_bps: float = 10e6,
    delay_s: float = 0.05,
    queue_pkts: int | None = 84,
    loss: float = 0.0,
    queue: QueueSpec | None = None,
) -> Link:
    """A link from "server" to "client" whose way back is a pure delay without loss. `queue` replaces `queue_pkts`."""
    back = LinkDirection(None, delay_s, QueueSpec(), 0.0)
    forward = LinkDirection(rate_bps, delay_s, queue or QueueSpec("droptail", queue_pkts), loss)
    return Link(name, ("server", "client"), forward, back)


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


def run(a_scenario: Scenario, *, seed: int = 1, sample_interval_s: float = 1.0) -> Simulation:
    """Run it to its end; its invariants hold there."""
    simulation = Simulation(a_scenario, seed=seed, sample_interval_s=sample_interval_s)
    simulation.run_until(simulation.duration_s)
    simulation.check_invariants()
    return simulation


def goodputs(simulation: Simulation) -> Mapping[str, float]:
    """Goodput in bit/s by flow name."""
    return {flow["name"]: flow["goodput_bps"] for flow in simulation.summary()["flows"]}

"""All pairs of congestion controller and packet scheduler, and the small networks in which they are tried.

Both lists come from the core, so that additions to the core are tested automatically.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tests.helpers.networks import link, scenario, tcp

from subflow_sim import controllers, schedulers
from subflow_sim.params import Algorithm
from subflow_sim.scenario_model import Choice, Event, Flow, FlowKind, OptionValue
from subflow_sim.whole_scenario import Scenario


def _choice(algorithm: Algorithm, **options: OptionValue) -> Choice:
    # Policies change while the code that runs them stays: controllers are tried without policies.
    if any(option.key == "policy" for option in algorithm.options):
        options["policy"] = "neutral"
    return Choice(algorithm.name, options)


def single_path_choices() -> dict[str, Choice]:
    """The controllers for a flow over one path, by label."""
    return {each.name: _choice(each) for each in controllers() if not each.is_coupled}


def multipath_choices() -> dict[str, Choice]:
    """Choices for an MPTCP connection: each coupled controller, and `uncoupled` with each of its bases."""
    choices: dict[str, Choice] = {}
    for each in controllers():
        bases = next((option.choices for option in each.options if option.key == "base"), ())
        if bases:
            choices |= {f"{each.name} {base}": _choice(each, base=base) for base in bases}
        elif each.is_coupled:
            choices[each.name] = _choice(each)
    return choices


def scheduler_choices() -> dict[str, Choice]:
    """The schedulers, by name."""
    return {each.name: Choice(each.name) for each in schedulers()}


def _flow(controller: Choice, scheduler: Choice, paths: tuple[tuple[str, ...], ...], size_bytes: int | None) -> Flow:
    # A single-path controller runs in TCP, over the first of the paths.
    is_tcp = controller.name in single_path_choices()
    kind: FlowKind = "tcp" if is_tcp else "mptcp"
    used = paths[:1] if is_tcp else paths
    return Flow("flow", kind, "server", "client", controller, scheduler, used, size_bytes=size_bytes)


_STORM = (
    Event(4.0, link="two", direction="forward", up=False),
    Event(7.0, link="two", direction="forward", up=True),
    Event(10.0, link="one", rate_bps=2e6),
    Event(12.0, link="one", delay_s=0.01),
    Event(14.0, flow="flow", subflow=2, open=False),
    Event(16.0, flow="flow", subflow=2, open=True),
)


def storm(controller: Choice, scheduler: Choice, *, size_bytes: int | None = None) -> Scenario:
    """Loss, an outage, a rate and a delay change, and a subflow that closes and opens again."""
    links = [link("one", loss=0.01), link("two", rate_bps=4e6, delay_s=0.015, queue_pkts=20)]
    flow = _flow(controller, scheduler, (("one",), ("two",)), size_bytes)
    events = [event for event in _STORM if len(flow.paths) > 1 or event.link == "one"]
    return scenario(links, [flow], duration_s=30, warmup_s=2, profile="linux", events=events)


def unlike_paths(controller: Choice, scheduler: Choice) -> Scenario:
    """RTTs of 20 and 200 ms with some loss, and a receive buffer of half the capacity of the slow path."""
    links = [
        link("near", rate_bps=8e6, delay_s=0.01, queue_pkts=20, loss=0.002),
        link("far", rate_bps=8e6, delay_s=0.1, queue_pkts=130, loss=0.002),
    ]
    flow = replace(_flow(controller, scheduler, (("near",), ("far",)), None), recv_buffer_bytes=100_000)
    return scenario(links, [flow], duration_s=20, warmup_s=2, profile="linux")


def shared_link(controller: Choice, scheduler: Choice) -> Scenario:
    """Two subflows and a TCP flow on one link, a third subflow on a separate link. An ACK per packet, no HyStart."""
    links = [link("shared", rate_bps=10e6, delay_s=0.02, queue_pkts=40), link("own", rate_bps=5e6, delay_s=0.03)]
    flow = _flow(controller, scheduler, (("shared",), ("own",), ("shared",)), None)
    return scenario(links, [flow, tcp("other", "shared", start_s=1.0)], duration_s=20, warmup_s=2, start_jitter_s=0.1)


SMALL_NETWORKS: Mapping[str, Callable[[Choice, Choice], Scenario]] = {
    "storm": storm,
    "unlike paths": unlike_paths,
    "shared link": shared_link,
}
"""Networks by name; the flow called "flow" runs the pair."""

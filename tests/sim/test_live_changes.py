"""A change during a run is an event of that run: the scenario with this event gives the same run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.helpers.combinations import multipath_choices, shared_link, single_path_choices, storm, unlike_paths
from tests.helpers.members import for_each
from tests.helpers.networks import link, mptcp, run, scenario, tcp
from tests.helpers.scenario_texts import TWO_PATHS

from subflow_sim.errors import ScenarioError, SimulationError, TooLargeError
from subflow_sim.limits import Limits
from subflow_sim.scenario import Choice, Event, GilbertLoss, Link, LinkDirection, QueueSpec, Scenario, parse_scenario
from subflow_sim.scenario_model import Direction
from subflow_sim.scenario_reader import read_change
from subflow_sim.simulation import Simulation

CHOICES = {**single_path_choices(), **multipath_choices()}
RATES = {"core": 8e6, "second": 4e6}


def replayed(changed: Scenario, changes: Sequence[Event]) -> str:
    """Signature of the scenario with these changes from the start, after its own events."""
    events = sorted([*changed.events, *changes], key=lambda event: round(event.at_s * 1e9))
    return run(replace(changed, events=tuple(events))).signature()


def random_change(draw: random.Random, running: Scenario) -> Event:
    """Any change that an event can make to the links and to the flow called "flow"."""
    name = draw.choice(list(running.links))
    directions: tuple[Direction, ...] = ("both", "forward", "reverse")
    direction = draw.choice(directions)
    changes: list[Event] = [
        Event(0.0, link=name, direction=direction, rate_bps=draw.choice((0.7e6, 3e6, 20e6))),
        Event(0.0, link=name, direction=direction, delay_s=draw.choice((0.0, 0.004, 0.12))),
        Event(0.0, link=name, direction=direction, loss=draw.choice((0.0, 0.01, 0.2))),
        Event(0.0, link=name, loss=0.05, loss_model=GilbertLoss(p=0.01, r=0.2, good=0.0, bad=1.0)),
        Event(0.0, link=name, direction=direction, queue=QueueSpec(limit_pkts=draw.choice((2, 30)))),
        Event(0.0, link=name, direction=direction, up=draw.random() < 0.7),
        Event(0.0, link=name, rate_bps=5e6, delay_s=0.01, loss=0.0, up=True),
    ]
    flow = running.flows["flow"]
    if flow.kind == "mptcp":
        ordinal = draw.choice((None, 1, 2))
        changes += [
            Event(0.0, flow="flow", subflow=ordinal, open=draw.random() < 0.6),
            Event(0.0, flow="flow", subflow=ordinal, backup=draw.random() < 0.5),
        ]
    return draw.choice(changes)


def run_with_changes(simulation: Simulation, draw: random.Random) -> None:
    """Runs to the end, in parts of random length, with changes and returns to a snapshot between them."""
    running = simulation.scenario
    snapshot = simulation.snapshot()
    while not simulation.finished:
        simulation.run_until(min(simulation.now_s + draw.choice((0.0, 1e-9, 0.01, 0.5, 3.0)), running.duration_s))
        if simulation.finished:
            return
        if draw.random() < 0.5:
            simulation.apply(random_change(draw, running))
        if draw.random() < 0.1:
            snapshot = simulation.snapshot()
        elif draw.random() < 0.05:
            simulation.restore(snapshot)
        if len(simulation.live_changes) >= 12:
            simulation.run_until(running.duration_s)


@for_each("name", CHOICES)
@for_each("network", [storm, shared_link])
def test_a_changed_run_of_each_controller_replays_bit_for_bit(name: str, network: object) -> None:
    running = replace(network(CHOICES[name], Choice("minrtt")), duration_s=12.0)  # type: ignore[operator]
    for seed in range(2):
        simulation = Simulation(running)
        run_with_changes(simulation, random.Random(f"{name} {network} {seed}"))
        assert simulation.signature() == replayed(running, simulation.live_changes)
        simulation.check_invariants()


@for_each("controller", ["drl-cc", "mplibra", "ddpg-mpcc", "rl-explore", "dql-mptcp"])
def test_a_changed_run_of_an_agent_that_acts_at_random_replays_bit_for_bit(controller: str) -> None:
    choice = Choice(controller, {"policy": "random"})
    running = replace(unlike_paths(choice, Choice("minrtt")), duration_s=10.0)
    for seed in range(3):
        simulation = Simulation(running)
        run_with_changes(simulation, random.Random(seed))
        assert simulation.signature() == replayed(running, simulation.live_changes)


def test_a_pure_delay_can_become_a_bottleneck_in_the_middle_of_a_run() -> None:
    # Packets run ahead of the clock over links without a rate, before an event sets one.
    delay = LinkDirection(None, 0.02, QueueSpec(), 0.0)
    behind = [replace(link(name, rate_bps=rate), ends=("middle", "client")) for name, rate in RATES.items()]
    flows = [
        replace(tcp(name, name, start_s=start_s), paths=(("access", name),))
        for name, start_s in (("core", 0.0), ("second", 0.3))
    ]
    running = scenario([Link("access", ("server", "middle"), delay, delay), *behind], flows, duration_s=10)
    for seed in range(8):
        draw = random.Random(seed)
        simulation = Simulation(running)
        simulation.run_until(draw.uniform(0, 4))
        simulation.apply(Event(0.0, link="access", rate_bps=draw.choice((1e6, 30e6))))
        simulation.run_until(draw.uniform(4, 8))
        simulation.apply(Event(0.0, link="access", loss=0.1, loss_model=GilbertLoss(0.01, 0.2, 0.0, 1.0)))
        simulation.run_until(10)
        assert simulation.signature() == replayed(running, simulation.live_changes)


def two_paths() -> Scenario:
    return scenario([link("wifi"), link("lte")], [mptcp("flow", ("wifi", "lte"))], duration_s=10)


def test_a_change_happens_a_nanosecond_from_now_and_its_text_says_exactly_when() -> None:
    simulation = Simulation(two_paths())
    simulation.run_until(3.141592653)
    event = simulation.apply(Event(99.0, link="wifi", up=False))
    assert event.at_s == 3.141592654
    assert simulation.live_changes == (event,)
    assert read_change(simulation.scenario, {"at": "3141592654ns", "link": "wifi", "up": False}) == event


def test_every_nanosecond_of_the_longest_run_survives_its_text() -> None:
    draw = random.Random(1)
    running = replace(two_paths(), duration_s=1e6)
    for _ in range(2000):
        at_ns = int(10 ** draw.uniform(0, 15))
        event = read_change(running, {"at": f"{at_ns}ns", "link": "wifi", "up": False})
        assert event.at_s == at_ns / 1e9
        assert round(event.at_s * 1e9) == at_ns


def test_events_of_the_same_nanosecond_keep_the_order_of_the_file() -> None:
    rows = ("at = 1.0000000003, link = 'wifi', loss = '1%'", "at = '1s', link = 'wifi', loss = '2%'")
    text = f"events = [{', '.join(f'{{ {row} }}' for row in rows)}]\n{TWO_PATHS}"
    assert [event.loss for event in parse_scenario(text).events] == [0.01, 0.02]


@for_each(
    ("table", "reason"),
    [
        ({"link": "wlan", "up": False}, 'unknown link "wlan"'),
        ({"link": "wifi"}, "changes nothing"),
        ({"link": "wifi", "loss": "150%"}, "100%"),
        ({"link": "wifi", "rate": "fast"}, "not a number"),
        ({"link": "wifi", "queue": {"discipline": "codel"}}, "changes nothing but its limit"),
        ({"flow": "flow", "subflow": 3, "open": False}, "has 2 subflows"),
        ({"flow": "flow", "link": "wifi", "open": False}, "both a link and a flow"),
        ({"at": "11s", "link": "wifi", "up": False}, "after the end of the run"),
    ],
)
def test_what_the_format_forbids_is_refused_with_the_reason(table: dict[str, object], reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        read_change(two_paths(), {"at": "1s", **table})


def test_what_the_core_or_the_limits_refuse_changes_nothing() -> None:
    running = two_paths()
    limited = Simulation(running, limits=Limits(link_crossings=1e6))
    limited.run_until(2)
    with pytest.raises(TooLargeError):
        limited.apply(Event(0.0, link="wifi", rate_bps=1e12))
    with pytest.raises(SimulationError, match="loss must be between"):
        limited.apply(Event(0.0, link="wifi", loss=2.0))
    limited.run_until(10)
    assert limited.live_changes == ()
    assert limited.signature() == replayed(running, ())
    with pytest.raises(SimulationError, match="the run is over"):
        limited.apply(Event(0.0, link="wifi", up=False))


def test_a_snapshot_has_the_changes_made_by_then() -> None:
    running = two_paths()
    simulation = Simulation(running)
    simulation.run_until(2)
    before = simulation.snapshot()
    first = simulation.apply(Event(0.0, link="wifi", rate_bps=2e6))
    after = simulation.snapshot()
    simulation.restore(before)
    assert not simulation.live_changes
    simulation.apply(Event(0.0, link="lte", up=False))
    simulation.restore(after)
    assert simulation.live_changes == (first,)
    simulation.run_until(10)
    assert simulation.signature() == replayed(running, [first])

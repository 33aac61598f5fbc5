"""What every controller and every shipped scenario must keep, whatever it is tuned for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.helpers.networks import link, run, scenario

from subflow_sim import Simulation, controllers, load_scenario, schedulers
from subflow_sim.params import Algorithm, Dimension
from subflow_sim.scenario_model import Choice, Event, Flow, OptionValue, Scenario

SCENARIOS = sorted((Path(__file__).parents[2] / "assets" / "scenarios").glob("*.toml"))
EVENTS = (
    Event(4.0, link="two", direction="forward", up=False),
    Event(7.0, link="two", direction="forward", up=True),
    Event(10.0, link="one", rate_bps=2e6),
    Event(12.0, link="one", delay_s=0.01),
    Event(14.0, flow="flow", subflow=2, open=False),
    Event(16.0, flow="flow", subflow=2, open=True),
)


def stormy(controller: str | Choice, scheduler: str, *, kind: str, size_bytes: int | None = None) -> Scenario:
    """Loss, an outage, a rate and a delay change, a subflow closed and opened again."""
    links = [link("one", loss=0.01), link("two", rate_bps=4e6, delay_s=0.015, queue_pkts=20)]
    paths: tuple[tuple[str, ...], ...] = (("one",), ("two",)) if kind == "mptcp" else (("one",),)
    flow = Flow(
        "flow",
        "mptcp" if kind == "mptcp" else "tcp",
        "server",
        "client",
        Choice(controller) if isinstance(controller, str) else controller,
        Choice(scheduler),
        paths,
        size_bytes=size_bytes,
    )
    events = EVENTS if kind == "mptcp" else EVENTS[2:4]
    return scenario(links, [flow], duration_s=30, warmup_s=2, profile="linux", events=events)


COMBINATIONS = [
    (algorithm.name, scheduler.name, "mptcp" if algorithm.is_coupled else "tcp")
    for algorithm in controllers()
    for scheduler in schedulers()
]


@pytest.mark.parametrize(("controller", "scheduler", "kind"), COMBINATIONS)
def test_every_byte_arrives_once_and_in_order_in_a_storm(controller: str, scheduler: str, kind: str) -> None:
    # 3 MB within 30 s at some 2 Mbit/s and more; the summary counts after two seconds of warm-up, the trace counts all.
    done = run(stormy(controller, scheduler, kind=kind, size_bytes=3_000_001), sample_interval_s=0.1)
    flow = done.summary()["flows"][0]
    assert flow["completion_s"] is not None
    goodput = next(i for i, c in enumerate(done.columns) if (c.scope, c.name) == ("flow", "goodput_bps"))
    delivered = float(done.values(goodput).sum(dtype="float64")) * 0.1 / 8
    # float32 samples: seven digits each
    assert delivered == pytest.approx(3_000_001, rel=1e-6)


@pytest.mark.parametrize(("controller", "scheduler", "kind"), COMBINATIONS)
def test_invariants_hold_at_every_moment_of_a_storm(controller: str, scheduler: str, kind: str) -> None:
    simulation = Simulation(stormy(controller, scheduler, kind=kind))
    for step in range(1, 301):
        simulation.run_until(step * 0.1)
        simulation.check_invariants()
    for direction in simulation.summary()["links"]:
        assert 0 <= direction["utilisation"] <= 1
    assert simulation.packets > 0


def option_values(algorithm: Algorithm) -> list[Choice]:
    """The algorithm with each of its options at each value other than the default, one at a time."""
    choices = []
    for option in algorithm.options:
        base: dict[str, OptionValue] = {"base": option.applies_to[0]} if option.applies_to else {}
        values: tuple[Any, ...] = (not option.default,)
        if option.dimension is Dimension.CHOICE:
            values = tuple(value for value in option.choices if value != option.default)
        elif option.dimension is not Dimension.FLAG:
            values = (option.minimum,)
        choices += [Choice(algorithm.name, {**base, option.key: value}) for value in values]
    return choices


OPTIONS = [(choice, algorithm.is_coupled) for algorithm in controllers() for choice in option_values(algorithm)]


@pytest.mark.parametrize(("controller", "is_coupled"), OPTIONS, ids=lambda value: str(getattr(value, "options", "")))
def test_every_value_of_every_option_runs_through_a_storm(controller: Choice, is_coupled: bool) -> None:
    kind = "mptcp" if is_coupled else "tcp"
    if controller.options.get("beta") == 0.0:
        controller = Choice(controller.name, {**controller.options, "alpha": 0.0})  # beta is not below alpha
    done = run(stormy(controller, schedulers()[0].name, kind=kind))
    assert done.summary()["flows"][0]["goodput_bps"] > 1e5
    assert done.summary()["flows"][0]["controller_options"].items() >= controller.options.items()


@pytest.mark.parametrize(("controller", "scheduler", "kind"), COMBINATIONS)
def test_repeated_runs_have_the_same_signature(controller: str, scheduler: str, kind: str) -> None:
    signatures = {run(stormy(controller, scheduler, kind=kind), seed=5).signature() for _ in range(3)}
    assert len(signatures) == 1
    assert run(stormy(controller, scheduler, kind=kind), seed=6).signature() not in signatures


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_packets_are_conserved_on_every_link_of_every_shipped_scenario(path: Path) -> None:
    done = run(load_scenario(path))  # which checks in = out + dropped + under way for each link direction
    assert done.packets > 0
    for flow in done.summary()["flows"]:
        assert flow["goodput_bps"] > 0


def test_scenarios_are_shipped() -> None:
    assert {"demo", "t-2link", "t-1link", "t-10b", "drlcc-sc1"} <= {path.stem for path in SCENARIOS}
    assert len(SCENARIOS) >= 6

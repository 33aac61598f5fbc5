"""Forks of a simulation: identical until a change, and independent of each other; the size of snapshots."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from tests.helpers.combinations import multipath_choices, single_path_choices, storm
from tests.helpers.members import for_each

from subflow_sim import DecisionLimits, Simulation, SimulationError
from subflow_sim.scenario_model import Choice, Event
from subflow_sim.whole_scenario import Scenario

CHOICES = {**single_path_choices(), **multipath_choices()}


def stormy(name: str = "lia", duration_s: float = 12.0) -> Scenario:
    return replace(storm(CHOICES[name], Choice("minrtt")), duration_s=duration_s)


def assert_same_run(one: Simulation, other: Simulation) -> None:
    assert one.signature() == other.signature()
    assert one.sample_count == other.sample_count
    for index in range(len(one.columns)):
        assert np.array_equal(one.values(index), other.values(index), equal_nan=True), one.columns[index]
    assert one.summary() == other.summary()


@for_each("name", CHOICES)
def test_a_fork_left_alone_repeats_its_origin_bit_for_bit(name: str) -> None:
    whole = Simulation(stormy(name))
    whole.run_until(12)
    origin = Simulation(stormy(name))
    for t_s in (0.0, 4.05, 8.123456789):
        origin.run_until(t_s)
        fork = origin.fork()
        assert fork.now_s == origin.now_s
        fork.run_until(12)
        fork.check_invariants()
        assert_same_run(fork, whole)
    origin.run_until(12)
    assert_same_run(origin, whole)


def test_a_fork_at_a_snapshot_has_the_samples_until_then() -> None:
    origin = Simulation(stormy())
    origin.run_until(5.03)
    snapshot = origin.snapshot()
    origin.run_until(12)
    fork = origin.fork(snapshot)
    assert fork.now_s == 5.03
    assert fork.sample_count == 50
    assert np.array_equal(fork.values(2), origin.values(2)[:50], equal_nan=True)
    fork.run_until(12)
    assert_same_run(fork, origin)


def test_forks_go_their_own_ways_with_their_live_changes() -> None:
    origin = Simulation(stormy())
    origin.run_until(3)
    first = origin.apply(Event(0.0, link="one", rate_bps=3e6))
    origin.run_until(5)
    fork = origin.fork()
    second = fork.apply(Event(0.0, link="one", loss=0.1))
    assert fork.live_changes == (first, second)
    assert origin.live_changes == (first,)
    fork.run_until(12)
    origin.run_until(12)
    assert fork.signature() != origin.signature()
    for simulation in (origin, fork):
        running = simulation.scenario
        events = sorted([*running.events, *simulation.live_changes], key=lambda event: event.at_s)
        replay = Simulation(replace(running, events=tuple(events)))
        replay.run_until(12)
        assert replay.signature() == simulation.signature()


def test_siblings_take_each_others_snapshots_and_strangers_do_not() -> None:
    origin = Simulation(stormy())
    origin.run_until(4)
    one, other = origin.fork(), origin.fork()
    one.apply(Event(0.0, link="one", rate_bps=2e6))
    one.run_until(6)
    snapshot = one.snapshot()
    one.run_until(12)
    del origin
    other.run_until(7)
    other.restore(snapshot)
    assert other.now_s == 6
    assert other.live_changes == one.live_changes
    other.run_until(12)
    assert other.signature() == one.signature()
    for use in (Simulation(stormy()).fork, Simulation(stormy()).restore):
        with pytest.raises(SimulationError, match="another simulation"):
            use(snapshot)


def test_a_fork_takes_what_was_not_taken_before_it() -> None:
    origin = Simulation(stormy("drl-cc"), decisions=DecisionLimits())
    origin.run_until(5)
    assert origin.take_marks()
    assert len(origin.take_decisions().time_ns)
    assert origin.take_agent_steps() is not None
    origin.run_until(7)
    fork = origin.fork()
    for simulation in (origin, fork):
        simulation.run_until(9)
    assert fork.take_marks() == origin.take_marks()
    for take in (Simulation.take_decisions, Simulation.take_agent_steps):
        ours, theirs = take(fork), take(origin)
        assert ours is not None
        assert theirs is not None
        assert ours.time_ns.min() >= 5e9
        assert np.array_equal(ours.time_ns, theirs.time_ns)


def test_forks_run_side_by_side_in_threads() -> None:
    origin = Simulation(stormy("mpcc-loss"))
    origin.run_until(6)
    forks = [origin.fork() for _ in range(4)]
    threads = [threading.Thread(target=fork.run_until, args=(12.0,)) for fork in forks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    origin.run_until(12)
    for fork in forks:
        assert_same_run(fork, origin)


def test_a_snapshot_tells_what_it_takes() -> None:
    # The tests of the core compare bytes. Here: the size grows with the packets in flight, and covers their memory.
    simulation = Simulation(stormy("uncoupled cubic"))
    empty = simulation.snapshot().bytes
    simulation.run_until(3.9)
    full = simulation.snapshot()
    assert full.bytes > empty
    assert full.bytes > 40 * len(simulation.inspect().packets)
    assert full.bytes < simulation.estimate.memory_bytes

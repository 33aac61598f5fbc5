"""Replaying a run: every state equals the original state, regardless of the order of seeks."""

from __future__ import annotations

import math
import random
import threading
from dataclasses import fields, is_dataclass

import numpy as np
import pytest
from tests.helpers.present import present
from tests.helpers.scenario_texts import TWO_PATHS

import subflow_app
from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.explain.core.replay import FIRST_SPACING, Replay, ReplayCancelledError
from subflow_app.features.forking.core.origin import ForkOrigin
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.resources import find_scenario
from subflow_sim.instant import Instant
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation
from subflow_store import ColumnSpec, RunStart, Store

DEADLINE_S = 30.0
# A scenario busy enough for stored states, with losses, an outage and a change of rate.
BUSY = find_scenario("demo").read_text(encoding="utf-8").replace("12Mbit/s", "40Mbit/s")


def stored(store: Store, text: str = BUSY) -> int:
    return present(RunJob(parse_scenario(text), text, store=store).run().run_id)


def state_of(text: str, t_s: float) -> Instant:
    """The state of a fresh simulation at that time."""
    simulation = Simulation(parse_scenario(text))
    simulation.run_until(t_s)
    return simulation.inspect()


def assert_same(found: object, expected: object) -> None:
    """Asserts that two states are equal in every number and name."""
    assert type(found) is type(expected)
    if is_dataclass(found):
        for each in fields(found):
            assert_same(getattr(found, each.name), getattr(expected, each.name))
    elif isinstance(found, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


class Live:
    """A run in its own thread, which holds at a time given by the test."""

    def __init__(self, text: str, store: Store | None = None, *, until_s: float = 1.0) -> None:
        self.job = RunJob(parse_scenario(text), text, store=store)
        self.job.run_to(until_s)
        self.result: RunResult | None = None
        # A failing test leaves the run on hold: a daemon thread does not keep the interpreter from exiting.
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self.result = self.job.run()

    def go_to(self, t_s: float) -> None:
        self.job.run_to(t_s)
        while self.job.progress.sim_time_s < t_s:
            threading.Event().wait(0.001)

    def finish(self) -> None:
        """Lets the run continue to its end; a stopped run has ended already."""
        self.job.unpause()
        self._thread.join(DEADLINE_S)
        assert self.result


@pytest.fixture(scope="module")
def times_s() -> list[float]:
    chance = random.Random(7)
    return [chance.uniform(0, 60) for _ in range(10)]


@pytest.fixture(scope="module")
def instants(times_s: list[float]) -> list[Instant]:
    """The states of one simulation that only advanced, at the times in order."""
    simulation = Simulation(parse_scenario(BUSY))
    found = {}
    for t_s in sorted(times_s):
        simulation.run_until(t_s)
        found[t_s] = simulation.inspect()
    return [found[t_s] for t_s in times_s]


@pytest.mark.parametrize(("is_prepared", "budget_bytes"), [(True, 64 << 20), (False, 64 << 20), (True, 1), (False, 1)])
def test_a_state_is_that_of_the_run_whether_sought_forwards_or_backwards(
    store: Store, times_s: list[float], instants: list[Instant], is_prepared: bool, budget_bytes: int
) -> None:
    replay = Replay.stored(store, stored(store), budget_bytes=budget_bytes)
    if is_prepared:
        assert replay.prepare()
        assert replay.is_same
        assert (replay.cost.states > 3) == (budget_bytes > 1)

    for t_s, expected in zip(times_s, instants, strict=True):
        assert_same(replay.seek(t_s), expected)


def test_states_are_thinned_to_the_budget_and_go_on_being_right(store: Store) -> None:
    run_id = stored(store)
    roomy = Replay.stored(store, run_id)
    roomy.prepare()
    budget_bytes = roomy.cost.bytes // 3
    tight = Replay.stored(store, run_id, budget_bytes=budget_bytes)
    tight.prepare()

    assert tight.cost.bytes <= budget_bytes
    assert 1 < tight.cost.states < roomy.cost.states
    for t_s in (41.0, 7.5, 59.9, 0.0):
        assert_same(tight.seek(t_s), roomy.seek(t_s))


def test_a_budget_that_is_too_small_is_named_with_a_better_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subflow_app.features.explain.core.replay._GOAL_S", 1e-4)
    replay = Replay.stored(store, stored(store), budget_bytes=3 << 10)
    replay.prepare()
    cost = replay.cost

    assert replay.notice.startswith("Snapshots of this run may take 3.1 kB: a jump in time takes up to ")
    assert cost.worst_seek_s > 1e-4
    assert cost.wanted_bytes > 3 << 10


def test_a_run_that_was_stopped_is_known_as_far_as_it_came(store: Store) -> None:
    live = Live(BUSY, store, until_s=12.3456)
    while not live.job.is_held:
        threading.Event().wait(0.001)
    live.job.stop()
    live.finish()
    replay = Replay.stored(store, store.runs()[0].id)

    assert (replay.known_until_s, replay.duration_s) == (12.3456, 60.0)
    assert replay.prepare()
    assert replay.is_same
    assert replay.notice == ""
    assert_same(replay.seek(50.0), state_of(BUSY, 12.3456))


def test_times_beyond_the_run_are_its_ends(store: Store) -> None:
    replay = Replay.stored(store, stored(store))

    assert replay.seek(-1.0).now_s == 0.0
    assert replay.seek(1e9).now_s == 60.0
    with pytest.raises(InputError, match="not a number"):
        replay.seek(math.nan)
    with pytest.raises(InputError, match=r"run 1 is from 0 s to 60 s; 70 s is not in it"):
        replay.check_time(70.0)


def test_a_first_pass_that_is_given_up_leaves_what_it_kept(store: Store) -> None:
    replay = Replay.stored(store, stored(store))
    told: list[float] = []

    assert not replay.prepare(lambda: told[-1] > 0.5, told.append)
    states = replay.cost.states
    assert states > 1
    with pytest.raises(ReplayCancelledError):
        replay.seek(60.0, lambda: True)
    assert replay.prepare(progress=told.append)
    assert replay.cost.states > states
    assert told[-1] == 1.0
    assert replay.is_same


def test_a_run_of_another_version_is_compared_with_this_one(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subflow_app.__version__", "0.0.1")
    run_id = stored(store)
    monkeypatch.undo()
    other = BUSY.replace("40Mbit/s", "41Mbit/s")
    changed = present(RunJob(parse_scenario(BUSY), other, store=store).run().run_id)
    replay = Replay.stored(store, run_id)

    assert "Version 0.0.1 made run 1; one pass will show if this version, " in replay.notice
    replay.prepare()
    assert replay.notice == ""
    # Replay offers the run of this version, and a notice reports the difference.
    different = Replay.stored(store, changed)
    assert different.notice == ""
    different.prepare()
    assert different.is_same is False
    assert "run 2 is not reproduced bit for bit, although this version made it" in different.notice
    assert_same(different.seek(10.0), state_of(other, 10.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "run 1 cannot be replayed: the text of its scenario was not kept"),
        (BUSY.replace('"lia"', '"tomorrow"'), "(?s)cannot be replayed: version .* cannot read its scenario:.*tomorrow"),
    ],
)
def test_what_cannot_be_simulated_again_is_refused(store: Store, text: str, message: str) -> None:
    assert RunJob(parse_scenario(TWO_PATHS), text, store=store).run().run_id == 1

    with pytest.raises(InputError, match=message):
        Replay.stored(store, 1)


@pytest.mark.parametrize("mark", ["kernel", "measured"])
@pytest.mark.parametrize("is_tag", [True, False])
def test_a_run_that_was_measured_is_neither_replayed_nor_forked(store: Store, mark: str, is_tag: bool) -> None:
    if is_tag:
        store.add_tag(stored(store, TWO_PATHS), mark)
    else:
        # A person has removed the tag.
        start = RunStart("Other", "Other", TWO_PATHS, 1, 9.0, version=subflow_app.__version__)
        writer = store.start_run(start, [ColumnSpec("flow", "download", "goodput_bps", "bit/s")])
        writer.append(0, np.zeros((9, 1), np.float32))
        writer.finish("finished", {mark: {}}, "0123456789abcdef")

    with pytest.raises(InputError, match="run 1 was measured, not simulated: it cannot be replayed"):
        Replay.stored(store, 1)
    with pytest.raises(InputError, match="run 1 was measured, not simulated: it cannot be forked"):
        ForkOrigin.stored(store, 1)


def test_a_run_that_goes_on_is_scrubbed_with_its_live_changes() -> None:
    live = Live(BUSY)
    live.go_to(5.0)
    replay = Replay.live(live.job)
    assert replay.seek(60.0).now_s == 5.0
    live.job.apply({"link": "wifi", "rate": "3Mbit/s"}).result(DEADLINE_S)
    live.go_to(8.25)
    live.job.apply({"link": "lte", "loss": "3%"}).result(DEADLINE_S)
    live.job.apply({"link": "dsl", "delay": "40ms"}).result(DEADLINE_S)
    live.go_to(20.0)
    text = live.job.scenario_text

    assert text != BUSY
    assert replay.known_until_s == 20.0
    for t_s in (20.0, 4.0, 8.25, 8.250000001, 12.0, 5.000000001, 5.0, 19.0):
        assert_same(replay.seek(t_s), state_of(text, t_s))
    live.finish()
    assert replay.prepare()
    for t_s in (60.0, 3.0, 33.3):
        assert_same(replay.seek(t_s), state_of(text, t_s))


def test_a_stored_run_with_live_changes_is_repeated(store: Store) -> None:
    job = RunJob(parse_scenario(BUSY), BUSY, store=store)
    change = job.apply({"link": "wifi", "rate": "3Mbit/s"})
    job.run()
    assert change.result().event.at_s == 1e-9
    replay = Replay.stored(store, 1)

    assert replay.prepare()
    assert replay.is_same


def test_learning_agents_count_as_work(store: Store) -> None:
    source = open_scenario("rlx-fixed")
    job = RunJob(source.scenario, source.text, store=store)
    assert job.run().run_id == 1
    replay = Replay.stored(store, 1)
    replay.prepare()
    simulation = Simulation(source.scenario)
    simulation.run_until(source.scenario.duration_s)

    assert replay.is_same
    # With spacing by packets only, the whole run would have two stretches.
    assert simulation.link_crossings < 2 * FIRST_SPACING
    assert replay.cost.states > 5

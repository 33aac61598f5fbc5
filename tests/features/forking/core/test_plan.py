"""A fork equals the original until its time, bit for bit, and equals the run of its own text afterwards."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.forking.core.origin import ForkCancelledError, ForkOrigin, ForkPast
from subflow_app.features.forking.core.plan import ForkPlan, flow_values, link_values
from subflow_app.features.running.core.runs import RunJob, RunResult, decision_limits
from subflow_app.features.traces.core.events import AGENT, DECISION, INTERVAL
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.foundation.errors import InputError
from subflow_sim.errors import ScenarioError
from subflow_sim.lowering import lower
from subflow_sim.scenario import parse_scenario
from subflow_sim.simulation import Simulation
from subflow_store import ColumnSpec, RunStart, Store, open_store

AT_S = 4.25
TEXT = """\
format = 1
name = "Two paths"
duration = "9s"
warmup = "1s"
seed = 5

nodes = { client = {}, server = {} }

[links]
wifi = { ends = ["client", "server"], rate = "8Mbit/s", delay = "25ms", queue = "40pkt", loss = "1%" }
lte = { ends = ["client", "server"], rate = "4Mbit/s", delay = "40ms", queue = "60pkt" }

[flows]
download = { kind = "mptcp", from = "server", to = "client", controller = "CONTROLLER", paths = [["wifi"], ["lte"]] }

[[events]]
at = "2s"
link = "wifi"
loss = "2%"

[[events]]
at = "6s"
link = "lte"
delay = "30ms"
"""
LIA = TEXT.replace("CONTROLLER", "lia")
LOSSIER: list[dict[str, Any]] = [{"link": "wifi", "loss": "5%"}]
KINDS: dict[str, list[dict[str, Any]]] = {
    "rate": [{"link": "wifi", "rate": "2Mbit/s"}],
    "rate one way": [{"link": "wifi", "direction": "reverse", "rate": "2Mbit/s"}],
    "delay": [{"link": "lte", "delay": "5ms"}],
    "loss": LOSSIER,
    "loss model": [{"link": "wifi", "loss": {"model": "gilbert", "p": 0.05, "r": 0.5}}],
    "queue": [{"link": "lte", "queue": "10pkt"}],
    "down": [{"link": "wifi", "up": False}],
    "closed": [{"flow": "download", "subflow": 1, "open": False}],
    "backup": [{"flow": "download", "subflow": 2, "backup": True}],
    "controller": [{"flow": "download", "controller": "olia"}],
    "two": [{"link": "wifi", "loss": "0%", "rate": "3Mbit/s"}, {"flow": "download", "subflow": 2, "open": False}],
}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "runs.db") as opened:
        yield opened


def run(store: Store | None, text: str = LIA, **options: Any) -> RunResult:
    return RunJob(parse_scenario(text), text, store=store, **options).run()


def stored(store: Store, text: str = LIA, **options: Any) -> ForkOrigin:
    return ForkOrigin.stored(store, present(run(store, text, **options).run_id))


def fork(store: Store | None, plan: ForkPlan, **options: Any) -> tuple[RunJob, RunResult]:
    job = plan.job(plan.state(**options), store=store, **options)
    result = job.run()
    assert result.error is None
    return job, result


def held(store: Store, until_s: float, **options: Any) -> tuple[RunJob, threading.Thread]:
    """A run in its thread, on hold at a time."""
    job = RunJob(parse_scenario(LIA), LIA, store=store, **options)
    job.run_to(until_s)
    worker = threading.Thread(target=job.run, daemon=True)
    worker.start()
    while not job.is_held:
        threading.Event().wait(0.001)
    return job, worker


def samples(traces: Any, until_s: float = np.inf) -> dict[Any, bytes]:
    found = {}
    for key in traces.keys():  # noqa: SIM118 - a sequence, not a mapping
        times, values = traces.read(key)
        found[key] = values[times <= until_s].tobytes()
    return found


def test_until_its_time_a_fork_is_the_original(store: Store) -> None:
    origin = stored(store)
    plan = ForkPlan.of(origin, AT_S, LOSSIER)

    state = plan.state()
    alone = Simulation(parse_scenario(LIA))
    alone.run_until(AT_S)
    assert state.simulation.signature() == alone.signature()
    assert state.is_same

    result = plan.job(state, store=store).run()
    original, forked = origin.traces, StoredTraces(store, present(result.run_id))
    assert samples(forked, AT_S) == samples(original, AT_S)
    assert samples(forked) != samples(original)
    before, again = ([mark for mark in each.marks() if mark.time_s <= AT_S] for each in (original, forked))
    assert before
    assert again == before


@for_each("changes", KINDS.values(), ids=KINDS)
def test_a_fork_is_the_run_of_its_stored_text(store: Store, changes: list[dict[str, Any]]) -> None:
    origin = stored(store)
    plan = ForkPlan.of(origin, AT_S, changes)
    job, result = fork(store, plan)

    row = store.run(present(result.run_id))
    text = present(row.scenario_text)
    again = RunJob(parse_scenario(text), text, seed=row.seed)
    assert again.run().signature == row.signature == result.signature
    assert samples(again.traces) == samples(StoredTraces(store, row.id)) == samples(job.traces)
    assert again.traces.marks() == job.traces.marks()
    assert parse_scenario(plan.text) == plan.scenario
    original = store.run(present(origin.run_id))
    assert result.signature != original.signature
    assert set(original.summary or {}) == set(row.summary or {})


def test_without_a_change_a_fork_is_the_original_to_its_end(store: Store) -> None:
    origin = stored(store)
    job, result = fork(None, ForkPlan.of(origin, AT_S, []))

    assert result.signature == store.run(origin.run_id or 0).signature
    assert samples(job.traces) == samples(origin.traces)
    assert job.traces.marks() == origin.traces.marks()


@for_each("at_s", [0.0, 2.0, 6.0, 8.999])
def test_a_fork_at_any_time_is_the_run_of_its_text(store: Store, at_s: float) -> None:
    # At the start, in the nanosecond of an event of the scenario, and after the last sample.
    plan = ForkPlan.of(stored(store), at_s, LOSSIER)
    assert fork(None, plan)[1].signature == run(None, plan.text).signature


@for_each(("controller", "stream"), [("mpcc-loss", INTERVAL.name), ("rl-explore", AGENT.name)])
def test_a_fork_has_intervals_and_steps_of_agents_from_its_beginning(
    store: Store, controller: str, stream: str
) -> None:
    origin = stored(store, TEXT.replace("CONTROLLER", controller))
    _, result = fork(store, ForkPlan.of(origin, AT_S, LOSSIER))
    tables = [origin.traces.events(stream), StoredTraces(store, present(result.run_id)).events(stream)]
    before = [table.select(table["time_ns"] <= AT_S * 1e9) for table in tables]
    assert len(before[0]) > 0
    assert before[0].names == before[1].names
    for field in before[0].columns:
        np.testing.assert_array_equal(before[0][field], before[1][field])
    assert len(tables[1]) > len(before[1])


def test_decisions_are_recorded_from_the_beginning_if_they_are_wanted(store: Store) -> None:
    origin = stored(store, decisions=decision_limits(parse_scenario(LIA)))
    job, _ = fork(store, ForkPlan.of(origin, AT_S, []), records_decisions=True)
    made, before = job.traces.events(DECISION.name), origin.traces.events(DECISION.name)
    for column in ("time_ns", "cwnd_after_pkts"):
        np.testing.assert_array_equal(made[column], before[column])
    for column in ("owner", "rule"):
        assert made.texts(column) == before.texts(column)


def test_the_store_knows_where_a_fork_comes_from(store: Store) -> None:
    origin = stored(store, name="Mine", seed=77)
    _, result = fork(store, ForkPlan.of(origin, AT_S, LOSSIER))
    row = store.run(present(result.run_id))
    made = present(store.forks.origin_of(row.id))
    assert (made.parent_id, made.parent_name, made.forked_at_s) == (origin.run_id, "Mine", AT_S)
    # 2 %, set from 1 % by an earlier event of the scenario.
    assert made.difference == "wifi loss 2 % → 5 %"
    assert made.changes == [{"link": "wifi", "loss": "5%", "before": {"loss": "2%"}}]
    assert row.name == "Mine · fork at 4.25 s: wifi loss 2 % → 5 %"
    # The seed is that of the original run, not that of its text.
    assert row.seed == 77
    assert run(None, present(row.scenario_text), seed=77).signature == row.signature


def test_a_fork_of_a_fork(store: Store) -> None:
    _, first = fork(store, ForkPlan.of(stored(store), AT_S, LOSSIER))
    plan = ForkPlan.of(ForkOrigin.stored(store, first.run_id or 0), 5.0, [{"link": "wifi", "loss": "0%"}])
    _, second = fork(store, plan)
    assert plan.described[0]["before"] == {"loss": "5%"}
    assert second.signature == run(None, plan.text).signature
    assert list(store.forks.of(first.run_id or 0)) == [second.run_id]


def test_a_run_that_was_stopped_is_forked_as_far_as_it_went_and_goes_on_to_the_end(store: Store) -> None:
    job, worker = held(store, 3.0)
    job.stop()
    worker.join(30.0)
    origin = ForkOrigin.stored(store, job.run_id or 0)
    assert origin.known_until_s == 3.0
    with pytest.raises(InputError, match=r"at 3.5 s; allowed: 0 s to 3 s"):
        ForkPlan.of(origin, 3.5, LOSSIER)
    plan = ForkPlan.of(origin, 3.0, LOSSIER)
    _, result = fork(store, plan)
    assert result.summary["simulated_s"] == 9.0
    assert result.signature == run(None, plan.text).signature


def test_a_run_that_goes_on_is_forked_with_what_was_changed_in_it(store: Store) -> None:
    job, worker = held(store, 1.5, name="Live")
    job.apply({"link": "lte", "rate": "1Mbit/s"}).result(30.0)
    job.run_to(3.0)
    while job.progress.sim_time_s != 3.0:
        threading.Event().wait(0.001)

    origin = ForkOrigin.live(job)
    plan = ForkPlan.of(origin, 2.5, LOSSIER)
    forked, result = fork(store, plan)
    unchanged = fork(None, ForkPlan.of(origin, 2.5, []))[1]

    assert result.signature == run(None, plan.text).signature
    assert store.forks.origin_of(result.run_id or 0) == plan.fork()
    assert plan.fork().parent_id == job.run_id
    assert samples(forked.traces, 2.5) == samples(job.traces, 2.5)
    job.unpause()
    worker.join(30.0)
    assert unchanged.signature == store.run(job.run_id or 0).signature


def test_of_another_version_the_past_may_come_out_differently_which_is_said(store: Store) -> None:
    origin = stored(store)
    assert origin.notice == ""
    older = replace(origin, version="0.0.1")
    assert "was made by version 0.0.1" in older.notice
    # A version with other random numbers.
    other = replace(older, seed=6, past=ForkPast())
    state = ForkPlan.of(other, AT_S, LOSSIER).state()
    assert not state.is_same


def test_later_forks_start_from_snapshots_of_the_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = stored(store, TEXT.replace("CONTROLLER", "mpcc-loss"))
    times = (AT_S, 6.5, AT_S, 1.0, 2.25)
    alone = [fork(None, ForkPlan.of(replace(origin, past=ForkPast()), at_s, LOSSIER)) for at_s in times]
    made: list[object] = []

    def counted(scenario: Any, seed: int) -> Any:
        made.append(scenario)
        return lower(scenario, seed)

    monkeypatch.setattr("subflow_sim.simulation.lower", counted)
    for at_s, (job, result) in zip(times, alone, strict=True):
        again, same = fork(None, ForkPlan.of(origin, at_s, LOSSIER))
        assert same.signature == result.signature
        assert samples(again.traces) == samples(job.traces)
        assert again.traces.marks() == job.traces.marks()
        tables = [each.traces.events(INTERVAL.name) for each in (again, job)]
        np.testing.assert_array_equal(tables[0]["time_ns"], tables[1]["time_ns"])
    assert len(made) == 1
    # Only forks of the same run share a past: another seed has another past.
    assert origin.sharing_past(replace(origin, past=ForkPast())).past is not origin.past
    other = replace(origin, seed=6, past=ForkPast())
    assert other.sharing_past(origin).past is other.past


def test_giving_up_while_the_past_is_simulated(store: Store) -> None:
    with pytest.raises(ForkCancelledError):
        ForkPlan.of(stored(store), AT_S, LOSSIER).state(is_cancelled=lambda: True)


def test_what_was_measured_or_cannot_be_read_is_refused(store: Store) -> None:
    def record(text: str, signature: str) -> int:
        start = RunStart("Other", "Other", text, 1, 9.0, version="0.0.1")
        writer = store.start_run(start, [ColumnSpec("flow", "download", "goodput_bps", "bit/s")])
        writer.append(0, np.zeros((9, 1), np.float32))
        writer.finish("finished", {}, signature)
        return writer.run_id

    for text, signature, reason in (
        (LIA, "", "was measured, not simulated: it cannot be forked"),
        ("", "0123456789abcdef", "the text of its scenario was not kept"),
        ("format = 99", "0123456789abcdef", r"version 0\.0\.1 made it, and this one .* cannot read its scenario"),
    ):
        with pytest.raises(InputError, match=reason):
            ForkOrigin.stored(store, record(text, signature))


@for_each("at_s", [-1.0, 9.0, 80.0, float("nan"), float("inf")])
def test_a_time_outside_the_run_is_refused(store: Store, at_s: float) -> None:
    with pytest.raises(InputError, match=r"allowed: from 0 s to before its end at 9 s"):
        ForkPlan.of(stored(store), at_s, LOSSIER)


@for_each(
    ("change", "message", "allowed"),
    [
        ({"link": "wify", "loss": "5%"}, 'did you mean "wifi"', "lte"),
        ({"link": "wifi", "loss": "500%"}, "too large", "0 to"),
        ({"link": "wifi"}, "changes nothing", "rate"),
        ({"flow": "download", "subflow": 3, "open": False}, "has 2 subflows", "1 to 2"),
    ],
)
def test_what_cannot_be_changed_is_refused(store: Store, change: Mapping[str, Any], message: str, allowed: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        ForkPlan.of(stored(store), AT_S, [change])
    problem = caught.value.problems[0]
    assert (message in problem.message, allowed in problem.allowed) == (True, True), problem


def test_a_controller_takes_over_from_the_one_that_the_flow_has_then(store: Store) -> None:
    plan = ForkPlan.of(stored(store), AT_S, [{"flow": "download", "controller": "olia"}])
    assert plan.described[0]["before"] == {"controller": "lia"}
    told = [flow_values(plan.scenario, "download", None, at_s)["controller"] for at_s in (AT_S, 5.0)]
    assert told == ["lia", "olia"]


def test_values_at_a_time_are_those_that_events_have_made() -> None:
    text = LIA + '\n[[events]]\nat = "3s"\nflow = "download"\nsubflow = 2\nopen = false\n'
    scenario = parse_scenario(text)
    at = [link_values(scenario, "wifi", "forward", at_s)["loss"] for at_s in (1.0, 2.0)]
    assert at == ["1%", "2%"]
    values = {"rate": "4Mbit/s", "delay": "40ms", "loss": "0%", "queue": "60pkt", "up": True}
    assert link_values(scenario, "lte", "reverse", 1.0) == values
    opened: Sequence[Any] = [flow_values(scenario, "download", ordinal, 3.0).get("open") for ordinal in (1, 2, None)]
    assert opened == [True, False, None]

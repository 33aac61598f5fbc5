"""Decisions of a run without recorded decisions equal those that it would have recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.features.explain.core.test_explanations import stored as stored_fake
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.scenario_texts import TWO_PATHS
from tests.helpers.scripts import write_scenario

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.explain.core.decisions import ToldDecisions, reduction_behind
from subflow_app.features.explain.core.explained import explained
from subflow_app.features.explain.core.replay import Replay
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import InputError
from subflow_sim.decisions import DecisionLimits
from subflow_sim.scenario import parse_scenario
from subflow_store import Store

OWNERS = ("download/1", "download/2", "download")
TEXT = TWO_PATHS.replace('"60s"', '"20s"')


def run(store: Store, text: str = TEXT, decisions: DecisionLimits | None = None) -> int:
    return present(RunJob(parse_scenario(text), text, store=store, decisions=decisions).run().run_id)


@pytest.fixture
def scripted(store: Store, tmp_path: Path) -> RunJob:
    """A stored run of a scenario with scripts, with its decisions."""
    source = open_scenario(str(write_scenario(tmp_path)))
    job = RunJob(source.scenario, source.text, store=store, decisions=DecisionLimits())
    assert job.run().run_id == 1
    return job


def in_words(told: ToldDecisions) -> tuple[list[str], list[str]]:
    """Every number of the decisions as text, in which NaN equals NaN."""
    return [repr(each) for each in told.before], [repr(each) for each in told.after]


@pytest.mark.parametrize("is_prepared", [False, True])
@pytest.mark.parametrize("owner", OWNERS)
def test_simulated_again_they_are_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch, owner: str, is_prepared: bool
) -> None:
    monkeypatch.setattr("subflow_app.features.explain.core.replay.FIRST_SPACING", 1 << 12)
    recorded = Replay.stored(store, run(store, decisions=DecisionLimits()))
    plain = Replay.stored(store, run(store))
    if is_prepared:
        plain.prepare()

    for at_s, before, after in ((19.99, 3, 5), (0.5, 1, 0), (12.3, 400, 1), (7.0, 1, 300)):
        kept = recorded.explain(owner, at_s, before=before, after=after)
        again = plain.explain(owner, at_s, before=before, after=after)

        assert (kept.is_resimulated, again.is_resimulated) == (False, True)
        assert in_words(again) == in_words(kept)
        assert again.before
        assert again.current.time_s <= at_s
    # Recording is off again, and the replay still reproduces the run.
    assert plain.prepare()
    assert plain.is_same


@for_each(("owner", "script"), [("f/1", "mine"), ("f", "nearest")])
def test_lines_of_scripts_are_found_by_simulating_again(
    store: Store, scripted: RunJob, owner: str, script: str
) -> None:
    replays = (Replay.stored(store, 1), Replay.live(scripted))
    stored, live = (replay.explain(owner, 2.5, before=20) for replay in replays)
    for told in (stored, live):
        assert told.is_resimulated
        assert {each.script.name for each in told.before if each.script is not None} == {script}
        assert any(each.lines for each in told.before)
    found, notice = explained(store, 1, owner, 2.5, before=20)
    assert in_words(found) == in_words(stored) == in_words(live)
    assert "lines that scripts execute" in notice


@pytest.mark.usefixtures("scripted")
def test_the_halving_that_a_script_decides_is_told_with_the_sender_that_carries_it_out(store: Store) -> None:
    found = explained(store, 1, "f/1", 2.5, before=5000)[0].before
    position = next(at for at, each in enumerate(found) if each.rule.name == "proportional_rate_reduction")
    behind = present(reduction_behind(found[position], found[:position]))

    assert behind.rule.name == "on_loss"
    assert behind.lines[-1].source == "w.ssthresh = max(w.cwnd / 2, 2)"


def test_what_a_window_left_out_is_simulated_again(store: Store) -> None:
    everything = Replay.stored(store, run(store, decisions=DecisionLimits()))
    end = Replay.stored(store, run(store, decisions=DecisionLimits(window_s=2.0)))

    for at_s, before, is_resimulated in ((19.0, 2, False), (19.0, 1000, True), (5.0, 1, True)):
        told = end.explain("download/1", at_s, before=before)
        assert told.is_resimulated == is_resimulated
        assert in_words(told) == in_words(everything.explain("download/1", at_s, before=before))


def test_a_run_in_this_process_is_told_from_what_it_has_in_memory() -> None:
    recording = RunJob(parse_scenario(TEXT), TEXT, decisions=DecisionLimits())
    plain = RunJob(parse_scenario(TEXT), TEXT)
    for job in (recording, plain):
        job.run()
    kept, again = (Replay.live(job).explain("download/2", 11.0, before=4, after=4) for job in (recording, plain))

    assert (kept.is_resimulated, again.is_resimulated) == (False, True)
    assert in_words(again) == in_words(kept)


def test_what_an_agent_saw_and_did_is_found_with_its_decision(store: Store) -> None:
    source = open_scenario("rlx-fixed", overrides=["duration=4s"])
    job = RunJob(source.scenario, source.text, store=store)
    assert job.run().run_id == 1
    (agent, *_) = (flow.name for flow in source.scenario.flows.values() if flow.controller.policy is not None)
    for replay in (Replay.stored(store, 1), Replay.live(job)):
        told = replay.explain(f"{agent}/1", 3.0, before=200)
        acted = [each for each in told.before if each.cause == "action"][-1]
        behind = present(replay.agent_behind(acted))
        assert behind.time_s == acted.time_s
        assert behind.subflows[0].is_acting


@for_each(
    ("owner", "at_s", "message"),
    [
        ("download/3", 1.0, 'no decisions of "download/3"; allowed: download/1, download/2, late/1, dow'),
        ("download/1", 20.5, "is from 0 s to 20 s; 20.5 s is not in it"),
        ("late/1", 1.0, "the decisions of late/1 in run . begin after 1 s"),
    ],
)
def test_what_nobody_decided_is_said(store: Store, owner: str, at_s: float, message: str) -> None:
    run_id = run(
        store, TEXT + '[flows.late]\nkind = "tcp"\nfrom = "server"\nto = "client"\npaths = [["wifi"]]\nstart = "5s"\n'
    )

    with pytest.raises(InputError, match=message):
        explained(store, run_id, owner, at_s)


def test_a_stored_run_says_where_its_decisions_are_from(store: Store) -> None:
    kept, notice = explained(store, run(store, decisions=DecisionLimits()), "download/1", 3.0)
    assert (kept.is_resimulated, notice) == (False, "")

    again, notice = explained(store, run(store), "download/1", 3.0)
    assert in_words(again) == in_words(kept)
    assert again.is_resimulated
    assert notice.startswith("Run 2 has no stored decisions for this time")


def test_records_of_a_run_that_cannot_be_simulated_again_are_told(store: Store) -> None:
    run_id = stored_fake(store, DecisionLimits())  # its text was not stored

    told, notice = explained(store, run_id, "download/1", 3.2, before=50)
    assert (len(told.before), told.is_resimulated, notice) == (3, False, "")
    with pytest.raises(InputError, match="begin at 1"):
        explained(store, run_id, "download/1", 0.2)
    with pytest.raises(InputError, match="the text of its scenario was not kept"):
        explained(store, stored_fake(store, None), "download/1", 3.2)

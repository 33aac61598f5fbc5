"""Conformance checks of scripts: simple scripts pass, faulty ones fail at their fault, and each finding has its run."""

from __future__ import annotations

import pytest
from tests.helpers.members import for_each
from tests.helpers.scripts import CONTROLLER, SCHEDULER

from subflow_app.features.arena.core import results
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.script.core import ARENA, HALF, ArenaTrial, ConformanceJob, Finding, checks_of
from subflow_app.foundation.jobs.progress import JobState
from subflow_sim.arena.utility import GATE
from subflow_sim.errors import ScenarioError
from subflow_sim.scenario_model import ScriptKind
from subflow_sim.script import kind_of
from subflow_sim.script_reader import read_script, shipped_scripts

# Never reduces its window at a loss.
GREEDY = CONTROLLER.replace("max(w.cwnd / 2, 2)", "max(w.cwnd, 2)")
# Reduces its window to the minimum at each loss, and grows by a hundredth of the normal gain.
TIMID = CONTROLLER.replace("max(w.cwnd / 2, 2)", "2").replace("gain * left", "0.01 * gain * left")
FAILS = CONTROLLER.replace("w.ssthresh = max(w.cwnd / 2, 2)", "w.ssthresh = 1 / (loss.inflight - loss.inflight)")


def findings(kind: ScriptKind, text: str) -> dict[str, Finding]:
    job = ConformanceJob(kind, "mine", text)
    outcome = job.run()
    assert outcome.state is JobState.FINISHED
    assert [each.check for each in job.findings] == list(checks_of(kind))
    return {each.check.id: each for each in job.findings}


def test_newreno_as_a_script_stands_everything_as_newreno_does() -> None:
    found = findings("controller", CONTROLLER)
    assert {each.verdict for each in found.values()} == {"pass"}
    for name in ("loss", "timeouts", "buffer", "outage", "newreno"):
        # The script halves cwnd, NewReno the packets in flight: the results are nearly equal.
        assert found[name].value == pytest.approx(1.0, abs=0.15), name
    assert 0.1 < found["hundred"].value <= 1.0
    assert "of what newreno gets" in found["loss"].text


@for_each("name", shipped_scripts())
def test_scripts_that_ship_stand_everything(name: str) -> None:
    text = read_script(name, None)
    assert {each.verdict for each in findings(kind_of(text), text).values()} == {"pass"}


def test_a_scheduler_is_asked_what_schedulers_can_answer() -> None:
    found = findings("scheduler", SCHEDULER)
    assert set(found) == {"loss", "timeouts", "buffer", "outage", "hundred"}
    assert {each.verdict for each in found.values()} == {"pass"}
    assert len(found["loss"].source.scenario.links) == 2


def test_one_that_never_gives_way_is_not_fair_to_newreno() -> None:
    found = findings("controller", GREEDY)
    assert found["newreno"].verdict == "fail"
    assert found["newreno"].value < GATE


def test_one_that_hardly_sends_does_not_survive_loss() -> None:
    found = findings("controller", TIMID)
    assert found["loss"].verdict == "fail"
    assert found["loss"].value < HALF
    assert found["newreno"].verdict == "pass"  # no controller yields more to NewReno


def test_a_run_that_fails_says_where() -> None:
    found = findings("controller", FAILS)
    assert found["loss"].verdict == "error"
    assert "mine" in found["loss"].text
    assert "line 11" in found["loss"].text


def test_the_run_that_shows_it_can_be_made_again_from_its_text() -> None:
    finding = findings("controller", TIMID)["loss"]
    assert CONTROLLER not in finding.source.text
    result = RunJob(finding.source.scenario, finding.source.text).run()
    assert result.status is JobState.FINISHED
    (flow,) = result.summary["flows"]
    assert flow["controller"] == "mine"
    assert finding.source.scenario.name == "mine: does it survive loss?"


def test_a_script_with_problems_ends_the_job_with_them() -> None:
    outcome = ConformanceJob("controller", "mine", "def on_ack(w, ack):\n    w.cwnd = nonsense\n").run()
    assert outcome.state is JobState.FAILED
    assert isinstance(outcome.error, ScenarioError)
    assert "nonsense" in str(outcome.error)


def test_the_arena_ranks_a_script_that_it_does_not_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "QUICK_NUMBERS", range(1, 2))
    trial = ArenaTrial("mine", CONTROLLER)
    assert trial.run().state is JobState.FINISHED
    (finding,) = trial.findings
    assert finding.check is ARENA
    # About equal to NewReno, from which it differs in one detail.
    assert finding.verdict == "pass"
    assert -3 < finding.value < 0
    assert finding.text.startswith(f"score {finding.number}, place ")
    scenario = finding.source.scenario
    assert scenario.name.startswith("mine: ")
    assert "mine" in {flow.controller.name for flow in scenario.flows.values()}
    result = RunJob(scenario, finding.source.text).run()
    assert result.status is JobState.FINISHED


def test_the_arena_of_a_script_can_be_stopped() -> None:
    trial = ArenaTrial("mine", CONTROLLER)
    trial.stop()
    assert trial.run().state is JobState.STOPPED
    assert trial.findings == ()

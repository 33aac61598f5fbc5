"""Watched expressions: a value for each decision that has all their names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.helpers.members import for_each
from tests.helpers.scripts import CONTROLLER, write_scenario

from subflow_app.features.editor.core.scenario_source import open_scenario
from subflow_app.features.explain.core.replay import Replay, ReplayCancelledError
from subflow_app.features.explain.core.watches import ScriptId, Watch, known_names, watched
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import InputError
from subflow_sim.decisions import Decisions
from subflow_sim.errors import ScriptRunError
from subflow_sim.script_steps import Program

MINE = ScriptId("subflow", "mine")


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Replay:
    source = open_scenario(str(write_scenario(tmp_path_factory.mktemp("scripts"))))
    job = RunJob(source.scenario, source.text)
    job.run()
    return Replay.live(job)


@pytest.fixture(scope="module")
def decisions(replay: Replay) -> Decisions:
    batches: list[Decisions] = []
    replay.decide_again(batches.append)
    return Decisions.joined(batches)


@pytest.fixture(scope="module")
def program(decisions: Decisions) -> Program:
    assert decisions.steps is not None
    return next(each for each in decisions.steps.programs.values() if each.name == "mine")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("w.ssthresh", ["w.ssthresh"]),
        ("left if w.cwnd > 20 else 2 ** gain", ["left", "w.cwnd", "gain"]),
        ("left * 2 - gain", ["left", "gain"]),
        ("w.cwnd / (1 + ack.acked)", ["w.cwnd", "ack.acked"]),
    ],
)
def test_decisions_have_values(
    replay: Replay, decisions: Decisions, program: Program, text: str, names: list[str]
) -> None:
    (found,) = watched(replay, [Watch(text, MINE, program)])

    assert set(found) == {"f/1", "f/2"}
    for owner, (time_s, values) in found.items():
        expected = []
        for row in decisions.rows(owner):
            told = decisions.explain(int(row))
            known = {step.name: step.value for step in told.steps if step.kind not in ("if", "return")}
            if all(name in known for name in names):
                spelt = {name.replace(".", "_"): value for name, value in known.items()}
                value = eval(text.replace(".", "_"), {}, spelt)
                expected.append((told.time_s, value if np.isfinite(value) else np.nan))
        assert len(expected) > 50
        np.testing.assert_allclose(time_s, [time for time, _value in expected], rtol=1e-12)
        np.testing.assert_allclose(values, [value for _time, value in expected], rtol=1e-6)


def test_a_division_by_zero_leaves_a_gap(replay: Replay, program: Program) -> None:
    (found,) = watched(replay, [Watch("1 / (left - left)", MINE, program)])
    assert np.isnan(found["f/1"][1]).all()


@for_each(
    ("text", "message"),
    [
        ("", "nothing to watch; allowed: an expression over"),
        ("lefd * 2", 'column 1: mine has no "lefd", did you mean "left"'),
        ("left +", "column 7: the end where a value is expected"),
        ("left * w.srtt", 'column 8: mine has no "w.srtt"'),
        ("2 * 3", "it names nothing of the script"),
        ("left > 2", "a number is to be worked out"),
        ("len(siblings)", 'unknown name "len"'),
        ("left\x00", "means nothing"),
        ("(" * 50 + "left" + ")" * 50, "too deeply nested"),
        ("left" + " + left" * 200, "too many operators"),
    ],
)
def test_what_cannot_be_watched_is_told_with_what_can(program: Program, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Watch(text, MINE, program)

    assert message in str(caught.value)
    assert "allowed: " in str(caught.value)


def test_what_the_names_are_is_known_beforehand(program: Program) -> None:
    assert known_names(program) == ["ack.acked", "gain", "left", "w.cwnd", "w.ssthresh"]


def test_it_can_be_given_up(replay: Replay, program: Program) -> None:
    shares: list[float] = []
    with pytest.raises(ReplayCancelledError):
        watched(replay, [Watch("left", MINE, program)], lambda: bool(shares), shares.append)
    assert 0.0 < shares[-1] < 1.0
    assert replay.prepare()


def test_of_a_run_that_failed_everything_before_is_watched(tmp_path: Path) -> None:
    path = write_scenario(tmp_path)
    halves = "w.ssthresh = max(w.cwnd / 2, 2)"
    (tmp_path / "mine.py").write_text(CONTROLLER.replace(halves, f"{halves} / (w.cwnd - w.cwnd)"), encoding="utf-8")
    source = open_scenario(str(path))
    job = RunJob(source.scenario, source.text)
    assert isinstance(job.run().error, ScriptRunError)
    replay = Replay.live(job)
    told = replay.explain("f/1", 0.2).current
    assert told.script is not None
    (found,) = watched(replay, [Watch("w.cwnd", MINE, told.script)])

    assert found["f/1"][0][-1] > 0.9 * job.progress.sim_time_s

"""The progress through a lab: actions count, clicks do not, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.helpers.labs import SAWTOOTH_LAB, small_lab
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.labs.core import progress
from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.labs.core.progress import Answered, ProgressFolder
from subflow_app.features.labs.core.runner import LabRunner, run_lab
from subflow_app.features.labs.core.session import LabSession, StepState, answer_text, missing_text, quantity
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import InputError, LabError
from subflow_store import Store


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return small_lab(tmp_path)


def _run(store: Store, text: str) -> int:
    return present(RunJob(present(ScenarioDoc(text).scenario), text, store=store).run().run_id)


def _judge(session: LabSession, store: Store, text: str):
    return session.judge(session.reader(store), text)


def test_a_step_is_passed_by_a_run_and_only_by_one_since_the_beginning(lab: Lab, store: Store) -> None:
    text = lab.scenario_text()
    _run(store, text)
    session = LabSession.begin(lab, store, text, None)
    first, second = lab.steps[:2]
    assert [session.state(step) for step in lab.steps[:2]] == [StepState.ACTIVE, StepState.LOCKED]
    judged = _judge(session, store, text)
    assert (judged.passes, judged.check.why) == (False, "no run has finished yet")
    assert not session.take(judged)
    run_id = _run(store, text)
    assert session.take(_judge(session, store, text))
    assert session.state(first) is StepState.PASSED
    assert session.active == second
    assert session.progress.step_runs() == {"run": run_id}


def test_a_run_of_something_else_says_why_it_does_not_do(lab: Lab, store: Store) -> None:
    session = LabSession.begin(lab, store, lab.scenario_text(), None)
    _run(store, lab.scenario_text().replace('controller = "newreno"', 'controller = "cubic"'))
    judged = _judge(session, store, lab.scenario_text())
    assert judged.check.why == "this does not hold: finished(1) and 'cubic' == 'newreno'"
    _run(store, Path("assets/scenarios/t-2link.toml").read_text().replace('duration = "60s"', 'duration = "1s"'))
    assert _judge(session, store, "").check.why == "the scenario has no flow reno"


def test_a_question_is_answered_by_the_right_answer_which_is_told_after_two_wrong_ones(lab: Lab, store: Store) -> None:
    text = lab.scenario_text()
    session = LabSession.begin(lab, store, text, None)
    _run(store, text)
    session.take(_judge(session, store, text))
    step = lab.steps[1]
    bdp, who = step.questions
    reader = session.reader(store)
    with pytest.raises(InputError, match='"many" is not a number; allowed: '):
        session.judge_answer(reader, text, step, bdp, "many")
    told: list[str] = []
    given: tuple[Answered, ...] = ()
    for said in ("41,7", "8", "83"):
        assert not session.is_answered(step, bdp)
        session.answer(step, bdp, session.judge_answer(reader, text, step, bdp, said))
        given = session.step_progress(step).answers["bdp"]
        told.append(answer_text(bdp, given, is_done=session.is_answered(step, bdp)))
    why = "10 Mbit/s times 100 ms are 83 packets of 1500 bytes."
    assert told == [
        "Not right. That is the way there; the ACK has to come back.",
        f"Not right. The right answer is 83.33 pkt. Enter it to continue. {why}",
        f"Right. {why}",
    ]
    assert [(each.value, each.is_right) for each in given] == [(41.7, False), (8.0, False), (83.0, True)]
    with pytest.raises(InputError, match="is answered"):
        session.answer(step, bdp, given[0])
    assert not session.take(_judge(session, store, text))
    with pytest.raises(InputError, match="not one of the options"):
        session.judge_answer(reader, text, step, who, "Nobody")
    session.answer(step, who, session.judge_answer(reader, text, step, who, "The queue"))
    assert session.take(_judge(session, store, text))


def test_only_runs_after_a_prediction_count_in_its_step(tmp_path: Path, store: Store) -> None:
    runner = LabRunner(small_lab(tmp_path), store, tmp_path / "scratch")
    session = runner.session
    for step in session.lab.steps[:2]:
        assert runner.carry_out(step) == ""
    step = session.lab.steps[2]
    text = session.lab.scenario_text().replace('queue = "84pkt"', 'queue = "17pkt"')
    # Runs of earlier steps do not count as runs before the prediction.
    assert missing_text(step, _judge(session, store, text)) == "First enter your prediction below the text, then run."
    last = _run(store, text)
    judged = _judge(session, store, text)
    assert judged.check is None  # the prediction comes first
    assert missing_text(step, judged).startswith("You ran before you predicted: predict the result now")
    with pytest.raises(InputError, match='"It rises" does not answer'):
        session.predict(step, "It rises", last)
    session.predict(step, "It stays", last)
    judged = _judge(session, store, text)
    assert (judged.passes, judged.check.why) == (False, "no run has finished since your prediction")
    assert missing_text(step, judged) == "You ran before you predicted: run again, now that you have predicted."
    _run(store, text)
    assert session.take(_judge(session, store, text))
    predicted = present(session.step_progress(step).prediction)
    assert (predicted.came, predicted.is_right) == ("It falls", False)


def test_progress_outlives_the_program(lab: Lab, store: Store, tmp_path: Path) -> None:
    folder = ProgressFolder(tmp_path / "progress")
    session = LabSession.begin(lab, store, "one", folder, "runs.db")
    _run(store, lab.scenario_text())
    session.take(_judge(session, store, ""))
    assert session.hint(lab.steps[1]) is None
    session.keep_document("two")
    kept = folder.read(lab.name)
    assert kept.notice == ""
    assert kept.progress == session.progress
    assert kept.progress.document == "two"
    again = LabSession(lab, kept.progress, folder)
    assert again.active == lab.steps[1]
    # Starting again keeps the old progress under another name.
    folder.forget(lab.name)
    assert folder.read(lab.name).progress is None
    assert json.loads((folder.folder / "01-small.old-1.json").read_text())["document"] == "two"
    # The progress of a whole lab is read back completely.
    done = run_lab(lab).progress
    folder.write(done)
    assert folder.read(lab.name).progress == done
    (tmp_path / "file").write_text("")
    with pytest.raises(LabError, match="the progress in the lab cannot be kept"):
        LabSession.begin(lab, store, "", ProgressFolder(tmp_path / "file"))


def test_progress_is_of_the_text_that_it_was_begun_with(lab: Lab, store: Store, tmp_path: Path) -> None:
    begun = LabSession.begin(lab, store, "", None).progress
    assert progress.other_text_notice(lab, begun) == ""
    other = small_lab(tmp_path, SAWTOOTH_LAB.replace("Another controller.", "Another one."))
    told = progress.other_text_notice(other, begun)
    assert told.startswith(f"The lab 01-small was begun with another text than that of {other.path}")
    # A shipped lab is the same lab in each language.
    for name in lab_names():
        english, german = (load_lab(name, language=language) for language in ("en", "de"))
        assert english.file_hash != german.file_hash
        others = ((english, german.file_hash), (german, english.file_hash), (english, "0" * 64))
        assert [progress.is_other_text(*each) for each in others] == [False, False, True]


@for_each("content", ["", "{", "[]", '{"format": 9}', '{"format": 1, "lab": "other"}', "\x00", "[" * 9999])
def test_damaged_progress_is_set_aside_and_told(lab: Lab, tmp_path: Path, content: str) -> None:
    folder = ProgressFolder(tmp_path)
    folder.path(lab.name).write_text(content)
    kept = folder.read(lab.name)
    assert kept.progress is None
    assert "cannot be read" in kept.notice
    aside = tmp_path / "01-small.damaged-1.json"
    assert str(aside) in kept.notice
    assert aside.read_text() == content
    assert folder.read(lab.name).notice == ""


_READ = [("83", "pkt", 83.0), ("8.3 Mbit/s", "kbit/s", 8.3e6), ("5", "Mbit/s", 5e6), ("2,5", "ms", 0.0025)]


@for_each(("said", "unit", "expected"), [*_READ, ("-1", "", -1.0)])
def test_numbers_are_read_with_and_without_their_unit(said: str, unit: str, expected: float) -> None:
    assert quantity(said, unit) == pytest.approx(expected)


def test_a_check_that_holds_too_early_or_never_is_told(tmp_path: Path) -> None:
    text = SAWTOOTH_LAB.replace("finished(last()) and controller(last(), 'reno') == 'newreno'", "valid()")
    outcome = run_lab(small_lab(tmp_path, text))
    assert "step run: its check holds before anything was done" in outcome.problems[0]
    outcome = run_lab(small_lab(tmp_path, SAWTOOTH_LAB.replace("queue') == 17", "queue') == 18")))
    assert [each.step for each in outcome.steps] == ["run", "pipe", "shorter"]
    assert "its check does not hold after its solution" in outcome.problems[0]
    assert "17 == 18" in outcome.problems[0]


def test_each_student_has_the_options_in_another_order_and_keeps_it(lab: Lab, store: Store) -> None:
    step = lab.steps[1]
    question = step.questions[1]
    firsts = set()
    for _ in range(30):
        session = LabSession.begin(lab, store, "", None)
        options = session.options(step, question)
        assert sorted(options) == sorted(question.options)
        kept = progress.progress_of(progress.document_of(session.progress), lab.name)
        assert options == LabSession(lab, kept, None).options(step, question)
        firsts.add(options[0])
    assert firsts == {"The sender", "The queue"}


@for_each(
    ("fact", "told"),
    [
        ("9.65 Mbit/s = goodput(last())", ""),
        ("9.60 Mbit/s = goodput(last())", "its texts state 9.60 Mbit/s, and goodput(last()) is 9.6"),
        ("about 10 Mbit/s = goodput(last())", ""),
        ("9.5 Mbit/s = goodput(last())", "none of its texts contains the fact 9.5 Mbit/s"),
        ("9.65 Mbit/s = goodput(run(7))", "is not known: 1 of 7 runs have finished"),
    ],
)
def test_a_number_that_no_run_gives_is_told_when_a_lab_is_tried(tmp_path: Path, fact: str, told: str) -> None:
    text = SAWTOOTH_LAB.replace('hints = ["Look at', f"facts = ['{fact}']\nhints = [\"9.65, 9.60 or 10 Mbit/s? Look at")
    [*problems] = run_lab(small_lab(tmp_path, text)).problems
    assert (problems == []) == (told == "")
    assert all(told in problem for problem in problems)

"""A class of five: two are right, one guesses, one is stuck, one cheats; and a lab published for the class."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.labs import SAWTOOTH_LAB, sign_anew, small_lab
from tests.helpers.members import for_each

from subflow_app.features.labs.core.lab_file import load_lab
from subflow_app.features.labs.core.progress import Answered, Progress
from subflow_app.features.labs.core.result_file import result_document, write_result
from subflow_app.features.labs.core.runner import LabRunner
from subflow_app.features.labs.core.sealing import Sealed, Told
from subflow_app.features.labs.core.session import LabSession
from subflow_app.foundation.errors import LabError
from subflow_store import Store, open_store

KEY = "only the lecturer knows"
_COMPUTED = "value('links.bottleneck.rate') * 2 * value('links.bottleneck.delay') / 12000"
CLASS_LAB = SAWTOOTH_LAB.replace(_COMPUTED, "83.3 pkt")


@pytest.fixture
def published(tmp_path: Path, subflow: Subflow) -> Path:
    """The published version of the small lab."""
    small_lab(tmp_path, CLASS_LAB)
    answer = subflow("labs", "publish", tmp_path / "01-small.md", "--key", KEY, "--out", tmp_path / "students")
    assert (answer.code, answer.out) == (0, f"wrote {tmp_path / 'students' / '01-small.md'}\n")
    return tmp_path / "students" / "01-small.md"


def _work(
    store: Store, scratch: Path, *, until: str = "", wrong: bool = False, drawn: int = 60
) -> tuple[Store, LabRunner]:
    """The work of a student: the steps of the solution up to `until`, optionally each after wrong answers.

    ``drawn`` is a value of the curve that the student draws.
    """
    lab = small_lab(scratch, CLASS_LAB.replace("15s:60", f"15s:{drawn}"))
    runner = LabRunner(lab, store, scratch / "scratch")
    for step in lab.steps:
        if step.id == until:
            break
        if wrong and step.questions:
            for number, said in ((0, "8"), (0, "9"), (1, "The sender")):
                question = step.questions[number]
                judged = runner.session.judge_answer(runner.session.reader(store), "", step, question, said)
                runner.session.answer(step, question, judged)
        assert runner.carry_out(step) == ""
    return store, runner


def _hand_in(
    folder: Path, name: str, work: tuple[Store, LabRunner], published: Path, begun: str, seconds: int
) -> dict[str, Any]:
    """Writes a result like the published lab, with the given number of seconds between all actions of the student."""
    store, runner = work
    progress = _timed(runner.session.progress, datetime.fromisoformat(begun), timedelta(seconds=seconds))
    evidence = runner.session.reader(store).read("", progress.step_runs())
    document = result_document(load_lab(published), progress, evidence, name)
    write_result(folder / f"{name.lower()}.json", document)
    return document


def _timed(progress: Progress, at: datetime, pause: timedelta) -> Progress:
    """The same progress at another time. The runs themselves are recent: the lab began long before them."""
    begun = at.isoformat(timespec="seconds")

    def later() -> str:
        nonlocal at
        at += pause
        return at.isoformat(timespec="seconds")

    steps = {}
    for name, step in progress.steps.items():
        answers: dict[str, tuple[Answered, ...]] = {
            question: tuple(replace(each, at=later()) for each in given) for question, given in step.answers.items()
        }
        steps[name] = replace(step, answers=answers, passed_at=later() if step.passed_at else "")
    return replace(progress, begun_at=begun, steps=steps)


def test_a_class_of_five_is_graded(subflow: Subflow, store: Store, published: Path, tmp_path: Path) -> None:
    folder = tmp_path / "class"
    folder.mkdir()
    stores = [store, *(open_store(":memory:") for _ in range(3))]
    scratch = [tmp_path / f"student-{number}" for number in range(4)]
    for each in scratch:
        each.mkdir()
    students: list[tuple[str, int, dict[str, Any]]] = [
        *(("Ada", 40, {}), ("Bob", 45, {}), ("Gus", 2, {"wrong": True}), ("Sue", 50, {"until": "shorter"}))
    ]
    handed_in = {}
    for number, (name, seconds, way) in enumerate(students):
        begun = f"2126-01-05T10:0{number}:00+00:00"
        work = _work(stores[number], scratch[number], drawn=60 + number, **way)
        handed_in[name] = _hand_in(folder, name, work, published, begun, seconds)
    # Eve puts her name into Bob's file and signs it anew without the course key.
    eve = {**handed_in["Bob"], "student": "Eve"}
    sign_anew(eve)
    (folder / "eve.json").write_text(json.dumps(eve))

    words = ["labs", "class", folder, "--lab", published, "--key", KEY]
    answer = subflow(*words, "--csv", tmp_path / "class.csv", "--steps", tmp_path / "steps.csv")
    assert answer.code == 1
    with (tmp_path / "class.csv").open() as file:
        table = {row["student"]: row for row in csv.DictReader(file)}
    figures = ("outcome", "steps_passed", "first_try_percent", "tries", "runs_confirmed")
    told = {name: tuple(row[figure] for figure in figures) for name, row in table.items()}
    assert told == {
        "Ada": ("confirmed", "5", "100.0", "2", "3"),
        "Bob": ("confirmed", "5", "100.0", "2", "3"),
        "Gus": ("confirmed", "5", "0.0", "5", "3"),
        "Sue": ("confirmed", "2", "100.0", "2", "1"),
        "Eve": ("contradicted", "5", "100.0", "2", "3"),
    }
    odd = {name: row["anomalies"] for name, row in table.items()}
    assert odd["Ada"] == odd["Sue"] == ""
    same = "begun or answered in the same seconds"
    assert odd["Bob"] == f"the same work as in eve.json: {same}; the same drawn curve as in eve.json"
    assert "it was signed without the course key" in odd["Eve"]
    assert "the same work as in bob.json" in odd["Eve"]
    assert "3 wrong answers followed by another one within 4 s" in odd["Gus"]
    assert "done in 0 min, the lab takes about 5 min" in odd["Gus"]
    with (tmp_path / "steps.csv").open() as file:
        pipe = {row["student"]: row for row in csv.DictReader(file) if row["step"] == "pipe"}
    assert (pipe["Gus"]["tries"], pipe["Gus"]["first_try"], pipe["Sue"]["first_try"]) == ("5", "0", "2")
    grades = {each["student"]: each for each in subflow(*words, "--json").document}
    assert (grades["Sue"]["stands_at"], grades["Ada"]["stands_at"]) == ("shorter", "")
    for opened in stores[1:]:
        opened.close()


def test_a_published_lab_judges_answers_untold(subflow: Subflow, published: Path, store: Store, tmp_path: Path) -> None:
    text = published.read_text()
    for secret in ("do =", "answer", "are 83 packets", "has to come back", "sent them already", KEY):
        assert secret not in text.partition("## Run it")[0]
    checked = subflow("labs", "check", published, "--run")
    assert checked.code == 0
    assert "it was published, without its solution" in checked.err
    assert "83" not in (checked.out + checked.err).replace(str(published.parent), "")  # a folder may have this name

    lab = load_lab(published)
    session = LabSession.begin(lab, store, "", None)
    step = lab.steps[1]
    who = step.questions[1]
    told = []
    for said in ("The sender", "The queue"):
        given = session.judge_answer(session.reader(store), "", step, who, said)
        told.append((given.is_right, given.right, who.told_to(said, is_right=given.is_right)))
    assert told == [(False, "", "It has sent them already."), (True, "", "")]
    # A published lab cannot be published again.
    answer = subflow("labs", "publish", published, "--key", KEY, "--out", tmp_path / "twice")
    assert (answer.code, "has been published: its answers are sealed" in answer.err) == (2, True)
    published.write_text(text.replace('salt = "', 'salt = 3 # "'))
    with pytest.raises(LabError, match="closed answers; allowed: the answers that `subflow labs publish`"):
        load_lab(published)


@for_each(
    ("said", "is_right"),
    [("83.3", True), ("86", True), ("80.5", True), ("90", False), ("76", False), ("-83", False), ("41.7", False)],
)
def test_a_closed_number_takes_what_its_tolerance_allows(said: str, is_right: bool) -> None:
    answers = [(83.3, Told(True, "so")), (41.7, Told(False, "one way"))]
    sealed = Sealed.of(answers, 0.05, "salt")
    told = sealed.open(float(said))
    assert told.is_right is is_right
    assert told.why == ("so" if is_right else "one way" if said == "41.7" else "")


def test_what_cannot_be_done_is_told(subflow: Subflow, tmp_path: Path) -> None:
    keys = [subflow("labs", "key").out.strip() for _ in range(2)]
    assert ([len(key) for key in keys], len({*keys})) == ([48, 48], 2), "each course key is another one"
    lab = small_lab(tmp_path).path
    # The output names the failing order of a solution without the right answer.
    told = subflow("labs", "check", lab, "--run").err
    assert ("pipe: answer bdp\n" in told, "shorter: predict\n" in told) == (True, True)
    for name in ("empty", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "notes" / "notes.json").write_text('{"a": 1}')
    for words, told in (
        (["class", tmp_path / "none"], "is not a folder"),
        (["class", tmp_path / "empty"], "holds no JSON file"),
        (["class", tmp_path / "notes"], "notes.json: it cannot be graded"),
        (["publish", lab], "--key is missing"),
        (["publish", lab, "--key", "k", "--out", tmp_path], "is the lab itself"),
    ):
        answer = subflow("labs", *words)
        assert (answer.code, told in answer.err) == (2, True), answer.err

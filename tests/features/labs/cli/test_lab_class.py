"""A class of five: two are right, one guesses, one is stuck, one cheats; and a lab that is published for it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
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
def store() -> Iterator[Store]:
    with open_store(":memory:") as made:
        yield made


@pytest.fixture
def published(tmp_path: Path, subflow: Subflow) -> Path:
    """The small lab as it is handed out."""
    small_lab(tmp_path, CLASS_LAB)
    answer = subflow("labs", "publish", tmp_path / "01-small.md", "--key", KEY, "--out", tmp_path / "students")
    assert (answer.code, answer.out) == (0, f"wrote {tmp_path / 'students' / '01-small.md'}\n")
    return tmp_path / "students" / "01-small.md"


def _work(store: Store, scratch: Path, *, until: str = "", wrong: bool = False) -> tuple[Store, LabRunner]:
    """What a student does: as the solution says, up to a step; or with wrong answers first, one after the other."""
    lab = small_lab(scratch, CLASS_LAB)
    runner = LabRunner(lab, store, scratch / "scratch")
    for step in lab.steps:
        if step.id == until:
            break
        if wrong and step.questions:
            for question, said in (
                (step.questions[0], "8"),
                (step.questions[0], "9"),
                (step.questions[1], "The sender"),
            ):
                judged = runner.session.judge_answer(runner.session.reader(store), "", step, question, said)
                runner.session.answer(step, question, judged)
        assert runner.carry_out(step) == ""
    return store, runner


def _hand_in(
    folder: Path, name: str, work: tuple[Store, LabRunner], published: Path, begun: str, seconds: int
) -> dict[str, Any]:
    """Writes a result as the published lab does, with so many seconds between all that the student did."""
    store, runner = work
    progress = _timed(runner.session.progress, datetime.fromisoformat(begun), timedelta(seconds=seconds))
    evidence = runner.session.reader(store).read("", progress.step_runs())
    document = result_document(load_lab(published), progress, evidence, name)
    write_result(folder / f"{name.lower()}.json", document)
    return document


def _timed(progress: Progress, at: datetime, pause: timedelta) -> Progress:
    """The same at another time. The runs themselves were made just now: the lab was begun long after them."""
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
    _hand_in(folder, "Ada", _work(stores[0], scratch[0]), published, "2126-01-05T10:00:00+00:00", 40)
    bob = _hand_in(folder, "Bob", _work(stores[1], scratch[1]), published, "2126-01-05T10:01:00+00:00", 45)
    _hand_in(folder, "Gus", _work(stores[2], scratch[2], wrong=True), published, "2126-01-05T10:02:00+00:00", 2)
    _hand_in(folder, "Sue", _work(stores[3], scratch[3], until="shorter"), published, "2126-01-05T10:03:00+00:00", 50)
    # Eve takes Bob's file, puts her name in, and signs it anew without the course key.
    eve = {**bob, "student": "Eve"}
    sign_anew(eve)
    (folder / "eve.json").write_text(json.dumps(eve))

    words = ["labs", "class", folder, "--lab", published, "--key", KEY]
    answer = subflow(*words, "--csv", tmp_path / "class.csv", "--steps", tmp_path / "steps.csv")
    assert answer.code == 1
    with (tmp_path / "class.csv").open() as file:
        table = {row["student"]: row for row in csv.DictReader(file)}
    told = {
        name: (row["outcome"], row["steps_passed"], row["first_try_percent"], row["tries"], row["runs_confirmed"])
        for name, row in table.items()
    }
    assert told == {
        "Ada": ("confirmed", "5", "100.0", "2", "3"),
        "Bob": ("confirmed", "5", "100.0", "2", "3"),
        "Gus": ("confirmed", "5", "0.0", "5", "3"),
        "Sue": ("confirmed", "2", "100.0", "2", "1"),
        "Eve": ("contradicted", "5", "100.0", "2", "3"),
    }
    odd = {name: row["anomalies"] for name, row in table.items()}
    assert odd["Ada"] == odd["Sue"] == ""
    assert odd["Bob"] == "the same work as in eve.json: begun or answered in the same seconds"
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


def test_a_published_lab_tells_no_answers_and_judges_them_all_the_same(
    subflow: Subflow, published: Path, store: Store
) -> None:
    text = published.read_text()
    for secret in ("do =", "answer", "are 83 packets", "has to come back", "sent them already", KEY):
        assert secret not in text.partition("## Run it")[0]
    checked = subflow("labs", "check", published, "--run")
    assert checked.code == 0
    assert "it was published, without its solution" in checked.err
    assert "83" not in (checked.out + checked.err).replace(str(published.parent), "")  # a folder may be called so

    lab = load_lab(published)
    session = LabSession.begin(lab, store, "", None)
    step = lab.steps[1]
    who = step.questions[1]
    told = []
    for said in ("The sender", "The queue"):
        given = session.judge_answer(session.reader(store), "", step, who, said)
        told.append((given.is_right, given.right, who.told_to(said, is_right=given.is_right)))
    assert told == [(False, "", "It has sent them already."), (True, "", "")]


def test_an_order_of_a_solution_is_told_without_what_is_right(subflow: Subflow, tmp_path: Path) -> None:
    told = subflow("labs", "check", small_lab(tmp_path).path, "--run").err
    assert "pipe: answer bdp\n" in told
    assert "shorter: predict\n" in told


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


def test_a_course_key_is_another_one_each_time(subflow: Subflow) -> None:
    first, second = subflow("labs", "key").out, subflow("labs", "key").out
    assert len(first.strip()) == len(second.strip()) == 48
    assert first != second


def test_what_cannot_be_done_is_told(subflow: Subflow, tmp_path: Path) -> None:
    lab = small_lab(tmp_path).path
    (tmp_path / "empty").mkdir()
    for words, told in (
        (["class", tmp_path / "none"], "is not a folder"),
        (["class", tmp_path / "empty"], "holds no JSON file"),
        (["publish", lab], "--key is missing"),
        (["publish", lab, "--key", "k", "--out", tmp_path], "is the lab itself"),
    ):
        answer = subflow("labs", *words)
        assert (answer.code, told in answer.err) == (2, True), answer.err


def test_a_file_that_is_no_result_is_graded_as_that(subflow: Subflow, tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('{"a": 1}')
    answer = subflow("labs", "class", tmp_path)
    assert answer.code == 2
    assert "not readable" in answer.out
    assert "notes.json: it cannot be graded: is not a result of a lab" in " ".join(answer.err.split())


def test_a_published_lab_is_not_published_again(published: Path, subflow: Subflow, tmp_path: Path) -> None:
    answer = subflow("labs", "publish", published, "--key", KEY, "--out", tmp_path / "twice")
    assert answer.code == 2
    assert "has been published: its answers are sealed" in answer.err
    text = published.read_text().replace('salt = "', 'salt = 3 # "')
    with pytest.raises(LabError, match="closed answers; allowed: the answers that `subflow labs publish`"):
        load_lab(_written(tmp_path / "damaged.md", text))


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path

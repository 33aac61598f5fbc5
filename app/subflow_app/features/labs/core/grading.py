"""Results of a class: of each student how far they came, with how many tries, what is confirmed, and what is odd.

It proves that the runs are real and do what the steps ask for, and with a course key that the results were written by
the lab that was handed out; not who did the work, nor that nobody was told the answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from subflow_app.features.labs.core.lab import Lab
from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.labs.core.progress import StepProgress, read_step
from subflow_app.features.labs.core.result_file import RunsAgain, read_result, verify_result
from subflow_app.foundation.confirmation import Confirmation
from subflow_app.foundation.errors import InputError, LabError
from subflow_app.vocabulary.language import ENGLISH, LANGUAGES, translatable
from subflow_app.vocabulary.number_text import counted
from subflow_app.vocabulary.plain_text import readable_line
from subflow_app.vocabulary.tables import Column, NumberColumn, csv_flag, csv_text
from subflow_sim.gate import is_file, is_folder

_SHORTEST = 6  # a sixth of the time that a lab takes is too short for one who reads it
_GUESSED_S = 4.0  # who answers wrong and again within so many seconds has not thought about it
_MOST_GUESSES = 3
_ALIKE = 3  # so many answers given in the same seconds are not chance


@dataclass(frozen=True, slots=True)
class StepGrade:
    """One step of a student.

    Attributes:
        id: of the step.
        is_passed: whether it was passed.
        tries: answers that were given.
        questions: that were answered or tried.
        first_try: of these right at the first answer.
        hints: that were shown.
        is_predicted: whether its prediction came true; None: there is none, or it has no right and wrong.
    """

    id: str
    is_passed: bool
    tries: int
    questions: int
    first_try: int
    hints: int
    is_predicted: bool | None


@dataclass(frozen=True, slots=True)
class Grade:
    """What a student handed in.

    Attributes:
        file: its name.
        student: as the file says; empty if it cannot be read.
        lab: name of the lab.
        outcome: whether the runs and what the file says of them are confirmed; None: it is not a result.
        steps: in their order.
        of: how many questions the lab asks; those that were not tried count as wrong.
        runs: that it holds.
        confirmed: of these came out again.
        minutes: from the beginning to the last step that was passed.
        anomalies: what a lecturer should look at.
    """

    file: str
    student: str = ""
    lab: str = ""
    outcome: Confirmation | None = None
    steps: tuple[StepGrade, ...] = ()
    of: int = 0
    runs: int = 0
    confirmed: int = 0
    minutes: float | None = None
    anomalies: tuple[str, ...] = ()

    @property
    def passed(self) -> int:
        """Steps that were passed."""
        return sum(step.is_passed for step in self.steps)

    @property
    def tries(self) -> int:
        """Answers that were given."""
        return sum(step.tries for step in self.steps)

    @property
    def first_try(self) -> int:
        """Questions that were right at the first answer."""
        return sum(step.first_try for step in self.steps)

    @property
    def score(self) -> float:
        """Share of the lab's questions that were right at the first answer, in per cent."""
        return 100.0 * self.first_try / self.of if self.of else 0.0

    @property
    def hints(self) -> int:
        """Hints that were shown."""
        return sum(step.hints for step in self.steps)

    @property
    def stands_at(self) -> str:
        """The first step that was not passed; empty: all were."""
        return next((step.id for step in self.steps if not step.is_passed), "")


COLUMNS: tuple[Column[Grade], ...] = (
    Column(translatable("Student"), lambda grade: grade.student or grade.file),
    Column(translatable("Lab"), lambda grade: grade.lab),
    Column(translatable("Outcome"), lambda grade: grade.outcome or "not readable"),
    Column(translatable("Steps"), lambda grade: f"{grade.passed} of {len(grade.steps)}"),
    Column(translatable("Current step"), lambda grade: grade.stands_at),
    NumberColumn(translatable("First try %"), lambda grade: f"{grade.score:.0f}"),
    NumberColumn(translatable("Tries"), lambda grade: grade.tries),
    NumberColumn(translatable("Hints"), lambda grade: grade.hints),
    Column(translatable("Runs"), lambda grade: f"{grade.confirmed} of {grade.runs}"),
    NumberColumn(translatable("Minutes"), lambda grade: "" if grade.minutes is None else f"{grade.minutes:.0f}"),
    NumberColumn(translatable("Anomalies"), lambda grade: len(grade.anomalies)),
)
"""Columns of the table in terminal and window; the anomalies follow below it."""


@dataclass
class _Seen:
    """What tells work of one's own from a copy.

    Attributes:
        begun: students by when and with which deal of options they began.
        answered: students by answer, and the second in which it was given.
    """

    begun: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    answered: dict[tuple[str, str, str, str], list[str]] = field(default_factory=lambda: defaultdict(list))


def result_files(folder: Path) -> list[Path]:
    """The results in a folder, by name: all its JSON files.

    Raises:
        InputError: if it is not a folder, or holds none.
    """
    if not is_folder(folder):
        raise InputError(f"{folder} is not a folder; allowed: one with the results of a class, a JSON file each")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".json" and is_file(path))
    if not files:
        raise InputError(f"{folder} holds no JSON file; allowed: a folder with the results of a class")
    return files


def lab_of(document: Mapping[str, Any], given: Lab | None) -> Lab | None:
    """The lab that a result is of: the given one, or the shipped one, in the language that it was done in."""
    if given is not None:
        return given
    name, file_hash = document["lab"].get("name"), document["lab"].get("hash")
    if name not in lab_names():
        return None
    labs = [load_lab(str(name), language=language) for language in (ENGLISH, *LANGUAGES)]
    return next((lab for lab in labs if lab.file_hash == file_hash), labs[0])


def grade_class(
    files: Sequence[Path],
    given: Lab | None = None,
    *,
    key: str = "",
    tell: Callable[[int, int], None] = lambda _done, _all: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> list[Grade]:
    """Look at all results of a class. Each different run is simulated again once.

    Args:
        files: that students handed in.
        given: the lab as it was handed out; None: a shipped one.
        key: of the course.
        tell: called with how many results are done, of how many.
        is_cancelled: asked between two runs.
    """
    grades: list[Grade] = []
    seen = _Seen()
    with RunsAgain() as again:
        for number, path in enumerate(files):
            if is_cancelled():
                break
            grades.append(_grade(path, given, key, again, seen, is_cancelled))
            tell(number + 1, len(files))
    copies = _copies(seen)
    grades = [replace(grade, anomalies=(*grade.anomalies, *copies.get(grade.file, ()))) for grade in grades]
    return sorted(grades, key=lambda grade: (grade.student or grade.file).casefold())


def _grade(
    path: Path, given: Lab | None, key: str, again: RunsAgain, seen: _Seen, is_cancelled: Callable[[], bool]
) -> Grade:
    try:
        document = read_result(path)
        lab = lab_of(document, given)
        verdict = verify_result(document, lab, key=key, again=again, is_cancelled=is_cancelled)
        made = {step["id"]: read_step(step) for step in document["steps"]}
    except (LabError, ValueError, LookupError, TypeError, AttributeError) as error:
        told = str(error).removeprefix(f"{path}")
        return Grade(path.name, anomalies=(f"it cannot be graded: {told.lstrip(': ') or type(error).__name__}",))
    steps = _steps(lab, made)
    minutes = _minutes(document, made)
    anomalies = [*verdict.problems, *verdict.doubts, *_odd_times(document, made, lab, minutes)]
    _remember(seen, path.name, document, made)
    return Grade(
        path.name,
        student=readable_line(document["student"]),
        lab=readable_line(str(document["lab"].get("name"))),
        outcome=verdict.outcome,
        steps=steps,
        of=sum(step.questions for step in steps) if lab is None else sum(len(step.questions) for step in lab.steps),
        runs=len(document["runs"]),
        confirmed=sum(run.is_same is True for run in verdict.runs),
        minutes=minutes,
        anomalies=tuple(map(readable_line, anomalies)),
    )


def _steps(lab: Lab | None, made: Mapping[str, StepProgress]) -> tuple[StepGrade, ...]:
    names = list(made) if lab is None else [step.id for step in lab.steps]
    return tuple(_step(name, made.get(name, StepProgress())) for name in names)


def _step(name: str, made: StepProgress) -> StepGrade:
    answers = [given for given in made.answers.values() if given]
    return StepGrade(
        name,
        made.is_passed,
        tries=sum(map(len, answers)),
        questions=len(answers),
        first_try=sum(given[0].is_right for given in answers),
        hints=made.hints,
        is_predicted=None if made.prediction is None else made.prediction.is_right,
    )


def _minutes(document: Mapping[str, Any], made: Mapping[str, StepProgress]) -> float | None:
    times = [_time(step.passed_at) for step in made.values() if step.passed_at]
    begun = _time(str(document.get("begun_at", "")))
    ended = max((time for time in times if time is not None), default=None)
    return None if begun is None or ended is None else (ended - begun).total_seconds() / 60.0


def _odd_times(
    document: Mapping[str, Any], made: Mapping[str, StepProgress], lab: Lab | None, minutes: float | None
) -> list[str]:
    odd = []
    is_whole = all(step.is_passed for step in made.values())
    if lab is not None and minutes is not None and is_whole and minutes < lab.minutes / _SHORTEST:
        odd.append(f"done in {minutes:.0f} min, the lab takes about {lab.minutes} min")
    passed = [_time(step.passed_at) for step in made.values() if step.passed_at]
    times = [time for time in passed if time is not None]
    if times != sorted(times):
        odd.append("its steps were not passed in their order")
    started = {run["number"]: _time(str(run.get("started_at", ""))) for run in document["runs"]}
    for name, step in made.items():
        begun, ended = started.get(step.last_run), _time(step.passed_at)
        if begun is not None and ended is not None and begun.replace(microsecond=0) > ended:
            odd.append(f"step {name} was passed before its run was begun")
    guesses = sum(_guesses(step) for step in made.values())
    if guesses >= _MOST_GUESSES:
        odd.append(f"{counted(guesses, 'wrong answer')} followed by another one within {_GUESSED_S:.0f} s")
    return odd


def _guesses(step: StepProgress) -> int:
    """Wrong answers after which another one was given at once."""
    found = 0
    for given in step.answers.values():
        for first, second in pairwise(given):
            before, after = _time(first.at), _time(second.at)
            if not first.is_right and before is not None and after is not None:
                found += (after - before).total_seconds() <= _GUESSED_S
    return found


def _remember(seen: _Seen, file: str, document: Mapping[str, Any], made: Mapping[str, StepProgress]) -> None:
    seen.begun[str(document.get("begun_at")), str(document.get("deal"))].append(file)
    for name, step in made.items():
        for question, given in step.answers.items():
            for each in given:
                seen.answered[name, question, each.at, str(each.value)].append(file)


def _copies(seen: _Seen) -> dict[str, list[str]]:
    """Of each file with which others it has its beginning or its answers in common."""
    common: dict[tuple[str, str], int] = defaultdict(int)
    for files in seen.answered.values():
        for one in set(files):
            for other in set(files) - {one}:
                common[one, other] += 1
    for files in seen.begun.values():
        for one in files:
            for other in set(files) - {one}:
                common[one, other] += _ALIKE
    told: dict[str, list[str]] = defaultdict(list)
    for (one, other), count in sorted(common.items()):
        if count >= _ALIKE:
            told[one].append(f"the same work as in {other}: begun or answered in the same seconds")
    return told


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def class_csv(grades: Sequence[Grade]) -> str:
    """A row for each student, for the import of a course system: score and progress as plain numbers."""
    head = ("student", "lab", "outcome", "steps_passed", "steps", "first_try_percent", "tries", "hints")
    rows = [
        (
            *(grade.student or grade.file, grade.lab, grade.outcome or "not readable", grade.passed, len(grade.steps)),
            *(f"{grade.score:.1f}", grade.tries, grade.hints, grade.runs, grade.confirmed),
            *("" if grade.minutes is None else f"{grade.minutes:.1f}", "; ".join(grade.anomalies), grade.file),
        )
        for grade in grades
    ]
    return csv_text((*head, "runs", "runs_confirmed", "minutes", "anomalies", "file"), rows)


def steps_csv(grades: Sequence[Grade]) -> str:
    """A row for each step of each student."""
    rows = [
        (
            *(grade.student or grade.file, grade.lab, step.id, csv_flag(step.is_passed), step.tries, step.questions),
            *(step.first_try, step.hints, "" if step.is_predicted is None else csv_flag(step.is_predicted)),
        )
        for grade in grades
        for step in grade.steps
    ]
    head = ("student", "lab", "step", "passed", "tries", "questions", "first_try", "hints", "prediction_came_true")
    return csv_text(head, rows)

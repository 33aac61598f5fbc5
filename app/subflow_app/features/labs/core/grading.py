"""Grades of a class: progress, tries and confirmed runs of each student, and anomalies.

Grading proves that the runs are real and meet the steps. It proves nothing about their author, with or without a course
key, because the key is in each student's lab. Equal times, also shifted ones, and equal drawn curves reveal copies.
Labs with numbers of one's own (`own_numbers`) make copies visible by their numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from subflow_app.features.labs.core.lab import Lab, Step
from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.labs.core.own_numbers import normal_code
from subflow_app.features.labs.core.progress import StepProgress, read_step
from subflow_app.features.labs.core.result_file import RunsAgain, code_of, read_result, verify_result
from subflow_app.foundation.confirmation import Confirmation
from subflow_app.foundation.errors import InputError, LabError
from subflow_app.vocabulary.language import ENGLISH, LANGUAGES, translatable
from subflow_app.vocabulary.number_text import NOTHING, counted
from subflow_app.vocabulary.plain_text import readable_line
from subflow_app.vocabulary.tables import Column, NumberColumn, csv_flag, csv_text
from subflow_sim.gate import is_file, is_folder

_SHORTEST = 6  # divisor: a lab cannot be read in less than 1/6 of its duration
_GUESSED_S = 4.0  # s; a new answer this soon after a wrong one counts as a guess
_MOST_GUESSES = 3
_ALIKE = 3  # smallest number of common answers at equal times that indicates copying


@dataclass(frozen=True, slots=True)
class StepGrade:
    """Grade of one step of a student.

    Attributes:
        id: id of the step.
        is_passed: whether the step was passed.
        tries: number of answers.
        questions: number of questions with an answer.
        first_try: number of questions whose first answer was right.
        hints: number of hints shown.
        is_predicted: whether the prediction came true; None for a number, a curve, or a missing prediction.
        credit: share of the step that was done, 0 to 1; see `_credit`.
        wrong: wrong answers in order, each as the question and the chosen option or number.
        texts: free texts, each as the question and the text.
    """

    id: str
    is_passed: bool
    tries: int
    questions: int
    first_try: int
    hints: int
    is_predicted: bool | None
    credit: float = 0.0
    wrong: tuple[tuple[str, str], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Grade:
    """Grade of a result file.

    Attributes:
        file: name of the file.
        student: name of the student in the file; empty if the file cannot be read.
        lab: name of the lab.
        outcome: outcome of the verification; None if the file is not a result.
        steps: grades of steps in order.
        of: number of questions in the lab; unanswered ones count as wrong.
        runs: number of runs in the file.
        confirmed: number of runs that were confirmed.
        minutes: time from the start to the last passed step; None if the file lacks the times.
        anomalies: observations that a lecturer should check.
        code: code of the student's own numbers; empty for other labs.
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
    code: str = ""

    @property
    def credit(self) -> float:
        """Percentage of the lab that was done, with partial credit within steps."""
        return 100.0 * sum(step.credit for step in self.steps) / len(self.steps) if self.steps else 0.0

    @property
    def passed(self) -> int:
        """Number of passed steps."""
        return sum(step.is_passed for step in self.steps)

    @property
    def tries(self) -> int:
        """Number of answers."""
        return sum(step.tries for step in self.steps)

    @property
    def first_try(self) -> int:
        """Number of questions whose first answer was right."""
        return sum(step.first_try for step in self.steps)

    @property
    def score(self) -> float:
        """Percentage of the lab's questions whose first answer was right."""
        return 100.0 * self.first_try / self.of if self.of else 0.0

    @property
    def hints(self) -> int:
        """Number of hints shown."""
        return sum(step.hints for step in self.steps)

    @property
    def stands_at(self) -> str:
        """Id of the first step that was not passed; empty if all were passed."""
        return next((step.id for step in self.steps if not step.is_passed), "")


COLUMNS: tuple[Column[Grade], ...] = (
    Column(translatable("Student"), lambda grade: grade.student or NOTHING),
    Column(translatable("Lab"), lambda grade: grade.lab),
    Column(translatable("Outcome"), lambda grade: grade.outcome or "not readable"),
    Column(translatable("Steps"), lambda grade: f"{grade.passed} of {len(grade.steps)}"),
    Column(translatable("Current step"), lambda grade: grade.stands_at),
    NumberColumn(translatable("First try %"), lambda grade: f"{grade.score:.0f}"),
    NumberColumn(translatable("Credit %"), lambda grade: f"{grade.credit:.0f}"),
    NumberColumn(translatable("Tries"), lambda grade: grade.tries),
    NumberColumn(translatable("Hints"), lambda grade: grade.hints),
    Column(translatable("Runs"), lambda grade: f"{grade.confirmed} of {grade.runs}"),
    NumberColumn(translatable("Minutes"), lambda grade: "" if grade.minutes is None else f"{grade.minutes:.0f}"),
    NumberColumn(translatable("Anomalies"), lambda grade: len(grade.anomalies)),
    Column(translatable("File"), lambda grade: grade.file),
)
"""Columns of the table in the terminal and the window, which list the anomalies below the table."""


@dataclass
class _Seen:
    """Signs of copied work, collected from the files of a class.

    Attributes:
        begun: files by start time and order of options.
        answered: files by step, question, time (in whole seconds) and value of an answer.
        paces: files by their acts with the seconds since the first, which a shift of all times does not change.
        curves: files by step and drawn curve.
        codes: files by the code of their own numbers.
        uncoded: files without a code, in labs with numbers of one's own.
    """

    begun: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    answered: dict[tuple[str, str, str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    paces: dict[tuple[tuple[str, float], ...], list[str]] = field(default_factory=lambda: defaultdict(list))
    curves: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))
    codes: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    uncoded: list[str] = field(default_factory=list)


def result_files(folder: Path) -> list[Path]:
    """The JSON files in a folder, sorted by name.

    Raises:
        InputError: if the path is not a folder, or the folder has no JSON file.
    """
    if not is_folder(folder):
        raise InputError(f"{folder} is not a folder; allowed: one with the results of a class, a JSON file each")
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".json" and is_file(path))
    if not files:
        raise InputError(f"{folder} holds no JSON file; allowed: a folder with the results of a class")
    return files


def lab_of(document: Mapping[str, Any], given: Lab | None) -> Lab | None:
    """The lab of a result: the given lab, or else the shipped lab with the same name; None if no such lab is shipped.

    Of a shipped lab, the translation with the same hash as in the result is returned, or else the English version.
    """
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
    """Grade all results of a class. A run that several files contain is simulated again only once.

    Args:
        files: files that students handed in.
        given: the lab that was handed out; None for a shipped lab.
        key: key of the course.
        tell: called with the number of finished results and the total number.
        is_cancelled: called between two runs; True ends the grading.
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
    _remember(seen, path.name, document, made, has_own=lab is not None and bool(lab.own))
    return Grade(
        path.name,
        student=readable_line(document["student"]),
        lab=readable_line(str(document["lab"].get("name"))),
        outcome=verdict.outcome,
        steps=steps,
        of=sum(step.questions for step in steps) if lab is None else _asked(lab),
        runs=len(document["runs"]),
        confirmed=sum(run.is_same is True for run in verdict.runs),
        minutes=minutes,
        anomalies=tuple(map(readable_line, anomalies)),
        code=readable_line(code_of(document)),
    )


def _asked(lab: Lab) -> int:
    """Number of graded questions of a lab; free texts are not graded."""
    return sum(not question.is_text for step in lab.steps for question in step.questions)


def _steps(lab: Lab | None, made: Mapping[str, StepProgress]) -> tuple[StepGrade, ...]:
    names = list(made) if lab is None else [step.id for step in lab.steps]
    steps = {} if lab is None else lab.by_id
    return tuple(_step(name, made.get(name, StepProgress()), steps.get(name)) for name in names)


_LATE_ANSWER = 0.5  # credit of a question that was answered correctly, but not at the first try


def _credit(made: StepProgress, step: Step | None) -> float:
    """Share of a step that was done, 0 to 1: the mean of its check, its prediction and each of its questions.

    A check counts if the step was passed, and a prediction if it was made, right or wrong. A question counts fully if
    its first answer was right, and by half if a later one was. A step without these parts counts if it was passed.
    """
    parts = []
    if step is not None and step.check:
        parts.append(float(made.is_passed))
    if step is not None and step.prediction is not None:
        parts.append(float(made.prediction is not None))
    asked = list(made.answers) if step is None else [each.id for each in step.questions]
    for question in asked:
        given = made.answers.get(question, ())
        is_right = any(each.is_right for each in given)
        parts.append(0.0 if not is_right else 1.0 if given[0].is_right else _LATE_ANSWER)
    return sum(parts) / len(parts) if parts else float(made.is_passed)


def _step(name: str, made: StepProgress, step: Step | None) -> StepGrade:
    free = {each.id for each in step.questions if each.is_text} if step is not None else set()
    answers = [given for question, given in made.answers.items() if given and question not in free]
    return StepGrade(
        name,
        made.is_passed,
        tries=sum(map(len, answers)),
        questions=len(answers),
        first_try=sum(given[0].is_right for given in answers),
        hints=made.hints,
        is_predicted=None if made.prediction is None else made.prediction.is_right,
        credit=_credit(made, step),
        wrong=tuple(
            (question, str(each.value))
            for question, given in made.answers.items()
            for each in given
            if not each.is_right and question not in free
        ),
        texts=tuple((question, str(given[-1].value)) for question, given in made.answers.items() if question in free),
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
    """Number of wrong answers that were followed by a new answer within `_GUESSED_S`."""
    found = 0
    for given in step.answers.values():
        for first, second in pairwise(given):
            before, after = _time(first.at), _time(second.at)
            if not first.is_right and before is not None and after is not None:
                found += (after - before).total_seconds() <= _GUESSED_S
    return found


def _remember(
    seen: _Seen, file: str, document: Mapping[str, Any], made: Mapping[str, StepProgress], *, has_own: bool
) -> None:
    seen.begun[str(document.get("begun_at")), str(document.get("deal"))].append(file)
    for name, step in made.items():
        for question, given in step.answers.items():
            for each in given:
                seen.answered[name, question, each.at, str(each.value)].append(file)
        if step.prediction is not None and isinstance(step.prediction.value, tuple | list):
            seen.curves[name, str(step.prediction.value)].append(file)
    code = normal_code(code_of(document))
    if code:
        seen.codes[code].append(file)
    elif has_own:
        seen.uncoded.append(file)
    pace = _pace(made)
    if len(pace) >= _ALIKE:
        seen.paces[pace].append(file)


def _pace(made: Mapping[str, StepProgress]) -> tuple[tuple[str, float], ...]:
    """The acts of a student, each with the seconds since the first act; acts at unreadable times are left out."""
    acts: list[tuple[datetime, str]] = []
    for name, step in made.items():
        times = {f"{name} passed": step.passed_at}
        if step.prediction is not None:
            times[f"{name} predicted"] = step.prediction.at
        for question, given in step.answers.items():
            times |= {f"{name} {question} {number}": each.at for number, each in enumerate(given)}
        acts += [(time, act) for act, text in times.items() if (time := _time(text)) is not None]
    if not acts:
        return ()
    first = min(time for time, _act in acts)
    return tuple(sorted((act, (time - first).total_seconds()) for time, act in acts))


def _copies(seen: _Seen) -> dict[str, list[str]]:
    """For each file, notes on other files with the same start or the same answers."""
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
    known = {pair for pair, count in common.items() if count >= _ALIKE}
    for one, other in _pairs(seen.paces.values()):
        if (one, other) not in known:
            told[one].append(f"the same work as in {other}: all times are equal up to a shift")
    for one, other in _pairs(seen.codes.values()):
        told[one].append(f"the same code for its own numbers as in {other}")
    for file in seen.uncoded if seen.codes else ():
        told[file].append("no code for its own numbers, unlike other files: it has the numbers of the book")
    for one, other in _pairs(seen.curves.values()):
        told[one].append(f"the same drawn curve as in {other}")
    return told


def _pairs(groups: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
    """Ordered pairs of different files within groups of equal work, each pair once."""
    return sorted({(one, other) for files in groups for one in files for other in files if one != other})


def _time(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def class_csv(grades: Sequence[Grade]) -> str:
    """CSV text with a row for each student; scores and counts are plain numbers, for import into a course system."""
    head = ("student", "lab", "outcome", "steps_passed", "steps", "first_try_percent", "tries", "hints")
    more = ("minutes", "anomalies", "file", "credit_percent", "code")
    rows = [
        (
            *(grade.student, grade.lab, grade.outcome or "not readable", grade.passed, len(grade.steps)),
            *(f"{grade.score:.1f}", grade.tries, grade.hints, grade.runs, grade.confirmed),
            *("" if grade.minutes is None else f"{grade.minutes:.1f}", "; ".join(grade.anomalies), grade.file),
            *(f"{grade.credit:.1f}", grade.code),
        )
        for grade in grades
    ]
    return csv_text((*head, "runs", "runs_confirmed", *more), rows)


def steps_csv(grades: Sequence[Grade]) -> str:
    """CSV text with a row for each step of each student."""
    rows = [
        (
            *(grade.student, grade.lab, step.id, csv_flag(step.is_passed), step.tries, step.questions),
            *(step.first_try, step.hints, "" if step.is_predicted is None else csv_flag(step.is_predicted)),
            *(f"{step.credit:.2f}", "; ".join(f"{question}: {said}" for question, said in step.wrong)),
            "; ".join(f"{question}: {said}" for question, said in step.texts),
        )
        for grade in grades
        for step in grade.steps
    ]
    head = ("student", "lab", "step", "passed", "tries", "questions", "first_try", "hints", "prediction_came_true")
    columns = (*head, "credit", "wrong_answers", "free_texts")
    return csv_text(columns, rows)

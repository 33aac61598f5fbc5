"""Session of a student in a lab: next step, missing parts, predictions and answers, and feedback on them.

`judge` evaluates the work of the student. Because it reads the store, call it in a worker thread. `take` then applies
the judgement. Feedback on predictions, answers and missing parts is the same in the window and the terminal.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from subflow_app.features.labs.core import checks
from subflow_app.features.labs.core.evidence import Begin, Evidence, EvidenceReader
from subflow_app.features.labs.core.lab import CHOICE, NUMBER, SKETCH, Lab, Prediction, Question, Step
from subflow_app.features.labs.core.lab_file import with_code
from subflow_app.features.labs.core.misconceptions import mistake_of
from subflow_app.features.labs.core.progress import (
    Answered,
    Predicted,
    PredictionValue,
    Progress,
    ProgressFolder,
    StepProgress,
    now,
)
from subflow_app.features.labs.core.solution import SolutionError, curve_points
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.expressions import UNIT_WORTH, ClaimError, Expression, Missing, numbers_text
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import typeset

if TYPE_CHECKING:
    from subflow_store import Store


ATTEMPTS = 2
"""Number of wrong answers after which the right answer is shown; the student must still enter it."""


MOST_LETTERS = 4000
"""Maximum length of a free text."""


class StepState(StrEnum):
    """State of a step: the first step that is not passed is active, and all later ones are locked."""

    LOCKED = "locked"
    ACTIVE = "active"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class PredictionResult:
    """Outcome of a prediction: `value` becomes `Predicted.came`, and `is_right` becomes `Predicted.is_right`."""

    value: str | float
    is_right: bool | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of the active step.

    Attributes:
        step: id of the step.
        check: outcome of its check, or the reason why the outcome of its prediction is unknown; None without a check,
            or before the prediction.
        passes: whether the step is passed; False for a step that the student only reads.
        last_run: number of the latest run; 0 without runs.
        came: outcome of its prediction; None if unknown.
        evidence: evidence that was judged.
        ran_early: whether a run satisfies the step but was made before the prediction, so that it does not count.
    """

    step: str
    check: checks.CheckResult | None
    passes: bool
    last_run: int
    came: PredictionResult | None
    evidence: Evidence
    ran_early: bool = False


class LabSession:
    """Session of one lab. Only `judge` and `judge_answer`, which change nothing, may be called from other threads."""

    def __init__(self, lab: Lab, progress: Progress, folder: ProgressFolder | None) -> None:
        """Continue from this progress. Without a folder, nothing is saved."""
        self.lab = with_code(lab, progress.code)
        self.progress = progress  # the part that is saved
        self._folder = folder

    @classmethod
    def begin(
        cls,
        lab: Lab,
        store: Store,
        document: str,
        folder: ProgressFolder | None,
        database: str = "",
        code: str = "",
    ) -> LabSession:
        """Begin a lab. Records that are already in the store do not count.

        For a lab with numbers of one's own, they are drawn from ``code``; "" means the first values.

        Raises:
            StoreError: if the store cannot be read.
            LabError: if the progress cannot be saved.
        """
        session = cls.begin_at(lab, Begin.of(store), document, folder, database, code)
        session.keep()
        return session

    @classmethod
    def begin_at(
        cls,
        lab: Lab,
        begin: Begin,
        document: str,
        folder: ProgressFolder | None,
        database: str,
        code: str = "",
    ) -> LabSession:
        """Begin a lab in which records of the store up to `begin` do not count; does not save the progress yet."""
        deal = secrets.token_hex(8)
        code = code.strip() if lab.own else ""
        progress = Progress(lab.name, lab.file_hash, now(), database, begin, document, deal=deal, code=code)
        return cls(lab, progress, folder)

    def keep(self) -> None:
        """Write the progress to its file, if the session has a folder.

        Raises:
            LabError: if the progress cannot be saved.
        """
        if self._folder is not None:
            self._folder.write(self.progress)

    # State

    @property
    def active(self) -> Step | None:
        """The first step that is not passed; None if all are passed."""
        return next((step for step in self.lab.steps if not self.progress.step(step.id).is_passed), None)

    @property
    def is_finished(self) -> bool:
        """True if all steps are passed."""
        return self.active is None

    def state(self, step: Step) -> StepState:
        """`PASSED`, `ACTIVE` for the first step that is not passed, or `LOCKED`."""
        if self.progress.step(step.id).is_passed:
            return StepState.PASSED
        return StepState.ACTIVE if step == self.active else StepState.LOCKED

    def step_progress(self, step: Step) -> StepProgress:
        """Progress in a step; empty if the student has not begun it."""
        return self.progress.step(step.id)

    def hints(self, step: Step) -> tuple[str, ...]:
        """The hints that have already been shown."""
        return step.hints[: self.progress.step(step.id).hints]

    def is_answered(self, step: Step, question: Question) -> bool:
        """True if the student has given the right answer to a question."""
        return any(each.is_right for each in self.progress.step(step.id).answers.get(question.id, ()))

    def options(self, step: Step, asked: Prediction | Question) -> tuple[str, ...]:
        """Options of a prediction or question, in this student's order."""
        place = asked.id if isinstance(asked, Question) else ""
        return dealt(asked.options, self.progress.deal, self.lab.name, step.id, place)

    def reader(self, store: Store) -> EvidenceReader:
        """A reader of the work since the lab was begun."""
        return EvidenceReader(store, self.progress.begin)

    # Judgement, in a worker thread

    def judge(self, reader: EvidenceReader, text: str) -> Judgement | None:
        """Judge the active step; None if all steps are passed.

        Args:
            reader: reader of this session.
            text: text of the document.

        Raises:
            StoreError: if the store cannot be read.
        """
        step = self.active
        if step is None:
            return None
        evidence = self.evidence(reader, text, step)
        made = self.progress.step(step.id)
        last_run = evidence.runs[-1].id if evidence.runs else 0
        if step.prediction is not None and made.prediction is None:
            return Judgement(step.id, None, False, last_run, None, evidence, _ran_early(step, evidence))
        told = checks.check(step.check, evidence) if step.check else None
        is_done = told is None or told.holds
        came: PredictionResult | None = None
        if step.prediction is not None and made.prediction is not None and is_done:
            found = came_of(step.prediction, made.prediction.value, evidence)
            if isinstance(found, Missing):
                told, is_done = checks.CheckResult(False, found.reason), False
            else:
                came = found
        ran_early = not is_done and made.prediction is not None and not evidence.counted and _ran_early(step, evidence)
        is_done = is_done and all(self.is_answered(step, question) for question in step.questions)
        return Judgement(step.id, told, is_done and not step.is_read_only, last_run, came, evidence, ran_early)

    def evidence(self, reader: EvidenceReader, text: str, step: Step) -> Evidence:
        """Evidence for a step; after a prediction, only later runs count."""
        evidence = reader.read(text, self.progress.step_runs())
        predicted = self.progress.step(step.id).prediction
        return evidence if predicted is None else evidence.after(predicted.after_run)

    def judge_answer(self, reader: EvidenceReader, text: str, step: Step, question: Question, said: str) -> Answered:
        """Judge an answer.

        Args:
            reader: reader of this session.
            text: text of the document.
            step: step of the question.
            question: the question.
            said: text of an option, or a number with or without its unit.

        Raises:
            InputError: if the text is not an option or a number, or if the right answer is still unknown.
        """
        if question.is_text:
            if not 1 <= len(said.strip()) <= MOST_LETTERS:
                raise InputError(tr("the text is empty or too long; allowed: 1 to {count} letters", count=MOST_LETTERS))
            return Answered(said.strip(), True, now(), "")
        if question.options:
            if said not in question.options:
                raise InputError(tr('"{text}" is not one of the options', text=said))
            if question.sealed is not None:
                return Answered(said, question.sealed.open(said).is_right, now(), "")
            return Answered(said, said == question.answer, now(), question.answer)
        number = quantity(said, question.unit)
        if question.sealed is not None:
            return Answered(number, question.sealed.open(number).is_right, now(), "")
        right = checks.number(question.answer, self.evidence(reader, text, step))
        if isinstance(right, Missing):
            raise InputError(tr("this cannot be answered yet: {reason}", reason=right.reason))
        return Answered(number, question.is_near(number, right), now(), right)

    # Changes

    def take(self, judgement: Judgement) -> bool:
        """Apply a judgement of the active step. Return True if the step is passed.

        Raises:
            LabError: if the progress cannot be saved; the session continues regardless.
        """
        step = self.active
        if step is None or judgement.step != step.id:
            return False
        made = self.progress.step(step.id)
        if judgement.came is not None and made.prediction is not None:
            came = replace(made.prediction, came=judgement.came.value, is_right=judgement.came.is_right)
            made = replace(made, prediction=came)
        if judgement.passes:
            made = replace(made, passed_at=now(), last_run=judgement.last_run)
        if made != self.progress.step(step.id):
            self._set(step, made)
        return judgement.passes

    def go_on(self, step: Step) -> None:
        """Pass a step that the student only reads.

        Raises:
            InputError: if the step has a check, prediction or question, or is not active.
            LabError: if the progress cannot be saved.
        """
        if not step.is_read_only or step != self.active:
            raise InputError(tr('the step "{title}" is not passed by reading it', title=step.title))
        self._set(step, replace(self.progress.step(step.id), passed_at=now()))

    def predict(self, step: Step, value: PredictionValue, last_run: int) -> None:
        """Keep a prediction; afterwards only runs after `last_run` count in the step.

        Raises:
            InputError: if the step expects no prediction or a different kind of value, or if one was already made.
            LabError: if the progress cannot be saved.
        """
        prediction, made = step.prediction, self.progress.step(step.id)
        if prediction is None or made.prediction is not None or step != self.active:
            raise InputError(tr('the step "{title}" expects no prediction now', title=step.title))
        _check_prediction(prediction, value)
        self._set(step, replace(made, prediction=Predicted(value, now(), last_run)))

    def answer(self, step: Step, question: Question, answered: Answered) -> None:
        """Keep a judged answer; a repeated wrong answer is not counted again.

        Raises:
            InputError: if the question is already answered.
            LabError: if the progress cannot be saved.
        """
        if self.is_answered(step, question):
            raise InputError(tr("this question is answered"))
        made = self.progress.step(step.id)
        given = made.answers.get(question.id, ())
        if all(each.value != answered.value for each in given):
            self._set(step, replace(made, answers={**made.answers, question.id: (*given, answered)}))

    def hint(self, step: Step) -> str | None:
        """Return the next hint and count it as shown; None if no hint is left.

        Raises:
            LabError: if the progress cannot be saved.
        """
        made = self.progress.step(step.id)
        if made.hints >= len(step.hints):
            return None
        self._set(step, replace(made, hints=made.hints + 1))
        return step.hints[made.hints]

    def keep_document(self, text: str) -> None:
        """Keep the text of the document, so that the student can continue later.

        Raises:
            LabError: if the progress cannot be saved.
        """
        if text != self.progress.document:
            self.progress = replace(self.progress, document=text)
            self.keep()

    def _set(self, step: Step, made: StepProgress) -> None:
        self.progress = self.progress.with_step(step.id, made)
        if self.is_finished and not self.progress.finished_at:
            self.progress = replace(self.progress, finished_at=now())
        self.keep()


def dealt(options: Sequence[str], *by: str) -> tuple[str, ...]:
    """Shuffle options. The order depends only on the number of options and on `by`, so all languages share it."""

    def place(index: int) -> bytes:
        return hashlib.sha256("\0".join((*by, str(index))).encode()).digest()

    return tuple(options[index] for index in sorted(range(len(options)), key=place))


def quantity(said: str, unit: str) -> float:
    """Parse a number, SI: "83", "83 pkt", "1.2e3", "2,5 Mbit/s".

    Args:
        said: the number, with or without a unit.
        unit: unit of a bare number.

    Raises:
        InputError: if the text is not a number.
    """
    text = said.strip()
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    shown = f"83 {unit}" if unit else "83"
    try:
        expression = Expression(text, {})
    except ClaimError as error:
        raise InputError(tr('"{text}" is not a number; allowed: e.g. {example}', text=said, example=shown)) from error
    number = expression.value(lambda *_: 0.0)
    if isinstance(number, Missing | tuple) or not math.isfinite(number):
        raise InputError(tr('"{text}" is not a number; allowed: e.g. {example}', text=said, example=shown))
    return number if expression.unit else number * UNIT_WORTH.get(unit, 1.0)


def read_prediction(step: Step, said: str) -> PredictionValue:
    """Parse a prediction: an option, a number, or points of a curve, "0s:1, 20s:80".

    Raises:
        InputError: if the step expects no prediction, or the text is not a number or curve as the step requires.
    """
    prediction = step.prediction
    if prediction is None:
        raise InputError(tr('the step "{title}" expects no prediction now', title=step.title))
    if prediction.kind == CHOICE:
        return said
    if prediction.kind == NUMBER:
        return quantity(said, prediction.unit)
    worth = UNIT_WORTH.get(prediction.unit, 1.0)
    try:
        return tuple((time_s, height * worth) for time_s, height in curve_points(said))
    except SolutionError as error:
        raise InputError(str(error)) from error


def sketch_gap(points: tuple[tuple[float, float], ...], times: object, values: object) -> float:
    """Mean absolute deviation of a drawn curve from the measured curve, SI; NaN if they do not overlap in time.

    Args:
        points: drawn points (s, SI).
        times: sample times, float64 [n], s.
        values: samples, float32 [n], SI.
    """
    x, y = np.asarray(times, np.float64), np.asarray(values, np.float64)
    drawn_x, drawn_y = np.array(points, np.float64).T
    known = np.isfinite(y) & (x >= drawn_x[0] - 1e-9) & (x <= drawn_x[-1] + 1e-9)
    if not np.any(known):
        return math.nan
    return float(np.mean(np.abs(np.interp(x[known], drawn_x, drawn_y) - y[known])))


def came_of(prediction: Prediction, value: PredictionValue, evidence: Evidence) -> PredictionResult | Missing:
    """The outcome of a prediction by the runs of the evidence; `Missing` if no run decides it."""
    if prediction.kind == CHOICE:
        came = [
            option for option, text in zip(prediction.options, prediction.holds, strict=True) if _holds(text, evidence)
        ]
        if not came:
            return Missing(tr("none of the possible outcomes occurred: repeat the step as described"))
        return PredictionResult(", ".join(came), value in came)
    if prediction.kind == NUMBER:
        found = checks.number(prediction.number, evidence)
        return found if isinstance(found, Missing) else PredictionResult(found)
    run = evidence.counted[-1] if evidence.counted else None
    curve = None if run is None else run.curve(prediction.sketch, prediction.owner)
    if curve is None or not isinstance(value, tuple):
        return Missing(tr("no run has {column} of {owner} yet", column=prediction.sketch, owner=prediction.owner))
    gap = sketch_gap(value, *curve)
    return Missing(tr("the run has no samples where you drew")) if math.isnan(gap) else PredictionResult(gap)


def _ran_early(step: Step, evidence: Evidence) -> bool:
    """True if the runs of this step before its prediction satisfy the check."""
    within = evidence.after(max(evidence.step_runs.values(), default=0))
    return bool(step.check and within.counted) and checks.check(step.check, within).holds


def _holds(text: str, evidence: Evidence) -> bool:
    return checks.check(text, evidence).holds


def _check_prediction(prediction: Prediction, value: PredictionValue) -> None:
    match prediction.kind:
        case "choice":
            is_fitting = value in prediction.options
        case "number":
            is_fitting = isinstance(value, float) and math.isfinite(value)
        case _:
            is_fitting = isinstance(value, tuple) and len(value) >= 2
    if not is_fitting:
        shown = f'"{value}"' if prediction.kind != SKETCH else tr("a curve of fewer than two points")
        raise InputError(tr("{value} does not answer the prediction", value=shown))


def prediction_text(step: Step, made: Predicted) -> str:
    """Outcome of a prediction with feedback; while the outcome is unknown, a confirmation and the next thing to do."""
    prediction = step.prediction
    assert prediction is not None
    if made.came is None:
        return f"{tr('Prediction saved.')} {step.not_yet or tr('Now run the scenario.')}"
    said = (_gap_text(prediction, made, made.came), mistake_of(prediction, made), prediction.why)
    return " ".join(filter(None, said))


def missing_text(step: Step, judgement: Judgement) -> str:
    """Missing prediction of a step, or the reason why its check fails; empty if neither applies."""
    told = judgement.check
    if told is None and step.prediction is not None:
        if judgement.ran_early:
            return tr("You ran before you predicted: predict the result now, then run again.")
        return tr("First enter your prediction below the text, then run.")
    if told is None or told.holds:
        return ""
    if judgement.ran_early:
        return tr("You ran before you predicted: run again, now that you have predicted.")
    return step.not_yet or told.why


def answer_text(question: Question, given: tuple[Answered, ...], *, is_done: bool) -> str:
    """Feedback on the last of the given answers.

    Args:
        question: the question.
        given: the answers, at least one.
        is_done: whether the question is answered.
    """
    if question.is_text:
        return f"{tr('Kept for your lecturer.')} {question.why}".strip()
    last = given[-1]
    why = question.told_to(last.value, is_right=is_done)
    if is_done:
        return f"{tr('Right.')} {why}".strip()
    told = f"{tr('Not right.')} {why}".strip()
    if len(given) < ATTEMPTS or question.sealed is not None:
        return told
    right = tr("The right answer is {answer}. Enter it to continue.", answer=_text(last.right, question.unit))
    return f"{told} {right} {question.why}".strip()


def _gap_text(prediction: Prediction, made: Predicted, came: str | float) -> str:
    if made.is_right is not None:
        if made.is_right:
            return tr("Your prediction was right.")
        return tr("The outcome was different: {what}.", what=came)
    assert isinstance(came, float)
    came_text = _text(came, prediction.unit)
    if isinstance(made.value, tuple):
        return tr("On average, your curve is off by {gap}.", gap=came_text)
    assert isinstance(made.value, float)
    predicted = _text(made.value, prediction.unit)
    if not came:
        return tr("You predicted {said}; the result was {came}.", said=predicted, came=came_text)
    share = typeset(f"{(made.value - came) / came:+.0%}".replace("%", " %"))
    return tr(
        "You predicted {said}; the result was {came}: off by {share}.", said=predicted, came=came_text, share=share
    )


def _text(value: str | float, unit: str) -> str:
    return value if isinstance(value, str) else typeset(numbers_text(value, unit))

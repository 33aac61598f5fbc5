"""A result that was handed in, judged again: whether its runs satisfy the steps that it says were passed.

What is not part of the file cannot be judged again, and is told as that: trainings, and the document as it was while a
step was done; in its place stands the scenario of the last run of the step.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.labs.core import checks
from subflow_app.features.labs.core.evidence import Evidence, LabRun
from subflow_app.features.labs.core.functions import functions
from subflow_app.features.labs.core.lab import CHOICE, NUMBER, Lab, Question, Step
from subflow_app.features.labs.core.progress import Answered, Predicted, StepProgress, read_step
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.errors import LabError
from subflow_app.foundation.expressions import Call, Expression, Missing

_OF_DOCUMENT = ("value", "text", "is_on", "controller", "scheduler", "has", "count", "subflows")
_OF_TRAININGS = ("trained", "training_steps", "training_return")


@dataclass(frozen=True, slots=True)
class Regrade:
    """What came of it.

    Attributes:
        problems: steps that the runs do not satisfy, and answers that are other than what they are said to be.
        doubts: what could not be judged.
    """

    problems: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def regrade(lab: Lab, document: Mapping[str, Any], runs: Sequence[LabRun]) -> Regrade:
    """Judge each step that is said to be passed.

    Args:
        lab: that the result is of.
        document: the result.
        runs: those of it that came out again, in order.

    Raises:
        LabError: if the steps of the document cannot be read.
    """
    steps = _steps(document)
    sweeps = [each for each in document.get("sweeps", ()) if isinstance(each, dict)]
    problems: list[str] = []
    doubts: list[str] = []
    before: dict[str, int] = {}
    for step in lab.steps:
        made = steps.get(step.id, StepProgress())
        if not made.is_passed:
            continue
        lost = [run["number"] for run in document["runs"] if run["number"] not in {run.id for run in runs}]
        lost = [number for number in lost if number <= made.last_run]
        if lost and not step.is_read_only:
            numbers = ", ".join(map(str, lost))
            doubts.append(f"step {step.id} was not judged again: run {numbers} did not come out again")
        else:
            evidence = _evidence(runs, sweeps, before, made)
            for is_sure, told in _judged(step, made, evidence):
                (problems if is_sure else doubts).append(f"step {step.id}: {told}")
        if made.last_run:
            before[step.id] = made.last_run
    return Regrade(tuple(problems), tuple(doubts))


def _steps(document: Mapping[str, Any]) -> dict[str, StepProgress]:
    try:
        return {step["id"]: read_step(step) for step in document["steps"]}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise LabError(f"the steps of the result cannot be read: {error}") from error


def _evidence(
    runs: Sequence[LabRun], sweeps: Sequence[Mapping[str, Any]], before: Mapping[str, int], made: StepProgress
) -> Evidence:
    """As it was when the step was passed."""
    then = tuple(run for run in runs if run.id <= made.last_run)
    known = {run.id for run in then}
    finished = [each for each in sweeps if known.issuperset(each["runs"])]
    return Evidence(
        doc=then[-1].doc if then else ScenarioDoc(""),
        runs=then,
        step_runs=dict(before),
        sweep=tuple(finished[-1]["runs"]) if finished else None,
        sweep_points=finished[-1]["points"] if finished else 0,
        since=made.prediction.after_run if made.prediction is not None else 0,
    )


def _judged(step: Step, made: StepProgress, evidence: Evidence) -> Iterator[tuple[bool, str]]:
    """What speaks against the step, and whether that is sure."""
    if step.check:
        calls = list(Claim(step.check, functions()).calls())
        if any(call.name in _OF_TRAININGS for call in calls):
            yield False, "it was passed by a training, which the file does not prove"
        else:
            told = checks.check(step.check, evidence)
            if not told.holds:
                yield not _is_of_document(calls), f"its check does not hold over the runs of the file: {told.why}"
    if step.prediction is not None:
        yield from _of_prediction(step, made.prediction, evidence)
    for question in step.questions:
        yield from _of_question(question, made.answers.get(question.id, ()), evidence)


def _of_prediction(step: Step, made: Predicted | None, evidence: Evidence) -> Iterator[tuple[bool, str]]:
    prediction = step.prediction
    assert prediction is not None
    if made is None:
        yield True, "it was passed without its prediction"
    elif prediction.kind == CHOICE:
        pairs = list(zip(prediction.options, prediction.holds, strict=True))
        calls = [call for _, text in pairs for call in Claim(text, functions()).calls()]
        came = [option for option, text in pairs if checks.check(text, evidence).holds]
        if made.came != ", ".join(came) or made.is_right is not (made.value in came):
            told = f'the file reports the outcome "{made.came}", but by its runs it is "{", ".join(came)}"'
            yield not any(call.name in _OF_TRAININGS for call in calls), told
    elif prediction.kind == NUMBER:
        number = checks.number(prediction.number, evidence)
        if isinstance(number, Missing):
            yield False, f"the outcome of its prediction is not known: {number.reason}"
        elif not isinstance(made.came, int | float) or not math.isclose(made.came, number, rel_tol=1e-6):
            is_sure = not _is_of_document(Expression(prediction.number, functions()).calls())
            yield is_sure, f"the file reports the outcome {made.came}, but by its runs it is {number:.6g}"


def _of_question(question: Question, given: Sequence[Answered], evidence: Evidence) -> Iterator[tuple[bool, str]]:
    if not any(each.is_right for each in given):
        yield True, f"the question {question.id} was not answered"
    for each in given:
        if question.sealed is not None:
            if question.sealed.open(each.value).is_right is not each.is_right:
                yield True, f'the answer "{each.value}" to {question.id} is recorded as {_word(each)}, but is not'
            continue
        if question.options:
            if each.value not in question.options or each.is_right is not (each.value == question.answer):
                yield True, f'the answer "{each.value}" to {question.id} is recorded as {_word(each)}, but is not'
            continue
        right = checks.number(question.answer, evidence)
        if isinstance(right, Missing) or not isinstance(each.value, int | float):
            yield False, f"the answer to {question.id} was not judged again"
            continue
        is_right = question.is_near(each.value, right)
        if is_right is not each.is_right:
            is_sure = not _is_of_document(Expression(question.answer, functions()).calls())
            recorded = f"the answer {each.value:g} to {question.id} is recorded as {_word(each)}"
            yield is_sure, f"{recorded}; right is {right:.6g}"


def _word(answered: Answered) -> str:
    return "right" if answered.is_right else "wrong"


def _is_of_document(calls: Iterable[Call]) -> bool:
    """Whether it speaks of what was in the window: that may have been other than the last run."""
    return any(
        call.name == "valid" or (call.name in _OF_DOCUMENT and bool(call.texts) and call.texts[0] is not None)
        for call in calls
    )

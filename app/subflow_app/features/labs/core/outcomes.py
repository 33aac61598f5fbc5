"""Feedback on predictions, answers and gaps: the same words in window and terminal."""

from __future__ import annotations

from subflow_app.features.labs.core.lab import Prediction, Question, Step
from subflow_app.features.labs.core.misconceptions import mistake_of
from subflow_app.features.labs.core.progress import Answered, Predicted
from subflow_app.features.labs.core.session import ATTEMPTS, Judgement
from subflow_app.foundation.expressions import numbers_text
from subflow_app.vocabulary.language import tr
from subflow_app.vocabulary.number_text import MINUS


def prediction_text(step: Step, made: Predicted) -> str:
    """Outcome of the prediction of a step, and why; before it has one, that it is saved, and the next thing to do."""
    prediction = step.prediction
    assert prediction is not None
    if made.came is None:
        return f"{tr('Prediction saved.')} {step.not_yet or tr('Now run the scenario.')}"
    said = (_gap_text(prediction, made, made.came), mistake_of(prediction, made), prediction.why)
    return " ".join(filter(None, said))


def missing_text(step: Step, judgement: Judgement) -> str:
    """Reason why the check of a step does not hold yet; empty if it holds."""
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
        question: that was asked.
        given: at least one answer.
        is_done: whether the question needs no further one.
    """
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
    came_text = numbers_text(came, prediction.unit)
    if isinstance(made.value, tuple):
        return tr("On average, your curve is off by {gap}.", gap=came_text)
    assert isinstance(made.value, float)
    said = numbers_text(made.value, prediction.unit)
    if not came:
        return tr("You predicted {said}; the result was {came}.", said=said, came=came_text)
    share = f"{(made.value - came) / came:+.0%}".replace("%", " %").replace("-", MINUS)
    return tr("You predicted {said}; the result was {came}: off by {share}.", said=said, came=came_text, share=share)


def _text(value: str | float, unit: str) -> str:
    return value if isinstance(value, str) else numbers_text(value, unit)

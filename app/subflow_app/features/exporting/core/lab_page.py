"""A lab as one web page: its text, its checks, and the simulator for the runs that it asks for.

A student does it in a browser, without Subflow. What is handed in is the file that the program would have written, and
is verified in the same way: each run is made again from its text, and its signature compared.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import subflow_app
from subflow_app.features.exporting.core.expression_document import compiled
from subflow_app.features.exporting.core.lab_page_checks import (
    check_document,
    named_facts,
    number_document,
    unknown_functions,
)
from subflow_app.features.exporting.core.lab_page_scenarios import beyond_pages, lab_scenarios
from subflow_app.features.exporting.core.markdown_html import inline_html, markdown_html
from subflow_app.features.exporting.core.web_page import (
    PageKind,
    check_offered,
    compact_json,
    page_of,
    policy_texts,
    told_words,
)
from subflow_app.features.labs.core.explored import Exploration
from subflow_app.features.labs.core.functions import functions
from subflow_app.features.labs.core.lab import SKETCH, Lab, Prediction, Question, Step
from subflow_app.features.labs.core.lab_file import parse_lab
from subflow_app.features.labs.core.misconceptions import SKETCH_FUNCTIONS
from subflow_app.features.labs.core.publishing import published_text
from subflow_app.features.labs.core.sealing import Sealed, Told
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.errors import InputError, LabError
from subflow_app.foundation.expressions import UNIT_WORTH, Expression
from subflow_app.foundation.files import write_file
from subflow_app.foundation.settings import Settings
from subflow_app.vocabulary.language import current_language

FORMAT = 1
LAB = PageKind(
    "lab.html",
    ("page.css", "lab.css"),
    (
        *("words.js", "elements.js", "measures.js", "chores.js", "charts.js", "simulator.js", "runs.js"),
        *("whatif.js", "events.js", "worked.js", "why.js", "tables.js", "../explorable.js", "lab_words.js"),
        *("sealed.js", "lab_checks.js", "lab_scenarios.js", "lab_progress.js", "sketch.js"),
        *("lab_form.js", "lab_steps.js", "lab.js"),
    ),
)
_SHOWS = ("plot", "field", "link")


def write_lab_page(lab: Lab, path: Path, *, key: str = "", language: str | None = None) -> Path:
    """Write the page of a lab; a file that is there is replaced once the new one is whole.

    Args:
        lab: with its solution.
        path: of the page.
        key: of the course: the page is then of the lab that `subflow labs publish` makes, and signs for the course.
        language: of its buttons; None: the present one.

    Raises:
        ExportError: if the file cannot be written.
        InputError: if the lab cannot be a page, or the core for pages did not come with the program.
        LabError: if it has been published before.
    """
    check_page(lab)
    data = lab_document(lab, key=key, language=language or current_language())
    told = markdown_html(lab.introduction)
    packed = {"told": compact_json(data)}
    page = page_of({"format": FORMAT}, lab.title, told, LAB, packed=packed, language=str(data["language"]))
    return write_file(path, page)


def check_page(lab: Lab) -> None:
    """Raise what tells why a lab cannot be a page, as `write_lab_page` does; nothing: it can."""
    check_offered()
    if lab.is_published:
        raise LabError(
            f"{lab.path} has been published: its answers are sealed; allowed: the lab that it was made from, with --key"
        )
    why_not = beyond_pages(lab)
    if why_not:
        raise InputError(f"the lab {lab.name} cannot be a page: {why_not}; allowed: do it in Subflow, or another lab")


def lab_document(lab: Lab, *, key: str = "", language: str) -> dict[str, Any]:
    """What the page of a lab knows.

    Args:
        lab: with its solution.
        key: of the course; empty: it is not for one.
        language: of its buttons.
    """
    shown = parse_lab(published_text(lab, key), lab.path) if key else lab
    interval_s = Settings().sample_interval_s
    made = lab_scenarios(lab, named_facts(lab), interval_s)
    beyond = dict(made.beyond)
    for step in lab.steps:
        unknown = unknown_functions(step)
        if unknown:
            beyond.setdefault(step.id, f"{', '.join(unknown)} is known to the program alone")
    return {
        "version": subflow_app.__version__,
        "language": language,
        "policies": policy_texts(made.policies),
        **told_words(language),
        "interval_s": interval_s,
        "units": dict(UNIT_WORTH),
        "lab": {
            "name": lab.name,
            "title": lab.title,
            "hash": shown.file_hash,
            "course": shown.course,
            "minutes": lab.minutes,
            "goals": list(lab.goals),
            "introduction": markdown_html(lab.introduction),
        },
        "scenarios": made.documents,
        "steps": [_step(step, shown.file_hash, beyond.get(step.id, ""), language) for step in shown.steps],
    }


def _step(step: Step, salt: str, beyond: str, language: str) -> dict[str, Any]:
    return {
        "id": step.id,
        "title": step.title,
        "text": markdown_html(step.text),
        "shows": [[target.kind, target.name] for target in step.shows if target.kind in _SHOWS],
        "check": check_document(step.check),
        "not_yet": inline_html(step.not_yet),
        "hints": [inline_html(hint) for hint in step.hints],
        "beyond": beyond,
        "exploration": None if step.exploration is None else _exploration(step.exploration, language),
        "prediction": None if step.prediction is None else _prediction(step.prediction),
        "questions": [_question(question, f"{salt}/{step.id}/{question.id}") for question in step.questions],
    }


def _exploration(exploration: Exploration, language: str) -> dict[str, Any]:
    return {
        "description": exploration.explorable.document(language),
        "measured": {name: number_document(text) for name, text in exploration.measured},
    }


def _prediction(prediction: Prediction) -> dict[str, Any]:
    return {
        "kind": prediction.kind,
        "ask": inline_html(prediction.ask),
        "options": list(prediction.options),
        "holds": [check_document(text) for text in prediction.holds],
        "number": number_document(prediction.number),
        "column": prediction.sketch,
        "owner": prediction.owner,
        "unit": prediction.unit,
        "until_s": prediction.until_s,
        "top": prediction.top,
        "why": inline_html(prediction.why),
        "mistakes": [[_said(prediction, each.said), inline_html(each.why)] for each in prediction.mistakes],
    }


def _said(prediction: Prediction, said: str | float) -> Any:
    """What a mistake is told by: an option, a number, or a claim about the curve that was drawn."""
    return compiled(Claim(str(said), SKETCH_FUNCTIONS)) if prediction.kind == SKETCH else said


def _question(question: Question, salt: str) -> dict[str, Any]:
    told: dict[str, Any] = {"id": question.id, "ask": inline_html(question.ask), "options": list(question.options)}
    told |= {"unit": question.unit, "tolerance": question.tolerance}
    if question.sealed is not None:
        sealed = question.sealed
        return told | {"sealed": {"salt": sealed.salt, "entries": dict(sealed.entries), "is_exact": False}}
    if not question.options:
        expression = Expression(question.answer, functions())
        if list(expression.calls()):  # what is right depends on the student's own runs, and is not a secret
            mistakes = [[mistake.said, mistake.why] for mistake in question.mistakes]
            return told | {"answer": compiled(expression), "why": question.why, "mistakes": mistakes}
        right = expression.value(lambda *_: 0.0)
        assert isinstance(right, float | int)
        return told | {"sealed": _sealed(question, float(right), salt)}
    return told | {"sealed": _sealed(question, question.answer, salt)}


def _sealed(question: Question, right: str | float, salt: str) -> dict[str, Any]:
    """The answers, closed as a published lab has them.

    What is said to a number begins with the number that it is near to: hashes know steps of the tolerance alone, and
    the page judges as the program does.
    """

    def told(said: str | float, *, is_right: bool, why: str) -> tuple[str | float, Told]:
        return said, Told(is_right, why if isinstance(said, str) else f"{json.dumps(said)} {why}")

    answers = [told(right, is_right=True, why=question.why)]
    answers += [told(each.said, is_right=False, why=each.why) for each in question.mistakes]
    known = {said for said, _ in answers}
    answers += [told(option, is_right=False, why="") for option in question.options if option not in known]
    sealed = Sealed.of(answers, question.tolerance, salt)
    return {"salt": salt, "entries": dict(sealed.entries), "is_exact": not question.options}

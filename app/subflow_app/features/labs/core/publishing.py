"""Copy of a lab for students, without its solution, with sealed answers, and with a key that signs results.

The same lab with the same course key always gives the same bytes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from subflow_app.features.labs.core.conformity import allowances
from subflow_app.features.labs.core.functions import functions
from subflow_app.features.labs.core.lab import Lab, Question
from subflow_app.features.labs.core.own_numbers import has_place
from subflow_app.features.labs.core.sealing import Sealed, Told, course_seal
from subflow_app.features.labs.core.session import dealt
from subflow_app.foundation.errors import InputError, LabError
from subflow_app.foundation.expressions import Expression, Missing
from subflow_app.foundation.files import made_folder, write_file
from subflow_app.foundation.resources import find_scenario, resource_path
from subflow_app.foundation.toml_edit import render, render_key
from subflow_app.foundation.toml_files import read_text
from subflow_sim.gate import is_there

_FENCE = "+++"
_UNPUBLISHED = ("do", "facts", "quoted")  # keys of a step that are left out of the copy
_ANSWERS = ("answer", "why", "mistakes")  # keys of a question whose values are sealed in the copy


def publish(lab: Lab, key: str, folder: Path) -> list[Path]:
    """Write a lab for students, with its scripts and scenario.

    Args:
        lab: the lab with its answers.
        key: key of the course.
        folder: folder of the files; created if missing.

    Returns:
        The written files, the lab first.

    Raises:
        ExportError: if a file cannot be written.
        LabError: if the lab is itself a published copy, or would be overwritten.
    """
    if lab.is_published:
        raise LabError(f"{lab.path} has been published: its answers are sealed; allowed: the lab that it was made from")
    texts = {f"{lab.name}.md": published_text(lab, key), **_beside(lab)}
    made_folder(folder)
    written = []
    for name, text in texts.items():
        path = folder / name
        if is_there(path) and path.samefile(lab.path):
            raise LabError(f"{path} is the lab itself; allowed: another folder")
        written.append(write_file(path, text))
    return written


def published_text(lab: Lab, key: str) -> str:
    """Text of a lab without its solution, and with sealed answers."""
    text = read_text(lab.path, LabError, "a lab").replace("\r\n", "\n")
    _, front, body = text.split(f"{_FENCE}\n", 2)
    tree = tomllib.loads(front)
    seal = course_seal(key, lab.name)
    head = {name: value for name, value in tree.items() if name not in ("own", "set", "scripts", "steps")}
    parts = ["\n".join(_pairs({**head, "course": seal}))]
    parts += [f"[{name}]\n" + "\n".join(_pairs(tree[name])) for name in ("own", "set", "scripts") if tree.get(name)]
    for table, step in zip(tree["steps"], lab.steps, strict=True):
        allowed = [each for each in allowances(step) if not has_place(each)]
        allows = {"allows": allowed} if allowed else {}
        parts += _step({**table, **allows}, {question.id: question for question in step.questions}, f"{seal}/{step.id}")
    return f"{_FENCE}\n" + "\n\n".join(parts) + f"\n{_FENCE}\n{body}"


def _step(table: Mapping[str, Any], questions: Mapping[str, Question], salt: str) -> Iterator[str]:
    left_out = (*_UNPUBLISHED, "predict", "questions")
    yield "[[steps]]\n" + "\n".join(_pairs({name: value for name, value in table.items() if name not in left_out}))
    if "predict" in table:
        yield "[steps.predict]\n" + "\n".join(_pairs(table["predict"]))
    for asked in table.get("questions", ()):
        question = questions[asked["id"]]
        # An answer that depends on numbers of one's own cannot be sealed once for all students.
        is_own = any(map(has_place, (asked.get("answer"), *asked.get("options", ()))))
        sealed = None if is_own or question.is_text else _sealed(question, f"{salt}/{question.id}")
        if sealed is None:
            yield "[[steps.questions]]\n" + "\n".join(_pairs(asked))
            continue
        plain = {name: value for name, value in asked.items() if name not in _ANSWERS}
        if question.options:
            plain["options"] = list(dealt(question.options, sealed.salt))
        yield "[[steps.questions]]\n" + "\n".join(_pairs(plain))
        yield "\n".join(("[steps.questions.sealed]", *_pairs({"salt": sealed.salt})))
        yield "\n".join(("[steps.questions.sealed.entries]", *_pairs(dict(sealed.entries))))


def _sealed(question: Question, salt: str) -> Sealed | None:
    """Sealed answers to a question; None if the right answer depends on the student's runs."""
    right: str | float = question.answer
    if not question.options:
        expression = Expression(question.answer, functions())
        if list(expression.calls()):
            return None
        value = expression.value(lambda *_: Missing(""))
        assert isinstance(value, float | int)
        right = float(value)
    answers = [(right, Told(True, question.why)), *((each.said, Told(False, each.why)) for each in question.mistakes)]
    known = {said for said, _ in answers}
    answers += [(option, Told(False)) for option in question.options if option not in known]
    return Sealed.of(answers, question.tolerance, salt)


def _beside(lab: Lab) -> dict[str, str]:
    """Texts of the files that a lab needs, by name: its scripts, and its scenario unless the scenario is shipped."""
    texts = {script.file: script.text for script in lab.scripts}
    try:
        is_shipped = find_scenario(lab.scenario.stem) == lab.scenario
    except InputError:
        is_shipped = False
    if not is_shipped or lab.scenario.parent == resource_path("labs"):
        texts[lab.scenario.name] = read_text(lab.scenario, LabError, "a scenario")
    return texts


def _pairs(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{render_key(name)} = {render(value)}" for name, value in table.items())

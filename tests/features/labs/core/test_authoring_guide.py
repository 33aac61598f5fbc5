"""The example of the authoring guide is a valid lab, and translated labs differ only in their texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.labs.core.lab import Lab, Step
from subflow_app.features.labs.core.lab_file import lab_names, load_lab, parse_lab
from subflow_app.features.labs.core.runner import run_lab
from subflow_app.foundation.errors import LabError
from subflow_app.foundation.resources import resource_path

DOCS = Path(__file__).parents[4] / "docs"
GUIDE = DOCS / "labs" / "authoring.md"
EXAMPLE = DOCS / "skeletons" / "50-long-path.md"


def test_the_example_of_the_guide_can_be_done_from_first_to_last_step(tmp_path: Path) -> None:
    example = EXAMPLE.read_text(encoding="utf-8")
    outcome = run_lab(parse_lab(example, tmp_path / EXAMPLE.name))
    assert outcome.problems == []
    assert present(outcome.progress.steps["cubic"].prediction).is_right


def test_the_guide_shows_what_is_said_of_a_lab_with_mistakes(tmp_path: Path) -> None:
    text = GUIDE.read_text(encoding="utf-8")
    example = EXAMPLE.read_text(encoding="utf-8")
    mistakes = {
        '"beginner"': '"beginer"',
        """'finished(last()) and controller(last(), "reno") == "newreno"'""": "'goodput(last(), 3) > 5'",
        '["run", "answer': '["runn", "answer',
    }
    for right, wrong in mistakes.items():
        assert right in example
        example = example.replace(right, wrong, 1)
    with pytest.raises(LabError) as refused:
        parse_lab(example, tmp_path / EXAMPLE.name)
    assert str(refused.value).replace(f"{tmp_path}/", "") == text.partition("```text\n")[2].partition("\n```\n")[0]


@for_each("name", lab_names())
def test_a_german_lab_is_the_english_one_in_other_words(name: str) -> None:
    english, german = load_lab(name, language="en"), load_lab(name, language="de")
    assert _without_texts(german) == _without_texts(english)
    for ours, theirs in zip(german.steps, english.steps, strict=True):
        assert ours.title != theirs.title or ours.text != theirs.text, f"{theirs.id} is not translated"
        for order, original in zip(ours.do, theirs.do, strict=True):
            # Options are texts; all other orders are the same.
            assert order == original or (order.split()[0] in ("predict", "answer") and _chosen(ours, order))
    folder = resource_path("labs")
    german_text = (folder / "de" / f"{name}.md").read_text(encoding="utf-8")
    english_text = (folder / f"{name}.md").read_text(encoding="utf-8")
    # German uses a decimal comma. A figure that was measured anew must change in both languages.
    assert _numbers(re.sub(r"(?<=\d),(?=\d)", ".", german_text)) == _numbers(english_text)


def _numbers(text: str) -> list[str]:
    """The numbers of a lab's texts and checks, sorted: a translation may change their order in a sentence."""
    return sorted(re.findall(r"\d+(?:\.\d+)?", text))


def _without_texts(lab: Lab) -> object:
    return (
        (lab.number, lab.minutes, lab.level, lab.needs, lab.scenario_text(), len(lab.goals)),
        [
            (
                (step.id, step.shows, step.check, step.always, len(step.hints)),
                step.prediction
                and (step.prediction.holds, step.prediction.number, step.prediction.sketch, step.prediction.owner),
                [
                    (each.id, len(each.options), each.answer if not each.options else each.options.index(each.answer))
                    for each in step.questions
                ],
            )
            for step in lab.steps
        ],
    )


def _chosen(step: Step, order: str) -> bool:
    """True if an order chooses one of the options of its step."""
    verb, _, said = order.partition(" ")
    if verb == "predict":
        return step.prediction is not None and said in step.prediction.options
    question, _, answer = said.partition(" ")
    return answer in step.question(question).options

"""Labs are read whole, or all that is wrong with them is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.labs import SAWTOOTH_LAB, small_lab

from subflow_app.core.errors import LabError
from subflow_app.core.labs.lab import Target
from subflow_app.core.labs.lab_file import lab_names, load_lab
from subflow_app.core.labs.runner import run_lab


def test_a_lab_has_its_steps_with_their_texts_in_order(tmp_path: Path) -> None:
    lab = small_lab(tmp_path)
    assert (lab.name, lab.number, lab.title, lab.introduction) == (
        "01-small",
        1,
        "A small lab",
        "One flow, one bottleneck.",
    )
    assert [(step.id, step.title) for step in lab.steps][:2] == [("run", "Run it"), ("pipe", "The pipe")]
    assert lab.steps[0].text == "Press **F5**."
    assert lab.steps[0].shows == (Target("action", "run.toggle"),)
    assert lab.steps[2].shows == (Target("field", "links.bottleneck.queue"), Target("link", "bottleneck"))
    assert lab.steps[3].prediction is not None
    assert (lab.steps[3].prediction.until_s, lab.steps[3].prediction.top) == (30.0, 200.0)
    assert lab.steps[4].is_read_only
    assert 'duration = "30s"' in lab.scenario_text()


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('title = "A small lab"', 'titel = "A small lab"', ('.md:4: titel = "A small lab": unknown key', "title")),
        ("minutes = 5", "minutes = 0", (".md:5: minutes = 0", "1")),
        ('scenario = "reno-sawtooth"', 'scenario = "sawtoth"', (".md:7: scenario", "no such scenario")),
        ('duration = "30s"', 'duration = "30 apples"', (".md:8: set", "30 apples", "allowed")),
        (
            '"action:run.toggle"',
            '"button:run"',
            (".md:12: steps[0].shows", "names nothing in the window; allowed: e.g."),
        ),
        ("finished(last())", "finisht(last())", ("steps[0].check", 'column 1: there is no "finisht", did you mean')),
        (
            "run_of('run'), 'links",
            "run_of('rum'), 'links",
            ("steps[2].check", 'no step before this one has the id "rum"'),
        ),
        ("'links.bottleneck.queue') == 17", "'links.bottleneck.queu') == 17", ('scenarios have no key "links.bottle',)),
        ('do = ["run"]', 'do = ["ran"]', (".md:15: steps[0].do[0]", '"ran" is no order, did you mean')),
        (
            'answer = "The queue"',
            'answer = "A queue"',
            ("questions[1].answer", 'none of the options; allowed: "The sender"'),
        ),
        ('[["41.7 pkt", ', '[["x", ', ("questions[0].mistakes[0]",)),
        ('[["The sender", ', '[["The queue", ', ('"The queue" is none of the wrong options; allowed: "The sender"',)),
        (
            'hints = ["Look',
            'facts = ["9 = "]\nhints = ["Look',
            ("steps[0].facts[0]", "is no fact; allowed: NUMBER UNIT ="),
        ),
        ('unit = "pkt"\nwhy', 'unit = "packets"\nwhy', ("questions[0].unit", "no unit of scenario files")),
        ('options = ["It stays", "It falls"]', 'options = ["It falls"]', ("predict.options", "predict.holds")),
        (
            "## Run it {#run}",
            "## Run it {#rum}",
            ("steps[0].id", "has no section", ':68: ## Run it: there is no step "rum"'),
        ),
        ('top = "200 pkt"', 'top = "200 apples"', ("steps[3].predict.top", "is no unit")),
        ("+++\nOne flow", "One flow", ("the front matter has no end",)),
        ("format = 1", "format = 2", (".md:2: format = 2",)),
        ("goals = [", "goals = ", ("not valid TOML",)),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: tuple[str, ...]) -> None:
    assert old in SAWTOOTH_LAB
    with pytest.raises(LabError) as caught:
        small_lab(tmp_path, SAWTOOTH_LAB.replace(old, new, 1))
    for part in told:
        assert part in str(caught.value)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    text = SAWTOOTH_LAB.replace("minutes = 5", "minutes = 0").replace('do = ["run"]', 'do = ["ran"]', 1)
    with pytest.raises(LabError) as caught:
        small_lab(tmp_path, text)
    assert len(str(caught.value).splitlines()) == 2


def test_a_lab_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"no such lab file and no shipped lab of that name; shipped labs:"):
        load_lab(tmp_path / "none.md")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.full("trains for seconds")) if name == "09-first-agent" else name
        for name in lab_names()
    ],
)
def test_shipped_labs_can_be_done_from_first_to_last_step(name: str) -> None:
    lab = load_lab(name)
    if lab.missing:
        pytest.skip(f"needs {lab.missing}")
    outcome = run_lab(lab)
    assert outcome.problems == []
    assert outcome.progress.finished_at
    # What the solutions expect comes true, but for what a few seconds of training are worth.
    predictions = {step: made.prediction for step, made in outcome.progress.steps.items() if made.prediction}
    wrong = {step for step, prediction in predictions.items() if prediction.is_right is False}
    assert wrong <= ({"own"} if "train" in lab.needs else set())

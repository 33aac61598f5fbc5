"""Labs are read completely, or all errors in them are reported with their place."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from tests.helpers.labs import SAWTOOTH_LAB, small_lab
from tests.helpers.members import for_each
from tests.helpers.present import present

from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import open_scenario, with_overrides
from subflow_app.features.labs.core.lab import Lab, Prediction, Question, Target
from subflow_app.features.labs.core.lab_file import lab_names, load_lab
from subflow_app.features.labs.core.misconceptions import mistake_of
from subflow_app.features.labs.core.progress import Predicted
from subflow_app.features.labs.core.runner import run_lab, texts_of
from subflow_app.features.labs.core.session import read_prediction
from subflow_app.features.labs.core.solution import parse_order
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import LabError
from subflow_sim import parse_scenario
from subflow_sim.policy import Policy

ASSETS = Path(__file__).parents[4] / "assets"


def test_a_lab_has_its_steps_with_their_texts_in_order(tmp_path: Path) -> None:
    lab = small_lab(tmp_path)
    assert (lab.name, lab.number, lab.title) == ("01-small", 1, "A small lab")
    assert lab.introduction == "One flow, one bottleneck."
    assert [(step.id, step.title) for step in lab.steps][:2] == [("run", "Run it"), ("pipe", "The pipe")]
    assert lab.steps[0].text == "Press **F5**."
    assert lab.steps[0].shows == (Target("action", "run.toggle"),)
    assert lab.steps[2].shows == (Target("field", "links.bottleneck.queue"), Target("link", "bottleneck"))
    prediction = present(lab.steps[3].prediction)
    assert (prediction.until_s, prediction.top) == (30.0, 200.0)
    assert lab.steps[4].is_read_only
    assert 'duration = "30s"' in lab.scenario_text()


@for_each(
    ("old", "new", "told"),
    [
        ('title = "A small lab"', 'titel = "A small lab"', ('.md:4: titel = "A small lab": unknown key', "title")),
        ("minutes = 5", "minutes = 0", (".md:5: minutes = 0", "1")),
        ('scenario = "reno-sawtooth"', 'scenario = "sawtoth"', (".md:7: scenario", "no such scenario")),
        ('duration = "30s"', 'duration = "30 apples"', (".md:8: set", "30 apples", "allowed")),
        ('"action:run.toggle"', '"button:run"', (".md:12: steps[0].shows", "names nothing in the window")),
        ("finished(last())", "finisht(last())", ("steps[0].check", 'column 1: unknown name "finisht", did you mean')),
        (
            "run_of('run'), 'links",
            "run_of('rum'), 'links",
            ("steps[2].check", 'no step before this one has the id "rum"'),
        ),
        ("'links.bottleneck.queue') == 17", "'links.bottleneck.queu') == 17", ('scenarios have no key "links.bottle',)),
        ('do = ["run"]', 'do = ["ran"]', (".md:15: steps[0].do[0]", '"ran" is not an order, did you mean')),
        ('answer = "The q', 'answer = "A q', ("questions[1].answer", 'not one of the options; allowed: "The sender"')),
        ('[["41.7 pkt", ', '[["x", ', ("questions[0].mistakes[0]",)),
        (
            '[["The sender", ',
            '[["The queue", ',
            ('"The queue" is not one of the wrong options; allowed: "The sender"',),
        ),
        ('hints = ["Look', 'facts = ["9 = "]\nhints = ["Look', ("steps[0].facts[0]", "is not a fact; allowed: NUMBER")),
        ('unit = "pkt"\nwhy', 'unit = "packets"\nwhy', ("questions[0].unit", "not a unit of scenario files")),
        ('options = ["It stays", "It falls"]', 'options = ["It falls"]', ("predict.options", "predict.holds")),
        ("## Run it {#run}", "## Run it {#rum}", ("has no section", ':73: ## Run it: unknown step "rum"')),
        ('top = "200', 'mistakes = [["peaks() > 1", "x"]]\ntop = "200', ("mistakes[0]", 'unknown name "peaks"')),
        ('top = "200 pkt"', 'top = "200 apples"', ("steps[3].predict.top", "is not a unit")),
        (
            'explore = "utilis',
            'explore = "utiliz',
            ("no formula has this name", 'did you mean "utilisation"?; allowed'),
        ),
        ('explore = "utilisation"\n', "", ("steps[2].measured", 'nothing is explored here; allowed: with explore = "')),
        ("\nbuffer = ", "\nbufer = ", ("measured.bufer", '"utilisation" has no number of this name; allowed: ')),
        ("\nbuffer = ", "\npacket = ", ("steps[2].measured", "buffer is missing")),
        ("utilisation(last(), 'b", "utilisatio(last(), 'b", ("measured.utilisation", 'unknown name "utilisatio"')),
        ("+++\nOne flow", "One flow", ("the front matter has no end",)),
        ("format = 1", "format = 2", (".md:2: format = 2",)),
        ("goals = [", "goals = ", ("not valid TOML",)),
        # All problems are reported at once.
        ('minutes = 5\ngoals = ["', 'minutes = 0\ngoals = 5 # ["', (".md:5: minutes", ".md:6: goals")),
    ],
)
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: tuple[str, ...]) -> None:
    assert old in SAWTOOTH_LAB
    with pytest.raises(LabError) as caught:
        small_lab(tmp_path, SAWTOOTH_LAB.replace(old, new, 1))
    assert [part for part in told if part not in str(caught.value)] == []
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
    # The predictions of the solutions come true, except after a training of only a few seconds.
    predictions = {step: made.prediction for step, made in outcome.progress.steps.items() if made.prediction}
    wrong = {step for step, prediction in predictions.items() if prediction.is_right is False}
    assert wrong <= ({"own"} if "train" in lab.needs else set())


LANGUAGES = ("en", "de")


@for_each("language", LANGUAGES)
def test_no_answer_can_be_guessed_from_the_length_of_its_options(language: str) -> None:
    """Always choosing the longest, the shortest or the middle option is right about as often as a random choice."""
    steps = [step for name in lab_names() for step in load_lab(name, language=language).steps]
    asked = [question for step in steps for question in step.questions if question.options]
    chance = sum(1 / len(question.options) for question in asked) / len(asked)
    for place in (0, 1, -1):  # place among the options sorted by length
        right = 0.0
        for question in asked:
            length = sorted(map(len, question.options))[place]
            taken = [option for option in question.options if len(option) == length]
            right += (question.answer in taken) / len(taken)
        assert right / len(asked) < chance + 0.08, place


@for_each("language", LANGUAGES)
@for_each("name", lab_names())
def test_each_step_has_a_hint_and_no_hint_contains_the_answer(name: str, language: str) -> None:
    for step in load_lab(name, language=language).steps:
        assert step.hints or step.is_read_only, step.id
        for question in step.questions:
            right = str(question.answer)
            # Numbers of an answer such as "83.3 pkt" may be given; the words of an option may not.
            if question.options:
                assert not any(right.casefold() in hint.casefold() for hint in step.hints), (step.id, question.id)


@for_each("name", lab_names())
def test_nothing_is_passed_by_reading_and_wrong_answers_are_answered(name: str) -> None:
    lab = load_lab(name)
    assert [step.id for step in lab.steps if step.is_read_only] == []
    for step in lab.steps:
        for question in step.questions:
            said = {each.said for each in question.mistakes}
            assert said or question.is_text, (step.id, question.id)
            assert not question.options or said == set(question.options) - {question.answer}, (step.id, question.id)


@for_each("language", LANGUAGES)
@for_each("name", lab_names())
def test_predictions_that_do_not_come_true_are_answered(name: str, language: str) -> None:
    """A wrong prediction gets an answer about the idea behind it; the prediction of the solution is not a mistake."""
    for step in load_lab(name, language=language).steps:
        if (prediction := step.prediction) is None:
            continue
        made = next(order.words[0] for order in map(parse_order, step.do) if order.verb == "predict")
        right = read_prediction(step, made)
        said = [each.said for each in prediction.mistakes]
        if prediction.kind == "choice":
            assert {*said} >= {*prediction.options} - {right}, step.id
            continue
        assert len(said) >= 3, step.id
        came = right if isinstance(right, float) else 0.0
        assert mistake_of(prediction, Predicted(right, "", 0, came)) == "", step.id
        if prediction.kind == "number":
            assert all(mistake_of(prediction, Predicted(each, "", 0, came)) for each in said), step.id


def test_a_drawn_curve_is_told_what_is_behind_it() -> None:
    step = next(step for step in load_lab("01-first-sawtooth", language="en").steps if step.id == "run")
    prediction = present(step.prediction)

    def told(*heights: float) -> str:
        points = tuple((10.0 * place, height) for place, height in enumerate(heights))
        return mistake_of(prediction, Predicted(points, "", 0, 12.0))

    assert told(10, 170, 90, 160, 80, 120, 160, 80, 120, 160, 80, 100, 120) == ""
    assert told(10, 80, 120, 160, 160, 160, 160, 160, 160, 160, 160, 160, 160).startswith("A window that never falls")
    assert told(10, 170, 1, 80, 160, 1, 80, 160, 1, 80, 160, 1, 80).startswith("The window falls to a few packets only")
    assert told(10, 50, 90, 160, 80, 120, 160, 80, 120, 160, 80, 100, 120).startswith("You let it climb slowly")


_NUMBER = re.compile(r"(?<![\w.,])\d+(?:\.\d+)?(?![\w])")
_NAMES = re.compile(
    r"RFC \d+|[Ss]ections? [\d.]+|[Ll]abs? \d+(?: (?:and|to) \d+)?|goals? \d|figures? \d+|table \d+|(?:19|20)\d\d|"
    r"seeds? \d+(?: to \d+)?"
)


def _numbers(*texts: str) -> set[str]:
    return {number for text in texts for number in _NUMBER.findall(_NAMES.sub("", text))}


_MEASURED = re.compile(
    r"(?<![\w.,])(\d+(?:\.\d+)?)(?= (?:(?:to|and) \d+(?:\.\d+)? )?(?:%|[kMG]?bit/s|ms|s|kB|MB|pkt)(?!\w))"
)


@for_each("name", lab_names())
def test_each_number_of_an_explanation_is_given_computed_or_a_fact(name: str) -> None:
    """Or a part of an equation; `labs check --run` computes the facts.

    Small whole numbers may count things in explanations; those with units need a source, as in feedback on mistakes.
    """
    lab = load_lab(name, language="en")
    known = _numbers(lab.introduction, lab.scenario_text())
    for step in lab.steps:
        known |= _numbers(step.text, step.not_yet, *step.hints) | {fact.number for fact in step.facts} | {*step.quoted}
        asked: list[Prediction | Question] = [*step.questions, *([step.prediction] if step.prediction else [])]
        for each in asked:
            known |= _numbers(each.ask, *each.options, getattr(each, "answer", ""))
        for each in asked:
            left = {number for number in _numbers(_without_equations(each.why)) if "." in number or int(number) > 10}
            for text in (each.why, *(mistake.why for mistake in each.mistakes)):
                left |= {*_MEASURED.findall(_NAMES.sub("", _without_equations(text)))}
            assert left - known == set(), (step.id, each.why)


def _without_equations(text: str) -> str:
    return " ".join(part for part in re.split(r"(?<=[.:;]) ", text) if not re.search("[=<>]", part))


_UNIT = r"%|[kMG]?bit(?:/s)?|ms|s"
_SUM = re.compile(
    rf"((?:(?:sqrt|ln|max)(?=[ (])|\d+(?:[., ]\d{{3}})*(?:[.,]\d+)?(?: (?:{_UNIT})(?![\w/]))?|[-+x/^²(),]|\s)+)"
    rf"= (\d+(?: \d{{3}}(?!\d))*(?:[.,]\d+)?)(e-?\d+)?(?: ({_UNIT})(?!\w))?(?!\d|[.,]\d| [-+x/%] ?)"
)
_WORTH = {
    "%": 0.01,
    "ms": 1e-3,
    "s": 1.0,
    **{f"{p}bit{r}": w for p, w in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9)) for r in ("", "/s")},
}


def _worked_out(text: str) -> float | None:
    """Value of a sum in the notation of labs, in SI units; None unless the sum is complete."""
    code = re.sub(r"(?<=\d)[  ](?=\d{3}(?!\d))", "", text).replace("²", "**2").replace("^", "**").replace("x", "*")
    code = re.sub(r"(?<=\d),(?=\d)", ".", code.replace("ma*", "max"))
    code = re.sub(r"(\d+(?:\.\d+)?) (%|[kMG]?bit(?:/s)?|ms|s)(?![\w/])", lambda m: f"({m[1]}*{_WORTH[m[2]]!r})", code)
    code = re.sub(r"\bln (\d+)", r"ln(\1)", code).strip()
    if not re.search(r"\d[^\d.]+\d|\(", code) or code.startswith(("/", "*", ")", ",", "+")):
        return None
    try:
        return float(eval(code, {"__builtins__": {}}, {"sqrt": math.sqrt, "ln": math.log, "max": max}))
    except (SyntaxError, TypeError, NameError):
        return None


@for_each("language", LANGUAGES)
def test_the_sums_that_labs_write_come_out(language: str) -> None:
    """The sums are correct to the last printed digit."""
    wrong, right = [], 0
    for name in lab_names():
        for step in load_lab(name, language=language).steps:
            for match in _SUM.finditer("#".join(texts_of(step))):
                found = _worked_out(match[1])
                if found is None:
                    continue
                written, power = match[2].replace(",", ".").replace(" ", ""), float(f"1{match[3] or ''}")
                leeway = 0.5001 * 10.0 ** -len(written.partition(".")[2])
                # Numbers without units have the unit of the result.
                values = [found / power / worth for worth in (_WORTH.get(match[4] or "", 1.0), 1.0)]
                is_right = any(abs(value - float(written)) <= leeway for value in values)
                right += is_right
                if not is_right:
                    wrong.append((name, step.id, match[0], values))
    assert wrong == []
    assert right >= 25


@for_each("language", LANGUAGES)
def test_no_hint_computes_a_number_that_is_asked_for(language: str) -> None:
    """A hint may give the parts of a sum, but not the whole sum."""
    for name in lab_names():
        for step in load_lab(name, language=language).steps:
            sums = [_worked_out(part) for hint in step.hints for part in re.split(r"[=;]|[.:](?: |$)", hint)]
            for question in step.questions:
                answer = re.fullmatch(r"(-?\d+(?:\.\d+)?)(?: \S+)?", str(question.answer))
                if answer is not None:
                    told = [
                        found
                        for found in sums
                        if found is not None and math.isclose(found, float(answer[1]), rel_tol=0.03)
                    ]
                    assert told == [], (name, step.id, question.id)


def _goodput_bps(scenario: str, controller: str, *changes: str) -> float:
    """Mean goodput of the first flow, a download, over seeds 1 to 3, bit/s."""
    changes = (f"flows.download.controller={controller}", *changes)
    text = with_overrides(open_scenario(scenario, use=Use.LAB).text, changes)
    runs = [RunJob(parse_scenario(text), text, seed=seed).run() for seed in (1, 2, 3)]
    return float(sum(run.summary["flows"][0]["goodput_bps"] for run in runs)) / len(runs)


def test_what_labs_state_about_runs_outside_of_their_solutions_is_true() -> None:
    policy = Policy.load(ASSETS / "agents/rl-explore.safetensors")
    for language, text in (
        ("en", "made four hundred thousand decisions"),
        ("de", "hat auf Links dieser Art vierhunderttausend"),
    ):
        steps = load_lab("09-first-agent", language=language).steps
        assert any(text in each for step in steps for each in texts_of(step))
    assert 395_000 <= policy.card["steps"] <= 405_000
    # Lab 9: CUBIC is better on the link of constant rate.
    assert _goodput_bps("rlx-fixed", "rl-explore") < 0.95 * _goodput_bps("rlx-fixed", "cubic")
    # Lab 12: with one download, the agent gets a little more than uncoupled Renos.
    alone = ("flows.download.count=1", "duration=40s")
    agent = _goodput_bps("lab-joint", "dql-mptcp", *alone, "flows.download.scheduler=goodput")
    assert 1.02 < agent / _goodput_bps("lab-joint", "uncoupled", *alone) < 1.3


def _minutes(lab: Lab) -> float:
    """Duration of a lab for readers of a second language: reading, thinking, doing and watching.

    A hundred words take a minute, each prediction and each question a minute and a half, each setting, run or
    exploration a minute, and writing a script fifteen.
    """
    words, minutes = len(lab.introduction.split()), 0.0
    for step in lab.steps:
        asked: list[Prediction | Question] = [*step.questions, *([step.prediction] if step.prediction else [])]
        said = (step.text, *(text for each in asked for text in (each.ask, *each.options, each.why)))
        words += sum(len(text.split()) for text in said)
        minutes += 1.5 * len(asked) + (step.exploration is not None)
        verbs = [order.partition(" ")[0] for order in step.do]
        minutes += sum(15.0 if verb == "script" else 1.0 for verb in verbs if verb not in ("predict", "answer"))
    return minutes + words / 100.0


@for_each("name", lab_names())
def test_a_lab_fits_into_a_class_and_takes_as_long_as_it_says(name: str) -> None:
    lab = load_lab(name)
    assert 30 <= lab.minutes <= 45
    assert 30 <= _minutes(lab) <= 45
    assert abs(_minutes(lab) - lab.minutes) <= 5, _minutes(lab)

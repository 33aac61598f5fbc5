"""Model of a lab: its steps with texts, questions and checks. `lab_file` reads it from a file.

A lab is a Markdown file with front matter in TOML between lines of `+++`; the shipped labs are
`assets/labs/NN-name.md`:

    +++
    format = 1
    number = 1
    title = "First sawtooth"
    minutes = 25
    level = "beginner"                # beginner, intermediate or advanced
    goals = ["Read a congestion window"]
    needs = []                        # "train": PyTorch
    scenario = "reno-sawtooth"        # shipped scenario, or a file next to the lab; the student starts from a copy
    set = { duration = "60s" }        # changes of the scenario before the lab begins, by dotted key

    [own]                             # values drawn for each student, used as {own:rate} anywhere in the file
    rate = ["6 Mbit/s", "8 Mbit/s"]

    [scripts]                         # scripts that the student completes, by their names in the scenario
    my-lia = "my-lia.py"              # initial text: a file next to the lab, or a shipped script

    [[steps]]
    id = "run"                        # its text is the section "## Run it {#run}" below
    shows = ["action:run.toggle"]     # highlighted parts: panel:NAME, action:ID, plot:NAME, node:NAME, link:NAME,
                                      # flow:NAME, field:DOTTED.KEY
    check = "finished(last())"        # in the language of `foundation.expressions` with the functions of `functions`
    not_yet = "Press F5."             # shown while the check fails; default: the reason
    always = false                    # true: the check may hold before anything was done
    hints = ["F5 runs."]              # shown one at a time
    do = ["run"]                      # orders that carry out the step automatically; see `solution`
    allows = ["links.wifi.loss"]      # further changes that its runs may have; see `conformity`
    facts = ["9.65 Mbit/s = goodput(last())"]  # numbers in its texts, with expressions over runs
    quoted = ["42"]                   # numbers in its texts that come from elsewhere

    explore = "utilisation"           # formula with draggable numbers and a plot
    [steps.measured]                  # points of runs in the plot: expressions for inputs and the last equation
    buffer = "value(last(), 'links.bottleneck.queue')"
    utilisation = "utilisation(last(), 'bottleneck')"

    [steps.predict]                   # requested first; only runs after the prediction count in the step
    ask = "How does the goodput change?"
    options = ["It halves", "It stays"]
    holds = ["goodput(last()) < 0.7 * goodput(run_of('run'))", "goodput(last()) >= 0.7 * goodput(run_of('run'))"]
    # or  number = "goodput(last())" and unit = "Mbit/s": the resulting number
    # or  sketch = "cwnd_pkts", owner = "reno/1", unit = "pkt", until = "60s", top = "200pkt": a curve to draw
    mistakes = [["It stays", "Feedback on this prediction if it is wrong."]]
    # for a number:  [["41.7 pkt", "…"]], for predictions within 10 %
    # for a sketch:  [["drops() == 0", "…"]], for curves with this claim; also highest(20 s, 60 s), lowest(20 s, 60 s)
    why = "Feedback shown with the outcome."

    [[steps.questions]]
    id = "bdp"
    ask = "How many packets fill the link?"
    options = ["8", "83"]             # default: the answer is a number
    answer = "83"                     # text of an option, or expression of a number, e.g. "83 pkt"
    unit = "pkt"                      # unit of a number
    tolerance = "5%"                  # relative tolerance of a number
    mistakes = [["8", "Feedback on this answer."]]
    why = "Feedback after the right answer."
    text = false                      # true: the answer is a free text, which is collected for the lecturer
    +++
    An introduction.

    ## Run it {#run}
    Text of the step.

A step is passed when its prediction is made, its check holds, and each question is answered correctly; after two wrong
answers, the right answer is shown. A step without these parts is passed when the student continues. Runs from before
the start of the lab do not count.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_source import open_scenario, with_overrides
from subflow_app.features.editor.core.scripts import add_script
from subflow_app.features.labs.core.checks import Exploration
from subflow_app.features.labs.core.sealing import Sealed
from subflow_app.foundation.resources import resource_path
from subflow_sim.gate import is_file
from subflow_sim.scenario_model import ScriptFile
from subflow_sim.script_reader import read_script

LEVELS = ("beginner", "intermediate", "advanced")
NEEDS = ("train",)
SHOWS = ("panel", "action", "plot", "node", "link", "flow", "field")

CHOICE, NUMBER, SKETCH = "choice", "number", "sketch"


@dataclass(frozen=True, slots=True)
class Target:
    """A part of the window that a step mentions: its kind, one of `SHOWS`, and its name."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """A frequent wrong answer.

    Attributes:
        said: text of an option, or a number (SI); for a drawn curve, a claim about the curve.
        why: feedback on the mistake.
    """

    said: str | float
    why: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A number in the texts of a step, and the expression over the runs that gives its value.

    Attributes:
        number: number as written in the texts, with a decimal point: "9.65".
        unit: unit as written in the texts; may be empty.
        is_about: whether the number is accurate only to within 5 %, not to its last digit.
        expression: expression in the language of checks.
    """

    number: str
    unit: str
    is_about: bool
    expression: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction that a step requests before the run.

    Attributes:
        ask: the question.
        options: options to choose from; empty for a number or a curve.
        holds: for each option, the check that holds if the option came true.
        number: expression of the resulting number; empty for other kinds.
        sketch: column of the traces to draw; empty for other kinds.
        owner: owner of the trace.
        unit: unit of the number or curve.
        until_s: end of the time axis of a sketch, s; None for the default.
        top: top of the value axis of a sketch, SI; None for the default.
        why: feedback shown with the outcome; may be empty.
        mistakes: feedback on frequent wrong predictions.
    """

    ask: str
    options: tuple[str, ...] = ()
    holds: tuple[str, ...] = ()
    number: str = ""
    sketch: str = ""
    owner: str = ""
    unit: str = ""
    until_s: float | None = None
    top: float | None = None
    why: str = ""
    mistakes: tuple[Mistake, ...] = ()

    @property
    def kind(self) -> str:
        """`CHOICE`, `NUMBER` or `SKETCH`."""
        return CHOICE if self.options else SKETCH if self.sketch else NUMBER


@dataclass(frozen=True, slots=True)
class Question:
    """A question with one right answer.

    Attributes:
        id: name of the question in the step.
        ask: the question.
        options: options to choose from; empty for a number.
        answer: the text of an option, or the expression of a number.
        unit: unit of the number.
        tolerance: allowed deviation of a number, relative to the right number.
        why: feedback after the right answer; may be empty.
        mistakes: frequent wrong answers with feedback.
        is_text: whether the answer is a free text, which is collected for reading and not graded.
        sealed: sealed answers of a published lab, in place of answer, why and mistakes; None in other labs.
    """

    id: str
    ask: str
    options: tuple[str, ...] = ()
    answer: str = ""
    unit: str = ""
    tolerance: float = 0.05
    why: str = ""
    mistakes: tuple[Mistake, ...] = ()
    is_text: bool = False
    sealed: Sealed | None = None

    def told_to(self, value: str | float, *, is_right: bool) -> str:
        """Feedback on an answer, without the verdict; may be empty."""
        if self.sealed is not None:
            return self.sealed.open(value).why
        if is_right:
            return self.why
        return next((each.why for each in self.mistakes if self.is_near(value, each.said)), "")

    def is_near(self, value: str | float, other: str | float) -> bool:
        """True for the same option, or for a number within the tolerance of the other number."""
        if isinstance(value, str) or isinstance(other, str):
            return value == other
        return abs(value - other) <= self.tolerance * abs(other) + 1e-12


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a lab.

    Attributes:
        id: name of the step in the lab.
        title: title of its section.
        text: text of its section, Markdown.
        shows: parts of the window that the step mentions.
        check: condition for passing the step; empty if the step needs no check.
        not_yet: text shown while the check fails; may be empty.
        always: whether the check may hold before the student has done anything.
        hints: hints, shown one at a time on request.
        do: orders of the solution.
        allows: further changes of the scenario that its runs may have; in a published lab, all of them.
        prediction: prediction that the student makes first, or None.
        questions: questions of the step.
        facts: numbers in the texts of the step, each with its expression.
        quoted: numbers in the texts of the step that come from elsewhere.
        exploration: explorable formula of the step, or None.
    """

    id: str
    title: str
    text: str
    shows: tuple[Target, ...] = ()
    check: str = ""
    not_yet: str = ""
    always: bool = False
    hints: tuple[str, ...] = ()
    do: tuple[str, ...] = ()
    allows: tuple[str, ...] = ()
    prediction: Prediction | None = None
    questions: tuple[Question, ...] = ()
    facts: tuple[Fact, ...] = ()
    quoted: tuple[str, ...] = ()
    exploration: Exploration | None = None

    @property
    def is_read_only(self) -> bool:
        """True if the step has no check, prediction or question, so that reading it suffices."""
        return not self.check and self.prediction is None and not self.questions

    def question(self, question_id: str) -> Question:
        """The question with this id.

        Raises:
            KeyError: if the step has no such question.
        """
        for question in self.questions:
            if question.id == question_id:
                return question
        raise KeyError(question_id)


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab as read from its file.

    Attributes:
        name: name of the file without suffix.
        path: path of the file.
        file_hash: SHA-256 of the file, hex.
        number: number of the lab in the list.
        title: title of the lab.
        minutes: approximate duration.
        level: one of `LEVELS`.
        goals: goals of the lab.
        needs: required extras, from `NEEDS`.
        scenario: path of the scenario file that the student starts from.
        changes: "KEY=VALUE" changes of the scenario before the lab begins.
        scripts: scripts that the student completes, with their initial texts.
        introduction: text before the first step, Markdown.
        steps: steps in order.
        course: key that signs results; empty if the lab was not published for a course.
        own: values drawn for the student, by name; see `own_numbers`.
        code: code from which they were drawn; empty for the first values.
    """

    name: str
    path: Path
    file_hash: str
    number: int
    title: str
    minutes: int
    level: str
    goals: tuple[str, ...]
    needs: tuple[str, ...]
    scenario: Path
    changes: tuple[str, ...]
    scripts: tuple[ScriptFile, ...]
    introduction: str
    steps: tuple[Step, ...]
    course: str = ""
    own: Mapping[str, str] = field(default_factory=dict)
    code: str = ""

    @property
    def is_published(self) -> bool:
        """True for a published lab, whose answers are sealed and whose solution was removed."""
        return any(question.sealed is not None for step in self.steps for question in step.questions)

    @property
    def by_id(self) -> Mapping[str, Step]:
        """Steps by id."""
        return {step.id: step for step in self.steps}

    @property
    def missing(self) -> tuple[str, ...]:
        """Required extras that are not installed."""
        packages = {"train": ("torch", "safetensors")}
        return tuple(
            need for need in self.needs if any(importlib.util.find_spec(name) is None for name in packages[need])
        )

    def scenario_text(self) -> str:
        """Text of the document from which the student starts.

        Raises:
            ScenarioError: if the scenario of the lab is invalid.
        """
        return first_text(self.scenario, self.scripts, self.changes)


def first_text(scenario: Path, scripts: Sequence[ScriptFile], changes: Sequence[str]) -> str:
    """Text of a scenario with scripts added and changes applied.

    Raises:
        InputError: if the scenario does not exist.
        ScenarioError: if the resulting scenario is invalid.
    """
    text = open_scenario(str(scenario), use=Use.LAB).text
    for script in scripts:
        text = add_script(text, script.kind, script.name, script.file, script.text).text
    read_scenario(Use.LAB, text, file=str(scenario), overrides=changes)
    return with_overrides(text, changes)


def script_beside(lab: Path, file: str) -> str:
    """Text of a script that a lab names: a file next to the lab, or a script shipped with the labs.

    A translated lab uses the scripts of the English lab.

    Raises:
        ParamError: if the file is missing, or is not text.
    """
    is_there = is_file(lab.parent / file)
    return read_script(file, lab.parent if is_there else resource_path("labs"))

"""A lab as it is taught: steps with what they say, ask and check. `lab_file` reads it from its file.

A lab is a Markdown file, `assets/labs/NN-name.md` or any other, with a front matter in TOML between lines of `+++`:

    +++
    format = 1
    number = 1
    title = "First sawtooth"
    minutes = 25
    level = "beginner"                # beginner, intermediate or advanced
    goals = ["Read a congestion window"]
    needs = []                        # "train": PyTorch
    scenario = "reno-sawtooth"        # the student begins with a copy: a shipped one, or a file beside this
    set = { duration = "60s" }        # changed in it beforehand, by dotted key

    [scripts]                         # what the student goes on writing, in the scenario by that name
    my-lia = "my-lia.py"              # the text to begin with: a file beside this, or one that ships

    [[steps]]
    id = "run"                        # its text is the section "## Run it {#run}" below
    shows = ["action:run.toggle"]     # what is highlighted: panel:NAME, action:ID, plot:NAME, node:NAME, link:NAME,
                                      # flow:NAME, field:DOTTED.KEY
    check = "finished(last())"        # in the language of `foundation.expressions` with the functions of `functions`
    not_yet = "Press F5."             # said while the check does not hold; left out: why it does not
    always = false                    # true: the check may hold before anything was done
    hints = ["F5 runs."]              # shown one at a time
    do = ["run"]                      # how the step is done without a person; see `solution`
    facts = ["9.65 Mbit/s = goodput(last())"]  # numbers that its texts state, and the runs that they are of
    quoted = ["42"]                   # numbers that its texts state and others have measured

    explore = "utilisation"           # a formula to be explored: its numbers are dragged, the plot follows
    [steps.measured]                  # what a run says of its inputs and of its last equation, for points in the plot
    buffer = "value(last(), 'links.bottleneck.queue')"
    utilisation = "utilisation(last(), 'bottleneck')"

    [steps.predict]                   # asked first; from then on only runs made after the prediction count in the step
    ask = "What becomes of the goodput?"
    options = ["It halves", "It stays"]
    holds = ["goodput(last()) < 0.7 * goodput(run_of('run'))", "goodput(last()) >= 0.7 * goodput(run_of('run'))"]
    # or  number = "goodput(last())" and unit = "Mbit/s": what it turned out to be
    # or  sketch = "cwnd_pkts", owner = "reno/1", unit = "pkt", until = "60s", top = "200pkt": a curve to be drawn
    mistakes = [["It stays", "Said to who expected this, when it came otherwise."]]
    # of a number    [["41.7 pkt", "…"]], to who said that to 10 %
    # of a sketch    [["drops() == 0", "…"]], to whose curve it holds for; also highest(20 s, 60 s), lowest(20 s, 60 s)
    why = "Said together with what came out."

    [[steps.questions]]
    id = "bdp"
    ask = "How many packets fill the link?"
    options = ["8", "83"]             # left out: a number is asked for
    answer = "83"                     # the text of an option; of a number an expression, e.g. "83 pkt"
    unit = "pkt"                      # of a number
    tolerance = "5%"                  # of a number
    mistakes = [["8", "Said to who answers this."]]
    why = "Said afterwards."
    +++
    An introduction.

    ## Run it {#run}
    What there is to do and to see.

A step is passed when its prediction is made, its check holds, and each question is answered right; after two wrong
answers the right one is told. A step that has none of these is passed when the student goes on. What was run before the
lab was begun counts for nothing.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """Something in the window that a step speaks of: its kind, one of `SHOWS`, and which."""

    kind: str
    name: str


@dataclass(frozen=True, slots=True)
class Mistake:
    """An answer that is often given and not right.

    Attributes:
        said: the text of an option, or a number, SI; of a curve that is drawn a claim about it.
        why: what is said to it: where it leads astray.
    """

    said: str | float
    why: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A number that the texts of a step state, and the expression over the runs that it is the value of.

    Attributes:
        number: as the texts write it, with a point: "9.65".
        unit: as the texts write it; may be empty.
        is_about: whether it is meant to 5 % instead of to its last digit.
        expression: in the language of checks.
    """

    number: str
    unit: str
    is_about: bool
    expression: str


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a student is asked to expect before the run.

    Attributes:
        ask: the question.
        options: to choose among; empty: a number or a curve is asked for.
        holds: for each option the expression that says whether it came true.
        number: expression of the number that came out; empty: none is asked for.
        sketch: column of the traces that is to be drawn; empty: none.
        owner: whose trace.
        unit: of number or curve.
        until_s: end of the time axis of a sketch, s; None: that of the run.
        top: top of the other axis of a sketch, SI; None: it follows from the scenario's curve.
        why: what is said together with what came out; may be empty.
        mistakes: what is said to who predicted this, when it came otherwise.
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
        id: its name in the step.
        ask: the question.
        options: to choose among; empty: a number is asked for.
        answer: the text of an option, or the expression of a number.
        unit: of the number.
        tolerance: how far a number may be off, of the right one.
        why: what is said afterwards; may be empty.
        mistakes: answers that are often given, and what is said to each.
        sealed: of a published lab what takes the place of answer, why and mistakes; None: it is not closed.
    """

    id: str
    ask: str
    options: tuple[str, ...] = ()
    answer: str = ""
    unit: str = ""
    tolerance: float = 0.05
    why: str = ""
    mistakes: tuple[Mistake, ...] = ()
    sealed: Sealed | None = None

    def told_to(self, value: str | float, *, is_right: bool) -> str:
        """What is said to an answer beside whether it is right; may be empty."""
        if self.sealed is not None:
            return self.sealed.open(value).why
        if is_right:
            return self.why
        return next((each.why for each in self.mistakes if self.is_near(value, each.said)), "")

    def is_near(self, value: str | float, other: str | float) -> bool:
        """Whether an answer counts as another one: the same option, or a number within the tolerance."""
        if isinstance(value, str) or isinstance(other, str):
            return value == other
        return abs(value - other) <= self.tolerance * abs(other) + 1e-12


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a lab.

    Attributes:
        id: its name in the lab.
        title: of its section.
        text: of its section, Markdown.
        shows: what of the window it speaks of.
        check: expression that holds once it is done; empty: none.
        not_yet: said while the check does not hold; may be empty.
        always: whether the check may hold before anything was done.
        hints: on demand, one at a time.
        do: the solution, an order each.
        prediction: asked first; None: nothing.
        questions: asked with it.
        facts: numbers that its texts state, with what gives them.
        quoted: numbers that its texts take from elsewhere.
        exploration: the formula that it lets a student explore; None: none.
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
    prediction: Prediction | None = None
    questions: tuple[Question, ...] = ()
    facts: tuple[Fact, ...] = ()
    quoted: tuple[str, ...] = ()
    exploration: Exploration | None = None

    @property
    def is_read_only(self) -> bool:
        """Whether there is nothing to do in it: the student reads it and goes on."""
        return not self.check and self.prediction is None and not self.questions

    def question(self, question_id: str) -> Question:
        """The question of that name.

        Raises:
            KeyError: if it has none.
        """
        for question in self.questions:
            if question.id == question_id:
                return question
        raise KeyError(question_id)


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab.

    Attributes:
        name: of the file, without its ending.
        path: of the file.
        file_hash: SHA-256 of the file, hex.
        number: its place among the labs.
        title: of the lab.
        minutes: that it takes about.
        level: one of `LEVELS`.
        goals: what is learned.
        needs: what must be installed beyond the ordinary, of `NEEDS`.
        scenario: path of the scenario file that the student starts from.
        changes: "KEY=VALUE" made in it beforehand.
        scripts: that the student goes on writing, with the texts to begin with.
        introduction: Markdown.
        steps: in their order.
        course: what results are signed with; empty: it was not published for a course.
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

    @property
    def is_published(self) -> bool:
        """Whether its answers are closed, so that it has no solution."""
        return any(question.sealed is not None for step in self.steps for question in step.questions)

    @property
    def by_id(self) -> Mapping[str, Step]:
        """Its steps by their ids."""
        return {step.id: step for step in self.steps}

    @property
    def missing(self) -> tuple[str, ...]:
        """What it needs that is not installed."""
        packages = {"train": ("torch", "safetensors")}
        return tuple(
            need for need in self.needs if any(importlib.util.find_spec(name) is None for name in packages[need])
        )

    def scenario_text(self) -> str:
        """The text of the document that the student starts with.

        Raises:
            ScenarioError: if its scenario is not usable.
        """
        return first_text(self.scenario, self.scripts, self.changes)


def first_text(scenario: Path, scripts: Sequence[ScriptFile], changes: Sequence[str]) -> str:
    """The text of a scenario with scripts in it and changes made.

    Raises:
        InputError: if there is no such scenario.
        ScenarioError: if it is not usable with them.
    """
    text = open_scenario(str(scenario), use=Use.LAB).text
    for script in scripts:
        text = add_script(text, script.kind, script.name, script.file, script.text).text
    read_scenario(Use.LAB, text, file=str(scenario), overrides=changes)
    return with_overrides(text, changes)


def script_beside(lab: Path, file: str) -> str:
    """The text of a script that a lab names: one that ships, or a file beside the lab.

    A translation of a lab has what it does not translate beside the lab itself.

    Raises:
        ParamError: if there is none, or it is not text.
    """
    is_there = is_file(lab.parent / file)
    return read_script(file, lab.parent if is_there else resource_path("labs"))

"""Runner that carries out the solution of a lab step by step, with a real document, store and simulator.

The runner finds mistakes that reading a lab file does not reveal: checks that fail after the solution, and checks that
hold before any work. It also compares the numbers in the texts of a lab with the runs of its solution.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_source import open_scenario, with_overrides
from subflow_app.features.labs.core import checks
from subflow_app.features.labs.core.evidence import Evidence, EvidenceReader
from subflow_app.features.labs.core.lab import Fact, Lab, Prediction, Question, Step, script_beside
from subflow_app.features.labs.core.progress import Progress
from subflow_app.features.labs.core.session import Judgement, LabSession, quantity, read_prediction
from subflow_app.features.labs.core.solution import COMPUTED, Order, SolutionError, parse_order
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.errors import AppError, LabError
from subflow_app.foundation.expressions import UNIT_WORTH, Missing
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.foundation.toml_edit import Lines, TomlEditError, TomlValue
from subflow_app.vocabulary.number_text import ordinal
from subflow_sim.errors import SimError
from subflow_sim.params import SCRIPT_SECTIONS
from subflow_sim.script import compile_script, kind_of

if TYPE_CHECKING:
    from subflow_store import Store


_ABOUT = 0.05


def fact_problems(step: Step, evidence: Evidence) -> Iterator[str]:
    """Yield a problem for each fact of a step that its texts omit or its runs contradict.

    Args:
        step: the step.
        evidence: work after the solution of the step.
    """
    texts = "\n".join(texts_of(step))
    for fact in step.facts:
        told = f"{'about ' if fact.is_about else ''}{fact.number} {fact.unit}".strip()
        if not _states(texts, fact.number):
            yield f"none of its texts contains the fact {told}"
        found = checks.number(fact.expression, evidence)
        if isinstance(found, Missing):
            yield f"the fact {told} = {fact.expression} is not known: {found.reason}"
            continue
        value = found / UNIT_WORTH.get(fact.unit, 1.0)
        if abs(value - float(fact.number)) > _leeway(fact):
            yield f"its texts state {told}, and {fact.expression} is {value:.6g} {fact.unit}".rstrip()


def texts_of(step: Step) -> Iterator[str]:
    """All texts of a step that students can read."""
    yield from (step.title, step.text, step.not_yet, *step.hints)
    every: list[Prediction | Question] = [*step.questions, *([step.prediction] if step.prediction is not None else [])]
    for asked in every:
        yield from (asked.ask, asked.why, *asked.options, *(mistake.why for mistake in asked.mistakes))


def _states(texts: str, number: str) -> bool:
    """True if texts contain a number, also with the decimal comma of German texts."""
    written = re.escape(number).replace(r"\.", "[.,]")
    return re.search(rf"(?<![\d.,]){written}(?!\d|[.,]\d)", texts) is not None


def _leeway(fact: Fact) -> float:
    """Allowed deviation of a fact: half a unit of its last digit, or 5 % for an approximate number."""
    if fact.is_about:
        return _ABOUT * abs(float(fact.number))
    mantissa, _, exponent = fact.number.partition("e")
    digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
    return 0.5 * 10.0**-digits * (1 + 1e-9)


MOST_WALL_S = 600.0
"""Maximum duration of a training in a solution, s."""


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """Outcome of a step.

    Attributes:
        step: id of the step.
        problem: description of the problem; empty if the step was passed.
        wall_s: wall-clock duration of the step, s.
    """

    step: str
    problem: str
    wall_s: float


@dataclass(frozen=True, slots=True)
class LabOutcome:
    """Outcome of a lab.

    Attributes:
        lab: name of the lab.
        steps: outcomes of the steps, up to the first step that was not passed.
        progress: progress of a student who follows the solution.
        runs: number of runs that were made.
    """

    lab: str
    steps: tuple[StepOutcome, ...]
    progress: Progress
    runs: int

    @property
    def problems(self) -> list[str]:
        """Problems of all steps, one line each."""
        return [f"{self.lab}: step {each.step}: {each.problem}" for each in self.steps if each.problem]


class LabRunner:
    """Carries out the solution of one lab.

    Args:
        lab: the lab.
        store: store for the runs.
        scratch: folder for trainings.
        tell: called with each order before the order is carried out.
    """

    def __init__(
        self, lab: Lab, store: Store, scratch: Path, *, tell: Callable[[str], None] = lambda _text: None
    ) -> None:
        self._store = store
        self._scratch = scratch
        self._tell = tell
        self._doc = ScenarioDoc(lab.scenario_text())
        self._policies: dict[str, Path] = {}
        self._trained: Path | None = None
        self._last_run = 0
        self._runs = 0
        self.session = LabSession.begin(lab, store, self._doc.text, None, code=lab.code)
        self._reader: EvidenceReader = self.session.reader(store)

    def run(self) -> LabOutcome:
        """Do all steps in order; stop at the first step that is not passed."""
        lab = self.session.lab
        outcomes: list[StepOutcome] = []
        while (step := self.session.active) is not None:
            began = time.perf_counter()
            problem = self.carry_out(step)
            outcomes.append(StepOutcome(step.id, problem, time.perf_counter() - began))
            if self.session.active is step:
                break
        return LabOutcome(lab.name, tuple(outcomes), self.session.progress, self._runs)

    def carry_out(self, step: Step) -> str:
        """Carry out the solution of one step. Return a description of the problem, or an empty string."""
        before = self._judge()
        if before.check is not None and before.check.holds and not step.always:
            return f'its check holds before anything was done: check = "{step.check}"; else set always = true'
        for text in step.do:
            self._tell(f"{step.id}: {_without_answer(text)}")
            try:
                self._obey(step, parse_order(text))
            except (AppError, SimError, SolutionError, TomlEditError) as error:
                return f'do "{text}": {error}'
        judgement = self._judge()
        if step.is_read_only:
            self.session.go_on(step)
        elif not self.session.take(judgement):
            return self._missing(step, judgement.check.why if judgement.check else "")
        return "; ".join(fact_problems(step, judgement.evidence))

    def _missing(self, step: Step, why: str) -> str:
        made = self.session.step_progress(step)
        if step.prediction is not None and made.prediction is None:
            return 'its solution makes no prediction: "predict …" is missing'
        waiting = [question.id for question in step.questions if not self.session.is_answered(step, question)]
        if why:
            return f'its check does not hold after its solution: check = "{step.check}": {why}'
        return f"its solution leaves unanswered: {', '.join(waiting)}"

    def _judge(self) -> Judgement:
        judgement = self.session.judge(self._reader, self._doc.text)
        assert judgement is not None
        return judgement

    def _obey(self, step: Step, order: Order) -> None:
        match order.verb:
            case "set":
                self._set(order.values)
            case "unset":
                self._doc.set_value(order.words[0], None)
            case "event":
                self._doc.add_event(_typed(order.values))
            case "open":
                self._doc.set_text(open_scenario(order.words[0], use=Use.LAB).text)
            case "script":
                self._write(*order.words)
            case "run":
                for seed in _seeds(order.values):
                    self._simulate(seed)
            case "predict":
                self.session.predict(step, read_prediction(step, order.words[0]), self._last_run)
            case "answer":
                self._answer(step, *order.words)
            case "sweep":
                self._sweep(order.values)
            case "fork":
                self._fork(order.values)
            case "train":
                self._train(order.words[0], order.values)
            case _:
                self._promote(order.words[0])

    def _set(self, values: Mapping[str, str]) -> None:
        for key, value in values.items():
            policy = self._policies.get(value) if key.endswith(".policy") else None
            changes = [f"{key}={policy or value}"]

            read_scenario(Use.LAB, self._doc.text, overrides=changes)
            self._doc.set_text(with_overrides(self._doc.text, changes))

    def _write(self, name: str, file: str) -> None:
        text = script_beside(self.session.lab.path, file)
        compile_script(text, name, kind_of(text))
        self._doc.set_value(f"{SCRIPT_SECTIONS[kind_of(text)]}.{name}.content", Lines(text))

    def _simulate(self, seed: int | None) -> None:
        if self._doc.scenario is None:
            raise LabError("\n".join(map(str, self._doc.problems)))
        text = self._doc.text if seed is None else with_overrides(self._doc.text, [f"seed={seed}"])
        self._finish(
            RunJob(
                replace(self._doc.scenario, seed=self._doc.scenario.seed if seed is None else seed),
                text,
                store=self._store,
            )
        )

    def _finish(self, job: RunJob) -> None:
        result = job.run()
        if result.status is not JobState.FINISHED or result.run_id is None:
            raise LabError(f"the run did not finish: {result.error or result.store_error or result.status}")
        self._last_run = result.run_id
        self._runs += 1

    def _answer(self, step: Step, question_id: str, said: str) -> None:
        try:
            question = step.question(question_id)
        except KeyError:
            raise LabError(f'the step has no question "{question_id}"') from None
        if said == COMPUTED and not question.options:
            right = checks.number(question.answer, self.session.evidence(self._reader, self._doc.text, step))
            if isinstance(right, float):
                said = repr(right / UNIT_WORTH.get(question.unit, 1.0))
        answered = self.session.judge_answer(self._reader, self._doc.text, step, question, said)
        if not answered.is_right:
            raise LabError(f'"{said}" is wrong; right is {answered.right}')
        self.session.answer(step, question, answered)

    def _sweep(self, values: Mapping[str, str]) -> None:
        from subflow_app.features.sweeps.core.plan_file import SweepOptions, read_plan
        from subflow_app.features.sweeps.core.sweep_job import SweepJob

        axes = [f"{key}={value}" for key, value in values.items() if key != "seeds"]
        options = SweepOptions(axes=axes, seeds=values.get("seeds"))
        plan = read_plan({"format": 1, "scenario_text": self._doc.text}, file=self.session.lab.name, options=options)
        result = SweepJob(plan, self._store).run()
        if result.state is not JobState.FINISHED:
            raise LabError("; ".join(result.problems) or f"the sweep ended as {result.state}")
        self._runs += result.progress.finished
        runs = self._store.runs(limit=1)
        self._last_run = max(self._last_run, runs[0].id)

    def _fork(self, values: Mapping[str, str]) -> None:
        from subflow_app.features.forking.core.origin import ForkOrigin
        from subflow_app.features.forking.core.plan import ForkPlan

        plan = ForkPlan.of(
            ForkOrigin.stored(self._store, self._last_run),
            quantity(values["at"], "s"),
            [_typed({key: value for key, value in values.items() if key != "at"})],
        )
        self._finish(plan.job(plan.state(), store=self._store))

    def _train(self, agent: str, values: Mapping[str, str]) -> None:
        from subflow_app.features.training.core.training_folder import best_policy
        from subflow_app.features.training.core.training_service import TrainingService
        from subflow_app.features.training.core.training_setup import (
            TrainingRequest,
            check_torch,
            prepare,
            with_changes,
        )

        check_torch()
        request = TrainingRequest(agent=agent, scenario_text=self._doc.text, scenario_name=self.session.lab.name)
        settings: dict[str, Any] = {"evaluation_every": 0}
        changes = []
        for key, value in values.items():
            name = _SETTINGS.get(key)
            if name is None:
                changes.append(f"{key}={value}")
            else:
                number = quantity(value, "s" if key == "episode" else "")
                settings[name] = number if key in ("minutes", "episode") else int(number)
        folder = self._scratch / f"training-{len(list(self._scratch.iterdir())) + 1}"
        folder.mkdir(parents=True)
        with TrainingService(self._store, limit=1) as service:
            number = service.submit(prepare(with_changes(request, changes, **settings), folder))
            job = service.job(number)
            job.wait(MOST_WALL_S)
            state = job.state
        if state is not JobState.FINISHED:
            raise LabError(f"the training ended as {state}: {job.message or 'see its folder'}")
        self._trained = best_policy(folder)

    def _promote(self, name: str) -> None:
        if self._trained is None:
            raise LabError("no training has a policy to promote")
        # The policy library of the user must not change, so the document names the file instead.
        path = self._scratch / f"{name}.safetensors"
        path.write_bytes(self._trained.read_bytes())
        self._policies[name] = path


_SETTINGS = {
    "steps": "steps",
    "minutes": "minutes",
    "seed": "seed",
    "num_envs": "num_envs",
    "episode": "episode_s",
    "eval_every": "evaluation_every",
}


def run_lab(lab: Lab, *, tell: Callable[[str], None] = lambda _text: None) -> LabOutcome:
    """Carry out the solution of a lab in a temporary database and folder.

    Raises:
        LabError: if the scenario of the lab is invalid.
        StoreError: if the temporary database cannot be used.
    """
    with _scratch() as (store, folder):
        return LabRunner(lab, store, folder, tell=tell).run()


@contextmanager
def _scratch() -> Iterator[tuple[Store, Path]]:
    from subflow_store import open_store

    with (
        tempfile.TemporaryDirectory(prefix="subflow-lab-") as folder,
        open_store(":memory:") as store,
    ):
        yield store, Path(folder)


def _without_answer(text: str) -> str:
    """An order for display, without the right answer."""
    verb, *words = text.split(" ")
    return " ".join((verb, *words[:1])) if verb == "answer" else verb if verb == "predict" else text


def _typed(values: Mapping[str, str]) -> dict[str, TomlValue]:
    """Convert values of an event to TOML types: "true", "false" and whole numbers are not strings."""
    words: Mapping[str, TomlValue] = {"true": True, "false": False}

    def typed(value: str) -> TomlValue:
        number = ordinal(value)
        return words.get(value, value) if number is None else number

    return {key: typed(value) for key, value in values.items()}


def _seeds(values: Mapping[str, str]) -> list[int | None]:
    from subflow_app.features.training.core.training_setup import parse_seeds

    if "seeds" in values:
        return list(parse_seeds(values["seeds"].replace("..", "-")))
    if "seed" in values:
        return list(parse_seeds(values["seed"]))
    return [None]

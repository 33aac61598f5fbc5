"""Result files that students hand in: content, verification, and a second judgement of their steps.

A hash over the whole content reveals damage and careless changes, but proves nothing about its author: anyone can
compute it, and the key of a published lab is in the student's own file. Each run is stored with scenario, seed and
signature, so that it can be simulated again and compared exactly. The comparison proves that these scenarios give these
results. It proves neither who ran them nor who found the answers.

The second judgement checks that the runs satisfy the steps that the file lists as passed. The file does not contain
trainings or the document during a step, and the verdict reports that they cannot be judged. The scenario of the last
run of a step takes the place of the document.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import subflow_app
from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.labs.core import checks
from subflow_app.features.labs.core.conformity import has_allowances, odd_changes
from subflow_app.features.labs.core.evidence import Evidence, LabRun
from subflow_app.features.labs.core.functions import functions
from subflow_app.features.labs.core.lab import CHOICE, NUMBER, SKETCH, Lab, Question, Step
from subflow_app.features.labs.core.lab_file import with_code
from subflow_app.features.labs.core.progress import (
    Answered,
    Predicted,
    Progress,
    StepProgress,
    is_other_text,
    now,
    read_step,
)
from subflow_app.features.labs.core.scenario_values import setting_of
from subflow_app.features.labs.core.sealing import course_seal
from subflow_app.features.labs.core.session import came_of
from subflow_app.features.running.core.runs import RunJob, RunResult
from subflow_app.foundation.claims import Claim
from subflow_app.foundation.confirmation import Confirmation, confirmation
from subflow_app.foundation.errors import LabError
from subflow_app.foundation.expressions import Call, Expression, Missing
from subflow_app.foundation.jobs.progress import JobState
from subflow_app.vocabulary.number_text import counted
from subflow_sim.errors import SimError
from subflow_sim.gate import TooLargeFileError, json_tree, read_file
from subflow_sim.whole_file import write_whole
from subflow_store import RunFork, Store, open_store

_OF_DOCUMENT = ("value", "text", "is_on", "controller", "scheduler", "has", "count", "subflows")
_OF_TRAININGS = ("trained", "training_steps", "training_return")


@dataclass(frozen=True, slots=True)
class Regrade:
    """Outcome of the second judgement.

    Attributes:
        problems: steps that the runs do not satisfy, and answers with a wrong verdict.
        doubts: parts that could not be judged.
    """

    problems: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def regrade(lab: Lab, document: Mapping[str, Any], runs: Sequence[LabRun]) -> Regrade:
    """Judge each step that the file lists as passed.

    Args:
        lab: the lab of the result.
        document: the result.
        runs: the runs that were confirmed, in order.

    Raises:
        LabError: if the steps of the document cannot be read.
    """
    steps = _steps(document)
    sweeps = [each for each in document.get("sweeps", ()) if isinstance(each, dict)]
    problems: list[str] = []
    doubts: list[str] = []
    unjudged: list[str] = []
    before: dict[str, int] = {}
    for step in lab.steps:
        made = steps.get(step.id, StepProgress())
        if not made.is_passed:
            continue
        lost = [run["number"] for run in document["runs"] if run["number"] not in {run.id for run in runs}]
        lost = [number for number in lost if number <= made.last_run]
        if lost and not step.is_read_only:
            unjudged.append(step.id)
        else:
            evidence = _evidence(runs, sweeps, before, made)
            for is_sure, told in _judged(step, made, evidence):
                (problems if is_sure else doubts).append(f"step {step.id}: {told}")
        if made.last_run:
            before[step.id] = made.last_run
    if unjudged:  # one line, because one altered run affects all later steps
        missing = sorted({run["number"] for run in document["runs"]} - {run.id for run in runs})
        doubts.append(
            f"not judged again: {', '.join(unjudged)}, because the file's run {', '.join(map(str, missing))} did not "
            "come out again"
        )
    problems += _sweep_problems(sweeps, runs)
    doubts += _scenario_doubts(lab, steps, sweeps, runs)
    return Regrade(tuple(problems), tuple(doubts))


def _sweep_problems(sweeps: Sequence[Mapping[str, Any]], runs: Sequence[LabRun]) -> Iterator[str]:
    """Compare the number of points that the file reports with the settings of the sweep's own runs."""
    known = {run.id: run for run in runs}
    for sweep in sweeps:
        if not known.keys() >= set(sweep["runs"]):
            continue  # another problem or doubt reports the missing run
        points = _points_of([known[number] for number in sweep["runs"]])
        if points != sweep["points"]:
            yield f"a sweep reports {sweep['points']} points, but its runs have {counted(points, 'setting')}"


def _points_of(runs: Sequence[LabRun]) -> int:
    """Number of different settings among the runs of a sweep; runs that differ only in the seed have the same."""
    return len({setting_of(run.doc) for run in runs})


def _scenario_doubts(
    lab: Lab, steps: Mapping[str, StepProgress], sweeps: Sequence[Mapping[str, Any]], runs: Sequence[LabRun]
) -> Iterator[str]:
    """Compare the scenarios of the runs that steps were passed with with those that the lab asks for."""
    if not has_allowances(lab):
        return
    used = {number for sweep in sweeps for number in sweep["runs"]}
    used |= {
        steps[step.id].last_run
        for step in lab.steps
        if step.id in steps and steps[step.id].is_passed and (step.check or step.prediction is not None)
    }
    for run in runs:
        odd = odd_changes(lab, run.doc) if run.id in used else []
        if odd:
            more = f" and {len(odd) - 3} more" if len(odd) > 3 else ""
            yield f"run {run.id} differs from the lab in {', '.join(odd[:3])}{more}, which no step asks for"


def _steps(document: Mapping[str, Any]) -> dict[str, StepProgress]:
    try:
        return {step["id"]: read_step(step) for step in document["steps"]}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise LabError(f"the steps of the result cannot be read: {error}") from error


def _evidence(
    runs: Sequence[LabRun], sweeps: Sequence[Mapping[str, Any]], before: Mapping[str, int], made: StepProgress
) -> Evidence:
    """Evidence at the time when the step was passed."""
    then = tuple(run for run in runs if run.id <= made.last_run)
    known = {run.id for run in then}
    finished = [each for each in sweeps if known.issuperset(each["runs"])]
    return Evidence(
        doc=then[-1].doc if then else ScenarioDoc(""),
        runs=then,
        step_runs=dict(before),
        sweep=tuple(finished[-1]["runs"]) if finished else None,
        sweep_points=_points_of([run for run in then if run.id in finished[-1]["runs"]]) if finished else 0,
        since=made.prediction.after_run if made.prediction is not None else 0,
    )


def _judged(step: Step, made: StepProgress, evidence: Evidence) -> Iterator[tuple[bool, str]]:
    """Yield objections to a step as pairs (is_certain, text)."""
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
    elif prediction.kind == SKETCH:
        found = came_of(prediction, made.value, evidence)
        if isinstance(found, Missing):
            yield False, f"the drawn curve was not compared: {found.reason}"
        elif not isinstance(made.came, int | float) or not math.isclose(made.came, float(found.value), rel_tol=1e-6):
            told = f"the file reports that the drawn curve is off by {made.came}"
            yield True, f"{told}, but compared with its run it is {found.value:.6g}"


def _of_question(question: Question, given: Sequence[Answered], evidence: Evidence) -> Iterator[tuple[bool, str]]:
    if question.is_text:  # not graded; web pages do not ask it
        return
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
    """True if the calls read the document in the window, which may have differed from the last run."""
    return any(
        call.name == "valid" or (call.name in _OF_DOCUMENT and bool(call.texts) and call.texts[0] is not None)
        for call in calls
    )


KIND = "subflow lab result"
FORMAT = 1

_PLAIN, _KEYED = "sha256", "hmac-sha256"
MAX_BYTES = 100_000_000


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """Verdict on a run that was simulated again.

    Attributes:
        number: number of the run.
        is_same: whether the signature was reproduced; None if the run could not be simulated, or if the signature
            differs and a different version made the run.
        problem: reason why the signature was not reproduced; empty if it was.
    """

    number: int
    is_same: bool | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ResultVerdict:
    """Verdict on a result file.

    Attributes:
        document: content of the file.
        problems: contradictions; may be empty.
        doubts: parts that could not be repeated or compared, and so are not confirmed.
        notices: remarks that do not affect the verdict.
        runs: verdicts on the runs; empty if they were not simulated again.
    """

    document: Mapping[str, Any]
    problems: tuple[str, ...]
    doubts: tuple[str, ...]
    notices: tuple[str, ...]
    runs: tuple[RunVerdict, ...]

    @property
    def outcome(self) -> Confirmation:
        """Confirmed, contradicted or not confirmed."""
        return confirmation(is_contradicted=bool(self.problems), is_doubtful=bool(self.doubts))

    @property
    def is_sound(self) -> bool:
        """True if the whole result is confirmed."""
        return self.outcome is Confirmation.CONFIRMED


def result_document(lab: Lab, progress: Progress, evidence: Evidence, student: str, key: str = "") -> dict[str, Any]:
    """Content of a result file.

    Args:
        lab: the lab.
        progress: the student's progress.
        evidence: work of the student, with the runs.
        student: name of the student.
        key: key of the course; empty for a plain hash that anybody can compute. Ignored for a published lab, which
            contains a key.
    """
    document: dict[str, Any] = {
        "kind": KIND,
        "format": FORMAT,
        "version": subflow_app.__version__,
        "student": student,
        "lab": {"name": lab.name, "title": lab.title, "hash": lab.file_hash, "begun_with": progress.lab_hash},
        "deal": progress.deal,
        "own": {"code": progress.code, "values": dict(with_code(lab, progress.code).own)},
        "begun_at": progress.begun_at,
        "finished_at": progress.finished_at,
        "written_at": now(),
        "passed": progress.passed(lab),
        "of": len(lab.steps),
        "steps": [{"id": step.id, "title": step.title, **asdict(progress.step(step.id))} for step in lab.steps],
        "runs": [_run_document(run) for run in evidence.runs],
        "sweeps": [] if evidence.sweep is None else [{"points": evidence.sweep_points, "runs": list(evidence.sweep)}],
    }
    # Convert tuples to lists, because the hash must match the document that is read from the file.
    document = json.loads(json.dumps(document))
    key = lab.course or key
    document["signed"] = {"method": _KEYED if key else _PLAIN, "digest": _digest(document, key)}
    return document


def write_result(path: Path, document: Mapping[str, Any]) -> None:
    """Write a result file atomically.

    Raises:
        LabError: if the file cannot be written.
    """
    try:
        write_whole(path, (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode())
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror or error}") from error


def read_result(path: Path) -> dict[str, Any]:
    """Read a result file.

    Raises:
        LabError: if the file cannot be read, or is not a result in the current format.
    """
    allowed = "allowed: a file that `subflow labs result` or the window has written"
    try:
        content = read_file(path, MAX_BYTES)
    except TooLargeFileError as error:
        raise LabError(f"{path}: too large for a result; {allowed}") from error
    except OSError as error:
        raise LabError(f"{path} cannot be read: {error.strerror or error}") from error
    try:
        document = json_tree(content)
    except ValueError as error:
        raise LabError(f"{path} is not JSON: {error}; {allowed}") from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise LabError(f"{path} is not a result of a lab; {allowed}")
    if document.get("format") != FORMAT:
        raise LabError(f"{path} has format {document.get('format')}; allowed: {FORMAT}")
    wrong = _malformed(document)
    if wrong:
        raise LabError(f"{path}: {wrong}; {allowed}")
    return document


def verify_result(
    document: Mapping[str, Any],
    lab: Lab | None,
    *,
    key: str = "",
    is_rerun: bool = True,
    again: RunsAgain | None = None,
    tell: Callable[[int, int], None] = lambda _done, _all: None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> ResultVerdict:
    """Verify a result.

    Args:
        document: content of the file, from `read_result`.
        lab: the lecturer's version of the lab; None if unknown.
        key: key of the course.
        is_rerun: whether to simulate each run again.
        again: simulator shared by several results; None for a new simulator.
        tell: called with the number of finished runs and the total number.
        is_cancelled: called between two runs; True ends the simulation.
    """
    lab = None if lab is None else with_code(lab, code_of(document))
    problems = [*_signature_problems(document, key), *_count_problems(document, lab), *_own_problems(document, lab)]
    doubts = list(_lab_doubts(document, lab))
    runs: list[RunVerdict] = []
    with nullcontext(again) if again is not None else RunsAgain() as simulator:
        found: list[LabRun] = []
        for number, run in enumerate(document["runs"] if is_rerun else ()):
            if is_cancelled():
                doubts.append("not all runs were simulated again")
                break
            verdict, made = simulator.simulate(run)
            runs.append(verdict)
            found += [made] if made is not None else []
            tell(number + 1, len(document["runs"]))
        if is_rerun and lab is not None and document["lab"].get("hash") == lab.file_hash:
            look = regrade(lab, document, found)
            problems += look.problems
            doubts += look.doubts
    for verdict in runs:
        if verdict.is_same is False:
            problems.append(f"run {verdict.number}: {verdict.problem}")
        elif verdict.is_same is None:
            doubts.append(f"run {verdict.number} could not be simulated again: {verdict.problem}")
    problems += _missing_runs(document)
    if not document["runs"]:
        doubts.append("it holds no run that could be simulated again")
    elif not is_rerun:
        doubts.append("the runs were not simulated again")
    return ResultVerdict(document, tuple(problems), tuple(doubts), tuple(_lab_notices(document, lab)), tuple(runs))


def _run_document(run: LabRun) -> dict[str, Any]:
    text = run.row.scenario_text or ""
    return {
        "number": run.id,
        "name": run.row.name,
        "seed": run.seed,
        "version": run.row.version,
        "started_at": run.row.started_at.isoformat(timespec="seconds"),
        "sample_interval_s": run.row.sample_interval_s,
        "fork": None if run.fork is None else {"run": run.fork.parent_id, "at_s": run.fork.forked_at_s},
        "signature": run.row.signature,
        "scenario_hash": hashlib.sha256(text.encode()).hexdigest(),
        "scenario": text,
    }


def _digest(document: Mapping[str, Any], key: str) -> str:
    plain = {name: value for name, value in document.items() if name != "signed"}
    text = json.dumps(plain, ensure_ascii=True, sort_keys=True, separators=(",", ":")).encode()
    return hmac.new(key.encode(), text, hashlib.sha256).hexdigest() if key else hashlib.sha256(text).hexdigest()


def _malformed(document: Mapping[str, Any]) -> str:
    shapes: Mapping[str, type] = {"student": str, "lab": dict, "steps": list, "runs": list, "signed": dict}
    for name, shape in shapes.items():
        if not isinstance(document.get(name), shape):
            return f'"{name}" is missing, or of another kind'
    for run in document["runs"]:
        texts = ("signature", "scenario", "scenario_hash", "version")
        if not isinstance(run, dict) or not all(isinstance(run.get(name), str) for name in texts):
            return "a run lacks its scenario or its signature"
        if not all(isinstance(run.get(name), int) and run[name] >= 0 for name in ("number", "seed")):
            return "a run lacks its number or its seed"
        interval = run.get("sample_interval_s")
        if not isinstance(interval, int | float) or not 0 < interval < math.inf:
            return "a run lacks the interval of its samples"
        fork = run.get("fork")
        if fork is not None and not (
            isinstance(fork, dict)
            and isinstance(fork.get("at_s"), int | float)
            and isinstance(fork.get("run"), int | None)
        ):
            return "a fork lacks the run that it was made from"
    if not isinstance(document.get("sweeps", []), list):
        return '"sweeps" is of another kind'
    for sweep in document.get("sweeps", []):
        if not isinstance(sweep, dict) or not isinstance(sweep.get("runs"), list) or "points" not in sweep:
            return "a sweep lacks its runs"
        if not all(isinstance(number, int) for number in (*sweep["runs"], sweep["points"])):
            return "a number of a sweep is of another kind"
    for step in document["steps"]:
        if not isinstance(step, dict) or not isinstance(step.get("id"), str):
            return "a step lacks its id"
        if not isinstance(step.get("last_run", 0), int | None):
            return "the run of a step is of another kind"
    return ""


def _signature_problems(document: Mapping[str, Any], key: str) -> Iterator[str]:
    signed = document["signed"]
    method, digest = signed.get("method"), signed.get("digest")
    if method not in (_PLAIN, _KEYED) or not isinstance(digest, str):
        yield "it is not signed in a way that is known here"
        return
    if method == _KEYED and not key:
        yield "it was signed with a course key: give that key to see whether it fits"
        return
    if method == _PLAIN and key:
        yield "it was signed without the course key"
        key = ""
    lab = str(document["lab"].get("name"))
    keys = {"": [""]}.get(key, [key, course_seal(key, lab)])
    if not any(hmac.compare_digest(digest.encode(), _digest(document, each).encode()) for each in keys):
        told = "the file was changed after it was signed"
        yield f"{told}, or signed with another key" if key else told
    for run in document["runs"]:
        if hashlib.sha256(run["scenario"].encode("utf-8", "surrogatepass")).hexdigest() != run["scenario_hash"]:
            yield f"run {run['number']}: its scenario is not the one that it was made with"


def _passed(document: Mapping[str, Any]) -> set[str]:
    return {step["id"] for step in document["steps"] if step.get("passed_at")}


def _count_problems(document: Mapping[str, Any], lab: Lab | None) -> Iterator[str]:
    """Compare the counts at the top of the file with the steps of the file."""
    ids = {step["id"] for step in document["steps"]}
    if lab is not None and document["lab"].get("hash") == lab.file_hash:
        ids = {step.id for step in lab.steps}
    passed = len(ids & _passed(document))
    if (document.get("passed"), document.get("of")) != (passed, len(ids)):
        yield (
            f"the file reports {document.get('passed')} of {document.get('of')} steps as passed; by its steps it is "
            f"{passed} of {len(ids)}"
        )


def code_of(document: Mapping[str, Any]) -> str:
    """The code from which the student's own numbers were drawn; empty in results of older versions."""
    own = document.get("own")
    code = own.get("code", "") if isinstance(own, dict) else ""
    return code if isinstance(code, str) else ""


def _own_problems(document: Mapping[str, Any], lab: Lab | None) -> Iterator[str]:
    """Draw the student's own numbers again, and compare them with those of the file."""
    own = document.get("own")
    if lab is None or not lab.own or document["lab"].get("hash") != lab.file_hash or not isinstance(own, dict):
        return
    if own.get("values") != dict(lab.own):
        yield f'its own numbers are not those of the code "{code_of(document)}"'


def _lab_doubts(document: Mapping[str, Any], lab: Lab | None) -> Iterator[str]:
    name = document["lab"].get("name")
    if lab is None:
        yield f"the lab {name} is not known here, and was not compared"
    elif document["lab"].get("hash") != lab.file_hash:
        yield f"the lab {name} was another file than the one here"


def _lab_notices(document: Mapping[str, Any], lab: Lab | None) -> Iterator[str]:
    missing = [step.id for step in lab.steps if step.id not in _passed(document)] if lab is not None else []
    if missing:
        yield f"not passed: {', '.join(missing)}"
    if lab is not None and not has_allowances(lab):
        yield "an older version published the lab: the scenarios of the runs were not compared with it"
    begun_with = document["lab"].get("begun_with")
    if lab is not None and begun_with != document["lab"].get("hash") and is_other_text(lab, str(begun_with)):
        yield f"the lab {lab.name} was begun with another text of it"


def _missing_runs(document: Mapping[str, Any]) -> Iterator[str]:
    """Find steps whose last run is missing from the file."""
    numbers = {run["number"] for run in document["runs"]}
    for step in document["steps"]:
        if step.get("last_run") and step["last_run"] not in numbers:
            yield f"step {step['id']}: the run {step['last_run']} that it was passed with is not in the file"


class RunsAgain:
    """Simulates the runs of results again; runs that several results share are simulated once.

    A run depends only on its scenario, its seed and its sampling interval.
    """

    def __init__(self) -> None:
        """Start with an empty store in memory."""
        self._store: Store = open_store(":memory:")
        self._made: dict[tuple[str, int, float], RunResult | str] = {}

    def __enter__(self) -> Self:
        """Return the simulator; its runs can be read until the block ends."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store, which discards the runs."""
        self._store.close()

    def simulate(self, run: Mapping[str, Any]) -> tuple[RunVerdict, LabRun | None]:
        """Simulate a run again; return the verdict, and the run if its signature was reproduced."""
        number, wanted = run["number"], (run["scenario"], run["seed"], run["sample_interval_s"])
        if wanted not in self._made:
            self._made[wanted] = self._simulated(run)
        result = self._made[wanted]
        if isinstance(result, str):
            return RunVerdict(number, None, result), None
        if result.signature == run["signature"]:
            assert result.run_id is not None
            found = LabRun(self._store, self._store.run(result.run_id), told_as=number, fork=_fork(run))
            return RunVerdict(number, True), found
        told = f"its signature {run['signature']} came out as {result.signature}"
        if run["version"] == subflow_app.__version__:
            return RunVerdict(number, False, told), None
        by = f"version {run['version']} made it, this is {subflow_app.__version__}"
        return RunVerdict(number, None, f"{by}, and {told}"), None

    def _simulated(self, run: Mapping[str, Any]) -> RunResult | str:
        """Simulate a run; return its result, or the reason for a failure."""
        text, overrides = run["scenario"], [f"seed={run['seed']}"]
        try:
            scenario = read_scenario(Use.LAB, text, file=f"run {run['number']}", overrides=overrides)
            job = RunJob(scenario, text, store=self._store, sample_interval_s=run["sample_interval_s"])
            result = job.run()
        except SimError as error:
            return str(error).splitlines()[0]
        return result if result.status is JobState.FINISHED else f"it ended as {result.status}: {result.error}"


def _fork(run: Mapping[str, Any]) -> RunFork | None:
    fork = run.get("fork")
    return None if fork is None else RunFork(fork.get("run"), "", float(fork["at_s"]), "", ())

"""``subflow labs begin``, ``next``, ``predict``, ``answer`` and ``hint``: doing a lab in the terminal.

The terminal and the window share the progress, so a lab begun in one can be continued in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.terminal import print_json, print_line, print_note
from subflow_app.vocabulary.language import current_language
from subflow_sim.gate import is_there

if TYPE_CHECKING:
    from subflow_app.features.labs.core.evidence import EvidenceReader
    from subflow_app.features.labs.core.lab import Lab, Prediction, Question, Step
    from subflow_app.features.labs.core.progress import Progress, ProgressFolder
    from subflow_app.features.labs.core.session import Judgement, LabSession
    from subflow_store import Store

LabName = Annotated[str, typer.Argument(metavar="LAB|FILE", help="Name or number of a shipped lab, or a file.")]

# Terminal commands that replace the parts of the window mentioned in steps. {name} is the name of the part, and {file}
# the scenario file.
_COMMANDS: Mapping[str, str] = {
    "action:run.toggle": "`subflow run {file}`",
    "action:sweep.new": "`subflow sweep {file} --axis KEY=VALUES`",
    "action:run.compare": "`subflow run {file} --seed N`",
    "action:queue.add_several": "`subflow run {file} --seed N`",  # in labs of older versions
    "action:fork.new": "`subflow fork last --at TIME --set KEY=VALUE`",
    "action:study.trade_offs": "`subflow fairness RUN RUN --trade-off friendliness`",
    "action:train.promote": "`subflow agents promote last --name NAME`",
    "action:train.evaluate": "`subflow evaluate NAME --scenario {file}`",
    "panel:events": "a block `[[events]]` in `{file}`",
    "panel:script": "the script in `{file}`",
    "panel:sweeps": "`subflow sweep {file} --axis KEY=VALUES`",
    "panel:explain": "`subflow explain last FLOW/1 --at TIME`",
    "panel:history": "`subflow runs`",
    "panel:compare": "`subflow compare RUN RUN`",
    "panel:fairness": "`subflow fairness last`",
    "panel:train": "`subflow train AGENT --scenario {file}`",
    "panel:agent": "`subflow explain last --agent --at TIME`",
    "plot": "`subflow export last --format svg --figure {name}`",
}
# Prefixes of commands that start runs, and of hints to list before and after these commands.
_RUNNING = ("`subflow run ", "`subflow sweep ", "`subflow fork ", "`subflow train ")
_BEFORE = ("a block", "the script", "`subflow agents promote ")
_AFTER = ("`subflow export ", "`subflow explain ", "`subflow fairness ", "`subflow compare ", "`subflow runs")


@dataclass(frozen=True, slots=True)
class _Work:
    """A lab in progress, with the store of its runs.

    Attributes:
        called: name of the lab as the user typed it.
        session: the session of the lab.
        store: database with the runs of the lab.
        reader: reader of the runs in `store`.
        text: scenario text to judge, because the terminal has no open document: the scenario of the last run outside
            a sweep, or else the stored document.
    """

    called: str
    session: LabSession
    store: Store
    reader: EvidenceReader
    text: str

    def judge(self) -> Judgement | None:
        """Judge the active step, and mark it as passed if it is complete; None if all steps are passed."""
        judgement = self.session.judge(self.reader, self.text)
        if judgement is not None:
            self.session.take(judgement)
        self.session.keep_document(self.text)
        return judgement


def begin(
    lab: LabName,
    is_anew: Annotated[bool, typer.Option("--anew", help="Begin again; earlier work is kept in a file.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Scenario file to write; default: NAME.toml here.")
    ] = None,
    code: Annotated[
        str,
        typer.Option(
            "--code",
            metavar="TEXT",
            help="Your name or number, for labs with numbers for each student; default: the numbers of the book.",
        ),
    ] = "",
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Begin a lab: write its scenario, and show its first step.

    Run the scenario with `subflow run`; change it with --set or in the file. The lab checks all runs made from now
    on. Give predictions with `subflow labs predict` and answers with `subflow labs answer`; `subflow labs next` goes to
    the next step.
    """
    from subflow_app.features.labs.core.lab_file import load_lab, with_code
    from subflow_app.features.labs.core.session import LabSession
    from subflow_sim.whole_file import write_whole

    found = load_lab(lab)
    folder = _folder()
    kept = folder.read(found.name)
    if kept.notice:
        print_note(kept.notice)
    if kept.progress is not None and not is_anew:
        _check_text(found, kept.progress, lab)
        raise InputError(
            f"the lab {found.name} was begun on {kept.progress.begun_at}: `subflow labs next {lab}` continues it, "
            "--anew starts over"
        )
    found = with_code(found, code)
    text = found.scenario_text()
    target = out or Path(f"{found.name}.toml")
    if is_there(target) and target.read_text(encoding="utf-8") != text:
        raise InputError(f"{target} exists and is another scenario: name another file with --out")
    write_whole(target, text.encode())
    if is_anew:
        folder.forget(found.name)
    with opened_store(database) as store:
        session = LabSession.begin(found, store, text, folder, str(store.path or ""), code)
        if as_json:
            print_json(_state(session) | {"file": str(target)})
            return
        print_line(f"wrote {target}, the scenario of the lab")
        if database is not None:
            print_line(f"The lab checks the runs in {database}: add --db {database} to each of your commands.")
        print_line()
        if found.own and not session.progress.code:
            print_line("The numbers are those of the book; `--anew --code NAME` draws your own.")
        print_introduction(found)
        print_line()
        _print_active(lab, session, str(target))


def go_on(lab: LabName, database: Database = None, as_json: Json = False) -> None:
    """Check the step, and show the next one if it is done.

    Exit code: 0 when the step is done, 1 when something is missing; the output lists it.
    """
    with _begun(lab, database) as work:
        session = work.session
        step = session.active
        if step is None:
            _tell(work, None, [], as_json=as_json)
            return
        if step.is_read_only:
            session.go_on(step)
            _tell(work, step, [], as_json=as_json)
            return
        judgement = work.judge()
        missing = [] if session.step_progress(step).is_passed else _missing(work, step, judgement)
        _tell(work, step, missing, as_json=as_json)
    raise typer.Exit(1 if missing else 0)


def predict(
    lab: LabName,
    value: Annotated[
        str,
        typer.Argument(help="An option or its number; a number with its unit; or a curve: 0s:10, 20s:80, 21s:40."),
    ],
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Predict the result of a step, before you run it.

    Only runs made after the prediction count in the step.
    """
    from subflow_app.features.labs.core.evidence import Begin
    from subflow_app.features.labs.core.session import read_prediction

    with _begun(lab, database) as work:
        step = _active(work)
        said = value if step.prediction is None else _chosen(value, work.session.options(step, step.prediction))
        work.session.predict(step, read_prediction(step, said), Begin.of(work.store).run)
        work.judge()
        _tell(work, step, [], as_json=as_json)


def answer(
    lab: LabName,
    question: Annotated[str, typer.Argument(help="Name of the question.")],
    value: Annotated[str, typer.Argument(help="An option or its number, or a number with its unit.")],
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Answer a question of the step.

    After two wrong answers, the right one is shown; enter it to continue. Only the first answer counts for the score.
    """
    with _begun(lab, database) as work:
        session = work.session
        step = _active(work)
        asked = next((each for each in step.questions if each.id == question), None)
        if asked is None:
            allowed = ", ".join(each.id for each in step.questions) or "none, it asks nothing"
            raise InputError(f'the step "{step.title}" has no question {question}; allowed: {allowed}')
        if step.prediction is not None and session.step_progress(step).prediction is None:
            raise InputError(f"the step asks for a prediction first: `subflow labs predict {lab} VALUE`")
        said = _chosen(value, session.options(step, asked))
        session.answer(step, asked, session.judge_answer(work.reader, work.text, step, asked, said))
        work.judge()
        _tell(work, step, [], as_json=as_json, answered=asked)


def hint(lab: LabName, database: Database = None, as_json: Json = False) -> None:
    """Show another hint for the step."""
    with _begun(lab, database) as work:
        step = _active(work)
        told = work.session.hint(step)
        if as_json:
            print_json(_state(work.session) | {"hint": told, "left": len(step.hints) - len(work.session.hints(step))})
        elif told is None:
            print_line("This step has no more hints." if step.hints else "This step has no hints.")
        else:
            print_line(told)


def print_introduction(lab: Lab) -> None:
    """Print title, goals and introduction of a lab."""
    print_line(f"Lab {lab.number}: {lab.title} ({lab.minutes} minutes, {lab.level})")
    for goal in lab.goals:
        print_line(f"- {goal}")
    if lab.introduction:
        print_line()
        print_line(lab.introduction)


def print_step(lab: Lab, step: Step, session: LabSession | None = None) -> None:
    """Print a step with its questions; with a session, also the state, and the hints and feedback already given."""
    state = "" if session is None else {"passed": " (done)", "active": " (you are here)"}.get(session.state(step), "")
    print_line(f"{lab.steps.index(step) + 1}. {step.title}{state}")
    print_line(step.text)
    if step.exploration is not None:
        explorable = step.exploration.explorable
        print_line()
        print_line(f"Explore (in the window, or in the guide): {explorable.titles[current_language()]}")
        for each in explorable.equations:
            print_line(f"    {each.name} = {each.formula.text}")
        print_line(explorable.says[current_language()])
    if step.prediction is not None:
        print_line()
        print_line(f"Predict: {step.prediction.ask} ({_kind_text(step.prediction)})")
        _print_options(_options(step, step.prediction, session))
    for question in step.questions:
        print_line()
        print_line(f"Question {question.id}: {question.ask}{_unit_text(question)}")
        _print_options(_options(step, question, session))
    if session is not None:
        _print_said(session, step)


def step_document(step: Step, session: LabSession | None) -> dict[str, Any]:
    """A step as JSON values, without its answers."""
    prediction = step.prediction
    return {
        **fields(step, "id", "title", "check", "text"),
        "prediction": None
        if prediction is None
        else fields(prediction, "ask", "kind", "unit") | {"options": list(_options(step, prediction, session))},
        "questions": [
            fields(each, "id", "ask", "unit") | {"options": list(_options(step, each, session))}
            for each in step.questions
        ],
        "explore": None if step.exploration is None else step.exploration.name,
        "hints": len(step.hints),
    }


def begun_session(lab: Lab) -> LabSession | None:
    """Session of a lab in progress; None if the lab was not begun, or was begun with another version of its file."""
    from subflow_app.features.labs.core.progress import other_text_notice
    from subflow_app.features.labs.core.session import LabSession

    progress = _folder().peek(lab.name)
    return None if progress is None or other_text_notice(lab, progress) else LabSession(lab, progress, None)


def terminal_ways(lab: Lab, step: Step, file: str) -> list[str]:
    """Terminal commands that replace the actions of a step in the window, in the order prepare, run, evaluate.

    Args:
        lab: the lab of the step.
        step: the step.
        file: scenario file from which the lab starts.
    """
    opened = _opened(lab, step)
    file = opened or file
    fields = [target.name for target in step.shows if target.kind == "field"]
    ways = [f"`subflow run {file} {' '.join(f'--set {key}=VALUE' for key in fields)}`"] if fields else []
    for target in step.shows:
        form = _COMMANDS.get(f"{target.kind}:{target.name}") or _COMMANDS.get(target.kind, "")
        # Omit hints to edit a file if the scenario is shipped, or if the step is about earlier runs.
        if not (form.endswith("in `{file}`") and (opened or step.always)):
            ways.append(form.format(file=file, name=target.name))
    if step.check and not step.always and not any(way.startswith(_RUNNING) for way in ways):
        ways.append(f"`subflow run {file}`")
    ways = list(dict.fromkeys(filter(None, ways)))
    return sorted(ways, key=lambda way: (way.startswith(_AFTER), not way.startswith(_BEFORE)))


# ---- helpers ----


def _folder() -> ProgressFolder:
    from subflow_app.features.labs.core.progress import ProgressFolder
    from subflow_app.foundation.paths import labs_directory

    return ProgressFolder(labs_directory())


@contextmanager
def _begun(called: str, database: Path | None) -> Iterator[_Work]:
    from subflow_app.features.labs.core.lab_file import load_lab
    from subflow_app.features.labs.core.session import LabSession

    found = load_lab(called)
    progress = kept_progress(found, called)
    with opened_store(runs_of(progress, database), read_only=True) as store:
        session = LabSession(found, progress, _folder())
        reader = session.reader(store)
        evidence = reader.read(progress.document, progress.step_runs())
        # As in the window, runs of a sweep do not replace the document.
        own = [run for run in evidence.runs if run.id not in (evidence.sweep or ())]
        text = (own[-1].row.scenario_text if own else None) or progress.document
        yield _Work(called, session, store, reader, text)


def kept_progress(lab: Lab, called: str) -> Progress:
    """Progress in a lab; prints a notice if its file was damaged.

    Raises:
        InputError: if the lab was not begun, or was begun with a different version of its file.
    """
    kept = _folder().read(lab.name)
    if kept.notice:
        print_note(kept.notice)
    if kept.progress is None:
        raise InputError(f"the lab {lab.name} has not been begun here: `subflow labs begin {called}` begins it")
    _check_text(lab, kept.progress, called)
    return kept.progress


def _check_text(lab: Lab, progress: Progress, called: str) -> None:
    """Refuse to continue progress that was made in a different version of the lab.

    Raises:
        InputError: if the version differs; the message contains the command that begins the lab again.
    """
    from subflow_app.features.labs.core.progress import other_text_notice

    if told := other_text_notice(lab, progress):
        anew = f"`subflow labs begin {called} --anew` begins it anew, and keeps what was done before in a file"
        raise InputError(f"{told} {anew}")


def runs_of(progress: Progress, database: Path | None) -> Path | None:
    """The given database, or else the database in which the lab was begun; None means the default database."""
    return database or (Path(progress.database) if progress.database else None)


def _active(work: _Work) -> Step:
    step = work.session.active
    if step is None:
        raise InputError(f"all steps of the lab {work.session.lab.name} are done")
    return step


def _chosen(said: str, options: tuple[str, ...]) -> str:
    """Find an option by its text or its number, counted from 1; without options, return the text unchanged."""
    if not options or said in options:
        return said
    if said.isdecimal() and 1 <= int(said) <= len(options):
        return options[int(said) - 1]
    allowed = ", ".join(f'{number} ("{option}")' for number, option in enumerate(options, start=1))
    raise InputError(f'"{said}" is not one of the options; allowed: {allowed}')


def _missing(work: _Work, step: Step, judgement: Judgement | None) -> list[str]:
    from subflow_app.features.labs.core.session import missing_text

    session, called = work.session, work.called
    if step.prediction is not None and session.step_progress(step).prediction is None:
        early = [missing_text(step, judgement)] if judgement is not None and judgement.ran_early else []
        return [*early, f"a prediction: `subflow labs predict {called} VALUE`"]
    missing = "" if judgement is None else missing_text(step, judgement)
    found = [missing] if missing else []
    open_ones = [each for each in step.questions if not session.is_answered(step, each)]
    return [*found, *(f"an answer: `subflow labs answer {called} {each.id} VALUE`" for each in open_ones)]


def _tell(
    work: _Work, step: Step | None, missing: list[str], *, as_json: bool, answered: Question | None = None
) -> None:
    """Print the outcome of a step and, if the step is done, the next step."""
    session = work.session
    told = [] if missing else _told(session, step, answered)
    is_passed = step is not None and session.step_progress(step).is_passed
    if as_json:
        print_json(_state(session) | {"is_passed": is_passed, "told": told, "missing": missing})
        return
    for line in told:
        print_line(line)
    for line in missing:
        print_line(f"Not yet: {line}")
    if is_passed or step is None:
        if step is not None:
            print_line(f"Done: {step.title}")
            print_line()
        _print_active(work.called, session, f"{session.lab.name}.toml")


def _told(session: LabSession, step: Step | None, answered: Question | None) -> list[str]:
    from subflow_app.features.labs.core.session import answer_text, prediction_text

    if step is None:
        return []
    made = session.step_progress(step)
    told = []
    if answered is not None:
        is_done = session.is_answered(step, answered)
        told.append(answer_text(answered, made.answers[answered.id], is_done=is_done))
    if step.prediction is not None and made.prediction is not None and (made.is_passed or answered is None):
        told.append(prediction_text(step, made.prediction))
    return told


def _state(session: LabSession) -> dict[str, Any]:
    step = session.active
    return {
        "lab": session.lab.name,
        "passed": session.progress.passed(session.lab),
        "of": len(session.lab.steps),
        "step": None if step is None else step_document(step, session),
    }


def _print_active(called: str, session: LabSession, file: str) -> None:
    step = session.active
    if step is None:
        print_line("The lab is done.")
        print_line(f"`subflow labs result {called} --student NAME` writes the file to hand in.")
        return
    print_step(session.lab, step, session)
    if ways := terminal_ways(session.lab, step, file):
        print_line()
        print_line(f"In the terminal: {', '.join(ways)}")
    print_line()
    if left := len(step.hints) - len(session.hints(step)):
        print_line(f"`subflow labs hint {called}` shows a hint ({left} left).")
    print_line(f"`subflow labs next {called}` continues when this step is done.")


def _opened(lab: Lab, step: Step) -> str:
    """Name of the last shipped scenario that this step or an earlier one opens; empty if they open no scenario."""
    from subflow_app.features.labs.core.solution import parse_order

    orders = [parse_order(text) for each in lab.steps[: lab.steps.index(step) + 1] for text in each.do]
    return next((order.words[0] for order in reversed(orders) if order.verb == "open"), "")


def _print_said(session: LabSession, step: Step) -> None:
    from subflow_app.features.labs.core.session import answer_text, prediction_text

    made = session.step_progress(step)
    if step.prediction is not None and made.prediction is not None:
        print_line()
        print_line(f"Predicted. {prediction_text(step, made.prediction)}")
    for question in step.questions:
        if given := made.answers.get(question.id):
            done = session.is_answered(step, question)
            print_line(f"Answered {question.id}. {answer_text(question, given, is_done=done)}")
    for shown in session.hints(step):
        print_line(f"Hint: {shown}")


def _options(step: Step, asked: Prediction | Question, session: LabSession | None) -> tuple[str, ...]:
    from subflow_app.features.labs.core.session import dealt

    return dealt(asked.options, step.id) if session is None else session.options(step, asked)


def _print_options(options: tuple[str, ...]) -> None:
    for number, option in enumerate(options, start=1):
        print_line(f"  {number}. {option}")


def _kind_text(prediction: Prediction) -> str:
    if prediction.options:
        return "one of these"
    if not prediction.sketch:
        return f"a number, in {prediction.unit}" if prediction.unit else "a number"
    until = "" if prediction.until_s is None else f" up to {prediction.until_s:g} s"
    unit = f", values in {prediction.unit}" if prediction.unit else ""
    return f"{prediction.sketch} of {prediction.owner}{until} as points TIME:VALUE, e.g. 0s:10, 20s:80, 21s:40{unit}"


def _unit_text(question: Question) -> str:
    if question.options:
        return ""
    return f" (a number, in {question.unit})" if question.unit else " (a number)"

"""``subflow labs``: guided labs, checks of lab files, results that students hand in, and tools for lecturers.

``subflow labs class``, ``publish``, ``page`` and ``key`` are the tools for lecturers.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.features.labs.cli import lab_steps
from subflow_app.features.labs.cli.lab_steps import LabName
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.foundation.paths import file_stem
from subflow_app.terminal.failures import worst_of
from subflow_app.terminal.options import Database, Json, opened_store
from subflow_app.terminal.terminal import print_error, print_json, print_line, print_list, print_note
from subflow_app.vocabulary.language import LANGUAGES
from subflow_app.vocabulary.plain_text import readable_line
from subflow_app.vocabulary.tables import Column, NumberColumn

if TYPE_CHECKING:
    from subflow_app.features.labs.core.grading import Grade
    from subflow_app.features.labs.core.lab import Lab
    from subflow_app.features.labs.core.result_file import ResultVerdict


Key = Annotated[
    str,
    typer.Option("--key", metavar="TEXT", envvar="SUBFLOW_COURSE_KEY", help="Key of the course.", show_default=False),
]


def grade(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of the files that students handed in.")],
    lab: Annotated[
        str | None, typer.Option("--lab", metavar="FILE", help="The lab as handed out; default: a shipped one.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Also write the table, for a course system.")
    ] = None,
    steps_out: Annotated[
        Path | None, typer.Option("--steps", metavar="FILE", help="Also write a row for each step of each student.")
    ] = None,
    key: Key = "",
    as_json: Json = False,
) -> None:
    """Grade a class.

    Shows the steps, tries, score, confirmed runs and oddities of each student. The score is the share of the lab's
    questions answered correctly at the first try. Oddities are contradictions, unconfirmed parts, work shared by two
    files, a lab done in a sixth of its time, steps passed before their runs, and wrong answers followed by others at
    once. Equal times, also shifted ones, and equal drawn curves reveal copies. The check proves that the runs are
    real and meet the steps. It proves nothing about the author, with or without --key, because the key is in the lab
    of each student. Exit code: 0 when all are confirmed, 1 when one is contradicted, 3 when one is not confirmed, 2
    when a file is not a result.
    """
    from subflow_app.features.labs.core.grading import COLUMNS, class_csv, grade_class, result_files, steps_csv
    from subflow_app.features.labs.core.lab_file import load_lab
    from subflow_app.foundation.files import write_file

    files = result_files(folder)
    grades = grade_class(files, None if lab is None else load_lab(lab), key=key)
    written = [
        write_file(path, text(grades)) for path, text in ((out, class_csv), (steps_out, steps_csv)) if path is not None
    ]
    print_list(grades, COLUMNS, _class_document, as_json=as_json)
    if not as_json:
        for each in grades:
            for anomaly in each.anomalies:
                print_note(readable_line(f"{each.student or each.file}: {anomaly}"))
        for path in written:
            print_line(f"wrote {path}")
    if any(each.outcome is None for each in grades):
        raise typer.Exit(2)
    raise typer.Exit(worst_of(each.outcome for each in grades if each.outcome is not None))


def publish(
    lab: LabName,
    key: Key = "",
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for the students' files.")] = Path(
        "students"
    ),
) -> None:
    """Write a lab for students.

    The copy has no solution, and its answers are salted hashes. Its results are signed for the course, but the
    course key is not in it. A student who tries all answers still finds the right ones. Every computer with Subflow
    has the shipped labs with their answers: change their numbers.
    """
    from subflow_app.features.labs.core.lab_file import load_lab
    from subflow_app.features.labs.core.publishing import publish as write

    if not key.strip():
        raise InputError("--key is missing: `subflow labs key` makes one; keep it, to grade the class with it")
    for path in write(load_lab(lab), key, out):
        print_line(f"wrote {path}")


def page(
    lab: LabName,
    key: Key = "",
    language: Annotated[
        str | None, typer.Option("--language", metavar="CODE", help="Language of the page; default: the current one.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="File to write; default: LAB.html here.")
    ] = None,
) -> None:
    """Write a lab as one web page.

    Students do the lab in any browser, without Subflow and without a network: the page contains the simulator.

    Students hand in the same file as from the program, and it is verified and graded in the same way. The page
    contains the answers as salted hashes. With --key, results are signed for the course, and are graded with the lab
    that `subflow labs publish` writes with that key. Labs whose students train agents or write controllers need the
    program. If only one step needs the program, the page names it and offers the scenario for download.
    """
    from subflow_app.features.exporting.core.lab_page import write_lab_page
    from subflow_app.features.labs.core.lab_file import load_lab

    if language is not None and language not in LANGUAGES:
        from subflow_sim.plain_text import either

        raise InputError(f'--language is "{language}"; allowed: {either(list(LANGUAGES))}')
    found = load_lab(lab, language=language)
    path = write_lab_page(found, out or Path(f"{found.name}.html"), key=key, language=language)
    print_line(f"wrote {path}: {len(found.steps)} steps, {path.stat().st_size / 1000:.0f} kB")


def key() -> None:
    """Make a course key.

    The key cannot be guessed; keep it where students cannot read it.
    """
    import secrets

    print_line(secrets.token_hex(24))


def _class_document(each: Grade) -> dict[str, Any]:
    steps = [
        fields(step, *("id", "is_passed", "tries", "questions", "first_try", "hints", "is_predicted"))
        for step in each.steps
    ]
    names = ("file", "student", "lab", "outcome", "passed", "stands_at", "tries", "first_try", "of", "score")
    return {**fields(each, *names, "hints", "runs", "confirmed", "minutes", "anomalies"), "steps": steps}


labs_app = typer.Typer(invoke_without_command=True, no_args_is_help=False, help="List, do or check labs.")

# An answer may begin with a minus: "-1/2".
_TAKES_MINUS = {"ignore_unknown_options": True}


@labs_app.callback()
def labs(context: typer.Context, as_json: Json = False) -> None:
    """List the guided labs with your progress.

    `subflow labs begin LAB` begins a lab. In the window, choose Study, Labs. Terminal and window share the progress.
    """
    if context.invoked_subcommand is not None:
        return
    from subflow_app.features.labs.core.lab_file import shipped_labs

    print_list([_document(lab) for lab in shipped_labs()], _COLUMNS, dict, as_json=as_json)


labs_app.command()(lab_steps.begin)
labs_app.command("next")(lab_steps.go_on)
labs_app.command(context_settings=_TAKES_MINUS)(lab_steps.predict)
labs_app.command(context_settings=_TAKES_MINUS)(lab_steps.answer)
labs_app.command()(lab_steps.hint)
labs_app.command("class")(grade)
labs_app.command()(publish)
labs_app.command()(page)
labs_app.command()(key)


@labs_app.command()
def show(lab: LabName, as_json: Json = False) -> None:
    """Show a lab: its goals, steps and questions.

    Answers are shown only for questions that were answered.
    """
    from subflow_app.features.labs.core.lab_file import load_lab

    found = load_lab(lab)
    session = lab_steps.begun_session(found)
    found = found if session is None else session.lab
    if as_json:
        steps = [lab_steps.step_document(step, session) for step in found.steps]
        print_json(_document(found) | {"goals": list(found.goals), "steps": steps})
        return
    lab_steps.print_introduction(found)
    for step in found.steps:
        print_line()
        lab_steps.print_step(found, step, session)


@labs_app.command()
def check(
    labs: Annotated[list[str], typer.Argument(metavar="FILE...", help="Lab files, or names of shipped labs.")],
    is_run: Annotated[bool, typer.Option("--run", help="Also do all steps by the lab's own solution.")] = False,
    as_json: Json = False,
) -> None:
    """Find mistakes in a lab file.

    With --run, each step is done by its `do`, in a database of its own. A step is reported if its check fails
    afterwards, or holds before anything was done. Exit code: 0 when everything is right, 2 when a file is wrong, 1
    when a step is.
    """
    from subflow_app.features.labs.core.lab_file import load_lab

    documents, is_well = [], True
    for name in labs:
        found = load_lab(name)
        document: dict[str, Any] = {"lab": found.name, "steps": len(found.steps), "problems": [], "notices": []}
        if is_run:
            _carry_out(found, document, as_json=as_json)
        documents.append(document)
        is_well = is_well and not document["problems"]
        if not as_json:
            for notice in document["notices"]:
                print_note(notice)
            for problem in document["problems"]:
                print_error(problem)
            if not document["problems"]:
                done = ", done from first to last" if is_run and not document["notices"] else ""
                print_line(f"{found.path}: {len(found.steps)} steps, nothing wrong{done}")
    if as_json:
        print_json(documents)
    raise typer.Exit(0 if is_well else 1)


@labs_app.command()
def result(
    lab: LabName,
    student: Annotated[str, typer.Option("--student", metavar="TEXT", help="Name of the student.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="File to write; default: LAB-STUDENT.json here.")
    ] = None,
    key: Key = "",
    database: Database = None,
) -> None:
    """Write your work in a lab to a file that can be verified.

    The file holds your answers, predictions and times, and the scenario, seed and signature of each run. The runs are
    taken from the database in which you began the lab, unless --db names another.
    """
    from subflow_app.features.labs.core.lab_file import load_lab
    from subflow_app.features.labs.core.result_file import result_document, write_result
    from subflow_app.features.labs.core.session import LabSession

    if not student.strip():
        raise InputError("--student must not be blank")
    found = load_lab(lab)
    progress = lab_steps.kept_progress(found, lab)
    session = LabSession(found, progress, None)
    with opened_store(lab_steps.runs_of(progress, database), read_only=True) as store:
        evidence = session.reader(store).read(progress.document, progress.step_runs())
        document = result_document(found, progress, evidence, student.strip(), key)
    target = out or Path(f"{found.name}-{file_stem(student)}.json")
    write_result(target, document)
    print_line(f"wrote {target}: {document['passed']} of {document['of']} steps, {len(document['runs'])} runs")


@labs_app.command()
def verify(
    results: Annotated[list[Path], typer.Argument(metavar="RESULT...", help="Files that students handed in.")],
    is_rerun: Annotated[
        bool, typer.Option("--rerun/--no-rerun", help="Simulate each run again and compare its signature.")
    ] = True,
    lab: Annotated[
        str | None, typer.Option("--lab", metavar="FILE", help="Lab to compare with, if it is not a shipped one.")
    ] = None,
    key: Key = "",
    as_json: Json = False,
) -> None:
    """Verify the results of students.

    Compares the hash of the file, the hash of each scenario, and the signature of each run with that of a new
    simulation. Then judges each step again by those runs: its check, its prediction, its answers, the points of a
    sweep, and the changes of its scenario. The file contains no trainings; the output reports steps that need one.
    The check proves that the runs are real and meet the steps. It proves nothing about the author: anyone can sign a
    changed file, and the key of a published lab is in the student's copy.
    Each result is confirmed, contradicted, or not confirmed. Not confirmed: nothing differs, but something could not
    be repeated, because another version made it, the lab differs or is unknown, or the file has no run. Exit code: 0
    when all are confirmed, 1 when one is contradicted, 3 when one is not confirmed, 2 for a file that is not a result.
    """
    from subflow_app.features.labs.core.grading import lab_of
    from subflow_app.features.labs.core.lab_file import load_lab
    from subflow_app.features.labs.core.result_file import read_result, verify_result

    given = None if lab is None else load_lab(lab)
    verdicts = []
    for path in results:
        document = read_result(path)
        verdict = verify_result(document, lab_of(document, given), key=key, is_rerun=is_rerun)
        verdicts.append(verdict)
        if not as_json:
            _print_verdict(path, verdict)
    if as_json:
        print_json([_verdict_document(path, each) for path, each in zip(results, verdicts, strict=True)])
    raise typer.Exit(worst_of(verdict.outcome for verdict in verdicts))


def _document(lab: Lab) -> dict[str, Any]:
    session = lab_steps.begun_session(lab)
    return {
        **fields(lab, "name", "number", "title", "minutes", "level"),
        "steps": len(lab.steps),
        "passed": 0 if session is None else session.progress.passed(lab),
        "is_begun": session is not None,
        "missing": list(lab.missing),
    }


_COLUMNS: tuple[Column[dict[str, Any]], ...] = (
    Column("Lab", lambda each: each["name"]),
    Column("Title", lambda each: each["title"]),
    Column("Level", lambda each: each["level"]),
    NumberColumn("Minutes", lambda each: each["minutes"]),
    NumberColumn("Steps", lambda each: each["steps"]),
    NumberColumn("Done", lambda each: each["passed"] if each["is_begun"] else "-"),
    Column("Needs", lambda each: ", ".join(each["missing"])),
)


def _carry_out(lab: Lab, document: dict[str, Any], *, as_json: bool) -> None:
    from subflow_app.features.labs.core.runner import run_lab

    if lab.missing:
        document["notices"].append(f"{lab.name} was not carried out: {', '.join(lab.missing)} is not installed")
        return
    if lab.is_published:
        document["notices"].append(f"{lab.name} was not carried out: it was published, without its solution")
        return
    outcome = run_lab(lab, tell=(lambda _text: None) if as_json else print_note)
    document["problems"] = [f"{lab.path}: {problem}" for problem in outcome.problems]
    document["runs"] = outcome.runs
    document["wall_s"] = sum(step.wall_s for step in outcome.steps)


def _print_verdict(path: Path, verdict: ResultVerdict) -> None:
    document = verdict.document
    same = sum(run.is_same is True for run in verdict.runs)
    runs = f", {same} of {len(document['runs'])} runs came out again" if verdict.runs else ""
    told = (
        f"{document['student']}, {document['lab'].get('title')}: {document.get('passed')} of {document.get('of')} steps"
    )
    # Texts from the file are printed on one line, so that they cannot imitate a verdict.
    print_line(readable_line(f"{path}: {verdict.outcome.upper()}: {told}{runs}"))
    for notice in (*verdict.doubts, *verdict.notices):
        print_note(readable_line(notice))
    for problem in verdict.problems:
        print_error(readable_line(problem))


def _verdict_document(path: Path, verdict: ResultVerdict) -> dict[str, Any]:
    document = verdict.document
    return {
        "file": str(path),
        "student": document["student"],
        "lab": document["lab"].get("name"),
        "passed": document.get("passed"),
        "of": document.get("of"),
        **fields(verdict, "outcome", "is_sound", "problems", "doubts", "notices"),
        "runs": [fields(run, "number", "is_same", "problem") for run in verdict.runs],
    }

"""``subflow labs class``, ``publish``, ``page`` and ``key``: what a lecturer needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.features.labs.cli.lab_steps import LabName
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.terminal.exit_codes import worst_of
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_line, print_list, print_note
from subflow_app.vocabulary.language import LANGUAGES
from subflow_app.vocabulary.plain_text import readable_line

if TYPE_CHECKING:
    from subflow_app.features.labs.core.grading import Grade

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
    once. The check proves that the runs are real and meet the steps. With --key it also proves that the lab you
    handed out wrote the file. It does not prove who sat at the keyboard, or that nobody passed on the answers. Exit
    code: 0 when all are confirmed, 1 when one is contradicted, 3 when one is not confirmed, 2 when a file is not a
    result.
    """
    from subflow_app.features.labs.core.grading import COLUMNS, class_csv, grade_class, result_files, steps_csv
    from subflow_app.features.labs.core.lab_file import load_lab
    from subflow_app.foundation.files import write_file

    files = result_files(folder)
    grades = grade_class(files, None if lab is None else load_lab(lab), key=key)
    written = [
        write_file(path, text(grades)) for path, text in ((out, class_csv), (steps_out, steps_csv)) if path is not None
    ]
    print_list(grades, COLUMNS, _document, as_json=as_json)
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

    The key is a line that nobody can guess; keep it where students cannot read it.
    """
    import secrets

    print_line(secrets.token_hex(24))


def _document(each: Grade) -> dict[str, Any]:
    steps = [
        fields(step, *("id", "is_passed", "tries", "questions", "first_try", "hints", "is_predicted"))
        for step in each.steps
    ]
    names = ("file", "student", "lab", "outcome", "passed", "stands_at", "tries", "first_try", "of", "score")
    return {**fields(each, *names, "hints", "runs", "confirmed", "minutes", "anomalies"), "steps": steps}
